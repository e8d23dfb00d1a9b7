"""Writes lab/data/unicode_ranges.inc: the code points of Unicode's categories L and N.

python3 tools/unicode_ranges.py > lab/data/unicode_ranges.inc
"""

import sys
import unicodedata


def ranges(category: str) -> list[list[int]]:
    """Every [first, last] of code points whose category begins with this letter."""
    found: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] != category:
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def table(name: str, category: str) -> None:
    print(f"constexpr CodeRange {name}[] = {{")
    line = "   "
    for first, last in ranges(category):
        entry = f" {{{first:#x}, {last:#x}}},"
        if len(line) + len(entry) > 100:
            print(line)
            line = "   "
        line += entry
    print(line)
    print("};")


print(f"// Made by tools/unicode_ranges.py from Unicode {unicodedata.unidata_version}.")
table("kLetters", "L")
table("kNumbers", "N")

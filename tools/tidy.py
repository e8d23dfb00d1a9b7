"""Runs clang-tidy on the given sources, in parallel, and again only on what has changed.

A source is clean until its preprocessed text, its compile command or .clang-tidy changes. Sources
that are compiled alike are looked at several at a time, as one: most of the time goes into the
libraries' headers, which are then read once. Those that cannot be read as one with others, because
they use the same names for different things, are looked at after them.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

BUILD = Path("build")
CACHE = BUILD / "clang-tidy"
SETTINGS = Path(".clang-tidy")
TOGETHER = 14


class Source(NamedTuple):
    file: str
    directory: str  #: where it is compiled
    command: list[str]  #: with what, but for the names of files


def source_of(entry: dict[str, str]) -> Source:
    words = [word for word in shlex.split(entry["command"]) if word != "ccache"]
    for option in ("-o", "-MF", "-MT"):
        if option in words:
            at = words.index(option)
            del words[at : at + 2]
    command = [word for word in words if word not in ("-c", "-MD", entry["file"])]
    return Source(entry["file"], entry["directory"], command)


def fingerprint(source: Source) -> str:
    """Hash of all that clang-tidy looks at; comments count, for NOLINT is one."""
    command = [*source.command, source.file, "-E", "-CC"]
    text = subprocess.run(command, cwd=source.directory, capture_output=True).stdout
    settings = SETTINGS.read_bytes()
    return hashlib.sha256(b"\0".join([text, settings, shlex.join(command).encode()])).hexdigest()


def complaints_about(file: str, source: Source) -> str:
    """What clang-tidy has to say about a file that is compiled like this source."""
    flags = [*source.command[1:], f"-working-directory={source.directory}"]
    command = [
        "clang-tidy-19",
        "--quiet",
        f"--config-file={SETTINGS.resolve()}",
        file,
        "--",
        *flags,
    ]
    result = subprocess.run(command, capture_output=True, text=True)
    return "" if result.returncode == 0 else result.stdout + result.stderr


def including(sources: list[Source]) -> str:
    """A file that includes these sources."""
    names = "".join(f'#include "{source.file}"  // NOLINT\n' for source in sources)
    file = CACHE.resolve() / f"{hashlib.sha256(names.encode()).hexdigest()}.cc"
    file.write_text(names)
    return str(file)


def misread(sources: list[Source]) -> list[Source]:
    """Those that cannot be read behind the ones before them."""
    command = [*sources[0].command, "-fsyntax-only", "-ferror-limit=0", including(sources)]
    result = subprocess.run(command, cwd=sources[0].directory, capture_output=True, text=True)
    if result.returncode == 0:
        return []
    places = set(re.findall(r"^([^:\n]+):\d+:\d+: (?:fatal )?error: ", result.stderr, re.MULTILINE))
    return [source for source in sources[1:] if source.file in places] or sources[1:]


def tidy(sources: list[Source], stamps: dict[str, Path]) -> str:
    """What there is to say about sources that are compiled alike, empty if nothing."""
    left: list[Source] = []
    while len(sources) > 1 and (others := misread(sources)):
        left += others
        sources = [source for source in sources if source not in others]
    said = complaints_about(including(sources), sources[0])
    if said and len(sources) > 1:
        half = len(sources) // 2
        said = tidy(sources[:half], stamps) + tidy(sources[half:], stamps)
    elif not said:
        for source in sources:
            stamps[source.file].touch()
    return said + (tidy(left, stamps) if left else "")


def batches(sources: list[Source]) -> list[list[Source]]:
    """Of sources that are compiled alike, each from as many directories as there are: neighbours
    use the same names."""
    found = []
    for _, some in groupby(sorted(sources, key=lambda s: s.command), lambda s: s.command):
        alike = sorted(some, key=lambda s: s.file)
        count = -(-len(alike) // TOGETHER)
        found += [alike[i::count] for i in range(count)]
    return found


def main(files: list[str]) -> int:
    CACHE.mkdir(exist_ok=True)
    wanted = {str(Path(file).resolve()) for file in files}
    # A source that this build leaves out has no compile command to be checked with.
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    entries = {entry["file"]: entry for entry in commands if entry["file"] in wanted}
    sources = list(map(source_of, entries.values()))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        prints = pool.map(fingerprint, sources)
        stamps = {
            source.file: CACHE / print_ for source, print_ in zip(sources, prints, strict=True)
        }
        changed = [source for source in sources if not stamps[source.file].exists()]
        complaints = list(pool.map(lambda some: tidy(some, stamps), batches(changed)))
    print("\n".join(filter(None, complaints)))
    return 1 if any(complaints) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Runs clang-tidy on the given sources, in parallel, and again only on what has changed.

A source is clean until its preprocessed text, its compile command or .clang-tidy changes.
"""

import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUILD = Path("build")
CACHE = BUILD / "clang-tidy"


def fingerprint(entry: dict[str, str]) -> str:
    """Hash of all that clang-tidy looks at; comments count, for NOLINT is one."""
    words = [word for word in shlex.split(entry["command"]) if word != "ccache"]
    for option in ("-o", "-MF", "-MT"):
        if option in words:
            at = words.index(option)
            del words[at : at + 2]
    command = [word for word in words if word not in ("-c", "-MD")] + ["-E", "-CC"]
    text = subprocess.run(command, cwd=entry["directory"], capture_output=True).stdout
    settings = Path(".clang-tidy").read_bytes()
    return hashlib.sha256(b"\0".join([text, settings, shlex.join(command).encode()])).hexdigest()


def tidy(entry: dict[str, str]) -> str:
    """What clang-tidy has to say, empty if nothing."""
    stamp = CACHE / fingerprint(entry)
    if stamp.exists():
        return ""
    command = ["clang-tidy-19", "-p", str(BUILD), "--quiet", entry["file"]]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 0:
        stamp.touch()
        return ""
    return result.stdout + result.stderr


def main(files: list[str]) -> int:
    CACHE.mkdir(exist_ok=True)
    wanted = {str(Path(file).resolve()) for file in files}
    # A source that this build leaves out has no compile command to be checked with.
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    entries = {entry["file"]: entry for entry in commands if entry["file"] in wanted}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [said for said in pool.map(tidy, entries.values()) if said]
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Builds and runs the README's C++ and C examples against the library, word for word."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def example(text: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert found, f"the README has no {language} example"
    return found.group(1)


def build_and_run(compiler: list[str], source: str, suffix: str, root: Path, library: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"example{suffix}"
        path.write_text(source)
        program = Path(folder) / "example"
        command = [
            *compiler,
            *("-Wall", "-Wextra", "-Werror", f"-I{root / 'include'}"),
            str(path),
            *(f"-L{library}", "-lbcos", f"-Wl,-rpath,{library}", "-o", str(program)),
        ]
        subprocess.run(command, check=True)
        subprocess.run([str(program)], check=True, cwd=folder)


def main() -> None:
    root, library, cc, cxx = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    readme = (root / "README.md").read_text()
    build_and_run([cxx, "-std=c++20"], example(readme, "cpp"), ".cc", root, library)
    build_and_run([cc, "-std=c11"], example(readme, "c"), ".c", root, library)
    print("README examples: built and run")


if __name__ == "__main__":
    main()

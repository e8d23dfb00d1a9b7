"""Builds and runs the README's C++ and C examples against the library, word for word."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def example(text: str, language: str, word: str) -> str:
    """The block in this language that has this word."""
    blocks = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    found = [block for block in blocks if word in block]
    assert found, f"the README has no {language} example with {word}"
    return found[0]


def build_and_run(
    compiler: list[str], source: str, suffix: str, root: Path, library: Path, torch: str = ""
) -> None:
    includes = [f"-I{root / 'include'}"]
    libraries = [f"-L{library}", "-lbcos", f"-Wl,-rpath,{library}"]
    if torch:
        includes += ["-isystem", f"{torch}/include"]
        includes += ["-isystem", f"{torch}/include/torch/csrc/api/include"]
        libraries += ["-lbcos_torch", f"-L{torch}/lib", "-ltorch", "-ltorch_cpu", "-lc10"]
        libraries += [f"-Wl,-rpath,{torch}/lib"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"example{suffix}"
        path.write_text(source)
        program = Path(folder) / "example"
        warnings = ["-Wall", "-Wextra", "-Werror"]
        command = [*compiler, *warnings, *includes, str(path), *libraries, "-o", str(program)]
        subprocess.run(command, check=True)
        subprocess.run([str(program)], check=True, cwd=folder)


def main() -> None:
    root, library, cc, cxx = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    torch = sys.argv[5] if len(sys.argv) > 5 else ""
    readme = (root / "README.md").read_text()
    cpp = [cxx, "-std=c++20"]
    build_and_run(cpp, example(readme, "cpp", "bcos/bcos.hpp"), ".cc", root, library)
    build_and_run([cc, "-std=c11"], example(readme, "c", "bcos/bcos.h"), ".c", root, library)
    if torch:
        source = example(readme, "cpp", "bcos/libtorch.h")
        build_and_run(cpp, source, ".cc", root, library, torch)
    print("README examples: built and run")


if __name__ == "__main__":
    main()

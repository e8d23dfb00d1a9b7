"""Runs the README, word for word: its C++ and C examples and its lines for the shell and CMake."""

import os
import re
import shutil
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


def compiled() -> None:
    """The examples in C++ and C against the library that is built here."""
    root, library, cc, cxx = Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5]
    torch = sys.argv[6] if len(sys.argv) > 6 else ""
    readme = (root / "README.md").read_text()
    cpp = [cxx, "-std=c++20"]
    build_and_run(cpp, example(readme, "cpp", "bcos/bcos.hpp"), ".cc", root, library)
    build_and_run([cc, "-std=c11"], example(readme, "c", "bcos/bcos.h"), ".c", root, library)
    if torch:
        source = example(readme, "cpp", "bcos/libtorch.h")
        build_and_run(cpp, source, ".cc", root, library, torch)


def lines() -> None:
    """Build without ./run, install, and a program in C that finds it by pkg-config and by CMake."""
    root, work, cc, cxx = Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5]
    readme = (root / "README.md").read_text()
    shutil.rmtree(work, ignore_errors=True)
    program, commands = work / "main", work / "commands"
    program.mkdir(parents=True)
    commands.mkdir()
    # A tree of its own, for the lines build in it; the compiler that is tested is its cc.
    for entry in root.iterdir():
        if not entry.name.startswith((".", "build")):
            (work / entry.name).symlink_to(entry)
    (commands / "cc").symlink_to(cc)
    environment = {
        "CCACHE_DIR": str(Path.home() / ".cache" / "ccache"),
        **os.environ,
        "HOME": str(work),
        "PATH": f"{commands}:{os.environ['PATH']}",
        "CC": cc,
        "CXX": cxx,
    }
    environment.pop("LD_LIBRARY_PATH", None)

    def shell(script: str, folder: Path) -> None:
        command = ["bash", "-euxc", script]
        subprocess.run(command, check=True, cwd=folder, env=environment)

    shell(example(readme, "sh", "cmake --install"), work)
    (program / "main.c").write_text(example(readme, "c", "bcos/bcos.h"))
    shell(example(readme, "sh", "pkg-config"), program)
    (program / "CMakeLists.txt").write_text(example(readme, "cmake", "find_package"))
    shell('cmake -S . -B build -DCMAKE_PREFIX_PATH="$HOME/bcos"', program)
    shell("cmake --build build && build/main", program)


if __name__ == "__main__":
    {"compiled": compiled, "lines": lines}[sys.argv[1]]()
    print("README: all of it ran")

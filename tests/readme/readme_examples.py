"""Runs README and docs/c-trainers.md, word for word: examples, lines for the shell and CMake."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# What stands around the blocks of docs/c-trainers.md in a trainer: 1000 weights, each drawn to 1.
TRAINER = """
#include <bcos/bcos.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct {{
  float *params_memory, *grads_memory;
  size_t num_parameters;
  bcos_optimizer* optimizer;
}} GPT2;
{update}
{threads}
int main(void) {{
  static float x[1000], g[1000], y[300000], h[300000];
  GPT2 model = {{x, g, 1000, NULL}};
  for (int t = 0; t < 300; ++t) {{
    for (int i = 0; i < 1000; ++i) g[i] = x[i] - 1;
    gpt2_update(&model, 0.01f * (float)(300 - t) / 300, 0.0f);
  }}
  bcos_optimizer_destroy(model.optimizer);
  bcos_options options = BCOS_OPTIONS_INIT;
  options.run = on_openmp;
  bcos_optimizer* lent = NULL;
  const int64_t size = 300000;
  const double alpha = 0.5;
  for (int i = 0; i < 300000; ++i) h[i] = 1;
  const bcos_tensor tensor = BCOS_TENSOR_F32(y, 1, &size);
  const bcos_gradient gradient = BCOS_GRADIENT_F32(0, h, size);
  bcos_check(bcos_optimizer_create("sgd", &options, &lent));
  bcos_check(bcos_optimizer_add(lent, "y", &tensor, 0, NULL));
  bcos_check(bcos_optimizer_step(lent, &alpha, 1, &gradient, 1, NULL));
  bcos_optimizer_destroy(lent);
  for (int i = 0; i < 300000; ++i) if (y[i] != -0.5f) return 1;
  return x[0] > 0.99f && x[999] < 1.01f ? 0 : 2;
}}
"""


def example(text: str, language: str, word: str) -> str:
    """The block in this language that has this word."""
    blocks = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    found = [block for block in blocks if word in block]
    assert found, f"no {language} example has {word}"
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
    page = (root / "docs/c-trainers.md").read_text()
    update, threads = example(page, "c", "gpt2_update"), example(page, "c", "on_openmp")
    trainer = TRAINER.format(update=update, threads=threads)
    build_and_run([cc, "-std=c11", "-Wno-unknown-pragmas"], trainer, ".c", root, library)
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

"""bcos.h as other people's compilers see it: every standard, many warnings, right and wrong use."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, CC, CXX = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wundef -Werror".split()
C_STANDARDS = ["c99", "c11", "c17"]
CXX_STANDARDS = ["c++11", "c++14", "c++17", "c++20"]

NO_MORE_THAN_THE_HEADER = """
#include <bcos/bcos.h>
bcos_tensor tensor = BCOS_TENSOR_INIT;
bcos_options options = BCOS_OPTIONS_INIT;
bcos_gradient gradient = BCOS_GRADIENT_INIT;
bcos_report report = BCOS_REPORT_INIT;
bcos_parameter parameter = BCOS_PARAMETER_INIT;
bcos_method_options numbers = BCOS_METHOD_OPTIONS_INIT;
"""

MACROS = """
#include <bcos/bcos.h>
int use(float* x, const float* g, double* y, double* h, void* any, int rank, size_t n);
int use(float* x, const float* g, double* y, double* h, void* any, int rank, size_t n) {
  const int64_t shape[2] = {2, 3};
  float array[6] = {0};
  bcos_tensor a = BCOS_TENSOR_F32(x, 2, shape);
  bcos_tensor b = BCOS_TENSOR_F64(y, rank, shape);
  bcos_tensor c = BCOS_TENSOR_F32(array, n, shape);
  bcos_tensor d = BCOS_TENSOR_F32(any, 2, shape);
  bcos_gradient e = BCOS_GRADIENT_F32(0, g, 2 * 3);
  bcos_gradient f = BCOS_GRADIENT_F64(n, h, n);
  bcos_gradient k = BCOS_GRADIENT_F32(rank, x, rank);
  bcos_gradient l = BCOS_GRADIENT_F32(1, any, n);
  return a.rank == b.rank && c.data == d.data && e.data == f.data && k.data == l.data;
}
"""

UNNAMED = """
#include <bcos/bcos.h>
int use(bcos_optimizer* opt, float* x);
int use(bcos_optimizer* opt, float* x) {
  return bcos_optimizer_add(opt, "w", &(bcos_tensor)BCOS_TENSOR_F32(x, 2, BCOS_SHAPE(2, 3)), 0,
                            NULL);
}
"""

WRONG = """
#include <bcos/bcos.h>
int use(double* x, const float* g);
int use(double* x, const float* g) {{
  const int64_t shape[2] = {{2, 3}};
  {line}
  (void)x;
  (void)g;
  (void)shape;
  return (int)wrong.struct_size;
}}
"""
WRONG_LINES = [
    "bcos_tensor wrong = BCOS_TENSOR_F32(x, 2, shape);",
    "bcos_gradient wrong = BCOS_GRADIENT_F32(0, x, 6);",
    "bcos_gradient wrong = BCOS_GRADIENT_F64(0, g, 6);",
]
COMPLAINTS = ["pointer type mismatch", "distinct pointer types", "incompatible operand types"]


def compiled(source: str, standard: str, *flags: str) -> str:
    """What the compiler says; nothing if it is content."""
    language, compiler = ("c++", CXX) if "++" in standard else ("c", CC)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program"
        path.write_text(source)
        command = [compiler, f"-std={standard}", "-fsyntax-only", *flags, f"-I{ROOT / 'include'}"]
        run = subprocess.run(
            [*command, "-x", language, str(path)], capture_output=True, text=True, check=False
        )
    assert run.returncode != 0 or not run.stderr, run.stderr
    return run.stderr


class TheHeader(unittest.TestCase):
    def test_is_fine_in_every_standard(self) -> None:
        for standard in ["c90", *C_STANDARDS, "c++98", *CXX_STANDARDS]:
            with self.subTest(standard):
                flags = [] if standard == "c++98" else WARNINGS  # stdint.h is not of 1998
                self.assertEqual(compiled(NO_MORE_THAN_THE_HEADER, standard, *flags), "")

    def test_has_macros_that_are_fine_in_c_and_cxx(self) -> None:
        for standard in [*C_STANDARDS, *CXX_STANDARDS]:
            with self.subTest(standard):
                flags = ["-Wold-style-cast"] if "++" in standard else []
                self.assertEqual(compiled(MACROS, standard, *WARNINGS, *flags), "")

    def test_makes_a_parameter_in_one_line_of_c(self) -> None:
        for standard in C_STANDARDS:
            with self.subTest(standard):
                self.assertEqual(compiled(UNNAMED, standard, *WARNINGS), "")

    def test_has_macros_that_refuse_other_types(self) -> None:
        for standard in [*C_STANDARDS, *CXX_STANDARDS]:
            for line in WRONG_LINES:
                with self.subTest(standard=standard, line=line):
                    said = compiled(WRONG.format(line=line), standard, "-Werror")
                    self.assertTrue(any(complaint in said for complaint in COMPLAINTS), said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

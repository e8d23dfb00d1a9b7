"""Runs the built command as a user would: command_test.py GOLDEN PROGRAM [ARGS...]."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

GOLDEN = Path(sys.argv[1]) if len(sys.argv) > 2 else Path()
PROGRAM = sys.argv[2:]  # perhaps an emulator first


def run(*arguments: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
        check=False,
    )


def safetensors(values: list[float], metadata: dict[str, str]) -> bytes:
    data = struct.pack(f"<{len(values)}f", *values)
    tensor = {"dtype": "F32", "shape": [len(values)], "data_offsets": [0, len(data)]}
    header = json.dumps({"__metadata__": metadata, "w": tensor}).encode()
    return struct.pack("<Q", len(header)) + header + data


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def fine(self, *arguments: str, text: str = "", **environment: str) -> str:
        result = run(*arguments, text=text, **environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def refused(self, code: int, words: str, *arguments: str, text: str = "") -> None:
        """Expects an exit code and one line on standard error that contains the words."""
        result = run(*arguments, text=text)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stderr}")
        self.assertRegex(result.stderr, r"\Abcos: \[[a-z_:]+\] [^\n]+\n\Z")
        self.assertIn(words, result.stderr)

    def same(self, expected: Any, received: Any, largest: float, where: str) -> None:
        """Equal, but for numbers: within 1e-12, with a floor for small ones among large ones."""
        if isinstance(expected, dict):
            self.assertEqual(list(expected), list(received), where)
            for key in expected:
                self.same(expected[key], received[key], 0.0, f"{where}.{key}")
        elif isinstance(expected, list):
            self.assertEqual(len(expected), len(received), where)
            numbers = [abs(item) for item in expected if isinstance(item, float)]
            for a, b in zip(expected, received, strict=True):
                self.same(a, b, max(numbers, default=0.0), where)
        elif isinstance(expected, float):
            allowed = 1e-12 * max(abs(expected), 1e-3 * largest)
            self.assertLessEqual(abs(expected - received), allowed, where)
        else:
            self.assertEqual(expected, received, where)


class Help(CommandTest):
    def commands(self) -> list[str]:
        lines = self.fine("--help").split("Commands:\n")[1].split("\n\n")[0].splitlines()
        return [line.split()[0] for line in lines]

    def test_every_command_has_an_example(self) -> None:
        for command in self.commands():
            page = self.fine(command, "--help")
            self.assertIn("Example", page)
            self.assertIn(f"  bcos {command}", page)
            self.assertEqual(page, self.fine("help", command))

    def test_the_program_lists_commands_and_exit_codes(self) -> None:
        page = self.fine("--help")
        for word in ("Exit codes", "Example"):
            self.assertIn(word, page)
        listed = {"check", "replay", "schedule", "inspect", "methods", "targets", "help"}
        self.assertLessEqual(listed, set(self.commands()))
        self.assertEqual(page, self.fine("help"))
        self.assertEqual(page, self.fine())

    def test_the_version_is_one_line(self) -> None:
        self.assertRegex(self.fine("--version"), r"\Abcos \d+\.\d+\.\d+\n\Z")


class Usage(CommandTest):
    def test_unknown_words_name_the_nearest(self) -> None:
        self.refused(2, "did you mean 'check'?", "chekc")
        self.refused(2, "did you mean 'replay'?", "help", "repaly")
        self.refused(2, "did you mean '--version'?", "--versoin")
        self.refused(2, "did you mean '--dtype'?", "replay", "--dtpye", "f32", "file")
        self.refused(2, "did you mean '--stats'?", "inspect", "--statz")
        self.refused(2, "did you mean '--methods'?", "bench", "--methos", "bcosw_c")
        self.refused(2, "did you mean 'sign_sgd'?", "methods", "sing_sgd")
        self.refused(2, "did you mean 'cosine'?", "schedule", "--curve", "cosin")

    def test_wrong_values_name_the_option(self) -> None:
        self.refused(2, "--threads", "replay", "--threads", "0", "file")
        self.refused(2, "--target", "check", "--target", "abacus")
        self.refused(2, "--dtype", "replay", "--dtype", "f16", "file")
        self.refused(2, "--alpha-max", "schedule", "--alpha-max", "-1")
        self.refused(2, "--total", "schedule", "--curve", "cosine")
        self.refused(2, "--steps", "schedule", "--steps", "1e3")
        unread = "expected --p with --curve power alone but received it with --curve cosine"
        self.refused(2, unread, "schedule", "--curve", "cosine", "--total", "9", "--p", "0.5")
        self.refused(2, "--milestones with --curve step", "schedule", "--milestones", "3,5")
        self.refused(2, "a value for --steps", "schedule", "--steps")
        self.refused(2, "--format", "schedule", "--format", "xml")

    def test_missing_and_further_arguments_are_refused(self) -> None:
        self.refused(2, "expected FILE", "replay")
        self.refused(2, "expected FILE", "inspect")
        self.refused(2, "'extra'", "check", "extra")
        self.refused(2, "--file and --bits", "check", "--bits", "--file", "x")

    def test_what_is_measured_decides_the_options_of_bench(self) -> None:
        self.refused(2, "--only with 'bench goals'", "bench", "--only", "rows")
        self.refused(2, "--processes with 'bench goals'", "bench", "step", "--processes", "2")
        self.refused(2, "--methods with 'bench step'", "bench", "goals", "--methods", "adamw")
        self.refused(2, "--dtype with 'bench step'", "bench", "goals", "--dtype", "f64")
        self.refused(2, "a part of a goal's name", "bench", "goals", "--only", "abacus")
        self.refused(2, "adamsw, adam, adamw but received 'adamv'", "bench", "--methods", "adamv")

    def test_bench_writes_a_row_for_every_step_it_measures(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/rows.jsonl"
            result = run("bench", "--quick", "--methods", "sgd", "--json", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            rows = [json.loads(line) for line in open(path)]
        self.assertRegex(result.stdout, r"\A[^\n]+, \d+ threads, target \w+, [^\n]+\n\nmethod")
        keys = {"method", "dtype", "layout", "n", "threads", "target", "ns_per_param"}
        for row in rows:
            self.assertEqual(set(row), keys | {"bytes_per_param", "over_limit"})
            self.assertEqual((row["method"], row["bytes_per_param"]), ("sgd", 12))
            self.assertGreater(row["ns_per_param"], 0)
        self.assertEqual({row["layout"] for row in rows}, {"array", "10000x1000"})
        self.assertEqual({row["n"] for row in rows}, {10**k for k in (4, 5, 6, 7)})

    def test_bench_goals_tells_ratio_and_unrest(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/rows.jsonl"
            goal = "rows of 1024 over coordinates, 1e7, 1 thread"
            result = run("bench", "goals", "--quick", "--only", goal, "--json", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            (row,) = [json.loads(line) for line in open(path)]
        self.assertEqual(row["what"], goal)
        self.assertGreater(row["ratio"], 0)
        self.assertGreaterEqual(row["unrest"], 1)
        self.assertIn("median over 1 process of", result.stdout)

    def test_numbers_out_of_range_are_told_the_range(self) -> None:
        self.refused(2, "in 1..1000 but", "bench", "goals", "--processes", "4294967297")
        self.refused(2, "in 1..1024 but", "check", "--threads", "99999999999")

    def test_a_benchmark_that_cannot_write_its_rows_does_not_begin(self) -> None:
        for what in ("step", "goals"):
            self.refused(1, "/no/such/folder/rows", "bench", what, "--json", "/no/such/folder/rows")

    def test_a_file_that_is_missing_is_no_wrong_usage(self) -> None:
        self.refused(1, "/no/such/file", "methods", "@/no/such/file")

    def test_a_file_is_no_folder_for_runs(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            message = f"[compare] expected a folder to write to but received '{file.name}/demo'"
            self.refused(1, message, "compare", "--preset", "demo", "--quiet", "--out", file.name)

    def test_words_without_a_letter_in_common_are_not_suggested(self) -> None:
        self.refused(2, "adam, adamw but received '123'\n", "methods", "123")

    def test_a_wrong_environment_is_named(self) -> None:
        wrong = [("BCOS_TARGET", "abacus"), ("BCOS_NUM_THREADS", "0"), ("BCOS_NUM_THREADS", "4x")]
        for variable, value in wrong:
            for arguments in (["check"], ["check", "--bits"], ["schedule"], ["targets"]):
                result = run(*arguments, **{variable: value})
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(variable, result.stderr)


class Output(CommandTest):
    def test_a_closed_pipe_is_not_an_error(self) -> None:
        for restore in (True, False):  # SIGPIPE as shells set it, and ignored as Python does
            with subprocess.Popen(
                [*PROGRAM, "check", "--bits"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                restore_signals=restore,
            ) as process:
                assert process.stdout is not None and process.stderr is not None
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b"")

    def test_a_full_disk_is_an_error(self) -> None:
        with Path("/dev/full").open("wb") as full:
            result = subprocess.run(
                [*PROGRAM, "methods"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        self.assertEqual(result.returncode, 1)
        self.assertIn("bcos: [write]", result.stderr)

    def test_pipes_get_no_control_characters(self) -> None:
        for arguments in (["check"], ["methods"], ["schedule"], ["targets"]):
            self.assertTrue(all(c == "\n" or " " <= c <= "~" for c in self.fine(*arguments)))


class Check(CommandTest):
    def test_the_golden_traces_pass(self) -> None:
        table = self.fine("check")
        self.assertIn("scalar  float64  250/250  ok", table)
        self.assertIn("scalar  float32  244/244  ok", table)

    def test_one_dtype_may_be_chosen(self) -> None:
        table = self.fine("check", "--dtype", "f32", "--target", "scalar")
        self.assertIn("scalar  float32  244/244  ok", table)
        self.assertNotIn("float64", table)
        self.refused(2, "--bits and --dtype", "check", "--bits", "--dtype", "f32")

    def test_a_wrong_trace_fails(self) -> None:
        golden = json.loads(GOLDEN.read_text())
        golden["cases"][3]["trace"][2]["x"][1] += 1e-3
        path = self.file("wrong.json", json.dumps(golden))
        self.refused(1, "outside", "check", "--file", path)
        self.assertIn(golden["cases"][3]["name"], run("check", "--file", path).stdout)

    def test_bits_are_the_same_on_every_target(self) -> None:
        bits = self.fine("check", "--bits", "--threads", "1")
        self.assertEqual(len(bits.splitlines()), (17 * 6 + 3 + 9) * 2)
        self.assertEqual(bits, self.fine("check", "--bits", "--target", "scalar"))


class Replay(CommandTest):
    def test_golden_traces_are_reproduced(self) -> None:
        golden = json.loads(GOLDEN.read_text())
        for case in golden["cases"]:
            case["expected"] = case.pop("trace")
        received = json.loads(self.fine("replay", "-", text=json.dumps(golden)))
        self.assertEqual(list(golden), list(received))
        for case in received["cases"]:
            self.same(case["expected"], case["trace"], 0.0, case["name"])

    def test_a_case_is_a_line(self) -> None:
        lines = self.fine("replay", str(GOLDEN)).splitlines()
        self.assertEqual(sum(line.startswith('{"name": ') for line in lines), 250)

    def test_float32_differs_a_little(self) -> None:
        self.assertNotEqual(
            self.fine("replay", str(GOLDEN)), self.fine("replay", "--dtype", "f32", str(GOLDEN))
        )

    def test_files_that_are_no_trace_files_are_refused(self) -> None:
        self.refused(1, "/does/not/exist", "replay", "/does/not/exist")
        self.refused(1, str(self.folder), "replay", str(self.folder))
        for text in ("", "{", "[]", "{}", '{"cases": 3}', '{"cases": [3]}', "\x00", "[" * 100000):
            self.refused(1, "expected", "replay", "-", text=text)

    def test_wrong_cases_are_named(self) -> None:
        def case(x0: str, config: str) -> str:
            entry = f'{{"name": "odd", "x0": {x0}, "alpha": [1e300], "config": {config}}}'
            return f'{{"G": [[1e300]], "cases": [{entry}]}}'

        for text in (
            case("[1]", '{"method": "sgd"}'),  # overflows
            case("[1, 2]", '{"method": "sgd"}'),
            case("[1]", '{"method": "sdg"}'),
            case("[1]", '{"method": "sgd", "grads": "H"}'),
            case("[1]", '{"method": "sgd", "blocks": [[0, 1]]}'),
            case('["1"]', '{"method": "sgd"}'),
        ):
            self.refused(1, "'odd'", "replay", "-", text=text)


class Schedule(CommandTest):
    COSINE = ("schedule", "--curve", "cosine", "--alpha-max", "1", "--total", "100000")

    def test_tables_have_about_forty_rows(self) -> None:
        self.assertIn(len(self.fine(*self.COSINE).splitlines()), range(40, 50))
        self.assertIn(len(self.fine(*self.COSINE, "--every", "50000").splitlines()), range(5, 8))

    def test_formats_agree(self) -> None:
        rows = self.fine(*self.COSINE, "--steps", "7", "--format", "csv").splitlines()
        self.assertEqual(rows[0], "t,alpha")
        alpha = [float(row.split(",")[1]) for row in rows[1:]]
        data = json.loads(self.fine(*self.COSINE, "--steps", "7", "--format", "json"))
        self.assertEqual(data["alpha"], alpha)
        self.assertEqual(data["t"], list(range(7)))
        self.assertEqual(data["schedule"]["total"], 100000)

    def test_the_schedule_may_come_from_a_file(self) -> None:
        files = {
            "schedule.json": '{"curve": "linear", "alpha_max": 1, "total": 4}',
            "schedule.toml": 'curve = "linear"\nalpha_max = 1.0\ntotal = 4\n',
        }
        for name, content in files.items():
            path = self.file(name, content)
            table = self.fine("schedule", "--json", f"@{path}", "--format", "csv")
            self.assertEqual(table, "t,alpha\n0,1\n1,0.75\n2,0.5\n3,0.25\n")
        wrong = self.file("wrong.toml", "total = [")
        self.refused(2, "TOML", "schedule", "--json", f"@{wrong}")

    def test_drawings_are_svg(self) -> None:
        path = self.folder / "alpha.svg"
        self.assertEqual(self.fine(*self.COSINE, "--svg", str(path)), f"wrote {path}\n")
        self.assertEqual(path.read_text(), self.fine(*self.COSINE, "--svg", "-"))
        self.assertTrue(path.read_text().startswith("<svg "))
        self.refused(1, "/does/not/exist.svg", *self.COSINE, "--svg", "/does/not/exist.svg")


class Inspect(CommandTest):
    def test_files_of_others_are_shown(self) -> None:
        path = self.file("w.safetensors", safetensors([3.0, -4.0], {"by": "me\x1b[31m"}))
        page = self.fine("inspect", "--stats", path)
        for words in ("checksums: none", "by = me\\x1b[31m", "F32", "[2]", "3.536"):
            self.assertIn(words, page)

    def test_damage_is_one_line(self) -> None:
        whole = safetensors([1.0] * 8, {})
        self.refused(1, "w.safetensors", "inspect", self.file("w.safetensors", whole[:-1]))
        self.refused(1, "w.safetensors", "inspect", self.file("w.safetensors", b""))
        self.refused(1, "/does/not/exist", "inspect", "/does/not/exist")
        claims = safetensors([1.0], {"kind": "bcos optimizer"})
        self.refused(1, "format", "inspect", self.file("w.safetensors", claims))


class Methods(CommandTest):
    def test_the_list_and_one_method_agree(self) -> None:
        methods = json.loads(self.fine("methods", "--json"))
        self.assertEqual(len(methods), 16)
        table = self.fine("methods")
        for method in methods:
            self.assertIn(f"\n{method['id']} ", table)
            self.assertEqual(method, json.loads(self.fine("methods", method["id"], "--json")))

    def test_a_method_is_explained(self) -> None:
        page = self.fine("methods", "bcosw_c@paper")
        for words in ('"start":"first"', 'start = "first"', "x' = (1 - alpha lambda) x"):
            self.assertIn(words, page)


class Targets(CommandTest):
    def test_the_default_follows_the_environment(self) -> None:
        page = self.fine("targets", BCOS_TARGET="scalar", BCOS_NUM_THREADS="3")
        self.assertIn("scalar    yes          default", page)
        self.assertIn("threads: 3", page)


class MethodTexts(CommandTest):
    def test_a_method_is_a_name_a_text_or_a_file(self) -> None:
        file = self.folder / "method.toml"
        file.write_text('method = "bcosw_c"\nlambda = 0.05\n')
        texts = ['{"method": "bcosw_c", "lambda": 0.05}', f"@{file}"]
        found = [json.loads(run("methods", text, "--json").stdout) for text in texts]
        for method in found:
            self.assertEqual((method["estimator"], method["lambda"]), ("cond_full", 0.05))
        wrong = run("methods", '{"method": "bcosw_c", "lamda": 0.05}')
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("did you mean 'lambda'?", wrong.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

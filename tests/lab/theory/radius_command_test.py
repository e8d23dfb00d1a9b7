"""Runs `bcos theory radius` as a user would: radius_command_test.py PROGRAM [ARGS...]."""

import json
import math
import subprocess
import sys
import unittest
from typing import Any

PROGRAM = sys.argv[1:]  # perhaps an emulator first


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, "theory", "radius", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


class Radius(unittest.TestCase):
    def fine(self, *arguments: str) -> str:
        result = run(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def found(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.fine("--json", *arguments))
        return found

    def refused(self, words: str, *arguments: str) -> None:
        result = run(*arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
        self.assertRegex(result.stderr, r"\Abcos: \[[a-z_:]+\] [^\n]+\n\Z")
        self.assertIn(words, result.stderr)

    def test_bcos_c_ends_at_the_target_of_momentum(self) -> None:
        found = self.found("--method", "bcosw_c", "--problem", "P1", "--steps", "5000")
        self.assertEqual(found["target_of"], "momentum")
        for value, expected in zip(
            found["target"]["point"], (0.8640, -0.9616, 0.3127, 0), strict=True
        ):
            self.assertAlmostEqual(value, expected, delta=5e-5)
        self.assertLess(found["distance"]["value"], 0.05)
        self.assertGreater(math.dist(found["tail_mean"]["point"], found["x_star"]), 0.2)

    def test_bounds_are_in_their_order(self) -> None:
        for method in ("bcosw_c", "bcosw_g", "adamw@paper"):
            found = self.found("--method", method, "--steps", "2000", "--replicates", "64")
            radii = found["radii"]
            self.assertLessEqual(found["rms_distance"]["value"], radii["sharper"])
            self.assertLessEqual(radii["sharper"], radii["paper"] / 2 + 1e-12)
            self.assertLessEqual(radii["paper"], radii["trivial"])
            self.assertAlmostEqual(radii["paper"], 8 * found["err"]["largest"])

    def test_numbers_reach_the_method(self) -> None:
        method = self.found(
            "--method", "adamw", "--lambda", "0.25", "--beta", "0.8", "--beta-v", "0.95",
            "--steps", "100", "--replicates", "2",
        )["method"]  # fmt: skip
        self.assertEqual((method["lambda"], method["beta"], method["beta_v"]), (0.25, 0.8, 0.95))

    def test_every_problem_with_a_target_can_be_given(self) -> None:
        for problem in ("P0", "P1b", "P2", "P3", "P4", "P6"):
            found = self.found("--problem", problem, "--steps", "400", "--replicates", "16")
            self.assertTrue(math.isfinite(found["radii"]["paper"]), problem)

    def test_text_and_json_agree(self) -> None:
        arguments = ("--method", "bcosw_g", "--steps", "200", "--replicates", "8")
        text = self.fine(*arguments)
        radii = self.found(*arguments)["radii"]
        for value in (radii["paper"], radii["sharper"], radii["trivial"]):
            self.assertIn(f" {value:.5g} ", text)

    def test_numbers_do_not_depend_on_threads(self) -> None:
        arguments = ("--steps", "200", "--replicates", "130", "--json")
        one = self.fine(*arguments, "--threads", "1")
        self.assertEqual(one, self.fine(*arguments, "--threads", "3"))

    def test_wrong_use_names_the_bound(self) -> None:
        self.refused("did you mean 'P1'?", "--problem", "p1")
        self.refused("did you mean 'bcosw_c'?", "--method", "bcosw_cc")
        self.refused("--lambda in (0, 1]", "--lambda", "0")
        self.refused("--lambda in (0, 1]", "--lambda", "-1")
        self.refused("--lambda in (0, 1]", "--lambda", "1.5")
        self.refused("--lambda in (0, 1]", "--lambda", "nan")
        self.refused("--lambda in (0, 0.5]", "--alpha", "2", "--lambda", "0.6")
        self.refused("--alpha > 0", "--alpha", "0")
        self.refused("--p in [0, 1]", "--p", "1.5")
        self.refused("beta in [0, 1)", "--beta", "1")
        self.refused("beta_v in [0, 1)", "--method", "bcosw_g", "--beta-v", "1")
        self.refused("expected no beta_v", "--beta-v", "0.5")
        self.refused("--steps as a whole number >= 100", "--steps", "99")
        self.refused("--replicates as a whole number >= 2", "--replicates", "1")
        self.refused("P5, which has none", "--problem", "P5")

    def test_methods_without_decoupled_decay_are_told_what_to_do(self) -> None:
        self.refused("take bcosw_c", "--method", "bcos_c")
        self.refused("take adamw", "--method", "adam")
        advice = '{"method": "sign_sgd", "decay": "decoupled"}'
        self.refused(f"take '{advice}'", "--method", "sign_sgd")
        self.fine("--method", advice, "--steps", "100", "--replicates", "2")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

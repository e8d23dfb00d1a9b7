"""Runs `bcos theory estimators` as a user would: estimators_command_test.py PROGRAM [ARGS...]."""

import json
import subprocess
import sys
import unittest

PROGRAM = sys.argv[1:]  # perhaps an emulator first
GIVEN = ("--beta", "0.9", "--mu", "0.3", "--sigma", "1.1")
STATES = ("--m", "-0.4", "--v", "0.7", "--samples", "50000")
BCOS = ["bcos_c", "bcos_c_simple", "bcos_m", "bcos_g"]
OTHERS = ["adams", "adam", "sign_momentum", "sign_sgd", "sgd_momentum"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, "theory", "estimators", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


class Estimators(unittest.TestCase):
    def fine(self, *arguments: str) -> str:
        result = run(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def refused(self, words: str, *arguments: str) -> None:
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, f"{arguments}: {result.stderr}")
        self.assertRegex(result.stderr, r"\Abcos: \[estimators\] [^\n]+\n\Z")
        self.assertIn(words, result.stderr)

    def test_one_row_an_estimator(self) -> None:
        text = self.fine(*GIVEN, *STATES)
        for method in BCOS + OTHERS:
            self.assertEqual(sum(line.split()[:1] == [method] for line in text.splitlines()), 1)
        self.assertIn("0.04536", text)  # 2 beta^2 (1-beta) m (m - mu)

    def test_sampled_numbers_are_the_exact_ones(self) -> None:
        for noise in ("gaussian", "exponential"):
            text = self.fine(*GIVEN, *STATES, "--noise", noise, "--json")
            document = json.loads(text)
            self.assertEqual(document["noise"], noise)
            self.assertEqual(len(document["estimators"]), 9)
            for row in document["estimators"]:
                for key in ("bias", "variance", "covariance", "step_difference"):
                    number = row[key]
                    allowed = 4.5 * number["standard_error"] + 1e-12
                    self.assertLessEqual(
                        abs(number["sampled"] - number["exact"]), allowed, f"{row['method']} {key}"
                    )
                if row["bound"] is not None:
                    difference = abs(row["step_difference"]["exact"])
                    self.assertLessEqual(difference, row["bound"] + 1e-12, row["method"])

    def test_the_numbers_do_not_depend_on_the_threads(self) -> None:
        one = self.fine(*GIVEN, *STATES, "--json", "--threads", "1")
        self.assertEqual(one, self.fine(*GIVEN, *STATES, "--json", "--threads", "3"))

    def test_one_beta_v_for_all_that_read_it(self) -> None:
        rows = json.loads(self.fine(*GIVEN, *STATES, "--beta-v", "0.5", "--json"))["estimators"]
        read = {row["method"]: row["beta_v"] for row in rows if row["beta_v"] is not None}
        self.assertEqual(read, dict.fromkeys(("adams", "bcos_m", "bcos_g", "adam"), 0.5))

    def test_wrong_numbers_name_their_bounds(self) -> None:
        def given(option: str, value: str) -> list[str]:
            words = [*GIVEN, *STATES]
            if option not in words:
                return [*words, option, value]
            words[words.index(option) + 1] = value
            return words

        self.refused("expected --beta in [0, 1) but received 1", *given("--beta", "1"))
        self.refused("expected --beta in [0, 1) but received nan", *given("--beta", "nan"))
        self.refused("expected --sigma in (0, 1e30] but received -1", *given("--sigma", "-1"))
        self.refused("expected --sigma in (0, 1e30] but received 0", *given("--sigma", "0"))
        self.refused("expected --beta-v in (0, 1) but received 1", *given("--beta-v", "1"))
        self.refused("expected --mu in [-1e30, 1e30] but received inf", *given("--mu", "inf"))
        self.refused("expected --v in [0, 1e61] but received -0.5", *given("--v", "-0.5"))
        self.refused("--noise as gaussian|exponential", *given("--noise", "cauchy"))
        self.refused("--samples as a whole number >= 2", *given("--samples", "0"))
        self.refused("--samples in 2..1000000000", *given("--samples", "2000000000"))
        self.refused("expected --sigma", "--beta", "0.9", "--mu", "0")
        self.refused("did you mean '--sigma'?", *GIVEN, "--sigm", "1")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

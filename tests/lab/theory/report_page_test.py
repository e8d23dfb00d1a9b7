"""Opens the report of some claims in headless Chromium: report_page_test.py BCOS [ARGS...]."""

import json
import math
import shutil
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar

BCOS = sys.argv[1:]  # perhaps an emulator first
CLAIMS = ["T1", "T2"]


class Page(HTMLParser):
    """Headings, numbers and figures of the page as the browser has it."""

    def __init__(self, dom: str) -> None:
        super().__init__()
        self.claim = ""
        self.headings: dict[str, str] = {}
        self.headlines: dict[str, dict[str, str]] = {}
        self.checks: dict[str, list[list[str]]] = {}
        self.figures: dict[str, list[dict[str, int]]] = {}
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.scripts = 0
        self.words = ""
        self._open: list[str] = []
        self._list = ""
        self.feed(dom)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        kind = values.get("class", "")
        if tag not in ("meta", "link", "br"):
            self._open.append(tag)
        self.ids.add(values.get("id", ""))
        self.scripts += tag == "script"
        self.links += [values[key] for key in ("href", "src") if key in values]
        if tag == "section":
            self.claim = values.get("id", "") if "claim" in kind else ""
        if not self.claim:
            return
        if tag == "details":
            self._list = kind
        if tag == "tr" and self._list == "checks":
            self.checks.setdefault(self.claim, []).append([])
        if tag == "td" and self._list == "checks" and "data-value" in values:
            self.checks[self.claim][-1].append(values["data-value"])
        if tag == "dd" and "data-name" in values:
            self.headlines.setdefault(self.claim, {})[values["data-name"]] = values["data-value"]
        if tag == "svg":
            self.figures.setdefault(self.claim, []).append({})
        if "svg" in self._open and self.figures.get(self.claim):
            drawn = self.figures[self.claim][-1]
            drawn[tag] = drawn.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass
        if tag == "details":
            self._list = ""

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.words += data
        if "h3" in self._open and self.claim:
            self.headings[self.claim] = self.headings.get(self.claim, "") + data


class ReportTest(unittest.TestCase):
    folder: ClassVar[Path]
    said: ClassVar[str]
    page: ClassVar[Page]
    console: ClassVar[list[str]]
    theory: ClassVar[dict[str, Any]]

    @classmethod
    def setUpClass(cls) -> None:
        if shutil.which("chromium") is None:
            raise AssertionError(
                "chromium is missing: apt-get install --no-install-recommends chromium"
            )
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        report = cls.folder / "new" / "report"
        done = cls.bcos(*CLAIMS, "--mutants", "--report", str(report))
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.said = done.stdout
        cls.theory = json.loads((report / "theory.json").read_text())
        drawn = subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu"]
            + ["--disable-dev-shm-usage", f"--user-data-dir={cls.folder / 'profile'}"]
            + ["--window-size=1280,2400", "--virtual-time-budget=3000"]
            + ["--enable-logging=stderr", "--dump-dom", (report / "theory.html").as_uri()],
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
        )
        cls.console = [line for line in drawn.stderr.splitlines() if "CONSOLE" in line]
        cls.page = Page(drawn.stdout)

    @staticmethod
    def bcos(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*BCOS, "theory", *arguments], capture_output=True, text=True, timeout=600, check=False
        )

    def same(self, shown: str, number: float | None) -> None:
        if number is None:
            self.assertFalse(math.isfinite(float(shown)))
        else:
            self.assertEqual(float(shown), number)

    def test_it_says_where_to_look(self) -> None:
        self.assertIn(f"see {self.folder / 'new' / 'report'}/theory.html", self.said.splitlines())

    def test_the_last_line_says_how_many_checks_a_mutant_breaks(self) -> None:
        broken = [
            bool(by)
            for claim in self.theory["claims"]
            for check, by in zip(claim["checks"], claim["broken_by"], strict=True)
            if check["form"] != "printed"
        ]
        self.assertEqual(
            self.said.splitlines()[-1],
            f"{sum(broken)} of {len(broken)} checks are broken by a mutant",
        )
        self.assertGreater(sum(broken), 0.9 * len(broken))

    def test_the_page_is_quiet_and_needs_nothing_else(self) -> None:
        self.assertEqual(self.console, [])
        self.assertEqual(self.page.scripts, 0)
        for link in self.page.links:
            if link != "data:,":
                self.assertTrue(link.startswith("#"), link)
                self.assertIn(link[1:], self.page.ids)

    def test_every_claim_has_its_heading_in_words_of_the_paper(self) -> None:
        self.assertEqual([claim["id"] for claim in self.theory["claims"]], CLAIMS)
        self.assertEqual(set(self.page.headings), set(CLAIMS))
        for claim in self.theory["claims"]:
            self.assertIn(f"{claim['name']}: {claim['title']}", self.page.headings[claim["id"]])
            self.assertIn("✓ holds", self.page.headings[claim["id"]])

    def test_the_numbers_are_those_of_the_file(self) -> None:
        keys = ["predicted", "measured", "standard_error"]
        for claim in self.theory["claims"]:
            rows = [row for row in self.page.checks[claim["id"]] if row]
            self.assertEqual(len(rows), len(claim["checks"]))
            for row, check in zip(rows, claim["checks"], strict=True):
                for shown, key in zip(row, [*keys, "slack"], strict=True):
                    self.same(shown, check[key])
            for key in keys:
                shown = self.page.headlines[claim["id"]][key.replace("_", " ")]
                self.same(shown, claim["checks"][0][key])

    def test_every_figure_is_drawn_and_is_a_file(self) -> None:
        for claim in self.theory["claims"]:
            figures = self.page.figures[claim["id"]]
            self.assertGreaterEqual(len(figures), 1)
            self.assertEqual(len(figures), len(claim["figures"]))
            for drawn, figure in zip(figures, claim["figures"], strict=True):
                lines = sum(one["mark"] in ("line", "dashed") for one in figure["series"])
                self.assertGreaterEqual(drawn.get("polyline", 0), lines)
                points = sum(len(one["x"]) for one in figure["series"] if one["mark"] == "points")
                self.assertGreaterEqual(drawn.get("path", 0), points)
                text = (self.folder / "new" / "report" / figure["file"]).read_text()
                self.assertTrue(text.startswith("<svg "))
                self.assertNotIn("nan", text)

    def test_mutants_and_errata_are_told(self) -> None:
        for claim in self.theory["claims"]:
            self.assertTrue(claim["mutants"])
            self.assertTrue(all(mutant["caught"] for mutant in claim["mutants"]))
        for word in ["E17", "E18", "corrected", "formulas put in on purpose were caught"]:
            self.assertIn(word, self.page.words)

    def test_a_report_that_cannot_be_written_is_refused_at_once(self) -> None:
        file = self.folder / "file"
        file.write_text("x")
        for path in [file, file / "inside", Path("/proc/theory")]:
            done = self.bcos("--report", str(path))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(str(path), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""Draws the pages of made-up runs in headless Chromium: page_test.py MAKE_PAGE [ARGS...]."""

import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar

MAKE_PAGE = sys.argv[1:]  # perhaps an emulator first
STEPS = 800
EVAL_EVERY = 100
LEARNING_RATES = {"adamw": [0.001, 0.002], "bcosw_c": [0.002, 0.004]}
SEEDS = [1, 2]
HOSTILE = "</script><script>document.title='bad'</script><!-- & \"quoted\""

# Acts as a user with a pointer, and leaves what is seen in the page as JSON.
PROBE = """
<script>
const seen = {};
const all = (selector) => [...document.querySelectorAll(selector)];
const figure = all("figure").find((f) => f.textContent.startsWith("TITLE"));
const plot = figure.querySelector("svg[role=img]");
const at = (part) => {
  const box = plot.getBoundingClientRect();
  return {clientX: box.left + part * box.width, clientY: box.top + 50, bubbles: true, button: 0};
};
const send = (kind, part) => plot.dispatchEvent(new PointerEvent(kind, at(part)));
const rows = () => [...figure.querySelectorAll(".tip tr")].map((row) => ({...row.dataset}));
const path = (series) => figure.querySelector(`[data-series=${series}] path`).getAttribute("d");
const shown = (series) =>
  figure.querySelector(`[data-series=${series}]`).getAttribute("display") !== "none";
send("pointermove", 0.5);
seen.tip = figure.querySelector(".tip strong").textContent;
seen.rows = rows();
const whole = path("SERIES");
send("pointerdown", 0.4);
send("pointermove", 0.6);
send("pointerup", 0.6);
seen.zoomed = path("SERIES") !== whole && !document.getElementById("reset").disabled;
plot.dispatchEvent(new MouseEvent("dblclick", at(0.5)));
seen.reset = path("SERIES") === whole && document.getElementById("reset").disabled;
document.getElementById("log-y").click();
seen.log = path("SERIES") !== whole;
document.getElementById("log-y").click();
seen.linear = path("SERIES") === whole;
document.getElementById("late").click();
seen.fitted = path("SERIES") !== whole;
document.getElementById("late").click();
seen.whole = path("SERIES") === whole;
const slider = document.getElementById("smoothing");
const smooth = path("smooth");
slider.value = 90;
slider.dispatchEvent(new Event("input"));
seen.smoothed = path("smooth") !== smooth;
slider.value = 0;
slider.dispatchEvent(new Event("input"));
seen.unsmoothed = path("smooth") === path("train");
const button = all("#legend button").find((b) => b.textContent.includes("SWITCH"));
const before = shown("SERIES");
button.click();
seen.switched = before !== shown("SERIES");
button.click();
seen.switchedBack = before === shown("SERIES");
seen.globals = ["Chart", "links", "redraw", "runLabel"].filter((name) => name in window);
const result = document.createElement("pre");
result.id = "seen";
result.textContent = JSON.stringify(seen);
document.body.append(result);
</script>
"""


def write_run(folder: Path, method: str, lr: float, seed: int, steps: int = STEPS) -> Path:
    """A run whose loss falls like a power of the step, with noise, one spike and a resumption."""
    random.seed(f"{method} {lr} {seed}")
    folder.mkdir(parents=True)
    floor = 1.5 + 0.02 * abs(math.log2(lr / 0.002)) + (0.01 if method == "bcosw_c" else 0)
    lines: list[dict[str, Any]] = []

    def loss(step: int) -> float:
        return floor + 3 / (1 + step / 30)

    for step in range(steps):
        if step % EVAL_EVERY == 0:
            lines.append({"s": step, "tel": loss(step) + 0.05 + random.gauss(0, 0.003)})
        alpha = lr * min(1, (step + 1) / 60) * (0.55 + 0.45 * math.cos(math.pi * step / steps))
        if step == 300:  # lines of a run that was stopped here and went back
            lines += [{"s": s, "trl": 99.0, "lr": 1.0, "norm": 9.0} for s in range(290, 300)]
            lines += lines[-21:-10]
        lines.append(
            {
                "s": step,
                "trl": loss(step) + random.gauss(0, 0.06) + (1.5 if step == 500 else 0),
                "lr": alpha,
                "norm": None if step == 5 else 0.5 + 2 / (1 + step / 40) + random.expovariate(12),
                "clipped": step < 40,
                "skipped": 0,
                "ms": 33 + random.expovariate(1) + (200 if step == 0 else 0),
                "opt_ms": 0.4 + random.expovariate(8) + (0.3 if method == "adamw" else 0),
                "rate": 61800.0,
            }
        )
    lines.append({"s": steps, "tel": loss(steps) + 0.05 + random.gauss(0, 0.003)})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "metrics.jsonl").write_text(text + '{"s":900,"trl":1.')
    (folder / "config.toml").write_text(
        f'model = "gpt"\nmethod = "{method}"\nlr = {lr}\nweight_decay = 0.1\nsteps = {steps}\n'
        f"seed = {seed}\nbatch_tokens = 2048\ntext = {json.dumps(HOSTILE)}\n"
    )
    state = 888_000 if method == "adamw" else 444_000
    facts = {
        "name": f"{method} lr {lr} seed {seed}",
        "method": method,
        "parameters": 111_000,
        "decayed_tensors": 9,
        "state_bytes": state,
        "adamw_state_bytes": 888_000,
        "device": "cpu",
        "threads": 2,
        "target": "AVX2",
        "data": "C++ headers of this machine",
        "tokens_per_step": 2048,
        "seed": seed,
        "unit": "token",
    }
    (folder / "run.json").write_text(json.dumps(facts))
    return folder


DIRECTIONS = ["g", "m", "d", "step"]
AIMING = [f"{what}_{w}" for what in ("cos", "null") for w in DIRECTIONS] + ["margin", "distance"]
SIGNAL = ["raw", "kappa", "rho", "silent", "amp_max", "amp_mean", "amp_bound"]


def add_diagnosis(folder: Path) -> None:
    """What a diagnosis would have found every 50 steps, in two groups."""
    random.seed(folder.name)
    lines = []
    for step in range(0, STEPS, 50):
        for group in ("all", "attention"):
            for kind, keys in (("aiming", AIMING), ("signal", SIGNAL)):
                values = {key: random.random() for key in keys}
                if step == 0:
                    values |= {"rho": None} if kind == "signal" else {"cos_g": None}
                lines.append({"s": step, "kind": kind, "group": group, **values})
    path = folder / "metrics.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + path.read_text())


def diagnosed(folder: Path, kind: str, group: str, key: str) -> dict[int, float]:
    lines = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines()[:-1])
    return {
        line["s"]: line[key]
        for line in lines
        if line.get("kind") == kind and line["group"] == group and line[key] is not None
    }


# Chooses another group of parameters, and leaves what is shown.
CHOOSE = """
<script>
const shown = () => [...document.querySelectorAll("#diagnosis-charts [data-series]")]
  .filter((curve) => curve.getAttribute("display") !== "none").map((curve) => curve.dataset.series);
const seen = {before: shown()};
const select = document.getElementById("group");
seen.groups = [...select.options].map((option) => option.value);
select.value = "attention";
select.dispatchEvent(new Event("change"));
seen.after = shown();
seen.dashed = [...document.querySelectorAll("#diagnosis-charts [data-series] path")]
  .filter((path) => path.getAttribute("stroke-dasharray") !== "none")
  .map((path) => path.parentElement.dataset.series);
seen.keys = [...document.querySelectorAll("#diagnosis-charts figure:first-child .key")]
  .map((key) => key.textContent);
const result = document.createElement("pre");
result.id = "seen";
result.textContent = JSON.stringify(seen);
document.body.append(result);
</script>
"""


def recorded(folder: Path, kind: str, key: str) -> dict[int, float]:
    """What the file says, read in the plainest way: the last line of a step wins."""
    lines = {}
    for text in (folder / "metrics.jsonl").read_text().splitlines()[:-1]:
        line = json.loads(text)
        if kind in line:
            lines[line["s"]] = line
    return {step: line[key] for step, line in lines.items() if line[key] is not None}


class Page(HTMLParser):
    """Curves, their marks, the data and what the probe saw."""

    def __init__(self, dom: str, console: str) -> None:
        super().__init__()
        self.curves: dict[tuple[str, str], dict[str, Any]] = {}
        self.ready = False
        self.scripts = 0
        self.outside: list[str] = []
        self.texts: dict[str, str] = {}
        self.words = ""
        self._inside = ""
        self._curve: dict[str, Any] = {}
        self.dom = dom
        self.console = [line for line in console.splitlines() if "CONSOLE" in line]
        self.feed(dom)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._inside = values.get("id") or tag
        self.ready |= tag == "html" and values.get("data-ready") == "1"
        self.scripts += tag == "script"
        self.outside += [v or "" for k, v in attrs if k in ("src", "href") and v != "data:,"]
        if "data-points" in values:
            self._curve = {"points": int(values["data-points"] or 0), "marks": {}, "path": ""}
            self.curves[values["data-run"] or "", values["data-series"] or ""] = self._curve
        if tag == "path":
            self._curve["path"] = values["d"]
        if "data-value" in values and tag == "circle":
            self._curve["marks"][float(values["data-step"] or 0)] = float(values["data-value"] or 0)

    def handle_data(self, data: str) -> None:
        self.texts[self._inside] = self.texts.get(self._inside, "") + data
        self.words += data if self._inside not in ("script", "style", "data") else ""


class PageTest(unittest.TestCase):
    folder: ClassVar[Path]
    runs: ClassVar[list[Path]]

    @classmethod
    def setUpClass(cls) -> None:
        if shutil.which("chromium") is None:
            raise AssertionError(
                "chromium is missing: apt-get install --no-install-recommends chromium"
            )
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.runs = [
            write_run(cls.folder / f"{method}-{lr}-{seed}", method, lr, seed)
            for method, rates in LEARNING_RATES.items()
            for lr in rates
            for seed in SEEDS
        ]

    def make(self, *arguments: str | Path) -> Path:
        page = self.folder / f"{self.id()}.html"
        made = subprocess.run(
            [*MAKE_PAGE, page, *arguments], capture_output=True, text=True, timeout=120, check=False
        )
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        return page

    def render(self, page: Path, probe: str = "") -> Page:
        if probe:
            page.write_text(page.read_text().replace("</body>", probe + "</body>"))
        done = subprocess.run(
            [
                "chromium",
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
            ]
            + [f"--user-data-dir={self.folder / 'profile'}", "--window-size=1280,2400"]
            + [
                "--virtual-time-budget=3000",
                "--enable-logging=stderr",
                "--dump-dom",
                page.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        drawn = Page(done.stdout, done.stderr)
        self.assertEqual(drawn.console, [])
        self.assertTrue(drawn.ready)
        self.assertEqual(drawn.outside, [])
        return drawn

    def assert_curves_of(self, run: Path, name: str, page: Page) -> None:
        for series, kind, key in [
            ("train", "trl", "trl"),
            ("smooth", "trl", "trl"),
            ("validation", "tel", "tel"),
            ("lr", "trl", "lr"),
            ("norm", "trl", "norm"),
            ("norm-smooth", "trl", "norm"),
            ("share", "trl", "opt_ms"),
            ("share-smooth", "trl", "opt_ms"),
        ]:
            expected = recorded(run, kind, key)
            curve = page.curves[name, series]
            self.assertEqual(curve["points"], len(expected), (name, series))
            self.assertEqual(curve["path"].count("M") + curve["path"].count("L"), len(expected))
            self.assertNotIn("NaN", curve["path"])
        self.assertEqual(page.curves[name, "validation"]["marks"], recorded(run, "tel", "tel"))

    def assert_interactions(self, seen: dict[str, Any]) -> None:
        for action in [
            "zoomed",
            "reset",
            "log",
            "linear",
            "fitted",
            "whole",
            "smoothed",
            "unsmoothed",
            "switched",
            "switchedBack",
        ]:
            self.assertTrue(seen[action], action)
        self.assertEqual(seen["globals"], [])

    def test_a_run_is_drawn_as_recorded(self) -> None:
        run = self.runs[-1]
        probe = (
            PROBE.replace("TITLE", "Loss").replace("SERIES", "train").replace("SWITCH", "each step")
        )
        page = self.render(self.make(run), probe)
        name = json.loads((run / "run.json").read_text())["name"]
        self.assert_curves_of(run, name, page)
        self.assertEqual(len(page.curves), 8)

        data = json.loads(page.texts["data"])["runs"][0]["curves"]
        for series, kind, key in [
            ("train", "trl", "trl"),
            ("validation", "tel", "tel"),
            ("lr", "trl", "lr"),
        ]:
            self.assertEqual(
                dict(zip(data[series]["x"], data[series]["y"], strict=True)),
                recorded(run, kind, key),
            )

        seen = json.loads(page.texts["seen"])
        self.assert_interactions(seen)
        step = int(seen["tip"].removeprefix("step ").replace(",", ""))
        self.assertTrue(350 < step < 450, step)
        noisy = {"norm", "norm-smooth", "share", "share-smooth"}
        rows = {row["series"]: row for row in seen["rows"]}
        self.assertEqual(set(rows), {"train", "smooth", "validation", "lr"} | noisy)
        for series, key in [("train", "trl"), ("lr", "lr"), ("norm", "norm")]:
            self.assertEqual(float(rows[series]["value"]), recorded(run, "trl", key)[step])
        last = max(s for s in recorded(run, "tel", "tel") if s <= step)
        self.assertEqual(int(rows["validation"]["step"]), last)
        self.assertEqual(float(rows["validation"]["value"]), recorded(run, "tel", "tel")[last])

    def test_a_comparison_draws_every_run_and_the_means(self) -> None:
        title = f"AdamW and BCOSW-c {HOSTILE}"
        probe = (
            PROBE.replace("TITLE", "Training loss")
            .replace("SERIES", "smooth")
            .replace("SWITCH", "adamw")
        )
        page = self.render(self.make(title, *self.runs), probe)
        finals: dict[str, dict[float, list[float]]] = {}
        for run in self.runs:
            facts = json.loads((run / "run.json").read_text())
            self.assert_curves_of(run, facts["name"], page)
            lr = float(run.name.split("-")[1])
            finals.setdefault(facts["method"], {}).setdefault(lr, []).append(
                recorded(run, "tel", "tel")[STEPS]
            )
        self.assertEqual(len(page.curves), 8 * len(self.runs) + 2 * len(finals))
        for method, by_lr in finals.items():
            means = page.curves[method, "lr-mean"]["marks"]
            self.assertEqual(set(means), set(by_lr))
            for lr, losses in by_lr.items():
                self.assertAlmostEqual(means[lr], sum(losses) / len(losses), places=12)
            self.assertEqual(page.curves[method, "lr-runs"]["points"], len(SEEDS) * len(by_lr))
            best = min(sum(losses) / len(losses) for losses in by_lr.values())
            self.assertIn(
                f"{best:.3f} with {'888' if method == 'adamw' else '444'} kB of state", page.words
            )
        self.assert_interactions(json.loads(page.texts["seen"]))

    def test_a_diagnosis_is_drawn_a_group_at_a_time_with_pure_noise_dashed(self) -> None:
        run = write_run(self.folder / "diagnosed", "bcosw_c", 0.002, 9)
        add_diagnosis(run)
        page = self.render(self.make(run), CHOOSE)
        name = json.loads((run / "run.json").read_text())["name"]
        drawn = {
            (k, g, key)
            for k, keys in (("aiming", AIMING), ("signal", SIGNAL))
            for g in ("all", "attention")
            for key in keys
        }
        dashed = {*(f"null_{w}" for w in DIRECTIONS), "kappa", "amp_bound"}
        for kind, group, key in drawn:
            expected = diagnosed(run, kind, group, key)
            curve = page.curves[name, f"{kind}-{group}-{key}"]
            self.assertEqual(curve["points"], len(expected))
            if key not in dashed:
                self.assertEqual(curve["marks"], expected)
        self.assertEqual(len(page.curves), 8 + len(drawn))
        seen = json.loads(page.texts["seen"])
        self.assertEqual(seen["groups"], ["all", "attention"])
        for when, group in (("before", "all"), ("after", "attention")):
            self.assertEqual(
                sorted(seen[when]), sorted(f"{k}-{g}-{key}" for k, g, key in drawn if g == group)
            )
        self.assertEqual({series.split("-")[2] for series in seen["dashed"]}, dashed)
        self.assertEqual(seen["keys"], ["g", "m", "d/√v", "d/√v + λx", "pure noise"])
        self.assertIn("says something only above its dashed line", page.words)

    def test_a_comparison_shows_cosines_less_those_of_pure_noise(self) -> None:
        runs = [write_run(self.folder / f"aimed-{s}", "bcosw_c", 0.002, s) for s in (11, 12)]
        for run in runs:
            add_diagnosis(run)
        page = self.render(self.make("aims", *runs, self.runs[0]), CHOOSE)
        for run in runs:
            name = json.loads((run / "run.json").read_text())["name"]
            cosines = diagnosed(run, "aiming", "all", "cos_step")
            nulls = diagnosed(run, "aiming", "all", "null_step")
            marks = page.curves[name, "aiming-all-above_null"]["marks"]
            self.assertEqual(set(marks), set(cosines))
            for step, value in marks.items():
                self.assertAlmostEqual(value, cosines[int(step)] - nulls[int(step)], places=12)
            self.assertEqual(
                page.curves[name, "signal-all-rho"]["marks"], diagnosed(run, "signal", "all", "rho")
            )

    def test_names_and_settings_cannot_break_out(self) -> None:
        page = self.render(self.make(HOSTILE, self.runs[0], self.runs[1]))
        self.assertEqual(page.scripts, 2)
        self.assertEqual(page.texts["title"].strip(), HOSTILE)

    def test_a_long_run_is_thinned_and_says_so(self) -> None:
        run = write_run(self.folder / "long", "bcosw_c", 0.002, 7, steps=9000)
        page = self.render(self.make(run))
        name = json.loads((run / "run.json").read_text())["name"]
        losses = recorded(run, "trl", "trl")
        data = json.loads(page.texts["data"])["runs"][0]["curves"]["train"]
        self.assertLessEqual(page.curves[name, "train"]["points"], 4000)
        self.assertGreater(page.curves[name, "train"]["points"], 3000)
        self.assertEqual(page.curves[name, "train"]["points"], len(data["x"]))
        self.assertTrue(all(losses[x] == y for x, y in zip(data["x"], data["y"], strict=True)))
        self.assertIn(losses[500], data["y"])
        self.assertIn("thinned out", page.words)

    def test_a_run_that_has_only_begun_has_a_page(self) -> None:
        run = write_run(self.folder / "begun", "bcosw_c", 0.002, 8)
        (run / "metrics.jsonl").write_text("")
        page = self.render(self.make(run))
        self.assertEqual(page.curves, {})
        self.assertIn("has not recorded a step yet", page.words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""Tries mistakes on a copy of the tree, one at a time, and sees which of them the tests notice.

The list, and what runs which tests, is tests/mutants.toml. The copy and the results are under
build-mutants/; a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from mutant_list import List, ListError, Mutant, Suite

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build-mutants"
TREE = WORK / "tree"
BUILD = TREE / "build"
RESULTS = WORK / "results.jsonl"
LOG = WORK / "log.txt"
BUILDS_NOT = "does not build"

EXAMPLES = """examples:
  ./run mutants                      the whole list; hours, the first time
  ./run mutants 10                   the first ten
  ./run mutants --part schedule      one part
  ./run mutants --only crc-per-chunk,wsd-late
  ./run mutants --write docs/reliability.md    the whole list, and write down the figures

The exit code is 0 if every mutant was caught, or is explained in the list."""


@dataclass
class Result:
    id: str
    key: str
    outcome: str  # killed, SURVIVED, or BUILDS_NOT
    by: str = ""
    step: str = ""  # a suite, and the choice of its tests that is enough to see it
    seconds: float = 0


def copy_tree() -> str:
    """Brings the copy up to date and gives a hash of it. Tracked files and new ones, but for those
    that no test reads."""
    listed = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-co", "--exclude-standard", "-z"]
    out = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    left_out = re.compile(r"docs/reliability\.md|tools/|tests/mutants\.toml|\.ci/")
    names = {name for name in out.split("\0") if name and not left_out.match(name)}
    whole = hashlib.sha256()
    for name in sorted(name for name in names if (ROOT / name).is_file()):
        content = (ROOT / name).read_bytes()
        whole.update(f"{name}\0{len(content)}\0".encode() + content)
        copy = TREE / name
        if not copy.is_file() or copy.read_bytes() != content:  # ninja looks at the times
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy)
    for folder, folders, files in os.walk(TREE):
        folders[:] = [f for f in folders if f not in ("build", ".venv", "__pycache__")]
        for file in files:
            path = Path(folder, file)
            name = str(path.relative_to(TREE))
            if name not in names or not (ROOT / name).is_file():
                path.unlink()
    if (ROOT / ".venv").exists() and not (TREE / ".venv").exists():
        (TREE / ".venv").symlink_to((ROOT / ".venv").resolve())
    return whole.hexdigest()


def environment() -> dict[str, str]:
    given = {k: v for k, v in os.environ.items() if not k.startswith(("BCOS_", "GTEST_"))}
    given |= {"RC_PARAMS": "seed=1", "TMPDIR": str(WORK / "scratch"), "OMP_WAIT_POLICY": "passive"}
    given |= {"PYTHONPATH": str(TREE / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    given |= {"BCOS_LIBRARY": str(BUILD / "libbcos.so"), "CCACHE_BASEDIR": str(TREE)}
    return given


def limit_memory() -> None:
    """A mutant may ask for any amount."""
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))


def run(command: list[str], seconds: float | None = None) -> int | None:
    """The exit code, None after so many seconds; what it says is in the log."""
    with LOG.open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=TREE,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=limit_memory if seconds is not None else None,
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # with what it has started
            except ProcessLookupError:
                pass
            process.wait()


def first_failure(suite: str, code: int | None) -> tuple[str, str]:
    """The test that failed first, as people call it, and as a choice of tests if there is one."""
    text = LOG.read_text(errors="replace")
    failed = re.findall(r"^\[  FAILED  \] (\S+?),? ", text, re.M)
    began = re.findall(r"^\[ RUN      \] (\S+)", text, re.M)
    if failed:
        return failed[0], failed[0]
    if code is None:
        where = began[-1] if began else suite
        return f"a hang in {where}", began[-1] if began else ""
    if began and code < 0:
        return f"{began[-1]}, signal {-code}", began[-1]
    if found := re.search(r"^(?:FAILED|ERROR) (tests/python/(\S+))", text, re.M):
        return found[2], found[1]
    if found := re.search(r"^(?:FAIL|ERROR): (\S+)", text, re.M):
        return found[1], ""
    return f"{suite}, exit code {code}", ""


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


class Trial:
    """Builds the copy and runs its tests."""

    def __init__(self, suites: dict[str, Suite], timeout: float) -> None:
        self._suites = suites
        self._timeout = timeout

    def build(self, step: str) -> bool:
        targets = self._suites[step.partition(":")[0]].build
        return run(["cmake", "--build", str(BUILD), "--target", *targets]) == 0

    def failure(self, step: str) -> tuple[str, str] | None:
        """The first test that fails, and the step that runs it alone."""
        suite, _, choice = step.partition(":")
        scratch = WORK / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        words = {"build": str(BUILD), "python": str(TREE / ".venv/bin/python")}
        words |= {"scratch": str(scratch), "choice": choice or self._suites[suite].all}
        command = [word.format(**words) for word in self._suites[suite].run]
        code = run(command, self._timeout)
        if code == 0:
            return None
        name, alone = first_failure(suite, code)
        return name, f"{suite}:{alone}" if alone else step

    def unchanged(self, suite: str, tree: str) -> None:
        """Tests that fail without a mutant as well say nothing of it."""
        stamp = WORK / "unchanged.json"
        passed = json.loads(stamp.read_text()).get(tree, []) if stamp.is_file() else []
        if suite in passed:
            return
        progress(f"without a mutant: {suite}")
        if not self.build(suite):
            raise ListError(f"the tree does not build without a mutant: see {LOG}")
        if failed := self.failure(suite):
            raise ListError(f"{failed[0]} of {suite} fails without a mutant: see {LOG}")
        stamp.write_text(json.dumps({tree: [*passed, suite]}))

    def of(self, mutant: Mutant, key: str, steps: list[str]) -> Result:
        begin = time.monotonic()
        result = Result(mutant.id, key, "SURVIVED")
        with mutant.applied(TREE):
            for step in steps:
                progress(f"{mutant.id}: {step}")
                if not self.build(step):
                    errors = re.findall(r"^.*error: .*$", LOG.read_text(errors="replace"), re.M)
                    result.outcome, result.by = BUILDS_NOT, "\n".join(errors[:3])
                    break
                if failed := self.failure(step):
                    result.outcome, (result.by, result.step) = "killed", failed
                    break
        result.seconds = round(time.monotonic() - begin, 1)
        return result


def told(mutant: Mutant, result: Result) -> str:
    said = {"killed": f"killed by {result.by}", BUILDS_NOT: f"{BUILDS_NOT}: error in the list"}
    line = f"{mutant.id:34} {said.get(result.outcome, result.outcome)} ({result.seconds:.0f} s)"
    if result.outcome == BUILDS_NOT:
        line += f"\n{result.by}"
    elif mutant.equivalent:
        line += f"\n    explained: {mutant.equivalent}"
    return line


def table(mutants: list[Mutant], results: dict[str, Result]) -> str:
    rows = ["| part | mutants | caught | share |", "|---|--:|--:|--:|"]
    counted = [mutant for mutant in mutants if not mutant.equivalent]
    for part in dict.fromkeys(mutant.part for mutant in counted):
        outcomes = [results[mutant.id].outcome for mutant in counted if mutant.part == part]
        killed = outcomes.count("killed")
        rows.append(f"| {part} | {len(outcomes)} | {killed} | {100 * killed // len(outcomes)} % |")
    survivors = [mutant for mutant in counted if results[mutant.id].outcome != "killed"]
    rows.append(f"\n{len(counted) - len(survivors)} of {len(counted)} mutants are caught.")
    if len(counted) < len(mutants):
        rows[-1] += f" {len(mutants) - len(counted)} more change nothing; the list says why."
    rows += [f"- `{m.id}` in {m.file}: {results[m.id].outcome}" for m in survivors]
    return "\n".join(rows)


def write_page(path: Path, text: str) -> None:
    page = path.read_text() if path.is_file() else ""
    marks = re.compile(r"(<!-- mutants: begin -->\n).*?(<!-- mutants: end -->)", re.S)
    if not marks.search(page):
        raise ListError(f"expected the comments mutants: begin and mutants: end in {path}")
    path.write_text(marks.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./run mutants",
        description="Tries mistakes on a copy of the tree and sees whether the tests notice.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("first", nargs="?", default="all", metavar="N", help="the first N, or all")
    parser.add_argument("--part", help="those of one part of the list")
    parser.add_argument("--only", metavar="ID,...", help="these alone")
    parser.add_argument("--list", type=Path, default=ROOT / "tests/mutants.toml", metavar="FILE")
    parser.add_argument("--fresh", action="store_true", help="try again what was tried before")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="of a suite")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the figures to this page")
    given = parser.parse_args()
    if given.first != "all" and not re.fullmatch("[1-9][0-9]*", given.first):
        parser.error(f"expected a number of mutants, or all, but received {given.first}")
    if given.write and (given.first != "all" or given.part or given.only):
        parser.error("expected --write with the whole list")
    return given


def chosen(given: argparse.Namespace, mutants: dict[str, Mutant]) -> list[Mutant]:
    ids = given.only.split(",") if given.only else list(mutants)
    if unknown := [name for name in ids if name not in mutants]:
        raise ListError(f"expected ids of the list but received {', '.join(unknown)}")
    some = [mutants[name] for name in ids if given.part in (None, mutants[name].part)]
    if not some:
        raise ListError("there is no such mutant in the list")
    return some if given.first == "all" else some[: int(given.first)]


def main() -> int:
    given = arguments()
    listed = List(given.list, ROOT)
    mutants = chosen(given, listed.mutants)
    tree = copy_tree()
    progress("configures")
    if run(["cmake", "--preset", "release"]) != 0:
        raise ListError(f"cmake fails: see {LOG}")
    lines = RESULTS.read_text().splitlines() if RESULTS.is_file() else []
    earlier = [Result(**json.loads(line)) for line in lines]
    known = {} if given.fresh else {result.key: result for result in earlier}
    killer = {result.id: result.step for result in earlier if result.step}
    trial = Trial(listed.suites, given.timeout)
    results: dict[str, Result] = {}
    for mutant in mutants:
        key = listed.key(mutant, tree)
        if key not in known:
            steps = listed.steps(mutant)
            # What saw it before, in another tree, comes first.
            first = [killer[mutant.id]] if mutant.id in killer else []
            known[key] = trial.of(mutant, key, list(dict.fromkeys([*first, *steps])))
            if known[key].outcome == "killed":
                trial.unchanged(known[key].step.partition(":")[0], tree)
            with RESULTS.open("a") as file:
                file.write(json.dumps(vars(known[key])) + "\n")
        results[mutant.id] = known[key]
        progress("")
        print(told(mutant, known[key]), flush=True)
    text = table(mutants, results)
    print(f"\n{text}")
    if given.write:
        write_page(given.write, text)
    good = [
        r.outcome == "killed" or (m.equivalent and r.outcome != BUILDS_NOT)
        for m, r in zip(mutants, results.values(), strict=True)
    ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except ListError as error:
        sys.exit(f"mutants: {error}")
    except KeyboardInterrupt:
        sys.exit("\nmutants: stopped; the next run goes on from here")

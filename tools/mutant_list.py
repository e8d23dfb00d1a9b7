"""The list of mutants: what each changes, and which tests look for it (tests/mutants.toml)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib


class ListError(Exception):
    """Something that the writer of the list has to mend."""


@dataclass(frozen=True)
class Suite:
    """A program that tests."""

    build: list[str]  # for ninja
    run: list[str]
    all: str = ""  # the choice of all its tests


def of_gtest(program: str) -> Suite:
    run = [f"{{build}}/{program}", "--gtest_fail_fast", "--gtest_filter={choice}"]
    return Suite([program], run, "*")


@dataclass(frozen=True)
class Mutant:
    id: str
    part: str
    file: str
    find: str
    replace: str
    tests: tuple[str, ...] = ()
    equivalent: str = ""

    @contextmanager
    def applied(self, tree: Path) -> Iterator[None]:
        path = tree / self.file
        before = path.read_text()
        try:
            path.write_text(before.replace(self.find, self.replace))
            yield
        finally:
            path.write_text(before)


class List:
    """Mutants, and what runs the tests of each. A step is a suite, or "suite:choice of tests"."""

    def __init__(self, path: Path, root: Path) -> None:
        self._root = root
        content = tomllib.loads(path.read_text())
        self.suites = {name: Suite(**suite) for name, suite in content["suite"].items()}
        self.suites |= {name: of_gtest(program) for name, program in content["gtest"].items()}
        self.parts: dict[str, list[str]] = content["part"]
        self.mutants: dict[str, Mutant] = {}
        for entry in content["mutant"]:
            mutant = self._read(entry)
            if mutant.id in self.mutants:
                raise ListError(f"{mutant.id}: expected each id once")
            self.mutants[mutant.id] = mutant

    def _read(self, entry: dict[str, Any]) -> Mutant:
        try:
            mutant = Mutant(**entry | {"tests": tuple(entry.get("tests", ()))})
        except TypeError as error:
            raise ListError(f"{entry.get('id')}: {error}") from None
        if mutant.part not in self.parts:
            raise ListError(f"{mutant.id}: expected a part of {', '.join(self.parts)}")
        for step in self.steps(mutant):
            if step.partition(":")[0] not in self.suites:
                raise ListError(f"{mutant.id}: expected a suite of {', '.join(self.suites)}")
        source = self._root / mutant.file
        count = source.read_text().count(mutant.find) if source.is_file() else 0
        if count != 1:
            raise ListError(
                f"{mutant.id}: expected its text once in {mutant.file} but found it {count} times:"
                f"\n{mutant.find}"
            )
        return mutant

    def steps(self, mutant: Mutant) -> list[str]:
        return list(dict.fromkeys([*mutant.tests, *self.parts[mutant.part]]))

    def key(self, mutant: Mutant, tree: str) -> str:
        return hashlib.sha256(f"{mutant}{self.steps(mutant)}{tree}".encode()).hexdigest()[:16]


if __name__ == "__main__":  # for lint: whether every mutant still finds its text
    tree = Path(__file__).resolve().parent.parent
    try:
        List(tree / "tests/mutants.toml", tree)
    except ListError as error:
        raise SystemExit(f"tests/mutants.toml: {error}") from None

"""The house of the lab: which folder may include which, and how large each may grow.

usage: includes_test.py SOURCE_FOLDER
"""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path

LAB = Path(sys.argv.pop()) / "lab"

#: The folders that a folder may include, all above it; "report/assets" is one file.
MAY_INCLUDE = {
    "numbers": [],
    "cli": ["numbers"],
    "plot": ["numbers", "cli"],
    "data": ["numbers"],
    "models": [],
    "run": ["cli", "numbers"],
    "diagnosis": ["run", "cli", "numbers"],
    "trace": [],
    "cells": ["run", "cli", "numbers"],
    "loop": ["run", "data", "models", "diagnosis", "numbers"],
    "report": ["cells", "run", "plot", "cli", "numbers"],
    "theory": ["plot", "report/assets", "cli", "numbers"],
    "bench": ["numbers"],
}
MAY_INCLUDE["commands"] = list(MAY_INCLUDE)

#: Lines of code and of what is copied into the program; a folder may be a tenth above it.
BUDGETS = {
    "numbers": 320,
    "cli": 1900,
    "plot": 1400,
    "data": 4100,
    "models": 1350,
    "run": 3700,
    "diagnosis": 1900,
    "trace": 650,
    "cells": 1000,
    "loop": 1900,
    "report": 2500,
    "theory": 10_300,
    "bench": 800,
    "commands": 3200,
}
FILES = {".cc", ".hpp", ".js", ".css", ".html"}


def files_of(folder: str) -> list[Path]:
    return sorted(path for path in (LAB / folder).rglob("*") if path.suffix in FILES)


def included(path: Path) -> list[str]:
    return re.findall(r'^#include "lab/([^"]+)"', path.read_text(), re.MULTILINE)


class House(unittest.TestCase):
    def test_has_these_folders(self) -> None:
        folders = {path.name for path in LAB.iterdir() if path.is_dir()}
        self.assertEqual(folders, set(MAY_INCLUDE))
        self.assertEqual(folders, set(BUDGETS))

    def test_has_no_way_round_its_order(self) -> None:
        above: set[str] = set()
        for folder, others in MAY_INCLUDE.items():
            self.assertLessEqual({other.split("/")[0] for other in others}, above, folder)
            above.add(folder)

    def test_includes_what_it_may(self) -> None:
        for folder, others in MAY_INCLUDE.items():
            for path in files_of(folder):
                for name in included(path):
                    own = name.split("/")[0]
                    fine = own == folder or own in others or name.removesuffix(".hpp") in others
                    self.assertTrue(fine, f"{path} may not include lab/{name}")

    def test_has_one_namespace_a_folder(self) -> None:
        for folder in MAY_INCLUDE:
            for path in files_of(folder):
                for name in re.findall(r"^namespace (bcos\S*) \{", path.read_text(), re.MULTILINE):
                    self.assertTrue(f"{name}::".startswith(f"bcos::lab::{folder}::"), path)

    def test_stays_within_its_budget(self) -> None:
        for folder, budget in BUDGETS.items():
            lines = sum(len(path.read_text().splitlines()) for path in files_of(folder))
            self.assertLessEqual(lines, 1.1 * budget, folder)


if __name__ == "__main__":
    unittest.main()

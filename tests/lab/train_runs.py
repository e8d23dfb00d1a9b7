"""Tiny runs of the training command, for the tests of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: The command; the test's last argument.
PROGRAM = [sys.argv.pop()]

TINY = {
    "--format": "bytes",
    "--layers": "1",
    "--width": "16",
    "--heads": "2",
    "--context": "16",
    "--batch": "4",
    "--steps": "30",
    "--warmup": "5",
    "--eval-every": "10",
    "--eval-batches": "2",
    "--checkpoint-every": "10",
    "--threads": "1",
}


def words_of(settings: dict[str, str]) -> list[str]:
    return [word for pair in settings.items() for word in pair]


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_WAIT_POLICY": "passive", "LC_ALL": "C.UTF-8"}


def run(
    *arguments: str | Path, limit: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        errors="replace",  # an untrained model writes bytes of all kinds
        timeout=300,
        env=environment(),
        preexec_fn=limit,
        check=False,
    )


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


class TrainTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.text = self.folder / "text.txt"
        self.text.write_text("".join(f"line {i * i % 89} of many\n" for i in range(600)))
        self.runs = self.folder / "runs"

    def tiny(self, name: str, *more: str) -> list[str]:
        return ["train", *more, *self.settings(name, more)]

    def settings(self, name: str, given: tuple[str, ...]) -> list[str]:
        """Of a tiny run, but for those that are given."""
        usual = {"--data": str(self.text), "--out": str(self.runs), "--name": name, **TINY}
        return words_of({key: value for key, value in usual.items() if key not in given})

    def fine(self, *arguments: str | Path) -> str:
        result = run(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def refused(self, code: int, words: str, *arguments: str | Path) -> None:
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertRegex(result.stderr, r"\Abcos: \[[a-z_:]+\] [^\n]+\n\Z")
        self.assertIn(words, result.stderr)

    def training(
        self, arguments: list[str], until: bytes = b"step ", **options: Any
    ) -> subprocess.Popen[bytes]:
        """A process that has printed a line that begins so."""
        options.setdefault("env", environment())
        process = subprocess.Popen(
            [*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
        )
        self.addCleanup(end, process)
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(until):
                break
        return process

    def kill_in_the_middle(self, arguments: list[str]) -> None:
        end(self.training(arguments, until=b"step    51/"))

    def last_weights(self, name: str) -> bytes:
        steps = sorted((self.runs / name / "checkpoints").glob("step-*"))
        return (steps[-1] / "model.safetensors").read_bytes()

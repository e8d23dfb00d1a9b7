"""The benchmark measures, and says what it was asked wrongly. Speeds are not tested."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import bcos_optim

FILE = Path(__file__).parents[2] / "bench" / "python_step.py"
spec = importlib.util.spec_from_file_location("python_step", FILE)
assert spec is not None and spec.loader is not None
bench = importlib.util.module_from_spec(spec)
sys.modules["python_step"] = bench  # dataclasses look their module up
spec.loader.exec_module(bench)

TINY = [(8, 4), (4,)]


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads(), bcos_optim.threads()
    yield
    torch.set_num_threads(before[0])
    bcos_optim.set_threads(before[1])


@pytest.mark.parametrize("layout", ["gpt2", "small"])
def test_every_rival_and_the_call_itself_get_a_row(
    layout: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(bench.LAYOUTS, layout, lambda: TINY)
    file = tmp_path / "rows.jsonl"
    assert (
        bench.main(["--layout", layout, "--threads", "1", "--pairs", "3", "--json", str(file)]) == 0
    )
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["rival"] for row in rows] == [*bench.RIVALS, bench.CALL]
    assert all(0 < row["low"] <= row["ratio"] <= row["high"] for row in rows)
    assert all(row["ours_ms"] > 0 for row in rows)
    printed = capsys.readouterr().out
    assert all(row["rival"] in printed for row in rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pairs", "0"], "1 or more"),
        (["--threads", "-1"], "1 or more"),
        (["--layout", "huge"], "invalid choice"),
        (["--rival", "sophia"], "expected a part of torch AdamW (default)"),
        (["--json", "/no/such/folder/rows.jsonl"], "No such file"),
    ],
)
def test_wrong_arguments_are_refused_before_measuring(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        bench.main(arguments)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_rivals_are_chosen_by_a_word() -> None:
    assert bench.chosen_rivals(["fused", "CALL"]) == ["torch AdamW (fused)", bench.CALL]
    assert bench.chosen_rivals(None) == [*bench.RIVALS, bench.CALL]


def test_the_list_of_gpt2_has_its_parameters() -> None:
    shapes = bench.gpt2_shapes()
    assert len(shapes) == 148
    counts = [shape[0] * (shape[1] if len(shape) > 1 else 1) for shape in shapes]
    assert sum(counts) == 124_439_808

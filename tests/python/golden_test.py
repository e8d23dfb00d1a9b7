"""The golden traces, through the Python package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from bcos_optim import BCOS

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())

MODES = {
    ("gradient", "constant"): "sgd",
    ("momentum", "constant"): "sgd_momentum",
    ("gradient", "instant"): "sign_sgd",
    ("momentum", "instant"): "sign_momentum",
    ("gradient", "ema_d"): "g",
    ("momentum", "ema_d"): "m",
    ("momentum", "ema_g"): "adam",
    ("momentum", "cond_full"): "c",
    ("momentum", "cond_simple"): "c",
    ("momentum", "cond_free"): "c",
}


def options_of(config: dict[str, Any]) -> dict[str, Any] | None:
    """A case as options of BCOS; None if it is outside what the package offers."""
    mode = MODES.get((config["direction"], config["estimator"]))
    if mode is None or config["rule"] != "sqrt" or config["c"] != 1:
        return None
    blocks = GOLDEN["blocks"][config["blocks"]]
    return dict(
        mode=mode,
        simple=config["estimator"] in ("cond_simple", "cond_free"),
        beta=config["beta"],
        beta_v=config["beta_v"] if config["estimator"] in ("ema_d", "ema_g", "cond_free") else None,
        eps=config["eps"],
        eps_root=config["eps_root"],
        weight_decay=0.0 if config["decay"] == "none" else config["lambda"],
        decoupled=config["decay"] != "coupled",
        start=config["start"],
        coupled_start=config["coupled_start"],
        blocks="coordinate" if len(blocks) == 3 else blocks,
        block_gain=config["block_gain"],
        max_norm=config["max_norm"],
    )


CASES = {case["name"]: case for case in GOLDEN["cases"] if options_of(case["config"])}


def fits_float32(config: dict[str, Any]) -> bool:
    """A float32 v cannot hold the squares of huge and tiny gradients."""
    extreme = config["grads"] in ("G_HUGE", "G_TINY")
    return not (config["estimator"].startswith("ema") and extreme)


def replayed(case: dict[str, Any], dtype: torch.dtype, options: dict[str, Any]) -> list[Any]:
    p = torch.nn.Parameter(torch.tensor(GOLDEN["x0"], dtype=dtype))
    optimizer = BCOS([p], **options_of(case["config"]), **options)
    xs = []
    for alpha, g in zip(GOLDEN["alpha"], GOLDEN[case["config"]["grads"]], strict=True):
        p.grad = None if g is None else torch.tensor(g, dtype=dtype)
        optimizer.param_groups[0]["lr"] = alpha
        optimizer.step()
        xs.append(p.detach().double().tolist())
    return xs


def close(received: list[float], expected: list[float], relative: float) -> bool:
    largest = max(1e-3 * max(map(abs, expected)), 1e-300)
    return all(
        abs(r - e) <= relative * max(abs(e), largest)
        for r, e in zip(received, expected, strict=True)
    )


def test_nearly_all_cases_can_be_expressed() -> None:
    assert len(CASES) >= 235


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_reproduced_in_float64(name: str, implementation: dict[str, Any]) -> None:
    for step, x in zip(
        CASES[name]["trace"], replayed(CASES[name], torch.float64, implementation), strict=True
    ):
        assert close(x, step["x"], 1e-12), step["t"]


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if fits_float32(c["config"])])
def test_a_case_is_reproduced_in_float32(name: str, implementation: dict[str, Any]) -> None:
    for step, x in zip(
        CASES[name]["trace"], replayed(CASES[name], torch.float32, implementation), strict=True
    ):
        for received, expected in zip(x, step["x"], strict=True):
            assert abs(received - expected) <= 2e-6 * max(1, abs(expected)), step["t"]

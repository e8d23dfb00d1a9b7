"""Clipping, guard, scales and reports, whoever takes the step."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from bcos_optim import BCOS
from conftest import Make, run

MIXED = {"engine and operations": [torch.float32, torch.bfloat16], "engine": [torch.float32] * 2}


@pytest.mark.parametrize("max_norm", [None, 0.5, 1e3])
def test_limits_with_a_grad_scale(
    max_norm: float | None, implementation: dict[str, Any], make_params: Make
) -> None:
    """Gradients of a scaled loss are clipped by the norm that they have without the scale."""
    params, others = make_params(), make_params()
    scaled = BCOS(params, lr=0.01, max_norm=max_norm, guard="skip", **implementation)
    plain = BCOS(others, lr=0.01, max_norm=max_norm, guard="skip", **implementation)
    for t in range(3):
        run(plain, 1, t)
        for p, q in zip(params, others, strict=True):
            p.grad = q.grad * 1024
        scaled.grad_scale = torch.tensor(1024.0)
        scaled.step()
        assert scaled.last_report.norm == pytest.approx(plain.last_report.norm, rel=1e-12)
        assert scaled.last_report.clipped == plain.last_report.clipped
    assert all(torch.equal(p, q) for p, q in zip(params, others, strict=True))


def test_a_begun_parameter_steps_at_lr_0(implementation: dict[str, Any]) -> None:
    """Only parameters that have not started are left alone by zero gradients at lr = 0."""
    p = nn.Parameter(torch.ones(3))
    optimizer = BCOS([p], lr=0.1, **implementation)
    run(optimizer, 1)
    m = optimizer.state[p]["m"].clone()
    optimizer.param_groups[0]["lr"] = 0.0
    p.grad = torch.zeros(3)
    optimizer.step()
    assert int(optimizer.state[p]["step"]) == 2
    torch.testing.assert_close(optimizer.state[p]["m"], 0.9 * m)


@pytest.mark.parametrize("kind", MIXED)
@pytest.mark.parametrize("gradient", [torch.nan, torch.inf])
def test_reports_are_written_in_every_step(kind: str, gradient: float) -> None:
    params = [nn.Parameter(torch.ones(4, dtype=dtype)) for dtype in MIXED[kind]]
    optimizer = BCOS(params, guard="skip", max_norm=1.0, lr=0.1)
    assert optimizer.last_report is None
    for p in params:
        p.grad = torch.ones_like(p)
    optimizer.step()
    report = optimizer.last_report
    assert report.elements == 8 and report.bytes > 0
    assert report.clipped and not report.skipped
    assert report.norm == pytest.approx(math.sqrt(8))
    params[0].grad = torch.full_like(params[0], gradient)
    optimizer.step()
    assert optimizer.last_report.skipped and optimizer.last_report.elements == 0
    params[0].grad = torch.ones_like(params[0])
    optimizer.step()
    assert not optimizer.last_report.skipped


def test_a_step_that_grad_scaler_forbids_is_reported(implementation: dict[str, Any]) -> None:
    p = nn.Parameter(torch.ones(2))
    optimizer = BCOS([p], **implementation)
    run(optimizer, 1)
    before = p.detach().clone()
    optimizer.found_inf = torch.ones(1)
    optimizer.step()
    assert optimizer.last_report.skipped
    assert torch.equal(p, before)


def test_torchs_operations_report_what_they_did() -> None:
    params = [nn.Parameter(torch.ones(10, dtype=torch.bfloat16)), nn.Parameter(torch.ones(5))]
    optimizer = BCOS(params, fused=False, lr=0.5, weight_decay=4.0)
    for p in params:
        p.grad = torch.ones_like(p)
    optimizer.step()
    report = optimizer.last_report
    assert report.elements == 15
    assert report.bytes == 10 * (3 * 2 + 2 * 4) + 5 * 20
    assert report.decay_above_one


class Waiting(TorchDispatchMode):
    """Fails where a number is asked of a tensor, which waits for a device."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        assert "_local_scalar_dense" not in str(function), "the step waits"
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "options", [{}, {"max_norm": 0.5}, {"guard": "skip"}, {"mode": "m", "max_norm": 0.5}], ids=str
)
def test_a_capturable_step_never_waits(options: dict[str, Any], make_params: Make) -> None:
    params, others = make_params(), make_params()
    capturable = BCOS(params, lr=0.01, capturable=True, fused=False, **options)
    plain = BCOS(others, lr=0.01, fused=False, **options)
    for t in range(3):
        run(plain, 1, t)
        for p, q in zip(params, others, strict=True):
            p.grad = q.grad.clone()
        capturable.grad_scale = torch.tensor(1.0)
        capturable.found_inf = torch.zeros(1)
        with Waiting():
            capturable.step()
    for p, q in zip(params, others, strict=True):
        torch.testing.assert_close(p, q, rtol=1e-5, atol=1e-6)
    before = [p.detach().clone() for p in params]
    capturable.found_inf = torch.ones(1)
    capturable.step()
    assert all(torch.equal(p, q) for p, q in zip(params, before, strict=True))


def test_capturable_counters_are_whole_numbers(make_params: Make) -> None:
    """float32 stops counting at 2^24."""
    params = make_params()
    optimizer = BCOS(params, capturable=True, fused=False, mode="m")
    run(optimizer, 1)
    optimizer.state[params[0]]["step"].fill_(2**24)
    run(optimizer, 1, 1)
    assert int(optimizer.state[params[0]]["step"]) == 2**24 + 1

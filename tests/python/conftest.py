"""What the tests share: the three implementations, and small problems to step on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

IMPLEMENTATIONS: dict[str, dict[str, Any]] = {
    "engine": {},
    "foreach": {"fused": False},
    "loop": {"fused": False, "foreach": False},
}


@pytest.fixture(params=IMPLEMENTATIONS)
def implementation(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(IMPLEMENTATIONS[request.param])


Make = Callable[..., list[torch.nn.Parameter]]


@pytest.fixture
def make_params() -> Make:
    """Parameters of some shapes, the same at every call."""

    def make(
        *shapes: tuple[int, ...], dtype: torch.dtype = torch.float32, seed: int = 0
    ) -> list[torch.nn.Parameter]:
        generator = torch.Generator().manual_seed(seed)
        shapes = shapes or ((5, 4), (3,), ())
        return [
            torch.nn.Parameter(torch.randn(shape, generator=generator, dtype=dtype))
            for shape in shapes
        ]

    return make


def give_gradients(params: list[torch.nn.Parameter], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for p in params:
        real = torch.view_as_real(p) if p.is_complex() else p
        values = torch.randn(real.shape, generator=generator, dtype=torch.float64).to(real.dtype)
        p.grad = torch.view_as_complex(values) if p.is_complex() else values


def run(optimizer: torch.optim.Optimizer, steps: int, first: int = 0) -> None:
    for t in range(first, first + steps):
        give_gradients([p for g in optimizer.param_groups for p in g["params"]], t)
        optimizer.step()

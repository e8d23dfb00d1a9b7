"""What the tests share: the three implementations, and small problems to step on."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import pytest
import torch

from bcos_optim.steppers import engine

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


@dataclass
class Calls:
    """Of the engine's C interface."""

    created: list[int] = field(default_factory=list)  #: plans: how many threads each may take
    updates: int = 0


@contextmanager
def calls_of_the_engine() -> Iterator[Calls]:
    lib = engine.library()
    calls = Calls()

    class Watched:
        def __getattr__(self, name: str) -> Any:
            return getattr(lib, name)

        @staticmethod
        def bcos_plan_create(*arguments: Any) -> int:
            options = ctypes.cast(arguments[4], ctypes.POINTER(engine.Options)).contents
            calls.created.append(options.threads)
            return lib.bcos_plan_create(*arguments)

        @staticmethod
        def bcos_plan_update(*arguments: Any) -> int:
            calls.updates += 1
            return lib.bcos_plan_update(*arguments)

    watched = Watched()
    with mock.patch.object(engine, "library", lambda: watched):
        yield calls

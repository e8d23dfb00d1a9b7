"""How much memory a step takes besides parameters, gradients and states, and what it copies."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from bcos_optim import BCOS
from bcos_optim.steppers import engine
from conftest import calls_of_the_engine

MIB = 1 << 20


class Scratch(TorchDispatchMode):
    """Counts the bytes of tensors that operations make, while they live."""

    def __init__(self) -> None:
        super().__init__()
        self.live = self.peak = 0

    def _gone(self, size: int) -> None:
        self.live -= size

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        given = {id(t) for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)}
        for t in tree_leaves(result):
            if isinstance(t, Tensor) and id(t) not in given and t._base is None:
                size = t.untyped_storage().nbytes()
                if t.numel() * t.element_size() < size:
                    continue  # a view
                self.live += size
                weakref.finalize(t, self._gone, size)
                self.peak = max(self.peak, self.live)
        return result


def scratch_of(shapes: list[tuple[int, ...]], device: str = "cpu", **options: Any) -> int:
    dtype = options.pop("dtype", torch.float32)
    params = [nn.Parameter(torch.zeros(s, dtype=dtype, device=device)) for s in shapes]
    for p in params:
        p.grad = torch.ones_like(p)
    optimizer = BCOS(params, **options)
    optimizer.step()
    with Scratch() as scratch:
        optimizer.step()
    return scratch.peak


LARGE = [(3000, 1000), (5_000_000,), (3000, 1000), *[(1000,)] * 100]


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "m"},
        {"mode": "adam"},
        {"foreach": False},
        {"dtype": torch.bfloat16},
        {"dtype": torch.float64},
        {"blocks": "row"},
        {"blocks": "column", "mode": "m"},
        {"max_norm": 1.0},
    ],
    ids=str,
)
def test_torchs_operations_take_little_memory_whatever_the_model(
    options: dict[str, Any], device: str
) -> None:
    """Eleven million weights: a temporary of each would be 44 MB, and the formula has thirteen."""
    shapes = [s for s in LARGE if len(s) == 2] if "blocks" in options else LARGE
    assert scratch_of(shapes, device, fused=False, **options) <= 64 * MIB


@pytest.mark.parametrize("options", [{}, {"max_norm": 1.0}, {"guard": "skip"}], ids=str)
def test_the_engine_takes_none(options: dict[str, Any]) -> None:
    assert scratch_of(LARGE, **options) < MIB


def permuted(values: Tensor) -> Tensor:
    return values.to(memory_format=torch.channels_last)


@pytest.mark.parametrize("options", [{}, {"mode": "m"}], ids=str)
def test_convolutions_in_channels_last_are_stepped_where_they_lie(options: dict[str, Any]) -> None:
    """One call of the engine per step, on one plan, and no tensor is made."""
    torch.manual_seed(0)
    start = [torch.randn(32, 16, 3, 3), torch.randn(64, 32, 1, 1), torch.randn(64)]
    lying = [nn.Parameter(permuted(x.clone()) if x.dim() == 4 else x.clone()) for x in start]
    dense = [nn.Parameter(x.clone()) for x in start]
    ours, theirs = BCOS(lying, lr=0.1, **options), BCOS(dense, lr=0.1, **options)
    with calls_of_the_engine() as calls:
        for _ in range(4):
            for p, q in zip(lying, dense, strict=True):
                q.grad = torch.randn_like(q)
                p.grad = permuted(q.grad) if p.dim() == 4 else q.grad.clone()
            with Scratch() as scratch:
                ours.step()
        assert scratch.peak == 0
        assert len(calls.created) == 1 and calls.updates == 4
    assert ours.state[lying[0]]["m"].stride() == lying[0].stride()
    run_dense(theirs, dense, start, options)


def run_dense(
    optimizer: BCOS, dense: list[nn.Parameter], start: list[Tensor], options: dict[str, Any]
) -> None:
    """The same bits in another order of memory."""
    torch.manual_seed(1)
    lying = [nn.Parameter(permuted(x.clone()) if x.dim() == 4 else x.clone()) for x in start]
    for p, x in zip(dense, start, strict=True):
        p.data.copy_(x)
    ours, theirs = BCOS(lying, lr=0.1, **options), BCOS(dense, lr=0.1, **options)
    for _ in range(3):
        for p, q in zip(lying, dense, strict=True):
            q.grad = torch.randn_like(q)
            p.grad = permuted(q.grad) if p.dim() == 4 else q.grad.clone()
        ours.step()
        theirs.step()
    assert all(torch.equal(p, q) for p, q in zip(lying, dense, strict=True))


def test_groups_that_are_swapped_in_turn_keep_their_plans() -> None:
    """As DeepSpeed does, and whoever steps parameters one by one."""
    params = [nn.Parameter(torch.ones(8)) for _ in range(6)]
    optimizer = BCOS([{"params": params[:3]}, {"params": params[3:]}])
    groups = optimizer.param_groups
    with calls_of_the_engine() as calls:
        for _ in range(5):
            for group in groups:
                optimizer.param_groups = [group]
                for p in group["params"]:
                    p.grad = torch.ones(8)
                optimizer.step()
        assert len(calls.created) == 2
        # A gradient that is missing, strided or of an expert that nobody asked makes no new plan.
        for t in range(4):
            params[3].grad = None if t % 2 else torch.ones(8, 2)[:, 0]
            optimizer.step()
        assert len(calls.created) == 2
    assert [int(optimizer.state[p]["step"]) for p in params] == [5, 5, 5, 7, 9, 9]


def test_the_oldest_plans_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MOST_PLANNED", 4)
    params = [nn.Parameter(torch.ones(8)) for _ in range(6)]
    optimizer = BCOS([{"params": params[:2]}, {"params": params[2:4]}, {"params": params[4:]}])
    groups = optimizer.param_groups
    for p in params:
        p.grad = torch.ones(8)
    with calls_of_the_engine() as calls:
        for k in (0, 1, 0, 2, 2, 1, 0):  # two of them fit
            optimizer.param_groups = [groups[k]]
            optimizer.step()
    assert len(calls.created) == 4


def test_a_scheduler_makes_no_new_plan() -> None:
    params = [nn.Parameter(torch.ones(8)) for _ in range(3)]
    optimizer = BCOS(params, mode="m", betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=10)
    with calls_of_the_engine() as calls:
        for _ in range(8):
            for p in params:
                p.grad = torch.ones(8)
            optimizer.step()
            schedule.step()
    assert len(calls.created) == 1

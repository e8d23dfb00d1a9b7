"""What a step computes where rounding or range is at stake, on every way of taking one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from bcos_optim import BCOS

Step = Callable[[], None]


def plain(optimizer: BCOS) -> Step:
    return optimizer.step


def compiled(optimizer: BCOS) -> Step:
    torch._dynamo.reset()
    return torch.compile(optimizer.step, backend="eager")


#: How torch's operations take a step: options, and what makes a step of the optimizer.
IN_TORCH: dict[str, tuple[dict[str, Any], Callable[[BCOS], Step]]] = {
    "foreach": ({"fused": False}, plain),
    "loop": ({"fused": False, "foreach": False}, plain),
    "capturable lists": ({"fused": False, "capturable": True}, plain),
    "capturable loop": ({"fused": False, "foreach": False, "capturable": True}, plain),
    "compiled": ({}, compiled),
}
EVERYWHERE = {"engine": ({}, plain), **IN_TORCH}

everywhere = pytest.mark.parametrize("way", EVERYWHERE)
in_torch = pytest.mark.parametrize("way", IN_TORCH)


def made(way: str, params: list[nn.Parameter], lr: float, **options: Any) -> tuple[BCOS, Step]:
    chosen, step_of = EVERYWHERE[way]
    rate = torch.tensor(lr, dtype=params[0].dtype) if chosen.get("capturable") else lr
    optimizer = BCOS(params, lr=rate, **options, **chosen)
    return optimizer, step_of(optimizer)


@everywhere
@pytest.mark.parametrize("delta", [2e-8, 4e-8, 1e-7, 1e-6])
def test_as_much_decay_is_done_as_is_asked_for(way: str, delta: float) -> None:
    torch.manual_seed(0)
    params = [nn.Parameter(1 + torch.rand(1 << 20)), nn.Parameter(1 + torch.rand(1 << 20))]
    _, step = made(way, params, 2.0**-10, mode="sgd", weight_decay=delta * 2**10)
    before = [p.detach().double() for p in params]
    for p in params:
        p.grad = torch.randn_like(p)
    step()
    done = asked = 0.0
    for p, x in zip(params, before, strict=True):
        done += float((x - p.grad.double() * 2.0**-10 - p.detach().double()).sum())
        asked += float((x * delta).sum())
    assert done / asked == pytest.approx(1, abs=0.01)


@in_torch
@pytest.mark.parametrize(("dtype", "half"), [(torch.bfloat16, 2.0**-9), (torch.float16, 2.0**-12)])
def test_decay_is_added_up_in_float32_before_sixteen_bits_are_rounded(
    way: str, dtype: torch.dtype, half: float
) -> None:
    """Without decay x ends half way between two numbers and is rounded up to 1; the least decay
    below brings it under that, and 1 - alpha lambda is 1 in float32."""
    chosen, step_of = IN_TORCH[way]
    params = [nn.Parameter(torch.full((3,), 1.5, dtype=dtype)) for _ in range(2)]
    lr = 0.5 + half
    rate = torch.tensor(lr) if chosen.get("capturable") else lr
    for decay, expected in ((0.0, 1.0), (2.9e-8 / lr, 1 - 2 * half)):
        for p in params:
            p.data.fill_(1.5)
            p.grad = torch.ones_like(p)
        step_of(BCOS(params, lr=rate, mode="sgd", weight_decay=decay, **chosen))()
        for p in params:
            assert (p == expected).all()


@in_torch
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("mode", ["sgd", "sign_sgd", "sign_momentum"])
def test_torchs_operations_give_the_engines_bits_where_roots_do_not_round(
    mode: str, dtype: torch.dtype, weight_decay: float, way: str
) -> None:
    def end(way: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        params = [nn.Parameter(torch.randn(1000, dtype=dtype)) for _ in range(2)]
        lr = float(torch.tensor(0.01, dtype=dtype))
        _, step = made(way, params, lr, mode=mode, weight_decay=weight_decay)
        for _ in range(5):
            for p in params:
                p.grad = torch.randn_like(p)
            step()
        return [p.detach() for p in params]

    assert all(torch.equal(a, b) for a, b in zip(end("engine"), end(way), strict=True))


class Counting(TorchDispatchMode):
    """Counts torch's operations by name."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.counts[function.overloadpacket.__name__] += 1
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("way", ["foreach", "capturable lists"])
def test_steps_without_decay_spend_nothing_on_it(way: str) -> None:
    def operations(weight_decay: float, **options: bool) -> Counter[str]:
        params = [nn.Parameter(torch.ones(3)) for _ in range(4)]
        _, step = made(way, params, 0.01, weight_decay=weight_decay, **options)
        for p in params:
            p.grad = torch.ones(3)
        step()
        with Counting() as counting:
            step()
        return counting.counts

    bare, decayed = operations(0.0), operations(0.1)
    assert bare == operations(0.0, decoupled=False)
    assert not bare - decayed
    lists = {name: count for name, count in (decayed - bare).items() if "foreach" in name}
    assert lists == {"_foreach_mul": 1, "_foreach_add": 1}


def stepped_from(
    way: str, ms: list[list[float]], v: float, lr: float = 2.0**-10, **options: Any
) -> list[list[float]]:
    """Where parameters of mode adam at 0 get to in a step without gradient, in units of lr, given
    their m and one v for all."""
    params = [nn.Parameter(torch.zeros(len(m))) for m in ms]
    optimizer, step = made(way, params, lr, mode="adam", weight_decay=0.0, **options)
    for p in params:
        p.grad = torch.ones_like(p)
    step()
    for p, m in zip(params, ms, strict=True):
        p.data.zero_()
        p.grad = torch.zeros_like(p)
        optimizer.state[p]["m"].copy_(torch.tensor(m))
        optimizer.state[p]["v"].fill_(v)
    step()
    return [(p.detach() / lr).tolist() for p in params]


@everywhere
def test_a_coordinate_whose_v_has_vanished_moves_along_its_sign(way: str) -> None:
    for x in stepped_from(way, [[0.5, -3.0, 0.0]] * 2, 0.0, eps=0.0):
        assert x == [-1.0, 1.0, 0.0]


@everywhere
@pytest.mark.parametrize(("gain", "length"), [("one", 1.0), ("sqrt", 2.0**0.5)])
def test_a_block_whose_v_has_vanished_moves_along_its_direction(
    way: str, gain: str, length: float
) -> None:
    for x in stepped_from(way, [[3.0, -4.0]] * 2, 0.0, eps=0.0, blocks="tensor", block_gain=gain):
        assert x == pytest.approx([-0.6 * length, 0.8 * length], rel=1e-6)


@everywhere
@pytest.mark.parametrize("blocks", ["coordinate", "tensor"])
def test_where_v_vanishes_but_the_gradient_does_not_there_is_a_ratio(way: str, blocks: str) -> None:
    params = [nn.Parameter(torch.zeros(1)) for _ in range(2)]
    options = dict(mode="adam", eps=0.0, start="zero", blocks=blocks, weight_decay=0.0)
    _, step = made(way, params, 1.0, **options)
    for p in params:
        p.grad = torch.full_like(p, 1e-30)
    step()
    for p in params:
        assert p.item() == pytest.approx(-0.1 / 0.001**0.5, rel=1e-5)


@everywhere
def test_what_an_eps_stands_for_v_has_not_vanished(way: str) -> None:
    for x in stepped_from(way, [[0.5, 0.0]] * 2, 0.0, betas=(0.5, 0.99), eps=0.125):
        assert x == pytest.approx([-2 / (1 - 0.5**2) * 0.5, 0.0])


@in_torch
@pytest.mark.parametrize("v", [1e-28, 1e-33, 1e-40])
def test_no_coordinate_is_amplified_more_than_is_allowed(way: str, v: float) -> None:
    for x in stepped_from(way, [[3e12, -4e12]] * 2, v, eps=0.0):
        assert x == pytest.approx([-1e20, 1e20])


@in_torch
@pytest.mark.parametrize("v", [1e-28, 1e-33, 1e-40])
@pytest.mark.parametrize(("gain", "length"), [("one", 1e20), ("sqrt", 2.0**0.5 * 1e20)])
def test_no_block_is_amplified_more_than_is_allowed(
    way: str, gain: str, length: float, v: float
) -> None:
    for x in stepped_from(way, [[3e12, -4e12]] * 2, v, eps=0.0, blocks="tensor", block_gain=gain):
        assert x == pytest.approx([-0.6 * length, 0.8 * length])


@in_torch
@pytest.mark.parametrize("blocks", ["coordinate", "tensor"])
@pytest.mark.parametrize("mode", ["c", "m", "adam", "sign_momentum"])
def test_a_momentum_that_does_not_count_does_not_hold_a_step_back(
    way: str, mode: str, blocks: str
) -> None:
    def end(m: float) -> torch.Tensor:
        params = [nn.Parameter(torch.ones(2)) for _ in range(2)]
        optimizer, step = made(way, params, 0.5, mode=mode, beta=0.0, blocks=blocks, eps=0.0)
        for _ in range(2):
            for p in params:
                p.grad = torch.full_like(p, 1e-10)
            step()
            for p in params:
                optimizer.state[p]["m"].fill_(m)
        return torch.stack(params).detach()

    assert torch.equal(end(1e38), end(0.0))
    assert (end(0.0) < 0.5).all()

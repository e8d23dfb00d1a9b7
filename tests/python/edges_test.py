"""Parameters and gradients that are hardly there, or change under the optimizer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

import bcos_optim
from bcos_optim import BCOS


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"mode": "g"}, {"mode": "adam"}, {"mode": "m", "blocks": "row"}]
)
def test_a_model_that_changes_its_type_is_refused_by_name(
    options: dict[str, Any], fused: bool
) -> None:
    model = nn.Linear(3, 2)
    optimizer = BCOS(model.named_parameters(), fused=fused, **options)
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    model.double()
    model(torch.ones(4, 3).double()).sum().backward()
    before = model.weight.detach().clone()
    with pytest.raises(ValueError, match="Invalid parameter weight: it is torch.float64 now"):
        optimizer.step()
    assert torch.equal(model.weight, before)


@pytest.mark.parametrize(
    "options",
    [{}, {"mode": "m"}, {"mode": "adam"}, {"blocks": "row"}, {"max_norm": 1.0, "guard": "skip"}],
)
def test_fake_tensors_are_stepped_without_numbers(options: dict[str, Any]) -> None:
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake.FakeTensorMode():
        model = nn.Linear(3, 2)
        optimizer = BCOS(model.parameters(), **options)
        for _ in range(2):
            model(torch.ones(4, 3)).sum().backward()
            optimizer.step()
        assert optimizer.state[model.weight]["m"].shape == (2, 3)


def test_an_empty_parameter_counts_the_steps_that_it_has_a_gradient_in() -> None:
    empty, full = nn.Parameter(torch.zeros(0)), nn.Parameter(torch.zeros(3))
    optimizer = BCOS([empty, full])
    for given in (False, True, True, False):
        full.grad = torch.ones(3)
        empty.grad = torch.zeros(0) if given else None
        optimizer.step()
    assert optimizer.state[empty]["step"].item() == 2
    assert optimizer.state[full]["step"].item() == 4


def test_an_empty_parameter_does_not_count_steps_that_only_make_state() -> None:
    empty, full = nn.Parameter(torch.zeros(0)), nn.Parameter(torch.zeros(3))
    optimizer = BCOS([empty, full], lr=0.0)
    full.grad = torch.ones(3)
    empty.grad = torch.zeros(0)
    for _ in range(2):
        optimizer.step()
        empty.grad = None
    assert optimizer.state[empty]["step"].item() == 0


def test_a_strided_gradient_may_not_be_the_parameter_itself() -> None:
    p = nn.Parameter(torch.ones(4, 6)[:, ::2])
    optimizer = BCOS([p])
    p.grad = p.detach()
    with pytest.raises(ValueError, match="overlaps"):
        optimizer.step()
    assert (p == 1).all()


def test_strided_gradients_may_lie_between_the_numbers_of_their_parameters() -> None:
    both = torch.ones(4, 6)
    p = nn.Parameter(both[:, ::2])
    optimizer = BCOS([p])
    p.grad = both[:, 1::2]
    optimizer.step()
    assert (p < 1).all()
    assert (both[:, 1::2] == 1).all()


def test_sgd_that_ignores_gradients_has_no_momentum_to_convert() -> None:
    p = nn.Parameter(torch.ones(2))
    sgd = torch.optim.SGD([p], lr=0.1, momentum=0.9, dampening=1)
    p.grad = torch.ones(2)
    sgd.step()
    with pytest.raises(ValueError, match="dampening=1"):
        bcos_optim.convert(sgd, lr=0.1)


@pytest.mark.parametrize("mode", ["sgd", "sign_sgd"])
@pytest.mark.parametrize("given", [{"beta": 0.5}, {"betas": (0.5,)}])
def test_a_beta_is_refused_where_there_is_no_momentum(mode: str, given: dict[str, Any]) -> None:
    p = nn.Parameter(torch.ones(2))
    for make in (
        lambda: BCOS([p], mode=mode, **given),
        lambda: BCOS([{"params": [p], "mode": mode, **given}]),
        lambda: bcos_optim.optimizer(mode, [p], **given),
        lambda: bcos_optim.optimizer("bcosw_c", [p], mode=mode, **given),
    ):
        with pytest.raises(ValueError, match=f"mode '{mode}' has no momentum"):
            make()


def test_a_beta_is_taken_where_a_group_has_momentum() -> None:
    p = nn.Parameter(torch.ones(2))
    optimizer = BCOS([{"params": [p], "mode": "c"}], mode="sgd", beta=0.5)
    assert optimizer.param_groups[0]["betas"] == (0.5,)
    BCOS([p], mode="sgd")


class Odd(nn.Parameter):
    """A parameter whose gradient is not what torch says."""

    given: Any = None

    @property
    def grad(self) -> Any:
        return self.given

    @grad.setter
    def grad(self, value: Any) -> None:
        self.given = value


@pytest.mark.parametrize("given", ["nonsense", 3, [torch.ones(2)]])
def test_what_is_no_tensor_is_not_read_as_one(given: Any) -> None:
    p = Odd(torch.ones(2))
    p.grad = torch.ones(2)
    optimizer = BCOS([p], lr=0.5, weight_decay=0)
    optimizer.step()
    assert (p < 1).all()
    p.grad = given
    with pytest.raises(AttributeError):
        optimizer.step()


class Kind(torch.Tensor):
    """A tensor that Python knows by another name; its memory is its own."""


class Stand(torch.Tensor):
    """A tensor that stands for another one."""

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        plain = [a.as_subclass(torch.Tensor) if isinstance(a, Stand) else a for a in args]
        with torch._C._DisableTorchDispatch():
            return function(*plain, **(kwargs or {}))


KINDS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "dense": lambda g: g,
    "known by another name": lambda g: g.as_subclass(Kind),
    "in a larger memory": lambda g: torch.cat([g, g])[2:4],
    "transposed": lambda g: g.t().contiguous().t(),
    "with gaps": lambda g: torch.stack([g, g], dim=2).view(2, 6)[:, ::2],
    "of another sign": lambda g: torch._neg_view(-g),
    "conjugate": lambda g: torch.complex(g, -g).conj().imag,
    "standing for another": lambda g: g.clone().as_subclass(Stand),
}


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_taken_for_what_they_are(kind: str) -> None:
    """At first and in a later step, after ordinary ones and before them."""
    gradient = torch.tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]])
    odd, plain = nn.Parameter(torch.ones(2, 3)), nn.Parameter(torch.ones(2, 3))
    ours, theirs = BCOS([odd], lr=0.5), BCOS([plain], lr=0.5)
    for t in range(4):
        plain.grad = gradient * (t + 1)
        odd.grad = KINDS[kind](gradient * (t + 1)) if t % 2 == 0 else gradient * (t + 1)
        ours.step()
        theirs.step()
        assert torch.equal(odd, plain)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_in_a_larger_memory_are_found(dtype: torch.dtype) -> None:
    p, q = (nn.Parameter(torch.ones(4, dtype=dtype)) for _ in range(2))
    whole = torch.arange(10, dtype=dtype)
    p.grad, q.grad = whole[3:7], whole[3:7].clone()
    for one in (p, q):
        BCOS([one]).step()
    assert torch.equal(p, q)


def test_what_moves_is_found_in_its_new_place() -> None:
    def end(move: Callable[[nn.Parameter, torch.Tensor], None]) -> torch.Tensor:
        first, p = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))
        optimizer = BCOS([first, p], lr=0.5)
        for t in range(3):
            p.grad = torch.arange(4.0) - t
            first.grad = torch.ones(4)
            optimizer.step()
            move(p, optimizer.state[p]["m"])
        return p.detach().clone()

    expected = end(lambda p, m: None)
    for move in (
        lambda p, m: setattr(p, "data", p.data.clone()),
        lambda p, m: setattr(m, "data", m.data.clone()),
        lambda p, m: setattr(m, "data", torch.cat([m.data, m.data])[4:]),
        lambda p, m: m.set_(m.clone()),
        lambda p, m: m.share_memory_(),
        lambda p, m: setattr(p, "data", torch.stack([p.data, p.data], dim=1)[:, 0]),
    ):
        assert torch.equal(end(move), expected)


def test_a_counter_that_somebody_replaces_counts_from_there() -> None:
    def end(**options: Any) -> torch.Tensor:
        p, q = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
        optimizer = BCOS([p, q], lr=0.1, mode="m", **options)
        for t in range(4):
            p.grad = q.grad = torch.tensor([1.0, -2.0, 0.5 * t])
            optimizer.step()
            if t == 1:
                optimizer.state[q]["step"] = torch.zeros((), dtype=torch.int64)
        assert [int(optimizer.state[one]["step"]) for one in (p, q)] == [4, 2]
        return q.detach()

    torch.testing.assert_close(end(), end(fused=False))


def test_gradients_are_let_go() -> None:
    params = [nn.Parameter(torch.ones(2)) for _ in range(3)]
    optimizer = BCOS(params)
    for p in params:
        p.grad = torch.ones(2)
    counts = [sys.getrefcount(p.grad) for p in params]
    for _ in range(3):
        optimizer.step()
    assert [sys.getrefcount(p.grad) for p in params] == counts


class Answering(TorchFunctionMode):
    """Answers for torch when a gradient is asked for."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        asked = getattr(function, "__self__", None) is torch.Tensor.grad
        return result.clone() if asked else result


def test_gradients_that_nobody_else_has_are_held_while_they_are_read() -> None:
    params = [nn.Parameter(torch.zeros(1000)) for _ in range(30)]
    for t, p in enumerate(params):
        p.grad = torch.full_like(p, t + 1.0)
    optimizer = BCOS(params, weight_decay=0.0, mode="sgd", lr=1.0)
    with Answering():
        optimizer.step()
    for t, p in enumerate(params):
        assert (p == -(t + 1.0)).all()


@pytest.mark.parametrize("count", [50, 1_500])
def test_every_state_has_memory_of_its_own(count: int) -> None:
    params = [nn.Parameter(torch.ones(1 + i % 37)) for i in range(count)]
    optimizer = BCOS(params)
    for p in params:
        p.grad = torch.ones_like(p)
    optimizer.step()
    storages = {optimizer.state[p]["m"].untyped_storage().data_ptr() for p in params}
    assert len(storages) == count


def test_parameters_of_one_list_have_steps_of_their_own(implementation: dict[str, Any]) -> None:
    """The start is corrected by how many steps each has taken, not by those of its neighbours."""
    old, young, alone = (nn.Parameter(torch.ones(3)) for _ in range(3))
    both = BCOS([old, young], lr=0.1, mode="m", **implementation)
    other = BCOS([alone], lr=0.1, mode="m", **implementation)
    old.grad = torch.ones(3)
    for t in range(4):
        both.step()
        other.step()
        young.grad = alone.grad = torch.full((3,), 0.5 + t)
    assert torch.equal(young, alone)


def test_parameters_that_never_had_a_gradient_have_no_state() -> None:
    frozen = nn.Parameter(torch.zeros(1000), requires_grad=False)
    used, later = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(4))
    optimizer = BCOS([frozen, used, later])
    used.grad = torch.ones(3)
    for _ in range(2):
        optimizer.step()
    assert list(optimizer.state) == [used]
    later.grad = torch.ones(4)
    optimizer.step()
    assert list(optimizer.state) == [used, later]
    assert (later != 0).all()
    assert [optimizer.state[p]["step"].item() for p in (used, later)] == [3, 1]


@pytest.mark.parametrize("mode", ["c", "m", "g", "adam", "sgd_momentum"])
def test_several_steps_are_differentiated(mode: str) -> None:
    def end(rate: float | torch.Tensor) -> torch.Tensor:
        p = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True).clone()
        if not isinstance(rate, torch.Tensor):
            p = p.detach()
        optimizer = BCOS([p], lr=rate, mode=mode, differentiable=isinstance(rate, torch.Tensor))
        for t in range(3):
            p.grad = torch.tensor([0.5 - t, 1.0 + t], dtype=torch.float64)
            optimizer.step()
        return p.sum()

    rate = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    end(rate).backward()
    slope = (end(0.1 + 1e-6) - end(0.1 - 1e-6)) / 2e-6
    assert rate.grad is not None
    assert rate.grad.item() == pytest.approx(slope.item(), rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("limits", [{}, {"guard": "skip"}, {"max_norm": 1.0}], ids=str)
def test_meta_parameters_of_every_type_are_stepped(
    dtype: torch.dtype, limits: dict[str, Any]
) -> None:
    p = nn.Parameter(torch.zeros(3, dtype=dtype, device="meta"))
    p.grad = torch.zeros_like(p)
    optimizer = BCOS([p], **limits)
    optimizer.step()
    assert optimizer.state[p]["m"].is_meta


@pytest.mark.parametrize(
    ("name", "betas", "expected"),
    [
        ("adamw", (0.8, 0.95), (0.8, 0.95)),
        ("adamw@paper", (0.8,), (0.8, 0.99)),
        ("adams", (0.8, 0.9), (0.8, 0.9)),
        ("bcosw_c", (0.8,), (0.8,)),
    ],
)
def test_named_methods_take_betas(
    name: str, betas: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    optimizer = bcos_optim.optimizer(name, [nn.Parameter(torch.zeros(1))], betas=betas)
    assert optimizer.param_groups[0]["betas"] == expected


@pytest.mark.parametrize("kinds", [["float32"], ["float32", "bfloat16"]], ids=str)
@pytest.mark.parametrize("fused", [None, False])
def test_the_report_tells_of_all_gradients_whoever_stepped(
    kinds: list[str], fused: bool | None
) -> None:
    params = [nn.Parameter(torch.zeros(4, dtype=getattr(torch, kind))) for kind in kinds]
    for scale, clipped in ((3.0, True), (0.001, False)):
        for p in params:
            p.grad = torch.full_like(p, scale)
        optimizer = BCOS(params, max_norm=0.1, fused=fused)
        optimizer.step()
        assert optimizer.last_report is not None
        norm = sum(float(p.grad.float().square().sum()) for p in params) ** 0.5
        assert optimizer.last_report.norm == pytest.approx(norm)
        assert optimizer.last_report.clipped == clipped


def test_a_state_that_was_only_looked_at_is_loaded() -> None:
    model = nn.Linear(2, 2)
    optimizer = BCOS(model.parameters())
    assert "m" not in optimizer.state[model.bias]
    optimizer.load_state_dict(optimizer.state_dict())
    with pytest.raises(ValueError, match="expected 'state' and 'param_groups', received nothing"):
        optimizer.load_state_dict({})


def test_convert_knows_whose_momentum_is_an_average_of_gradients() -> None:
    p = nn.Parameter(torch.zeros(4, 4))
    p.grad = torch.ones(4, 4)
    muon = torch.optim.Muon([p])
    muon.step()
    buffer = muon.state[p]["momentum_buffer"]
    assert torch.equal(bcos_optim.convert(muon, lr=0.1).state[p]["m"], buffer)
    rmsprop = torch.optim.RMSprop([p], momentum=0.9)
    rmsprop.step()
    with pytest.raises(ValueError, match="of steps, not of gradients"):
        bcos_optim.convert(rmsprop, lr=0.1)
    adamw = torch.optim.AdamW([p], betas=(0.0, 0.99))
    adamw.step()
    assert bcos_optim.convert(adamw).param_groups[0]["betas"] == (0.0,)


def test_convert_keeps_what_another_mode_of_bcos_was_given() -> None:
    p = nn.Parameter(torch.zeros(4, 4))
    p.grad = torch.ones(4, 4)
    before = BCOS([p], mode="m", blocks="row", max_norm=1.0, fused=False)
    before.step()
    group = bcos_optim.convert(before, lr=0.1).param_groups[0]
    kept = [group[name] for name in ("mode", "blocks", "max_norm", "fused")]
    assert kept == ["c", "row", 1.0, False]


def authors_step(
    x: torch.Tensor, g: torch.Tensor, state: dict[str, Any], mode: str, simple: bool, coupled: bool
) -> torch.Tensor:
    """The authors' formulas as the paper's code has them: lr .1, beta .9, eps 1e-6, decay .1."""
    beta, decay, lr = 0.9, 0.1, 0.1
    if not state:
        state.update(m=g.clone(), v=g * g)
    if coupled:
        g = g + decay * x
    m = state["m"]
    if mode == "c" and simple:
        v = (1 - (1 - beta) ** 2) * m * m + (1 - beta) ** 2 * g * g
    elif mode == "c":
        v = (3 * beta**2 - 2 * beta**3) * m * m + 2 * beta * (1 - beta) ** 2 * m * g
        v = v + (1 - beta) ** 2 * g * g
    d = g if mode == "g" else beta * m + (1 - beta) * g
    if mode != "c":
        v = beta * state["v"] + (1 - beta) * d * d
    state.update(m=d, v=v)
    kept = x if coupled else x * (1 - lr * decay)
    return kept - lr * d / (v.sqrt() + 1e-6)


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("mode", ["c", "c simple", "m", "g"])
def test_reference_is_the_authors_optimizer_from_the_first_step(mode: str, coupled: bool) -> None:
    torch.manual_seed(0)
    p = nn.Parameter(torch.randn(5, dtype=torch.float64))
    expected = p.detach().clone()
    simple = mode == "c simple"
    optimizer = bcos_optim.reference(
        [p], 0.1, mode=mode[0], simple_cond=simple, decouple_wd=not coupled
    )
    state: dict[str, Any] = {}
    for _ in range(6):
        p.grad = torch.randn(5, dtype=torch.float64)
        expected = authors_step(expected, p.grad, state, mode[0], simple, coupled)
        optimizer.step()
        torch.testing.assert_close(p.detach(), expected, rtol=1e-12, atol=1e-12)

"""The known defects of the authors' file, one test each: none of them is ours."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
from torch.optim.lr_scheduler import CyclicLR, OneCycleLR

import bcos_optim
from bcos_optim import BCOS
from conftest import Make, give_gradients, run


def one(value: float = 1.0, n: int = 1, dtype: torch.dtype = torch.float32) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.full((n,), value, dtype=dtype))


def moved_by(optimizer: BCOS, p: torch.nn.Parameter, gradient: torch.Tensor) -> torch.Tensor:
    before = p.detach().clone()
    p.grad = gradient
    optimizer.step()
    return before - p.detach()


def test_01_the_closure_is_called_and_its_loss_returned(implementation: dict[str, Any]) -> None:
    p = one()
    optimizer = BCOS([p], **implementation)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 1.0
    assert p.item() < 1.0


def test_02_weight_decay_of_a_group_is_heeded(implementation: dict[str, Any]) -> None:
    decayed, spared = one(), one()
    groups = [{"params": [decayed]}, {"params": [spared], "weight_decay": 0.0}]
    optimizer = BCOS(groups, lr=0.1, weight_decay=0.5, **implementation)
    for p in (decayed, spared):
        p.grad = torch.zeros(1)
    optimizer.step()
    assert decayed.item() == pytest.approx(0.95)
    assert spared.item() == 1.0


def test_03_a_parameter_without_gradient_is_skipped(implementation: dict[str, Any]) -> None:
    used, unused = one(), one()
    optimizer = BCOS([used, unused], lr=0.1, **implementation)
    used.grad = torch.ones(1)
    optimizer.step()
    assert used.item() != 1.0
    assert unused.item() == 1.0
    assert list(optimizer.state) == [used]


def test_04_copies_and_pickles_keep_every_option(make_params: Make) -> None:
    options = dict(mode="c", simple=True, decoupled=False, weight_decay=0.1)
    params = make_params()
    optimizer = BCOS(params, **options)
    run(optimizer, 2)
    for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert {k: twin.param_groups[0][k] for k in options} == options
        twins = [p for g in twin.param_groups for p in g["params"]]
        mirror = copy.deepcopy(optimizer)
        run(twin, 2, 2)
        run(mirror, 2, 2)
        theirs = [p for g in mirror.param_groups for p in g["params"]]
        assert all(torch.equal(a, b) for a, b in zip(twins, theirs, strict=True))


@pytest.mark.parametrize("mode", ["c", "m", "g"])
def test_05_state_of_another_mode_is_refused_and_zero_steps_start_nothing(mode: str) -> None:
    p = one(n=3)
    saved = BCOS([p], mode=mode)
    run(saved, 1)
    other = BCOS([p], mode="g" if mode != "g" else "c")
    with pytest.raises(ValueError, match="of another method"):
        other.load_state_dict(saved.state_dict())
    assert not other.state

    fresh = BCOS([p], lr=0.0, mode=mode, start="first")
    p.grad = torch.zeros(3)
    fresh.step()
    assert int(fresh.state[p]["step"]) == 0
    fresh.param_groups[0]["lr"] = 0.1
    change = moved_by(fresh, p, torch.tensor([2.0, -3.0, 0.5]))
    torch.testing.assert_close(change.sign(), torch.tensor([1.0, -1.0, 1.0]))
    assert (change - 0.1 * change.sign()).abs().max() < 0.02


def test_06_under_coupled_decay_states_begin_from_the_whole_gradient(
    implementation: dict[str, Any],
) -> None:
    options = dict(decoupled=False, weight_decay=0.5, start="first", lr=0.0)
    p = one(2.0)
    optimizer = BCOS([p], **options, **implementation)
    p.grad = torch.ones(1)
    optimizer.step()
    assert optimizer.state[p]["m"].item() == pytest.approx(1.0 + 0.5 * 2.0)
    q = one(2.0)
    as_authors = BCOS([q], coupled_start="raw", **options, **implementation)
    q.grad = torch.ones(1)
    as_authors.step()
    assert as_authors.state[q]["m"].item() == pytest.approx(1.0 + 0.1 * 0.5 * 2.0)


def test_07_gradients_are_not_written_to(implementation: dict[str, Any]) -> None:
    p = one(3.0)
    optimizer = BCOS([p], decoupled=False, weight_decay=0.5, max_norm=0.1, **implementation)
    p.grad = torch.ones(1)
    optimizer.step()
    optimizer.step()
    assert p.grad.item() == 1.0


def test_08_eps_is_under_the_root_unless_given(implementation: dict[str, Any]) -> None:
    assert BCOS([one()]).param_groups[0]["eps_root"] == 1e-12
    assert BCOS([one()]).param_groups[0]["eps"] == 0.0
    inside, outside = one(), one()
    g = torch.full((1,), 1e-2)
    options = dict(lr=1.0, mode="g", weight_decay=0.0, start="first", **implementation)
    under = moved_by(BCOS([inside], eps_root=1e-4, **options), inside, g.clone())
    beside = moved_by(BCOS([outside], eps=1e-2, **options), outside, g.clone())
    assert under.item() == pytest.approx(1 / 2**0.5, rel=1e-4)
    assert beside.item() == pytest.approx(1 / 2, rel=1e-4)


def test_09_lr_has_a_default() -> None:
    assert BCOS([one()]).param_groups[0]["lr"] == 5e-4


@pytest.mark.parametrize(
    "wrong",
    [
        {"lr": -1},
        {"lr": float("inf")},
        {"beta": 1.0},
        {"beta": -0.1},
        {"mode": "m", "beta2": 1.0},
        {"eps": -1e-8},
        {"eps": float("nan")},
        {"weight_decay": -0.1},
        {"mode": "z"},
    ],
    ids=str,
)
def test_10_wrong_numbers_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Invalid"):
        BCOS([one()], **wrong)


def test_10_without_eps_a_zero_gradient_moves_nothing(implementation: dict[str, Any]) -> None:
    p = one(n=2)
    optimizer = BCOS([p], lr=0.1, eps=0.0, weight_decay=0.0, **implementation)
    p.grad = torch.tensor([0.0, 1.0])
    optimizer.step()
    assert p[0].item() == 1.0
    assert p[1].item() == pytest.approx(0.9)


def test_11_a_second_beta_that_does_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="full estimator"):
        BCOS([one()], beta2=0.99)
    assert bcos_optim.reference([one()], 0.1, beta2=0.99).param_groups[0]["betas"] == (0.9,)


def test_12_complex_numbers_have_their_modulus_as_size(implementation: dict[str, Any]) -> None:
    p = torch.nn.Parameter(torch.zeros(1, dtype=torch.complex64))
    optimizer = BCOS([p], lr=1.0, mode="g", start="first", blocks="row", **implementation)
    p.grad = torch.tensor([3 + 4j])
    optimizer.step()
    torch.testing.assert_close(p.detach(), torch.tensor([-0.6 - 0.8j]), rtol=1e-5, atol=1e-6)


def test_13_sparse_gradients_are_refused_before_anything_moves(
    implementation: dict[str, Any],
) -> None:
    layer = torch.nn.Embedding(4, 2, sparse=True)
    before = layer.weight.detach().clone()
    layer(torch.tensor([1])).sum().backward()
    with pytest.raises(RuntimeError, match="sparse"):
        BCOS(layer.parameters(), **implementation).step()
    assert torch.equal(layer.weight, before)

    sparse = layer.weight.grad
    layer.weight.grad = torch.zeros_like(layer.weight)
    optimizer = BCOS(layer.parameters(), weight_decay=0.0, **implementation)
    optimizer.step()
    layer.weight.grad = sparse
    with pytest.raises(RuntimeError, match="sparse"):
        optimizer.step()
    assert torch.equal(layer.weight, before)


def test_14_a_step_bumps_the_version_that_autograd_watches(implementation: dict[str, Any]) -> None:
    p = one()
    optimizer = BCOS([p], **implementation)
    product = (p * p * p).sum()
    p.grad = torch.ones(1)
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_15_lr_may_be_a_tensor_of_any_rank(shape: tuple[int, ...], make_params: Make) -> None:
    for options in ({}, {"fused": False, "foreach": False}, {"capturable": True, "fused": False}):
        params, others = make_params(), make_params()
        run(BCOS(params, lr=torch.full(shape, 0.01), **options), 2)
        run(BCOS(others, lr=0.01, **options), 2)
        for a, b in zip(params, others, strict=True):
            torch.testing.assert_close(a, b)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_sixteen_bit_parameters_have_float32_state(dtype: torch.dtype) -> None:
    p = one(0.0, n=4, dtype=dtype)
    optimizer = BCOS([p], lr=1e-2)
    p.grad = torch.tensor([1.7e-4, 1e-4, -1e-4, 6e-5], dtype=dtype)
    optimizer.step()
    assert optimizer.state[p]["m"].dtype == torch.float32
    torch.testing.assert_close(
        p.detach().float(), torch.tensor([-0.01, -0.01, 0.01, -0.01]), rtol=2e-2, atol=0
    )


def test_17_a_step_of_the_engine_allocates_nothing_of_the_parameters_size() -> None:
    p = torch.nn.Parameter(torch.zeros(1_000_000))
    p.grad = torch.ones(1_000_000)
    optimizer = BCOS([p])
    optimizer.step()
    with torch.profiler.profile(profile_memory=True) as profiler:
        optimizer.step()
    allocated = max((e.self_cpu_memory_usage for e in profiler.key_averages()), default=0)
    assert allocated < 100_000
    assert optimizer.last_report.bytes == 20_000_000


@pytest.mark.parametrize("mode", ["c", "m", "g"])
def test_18_cyclic_schedulers_and_amp_find_what_they_need(mode: str, make_params: Make) -> None:
    optimizer = BCOS(make_params(), mode=mode)
    OneCycleLR(optimizer, max_lr=0.1, total_steps=10)
    CyclicLR(optimizer, base_lr=0.01, max_lr=0.1)
    give_gradients(optimizer.param_groups[0]["params"], 0)
    optimizer.step()
    assert not optimizer._step_supports_amp_scaling
    assert BCOS(make_params(), mode=mode, fused=True)._step_supports_amp_scaling
    for name in ("maximize", "foreach", "fused", "capturable", "differentiable"):
        assert name in optimizer.defaults


def test_19_blocks_and_bias_corrected_starts_exist(make_params: Make) -> None:
    for options in ({"blocks": "row"}, {"blocks": "tensor"}, {"start": "zero_corrected"}):
        params = make_params()
        run(BCOS(params, **options), 2)
        assert all(torch.isfinite(p).all() for p in params)


def test_20_a_bad_gradient_can_be_kept_out(implementation: dict[str, Any]) -> None:
    p = one(n=3)
    optimizer = BCOS([p], guard="skip", **implementation)
    run(optimizer, 2)
    before = p.detach().clone()
    state = optimizer.state[p]["m"].clone()
    p.grad = torch.tensor([1.0, float("nan"), 1.0])
    optimizer.step()
    assert torch.equal(p, before) and torch.equal(optimizer.state[p]["m"], state)
    optimizer = BCOS([p], guard="raise", **implementation)
    with pytest.raises(FloatingPointError, match="nothing was changed"):
        optimizer.step()
    assert torch.equal(p, before)


def test_21_what_the_documentation_says_can_be_run() -> None:
    from bcos_optim import BCOS as imported

    assert imported is BCOS
    assert "beta_v" in BCOS.__doc__ and "eps_root" in BCOS.__doc__


def test_22_it_is_a_package_with_a_version() -> None:
    assert bcos_optim.version()
    assert bcos_optim.__version__ == bcos_optim.version()


@pytest.mark.parametrize("mode", ["c", "m", "g"])
@pytest.mark.parametrize("size", [1e19, 1e20, 1e21, 3e38])
def test_one_pair_of_huge_gradients_does_no_harm(
    mode: str, size: float, implementation: dict[str, Any]
) -> None:
    p = one(0.0, n=2)
    optimizer = BCOS([p], lr=1e-3, mode=mode, weight_decay=0.0, **implementation)
    bound = {"c": 1.2964, "m": 3.1623, "g": 3.1623}[mode] * 1e-3
    for t in range(60):
        gradient = torch.tensor([1.0, -1.0])
        if t in (10, 11):
            gradient = torch.tensor([size, -size]) * (1 if t == 10 else -1)
        change = moved_by(optimizer, p, gradient)
        assert torch.isfinite(p).all()
        assert change.abs().max() <= bound * 1.0001

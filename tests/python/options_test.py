"""Options, groups, names, schedulers, mixed precision."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
import torch
from torch import nn

import bcos_optim
from bcos_optim import BCOS, _methods, _native
from conftest import Make, give_gradients, run


def test_the_table_of_methods_is_the_engines() -> None:
    lib = _native.library()
    assert lib is not None
    for name, entry in _methods.NAMED.items():
        buffer = (_native.ctypes.c_char * 4096)()
        length = _native.c_size_t()
        code = lib.bcos_method_text(name.encode(), buffer, 4096, _native.byref(length))
        assert code == 0
        engine = json.loads(buffer.value)
        for key in ("direction", "estimator", "decay", "start", "eps", "eps_root", "lambda"):
            assert engine[key] == entry[key], (name, key)


@pytest.mark.parametrize("name", [*_methods.NAMED, "bcosw_c@paper", "adamw@paper"])
def test_every_named_method_is_one_call_away(name: str, make_params: Make) -> None:
    params = make_params()
    optimizer = bcos_optim.optimizer(name, params, lr=0.01)
    method = _methods.method_of(optimizer.param_groups[0])
    entry = _methods.NAMED[name.partition("@")[0]]
    assert (method.direction, method.estimator) == (entry["direction"], entry["estimator"])
    assert method.decay == entry["decay"]
    assert method.start == ("first" if name == "bcosw_c@paper" else entry["start"])
    if "@" not in name:
        assert (method.eps, method.eps_root) == (entry["eps"], entry["eps_root"])
        assert method.lambda_ == entry["lambda"]
        if entry["direction"] == "momentum":
            assert method.beta == entry["beta"]
        if entry["estimator"] in ("ema_d", "ema_g", "cond_free"):
            assert method.beta_v == entry["beta_v"]
    run(optimizer, 3)
    assert all(torch.isfinite(p).all() for p in params)


def test_adamw_is_torchs_adamw(make_params: Make) -> None:
    ours, theirs = make_params(dtype=torch.float64), make_params(dtype=torch.float64)
    run(bcos_optim.optimizer("adamw", ours, lr=0.01), 20)
    run(torch.optim.AdamW(theirs, lr=0.01), 20)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)


def test_an_unknown_method_is_named_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match="Invalid method: 'bcosw_x', expected one of sgd"):
        bcos_optim.optimizer("bcosw_x", [nn.Parameter(torch.zeros(1))])


def test_groups_hold_torchs_betas_and_understand_ours(make_params: Make) -> None:
    a, b, c = make_params()
    optimizer = BCOS(
        [{"params": [a]}, {"params": [b], "beta": 0.8}, {"params": [c], "mode": "m", "beta2": 0.99}]
    )
    assert [g["betas"] for g in optimizer.param_groups] == [(0.9,), (0.8,), (0.9, 0.99)]
    assert "beta" not in optimizer.param_groups[1]


def test_a_group_that_gives_one_eps_gets_zero_for_the_other(make_params: Make) -> None:
    a, b, _ = make_params()
    optimizer = BCOS([{"params": [a], "eps": 1e-6}, {"params": [b]}])
    assert (optimizer.param_groups[0]["eps"], optimizer.param_groups[0]["eps_root"]) == (1e-6, 0.0)
    assert (optimizer.param_groups[1]["eps"], optimizer.param_groups[1]["eps_root"]) == (0.0, 1e-12)


def test_wrong_groups_are_refused(make_params: Make) -> None:
    a, b, _ = make_params()
    with pytest.raises(ValueError, match="no 'params'"):
        BCOS([{"lr": 0.1}])
    with pytest.raises(ValueError, match="guard and max_norm"):
        BCOS([{"params": [a]}, {"params": [b], "max_norm": 1.0}])
    with pytest.raises(ValueError, match="two names of one option"):
        BCOS([{"params": [a], "beta_v": 0.9, "beta2": 0.9}], mode="m")
    with pytest.raises(ValueError, match="betas is beta and beta_v in one"):
        BCOS([{"params": [a], "beta": 0.9, "betas": (0.9,)}])


def test_the_default_start_is_that_of_the_method(make_params: Make) -> None:
    starts = {"c": "zero", "m": "zero_corrected", "g": "zero_corrected"}
    for mode, start in starts.items():
        assert BCOS(make_params(), mode=mode).param_groups[0]["start"] == start


def test_momentum_that_a_scheduler_writes_is_used(make_params: Make) -> None:
    params, others = make_params(), make_params()
    optimizer, other = BCOS(params, lr=0.01), BCOS(others, lr=0.01)
    run(optimizer, 2)
    run(other, 2)
    optimizer.param_groups[0]["betas"] = (0.5,)
    run(optimizer, 1, 2)
    run(other, 1, 2)
    assert not torch.equal(params[0], others[0])
    assert torch.allclose(
        optimizer.state[params[0]]["m"],
        0.5 * other.state[others[0]]["m"].sub(params[0].grad * 0.1).div(0.9) + 0.5 * params[0].grad,
        atol=1e-6,
    )


def test_one_cycle_and_cyclic_change_lr_and_beta(make_params: Make) -> None:
    optimizer = BCOS(make_params(), mode="m", beta_v=0.95)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=10)
    seen = set()
    for t in range(9):
        run(optimizer, 1, t)
        scheduler.step()
        seen.add((optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["betas"]))
        assert optimizer.param_groups[0]["betas"][1] == 0.95
    assert len(seen) == 9


def test_a_step_between_grad_scaler_calls_is_scaled_or_skipped(
    implementation: dict[str, Any], make_params: Make
) -> None:
    params, plain = make_params(), make_params()
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    optimizer = BCOS(params, lr=0.01, **implementation)
    other = BCOS(plain, lr=0.01, **implementation)
    x = torch.randn(4, generator=torch.Generator().manual_seed(3))

    def loss(ps: list[nn.Parameter]) -> torch.Tensor:
        return (ps[0] @ x).pow(2).sum() + ps[1].pow(2).sum() + ps[2] ** 2

    scaler.scale(loss(params)).backward()
    scaler.step(optimizer)
    scaler.update()
    loss(plain).backward()
    other.step()
    for a, b in zip(params, plain, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-7)

    before = [p.detach().clone() for p in params]
    optimizer.zero_grad()
    scaler.scale(loss(params)).backward()
    params[0].grad[0, 0] = float("inf")
    scaler.step(optimizer)
    scaler.update()
    assert all(torch.equal(p, old) for p, old in zip(params, before, strict=True))
    assert scaler.get_scale() == 512.0


def test_clipping_is_torchs_clipping(implementation: dict[str, Any], make_params: Make) -> None:
    params, others = make_params(), make_params()
    clipped = BCOS(params, lr=0.01, max_norm=0.5, **implementation)
    plain = BCOS(others, lr=0.01, **implementation)
    for t in range(3):
        run(clipped, 1, t)
        give_gradients(others, t)
        torch.nn.utils.clip_grad_norm_(others, 0.5)
        plain.step()
    for a, b in zip(params, others, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_several_dtypes_live_in_one_optimizer(make_params: Make) -> None:
    single, double = make_params((4,)), make_params((4,), dtype=torch.float64)
    half = [nn.Parameter(torch.ones(4, dtype=torch.bfloat16))]
    optimizer = BCOS([*single, *double, *half], lr=0.1, max_norm=1.0)
    run(optimizer, 3)
    for p in (*single, *double, *half):
        assert torch.isfinite(p).all()
        assert optimizer.state[p]["m"].dtype in (torch.float32, torch.float64)


def test_updates_lost_in_rounding_are_told_once() -> None:
    p = nn.Parameter(torch.full((100,), 256.0, dtype=torch.bfloat16))
    optimizer = BCOS([p], lr=1e-3, weight_decay=0.0)
    with pytest.warns(RuntimeWarning, match="vanish in rounding"):
        run(optimizer, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(optimizer, 3)
    healthy = nn.Parameter(torch.full((100,), 0.01, dtype=torch.bfloat16))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(BCOS([healthy], lr=1e-3, weight_decay=0.0), 3)


def test_matrices_decay_and_the_rest_does_not() -> None:
    model = nn.Sequential(
        nn.Embedding(10, 4), nn.Linear(4, 4), nn.LayerNorm(4), nn.Conv2d(1, 2, 3), nn.Linear(4, 2)
    )
    model[4].weight.requires_grad_(False)
    groups = bcos_optim.param_groups(model, 0.2)
    assert [g["weight_decay"] for g in groups] == [0.2, 0.0]
    names = [[name for name, _ in g["params"]] for g in groups]
    assert names == [
        ["0.weight", "1.weight", "3.weight"],
        ["1.bias", "2.weight", "2.bias", "3.bias", "4.bias"],
    ]
    spared = bcos_optim.param_groups(model, 0.2, decay_embeddings=False)
    assert "0.weight" in [name for name, _ in spared[1]["params"]]
    optimizer = BCOS(groups)
    assert optimizer.param_groups[0]["param_names"] == names[0]


def test_hooks_run_around_a_step(make_params: Make) -> None:
    seen = []
    optimizer = BCOS(make_params())
    optimizer.register_step_pre_hook(lambda *_: seen.append("before"))
    optimizer.register_step_post_hook(lambda *_: seen.append("after"))
    run(optimizer, 1)
    assert seen == ["before", "after"]


def test_memory_that_moved_is_found_again(make_params: Make) -> None:
    """Parameters whose storage was swapped (model.to, p.data = ...) are stepped where they are."""
    params, others = make_params(), make_params()
    optimizer, other = BCOS(params, lr=0.01), BCOS(others, lr=0.01)
    run(optimizer, 2)
    run(other, 2)
    for p in params:
        p.data = p.data.clone()
    optimizer.state[params[0]]["m"] = optimizer.state[params[0]]["m"].clone()
    run(optimizer, 2, 2)
    run(other, 2, 2)
    for a, b in zip(params, others, strict=True):
        assert torch.equal(a, b)


def test_strided_parameters_and_gradients(implementation: dict[str, Any]) -> None:
    base = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
    dense = nn.Parameter(base.t().contiguous())
    strided = nn.Parameter(base.clone().t())
    one = BCOS([dense], lr=0.01, **implementation)
    other = BCOS([strided], lr=0.01, **implementation)
    for t in range(3):
        give_gradients([dense], t)
        strided.grad = dense.grad.t().contiguous().t()
        assert not strided.grad.is_contiguous()
        one.step()
        other.step()
        assert torch.equal(dense, strided)


def test_empty_tensors_are_fine(implementation: dict[str, Any]) -> None:
    params = [nn.Parameter(torch.zeros(0, 3)), nn.Parameter(torch.ones(2))]
    for blocks in ("coordinate", "row", "tensor"):
        run(BCOS(params, blocks=blocks, **implementation), 2)
        assert torch.isfinite(params[1]).all()


def test_without_the_native_library_it_says_so_once_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, make_params: Make
) -> None:
    params, others = make_params(), make_params()
    run(BCOS(others, lr=0.01, fused=False), 2)
    monkeypatch.setenv("BCOS_LIBRARY", "/nowhere/libbcos.so")
    _native.library.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="native library cannot be loaded") as told:
            run(BCOS(params, lr=0.01), 2)
        assert len(told) == 1
    finally:
        _native.library.cache_clear()
    for a, b in zip(params, others, strict=True):
        assert torch.equal(a, b)

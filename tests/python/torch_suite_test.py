"""What torch's own optimizer suite checks, on the inputs that it makes for BCOS."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing._internal.common_optimizers import (
    OptimizerErrorEnum,
    _get_optim_inputs_including_global_cliquey_kwargs,
)
from torch_optim_info import INFO, JOINT_INFO, error_inputs, register

from bcos_optim import BCOS
from conftest import give_gradients, run

register()
INPUTS = {
    f"{given.desc} {sorted(given.kwargs.items(), key=str)}": given
    for info in (INFO, JOINT_INFO)
    for given in _get_optim_inputs_including_global_cliquey_kwargs("cpu", torch.float32, info)
}
PLAIN_INPUTS = [*INFO.optim_inputs_func("cpu"), *JOINT_INFO.optim_inputs_func("cpu")]
every_input = pytest.mark.parametrize("given", INPUTS.values(), ids=INPUTS.keys())


def kwargs_of(given: Any, **more: Any) -> dict[str, Any]:
    return copy.deepcopy({**given.kwargs, **more})


def model_params(dtype: torch.dtype = torch.float32) -> list[torch.nn.Parameter]:
    generator = torch.Generator().manual_seed(1)
    shapes = [(4, 6), (3,), (2, 3, 5), (1,), (33,)]
    return [torch.nn.Parameter(torch.randn(s, generator=generator, dtype=dtype)) for s in shapes]


def gradients_as_leaves(given: Any) -> bool:
    return not given.kwargs.get("differentiable", False)


@pytest.mark.parametrize("wrong", error_inputs("cpu", torch.float32), ids=lambda e: e.error_regex)
def test_errors(wrong: Any) -> None:
    given = wrong.optimizer_error_input
    params = given.params or [torch.nn.Parameter(torch.randn(2))]
    if issubclass(wrong.error_type, Warning):
        with pytest.warns(wrong.error_type, match=wrong.error_regex):
            BCOS(params, **given.kwargs)
    elif wrong.error_on == OptimizerErrorEnum.CONSTRUCTION_ERROR:
        with pytest.raises(wrong.error_type, match=wrong.error_regex):
            BCOS(params, **given.kwargs)
    else:
        optimizer = BCOS(params, **given.kwargs)
        with pytest.raises(wrong.error_type, match=wrong.error_regex):
            optimizer.step()


@every_input
def test_prints_its_groups(given: Any) -> None:
    text = repr(BCOS(model_params(), **kwargs_of(given)))
    assert "BCOS" in text and "weight_decay" in text


def leaves_or_clones(given: Any) -> list[Tensor]:
    params = model_params()
    if gradients_as_leaves(given):
        return list(params)
    return [p.clone() for p in params]


@every_input
def test_every_option_moves_every_parameter(given: Any) -> None:
    params = leaves_or_clones(given)
    before = [p.detach().clone() for p in params]
    optimizer = BCOS(params, **kwargs_of(given))
    run_on(optimizer, params, 3)
    for p, old in zip(params, before, strict=True):
        assert not torch.equal(p.detach(), old)
        assert torch.isfinite(p).all()


def run_on(optimizer: BCOS, params: list[Tensor], steps: int, first: int = 0) -> None:
    """Gradients of tensors that are no leaves cannot be set from outside but by their slot."""
    for t in range(first, first + steps):
        generator = torch.Generator().manual_seed(t)
        for p in params:
            if not p.is_leaf:
                p.retain_grad()
            p.grad = torch.randn(p.shape, generator=generator, dtype=p.dtype)
        optimizer.step()


IMPLEMENTED = [i for i in INPUTS.values() if not i.kwargs.get("differentiable")]


@pytest.mark.parametrize("chosen", ["foreach", "fused"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("given", PLAIN_INPUTS, ids=lambda i: i.desc)
def test_foreach_and_fused_match_the_loop(given: Any, dtype: torch.dtype, chosen: str) -> None:
    kwargs = kwargs_of(given)
    loop_params, other_params = model_params(dtype), model_params(dtype)
    loop = BCOS(loop_params, **kwargs, foreach=False, fused=False)
    other = BCOS(other_params, **kwargs, **{chosen: True})
    for t in range(7):
        run(loop, 1, t)
        run(other, 1, t)
    for a, b in zip(loop_params, other_params, strict=True):
        torch.testing.assert_close(a, b)
        for key in loop.state[a]:
            mine, theirs = loop.state[a][key], other.state[b][key]
            torch.testing.assert_close(mine.double(), theirs.double(), rtol=1e-5, atol=1e-6)


@every_input
def test_gradients_are_never_written_to(given: Any) -> None:
    params = leaves_or_clones(given)
    optimizer = BCOS(params, **kwargs_of(given))
    run_on(optimizer, params, 1)
    kept = [p.grad.clone() for p in params]
    versions = [p.grad._version for p in params]
    optimizer.step()
    for p, old, version in zip(params, kept, versions, strict=True):
        assert torch.equal(p.grad, old)
        assert p.grad._version == version


@every_input
def test_zero_gradients_change_nothing_without_decay(given: Any) -> None:
    params = leaves_or_clones(given)
    optimizer = BCOS(params, **kwargs_of(given, weight_decay=0.0))
    before = [p.detach().clone() for p in params]
    for p in params:
        if not p.is_leaf:
            p.retain_grad()
        p.grad = torch.zeros_like(p)
    optimizer.step()
    for p, old in zip(params, before, strict=True):
        assert torch.equal(p.detach(), old)


@every_input
def test_state_dicts_round_trip(given: Any) -> None:
    if not gradients_as_leaves(given):
        return
    params = model_params()
    optimizer = BCOS(params, **kwargs_of(given))
    run(optimizer, 3)
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    again = [torch.nn.Parameter(p.detach().clone()) for p in params]
    loaded = BCOS(again, **kwargs_of(given))
    loaded.load_state_dict(torch.load(file, weights_only=True))
    run(optimizer, 3, 3)
    run(loaded, 3, 3)
    for a, b in zip(params, again, strict=True):
        assert torch.equal(a, b)
    for p in params:
        shapes = {k: tuple(v.shape) for k, v in optimizer.state[p].items()}
        assert shapes["step"] == ()
        if "m" in shapes:
            assert shapes["m"] == tuple(p.shape)


@every_input
def test_a_deep_copy_goes_on_alone(given: Any) -> None:
    if not gradients_as_leaves(given):
        return
    params = model_params()
    optimizer = BCOS(params, **kwargs_of(given))
    run(optimizer, 2)
    twin = copy.deepcopy(optimizer)
    assert {k for k in vars(twin) if not k.startswith("_")} >= {"defaults", "state"}
    run(optimizer, 2, 2)
    run(twin, 2, 2)
    theirs = [p for g in twin.param_groups for p in g["params"]]
    for a, b in zip(params, theirs, strict=True):
        assert a is not b
        assert torch.equal(a, b)


@pytest.mark.parametrize("schedulers", INFO.scheduler_inputs)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_goes_in_the_right_direction(schedulers: Any, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    weight = torch.nn.Parameter(torch.randn(10, 5, generator=generator, dtype=dtype))
    bias = torch.nn.Parameter(torch.randn(10, generator=generator, dtype=dtype))
    data = torch.randn(5, generator=generator, dtype=dtype)
    optimizer = BCOS([weight, bias], lr=0.01)
    chosen = [make(optimizer) for make in schedulers]

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = (weight.mv(data) + bias).pow(2).sum()
        loss.backward()
        return loss

    first = closure().item()
    for _ in range(40):
        loss = optimizer.step(closure)
        for scheduler in chosen:
            if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
                scheduler.step(loss)
            else:
                scheduler.step()
    assert closure().item() < first


def test_complex_parameters_are_pairs_of_real_ones(implementation: dict[str, Any]) -> None:
    for kwargs in ({}, {"mode": "m"}, {"blocks": "row"}):
        complex_param = torch.nn.Parameter(torch.randn(4, 3, dtype=torch.complex64))
        real_param = torch.nn.Parameter(torch.view_as_real(complex_param.detach()).clone())
        one = BCOS([complex_param], lr=0.01, **kwargs, **implementation)
        other = BCOS([real_param], lr=0.01, **kwargs, **implementation)
        for t in range(3):
            give_gradients([complex_param], t)
            real_param.grad = torch.view_as_real(complex_param.grad).clone()
            one.step()
            other.step()
        assert torch.equal(torch.view_as_real(complex_param.detach()), real_param.detach())


def test_a_group_without_parameters_is_fine(implementation: dict[str, Any]) -> None:
    optimizer = BCOS([{"params": []}], lr=0.1, **implementation)
    optimizer.step()


def test_fused_refuses_meta_parameters() -> None:
    p = torch.nn.Parameter(torch.empty(3, device="meta"))
    optimizer = BCOS([p], fused=True)
    p.grad = torch.empty(3, device="meta")
    with pytest.raises(RuntimeError, match="`fused=True` requires all the params"):
        optimizer.step()


def test_meta_parameters_are_stepped_without_memory() -> None:
    p = torch.nn.Parameter(torch.empty(3, device="meta"))
    p.grad = torch.empty(3, device="meta")
    optimizer = BCOS([p])
    optimizer.step()
    assert optimizer.state[p]["m"].is_meta


@every_input
def test_every_input_has_state_after_a_step(given: Any) -> None:
    params = leaves_or_clones(given)
    optimizer = BCOS(params, **kwargs_of(given))
    run_on(optimizer, params, 1)
    for p in params:
        assert optimizer.state[p]
        assert int(optimizer.state[p]["step"]) == 1


@every_input
def test_older_state_dicts_and_plain_counters_load(given: Any) -> None:
    if not gradients_as_leaves(given):
        return
    params = model_params()
    optimizer = BCOS(params, **kwargs_of(given))
    run(optimizer, 2)
    old = copy.deepcopy(optimizer.state_dict())
    for group in old["param_groups"]:
        for flag in ("maximize", "foreach", "fused", "differentiable", "capturable"):
            group.pop(flag)
    for state in old["state"].values():
        state["step"] = float(state["step"])
    again = [torch.nn.Parameter(p.detach().clone()) for p in params]
    loaded = BCOS(again, **kwargs_of(given))
    loaded.load_state_dict(old)
    run(optimizer, 2, 2)
    run(loaded, 2, 2)
    for a, b in zip(params, again, strict=True):
        torch.testing.assert_close(a, b)


def test_hooks_of_state_dicts_run_in_order_and_may_change_them() -> None:
    params = model_params()
    optimizer = BCOS(params, lr=0.1)
    run(optimizer, 1)
    seen: list[str] = []

    def after_saving(_: Any, state_dict: dict[str, Any]) -> dict[str, Any]:
        seen.append("saved")
        return {**state_dict, "extra": 1}

    def before_loading(_: Any, state_dict: dict[str, Any]) -> dict[str, Any]:
        seen.append("loading")
        assert state_dict["extra"] == 1
        changed = copy.deepcopy(state_dict)
        changed["param_groups"][0]["lr"] = 0.25
        return changed

    optimizer.register_state_dict_pre_hook(lambda _: seen.append("saving"))
    optimizer.register_state_dict_post_hook(after_saving)
    optimizer.register_load_state_dict_pre_hook(before_loading)
    optimizer.register_load_state_dict_post_hook(lambda _: seen.append("loaded"))
    optimizer.load_state_dict(optimizer.state_dict())
    assert seen == ["saving", "saved", "loading", "loaded"]
    assert optimizer.param_groups[0]["lr"] == 0.25


def test_global_hooks_run_around_local_ones() -> None:
    from torch.optim.optimizer import (
        register_optimizer_step_post_hook,
        register_optimizer_step_pre_hook,
    )

    seen: list[str] = []
    optimizer = BCOS(model_params())
    handles = [
        register_optimizer_step_pre_hook(lambda *_: seen.append("global before")),
        register_optimizer_step_post_hook(lambda *_: seen.append("global after")),
        optimizer.register_step_pre_hook(lambda *_: seen.append("before")),
        optimizer.register_step_post_hook(lambda *_: seen.append("after")),
    ]
    run(optimizer, 1)
    for handle in handles:
        handle.remove()
    assert seen == ["global before", "before", "after", "global after"]


@pytest.mark.parametrize("option", ["lr", "weight_decay", "maximize", "beta"])
def test_options_of_groups_are_their_own(option: str, implementation: dict[str, Any]) -> None:
    values = {"lr": (0.1, 0.2), "weight_decay": (0.0, 0.5), "maximize": (False, True)}
    first, second = values.get(option, (0.9, 0.5))
    together, apart = model_params(), model_params()
    half = len(together) // 2
    groups = [{"params": together[:half]}, {"params": together[half:], option: second}]
    run(BCOS(groups, **{"lr": 0.1, option: first}, **implementation), 3)
    separate = [
        BCOS(apart[:half], **{"lr": 0.1, option: first}, **implementation),
        BCOS(apart[half:], **{"lr": 0.1, option: second}, **implementation),
    ]
    for t in range(3):
        give_gradients(apart, t)
        for optimizer in separate:
            optimizer.step()
    for a, b in zip(together, apart, strict=True):
        torch.testing.assert_close(a, b)

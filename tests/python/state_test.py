"""State dicts, files, resuming, converting."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import bcos_optim
from bcos_optim import BCOS
from conftest import Make, give_gradients, run


@pytest.mark.parametrize("mode", ["c", "m", "g"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex64])
def test_types_are_kept_exactly_on_load(mode: str, dtype: torch.dtype) -> None:
    p = nn.Parameter(torch.ones(5, dtype=dtype))
    optimizer = BCOS([p], mode=mode, lr=0.1)
    run(optimizer, 3)
    other = BCOS([nn.Parameter(torch.ones(5, dtype=dtype))], mode=mode, lr=0.1)
    other.load_state_dict(optimizer.state_dict())
    (q,) = other.param_groups[0]["params"]
    for name, value in optimizer.state[p].items():
        loaded = other.state[q][name]
        assert loaded.dtype == value.dtype
        assert torch.equal(loaded, value)
        assert loaded.data_ptr() != value.data_ptr()


@pytest.mark.parametrize("at", [0, 1, 3])
@pytest.mark.parametrize("options", [{}, {"mode": "m"}, {"start": "first"}, {"blocks": "row"}])
def test_resuming_equals_not_stopping(
    at: int, options: dict[str, Any], implementation: dict[str, Any], make_params: Make
) -> None:
    params = make_params()
    optimizer = BCOS(params, lr=0.01, **options, **implementation)
    run(optimizer, at)
    saved = copy.deepcopy([p.detach() for p in params]), copy.deepcopy(optimizer.state_dict())
    run(optimizer, 4, at)
    again = [nn.Parameter(p) for p in saved[0]]
    resumed = BCOS(again, lr=0.5, **options, **implementation)
    resumed.load_state_dict(saved[1])
    run(resumed, 4, at)
    for a, b in zip(params, again, strict=True):
        assert torch.equal(a, b)


def named(make_params: Make, names: list[str], shapes: list[tuple[int, ...]]) -> Any:
    params = make_params(*shapes)
    return list(zip(names, params, strict=True))


def test_named_parameters_are_matched_by_name(make_params: Make) -> None:
    pairs = named(make_params, ["a", "b"], [(3,), (3,)])
    optimizer = BCOS(pairs)
    run(optimizer, 2)
    swapped = BCOS(list(reversed([(n, nn.Parameter(p.detach().clone())) for n, p in pairs])))
    swapped.load_state_dict(optimizer.state_dict())
    theirs = dict(zip(["b", "a"], swapped.param_groups[0]["params"], strict=True))
    for name, p in pairs:
        assert torch.equal(swapped.state[theirs[name]]["m"], optimizer.state[p]["m"])


def test_wrong_states_are_refused_and_nothing_changes(make_params: Make) -> None:
    pairs = named(make_params, ["a", "b"], [(3,), (4,)])
    saved = BCOS(pairs)
    run(saved, 2)
    state_dict = saved.state_dict()

    def refused(optimizer: BCOS, message: str) -> None:
        run(optimizer, 1)
        before = copy.deepcopy(optimizer.state_dict())
        with pytest.raises(ValueError, match=message):
            optimizer.load_state_dict(state_dict)
        after = optimizer.state_dict()
        assert str(after) == str(before)

    refused(BCOS(named(make_params, ["a", "c"], [(3,), (4,)])), "lacks parameter 'c'")
    refused(
        BCOS(named(make_params, ["a", "b"], [(3,), (5,)])),
        r"parameter b: expected 'm' of shape \(5,\), received \(4,\)",
    )
    refused(BCOS(named(make_params, ["a", "b"], [(3,), (4,)]), mode="m"), "expected mode='m'")
    refused(BCOS(named(make_params, ["a", "b"], [(3,), (4,)]), blocks="row"), "expected blocks")
    refused(BCOS(make_params((3,))), "doesn't match the size")
    other = make_params((3,), (4,))
    refused(BCOS([{"params": [other[0]]}, {"params": [other[1]]}]), "number of parameter groups")


@pytest.mark.parametrize("options", [{}, {"fused": False, "capturable": True}], ids=str)
@pytest.mark.parametrize("steps", [-1, 2**62 + 2**40, 2**70, float("nan"), float("inf")])
@pytest.mark.parametrize("kind", ["a number", "a tensor"])
def test_steps_that_nobody_took_are_refused_and_nothing_changes(
    kind: str, steps: float, options: dict[str, Any], make_params: Make
) -> None:
    pairs = named(make_params, ["a", "b"], [(3,), (4,)])
    optimizer = BCOS(pairs, mode="m", **options)
    run(optimizer, 2)
    before = copy.deepcopy(optimizer.state_dict())
    wrong = copy.deepcopy(before)
    whole = isinstance(steps, int) and abs(steps) < 2**63
    dtype = torch.int64 if whole else torch.float32
    wrong["state"][1]["step"] = torch.tensor(steps, dtype=dtype) if kind == "a tensor" else steps
    wrong["state"][0]["m"] += 1
    with pytest.raises(ValueError, match="parameter b: expected 'step' from 0 to"):
        optimizer.load_state_dict(wrong)
    assert str(optimizer.state_dict()) == str(before)


def authors_state(params: list[nn.Parameter], with_v: bool) -> dict[str, Any]:
    """What the authors' optimizer saves."""
    state = {}
    for i, p in enumerate(params):
        state[i] = {"m": torch.full_like(p, 0.5).detach()}
        if with_v:
            state[i]["v"] = torch.full_like(p, 0.25).detach()
    group = {"lr": 0.02, "beta": 0.8, "beta2": 0.7, "eps": 1e-6, "wd": 0.3}
    return {"state": state, "param_groups": [{**group, "params": list(range(len(params)))}]}


@pytest.mark.parametrize("mode", ["c", "m"])
def test_the_authors_state_loads_into_the_reference(mode: str, make_params: Make) -> None:
    params = make_params((3,))
    optimizer = bcos_optim.reference(params, lr=0.1, mode=mode)
    if mode == "m":
        optimizer = bcos_optim.reference(params, lr=0.1, mode=mode, beta2=0.7)
    optimizer.load_state_dict(authors_state(params, with_v=mode == "m"))
    group = optimizer.param_groups[0]
    assert group["lr"] == 0.02 and group["weight_decay"] == 0.3 and group["eps"] == 1e-6
    assert group["betas"] == ((0.8,) if mode == "c" else (0.8, 0.7))
    x = params[0].detach().clone()
    g = torch.tensor([1.0, -2.0, 0.0])
    params[0].grad = g.clone()
    optimizer.step()
    m = torch.full((3,), 0.5)
    new_m = 0.8 * m + 0.2 * g
    v = 0.64 * m * m + 2 * 0.8 * 0.2 * m * new_m + 0.04 * g * g
    if mode == "m":
        v = 0.7 * 0.25 + 0.3 * new_m * new_m
    expected = x * (1 - 0.02 * 0.3) - 0.02 * new_m / (v.sqrt() + 1e-6)
    torch.testing.assert_close(params[0].detach(), expected)


@pytest.mark.parametrize("options", [{}, {"mode": "m"}, {"mode": "m", "blocks": "row"}])
def test_files_keep_every_bit(options: dict[str, Any], tmp_path: Path, make_params: Make) -> None:
    shapes = [(4, 3), (5,), ()]
    pairs = named(make_params, ["w", "b", "s"], shapes)
    groups = [{"params": pairs[:1]}, {"params": pairs[1:], "weight_decay": 0.0}]
    optimizer = BCOS(groups, lr=0.01, **options)
    run(optimizer, 3)
    bcos_optim.save(optimizer, tmp_path / "state.safetensors")
    twins = [(name, nn.Parameter(p.detach().clone())) for name, p in pairs]
    groups = [{"params": twins[:1]}, {"params": twins[1:], "weight_decay": 0.0}]
    other = BCOS(groups, lr=0.01, **options)
    bcos_optim.load(other, tmp_path / "state.safetensors")
    run(optimizer, 2, 3)
    run(other, 2, 3)
    for (_, a), (_, b) in zip(pairs, twins, strict=True):
        assert torch.equal(a, b)
        assert all(torch.equal(optimizer.state[a][k], other.state[b][k]) for k in ("m", "step"))


def test_files_of_another_method_are_refused_or_converted(
    tmp_path: Path, make_params: Make
) -> None:
    file = tmp_path / "state.safetensors"
    pairs = named(make_params, ["w"], [(4,)])
    adam = bcos_optim.optimizer("adamw", pairs)
    run(adam, 3)
    bcos_optim.save(adam, file)
    bcos = BCOS(pairs)
    with pytest.raises(ValueError, match="load_momentum"):
        bcos_optim.load(bcos, file)
    with pytest.raises(OSError, match="No such file"):
        bcos_optim.load(bcos, tmp_path / "nowhere.safetensors")
    assert not bcos.state
    bcos_optim.load_momentum(bcos, file)
    assert torch.equal(bcos.state[pairs[0][1]]["m"], adam.state[pairs[0][1]]["m"])
    with pytest.raises(ValueError, match="named_parameters"):
        bcos_optim.save(BCOS([pairs[0][1]]), file)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError):
        bcos_optim.load_momentum(bcos, file)


def stepped(optimizer: torch.optim.Optimizer, steps: int) -> torch.optim.Optimizer:
    run(optimizer, steps)
    return optimizer


def test_a_running_adamw_becomes_bcos_with_its_momentum(make_params: Make) -> None:
    params = make_params()
    adam = stepped(torch.optim.AdamW(params, lr=0.004, betas=(0.85, 0.99), weight_decay=0.2), 5)
    bcos = bcos_optim.convert(adam)
    group = bcos.param_groups[0]
    assert group["lr"] == 0.004 and group["adjust_lr_fn"] == "match_rms_adamw"
    assert group["betas"] == (0.85,) and group["weight_decay"] == 0.2 and group["decoupled"]
    for p in params:
        assert torch.equal(bcos.state[p]["m"], adam.state[p]["exp_avg"])
        assert bcos.state[p]["m"].data_ptr() != adam.state[p]["exp_avg"].data_ptr()
        assert int(bcos.state[p]["step"]) == 5
    run(bcos, 2, 5)
    assert all(torch.isfinite(p).all() for p in params)


def test_a_corrected_start_is_given_corrected_momentum() -> None:
    """Gradients that are all alike have themselves as average, after 3 steps as after 1."""
    p = nn.Parameter(torch.ones(4))
    adam = torch.optim.AdamW([p], lr=0.0)
    for _ in range(3):
        p.grad = torch.full((4,), 0.5)
        adam.step()
    bcos = bcos_optim.convert(adam, start="zero_corrected")
    torch.testing.assert_close(bcos.state[p]["m"], torch.full((4,), 0.5))


def test_sgd_and_lion_become_bcos_given_a_learning_rate(make_params: Make) -> None:
    params = make_params()
    sgd = stepped(torch.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.1), 3)
    with pytest.raises(ValueError, match="lr must be given"):
        bcos_optim.convert(sgd)
    bcos = bcos_optim.convert(sgd, lr=1e-3)
    assert not bcos.param_groups[0]["decoupled"]
    for p in params:
        torch.testing.assert_close(bcos.state[p]["m"], sgd.state[p]["momentum_buffer"] * 0.1)

    class Lion(torch.optim.Optimizer):
        def __init__(self, params: Any) -> None:
            super().__init__(params, {"lr": 1e-4, "betas": (0.9, 0.99), "weight_decay": 0.1})

        def step(self, closure: Any = None) -> None:
            for p in self.param_groups[0]["params"]:
                self.state[p]["exp_avg"] = p.grad * 0.5

    lion = Lion(params)
    give_gradients(params, 1)
    lion.step()
    converted = bcos_optim.convert(lion, lr=1e-4)
    assert all(torch.equal(converted.state[p]["m"], lion.state[p]["exp_avg"]) for p in params)


def test_what_has_no_momentum_is_refused(make_params: Make) -> None:
    rms = stepped(torch.optim.RMSprop(make_params(), lr=0.1), 2)
    with pytest.raises(ValueError, match="no momentum found in the state of RMSprop"):
        bcos_optim.convert(rms, lr=0.1)
    with pytest.raises(TypeError, match="expected a torch.optim.Optimizer"):
        bcos_optim.convert("adamw")  # type: ignore[arg-type]


def golden_run() -> tuple[dict[str, nn.Parameter], BCOS]:
    """tests/golden/optimizer_run.hpp, in Python."""
    params = {
        "weight": nn.Parameter((torch.arange(6) + 1.0).reshape(2, 3) / 8),
        "bias": nn.Parameter((torch.arange(3) + 1.0) / 8),
    }
    groups = [
        {"params": [("weight", params["weight"])]},
        {"params": [("bias", params["bias"])], "mode": "m"},
    ]
    return params, BCOS(groups, lr=0.01)


def golden_step(params: dict[str, nn.Parameter], optimizer: BCOS, t: int) -> None:
    for p in params.values():
        g = (7 * torch.arange(p.numel()) + 3 * t) % 11 - 4
        p.grad = (g.float() / 16).reshape(p.shape)
    optimizer.step()


def test_the_golden_file_of_libtorch_and_c_is_written_and_read_here_too(tmp_path: Path) -> None:
    from safetensors import safe_open
    from safetensors.torch import load_file

    golden = Path(__file__).parents[1] / "golden" / "optimizer.safetensors"
    params, optimizer = golden_run()
    for t in range(3):
        golden_step(params, optimizer, t)
    written = tmp_path / "optimizer.safetensors"
    bcos_optim.save(optimizer, written)
    ours, theirs = load_file(written), load_file(golden)
    assert ours.keys() == theirs.keys() == {"m/weight", "m/bias", "v/bias"}
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    with safe_open(written, "pt") as mine, safe_open(golden, "pt") as other:
        for key in ("groups", "parameters", "skipped_steps"):
            assert mine.metadata()[key] == other.metadata()[key]

    again, resumed = golden_run()
    bcos_optim.load(resumed, golden)
    for name, p in params.items():
        again[name].data.copy_(p)
    golden_step(params, optimizer, 3)
    golden_step(again, resumed, 3)
    assert all(torch.equal(params[name], again[name]) for name in params)

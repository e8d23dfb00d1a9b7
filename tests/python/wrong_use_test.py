"""Wrong use gets one line that says what to do, in the caller's own words."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import nn

import bcos_optim
from bcos_optim import BCOS


def one() -> nn.Parameter:
    return nn.Parameter(torch.ones(2))


WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "mistyped": ({"weight_decy": 0.1}, TypeError, "did you mean 'weight_decay'?"),
    "mistyped too": ({"max_nrom": 0.1}, TypeError, "did you mean 'max_norm'?"),
    "unknown": ({"nesterov": True}, TypeError, "unexpected keyword argument 'nesterov'"),
    "lr as text": ({"lr": "0.1"}, ValueError, "Invalid learning rate: '0.1'"),
    "betas as text": ({"betas": "0.9"}, ValueError, "Invalid betas: '0.9', expected a number"),
    "three betas": ({"betas": (0.9, 0.9, 0.9)}, ValueError, "Invalid betas: (0.9, 0.9, 0.9)"),
    "beta of 1": ({"betas": 1.0}, ValueError, "Invalid beta parameter at index 0: 1.0"),
    "beta_v in c": ({"beta_v": 0.99}, ValueError, "Invalid beta_v: 0.99, the full estimator"),
    "a pair for sgd": ({"mode": "sgd", "betas": (0.9, 0.9)}, ValueError, "Invalid betas: (0.9"),
    "mode": ({"mode": "C"}, ValueError, "Invalid mode: 'C', expected one of c, m, g"),
    "mode as a number": ({"mode": 1}, ValueError, "Invalid mode: 1"),
    "simple as a number": ({"simple": 1}, ValueError, "Invalid simple: 1, expected one of True"),
    "fused as text": ({"fused": "yes"}, ValueError, "Invalid fused: 'yes'"),
    "guard": ({"guard": "hope"}, ValueError, "expected one of propagate, skip, raise"),
    "blocks": ({"blocks": "rows"}, ValueError, "Invalid blocks: 'rows', expected coordinate"),
    "adjust_lr_fn": ({"adjust_lr_fn": "original"}, ValueError, "Invalid adjust_lr_fn: 'original'"),
    "adjusted m": (
        {"adjust_lr_fn": "match_rms_adamw", "mode": "m"},
        ValueError,
        "was measured for the modes 'c' and 'adam' alone, not for 'm': give lr itself",
    ),
    "int8": ({"state_dtype": "int8"}, ValueError, "keeps states in float32"),
    "bfloat16": ({"state_dtype": torch.bfloat16}, ValueError, "Invalid state_dtype: 'bfloat16'"),
    "stochastic": ({"stochastic_rounding": True}, ValueError, "rounds to the nearest"),
    "torchao's name": ({"bf16_stochastic_round": True}, ValueError, "Invalid stochastic_rounding"),
    "master": ({"master_weight_bits": 32}, ValueError, "Invalid master_weight_bits: 32"),
    "seed": ({"rounding_seed": 7}, ValueError, "Invalid rounding_seed: 7"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_option_is_refused_in_one_line(name: str) -> None:
    options, kind, words = WRONG[name]
    with pytest.raises(kind) as refused:
        BCOS([one()], **options)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", [n for n, (_, kind, _) in WRONG.items() if kind is ValueError])
def test_a_wrong_option_of_a_group_changes_neither_optimizer_nor_group(name: str) -> None:
    options, _, words = WRONG[name]
    optimizer = BCOS([one()])
    group = {"params": [one()], **options}
    before = dict(group)
    with pytest.raises(ValueError) as refused:
        optimizer.add_param_group(group)
    assert words in str(refused.value)
    assert group == before and len(optimizer.param_groups) == 1


def test_the_options_of_now_take_their_defaults() -> None:
    BCOS([one()], state_dtype=torch.float32, bf16_stochastic_round=False, master_weight_bits=None)


def test_wrong_calls_are_told_what_to_do() -> None:
    p = one()
    optimizer = BCOS([p])
    for call, kind, words in (
        (lambda: bcos_optim.optimizer([p], "bcosw_c"), TypeError, "the name of a method first"),
        (lambda: bcos_optim.optimizer("sgd", [p]), ValueError, "lr must be given"),
        (lambda: bcos_optim.set_threads("4"), TypeError, "expected a whole number, received '4'"),
        (lambda: optimizer.load_state_dict(None), TypeError, "received NoneType"),
        (lambda: optimizer.load_state_dict([1]), TypeError, "received list"),
        (lambda: optimizer.add_param_group([p]), TypeError, "param_group must be a dict"),
        (lambda: bcos_optim.convert("adamw"), TypeError, "expected a torch.optim.Optimizer"),
    ):
        with pytest.raises(kind, match=words):
            call()


def test_an_eps_that_is_taken_back_is_none() -> None:
    p = one()
    optimizer = BCOS([p])
    optimizer.param_groups[0]["eps"] = None
    p.grad = torch.ones(2)
    optimizer.step()
    assert (p < 1).all()


def test_a_state_without_memory_is_told_by_name() -> None:
    params = [(f"layer{i}", nn.Parameter(torch.ones(3))) for i in range(7)]
    optimizer = BCOS(params)
    for _, p in params:
        p.grad = torch.ones(3)
    optimizer.step()
    optimizer.state[params[5][1]]["m"].untyped_storage().resize_(0)
    with pytest.raises(ValueError, match="parameter layer5"):
        optimizer.step()


def test_fused_is_refused_with_the_reason() -> None:
    p = nn.Parameter(torch.ones(2, dtype=torch.bfloat16))
    optimizer = BCOS([("weight", p)], fused=True)
    p.grad = torch.ones_like(p)
    with pytest.raises(RuntimeError, match=r"`fused=True` requires .* parameter weight .*bfloat16"):
        optimizer.step()


def test_the_group_is_the_callers_dict() -> None:
    """As in torch; and a generator is not left spent in it."""
    group = {"params": (p for p in [one()]), "wd": 0.3}
    optimizer = BCOS([one()])
    optimizer.add_param_group(group)
    assert optimizer.param_groups[1] is group
    assert group["weight_decay"] == 0.3 and len(group["params"]) == 1
    group["lr"] = 0.7
    assert optimizer.param_groups[1]["lr"] == 0.7


@pytest.mark.parametrize("mode", ["c", "m", "adam"])
def test_betas_are_a_number_or_a_pair_in_third_place(mode: str) -> None:
    """As AdamW's scripts and config-driven trainers give them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pair = BCOS([one()], 1e-3, (0.8, 0.99), mode=mode, eps=1e-8, fused=True, foreach=False)
    assert pair.param_groups[0]["betas"] == (0.8, 0.99)
    number = BCOS([one()], 1e-3, 0.8, mode=mode)
    assert number.param_groups[0]["betas"][0] == 0.8
    assert BCOS([one()], 1e-3, [0.8], mode=mode).param_groups[0]["betas"][0] == 0.8


def test_a_second_beta_that_is_not_used_is_told_once() -> None:
    with pytest.warns(RuntimeWarning, match="the second is not used") as told:
        optimizer = BCOS([one()], betas=(0.9, 0.95))
        optimizer.add_param_group({"params": [one()]})
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BCOS([one()], betas=(0.9, 0.95), adjust_lr_fn="match_rms_adamw")


def test_the_keys_of_groups_are_a_file_format() -> None:
    """Flat checkpoints look every key up: a new one breaks them, a lost one too."""
    (group,) = BCOS([one()]).state_dict()["param_groups"]
    assert set(group) == {
        *("adjust_lr_fn", "betas", "block_gain", "blocks", "capturable", "coupled_start"),
        *("decoupled", "differentiable", "eps", "eps_root", "foreach", "fused", "guard", "lr"),
        *("master_weight_bits", "max_norm", "maximize", "mode", "params", "rounding_seed"),
        *("simple", "start", "state_dtype", "stochastic_rounding", "weight_decay"),
    }
    plain = (str, int, float, bool, type(None))
    assert all(isinstance(v, plain) for k, v in group.items() if k not in ("params", "betas"))


@pytest.mark.parametrize("decoupled", [True, False])
@pytest.mark.parametrize("fused", [None, False])
def test_an_adamw_script_keeps_its_numbers(fused: bool | None, decoupled: bool) -> None:
    """The step is that of a quarter of lr, the decay that of lr."""
    adjusted, plain = one(), one()
    options = dict(decoupled=decoupled, fused=fused)
    ours = BCOS(
        [adjusted], 0.04, (0.9, 0.999), weight_decay=0.1, adjust_lr_fn="match_rms_adamw", **options
    )
    theirs = BCOS([plain], 0.01, 0.9, weight_decay=0.4 if decoupled else 0.1, **options)
    schedule = torch.optim.lr_scheduler.LinearLR(ours, total_iters=3)
    for _ in range(3):
        theirs.param_groups[0]["lr"] = ours.param_groups[0]["lr"] / 4
        adjusted.grad = plain.grad = torch.tensor([1.0, -0.1])
        ours.step()
        theirs.step()
        schedule.step()
    assert torch.equal(adjusted, plain)
    assert ours.param_groups[0]["lr"] == 0.04


def test_mode_adam_is_adamw_already() -> None:
    p, q = one(), one()
    ours = BCOS([p], 0.01, (0.9, 0.99), mode="adam", adjust_lr_fn="match_rms_adamw")
    theirs = BCOS([q], 0.01, (0.9, 0.99), mode="adam")
    p.grad = q.grad = torch.ones(2)
    ours.step()
    theirs.step()
    assert torch.equal(p, q)


def test_gradients_may_be_of_another_type_where_torch_lets_them() -> None:
    """A float32 gradient of a bfloat16 parameter is used in full."""
    p = nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))
    if not hasattr(p, "grad_dtype"):
        pytest.skip("this torch knows no gradients of another type")
    p.grad_dtype = torch.float32
    p.grad = torch.tensor([1.0, 1 + 2.0**-20])
    optimizer = BCOS([p], lr=0.1)
    optimizer.step()
    m = optimizer.state[p]["m"]
    assert m[1] > m[0]
    wide = nn.Parameter(torch.zeros(2))
    wide.grad_dtype = torch.bfloat16
    wide.grad = torch.ones(2, dtype=torch.bfloat16)
    BCOS([wide], lr=0.1).step()
    assert (wide < 0).all()

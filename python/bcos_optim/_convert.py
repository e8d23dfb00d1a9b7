"""Switching a run from another optimizer to BCOS."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from ._tensors import working_dtype
from .optimizer import BCOS

#: What other optimizers call their momentum.
MOMENTA = ("exp_avg", "momentum_buffer", "m")
#: A quarter of the learning rate: BCOS-c takes steps of size alpha, Adam's are about a quarter.
ADAM_RATIO = 0.25


def convert(optimizer: Optimizer, lr: float | None = None, **options: Any) -> BCOS:
    """A BCOS (mode c) that goes on where ``optimizer`` is, with its momentum.

    For torch's AdamW, Adam, NAdam, RAdam, SGD with momentum, and optimizers like Lion. Groups,
    their weight decay and their first beta are kept. ``lr``: default a quarter of each group's
    for the Adam family; to be given for all others, whose steps are not comparable. Options are
    those of :class:`BCOS`. The old optimizer is left as it is. Schedulers hold the optimizer that
    they were made with: make them again.

        optimizer = bcos_optim.convert(optimizer)
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"expected a torch.optim.Optimizer, received {type(optimizer).__name__}")
    adam = any("exp_avg_sq" in state for state in optimizer.state.values())
    if lr is None and not adam:
        raise ValueError(
            f"lr must be given: steps of {type(optimizer).__name__} are not comparable to those of "
            "BCOS (for Adam and AdamW it would be a quarter of theirs)"
        )
    groups = [_converted_group(optimizer, group, lr, options) for group in optimizer.param_groups]
    result = BCOS(groups, **{"lr": lr or 5e-4, **options})
    if result.param_groups[0]["mode"] != "c":
        raise ValueError("only mode 'c' keeps momentum and nothing else")
    for old, new in zip(optimizer.param_groups, result.param_groups, strict=True):
        for p in old["params"]:
            momentum = _momentum_of(optimizer, old, p)
            if momentum is not None:
                state = result._state_of(p, new)
                state["m"].copy_(momentum.to(working_dtype(p.dtype)))
                state["step"].fill_(_steps_of(optimizer, p))
    return result


def _converted_group(
    optimizer: Optimizer, group: dict[str, Any], lr: float | None, options: dict[str, Any]
) -> dict[str, Any]:
    names = group.get("param_names")
    params = list(zip(names, group["params"], strict=True)) if names else group["params"]
    new: dict[str, Any] = {"params": params}
    new["lr"] = float(group["lr"]) * ADAM_RATIO if lr is None else lr
    if "weight_decay" not in options and "weight_decay" in group:
        new["weight_decay"] = group["weight_decay"]
        new["decoupled"] = _is_decoupled(optimizer, group)
    if "beta" not in options:
        beta = group["betas"][0] if "betas" in group else group.get("momentum")
        if beta:
            new["beta"] = float(beta)
    new["maximize"] = bool(group.get("maximize", False))
    return new


def _is_decoupled(optimizer: Optimizer, group: dict[str, Any]) -> bool:
    coupled = (torch.optim.Adam, torch.optim.SGD, torch.optim.NAdam, torch.optim.RAdam)
    known = group.get("decoupled_weight_decay")
    if known is not None:
        return bool(known)
    return not isinstance(optimizer, coupled)


def _momentum_of(optimizer: Optimizer, group: dict[str, Any], p: Tensor) -> Tensor | None:
    state = optimizer.state.get(p, {})
    momentum = next((state[name] for name in MOMENTA if name in state), None)
    if momentum is None:
        if state and p.grad is not None:
            raise ValueError(
                f"no momentum found in the state of {type(optimizer).__name__}: it has "
                f"{', '.join(map(repr, state))}, expected one of {', '.join(MOMENTA)}"
            )
        return None
    if "momentum_buffer" in state and state.get("exp_avg") is None:
        # torch's SGD sums gradients where BCOS averages them.
        return momentum * (1 - group["momentum"])
    return momentum


def _steps_of(optimizer: Optimizer, p: Tensor) -> int:
    step = optimizer.state[p].get("step", 1)
    return max(1, int(step))

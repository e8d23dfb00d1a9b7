"""Switching a run from another optimizer to BCOS."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from ._methods import translated
from ._optimizer import BCOS

#: What other optimizers call their momentum.
MOMENTA = ("exp_avg", "momentum_buffer", "m")
#: A quarter of the learning rate: BCOS-c takes steps of size alpha, Adam's are about a quarter.
ADAM_RATIO = 0.25
#: What does not depend on the mode.
KEPT_OF_BCOS = ("decoupled", "blocks", "block_gain", "foreach", "fused", "capturable")
KEPT_OF_BCOS += ("max_norm", "guard")


def convert(optimizer: Optimizer, lr: float | None = None, **options: Any) -> BCOS:
    """A BCOS (mode c) that goes on where ``optimizer`` is, with its momentum.

    For torch's AdamW, Adam, NAdam, RAdam, Muon, SGD with momentum, optimizers like Lion, and other
    modes of BCOS. Groups, their weight decay and their first beta are kept; options given here,
    those of :class:`BCOS`, win over them. ``lr``: default a quarter of each group's for the Adam
    family; to be given for all others, whose steps are not comparable. Decoupled decay is
    multiplied by the learning rate: with a quarter of it, the same ``weight_decay`` pulls a quarter
    as strongly. The old optimizer is left as it is. Schedulers hold the optimizer that they were
    made with: make them again.

        optimizer = bcos_optim.convert(optimizer)
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"expected a torch.optim.Optimizer, received {type(optimizer).__name__}")
    if lr is None and not _is_adam(optimizer):
        raise ValueError(
            f"lr must be given: steps of {type(optimizer).__name__} are not comparable to those of "
            "BCOS (for Adam and AdamW it would be a quarter of theirs)"
        )
    given = translated(options)
    groups = [_converted_group(optimizer, group, lr, given) for group in optimizer.param_groups]
    result = BCOS(groups, **{"lr": 5e-4 if lr is None else lr, **given})
    if any(group["mode"] != "c" for group in result.param_groups):
        raise ValueError("only mode 'c' keeps momentum and nothing else")
    for old, new in zip(optimizer.param_groups, result.param_groups, strict=True):
        for p in old["params"]:
            momentum = _momentum_of(optimizer, old, p)
            if momentum is None:
                continue
            steps = max(1, int(optimizer.state[p].get("step", 1)))
            state = result._state_of(p, new)
            if new["start"] == "zero_corrected":
                # BCOS keeps corrected averages, Adam corrects them when it uses them.
                momentum = momentum / (1 - float(new["betas"][0]) ** steps)
            state["m"].copy_(momentum.to(state["m"].dtype))
            state["step"].fill_(steps)
    return result


def _is_adam(optimizer: Optimizer) -> bool:
    family = (torch.optim.Adam, torch.optim.AdamW, torch.optim.NAdam, torch.optim.RAdam)
    squares = any("exp_avg_sq" in state for state in optimizer.state.values())
    return squares or isinstance(optimizer, family)


def _converted_group(
    optimizer: Optimizer, group: dict[str, Any], lr: float | None, given: dict[str, Any]
) -> dict[str, Any]:
    names = group.get("param_names")
    params = list(zip(names, group["params"], strict=True)) if names else group["params"]
    new: dict[str, Any] = {"lr": float(group["lr"]) * ADAM_RATIO if lr is None else lr}
    if "weight_decay" in group:
        new["weight_decay"] = group["weight_decay"]
        new["decoupled"] = _is_decoupled(optimizer, group)
    beta = group["betas"][0] if "betas" in group else group.get("momentum") or None
    if beta is not None and not {"beta", "betas"} & given.keys():
        new["beta"] = float(beta)
    if isinstance(optimizer, BCOS):
        new.update({name: group[name] for name in KEPT_OF_BCOS})
    new["maximize"] = bool(group.get("maximize", False))
    kept = {name: value for name, value in new.items() if name not in given}
    return {**kept, "params": params}


def _is_decoupled(optimizer: Optimizer, group: dict[str, Any]) -> bool:
    coupled = (torch.optim.Adam, torch.optim.SGD, torch.optim.NAdam, torch.optim.RAdam)
    known = group.get("decoupled_weight_decay")
    if known is not None:
        return bool(known)
    return isinstance(optimizer, torch.optim.AdamW) or not isinstance(optimizer, coupled)


def _momentum_of(optimizer: Optimizer, group: dict[str, Any], p: Tensor) -> Tensor | None:
    state = optimizer.state.get(p, {})
    momentum = next((state[name] for name in MOMENTA if state.get(name) is not None), None)
    if momentum is None:
        if any(torch.is_tensor(value) and value.dim() > 0 for value in state.values()):
            raise ValueError(
                f"no momentum found in the state of {type(optimizer).__name__}: it has "
                f"{', '.join(map(repr, state))}, expected one of {', '.join(MOMENTA)}"
            )
        return None
    if momentum is state.get("momentum_buffer"):
        if isinstance(optimizer, torch.optim.RMSprop):
            raise ValueError("RMSprop has a momentum of steps, not of gradients: make a new BCOS")
        if type(optimizer).__name__ == "Muon":
            return momentum  # an average already
        dampening = group.get("dampening", 0)
        if dampening == 1:
            raise ValueError("SGD with dampening=1 keeps no average of gradients to go on from")
        # torch's SGD sums gradients where BCOS averages them.
        return momentum * ((1 - group["momentum"]) / (1 - dampening))
    return momentum

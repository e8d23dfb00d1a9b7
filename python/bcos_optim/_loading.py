"""What may be loaded into an optimizer: checked as a whole, before anything is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ._blocks import block_count
from ._methods import betas_of, method_of, normalise_group
from ._tensors import is_dtensor, is_fake, plain_shape, working_dtype

if TYPE_CHECKING:
    from ._optimizer import BCOS

#: More than anybody takes; beyond, counters would overflow.
MOST_STEPS = 2**62

METHOD_OPTIONS = ("mode", "simple", "blocks", "start", "coupled_start")


def checked_state_dict(optimizer: BCOS, given: dict[str, Any]) -> dict[str, Any]:
    """The dict as torch's loader wants it; raises if it does not belong to the optimizer."""
    if not {"state", "param_groups"} <= given.keys():
        raise ValueError(
            "loaded state dict is not one of an optimizer: expected 'state' and 'param_groups', "
            f"received {', '.join(map(repr, given)) or 'nothing'}"
        )
    groups = [dict(group) for group in given["param_groups"]]
    mine = optimizer.param_groups
    if len(groups) != len(mine):
        raise ValueError(
            "loaded state dict has a different number of parameter groups: expected "
            f"{len(mine)}, received {len(groups)}"
        )
    # An empty entry is made by whoever looks at a state that is not there.
    state = {index: dict(values) for index, values in given["state"].items() if values}
    loaded = {**given, "state": state, "param_groups": groups}
    for saved, own in zip(groups, mine, strict=True):
        if "mode" not in saved:
            _from_authors(saved, own)
        names = optimizer._names(own)
        _order_by_name(saved, own)
        if len(saved["params"]) != len(own["params"]):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                f"optimizer's group: expected {len(own['params'])} parameters, received "
                f"{len(saved['params'])}"
            )
        _check_method(saved, own)
        for index, name, p in zip(saved["params"], names, own["params"], strict=True):
            if index in state:
                _check_state(state[index], saved, p, name)
    return loaded


def _from_authors(saved: dict[str, Any], own: dict[str, Any]) -> None:
    """The authors' groups hold lr, beta, beta2, eps and wd alone."""
    if "betas" in saved or any(name not in saved for name in ("beta", "eps", "wd")):
        raise ValueError(
            "loaded state dict is of another optimizer; nothing was changed (bcos_optim.convert "
            "turns a running optimizer into BCOS and keeps its momentum)"
        )
    full = own["mode"] == "c" and not own["simple"]
    beta_v = None if full else saved.pop("beta2", None)
    saved["betas"] = betas_of(saved.pop("beta"), beta_v)
    saved["weight_decay"] = saved.pop("wd")
    saved["eps_root"] = 0.0
    saved.pop("beta2", None)
    for name, value in own.items():
        if name not in ("params", "param_names"):
            saved.setdefault(name, value)


def _order_by_name(saved: dict[str, Any], own: dict[str, Any]) -> None:
    theirs, ours = saved.get("param_names"), own.get("param_names")
    if not theirs or not ours or theirs == ours:
        return
    missing = sorted(set(ours) - set(theirs)) or sorted(set(theirs) - set(ours))
    if missing:
        side = "lacks" if missing[0] in ours else "has an unknown"
        raise ValueError(f"loaded state dict {side} parameter {missing[0]!r}: nothing was changed")
    place = {name: index for name, index in zip(theirs, saved["params"], strict=True)}
    saved["params"] = [place[name] for name in ours]
    saved["param_names"] = list(ours)


def _check_method(saved: dict[str, Any], own: dict[str, Any]) -> None:
    if not isinstance(saved.get("blocks", ""), str):
        saved["blocks"] = [list(block) for block in saved["blocks"]]
    for name in METHOD_OPTIONS:
        if name in saved and saved[name] != own[name]:
            raise ValueError(
                f"loaded state dict is of another method: expected {name}={own[name]!r}, received "
                f"{saved[name]!r}; nothing was changed (bcos_optim.convert keeps the momentum)"
            )
    whole = {**own, **saved}
    normalise_group(whole)
    if method_of(whole).estimator != method_of(own).estimator:
        raise ValueError(
            "loaded state dict is of another method: expected estimator "
            f"{method_of(own).estimator}, received {method_of(whole).estimator}"
        )
    for name, value in whole.items():
        if name not in ("params", "param_names"):
            saved[name] = value


def _check_state(state: dict[str, Any], saved: dict[str, Any], p: Tensor, name: str) -> None:
    method = method_of(saved)
    expected = {"m": method.momentum, "v": method.keeps_v}
    for key, kept in expected.items():
        if kept != (key in state):
            words = (f"expected {key!r}", "received none") if kept else ("expected none", key)
            raise ValueError(
                f"loaded state of parameter {name}: {words[0]}, {words[1]}: it is of another "
                "method; nothing was changed"
            )
        if not kept:
            continue
        shape = p.shape
        if key == "v" and method.blocks != "coordinate":
            # Shards of v say how many blocks there are in all.
            whole = p.shape if is_dtensor(state[key]) else plain_shape(p)
            shape = torch.Size((block_count(method, whole),))
        if tuple(state[key].shape) != tuple(shape):
            raise ValueError(
                f"loaded state of parameter {name}: expected {key!r} of shape {tuple(shape)}, "
                f"received {tuple(state[key].shape)}; nothing was changed"
            )
        expected_dtype = working_dtype(p.dtype)
        if key == "v" and method.blocks != "coordinate":
            expected_dtype = expected_dtype.to_real()
        # Fewer bits fit into more; the other way round they would be lost.
        if torch.promote_types(state[key].dtype, expected_dtype) != expected_dtype:
            raise ValueError(
                f"loaded state of parameter {name}: expected {key!r} as {expected_dtype}, received "
                f"{state[key].dtype}; nothing was changed"
            )
        state[key] = state[key].to(expected_dtype)
    # The authors' states have no counter; one that is there has begun.
    step = _checked_steps(state.get("step", 1), name)
    dtype = torch.float32 if saved["capturable"] else torch.int64
    place = p.device if saved["capturable"] else "cpu"
    if isinstance(step, Tensor):
        state["step"] = step.to(device=place, dtype=dtype)
    else:
        state["step"] = torch.tensor(int(step), dtype=dtype, device=place)


def _checked_steps(step: Any, name: str) -> Any:
    if isinstance(step, Tensor) and (step.is_meta or is_fake(step)):
        return step
    count = step.item() if isinstance(step, Tensor) else step
    if not 0 <= count <= MOST_STEPS:
        raise ValueError(
            f"loaded state of parameter {name}: expected 'step' from 0 to 2**62, received {count}; "
            "nothing was changed"
        )
    return step

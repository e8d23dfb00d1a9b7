"""What may be loaded into an optimizer: checked as a whole, before anything is changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from .options import GROUP_KEYS, checked_options, method_of
from .state import PLAIN, is_fake, layout_of

#: More than anybody takes; beyond, counters would overflow.
MOST_STEPS = 2**62

#: Options that the state depends on, so that they must agree.
SHAPING = (
    "mode",
    "simple",
    "blocks",
    "start",
    "coupled_start",
    "state_dtype",
    "master_weight_bits",
)

#: What wrappers of models put into the names of parameters.
WRAPPERS = {"module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}

UNCHANGED = "nothing was changed"


class Opaque:
    """Carries the state of a parameter through torch's loader, which would cast all tensors in it
    to the parameter's type."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state


def bare_names(names: Iterable[str]) -> list[str]:
    """Names without what wrappers put into them, if they still differ then."""
    names = list(names)
    bare = [".".join(w for w in name.split(".") if w not in WRAPPERS) or name for name in names]
    return bare if len(set(bare)) == len(names) else names


def checked_state_dict(optimizer: Optimizer, given: dict[str, Any]) -> dict[str, Any]:
    """The dict as torch's loader wants it; raises if it does not belong to the optimizer."""
    groups = [dict(group) for group in given["param_groups"]]
    mine = optimizer.param_groups
    if len(groups) != len(mine):
        raise ValueError(
            "loaded state dict has a different number of parameter groups: expected "
            f"{len(mine)}, received {len(groups)}"
        )
    # An empty entry is made by whoever looks at a state that is not there.
    state = {index: values for index, values in given["state"].items() if values}
    for saved, own in zip(groups, mine, strict=True):
        if "mode" not in saved:
            _translate_from_authors(saved, own)
        _order_by_name(saved, own)
        if len(saved["params"]) != len(own["params"]):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                f"optimizer's group: expected {len(own['params'])} parameters, received "
                f"{len(saved['params'])}"
            )
        _complete(saved, own)
        names = optimizer._names(own)
        for index, name, p in zip(saved["params"], names, own["params"], strict=True):
            if index in state:
                state[index] = Opaque(_checked_state(dict(state[index]), saved, p, name))
    return {**given, "state": state, "param_groups": groups}


def _translate_from_authors(saved: dict[str, Any], own: Mapping[str, Any]) -> None:
    """The authors' groups hold lr, beta, beta2, eps and wd alone."""
    if "betas" in saved or any(name not in saved for name in ("beta", "eps", "wd")):
        raise ValueError(
            f"loaded state dict is of another optimizer; {UNCHANGED} (bcos_optim.convert turns a "
            "running optimizer into BCOS and keeps its momentum)"
        )
    full = own["mode"] == "c" and not own["simple"]
    beta_v = saved.pop("beta2", None)
    beta = saved.pop("beta")
    saved["betas"] = (beta,) if full or beta_v is None else (beta, beta_v)
    saved["weight_decay"] = saved.pop("wd")
    saved["eps_root"] = 0.0


def _order_by_name(saved: dict[str, Any], own: Mapping[str, Any]) -> None:
    if not saved.get("param_names") or not own.get("param_names"):
        return
    theirs, ours = bare_names(saved["param_names"]), bare_names(own["param_names"])
    missing = sorted(set(ours) - set(theirs)) or sorted(set(theirs) - set(ours))
    if missing:
        side = "lacks" if missing[0] in ours else "has an unknown"
        raise ValueError(f"loaded state dict {side} parameter {missing[0]!r}: {UNCHANGED}")
    place = dict(zip(theirs, saved["params"], strict=True))
    saved["params"] = [place[name] for name in ours]
    saved["param_names"] = list(own["param_names"])


def _complete(saved: dict[str, Any], own: Mapping[str, Any]) -> None:
    """Fills in options that older versions did not write; raises if the method is another."""
    saved.setdefault("adjust_lr_fn", None)  # their lr was alpha itself
    for name in GROUP_KEYS:
        saved.setdefault(name, own[name])
    full = checked_options(saved)
    for name in SHAPING:
        if full[name] != own[name]:
            raise ValueError(
                f"loaded state dict is of another method: expected {name}={own[name]!r}, received "
                f"{saved[name]!r}; {UNCHANGED} (bcos_optim.convert keeps the momentum)"
            )
    expected, received = method_of(own).estimator, method_of(full).estimator
    if received != expected:
        raise ValueError(
            f"loaded state dict is of another method: expected estimator {expected}, received "
            f"{received}; {UNCHANGED}"
        )
    saved.update(full)


def _checked_state(
    state: dict[str, Any], saved: Mapping[str, Any], p: Tensor, name: str
) -> dict[str, Any]:
    place = f"loaded state of parameter {name}"
    expected = layout_of(p, method_of(saved))
    for key in ("m", "v"):
        kept = isinstance(state.get(key), Tensor)
        if kept != (key in expected):
            words = (f"{key!r}", "received none") if not kept else ("none", f"received {key!r}")
            raise ValueError(
                f"{place}: expected {words[0]}, {words[1]}: it is of another method; {UNCHANGED}"
            )
    for key, (shape, dtype) in expected.items():
        if tuple(state[key].shape) != tuple(shape):
            raise ValueError(
                f"{place}: expected {key!r} of shape {tuple(shape)}, received "
                f"{tuple(state[key].shape)}; {UNCHANGED}"
            )
        # Fewer bits fit into more; the other way round they would be lost.
        if torch.promote_types(state[key].dtype, dtype) != dtype:
            raise ValueError(
                f"{place}: expected {key!r} as {dtype}, received {state[key].dtype}; {UNCHANGED}"
            )
        state[key] = state[key].to(dtype)
    # The authors' states have no counter; one that is there has begun.
    step = state.get("step", 1)
    device = p.device if saved["capturable"] else torch.device("cpu")
    if isinstance(step, Tensor) and (step.is_meta or is_fake(step)):
        state["step"] = step.to(device=device, dtype=torch.int64)
        return state
    count = step.item() if isinstance(step, Tensor) else step
    if not 0 <= count <= MOST_STEPS:
        raise ValueError(f"{place}: expected 'step' from 0 to 2**62, received {count}; {UNCHANGED}")
    state["step"] = torch.tensor(int(count), dtype=torch.int64, device=device)
    return state


def adopt(value: Any, p: Tensor) -> Any:
    """A loaded value in memory of our own, on the device of its parameter, lying as it does; all
    types are kept."""
    if isinstance(value, Tensor):
        if type(value) in PLAIN and type(p) in PLAIN and value.shape == p.shape:
            return torch.empty_like(p, dtype=value.dtype, requires_grad=False).copy_(value)
        return value.detach().to(p.device, copy=True)
    if isinstance(value, dict):
        return {key: adopt(item, p) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(adopt(item, p) for item in value)
    return value

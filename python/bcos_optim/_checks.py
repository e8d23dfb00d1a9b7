"""What the options of a group must be, besides making a method."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from ._methods import is_number, normalise_group
from ._warnings import warn


def check_lr(lr: Any) -> None:
    if isinstance(lr, Tensor):
        if lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr.device.type != "cpu" or lr.requires_grad:
            return
        lr = lr.item()
    if not is_number(lr) or not lr >= 0 or math.isinf(lr):
        raise ValueError(f"Invalid learning rate: {lr!r}")


def checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options in full. Looks at everything that can be wrong with them; schedulers and users
    may have written to a group."""
    check_lr(options["lr"])
    check_implementation(options)
    options = dict(options)
    normalise_group(options)
    lr, decay = options["lr"], options["weight_decay"]
    if options["decoupled"] and decay and not isinstance(lr, Tensor) and lr * decay > 1:
        warn(f"lr * weight_decay is {lr * decay:.3g}, more than 1: decay overshoots 0")
    return options


def check_implementation(options: dict[str, Any]) -> None:
    for name in ("foreach", "fused"):
        if options[name] not in (None, True, False):
            raise ValueError(f"Invalid {name}: {options[name]!r}, expected True, False or None")
    if options["fused"] and options["foreach"]:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if options["differentiable"] and (options["fused"] or options["foreach"]):
        name = "fused" if options["fused"] else "foreach"
        raise RuntimeError(f"`{name}` does not support `differentiable`")

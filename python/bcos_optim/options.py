"""What users may write into a parameter group, and the method that it means."""

from __future__ import annotations

import json
import math
import numbers
import sys
import warnings
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from operator import index, itemgetter
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .numbers import Method

#: The engine's table of named methods.
NAMED: dict[str, dict[str, Any]] = {
    entry["id"]: entry for entry in json.loads(Path(__file__).with_name("methods.json").read_text())
}
#: What ``mode`` may be, and the named method whose numbers are its defaults. Decoupled decay adds a
#: w to the name.
MODES = {"c": "bcos_c", "m": "bcos_m", "g": "bcos_g"}
MODES |= {name: name for name in ("adams", "adam", "sgd", "sgd_momentum")}
MODES |= {name: name for name in ("sign_sgd", "sign_momentum")}

LR = 5e-4
BETA: float = NAMED["bcosw_c"]["beta"]
WEIGHT_DECAY: float = NAMED["bcosw_c"]["lambda"]

#: Names that the authors and other optimizers have for our options.
OTHER_NAMES = {"beta2": "beta_v", "decouple_wd": "decoupled", "simple_cond": "simple"}
OTHER_NAMES |= {"wd": "weight_decay", "bf16_stochastic_round": "stochastic_rounding"}

#: How many learning rates of an AdamW one of ours is, for ``adjust_lr_fn``; where it was measured.
MATCH_RMS_ADAMW = "match_rms_adamw"
MATCHED = {"c": 0.25, "adam": 1.0}

#: The options of a group. Checkpoints hold them under these names, so a name stays.
GROUP_KEYS = (
    *("lr", "betas", "mode", "simple", "eps", "eps_root", "weight_decay", "decoupled", "blocks"),
    *("block_gain", "start", "coupled_start", "maximize", "foreach", "fused", "capturable"),
    *("differentiable", "max_norm", "guard", "adjust_lr_fn", "state_dtype", "stochastic_rounding"),
    *("master_weight_bits", "rounding_seed"),
)
#: All but the learning rate, which changes at every step.
settled_values = itemgetter(*GROUP_KEYS[1:])

CHOICES = {
    "mode": tuple(MODES),
    "start": ("first", "zero_corrected", "zero"),
    "coupled_start": ("with_decay", "raw"),
    "block_gain": ("one", "sqrt"),
    "guard": ("propagate", "skip", "raise"),
    "adjust_lr_fn": (None, MATCH_RMS_ADAMW),
    "foreach": (None, True, False),
    "fused": (None, True, False),
}
CHOICES |= dict.fromkeys(
    ("simple", "decoupled", "maximize", "capturable", "differentiable", "stochastic_rounding"),
    (True, False),
)
#: Options that other values will have when states and weights can be stored in fewer bits.
ONLY = {"state_dtype": "float32", "stochastic_rounding": False, "master_weight_bits": None}
ONLY |= {"rounding_seed": 0}

_INSIDE = tuple(f"{Path(file).parent}/" for file in (__file__, torch.__file__))


def warn(message: str) -> None:
    """Warns at the user's line: the nearest one outside of this package and of torch."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
        level += 1
    warnings.warn(f"bcos_optim: {message}", RuntimeWarning, stacklevel=level)


def is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def spelled(
    given: Mapping[str, Any], defaults: Mapping[str, Any], error: type[Exception] = ValueError
) -> dict[str, Any]:
    """The given options under the names of groups. ``defaults``: what holds where they say nothing;
    ``error``: what two names of one option raise."""
    result: dict[str, Any] = {}
    for name, value in given.items():
        ours = OTHER_NAMES.get(name, name)
        if ours in result:
            raise error(f"got {name} and another name of the same option; give one")
        result[ours] = value
    beta_v, beta = result.pop("beta_v", None), result.pop("beta", None)
    betas = result.pop("betas", None)
    if betas is not None and (beta is not None or (beta_v is not None and not _is_one(betas))):
        raise error("got betas and another name of the same option; give one")
    mode = result.get("mode", defaults["mode"])
    if beta_v is not None and mode == "c" and not result.get("simple", defaults["simple"]):
        raise ValueError(
            f"Invalid beta_v: {beta_v!r}, the full estimator of mode 'c' has no second beta; leave "
            "it out, or take simple=True, which is another estimator (AdamS's)"
        )
    if betas is None and beta is None and beta_v is None:
        return result
    if betas is None:
        own = _tuple_of(defaults["betas"])
        betas = own[0] if beta is None else beta
        beta_v = own[1] if beta_v is None and len(own) == 2 else beta_v
    result["betas"] = _tuple_of(betas if beta_v is None else (betas, beta_v))
    return result


def _is_one(betas: Any) -> bool:
    return is_number(betas) or isinstance(betas, Tensor)


def _tuple_of(betas: Any) -> tuple[Any, ...]:
    if _is_one(betas):
        return (betas,)
    if isinstance(betas, Sequence) and not isinstance(betas, str) and len(betas) in (1, 2):
        return tuple(betas)
    raise ValueError(f"Invalid betas: {betas!r}, expected a number, (beta,) or (beta, beta_v)")


def unexpected(name: str) -> TypeError:
    """The error for a keyword that no option has."""
    known = (*GROUP_KEYS, *OTHER_NAMES, "beta", "beta_v")
    near = get_close_matches(name, known, n=1, cutoff=0.75)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return TypeError(f"BCOS() got an unexpected keyword argument {name!r}{hint}")


def check_lr(lr: Any) -> None:
    if isinstance(lr, Tensor):
        if lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr.device.type != "cpu" or lr.requires_grad:
            return
        lr = lr.item()
    if not is_number(lr) or not lr >= 0 or math.isinf(lr):
        raise ValueError(f"Invalid learning rate: {lr!r}, expected a finite number from 0 on")


def checked(group: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a group in full. Looks at everything that can be wrong with them: schedulers
    and users write to groups."""
    options = dict(group)
    check_lr(options["lr"])
    options["betas"] = _tuple_of(options["betas"])
    options["blocks"] = _blocks(options["blocks"])
    if isinstance(options["state_dtype"], torch.dtype):
        options["state_dtype"] = str(options["state_dtype"]).removeprefix("torch.")
    _check_choices(options)
    mode, defaults = options["mode"], NAMED[_named_id(options)]
    if options["eps"] is None and options["eps_root"] is None:
        options["eps"], options["eps_root"] = defaults["eps"], defaults["eps_root"]
    for name in ("eps", "eps_root"):
        options[name] = 0.0 if options[name] is None else options[name]
    options["start"] = options["start"] or defaults["start"]
    if len(options["betas"]) == 1 and mode in ("adam", "adams"):
        options["betas"] = (*options["betas"], NAMED[mode]["beta_v"])
    _check_numbers(options)
    _check_betas(options)
    _check_implementation(options)
    if options["adjust_lr_fn"] is not None and mode not in MATCHED:
        raise ValueError(
            f"Invalid adjust_lr_fn: {options['adjust_lr_fn']!r} was measured for the modes "
            f"{' and '.join(map(repr, MATCHED))} alone, not for {mode!r}: give lr itself"
        )
    return options


def checked_options(group: Mapping[str, Any]) -> dict[str, Any]:
    """Those alone, without parameters and what other people keep in a group."""
    return {name: value for name, value in checked(group).items() if name in GROUP_KEYS}


def _check_choices(options: Mapping[str, Any]) -> None:
    for name, values in CHOICES.items():
        allowed = (None, *values) if name == "start" else values
        value = options[name]
        if not any(value is one or (value == one and isinstance(one, str)) for one in allowed):
            raise ValueError(
                f"Invalid {name}: {value!r}, expected one of {', '.join(map(str, values))}"
            )
    for name, only in ONLY.items():
        if options[name] != only:
            raise ValueError(
                f"Invalid {name}: {options[name]!r}, expected {only!r}: this version keeps states "
                "in float32 and rounds to the nearest"
            )
    if options["simple"] and options["mode"] != "c":
        raise ValueError(
            f"Invalid simple: mode {options['mode']!r} has no simple form, only mode 'c' has"
        )


def _named_id(options: Mapping[str, Any]) -> str:
    """The named method whose defaults the options begin from."""
    name = "bcos_c_simple" if options["simple"] else MODES[options["mode"]]
    family = name.split("_")[0]
    with_w = name.replace(family, family + "w", 1)
    return with_w if options["decoupled"] and with_w in NAMED else name


def _blocks(blocks: Any) -> Any:
    """A word that names blocks, or lists of indices as tuples, which nobody can change."""
    if isinstance(blocks, str):
        kind, _, count = blocks.partition(":")
        heads = kind == "heads" and count.isdigit() and int(count) > 0
        if heads or blocks in ("coordinate", "tensor", "row", "column"):
            return blocks
    elif isinstance(blocks, Sequence):
        try:
            lists = tuple(tuple(index(i) for i in block) for block in blocks)
        except TypeError:
            lists = ((),)
        if all(lists):
            return lists
    raise ValueError(
        f"Invalid blocks: {blocks!r}, expected coordinate, tensor, row, column, heads:N or lists "
        "of indices, none of them empty"
    )


def _check_numbers(options: Mapping[str, Any]) -> None:
    for name, words in (("eps", "epsilon"), ("eps_root",) * 2, ("weight_decay",) * 2):
        value = options[name]
        if not is_number(value) or not value >= 0 or math.isinf(value):
            raise ValueError(f"Invalid {words} value: {value!r}, expected a number from 0 on")
    max_norm = options["max_norm"]
    if max_norm is not None and (not is_number(max_norm) or not max_norm > 0):
        raise ValueError(f"Invalid max_norm value: {max_norm!r}, expected more than 0 or None")
    lr, decay = options["lr"], options["weight_decay"]
    if options["decoupled"] and decay and not isinstance(lr, Tensor) and lr * decay > 1:
        warn(f"lr * weight_decay is {lr * decay:.3g}, more than 1: decay overshoots 0")


def _check_betas(options: Mapping[str, Any]) -> None:
    betas, mode, simple = options["betas"], options["mode"], options["simple"]
    for i, beta in enumerate(betas):
        value = float(beta) if hasattr(beta, "item") else beta
        if not is_number(value) or not 0 <= value < 1:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta!r}")
    if len(betas) == 2 and mode in ("sgd", "sgd_momentum", "sign_sgd", "sign_momentum"):
        raise ValueError(f"Invalid betas: {betas!r}, mode {mode!r} has no second beta")
    beta_v = float(betas[-1])
    if (mode == "adams" or (simple and len(betas) == 2)) and not beta_v > 0:
        raise ValueError(f"Invalid beta parameter at index 1: {beta_v!r}, expected more than 0")
    if mode == "adam" and options["eps"] == 0 and options["eps_root"] == 0:
        if float(betas[0]) ** 2 >= beta_v:
            raise ValueError("Invalid epsilon value: 0 needs beta**2 < beta_v in mode 'adam'")


def _check_implementation(options: Mapping[str, Any]) -> None:
    if options["fused"] and options["foreach"]:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if options["differentiable"] and (options["fused"] or options["foreach"]):
        name = "fused" if options["fused"] else "foreach"
        raise RuntimeError(f"`{name}` does not support `differentiable`")


def check_beta_is_read(mode: str, betas: Sequence[Any]) -> None:
    """Raises if a beta was chosen for a mode that has no momentum."""
    if mode in ("sgd", "sign_sgd") and float(betas[0]) != BETA:
        raise ValueError(f"Invalid beta: mode {mode!r} has no momentum and does not read it")


def has_unused_beta(group: Mapping[str, Any]) -> bool:
    return len(group["betas"]) == 2 and group["mode"] == "c" and not group["simple"]


def method_of(group: Mapping[str, Any]) -> Method:
    """The method that the options of a group, in full, mean now."""
    mode = NAMED[MODES[group["mode"]]]
    estimator = mode["estimator"]
    if group["simple"]:
        estimator = "cond_simple" if len(group["betas"]) == 1 else "cond_free"
    betas = [float(beta) for beta in group["betas"]]
    lambda_ = float(group["weight_decay"])
    if group["decoupled"]:
        # The decay is that of lr itself: alpha lambda_ = lr weight_decay.
        lambda_ /= _lr_factor(group)
    return Method(
        direction=mode["direction"],
        estimator=estimator,
        decay="decoupled" if group["decoupled"] else "coupled",
        start=group["start"],
        coupled_start=group["coupled_start"],
        blocks=group["blocks"],
        block_gain=group["block_gain"],
        beta=betas[0],
        beta_v=betas[0] if has_unused_beta(group) else betas[-1],
        eps=float(group["eps"]),
        eps_root=float(group["eps_root"]),
        lambda_=lambda_,
    )


def _lr_factor(group: Mapping[str, Any]) -> float:
    return 1.0 if group["adjust_lr_fn"] is None else MATCHED[group["mode"]]


def alpha_of(group: Mapping[str, Any]) -> Any:
    """The learning rate of the method: a number, or a tensor as lr is."""
    factor = _lr_factor(group)
    return group["lr"] if factor == 1 else group["lr"] * factor


def options_of(name: str) -> dict[str, Any]:
    """The options of BCOS that make a named method."""
    if not isinstance(name, str):
        raise TypeError(
            f"optimizer() takes the name of a method first, received {type(name).__name__}: "
            "optimizer('bcosw_c', params)"
        )
    plain = name.removesuffix("@paper")
    paper = plain != name
    entry = NAMED.get(plain)
    if entry is None or (paper and not (plain.startswith("bcos") or plain in ("adam", "adamw"))):
        known = ", ".join(NAMED)
        raise ValueError(f"Invalid method: {name!r}, expected one of {known} (perhaps with @paper)")
    without_w = plain.replace("w", "", 1) if entry["decay"] == "decoupled" else plain
    simple = without_w == "bcos_c_simple"
    mode = "c" if simple else next(m for m, base in MODES.items() if base == without_w)
    options: dict[str, Any] = {
        "mode": mode,
        "simple": simple,
        "weight_decay": entry["lambda"],
        "decoupled": entry["decay"] == "decoupled",
    }
    if mode in ("adam", "adams"):
        options["betas"] = (entry["beta"], entry["beta_v"])
    if paper and plain.startswith("bcos"):
        options["start"] = "first"
    elif paper:
        options.update(betas=(entry["beta"], 0.99), weight_decay=0.1)
    return options

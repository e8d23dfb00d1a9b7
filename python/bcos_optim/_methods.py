"""A method as a value, and how the options of a parameter group name one."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from operator import index
from typing import Any

PAPER = "@paper"

#: What ``mode`` may be, and the named method whose numbers are its defaults. A W is added for
#: decoupled decay.
MODES = {
    "c": "bcos_c",
    "m": "bcos_m",
    "g": "bcos_g",
    "adams": "adams",
    "adam": "adam",
    "sgd": "sgd",
    "sgd_momentum": "sgd_momentum",
    "sign_sgd": "sign_sgd",
    "sign_momentum": "sign_momentum",
}
#: The authors' names.
ALIASES = {"beta2": "beta_v", "decouple_wd": "decoupled", "simple_cond": "simple"}
ALIASES |= {"wd": "weight_decay"}
STARTS = ("first", "zero_corrected", "zero")
GAINS = ("one", "sqrt")


@dataclass(frozen=True)
class Method:
    """The axes and numbers of a method; docs/methods.md has the formulas."""

    direction: str
    estimator: str
    decay: str
    start: str
    coupled_start: str
    blocks: Any
    block_gain: str
    beta: float
    beta_v: float
    eps: float
    eps_root: float
    lambda_: float
    rule: str = "sqrt"
    c: float = 1.0

    def text(self) -> str:
        """The form that the engine, files and the command line read."""
        fields = asdict(self)
        fields["lambda"] = fields.pop("lambda_")
        return json.dumps(fields)

    @property
    def momentum(self) -> bool:
        return self.direction == "momentum"

    @property
    def keeps_v(self) -> bool:
        return self.estimator in ("ema_d", "ema_g")


#: The engine's table of named methods.
NAMED: dict[str, dict[str, Any]] = {
    entry["id"]: entry
    for entry in json.loads(resources.files(__package__).joinpath("methods.json").read_text())
}


def named_id(mode: str, simple: bool, decoupled: bool) -> str:
    """The named method whose defaults a group's options begin from."""
    name = MODES[mode]
    if mode == "c" and simple:
        name = "bcos_c_simple"
    family = name.split("_")[0]
    decoupled_name = name.replace(family, family + "w", 1)
    return decoupled_name if decoupled and decoupled_name in NAMED else name


def options_of(name: str) -> dict[str, Any]:
    """The options of BCOS that make a named method."""
    plain = name.removesuffix(PAPER)
    paper = plain != name
    entry = NAMED.get(plain)
    if entry is None or (paper and not (plain.startswith("bcos") or plain in ("adam", "adamw"))):
        known = ", ".join(NAMED)
        raise ValueError(f"Invalid method: {name!r}, expected one of {known} (perhaps with @paper)")
    undecayed = plain.replace("w", "", 1) if entry["decay"] == "decoupled" else plain
    simple = undecayed == "bcos_c_simple"
    mode = "c" if simple else next(m for m, base in MODES.items() if base == undecayed)
    options: dict[str, Any] = {
        "mode": mode,
        "simple": simple,
        "weight_decay": entry["lambda"],
        "decoupled": entry["decay"] == "decoupled",
    }
    if mode in ("adam", "adams"):
        options["beta_v"] = entry["beta_v"]
    if paper and plain.startswith("bcos"):
        options["start"] = "first"
    elif paper:
        options.update(beta_v=0.99, weight_decay=0.1)
    return options


def translated(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options under torch's names; the authors' are understood."""
    result: dict[str, Any] = {}
    for name, value in options.items():
        ours = ALIASES.get(name, name)
        if ours in result or (ours != name and ours in options):
            raise ValueError(f"Invalid options: {name} and {ours} are two names of one option")
        result[ours] = value
    return result


def is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def betas_of(beta: Any, beta_v: Any) -> tuple[Any, ...]:
    return (beta,) if beta_v is None else (beta, beta_v)


def normalise_group(group: dict[str, Any]) -> None:
    """Fills in what a group leaves to its method's defaults, and checks it."""
    mode = group["mode"]
    if not isinstance(mode, str) or mode not in MODES:
        raise ValueError(f"Invalid mode: {mode!r}, expected one of {', '.join(MODES)}")
    for name in ("simple", "decoupled", "maximize", "capturable", "differentiable"):
        if not isinstance(group[name], bool):
            raise ValueError(f"Invalid {name}: {group[name]!r}, expected True or False")
    if group["simple"] and mode != "c":
        raise ValueError(f"Invalid simple: mode {mode!r} has no simple form, only mode 'c' has")
    if not isinstance(group["blocks"], str) and isinstance(group["blocks"], Sequence):
        group["blocks"] = _index_lists(group["blocks"])
    defaults = NAMED[named_id(mode, group["simple"], group["decoupled"])]
    if group["eps"] is None and group["eps_root"] is None:
        group["eps"], group["eps_root"] = defaults["eps"], defaults["eps_root"]
    group["eps"] = 0.0 if group["eps"] is None else group["eps"]
    group["eps_root"] = 0.0 if group["eps_root"] is None else group["eps_root"]
    group["start"] = defaults["start"] if group["start"] is None else group["start"]
    _check_numbers(group)
    _check_betas(group, mode)
    _check_choices(group)


def _index_lists(blocks: Sequence[Any]) -> list[list[int]]:
    try:
        lists = [[index(i) for i in block] for block in blocks]
    except TypeError:
        lists = [[]]
    if not all(lists):
        raise ValueError(f"Invalid blocks: {blocks!r}, expected lists of indices, none empty")
    return lists


def _check_numbers(group: Mapping[str, Any]) -> None:
    bounds = {"eps": "epsilon value", "eps_root": "eps_root value"}
    bounds |= {"weight_decay": "weight_decay value"}
    for name, words in bounds.items():
        value = group[name]
        if not is_number(value) or not value >= 0 or math.isinf(value):
            raise ValueError(f"Invalid {words}: {value!r}")
    max_norm = group["max_norm"]
    if max_norm is not None and (not is_number(max_norm) or not max_norm > 0):
        raise ValueError(f"Invalid max_norm value: {max_norm!r}, expected more than 0 or None")


def _check_betas(group: dict[str, Any], mode: str) -> None:
    betas = group["betas"]
    if not isinstance(betas, Sequence) or len(betas) not in (1, 2):
        raise ValueError(f"Invalid betas: {betas!r}, expected (beta,) or (beta, beta_v)")
    for i, beta in enumerate(betas):
        value = float(beta) if hasattr(beta, "item") else beta
        if not is_number(value) or not 0 <= value < 1:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta!r}")
    given = len(betas) == 2
    if mode == "c" and not group["simple"] and given:
        raise ValueError(
            f"Invalid beta_v: {betas[1]!r}, the full estimator of mode 'c' has no second beta; "
            "simple=True makes it AdamS's estimator"
        )
    if given and mode in ("sgd", "sgd_momentum", "sign_sgd", "sign_momentum"):
        raise ValueError(f"Invalid beta_v: {betas[1]!r}, mode {mode!r} has no second beta")
    if not given and mode in ("adam", "adams"):
        group["betas"] = (betas[0], NAMED[mode]["beta_v"])
    beta_v = float(group["betas"][-1])
    if (mode == "adams" or (mode == "c" and group["simple"] and given)) and not beta_v > 0:
        raise ValueError(f"Invalid beta parameter at index 1: {beta_v!r}, expected more than 0")
    if mode == "adam" and group["eps"] == 0 and group["eps_root"] == 0:
        if float(group["betas"][0]) ** 2 >= beta_v:
            raise ValueError("Invalid epsilon value: 0 needs beta**2 < beta_v in mode 'adam'")


def _check_choices(group: Mapping[str, Any]) -> None:
    choices = {"start": STARTS, "block_gain": GAINS, "guard": ("propagate", "skip", "raise")}
    choices["coupled_start"] = ("with_decay", "raw")
    for name, values in choices.items():
        if group[name] not in values:
            raise ValueError(
                f"Invalid {name}: {group[name]!r}, expected one of {', '.join(values)}"
            )
    blocks = group["blocks"]
    if isinstance(blocks, str):
        kind, _, count = blocks.partition(":")
        ok = blocks in ("coordinate", "tensor", "row", "column")
        ok = ok or (kind == "heads" and count.isdigit() and int(count) > 0)
    else:
        ok = isinstance(blocks, Sequence)
    if not ok:
        raise ValueError(
            f"Invalid blocks: {blocks!r}, expected coordinate, tensor, row, column, heads:N or "
            "lists of indices"
        )


def estimator_of(group: Mapping[str, Any]) -> tuple[str, str]:
    """Direction and estimator of a group's mode."""
    if group["mode"] == "c" and group["simple"]:
        return "momentum", "cond_simple" if len(group["betas"]) == 1 else "cond_free"
    entry = NAMED[MODES[group["mode"]]]
    return entry["direction"], entry["estimator"]


def method_of(group: Mapping[str, Any]) -> Method:
    """The method that a group's options mean now: schedulers may have changed its numbers."""
    direction, estimator = estimator_of(group)
    betas = [float(beta) for beta in group["betas"]]
    return Method(
        direction=direction,
        estimator=estimator,
        decay="decoupled" if group["decoupled"] else "coupled",
        start=group["start"],
        coupled_start=group["coupled_start"],
        blocks=group["blocks"],
        block_gain=group["block_gain"],
        beta=betas[0],
        beta_v=betas[-1],
        eps=float(group["eps"]),
        eps_root=float(group["eps_root"]),
        lambda_=float(group["weight_decay"]),
    )

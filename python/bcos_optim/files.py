"""Optimizer files, which C++ and C programs write and read too (docs/formats.md), and the ways into
BCOS from a model and from another optimizer."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import closing
from ctypes import byref, c_char_p, c_uint64, c_void_p
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from .loading import bare_names
from .native import Layouts, check, library
from .numbers import Method
from .optimizer import BCOS
from .options import GROUP_KEYS, MATCH_RMS_ADAMW, checked, method_of, spelled
from .state import WORKING, check_state, is_dtensor, make_state

#: Where wrappers keep the optimizer that they wrap.
WRAPPED = ("optimizer", "base_optimizer", "_base_optimizer", "base")

Path = str | os.PathLike[str]


def save(optimizer: BCOS, path: Path, model: nn.Module | None = None) -> None:
    """Writes the state of all parameters, by name, to one safetensors file, which is complete or
    not there.

    Args:
        optimizer (BCOS): or what a framework has wrapped one in.
        path (str or PathLike): the file.
        model (nn.Module, optional): has the names, for an optimizer that was made from
            ``model.parameters()`` (default: the optimizer's own names).
    """
    with closing(_Mirror(optimizer, model)) as mirror:
        for entry in mirror.entries:
            state = mirror.optimizer.state.get(entry.param, {})
            for name, memory in entry.memory().items():
                if name in state:
                    memory.copy_(state[name].reshape(memory.shape))
            entry.set_steps(int(state.get("step", 0)))
        mirror.call("bcos_optimizer_save", os.fsencode(path))


def load(optimizer: BCOS, path: Path, model: nn.Module | None = None) -> None:
    """Loads an optimizer file that ``save`` or a C or C++ program wrote. Names, shapes and methods
    must agree, else nothing is changed; numbers (betas, eps, weight_decay) stay those of the
    optimizer's groups. ``load_momentum`` reads files of other methods. Arguments are those of
    ``save``."""
    _read(optimizer, path, model, "bcos_optimizer_load_state")


def load_momentum(optimizer: BCOS, path: Path, model: nn.Module | None = None) -> None:
    """Takes over the momentum of a file that an optimizer with another method wrote. Arguments are
    those of ``save``."""
    _read(optimizer, path, model, "bcos_optimizer_convert")


def _read(optimizer: BCOS, path: Path, model: nn.Module | None, function: str) -> None:
    with closing(_Mirror(optimizer, model)) as mirror:
        try:
            mirror.call(function, os.fsencode(path))
        except ValueError as error:
            # The engine names its own function.
            ours = str(error).replace("convert()", "bcos_optim.load_momentum()")
            raise ValueError(ours) from None
        for entry in mirror.entries:
            state = mirror.optimizer.state
            if entry.steps() == 0 and not state.get(entry.param):
                continue  # never stepped, here or there
            fresh: dict[str, Any] = {}
            on_device = entry.group["capturable"]
            make_state(fresh, entry.param, entry.method, count_on_device=on_device)
            for name, memory in entry.memory().items():
                fresh[name].copy_(memory.reshape(fresh[name].shape))
            fresh["step"].fill_(entry.steps())
            state[entry.param] = {**state.get(entry.param, {}), **fresh}


class _Entry:
    """A parameter in the engine's optimizer."""

    def __init__(
        self, mirror: _Mirror, param: Tensor, group: dict[str, Any], method: Method, id_: int
    ) -> None:
        self._mirror = mirror
        self._id = id_
        self.param = param
        self.group = group
        self.method = method

    def memory(self) -> dict[str, Tensor]:
        """The engine's states as tensors."""
        result = {}
        for name in ("m", "v"):
            data, elements = c_void_p(), c_uint64()
            self._mirror.call(
                "bcos_optimizer_state", self._id, name.encode(), byref(data), byref(elements)
            )
            if data.value is None:
                continue
            dtype = WORKING[self.param.dtype]
            kind = ctypes.c_float if dtype == torch.float32 else ctypes.c_double
            array = (kind * max(elements.value, 1)).from_address(data.value)
            result[name] = torch.frombuffer(array, dtype=dtype)[: elements.value]
            if name == "m" or self.method.blocks == "coordinate":
                result[name] = result[name].reshape(self.param.shape)
        return result

    def steps(self) -> int:
        steps = c_uint64()
        self._mirror.call("bcos_optimizer_steps", self._id, byref(steps))
        return steps.value

    def set_steps(self, steps: int) -> None:
        self._mirror.call("bcos_optimizer_set_steps", self._id, c_uint64(steps))


class _Mirror:
    """An optimizer of the engine with the same names, shapes and methods. It is never stepped, so
    that memory for its parameters is asked for and not touched."""

    def __init__(self, optimizer: Any, model: nn.Module | None) -> None:
        self.optimizer = _unwrapped(optimizer)
        lib = library()
        if lib is None:
            raise RuntimeError("optimizer files need the native library, which is missing")
        self._lib = lib
        self._handle = c_void_p()
        self._keep: list[object] = []
        self.entries: list[_Entry] = []
        try:
            self._fill(_names_in(self.optimizer, model))
        except BaseException:
            self.close()
            raise

    def _fill(self, names: list[list[str]]) -> None:
        groups = self.optimizer.param_groups
        methods = [method_of(checked(group)) for group in groups]
        texts = [method.text().encode() for method in methods]
        create = self._lib.bcos_optimizer_create
        check(self._lib, create(c_char_p(texts[0]), None, byref(self._handle)))
        for k, group in enumerate(groups):
            index = c_uint64(0)
            if k > 0:
                self.call("bcos_optimizer_add_group", c_char_p(texts[k]), byref(index))
            for name, p in zip(names[k], group["params"], strict=True):
                if p.is_complex() or is_dtensor(p):
                    raise ValueError(f"parameter {name}: files hold dense real tensors only")
                state = self.optimizer.state.get(p, {})
                if "step" in state:
                    check_state(state, p, methods[k], lambda _, name=name: name)
                layouts = Layouts()
                place = torch.empty(p.shape, dtype=WORKING[p.dtype], device="cpu")
                view = (ctypes.c_int64 * 5)(*layouts.tensor(place))
                self._keep += [layouts, place]
                id_ = c_uint64()
                self.call("bcos_optimizer_add", name.encode(), byref(view), index, byref(id_))
                self.entries.append(_Entry(self, p, group, methods[k], id_.value))

    def call(self, function: str, *arguments: Any) -> None:
        given = [c_uint64(a) if isinstance(a, int) else a for a in arguments]
        check(self._lib, getattr(self._lib, function)(self._handle, *given))

    def close(self) -> None:
        self._lib.bcos_optimizer_destroy(self._handle)
        self._handle = c_void_p()


def _unwrapped(optimizer: Any) -> BCOS:
    inner = optimizer
    while inner is not None and getattr(type(inner), "step", None) is not BCOS.step:
        own = getattr(inner, "__dict__", {})
        inner = next((own[name] for name in WRAPPED if name in own), None)
    if inner is not None or isinstance(optimizer, BCOS):
        return optimizer if inner is None else inner
    raise TypeError(
        f"optimizer files hold the state of BCOS, received {type(optimizer).__name__}; "
        "bcos_optim.convert() makes a BCOS of a running optimizer"
    )


def _names_in(optimizer: BCOS, model: nn.Module | None) -> list[list[str]]:
    """The names of the parameters of each group, without those of wrappers."""
    lists = [group.get("param_names") or [] for group in optimizer.param_groups]
    if model is not None:
        known = {id(p): name for name, p in model.named_parameters()}
        params = [group["params"] for group in optimizer.param_groups]
        strangers = sum(id(p) not in known for some in params for p in some)
        if strangers:
            raise ValueError(
                f"{strangers} parameters of the optimizer are not in the model: give the model "
                "that the optimizer was made from"
            )
        lists = [[known[id(p)] for p in some] for some in params]
    elif any(
        len(n) != len(g["params"]) for n, g in zip(lists, optimizer.param_groups, strict=True)
    ):
        raise ValueError(
            "optimizer files are by name: give model=, or make the optimizer from "
            "model.named_parameters()"
        )
    names: Iterator[str] = iter(bare_names([name for some in lists for name in some]))
    return [[next(names) for _ in some] for some in lists]


#: What other optimizers call their momentum.
MOMENTA = ("exp_avg", "momentum_buffer", "m")


def convert(optimizer: Optimizer, lr: float | None = None, **options: Any) -> BCOS:
    """A BCOS (mode c) that goes on where ``optimizer`` is, with its momentum.

    For torch's AdamW, Adam, NAdam, RAdam, Muon, SGD with momentum, optimizers like Lion, and other
    modes of BCOS. Groups, their weight decay, their first beta and what schedulers and frameworks
    have put into them are kept. The old optimizer is left as it is. Schedulers hold the optimizer
    that they were made with: make them again.

    Args:
        optimizer (torch.optim.Optimizer): the running optimizer.
        lr (float, optional): learning rate. Default for the Adam family: theirs, under
            ``adjust_lr_fn="match_rms_adamw"``; to be given for all others, whose steps are not
            comparable.
        options: those of :class:`BCOS`; they win over what the old groups say.

    Example::

        optimizer = bcos_optim.convert(optimizer)
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"expected a torch.optim.Optimizer, received {type(optimizer).__name__}")
    if lr is None and not _is_adam(optimizer):
        raise ValueError(
            f"lr must be given: steps of {type(optimizer).__name__} are not comparable to those of "
            "BCOS (for Adam and AdamW it would be a quarter of theirs)"
        )
    given = spelled(options, {"betas": (), "mode": "c", "simple": False})
    groups = [_converted_group(optimizer, group, lr, given) for group in optimizer.param_groups]
    result = BCOS(groups, **({} if lr is None else {"lr": lr}), **given)
    if any(group["mode"] != "c" for group in result.param_groups):
        raise ValueError("only mode 'c' keeps momentum and nothing else")
    for old, new in zip(optimizer.param_groups, result.param_groups, strict=True):
        for p in old["params"]:
            momentum = _momentum_of(optimizer, old, p)
            if momentum is None:
                continue
            steps = max(1, int(optimizer.state[p].get("step", 1)))
            state = result.state[p]
            make_state(state, p, method_of(new), count_on_device=new["capturable"])
            if new["start"] == "zero_corrected":
                # BCOS keeps corrected averages, Adam corrects them when it uses them.
                momentum = momentum / (1 - float(new["betas"][0]) ** steps)
            state["m"].copy_(momentum)
            state["step"].fill_(steps)
    return result


def _is_adam(optimizer: Optimizer) -> bool:
    family = (torch.optim.Adam, torch.optim.AdamW, torch.optim.NAdam, torch.optim.RAdam)
    squares = any("exp_avg_sq" in state for state in optimizer.state.values())
    if isinstance(optimizer, BCOS):
        return all(group["mode"] == "adam" for group in optimizer.param_groups)
    return squares or isinstance(optimizer, family)


#: What another mode of BCOS leaves to mode c, besides what all optimizers leave.
KEPT_OF_BCOS = ("decoupled", "blocks", "block_gain", "foreach", "fused", "capturable")
KEPT_OF_BCOS += ("max_norm", "guard")


def _converted_group(
    optimizer: Optimizer, group: dict[str, Any], lr: float | None, given: dict[str, Any]
) -> dict[str, Any]:
    names = group.get("param_names")
    params = list(zip(names, group["params"], strict=True)) if names else list(group["params"])
    own = {*optimizer.defaults, *GROUP_KEYS, "params", "param_names"}
    new = {name: value for name, value in group.items() if name not in own}
    new["lr"] = group["lr"] if lr is None else lr
    if lr is None:
        new["adjust_lr_fn"] = MATCH_RMS_ADAMW
    if "weight_decay" in group:
        new["weight_decay"] = group["weight_decay"]
        new["decoupled"] = _is_decoupled(optimizer, group)
    beta = group["betas"][0] if "betas" in group else group.get("momentum") or None
    if beta is not None:
        new["betas"] = (float(beta),)
    if isinstance(optimizer, BCOS):
        new.update({name: group[name] for name in KEPT_OF_BCOS})
    new["maximize"] = bool(group.get("maximize", False))
    return {**{name: value for name, value in new.items() if name not in given}, "params": params}


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


NORMS = (nn.LayerNorm, nn.RMSNorm, nn.GroupNorm, nn.LocalResponseNorm, nn.SyncBatchNorm)
NORMS += (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
NORMS += (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)


def param_groups(
    model: nn.Module, weight_decay: float = 0.1, *, decay_embeddings: bool = True
) -> list[dict[str, Any]]:
    """Two groups with named parameters: matrices, which decay, and the rest, which do not.

    Not decayed: biases and everything else with fewer than two dimensions, all parameters of
    normalisation layers, and embeddings if ``decay_embeddings=False``. Frozen parameters are left
    out; a parameter used twice (tied weights) is in one group, once.

    Args:
        model (nn.Module): whose parameters are grouped.
        weight_decay (float): of the matrices (default: 0.1).
        decay_embeddings (bool): whether embeddings decay (default: True).

    Example::

        optimizer = bcos_optim.BCOS(bcos_optim.param_groups(model, 0.1), lr=5e-4)
    """
    spared: set[int] = set()
    for module in model.modules():
        embedding = isinstance(module, (nn.Embedding, nn.EmbeddingBag)) and not decay_embeddings
        if isinstance(module, NORMS) or embedding:
            spared |= {id(p) for p in module.parameters(recurse=False)}
    decayed: list[tuple[str, nn.Parameter]] = []
    plain: list[tuple[str, nn.Parameter]] = []
    for name, p in model.named_parameters():
        if p.requires_grad:
            (decayed if p.dim() >= 2 and id(p) not in spared else plain).append((name, p))
    groups = [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": plain, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]

"""Optimizer files: the ones that C++ and C programs write and read (docs/formats.md)."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_char_p, c_uint64, c_void_p
from typing import Any

import torch
from torch import Tensor

from . import _native
from ._methods import method_of
from ._optimizer import BCOS
from ._tensors import is_dtensor, plain, state_copy, working_dtype


def save(optimizer: BCOS, path: str | os.PathLike[str]) -> None:
    """Writes the state of all parameters, by name, to one safetensors file.

    The file is complete or not there. Make the optimizer from ``model.named_parameters()``.
    """
    with _Mirror(optimizer) as mirror:
        for entry in mirror.entries:
            state = optimizer.state.get(entry.param, {})
            for name, memory in entry.memory().items():
                if name in state:
                    memory.copy_(state[name].reshape(memory.shape))
            entry.set_steps(int(state.get("step", 0)))
        mirror.call("bcos_optimizer_save", os.fsencode(path))


def load(optimizer: BCOS, path: str | os.PathLike[str]) -> None:
    """Reads such a file. Names, shapes and methods must agree, else nothing is changed; numbers
    (betas, eps, weight_decay) stay those of the optimizer's groups. ``load_momentum`` reads files
    of other methods."""
    _read(optimizer, path, "bcos_optimizer_load_state")


def load_momentum(optimizer: BCOS, path: str | os.PathLike[str]) -> None:
    """Takes over the momentum of a file that an optimizer with another method wrote."""
    _read(optimizer, path, "bcos_optimizer_convert")


def _read(optimizer: BCOS, path: str | os.PathLike[str], function: str) -> None:
    with _Mirror(optimizer) as mirror:
        try:
            mirror.call(function, os.fsencode(path))
        except ValueError as error:
            # The engine names its own function.
            ours = str(error).replace("convert()", "bcos_optim.load_momentum()")
            raise ValueError(ours) from None
        for entry in mirror.entries:
            if entry.steps() == 0 and not optimizer.state.get(entry.param):
                continue  # never stepped, here or there
            state = optimizer._state_of(entry.param, entry.group)
            for name, memory in entry.memory().items():
                state[name] = state_copy(memory, name).reshape(state[name].shape)
                state[name] = state[name].to(entry.param.device)
            state["step"] = torch.full_like(state["step"], entry.steps())
    optimizer._engine_steps.clear()


class _Entry:
    """A parameter in the engine's optimizer."""

    def __init__(self, mirror: _Mirror, param: Tensor, group: dict[str, Any], id_: int) -> None:
        self._mirror = mirror
        self._id = id_
        self.param = param
        self.group = group

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
            dtype = working_dtype(self.param.dtype)
            kind = ctypes.c_float if dtype == torch.float32 else ctypes.c_double
            array = (kind * elements.value).from_address(data.value)
            result[name] = (
                torch.frombuffer(array, dtype=dtype)
                if elements.value
                else torch.empty(0, dtype=dtype, device="cpu")
            )
            if name == "m" or self.group["blocks"] == "coordinate":
                result[name] = result[name].reshape(self.param.shape)
        return result

    def steps(self) -> int:
        steps = c_uint64()
        self._mirror.call("bcos_optimizer_steps", self._id, byref(steps))
        return steps.value

    def set_steps(self, steps: int) -> None:
        self._mirror.call("bcos_optimizer_set_steps", self._id, c_uint64(steps))


class _Mirror:
    """An optimizer of the engine with the same names, shapes and methods."""

    def __init__(self, optimizer: BCOS) -> None:
        if not isinstance(optimizer, BCOS):
            raise TypeError(
                f"optimizer files hold the state of BCOS, received {type(optimizer).__name__}; "
                "bcos_optim.convert() makes a BCOS of a running optimizer"
            )
        lib = _native.library()
        if lib is None:
            raise RuntimeError("optimizer files need the native library, which is missing")
        self._lib = lib
        self._handle = c_void_p()
        self._keep: list[object] = []
        self.entries: list[_Entry] = []
        try:
            self._fill(optimizer)
        except BaseException:
            self.close()
            raise

    def _fill(self, optimizer: BCOS) -> None:
        texts = [method_of(group).text().encode() for group in optimizer.param_groups]
        code = self._lib.bcos_optimizer_create(c_char_p(texts[0]), None, byref(self._handle))
        _native.check(self._lib, code)
        for k, group in enumerate(optimizer.param_groups):
            index = c_uint64(0)
            if k > 0:
                self.call("bcos_optimizer_add_group", c_char_p(texts[k]), byref(index))
            if not group.get("param_names"):
                raise ValueError(
                    "optimizer files are by name: make the optimizer from model.named_parameters()"
                )
            for name, p in zip(group["param_names"], group["params"], strict=True):
                if p.is_complex() or is_dtensor(p):
                    raise ValueError(f"parameter {name}: files hold dense real tensors only")
                place = torch.zeros(p.shape, dtype=working_dtype(p.dtype), device="cpu")
                self._keep.append(place)
                id_ = c_uint64()
                view = _native.tensor_view(plain(place), self._keep)
                self.call("bcos_optimizer_add", name.encode(), byref(view), index, byref(id_))
                self.entries.append(_Entry(self, p, group, id_.value))

    def call(self, function: str, *arguments: Any) -> None:
        given = [c_uint64(a) if isinstance(a, int) else a for a in arguments]
        _native.check(self._lib, getattr(self._lib, function)(self._handle, *given))

    def close(self) -> None:
        self._lib.bcos_optimizer_destroy(self._handle)
        self._handle = c_void_p()

    def __enter__(self) -> _Mirror:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

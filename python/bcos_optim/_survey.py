"""Looks at all tensors of a step in one pass, if torch is built as expected."""

from __future__ import annotations

import ctypes
import struct
from ctypes import POINTER, byref, c_ssize_t, c_uint32, c_void_p, py_object
from dataclasses import dataclass
from functools import cache
from typing import BinaryIO

import torch
from torch import Tensor

from ._same import helper

_WORDS = 3
_DATA_WORD = 0
#: Writes are counted this many tensors at a time, while they are at hand.
_CHUNK = 64


class _TorchFunctions(ctypes.Structure):
    """Of torch's stable C interface."""

    _fields_ = [(name, c_void_p) for name in ("data", "elements", "type", "device", "dense")]


_NAMES = ("get_data_ptr", "get_numel", "get_dtype", "get_device_type", "is_contiguous")


class _Parts(ctypes.Structure):
    """At which word of a tensor's parts the address of the next one is."""

    _fields_ = [
        (name, c_uint32) for name in ("tensor", "storage", "meta", "version", "object", "gradient")
    ]


@cache
def _reader() -> tuple[ctypes.PyDLL, _TorchFunctions, _Parts] | None:
    """The library's pass and what it reads tensors with; None where something is missing."""
    lib, parts = helper(), _parts()
    if lib is None or parts is None:
        return None
    try:
        seen = [c_void_p, c_ssize_t, c_ssize_t]
        asked = [py_object] * 5
        through = [POINTER(_TorchFunctions), POINTER(_Parts)]
        lib.bcos_survey.argtypes = [*seen, *asked, *through, c_void_p, POINTER(c_ssize_t)]
        lib.bcos_survey.restype = py_object
        torch_lib = ctypes.CDLL(torch._C.__file__)
        found = [getattr(torch_lib, f"aoti_torch_{name}") for name in _NAMES]
    except (AttributeError, OSError):
        return None
    return lib, _TorchFunctions(*(ctypes.cast(function, c_void_p) for function in found)), parts


def _words(memory: BinaryIO, address: int, count: int = 8) -> tuple[int, ...]:
    """Read as from a file: an address that is none raises and does not crash."""
    memory.seek(address)
    return struct.unpack(f"={count}Q", memory.read(8 * count))


@cache
def _parts() -> _Parts | None:
    """How tensors are built, found in one tensor of the torch at hand; None if not as expected."""
    with torch.inference_mode(False):
        p = torch.nn.Parameter(torch.zeros(1, device="cpu"))
        p.grad = torch.zeros(1, device="cpu")
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            tensor = _words(memory, id(p), type(p).__basicsize__ // 8).index(p._cdata)
            words = _words(memory, p._cdata)
            storage = words.index(p.untyped_storage()._cdata)
            # Known neighbours, each proved by what is behind it.
            meta, version = storage + 1, storage + 3
            gradient = _words(memory, words[meta]).index(p.grad._cdata)
            before = _words(memory, words[version], 3)
            torch.autograd.graph.increment_version(p)
            after = _words(memory, words[version], 3)
            if sum(after) != sum(before) + 1:
                return None
            object_ = _words(memory, p.grad._cdata).index(id(p.grad))
    except (AttributeError, IndexError, OSError, OverflowError, ValueError, struct.error):
        return None
    return _Parts(tensor, storage, meta, version, object_, gradient)


@dataclass
class Survey:
    """What was seen. A place is address, size, device, type and density."""

    unmoved: bool  #: parameters and states have the places that they had at the first look
    gradients: list[Tensor | None]
    pointers: Tensor  #: the gradients' addresses, until the next look
    alike: bool  #: all gradients are there and lie like their parameters
    counted: int  #: of so many parameters, from the first on, autograd was told that they change


class Surveyor:
    """Looks at dense parameters and at their states, the same ones at every step."""

    def __init__(self, params: list[Tensor], states: list[list[Tensor]]) -> None:
        kept = [params, *states]
        every = [id(tensor) for some in kept for tensor in some]
        self._kept = kept
        self._objects = (c_void_p * len(every))(*every)
        self._chunks = [params[i : i + _CHUNK] for i in range(0, len(params), _CHUNK)]
        self._words = torch.zeros(
            len(kept) + 1, len(params), _WORDS, dtype=torch.int64, device="cpu"
        )
        self._filled = torch.tensor([p.numel() > 0 for p in params], device="cpu")
        self._first: Tensor | None = None

    def look(self, *, counting: bool) -> Survey | None:
        """``counting``: tells autograd that parameters with gradients change. None if something has
        no plain memory, or nobody can look."""
        reader = _reader()
        if reader is None or not self._chunks:
            return None
        lib, functions, parts = reader
        kinds, count = len(self._kept), len(self._kept[0])
        told = (count_writes, self._chunks if counting else [])
        counted = c_ssize_t(0)
        through = (byref(functions), byref(parts))
        out = (self._words.data_ptr(), byref(counted))
        try:
            gradients = lib.bcos_survey(
                self._objects, kinds, count, "grad", None, Tensor, *told, *through, *out
            )
        except Exception:  # whoever looks from Python will meet it again
            return None
        if gradients is None:
            return None
        seen, gradients_seen = self._words[:-1], self._words[-1]
        if self._first is None:
            self._first = seen.clone()
        alike = torch.equal(seen[0, :, _DATA_WORD + 1 :], gradients_seen[:, _DATA_WORD + 1 :])
        # A tensor around another one has no memory of its own.
        alike = alike and not bool(((gradients_seen[:, _DATA_WORD] == 0) & self._filled).any())
        unmoved = torch.equal(seen, self._first)
        return Survey(unmoved, gradients, gradients_seen[:, _DATA_WORD], alike, counted.value)


def count_writes(tensors: list[Tensor]) -> None:
    """Tells autograd, which counts writes."""
    try:
        torch.autograd.graph.increment_version(tensors)
    except (AttributeError, TypeError):  # before torch 2.6: one at a time
        for tensor in tensors:
            torch.autograd.graph.increment_version(tensor)

"""Looks at all tensors of a step in one pass of the library."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from ctypes import POINTER, Structure, byref, c_int32, c_int64, c_ssize_t, c_uint32, c_void_p
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from ._native import Call
from ._parts import Parts, parts
from ._same import helper

#: With so many parameters, asking torch where each of them is costs more than to step them.
MANY = 1_000


class _Tensors(Structure):
    _fields_ = [
        ("objects", c_void_p),
        ("kinds", c_ssize_t),
        ("count", c_ssize_t),
        ("places", c_void_p),
        ("item_bytes", c_void_p),
        ("addresses", c_void_p),
        ("addresses_apart", c_ssize_t),
        ("held", c_void_p),
    ]


#: 64-bit words of a place in the library.
_PLACE = 6


class _Survey(Structure):
    _fields_ = [("counted", c_int64), ("unmoved", c_int32), ("alike", c_int32)]


class View:
    """The library's functions for one way to look at tensors."""

    open: Callable[..., int]
    close: Callable[..., None]
    release: Callable[..., None]
    look: Callable[..., None]
    step: Callable[..., None]

    def __init__(
        self, lib: ctypes.PyDLL, name: str, way: Structure, kept: Any = None, *, holds: bool
    ) -> None:
        """``kept``: what the way points to; ``holds``: gradients have to be held in every step."""
        self._kept = kept
        self.holds = holds
        self.way = byref(way)
        given = [POINTER(_Tensors), POINTER(type(way))]
        for function, more in (
            ("open", []),
            ("close", []),
            ("release", []),
            ("look", [c_int32, c_int32, POINTER(_Survey)]),
            ("step", [c_int32, POINTER(_Survey), POINTER(Call)]),
        ):
            found = getattr(lib, f"bcos_{name}_{function}")
            found.argtypes = given + more
            found.restype = c_int32 if function == "open" else None
            setattr(self, function, found)


class _ExchangeInterface(Structure):
    """DLPack's, of version 1."""

    _fields_ = [("major", c_uint32), ("minor", c_uint32)]
    _fields_ += [
        (name, c_void_p) for name in ("older", "allocate", "export", "adopt", "show", "stream")
    ]


class _Exchange(Structure):
    _fields_ = [(name, c_void_p) for name in ("show", "tensor_type", "grad", "is_neg", "no")]


@cache
def exchange_view() -> View | None:
    """As torch shows tensors to other libraries; None where something is missing."""
    lib = helper()
    capsule = getattr(Tensor, "__dlpack_c_exchange_api__", None)
    if lib is None or capsule is None:
        return None
    # A function of our own: what ctypes.pythonapi has belongs to everybody.
    prototype = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, ctypes.c_char_p)
    try:
        pointer_of = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
        interface = _ExchangeInterface.from_address(pointer_of(capsule, b"dlpack_exchange_api"))
        if interface.major != 1 or not interface.show:
            return None
        objects = (Tensor, "grad", Tensor.is_neg, False)
        way = _Exchange(interface.show, *map(id, objects))
        return View(lib, "exchange", way, (objects, capsule), holds=True)
    except (AttributeError, ValueError):
        return None


class _Words(Structure):
    """Functions of torch's stable C interface, and how tensors are built."""

    _fields_ = [("make", c_void_p), ("assign", c_void_p), ("destroy", c_void_p), ("parts", Parts)]


_FUNCTIONS = ("new_uninitialized_tensor", "assign_tensors", "delete_tensor_object")


@cache
def words_view() -> View | None:
    """Tensors as they lie in torch's memory; None where they are not built as expected."""
    lib, found = helper(), parts()
    if lib is None or found is None:
        return None
    try:
        torch_lib = ctypes.CDLL(torch._C.__file__)
        functions = [getattr(torch_lib, f"aoti_torch_{name}") for name in _FUNCTIONS]
        way = _Words(*(ctypes.cast(one, c_void_p) for one in functions), found)
        return View(lib, "words", way, holds=False)
    except (AttributeError, OSError):
        return None


def view_of(count: int) -> View | None:
    """How so many parameters are looked at; None if one by one, from Python."""
    public = os.environ.get("BCOS_PUBLIC_API", "0") != "0"
    many = words_view() if count >= MANY and not public else None
    return many or exchange_view()


@dataclass
class Survey:
    """What was seen."""

    unmoved: bool  #: parameters and states are where they were at the first look
    alike: bool  #: all gradients are there and lie like their parameters
    counted: int  #: of so many parameters, from the first on, autograd was told that they change

    @classmethod
    def of(cls, seen: _Survey) -> Survey:
        return cls(bool(seen.unmoved), bool(seen.alike), seen.counted)


class Surveyor:
    """Looks at parameters and at their states, the same ones at every step: plain dense tensors, as
    they are when this is made."""

    def __init__(
        self,
        params: Sequence[Tensor],
        states: list[list[Tensor]],
        addresses: Tensor,
        *,
        hold: bool,
    ) -> None:
        """``addresses``: where those of the gradients go, 64-bit integers; ``hold``: gradients that
        are alike stay alive until they are released, whoever drops them. Without it they do so as
        long as nobody lets go of Python's lock."""
        self._kept = [params, *states]
        every = [id(tensor) for some in self._kept for tensor in some]
        count = len(params)
        self._objects = (c_void_p * len(every))(*every)
        self._places = (c_int64 * (_PLACE * len(every)))()
        self._item_bytes = (c_int64 * count)(*(p.element_size() for p in params))
        self._addresses = addresses  # kept alive
        self._view = view_of(count) if params else None
        hold = hold or (self._view is not None and self._view.holds)
        self._held = (c_void_p * (count + 1))() if hold else None
        self._tensors = _Tensors(
            ctypes.addressof(self._objects),
            len(self._kept),
            count,
            ctypes.addressof(self._places),
            ctypes.addressof(self._item_bytes),
            addresses.data_ptr(),
            addresses.stride(0),
            ctypes.addressof(self._held) if self._held else None,
        )
        self._first = True
        if self._view is not None and not self._view.open(byref(self._tensors), self._view.way):
            self._view.close(byref(self._tensors), self._view.way)
            self._view = None

    def look(self, *, counting: bool) -> Survey | None:
        """``counting``: tells autograd that parameters change, up to the first whose gradient is
        not alike. None if nobody can look."""
        if self._view is None:
            return None
        seen = _Survey()
        self._view.look(byref(self._tensors), self._view.way, self._first, counting, byref(seen))
        self._first = False
        return Survey.of(seen)

    def look_and_step(self, call: Call, *, counting: bool) -> Survey:
        """After a first look: makes the call too, if nothing has moved and all gradients are alike.
        None of them is held afterwards."""
        assert self._view is not None
        assert not self._first
        seen = _Survey()
        self._view.step(byref(self._tensors), self._view.way, counting, byref(seen), byref(call))
        return Survey.of(seen)

    def release(self) -> None:
        """Lets the gradients go."""
        if self._view is not None:
            self._view.release(byref(self._tensors), self._view.way)

    def __del__(self) -> None:
        view = getattr(self, "_view", None)
        if view is not None:
            view.close(byref(self._tensors), view.way)


def count_writes(tensors: list[Tensor]) -> None:
    """Tells autograd, which counts writes."""
    try:
        torch.autograd.graph.increment_version(tensors)
    except (AttributeError, TypeError):  # before torch 2.6: one at a time
        for tensor in tensors:
            torch.autograd.graph.increment_version(tensor)

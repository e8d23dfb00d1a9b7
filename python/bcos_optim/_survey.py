"""Looks at all tensors of a step in one pass, if torch is built as expected."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_int32, c_int64, c_ssize_t, c_void_p
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from ._native import Call
from ._parts import Parts, parts
from ._same import helper


class _TorchFunctions(Structure):
    """Of torch's stable C interface."""

    _fields_ = [(name, c_void_p) for name in ("make", "assign", "destroy")]


_FUNCTIONS = ("new_uninitialized_tensor", "assign_tensors", "delete_tensor_object")


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


@cache
def _reader() -> tuple[ctypes.PyDLL, _TorchFunctions, Parts] | None:
    """The library's pass and what it reads tensors with; None where something is missing, or where
    the environment asks for torch's public API alone."""
    if os.environ.get("BCOS_PUBLIC_API", "0") != "0":
        return None
    lib, found = helper(), parts()
    if lib is None or found is None:
        return None
    try:
        given = [POINTER(_Tensors), POINTER(_TorchFunctions)]
        for name in ("open", "close", "release"):
            getattr(lib, f"bcos_survey_{name}").argtypes = given
        for name in ("close", "release"):
            getattr(lib, f"bcos_survey_{name}").restype = None
        lib.bcos_survey.argtypes = [*given, POINTER(Parts), c_int32, c_int32, POINTER(_Survey)]
        lib.bcos_survey.restype = None
        lib.bcos_survey_step.argtypes = [
            *lib.bcos_survey.argtypes[:4],
            POINTER(_Survey),
            POINTER(Call),
        ]
        lib.bcos_survey_step.restype = None
        torch_lib = ctypes.CDLL(torch._C.__file__)
        functions = [getattr(torch_lib, f"aoti_torch_{name}") for name in _FUNCTIONS]
    except (AttributeError, OSError):
        return None
    return lib, _TorchFunctions(*(ctypes.cast(one, c_void_p) for one in functions)), found


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
        are alike stay alive until they are released, whoever drops them."""
        self._kept = [params, *states]
        every = [id(tensor) for some in self._kept for tensor in some]
        count = len(params)
        self._objects = (c_void_p * len(every))(*every)
        self._places = (c_int64 * (_PLACE * len(every)))()
        self._item_bytes = (c_int64 * count)(*(p.element_size() for p in params))
        self._addresses = addresses  # kept alive
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
        self._reader = _reader() if params else None
        if self._reader is not None:
            lib, functions, _ = self._reader
            given = (byref(self._tensors), byref(functions))
            if not lib.bcos_survey_open(*given):
                lib.bcos_survey_close(*given)
                self._reader = None

    def look(self, *, counting: bool) -> Survey | None:
        """``counting``: tells autograd that parameters change, up to the first whose gradient is
        not alike. None if nobody can look."""
        if self._reader is None:
            return None
        lib, functions, found = self._reader
        through = (byref(functions), byref(found))
        seen = _Survey()
        lib.bcos_survey(byref(self._tensors), *through, self._first, counting, byref(seen))
        self._first = False
        return Survey.of(seen)

    def look_and_step(self, call: Call, *, counting: bool) -> Survey:
        """After a first look: makes the call too, if nothing has moved and all gradients are alike.
        Other threads of Python wait."""
        assert self._reader is not None
        assert not self._first
        lib, functions, found = self._reader
        through = (byref(functions), byref(found))
        seen = _Survey()
        lib.bcos_survey_step(byref(self._tensors), *through, counting, byref(seen), byref(call))
        return Survey.of(seen)

    def release(self) -> None:
        """Lets the gradients go."""
        if self._reader is not None:
            lib, functions, _ = self._reader
            lib.bcos_survey_release(byref(self._tensors), byref(functions))

    def __del__(self) -> None:
        reader = getattr(self, "_reader", None)
        if reader is not None:
            lib, functions, _ = reader
            lib.bcos_survey_close(byref(self._tensors), byref(functions))


def count_writes(tensors: list[Tensor]) -> None:
    """Tells autograd, which counts writes."""
    try:
        torch.autograd.graph.increment_version(tensors)
    except (AttributeError, TypeError):  # before torch 2.6: one at a time
        for tensor in tensors:
            torch.autograd.graph.increment_version(tensor)

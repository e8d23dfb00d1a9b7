"""Where tensors lie, thousands in one pass if torch has DLPack's exchange table."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_uint32, c_void_p, py_object
from functools import cache

import torch
from torch import Tensor

from . import _native

_WORDS = 3
_DATA_WORD = 0
_DLPACK_MAJOR = 1


class _ExchangeTable(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("older", c_void_p),
        ("allocate", c_void_p),
        ("managed_tensor_of", c_void_p),
        ("object_of", c_void_p),
        ("tensor_of", c_void_p),
        ("stream", c_void_p),
    ]


@cache
def _reader() -> tuple[ctypes.PyDLL, int] | None:
    """The library's pass and torch's function for one tensor; None where one of them is missing."""
    path = _native.library_path()
    capsule = getattr(Tensor, "__dlpack_c_exchange_api__", None)
    if path is None or capsule is None:
        return None
    try:
        # PyDLL: the pass reads Python objects and must hold Python's lock.
        lib = ctypes.PyDLL(str(path.with_name("libbcos_places.so")))
        lib.bcos_places.argtypes = [py_object, py_object, c_void_p, c_void_p]
        lib.bcos_places.restype = c_int
        pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
        pointer_of.argtypes, pointer_of.restype = [py_object, c_char_p], c_void_p
        address = pointer_of(capsule, b"dlpack_exchange_api")
    except (OSError, AttributeError, ValueError):
        return None
    table = ctypes.cast(address, POINTER(_ExchangeTable)).contents
    return (lib, table.tensor_of) if table.major == _DLPACK_MAJOR and table.tensor_of else None


def places(tensors: list[Tensor] | list[Tensor | None]) -> bytearray | None:
    """Address, size, device, type and density of each, or None if that cannot be found out here."""
    reader = _reader()
    if reader is None:
        return None
    lib, tensor_of = reader
    out = bytearray(8 * _WORDS * len(tensors))
    if not tensors:
        return out
    try:
        lib.bcos_places(tensors, None, tensor_of, ctypes.addressof(ctypes.c_char.from_buffer(out)))
    except Exception:  # what torch says of a tensor without plain memory: sparse, meta
        return None
    return out


def columns(seen: bytearray) -> tuple[Tensor, Tensor]:
    """Addresses, and all the rest."""
    words = torch.frombuffer(seen, dtype=torch.int64).view(-1, _WORDS)
    return words[:, _DATA_WORD], words[:, _DATA_WORD + 1 :]

"""The native library, through its C interface. No torch headers: memory goes over as addresses."""

from __future__ import annotations

import ctypes
import os
import re
from array import array
from collections.abc import Sequence
from ctypes import (
    POINTER,
    c_char_p,
    c_double,
    c_int32,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from functools import cache
from importlib import metadata
from pathlib import Path

import torch
from torch import Tensor

from .options import warn

DTYPES = {torch.float32: 0, torch.float64: 1}

ERRORS = {4: OSError, 5: FloatingPointError}


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("guard", c_int32),
        ("max_norm", c_double),
        ("run", c_void_p),
        ("run_context", c_void_p),
        ("threads", c_int32),
        ("reserved", c_int32),
        ("target", c_char_p),
    ]


class LibraryReport(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("clipped", c_int32),
        ("skipped", c_int32),
        ("decay_above_one", c_int32),
        ("elements", c_uint64),
        ("bytes", c_uint64),
        ("missing", c_uint64),
        ("norm", c_double),
    ]


@cache
def library() -> ctypes.CDLL | None:
    """The native library: in the package, or where BCOS_LIBRARY says; None with one warning."""
    given = os.environ.get("BCOS_LIBRARY")
    package = Path(__file__).parent
    found = [Path(given)] if given else sorted(package.glob("libbcos.so*"))
    problem = "it is not in the package"
    if found:
        try:
            return _declared(ctypes.CDLL(str(found[0])))
        except (OSError, AttributeError) as error:
            problem = str(error)
    warn(
        f"the native library cannot be loaded ({problem}); CPU tensors are stepped by torch's "
        "foreach operations, which are several times slower. "
        "`pip install --force-reinstall bcos-optim` builds it again."
    )
    return None


def _declared(lib: ctypes.CDLL) -> ctypes.CDLL:
    for name in ("version", "error_message", "target"):
        getattr(lib, f"bcos_{name}").restype = c_char_p
    for name in ("plan_destroy", "optimizer_destroy"):
        getattr(lib, f"bcos_{name}").argtypes = [c_void_p]
        getattr(lib, f"bcos_{name}").restype = None
    lists = [POINTER(c_char_p), c_size_t, c_void_p, c_size_t]
    lib.bcos_plan_create.argtypes = [*lists, POINTER(Options), POINTER(c_void_p)]
    update = [c_void_p, c_void_p, POINTER(c_double), c_void_p, c_double, POINTER(LibraryReport)]
    lib.bcos_plan_update.argtypes = update
    lib.bcos_plan_set_numbers.argtypes = [c_void_p, c_size_t, c_char_p]
    lib.bcos_set_threads.argtypes = [ctypes.c_int]
    return lib


def check(lib: ctypes.CDLL, code: int, names: Sequence[str] = ()) -> None:
    """Raises what a call that returned this code says; ``names``: of the parameters it numbers."""
    if code == 0:
        return
    text = lib.bcos_error_message().decode(errors="replace")
    if names:
        text = re.sub(r"(?<=\bparameter )\d+", lambda found: names[int(found[0])], text)
    raise ERRORS.get(code, ValueError)(text)


def version_of_package() -> str:
    try:
        return metadata.version("bcos-optim")
    except metadata.PackageNotFoundError:  # used from the source tree
        return version() or "unknown"


def version() -> str | None:
    """The engine's version, or None without the native library."""
    lib = library()
    return None if lib is None else lib.bcos_version().decode()


def target() -> str | None:
    """The instruction set in use (``avx2``, ``neon``, ...), or None without the native library."""
    lib = library()
    return None if lib is None else lib.bcos_target().decode()


def threads() -> int:
    """How many threads the engine's pool has."""
    lib = library()
    return 1 if lib is None else lib.bcos_threads()


def set_threads(count: int) -> None:
    """Sets the size of the engine's pool, for the whole process; results do not depend on it.

    Args:
        count (int): 1 or more. A step takes as many of them as ``torch.get_num_threads()`` says, at
            most.
    """
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"set_threads: expected a whole number, received {count!r}")
    lib = library()
    if lib is not None:
        check(lib, lib.bcos_set_threads(count))


class Layouts:
    """Shapes and strides in the engine's form, each of them once."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[int, ...], array[int]] = {}

    def address(self, dims: Sequence[int]) -> int:
        key = tuple(dims)
        kept = self._arrays.get(key)
        if kept is None:
            kept = self._arrays[key] = array("q", key or (0,))
        return kept.buffer_info()[0]

    def tensor(self, tensor: Tensor) -> list[int]:
        """A ``bcos_tensor`` as 64-bit words: size and type, data, rank, shape, strides."""
        size_and_type = TENSOR_BYTES | DTYPES[tensor.dtype] << 32
        shape = self.address(tensor.shape)
        return [size_and_type, tensor.data_ptr(), tensor.dim(), shape, self.strides(tensor)]

    def strides(self, tensor: Tensor) -> int:
        """Null means dense."""
        return 0 if tensor.is_contiguous() else self.address(tensor.stride())


TENSOR_BYTES = 40
NO_TENSOR = [TENSOR_BYTES, 0, 0, 0, 0]
#: A ``bcos_parameter`` is its size, its group and four tensors, x, m, v and u.
PARAMETER_BYTES = 16 + 4 * TENSOR_BYTES
#: A ``bcos_gradient`` is its size, its parameter, data, strides and an oracle.
GRADIENT_WORDS, DATA, STRIDES = 5, 2, 3

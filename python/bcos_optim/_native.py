"""The engine, through its C interface. No torch headers: memory goes over as pointers."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import (
    POINTER,
    byref,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

import torch
from torch import Tensor

from ._warnings import warn

DTYPES = {torch.float32: 0, torch.float64: 1}
GUARDS = {"propagate": 0, "skip": 1, "raise": 2}
IO = 4
NON_FINITE = 5


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dtype", c_int32),
        ("data", c_void_p),
        ("rank", c_int32),
        ("reserved", c_int32),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
    ]


class _Options(ctypes.Structure):
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


class _Parameter(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved", c_int32),
        ("group", c_uint64),
        ("x", _Tensor),
        ("m", _Tensor),
        ("v", _Tensor),
        ("u", _Tensor),
    ]


class _Gradient(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved", c_int32),
        ("parameter", c_uint64),
        ("data", c_void_p),
        ("strides", POINTER(c_int64)),
        ("oracle", c_void_p),
    ]


class _Report(ctypes.Structure):
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


class Call(ctypes.Structure):
    """A call of the engine's update, as the library of passes takes it."""

    _fields_ = [
        ("update", c_void_p),
        ("plan", c_void_p),
        ("gradients", c_void_p),
        ("alphas", c_void_p),
        ("steps", c_void_p),
        ("grad_scale", c_double),
        ("report", c_void_p),
        ("code", c_int32),
    ]


@dataclass(frozen=True)
class Report:
    """What a step of the engine did."""

    norm: float
    clipped: bool
    skipped: bool
    decay_above_one: bool  #: lr * weight_decay > 1 somewhere: outside the theory
    elements: int  #: weights of the parameters that took the step; 0 if torch's operations took it
    bytes: int


def library_path() -> Path | None:
    """Where the engine should be: in the package, or where BCOS_LIBRARY says."""
    given = os.environ.get("BCOS_LIBRARY")
    if given:
        return Path(given)
    found = sorted(Path(__file__).parent.glob("libbcos.so*"))
    return found[0] if found else None


@cache
def library() -> ctypes.CDLL | None:
    """The native library, or None with one warning."""
    path = library_path()
    problem = "it is not in the package" if path is None else ""
    if path is not None:
        try:
            return _declared(ctypes.CDLL(str(path)))
        except (OSError, AttributeError) as error:
            problem = str(error)
    warn(
        f"the native library cannot be loaded ({problem}); CPU tensors are stepped by torch's "
        "foreach operations, which are several times slower. "
        "`pip install --force-reinstall bcos-optim` builds it again."
    )
    return None


def _declared(lib: ctypes.CDLL) -> ctypes.CDLL:
    lib.bcos_version.restype = c_char_p
    lib.bcos_error_message.restype = c_char_p
    lib.bcos_target.restype = c_char_p
    lib.bcos_plan_create.argtypes = [
        POINTER(c_char_p),
        c_size_t,
        POINTER(_Parameter),
        c_size_t,
        POINTER(_Options),
        POINTER(c_void_p),
    ]
    lib.bcos_plan_destroy.argtypes = [c_void_p]
    lib.bcos_plan_destroy.restype = None
    update = [c_void_p, c_void_p, POINTER(c_double), c_void_p, c_double, POINTER(_Report)]
    lib.bcos_plan_update.argtypes = update
    lib.bcos_plan_set_numbers.argtypes = [c_void_p, c_size_t, c_char_p]
    lib.bcos_set_threads.argtypes = [ctypes.c_int]
    lib.bcos_prefer_huge_pages.argtypes = [c_void_p, c_uint64]
    lib.bcos_optimizer_destroy.argtypes = [c_void_p]
    lib.bcos_optimizer_destroy.restype = None
    return lib


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
    """Sets the size of the engine's pool, for the whole process; results do not depend on it. A
    step takes as many of them as ``torch.get_num_threads()`` says, at most."""
    lib = library()
    if lib is not None:
        check(lib, lib.bcos_set_threads(count))


def prefer_huge_pages(tensor: Tensor) -> None:
    """Asks the system for huge pages for memory that has not been written yet."""
    lib = library()
    if lib is not None:
        size = tensor.untyped_storage().nbytes()
        check(lib, lib.bcos_prefer_huge_pages(tensor.untyped_storage().data_ptr(), size))


def check(lib: ctypes.CDLL, code: int) -> None:
    """Raises what a call that returned this code says."""
    if code != 0:
        text = lib.bcos_error_message().decode(errors="replace")
        raise {IO: OSError, NON_FINITE: FloatingPointError}.get(code, ValueError)(text)


def tensor_view(tensor: Tensor | None, keep: list[object]) -> _Tensor:
    view = _Tensor(struct_size=ctypes.sizeof(_Tensor))
    if tensor is None:
        return view
    rank = tensor.dim()
    shape = (c_int64 * max(rank, 1))(*tensor.shape)
    strides = (c_int64 * max(rank, 1))(*tensor.stride())
    keep += [shape, strides]
    if tensor.dtype not in DTYPES:
        raise ValueError(f"Invalid state: expected float32 or float64 but received {tensor.dtype}")
    view.dtype = DTYPES[tensor.dtype]
    view.data = tensor.data_ptr()
    view.rank = rank
    view.shape = shape
    view.strides = strides
    return view


# The struct as 64-bit words, so that a column of pointers is written in one go.
_WORDS = ctypes.sizeof(_Gradient) // 8
_SIZE_WORD = 0
_DATA_WORD = _Gradient.data.offset // 8
_STRIDES_WORD = _Gradient.strides.offset // 8


class Plan:
    """One step on a list of dense or strided CPU tensors whose state torch keeps."""

    def __init__(
        self,
        methods: Sequence[str],
        groups: Sequence[int],
        params: Sequence[Tensor],
        ms: Sequence[Tensor | None],
        vs: Sequence[Tensor | None],
        *,
        guard: str,
        max_norm: float | None,
        threads: int,
    ) -> None:
        lib = library()
        if lib is None:
            raise RuntimeError("the native library is missing")
        self._lib = lib
        self._handle = c_void_p()
        self._memory = (tuple(params), tuple(ms), tuple(vs))
        self._gradients = torch.zeros(len(params), _WORDS, dtype=torch.int64, device="cpu")
        self._gradients[:, _SIZE_WORD] = ctypes.sizeof(_Gradient)
        #: Of the gradients; whoever finds them may write here before an update.
        self.addresses = self._gradients[:, _DATA_WORD]
        self._alphas = (c_double * len(methods))()
        self._report = _Report()
        self._methods = list(methods)
        self._strides: dict[int, object] = {}
        keep: list[object] = []
        parameters = (_Parameter * max(len(params), 1))()
        for parameter, group, x, m, v in zip(parameters, groups, params, ms, vs, strict=False):
            parameter.struct_size = ctypes.sizeof(_Parameter)
            parameter.group = group
            parameter.x = tensor_view(x, keep)
            parameter.m = tensor_view(m, keep)
            parameter.v = tensor_view(v, keep)
            parameter.u = tensor_view(None, keep)
        options = _Options(struct_size=ctypes.sizeof(_Options), guard=GUARDS[guard])
        options.max_norm = 0.0 if max_norm is None else max_norm
        options.threads = threads
        texts = (c_char_p * len(methods))(*(text.encode() for text in methods))
        check(
            lib,
            lib.bcos_plan_create(
                texts, len(methods), parameters, len(params), byref(options), byref(self._handle)
            ),
        )

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._lib.bcos_plan_destroy(self._handle)

    def set_methods(self, methods: Sequence[str]) -> None:
        """New numbers for groups whose text changed."""
        for k, (old, new) in enumerate(zip(self._methods, methods, strict=True)):
            if old != new:
                check(self._lib, self._lib.bcos_plan_set_numbers(self._handle, k, new.encode()))
                self._methods[k] = new

    def update(
        self,
        addresses: Tensor,
        strided: dict[int, Tensor],
        alphas: Sequence[float],
        steps: Tensor,
        grad_scale: float,
    ) -> Report:
        """``addresses``: of the gradients, 0 where there is none; ``strided``: those not dense."""
        if addresses is not self.addresses:
            self.addresses.copy_(addresses)
        self._prepare(strided, alphas)
        return self.report_of(
            self._lib.bcos_plan_update(
                self._handle,
                self._gradients.data_ptr(),
                self._alphas,
                steps.data_ptr(),
                grad_scale,
                byref(self._report),
            )
        )

    def call(self, alphas: Sequence[float], steps: Tensor, grad_scale: float) -> Call:
        """An update on the ``addresses`` of dense gradients as they will be, for whoever calls the
        engine."""
        self._prepare({}, alphas)
        return Call(
            ctypes.cast(self._lib.bcos_plan_update, c_void_p),
            self._handle,
            self._gradients.data_ptr(),
            ctypes.addressof(self._alphas),
            steps.data_ptr(),
            grad_scale,
            ctypes.addressof(self._report),
        )

    def _prepare(self, strided: dict[int, Tensor], alphas: Sequence[float]) -> None:
        if self._strides or strided:
            self._set_strides(strided)
        self._alphas[:] = alphas
        # The same one, for a call may still point to it.
        ctypes.memset(ctypes.addressof(self._report), 0, ctypes.sizeof(_Report))
        self._report.struct_size = ctypes.sizeof(_Report)

    def report_of(self, code: int) -> Report:
        """What a call did; raises what it says."""
        check(self._lib, code)
        report = self._report
        return Report(
            norm=report.norm,
            clipped=bool(report.clipped),
            skipped=bool(report.skipped),
            decay_above_one=bool(report.decay_above_one),
            elements=report.elements,
            bytes=report.bytes,
        )

    def _set_strides(self, strided: dict[int, Tensor]) -> None:
        self._gradients[:, _STRIDES_WORD] = 0
        self._strides = {}
        for i, gradient in strided.items():
            strides = (c_int64 * max(gradient.dim(), 1))(*gradient.stride())
            self._strides[i] = strides
            self._gradients[i, _STRIDES_WORD] = ctypes.addressof(strides)

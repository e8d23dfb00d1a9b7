"""The steps that the engine takes, through its C interface. No torch headers: memory goes over as
addresses, and all that is asked of torch is public."""

from __future__ import annotations

import ctypes
import os
import re
from array import array
from collections.abc import Sequence
from ctypes import (
    POINTER,
    byref,
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
from itertools import chain
from operator import is_
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..limits import Limits, Report
from ..options import warn
from ..state import PLAIN, check_state, local, storages_of
from . import Part

DTYPES = {torch.float32: 0, torch.float64: 1}
GUARDS = {"propagate": 0, "skip": 1, "raise": 2}
ERRORS = {4: OSError, 5: FloatingPointError}


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


@cache
def library() -> ctypes.CDLL | None:
    """The native library: in the package, or where BCOS_LIBRARY says; None with one warning."""
    given = os.environ.get("BCOS_LIBRARY")
    package = Path(__file__).parents[1]
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
    lib.bcos_plan_create.argtypes = [*lists, POINTER(_Options), POINTER(c_void_p)]
    update = [c_void_p, c_void_p, POINTER(c_double), c_void_p, c_double, POINTER(_Report)]
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


class Plan:
    """One step on a list of parameters whose state torch keeps."""

    def __init__(
        self, parts: Sequence[Part], place: Any, guard: str, max_norm: float | None, threads: int
    ) -> None:
        """``place``: where everything is; the plan is for what is still there."""
        lib = library()
        assert lib is not None
        self._lib = lib
        self._handle = c_void_p()
        self._layouts = Layouts()
        self.place = place
        self.methods = [part.group.method for part in parts]
        states = [state for part in parts for state in part.states]
        xs = [x for part in parts for x in part.xs]
        self.empty = [i for i, x in enumerate(xs) if x.numel() == 0]
        rows = array("q")
        gradients = array("q")
        for k, part in enumerate(parts):
            for x, state in zip(part.xs, part.states, strict=True):
                rows.extend([PARAMETER_BYTES, k, *self._layouts.tensor(x)])
                for key in ("m", "v"):
                    tensor = state.get(key)
                    own = NO_TENSOR if tensor is None else self._layouts.tensor(local(tensor))
                    rows.extend(own)
                rows.extend(NO_TENSOR)
                gradients.extend([GRADIENT_WORDS * 8, 0, 0, self._layouts.strides(x), 0])
        self._gradients = gradients
        self._own_strides = gradients[STRIDES::GRADIENT_WORDS]
        self._strides_are_own = True
        self._alphas = (c_double * len(parts))()
        self.counters = torch.tensor(
            [int(s["step"]) for s in states], dtype=torch.int64, device="cpu"
        )
        self.steps = list(self.counters.unbind())
        options = _Options(struct_size=ctypes.sizeof(_Options), guard=GUARDS[guard])
        options.max_norm = 0.0 if max_norm is None else max_norm
        options.threads = threads
        texts = (c_char_p * len(parts))(*(method.text().encode() for method in self.methods))
        arguments = (texts, len(parts), rows.buffer_info()[0], len(xs), byref(options))
        check(lib, lib.bcos_plan_create(*arguments, byref(self._handle)), _names(parts))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._lib.bcos_plan_destroy(self._handle)

    def update(
        self, parts: Sequence[Part], grads: Sequence[Tensor | None], plain: bool, scale: float
    ) -> Report:
        for k, part in enumerate(parts):
            method = part.group.method
            if method is not self.methods[k] and method != self.methods[k]:
                text = method.text().encode()
                check(self._lib, self._lib.bcos_plan_set_numbers(self._handle, k, text))
            self.methods[k] = method
            self._alphas[k] = float(part.group.alpha)
        if plain:
            addresses = array("q", list(map(Tensor.data_ptr, grads)))
        else:
            addresses = array("q", [0 if g is None else g.data_ptr() for g in grads])
        self._gradients[DATA::GRADIENT_WORDS] = addresses
        if not (plain and self._strides_are_own):
            self._set_strides(grads)
            self._strides_are_own = plain
        report = _Report(struct_size=ctypes.sizeof(_Report))
        code = self._lib.bcos_plan_update(
            self._handle,
            self._gradients.buffer_info()[0],
            self._alphas,
            self.counters.data_ptr(),
            scale,
            byref(report),
        )
        check(self._lib, code, () if code == 0 else _names(parts))
        return Report(
            report.norm,
            bool(report.clipped),
            bool(report.skipped),
            bool(report.decay_above_one),
            report.elements,
            report.bytes,
        )

    def _set_strides(self, grads: Sequence[Tensor | None]) -> None:
        pairs = zip(grads, self._own_strides, strict=True)
        self._gradients[STRIDES::GRADIENT_WORDS] = array(
            "q", [own if g is None else self._layouts.strides(g) for g, own in pairs]
        )


def _names(parts: Sequence[Part]) -> list[str]:
    return [part.group.name_of(p) for part in parts for p in part.params]


#: Parameters in all plans that are kept: some half a kilobyte each.
MOST_PLANNED = 20_000


class Engine:
    """A few plans, for wrappers that step the same optimizer's groups in turn."""

    def __init__(self) -> None:
        self._plans: dict[tuple[int, int], Plan] = {}
        self._planned = 0  #: parameters in all of them

    def takes(self, part: Part) -> bool:
        x = part.xs[0]  # all are of one type and on one device
        return x.is_cpu and x.dtype in DTYPES and library() is not None

    def refuses(self, x: Tensor, gradient: Tensor | None) -> str | None:
        if not x.is_cpu:
            return f"it is on {x.device}"
        if x.dtype not in DTYPES:
            return f"it is {x.dtype}, the engine has float32 and float64"
        if gradient is not None and gradient.dtype != x.dtype:
            return f"its gradient is {gradient.dtype}"
        if x.is_neg() or type(x).__torch_dispatch__ is not Tensor.__torch_dispatch__:
            return "what it reads is not what lies in its memory"
        return None if library() is not None else "the native library is missing"

    def step(self, parts: Sequence[Part], limits: Limits) -> Report:
        """Parts of one sign; the engine settles limits itself if it has all gradients."""
        guard, max_norm, scale = "propagate", None, float(limits.scale)
        plain = all(part.plain for part in parts)
        grads: list[Any] = list(chain.from_iterable(part.grads for part in parts))
        if not plain:
            grads = list(map(_readable, grads))
        if limits.share is None:
            guard, max_norm = limits.guard, limits.max_norm
        elif not limits.go:
            return limits.report
        elif float(limits.share) > 0:
            scale /= float(limits.share)
        else:  # the norm is infinite or NaN
            share = float(limits.share)
            grads, plain = [None if g is None else g * share for g in grads], False
        if parts[0].group.options["maximize"]:
            scale = -scale
        plan = self._plan_of(parts, guard, max_norm)
        report = plan.update(parts, grads, plain, scale)
        if not report.skipped:
            self._tell(parts, plan, grads)
        return report

    def _plan_of(self, parts: Sequence[Part], guard: str, max_norm: float | None) -> Plan:
        """A plan is for memory, not for objects: wrappers swap groups, parameters and states."""
        threads = torch.get_num_threads()
        place = [guard, max_norm, threads, *map(_place_of, parts)]
        xs = parts[0].xs
        key = (sum(len(part.xs) for part in parts), xs[0].data_ptr())
        plan = self._plans.get(key)
        steps = [state["step"] for part in parts for state in part.states]
        if plan is not None and plan.place == place and all(map(is_, steps, plan.steps)):
            return plan
        for part in parts:
            for p, state in zip(part.params, part.states, strict=True):
                check_state(state, p, part.group.method, part.group.name_of)
        if self._plans.pop(key, None) is not None:
            self._planned -= key[0]
        while self._plans and self._planned + key[0] > MOST_PLANNED:
            oldest = next(iter(self._plans))
            self._planned -= oldest[0]
            del self._plans[oldest]
        plan = self._plans[key] = Plan(parts, place, guard, max_norm, threads)
        self._planned += key[0]
        for state, step in zip(chain(*(part.states for part in parts)), plan.steps, strict=True):
            state["step"] = step
        return plan

    @staticmethod
    def _tell(parts: Sequence[Part], plan: Plan, grads: Sequence[Tensor | None]) -> None:
        """Tells autograd, which counts writes."""
        for i in plan.empty:
            if grads[i] is None and plan.counters[i] > 0:
                plan.counters[i] -= 1  # the engine cannot tell an empty gradient from none
        written: list[Tensor] = []
        for part in parts:
            having = part if part.plain else part.chosen([g is not None for g in part.grads])
            written += having.params
            for key in storages_of(part.group.method):
                written += [state[key] for state in having.states]
        torch.autograd.graph.increment_version(written)


def _place_of(part: Part) -> list[Any] | None:
    """What a plan is made for: the structure of the method, and of each parameter type, size,
    layout and all addresses. None if a state is of another method."""
    method, xs = part.group.method, part.xs
    types = {xs[0].dtype} if part.plain else {x.dtype for x in xs}
    types = types if len(types) == 1 else [x.dtype for x in xs]
    dense = part.dense or all(map(Tensor.is_contiguous, xs))
    sizes = part.sizes if part.plain else list(map(Tensor.numel, xs))
    place: list[Any] = [method.structure, types, dense, sizes, list(map(Tensor.data_ptr, xs))]
    if not dense or method.blocks != "coordinate":
        place += [[(x.shape, x.stride()) for x in xs]]
    for key in storages_of(method):
        try:
            column = [state[key] for state in part.states]
        except KeyError:
            return None
        if part.sharded:
            column = [tensor.to_local() for tensor in column]
        elif not part.plain:
            column = list(map(local, column))
        place.append(list(map(Tensor.data_ptr, column)))
    return place


def _readable(gradient: Tensor | None) -> Tensor | None:
    """A gradient whose numbers lie in its memory."""
    if gradient is None:
        return None
    # Autograd leaves conjugation and negation of real parts to whoever reads.
    gradient = gradient.resolve_conj().resolve_neg()
    if gradient.numel() > 0 and type(gradient) not in PLAIN and gradient.data_ptr() == 0:
        # A collective that has not ended has no memory yet; clone waits for it.
        gradient = gradient.clone(memory_format=torch.contiguous_format)
    return gradient

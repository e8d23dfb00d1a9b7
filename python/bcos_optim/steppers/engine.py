"""The steps that the engine takes, on plans of memory that torch keeps."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from ctypes import byref, c_char_p, c_double, c_void_p
from itertools import chain
from operator import is_
from typing import Any

import torch
from torch import Tensor

from ..limits import Limits, Report
from ..native import (
    DATA,
    DTYPES,
    GRADIENT_WORDS,
    NO_TENSOR,
    PARAMETER_BYTES,
    STRIDES,
    Layouts,
    LibraryReport,
    Options,
    check,
    library,
)
from ..state import PLAIN, check_state, local
from . import Part

GUARDS = {"propagate": 0, "skip": 1, "raise": 2}


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
        options = Options(struct_size=ctypes.sizeof(Options), guard=GUARDS[guard])
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
        report = LibraryReport(struct_size=ctypes.sizeof(LibraryReport))
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
            for key in part.group.method.streams:
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
    for key in method.streams:
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

"""The steps that the engine takes: all CPU parameters of an optimizer in one call."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor

from . import _native
from ._methods import method_of
from ._same import contents, same_contents, same_entries, same_items, same_values
from ._survey import Surveyor, count_writes
from ._tensors import PLAIN, check_gradient, is_dtensor, placed_like, plain

_gradient_of = attrgetter("grad")

_Limits = tuple[str, float | None]

#: Many small gradients need not be held one by one: Python's lock is kept for their step, so that
#: nobody drops them. For so many elements at most, which take milliseconds, and so many a tensor.
LOCKED = 1 << 24
LOCKED_MEAN = 1 << 14


@dataclass
class _Gradients:
    """Where the gradients of a step are."""

    addresses: Tensor  #: 0 where there is none
    strided: dict[int, Tensor] = field(default_factory=dict)  #: those that are not dense
    missing: set[int] = field(default_factory=set)
    kept: list[Any] = field(default_factory=list)  #: what has the memory, if nobody else has it


class EngineStep:
    """A plan for a fixed list of parameters; ``fits`` says whether it still describes them."""

    def __init__(
        self,
        groups: Sequence[dict[str, Any]],
        owners: Sequence[int],
        params: Sequence[Tensor],
        states: Sequence[dict[str, Any]],
        limits: _Limits,
        names: Sequence[str],
    ) -> None:
        """``owners``: the group of each parameter."""
        self._names = list(names)
        self._groups = list(groups)
        self._params = list(params)
        # Shards and complex numbers are stepped as the real tensors that they lie in.
        self._wrapped = any(is_dtensor(p) or p.is_complex() for p in params)
        # Dense and in single coordinates: shapes do not matter.
        coordinates = all(group["blocks"] == "coordinate" for group in groups)
        self._flat = coordinates and not self._wrapped and _all_dense(params)
        self._states = list(states)
        self._limits = (*limits, torch.get_num_threads())
        self._signature = signature_of(groups)
        self._texts: list[tuple[Any, str]] = [(None, "")] * len(groups)
        steps = [int(state["step"]) for state in states]
        self._counters = torch.tensor(steps, dtype=torch.int64, device="cpu")
        for state, counter in zip(states, self._counters.unbind(0), strict=True):
            state["step"] = counter
        self._kept = []
        for name in ("step", "m", "v"):
            having = [state for state in states if name in state]
            self._kept.append((name, having, [state[name] for state in having]))
        self._contents = contents(self._states)
        self._empty = [i for i, p in enumerate(self._params) if p.numel() == 0]
        elements = sum(map(Tensor.numel, params))
        has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
        locked = has_lock and elements <= min(LOCKED, LOCKED_MEAN * len(params))
        # A step that looks at its gradients first may change nothing.
        self._certain = limits[0] == "propagate"
        self._plan = _native.Plan(
            self._method_texts(),
            owners,
            [plain(p) for p in params],
            [plain(state["m"]) if "m" in state else None for state in states],
            [plain(state["v"]) if "v" in state else None for state in states],
            guard=limits[0],
            max_norm=limits[1],
            threads=torch.get_num_threads(),
        )
        self._surveyor = self._make_surveyor(hold=not locked)
        self._survey = self._surveyor.look(counting=False) if self._surveyor else None
        self._looks_late = locked and self._survey is not None
        self._places = self._where()
        self._everyone: list[Tensor] | None = None
        self._idle: list[Tensor] = []

    def serve(self, everyone: list[Tensor]) -> None:
        """From now on this plan alone is the step of an optimizer with these parameters, as long
        as those outside of it have no gradient."""
        mine = set(map(id, self._params))
        self._everyone = everyone
        self._idle = [p for p in everyone if id(p) not in mine]

    def serves(self, everyone: list[Tensor]) -> bool:
        if self._everyone is None or not same_items(everyone, self._everyone):
            return False
        return all(p.grad is None for p in self._idle)

    def fits(
        self,
        groups: Sequence[dict[str, Any]],
        state: dict[Tensor, Any],
        limits: _Limits,
    ) -> bool:
        """Whether groups and states of its parameters still are what the plan was made for."""
        return (
            (*limits, torch.get_num_threads()) == self._limits
            and same_items(list(groups), self._groups)
            and signature_of(groups) == self._signature
            and self._has_states(state)
            and self._unmoved()
        )

    def _make_surveyor(self, *, hold: bool) -> Surveyor | None:
        """For lists of the plainest kind."""
        states = [known for _, _, known in self._kept[1:] if known]
        everywhere = all(len(known) == len(self._params) for known in states)
        plain = all(type(t) in PLAIN for t in chain(self._params, *states))
        if not (self._flat and everywhere and plain):
            return None
        return Surveyor(self._params, states, self._plan.addresses, hold=hold)

    def _unmoved(self) -> bool:
        """Storage may be swapped behind a tensor (``p.data = ...``)."""
        if self._looks_late:
            return True  # for all that is known; `run` looks
        self._survey = self._surveyor.look(counting=self._certain) if self._surveyor else None
        if self._survey is None:
            return self._where() == self._places
        if not self._survey.unmoved:
            self._survey = None  # whoever plans anew looks for himself
            return False
        return True

    def _where(self) -> tuple[Any, ...]:
        tensors = [self._params, *(known for _, _, known in self._kept[1:])]
        if self._wrapped:
            tensors = [[plain(t) for t in some] for some in tensors]
        pointers = [list(map(Tensor.data_ptr, some)) for some in tensors]
        if self._flat:
            # Numbers alone: ten thousand tuples would set the garbage collector off.
            return (*pointers, list(map(Tensor.numel, tensors[0])), _all_dense(self._params))
        return (*pointers, list(map(Tensor.size, tensors[0])), list(map(Tensor.stride, tensors[0])))

    def _has_states(self, state: dict[Tensor, Any]) -> bool:
        """Whether the states are the objects that the plan writes to."""
        if not same_values(state, self._states):
            if not same_items([state.get(p) for p in self._params], self._states):
                return False
        return same_contents(self._states, self._contents) or all(
            same_entries(having, name, known) for name, having, known in self._kept
        )

    def is_of(self, params: list[Tensor]) -> bool:
        return same_items(params, self._params)

    def run(self, grad_scale: float) -> _native.Report | None:
        """None if something turns out to have moved: make another plan."""
        self._plan.set_methods(self._method_texts())
        alphas = [float(group["lr"]) for group in self._groups]
        survey, self._survey = self._survey, None
        if self._looks_late and self._surveyor is not None:
            call = self._plan.call(alphas, self._counters, grad_scale)
            survey = self._surveyor.look_and_step(call, counting=self._certain)
            if not survey.unmoved:
                return None
            if survey.alike:
                report = self._plan.report_of(call.code)
                self._tell(report, survey.counted, set())
                return report
        try:
            # Those that are alike are held, and the survey has left their addresses with the plan.
            alike = survey is not None and survey.alike
            gradients = _Gradients(self._plan.addresses) if alike else self._any_gradients()
            report = self._plan.update(
                gradients.addresses, gradients.strided, alphas, self._counters, grad_scale
            )
        finally:
            if survey is not None and survey.alike and self._surveyor is not None:
                self._surveyor.release()
        self._tell(report, survey.counted if survey else 0, gradients.missing)
        return report

    def _tell(self, report: _native.Report, counted: int, missing: set[int]) -> None:
        """What the step has written; of the first ``counted`` parameters autograd knows."""
        if report.skipped:
            return
        if counted < len(self._params):
            rest = enumerate(self._params[counted:], counted)
            count_writes([p for i, p in rest if i not in missing])
        for i in missing.intersection(self._empty):
            if self._counters[i] > 0:  # the engine cannot tell an empty gradient from none
                self._counters[i] -= 1

    def _any_gradients(self) -> _Gradients:
        for p, name in zip(self._params, self._names, strict=True):
            check_gradient(p, name)
        every = list(map(_gradient_of, self._params))
        present = [g for g in every if g is not None]
        # Autograd leaves conjugation and negation of real parts to whoever reads.
        lazy = self._wrapped or any(map(Tensor.is_neg, present))
        addresses = [0] * len(every)
        strided: dict[int, Tensor] = {}
        ready = not lazy and _all_dense(present)
        for i, (g, p) in enumerate(zip(every, self._params, strict=True)):
            if g is None:
                continue
            if not ready:
                g = plain(placed_like(g, p).resolve_conj().resolve_neg())
            if g.data_ptr() == 0 and g.numel() > 0:
                # Results that other processes still work on come with their memory when used.
                g = g.clone(memory_format=torch.contiguous_format)
            every[i] = g
            addresses[i] = g.data_ptr()
            if addresses[i] == 0 and g.numel() > 0:
                raise ValueError(
                    f"Invalid gradient of parameter {self._names[i]}: it has no memory"
                )
            if not ready and not g.is_contiguous():
                strided[i] = g
        missing = {i for i, g in enumerate(every) if g is None}
        where = torch.tensor(addresses, dtype=torch.int64, device="cpu")
        return _Gradients(where, strided, missing, every)

    def _method_texts(self) -> list[str]:
        for k, group in enumerate(self._groups):
            method = method_of(group)
            if self._texts[k][0] != method:
                self._texts[k] = (method, method.text())
        return [text for _, text in self._texts]


def signature_of(groups: Sequence[dict[str, Any]]) -> tuple[Any, ...]:
    """What a plan is made for; numbers may change under it."""
    names = ("mode", "simple", "decoupled", "start", "coupled_start", "blocks", "block_gain")
    names += ("fused", "foreach", "differentiable")
    return tuple(
        (*(repr(group[name]) for name in names), len(group["betas"]), group["maximize"])
        for group in groups
    )


def _all_dense(tensors: Sequence[Tensor]) -> bool:
    return all(map(Tensor.is_contiguous, tensors))

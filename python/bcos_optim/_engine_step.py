"""The steps that the engine takes: all CPU parameters of an optimizer in one call."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter, is_
from typing import Any

import torch
from torch import Tensor

from . import _native
from ._methods import method_of
from ._tensors import is_dtensor, plain

_dtype_of = attrgetter("dtype")


class EngineStep:
    """A plan for a fixed list of parameters; ``fits`` says whether it still describes them."""

    def __init__(
        self,
        groups: Sequence[dict[str, Any]],
        params: Sequence[Tensor],
        states: Sequence[dict[str, Any]],
        limits: tuple[str, float | None],
    ) -> None:
        self._groups = list(groups)
        self._params = list(params)
        # Shards and complex numbers are stepped as the real tensors that they lie in.
        self._wrapped = any(is_dtensor(p) or p.is_complex() for p in params)
        self._pointers = self._pointers_of(params)
        self._states = [(state, state.get("m"), state.get("v")) for state in states]
        self.limits = limits
        self._signature = signature_of(groups)
        self._dtypes = set(map(_dtype_of, params))
        self._same_dtype = len(self._dtypes) == 1
        self._texts: list[tuple[tuple[Any, ...], str]] = [("", "")] * len(groups)  # type: ignore[list-item]
        steps = [int(state["step"]) for state in states]
        self._counters = torch.tensor(steps, dtype=torch.int64)
        for state, counter in zip(states, self._counters.unbind(0), strict=True):
            state["step"] = counter
        self._steps = [state["step"] for state in states]
        self._plan = _native.Plan(
            self._method_texts(),
            [k for k, group in enumerate(groups) for _ in group["params"]],
            [plain(p) for p in params],
            [None if m is None else plain(m) for _, m, _ in self._states],
            [None if v is None else plain(v) for _, _, v in self._states],
            guard=limits[0],
            max_norm=limits[1],
        )

    def fits(
        self,
        groups: Sequence[dict[str, Any]],
        params: Sequence[Tensor],
        state: dict[Tensor, Any],
    ) -> bool:
        """Whether groups, parameters and states still are what the plan was made for."""
        if len(groups) != len(self._groups) or not all(map(is_, groups, self._groups)):
            return False
        if len(params) != len(self._params) or not all(map(is_, params, self._params)):
            return False
        if self._pointers_of(params) != self._pointers:
            return False
        if signature_of(self._groups) != self._signature:
            return False
        for p, (known, m, v), step in zip(params, self._states, self._steps, strict=True):
            now = state.get(p)
            if now is not known or now.get("step") is not step:
                return False
            if now.get("m") is not m or now.get("v") is not v:
                return False
        return True

    def _pointers_of(self, tensors: Sequence[Tensor | None]) -> list[int]:
        if self._wrapped:
            return [0 if t is None else plain(t).data_ptr() for t in tensors]
        return [0 if t is None else t.data_ptr() for t in tensors]

    def run(self, grad_scale: float) -> _native.Report:
        gradients = [p.grad for p in self._params]
        present = [g for g in gradients if g is not None]
        self._check(gradients, present)
        strided: list[int] = []
        if self._wrapped or not all(map(Tensor.is_contiguous, present)):
            gradients = [
                None if g is None else plain(g.resolve_conj().resolve_neg()) for g in gradients
            ]
            strided = [i for i, g in enumerate(gradients) if g is not None]
            strided = [i for i in strided if not gradients[i].is_contiguous()]  # type: ignore[union-attr]
        pointers = [0 if g is None else g.data_ptr() for g in gradients]
        self._plan.set_methods(self._method_texts())
        alphas = [float(group["lr"]) for group in self._groups]
        report = self._plan.update(gradients, pointers, strided, alphas, self._counters, grad_scale)
        # Autograd notices writes by this count.
        torch.autograd.graph.increment_version(self._params)
        return report

    def _check(self, gradients: list[Tensor | None], present: list[Tensor]) -> None:
        if self._same_dtype and set(map(_dtype_of, present)) <= self._dtypes:
            return
        for p, g in zip(self._params, gradients, strict=True):
            if g is not None and g.dtype != p.dtype:
                raise ValueError(
                    f"Invalid gradient: expected {p.dtype} for a parameter of shape "
                    f"{tuple(p.shape)}, received {g.dtype}"
                )

    def _method_texts(self) -> list[str]:
        for k, group in enumerate(self._groups):
            numbers = tuple(group[name] for name in ("betas", "eps", "eps_root", "weight_decay"))
            if self._texts[k][0] != numbers:
                self._texts[k] = (numbers, method_of(group).text())
        return [text for _, text in self._texts]


def signature_of(groups: Sequence[dict[str, Any]]) -> tuple[Any, ...]:
    """What a plan is made for; numbers may change under it."""
    names = ("mode", "simple", "decoupled", "start", "coupled_start", "blocks", "block_gain")
    return tuple(
        (*(repr(group[name]) for name in names), len(group["betas"]), group["maximize"])
        for group in groups
    )

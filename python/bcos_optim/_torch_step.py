"""The steps that torch's own operations take, a tensor or a list of tensors at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ._blocks import Coordinates, blocks_of
from ._formula import Many, Numbers, Same, known_to_be, moved, numbers_of
from ._methods import Method
from ._tensors import plain, working_dtype


def _read(tensor: Tensor) -> Tensor:
    """For autograd, a copy: the tensor itself is written to by this step and the next."""
    return tensor.clone() if torch.is_grad_enabled() else tensor


@dataclass
class Entry:
    """A parameter with everything that its step reads and writes."""

    param: Tensor
    grad: Tensor
    m: Tensor | None
    v: Tensor | None
    step: Tensor


@dataclass
class TorchStep:
    """How the entries of one group are stepped."""

    method: Method
    lr: Any
    factor: Any  #: on the gradients: maximize, clipping, grad_scale
    foreach: bool
    on_device: bool  #: step counters and lr stay tensors: capturable, or being compiled
    rounded: Callable[[Tensor, Tensor, int], None]  #: is told of 16-bit results
    go: Tensor | None = None  #: False: nothing changes

    def run(self, entries: Sequence[Entry]) -> None:
        if self.foreach and self.method.blocks == "coordinate":
            for bucket in self._buckets(entries):
                self._step_many(bucket)
        else:
            for entry in entries:
                self._step_one(entry)

    def _buckets(self, entries: Sequence[Entry]) -> list[list[Entry]]:
        """Entries that share device, type and numbers; on the device each has its own."""
        buckets: dict[Any, list[Entry]] = {}
        for entry in entries:
            t = None if self.on_device else int(entry.step)
            key = (entry.param.device, entry.param.dtype, entry.grad.dtype, t)
            buckets.setdefault(key, []).append(entry)
        return list(buckets.values())

    @property
    def _counts(self) -> bool:
        """Whether numbers depend on how many steps a parameter has taken."""
        return self.method.start != "zero"

    def _numbers(self, entries: Sequence[Entry], dtype: torch.dtype) -> Numbers:
        differentiable = isinstance(self.lr, Tensor) and self.lr.requires_grad
        if not self.on_device:
            alpha = self.lr.reshape(()) if differentiable else float(self.lr)
            return numbers_of(self.method, alpha, int(entries[0].step))
        alpha = self.lr
        if isinstance(alpha, Tensor):
            alpha = alpha.reshape(()).to(device=entries[0].param.device, dtype=dtype)
        if not self._counts:
            return numbers_of(self.method, alpha, 1)
        steps = [entry.step.to(dtype) for entry in entries]
        return numbers_of(self.method, alpha, steps[0] if len(steps) == 1 else Many(steps))

    def _step_one(self, entry: Entry) -> None:
        dtype = working_dtype(plain(entry.param).dtype)
        x = plain(entry.param)
        if x.numel() == 0:
            self._count([entry.step])
            return
        raw = plain(entry.grad).to(dtype)
        raw = raw if known_to_be(self.factor, 1) else raw * self.factor
        blocks = blocks_of(self.method, x.shape, x.device)
        after = moved(
            self.method,
            self._numbers([entry], dtype),
            blocks,
            _read(x).to(dtype),
            raw,
            None if entry.m is None else _read(plain(entry.m)),
            None if entry.v is None else _read(plain(entry.v)),
        )
        self._store(entry, x, after.x, after.m, after.v)

    def _step_many(self, entries: list[Entry]) -> None:
        xs = [plain(entry.param) for entry in entries]
        dtype = working_dtype(xs[0].dtype)
        raw = Many([plain(entry.grad).to(dtype) for entry in entries])
        if not known_to_be(self.factor, 1):
            factor = self.factor
            raw = raw * (Same(factor.to(dtype)) if isinstance(factor, Tensor) else factor)
        ms = [plain(entry.m) for entry in entries if entry.m is not None]
        vs = [plain(entry.v) for entry in entries if entry.v is not None]
        after = moved(
            self.method,
            self._numbers(entries, dtype).of_many(),
            Coordinates(),
            Many([x.to(dtype) for x in xs]),
            raw,
            Many(ms) if ms else None,
            Many(vs) if vs else None,
        )
        if dtype != xs[0].dtype:
            for k, (entry, x) in enumerate(zip(entries, xs, strict=True)):
                self._store(
                    entry,
                    x,
                    after.x.tensors[k],
                    after.m.tensors[k] if ms else None,
                    after.v.tensors[k] if vs else None,
                )
            return
        self._copy(xs, after.x.tensors)
        if ms:
            self._copy(ms, after.m.tensors)
        if vs:
            self._copy(vs, after.v.tensors)
        self._count([entry.step for entry in entries])

    def _store(
        self, entry: Entry, x: Tensor, new_x: Tensor, new_m: Tensor | None, new_v: Tensor | None
    ) -> None:
        if new_x.dtype != x.dtype and not self.on_device:
            self.rounded(x, new_x, int(entry.step) + 1)
        self._copy([x], [new_x])
        if entry.m is not None and new_m is not None:
            self._copy([plain(entry.m)], [new_m])
        if entry.v is not None and new_v is not None:
            self._copy([plain(entry.v)], [new_v])
        self._count([entry.step])

    def _copy(self, places: list[Tensor], values: list[Tensor]) -> None:
        if self.go is not None:
            go = self.go
            pairs = zip(places, values, strict=True)
            values = [torch.where(go, new, old.to(new.dtype)) for old, new in pairs]
        if len(places) == 1:
            places[0].copy_(values[0])
        else:
            torch._foreach_copy_(places, values)

    def _count(self, steps: list[Tensor]) -> None:
        if self.go is None:
            torch._foreach_add_(steps, 1)
        else:
            for step in steps:
                step.add_(self.go.to(step.dtype))

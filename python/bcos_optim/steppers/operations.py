"""The steps that torch's own operations take, on every device and under torch.compile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..blocks import Blocks, Coordinates, blocks_of, cut_dims
from ..limits import Limits, Report
from ..numbers import StepNumbers, step_numbers
from ..options import warn
from ..state import (
    WORKING,
    bytes_moved,
    check_state,
    local,
    narrowed,
    pieces_of,
)
from . import Group, Part
from .formula import Many, Moved, Same, known_to_be, moved

#: Bytes of a temporary, of which a step has thirteen at once. On the CPU they fit into its caches.
BUCKET = 4 << 20
BUCKET_ON_CPU = 1 << 20


@dataclass
class Entry:
    """A piece of a parameter with everything that its step reads and writes."""

    x: Tensor
    grad: Tensor
    places: dict[str, Tensor]  #: of m and v
    t: Any  #: how many steps the parameter has taken


class Update:
    """How the entries of one group are stepped."""

    def __init__(self, group: Group, limits: Limits, *, on_device: bool, told: Any = None) -> None:
        """``on_device``: counters and alpha stay tensors; ``told``: is given the results of 16-bit
        parameters before they are rounded."""
        options = group.options
        self.method, self.alpha, self.go = group.method, group.alpha, limits.go
        self.factor = -1.0 * limits.factor if options["maximize"] else limits.factor
        self.foreach = options["foreach"] in (None, True) and not options["differentiable"]
        self.on_device, self.told = on_device, told

    def run(self, entries: Sequence[Entry], blocks: Blocks) -> None:
        """On entries that share device, types and numbers."""
        many = len(entries) > 1 or (self.foreach and isinstance(blocks, Coordinates))
        dtype = WORKING[entries[0].x.dtype]
        streams = {
            key: self._of([_copied(entry.places[key]) for entry in entries], many)
            for key in self.method.streams
        }
        raw = self._of([entry.grad.to(dtype) for entry in entries], many)
        if not known_to_be(self.factor, 1):
            tensor = isinstance(self.factor, Tensor)
            raw = raw * _for_all(self.factor.to(dtype) if tensor else self.factor, many)
        after = moved(
            self.method,
            self._numbers(entries, dtype, many),
            blocks,
            self._of([_copied(entry.x).to(dtype) for entry in entries], many),
            raw,
            streams.get("m"),
            streams.get("v"),
        )
        self._write(entries, after, many)

    @staticmethod
    def _of(tensors: list[Tensor], many: bool) -> Any:
        return Many(tensors) if many else tensors[0]

    def _numbers(self, entries: Sequence[Entry], dtype: torch.dtype, many: bool) -> StepNumbers:
        alpha, t = self.alpha, entries[0].t
        if self.on_device:
            if isinstance(alpha, Tensor):
                alpha = alpha.reshape(()).to(device=entries[0].x.device, dtype=dtype)
            if self.method.start == "zero":
                t = 1  # numbers do not depend on it
            else:
                t = self._of([entry.t.to(dtype) for entry in entries], many)
        elif isinstance(alpha, Tensor):
            alpha = alpha.reshape(()) if alpha.requires_grad else float(alpha)
        numbers = step_numbers(self.method, alpha, t)
        numbers.alpha = _for_all(numbers.alpha, many)
        numbers.delta = _for_all(numbers.delta, many)
        return numbers

    def _write(self, entries: Sequence[Entry], after: Moved, many: bool) -> None:
        xs = [entry.x for entry in entries]
        new = after.x.tensors if many else [after.x]
        if self.told is not None and new[0].dtype != xs[0].dtype:
            for x, wanted, entry in zip(xs, new, entries, strict=True):
                self.told(x, wanted, entry.t)
        _copy(xs, self._allowed(xs, new))
        for key in self.method.streams:
            values = getattr(after, key)
            places = [entry.places[key] for entry in entries]
            _copy(places, self._allowed(places, values.tensors if many else [values]))

    def _allowed(self, old: list[Tensor], new: list[Tensor]) -> list[Tensor]:
        if not isinstance(self.go, Tensor):
            return new
        pairs = zip(new, old, strict=True)
        return [torch.where(self.go, a, b.to(a.dtype)) for a, b in pairs]

    def count(self, steps: list[Tensor]) -> None:
        if not isinstance(self.go, Tensor):
            torch._foreach_add_(steps, 1)
            return
        for step in steps:
            step.add_(self.go.to(step.dtype))


def _for_all(number: Any, many: bool) -> Any:
    return Same(number) if many and isinstance(number, Tensor) else number


def _copied(tensor: Tensor) -> Tensor:
    """For autograd a copy: the tensor itself is written to by this step and the next."""
    return tensor.clone() if torch.is_grad_enabled() else tensor


def _copy(places: list[Tensor], values: list[Tensor]) -> None:
    if len(places) == 1:
        places[0].copy_(values[0])
    elif places[0].dtype == values[0].dtype:
        torch._foreach_copy_(places, values)
    else:
        for place, value in zip(places, values, strict=True):
            place.copy_(value)


class Operations:
    """Steps pieces of parameters, gathered in buckets, so that temporaries stay small whatever the
    model."""

    def __init__(self) -> None:
        self._told = False
        self._lists: tuple[Any, dict[Any, Blocks]] = (None, {})

    def refuses(self, x: Tensor, gradient: Tensor | None) -> str | None:
        return None

    def step(self, parts: Sequence[Part], limits: Limits) -> Report:
        if not isinstance(limits.go, Tensor) and not limits.go:
            return limits.report
        elements = moved_bytes = 0
        for part in parts:
            stepping = part.chosen([gradient is not None for gradient in part.grads])
            if stepping.params:
                self._step(stepping, limits)
            for x, gradient, state in zip(
                stepping.xs, stepping.grads, stepping.states, strict=True
            ):
                streams = [local(state[key]) for key in ("m", "v") if key in state]
                elements += x.numel()
                moved_bytes += bytes_moved(x, gradient, streams)
        report = limits.report or Report()
        above = any(map(_decays_above_one, parts))
        return Report(report.norm, report.clipped, False, above, elements, moved_bytes)

    def _step(self, part: Part, limits: Limits) -> None:
        capturable, method = part.group.options["capturable"], part.group.method
        for p, state in zip(part.params, part.states, strict=True):
            check_state(state, p, method, part.group.name_of)
        update = Update(
            part.group,
            limits,
            on_device=capturable,
            told=None if capturable else self._look_for_lost_updates,
        )
        for entries, blocks in self._buckets(part, update):
            update.run(entries, blocks)
        update.count([state["step"] for state in part.states])

    def _buckets(self, part: Part, update: Update) -> Iterator[tuple[list[Entry], Blocks]]:
        """Entries that share device, types and numbers, of a bucket's size together."""
        layout = update.method.blocks
        waiting: dict[Any, list[Entry]] = {}
        filled: dict[Any, int] = {}
        for x, gradient, state in zip(part.xs, part.grads, part.states, strict=True):
            if x.numel() == 0:
                continue
            t = state["step"] if update.on_device else int(state["step"])
            key = (x.device, x.dtype, gradient.dtype, None if update.on_device else t)
            dims = [] if torch.is_grad_enabled() else cut_dims(layout, x.dim())
            most = (BUCKET_ON_CPU if x.is_cpu else BUCKET) // WORKING[x.dtype].itemsize
            for piece in pieces_of(x, most, dims):
                pieces = dict.fromkeys(update.method.streams, piece)
                if layout != "coordinate":
                    pieces["v"] = tuple((0, start, length) for _, start, length in piece)
                places = {
                    key: narrowed(local(state[key]), pieces[key]) for key in update.method.streams
                }
                entry = Entry(narrowed(x, piece), narrowed(gradient, piece), places, t)
                if layout != "coordinate" or not update.foreach:
                    yield [entry], self._blocks_of(layout, entry.x)
                    continue
                size = entry.x.numel()
                if filled.get(key, 0) + size > most and waiting.get(key):
                    yield waiting.pop(key), Coordinates()
                    filled[key] = 0
                waiting.setdefault(key, []).append(entry)
                filled[key] = filled.get(key, 0) + size
        for entries in waiting.values():
            yield entries, Coordinates()

    def _blocks_of(self, layout: Any, x: Tensor) -> Blocks:
        if isinstance(layout, str):
            return blocks_of(layout, x.shape, x.device)
        if self._lists[0] is not layout:
            self._lists = (layout, {})
        known = self._lists[1]
        key = (x.shape, x.device)
        if key not in known:
            known[key] = blocks_of(layout, x.shape, x.device)
        return known[key]

    def _look_for_lost_updates(self, x: Tensor, wanted: Tensor, t: int) -> None:
        """Warns once when most updates of a 16-bit parameter are lost in rounding. Looks at steps
        1, 2, 4, 8, ..."""
        if self._told or (t + 1) & t or x.is_meta:
            return
        moving = wanted != x.to(wanted.dtype)
        lost = moving & (wanted.to(x.dtype) == x)
        if 2 * int(lost.sum()) > int(moving.sum()):
            self._told = True
            warn(
                f"more than half of the updates of a {x.dtype} parameter vanish in rounding; keep "
                "float32 parameters, and let autocast compute in 16 bits"
            )


def _decays_above_one(part: Part) -> bool:
    method, alpha = part.group.method, part.group.alpha
    if method.decay != "decoupled" or isinstance(alpha, Tensor):
        return False
    return alpha * method.lambda_ > 1


def step_in_graph(
    group: Group, lists: Sequence[list[Tensor]], streams: dict[str, list[Tensor]], limits: Limits
) -> None:
    """The step on whole tensors, for torch.compile, which cuts it up itself. ``lists``: parameters,
    gradients, counters."""
    xs, grads, steps = lists
    if not xs:
        return
    update = Update(group, limits, on_device=True)
    buckets: dict[Any, list[Entry]] = {}
    for i, x in enumerate(xs):
        if x.numel() == 0:
            continue
        places = {key: local(column[i]) for key, column in streams.items() if column}
        key = (x.device, x.dtype, grads[i].dtype)
        entry = Entry(x, grads[i], places, steps[i])
        buckets.setdefault(key, []).append(entry)
    for entries in buckets.values():
        if group.method.blocks == "coordinate":
            update.run(entries, Coordinates())
            continue
        for entry in entries:
            update.run([entry], blocks_of(group.method.blocks, entry.x.shape, entry.x.device))
    update.count(list(steps))

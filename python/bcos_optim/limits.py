"""What looks at all gradients of a step before anything is written: clipping, guard, scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .numbers import wide_dtype
from .state import is_dtensor, narrowed, pieces_of

#: Elements that are squared at a time.
PIECE = 1 << 18


@dataclass(frozen=True)
class Report:
    """What a step did."""

    norm: float = math.nan  #: of all gradients, before clipping; NaN where nothing asked for it
    clipped: bool = False
    skipped: bool = False  #: nothing was changed: the guard or GradScaler found NaN or infinity
    decay_above_one: bool = False  #: lr * weight_decay > 1 somewhere: outside the theory
    elements: int = 0  #: weights of the parameters that took the step
    bytes: int = 0  #: what the step reads and writes if it passes over memory once


@dataclass
class Limits:
    """What a step is asked to keep to, and, once ``settled``, what that means for all gradients."""

    guard: str = "propagate"
    max_norm: float | None = None
    scale: Any = 1.0  #: gradients are to be divided by it
    found_inf: Any = None
    share: Any = None  #: what clipping leaves of every gradient; None: not settled
    go: Any = True  #: False: the step changes nothing
    report: Report | None = None  #: what looking at the gradients showed

    @classmethod
    def of(cls, groups: Sequence[dict[str, Any]], scale: Any, found_inf: Any) -> Limits:
        # Compiled: before torch 2.13 neither `next` with a default nor endless iterators were.
        limits = [(group["guard"], group["max_norm"]) for group in groups]
        if any(others != limits[0] for others in limits):
            raise ValueError(
                "Invalid parameter group: guard and max_norm are about all gradients of a step "
                "and must be the same in all groups"
            )
        guard, max_norm = limits[0] if limits else ("propagate", None)
        return cls(guard, max_norm, 1.0 if scale is None else scale, found_inf)

    @property
    def factor(self) -> Any:
        """Of every gradient."""
        return self.share / self.scale

    @property
    def looks(self) -> bool:
        return self.guard != "propagate" or self.max_norm is not None

    def settle(self, pairs: Iterable[tuple[Tensor, Tensor]]) -> None:
        """``pairs``: each parameter with its gradient as it lies here."""
        self.share, self.report = 1.0, Report()
        if not self.looks:
            return
        # Parameters on meta have no numbers to look at.
        norm = whole_norm([pair for pair in pairs if not pair[1].is_meta]) / self.scale
        skipped = not math.isfinite(norm) and self.guard != "propagate"
        if self.max_norm is not None:  # as in torch's clip_grad_norm_; NaN if the norm is
            ratio = self.max_norm / (norm + 1e-6)
            self.share = ratio if math.isnan(ratio) else min(1.0, ratio)
        self.go = not skipped
        self.report = Report(norm, clipped=self.share < 1 and not skipped, skipped=skipped)
        if skipped and self.guard == "raise":
            raise FloatingPointError(
                "expected finite gradients but received NaN or infinity: nothing was changed"
            )

    def settle_on_device(self, pairs: Sequence[tuple[Tensor, Tensor]]) -> None:
        """The same as tensors, for steps that are compiled or captured: nothing waits."""
        if self.guard == "raise":
            raise RuntimeError("guard='raise' cannot be compiled: use guard='skip'")
        found_inf = self.found_inf
        if isinstance(self.scale, Tensor):
            self.scale = self.scale.reshape(())
        self.share = 1.0
        go = None if found_inf is None else found_inf.reshape(()) == 0
        if pairs and self.looks:
            squares = [t.to(pairs[0][1].device) for t in _square_sums(pairs)]
            norm = torch.stack(squares).sum().sqrt() / self.scale
            if self.guard == "skip":
                finite = torch.isfinite(norm)
                go = finite if go is None else go & finite
            if self.max_norm is not None:
                self.share = (self.max_norm / (norm + 1e-6)).clamp(max=1.0)
        self.go = True if go is None else go


def whole_norm(pairs: Sequence[tuple[Tensor, Tensor]]) -> float:
    """In float64, over all shards; infinite or NaN only if a gradient is."""
    square = sum(map(float, _square_sums(pairs)))
    if not math.isinf(square):
        return math.sqrt(square)
    # Squares of float64 numbers may overflow where the numbers do not.
    unit = 2.0**600
    return math.sqrt(sum(map(float, _square_sums(pairs, unit)))) * unit


def _square_sums(pairs: Sequence[tuple[Tensor, Tensor]], unit: float = 1.0) -> list[Tensor]:
    """Sums of squares in this unit that make up the whole: one per device, and one per mesh, for
    which all its ranks meet once."""
    sums: dict[Any, tuple[Tensor, Tensor]] = {}
    lists: dict[Any, tuple[Tensor, list[Tensor]]] = {}
    for p, gradient in pairs:
        key = (p.device_mesh, p.placements) if is_dtensor(p) else gradient.device
        lists.setdefault(key, (p, []))[1].append(gradient)
    for p, gradients in lists.values():
        total = _sum_of_squares(gradients, unit)
        key = (p.device_mesh, _shards(p)) if is_dtensor(p) else gradients[0].device
        known = sums.get(key)
        sums[key] = (p, total if known is None else known[1] + total)
    return [_summed_over_shards(s, p) if is_dtensor(p) else s for p, s in sums.values()]


def _shards(p: Tensor) -> tuple[bool, ...]:
    """Along which dimensions of its mesh a parameter is cut."""
    return tuple(one.is_shard() for one in p.placements)


def _sum_of_squares(gradients: Sequence[Tensor], unit: float) -> Tensor:
    device = gradients[0].device if unit == 1 else torch.device("cpu")
    wide = wide_dtype(device)
    total = torch.zeros((), dtype=wide, device=device)
    bucket: list[Tensor] = []
    room = PIECE
    whole = torch.compiler.is_compiling()
    for gradient in gradients:
        small = whole or gradient.numel() <= PIECE
        pieces = [()] if small else pieces_of(gradient, PIECE, range(gradient.dim()))
        for piece in pieces:
            part = narrowed(gradient, piece)
            if part.numel() > room or (bucket and bucket[0].dtype != part.dtype):
                total = total + _square(bucket, wide, unit)
                bucket, room = [], PIECE
            bucket.append(part.reshape(-1))
            room -= part.numel()
    return total + _square(bucket, wide, unit) if bucket else total


def _square(bucket: list[Tensor], wide: torch.dtype, unit: float) -> Tensor:
    values = bucket[0] if len(bucket) == 1 else torch.cat(bucket)
    # Not all devices have the type whose range this unit fits.
    values = values.to(wide) if unit == 1 else values.to("cpu", torch.float64) / unit
    return torch.dot(values, values)


def _summed_over_shards(values: Tensor, p: Tensor) -> Tensor:
    """Added up over the ranks that hold other shards of a parameter placed like this one."""
    from torch.distributed.tensor import DTensor, Partial, Replicate

    placements = [Partial() if one.is_shard() else Replicate() for one in p.placements]
    # Meshes have devices of their own; offloaded shards lie elsewhere.
    shared = DTensor.from_local(values, p.device_mesh, placements, run_check=False)
    return shared.full_tensor().to(values.device)


def are_zero(pairs: Sequence[tuple[Tensor, Tensor]]) -> list[bool]:
    """Of each gradient whether it is zero on all ranks; they meet once per mesh."""
    counts = [gradient.any().to(torch.float32) for _, gradient in pairs]
    meshes: dict[Any, list[int]] = {}
    for i, (p, _) in enumerate(pairs):
        if is_dtensor(p):
            key = (p.device_mesh, _shards(p))
            meshes.setdefault(key, []).append(i)
    for places in meshes.values():
        mine = torch.stack([counts[i] for i in places])
        whole = _summed_over_shards(mine, pairs[places[0]][0])
        for i, count in zip(places, whole.unbind(), strict=True):
            counts[i] = count
    return [float(count) == 0 for count in counts]

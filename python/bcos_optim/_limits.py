"""What looks at all gradients of a step before anything is written: clipping and the guard."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ._tensors import is_dtensor, wide_dtype


def _real(gradient: Tensor) -> Tensor:
    return torch.view_as_real(gradient) if gradient.is_complex() else gradient


def _whole(value: Tensor) -> Tensor:
    return value.full_tensor() if is_dtensor(value) else value


def _norm(gradient: Tensor, unit: float = 1.0) -> float:
    """In units that its squares fit."""
    wide = wide_dtype(gradient.device)
    values = _real(gradient) if unit == 1 else _real(gradient).to(wide) / unit
    return float(_whole(torch.linalg.vector_norm(values, dtype=wide)))


def gradient_norm(gradients: Sequence[Tensor]) -> float:
    """In float64, over all shards; infinite or NaN only if a gradient is."""
    norms = [_norm(g) for g in gradients]
    largest = max(norms, default=0.0)
    if math.isinf(largest):
        # Squares of float64 numbers may overflow where the numbers do not.
        largest = max(
            (float(_whole(_real(g).abs().amax())) for g in gradients if g.numel()), default=0.0
        )
        if math.isfinite(largest):
            norms = [largest * _norm(g, largest) for g in gradients]
    if not all(map(math.isfinite, norms)):
        return math.nan if any(map(math.isnan, norms)) else math.inf
    return math.hypot(*norms) if norms else 0.0


def clipping(norm: float, max_norm: float | None) -> float:
    """The factor of torch's clip_grad_norm_; NaN if the norm is."""
    if max_norm is None:
        return 1.0
    share = max_norm / (norm + 1e-6)
    return share if math.isnan(share) else min(1.0, share)


@dataclass
class DeviceLimits:
    """The same as tensors, for steps that are compiled or captured."""

    factor: Any
    go: Tensor | None  #: False: the step changes nothing


def device_limits(
    gradients: Sequence[Tensor],
    guard: str,
    max_norm: float | None,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> DeviceLimits:
    if guard == "raise":
        raise RuntimeError("guard='raise' cannot be compiled: use guard='skip'")
    factor: Any = 1.0 if grad_scale is None else 1.0 / grad_scale.reshape(())
    go = None if found_inf is None else found_inf.reshape(()) == 0
    if gradients and (guard == "skip" or max_norm is not None):
        norms = [torch.linalg.vector_norm(_real(g), dtype=wide_dtype(g.device)) for g in gradients]
        norm = torch.linalg.vector_norm(torch.stack([n.to(norms[0].device) for n in norms]))
        norm = norm * factor
        if guard == "skip":
            finite = torch.isfinite(norm)
            go = finite if go is None else go & finite
        if max_norm is not None:
            factor = factor * (max_norm / (norm + 1e-6)).clamp(max=1.0)
    return DeviceLimits(factor, go)

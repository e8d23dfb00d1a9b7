"""The norm over all gradients of a step."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from ._tensors import is_dtensor


def gradient_norm(gradients: Sequence[Tensor]) -> float:
    """In float64, over all shards; infinite or NaN if any gradient is."""
    return math.sqrt(sum(_square(g) for g in gradients))


def _square(gradient: Tensor) -> float:
    real = torch.view_as_real(gradient) if gradient.is_complex() else gradient
    wide = torch.float32 if real.device.type == "mps" else torch.float64
    norm = torch.linalg.vector_norm(real, dtype=wide)
    if is_dtensor(norm):
        norm = norm.full_tensor()
    return float(norm) ** 2

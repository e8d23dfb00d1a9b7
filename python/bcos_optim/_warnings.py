"""Warnings that point at the user's line, not into this package or torch."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import torch

_INSIDE = tuple(f"{Path(file).parent}/" for file in (__file__, torch.__file__))


def warn(message: str) -> None:
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
        level += 1
    warnings.warn(f"bcos_optim: {message}", RuntimeWarning, stacklevel=level)

"""How the elements of a tensor share stepsizes, in torch's operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from .numbers import wide_dtype


class Blocks(Protocol):
    """How the elements of a tensor share stepsizes."""

    def sum(self, values: Any) -> Any: ...
    def largest(self, values: Any) -> Any: ...
    def length(self, values: Any) -> Any: ...
    def spread(self, values: Any, dtype: torch.dtype) -> Any: ...
    def gain(self) -> Any: ...


class Coordinates:
    """Every element is its own block."""

    def sum(self, values: Any) -> Any:
        return values

    def largest(self, values: Any) -> Any:
        return values

    def length(self, values: Any) -> Any:
        return values.abs()

    def spread(self, values: Any, dtype: torch.dtype) -> Any:
        return values

    def gain(self) -> Any:
        return 1.0


class Folded:
    """Blocks that are the rows of some matrix made of the tensor's elements; sums are wide."""

    def __init__(self, shape: torch.Size, fold: Callable[[Tensor], Tensor], size: int) -> None:
        self._shape = shape
        self._fold = fold
        self._size = size

    def sum(self, values: Tensor) -> Tensor:
        return self._fold(values).sum(dim=1, dtype=wide_dtype(values.device))

    def largest(self, values: Tensor) -> Tensor:
        folded = self._fold(values)
        return folded.amax(dim=1) if folded.shape[1] else folded.new_zeros(folded.shape[0])

    def length(self, values: Tensor) -> Tensor:
        return self.sum(values * values).sqrt()

    def spread(self, values: Tensor, dtype: torch.dtype) -> Tensor:
        return self.unfold(values.to(dtype).unsqueeze(1).expand(-1, self._size))

    def unfold(self, matrix: Tensor) -> Tensor:
        return matrix.reshape(self._shape)

    def gain(self) -> float:
        return math.sqrt(self._size)


class Columns(Folded):
    def unfold(self, matrix: Tensor) -> Tensor:
        return matrix.t().reshape(self._shape)


class Lists:
    """Explicit lists of row-major indices."""

    def __init__(self, layout: Any, shape: torch.Size, device: torch.device) -> None:
        self._shape = shape
        sizes = torch.tensor([len(indices) for indices in layout], device="cpu")
        flat = torch.tensor([i for indices in layout for i in indices], device="cpu")
        owner = torch.empty(math.prod(shape), dtype=torch.int64, device="cpu")
        owner[flat] = torch.arange(len(layout), device="cpu").repeat_interleave(sizes)
        self._owner = owner.to(device)
        self._sizes = sizes.to(device)

    def sum(self, values: Tensor) -> Tensor:
        wide = wide_dtype(values.device)
        total = torch.zeros(len(self._sizes), dtype=wide, device=values.device)
        return total.index_add(0, self._owner, values.reshape(-1).to(wide))

    def largest(self, values: Tensor) -> Tensor:
        most = values.new_zeros(len(self._sizes))
        return most.scatter_reduce(0, self._owner, values.reshape(-1), "amax")

    def length(self, values: Tensor) -> Tensor:
        return self.sum(values * values).sqrt()

    def spread(self, values: Tensor, dtype: torch.dtype) -> Tensor:
        return values.to(dtype)[self._owner].reshape(self._shape)

    def gain(self) -> Tensor:
        return self._sizes.to(wide_dtype(self._sizes.device)).sqrt()


def blocks_of(layout: Any, shape: torch.Size, device: torch.device) -> Blocks:
    """The blocks of a tensor of this shape, which ``check_blocks`` has seen."""
    if layout == "coordinate":
        return Coordinates()
    if not isinstance(layout, str):
        return Lists(layout, shape, device)
    count = block_count(layout, shape)
    n = math.prod(shape)
    if layout == "column":
        width = shape[-1] if shape else 1
        size = n // width if width else 0
        return Columns(shape, lambda t: t.reshape(size, width).t(), size)
    size = n // count if count else 0
    return Folded(shape, lambda t: t.reshape(count, size), size)


def check_blocks(layout: Any, shape: torch.Size) -> None:
    """Raises where a tensor of this shape cannot be cut so."""
    n = math.prod(shape)
    if not isinstance(layout, str):
        if sorted(i for indices in layout for i in indices) != list(range(n)):
            raise ValueError(f"Invalid blocks: the lists are no partition of 0..{n - 1}")
    elif layout.startswith("heads:") and (shape[0] if shape else 1) % block_count(layout, (1,)):
        raise ValueError(
            f"Invalid blocks: {layout} does not divide the first dimension of {tuple(shape)}"
        )


def block_count(layout: Any, shape: torch.Size | tuple[int, ...]) -> int:
    if math.prod(shape) == 0:
        return 0
    if not isinstance(layout, str):
        return len(layout)
    if layout == "tensor":
        return 1
    if layout.startswith("heads:"):
        return int(layout.partition(":")[2])
    if layout == "coordinate":
        return math.prod(shape)
    return shape[0 if layout == "row" else -1] if shape else 1


def cut_dims(layout: Any, rank: int) -> list[int]:
    """The dimensions along which a tensor may be cut without cutting a block."""
    if layout == "coordinate":
        return list(range(rank))
    return {"row": [0], "column": [rank - 1]}.get(layout, []) if rank else []

"""Views of parameters, gradients and states as plain real tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from . import _native

try:
    from torch.distributed.tensor import DTensor, Shard
except ImportError:  # torch without distributed
    DTensor = None

#: Tensors without ways of their own.
PLAIN = (Tensor, Parameter)

#: What parameters may be.
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
DTYPES += (torch.complex64, torch.complex128)
WORKING = {torch.float16: torch.float32, torch.bfloat16: torch.float32}


def is_dtensor(tensor: Tensor) -> bool:
    return DTensor is not None and isinstance(tensor, DTensor)


def is_fake(tensor: Tensor) -> bool:
    """Whether there are no numbers in it: under FakeTensorMode tensors have shapes alone."""
    return any(kind.__name__ == "FakeTensor" for kind in type(tensor).__mro__)


def working_dtype(dtype: torch.dtype) -> torch.dtype:
    """What a parameter of this type is computed in, and its state kept in."""
    return WORKING.get(dtype, dtype)


def plain(tensor: Tensor) -> Tensor:
    """The memory of a tensor as a real, local one: shards as they lie here, complex as pairs."""
    if is_dtensor(tensor):
        tensor = tensor.to_local()
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def check_gradient(param: Tensor, name: str) -> None:
    """Raises if the gradient of a parameter cannot be its gradient."""
    gradient = param.grad
    if gradient is None:
        return
    if gradient.layout != torch.strided:
        raise RuntimeError(
            f"BCOS does not support sparse gradients (parameter {name}): make the layer with "
            "sparse=False"
        )
    if gradient.dtype != param.dtype or gradient.device != param.device:
        raise ValueError(
            f"Invalid gradient of parameter {name}: expected {param.dtype} on {param.device}, "
            f"received {gradient.dtype} on {gradient.device}"
        )
    if gradient.shape != param.shape:
        raise ValueError(
            f"Invalid gradient of parameter {name}: expected shape {tuple(param.shape)}, received "
            f"{tuple(gradient.shape)}"
        )
    if is_dtensor(gradient) != is_dtensor(param):
        kinds = [("DTensor" if is_dtensor(t) else "plain tensor") for t in (param, gradient)]
        raise ValueError(
            f"Invalid gradient of parameter {name}: expected a {kinds[0]}, received a {kinds[1]}"
        )


def placed_like(gradient: Tensor, param: Tensor) -> Tensor:
    """The gradient with the placements of its parameter: where they differ, shards do not match."""
    if not is_dtensor(param) or gradient.placements == param.placements:
        return gradient
    return gradient.redistribute(param.device_mesh, param.placements)


def plain_shape(tensor: Tensor) -> torch.Size:
    local = tensor.to_local() if is_dtensor(tensor) else tensor
    return torch.Size((*local.shape, 2)) if local.is_complex() else local.shape


def check_uncut(param: Tensor, blocks: Any, name: str) -> None:
    """Raises if a shard of the parameter would cut a block."""
    if not is_dtensor(param) or blocks == "coordinate":
        return
    sharded = [placement.dim for placement in param.placements if placement.is_shard()]
    partial = any(placement.is_partial() for placement in param.placements)
    whole = {"row": {0}, "column": {param.dim() - 1}}.get(blocks, set())
    if partial or any(dim not in whole for dim in sharded):
        raise ValueError(
            f"Invalid blocks: {blocks!r} of parameter {name} would be cut by its placement "
            f"{tuple(param.placements)}; use blocks='coordinate' or shard another dimension"
        )


def placed_as_blocks(v: Tensor, param: Tensor) -> Tensor:
    """One number a block of what lies here, as a shard of the numbers of all blocks: a checkpoint
    must not take it for the same on every rank."""
    if not is_dtensor(param) or not any(p.is_shard() for p in param.placements):
        return v
    sharded = next(p.dim for p in param.placements if p.is_shard())
    placements = [Shard(0) if p.is_shard() else p for p in param.placements]
    shape = (param.shape[sharded],)  # rows or columns: see check_uncut
    return DTensor.from_local(
        v, param.device_mesh, placements, run_check=False, shape=shape, stride=(1,)
    )


def wide_dtype(device: torch.device) -> torch.dtype:
    """What sums are made in."""
    return torch.float32 if device.type == "mps" else torch.float64


#: m lies as the parameter does; v, one number a block, lies dense in the order of the blocks.
STATE_FORMATS = {"m": torch.preserve_format, "v": torch.contiguous_format}


#: Bytes of a state that is worth huge pages.
LARGE = 4 << 20


def room_like(tensor: Tensor, dtype: torch.dtype, memory_format: torch.memory_format) -> Tensor:
    """Memory for a state, not written yet: in huge pages if it is large and the system has them."""
    room = torch.empty_like(tensor, dtype=dtype, memory_format=memory_format)
    here = type(room) in PLAIN and room.device.type == "cpu"
    if here and room.nbytes >= LARGE and not torch.compiler.is_compiling():
        _native.prefer_huge_pages(room)
    return room


def state_like(param: Tensor, name: str) -> Tensor:
    """Zeros for a state with one number an element."""
    return room_like(param, working_dtype(param.dtype), STATE_FORMATS[name]).zero_()


def state_copy(value: Tensor, name: str) -> Tensor:
    """A state of one's own, from one that was loaded."""
    memory_format = STATE_FORMATS.get(name, torch.preserve_format)
    return room_like(value, value.dtype, memory_format).copy_(value)


class StateRoom:
    """Makes the states of a list of parameters. Thousands of small ones, each in a place of its
    own, cost more to find than to step: they are cut out of larger pieces of memory, side by side.
    """

    MANY = 1_000
    SMALL = 1 << 14  #: elements
    PIECE = 1 << 20
    GRID = 16

    def __init__(self, params: Sequence[Tensor]) -> None:
        self._shared = sum(map(self._is_small, params)) >= self.MANY
        self._pieces: dict[torch.dtype, Tensor] = {}  #: what is left of them

    def state_like(self, param: Tensor, name: str) -> Tensor:
        if not self._shared or not self._is_small(param):
            return state_like(param, name)
        piece = self._pieces.get(param.dtype)
        if piece is None or piece.numel() < param.numel():
            piece = torch.zeros(self.PIECE, dtype=param.dtype, device="cpu")
        self._pieces[param.dtype] = piece[-(-param.numel() // self.GRID) * self.GRID :]
        # No view: it counts its own writes.
        state = torch.empty(0, dtype=param.dtype, device="cpu")
        where = piece.untyped_storage(), piece.storage_offset()
        return state.set_(*where, param.shape, param.stride())

    def _is_small(self, param: Tensor) -> bool:
        return (
            type(param) in PLAIN
            and param.dtype in (torch.float32, torch.float64)
            and param.device.type == "cpu"
            and param.numel() <= self.SMALL
            and param.is_contiguous()
        )

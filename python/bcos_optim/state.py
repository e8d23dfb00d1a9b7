"""The state of a parameter: which streams it has, how each is stored, and where it lies."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from .blocks import block_count, check_blocks, cut_dims
from .numbers import Method

#: The classes of tensors that are nothing but their memory.
PLAIN = {Tensor, Parameter}

#: The types that parameters may have, and the type that each is computed and kept in.
WORKING = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
WORKING |= {t: t for t in (torch.float32, torch.float64, torch.complex64, torch.complex128)}

#: Where a piece of a tensor is: (dimension, start, length) again and again.
Piece = tuple[tuple[int, int, int], ...]
Layout = tuple[torch.Size, torch.dtype]
#: What messages call a parameter; asked only if there is one.
NameOf = Callable[[Tensor], str]


def layout_of(p: Tensor, method: Method) -> dict[str, Layout]:
    """Shape and type of what a method keeps of a parameter: m as the parameter, v as well or one
    number per block, in the order of the blocks."""
    dtype = WORKING[p.dtype]
    layout = {key: (p.shape, dtype) for key in method.streams}
    if method.keeps_v and method.blocks != "coordinate":
        # Shards of v say how many blocks there are in all: rows or columns, see check_uncut.
        whole = p.shape if is_sharded(p) else local(p).shape
        layout["v"] = (torch.Size((block_count(method.blocks, whole),)), dtype.to_real())
    return layout


def _make_per_block(p: Tensor, method: Method, shape: torch.Size, dtype: torch.dtype) -> Tensor:
    mine = local(p)
    v = torch.zeros(block_count(method.blocks, mine.shape), dtype=dtype, device=mine.device)
    if not is_sharded(p):
        return v
    from torch.distributed.tensor import DTensor, Shard

    placements = [Shard(0) if one.is_shard() else one for one in p.placements]
    return DTensor.from_local(
        v, p.device_mesh, placements, run_check=False, shape=shape, stride=(1,)
    ).to(mine.device)  # from_local moves to the mesh's device: the wrong one if offloaded


def make_state(state: dict[str, Any], p: Tensor, method: Method, *, count_on_device: bool) -> None:
    """Adds what a method keeps of a parameter that has not taken a step."""
    for key, (shape, dtype) in layout_of(p, method).items():
        if key == "v" and method.blocks != "coordinate":
            state[key] = _make_per_block(p, method, shape, dtype)
        else:
            state[key] = torch.zeros_like(p, dtype=dtype, requires_grad=False)
    device = p.device if count_on_device else torch.device("cpu")
    state["step"] = torch.zeros((), dtype=torch.int64, device=device)


def check_state(state: dict[str, Any], p: Tensor, method: Method, name_of: NameOf) -> None:
    """Raises if a state is not the one of this parameter under this method."""
    expected = layout_of(p, method)
    if {"m", "v"} & state.keys() != expected.keys():
        raise ValueError(
            f"Invalid mode: the state of parameter {name_of(p)} is of another one; make a new "
            "optimizer"
        )
    for key, (shape, dtype) in expected.items():
        if state[key].dtype != dtype:
            raise ValueError(
                f"Invalid parameter {name_of(p)}: it is {p.dtype} now but its state is "
                f"{state[key].dtype}; make a new optimizer after changing the model's type"
            )
        if state[key].shape != shape:
            raise ValueError(
                f"Invalid parameter {name_of(p)}: its shape is {tuple(p.shape)} now but its state "
                f"{key!r} is of shape {tuple(state[key].shape)}; make a new optimizer after "
                "changing the model"
            )


def check_parameter(p: Tensor, method: Method, name_of: NameOf) -> None:
    """Raises if a parameter cannot be stepped by a method."""
    if p.dtype not in WORKING:
        known = ", ".join(str(dtype).removeprefix("torch.") for dtype in WORKING)
        raise ValueError(
            f"Invalid parameter {name_of(p)}: expected one of {known}, received {p.dtype}"
        )
    if method.blocks != "coordinate":
        check_uncut(p, method.blocks, name_of)
        try:
            check_blocks(method.blocks, local(p).shape)
        except ValueError as error:
            raise ValueError(f"{error} (parameter {name_of(p)})") from None


def check_uncut(p: Tensor, blocks: Any, name_of: NameOf) -> None:
    """Raises if a shard of the parameter would cut a block."""
    if not is_dtensor(p):
        return
    dims = {one.dim for one in p.placements if one.is_shard()}
    partial = any(one.is_partial() for one in p.placements)
    if partial or not dims <= set(cut_dims(blocks, p.dim())):
        raise ValueError(
            f"Invalid blocks: {blocks!r} of parameter {name_of(p)} would be cut by its placement "
            f"{tuple(p.placements)}; use blocks='coordinate' or shard another dimension"
        )


def check_gradient(p: Tensor, name_of: NameOf) -> None:
    """Raises if the gradient of a parameter cannot be its gradient."""
    gradient = p.grad
    if gradient is None:
        return
    if gradient.layout != torch.strided:
        raise RuntimeError(
            f"BCOS does not support sparse gradients (parameter {name_of(p)}): make the layer with "
            "sparse=False"
        )
    # Since torch 2.13 a parameter may ask for gradients of another type, or of any.
    dtype = getattr(p, "grad_dtype", p.dtype)
    alike = gradient.is_complex() == p.is_complex()
    if gradient.dtype != (dtype or gradient.dtype) or not alike or gradient.device != p.device:
        raise ValueError(
            f"Invalid gradient of parameter {name_of(p)}: expected {p.dtype} on {p.device}, "
            f"received {gradient.dtype} on {gradient.device}"
        )
    if gradient.shape != p.shape:
        raise ValueError(
            f"Invalid gradient of parameter {name_of(p)}: expected shape {tuple(p.shape)}, "
            f"received {tuple(gradient.shape)}"
        )
    if is_dtensor(gradient) != is_dtensor(p):
        kinds = [("DTensor" if is_dtensor(t) else "plain tensor") for t in (p, gradient)]
        raise ValueError(
            f"Invalid gradient of parameter {name_of(p)}: expected a {kinds[0]}, received a "
            f"{kinds[1]}"
        )


def is_dtensor(tensor: Tensor) -> bool:
    # The module takes half a second to import; whoever has a DTensor has imported it.
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(tensor, module.DTensor)


def is_sharded(tensor: Tensor) -> bool:
    return is_dtensor(tensor) and any(one.is_shard() for one in tensor.placements)


def is_fake(tensor: Tensor) -> bool:
    """Whether torch runs in FakeTensorMode, where tensors have shapes and no numbers."""
    return any(kind.__name__ == "FakeTensor" for kind in type(tensor).__mro__)


def local(tensor: Tensor) -> Tensor:
    """The memory of a tensor as a real, local one: of a shard what lies here, complex as pairs."""
    if is_dtensor(tensor):
        tensor = tensor.to_local()
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def local_gradient(p: Tensor, gradient: Tensor) -> Tensor:
    """The gradient, lying on this rank as its parameter does."""
    if is_dtensor(p) and gradient.placements != p.placements:
        gradient = gradient.redistribute(p.device_mesh, p.placements)
    return local(gradient)


def narrowed(tensor: Tensor, piece: Piece) -> Tensor:
    for dim, start, length in piece:
        tensor = tensor.narrow(dim, start, length)
    return tensor


def pieces_of(tensor: Tensor, most: int, dims: Sequence[int]) -> Iterator[Piece]:
    """Pieces of at most so many elements, cut along these dimensions; the dimension with the
    largest stride is cut first, so that pieces of dense tensors are dense."""
    dims = [dim for dim in dims if tensor.shape[dim] > 1]
    if tensor.numel() <= most or not dims:
        yield ()
        return
    dim = max(dims, key=lambda d: (tensor.stride(d), -d))
    each = max(1, most * tensor.shape[dim] // tensor.numel())
    others = [d for d in dims if d != dim]
    for start in range(0, tensor.shape[dim], each):
        first = (dim, start, min(each, tensor.shape[dim] - start))
        for rest in pieces_of(tensor.narrow(*first), most, others):
            yield (first, *rest)


def bytes_moved(x: Tensor, gradient: Tensor, states: Sequence[Tensor]) -> int:
    """What a step reads and writes if it passes over memory once."""
    return 2 * sum(t.nbytes for t in (x, *states)) + gradient.nbytes

"""How tensors are built in the torch at hand, found out from tensors."""

from __future__ import annotations

import struct
from ctypes import Structure, c_uint32, c_uint64
from functools import cache
from typing import BinaryIO

import torch
from torch import Tensor


class Parts(Structure):
    """At which word of a tensor's parts something is."""

    _fields_ = [
        ("tensor", c_uint32),  #: of the Python object
        ("storage", c_uint32),  #: of the tensor
        ("meta", c_uint32),  #: of the tensor
        ("version", c_uint32),  #: of the tensor
        ("description", c_uint32),  #: of the tensor; four words
        ("gradient", c_uint32),  #: of meta
        ("memory", c_uint32),  #: of the storage
        ("counter", c_uint32),  #: of the version
        ("kind_mask", c_uint64),  #: the bytes of a description's kind that tell kinds apart
    ]


@cache
def parts() -> Parts | None:
    """None if tensors are not built as expected."""
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            with torch.inference_mode(False):
                return _found(memory)
    except (AttributeError, IndexError, OSError, OverflowError, ValueError, struct.error):
        return None


def _words(memory: BinaryIO, address: int, count: int = 8) -> tuple[int, ...]:
    """Read as from a file: an address that is none raises and does not crash."""
    memory.seek(address)
    return struct.unpack(f"={count}Q", memory.read(8 * count))


def _zeros(*shape: int, dtype: torch.dtype = torch.float32, device: str = "cpu") -> Tensor:
    """Whatever the defaults are."""
    return torch.zeros(shape, dtype=dtype, device=device)


def _found(memory: BinaryIO) -> Parts | None:
    p = torch.nn.Parameter(_zeros(1))
    p.grad = _zeros(1)
    unknown = _zeros(1)
    tensor = _words(memory, id(p), type(p).__basicsize__ // 8).index(p._cdata)
    words = _words(memory, p._cdata)
    storage = words.index(p.untyped_storage()._cdata)
    place = _words(memory, words[storage]).index(p.untyped_storage().data_ptr())
    # Known neighbours, each proved by what is behind it.
    meta, version = storage + 1, storage + 3
    gradient = _words(memory, words[meta]).index(p.grad._cdata)
    if _words(memory, unknown._cdata)[meta] != 0:
        return None
    before = _words(memory, words[version], 3)
    torch.autograd.graph.increment_version(p)
    after = _words(memory, words[version], 3)
    steps = [new - old for old, new in zip(before, after, strict=True)]
    if sorted(steps) != [0, 0, 1]:
        return None
    description = _description(memory)
    if description is None:
        return None
    start, mask = description
    return Parts(tensor, storage, meta, version, start, gradient, place, steps.index(1), mask)


class _Dispatching(Tensor):
    """A tensor that stands for another one."""

    __torch_dispatch__ = classmethod(lambda cls, function, types, args=(), kwargs=None: None)


def _description(memory: BinaryIO) -> tuple[int, int] | None:
    """The word with the offset in the storage; size, kind and keys follow it, which is proved by
    tensors that differ in nothing else. And which bytes of the kind tell kinds apart: some of its
    bits are never written."""
    size, offset = 76_543, 12_345
    rest = _zeros(size + offset)[offset:]
    words = _words(memory, rest._cdata, 24)
    start = words.index(offset)

    def of(tensor: Tensor) -> tuple[int, ...]:
        return _words(memory, tensor._cdata, 24)[start : start + 4]

    plain = _zeros(2, 3)
    _, _, kind, keys = of(plain)
    other_kinds = (
        _zeros(2, 3, dtype=torch.float64),
        _zeros(2, 3, dtype=torch.float16),
        _zeros(2, 3, device="meta"),
        _zeros(3, 2).t(),
    )
    bits = 0
    for tensor in other_kinds:
        bits |= of(tensor)[2] ^ kind
    mask = sum(0xFF << shift for shift in range(0, 56, 8) if bits >> shift & 0xFF)

    def masked(tensor: Tensor) -> tuple[int, ...]:
        offset, elements, kind, keys = of(tensor)
        return offset, elements, kind & mask, keys

    kind &= mask
    x = torch.nn.Parameter(_zeros(2, 3))
    same = (plain, plain.clone(), plain.detach(), x, x.detach())
    handled = (torch._neg_view(plain), plain.as_subclass(_Dispatching))
    proved = (
        words[start + 1] == size
        and all(masked(tensor) == (0, 6, kind, keys) for tensor in same)
        and masked(_zeros(7)) == (0, 7, kind, keys)
        and masked(_zeros(12)[6:].view(2, 3)) == (6, 6, kind, keys)
        and len({masked(tensor)[2] for tensor in other_kinds} | {kind}) == 1 + len(other_kinds)
        and all(masked(tensor)[2] == kind and of(tensor)[3] != keys for tensor in handled)
    )
    return (start, mask) if proved else None

"""The formula in torch's operations, written once for a tensor and for lists of them.

Everything is computed on numbers divided by the largest of their block, so that squares neither
overflow nor vanish: d/sqrt(v) is free of scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..blocks import Blocks
from ..numbers import Method, StepNumbers

#: No |d|/sqrt(v) that is longer is used; only an Adam m that does not belong to its v has one.
MOST_AMPLIFIED = 1e20


def _each(name: str) -> Callable[..., Many]:
    function = getattr(torch, f"_foreach_{name}")

    def apply(self: Many, *others: Any) -> Many:
        return Many(list(function(self.tensors, *map(_operand, others))))

    return apply


def _operand(other: Any) -> Any:
    if isinstance(other, Many):
        return other.tensors
    return other.tensor if isinstance(other, Same) else other


class Many:
    """A list of tensors that is computed with like one, by torch's foreach operations."""

    def __init__(self, tensors: list[Tensor]) -> None:
        self.tensors = tensors

    @property
    def dtype(self) -> torch.dtype:
        return self.tensors[0].dtype

    def __rsub__(self, number: float) -> Many:
        return -self + number

    def detach(self) -> Many:
        return Many([tensor.detach() for tensor in self.tensors])

    __add__, __sub__, __mul__, __truediv__ = map(_each, ("add", "sub", "mul", "div"))
    __rmul__ = __mul__
    __neg__, abs, sqrt, expm1 = map(_each, ("neg", "abs", "sqrt", "expm1"))
    maximum, reciprocal = map(_each, ("maximum", "reciprocal"))
    clamp_min, clamp_max = map(_each, ("clamp_min", "clamp_max"))


class Same:
    """A tensor with one element that all tensors of Many are computed with. torch.compile takes an
    operation on a bare tensor for one of tensors alone."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


@dataclass
class Moved:
    """What a step leads to."""

    x: Any
    m: Any
    v: Any


def moved(
    method: Method, n: StepNumbers, blocks: Blocks, x: Any, raw: Any, m: Any, v: Any
) -> Moved:
    """The step on one tensor, or on Many."""
    g = raw + x * n.lambda_ if n.lambda_ else raw
    if not known_to_be(n.started, 1):
        m = m * n.started + raw * n.begins if m is not None else None
        v = v * n.started + blocks.sum(raw * raw) * n.begins if v is not None else None
    gain = blocks.gain() if method.block_gain == "sqrt" else 1.0

    if method.estimator == "constant":
        d = m * n.beta + g * n.fresh if method.momentum else g
        root = math.sqrt(method.c + method.eps_root) + method.eps
        # gain is a number, or one number per block where the blocks are lists
        move = d * n.alpha / root
        if isinstance(gain, Tensor):
            move = move * blocks.spread(gain, move.dtype)
        elif gain != 1:
            move = move * gain
        return Moved(_stepped(x, n, move), d, None)

    dtype = x.dtype
    scale = _scale(method, blocks, g, m, v)
    wide = blocks.spread(scale, dtype)
    g_ = g / wide
    m_ = m / wide if _reads_m(method) else g_
    d_ = m_ * n.beta + g_ * n.fresh if _reads_m(method) else g_
    estimate = _estimate(method, n, blocks, g_, m_, d_, None if v is None else v / scale / scale)
    inverse = scale.reciprocal()
    if method.eps_root:
        rooted = inverse * math.sqrt(method.eps_root)
        estimate = estimate + rooted * rooted
    root = estimate.sqrt()
    if method.eps:
        root = root + inverse * method.eps
    d = m * n.beta + g * n.fresh if method.momentum else g
    new_v = None
    if method.keeps_v:
        square = blocks.sum(d * d if method.estimator == "ema_d" else g * g)
        new_v = (v * n.p + square * n.q).clamp_max(torch.finfo(dtype).max)
    if method.estimator == "ema_g":
        length = blocks.length(d_.detach())
        if method.eps == 0 and method.eps_root == 0:
            root = _instead_of_zero(root, new_v, length)
        root = root.maximum(length / MOST_AMPLIFIED)
    root = root.clamp_min(torch.finfo(dtype).tiny)
    if isinstance(gain, Tensor) or gain != 1:
        root = root / gain
    ratio = d_ / blocks.spread(root, dtype)
    return Moved(_stepped(x, n, ratio * n.alpha), d, new_v)


def known_to_be(number: Any, value: float) -> bool:
    """Whether it is this number, as far as Python knows."""
    return not isinstance(number, (Tensor, Same, Many)) and number == value


def _stepped(x: Any, n: StepNumbers, move: Any) -> Any:
    """Next to 1, a small alpha lambda would be rounded away."""
    return x - (move if known_to_be(n.delta, 0) else x * n.delta + move)


def _instead_of_zero(root: Any, v: Any, length: Any) -> Any:
    """Where v has vanished, scaled or not, the length of d: the step is alpha d/|d|."""
    vanished = root + v
    if not isinstance(vanished, Many):
        return torch.where(vanished == 0, length, root)
    lists = (vanished.tensors, length.tensors, root.tensors)
    return Many([torch.where(z == 0, a, b) for z, a, b in zip(*lists, strict=True)])


def _estimate(
    method: Method, n: StepNumbers, blocks: Blocks, g: Any, m: Any, d: Any, v: Any
) -> Any:
    if method.estimator == "instant":
        return blocks.sum(d * d)
    if method.estimator == "ema_d":
        return v * n.p + blocks.sum(d * d) * n.q
    if method.estimator == "ema_g":
        return v * n.p + blocks.sum(g * g) * n.q
    fresh = g + m * n.beta if method.estimator == "cond_full" else g
    return blocks.sum(m * m) * n.p + blocks.sum(fresh * fresh) * n.q


def _reads_m(method: Method) -> bool:
    """Whether the old m counts in a step: at beta = 0 it may be of any size."""
    return method.momentum and (method.beta != 0 or method.estimator == "cond_free")


def _scale(method: Method, blocks: Blocks, g: Any, m: Any, v: Any) -> Any:
    """The largest number that a block's stepsize depends on; never 0."""
    scale = blocks.largest(g.detach().abs())
    if _reads_m(method):
        scale = scale.maximum(blocks.largest(m.detach().abs()))
    if v is not None:
        scale = scale.maximum(v.detach().sqrt())
    floor = max(math.sqrt(method.eps_root), method.eps, torch.finfo(scale.dtype).tiny)
    return scale.clamp_min(floor)

"""One step in torch's operations, written once for single tensors and for lists of them.

Everything is computed on numbers divided by the largest of their block, so that squares neither
overflow nor vanish: d/sqrt(v) is free of scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ._blocks import Blocks
from ._methods import Method
from ._tensors import wide_dtype

#: No |d|/sqrt(v) that is longer is used; only an Adam m that does not belong to its v has one.
MOST_AMPLIFIED = 1e20


class Many:
    """A list of tensors that is computed with like one, by torch's foreach operations."""

    def __init__(self, tensors: list[Tensor]) -> None:
        self.tensors = tensors

    @property
    def dtype(self) -> torch.dtype:
        return self.tensors[0].dtype

    def __add__(self, other: Any) -> Many:
        return Many(list(torch._foreach_add(self.tensors, _operand(other))))

    def __sub__(self, other: Any) -> Many:
        return Many(list(torch._foreach_sub(self.tensors, _operand(other))))

    def __rsub__(self, number: float) -> Many:
        return -self + number

    def __neg__(self) -> Many:
        return Many(list(torch._foreach_neg(self.tensors)))

    def __mul__(self, other: Any) -> Many:
        return Many(list(torch._foreach_mul(self.tensors, _operand(other))))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Many:
        return Many(list(torch._foreach_div(self.tensors, _operand(other))))

    def expm1(self) -> Many:
        return Many(list(torch._foreach_expm1(self.tensors)))

    def abs(self) -> Many:
        return Many(list(torch._foreach_abs(self.tensors)))

    def sqrt(self) -> Many:
        return Many(list(torch._foreach_sqrt(self.tensors)))

    def maximum(self, other: Many) -> Many:
        return Many(list(torch._foreach_maximum(self.tensors, other.tensors)))

    def reciprocal(self) -> Many:
        return Many(list(torch._foreach_reciprocal(self.tensors)))

    def clamp_min(self, bound: float) -> Many:
        return Many(list(torch._foreach_clamp_min(self.tensors, bound)))

    def clamp_max(self, bound: float) -> Many:
        return Many(list(torch._foreach_clamp_max(self.tensors, bound)))

    def copy_(self, other: Many) -> None:
        torch._foreach_copy_(self.tensors, other.tensors)

    def detach(self) -> Many:
        return Many([tensor.detach() for tensor in self.tensors])


@dataclass
class Same:
    """A number on the device, the same for Many. torch.compile takes a bare tensor beside an object
    of ours for an operation of its own."""

    tensor: Tensor


def _operand(other: Any) -> Any:
    if isinstance(other, Many):
        return other.tensors
    return other.tensor if isinstance(other, Same) else other


@dataclass
class Numbers:
    """The numbers of one step, as Python numbers, as tensors with one element, or as Many of these:
    one for each tensor."""

    alpha: Any
    delta: Any  #: alpha lambda under decoupled decay, else 0
    lambda_: float  #: of coupled decay
    beta: Any
    fresh: Any  #: 1 - beta
    p: Any  #: v = p A + q B, see include/bcos/step_numbers.hpp
    q: Any
    started: Any  #: 0 where the states begin from the raw gradient of this step, else 1
    begins: Any  #: 1 - started

    def of_many(self) -> Numbers:
        def same(number: Any) -> Any:
            return Same(number) if isinstance(number, Tensor) else number

        return Numbers(
            alpha=same(self.alpha),
            delta=same(self.delta),
            lambda_=self.lambda_,
            beta=same(self.beta),
            fresh=same(self.fresh),
            p=same(self.p),
            q=same(self.q),
            started=same(self.started),
            begins=same(self.begins),
        )


def _one_minus_power(beta: float, j: Any) -> Any:
    exponent = j * math.log(beta)
    return -(exponent.expm1() if isinstance(exponent, (Tensor, Many)) else math.expm1(exponent))


def _corrected(beta: float, t: Any) -> Any:
    """Adam's bias correction as a smoothing factor that changes with time."""
    if beta == 0:
        return 0.0
    return beta * _one_minus_power(beta, t) / _one_minus_power(beta, t + 1)


def numbers_of(method: Method, alpha: Any, t: Any) -> Numbers:
    """``t``: the parameter's own count of steps, a Python number, a tensor, or those of Many."""
    beta: Any = method.beta
    beta_v: Any = method.beta_v
    decayed = method.lambda_ != 0
    coupled = method.decay == "coupled" and decayed
    started: Any = 1.0
    if method.start == "zero_corrected":
        beta, beta_v = _corrected(beta, t), _corrected(beta_v, t)
    elif method.start == "first":
        begun = t.clamp_max(1) if isinstance(t, (Tensor, Many)) else min(t, 1)
        if coupled and method.coupled_start == "raw":
            started = begun
        else:
            # States that begin from g and then average in g are g.
            beta, beta_v = beta * begun, beta_v * begun
    p, q = beta_v, 1 - beta_v
    if method.estimator == "cond_full":
        p, q = beta * beta * (2 - beta * beta), (1 - beta) * (1 - beta)
    elif method.estimator == "cond_simple":
        p, q = beta * (2 - beta), (1 - beta) * (1 - beta)
    return Numbers(
        alpha=alpha,
        delta=_product(alpha, method.lambda_) if decayed and not coupled else 0.0,
        lambda_=method.lambda_ if coupled else 0.0,
        beta=beta,
        fresh=1 - beta,
        p=p,
        q=q,
        started=started,
        begins=1 - started,
    )


def _product(number: Any, factor: float) -> Any:
    """Rounded once, to the type of a tensor."""
    if not isinstance(number, Tensor):
        return number * factor
    return (number.to(wide_dtype(number.device)) * factor).to(number.dtype)


def known_to_be(number: Any, value: float) -> bool:
    """Whether it is this number, as far as Python knows."""
    return not isinstance(number, (Tensor, Same, Many)) and number == value


@dataclass
class Moved:
    x: Any
    m: Any
    v: Any


def moved(method: Method, n: Numbers, blocks: Blocks, x: Any, raw: Any, m: Any, v: Any) -> Moved:
    """The step on one tensor, or on Many: new parameter, new momentum, new v."""
    g = raw + x * n.lambda_ if n.lambda_ else raw
    if not known_to_be(n.started, 1):
        m = m * n.started + raw * n.begins if m is not None else None
        v = v * n.started + blocks.sum(raw * raw) * n.begins if v is not None else None
    gain = blocks.gain() if method.block_gain == "sqrt" else 1.0

    if method.estimator == "constant":
        d = m * n.beta + g * n.fresh if method.momentum else g
        root = math.sqrt(method.c + method.eps_root) + method.eps
        # gain is a number, or one number a block where the blocks are lists
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


def _stepped(x: Any, n: Numbers, move: Any) -> Any:
    """Next to 1, a small alpha lambda would be rounded away."""
    return x - (move if known_to_be(n.delta, 0) else x * n.delta + move)


def _instead_of_zero(root: Any, v: Any, length: Any) -> Any:
    """Where v has vanished, scaled or not, the length of d: the step is alpha d/|d|."""
    vanished = root + v
    if not isinstance(vanished, Many):
        return torch.where(vanished == 0, length, root)
    lists = (vanished.tensors, length.tensors, root.tensors)
    return Many([torch.where(z == 0, a, b) for z, a, b in zip(*lists, strict=True)])


def _estimate(method: Method, n: Numbers, blocks: Blocks, g: Any, m: Any, d: Any, v: Any) -> Any:
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

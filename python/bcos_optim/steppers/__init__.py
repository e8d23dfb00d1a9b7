"""Who takes a step: the parameters of an optimizer, dealt to those who can step them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Protocol

from torch import Tensor

from ..limits import Limits, Report, are_zero
from ..numbers import Method
from ..state import PLAIN, NameOf, check_gradient, is_dtensor, local, local_gradient

_gradient_of = attrgetter("grad")


@dataclass
class Group:
    """A parameter group, looked at for the step at hand."""

    options: dict[str, Any]  #: in full
    method: Method
    alpha: Any  #: the learning rate of the method: a number, or a tensor
    name_of: NameOf

    @property
    def alpha_is_zero(self) -> bool:
        """Whether Python can tell that it is."""
        alpha = self.alpha
        elsewhere = isinstance(alpha, Tensor) and (not alpha.is_cpu or alpha.is_meta)
        return not self.options["differentiable"] and not elsewhere and float(alpha) == 0


@dataclass
class Part:
    """What one stepper takes of a group: parallel lists, an entry per parameter that has a gradient
    or a state."""

    group: Group
    params: list[Tensor] = field(default_factory=list)
    xs: list[Tensor] = field(default_factory=list)  #: the memory of the parameters that lies here
    grads: list[Tensor | None] = field(default_factory=list)  #: that of their gradients
    states: list[dict[str, Any]] = field(default_factory=list)
    # What one look at all of them has shown.
    plain: bool = False  #: all gradients are there and lie as their parameters do
    dense: bool = False  #: and all that is row-major
    sharded: bool = False  #: parameters and states are DTensors, all of them
    sizes: list[int] = field(default_factory=list)

    def chosen(self, which: Sequence[bool]) -> Part:
        def of(items: list[Any]) -> list[Any]:
            return [item for item, taken in zip(items, which, strict=True) if taken]

        return Part(self.group, *map(of, (self.params, self.xs, self.grads, self.states)))

    def has_started(self) -> bool:
        """Whether all its parameters have a state."""
        return all([has is not None and "step" in has for has in self.states])

    def pairs(self) -> list[tuple[Tensor, Tensor]]:
        """The parameters that have a gradient, with it."""
        both = zip(self.params, self.grads, strict=True)
        return [(p, gradient) for p, gradient in both if gradient is not None]


class Stepper(Protocol):
    def refuses(self, x: Tensor, gradient: Tensor | None) -> str | None:
        """Why it cannot step a parameter; None if it can."""

    def step(self, parts: Sequence[Part], limits: Limits) -> Report:
        """Moves parameters and states and advances counters; the limits are settled, unless the
        stepper settles them itself."""


def part_of(group: Group, state: dict[Tensor, dict[str, Any]]) -> Part:
    """The parameters of a group that take part in a step; raises if a gradient is wrong."""
    params = group.options["params"]
    grads: list[Any] = list(map(_gradient_of, params))
    states: list[Any] = list(map(state.get, params))
    part = Part(group, params, params, grads, states)
    if _makes_shards_local(part) and set(map(type, part.grads)) <= PLAIN and _lies_alike(part):
        part.plain = True
        return part
    active = [
        gradient is not None or (has is not None and "step" in has)
        for gradient, has in zip(grads, states, strict=True)
    ]
    if not all(active):
        part = part.chosen(active)
    part.sharded = False
    for p in part.params:
        check_gradient(p, group.name_of)
    part.xs = list(map(local, part.params))
    part.grads = [None if p.grad is None else local_gradient(p, p.grad) for p in part.params]
    return part


def _makes_shards_local(part: Part) -> bool:
    """Whether the tensors of the part are now nothing but their memory."""
    kinds = set(map(type, part.xs))
    if kinds <= PLAIN:
        return True
    if len(kinds) > 1 or not is_dtensor(part.xs[0]) or set(map(type, part.grads)) != kinds:
        return False
    if any(g.placements != p.placements for p, g in zip(part.params, part.grads, strict=True)):
        return False
    part.xs = [p.to_local() for p in part.params]
    part.grads = [g.to_local() for g in part.grads]
    part.sharded = True
    return True


def _lies_alike(part: Part) -> bool:
    """Whether gradients have the type and the layout of their parameters, seen in one look per
    question; those of a part that is not alike are asked one by one."""
    xs, grads = part.xs, part.grads
    types = {x.dtype for x in xs}
    if len(types) != 1 or {g.dtype for g in grads} != types or xs[0].is_complex():
        return False
    if len({x.is_cpu for x in xs}) != 1 or set(map(Tensor.get_device, grads)) != {
        xs[0].get_device()
    }:
        return False
    part.sizes = list(map(Tensor.numel, xs))
    if list(map(Tensor.numel, grads)) != part.sizes:
        return False
    if any(map(Tensor.is_neg, xs)) or any(map(Tensor.is_neg, grads)):
        return False
    try:
        part.dense = all(map(Tensor.is_contiguous, xs)) and all(map(Tensor.is_contiguous, grads))
        return part.dense or list(map(Tensor.stride, xs)) == list(map(Tensor.stride, grads))
    except RuntimeError:  # sparse gradients have no strides
        return False


def dealt(part: Part, fused: Stepper, torch_operations: Stepper) -> list[tuple[Stepper, Part]]:
    """The part, cut between those who step it."""
    options = part.group.options
    wanted = options["fused"]
    if wanted is None:
        wanted = options["foreach"] is None and not options["differentiable"]
    if not part.params:
        return []
    if not wanted:
        return [(torch_operations, part)]
    if part.plain and fused.refuses(part.xs[0], part.grads[0]) is None:
        return [(fused, part)]  # all are of one type and on one device
    reasons = list(map(fused.refuses, part.xs, part.grads))
    if options["fused"]:
        for p, reason in zip(part.params, reasons, strict=True):
            if reason is not None and p.grad is not None:
                raise RuntimeError(
                    "`fused=True` requires all the params to be floating point Tensors of "
                    f"supported devices: ['cpu']; parameter {part.group.name_of(p)} is refused: "
                    f"{reason}"
                )
    mine = [reason is None for reason in reasons]
    if all(mine):
        return [(fused, part)]
    halves = ((fused, mine), (torch_operations, [not taken for taken in mine]))
    return [(stepper, part.chosen(which)) for stepper, which in halves if any(which)]


def without_idle(
    dealing: list[tuple[Stepper, Part]], fused: Stepper, torch_operations: Stepper
) -> list[tuple[Stepper, Part]]:
    """Checkpoint frameworks make state by a step with zero gradients at lr = 0: a parameter that
    has not started and gets one stays so, and takes no part in the step. Whether the gradient is
    zero is decided for the whole parameter, so that the counters of all ranks agree."""
    result = []
    for stepper, part in dealing:
        if not part.group.alpha_is_zero or (
            stepper is fused and not any(map(is_dtensor, part.params))
        ):
            result.append((stepper, part))  # the engine leaves out what is idle itself
            continue
        fresh = [
            i
            for i, (gradient, state) in enumerate(zip(part.grads, part.states, strict=True))
            if gradient is not None and not gradient.is_meta and int(state["step"]) == 0
        ]
        zero = are_zero([(part.params[i], part.grads[i]) for i in fresh])
        idle = {i for i, is_zero in zip(fresh, zero, strict=True) if is_zero}
        # The engine sees what lies here alone, and would leave out a shard that is zero.
        elsewhere = set(fresh) - idle if stepper is fused else set()
        elsewhere = {i for i in elsewhere if not bool(part.grads[i].any())}
        everyone = range(len(part.params))
        stays = part.chosen([i not in idle and i not in elsewhere for i in everyone])
        goes = part.chosen([i in elsewhere for i in everyone])
        result += [(stepper, stays)] if stays.params else []
        result += [(torch_operations, goes)] if goes.params else []
    return result

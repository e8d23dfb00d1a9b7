"""Who takes a step, and with what: the engine, torch's operations, or a compiled graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from . import _native
from ._blocks import block_count
from ._checks import checked_options
from ._engine_step import EngineStep
from ._limits import clipping, device_limits, gradient_norm
from ._methods import Method, method_of
from ._native import Report
from ._tensors import (
    StateRoom,
    check_gradient,
    is_dtensor,
    is_fake,
    placed_as_blocks,
    placed_like,
    plain_shape,
    state_like,
    working_dtype,
)
from ._torch_step import Entry, TorchStep
from ._warnings import warn

ENGINE_DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)


class Stepping(Optimizer):
    """The step of BCOS, on groups whose options are complete."""

    last_report: Report | None
    _engine_steps: dict[bool, EngineStep]

    def _names(self, group: dict[str, Any]) -> list[str]:
        """What messages call the parameters of a group."""
        if group.get("param_names"):
            return group["param_names"]
        place = next((k for k, other in enumerate(self.param_groups) if other is group), 0)
        where = f" of group {place}" if len(self.param_groups) > 1 else ""
        return [f"#{i}{where}" for i in range(len(group["params"]))]

    def _check_all(self) -> None:
        """Raises before anything is written if a gradient or a state is not what it should be."""
        for group in self.param_groups:
            method = method_of(group)
            seen: dict[int, str] = {}  # torch itself lets a group have a parameter twice
            for name, p in zip(self._names(group), group["params"], strict=True):
                if id(p) in seen:
                    raise ValueError(
                        f"Invalid parameter {name}: it is in its group already, as {seen[id(p)]}; "
                        "list it once"
                    )
                seen[id(p)] = name
                check_gradient(p, name)
                if p.grad is not None and "step" in self.state.get(p, {}):
                    self._check_state(p, self.state[p], method, name)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; returns what ``closure`` returned. ``last_report`` says what the engine did."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.set_grad_enabled(self.defaults["differentiable"]):
            self._step()
        return loss

    def _step(self) -> None:
        if torch.compiler.is_compiling() or self._without_numbers():
            self._step_compiled()
            return
        found_inf = getattr(self, "found_inf", None)
        if not self.param_groups or (found_inf is not None and bool(found_inf.item())):
            return
        for group in self.param_groups:
            checked_options(group)
        scale = getattr(self, "grad_scale", None)
        grad_scale = 1.0 if scale is None else float(scale)
        if not self._repeat_in_engine(grad_scale):
            self._step_anew(grad_scale)

    def _without_numbers(self) -> bool:
        """Under FakeTensorMode all tensors are fake."""
        first = next((p for group in self.param_groups for p in group["params"]), None)
        return first is not None and is_fake(first)

    def _limits(self) -> tuple[str, float | None]:
        # Compiled: before torch 2.13 neither `next` with a default nor endless iterators were.
        limits = [(group["guard"], group["max_norm"]) for group in self.param_groups]
        if any(others != limits[0] for others in limits):
            raise ValueError(
                "Invalid parameter group: guard and max_norm are about all gradients of a step "
                "and must be the same in all groups"
            )
        return limits[0] if limits else ("propagate", None)

    def _step_anew(self, grad_scale: float) -> None:
        """Sorts the parameters by who steps them."""
        limits = self._limits()
        self._check_all()
        # Parameters that never had a gradient have no state either.
        active = [
            [p for p in g["params"] if p.grad is not None or "step" in self.state.get(p, {})]
            for g in self.param_groups
        ]
        engine = [
            [p for p in some if self._engine_takes(p, g)]
            for g, some in zip(self.param_groups, active, strict=True)
        ]
        signs = {g["maximize"] for g, mine in zip(self.param_groups, engine, strict=True) if mine}
        whole = sum(map(len, engine)) == sum(map(len, active))
        factor = 1.0 / grad_scale
        seen = None
        if not whole or len(signs) > 1:
            # Nobody sees all gradients, so the limits are found here.
            found = self._factor(grad_scale, limits)
            if found is None:
                return
            seen = self.last_report if limits != ("propagate", None) else None
            factor, limits = found, ("propagate", None)
            if factor == 0 or not math.isfinite(factor):
                engine = [[] for _ in engine]
            else:
                grad_scale = 1.0 / factor
        for sign in signs:
            lists = [
                mine if group["maximize"] == sign else []
                for group, mine in zip(self.param_groups, engine, strict=True)
            ]
            if any(lists):
                self._step_in_engine(lists, -grad_scale if sign else grad_scale, limits)
        if seen is not None and self.last_report is not None:
            self.last_report = replace(self.last_report, norm=seen.norm, clipped=seen.clipped)
        if whole and len(signs) == 1:
            everyone = [p for group in self.param_groups for p in group["params"]]
            self._engine_steps[signs.pop()].serve(everyone)
        for group, mine in zip(self.param_groups, engine, strict=True):
            taken = set(map(id, mine))
            self._step_in_torch(group, [id(p) not in taken for p in group["params"]], factor)

    def _engine_takes(self, p: Tensor, group: dict[str, Any]) -> bool:
        if not wants_fused(group):
            return False
        fits = p.device.type == "cpu" and p.dtype in ENGINE_DTYPES
        real = p.is_floating_point() or fits
        if group["fused"] and p.grad is not None and not (p.device.type == "cpu" and real):
            raise RuntimeError(
                "`fused=True` requires all the params to be floating point Tensors of "
                "supported devices: ['cpu']."
            )
        limited = group["max_norm"] is not None or group["guard"] != "propagate"
        if limited and is_dtensor(p):
            return False
        if not is_dtensor(p) and (p.is_neg() or p.is_conj()):
            return False  # a view that is read with another sign
        return fits and _native.library() is not None

    def _repeat_in_engine(self, grad_scale: float) -> bool:
        """The whole step, if it is like the last one: the engine had all parameters."""
        groups = self.param_groups
        uphill = groups[0]["maximize"]
        step = self._engine_steps.get(uphill)
        params = (
            groups[0]["params"] if len(groups) == 1 else [p for g in groups for p in g["params"]]
        )
        if step is None or not step.serves(params):
            return False
        if not step.fits(groups, self.state, self._limits()):
            return False
        report = step.run(-grad_scale if uphill else grad_scale)
        if report is None:
            return False
        self.last_report = report
        return True

    def _step_in_engine(
        self, lists: list[list[Tensor]], grad_scale: float, limits: tuple[str, float | None]
    ) -> None:
        """``lists``: the parameters of each group that the engine steps."""
        uphill = grad_scale < 0
        step = self._engine_steps.get(uphill)
        params = [p for mine in lists for p in mine]
        report = None
        if step is not None and step.is_of(params):
            if step.fits(self.param_groups, self.state, limits):
                report = step.run(grad_scale)
        if report is None:
            step = self._engine_steps[uphill] = self._plan_for(lists, params, limits)
            report = step.run(grad_scale)
        if report is None:
            raise RuntimeError("parameters were moved by another thread during a step")
        self.last_report = report

    def _plan_for(
        self, lists: list[list[Tensor]], params: list[Tensor], limits: tuple[str, float | None]
    ) -> EngineStep:
        names: list[str] = []
        room = StateRoom([p for p in params if "step" not in self.state.get(p, {})])
        for group, mine in zip(self.param_groups, lists, strict=True):
            taken = set(map(id, mine))
            for name, p in zip(self._names(group), group["params"], strict=True):
                if id(p) in taken:
                    self._state_of(p, group, room.state_like)
                    names.append(name)
        owners = [k for k, mine in enumerate(lists) for _ in mine]
        states = [self.state[p] for p in params]
        return EngineStep(self.param_groups, owners, params, states, limits, names)

    def _step_in_torch(self, group: dict[str, Any], chosen: list[bool], factor: float) -> None:
        lists: tuple[list[Tensor], ...] = ([], [], [], [], [])
        self._init_group(group, *lists, chosen=chosen)
        self._torch_step(
            group, lists, -factor if group["maximize"] else factor, wants_foreach(group)
        )

    def _step_compiled(self) -> None:
        groups = []
        for group in self.param_groups:
            lists: tuple[list[Tensor], ...] = ([], [], [], [], [])
            self._init_group(group, *lists)
            groups.append((group, lists))
        limits = device_limits(
            [g for _, lists in groups for g in lists[1]],
            *self._limits(),
            getattr(self, "grad_scale", None),
            getattr(self, "found_inf", None),
        )
        for group, lists in groups:
            factor = -1.0 * limits.factor if group["maximize"] else limits.factor
            self._torch_step(group, lists, factor, True, limits.go, compiling=True)

    def _torch_step(
        self,
        group: dict[str, Any],
        lists: tuple[list[Tensor], ...],
        factor: Any,
        foreach: bool,
        go: Tensor | None = None,
        *,
        compiling: bool = False,
    ) -> None:
        params, grads, ms, vs, steps = lists
        if not params:
            return
        absent = [None] * len(params)
        entries = [
            Entry(p, g, m, v, step)
            for p, g, m, v, step in zip(
                params, grads, ms or absent, vs or absent, steps, strict=True
            )
        ]
        TorchStep(
            method=method_of(group),
            lr=group["lr"],
            factor=factor,
            foreach=foreach,
            on_device=compiling or group["capturable"],
            rounded=self._rounded,
            go=go,
        ).run(entries)

    def _init_group(
        self,
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        ms: list[Tensor],
        vs: list[Tensor],
        steps: list[Tensor],
        chosen: list[bool] | None = None,
    ) -> None:
        """Lists what takes part in a step. torch.compile knows this name: it calls it when it
        compiles, and takes the tensors as inputs of the graph."""
        names = self._names(group)
        method = method_of(group)
        for i, p in enumerate(group["params"]):
            if p.grad is None or (chosen is not None and not chosen[i]):
                continue
            state = self._state_of(p, group)
            if chosen is None:  # nobody has looked yet
                check_gradient(p, names[i])
                self._check_state(p, state, method, names[i])
            if self._only_makes_state(group, p, state):
                continue
            params.append(p)
            grads.append(placed_like(p.grad, p))
            steps.append(state["step"])
            if "m" in state:
                ms.append(state["m"])
            if "v" in state:
                vs.append(state["v"])

    @staticmethod
    def _only_makes_state(group: dict[str, Any], p: Tensor, state: dict[str, Any]) -> bool:
        """Checkpoint frameworks make state by a step with zero gradients at lr = 0."""
        lr = group["lr"]
        elsewhere = isinstance(lr, Tensor) and lr.device.type != "cpu"
        if torch.compiler.is_compiling() or group["differentiable"] or p.is_meta or elsewhere:
            return False
        if is_fake(p):
            return False
        return float(lr) == 0 and int(state["step"]) == 0 and not bool(p.grad.any())

    def _state_of(
        self,
        p: Tensor,
        group: dict[str, Any],
        state_like: Callable[[Tensor, str], Tensor] = state_like,
    ) -> dict[str, Any]:
        """The state of a parameter, made if there is none."""
        state = self.state[p]
        if "step" not in state:
            method = method_of(group)
            device = p.device if group["capturable"] else "cpu"
            dtype = torch.float32 if group["capturable"] else torch.int64
            state["step"] = torch.zeros((), dtype=dtype, device=device)
            if method.momentum:
                state["m"] = state_like(p, "m")
            if method.keeps_v:
                if method.blocks == "coordinate":
                    state["v"] = state_like(p, "v")
                else:
                    count = block_count(method, plain_shape(p))
                    real = working_dtype(p.dtype).to_real()
                    v = torch.zeros(count, dtype=real, device=p.device)
                    state["v"] = placed_as_blocks(v, p)
        return state

    @staticmethod
    def _check_state(p: Tensor, state: dict[str, Any], method: Method, name: str) -> None:
        if method.momentum != ("m" in state) or method.keeps_v != ("v" in state):
            raise ValueError(
                f"Invalid mode: the state of parameter {name} is of another one; make a new "
                "optimizer"
            )
        for kind in state.keys() & {"m", "v"}:
            wanted = working_dtype(p.dtype)
            if kind == "v" and method.blocks != "coordinate":
                wanted = wanted.to_real()
            if state[kind].dtype != wanted:
                raise ValueError(
                    f"Invalid parameter {name}: it is {p.dtype} now but its state is "
                    f"{state[kind].dtype}; make a new optimizer after changing the model's type"
                )

    def _factor(self, grad_scale: float, limits: tuple[str, float | None]) -> float | None:
        """The factor on all gradients of this step; None if the guard says to change nothing."""
        guard, max_norm = limits
        if guard == "propagate" and max_norm is None:
            return 1.0 / grad_scale
        every = [p.grad for g in self.param_groups for p in g["params"]]
        grads = [g for g in every if g is not None and not g.is_meta]  # meta: no numbers to look at
        norm = gradient_norm(grads) / grad_scale
        skipped = not math.isfinite(norm) and guard != "propagate"
        share = clipping(norm, max_norm)
        self.last_report = Report(norm, share < 1 and not skipped, skipped, False, 0, 0)
        if skipped and guard == "raise":
            raise FloatingPointError(
                "expected finite gradients but received NaN or infinity: nothing was changed"
            )
        return None if skipped else share / grad_scale

    def _rounded(self, x: Tensor, wanted: Tensor, steps: int) -> None:
        """Warns once when most updates of a 16-bit parameter are lost in rounding. Looks at steps
        1, 2, 4, 8, ..."""
        if getattr(self, "_warned_of_rounding", False) or steps & (steps - 1) or x.is_meta:
            return
        moving = wanted != x.to(wanted.dtype)
        lost = moving & (wanted.to(x.dtype) == x)
        if 2 * int(lost.sum()) > int(moving.sum()):
            self._warned_of_rounding = True
            warn(
                f"more than half of the updates of a {x.dtype} parameter vanish in rounding; keep "
                "float32 parameters (autocast computes in 16 bits), or raise lr"
            )


def wants_fused(group: dict[str, Any]) -> bool:
    if group["fused"] is None:
        return group["foreach"] is None and not group["differentiable"]
    return bool(group["fused"])


def wants_foreach(group: dict[str, Any]) -> bool:
    if group["foreach"] is None:
        return not group["differentiable"]
    return bool(group["foreach"])

"""BCOS as a ``torch.optim.Optimizer``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from . import _native
from ._engine_step import EngineStep
from ._formula import block_count
from ._loading import checked_state_dict
from ._methods import (
    ALIASES,
    betas_of,
    is_number,
    method_of,
    normalise_group,
    options_of,
    translated,
)
from ._norm import gradient_norm
from ._tensors import STATE_FORMATS, check_uncut, is_dtensor, plain_shape, state_like, working_dtype
from ._torch_step import Entry, TorchStep

ENGINE_DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)


class BCOS(Optimizer):
    r"""Stochastic approximation with block-coordinate optimal stepsizes (BCOS).

    With ``mode="c"``, the default, a step is

    .. math::
        m_t &= \beta m_{t-1} + (1-\beta) g_t \\
        v_t &= \beta^2 (2-\beta^2) m_{t-1}^2 + (1-\beta)^2 (g_t + \beta m_{t-1})^2 \\
        x_{t+1} &= (1 - \alpha\lambda) x_t - \alpha\, m_t / \sqrt{v_t + \text{eps\_root}}

    with :math:`\alpha` = ``lr``, :math:`\lambda` = ``weight_decay``. One state a parameter (AdamW
    has two), one smoothing factor. Start from a quarter of your AdamW learning rate.

    Args:
        params: parameters, named parameters or groups of them. Every option below may be given in
            a group; ``guard`` and ``max_norm`` must be the same in all.
        lr: learning rate, a number or a tensor with one element.
        beta: smoothing of the momentum. Groups hold ``betas=(beta,)`` or ``(beta, beta_v)``.
        mode: ``"c"``: v estimated from the old momentum and the gradient, no state of its own;
            ``"m"``: moving average of m\ :sup:`2`; ``"g"``: no momentum, moving average of
            g\ :sup:`2` (RMSprop).
        simple: mode c with v = b m\ :sup:`2` + (1-b) g\ :sup:`2`, b = 1-(1-beta)\ :sup:`2`, or
            b = ``beta_v`` if given (AdamS).
        beta_v: smoothing of v in modes m and g (default: beta), or b above.
        eps, eps_root: added to sqrt(v) and to v. Whoever gives one of them gets 0 for the other;
            default: eps_root = 1e-12, the paper's.
        weight_decay: decoupled from the gradient unless ``decoupled=False``.
        blocks: elements that share a stepsize: ``"coordinate"``, ``"tensor"``, ``"row"``,
            ``"column"``, ``"heads:N"`` or lists of indices. ``block_gain="sqrt"`` multiplies the
            step of a block of n elements by sqrt(n).
        start: how states begin: ``"zero"`` (default of mode c), ``"zero_corrected"`` (as Adam;
            default of m and g) or ``"first"`` (from the first gradient, as the paper and the
            authors' code).
        maximize: go uphill.
        foreach, fused: which implementation. Default: the native engine (``fused``) for CPU
            tensors, torch's foreach operations for all others. Both False: a plain loop.
        capturable, differentiable: as in torch's own optimizers.
        max_norm: clip the norm over all gradients of a step; gradients are not written to.
        guard: what a NaN or infinite gradient does: ``"propagate"`` (nobody looks), ``"skip"``
            (the step changes nothing) or ``"raise"``.

    ``betas=(beta,)`` or ``(beta, beta_v)`` is understood too, and so are the authors' names
    ``beta2``, ``decouple_wd`` and ``simple_cond``.

    Example::

        optimizer = bcos_optim.BCOS(model.parameters(), lr=5e-4, weight_decay=0.1)
        loss_fn(model(inputs), targets).backward()
        optimizer.step()
    """

    _step_supports_amp_scaling = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 5e-4,
        beta: float | Tensor = 0.9,
        *,
        mode: str = "c",
        simple: bool = False,
        beta_v: float | Tensor | None = None,
        eps: float | None = None,
        eps_root: float | None = None,
        weight_decay: float = 0.1,
        decoupled: bool = True,
        blocks: str | Sequence[Sequence[int]] = "coordinate",
        block_gain: str = "one",
        start: str | None = None,
        coupled_start: str = "with_decay",
        maximize: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        max_norm: float | None = None,
        guard: str = "propagate",
        **other_names: Any,
    ) -> None:
        options = dict(mode=mode, simple=simple, weight_decay=weight_decay, decoupled=decoupled)
        options["betas"] = betas_of(beta, beta_v)
        for name, value in other_names.items():
            if name != "betas" and name not in ALIASES:
                raise TypeError(f"BCOS() got an unexpected keyword argument {name!r}")
            if name == "beta2":
                options["betas"] = betas_of(beta, value)
            else:
                options[ALIASES.get(name, name)] = value
        defaults = dict(
            lr=lr,
            eps=eps,
            eps_root=eps_root,
            blocks=blocks,
            block_gain=block_gain,
            start=start,
            coupled_start=coupled_start,
            maximize=maximize,
            foreach=foreach,
            fused=fused,
            capturable=capturable,
            differentiable=differentiable,
            max_norm=max_norm,
            guard=guard,
            **options,
        )
        check_lr(lr)
        check_implementation(defaults)
        normalise_group(dict(defaults))
        self._engine_steps: dict[bool, EngineStep] = {}
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group; what it does not say is taken from the optimizer's defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        if "params" not in param_group:
            raise ValueError("Invalid parameter group: it has no 'params'")
        group = translated(param_group)
        first, *rest = self.defaults["betas"]
        if "beta" in group or "beta_v" in group:
            if "betas" in group:
                raise ValueError("Invalid options: betas is beta and beta_v in one")
            beta = group.pop("beta", first)
            group["betas"] = betas_of(beta, group.pop("beta_v", rest[0] if rest else None))
        merged = {**self.defaults, **{k: v for k, v in group.items() if k != "params"}}
        if ("eps" in group) != ("eps_root" in group):
            merged["eps_root" if "eps" in group else "eps"] = None
        check_lr(merged["lr"])
        check_implementation(merged)
        normalise_group(merged)
        super().add_param_group({**merged, "params": group["params"]})
        self._check_group(self.param_groups[-1])

    def _check_group(self, group: dict[str, Any]) -> None:
        limits = {(g["guard"], g["max_norm"]) for g in self.param_groups}
        if len(limits) > 1:
            self.param_groups.pop()
            raise ValueError(
                "Invalid parameter group: guard and max_norm are about all gradients of a step "
                "and must be the same in all groups"
            )
        for name, p in zip(self._names(group), group["params"], strict=True):
            check_uncut(p, group["blocks"], name)

    @staticmethod
    def _names(group: dict[str, Any]) -> list[str]:
        names = group.get("param_names")
        return names or [f"#{i} of shape {tuple(p.shape)}" for i, p in enumerate(group["params"])]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self.defaults.items():
                group.setdefault(name, value)
            normalise_group(group)
        self._engine_steps = {}

    # -- the step ---------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; returns what ``closure`` returned.

        ``last_report`` then says what the engine did, if it took part.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.set_grad_enabled(self.defaults["differentiable"]):
            self._step()
        return loss

    def _step(self) -> None:
        found_inf = getattr(self, "found_inf", None)
        if found_inf is not None and not torch.compiler.is_compiling() and bool(found_inf.item()):
            return
        scale = getattr(self, "grad_scale", None)
        grad_scale = 1.0 if scale is None else float(scale)
        if torch.compiler.is_compiling():
            self._step_in_torch(self.param_groups, grad_scale, compiling=True)
            return
        if self._repeat_in_engine(grad_scale):
            return
        engine = [group for group in self.param_groups if self._goes_to_engine(group)]
        signs = {group["maximize"] for group in engine}
        limits = (self.param_groups[0]["guard"], self.param_groups[0]["max_norm"])
        if len(engine) < len(self.param_groups) or len(signs) > 1:
            # Nobody sees all gradients, so the limits are found here.
            factor = self._clipping(grad_scale)
            if factor is None:
                return
            grad_scale, limits = 1.0 / factor, ("propagate", None)
        for sign in signs:
            groups = [group for group in engine if group["maximize"] == sign]
            self._step_in_engine(groups, -grad_scale if sign else grad_scale, limits)
        rest = [group for group in self.param_groups if not any(group is g for g in engine)]
        self._step_in_torch(rest, grad_scale, compiling=False)

    def _goes_to_engine(self, group: dict[str, Any]) -> bool:
        if not wants_fused(group):
            return False
        fits = all(p.device.type == "cpu" and p.dtype in ENGINE_DTYPES for p in group["params"])
        if group["fused"] and not fits:
            for p in group["params"]:
                if p.device.type != "cpu" or not (p.is_floating_point() or p.is_complex()):
                    raise RuntimeError(
                        "`fused=True` requires all the params to be floating point Tensors of "
                        "supported devices: ['cpu']."
                    )
        limited = group["max_norm"] is not None or group["guard"] != "propagate"
        if limited and any(is_dtensor(p) for p in group["params"]):
            return False
        return fits and _native.library() is not None

    def _repeat_in_engine(self, grad_scale: float) -> bool:
        """The whole step, if it is like the last one: the engine had all groups."""
        groups = self.param_groups
        uphill = groups[0]["maximize"]
        step = self._engine_steps.get(uphill)
        limits = (groups[0]["guard"], groups[0]["max_norm"])
        params = [p for group in groups for p in group["params"]]
        if step is None or step.limits != limits or not step.fits(groups, params, self.state):
            return False
        for group in groups:
            check_lr(group["lr"])
        self.last_report = step.run(-grad_scale if uphill else grad_scale)
        return True

    def _step_in_engine(
        self, groups: list[dict[str, Any]], grad_scale: float, limits: tuple[str, float | None]
    ) -> None:
        for group in groups:
            check_lr(group["lr"])
        params = [p for group in groups for p in group["params"]]
        if not params:
            return
        uphill = grad_scale < 0
        step = self._engine_steps.get(uphill)
        if step is None or step.limits != limits or not step.fits(groups, params, self.state):
            for group in groups:
                for name, p in zip(self._names(group), group["params"], strict=True):
                    self._check_gradient(p, name)
                    self._state_of(p, group)
            step = EngineStep(groups, params, [self.state[p] for p in params], limits)
            self._engine_steps[uphill] = step
        self.last_report = step.run(grad_scale)

    def _step_in_torch(
        self, groups: list[dict[str, Any]], grad_scale: float, *, compiling: bool
    ) -> None:
        for group in groups:
            if not compiling:
                check_lr(group["lr"])
            params: list[Tensor] = []
            grads: list[Tensor] = []
            ms: list[Tensor] = []
            vs: list[Tensor] = []
            steps: list[Tensor] = []
            self._init_group(group, params, grads, ms, vs, steps)
            if not params:
                continue
            entries = [
                Entry(p, g, m, v, step)
                for p, g, m, v, step in zip(
                    params, grads, ms or repeat(None), vs or repeat(None), steps, strict=False
                )
            ]
            sign = -1.0 if group["maximize"] else 1.0
            TorchStep(
                method=method_of(group),
                lr=group["lr"],
                factor=sign / grad_scale,
                foreach=compiling or wants_foreach(group),
                on_device=compiling or group["capturable"],
                rounded=self._rounded,
            ).run(entries)

    def _init_group(
        self,
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        ms: list[Tensor],
        vs: list[Tensor],
        steps: list[Tensor],
    ) -> None:
        """Lists what takes part in a step. torch.compile knows this name: it calls it when it
        compiles, and takes the tensors as inputs of the graph."""
        for name, p in zip(self._names(group), group["params"], strict=True):
            if p.grad is None:
                continue
            self._check_gradient(p, name)
            state = self._state_of(p, group)
            if self._only_makes_state(group, p, state):
                continue
            params.append(p)
            grads.append(p.grad)
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
        return float(lr) == 0 and int(state["step"]) == 0 and not bool(p.grad.any())

    @staticmethod
    def _check_gradient(p: Tensor, name: str) -> None:
        if p.grad is None:
            return
        if p.grad.layout != torch.strided:
            raise RuntimeError(
                f"BCOS does not support sparse gradients (parameter {name}): make the layer with "
                "sparse=False"
            )
        if p.grad.dtype != p.dtype or p.grad.device != p.device:
            raise ValueError(
                f"Invalid gradient of parameter {name}: expected {p.dtype} on {p.device}, "
                f"received {p.grad.dtype} on {p.grad.device}"
            )

    def _state_of(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
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
                    state["v"] = torch.zeros(count, dtype=real, device=p.device)
        return state

    def _clipping(self, grad_scale: float) -> float | None:
        """The factor on all gradients of this step; None if the guard says to change nothing."""
        guard, max_norm = self.param_groups[0]["guard"], self.param_groups[0]["max_norm"]
        factor = 1.0 / grad_scale
        if guard == "propagate" and max_norm is None:
            return factor
        grads = [p.grad for g in self.param_groups for p in g["params"] if p.grad is not None]
        norm = gradient_norm(grads) / grad_scale
        if not math.isfinite(norm) and guard != "propagate":
            if guard == "raise":
                raise FloatingPointError(
                    "expected finite gradients but received NaN or infinity: nothing was changed"
                )
            return None
        return factor if max_norm is None else factor * min(1.0, max_norm / (norm + 1e-6))

    def _rounded(self, x: Tensor, wanted: Tensor, step: Tensor) -> None:
        """Warns once when most updates of a 16-bit parameter are lost in rounding."""
        if getattr(self, "_warned_of_rounding", False) or torch.compiler.is_compiling():
            return
        moving = wanted != x.to(wanted.dtype)
        lost = moving & (wanted.to(x.dtype) == x)
        if 2 * int(lost.sum()) > int(moving.sum()):
            self._warned_of_rounding = True
            warnings.warn(
                f"bcos_optim: more than half of the updates of a {x.dtype} parameter vanish in "
                "rounding; keep float32 parameters (autocast computes in 16 bits), or raise lr",
                RuntimeWarning,
                stacklevel=2,
            )

    # -- state dicts ------------------------------------------------------------------------

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Loads a state, to the bit: types are kept. Parameters are matched by name where both
        sides have names. A state of another method, shape or name raises and changes nothing.
        """
        accepted: dict[str, Any] = {}

        def accept(_: Optimizer, given: dict[str, Any]) -> dict[str, Any]:
            accepted.update(checked_state_dict(self, given))
            return accepted

        hook = self.register_load_state_dict_pre_hook(accept)
        try:
            super().load_state_dict(state_dict)
        finally:
            hook.remove()
        params = [p for group in self.param_groups for p in group["params"]]
        saved = [i for group in accepted["param_groups"] for i in group["params"]]
        for p, index in zip(params, saved, strict=True):
            for name, value in accepted["state"].get(index, {}).items():
                if isinstance(value, Tensor):
                    device = value.device if name == "step" else p.device
                    form = STATE_FORMATS.get(name, torch.preserve_format)
                    self.state[p][name] = value.detach().to(device).clone(memory_format=form)
        self._engine_steps.clear()


def check_lr(lr: Any) -> None:
    if isinstance(lr, Tensor):
        if lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        return
    if not is_number(lr) or not lr >= 0 or math.isinf(lr):
        raise ValueError(f"Invalid learning rate: {lr!r}")


def check_implementation(options: dict[str, Any]) -> None:
    for name in ("foreach", "fused"):
        if options[name] not in (None, True, False):
            raise ValueError(f"Invalid {name}: {options[name]!r}, expected True, False or None")
    if options["fused"] and options["foreach"]:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if options["differentiable"] and (options["fused"] or options["foreach"]):
        name = "fused" if options["fused"] else "foreach"
        raise RuntimeError(f"`{name}` does not support `differentiable`")
    if isinstance(options["lr"], Tensor) and options["foreach"] and not options["capturable"]:
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")


def wants_fused(group: dict[str, Any]) -> bool:
    if group["fused"] is None:
        return group["foreach"] is None and not group["differentiable"]
    return bool(group["fused"])


def wants_foreach(group: dict[str, Any]) -> bool:
    if group["foreach"] is None:
        return not group["differentiable"]
    return bool(group["foreach"])


def optimizer(name: str, params: Iterable[Any], lr: float | Tensor = 5e-4, **options: Any) -> BCOS:
    """A named method (``bcos methods`` lists them), for instance ``"bcosw_c"`` or
    ``"bcosw_c@paper"``. Options are those of :class:`BCOS` and win over the method's own.
    """
    return BCOS(params, lr, **{**options_of(name), **translated(options)})


def reference(
    params: Iterable[Any],
    lr: float,
    beta: float = 0.9,
    beta2: float | None = None,
    eps: float = 1e-6,
    weight_decay: float = 0.1,
    mode: str = "c",
    decouple_wd: bool = True,
    simple_cond: bool = False,
) -> BCOS:
    """The authors' optimizer: their signature, their numbers, their reading of ``beta2`` (the full
    estimator ignores it) and their start from the first gradient. Loads their ``state_dict``.
    """
    full = mode == "c" and not simple_cond
    return BCOS(
        params,
        lr,
        beta,
        mode=mode,
        simple=simple_cond and mode == "c",
        beta_v=None if full else beta2,
        eps=eps,
        weight_decay=weight_decay,
        decoupled=decouple_wd,
        start="first",
        coupled_start="raw",
    )

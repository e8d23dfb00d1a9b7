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
from ._formula import block_count, blocks_of
from ._limits import clipping, device_limits, gradient_norm
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
from ._native import Report
from ._tensors import STATE_FORMATS, check_uncut, is_dtensor, plain_shape, state_like, working_dtype
from ._torch_step import Entry, TorchStep

ENGINE_DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)


class BCOS(Optimizer):
    """Stochastic approximation with block-coordinate optimal stepsizes (BCOS).

    With ``mode="c"``, the default, a step is::

        m' = beta m + (1 - beta) g
        v  = beta^2 (2 - beta^2) m^2 + (1 - beta)^2 (g + beta m)^2
        x' = (1 - lr weight_decay) x - lr m' / sqrt(v + eps_root)

    One state a parameter (AdamW has two), one smoothing factor. Start from a quarter of your AdamW
    learning rate.

    Args:
        params: parameters, named parameters or groups of them. Every option below may be given in
            a group; ``guard`` and ``max_norm`` must be the same in all.
        lr: learning rate, a number or a tensor with one element.
        beta: smoothing of the momentum. Groups hold ``betas=(beta,)`` or ``(beta, beta_v)``.
        mode: ``"c"``: v estimated from the old momentum and the gradient, no state of its own;
            ``"m"``: moving average of m'^2; ``"g"``: no momentum, moving average of g^2
            (RMSprop). Also ``"adams"``, ``"adam"``, ``"sgd"``, ``"sgd_momentum"``, ``"sign_sgd"``,
            ``"sign_momentum"``.
        simple: mode c with v = b m^2 + (1-b) g^2, b = 1-(1-beta)^2, or b = ``beta_v`` if
            given (AdamS).
        beta_v: smoothing of v in modes m and g (default: beta), or b above.
        eps, eps_root: added to sqrt(v) and to v. Whoever gives one of them gets 0 for the other;
            default: eps_root = 1e-12, the paper's.
        weight_decay: decoupled from the gradient unless ``decoupled=False``.
        blocks: elements that share a stepsize: ``"coordinate"``, ``"tensor"``, ``"row"``,
            ``"column"``, ``"heads:N"`` or lists of indices. ``block_gain="sqrt"`` multiplies the
            step of a block of n elements by sqrt(n).
        start: how states begin: ``"zero"`` (default of mode c), ``"zero_corrected"`` (as Adam;
            default of m and g) or ``"first"`` (from the first gradient, as the paper and the
            authors' code); then ``coupled_start`` says whether that gradient has lambda x in it
            (``"with_decay"``) or not (``"raw"``, the authors').
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
        given = {"beta_v": beta_v is not None, "decoupled": not decoupled, "simple": simple}
        given["betas"] = beta != 0.9 or beta_v is not None
        for name, value in other_names.items():
            ours = ALIASES.get(name, name)
            if name != "betas" and name not in ALIASES:
                raise TypeError(f"BCOS() got an unexpected keyword argument {name!r}")
            if given.get(ours) or (name == "betas" and "beta2" in other_names):
                raise TypeError(f"BCOS() got {name} and another name of the same option")
            options["betas" if ours == "beta_v" else ours] = (
                betas_of(beta, value) if ours == "beta_v" else value
            )
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
        check_options(defaults)
        normalise_group(dict(defaults))
        #: What the engine's last step did; None before the first.
        self.last_report: Report | None = None
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
        check_options(merged)
        normalise_group(merged)
        super().add_param_group({**merged, "params": group["params"]})
        try:
            self._limits()
            self._check_blocks(self.param_groups[-1])
        except ValueError:
            self.param_groups.pop()
            raise

    def _check_blocks(self, group: dict[str, Any]) -> None:
        if group["blocks"] == "coordinate":
            return
        for name, p in zip(self._names(group), group["params"], strict=True):
            check_uncut(p, group["blocks"], name)
            try:
                blocks_of(method_of(group), plain_shape(p), torch.device("cpu"))
            except ValueError as error:
                raise ValueError(f"{error} (parameter {name})") from None

    @staticmethod
    def _names(group: dict[str, Any]) -> list[str]:
        return group.get("param_names") or [f"#{i}" for i in range(len(group["params"]))]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self.defaults.items():
                group.setdefault(name, value)
            normalise_group(group)
        self._engine_steps = {}
        self.last_report = None

    # -- the step ---------------------------------------------------------------------------

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
        if torch.compiler.is_compiling():
            self._step_compiled()
            return
        found_inf = getattr(self, "found_inf", None)
        if not self.param_groups or (found_inf is not None and bool(found_inf.item())):
            return
        for group in self.param_groups:
            check_options(group)
        scale = getattr(self, "grad_scale", None)
        grad_scale = 1.0 if scale is None else float(scale)
        if not self._repeat_in_engine(grad_scale):
            self._step_anew(grad_scale)

    def _limits(self) -> tuple[str, float | None]:
        limits = {(group["guard"], group["max_norm"]) for group in self.param_groups}
        if len(limits) > 1:
            raise ValueError(
                "Invalid parameter group: guard and max_norm are about all gradients of a step "
                "and must be the same in all groups"
            )
        return next(iter(limits), ("propagate", None))

    def _step_anew(self, grad_scale: float) -> None:
        """Sorts the parameters by who steps them."""
        limits = self._limits()
        engine = [[p for p in g["params"] if self._engine_takes(p, g)] for g in self.param_groups]
        signs = {g["maximize"] for g, mine in zip(self.param_groups, engine, strict=True) if mine}
        whole = sum(map(len, engine)) == sum(len(g["params"]) for g in self.param_groups)
        factor = 1.0 / grad_scale
        if not whole or len(signs) > 1:
            # Nobody sees all gradients, so the limits are found here.
            found = self._factor(grad_scale, limits)
            if found is None:
                return
            factor, limits = found, ("propagate", None)
            if factor == 0 or not math.isfinite(factor):
                engine = [[] for _ in engine]
        for sign in signs:
            lists = [
                mine if group["maximize"] == sign else []
                for group, mine in zip(self.param_groups, engine, strict=True)
            ]
            if any(lists):
                self._step_in_engine(lists, -1.0 / factor if sign else 1.0 / factor, limits)
        for group, mine in zip(self.param_groups, engine, strict=True):
            taken = set(map(id, mine))
            self._step_in_torch(group, [id(p) not in taken for p in group["params"]], factor)

    def _engine_takes(self, p: Tensor, group: dict[str, Any]) -> bool:
        if not wants_fused(group):
            return False
        fits = p.device.type == "cpu" and p.dtype in ENGINE_DTYPES
        if group["fused"] and (p.device.type != "cpu" or not (p.is_floating_point() or fits)):
            raise RuntimeError(
                "`fused=True` requires all the params to be floating point Tensors of "
                "supported devices: ['cpu']."
            )
        limited = group["max_norm"] is not None or group["guard"] != "propagate"
        if limited and is_dtensor(p):
            return False
        return fits and _native.library() is not None

    def _repeat_in_engine(self, grad_scale: float) -> bool:
        """The whole step, if it is like the last one: the engine had all parameters."""
        groups = self.param_groups
        uphill = groups[0]["maximize"]
        step = self._engine_steps.get(uphill)
        limits = (groups[0]["guard"], groups[0]["max_norm"])
        params = [p for group in groups for p in group["params"]]
        if step is None or not step.fits(groups, params, self.state, limits):
            return False
        self.last_report = step.run(-grad_scale if uphill else grad_scale)
        return True

    def _step_in_engine(
        self, lists: list[list[Tensor]], grad_scale: float, limits: tuple[str, float | None]
    ) -> None:
        """``lists``: the parameters of each group that the engine steps."""
        uphill = grad_scale < 0
        step = self._engine_steps.get(uphill)
        params = [p for mine in lists for p in mine]
        if step is None or not step.fits(self.param_groups, params, self.state, limits):
            for group, mine in zip(self.param_groups, lists, strict=True):
                taken = set(map(id, mine))
                for name, p in zip(self._names(group), group["params"], strict=True):
                    if id(p) in taken:
                        self._check_gradient(p, name)
                        self._check_state(self._state_of(p, group), group, name)
            owners = [k for k, mine in enumerate(lists) for _ in mine]
            states = [self.state[p] for p in params]
            step = EngineStep(self.param_groups, owners, params, states, limits)
            self._engine_steps[uphill] = step
        self.last_report = step.run(grad_scale)

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
            self.param_groups[0]["guard"],
            self.param_groups[0]["max_norm"],
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
        entries = [
            Entry(p, g, m, v, step)
            for p, g, m, v, step in zip(
                params, grads, ms or repeat(None), vs or repeat(None), steps, strict=False
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
        for i, p in enumerate(group["params"]):
            if p.grad is None or (chosen is not None and not chosen[i]):
                continue
            self._check_gradient(p, names[i])
            state = self._state_of(p, group)
            self._check_state(state, group, names[i])
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

    @staticmethod
    def _check_state(state: dict[str, Any], group: dict[str, Any], name: str) -> None:
        method = method_of(group)
        if method.momentum != ("m" in state) or method.keeps_v != ("v" in state):
            raise ValueError(
                f"Invalid mode: {group['mode']!r}, the state of parameter {name} is of another "
                "mode; make a new optimizer"
            )

    def _factor(self, grad_scale: float, limits: tuple[str, float | None]) -> float | None:
        """The factor on all gradients of this step; None if the guard says to change nothing."""
        guard, max_norm = limits
        if guard == "propagate" and max_norm is None:
            return 1.0 / grad_scale
        grads = [p.grad for g in self.param_groups for p in g["params"] if p.grad is not None]
        norm = gradient_norm(grads) / grad_scale
        skipped = not math.isfinite(norm) and guard != "propagate"
        self.last_report = Report(norm, False, skipped, False, 0, 0)
        if skipped and guard == "raise":
            raise FloatingPointError(
                "expected finite gradients but received NaN or infinity: nothing was changed"
            )
        return None if skipped else clipping(norm, max_norm) / grad_scale

    def _rounded(self, x: Tensor, wanted: Tensor, steps: int) -> None:
        """Warns once when most updates of a 16-bit parameter are lost in rounding. Looks at steps
        1, 2, 4, 8, ..."""
        if getattr(self, "_warned_of_rounding", False) or steps & (steps - 1):
            return
        moving = wanted != x.to(wanted.dtype)
        lost = moving & (wanted.to(x.dtype) == x)
        if 2 * int(lost.sum()) > int(moving.sum()):
            self._warned_of_rounding = True
            warnings.warn(
                f"bcos_optim: more than half of the updates of a {x.dtype} parameter vanish in "
                "rounding; keep float32 parameters (autocast computes in 16 bits), or raise lr",
                RuntimeWarning,
                stacklevel=8,
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
        if lr.device.type != "cpu" or lr.requires_grad:
            return
        lr = lr.item()
    if not is_number(lr) or not lr >= 0 or math.isinf(lr):
        raise ValueError(f"Invalid learning rate: {lr!r}")


def check_options(options: dict[str, Any]) -> None:
    """Everything about a group that can be wrong; schedulers and users may have written to it."""
    check_lr(options["lr"])
    check_implementation(options)
    normalise_group(dict(options))
    lr, decay = options["lr"], options["weight_decay"]
    if options["decoupled"] and decay and not isinstance(lr, Tensor) and lr * decay > 1:
        warnings.warn(
            f"bcos_optim: lr * weight_decay is {lr * decay:.3g}, more than 1: decay overshoots 0",
            RuntimeWarning,
            stacklevel=3,
        )


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
    own = options_of(name)
    if own["mode"] in ("sgd", "sign_sgd") and {"beta", "betas"} & options.keys():
        raise ValueError(f"Invalid beta: {name} has no momentum")
    return BCOS(params, lr, **{**own, **translated(options)})


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

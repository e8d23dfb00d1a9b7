"""BCOS as a ``torch.optim.Optimizer``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from ._blocks import blocks_of
from ._checks import checked_options
from ._engine_step import EngineStep
from ._loading import checked_state_dict
from ._methods import (
    ALIASES,
    NAMED,
    betas_of,
    method_of,
    normalise_group,
    options_of,
    translated,
)
from ._native import Report
from ._stepping import Stepping
from ._tensors import DTYPES, check_uncut, plain_shape, state_copy

#: Defaults in every mode.
BETA: float = NAMED["bcosw_c"]["beta"]
WEIGHT_DECAY: float = NAMED["bcosw_c"]["lambda"]


class BCOS(Stepping):
    """Stochastic approximation with block-coordinate optimal stepsizes (BCOS).

    With ``mode="c"``, the default, a step is::

        m' = beta m + (1 - beta) g
        v  = beta^2 (2 - beta^2) m^2 + (1 - beta)^2 (g + beta m)^2
        x' = x - (lr weight_decay x + lr m' / sqrt(v + eps_root))

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
            (the step changes nothing) or ``"raise"``. Under ZeroRedundancyOptimizer every rank
            sees its own share of the gradients alone, in ``max_norm`` as in ``guard``: clip and
            look before the step.

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
        beta: float | Tensor = BETA,
        *,
        mode: str = "c",
        simple: bool = False,
        beta_v: float | Tensor | None = None,
        eps: float | None = None,
        eps_root: float | None = None,
        weight_decay: float = WEIGHT_DECAY,
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
        given["betas"] = beta != BETA or beta_v is not None
        given["weight_decay"] = weight_decay != WEIGHT_DECAY
        for name, value in other_names.items():
            ours = ALIASES.get(name, name)
            if name != "betas" and name not in ALIASES:
                raise TypeError(f"BCOS() got an unexpected keyword argument {name!r}")
            if given.get(ours) or (name == "betas" and "beta2" in other_names):
                raise TypeError(f"BCOS() got {name} and another name of the same option; give one")
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
        checked_options(defaults)
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
        if float(merged["betas"][0]) != BETA:
            _check_beta_is_read(merged["mode"])
        super().add_param_group({**checked_options(merged), "params": group["params"]})
        try:
            self._limits()
            self._check_params(self.param_groups[-1])
            self._check_blocks(self.param_groups[-1])
        except Exception:
            self.param_groups.pop()
            raise

    def _check_params(self, group: dict[str, Any]) -> None:
        for name, p in zip(self._names(group), group["params"], strict=True):
            if p.dtype not in DTYPES:
                known = ", ".join(str(dtype).removeprefix("torch.") for dtype in DTYPES)
                raise ValueError(
                    f"Invalid parameter {name}: expected one of {known}, received {p.dtype}"
                )

    def _check_blocks(self, group: dict[str, Any]) -> None:
        if group["blocks"] == "coordinate":
            return
        for name, p in zip(self._names(group), group["params"], strict=True):
            check_uncut(p, group["blocks"], name)
            try:
                blocks_of(method_of(group), plain_shape(p), torch.device("cpu"))
            except ValueError as error:
                raise ValueError(f"{error} (parameter {name})") from None

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self.defaults.items():
                group.setdefault(name, value)
            normalise_group(group)
        self._engine_steps = {}
        self.last_report = None

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Loads a state, to the bit: types are kept. Parameters are matched by name where both
        sides have names. A state of another method, shape or name raises and changes nothing.
        """
        accepted: dict[str, Any] = {}

        def accept(_: Optimizer, given: dict[str, Any]) -> dict[str, Any]:
            accepted.update(checked_state_dict(self, given))
            return accepted

        def keep_bits(_: Optimizer) -> None:
            params = [p for group in self.param_groups for p in group["params"]]
            saved = [i for group in accepted["param_groups"] for i in group["params"]]
            for p, index in zip(params, saved, strict=True):
                for name, value in accepted["state"].get(index, {}).items():
                    if isinstance(value, Tensor):
                        device = value.device if name == "step" else p.device
                        self.state[p][name] = state_copy(value.detach().to(device), name)

        # Last of the hooks before, first of those after: those of users see and keep their part.
        hooks = [
            self.register_load_state_dict_pre_hook(accept),
            self.register_load_state_dict_post_hook(keep_bits, prepend=True),
        ]
        try:
            super().load_state_dict(state_dict)
        finally:
            for hook in hooks:
                hook.remove()
        self._engine_steps.clear()


def _check_beta_is_read(mode: str) -> None:
    if mode in ("sgd", "sign_sgd"):
        raise ValueError(f"Invalid beta: mode {mode!r} has no momentum and does not read it")


def optimizer(name: str, params: Iterable[Any], lr: float | Tensor = 5e-4, **options: Any) -> BCOS:
    """A named method (``bcos methods`` lists them), for instance ``"bcosw_c"`` or
    ``"bcosw_c@paper"``. Options are those of :class:`BCOS` and win over the method's own.
    """
    own, given = options_of(name), translated(options)
    if {"beta", "betas"} & given.keys():
        _check_beta_is_read(given.get("mode", own["mode"]))
    if "betas" in given and "beta_v" in own:
        beta_v = own.pop("beta_v")
        if isinstance(given["betas"], Sequence) and len(given["betas"]) == 1:
            given["betas"] = (*given["betas"], beta_v)
    return BCOS(params, lr, **{**own, **given})


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

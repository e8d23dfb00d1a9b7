"""BCOS as a ``torch.optim.Optimizer``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from .limits import Limits, Report
from .loading import Opaque, adopt, checked_state_dict
from .numbers import Method
from .options import (
    BETA,
    GROUP_KEYS,
    LR,
    ONLY,
    OTHER_NAMES,
    WEIGHT_DECAY,
    alpha_of,
    check_beta_is_read,
    check_lr,
    checked,
    checked_options,
    has_unused_beta,
    method_of,
    options_of,
    settled_values,
    spelled,
    unexpected,
    warn,
)
from .state import (
    check_gradient,
    check_parameter,
    check_state,
    is_dtensor,
    is_fake,
    local,
    local_gradient,
    make_state,
)
from .steppers import Group, Part, Stepper, dealt, part_of, without_idle
from .steppers.engine import Engine
from .steppers.operations import Operations, step_in_graph

#: The defaults of the options that have other names too.
NAMED_TWICE: dict[str, Any] = {"betas": BETA, "weight_decay": WEIGHT_DECAY, "decoupled": True}
NAMED_TWICE |= {"simple": False, "stochastic_rounding": False}

Dealing = list[tuple[Stepper, Part]]


class BCOS(Optimizer):
    """Stochastic approximation with block-coordinate optimal stepsizes (BCOS).

    With ``mode="c"``, the default, a step is::

        m' = beta m + (1 - beta) g
        v  = beta^2 (2 - beta^2) m^2 + (1 - beta)^2 (g + beta m)^2
        x' = x - (lr weight_decay x + lr m' / sqrt(v + eps_root))

    One state per parameter (AdamW has two) and one smoothing factor. An AdamW script keeps all its
    numbers with ``adjust_lr_fn="match_rms_adamw"``; without it, start from a quarter of AdamW's
    learning rate and four times its weight decay.

    Args:
        params (iterable): parameters, named parameters or groups of them. Every option below may be
            given in a group; ``guard`` and ``max_norm`` must be the same in all groups.
        lr (float or Tensor with one element): learning rate (default: 5e-4).
        betas (float, Tensor or tuple): smoothing of the momentum, or the pair ``(beta, beta_v)``
            (default: 0.9). The second number of a pair is not used in mode ``"c"``, which has none.
        mode (str): the method (default: ``"c"``). ``"c"``: v is estimated from the old momentum and
            the gradient and needs no state of its own; ``"m"``: moving average of m'^2; ``"g"``: no
            momentum, moving average of g^2 (RMSprop). Also ``"adams"``, ``"adam"``, ``"sgd"``,
            ``"sgd_momentum"``, ``"sign_sgd"``, ``"sign_momentum"``.
        simple (bool): mode c with v = b m^2 + (1-b) g^2, b = 1-(1-beta)^2, or b = ``beta_v`` if
            given (AdamS) (default: False).
        beta_v (float, optional): smoothing of v, for those who give ``betas`` as a number: in modes
            m and g (default: that of the momentum), or b above.
        eps, eps_root (float, optional): added to sqrt(v) and to v. If you give one of them, the
            other is 0 (default: eps_root = 1e-12, the paper's).
        weight_decay (float): decay of the parameters (default: 0.1; torch's AdamW has 0.01).
        decoupled (bool): whether the decay is kept out of the gradient, as in AdamW
            (default: True).
        adjust_lr_fn (str, optional): ``"match_rms_adamw"`` takes lr and weight_decay for those of
            an AdamW: a step is as long as with lr/4, the decay is that of lr. For modes ``"c"`` and
            ``"adam"`` (default: None, lr as it is).
        blocks (str or lists of indices): elements that share a stepsize: ``"coordinate"``,
            ``"tensor"``, ``"row"``, ``"column"``, ``"heads:N"`` or lists of row-major indices
            (default: ``"coordinate"``).
        block_gain (str): ``"sqrt"`` multiplies the step of a block of n elements by sqrt(n)
            (default: ``"one"``).
        start (str, optional): how states begin: ``"zero"`` (default of mode c),
            ``"zero_corrected"`` (as Adam; default of m and g) or ``"first"`` (from the first
            gradient, as the paper and the authors' code).
        coupled_start (str): whether that first gradient has the coupled decay in it,
            ``"with_decay"``, or not, ``"raw"``, the authors' (default: ``"with_decay"``).
        maximize (bool): go uphill (default: False).
        foreach, fused (bool, optional): which implementation. Default: the native engine
            (``fused``) for float32 and float64 on the CPU, torch's foreach operations for all
            others. ``fused=True`` raises where the engine cannot step; both False: one tensor after
            the other.
        capturable (bool): keep counters on the device and never wait for it (default: False).
        differentiable (bool): let autograd pass through the step (default: False).
        max_norm (float, optional): clip the norm over all gradients of a step; gradients are not
            written to (default: None, no clipping).
        guard (str): what a NaN or infinite gradient does: ``"propagate"`` (nobody looks),
            ``"skip"`` (the step changes nothing) or ``"raise"`` (default: ``"propagate"``). Under
            ZeroRedundancyOptimizer every rank sees its own share of the gradients alone, in
            ``max_norm`` as in ``guard``: clip and look before the step.
        state_dtype, stochastic_rounding, master_weight_bits, rounding_seed: names for states and
            weights in fewer bits, which this version does not have; only the defaults
            ``"float32"``, False, None and 0 are taken.

    The names ``beta``, ``beta2``, ``wd``, ``decouple_wd``, ``simple_cond`` and
    ``bf16_stochastic_round`` are understood too.

    ``last_report`` says what the last step did; it is None before the first, and after steps that
    are compiled, or captured with limits, which cannot say it without waiting.

    Example::

        optimizer = bcos_optim.BCOS(model.parameters(), lr=5e-4, weight_decay=0.1)
        loss_fn(model(inputs), targets).backward()
        optimizer.step()
    """

    last_report: Report | None

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = LR,
        betas: float | Tensor | tuple[float | Tensor, ...] = BETA,
        *,
        mode: str = "c",
        simple: bool = False,
        beta_v: float | Tensor | None = None,
        eps: float | None = None,
        eps_root: float | None = None,
        weight_decay: float = WEIGHT_DECAY,
        decoupled: bool = True,
        adjust_lr_fn: str | None = None,
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
        state_dtype: str | torch.dtype = "float32",
        stochastic_rounding: bool = False,
        master_weight_bits: int | None = None,
        rounding_seed: int = 0,
        **other_names: Any,
    ) -> None:
        options = {name: value for name, value in locals().items() if name in GROUP_KEYS}
        # Of options with several names, those that stay at their defaults count as not given.
        given = {k: options[k] for k, default in NAMED_TWICE.items() if options[k] is not default}
        given |= {} if beta_v is None else {"beta_v": beta_v}
        for name in other_names:
            if name not in OTHER_NAMES and name != "beta":
                raise unexpected(name)
        options |= NAMED_TWICE
        options |= spelled(given | other_names, options, TypeError)
        checked(options)
        self._set_up()
        super().__init__(params, options)

    def _set_up(self) -> None:
        self.last_report = None
        self._told = False  #: that a beta is not used
        self._engine, self._operations = Engine(), Operations()
        self._seen: dict[int, tuple[Any, dict[str, Any], Method]] = {}

    @property
    def _step_supports_amp_scaling(self) -> bool:
        """GradScaler leaves gradients scaled for optimizers that say so; torch's own do under an
        explicit ``fused=True``."""
        return bool(self.param_groups) and all(g["fused"] is True for g in self.param_groups)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group; what it does not say is taken from the optimizer's defaults.

        Args:
            param_group (dict): parameters under ``"params"``, and options of this class.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        if "params" not in param_group:
            raise ValueError("Invalid parameter group: it has no 'params'")
        own = spelled(param_group, self.defaults)
        merged = {**self.defaults, **own}
        if ("eps" in own) != ("eps_root" in own):
            merged["eps_root" if "eps" in own else "eps"] = None
        full = checked(merged)
        check_beta_is_read(full["mode"], full["betas"])
        # The caller's dict is the group, as in torch.
        param_group.clear()
        param_group.update(full)
        unused = has_unused_beta(param_group) and param_group["adjust_lr_fn"] is None
        if unused and not self._told:
            self._told = True
            warn(f"betas={param_group['betas']!r}: mode 'c' has one beta, the second is not used")
        super().add_param_group(param_group)
        try:
            Limits.of(self.param_groups, None, None)
            method = method_of(param_group)
            for p in param_group["params"]:
                check_parameter(p, method, partial(self._name_of, param_group))
        except Exception:
            self.param_groups.pop()
            raise

    def _names(self, group: dict[str, Any]) -> list[str]:
        """What messages call the parameters of a group."""
        if group.get("param_names"):
            return group["param_names"]
        place = next((k for k, other in enumerate(self.param_groups) if other is group), 0)
        where = f" of group {place}" if len(self.param_groups) > 1 else ""
        return [f"#{i}{where}" for i in range(len(group["params"]))]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Takes one step.

        Args:
            closure (callable, optional): computes the loss and its gradients again (default: None).

        Returns:
            What the closure returned. ``last_report`` says what the step did.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.set_grad_enabled(self.defaults["differentiable"]):
            self._step()
        return loss

    def _step(self) -> None:
        if torch.compiler.is_compiling() or self._without_numbers():
            self._step_in_graph()
            return
        found_inf = getattr(self, "found_inf", None)
        scale = getattr(self, "grad_scale", None)
        limits = Limits.of(self.param_groups, scale, found_inf)
        dealing = self._deal()
        captured = any(
            stepper is self._operations and part.group.options["capturable"]
            for stepper, part in dealing
        )
        if not captured:
            limits.scale = float(limits.scale)
            if found_inf is not None and bool(found_inf.item()):
                self.last_report = Report(skipped=True)
                return
        lists = self._together(dealing)
        alone = len(lists) == 1 and lists[0][0] is self._engine
        asked = captured or not alone or limits.looks
        pairs = [pair for _, part in dealing for pair in part.pairs()] if asked else []
        if captured:
            limits.settle_on_device(pairs)
        elif not alone or (limits.looks and any(is_dtensor(p) for p, _ in pairs)):
            limits.settle(pairs)
        reports = [stepper.step(parts, limits) for stepper, parts in lists]
        waits = isinstance(limits.go, Tensor) or isinstance(limits.share, Tensor)
        self.last_report = None if waits else _summed(limits.report, reports)

    def _deal(self) -> Dealing:
        """Who steps whom; makes the state of parameters that have a gradient for the first time.
        All checks come first."""
        dealing: Dealing = []
        for k, options in enumerate(self.param_groups):
            group = self._settled(k, options)
            part = part_of(group, self.state)
            dealing += dealt(part, self._engine, self._operations)
        fresh = [part for _, part in dealing if not part.has_started()]
        for part in fresh:
            # Wrappers put parameters into groups without telling.
            self._check_listed_once(part.group.options["params"])
            for p, state in zip(part.params, part.states, strict=True):
                if state is None or "step" not in state:
                    check_parameter(p, part.group.method, part.group.name_of)
        for part in fresh:
            capturable = part.group.options["capturable"]
            part.states = [self.state.setdefault(p, {}) for p in part.params]
            for p, state in zip(part.params, part.states, strict=True):
                if "step" not in state:
                    make_state(state, p, part.group.method, count_on_device=capturable)
        return without_idle(dealing, self._engine, self._operations)

    def _check_listed_once(self, params: Sequence[Tensor]) -> None:
        """torch itself lets a group have a parameter twice."""
        first: dict[int, int] = {}
        for i, p in enumerate(params):
            if first.setdefault(id(p), i) != i:
                group = next(group for group in self.param_groups if group["params"] is params)
                names = self._names(group)
                raise ValueError(
                    f"Invalid parameter {names[i]}: it is in its group already, as "
                    f"{names[first[id(p)]]}; list it once"
                )

    def _settled(self, k: int, options: dict[str, Any]) -> Group:
        """A group's options, looked at; again only if they have changed."""
        check_lr(options["lr"])
        try:
            values = settled_values(options)
        except KeyError:  # wrappers put their own dicts there
            for name, value in self.defaults.items():
                options.setdefault(name, value)
            values = settled_values(options)
        seen = self._seen.get(k)
        if seen is None or seen[0] != values:
            full = checked_options(options)
            seen = (values, full, method_of(full))
            # Tensors may change in place.
            if not any(isinstance(one, Tensor) for one in options["betas"]):
                self._seen[k] = seen
        full = {**seen[1], "lr": options["lr"], "params": options["params"]}
        return Group(full, seen[2], alpha_of(full), partial(self._name_of, options))

    def _name_of(self, group: dict[str, Any], p: Tensor) -> str:
        place = next(i for i, other in enumerate(group["params"]) if other is p)
        return self._names(group)[place]

    def _together(self, dealing: Dealing) -> list[tuple[Stepper, list[Part]]]:
        """The parts that one call of a stepper takes: the engine's go uphill or downhill."""
        lists: dict[Any, tuple[Stepper, list[Part]]] = {}
        for stepper, part in dealing:
            uphill = stepper is self._engine and part.group.options["maximize"]
            lists.setdefault((id(stepper), uphill), (stepper, []))[1].append(part)
        return list(lists.values())

    def _without_numbers(self) -> bool:
        """Whether torch runs in FakeTensorMode, where all tensors are fake."""
        first = next((p for group in self.param_groups for p in group["params"]), None)
        return first is not None and is_fake(first)

    def _step_in_graph(self) -> None:
        """The step as torch.compile traces it: no number is asked of a tensor."""
        found_inf = getattr(self, "found_inf", None)
        scale = getattr(self, "grad_scale", None)
        groups = []
        pairs = []
        for options in self.param_groups:
            # Dynamo runs this method for real, and wants empty lists in their places.
            lists: tuple[list[Tensor], ...] = ([], [], [], [], [])
            self._init_group(options, *lists)
            params, grads, ms, vs, steps = lists
            grads = [local_gradient(p, g) for p, g in zip(params, grads, strict=True)]
            pairs += zip(params, grads, strict=True)
            groups.append((options, ([local(p) for p in params], grads, steps), {"m": ms, "v": vs}))
        limits = Limits.of(self.param_groups, scale, found_inf)
        limits.settle_on_device(pairs)
        for options, lists, streams in groups:
            group = Group(options, method_of(options), alpha_of(options), str)
            step_in_graph(group, lists, streams, limits)
        self.last_report = None

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
        method = method_of(group)
        name_of = partial(self._name_of, group)
        for p in group["params"]:
            if p.grad is None:
                continue
            check_gradient(p, name_of)
            state = self.state[p]
            if "step" not in state:
                check_parameter(p, method, name_of)
                make_state(state, p, method, count_on_device=group["capturable"])
            check_state(state, p, method, name_of)
            params.append(p)
            grads.append(p.grad)
            steps.append(state["step"])
            if "m" in state:
                ms.append(state["m"])
            if "v" in state:
                vs.append(state["v"])

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.defaults = {"adjust_lr_fn": None, **ONLY, **self.defaults}  # pickles may be older
        for group in self.param_groups:
            for name, value in self.defaults.items():
                group.setdefault(name, value)
            group.update(checked(group))
        self._set_up()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Loads a state, to the bit: types are kept. Parameters are matched by name where both
        sides have names. A state of another method, shape or name raises and changes nothing.

        Args:
            state_dict (dict): what ``state_dict()`` returned.
        """
        if not isinstance(state_dict, dict) or not {"state", "param_groups"} <= state_dict.keys():
            is_dict = isinstance(state_dict, dict)
            keys = ", ".join(map(repr, state_dict)) or "nothing" if is_dict else ""
            raise (ValueError if is_dict else TypeError)(
                "loaded state dict is not one of an optimizer: expected 'state' and "
                f"'param_groups', received {keys or type(state_dict).__name__}"
            )
        own = {(id(p), id(value)) for p, state in self.state.items() for value in state.values()}

        def accept(_: Optimizer, given: dict[str, Any]) -> dict[str, Any]:
            return checked_state_dict(self, given)

        def unpack(_: Optimizer) -> None:
            for p, state in self.state.items():
                if isinstance(state, Opaque):
                    # What was loaded from itself stays: checkpoint frameworks write into it first.
                    self.state[p] = {
                        key: value
                        if key == "step" or (id(p), id(value)) in own
                        else adopt(value, p)
                        for key, value in state.state.items()
                    }

        # Last of the hooks before, first of those after: those of users see and keep their part.
        hooks = [
            self.register_load_state_dict_pre_hook(accept),
            self.register_load_state_dict_post_hook(unpack, prepend=True),
        ]
        try:
            super().load_state_dict(state_dict)
        finally:
            for hook in hooks:
                hook.remove()


def _summed(report: Report | None, reports: Sequence[Report]) -> Report:
    """What all steppers did; ``report``: what their common limits saw, or None if a stepper on its
    own has looked itself."""
    if report is None and len(reports) == 1:
        return reports[0]
    report = report or Report()
    return Report(
        report.norm,
        report.clipped,
        report.skipped,
        any(one.decay_above_one for one in reports),
        sum(one.elements for one in reports),
        sum(one.bytes for one in reports),
    )


def optimizer(
    name: str, params: Iterable[Any], lr: float | Tensor | None = None, **options: Any
) -> BCOS:
    """A named method (``bcos methods`` lists them).

    Args:
        name (str): for instance ``"bcosw_c"`` or ``"bcosw_c@paper"``.
        params (iterable): as for :class:`BCOS`.
        lr (float or Tensor, optional): learning rate (default: 5e-4; to be given for ``"sgd"`` and
            ``"sgd_momentum"``, whose steps are as long as the gradient).
        options: those of :class:`BCOS`; they win over the method's own.
    """
    own = options_of(name)
    given = spelled(
        options, {"betas": own.get("betas", BETA), "mode": own["mode"], "simple": own["simple"]}
    )
    if "betas" in given:
        check_beta_is_read(given.get("mode", own["mode"]), given["betas"])
        if len(given["betas"]) == 1 and len(own.get("betas", ())) == 2:
            given["betas"] = (*given["betas"], own["betas"][1])
    if lr is None and own["mode"] in ("sgd", "sgd_momentum"):
        raise ValueError(f"lr must be given: steps of {name!r} are as long as the gradient")
    return BCOS(params, LR if lr is None else lr, **{**own, **given})


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

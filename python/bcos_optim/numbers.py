"""A method as a value, and the numbers that one of its steps computes with."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Method:
    """The axes and numbers of a method; docs/methods.md has the formulas."""

    direction: str
    estimator: str
    decay: str
    start: str
    coupled_start: str
    blocks: Any  #: a word, or a tuple of tuples of row-major indices
    block_gain: str
    beta: float
    beta_v: float
    eps: float
    eps_root: float
    lambda_: float
    rule: str = "sqrt"
    c: float = 1.0

    def text(self) -> str:
        """The method as JSON, which the engine, files and the command line read."""
        fields = asdict(self)
        fields["lambda"] = fields.pop("lambda_")
        return json.dumps(fields)

    @property
    def structure(self) -> tuple[Any, ...]:
        """What stays while schedulers change the numbers."""
        axes = (self.direction, self.estimator, self.decay, self.start, self.coupled_start)
        return (*axes, self.blocks, self.block_gain)

    @property
    def momentum(self) -> bool:
        return self.direction == "momentum"

    @property
    def keeps_v(self) -> bool:
        return self.estimator in ("ema_d", "ema_g")

    @property
    def streams(self) -> tuple[str, ...]:
        """What the state of a parameter holds besides its counter."""
        return ("m",) * self.momentum + ("v",) * self.keeps_v


@dataclass
class StepNumbers:
    """The numbers of one step, as include/bcos/step_numbers.hpp names and explains them. Each is a
    Python number, a tensor, or a list of tensors that computes like one."""

    alpha: Any
    delta: Any  #: alpha lambda of decoupled decay
    lambda_: float  #: of coupled decay
    beta: Any
    fresh: Any  #: 1 - beta
    p: Any
    q: Any
    started: Any  #: 0 where the states begin from the raw gradient of this step, else 1
    begins: Any  #: 1 - started


def step_numbers(method: Method, alpha: Any, t: Any) -> StepNumbers:
    """``t``: how many steps the parameter has taken."""
    beta: Any = method.beta
    beta_v: Any = method.beta_v
    decayed = method.lambda_ != 0
    coupled = method.decay == "coupled" and decayed
    started: Any = 1.0
    if method.start == "zero_corrected":
        beta, beta_v = _corrected(beta, t), _corrected(beta_v, t)
    elif method.start == "first":
        begun = min(t, 1) if isinstance(t, int) else t.clamp_max(1)
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
    return StepNumbers(
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


def _corrected(beta: float, t: Any) -> Any:
    """Adam's bias correction as a smoothing factor that changes with time."""
    if beta == 0:
        return 0.0
    return beta * _one_minus_power(beta, t) / _one_minus_power(beta, t + 1)


def _one_minus_power(beta: float, t: Any) -> Any:
    exponent = t * math.log(beta)
    return -(math.expm1(exponent) if isinstance(exponent, float) else exponent.expm1())


def _product(number: Any, factor: float) -> Any:
    """Rounded once, to the type of the tensor."""
    if not isinstance(number, Tensor):
        return number * factor
    return (number.to(wide_dtype(number.device)) * factor).to(number.dtype)


def wide_dtype(device: torch.device) -> torch.dtype:
    """The type that sums are made in."""
    return torch.float32 if device.type == "mps" else torch.float64

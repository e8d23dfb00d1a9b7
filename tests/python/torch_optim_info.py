"""BCOS as torch's own optimizer suite knows optimizers.

``register()`` appends it to ``optim_db``; torch's own ``test/test_optim.py``, if imported after
that, runs on it unchanged (torch_own_suite.py).
"""

from __future__ import annotations

import unittest

import torch
from torch.testing._internal.common_optimizers import (
    ErrorOptimizerInput,
    OptimizerInfo,
    OptimizerInput,
    get_error_inputs_for_all_optims,
    optim_db,
)
from torch.testing._internal.opinfo.core import DecorateInfo

from bcos_optim import BCOS


def given(desc: str, **kwargs: object) -> OptimizerInput:
    # Several of torch's tests expect a step without gradients to change nothing.
    return OptimizerInput(params=None, kwargs={"weight_decay": 0.0, **kwargs}, desc=desc)


def inputs(device: object, dtype: object = None) -> list[OptimizerInput]:
    return [
        given("default"),
        given("non-default lr", lr=0.01),
        given("tensor lr", lr=torch.tensor(0.001)),
        given("nonzero weight_decay", weight_decay=0.1),
        given("coupled weight_decay", weight_decay=0.1, decoupled=False),
        given("maximize", weight_decay=0.1, maximize=True),
        given("simple", simple=True),
        given("AdamS", simple=True, beta_v=0.95),
        given("mode m", mode="m", beta_v=0.95),
        given("mode g", mode="g"),
        given("first-gradient start", start="first", eps=1e-6),
        given("bias-corrected start", start="zero_corrected"),
        given("capturable", capturable=True),
        given("mode m, capturable", mode="m", capturable=True),
    ]


def joint_inputs(device: object, dtype: object = None) -> list[OptimizerInput]:
    """Those under which coordinates do not move alone."""
    return [
        given("default"),
        given("rows", blocks="row", block_gain="sqrt"),
        given("columns, mode m", blocks="column", mode="m"),
        given("tensors, simple", blocks="tensor", simple=True),
        given("clipping", max_norm=1.0),
        given("guard", guard="skip", mode="g"),
    ]


def error_inputs(device: object, dtype: object) -> list[ErrorOptimizerInput]:
    def wrong(error_type: type[Exception], regex: str, **kwargs: object) -> ErrorOptimizerInput:
        given = OptimizerInput(params=None, kwargs=kwargs, desc=regex)
        return ErrorOptimizerInput(given, error_type=error_type, error_regex=regex)

    return [
        *get_error_inputs_for_all_optims(device, dtype),
        wrong(ValueError, "Invalid learning rate: -1", lr=-1),
        wrong(ValueError, "Invalid learning rate: nan", lr=float("nan")),
        wrong(ValueError, "Tensor lr must be 1-element", lr=torch.tensor([0.1, 0.2])),
        wrong(ValueError, "Invalid beta parameter at index 0: 1.0", beta=1.0),
        wrong(ValueError, "Invalid beta parameter at index 1: 1.5", mode="m", beta_v=1.5),
        wrong(ValueError, "full estimator", beta_v=0.9),
        wrong(ValueError, "Invalid mode: 'x'", mode="x"),
        wrong(ValueError, "Invalid weight_decay value: -1", weight_decay=-1),
        wrong(ValueError, "Invalid weight_decay value: '0.1'", weight_decay="0.1"),
        wrong(ValueError, "Invalid epsilon value: -1", eps=-1),
        wrong(ValueError, "Invalid start: 'warm'", start="warm"),
        wrong(ValueError, "Invalid blocks: 'diagonal'", blocks="diagonal"),
        wrong(ValueError, "Invalid guard: 'hope'", guard="hope"),
        wrong(ValueError, "Invalid max_norm value: 0", max_norm=0),
        wrong(TypeError, "unexpected keyword argument 'nesterov'", nesterov=True),
        wrong(RuntimeError, "cannot be `True` together", fused=True, foreach=True),
        wrong(RuntimeError, "does not support `differentiable`", fused=True, differentiable=True),
    ]


class JointBCOS(BCOS):
    """torch's suite knows its optimizers by their class."""


COMMON = dict(
    optim_error_inputs_func=error_inputs,
    supported_impls=("foreach", "differentiable", "fused"),
    not_og_supported_flags=(),
    has_capturable_arg=True,
    supports_fused_on=("cpu",),
)
INFO = OptimizerInfo(BCOS, optim_inputs_func=inputs, **COMMON)
JOINT_INFO = OptimizerInfo(
    JointBCOS,
    optim_inputs_func=joint_inputs,
    # A complex number is a pair in one tensor, and there the blocks are others than in two.
    supports_complex=False,
    skips=(
        DecorateInfo(
            unittest.skip("gives max_norm and guard to one of two groups, which is refused"),
            "TestOptimRenewed",
            "test_param_groups_lr",
        ),
    ),
    **COMMON,
)


def register() -> None:
    for info in (INFO, JOINT_INFO):
        if info not in optim_db:
            optim_db.append(info)

"""torch.compile, capturable, differentiable."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from bcos_optim import BCOS
from conftest import Make, give_gradients, run

FORMS: dict[str, dict[str, Any]] = {
    "c": {},
    "m": {"mode": "m"},
    "first": {"start": "first"},
    "first, coupled": {"start": "first", "decoupled": False, "coupled_start": "raw"},
    "rows": {"blocks": "row"},
    "numbers of an AdamW": {"adjust_lr_fn": "match_rms_adamw"},
}


# Inductor takes half a minute a form; the graph is the one that eager has checked.
@pytest.mark.parametrize(
    ("form", "backend"),
    [*((form, "eager") for form in FORMS), ("c", "inductor"), ("m", "inductor")],
)
def test_a_compiled_step_equals_the_plain_one(form: str, backend: str, make_params: Make) -> None:
    torch._dynamo.reset()
    params, others = make_params(), make_params()
    compiled, plain = BCOS(params, lr=0.01, **FORMS[form]), BCOS(others, lr=0.01, **FORMS[form])

    @torch.compile(backend=backend)
    def step() -> None:
        compiled.step()

    for t in range(4):
        give_gradients(params, t)
        step()
        run(plain, 1, t)
    for a, b in zip(params, others, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
    assert int(compiled.state[params[0]]["step"]) == 4


@pytest.mark.parametrize("form", FORMS)
def test_capturable_keeps_counters_with_the_parameters(form: str, make_params: Make) -> None:
    for foreach in (False, True):
        params, others = make_params(), make_params()
        capturable = BCOS(
            params, lr=torch.tensor(0.01), capturable=True, foreach=foreach, **FORMS[form]
        )
        run(capturable, 4)
        run(BCOS(others, lr=0.01, **FORMS[form]), 4)
        for a, b in zip(params, others, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", ["c", "m"])
def test_a_differentiable_step_passes_gradients_on(form: str) -> None:
    def after(scale: torch.Tensor) -> torch.Tensor:
        p = (torch.tensor([1.0, -2.0], dtype=torch.float64) * scale).clone()
        p.retain_grad() if p.requires_grad else None
        p.grad = torch.tensor([0.3, -0.1], dtype=torch.float64) * scale
        optimizer = BCOS([p], lr=0.1, differentiable=True, eps_root=1e-2, **FORMS[form])
        optimizer.step()
        return p

    scale = torch.tensor(1.3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(after, (scale,))


def test_training_under_compile_learns() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = nn.Linear(8, 1)
    optimizer = BCOS(model.parameters(), lr=0.01)
    x = torch.randn(64, 8)
    y = x.sum(dim=1, keepdim=True)

    @torch.compile(backend="eager")
    def step() -> torch.Tensor:
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        losses.append(step().item())
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("form", ["c", "m", "first", "first, coupled"])
def test_a_compiled_step_takes_all_parameters_in_one_list(form: str, make_params: Make) -> None:
    """Whatever the start: each parameter has a count of its own, on the device."""
    torch._dynamo.reset()
    params = make_params()
    optimizer = BCOS(params, lr=0.01, **FORMS[form])
    give_gradients(params, 0)
    lengths: list[int] = []

    def backend(graph: torch.fx.GraphModule, _: Any) -> Any:
        for node in graph.graph.nodes:
            if node.op == "call_function" and "_foreach_copy" in str(node.target):
                lengths.append(len(node.args[0]))
        return graph.forward

    torch.compile(optimizer.step, backend=backend)()
    assert lengths and set(lengths) == {len(params)}

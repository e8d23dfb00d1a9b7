"""Parameters and gradients that are hardly there, or change under the optimizer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import bcos_optim
from bcos_optim import BCOS, _survey


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"mode": "g"}, {"mode": "adam"}, {"mode": "m", "blocks": "row"}]
)
def test_a_model_that_changes_its_type_is_refused_by_name(
    options: dict[str, Any], fused: bool
) -> None:
    model = nn.Linear(3, 2)
    optimizer = BCOS(model.named_parameters(), fused=fused, **options)
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    model.double()
    model(torch.ones(4, 3).double()).sum().backward()
    before = model.weight.detach().clone()
    with pytest.raises(ValueError, match="Invalid parameter weight: it is torch.float64 now"):
        optimizer.step()
    assert torch.equal(model.weight, before)


@pytest.mark.parametrize(
    "options",
    [{}, {"mode": "m"}, {"mode": "adam"}, {"blocks": "row"}, {"max_norm": 1.0, "guard": "skip"}],
)
def test_fake_tensors_are_stepped_without_numbers(options: dict[str, Any]) -> None:
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake.FakeTensorMode():
        model = nn.Linear(3, 2)
        optimizer = BCOS(model.parameters(), **options)
        for _ in range(2):
            model(torch.ones(4, 3)).sum().backward()
            optimizer.step()
        assert optimizer.state[model.weight]["m"].shape == (2, 3)


def test_an_empty_parameter_counts_the_steps_that_it_has_a_gradient_in() -> None:
    empty, full = nn.Parameter(torch.zeros(0)), nn.Parameter(torch.zeros(3))
    optimizer = BCOS([empty, full])
    for given in (False, True, True, False):
        full.grad = torch.ones(3)
        empty.grad = torch.zeros(0) if given else None
        optimizer.step()
    assert optimizer.state[empty]["step"].item() == 2
    assert optimizer.state[full]["step"].item() == 4


def test_an_empty_parameter_does_not_count_steps_that_only_make_state() -> None:
    empty, full = nn.Parameter(torch.zeros(0)), nn.Parameter(torch.zeros(3))
    optimizer = BCOS([empty, full], lr=0.0)
    full.grad = torch.ones(3)
    for _ in range(2):
        optimizer.step()
    assert optimizer.state[empty]["step"].item() == 0


def test_a_strided_gradient_may_not_be_the_parameter_itself() -> None:
    p = nn.Parameter(torch.ones(4, 6)[:, ::2])
    optimizer = BCOS([p])
    p.grad = p.detach()
    with pytest.raises(ValueError, match="overlaps"):
        optimizer.step()
    assert (p == 1).all()


def test_strided_gradients_may_lie_between_the_numbers_of_their_parameters() -> None:
    both = torch.ones(4, 6)
    p = nn.Parameter(both[:, ::2])
    optimizer = BCOS([p])
    p.grad = both[:, 1::2]
    optimizer.step()
    assert (p < 1).all()
    assert (both[:, 1::2] == 1).all()


def test_sgd_that_ignores_gradients_has_no_momentum_to_convert() -> None:
    p = nn.Parameter(torch.ones(2))
    sgd = torch.optim.SGD([p], lr=0.1, momentum=0.9, dampening=1)
    p.grad = torch.ones(2)
    sgd.step()
    with pytest.raises(ValueError, match="dampening=1"):
        bcos_optim.convert(sgd, lr=0.1)


@pytest.mark.parametrize("mode", ["sgd", "sign_sgd"])
@pytest.mark.parametrize("given", [{"beta": 0.5}, {"betas": (0.5,)}])
def test_a_beta_is_refused_where_there_is_no_momentum(mode: str, given: dict[str, Any]) -> None:
    p = nn.Parameter(torch.ones(2))
    for make in (
        lambda: BCOS([p], mode=mode, **given),
        lambda: BCOS([{"params": [p], "mode": mode, **given}]),
        lambda: bcos_optim.optimizer(mode, [p], **given),
        lambda: bcos_optim.optimizer("bcosw_c", [p], mode=mode, **given),
    ):
        with pytest.raises(ValueError, match=f"mode '{mode}' has no momentum"):
            make()


def test_a_beta_is_taken_where_a_group_has_momentum() -> None:
    p = nn.Parameter(torch.ones(2))
    optimizer = BCOS([{"params": [p], "mode": "c"}], mode="sgd", beta=0.5)
    assert optimizer.param_groups[0]["betas"] == (0.5,)
    BCOS([p], mode="sgd")


class Odd(nn.Parameter):
    """A parameter whose gradient is not what torch says."""

    given: Any = None

    @property
    def grad(self) -> Any:
        return self.given

    @grad.setter
    def grad(self, value: Any) -> None:
        self.given = value


@pytest.mark.parametrize("given", ["nonsense", 3, [torch.ones(2)]])
def test_what_is_no_tensor_is_not_read_as_one(given: Any) -> None:
    p = Odd(torch.ones(2))
    p.grad = torch.ones(2)
    optimizer = BCOS([p])
    optimizer.step()
    surveyor = optimizer._engine_steps[False]._surveyor
    assert surveyor is not None
    assert surveyor.look(counting=False) is not None
    p.grad = given
    assert surveyor.look(counting=False) is None


def test_torch_at_hand_is_built_as_expected() -> None:
    assert _survey._reader() is not None
    with torch.inference_mode():
        assert _survey._parts.__wrapped__() is not None

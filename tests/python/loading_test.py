"""State dicts of other versions, other wrappers, other people; files of wrapped optimizers."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import bcos_optim
from bcos_optim import BCOS
from conftest import Make, run

DATA = Path(__file__).parent / "data"
#: As the first version 0.1 wrote them, each with the step that followed.
CHECKPOINTS = torch.load(DATA / "checkpoints-0.1.pt", weights_only=True)


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_checkpoints_of_earlier_versions_load(name: str) -> None:
    saved = CHECKPOINTS[name]
    params = [nn.Parameter(x.clone()) for x in saved["before"]]
    given = list(zip(["weight", "bias"], params, strict=True)) if name == "named" else params
    optimizer = BCOS(given, lr=0.5, **saved["options"])
    optimizer.load_state_dict(saved["state_dict"])
    for p, gradient in zip(params, saved["gradients"], strict=True):
        p.grad = gradient
    optimizer.step()
    for p, expected in zip(params, saved["after"], strict=True):
        torch.testing.assert_close(p.detach(), expected, rtol=1e-6, atol=1e-7)
        assert optimizer.state[p]["step"].dtype == torch.int64
        assert int(optimizer.state[p]["step"]) == 4


def test_files_of_earlier_versions_load() -> None:
    weight, bias = nn.Parameter(torch.ones(2, 3)), nn.Parameter(torch.ones(3))
    optimizer = BCOS([{"params": [("weight", weight)]}, {"params": [("bias", bias)], "mode": "m"}])
    bcos_optim.load(optimizer, DATA / "optimizer-0.1.safetensors")
    assert [int(optimizer.state[p]["step"]) for p in (weight, bias)] == [3, 3]
    assert optimizer.state[bias]["v"].shape == (3,)


def test_an_old_checkpoint_means_its_lr_as_it_is() -> None:
    """It knows nothing of adjust_lr_fn."""
    saved = CHECKPOINTS["c"]
    params = [nn.Parameter(x.clone()) for x in saved["before"]]
    optimizer = BCOS(params, adjust_lr_fn="match_rms_adamw")
    optimizer.load_state_dict(saved["state_dict"])
    assert optimizer.param_groups[0]["adjust_lr_fn"] is None
    assert optimizer.param_groups[0]["lr"] == 0.01


WRAPPERS = {
    "DataParallel": ("module.", ""),
    "compile": ("", "_orig_mod."),
    "both": ("_orig_mod.module.", "module."),
    "FSDP": ("_fsdp_wrapped_module.", ""),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_names_are_matched_past_wrappers(wrapper: str, make_params: Make) -> None:
    theirs, ours = WRAPPERS[wrapper]
    params = make_params((3,), (3,))
    optimizer = BCOS([(f"{theirs}a", params[0]), (f"{theirs}l._orig_mod.b", params[1])])
    run(optimizer, 2)
    twins = [nn.Parameter(p.detach().clone()) for p in params]
    other = BCOS([(f"{ours}l.b", twins[1]), (f"{ours}a", twins[0])])
    other.load_state_dict(optimizer.state_dict())
    for p, twin in zip(params, twins, strict=True):
        assert torch.equal(other.state[twin]["m"], optimizer.state[p]["m"])
    assert other.param_groups[0]["param_names"] == [f"{ours}l.b", f"{ours}a"]


def test_names_that_differ_in_a_wrapper_alone_stay_apart(make_params: Make) -> None:
    params = make_params((3,), (3,))
    optimizer = BCOS([("module.a", params[0]), ("a", params[1])])
    run(optimizer, 1)
    twins = [nn.Parameter(p.detach().clone()) for p in params]
    other = BCOS([("a", twins[1]), ("module.a", twins[0])])
    other.load_state_dict(optimizer.state_dict())
    assert torch.equal(other.state[twins[0]]["m"], optimizer.state[params[0]]["m"])


@pytest.mark.parametrize("wrong", [{}, 3, "m", None], ids=str)
def test_what_should_be_a_tensor_is_named(wrong: object, make_params: Make) -> None:
    """Checkpoint frameworks leave an empty dict where a key was missing."""
    params = make_params((3,))
    optimizer = BCOS([("weight", params[0])])
    run(optimizer, 1)
    saved = copy.deepcopy(optimizer.state_dict())
    saved["state"][0]["m"] = wrong
    with pytest.raises(ValueError, match="parameter weight: expected 'm'"):
        optimizer.load_state_dict(saved)


def test_notes_of_other_people_keep_their_types() -> None:
    p = nn.Parameter(torch.ones(3, dtype=torch.bfloat16))
    optimizer = BCOS([p])
    run(optimizer, 1)
    notes = {"z": torch.full((3,), 1 / 3), "deep": {"exact": torch.tensor([2**24 + 1.0])}}
    notes |= {"list": [torch.tensor([7]), "word"], "word": "seven"}
    optimizer.state[p].update(notes)
    other = BCOS([nn.Parameter(p.detach().clone())])
    other.load_state_dict(optimizer.state_dict())
    (q,) = other.param_groups[0]["params"]
    state = other.state[q]
    assert torch.equal(state["z"], notes["z"]) and state["z"].dtype == torch.float32
    assert torch.equal(state["deep"]["exact"], notes["deep"]["exact"])
    assert state["list"][0].dtype == torch.int64 and state["list"][1] == "word"
    assert state["word"] == "seven"
    assert state["z"].data_ptr() != notes["z"].data_ptr()


def test_a_state_of_fewer_bits_is_taken_exactly() -> None:
    p = nn.Parameter(torch.ones(3))
    optimizer = BCOS([p])
    run(optimizer, 1)
    saved = copy.deepcopy(optimizer.state_dict())
    half = saved["state"][0]["m"].bfloat16()
    saved["state"][0]["m"] = half
    optimizer.load_state_dict(saved)
    assert torch.equal(optimizer.state[p]["m"], half.float())


def test_a_state_that_is_stored_otherwise_is_refused() -> None:
    p = nn.Parameter(torch.ones(3))
    optimizer = BCOS([p])
    run(optimizer, 1)
    saved = copy.deepcopy(optimizer.state_dict())
    saved["param_groups"][0]["state_dtype"] = "int8"
    with pytest.raises(ValueError, match="state_dtype"):
        optimizer.load_state_dict(saved)


class Accelerated:
    """As frameworks wrap optimizers."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer

    def step(self) -> None:
        self.optimizer.step()


def test_unnamed_and_wrapped_optimizers_are_saved_with_their_model(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    wrapped = nn.Sequential()
    wrapped.add_module("module", model)
    optimizer = BCOS(model.parameters())
    run(optimizer, 2)
    file = tmp_path / "state.safetensors"
    bcos_optim.save(Accelerated(optimizer), file, model=wrapped)
    twin = copy.deepcopy(model)
    named = BCOS(twin.named_parameters())
    bcos_optim.load(named, file)
    for p, q in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.equal(optimizer.state[p]["m"], named.state[q]["m"])
    other = BCOS(twin.parameters())
    bcos_optim.load(Accelerated(other), file, model=twin)
    assert int(other.state[next(twin.parameters())]["step"]) == 2
    with pytest.raises(ValueError, match="give model="):
        bcos_optim.save(optimizer, file)
    with pytest.raises(ValueError, match="4 parameters of the optimizer are not in the model"):
        bcos_optim.save(optimizer, file, model=twin)


def test_convert_keeps_what_others_put_into_groups(make_params: Make) -> None:
    a, b, _ = make_params()
    groups = [
        {"params": [a], "lr": 0.01, "lr_scale": 0.5, "name": "layer 0"},
        {"params": [b], "lr": 0.02, "lr_scale": 1.0, "name": "layer 1"},
    ]
    adam = torch.optim.AdamW(groups)
    torch.optim.lr_scheduler.StepLR(adam, 10)
    run(adam, 1)
    bcos = bcos_optim.convert(adam)
    assert [group["lr_scale"] for group in bcos.param_groups] == [0.5, 1.0]
    assert [group["name"] for group in bcos.param_groups] == ["layer 0", "layer 1"]
    assert [group["initial_lr"] for group in bcos.param_groups] == [0.01, 0.02]
    torch.optim.lr_scheduler.StepLR(bcos, 10, last_epoch=3)
    assert "amsgrad" not in bcos.param_groups[0]


def test_pickles_of_earlier_versions_open(make_params: Make) -> None:
    """They lack the options that came later."""
    optimizer = BCOS(make_params())
    run(optimizer, 1)
    state = optimizer.__getstate__()
    for options in (state["defaults"], *state["param_groups"]):
        for name in ("adjust_lr_fn", "state_dtype", "rounding_seed", "master_weight_bits"):
            options.pop(name)
    again = BCOS.__new__(BCOS)
    again.__setstate__(state)
    run(again, 1, 1)
    assert again.param_groups[0]["state_dtype"] == "float32"


def test_a_loaded_state_lies_as_its_parameter_does() -> None:
    p = nn.Parameter(torch.randn(4, 3, 2, 2).to(memory_format=torch.channels_last))
    optimizer = BCOS([p])
    run(optimizer, 1)
    saved = copy.deepcopy(optimizer.state_dict())
    saved["state"][0]["m"] = saved["state"][0]["m"].contiguous()
    optimizer.load_state_dict(saved)
    assert optimizer.state[p]["m"].stride() == p.stride()
    assert torch.equal(optimizer.state[p]["m"], saved["state"][0]["m"])


@pytest.mark.parametrize("blocks", ["coordinate", "row"])
def test_what_was_loaded_is_not_written_to(blocks: str) -> None:
    p = nn.Parameter(torch.ones(3, 2))
    optimizer = BCOS([p], mode="m", blocks=blocks)
    run(optimizer, 1)
    optimizer.state[p]["note"] = [torch.ones(3, 2)]
    saved = copy.deepcopy(optimizer.state_dict())
    kept = copy.deepcopy(saved)
    optimizer.load_state_dict(saved)
    run(optimizer, 1, 1)
    optimizer.state[p]["note"][0].zero_()
    for key in ("m", "v", "step"):
        assert torch.equal(saved["state"][0][key], kept["state"][0][key])
    assert torch.equal(saved["state"][0]["note"][0], torch.ones(3, 2))


def test_a_state_that_is_loaded_from_itself_stays_where_it_is() -> None:
    """Distributed checkpoints copy into it before they load it."""
    p = nn.Parameter(torch.ones(3))
    optimizer = BCOS([p])
    run(optimizer, 1)
    m = optimizer.state[p]["m"]
    optimizer.load_state_dict(optimizer.state_dict())
    assert optimizer.state[p]["m"] is m

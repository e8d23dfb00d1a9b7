"""Engine, foreach and loop on random shapes, strides, types, groups and options."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from bcos_optim import BCOS, limits, set_threads, threads
from bcos_optim.steppers import operations

shapes = st.lists(st.integers(0, 7), max_size=3).map(tuple)
dtypes = st.sampled_from(
    [torch.float32, torch.float64, torch.complex64, torch.float16, torch.bfloat16]
)
tensors = st.lists(st.tuples(shapes, dtypes), min_size=1, max_size=5)
#: What rounding may make of a result.
CLOSE = {
    torch.float64: {"rtol": 1e-12, "atol": 1e-13},
    torch.float16: {"rtol": 2e-3, "atol": 2e-3},
    torch.bfloat16: {"rtol": 2e-2, "atol": 2e-2},
}


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    mode = draw(st.sampled_from(["c", "m", "g", "adam", "adams", "sgd_momentum", "sign_momentum"]))
    chosen: dict[str, Any] = {
        "mode": mode,
        "betas": (draw(st.sampled_from([0.0, 0.5, 0.9, 0.99])),),
        "weight_decay": draw(st.sampled_from([0.0, 0.1])),
        "decoupled": draw(st.booleans()),
        "maximize": draw(st.booleans()),
        "start": draw(st.sampled_from(["zero", "zero_corrected", "first"])),
        "blocks": draw(st.sampled_from(["coordinate", "coordinate", "row", "column", "tensor"])),
        "block_gain": draw(st.sampled_from(["one", "sqrt"])),
        "max_norm": draw(st.sampled_from([None, 0.7])),
        "guard": draw(st.sampled_from(["propagate", "skip"])),
        "lr": draw(st.sampled_from([0.0, 1e-3, 0.1])),
    }
    chosen["simple"] = mode == "c" and draw(st.booleans())
    # Signs of sums that cancel may differ between roundings.
    chosen["eps_root"] = 1e-3
    return chosen


def layout(values: torch.Tensor, strided: bool) -> torch.Tensor:
    if not strided or values.dim() < 2:
        return values
    return values.transpose(0, 1).contiguous().transpose(0, 1)


def stepped(
    wanted: list[tuple[tuple[int, ...], torch.dtype]],
    chosen: dict[str, Any],
    other: dict[str, Any],
    strided: bool,
    implementation: dict[str, Any],
) -> list[torch.Tensor]:
    """``other``: the options of a group of its own."""
    generator = torch.Generator().manual_seed(0)

    def numbers(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return layout(torch.randn(shape, generator=generator, dtype=dtype), strided)

    params = [nn.Parameter(numbers(*each)) for each in wanted]
    half = len(params) // 2
    own = {name: value for name, value in other.items() if name not in ("max_norm", "guard")}
    groups = [{"params": params[:half], **own}, {"params": params[half:]}]
    optimizer = BCOS(groups, **chosen, **implementation)
    for t in range(3):
        for i, p in enumerate(params):
            p.grad = None if (i + t) % 4 == 3 else numbers(tuple(p.shape), p.dtype)
        optimizer.step()
    return [p.detach() for p in params]


@settings(max_examples=120, deadline=None)
@given(tensors, options(), options(), st.booleans())
def test_the_three_implementations_agree(
    wanted: list[tuple[tuple[int, ...], torch.dtype]],
    chosen: dict[str, Any],
    other: dict[str, Any],
    strided: bool,
) -> None:
    engine = stepped(wanted, chosen, other, strided, {})
    foreach = stepped(wanted, chosen, other, strided, {"fused": False})
    loop = stepped(wanted, chosen, other, strided, {"fused": False, "foreach": False})
    for a, b, c in zip(engine, foreach, loop, strict=True):
        close = CLOSE.get(a.dtype, {"rtol": 2e-5, "atol": 2e-5})
        torch.testing.assert_close(a, b, **close)
        torch.testing.assert_close(a, c, **close)


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("blocks", ["coordinate", "row", "column", "tensor"])
def test_pieces_of_a_tensor_are_stepped_as_the_whole(
    blocks: str, strided: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large tensors are cut where no block is cut, and so is what the norm is summed of."""
    wanted = [((9, 11), torch.float32), ((3, 40), torch.float32), ((30,), torch.float32)]
    chosen = {"mode": "m", "blocks": blocks, "eps_root": 1e-3, "max_norm": 0.7, "lr": 0.1}
    whole = stepped(wanted, chosen, {}, strided, {"fused": False})
    monkeypatch.setattr(operations, "BUCKET_ON_CPU", 120)
    monkeypatch.setattr(limits, "PIECE", 25)
    pieces = stepped(wanted, chosen, {}, strided, {"fused": False})
    for a, b in zip(whole, pieces, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-6)


def test_the_engines_bits_do_not_depend_on_threads() -> None:
    results = []
    before = threads(), torch.get_num_threads()
    for count in (1, 2, 7):
        set_threads(count)
        torch.set_num_threads(count)
        wanted = [((700, 600), torch.float32), ((300_000,), torch.float32)]
        results.append(stepped(wanted, {"max_norm": 1.0}, {}, False, {}))
    set_threads(before[0])
    torch.set_num_threads(before[1])
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))

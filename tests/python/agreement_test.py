"""Engine, foreach and loop on random shapes, strides, types, groups and options."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from bcos_optim import BCOS, set_threads, threads

shapes = st.lists(st.integers(0, 7), max_size=3).map(tuple)
dtypes = st.sampled_from([torch.float32, torch.float64, torch.complex64])


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    mode = draw(st.sampled_from(["c", "m", "g", "adam", "adams", "sgd_momentum", "sign_momentum"]))
    chosen: dict[str, Any] = {
        "mode": mode,
        "beta": draw(st.sampled_from([0.0, 0.5, 0.9, 0.99])),
        "weight_decay": draw(st.sampled_from([0.0, 0.1])),
        "decoupled": draw(st.booleans()),
        "maximize": draw(st.booleans()),
        "start": draw(st.sampled_from(["zero", "zero_corrected", "first"])),
        "blocks": draw(st.sampled_from(["coordinate", "coordinate", "row", "column", "tensor"])),
        "block_gain": draw(st.sampled_from(["one", "sqrt"])),
        "max_norm": draw(st.sampled_from([None, 0.7])),
        "lr": draw(st.sampled_from([0.0, 1e-3, 0.1])),
    }
    if mode == "c" and draw(st.booleans()):
        chosen["simple"] = True
    # Signs of sums that cancel may differ between roundings.
    chosen["eps_root"] = 1e-3
    return chosen


def layout(values: torch.Tensor, strided: bool) -> torch.Tensor:
    if not strided or values.dim() < 2:
        return values
    return values.transpose(0, 1).contiguous().transpose(0, 1)


def stepped(
    given_shapes: list[tuple[int, ...]],
    dtype: torch.dtype,
    chosen: dict[str, Any],
    strided: bool,
    implementation: dict[str, Any],
) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)

    def numbers(shape: tuple[int, ...]) -> torch.Tensor:
        return layout(torch.randn(shape, generator=generator, dtype=dtype), strided)

    params = [nn.Parameter(numbers(shape)) for shape in given_shapes]
    half = len(params) // 2
    groups = [{"params": params[:half], "weight_decay": 0.05}, {"params": params[half:]}]
    optimizer = BCOS(groups, **chosen, **implementation)
    for t in range(3):
        for i, p in enumerate(params):
            p.grad = None if (i + t) % 4 == 3 else numbers(tuple(p.shape))
        optimizer.step()
    return [p.detach() for p in params]


@settings(max_examples=120, deadline=None)
@given(st.lists(shapes, min_size=1, max_size=5), dtypes, options(), st.booleans())
def test_the_three_implementations_agree(
    given_shapes: list[tuple[int, ...]],
    dtype: torch.dtype,
    chosen: dict[str, Any],
    strided: bool,
) -> None:
    engine = stepped(given_shapes, dtype, chosen, strided, {})
    foreach = stepped(given_shapes, dtype, chosen, strided, {"fused": False})
    loop = stepped(given_shapes, dtype, chosen, strided, {"fused": False, "foreach": False})
    tight = dtype == torch.float64
    close = {"rtol": 1e-12, "atol": 1e-13} if tight else {"rtol": 2e-5, "atol": 2e-5}
    for a, b, c in zip(engine, foreach, loop, strict=True):
        torch.testing.assert_close(a, b, **close)
        torch.testing.assert_close(a, c, **close)


def test_the_engines_bits_do_not_depend_on_threads() -> None:
    results = []
    before = threads()
    for count in (1, 2, 7):
        set_threads(count)
        sizes = [(700, 600), (300_000,)]
        results.append(stepped(sizes, torch.float32, {"max_norm": 1.0}, False, {}))
    set_threads(before)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))

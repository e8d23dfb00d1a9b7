"""Measures a step of BCOS against torch's AdamW, on the same tensors, in turn.

python bench/python_step.py --quick
python bench/python_step.py --layout gpt2 --json rows.jsonl
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor, nn

import bcos_optim
from bcos_optim import BCOS
from bcos_optim.steppers import engine

Shapes = list[tuple[int, ...]]


def gpt2_shapes() -> Shapes:
    """The 148 parameters of GPT-2 124M."""
    w = 768
    layer = [(w,), (w,), (3 * w, w), (3 * w,), (w, w), (w,), (w,), (w,), (4 * w, w), (4 * w,)]
    layer += [(w, 4 * w), (w,)]
    return [(50257, w), (1024, w), *(layer * 12), (w,), (w,)]


def convolutions() -> Shapes:
    """The filters of ResNet-50's four stages, nearly."""
    shapes: Shapes = []
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        shapes += [
            (width, width, 3, 3),
            (4 * width, width, 1, 1),
            (width, 4 * width, 1, 1),
        ] * blocks
    return shapes


LAYOUTS: dict[str, Callable[[], Shapes]] = {
    "gpt2": gpt2_shapes,
    "flat": lambda: [(100_000_000,)],
    "small": lambda: [(1_000,)] * 10_000,
    "tiny": lambda: [(64,)] * 148,
    "one": lambda: [(64,)],
    "conv": convolutions,
    "conv channels_last": convolutions,
}


class Formula:
    """The paper's formula in plain torch operations, as one would write it down."""

    def __init__(self, params: Sequence[Tensor], lr: float = 5e-4, beta: float = 0.9) -> None:
        self.params = params
        self.lr, self.beta, self.decay = lr, beta, 0.1
        self.ms = [torch.zeros_like(p) for p in params]

    @torch.no_grad()
    def step(self) -> None:
        b = self.beta
        for p, m in zip(self.params, self.ms, strict=True):
            g = p.grad
            v = (3 * b**2 - 2 * b**3) * m.square()
            v += 2 * b * (1 - b) ** 2 * m * g
            v += (1 - b) ** 2 * g.square()
            m.mul_(b).add_(g, alpha=1 - b)
            p.mul_(1 - self.lr * self.decay)
            p.add_(m / (v.sqrt() + 1e-6), alpha=-self.lr)


def deepspeed_adam(params: list[nn.Parameter]) -> Any:
    """It compiles itself at its first use, for a minute or two."""
    from deepspeed.ops.adam import DeepSpeedCPUAdam

    return DeepSpeedCPUAdam(params, adamw_mode=True)


RIVALS: dict[str, Callable[[list[nn.Parameter]], Any]] = {
    "torch AdamW (default)": lambda ps: torch.optim.AdamW(ps, foreach=False, fused=False),
    "torch AdamW (foreach)": lambda ps: torch.optim.AdamW(ps, foreach=True),
    "torch AdamW (fused)": lambda ps: torch.optim.AdamW(ps, fused=True),
    "formula in torch": Formula,
}
if find_spec("deepspeed") is not None:
    RIVALS["DeepSpeed CPUAdam"] = deepspeed_adam
CALL = "BCOS.step over the engine's call"


@dataclass
class Row:
    """One rival on one layout."""

    rival: str
    layout: str
    threads: int
    ratio: float  #: the rival's time over ours
    low: float
    high: float
    ours_ms: float


def make_params(shapes: Shapes, *, channels_last: bool = False) -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(0)

    def numbers(shape: Sequence[int], size: float) -> Tensor:
        values = torch.randn(shape, generator=generator) * size
        return values.to(memory_format=torch.channels_last) if channels_last else values

    params = [nn.Parameter(numbers(s, 0.02)) for s in shapes]
    for p in params:
        p.grad = numbers(p.shape, 1e-3)
    return params


def fresh_gradients(params: list[nn.Parameter]) -> None:
    """New tensors, as after zero_grad and backward."""
    for p in params:
        p.grad = p.grad.clone()


def seconds_of(step: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


def in_turn(ours: Callable[[], float], theirs: Callable[[], float], pairs: int) -> tuple[Any, ...]:
    """Ours, theirs, ours, ...: each of theirs against the mean of ours before and after. Returns
    median and quartiles of the ratios, and the median of our times in milliseconds."""
    ours(), theirs()
    times = [ours()]
    ratios = []
    for _ in range(pairs):
        theirs_now = theirs()
        times.append(ours())
        ratios.append(2 * theirs_now / (times[-2] + times[-1]))
    low, median, high = statistics.quantiles(ratios, n=4) if pairs > 1 else ratios * 3
    return median, low, high, 1e3 * statistics.median(times)


def use_threads(threads: int) -> None:
    torch.set_num_threads(threads)
    bcos_optim.set_threads(threads)


def compare(rival: str, layout: str, threads: int, pairs: int, shapes: Shapes) -> Row:
    """A step of a rival over one of ours."""
    use_threads(threads)
    params = make_params(shapes, channels_last=layout.endswith("channels_last"))
    ours, theirs = BCOS(params), RIVALS[rival](params)

    def time_of(step: Callable[[], Any]) -> float:
        if layout == "small":
            fresh_gradients(params)
        return seconds_of(step)

    times = in_turn(lambda: time_of(ours.step), lambda: time_of(theirs.step), pairs)
    return Row(rival, layout, threads, *times)


def overhead(layout: str, threads: int, pairs: int, shapes: Shapes) -> Row:
    """A step of the Python class over the call of the engine in it."""
    use_threads(threads)
    params = make_params(shapes, channels_last=layout.endswith("channels_last"))
    optimizer = BCOS(params)
    optimizer.step()
    (plan,) = optimizer._engine._plans.values()
    gradients, steps = plan._gradients.buffer_info()[0], plan.counters.data_ptr()
    report = engine.LibraryReport(struct_size=ctypes.sizeof(engine.LibraryReport))
    update = plan._lib.bcos_plan_update

    def bare() -> None:
        update(plan._handle, gradients, plan._alphas, steps, 1.0, ctypes.byref(report))

    times = in_turn(lambda: seconds_of(bare), lambda: seconds_of(optimizer.step), pairs)
    return Row(CALL, layout, threads, *times)


def measured(
    rivals: list[str], layouts: list[str], threads: list[int], pairs: int
) -> Iterator[Row]:
    for layout in layouts:
        shapes = LAYOUTS[layout]()
        for count in threads:
            for rival in rivals:
                if rival == CALL:
                    yield overhead(layout, count, pairs, shapes)
                else:
                    yield compare(rival, layout, count, pairs, shapes)


def chosen_rivals(words: list[str] | None) -> list[str]:
    """The rivals with one of these words in their names; all if there are no words."""
    every = [*RIVALS, CALL]
    if words is None:
        return every
    for word in words:
        if not any(word.lower() in rival.lower() for rival in every):
            raise ValueError(f"expected a part of {', '.join(every)}, received {word}")
    return [rival for rival in every if any(word.lower() in rival.lower() for word in words)]


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, received {text}")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python_step.py",
        description=(__doc__ or "").partition("\n")[0],
        epilog="Ratios above 1 mean that BCOS is faster (in the last row: that Python costs time). "
        "Temporaries of the rivals that malloc "
        "gives back to the system at every step make them slower still; "
        "MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000 in the environment keeps them. "
        "Example: python bench/python_step.py --layout gpt2 --threads 1 --rival fused",
    )
    parser.add_argument("--layout", choices=LAYOUTS, action="append", help="default: gpt2, small")
    parser.add_argument("--threads", type=positive, action="append", help="default: 1 and all")
    parser.add_argument(
        "--rival",
        metavar="WORD",
        action="append",
        help="those with this word: fused, formula, call",
    )
    parser.add_argument("--pairs", type=positive, help="samples a row (15, 5 with --quick)")
    parser.add_argument("--json", metavar="FILE", help="also write the rows as JSON lines")
    parser.add_argument("--quick", action="store_true", help="fewer samples, one layout")
    given = parser.parse_args(arguments)
    if bcos_optim.version() is None:
        print("python_step.py: the native library is missing", file=sys.stderr)
        return 1
    layouts = given.layout or (["gpt2"] if given.quick else ["gpt2", "small"])
    every = torch.get_num_threads()
    threads = given.threads or ([every] if given.quick else sorted({1, every}))
    try:
        rivals = chosen_rivals(given.rival)
        file = open(given.json, "w") if given.json else None
    except (OSError, ValueError) as error:
        parser.error(str(error))
    print(f"torch {torch.__version__}, bcos {bcos_optim.version()}, target {bcos_optim.target()}")
    print(f"{'rival':34}{'layout':20}{'threads':>8}{'ratio':>8}{'quartiles':>16}{'ours':>12}")
    with file or nullcontext():
        for row in measured(rivals, layouts, threads, given.pairs or (5 if given.quick else 15)):
            print(
                f"{row.rival:34}{row.layout:20}{row.threads:8}{row.ratio:8.2f}"
                f"{row.low:9.2f}-{row.high:.2f}{row.ours_ms:9.2f} ms",
                flush=True,
            )
            if file:
                print(json.dumps(vars(row)), file=file, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The demo's training step in `bcos train` over the same model in eager PyTorch.

    .venv/bin/python bench/train_step.py [--rounds 7] [--steps 60]

Rounds alternate between the two; a figure is the median over rounds of the median step. The model,
the batch and the optimizer (AdamW, fused in torch) are the same; the data are random tokens in
torch, which costs it nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
from torch import Tensor, nn
from torch.nn import functional

VOCAB, CONTEXT, WIDTH, HEADS, LAYERS, BATCH = 128, 64, 64, 2, 2, 32


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(WIDTH, bias=False)
        self.attn = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.ln_2 = nn.LayerNorm(WIDTH, bias=False)
        self.fc = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.out = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.attn(self.ln_1(x)).split(WIDTH, dim=2)
        q, k, v = (p.view(*p.shape[:2], HEADS, -1).transpose(1, 2) for p in parts)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(seen.transpose(1, 2).reshape(x.shape))
        return x + self.out(functional.relu(self.fc(self.ln_2(x))))


class Gpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wte = nn.Embedding(VOCAB, WIDTH)
        self.wpe = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.ln_f = nn.LayerNorm(WIDTH, bias=False)

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        x = self.wte(tokens) + self.wpe(torch.arange(CONTEXT))
        logits = self.ln_f(self.blocks(x)) @ self.wte.weight.T
        return functional.cross_entropy(logits.view(-1, VOCAB), targets.view(-1))


def eager(steps: int) -> float:
    """Median milliseconds of a step in torch."""
    model = Gpt()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.016, fused=True)
    times = []
    for _ in range(steps):
        tokens = torch.randint(VOCAB, (BATCH, CONTEXT + 1))
        begin = time.perf_counter()
        optimizer.zero_grad()
        model(tokens[:, :-1], tokens[:, 1:].contiguous()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times[5:])


def ours(program: str, steps: int) -> tuple[float, float]:
    """Median milliseconds of a step of `bcos train`, and of the optimizer in it."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--preset", "demo", "--method", "adamw", "--out", folder, "--name", "run"]
        arguments += ["--steps", str(steps), "--warmup", "0", "--eval-every", str(steps), "-q"]
        subprocess.run([program, "train", *arguments], check=True)
        lines = [json.loads(line) for line in (Path(folder) / "run/metrics.jsonl").open()]
    rows = [line for line in lines if "trl" in line][5:]
    return (
        statistics.median(row["ms"] for row in rows),
        statistics.median(row["opt_ms"] for row in rows),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/bcos")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    pairs = []
    for k in range(options.rounds):
        torch_ms = eager(options.steps)
        our_ms, optimizer_ms = ours(options.program, options.steps)
        pairs.append((torch_ms, our_ms, optimizer_ms))
        print(f"round {k}: torch {torch_ms:.2f} ms, bcos {our_ms:.2f} ms")
    ratio = statistics.median(our_ms / torch_ms for torch_ms, our_ms, _ in pairs)
    share = statistics.median(optimizer_ms / our_ms for _, our_ms, optimizer_ms in pairs)
    print(f"bcos over torch {ratio:.3f}; the optimizer takes {100 * share:.2f} % of our step")


if __name__ == "__main__":
    main()

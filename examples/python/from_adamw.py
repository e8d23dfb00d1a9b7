"""The same training script with AdamW and with BCOS, all numbers kept.

    python examples/python/from_adamw.py [--seeds 3] [--steps 400]

Trains a small GPT on the bytes of this project's C++ headers, once with torch's AdamW and once with
BCOS under ``adjust_lr_fn="match_rms_adamw"``, and prints the validation losses.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

import bcos_optim

VOCAB, CONTEXT, WIDTH, HEADS, LAYERS, BATCH = 128, 64, 64, 2, 2, 32
#: Of AdamW, and of BCOS.
NUMBERS = dict(lr=0.016, betas=(0.9, 0.95), weight_decay=0.1)

Make = Callable[[nn.Module], torch.optim.Optimizer]
OPTIMIZERS: dict[str, Make] = {
    "AdamW": lambda model: torch.optim.AdamW(model.parameters(), **NUMBERS),
    "BCOS": lambda model: bcos_optim.BCOS(
        model.parameters(), **NUMBERS, adjust_lr_fn="match_rms_adamw"
    ),
}


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: Tensor) -> Tensor:
        parts = self.qkv(self.before_attention(x)).chunk(3, dim=-1)
        q, k, v = (p.unflatten(-1, (HEADS, -1)).transpose(1, 2) for p in parts)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(-2))
        return x + self.mlp(self.before_mlp(x))


class Gpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)), nn.LayerNorm(WIDTH))
        for embedding in (self.tokens, self.places):
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(self, text: Tensor) -> Tensor:
        """The mean loss of all next bytes."""
        given, wanted = text[:, :-1], text[:, 1:]
        x = self.tokens(given) + self.places(torch.arange(CONTEXT))
        logits = self.blocks(x) @ self.tokens.weight.t()
        return functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())


def headers() -> Tensor:
    root = Path(__file__).parents[2]
    files = sorted(
        path for folder in ("include", "engine") for path in (root / folder).rglob("*.hpp")
    )
    text = b"".join(path.read_bytes() for path in files)
    return torch.frombuffer(bytearray(text), dtype=torch.uint8).long().clamp(max=VOCAB - 1)


def rows(text: Tensor, generator: torch.Generator) -> Tensor:
    starts = torch.randint(len(text) - CONTEXT, (BATCH,), generator=generator)
    return torch.stack([text[start : start + CONTEXT + 1] for start in starts])


def validation_loss(make: Make, text: Tensor, seed: int, steps: int) -> float:
    train, held_out = text[: 9 * len(text) // 10], text[9 * len(text) // 10 :]
    torch.manual_seed(seed)
    model = Gpt()
    optimizer = make(model)
    warmup = steps // 5

    def factor(t: int) -> float:
        if t < warmup:
            return (t + 1) / warmup
        return 0.01 + 0.99 * (1 + math.cos(math.pi * (t - warmup) / (steps - warmup))) / 2

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    batches = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        optimizer.zero_grad()
        model(rows(train, batches)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    same = torch.Generator().manual_seed(0)
    with torch.no_grad():
        return torch.stack([model(rows(held_out, same)) for _ in range(20)]).mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=400)
    given = parser.parse_args()
    text = headers()
    for name, make in OPTIMIZERS.items():
        losses = [validation_loss(make, text, seed, given.steps) for seed in range(given.seeds)]
        print(name, " ".join(f"{loss:.4f}" for loss in losses), flush=True)


if __name__ == "__main__":
    main()

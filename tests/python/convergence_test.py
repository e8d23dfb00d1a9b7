"""Small problems that each mode must solve."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from bcos_optim import BCOS

MODES: dict[str, dict[str, Any]] = {
    "c": {},
    "simple": {"simple": True},
    "AdamS": {"simple": True, "beta_v": 0.95},
    "m": {"mode": "m"},
    "g": {"mode": "g"},
    "rows": {"blocks": "row", "block_gain": "sqrt"},
}


def cosine(optimizer: BCOS, steps: int) -> torch.optim.lr_scheduler.LRScheduler:
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)


@pytest.mark.parametrize("mode", MODES)
def test_rosenbrock(mode: str) -> None:
    p = nn.Parameter(torch.tensor([-1.2, 1.0], dtype=torch.float64))
    optimizer = BCOS([p], lr=0.01, weight_decay=0.0, **MODES[mode])
    scheduler = cosine(optimizer, 3000)
    for _ in range(3000):
        optimizer.zero_grad()
        loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
        loss.backward()
        optimizer.step()
        scheduler.step()
    torch.testing.assert_close(p.detach(), torch.ones(2, dtype=torch.float64), rtol=0, atol=0.05)


@pytest.mark.parametrize("mode", MODES)
def test_a_noisy_quadratic(mode: str) -> None:
    generator = torch.Generator().manual_seed(0)
    target = torch.randn(8, 16, generator=generator)
    scale = torch.logspace(-1, 1, 16)
    p = nn.Parameter(torch.zeros(8, 16))
    optimizer = BCOS([p], lr=0.03, weight_decay=0.0, **MODES[mode])
    scheduler = cosine(optimizer, 1500)
    for _ in range(1500):
        p.grad = scale * (p.detach() - target + torch.randn(8, 16, generator=generator))
        optimizer.step()
        scheduler.step()
    assert (p - target).pow(2).mean().item() < 0.03


@pytest.mark.parametrize("mode", MODES)
def test_a_small_network(mode: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(256, 2)
    y = ((x[:, 0] * x[:, 1]) > 0).long()
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = BCOS(model.parameters(), lr=0.005, weight_decay=0.01, **MODES[mode])
    scheduler = cosine(optimizer, 300)
    for _ in range(300):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
    assert (model(x).argmax(dim=1) == y).float().mean().item() > 0.95

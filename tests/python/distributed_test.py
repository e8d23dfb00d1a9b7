"""Two ranks on loopback: DDP, FSDP2, ZeRO, checkpoints that make state by a zero step."""

from __future__ import annotations

import copy
import gc
import itertools
import os
import socket
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)
from torch.nn.parallel import DistributedDataParallel

from bcos_optim import BCOS

RANKS = 2
STEPS = 4


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _entry(rank: int, port: int, work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS, timeout=timedelta(seconds=60))
    try:
        work(rank, *arguments)
        # Groups of meshes go first and both ranks leave together: torch aborts a process whose
        # group goes while a thread of it still serves the other rank.
        gc.collect()
        dist.barrier()
    finally:
        dist.destroy_process_group()


def on_two_ranks(work: Callable[..., None], *arguments: Any) -> None:
    mp.spawn(_entry, args=(free_port(), work, arguments), nprocs=RANKS)


def make_model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))


def batch(t: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(t)
    return torch.randn(8, 6, generator=generator), torch.randn(8, 2, generator=generator)


def train(
    model: nn.Module, optimizer: torch.optim.Optimizer, rank: int, ranks: int, steps: int = STEPS
) -> None:
    for t in range(steps):
        x, y = (part.chunk(ranks)[rank] for part in batch(t))
        optimizer.zero_grad()
        (model(x) - y).pow(2).mean().backward()
        optimizer.step()


def alone(options: dict[str, Any]) -> nn.Module:
    model = make_model()
    train(model, BCOS(model.parameters(), lr=0.01, **options), 0, 1)
    return model


def assert_same(model: nn.Module, reference: nn.Module) -> None:
    for (name, p), q in zip(model.named_parameters(), reference.parameters(), strict=True):
        whole = p.full_tensor() if isinstance(p, DTensor) else p
        torch.testing.assert_close(whole, q, rtol=1e-4, atol=1e-6, msg=name)


def ddp(rank: int) -> None:
    for options in ({}, {"max_norm": 0.1, "mode": "m"}):
        model = DistributedDataParallel(make_model())
        train(model, BCOS(model.parameters(), lr=0.01, **options), rank, RANKS)
        assert_same(model.module, alone(options))


def fsdp(rank: int) -> None:
    mesh = init_device_mesh("cpu", (RANKS,))
    by_rows = ({"blocks": "row"}, {"blocks": "row", "mode": "m"})
    for options in ({}, {"mode": "m"}, *by_rows, {"max_norm": 0.1}, {"fused": False}):
        model = make_model()
        for layer in model:
            fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
        optimizer = BCOS(model.parameters(), lr=0.01, **options)
        train(model, optimizer, rank, RANKS)
        assert_same(model, alone(options))
        p = next(model.parameters())
        assert isinstance(optimizer.state[p]["m"], DTensor)


def other_placements(rank: int) -> None:
    """Tensor parallelism leaves gradients that lie otherwise than their parameters."""
    mesh = init_device_mesh("cpu", (RANKS,))
    value, gradient = torch.linspace(-1, 1, 24).view(4, 6), torch.linspace(2, -1, 24).view(4, 6)
    for fused in (None, False):
        for ours, theirs in itertools.product((Replicate(), Shard(0), Shard(1)), repeat=2):
            for partial in (False, True):
                p = nn.Parameter(distribute_tensor(value, mesh, [ours]))
                if partial:
                    part = gradient / RANKS
                    p.grad = DTensor.from_local(part, mesh, [Partial()], run_check=False)
                else:
                    p.grad = distribute_tensor(gradient, mesh, [theirs])
                whole = nn.Parameter(value.clone())
                whole.grad = gradient.clone()
                for one in (p, whole):
                    BCOS([one], lr=0.1, fused=fused).step()
                torch.testing.assert_close(p.full_tensor(), whole)


def zero_redundancy(rank: int) -> None:
    model = DistributedDataParallel(make_model())
    optimizer = ZeroRedundancyOptimizer(model.parameters(), BCOS, lr=0.01)
    train(model, optimizer, rank, RANKS)
    assert_same(model.module, alone({}))


def zero_redundancy_clipped_before_the_step(rank: int) -> None:
    model = DistributedDataParallel(make_model())
    optimizer = ZeroRedundancyOptimizer(model.parameters(), BCOS, lr=0.01)

    def clip(*_: Any) -> None:
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)

    optimizer.register_step_pre_hook(clip)
    train(model, optimizer, rank, RANKS)
    assert_same(model.module, alone({"max_norm": 0.1}))


def zero_redundancy_guards_each_share(rank: int) -> None:
    """The rank that owns the broken gradient skips its share; the other share moves."""
    model = DistributedDataParallel(make_model())
    optimizer = ZeroRedundancyOptimizer(model.parameters(), BCOS, lr=0.01, guard="skip")
    before = copy.deepcopy(model.module)
    broken, *others = model.module.parameters()
    for p in model.module.parameters():
        p.grad = torch.ones_like(p)
    broken.grad[0, 0] = torch.nan
    optimizer.step()
    was, *were = before.parameters()
    assert torch.equal(broken, was)
    moved = [not torch.equal(p, q) for p, q in zip(others, were, strict=True)]
    assert any(moved)
    assert all(p.isfinite().all() for p in others)


def zero_gradient_state(rank: int) -> None:
    """torch's checkpoints make the state of a fresh optimizer by a step at lr 0."""
    for options in ({}, {"mode": "m"}, {"start": "first"}):
        model = make_model()
        mesh = init_device_mesh("cpu", (RANKS,))
        fully_shard(model, mesh=mesh)
        optimizer = BCOS(model.parameters(), lr=0.01, **options)
        get_optimizer_state_dict(model, optimizer)
        assert all(int(state["step"]) == 0 for state in optimizer.state.values())
        train(model, optimizer, rank, RANKS)
        assert_same(model, alone(options))


def shards_that_are_zero(rank: int) -> None:
    """Linear warm-up begins at lr 0, where a zero gradient starts nothing: that of the whole
    parameter, not of what lies on a rank, or counters part."""
    mesh = init_device_mesh("cpu", (RANKS,))
    for options in ({}, {"mode": "m"}, {"start": "first"}, {"fused": False}):
        for sharded in (True, False):
            x, whole = torch.ones(4, 3), torch.zeros(4, 3)
            whole[0] = 1.0  # of the first rank
            p = nn.Parameter(distribute_tensor(x, mesh, [Shard(0)]) if sharded else x)
            idle = nn.Parameter(distribute_tensor(x, mesh, [Shard(0)]) if sharded else x.clone())
            optimizer = BCOS([p, idle], lr=0.0, **options)
            for lr in (0.0, 0.1, 0.1):
                optimizer.param_groups[0]["lr"] = lr
                for one, factor in ((p, 1.0), (idle, 0.0 if lr == 0 else 1.0)):
                    gradient = (whole if lr == 0 else torch.ones(4, 3)) * factor
                    one.grad = (
                        distribute_tensor(gradient, mesh, [Shard(0)]) if sharded else gradient
                    )
                optimizer.step()
            assert [int(optimizer.state[one]["step"]) for one in (p, idle)] == [3, 2]
            if sharded:
                result = p.full_tensor(), idle.full_tensor()
            else:
                torch.testing.assert_close(result[0], p.detach(), rtol=1e-6, atol=1e-6)
                torch.testing.assert_close(result[1], idle.detach(), rtol=1e-6, atol=1e-6)


def limits_of_shards(rank: int) -> None:
    """The ranks meet once, however many parameters there are."""
    from torch.distributed.tensor.debug import CommDebugMode

    mesh = init_device_mesh("cpu", (RANKS,))
    for options in ({"max_norm": 0.5}, {"guard": "skip"}, {"max_norm": 0.5, "fused": False}):
        params, wholes = [], []
        for i in range(12):
            x = torch.arange(6.0).view(2, 3) + i
            params.append(
                nn.Parameter(distribute_tensor(x, mesh, [[Shard(0), Replicate()][i % 2]]))
            )
            wholes.append(nn.Parameter(x))
        ours, alone = BCOS(params, lr=0.1, **options), BCOS(wholes, lr=0.1, **options)
        for t in range(3):
            for p, whole in zip(params, wholes, strict=True):
                whole.grad = torch.full((2, 3), t + 1.0)
                if t == 1 and "guard" in options and p is params[0]:
                    whole.grad[1, 2] = torch.nan  # of the second rank
                p.grad = distribute_tensor(whole.grad, mesh, p.placements)
            with CommDebugMode() as seen:
                ours.step()
            alone.step()
            assert seen.get_total_counts() <= 2  # one for shards, none for what is replicated
            assert ours.last_report.skipped == alone.last_report.skipped
            if not ours.last_report.skipped:
                mine, theirs = ours.last_report.norm, alone.last_report.norm
                assert mine == pytest.approx(theirs, rel=1e-12), (options, t)
        for p, whole in zip(params, wholes, strict=True):
            torch.testing.assert_close(p.full_tensor(), whole.detach())


def limits_of_shards_in_a_graph(rank: int) -> None:
    mesh = init_device_mesh("cpu", (RANKS,))
    x, gradient = torch.ones(4, 3), torch.arange(12.0).view(4, 3)
    p = nn.Parameter(distribute_tensor(x, mesh, [Shard(0)]))
    p.grad = distribute_tensor(gradient, mesh, [Shard(0)])
    whole = nn.Parameter(x.clone())
    whole.grad = gradient
    torch.compile(BCOS([p], lr=0.1, max_norm=0.5, guard="skip").step, backend="eager")()
    BCOS([whole], lr=0.1, max_norm=0.5, guard="skip").step()
    torch.testing.assert_close(p.full_tensor(), whole.detach())


def parameters_that_become_shards(rank: int) -> None:
    """As accelerate does it: the optimizer is made first, and gets its shards later."""
    mesh = init_device_mesh("cpu", (RANKS,))
    optimizer = BCOS([nn.Parameter(torch.ones(4, 3))], blocks="tensor")
    p = nn.Parameter(distribute_tensor(torch.ones(4, 3), mesh, [Shard(0)]))
    optimizer.param_groups[0]["params"] = [p]
    p.grad = distribute_tensor(torch.ones(4, 3), mesh, [Shard(0)])
    with pytest.raises(ValueError, match="would be cut"):
        optimizer.step()


def cut_blocks(rank: int) -> None:
    mesh = init_device_mesh("cpu", (RANKS,))
    p = nn.Parameter(DTensor.from_local(torch.ones(2, 6), mesh, [Shard(0)]))
    BCOS([p], blocks="row")
    for blocks in ("tensor", "column", "heads:2"):
        with pytest.raises(ValueError, match="would be cut"):
            BCOS([p], blocks=blocks)


def resumed(rank: int, folder: str, options: dict[str, Any]) -> None:
    from torch.distributed import checkpoint as dcp
    from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

    mesh = init_device_mesh("cpu", (RANKS,))

    def make() -> tuple[nn.Module, BCOS]:
        model = make_model()
        fully_shard(model, mesh=mesh)
        return model, BCOS(model.parameters(), lr=0.01, **options)

    model, optimizer = make()
    train(model, optimizer, rank, RANKS, 2)
    parameters, state = get_state_dict(model, optimizer)
    dcp.save({"model": parameters, "optimizer": state}, checkpoint_id=folder)
    train(model, optimizer, rank, RANKS)

    again, other = make()
    parameters, state = get_state_dict(again, other)
    loaded = {"model": parameters, "optimizer": state}
    dcp.load(loaded, checkpoint_id=folder)
    set_state_dict(
        again, other, model_state_dict=loaded["model"], optim_state_dict=loaded["optimizer"]
    )
    train(again, other, rank, RANKS)
    for p, q in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(p.full_tensor(), q.full_tensor())


@pytest.mark.parametrize(
    "work",
    [
        ddp,
        fsdp,
        other_placements,
        zero_redundancy,
        zero_redundancy_clipped_before_the_step,
        zero_redundancy_guards_each_share,
        zero_gradient_state,
        shards_that_are_zero,
        limits_of_shards,
        limits_of_shards_in_a_graph,
        parameters_that_become_shards,
        cut_blocks,
    ],
)
def test_two_ranks_equal_one(work: Callable[..., None]) -> None:
    on_two_ranks(work)


@pytest.mark.parametrize(
    "options",
    [{"mode": "m"}, {"mode": "m", "blocks": "row"}, {"mode": "g", "blocks": "row"}],
    ids=str,
)
def test_a_distributed_checkpoint_resumes_to_the_bit(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    on_two_ranks(resumed, str(tmp_path), options)


def test_models_are_the_same_on_every_rank() -> None:
    assert_same(copy.deepcopy(make_model()), make_model())

"""What a careful user tried and what must not surprise."""

from __future__ import annotations

import copy
import ctypes
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import bcos_optim
from bcos_optim import BCOS
from bcos_optim.steppers import engine
from conftest import Make, calls_of_the_engine, give_gradients, run


def test_lists_of_every_kind_are_stepped_alike() -> None:
    def stepped(implementation: dict[str, Any]) -> list[torch.Tensor]:
        torch.manual_seed(0)
        shapes = [(), (0,), (3,), (2, 1, 3), (4, 5)]
        params = [torch.randn(shape, requires_grad=True) for shape in shapes]
        optimizer = BCOS(params, **implementation)
        for t in range(4):
            for i, p in enumerate(params):
                p.grad = torch.randn_like(p)
                if t == 2 and i == 4:
                    p.grad = torch.randn(5, 4).t()
                if t == 3 and i == 2:
                    p.grad = None
            optimizer.step()
        return [p.detach() for p in params]

    for ours, theirs in zip(stepped({}), stepped({"fused": False}), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_states_whose_storage_moves_are_followed() -> None:
    p = nn.Parameter(torch.zeros(20_000))
    optimizer = BCOS([p], lr=1.0)
    p.grad = torch.ones_like(p)
    optimizer.step()
    optimizer.state[p]["m"].share_memory_()
    p.grad = -torch.ones_like(p)
    optimizer.step()
    assert optimizer.state[p]["m"][0].item() == pytest.approx(-0.01)


def test_a_parameter_that_shrinks_in_place_is_planned_anew() -> None:
    p = nn.Parameter(torch.zeros(100))
    optimizer = BCOS([p])
    p.grad = torch.ones_like(p)
    optimizer.step()
    p.grad = None
    p.data = p.data[:2]
    p.grad = torch.ones(2)
    with pytest.raises(ValueError, match=r"parameter #0: its shape is \(2,\) now"):
        optimizer.step()


def test_gradients_with_a_pending_sign_are_read_right() -> None:
    p = nn.Parameter(torch.zeros(1))
    optimizer = BCOS([p], lr=0.01, weight_decay=0.0)
    for _ in range(100):
        optimizer.zero_grad()
        z = torch.complex(torch.ones(1), p)
        loss = ((z.conj() * torch.tensor([1j])).real - 3).square().sum()
        loss.backward()
        optimizer.step()
    assert p.item() > 0.5


@pytest.mark.parametrize("backend", ["eager"])
def test_limits_hold_in_a_compiled_step(backend: str) -> None:
    def compiled(optimizer: BCOS) -> Any:
        torch._dynamo.reset()
        return torch.compile(lambda: optimizer.step(), backend=backend, fullgraph=True)

    p, q = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    options = dict(mode="sgd", lr=0.1, weight_decay=0.0)
    for parameter, use in ((p, False), (q, True)):
        optimizer = BCOS([parameter], max_norm=1e-3, **options)
        parameter.grad = torch.full((1,), 100.0)
        (compiled(optimizer) if use else optimizer.step)()
    torch.testing.assert_close(p, q)

    guarded = BCOS([p], guard="skip")
    before = p.detach().clone()
    p.grad = torch.full((1,), torch.nan)
    compiled(guarded)()
    assert torch.equal(p, before)
    assert int(guarded.state[p]["step"]) == 0

    scaled = BCOS([p])
    scaled.found_inf = torch.ones(1)
    scaled.grad_scale = torch.tensor(2.0)
    compiled(scaled)()
    assert torch.equal(p, before)
    with pytest.raises(Exception, match="use guard='skip'"):
        compiled(BCOS([p], guard="raise"))()


@pytest.mark.parametrize("guard", ["propagate", "skip"])
@pytest.mark.parametrize("missing", [[], [0], [63], [64], [100, 199]])
def test_autograd_counts_every_write_once(missing: list[int], guard: str) -> None:
    params = [nn.Parameter(torch.ones(3)) for _ in range(200)]
    optimizer = BCOS(params, guard=guard)
    for _ in range(2):
        for i, p in enumerate(params):
            p.grad = None if i in missing else torch.ones(3)
        before = [p._version for p in params]
        optimizer.step()
        written = [p._version - v for p, v in zip(params, before, strict=True)]
        assert written == [0 if i in missing else 1 for i in range(200)]


def test_gradients_are_let_go_after_a_step() -> None:
    params = [nn.Parameter(torch.ones(3)) for _ in range(5)]
    optimizer = BCOS(params)
    for _ in range(2):
        for p in params:
            p.grad = torch.ones(3)
        optimizer.step()
        gone = [weakref.ref(p.grad) for p in params]
        for p in params:
            p.grad = None
        assert [ref() for ref in gone] == [None] * 5


def test_notes_in_a_state_are_left_alone() -> None:
    params = [nn.Parameter(torch.ones(3)) for _ in range(3)]
    optimizer = BCOS(params)
    for t in range(4):
        for p in params:
            p.grad = torch.ones(3)
            optimizer.state[p]["note"] = torch.full((), t)
        optimizer.step()
        assert all(int(optimizer.state[p]["note"]) == t for p in params)
        assert [int(optimizer.state[p]["step"]) for p in params] == [t + 1] * 3


def test_parameters_that_were_not_touched_keep_their_version() -> None:
    a, b = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    y = (b * b * b).sum()
    optimizer = BCOS([a, b], guard="skip")
    a.grad = torch.ones(1)
    optimizer.step()
    b.grad = torch.full((1,), torch.nan)
    optimizer.step()
    b.grad = None
    y.backward()


def test_limits_on_torchs_path_are_those_of_the_engine() -> None:
    for gradient, dtype in (
        ([torch.inf, 1.0], torch.float32),
        ([torch.nan, 100.0], torch.float32),
        ([1e200, 1e200], torch.float64),
    ):
        results = []
        for options in ({}, {"fused": False}):
            p = nn.Parameter(torch.ones(2, dtype=dtype))
            p.grad = torch.tensor(gradient, dtype=dtype)
            BCOS([p], mode="sgd", lr=0.1, weight_decay=0.0, max_norm=1.0, **options).step()
            q = nn.Parameter(torch.ones(2, dtype=dtype))
            q.grad = p.grad
            BCOS([q], guard="skip", lr=0.1, **options).step()
            results.append(torch.cat([p.detach(), q.detach()]))
        torch.testing.assert_close(results[0], results[1], equal_nan=True)


def test_limits_with_a_grad_scale(implementation: dict[str, Any]) -> None:
    """Gradients are unscaled before they are measured."""
    p, q = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    scaled = BCOS([p], lr=0.1, mode="sgd", weight_decay=0.0, max_norm=1.0, **implementation)
    plain = BCOS([q], lr=0.1, mode="sgd", weight_decay=0.0, max_norm=1.0, **implementation)
    for gradient in ([0.3, 0.4], [6.0, 8.0]):
        q.grad = torch.tensor(gradient)
        p.grad = 8 * q.grad
        scaled.grad_scale = torch.tensor(8.0)
        scaled.step()
        plain.step()
        assert torch.equal(p, q)
        assert scaled.last_report.norm == pytest.approx(float(q.grad.norm()))


def test_a_begun_parameter_steps_at_lr_0(implementation: dict[str, Any]) -> None:
    """Without a gradient its momentum fades; only a parameter that has not begun waits."""
    p = nn.Parameter(torch.ones(2))
    optimizer = BCOS([p], lr=0.1, **implementation)
    p.grad = torch.ones(2)
    optimizer.step()
    m = optimizer.state[p]["m"].clone()
    optimizer.param_groups[0]["lr"] = 0.0
    p.grad = torch.zeros(2)
    optimizer.step()
    assert int(optimizer.state[p]["step"]) == 2
    torch.testing.assert_close(optimizer.state[p]["m"], 0.9 * m)


def test_betas_may_be_tensors_that_change_in_place(implementation: dict[str, Any]) -> None:
    p = nn.Parameter(torch.zeros(1))
    beta = torch.tensor(0.9)
    optimizer = BCOS([p], beta=beta, lr=0.1, **implementation)
    p.grad = torch.ones(1)
    optimizer.step()
    beta.fill_(0.0)
    p.grad = torch.full((1,), 2.0)
    optimizer.step()
    assert optimizer.state[p]["m"].item() == 2.0


def test_two_names_of_one_option_are_refused() -> None:
    for wrong in (
        {"mode": "m", "betas": (0.8,), "beta2": 0.99},
        {"beta": 0.5, "betas": (0.9,)},
        {"mode": "m", "beta_v": 0.7, "beta2": 0.99},
        {"decoupled": False, "decouple_wd": True},
    ):
        with pytest.raises(TypeError, match="another name of the same option"):
            BCOS([nn.Parameter(torch.zeros(1))], **wrong)
    with pytest.raises(ValueError, match="has no momentum"):
        bcos_optim.optimizer("sgd", [nn.Parameter(torch.zeros(1))], beta=0.5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"weight_decay": -1},
        {"betas": (1.5,)},
        {"betas": (0.9, 1.5)},
        {"lr": torch.tensor(-1.0)},
        {"max_norm": -1},
        {"guard": "x"},
        {"start": "warm"},
        {"eps": -1},
        {"mode": "zz"},
    ],
    ids=str,
)
def test_options_that_become_wrong_are_refused(
    wrong: dict[str, Any], implementation: dict[str, Any]
) -> None:
    p = nn.Parameter(torch.ones(2))
    optimizer = BCOS([p], **implementation)
    run(optimizer, 1)
    before = p.detach().clone()
    optimizer.param_groups[0].update(wrong)
    with pytest.raises(ValueError, match="Invalid"):
        optimizer.step()
    assert torch.equal(p, before)


def test_another_mode_in_mid_run_is_refused(implementation: dict[str, Any]) -> None:
    p = nn.Parameter(torch.ones(2))
    optimizer = BCOS([p], **implementation)
    run(optimizer, 1)
    optimizer.param_groups[0]["mode"] = "m"
    with pytest.raises(ValueError):
        optimizer.step()


def test_numbers_of_numpy_and_lazy_modules_are_fine() -> None:
    BCOS([nn.Parameter(torch.zeros(1))], lr=np.float32(0.1), weight_decay=np.float64(0.1))
    BCOS(nn.LazyLinear(3).parameters())
    optimizer = BCOS([nn.Parameter(torch.zeros(1))])
    optimizer.param_groups.clear()
    optimizer.step()
    with pytest.raises(ValueError, match="Invalid learning rate"):
        BCOS([nn.Parameter(torch.zeros(1))], lr=torch.tensor(-1.0))


def test_a_differentiable_step_passes_gradients_to_its_lr() -> None:
    lr = torch.tensor(0.1, requires_grad=True)
    p = torch.ones(1, requires_grad=True).clone()
    p.retain_grad()
    p.grad = torch.ones(1)
    optimizer = BCOS([p], lr=lr, weight_decay=0.0, differentiable=True)
    optimizer.step()
    p.sum().backward()
    assert lr.grad is not None and lr.grad.item() == pytest.approx(-1.0, rel=1e-4)


def test_the_engine_keeps_to_torchs_number_of_threads(make_params: Make) -> None:
    before = torch.get_num_threads()
    params = make_params((600, 600))
    optimizer = BCOS(params)
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            with calls_of_the_engine() as calls:
                run(optimizer, 1)
            assert calls.created == [count]
    finally:
        torch.set_num_threads(before)


def test_blocks_that_do_not_fit_are_refused_with_the_name(make_params: Make) -> None:
    good, bad = make_params((2,), (1,))
    with pytest.raises(ValueError, match=r"heads:2.*\(parameter bias\)"):
        BCOS([("weight", good), ("bias", bad)], blocks="heads:2")


def test_limits_that_part_in_mid_run_are_refused(
    implementation: dict[str, Any], make_params: Make
) -> None:
    a, b, _ = make_params()
    optimizer = BCOS([{"params": [a]}, {"params": [b]}], **implementation)
    run(optimizer, 2)
    optimizer.param_groups[1]["max_norm"] = 1.0
    with pytest.raises(ValueError, match="must be the same in all groups"):
        optimizer.step()


def test_a_scale_gives_the_same_bits_at_every_step() -> None:
    """Two optimizers, one that has just been planned and one that repeats its step."""
    p, q = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    old = BCOS([p], lr=0.01)
    run(old, 1)
    new = BCOS([q], lr=0.01)
    new.load_state_dict(old.state_dict())
    q.data.copy_(p)
    for optimizer, parameter in ((old, p), (new, q)):
        parameter.grad = torch.tensor([0.3])
        optimizer.grad_scale = torch.tensor(49.0)
        optimizer.step()
    assert torch.equal(p, q) and torch.equal(old.state[p]["m"], new.state[q]["m"])


def test_decay_that_overshoots_is_told() -> None:
    with pytest.warns(RuntimeWarning, match="more than 1"):
        BCOS([nn.Parameter(torch.ones(1))], lr=20.0)


def test_one_cycle_runs_resume_from_files(tmp_path: Path, make_params: Make) -> None:
    def make(params: Any) -> tuple[BCOS, Any]:
        optimizer = BCOS(list(zip("abc", params, strict=True)))
        return optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=20)

    params = make_params()
    optimizer, scheduler = make(params)
    for t in range(5):
        run(optimizer, 1, t)
        scheduler.step()
    bcos_optim.save(optimizer, tmp_path / "state.safetensors")
    again = copy.deepcopy(params)
    other, schedule = make(again)
    schedule.load_state_dict(scheduler.state_dict())
    other.param_groups[0].update({k: optimizer.param_groups[0][k] for k in ("lr", "betas")})
    bcos_optim.load(other, tmp_path / "state.safetensors")
    run(optimizer, 1, 5)
    run(other, 1, 5)
    assert all(torch.equal(a, b) for a, b in zip(params, again, strict=True))


class CProgram:
    """An optimizer of the C interface, as a C program would use it."""

    def __init__(self, x: torch.Tensor) -> None:
        self.lib = engine.library()
        self.handle = ctypes.c_void_p()
        self.x = x
        create = self.lib.bcos_optimizer_create
        assert create(b"bcosw_c", None, ctypes.byref(self.handle)) == 0
        layouts = engine.Layouts()
        view = (ctypes.c_int64 * 5)(*layouts.tensor(x))
        self.call("add", b"x", ctypes.byref(view), ctypes.c_uint64(0), None)

    def call(self, name: str, *arguments: Any) -> None:
        code = getattr(self.lib, f"bcos_optimizer_{name}")(self.handle, *arguments)
        engine.check(self.lib, code)

    def step(self, g: torch.Tensor) -> None:
        gradient = (ctypes.c_int64 * engine.GRADIENT_WORDS)(8 * engine.GRADIENT_WORDS)
        gradient[engine.DATA] = g.data_ptr()
        alpha = (ctypes.c_double * 1)(0.01)
        one = ctypes.c_size_t(1)
        self.call("step", alpha, one, ctypes.byref(gradient), one, None)


def test_c_and_python_go_on_from_each_others_files(tmp_path: Path) -> None:
    file = tmp_path / "state.safetensors"
    p = nn.Parameter(torch.randn(50, generator=torch.Generator().manual_seed(0)))
    program = CProgram(p.detach().clone())
    optimizer = BCOS([("x", p)], lr=0.01)
    for t in range(4):
        give_gradients([p], t)
        if t == 2:
            program.call("save", str(file).encode())
            optimizer = BCOS([("x", p)], lr=0.01)
            bcos_optim.load(optimizer, file)
        if t == 3:
            bcos_optim.save(optimizer, file)
            program = CProgram(program.x)
            program.call("load", str(file).encode())
        program.step(p.grad)
        optimizer.step()
        assert torch.equal(program.x, p)


def test_convert_lets_its_caller_decide(make_params: Make) -> None:
    params = make_params()
    adam = torch.optim.AdamW(params, lr=0.004)
    group = bcos_optim.convert(adam).param_groups[0]
    assert group["lr"] == 0.004 and group["adjust_lr_fn"] == "match_rms_adamw"
    assert bcos_optim.convert(adam, lr=0.001).param_groups[0]["adjust_lr_fn"] is None
    run(adam, 1)
    chosen = bcos_optim.convert(adam, betas=(0.5,), maximize=True, decoupled=False, wd=0.7)
    group = chosen.param_groups[0]
    assert group["betas"] == (0.5,) and group["maximize"] and not group["decoupled"]
    assert group["weight_decay"] == 0.7
    corrected = bcos_optim.convert(adam, start="zero_corrected")
    torch.testing.assert_close(corrected.state[params[0]]["m"], params[0].grad)
    damped = torch.optim.SGD(params, lr=0.1, momentum=0.9, dampening=0.9)
    run(damped, 1)
    converted = bcos_optim.convert(damped, lr=0.1)
    buffer = damped.state[params[0]]["momentum_buffer"]
    torch.testing.assert_close(converted.state[params[0]]["m"], buffer)


def test_state_of_another_optimizer_is_named_as_such(make_params: Make) -> None:
    params = make_params()
    adam = torch.optim.AdamW(params)
    run(adam, 1)
    with pytest.raises(ValueError, match="of another optimizer"):
        BCOS(params).load_state_dict(adam.state_dict())


def test_a_sixteen_bit_tensor_does_not_slow_its_neighbours(make_params: Make) -> None:
    (single,) = make_params((300,))
    half = nn.Parameter(torch.ones(4, dtype=torch.bfloat16))
    optimizer = BCOS([single, half], lr=0.1, max_norm=1.0)
    run(optimizer, 2)
    (alone,), half_alone = make_params((300,)), nn.Parameter(torch.ones(4, dtype=torch.bfloat16))
    other = BCOS([alone, half_alone], lr=0.1, max_norm=1.0, fused=False)
    run(other, 2)
    torch.testing.assert_close(single, alone)
    torch.testing.assert_close(half, half_alone)


def test_parameters_on_meta_wait_for_their_gradients() -> None:
    p = torch.nn.Parameter(torch.empty(3, device="meta"))
    optimizer = BCOS([p], fused=True)
    optimizer.step()
    p.grad = torch.empty_like(p)
    with pytest.raises(RuntimeError, match="requires all the params to be floating point Tensors"):
        optimizer.step()


def test_importing_the_package_does_not_import_torchs_sharded_tensors() -> None:
    """They take half a second, ten times as long as the package itself."""
    code = "import bcos_optim, sys; sys.exit('torch.distributed.tensor' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_package_says_who_it_is() -> None:
    assert bcos_optim.__version__ == bcos_optim.version()
    assert BCOS.__module__ == "bcos_optim"
    assert BCOS([nn.Parameter(torch.zeros(1))]).last_report is None


@pytest.mark.parametrize("count", [1, 5])
def test_gradients_that_are_read_with_the_other_sign_are_read_so(count: int) -> None:
    lazy = torch.arange(1, 2 * count + 1, dtype=torch.float32).view(count, 2)
    lazy = torch.view_as_complex(lazy).conj().imag
    assert lazy.is_neg()
    results = []
    for gradient in (lazy, lazy.resolve_neg().clone()):
        p = torch.nn.Parameter(torch.ones(count))
        optimizer = BCOS([p], lr=0.1)
        for _ in range(3):
            p.grad = gradient
            optimizer.step()
        results.append(p.detach().clone())
    assert torch.equal(*results)
    assert (results[0] > 0.9).all()  # the gradient is negative


def test_another_default_device_does_not_matter(tmp_path: Path) -> None:
    p = nn.Parameter(torch.ones(7, 10))
    optimizer = BCOS([("p", p)], mode="m", blocks="row")
    with torch.device("meta"):
        for _ in range(3):
            p.grad = torch.ones_like(p)
            optimizer.step()
        bcos_optim.save(optimizer, tmp_path / "state.safetensors")
        bcos_optim.load(optimizer, tmp_path / "state.safetensors")
    assert (p < 1).all()
    assert optimizer.state[p]["step"].item() == 3


def test_a_wrong_gradient_stops_everybody() -> None:
    """Also those that other implementations step."""
    good = nn.Parameter(torch.ones(4))
    embedding = nn.Embedding(3, 2, sparse=True, dtype=torch.bfloat16)
    optimizer = BCOS([good, embedding.weight])
    good.grad = torch.ones(4)
    embedding(torch.tensor([1])).sum().backward()
    with pytest.raises(RuntimeError, match="sparse gradients .parameter #1."):
        optimizer.step()
    assert torch.equal(good, torch.ones(4))


def test_a_wrong_gradient_of_a_later_step_is_named() -> None:
    params = [("a", nn.Parameter(torch.ones(4))), ("b", nn.Parameter(torch.ones(4)))]
    optimizer = BCOS(params)
    for _, p in params:
        p.grad = torch.ones(4)
    optimizer.step()
    params[1][1].grad = torch.sparse_coo_tensor([[1]], [1.0], (4,))
    before = params[0][1].detach().clone()
    with pytest.raises(RuntimeError, match="parameter b"):
        optimizer.step()
    assert torch.equal(params[0][1], before)


def test_parameters_without_names_are_told_apart_by_group() -> None:
    groups = [{"params": [nn.Parameter(torch.ones(2))]}, {"params": [nn.Parameter(torch.ones(2))]}]
    optimizer = BCOS(groups)
    groups[1]["params"][0].grad = torch.sparse_coo_tensor([[1]], [1.0], (2,))
    with pytest.raises(RuntimeError, match="parameter #0 of group 1"):
        optimizer.step()


def test_a_state_of_more_bits_is_refused() -> None:
    wide, narrow = nn.Parameter(torch.ones(2).double()), nn.Parameter(torch.ones(2))
    theirs, ours = BCOS([wide]), BCOS([narrow])
    for optimizer, p in ((theirs, wide), (ours, narrow)):
        p.grad = torch.ones_like(p)
        optimizer.step()
    before = ours.state[narrow]["m"].clone()
    with pytest.raises(ValueError, match="expected 'm' as torch.float32, received torch.float64"):
        ours.load_state_dict(theirs.state_dict())
    assert torch.equal(ours.state[narrow]["m"], before)
    theirs.load_state_dict(ours.state_dict())
    assert theirs.state[wide]["m"].dtype == torch.float64


@pytest.mark.parametrize(
    "tensor",
    [torch.imag(torch.zeros(3, dtype=torch.complex64).conj()), torch._neg_view(torch.zeros(3))],
    ids=["strided", "dense"],
)
def test_a_parameter_that_is_read_with_the_other_sign_goes_downhill(tensor: torch.Tensor) -> None:
    p = tensor.detach().requires_grad_()
    assert p.is_neg()
    optimizer = BCOS([p], weight_decay=0.0)
    p.grad = torch.ones(3)
    optimizer.step()
    assert (p < 0).all()


def test_a_group_that_is_refused_is_not_there() -> None:
    optimizer = BCOS([nn.Parameter(torch.ones(2))])
    p = nn.Parameter(torch.ones(2))
    for blocks in ([[0, "a"]], [[0.0, 1.0]], [[0, 1], []]):
        with pytest.raises(ValueError, match="Invalid blocks"):
            optimizer.add_param_group({"params": [p], "blocks": blocks})
    optimizer.add_param_group({"params": [p], "blocks": [[0, 1]]})
    with pytest.raises(ValueError, match="Invalid parameter #0 of group 2: .* torch.int64"):
        optimizer.add_param_group({"params": [torch.ones(2, dtype=torch.int64)]})
    assert len(optimizer.param_groups) == 2


def test_hooks_after_loading_have_the_last_word() -> None:
    p = nn.Parameter(torch.ones(2))
    optimizer = BCOS([p])
    p.grad = torch.ones(2)
    optimizer.step()

    def mine(loaded: torch.optim.Optimizer) -> None:
        loaded.state[p]["m"] = torch.full((2,), 7.0)

    optimizer.register_load_state_dict_post_hook(mine)
    optimizer.load_state_dict(optimizer.state_dict())
    assert optimizer.state[p]["m"].tolist() == [7.0, 7.0]


@pytest.mark.parametrize("name", ["bcosw_c@paperx", "bcosw_c@", "sgd@paper", "nothing"])
def test_names_of_methods_are_taken_to_the_letter(name: str) -> None:
    with pytest.raises(ValueError, match="Invalid method"):
        bcos_optim.optimizer(name, [nn.Parameter(torch.ones(2))])


def test_a_tuple_of_parameters_is_as_good_as_a_list() -> None:
    p = nn.Parameter(torch.ones(2))
    optimizer = BCOS([p])
    for _ in range(2):
        p.grad = torch.ones(2)
        optimizer.step()
        optimizer.param_groups[0]["params"] = tuple(optimizer.param_groups[0]["params"])
    assert optimizer.state[p]["step"].item() == 2


def test_a_step_that_is_planned_anew_and_fails_keeps_no_gradients() -> None:
    p = nn.Parameter(torch.ones(4))
    optimizer = BCOS([p])
    p.grad = torch.ones(4)
    optimizer.step()
    p.data = torch.ones(4).double()
    p.grad = torch.ones(4).double()
    with pytest.raises(ValueError, match="is torch.float64 now but its state is torch.float32"):
        optimizer.step()
    gone = weakref.ref(p.grad)
    p.grad = None
    assert gone() is None


def test_gradients_without_memory_of_their_own_are_used() -> None:
    """As collectives leave them that have not been waited for."""
    collective = pytest.importorskip("torch.distributed._functional_collectives")
    params = [nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(0)), nn.Parameter(torch.ones(2))]
    optimizer = BCOS(params)
    for _ in range(3):
        for p in params:
            p.grad = torch.ones_like(p)
        params[0].grad = collective.AsyncCollectiveTensor(torch.ones(3))
        before = params[0].detach().clone()
        optimizer.step()
        assert (params[0] < before).all()


def test_warnings_point_at_the_line_of_the_user() -> None:
    p = nn.Parameter(torch.ones(4, dtype=torch.bfloat16))
    with pytest.warns(RuntimeWarning, match="more than 1") as told:
        BCOS([p], lr=20.0)
    assert told[0].filename == __file__
    p.grad = torch.ones_like(p)
    optimizer = BCOS([p], lr=1e-6)
    with pytest.warns(RuntimeWarning, match="vanish in rounding") as told:
        optimizer.step()
    assert told[0].filename == __file__


def test_a_parameter_that_is_listed_twice_is_named(implementation: dict[str, Any]) -> None:
    p = nn.Parameter(torch.ones(1))
    p.grad = torch.ones(1)
    with pytest.warns(UserWarning, match="duplicate"):  # torch's own
        optimizer = BCOS([p, p], **implementation)
    with pytest.raises(ValueError, match="Invalid parameter #1: it is in its group already, as #0"):
        optimizer.step()
    assert p.item() == 1 and not optimizer.state


def test_two_names_of_one_number_are_refused() -> None:
    p = nn.Parameter(torch.ones(1))
    with pytest.raises(TypeError, match="wd and another name of the same option"):
        BCOS([p], weight_decay=0.2, wd=0.3)
    with pytest.raises(TypeError, match="betas and another name of the same option"):
        BCOS([p], beta=0.8, betas=(0.95,))


def test_files_of_other_optimizers_are_refused_by_name(tmp_path: Path) -> None:
    other = torch.optim.AdamW([nn.Parameter(torch.ones(1))])
    with pytest.raises(TypeError, match=r"received AdamW; bcos_optim\.convert\(\)"):
        bcos_optim.save(other, tmp_path / "state.safetensors")  # type: ignore[arg-type]

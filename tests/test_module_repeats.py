"""Repeated calls of device functions: what is launched again without checks, and what must be looked at anew."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from textwrap import dedent
from types import ModuleType, SimpleNamespace

import hand_written_codes as written
import numpy as np
import program_runs
import pytest
import torch

import intent
import intent.dtypes as dtypes
from intent.records import replace
from intentc.differential import load_module

Calls = list[str]


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return written.module(*(each() for each in written.ALL), written.scale("half", dtypes.bf16))


@pytest.fixture
def checks(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The kernels of the calls that were checked, planned and compiled; none is known before the test."""
    calls: Calls = []
    start: Callable[..., object] = module._start
    monkeypatch.setattr(module, "_REPEATS", {})
    monkeypatch.setattr(
        module, "_start", lambda kernel, *rest: (calls.append(kernel.__name__), start(kernel, *rest))[1]
    )
    return calls


def test_a_form_is_checked_once(module: ModuleType, checks: Calls) -> None:
    for seed in range(5):
        x = torch.randn(3, 37, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(module.softmax_device(x), torch.softmax(x, 1))
        out = torch.empty(3, 37)
        module.softmax_device_out(x, out)
        torch.testing.assert_close(out, torch.softmax(x, 1))
    assert len(checks) == 2  # the output allocated, and given


def test_results_are_new_and_of_the_declared_kind(module: ModuleType, checks: Calls) -> None:
    x = torch.arange(8.0)
    mass, count = module.total_device(x)
    again = module.total_device(x + 1)
    assert (mass.item(), count.item()) == (28.0, 8) and (again[0].item(), again[1].item()) == (36.0, 8)
    assert again[1].dtype == torch.int64 and again[0].shape == ()
    assert len(checks) == 1


def test_scalars_are_not_part_of_the_form_but_checked(module: ModuleType, checks: Calls) -> None:
    x = torch.ones(4)
    for factor in (2.0, 3, 0.5, float("inf")):
        assert module.scale_device(x, factor)[0] == float(factor)
    assert module.scale_device(x, float("nan")).isnan().all()
    assert len(checks) == 1
    for wrong in (None, "2", 1j, True):
        with pytest.raises(TypeError, match="scale: factor must be a number of dtype float32"):
            module.scale_device(x, wrong)


def other_forms() -> dict[str, torch.Tensor]:
    memory = torch.arange(400.0)
    return {
        "length": memory[:36], "bucket": memory[:300], "stride": memory[:74:2], "alignment": memory[1:38],
        "stride of zero": memory[:1].expand(37), "the first": memory[:37],
    }  # fmt: skip


def test_whatever_changes_plan_or_compilation_is_another_form(module: ModuleType, checks: Calls) -> None:
    memory = torch.arange(37.0)
    module.scale_device(memory, 2.0)
    for name, x in other_forms().items():
        torch.testing.assert_close(module.scale_device(x, 2.0), x * 2, msg=name)
    assert len(checks) == 6  # the last is the first again
    for x in other_forms().values():
        torch.testing.assert_close(module.scale_device(x, -1.0), -x)
    assert len(checks) == 6


def test_wrong_arguments_are_refused_after_right_ones(module: ModuleType, checks: Calls) -> None:
    x, out = torch.ones(2, 4), torch.empty(2, 4)
    module.softmax_device_out(x, out)
    for wrong, message in (
        ((x.double(), out), "x must have dtype float32"),
        ((x, out[:1]), "axis 0 of out must be M = 2, not 1"),
        ((x[0], out), "x must have shape"),
        ((x, torch.empty(2, 4, device="meta")), "different devices"),
        ((x, [[0.0]]), "out must be a device array"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            module.softmax_device_out(*wrong)
    assert len(checks) == 1


def test_overlaps_are_compared_in_every_call(module: ModuleType, checks: Calls) -> None:
    memory = torch.randn(7, 8)
    module.softmax_device_out(torch.randn(5, 8), torch.empty(5, 8))
    expected = torch.softmax(memory[:5], 1)
    module.softmax_device_out(memory[:5], memory[:5])  # in place, as the kernel allows
    torch.testing.assert_close(memory[:5], expected)
    assert len(checks) == 1
    with pytest.raises(ValueError, match="x and out overlap in memory"):
        module.softmax_device_out(memory[:5], memory[1:6])
    with pytest.raises(ValueError, match="x and out overlap in memory"):
        module.softmax_device_out(memory[1:6], memory[:5])


def test_inputs_that_an_output_shares_are_copied_in_every_call(module: ModuleType, checks: Calls) -> None:
    count = torch.zeros((), dtype=torch.int64)
    for start in (1.0, 2.0):
        x = torch.arange(start, start + 8)
        module.total_device_out(x, x[3], count)
        assert x[3] == sum(range(int(start), int(start) + 8))
    module.total_device_out(torch.ones(8), torch.empty(()), count)
    x = torch.arange(1.0, 9.0)
    module.total_device_out(x, x[3], count)
    assert x[3] == 36
    assert len(checks) == 4


def test_interleaved_arrays_are_looked_at_anew(module: ModuleType, checks: Calls) -> None:
    memory = torch.randn(5, 74)
    for _ in range(2):
        module.softmax_device_out(memory[:, ::2], memory[:, 1::2])
        torch.testing.assert_close(memory[:, 1::2], torch.softmax(memory[:, ::2], 1))


def test_sizes_of_outputs_are_part_of_the_form(module: ModuleType, checks: Calls) -> None:
    x = torch.arange(10.0)
    for _ in range(2):
        assert module.groups_device(x, G=3).tolist() == [18.0, 12.0, 15.0]
        assert module.groups_device(x, G=2).tolist() == [20.0, 25.0]
    assert len(checks) == 2
    for wrong in (None, 3.0, [3], -1):
        with pytest.raises(ValueError, match="pass the size G of the output"):
            module.groups_device(x, G=wrong)


def test_arrays_that_need_a_view_are_looked_at_anew(module: ModuleType, checks: Calls) -> None:
    x = torch.arange(20).to(torch.bfloat16)
    for _ in range(2):
        assert module.half_device(x, 0.5).dtype == torch.bfloat16
        carried = module.half_device(x.view(torch.uint16), 0.5)
        assert carried.dtype == torch.uint16
        assert torch.equal(carried.view(torch.bfloat16), module.half_device(x, 0.5))
    assert len(checks) == 3


def test_empty_arrays(module: ModuleType, checks: Calls) -> None:
    for _ in range(2):
        assert module.scale_device(torch.empty(0), 2.0).shape == (0,)
    assert not checks


def test_subclasses_of_tensors_are_looked_at_anew(module: ModuleType, checks: Calls) -> None:
    class Marked(torch.Tensor):
        pass

    x = torch.ones(4)
    for each in (x, x.as_subclass(Marked), torch.nn.Parameter(x, requires_grad=False), x):
        assert module.scale_device(each, 2.0).tolist() == [2.0] * 4
    assert len(checks) == 2


def test_no_array_is_kept(module: ModuleType, checks: Calls) -> None:
    x, out = torch.ones(5), torch.empty(5)
    alive = weakref.ref(x), weakref.ref(out)
    module.scale_device_out(x, 2.0, out)
    module.scale_device_out(x, 2.0, out)
    assert len(checks) == 1
    del x, out
    gc.collect()
    assert [each() for each in alive] == [None, None]


def test_forms_are_not_kept_without_end(module: ModuleType, checks: Calls) -> None:
    x = torch.ones(1200)
    for length in range(1, 1200):
        module._remember(("scale", length), module._SCALE, (x, None), [x, x], lambda *_: None)
    assert len(module._REPEATS) < 1100


def test_poisoning_is_not_repeated_without(module: ModuleType, checks: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(5)
    module.scale_device(x, 2.0)
    launches = len(checks)
    monkeypatch.setattr(module, "_POISON", True)
    module.scale_device(x, 2.0)
    assert len(checks) == launches + 2
    monkeypatch.setattr(module, "_POISON", False)
    module.scale_device(x, 2.0)
    assert len(checks) == launches + 2


class Compiled:
    """Stands in for what Triton compiles on a device, and for its driver."""

    def __init__(self) -> None:
        self.launched: list[tuple[object, ...]] = []
        self.metadata = SimpleNamespace(global_scratch_size=0)
        self.device, self.streams = 0, {0: "stream of 0", 1: "stream of 1"}
        self.active = SimpleNamespace(get_current_device=lambda: self.device, get_current_stream=self.streams.get)

    def __getitem__(self, grid: tuple[int, int, int]) -> Callable[..., None]:
        return lambda *arguments, stream: self.launched.append((self.device, stream, grid, *arguments))

    @contextmanager
    def on(self, device: int) -> Iterator[None]:
        before, self.device = self.device, device
        yield
        self.device = before


@pytest.fixture
def compiled(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Compiled:
    stand_in = Compiled()
    monkeypatch.setattr(module.triton.compiler, "CompiledKernel", Compiled)
    monkeypatch.setattr(module.triton.runtime, "driver", stand_in)
    monkeypatch.setattr(module.torch.cuda, "device", stand_in.on)
    for kernel in (module.scale_kernel, module.softmax_resident):
        monkeypatch.setattr(type(kernel), "warmup", lambda *_, **__: stand_in, raising=False)
    return stand_in


def test_a_compiled_function_gets_all_arguments_of_its_signature(
    module: ModuleType, checks: Calls, compiled: Compiled
) -> None:
    x, out = torch.ones(300), torch.empty(300)
    module.scale_device_out(x, 2.0, out)
    module.scale_device_out(x, 3.0, out)
    for factor, (_, _, grid, *arguments) in zip((2.0, 3.0), compiled.launched, strict=True):
        assert grid == (3, 1, 1)
        passed = dict(zip(module.scale_kernel.arg_names, arguments, strict=True))
        assert (passed["x_ptr"], passed["out_ptr"]) == (x.data_ptr(), out.data_ptr()) and passed["factor"] == factor
        assert (passed["N"], passed["stride_x_n"], passed["BLOCK_N"], str(passed["INDEX"])) == (300, 1, 128, "int32")
    assert len(checks) == 1


def test_every_launch_is_on_the_current_stream_of_the_arrays_device(
    module: ModuleType, checks: Calls, compiled: Compiled
) -> None:
    x, out = torch.ones(300), torch.empty(300)
    module.scale_device_out(x, 2.0, out)
    compiled.streams[0] = "another stream"
    module.scale_device_out(x, 2.0, out)
    compiled.device = 1  # the caller's current device is not the arrays'
    module.scale_device_out(x, 2.0, out)
    assert [launch[:2] for launch in compiled.launched] == [
        (0, "stream of 0"), (0, "another stream"), (0, "another stream"),
    ]  # fmt: skip
    assert compiled.device == 1 and len(checks) == 1


def test_what_a_compiled_launch_relies_on_is_looked_at_in_every_call(
    module: ModuleType, checks: Calls, compiled: Compiled
) -> None:
    memory = torch.ones(4096)
    x, out = memory[:1024], torch.empty(1024)
    module.scale_device_out(x, 2.0, out)
    module.scale_device_out(memory[1024:2048], 2.0, out)
    assert len(checks) == 1 and compiled.launched[-1][3] == memory.data_ptr() + 4096
    module.scale_device_out(memory[1:1025], 2.0, out)  # its address is no multiple of 16
    assert len(checks) == 2
    module.scale_device_out(memory[:1024], 2.0, memory[:1024])  # in place, as the kernel allows
    assert len(checks) == 2
    launches = len(compiled.launched)
    with pytest.raises(ValueError, match="x and out overlap in memory"):
        module.scale_device_out(memory[:1024], 2.0, memory[4:1028])
    with pytest.raises(ValueError, match="different devices: x on meta, out on cpu"):
        module.scale_device_out(torch.ones(1024, device="meta"), 2.0, out)
    with pytest.raises(TypeError, match="x must have dtype float32, not float64"):
        module.scale_device_out(x.double(), 2.0, out)
    with pytest.raises(ValueError, match="axis 0 of out must be N = 1024, not 1023"):
        module.scale_device_out(x, 2.0, out[:1023])
    with pytest.raises(TypeError, match="factor must be a number"):
        module.scale_device_out(x, "2", out)
    with pytest.raises(ValueError, match="out is written, but its elements overlap"):
        module.scale_device_out(x, 2.0, memory[:1].expand(1024))
    assert len(compiled.launched) == launches
    x.set_(torch.ones(8))  # the same tensor now has another form
    with pytest.raises(ValueError, match="axis 0 of out must be N = 8, not 1024"):
        module.scale_device_out(x, 2.0, out)
    assert len(compiled.launched) == launches


def test_outputs_are_allocated_for_a_compiled_launch(module: ModuleType, checks: Calls, compiled: Compiled) -> None:
    x = torch.ones(300)
    results = [module.scale_device(x, 2.0) for _ in range(3)]
    places = [dict(zip(module.scale_kernel.arg_names, launch[3:], strict=True)) for launch in compiled.launched]
    assert [place["out_ptr"] for place in places] == [result.data_ptr() for result in results]
    assert len({*(place["out_ptr"] for place in places)}) == 3 and len(checks) == 1


def test_scratch_belongs_to_one_launch(checks: Calls, module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[torch.Tensor] = []
    scratch = module._scratch
    monkeypatch.setattr(module, "_scratch", lambda *wanted: [taken.append(each) or each for each in scratch(*wanted)])
    x = torch.arange(10.0)
    for factor in (1, 2, 3):
        assert module.groups_device(x * factor, G=3).tolist() == [18.0 * factor, 12.0 * factor, 15.0 * factor]
    assert len(checks) == 1
    assert len({each.data_ptr() for each in taken}) == len(taken) == 3


def test_promises_not_to_overlap_are_held_in_every_call() -> None:
    code = written.scale()
    views = [replace(view, noalias=view.name == "x") for view in code.kernel.views]
    x_view, out_view = views
    factor = code.kernel.scalars[0]
    module = written.module(replace(code, kernel=written.kernel("scale", x_view, factor, out_view)))
    memory = torch.ones(64)
    module.scale_device_out(memory[:8], 2.0, memory[8:16])
    assert len(module._REPEATS) == 1
    with pytest.raises(ValueError, match="x and out overlap"):
        module.scale_device_out(memory[:8], 2.0, memory[:8])  # in place, which the kernel itself would allow


# ----------------------------------------------------------------------------------------- scalars that plans depend on
RAISE = """
@intent.kernel
def raised(x: I.InOut[I.f32, ("N",)], count: I.index, amount: I.f32):
    for i in I.parallel(I.domain(0, count)):
        x[i] = x[i] + amount
"""
SOLVE = """
@intent.kernel
def solved(x: I.InOut[I.f32, ("N",)], begin: I.index):
    block = I.domain(0, x.shape[0])[begin:]
    rest = x[block]
    for k in block:
        rest = I.select(I.indices(block) > k, rest - rest[k - begin], rest)
    x[block] = rest
"""


@pytest.mark.parametrize("through", ["module", "artifact"])
def test_scalars_that_bound_parallel_work_are_part_of_the_form(through: str) -> None:
    generated = program_runs.module(RAISE)
    if through == "module":
        run = generated.raised_device
    else:
        kernels = load_module(program_runs.HEADER + dedent(RAISE), "kernels")
        run = intent.compile(kernels.raised, intent.targets.TritonTarget())
    x = torch.zeros(5000)
    for count in (3, 5000, 0, 2, 4000):
        run(x, count, 1.0)
    assert x.sum() == 3 + 5000 + 2 + 4000 and x[0] == 4
    if through == "module":
        run(x, 3, 2.0)
        assert len(generated._REPEATS) == 4, "one for each count that launches something"


def test_variants_may_depend_on_scalars() -> None:
    module = program_runs.module(SOLVE)
    for run, make in ((module.solved_device, torch.arange), (module.solved, np.arange)):
        x = make(20001.0, dtype=torch.float32 if make is torch.arange else np.float32)
        run(x, 20000)
        run(x, 19998)
        assert [*map(float, x[19997:])] == [19997, 19998, 1, 1]


def test_a_scalar_chooses_between_registers_and_memory() -> None:
    module = program_runs.module(SOLVE, small=True, limits=True)
    x = np.arange(41.0, dtype=np.float32)
    for begin in (40, 38, 1, 38):
        wanted = x.copy()
        for k in range(begin, 41):
            wanted[k + 1 :] -= wanted[k]
        module.solved(x, begin)
        np.testing.assert_array_equal(x, wanted)

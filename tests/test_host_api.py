"""`intent.compile` and what it gives: calls, results, checks, on the Triton target (interpreter) and the reference."""

from __future__ import annotations

import copy
import enum
import gc
import pickle
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import host_kernels as kernels
import ml_dtypes
import numpy as np
import pytest
import torch
import torch._dynamo.testing
from command_line import intentc, python
from torch._subclasses.fake_tensor import FakeTensorMode

import intent
from intent.host.artifacts import Artifact
from intent.targets import ReferenceTarget, TritonTarget

FILE = Path(kernels.__file__)
TARGETS = [TritonTarget(), ReferenceTarget()]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A disk cache of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(params=TARGETS, ids=["triton", "reference"])
def target(request: pytest.FixtureRequest) -> object:
    return request.param


@pytest.fixture(params=["numpy", "torch"])
def make(request: pytest.FixtureRequest) -> Callable[[object], object]:
    """Arrays of one library from anything."""
    return np.array if request.param == "numpy" else lambda value: torch.from_numpy(np.array(value))


class Other(enum.Enum):
    BACKWARD = 1


class Exchanged:
    """An array of a library that offers its memory through DLPack alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.dtype, self.shape, self.strides = array, array.dtype, array.shape, array.strides
        self.itemsize = array.itemsize

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)  # type: ignore[arg-type]

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def close(actual: object, wanted: object) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(wanted), rtol=1e-5, atol=1e-5)


# ------------------------------------------------------------------------------------------------------------- calling
def test_call_takes_everything_in_order(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.scale, target)
    x, out = make(np.arange(5, dtype=np.float32)), make(np.zeros(5, np.float32))
    assert artifact(x, out, 2.0) is None
    close(out, np.arange(5) * 2)
    assert artifact.launch(x, out=out, factor=3) is None
    close(out, np.arange(5) * 3)


def test_run_omits_outputs(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.scale, target)
    x = make(np.arange(5, dtype=np.float32))
    result = artifact.run(x, 2.0)
    assert type(result) is type(x)
    close(result, np.arange(5) * 2)
    close(artifact.run(factor=0.5, x=x), np.arange(5) / 2)


def test_repeated_calls_use_their_own_arrays(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.scale, target)
    for size in (5, 5, 7, 5):
        for factor in (1.0, 2.0):
            x = np.random.default_rng(size).standard_normal(size).astype(np.float32)
            close(artifact.run(make(x), factor), x * factor)


def test_several_rank_zero_outputs(target: object, make: Callable[[object], object]) -> None:
    x = np.array([1, 5, 2], np.float32)
    result = intent.compile(kernels.total, target).run(make(x))
    assert isinstance(result, tuple)
    assert [each.shape for each in result] == [(), ()]
    assert [float(each) for each in result] == [8, 5]


def test_in_out_is_seen_through_the_callers_array(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.accumulate, target)
    x, state = make(np.ones((2, 3), np.float32)), make(np.zeros((2, 3), np.float32))
    assert artifact.run(x, state) is None
    assert artifact.prepare(x, state).result() is None
    artifact(x, state)
    close(state, np.full((2, 3), 4))


def test_extent_of_outputs_only(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.group_sums, target)
    x = make(np.arange(10, dtype=np.float32))
    close(artifact.run(x, G=3), [6, 22, 17])
    close(artifact.run(x, G=5), [1, 5, 9, 13, 17])
    close(artifact.prepare(x, G=0).result(), [])
    with pytest.raises(ValueError, match=r"extent G of partial .* pass G=.*group_sums_out or prepare\(outputs="):
        artifact.run(x)
    with pytest.raises(ValueError, match="group_sums: G must be a nonnegative integer, not -1"):
        artifact.run(x, G=-1)


def test_outputs_without_array_arguments(target: object) -> None:
    result = intent.compile(kernels.indices, target).run(N=4)
    assert result.tolist() == [0, 1, 2, 3]
    assert isinstance(result, torch.Tensor if isinstance(target, TritonTarget) else np.ndarray)


def test_prepare_binds_and_does_not_execute(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.scale, target)
    x, out = make(np.arange(4, dtype=np.float32)), make(np.full(4, 9, np.float32))
    prepared = artifact.prepare(x, 2.0, outputs=(out,))
    assert prepared.result() is out
    close(out, np.full(4, 9))
    assert prepared.launch() is None
    close(out, np.arange(4) * 2)
    x[:] = 1
    prepared.launch()
    close(prepared.result(), np.full(4, 2))


def test_prepare_allocates(target: object, make: Callable[[object], object]) -> None:
    prepared = intent.compile(kernels.total, target).prepare(make(np.array([3, 4], np.float32)))
    first = prepared.result()
    prepared.launch()
    assert [float(each) for each in first] == [7, 4]
    with pytest.raises(TypeError, match=r"total: outputs has 1 arrays for 2 outputs \(out, largest\)"):
        intent.compile(kernels.total, target).prepare(make(np.ones(2, np.float32)), outputs=(first[0],))


def test_scalars_of_integers_and_bools(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.columns_of_four, target)
    x = make(np.arange(8, dtype=np.int32).reshape(2, 4))
    close(artifact.run(x, 3, False), np.arange(8).reshape(2, 4) + 3)
    close(artifact.run(x, np.int64(3), True), np.arange(8).reshape(2, 4))
    out = make(np.zeros((2, 4), np.int32))
    for shift, keep in ((1, False), (2, False), (np.int16(3), np.bool_(False)), (-(2**31), False), (9, True)):
        artifact(x, shift, keep, out)  # the form of the arrays is known from the second call on
        close(out, np.arange(8).reshape(2, 4) + (0 if keep else int(shift)))


def test_scalars_of_floats(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.scale, target)
    x, out = make(np.array([1, -2], np.float32)), make(np.zeros(2, np.float32))
    for factor in (2.0, 3, np.float32(0.5), np.float16(4), np.int8(-1), float("nan"), float("-inf")):
        artifact(x, out, factor)
        np.testing.assert_array_equal(np.asarray(out), np.array([1, -2], np.float32) * np.float32(factor))
    with pytest.raises(ValueError, match=r"factor must fit f(loat)?32, but is beyond every float"):
        artifact(x, out, -(10**400))
    for factor in (True, "2", np.ones(1), torch.tensor(2.0)):
        with pytest.raises(TypeError, match=r"factor must be a number of dtype f(loat)?32"):
            artifact(x, out, factor)


@pytest.mark.parametrize("kind", ["ml_dtypes", "carrier", "torch", "torch carrier"])
def test_low_precision(target: object, kind: str) -> None:
    values = np.array([1, 2, 3], ml_dtypes.bfloat16)
    arrays = {
        "ml_dtypes": values,
        "carrier": values.view(np.uint16),
        "torch": torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16),
        "torch carrier": torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16).view(torch.uint16),
    }
    result = intent.compile(kernels.halve, target).run(arrays[kind])
    assert result.dtype == arrays[kind].dtype
    wanted = {"ml_dtypes": values / 2, "carrier": (values / 2).view(np.uint16)}
    close(
        result.float() if kind == "torch" else result,
        wanted.get(kind, [0.5, 1, 1.5] if kind == "torch" else wanted["carrier"]),
    )


@pytest.mark.parametrize("carried", [False, True])
def test_floats_of_eight_bits(target: object, carried: bool) -> None:
    artifact = intent.compile(kernels.quarter, target)
    for values in ([4.0, 8.0], [-2.0, 0.5], [1.0, -0.0]):  # the form is known from the second call on
        x = torch.tensor(values).to(torch.float8_e5m2)
        result = artifact.run(x.view(torch.uint8) if carried else x)
        assert result.dtype == (torch.uint8 if carried else torch.float8_e4m3fn)
        close(result.view(torch.float8_e4m3fn).float(), np.array(values) / 4)


def test_layouts(target: object) -> None:
    artifact = intent.compile(kernels.accumulate, target)
    x, state = np.ones((2, 3), ">f4"), np.zeros((3, 2), ">f4").T
    artifact(x, state)
    close(state, np.full((2, 3), 2))
    x.flags.writeable = False
    tensor = torch.zeros(4, 6)[::2, ::2]
    artifact(torch.ones(2, 3), tensor)
    artifact(torch.ones(2, 3), tensor)
    close(tensor, np.full((2, 3), 4))


# ---------------------------------------------------------------------------------------------------- wrong arguments
def test_what_is_wrong_is_named(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.columns_of_four, target)
    x = make(np.zeros((2, 4), np.int32))
    wrong = [
        (TypeError, "columns_of_four: out missing; the parameters are x, shift, keep, out", (x, 1, True), {}),
        (TypeError, "columns_of_four: 5 arguments for 4 parameters", (x, 1, True, x, x), {}),
        (TypeError, "columns_of_four: there is no parameter y", (x, 1, True), {"y": x}),
        (TypeError, "columns_of_four: shift is given twice", (x, 1), {"shift": 1, "keep": True, "out": x}),
        (TypeError, "x must have dtype int32, not float32", (make(np.zeros((2, 4), np.float32)), 1, True, x), {}),
        (
            ValueError,
            r"x must have shape \(M, 4\), not \(2,\)",
            (make(np.zeros(2, np.int32)), 1, True, x),
            {},
        ),
        (ValueError, "axis 1 of x must be 4, not 3", (make(np.zeros((2, 3), np.int32)), 1, True, x), {}),
        (ValueError, "axis 0 of out must be M = 2, not 3", (x, 1, True, make(np.zeros((3, 4), np.int32))), {}),
        (TypeError, "shift must be a number of dtype i(nt)?32, not 1.5", (x, 1.5, True, x), {}),
        (ValueError, "shift must fit i(nt)?32, but is 4294967296", (x, 2**32, True, x), {}),
        (TypeError, "shift must be a number of dtype i(nt)?32, not True", (x, True, True, x), {}),
        (TypeError, "keep must be a number of dtype bool, not 1", (x, 1, 1, x), {}),
        (TypeError, "x must be a NumPy array or a device array, not list", ([1], 1, True, x), {}),
        (TypeError, "constexpr|there is no parameter reach", (x, 1, True, x), {"reach": 1}),
    ]
    for error, message, arguments, keywords in wrong:
        with pytest.raises(error, match=message):
            artifact(*arguments, **keywords)


def test_run_checks_its_inputs(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.accumulate, target)
    with pytest.raises(ValueError, match="axis 1 of state must be N = 3, not 2"):
        artifact.run(make(np.ones((2, 3), np.float32)), make(np.ones((2, 2), np.float32)))
    with pytest.raises(TypeError, match="state missing"):
        artifact.run(make(np.ones((2, 3), np.float32)))


def test_read_only_arrays(target: object) -> None:
    out = np.zeros(3, np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="scale: out is written, but the array is read-only"):
        intent.compile(kernels.scale, target)(np.ones(3, np.float32), out, 1.0)


def test_read_only_arrays_of_other_libraries(target: object) -> None:
    artifact = intent.compile(kernels.scale, target)
    x, array = np.ones(3, np.float32), np.zeros(3, np.float32)
    artifact(Exchanged(x), Exchanged(array), 2.0)
    close(array, np.full(3, 2))
    x.flags.writeable = array.flags.writeable = False
    with pytest.raises(ValueError, match="scale: out is written, but the array is read-only"):
        artifact(Exchanged(x), Exchanged(array), 3.0)
    close(array, np.full(3, 2))
    close(artifact.run(Exchanged(x), 3.0), np.full(3, 3))


def test_prepare_checks(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.scale, target)
    x, long = make(np.ones(3, np.float32)), make(np.ones(4, np.float32))
    with pytest.raises(ValueError, match="scale: axis 0 of out must be N = 3, not 4"):
        artifact.prepare(x, 1.0, outputs=long)
    with pytest.raises(TypeError, match="scale: out must have dtype float32, not float64"):
        artifact.prepare(x, 1.0, outputs=make(np.ones(3)))
    for outputs in (None, make(np.ones(3, np.float32))):
        with pytest.raises(TypeError, match="scale: factor must be a number of dtype f32, not 'one'"):
            artifact.prepare(x, "one", outputs=outputs)


def test_one_library_for_all() -> None:
    x = np.ones(3, np.float32)
    with pytest.raises(TypeError, match="scale: x is a NumPy array and out a device array; pass one kind"):
        intent.compile(kernels.scale)(x, torch.ones(3), 1.0)


def test_device() -> None:
    with pytest.raises(ValueError, match="is on meta, expected an array on cpu"):
        intent.compile(kernels.scale)(torch.ones(3, device="meta"), torch.ones(3, device="meta"), 1.0)


def test_constraints(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.separate, target)
    x = make(np.ones((4, 4), np.float32))
    close(artifact.run(x), np.full((4, 4), 2))
    with pytest.raises(ValueError, match="stride 1 of x must be 1, not 4"):
        artifact.run(x.T)
    for out in (x, x[:4, :4]):
        with pytest.raises(ValueError, match="x and out overlap"):
            artifact(x, out)
    memory = make(np.ones((4, 8), np.float32))
    artifact(memory[:, :4], memory[:, 4:])
    close(memory[:, 4:], np.full((4, 4), 2))


def test_groups_lie_in_one_allocation(target: object, make: Callable[[object], object]) -> None:
    artifact = intent.compile(kernels.add_in_pool, target)
    pool = make(np.ones(12, np.float32))
    for _ in range(2):
        artifact(pool[:4], pool[8:])
    close(pool, [1] * 8 + [3] * 4)
    for _ in range(2):
        with pytest.raises(ValueError, match="x and state must lie in one allocation"):
            artifact(make(np.ones(4, np.float32)), make(np.ones(4, np.float32)))


def test_what_is_written_does_not_overlap_itself(target: object) -> None:
    artifact = intent.compile(kernels.scale, target)
    for out in (torch.zeros(1).expand(3), np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (3,), (0,))):
        x = np.ones(3, np.float32)
        with pytest.raises(ValueError, match="scale: out is written, but its elements overlap in memory"):
            artifact(torch.from_numpy(x) if isinstance(out, torch.Tensor) else x, out, 1.0)


def test_overlap_of_a_known_form() -> None:
    """A call of the same form as an earlier one but for an overlap is looked at anew."""
    artifact = intent.compile(kernels.scale)
    for start in (8, 0, 8, 0):
        shared = torch.arange(12, dtype=torch.float32)
        artifact(shared[:4], shared[start : start + 4], 2.0)
        close(shared[start : start + 4], np.arange(4) * 2)
    with pytest.raises(ValueError, match="scale: x and out overlap in memory"):
        artifact(shared[:4], shared[1:5], 2.0)


def test_compiled_functions_are_launched_with_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """What only happens on a GPU, with stand-ins for what Triton compiles: all arguments, constexprs too, in order."""
    launched: list[tuple[object, ...]] = []

    class Compiled:
        def __getitem__(self, grid: tuple[int, int, int]) -> Callable[..., None]:
            return lambda *arguments, stream=None: launched.append((grid, stream, *arguments))

        metadata = SimpleNamespace(global_scratch_size=0)

    active = SimpleNamespace(get_current_device=lambda: -1, get_current_stream=lambda device: f"stream of {device}")
    monkeypatch.setattr("triton.compiler.CompiledKernel", Compiled)
    monkeypatch.setattr("triton.runtime.driver", SimpleNamespace(active=active))
    artifact = intent.compile(kernels.scale, TritonTarget(architecture="cuda:80"))
    module = artifact._execution._module  # type: ignore[attr-defined]
    monkeypatch.setattr(type(module.scale_kernel), "warmup", lambda *_, **__: Compiled())
    x, out = torch.ones(5), torch.zeros(5)
    for count, factor in enumerate((2.0, 3.0), 1):
        artifact(x, out, factor)
        assert len(launched) == count
        grid, stream, *arguments = launched[-1]
        names = dict(zip(module.scale_kernel.arg_names, arguments, strict=True))
        assert (grid, stream) == ((1, 1, 1), "stream of -1")
        assert names["x_ptr"] == x.data_ptr() and names["out_ptr"] == out.data_ptr() and names["factor"] == factor
        assert names["N"] == 5 and "BLOCK_N" in names


def test_arguments_are_not_kept_alive() -> None:
    artifact = intent.compile(kernels.scale)
    x = torch.ones(5)
    artifact.run(x, 2.0)
    artifact.run(x, 2.0)
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None


# ------------------------------------------------------------------------------------------------------------ compiling
def test_constexprs(target: object) -> None:
    x = np.arange(4, dtype=np.float32)
    close(intent.compile(kernels.stencil, target).run(x), [1, 2, 3, 0])
    close(intent.compile(kernels.stencil, target, {"reach": np.int64(2)}).run(x), [2, 3, 0, 0])
    backward = {"direction": kernels.Direction.BACKWARD, "reach": 1}
    artifact = intent.compile(kernels.stencil, target, constexprs=backward)
    close(artifact.run(x), [0, 0, 1, 2])
    assert dict(artifact.interface.constants) == {"reach": 1, "direction": "BACKWARD"}


@pytest.mark.parametrize(
    ("kernel", "constexprs", "message"),
    [
        (kernels.stencil, {"reach": 1.5}, "reach"),
        (kernels.stencil, {"direction": "SIDEWAYS"}, "SIDEWAYS"),
        (kernels.stencil, {"direction": Other.BACKWARD}, "is 'Other.BACKWARD', which is no Direction"),
        (kernels.stencil, {"reach": "3"}, "is '3', which is no int"),
        (kernels.stencil, {"depth": 1}, "no kernel of this file has a constexpr parameter 'depth'|no constexpr"),
        (kernels.scale, {"reach": 1}, "'scale' has no constexpr parameter 'reach'"),
    ],
)
def test_wrong_constexprs(kernel: object, constexprs: dict[str, object], message: str) -> None:
    with pytest.raises(intent.CompileError, match=message) as raised:
        intent.compile(kernel, constexprs=constexprs)
    assert raised.value.diagnostics[0].code.startswith("INT")
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value) and again.diagnostics == raised.value.diagnostics


def test_what_is_no_kernel() -> None:
    for value, error, message in [
        (kernels.Unrelated, TypeError, "decorated with @intent.kernel"),
        (kernels.doubled, TypeError, "'doubled' is an @intent.fn"),
        (kernels.inside(), ValueError, "kernel 'hidden' is defined inside a function"),
        (intent.compile(kernels.scale), TypeError, "decorated with @intent.kernel"),
    ]:
        with pytest.raises(error, match=message):
            intent.compile(value)
    with pytest.raises(TypeError, match=r"the target is intent\.targets\.TritonTarget"):
        intent.compile(kernels.scale, target="cuda")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the architecture is one of cuda:90"):
        intent.compile(kernels.scale, TritonTarget(architecture="sm_90"))
    with pytest.raises(ValueError, match="numerics is one of source, relaxed_normalization"):
        intent.CompileOptions(numerics="fast")  # type: ignore[arg-type]


def test_errors_show_the_diagnostics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = _import(tmp_path, monkeypatch, "wrong", "    out[:] = x[:] + n\n", "n: I.i32, ")
    for target in TARGETS:
        with pytest.raises(intent.CompileError, match=r"wrong.py:7:\d+: error\[INT201\].*\n    out\[:\] = x"):
            intent.compile(kernel, target)


def test_another_kernels_mistake_is_not_this_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = "@intent.kernel\ndef bad(x: I.In[I.f32, ('N',)]):\n    x[:] = 0.0\n"
    kernel = _import(tmp_path, monkeypatch, "mixed", "    out[:] = x[:]\n" + more)
    artifact = intent.compile(kernel)
    close(artifact.run(np.ones(3, np.float32)), np.ones(3))
    assert "def bad" not in artifact.source


def test_gaps_are_unsupported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from translators import planning
    from translators.diagnostics import NOWHERE, Diagnostic, Rejected

    def refuse(*_: object) -> None:
        raise Rejected(Diagnostic("INT900", "unsupported", "not yet", NOWHERE))

    monkeypatch.setattr(planning, "plan", refuse)
    kernel = _import(tmp_path, monkeypatch, "gap", "    out[:] = x[:]\n")
    with pytest.raises(intent.UnsupportedError, match=r"unsupported\[INT900\] not yet") as raised:
        intent.compile(kernel)
    assert isinstance(raised.value, NotImplementedError)
    close(intent.compile(kernel, ReferenceTarget()).run(np.ones(2, np.float32)), np.ones(2))


def test_source_is_what_the_command_line_writes() -> None:
    written = intentc("compile", FILE)
    assert written.status == 0, written.errors
    for target in TARGETS:
        assert intent.compile(kernels.scale, target).source == written.output
    assert intent.generate(kernels.total).source == written.output


def test_generate() -> None:
    program = intent.generate(kernels.scale, TritonTarget(architecture="cuda:80"))
    assert "Targets cuda:80" in program.source
    assert program.ir.startswith("kernel scale(")
    assert intent.compile(kernels.scale).ir == program.ir
    assert str(program.interface) == "scale(x: In[f32, (N)], out: Out[f32, (N)], factor: f32)"


def test_inspection() -> None:
    artifact = intent.compile(kernels.scale, compiler=object())
    assert [each.code for each in artifact.diagnostics if each.message.startswith("compiler=")] == ["INT960"]
    assert [parameter.kind for parameter in artifact.interface.parameters] == ["In", "Out", "scalar"]
    assert repr(artifact).startswith("<artifact scale(x: In[f32, (N)]")


def test_nothing_is_executed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "imports"
    text = f"open({str(marker)!r}, 'a').write('x')\n"
    kernel = _import(tmp_path, monkeypatch, "counted", "    out[:] = x[:]\n" + text)
    close(intent.compile(kernel).run(np.ones(2, np.float32)), np.ones(2))
    assert marker.read_text() == "x"


def test_context() -> None:
    def build(context: intent.Context) -> Callable[[torch.Tensor], torch.Tensor]:
        groups = context.compile("groups", kernels.group_sums)
        shift = context.compile("shift", kernels.stencil, constexprs={"reach": 2})

        def composed(x: torch.Tensor) -> torch.Tensor:
            partial = context.empty((4,), "f32" if shift.target == TARGETS[0] else intent.language.f32)
            with pytest.raises(ValueError, match="'float32' is no dtype of the language"):
                context.empty((4,), "float32")
            groups(x, partial)
            result: torch.Tensor = shift.run(partial)
            return result

        return composed

    for target in (None, *TARGETS):
        close(intent.build(build, target)(torch.arange(8.0)), [9, 13, 0, 0])


# ------------------------------------------------------------------------------------------------------------- PyTorch
def test_torch_operator(target: object) -> None:
    name = f"tests_{type(target).__name__}"
    scaled = intent.compile(kernels.scale, target).as_torch_op(f"{name}::scale")
    x = torch.arange(4.0)
    close(scaled(x, 2.0), [0, 2, 4, 6])
    torch.library.opcheck(scaled, (x, 2.0))
    grouped = intent.compile(kernels.group_sums, target).as_torch_op(f"{name}::group_sums")
    assert grouped(torch.empty(7, device="meta"), G=3).shape == (3,)
    torch.library.opcheck(grouped, (x,), {"G": 3})


def test_what_is_known_of_a_torch_operator_without_executing(target: object) -> None:
    """Results and mistakes of tensors without data, in the terms of a call; the results are those of the call."""
    name = f"fake_{type(target).__name__}"
    operators = {
        each: intent.compile(getattr(kernels, each), target).as_torch_op(f"{name}::{each}")
        for each in ("scale", "accumulate", "columns_of_four", "halve", "indices")
    }
    x, state = torch.ones(2, 3), torch.zeros(3, 2).t()
    torch.library.opcheck(operators["accumulate"], (x, state))
    torch.library.opcheck(operators["columns_of_four"], (torch.zeros(0, 4, dtype=torch.int32), 3, False))
    for values in (torch.ones(4, dtype=torch.bfloat16), torch.ones(4, dtype=torch.bfloat16).view(torch.uint16)):
        torch.library.opcheck(operators["halve"], (values,))
    torch.library.opcheck(operators["indices"], (), {"N": 4})
    with FakeTensorMode():
        assert operators["scale"](factor=2.0, x=torch.empty(3)).shape == (3,)
        for operator, arguments, error, message in [
            ("scale", (torch.empty(3, 3), 2.0), ValueError, r"scale: x must have shape \(N,\), not \(3, 3\)"),
            ("scale", (torch.empty(3).double(), 2.0), TypeError, "scale: x must have dtype float32, not float64"),
            ("accumulate", (torch.empty(2, 3), torch.empty(2, 4)), ValueError, "axis 1 of state must be N = 3, not 4"),
            ("columns_of_four", (torch.empty(2, 3).int(), 1, True), ValueError, "axis 1 of x must be 4, not 3"),
        ]:
            with pytest.raises(error, match=message):
                operators[operator](*arguments)


def test_torch_operator_of_dynamic_shapes() -> None:
    scaled = intent.compile(kernels.scale).as_torch_op("dynamic_for_tests::scale")
    grouped = intent.compile(kernels.group_sums).as_torch_op("dynamic_for_tests::group_sums")
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")

    @torch.compile(backend=counter, fullgraph=True, dynamic=True)
    def composed(x: torch.Tensor) -> torch.Tensor:
        return grouped(scaled(x, 2.0), G=x.shape[0] // 2)

    for size in (4, 6, 10):
        close(composed(torch.arange(float(size))), [2 * (4 * g + 1) for g in range(size // 2)])
    assert counter.frame_count == 1


def test_a_name_stays_with_its_torch_operator() -> None:
    """PyTorch would give it to the second, also in what the first was compiled into."""
    operator = intent.compile(kernels.scale).as_torch_op("named_for_tests::f")
    assert intent.compile(kernels.scale).as_torch_op("named_for_tests::f") is operator
    for other in (intent.compile(kernels.total), intent.compile(kernels.scale, ReferenceTarget())):
        with pytest.raises(ValueError, match="named_for_tests::f is the operator of another kernel, scale"):
            other.as_torch_op("named_for_tests::f")
    with pytest.raises(ValueError, match="scale: PyTorch has another operator aten::add"):
        intent.compile(kernels.scale).as_torch_op("aten::add")
    close(operator(torch.ones(2), 3.0), [3, 3])


def test_torch_operator_has_a_proper_name() -> None:
    for name in ("no name", "a::b::c", "::scale", ""):
        with pytest.raises(ValueError, match="scale: an operator is called namespace::name, not"):
            intent.compile(kernels.scale).as_torch_op(name)


def test_torch_operator_declares_mutation() -> None:
    artifact = intent.compile(kernels.accumulate)
    operator = artifact.as_torch_op("accumulate_for_tests")
    assert artifact.as_torch_op("accumulate_for_tests") is operator
    x, state = torch.ones(2, 3), torch.zeros(2, 3)
    torch.library.opcheck(operator, (x, state))

    @torch.compile(backend="aot_eager", fullgraph=True)
    def twice(x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        operator(x, state)
        operator(x, state)
        return state + 1

    close(twice(x, state.zero_()), np.full((2, 3), 5))
    close(state, np.full((2, 3), 4))


# ------------------------------------------------------------------------------------------------------------- start-up
def test_import_is_light() -> None:
    code = (
        "import sys, intent; print([m for m in sys.modules if m in ('numpy', 'torch', 'translators', 'intent.host')])"
    )
    assert python(code).strip() == "[]"


def _import(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, body: str, extra: str = "") -> object:
    """A kernel `k(x, extra, out)` of a file of its own."""
    head = "import intent\nimport intent.language as I\n\n\n@intent.kernel\n"
    signature = f"def k(x: I.In[I.f32, ('N',)], {extra}out: I.Out[I.f32, ('N',)]):\n"
    (folder / f"{name}.py").write_text(head + signature + body, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    module = __import__(name)
    return copy.copy(module.k)


def test_artifacts_are_typed() -> None:
    assert isinstance(intent.compile(kernels.scale), Artifact)

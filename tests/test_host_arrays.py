"""The host arm takes NumPy arrays as they come, and writes into the caller's own memory.

Every array of a call lies in memory in the same unusual way: steps that are negative, zero or no multiple of the
element size, addresses that are not aligned, files, other byte orders. Sizes include 0 and 1, where NumPy calls arrays
contiguous whatever their strides are.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import generated_modules
import numpy as np
import pytest
import sample_files
from array_layouts import LAYOUTS, Array, Shape, laid_out
from reference_programs import HEADER
from sample_files import Case, Sample

from intentc.differential import load_module
from translators.options import Options
from translators.pipeline import compile_text

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")


# f32 by rows, in place, u32, u8 with bool, index results, results of rank zero, bf16, f8.
SAMPLES = (
    "softmax", "saxpy", "popcount", "image_histogram", "argmax", "vector_norm.root_of_total", "add_rms_norm",
    "group_quantize_fp8",
)  # fmt: skip


def _cases() -> list[object]:
    named = {sample.identity: sample for sample in sample_files.samples()}
    return [
        pytest.param(named[name], case, id=f"{name}[{sample_files.case_identity(case)}]")
        for name in SAMPLES
        for case in sample_files.cases(named[name])
    ]


def arguments(sample: Sample, case: Case, change: Callable[[Array], Array]) -> dict[str, object]:
    """What the kernel's `_out` function takes, with poisoned outputs and every array changed."""
    values = sample_files.arguments(sample, case)
    for view in sample.outputs:
        values.setdefault(view.name, sample_files.poisoned(view, case))
    views = {view.name for view in sample.views}
    ordered = {each.name: values[each.name] for each in sample.runtime_parameters}
    return {name: change(np.asarray(value)) if name in views else value for name, value in ordered.items()}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("sample", "case"), _cases())
def test_arrays_in_any_layout(sample: Sample, case: Case, layout: str) -> None:
    wanted = generated_modules.by_reference(sample, case, sample_files.arguments(sample, case))
    given = arguments(sample, case, lambda array: laid_out(layout, array))
    module = generated_modules.module(sample.path, generated_modules.bindings(sample, case))
    assert getattr(module, f"{sample.kernel}_out")(*given.values()) is None
    actual = {view.name: np.asarray(given[view.name]).astype(view.numpy_dtype) for view in sample.outputs}
    assert not sample_files.differences(sample, actual, wanted)
    inputs = sample_files.arguments(sample, case)
    for view in sample.views:
        if not view.is_output:
            np.testing.assert_array_equal(given[view.name], inputs[view.name], err_msg=f"{view.name} has changed")


@pytest.mark.parametrize(("sample", "case"), _cases())
def test_inputs_that_repeat_their_elements_and_are_read_only(sample: Sample, case: Case) -> None:
    """One row for all: an axis whose step is zero."""
    values = sample_files.arguments(sample, case)
    for view in sample.views:
        if view.direction == "In" and view.shape:
            array = np.asarray(values[view.name])
            values[view.name] = np.broadcast_to(array[:1], array.shape)
    wanted = generated_modules.by_reference(sample, case, {name: np.array(value) for name, value in values.items()})
    module = generated_modules.module(sample.path, generated_modules.bindings(sample, case))
    outputs = {view.name: sample_files.poisoned(view, case) for view in sample.outputs if not view.is_input}
    given = {each.name: {**values, **outputs}[each.name] for each in sample.runtime_parameters}
    getattr(module, f"{sample.kernel}_out")(*given.values())
    assert not sample_files.differences(sample, {name: np.asarray(given[name]) for name in wanted}, wanted)


# ------------------------------------------------------------------------------------------- memory beside the elements
@pytest.fixture(scope="module")
def module() -> ModuleType:
    (saxpy,) = [sample for sample in sample_files.samples() if sample.identity == "saxpy"]
    return generated_modules.module(saxpy.path)


@pytest.mark.parametrize("step", [2, 3, -1, -2])
def test_only_the_elements_are_written(module: ModuleType, step: int) -> None:
    memory = np.arange(100, dtype="f4")
    expected = memory.copy()
    expected[10:70][::step] += 2
    module.saxpy(2.0, np.ones_like(memory[10:70][::step]), memory[10:70][::step])
    np.testing.assert_array_equal(memory, expected)


def test_only_the_field_is_written(module: ModuleType) -> None:
    records = np.zeros(9, [("tag", "u1"), ("value", "f4"), ("more", "u2")])
    records["tag"], records["more"] = 7, 9
    module.saxpy(2.0, np.ones(5, "f4"), records["value"][::-2])
    assert records["value"].tolist() == [2, 0] * 4 + [2]
    assert set(records["tag"]) == {7} and set(records["more"]) == {9}


def test_a_file_is_written(module: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "values"
    np.arange(50, dtype="f4").tofile(path)
    values = np.memmap(path, "f4", "r+")
    module.saxpy(1.0, np.ones(50, "f4"), values)
    values.flush()
    np.testing.assert_array_equal(np.fromfile(path, "f4"), np.arange(1, 51))
    with pytest.raises(ValueError, match="saxpy: y is written, but the array is read-only"):
        module.saxpy(1.0, np.ones(50, "f4"), np.memmap(path, "f4", "r"))


@pytest.mark.parametrize(
    ("shape", "strides"), [((50,), (0,)), ((8, 4), (4, 4)), ((3, 4), (0, 4)), ((4, 3), (4, 0)), ((4, 3), (-8, 4))]
)
def test_written_elements_that_overlap_are_refused(shape: Shape, strides: Shape) -> None:
    module = _module("x: I.InOut[I.f32, ('M', 'N')]", "x[:, :] = x[:, :] + 1.0")
    if len(shape) == 1:
        shape, strides = (1, *shape), (0, *strides)
    memory = np.zeros(200, "f4")
    view = np.lib.stride_tricks.as_strided(memory[100:], shape, strides)
    with pytest.raises(ValueError, match="change: x is written, but its elements overlap in memory"):
        module.change(view)
    assert not memory.any()
    with pytest.raises(ValueError, match="change: x is written, but its elements overlap in memory"):
        module.change_device(module.torch.zeros(1, 1).expand(3, 5))


def test_inputs_that_overlap_each_other() -> None:
    module = _module(
        "x: I.In[I.f32, ('N',)], y: I.In[I.f32, ('N',)], out: I.Out[I.f32, ('N',)]", "out[:] = x[:] * 10.0 + y[:]"
    )
    memory = np.arange(20, dtype="f4")
    pairs = [(memory[:9], memory[1:10]), (memory[:9], memory[8::-1]), (memory[::2], memory[::2]), (memory, memory)]
    for x, y in pairs:
        np.testing.assert_array_equal(module.change(x, y), x * 10 + y)
    x, out = memory[:9], memory[9:18]
    module.change_out(x, x[::-1], out)
    np.testing.assert_array_equal(out, x * 10 + x[::-1])


# ---------------------------------------------------------------------------------------------- scalars and odd classes
def test_arrays_of_rank_zero() -> None:
    module = _module("x: I.In[I.f32, ()], out: I.Out[I.f32, ()]", "out[()] = x[()] * 3.0")
    records = np.zeros(3, [("tag", "u1"), ("value", "f4")])
    records["value"] = 5
    for x in (np.float32(5), np.array(5, "f4"), np.array(5, ">f4"), np.full(3, 5, "f4")[::-1][1:2].reshape(()),
              records["value"][1:2].reshape(())):  # fmt: skip
        result = module.change(x)
        assert isinstance(result, np.ndarray) and result.shape == () and result == 15
    out = records["value"][2:].reshape(())
    module.change_out(np.float32(1), out)
    assert records["value"].tolist() == [5, 5, 3]


@pytest.mark.parametrize("code", ["l", "q"])
def test_every_type_of_64_bits(code: str) -> None:
    """C has two integers of 64 bits, and PyTorch knows one of them unsigned."""
    signed = _module("x: I.InOut[I.i64, ('N',)]", "x[:] = x[:] + 1")
    unsigned = _module("x: I.InOut[I.u64, ('N',)]", "x[:] = x[:] + I.cast(1, I.u64)")
    for module, dtype in ((signed, code), (unsigned, code.upper())):
        x = np.arange(5).astype(dtype)
        module.change(x)
        assert x.dtype == np.dtype(dtype) and x.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_subclasses_of_arrays(module: ModuleType) -> None:
    y = np.ma.masked_array(np.zeros(4, "f4"), [True, False, False, True])
    module.saxpy(1.0, np.rec.array(np.ones(4, "f4")), y)
    assert y.data.tolist() == [1, 1, 1, 1] and y.mask.tolist() == [True, False, False, True]
    doubled = _module("x: I.In[I.f32, ('M', 'N')], out: I.Out[I.f32, ('M', 'N')]", "out[:, :] = x[:, :] * 2.0")
    result = doubled.change(np.matrix([[1, 2]], "f4"))
    assert type(result) is np.ndarray and result.tolist() == [[2, 4]]


def _module(parameters: str, statement: str) -> ModuleType:
    text = f"{HEADER}\n@intent.kernel\ndef change({parameters}):\n    {statement}\n"
    compiled = compile_text(text, "kernel.py", Options())
    assert compiled.source is not None, generated_modules.rejections(compiled)
    return load_module(compiled.source)

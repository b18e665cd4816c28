"""The host arm: NumPy arrays in any state, checked before anything runs, results as the contract says."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import hand_written_codes as written
import ml_dtypes
import numpy as np
import program_runs
import pytest

import intent.dtypes as dtypes
from intent.records import replace
from translators.triton_source.launch import KernelCode

Array = np.ndarray


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return written.module(*(each() for each in written.ALL), written.scale("half", dtypes.bf16))


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=1, keepdims=True)


def rows(columns: int = 37, count: int = 5) -> Array:
    return np.random.default_rng(0).standard_normal((count, columns)).astype("f4")


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T.copy().T,
    "reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "every other": lambda x: np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3],
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "byte-swapped and reversed": lambda x: x[:, ::-1].astype(x.dtype.newbyteorder())[:, ::-1],
    "misaligned": lambda x: np.frombuffer(b"?" + x.tobytes(), "u1", offset=1).view(x.dtype).reshape(x.shape),
}


@pytest.mark.parametrize("columns", [1, 16, 37, 64, 100, 256, 300])
def test_every_bucket(module: ModuleType, columns: int) -> None:
    x = rows(columns)
    np.testing.assert_allclose(module.softmax(x), softmax(x), atol=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_inputs_in_any_layout(module: ModuleType, layout: str) -> None:
    x = LAYOUTS[layout](rows())
    x.flags.writeable = False
    result = module.softmax(x)
    np.testing.assert_allclose(result, softmax(rows()), atol=1e-6)
    assert result.dtype == np.float32 and result.dtype.isnative


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "misaligned"])
def test_outputs_in_any_layout(module: ModuleType, layout: str) -> None:
    x, out = rows(), LAYOUTS[layout](np.full((5, 37), np.nan, "f4"))
    assert module.softmax_out(x, out) is None
    np.testing.assert_allclose(out, softmax(x), atol=1e-6)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_empty_arrays(module: ModuleType, shape: tuple[int, int]) -> None:
    assert module.softmax(np.zeros(shape, "f4")).shape == shape


def test_outputs_of_an_empty_reduction_are_written(module: ModuleType) -> None:
    mass, count = module.total(np.zeros(0, "f4"))
    assert (float(mass), int(count)) == (0.0, 0)


def test_several_outputs_are_a_tuple_of_zero_dimensional_arrays(module: ModuleType) -> None:
    results = module.total(np.ones(70, "f4"))
    assert isinstance(results, tuple) and [each.shape for each in results] == [(), ()]
    assert [each.dtype for each in results] == [np.float32, np.int64]


def test_inout_is_updated_and_not_returned(module: ModuleType) -> None:
    for total in (np.ones(70, "i8"), np.ones(140, "i8")[::-2], np.ones(70, ">i8")):
        assert module.accumulate(np.arange(70), total) is None
        assert total.tolist() == list(range(1, 71))


def test_a_size_that_only_an_output_has(module: ModuleType) -> None:
    x = np.arange(10, dtype="f4")
    assert module.groups(x, G=3).tolist() == [18.0, 12.0, 15.0]
    out = np.empty(2, "f4")
    module.groups_out(x, out)
    assert out.tolist() == [20.0, 25.0]
    for wrong in ({}, {"G": -1}, {"G": 2.5}):
        with pytest.raises(ValueError, match="groups: pass the size G of the output"):
            module.groups(x, **wrong)


def test_bfloat16_comes_back_in_the_kind_it_came(module: ModuleType) -> None:
    x = np.arange(20).astype(ml_dtypes.bfloat16)
    named, carried = module.half(x, 0.5), module.half(x.view("u2"), 0.5)
    assert named.dtype == ml_dtypes.bfloat16 and carried.dtype == np.uint16
    assert named.tolist() == carried.view(ml_dtypes.bfloat16).tolist() == [each / 2 for each in range(20)]
    out = np.zeros(40, ml_dtypes.bfloat16)[::2]
    module.half_out(x.view("u2"), 2.0, out)
    assert out.tolist() == [2.0 * each for each in range(20)]


def test_byte_swapped_carriers(module: ModuleType) -> None:
    x = np.arange(20).astype(ml_dtypes.bfloat16).view("u2")
    out = np.zeros(20, ">u2")
    module.half_out(x.astype(">u2"), 2.0, out)
    assert out.astype("u2").view(ml_dtypes.bfloat16).tolist() == [2.0 * each for each in range(20)]


WRONG: dict[str, tuple[type[Exception], str, Callable[[ModuleType], object]]] = {
    "dtype": (TypeError, "softmax: x must have dtype float32, not float64", lambda m: m.softmax(rows().astype("f8"))),
    "rank": (ValueError, r"softmax: x must have shape \(M, N\), not \(37,\)", lambda m: m.softmax(rows()[0])),
    "symbol": (ValueError, "axis 1 of out must be N = 37, not 36", lambda m: m.softmax_out(rows(), rows(36))),
    "kind": (TypeError, "x must be a NumPy array, not list", lambda m: m.softmax([[1.0]])),
    "read-only": (
        ValueError, "out is written, but the array is read-only",
        lambda m: m.softmax_out(rows(), np.broadcast_to(np.float32(1), (5, 37))),
    ),
    "scalar": (TypeError, "factor must be a number of dtype float32, not 'a'", lambda m: m.scale(rows()[0], "a")),
    "requirement": (ValueError, "there must be an element for each group", lambda m: m.groups(rows()[0], G=99)),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_argument_is_named_before_anything_is_allocated(
    module: ModuleType, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.torch, "empty", lambda *_, **__: pytest.fail("allocated"))
    error, message, call = WRONG[case]
    with pytest.raises(error, match=message):
        call(module)


@pytest.mark.parametrize(("value", "fits"), [(2**31 - 1, True), (-(2**31), True), (2**31, False), (np.int64(7), True)])
def test_integer_scalars_must_fit(value: int, fits: bool) -> None:
    module = written.module(_with_integer_scalar())
    x = np.ones(3, "f4")
    if fits:
        module.scale(x, value)
    else:
        with pytest.raises(ValueError, match="factor must fit int32"):
            module.scale(x, value)


@pytest.mark.parametrize("kind", [ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.float16, np.float64, np.int8])
def test_scalars_of_numpy(kind: type, module: ModuleType) -> None:
    assert module.scale(np.ones(3, "f4"), kind(2)).tolist() == [2, 2, 2]


def _with_integer_scalar() -> KernelCode:
    code = written.scale()
    parameters = [replace(each, dtype=dtypes.i32) if each.name == "factor" else each for each in code.kernel.parameters]
    source = code.variants[0].source.replace("factor: tl.float32", "factor: tl.int32")
    return replace(
        code, kernel=written.kernel("scale", *parameters), variants=(replace(code.variants[0], source=source),)
    )


# ------------------------------------------------------------------------------------------------------------- overlap
def test_in_place_where_the_kernel_supports_it(module: ModuleType) -> None:
    x = rows()
    expected = softmax(x)
    module.softmax_out(x, x)
    np.testing.assert_allclose(x, expected, atol=1e-6)


def test_another_overlap_is_refused(module: ModuleType) -> None:
    memory = np.zeros((6, 37), "f4")
    for x, out in ((memory[:5], memory[1:]), (memory, memory[::-1])):
        with pytest.raises(ValueError, match="softmax: x and out overlap in memory"):
            module.softmax_out(x, out)
    with pytest.raises(ValueError, match="accumulate: x and total overlap"):
        total = np.zeros(4, "i8")
        module.accumulate(total, total)


def test_interleaved_arrays_do_not_overlap(module: ModuleType) -> None:
    memory = np.zeros((5, 74), "f4")
    memory[:, ::2] = rows()
    module.softmax_out(memory[:, ::2], memory[:, 1::2])
    np.testing.assert_allclose(memory[:, 1::2], softmax(rows()), atol=1e-6)


def test_snapshot_of_an_input_that_an_output_overlaps(module: ModuleType) -> None:
    x = np.arange(1, 9, dtype="f4")
    count = np.zeros((), "i8")
    module.total_out(x, x[3:4].reshape(()), count)
    assert x[3] == 36.0 and count == 8


def test_noalias_is_a_promise_that_is_checked() -> None:
    code = written.total()
    views = [replace(view, noalias=view.name == "x") for view in code.kernel.views]
    module = written.module(replace(code, kernel=written.kernel("total", *views)))
    x = np.ones(4, "f4")
    with pytest.raises(ValueError, match="total: x and mass overlap"):
        module.total_out(x, x[0:1].reshape(()), np.zeros((), "i8"))


def test_strides_and_allocations_that_the_author_fixed() -> None:
    code = written.accumulate()
    x, total = code.kernel.views
    views = [replace(x, strides=(1,), alias="pool"), replace(total, strides=(None,), alias="pool")]
    module = written.module(replace(code, kernel=written.kernel("accumulate", *views)))
    pool = np.arange(12)
    module.accumulate(pool[:4], pool[4::2])
    assert pool[4::2].tolist() == [4, 7, 10, 13]
    with pytest.raises(ValueError, match="stride 0 of x must be 1, not 2"):
        module.accumulate(pool[:8:2], pool[8:])
    with pytest.raises(ValueError, match="must lie in one allocation"):
        module.accumulate(pool[:4], np.arange(4))


def test_strides_that_have_a_name_in_common() -> None:
    constrained = 'I.constraints(strides=("S", 1))'
    module = program_runs.module(
        f"""
        @intent.kernel
        def add(
            x: I.In[I.f32, ("M", "N"), {constrained}], y: I.In[I.f32, ("M", "N"), {constrained}],
            out: I.Out[I.f32, ("M", "N"), {constrained}],
        ):
            out[:, :] = x[:, :] + y[:, :]
        """
    )
    x, y = np.ones((2, 5, 8), "f4")[:, :, :6]
    assert (module.add(x, y) == 2).all()
    with pytest.raises(ValueError, match="stride 0 of y must be 8, not 6"):
        module.add(x, y.copy())
    with pytest.raises(ValueError, match="stride 1 of x must be 1, not 8"):
        module.add(np.ones((6, 8), "f4")[:, :5].T, y[:, :6])
    assert (module.add(x[:1], y[:1].copy()) == 2).all()  # a stride that is never used
    assert module.add(np.zeros((0, 6), "f4"), x[:0]).shape == (0, 6)  # nor are those of no elements


def test_equal_inputs_are_uploaded_once(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PACKED", {})
    uploads: list[Array] = []
    original = module._to_device
    monkeypatch.setattr(module, "_to_device", lambda array, *rest: uploads.append(array) or original(array, *rest))
    x = rows()
    module.softmax_out(x, np.empty_like(x))
    module.softmax_out(x, x)
    assert len(uploads) == 2


def test_one_synchronise_a_call(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bool] = []
    monkeypatch.setattr(module.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(module.torch.cuda, "synchronize", lambda: calls.append(True))
    module.total(np.ones(3, "f4"))
    assert len(calls) == 1

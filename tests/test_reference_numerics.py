"""The reference's arithmetic, checked against hand-computed values and against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent import dtypes
from intent.dtypes import BY_NAME, DType
from translators.logical.reference_numerics import IllegalInput, bitcast, carrier, cast, literal, round_to
from translators.logical.reference_pointwise import pointwise


def array(values: object, dtype: DType) -> np.ndarray:
    return np.asarray(values).astype(carrier(dtype))


def apply(function: str, dtype: DType, *operands: object) -> list[object]:
    with np.errstate(all="ignore"):
        return pointwise(function, tuple(array(operand, dtype) for operand in operands), dtype).tolist()


def nearest(value: Fraction, dtype: DType) -> float:
    """The finite dtype value nearest to `value`, ties to an even significand, by exhaustive comparison."""
    bits = np.arange(2**dtype.bits, dtype=np.uint16 if dtype.bits == 16 else np.uint8)
    with np.errstate(invalid="ignore"):
        candidates = bits.view(carrier(dtype)).astype(np.float64)
    finite = np.isfinite(candidates)
    ordered = sorted(zip(candidates[finite].tolist(), bits[finite].tolist(), strict=True))
    return min(ordered, key=lambda pair: (abs(Fraction(pair[0]) - value), pair[1] & 1))[0]


# ---------------------------------------------------------------------------------------------------------------- casts
@pytest.mark.parametrize("name", ["f16", "bf16", "f8e5m2", "f8e4m3fn"])
def test_double_to_narrow_rounds_once(name: str) -> None:
    dtype = BY_NAME[name]
    ulp = 2.0 ** -{"f16": 10, "bf16": 7, "f8e5m2": 2, "f8e4m3fn": 3}[name]
    tie = 1 + ulp / 2
    values = [tie, tie + 2.0**-40, tie - 2.0**-40, -(tie + 2.0**-40), 1 + 3 * ulp / 2, 0.0, 1e-30]
    assert round_to(np.asarray(values), dtype).astype(float).tolist() == [
        1.0, 1 + ulp, 1.0, -(1 + ulp), 1 + 2 * ulp, 0.0, 0.0 if name != "bf16" else float(ml_dtypes.bfloat16(1e-30)),
    ]  # fmt: skip


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(["f16", "bf16"]))
def test_integer_to_narrow_float_rounds_once(value: int, name: str) -> None:
    dtype = BY_NAME[name]
    with np.errstate(over="ignore"):
        found = float(cast(np.asarray(value, np.int64), dtypes.i64, dtype))
    if np.isinf(found):
        assert abs(value) >= 65520
    else:
        assert found == nearest(Fraction(value), dtype)


@given(st.integers(0, 2**64 - 1))
def test_unsigned_to_f32_and_bf16(value: int) -> None:
    source = np.asarray(value, np.uint64)
    bound = Fraction(value) / 2**8
    assert abs(Fraction(float(cast(source, dtypes.u64, dtypes.bf16))) - value) <= bound
    assert abs(Fraction(float(cast(source, dtypes.u64, dtypes.f32))) - value) <= Fraction(value) / 2**24


def test_integer_casts_are_modulo() -> None:
    assert cast(array([300, -1, -129], dtypes.i32), dtypes.i32, dtypes.u8).tolist() == [44, 255, 127]
    assert cast(array([300, -1, -129], dtypes.i32), dtypes.i32, dtypes.i8).tolist() == [44, -1, 127]
    assert cast(array([2**63], dtypes.u64), dtypes.u64, dtypes.i64).tolist() == [-(2**63)]


def test_float_to_integer_truncates_and_refuses_the_rest() -> None:
    assert cast(array([2.9, -2.9, 127.99], dtypes.f32), dtypes.f32, dtypes.i8).tolist() == [2, -2, 127]
    assert cast(array([-0.9, 255.5], dtypes.f16), dtypes.f16, dtypes.u8).tolist() == [0, 255]
    assert cast(array([2.0**63], dtypes.f64), dtypes.f64, dtypes.u64).tolist() == [2**63]
    for value, target in ((np.nan, "i32"), (np.inf, "i32"), (128.0, "i8"), (-1.0, "u8"), (2.0**63, "i64")):
        with pytest.raises(IllegalInput, match="NaN, infinite or out of range"):
            cast(array([value], dtypes.f64), dtypes.f64, BY_NAME[target])


def test_bool_casts() -> None:
    assert cast(array([0.0, -0.0, 0.5, np.nan], dtypes.f32), dtypes.f32, dtypes.boolean).tolist() == [
        False, False, True, True,
    ]  # fmt: skip
    assert cast(array([0, 256], dtypes.i32), dtypes.i32, dtypes.boolean).tolist() == [False, True]
    assert cast(array([True, False], dtypes.boolean), dtypes.boolean, dtypes.bf16).astype(float).tolist() == [1.0, 0.0]


def test_overflow_of_narrow_floats() -> None:
    with np.errstate(all="ignore"):
        large = np.asarray([65519.0, 65520.0, -1e30])
        assert round_to(large, dtypes.f16).tolist() == [65504.0, np.inf, -np.inf]
        assert round_to(np.asarray([1e39, 3.4e38]), dtypes.bf16).astype(float).tolist()[0] == np.inf
        assert round_to(np.asarray([61439.0, 61440.0]), dtypes.f8e5m2).astype(float).tolist() == [57344.0, np.inf]
    assert float(round_to(np.asarray(448.0), dtypes.f8e4m3fn)) == 448.0
    assert np.isnan(float(round_to(np.asarray(np.nan), dtypes.f8e4m3fn)))
    for value in (449.0, -1000.0, np.inf):
        with pytest.raises(IllegalInput, match="f8e4m3fn"):
            round_to(np.asarray(value), dtypes.f8e4m3fn)


def test_bitcast_keeps_bits() -> None:
    assert bitcast(array([1.0, -2.0], dtypes.f32), dtypes.u32).tolist() == [0x3F800000, 0xC0000000]
    assert float(bitcast(np.asarray(0x3F80, np.uint16), dtypes.bf16)) == 1.0
    assert bitcast(np.asarray(-1, np.int64), dtypes.u64) == np.uint64(2**64 - 1)


def test_literals() -> None:
    assert literal(2**64 - 1, dtypes.u64) == np.uint64(2**64 - 1)
    assert float(literal(0.1, dtypes.bf16)) == 0.10009765625
    assert float(literal(2**24 + 1, dtypes.f32)) == 2**24
    with pytest.raises(OverflowError):
        literal(300, dtypes.u8)


# ----------------------------------------------------------------------------------------------------------- arithmetic
def test_integers_wrap_silently() -> None:
    assert apply("add", dtypes.i8, [127, -128], [1, -1]) == [-128, 127]
    assert apply("multiply", dtypes.i32, [2**31 - 1], [2]) == [-2]
    assert apply("subtract", dtypes.u8, [3], [5]) == [254]
    assert apply("negative", dtypes.u16, [1]) == [65535]
    assert apply("negative", dtypes.i8, [-128]) == [-128]
    assert apply("abs", dtypes.i8, [-128, -3]) == [-128, 3]
    assert apply("power", dtypes.i32, [3, 2], [4, 31]) == [81, -(2**31)]


def test_floor_division_and_remainder() -> None:
    assert apply("floor_divide", dtypes.i32, [7, -7, 7, -7], [2, 2, -2, -2]) == [3, -4, -4, 3]
    assert apply("remainder", dtypes.i32, [7, -7, 7, -7], [2, 2, -2, -2]) == [1, 1, -1, -1]
    assert apply("floor_divide", dtypes.u8, [250], [7]) == [35]
    assert apply("remainder", dtypes.i8, [-128], [-1]) == [0]
    for function in ("floor_divide", "remainder"):
        with pytest.raises(IllegalInput, match="division by zero"):
            apply(function, dtypes.i32, [1, 2], [1, 0])
    with pytest.raises(IllegalInput, match="least i16"):
        apply("floor_divide", dtypes.i16, [-(2**15)], [-1])


def test_shifts() -> None:
    assert apply("shift_right", dtypes.i8, [-128, -1], [3, 7]) == [-16, -1]
    assert apply("shift_right", dtypes.u8, [255], [4]) == [15]
    assert apply("shift_left", dtypes.i8, [65], [1]) == [-126]
    for amount in (-1, 8):
        with pytest.raises(IllegalInput, match="shift amount"):
            apply("shift_left", dtypes.i8, [1], [amount])


def test_narrow_floats_round_after_each_operation() -> None:
    third = apply("divide", dtypes.bf16, [1.0], [3.0])
    assert float(third[0]) == float(ml_dtypes.bfloat16(1 / 3))
    assert apply("add", dtypes.f16, [2048.0], [1.0]) == [2048.0]
    assert apply("multiply", dtypes.f16, [65504.0], [2.0]) == [np.inf]
    assert [float(each) for each in apply("subtract", dtypes.f8e5m2, [1.75], [1.5])] == [0.25]


@given(st.integers(0, 2**16 - 1), st.integers(0, 2**16 - 1), st.sampled_from(["add", "multiply", "divide"]))
def test_bf16_operations_are_correctly_rounded(left: int, right: int, function: str) -> None:
    lhs, rhs = (np.asarray([bits], np.uint16).view(ml_dtypes.bfloat16) for bits in (left, right))
    with np.errstate(all="ignore"):
        found = pointwise(function, (lhs, rhs), dtypes.bf16)
        rule = {"add": np.add, "multiply": np.multiply, "divide": np.divide}[function]
        wide = rule(lhs.astype(np.longdouble), rhs.astype(np.longdouble))
        expected = round_to(np.asarray(wide), dtypes.bf16)
    np.testing.assert_array_equal(found.astype(float), expected.astype(float))


def test_nan_rules_of_extrema() -> None:
    nan = float("nan")
    for dtype in (dtypes.f32, dtypes.bf16):
        assert np.isnan(np.asarray(apply("maximum", dtype, [nan, 1.0], [1.0, nan]), float)).all()
        assert np.isnan(np.asarray(apply("minimum", dtype, [nan, 1.0], [1.0, nan]), float)).all()
        assert [float(each) for each in apply("maximum_num", dtype, [nan, 1.0], [1.0, nan])] == [1.0, 1.0]
        assert np.isnan(float(apply("minimum_num", dtype, [nan], [nan])[0]))
    assert apply("maximum", dtypes.u64, [2**63], [1]) == [2**63]


def test_comparisons_and_logic() -> None:
    nan = float("nan")
    assert apply("less", dtypes.f32, [1.0, nan], [2.0, nan]) == [True, False]
    assert apply("not_equal", dtypes.bf16, [nan, 1.0], [nan, 1.0]) == [True, False]
    assert apply("invert", dtypes.i8, [0, 5]) == [-1, -6]
    assert apply("not", dtypes.boolean, [True, False]) == [False, True]
    assert apply("xor", dtypes.boolean, [True, True], [True, False]) == [False, True]


# ------------------------------------------------------------------------------------------------------- special values
INFINITY = float("inf")


@pytest.mark.parametrize(
    ("function", "argument", "expected"),
    [
        ("lgamma", [1.0, 2.0, 0.0, -3.0, INFINITY, -INFINITY, 1e306], [0.0, 0.0] + [INFINITY] * 5),
        ("log1p", [-1.0, 0.0], [-INFINITY, 0.0]),
        ("erfc", [-INFINITY, INFINITY, 0.0], [2.0, 0.0, 1.0]),
        ("erf", [-INFINITY, 0.0], [-1.0, 0.0]),
        ("i0", [0.0, INFINITY, -INFINITY], [1.0, INFINITY, INFINITY]),
        ("sigmoid", [-INFINITY, INFINITY, 0.0, -1000.0], [0.0, 1.0, 0.5, 0.0]),
        ("rsqrt", [0.0, INFINITY, 4.0], [INFINITY, 0.0, 0.5]),
        ("floor", [-0.5, 2.5], [-1.0, 2.0]),
        ("tanh", [-INFINITY, INFINITY], [-1.0, 1.0]),
        ("exp2", [-INFINITY, 10.0], [0.0, 1024.0]),
    ],
)
def test_special_values(function: str, argument: list[float], expected: list[float]) -> None:
    assert apply(function, dtypes.f64, argument) == expected


def test_special_values_without_a_number() -> None:
    for function, argument in (("asin", 1.5), ("asin", -1.5), ("log1p", -2.0), ("sqrt", -1.0), ("log", -1.0)):
        assert np.isnan(apply(function, dtypes.f32, [argument])[0]), function
    for function in ("asin", "log1p", "tanh", "sin", "erf", "floor", "sqrt"):
        assert np.signbit(np.asarray(apply(function, dtypes.f32, [-0.0]))).all(), function


@pytest.mark.parametrize("function", ["lgamma", "erfc", "erf", "i0", "log1p", "sigmoid", "tanh", "asin", "rsqrt"])
def test_functions_agree_with_scipy(function: str) -> None:
    special = pytest.importorskip("scipy.special")
    rules = {"lgamma": special.gammaln, "erfc": special.erfc, "erf": special.erf, "i0": special.i0, "log1p": np.log1p}
    rules |= {"sigmoid": special.expit, "tanh": np.tanh, "asin": np.arcsin, "rsqrt": lambda x: 1 / np.sqrt(x)}
    span = {"asin": (-1, 1), "rsqrt": (0.01, 1e5), "log1p": (-0.99, 50), "lgamma": (0.01, 100)}.get(function, (-8, 8))
    points = np.linspace(*span, 1001)
    found = np.asarray(apply(function, dtypes.f64, points))
    np.testing.assert_allclose(found, rules[function](points), rtol=2e-14, atol=1e-15)


def test_i0_near_its_overflow() -> None:
    special = pytest.importorskip("scipy.special")
    points = np.asarray([699.0, 701.0, 709.5, 713.0])
    expected = special.i0e(points) * np.exp(points / 2) * np.exp(points / 2)
    np.testing.assert_allclose(np.asarray(apply("i0", dtypes.f64, points)), expected, rtol=1e-13)


def test_f32_functions_are_rounded_once_from_f64() -> None:
    assert apply("exp", dtypes.f32, [1.0]) == [float(np.float32(np.e))]
    assert apply("lgamma", dtypes.f16, [0.5]) == [float(np.float16(0.5723649429247001))]

"""Every spelling of a pointwise function and of a cast, run in the CPU interpreter against the reference."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import mpmath
import numpy as np
import pytest
from device_kernels import Case, load, run

from intent.dtypes import ALL, DType, bf16, boolean, f8e4m3fn, f32, f64
from translators.logical import reference_numerics
from translators.logical.program import BINARY, COMPARISON, UNARY
from translators.logical.reference_numerics import carrier
from translators.logical.reference_pointwise import pointwise as reference
from translators.triton_source.arithmetic import pointwise
from translators.triton_source.conversions import cast
from translators.triton_source.expressions import Code

FLOATS = tuple(dtype for dtype in ALL if dtype.is_float)
INTEGERS = tuple(dtype for dtype in ALL if dtype.is_integer)
X, Y = Code("x"), Code("y")
FLOAT_UNARY = tuple(function for function in UNARY if function not in ("invert", "not"))
FLOAT_BINARY = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "maximum_num", "minimum_num")
INTEGER_BINARY = tuple(function for function in BINARY if function != "divide")
BOOL_BINARY = ("and", "or", "xor", "maximum", "minimum")

# Units in the last place (f32, f64) by which a result may differ from the correctly rounded one. The interpreter takes
# NumPy's routines for tl.log and tl.exp, so the bounds of log and log1p in f32 are those of the device plus one or two.
ULPS = {
    "exp": (2, 1), "exp2": (2, 1), "log": (2, 1), "log1p": (3, 1), "sin": (2, 2), "cos": (2, 2), "tanh": (2, 1),
    "sigmoid": (4, 3), "erf": (2, 2), "erfc": (4, 5), "rsqrt": (2, 1), "asin": (4, 2), "lgamma": (6, 4), "i0": (6, 6),
    "power": (1, 2),
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- test values
def float_values(dtype: DType) -> np.ndarray:
    """Special values, the ends of the range, values around which routines change branch, and a random sample."""
    if dtype.bits == 8:
        return np.arange(256, dtype=np.uint8).view(carrier(dtype))
    info = ml_dtypes.finfo(carrier(dtype))
    ends = [float(info.smallest_subnormal), float(info.tiny), float(info.max), 3 * float(info.smallest_subnormal)]
    special = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 8.0, 10.0, 0.625, 0.2, 1e-4, 1e-3, 1.25, 88.0, 104.0, 700.0, 745.0]
    points = np.array([*ends, *special, math.inf, math.nan])
    random = np.random.default_rng(7)
    spread = np.exp(random.uniform(-12, 4.5, 300))
    values = np.concatenate([points, spread, random.uniform(0, 12, 200)])
    return readable(np.concatenate([values, -values]).astype(carrier(dtype)), dtype)


def readable(operand: np.ndarray, dtype: DType) -> np.ndarray:
    """Without the subnormals of bfloat16, which the interpreter (not the device) reads as zero."""
    if dtype != bf16:
        return operand
    wide = np.abs(operand.astype(np.float32))
    return operand[(wide == 0) | ~(wide < 2.0**-126)]


def integer_values(dtype: DType) -> np.ndarray:
    low, high = int(reference_numerics.lowest(dtype)), int(reference_numerics.highest(dtype))
    chosen = {low, low + 1, high, high - 1, 0, 1, 2, 3, 7, 100, high // 2, high // 3, low // 3 + 1}
    chosen |= {-value for value in chosen}
    chosen = {value for value in chosen if low <= value <= high}
    return np.array(sorted(chosen), dtype=carrier(dtype))


def values(dtype: DType) -> np.ndarray:
    if dtype.kind == "bool":
        return np.array([False, True])
    return float_values(dtype) if dtype.is_float else integer_values(dtype)


def pairs(first: np.ndarray, second: np.ndarray) -> list[np.ndarray]:
    return [np.repeat(first, second.size), np.tile(second, first.size)]


def legal_pairs(function: str, dtype: DType) -> list[np.ndarray]:
    """All pairs of the values of an integer type, or of a float sample, that the function is defined for."""
    if dtype.bits == 8 and dtype.is_integer:
        everything = np.arange(256, dtype=np.uint8).view(carrier(dtype))
        left, right = pairs(everything, everything)
    elif dtype.is_float:
        sample = float_values(dtype)
        left, right = pairs(sample if sample.size < 300 else sample[::13], sample[::5])
    else:
        left, right = pairs(values(dtype), values(dtype))
    keep = np.ones(left.size, bool)
    if function in ("floor_divide", "remainder"):
        keep = right != 0
        if dtype.is_signed:
            keep &= ~((left == reference_numerics.lowest(dtype)) & (right == -1))
    if function in ("shift_left", "shift_right"):
        keep = (right.astype(object) >= 0) & (right.astype(object) < dtype.bits)
    if function == "power" and not dtype.is_float:
        keep = right >= 0
    return [left[keep.astype(bool)], right[keep.astype(bool)]]


# ---------------------------------------------------------------------------------------------------------- comparisons
def distance(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Units in the last place between floats of one type; NaN equals NaN, +0 and -0 are 0 apart."""
    signed = np.dtype(f"int{found.dtype.itemsize * 8}")
    unsigned = np.dtype(f"uint{found.dtype.itemsize * 8}")

    def ordered(bits: np.ndarray) -> np.ndarray:
        magnitude = (bits & np.iinfo(signed).max).astype(object)
        return np.where(bits.view(unsigned) >> (signed.itemsize * 8 - 1), -magnitude, magnitude)

    apart = np.abs(ordered(found.view(signed)) - ordered(expected.view(signed)))
    return np.where(
        np.isnan(found) & np.isnan(expected), 0, np.where(np.isnan(found) | np.isnan(expected), 2**60, apart)
    )


def assert_close(found: np.ndarray, expected: np.ndarray, ulps: int, *operands: np.ndarray) -> None:
    apart = distance(found, expected)
    worst = int(np.argmax(apart))
    at = [operand[worst] for operand in operands]
    assert apart[worst] <= ulps, f"{apart[worst]} ulp at {at}: {found[worst]}, not {expected[worst]}"


def assert_signs_of_zero(found: np.ndarray, expected: np.ndarray, *operands: np.ndarray) -> None:
    other = np.signbit(found) != np.signbit(expected)
    places = np.flatnonzero((found == 0) & (expected == 0) & other)
    assert not places.size, f"the zero of the other sign at {[[each[place] for each in operands] for place in places]}"


def assert_same(found: np.ndarray, expected: np.ndarray, *operands: np.ndarray) -> None:
    """Bit for bit, but for the payload of NaN."""
    bits = f"uint{found.dtype.itemsize * 8}" if found.dtype != bool else "uint8"
    same = found.view(bits) == expected.view(bits)
    if found.dtype != bool and found.dtype.kind not in "iu":
        same |= np.isnan(found) & np.isnan(expected)
    wrong = np.flatnonzero(~same)
    shown = [(*(operand[place] for operand in operands), found[place], expected[place]) for place in wrong[:5]]
    assert not wrong.size, f"{wrong.size} of {same.size} differ (operands, found, expected): {shown}"


# ---------------------------------------------------------------------------------------------------------------- cases
def pointwise_cases() -> list[tuple[str, Case]]:
    found = []
    for dtype, function in itertools.product(ALL, (*UNARY, *BINARY, *COMPARISON)):
        if function not in allowed(dtype):
            continue
        arity = 1 if function in UNARY else 2
        result = boolean if function in COMPARISON else dtype
        emitted = pointwise(function, dtype, result, (X, Y)[:arity])
        found.append((function, Case(f"{function}_of_{dtype.name}", emitted, (dtype,) * arity, result)))
    return found


def allowed(dtype: DType) -> Sequence[str]:
    if dtype.kind == "bool":
        return (*BOOL_BINARY, "not", "equal", "not_equal")
    if dtype.is_float:
        return (*FLOAT_UNARY, *FLOAT_BINARY, *COMPARISON)
    return (*INTEGER_BINARY, *COMPARISON, "negative", "invert", "abs")


def cast_cases() -> list[Case]:
    return [
        Case(f"cast_{source.name}_to_{target.name}", cast(X, source, target), (source,), target)
        for source, target in itertools.product(ALL, ALL)
        if source != target
    ]


POINTWISE = pointwise_cases()
CASTS = cast_cases()


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> object:
    return load([case for _, case in POINTWISE] + CASTS, tmp_path_factory.mktemp("kernels"))


# ---------------------------------------------------------------------------------------------------------------- tests
@pytest.mark.parametrize(("function", "case"), POINTWISE, ids=[case.name for _, case in POINTWISE])
def test_pointwise(kernels: object, function: str, case: Case) -> None:
    dtype = case.operands[0]
    operands = [values(dtype)] if len(case.operands) == 1 else legal_pairs(function, dtype)
    operands = inside_the_range(function, dtype, operands)
    found = run(kernels, case, operands)
    with np.errstate(all="ignore"):
        expected = expected_values(function, operands, dtype)
    if function in ULPS:
        allowance = ULPS[function][dtype == f64] if dtype in (f32, f64) else 1
        assert_close(found, expected, allowance, *operands)
        assert_signs_of_zero(found, expected, *operands)
    elif function.startswith(("maximum", "minimum")) and dtype.is_float:
        assert_close(found, expected, 0, *operands)  # which of +0 and -0 is the larger is left open
    else:
        assert_same(found, expected, *operands)


def expected_values(function: str, operands: list[np.ndarray], dtype: DType) -> np.ndarray:
    """Multiple precision where a double-precision reference is not exact enough to judge double precision."""
    if dtype == f64 and function in ("lgamma", "i0"):
        return np.array([special_function(function, float(x)) for x in operands[0]])
    return reference(function, tuple(operands), dtype)


def special_function(function: str, x: float) -> float:
    if math.isnan(x):
        return math.nan
    if function == "i0":
        return math.inf if abs(x) > 800 else float(mpmath.besseli(0, mpmath.mpf(x)))
    if math.isinf(x) or x == 0 or x > 1e306 or (x < 0 and x == math.floor(x)):
        return math.inf
    with mpmath.workdps(50):
        return float(mpmath.loggamma(mpmath.mpf(x)).real)


def inside_the_range(function: str, dtype: DType, operands: list[np.ndarray]) -> list[np.ndarray]:
    """Leaves out what float8e4m3fn cannot hold, and the neighbourhood of the negative zeros of lgamma."""
    keep = np.ones(operands[0].size, bool)
    if function == "lgamma":
        x = operands[0].astype(np.float64)
        keep = ~((x < -2) & (x > -11) & (x != np.floor(x)))
    if dtype == f8e4m3fn and function not in COMPARISON:
        wide = tuple(operand.astype(np.float32) for operand in operands)
        with np.errstate(all="ignore"):
            exact = reference(function, wide, f32).astype(np.float64)
        keep &= ~(np.abs(exact) > 448)
    return [operand[keep] for operand in operands]


@pytest.mark.parametrize("case", CASTS, ids=[case.name for case in CASTS])
def test_cast(kernels: object, case: Case) -> None:
    source, target = case.operands[0], case.result
    operand = legal_cast_values(source, target)
    with np.errstate(all="ignore"):
        expected = reference_numerics.cast(operand, source, target)
    assert_same(run(kernels, case, [operand]), expected, operand)


def legal_cast_values(source: DType, target: DType) -> np.ndarray:
    operand = values(source)
    if source.bits == 16:
        operand = np.arange(1 << 16, dtype=np.uint16).view(carrier(source))
        operand = readable(operand, source)
    if source.bits >= 32 and source.is_float:  # ties of the narrower types and their neighbours
        ties = np.arange(1 << 12, dtype=np.float64) / 2048 * np.exp2(np.arange(1 << 12) % 37 - 18.0)
        near = np.concatenate([ties, np.nextafter(ties, 0), np.nextafter(ties, np.inf)])
        operand = np.concatenate([operand, near.astype(carrier(source)), -near.astype(carrier(source))])
    if source.bits == 64 and not source.is_float:
        powers = [1 << 62, (1 << 62) + (1 << 54), (1 << 62) + (1 << 54) + 1, (1 << 62) + (1 << 54) - 1]
        operand = np.concatenate([operand, np.array(powers, dtype=carrier(source))])
    keep = np.ones(operand.size, bool)
    wide = operand.astype(np.float64)
    if source.is_float and target.is_integer:
        low, high = float(reference_numerics.lowest(target)), float(int(reference_numerics.highest(target)) + 1)
        with np.errstate(all="ignore"):
            keep = (np.trunc(wide) >= low) & (np.trunc(wide) < high)
    if target == f8e4m3fn:
        keep = ~(np.abs(wide) > 448)
    return operand[keep]


def test_powers_in_double_precision(tmp_path: Path) -> None:
    """Against 200 bits, over the whole range of results, near 1 and for subnormal bases."""
    random = np.random.default_rng(3)
    exponents = random.uniform(-744, 709, 1500)  # of the results, base e
    logarithms = np.concatenate(
        [random.uniform(-708, 709, 700), random.uniform(-1, 1, 500), 10.0 ** random.uniform(-15, -3, 300)]
    )
    x = np.exp(logarithms)
    x[:100] = random.integers(1, 2**52, 100).astype(np.float64) * 2.0**-1074
    y = exponents / np.log(np.where(x == 1, 2, x))
    case = Case("power", pointwise("power", f64, f64, (Code("x"), Code("y"))), (f64, f64), f64)
    found = run(load([case], tmp_path), case, [x, y])
    with mpmath.workprec(200):
        wanted = np.array([float(mpmath.power(mpmath.mpf(a), mpmath.mpf(b))) for a, b in zip(x, y, strict=True)])
    assert_close(found, wanted, 2, x, y)

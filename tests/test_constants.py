"""How constants are spelled: short, and exactly the value that is meant."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from program_runs import module

from intent.dtypes import DType, bf16, f8e4m3fn, f8e5m2, f16, f32, f64, i32, i64, u32
from translators.triton_source.conversions import as_access, constant, filled

pytestmark = pytest.mark.gpu

LARGEST = 3.4028234663852886e38
BOTH_ZEROS = """
@intent.kernel
def k(x: I.In[I.f32, ("N",)], a: I.Out[I.f32, ("N",)], b: I.Out[I.f32, ("N",)], c: I.Out[I.f32, ("N",)]):
    a[:] = x[:] + -0.0
    b[:] = 0.0 - x[:]
    c[:] = I.full((x.shape[0],), -0.0, I.f32)
"""


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.044715, f32, "0.044715"),
        (0.7978845608028654, f32, "0.7978846"),
        (0.1, f32, "0.1"),
        (1 / 3, f32, "0.33333334"),
        (1e-8, f32, "1e-08"),
        (-2.5, f32, "-2.5"),
        (-0.0, f32, "-0.0"),
        (LARGEST, f32, "3.4028234663852886e38"),
        (0.1, f64, "0.1"),
        (0.1, f16, "0.0999755859375"),
        (0.1, bf16, "0.10009765625"),
        (math.inf, f32, 'float("inf")'),
        (-math.inf, f32, '-float("inf")'),
        (math.nan, f32, 'float("nan")'),
        (7, i32, "7"),
    ],
)
def test_spelling(value: float, dtype: DType, text: str) -> None:
    assert constant(value, dtype).text == text


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float32_literals_are_exact(value: float) -> None:
    """The decimal rounds to the value, and Triton gives it the same type as the value itself."""
    decimal = float(constant(value, f32).text)
    assert struct.unpack("<f", struct.pack("<f", decimal))[0] == value
    assert math.copysign(1.0, decimal) == math.copysign(1.0, value)
    assert (2.0**-126 <= abs(decimal) <= LARGEST) == (2.0**-126 <= abs(value) <= LARGEST)


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.0, bf16, "0.0"),
        (-math.inf, f16, '-float("inf")'),
        (0, i64, "0"),
        (1 << 40, i64, "tl.full((), 1099511627776, tl.int64)"),
        (0.1, f64, "tl.full((), 0.1, tl.float64)"),
        (3_000_000_000, u32, "tl.full((), 3000000000, tl.uint32)"),
        (-0.0, f32, "tl.full((), 0x80000000, tl.uint32).to(tl.float32, bitcast=True)"),
        (0.0, f8e4m3fn, "0"),
        (-448.0, f8e4m3fn, "0xfe"),
        (0.0, f8e5m2, "0"),
        (-math.inf, f8e5m2, "0xfc"),
    ],
)
def test_what_loads_and_stores_convert_themselves(value: float, dtype: DType, text: str) -> None:
    assert as_access(constant(value, dtype), dtype).text == text


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.0, f32, "tl.zeros((BLOCK,), tl.float32)"),
        (1.0, f32, "tl.full((BLOCK,), 1.0, tl.float32)"),
        (0.0, bf16, "tl.zeros((BLOCK,), tl.float32).to(tl.bfloat16)"),
        (-0.0, f16, "tl.broadcast_to(tl.full((), 0x8000, tl.uint16).to(tl.float16, bitcast=True), (BLOCK,))"),
        (1.0, f8e4m3fn, "tl.broadcast_to(tl.full((), 0x38, tl.uint8), (BLOCK,))"),
    ],
)
def test_tiles_of_one_value(value: float, dtype: DType, text: str) -> None:
    assert filled(value, dtype, "(BLOCK,)").text == text


def test_zeros_of_both_signs_are_two_constants() -> None:
    x = np.array([0.0, -0.0, 1.0], np.float32)
    a, b, c = module(BOTH_ZEROS).k(x)
    assert np.signbit(a).tolist() == [False, True, False]
    assert np.signbit(b).tolist() == [False, False, True]
    assert np.signbit(c).all()

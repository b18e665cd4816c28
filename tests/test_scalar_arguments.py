"""Scalars of every dtype reach a kernel with their value, whatever it is: launches have types of their own."""

from __future__ import annotations

from typing import Final

import ml_dtypes
import numpy as np
import pytest
from program_runs import agree, device_text

pytestmark = pytest.mark.gpu

WIDTHS: Final = (8, 16, 32, 64)
FLOATS: Final = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
KERNEL: Final = """
    @intent.kernel
    def k(x: I.In[I.{dtype}, ("N",)], s: I.{dtype}, same: I.Out[I.bool, ("N",)], o: I.Out[I.{dtype}, ("N",)]):
        n = I.domain(0, x.shape[0])
        same[n] = x[n] == s
        o[n] = s
"""


def _integers() -> list[tuple[str, int]]:
    signed = [(f"i{bits}", value) for bits in WIDTHS for value in (-(1 << bits - 1), -1, 0, 1, (1 << bits - 1) - 1)]
    unsigned = [(f"u{bits}", value) for bits in WIDTHS for value in (0, 1, 1 << bits - 1, (1 << bits) - 1)]
    return [*signed, *unsigned, ("index", -1), ("index", (1 << 63) - 1), ("bool", False), ("bool", True)]


def _numpy(dtype: str) -> np.dtype:
    names = {"index": "int64", "bool": "bool"}
    return np.dtype(names.get(dtype, dtype.replace("i", "int").replace("u", "uint")))


@pytest.mark.parametrize(("dtype", "value"), _integers())
def test_integers(dtype: str, value: int) -> None:
    numpy = _numpy(dtype)
    x = np.array([value, value, value], numpy)
    given = agree(KERNEL.format(dtype=dtype), {"x": x, "s": value, "same": np.zeros(3, bool), "o": np.zeros(3, numpy)})
    assert given["same"].all()
    assert given["o"].tolist() == [value] * 3


@pytest.mark.parametrize("value", ["-0.0", "1.5", "-448.0", "inf", "-inf", "nan", "smallest"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_floats(dtype: str, value: str) -> None:
    numpy = np.dtype(FLOATS[dtype])
    if dtype == "f8e4m3fn" and "inf" in value:
        pytest.skip("has no infinity")
    number = float(ml_dtypes.finfo(numpy).smallest_subnormal) if value == "smallest" else float(value)
    x = np.array([number] * 3, numpy)
    arguments = {"x": x, "s": number, "same": np.zeros(3, bool), "o": np.zeros(3, numpy)}
    given = agree(KERNEL.format(dtype=dtype), arguments)
    assert given["same"].all() == (value != "nan")
    assert given["o"].tobytes() == x.tobytes() or value == "nan"


def test_a_launch_refuses_negative_bytes() -> None:
    assert "s: tl.int32" in device_text(KERNEL.format(dtype="i8"))

"""In which order a program's loops over tiles stand inside each other."""

from __future__ import annotations

import re

import numpy as np
import pytest
from program_runs import agree, compiled, device_text

pytestmark = pytest.mark.gpu

# A record of every row beside an effect that makes a program take all rows of a point.
QUANTIZED = """
@intent.kernel
def k(
    x: I.In[I.f32, ("M", "N", 256)], codes: I.Out[I.u8, ("M", "N", 292)],
    y: I.In[I.f32, ("M", "N")], z: I.InOut[I.f32, ("M", "N")], w: I.Out[I.f32, ("M", "N")], first: I.index,
):
    n = I.domain(0, x.shape[1])
    for p in I.parallel(I.domain(0, x.shape[0])):
        codes[p, :, :] = I.quantize(x[p, n, :], format=I.quant.q8_k)
        z[p, first:] = y[p, first:] * I.cast(p, I.f32)
        w[p, n] = y[p, n] + 1.0
"""


def test_what_is_reduced_once_for_a_row_stands_outside_the_loop_over_what_is_stored_of_it() -> None:
    """The largest of 256 elements is not looked for again for each of the 292 bytes that it scales."""
    for small in (False, True):
        source = "\n".join(variant.source for variant in compiled(QUANTIZED, small=small).codes[-1].variants)
        headers: list[tuple[int, str]] = []
        for line in source.splitlines():
            level = len(line) - len(line.lstrip())
            headers = [each for each in headers if each[0] < level]
            if "max = _maximum(" in line or "tl.reduce(" in line:
                assert not any("292" in header for _, header in headers), source
            if re.match(r" *for ", line):
                headers.append((level, line))


def test_records_of_rows_beside_another_effect() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-100, 100, (2, 5, 256)).astype(np.float32)
    y, z, w = rng.integers(-4, 5, (3, 2, 5)).astype(np.float32)
    agree(QUANTIZED, {"x": x, "codes": np.zeros((2, 5, 292), np.uint8), "y": y, "z": z, "w": w, "first": 2})


def test_a_store_wider_than_its_value_has_a_tile_that_fits() -> None:
    """A prefix along k, stored for every n, beside a maximum along n."""
    text = """
    @intent.kernel
    def k(
        x: I.In[I.f32, ("M", "N")], w: I.In[I.i32, ("K",)],
        y: I.Out[I.i32, ("M", "K", "N")], z: I.Out[I.f32, ("M", "N")],
    ):
        n, k = I.domain(0, x.shape[1]), I.domain(0, w.shape[0])
        for p in I.parallel(I.domain(0, x.shape[0])):
            top = I.reduce.max(x[p, n], axis=0)
            y[p, k, n] = I.full((w.shape[0], x.shape[1]), 0, dtype=I.i32) + I.cumsum(w[k], axis=0)[:, None]
            z[p, n] = x[p, n] - top
    """
    assert "for start_k" in device_text(text)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    arguments = {"x": x, "w": np.arange(5, dtype=np.int32)}
    arguments |= {"y": np.zeros((2, 5, 3), np.int32), "z": np.zeros((2, 3), np.float32)}
    agree(text, arguments, small=False)


# The place of the largest element in a sweep that reads again what one before it read, and beside sums from the end.
PLACES = """
@intent.fn
def add(a, b):
    return a + b

@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], best: I.Out[I.f32, ("M",)], place: I.Out[I.i64, ("M",)]%s):
    c = I.domain(0, x.shape[1])
    for r in I.parallel(I.domain(0, x.shape[0])):
        v = x[r, c]
        %s
        largest, position = I.arg_reduce.max(w, axis=0)
        best[r] = largest
        place[r] = I.cast(position, I.i64)
"""
AGAIN = PLACES % ("", "w = I.minimum(v, I.reduce.sum(I.cast(v > 0.0, I.f32), axis=0))")
FROM_THE_END = PLACES % (
    ', after: I.Out[I.f32, ("M", "N")]',
    "w = I.scan(v, axis=0, identity=0.0, combine=add, reverse=True); after[r, c] = w",
)


@pytest.mark.parametrize("columns", [1, 40, 45])
@pytest.mark.parametrize("text", [AGAIN, FROM_THE_END], ids=["again", "from the end"])
def test_the_first_of_equal_elements_wins_in_a_sweep_that_runs_backwards(text: str, columns: int) -> None:
    """Also among NaN and where nothing is larger than -inf."""
    assert "for back in" in device_text(text, small=True)
    x = np.random.default_rng(columns).integers(-2, 3, (6, columns)).astype(np.float32)
    x[1], x[2], x[3] = 0.0, -np.inf, np.inf
    x[4, columns // 2 :: 3] = np.nan
    x[5, ::7] = np.nan
    arguments = {"x": x, "best": np.zeros(6, np.float32), "place": np.zeros(6, np.int64)}
    if text is FROM_THE_END:
        arguments["after"] = np.zeros_like(x)
    agree(text, arguments)

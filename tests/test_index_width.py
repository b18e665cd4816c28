"""Values computed from coordinates are 64-bit integers, also where the lanes that hold the coordinates have 32 bits.

Every kernel computes numbers beyond 2**31 from coordinates below 2**9; each is held against NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import generated_modules
import numpy as np
import pytest
import sample_files

HEADER = """
import intent
import intent.language as I

@intent.fn
def larger(a, b):
    return I.maximum(a, b)

@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], o: I.Out[I.i64, ("M", "N")]):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        at = I.indices(n)
        v = x[m, n]
"""
HUGE = 10_000_000
COLUMNS = np.arange(300)
ROWS = np.arange(2)[:, None]
Expected = Callable[[np.ndarray], np.ndarray]

PROGRAMS: dict[str, tuple[str, Expected]] = {
    "position of a maximum": (
        "_, p = I.arg_reduce.max(v, axis=0)\n        o[m, n] = I.cast(p * 10000000 + 0 * at, I.i64)",
        lambda x: np.argmax(x, axis=1)[:, None] * HUGE,
    ),
    "choice of coordinates": (
        "o[m, n] = I.cast(I.select(v > 0.0, at, m + 7) * 10000000, I.i64)",
        lambda x: np.where(x > 0, COLUMNS, ROWS + 7) * HUGE,
    ),
    "shifted position": (
        "_, p = I.arg_reduce.max(v, axis=0)\n        o[m, n] = I.cast((p << 40) + at, I.i64)",
        lambda x: (np.argmax(x, axis=1)[:, None] << 40) + COLUMNS,
    ),
    "bits of a coordinate": (
        "o[m, n] = I.bitcast(I.bitcast(at, I.u64) << 40, I.i64)",
        lambda x: COLUMNS << 40,
    ),
    "largest coordinate": (
        "o[m, n] = I.cast(I.reduce.max(I.mask(at, v > 0.0, 0), axis=0) * 10000000 + 0 * at, I.i64)",
        lambda x: np.max(np.where(x > 0, COLUMNS, 0), axis=1)[:, None] * HUGE,
    ),
    "sum of coordinates": (
        "o[m, n] = I.cast(I.reduce.sum((at + 1000000) * 15, axis=0) + 0 * at, I.i64)",
        lambda x: np.full((2, 300), np.sum(COLUMNS + 1_000_000) * 15),
    ),
    "prefix sums of coordinates": (
        "o[m, n] = I.cast(I.cumsum((at + 1000000) * 15, axis=0), I.i64)",
        lambda x: np.cumsum((COLUMNS + 1_000_000) * 15),
    ),
    "reduction by the author's combine": (
        "p = I.reduce(I.mask(at, v > 0.0, 0), axis=0, identity=I.cast(-5, I.index), combine=larger)\n"
        "        o[m, n] = I.cast(p * 10000000 + 0 * at, I.i64)",
        lambda x: np.max(np.where(x > 0, COLUMNS, 0), axis=1)[:, None] * HUGE,
    ),
    "quotient": ("o[m, n] = I.cast(at * 10000000 // 7 + m, I.i64)", lambda x: COLUMNS * HUGE // 7 + ROWS),
    "remainder": ("o[m, n] = I.cast(at * 10000000 % 10000019, I.i64)", lambda x: COLUMNS * HUGE % 10_000_019),
    "address that is a remainder": (
        "o[m, n] = I.cast(x[m, (at * 10000000) % N] * 1024.0, I.i64)",
        lambda x: (x[:, COLUMNS * HUGE % 300] * 1024).astype(np.int64),
    ),
    "larger of two": (
        "o[m, n] = I.cast(I.maximum(at * 10000000, m), I.i64)",
        lambda x: np.maximum(COLUMNS * HUGE, ROWS),
    ),
    "carry": (
        "c = at\n        for j in range(3):\n            c = c * 100003 + j\n        o[m, n] = I.cast(c, I.i64)",
        lambda x: ((COLUMNS * 100003) * 100003 + 1) * 100003 + 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", PROGRAMS)
def test_large_numbers_of_small_coordinates(title: str, tmp_path: Path) -> None:
    body, expected = PROGRAMS[title]
    path = tmp_path / f"{'_'.join(title.replace(chr(39), '').split())}.py"
    path.write_text(f"{HEADER}        {body}\n", encoding="utf-8")
    (kernel,) = sample_files.kernels_of(path)
    case = {"M": 2, "N": 300}
    values = sample_files.arguments(kernel, case)
    wanted = {"o": np.broadcast_to(expected(values["x"]), (2, 300))}
    assert not sample_files.differences(kernel, generated_modules.by_reference(kernel, case, values), wanted)
    for small in (False, True):
        actual = generated_modules.by_module(kernel, case, values, small=small)
        assert not sample_files.differences(kernel, actual, wanted), f"small tiles: {small}"


def test_product_of_sizes(tmp_path: Path) -> None:
    path = tmp_path / "product_of_sizes.py"
    text = """
import intent
import intent.language as I

@intent.kernel
def k(x: I.In[I.f32, ("M", "N", 0)], o: I.Out[I.i64, (1,)]):
    o[0] = I.cast(x.shape[0] * x.shape[1], I.i64)
"""
    path.write_text(text, encoding="utf-8")
    (kernel,) = sample_files.kernels_of(path)
    case = {"M": 100_000, "N": 70_000}
    actual = generated_modules.by_module(kernel, case, {"x": np.zeros((100_000, 70_000, 0), np.float32)})
    assert actual["o"] == 7_000_000_000
    assert "tl.cast(tl.cast(M, tl.int64) * N" in generated_modules.compilation(path).source

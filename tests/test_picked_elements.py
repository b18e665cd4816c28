"""An element of a tile at a place that is known at run time is that very element: -0.0, NaN and infinities, too."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from device_compilation import problems
from program_runs import agree, module

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")

KERNEL = """
@intent.kernel
def k(x: I.In[I.{dtype}, ("M", "N")], at: I.In[I.index, ("M",)], y: I.Out[I.{dtype}, ("M",)]):
    M, N = x.shape
    n = I.domain(0, N)
    for p in I.parallel(I.domain(0, M)):
        v = x[p, n]
{body}
"""
BODIES = {
    "of a carry after its loop": """
        for t in range(2):
            v = v[N - 1 - I.indices(n)]
        y[p] = v[at[p]]
    """,
    "of a carry in its loop": """
        w = v[0]
        for t in range(N):
            w = v[at[p]]
            v = v[(I.indices(n) + 1) % N]
        y[p] = w
    """,
    "of a scan": """
        y[p] = I.cummax(v, axis=0)[at[p]]
    """,
    "of an exclusive scan from the end": """
        y[p] = I.cummax(v, axis=0, inclusive=False, reverse=True)[at[p]]
    """,
}
DTYPES = {
    "f16": np.float16, "f32": np.float32, "bf16": ml_dtypes.bfloat16,
    "f8e5m2": ml_dtypes.float8_e5m2, "f8e4m3fn": ml_dtypes.float8_e4m3fn, "i8": np.int8,
}  # fmt: skip


def _text(name: str, dtype: str) -> str:
    return KERNEL.format(dtype=dtype, body=BODIES[name])


def _values(rows: int, columns: int, dtype: str) -> np.ndarray:
    values = np.random.default_rng(rows).standard_normal((rows, columns)).astype(np.float32) - 2
    if dtype[0] in "iu":
        return (values * 16).astype(np.int64).astype(DTYPES[dtype])
    values.flat[::2], values.flat[3::5], values.flat[1::7] = -0.0, np.nan, -np.inf
    values[-1:] = -0.0
    return values.astype(DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BODIES)
def test_it_is_that_element(name: str, dtype: str) -> None:
    if "scan" in name and dtype.startswith("f8"):
        pytest.skip("there is no maximum of these numbers")
    text = _text(name, dtype)
    for rows, columns in ((5, 4), (2, 21), (1, 1), (0, 3)):
        places = (np.arange(rows) * 3 % columns).astype(np.int64)
        given = {"x": _values(rows, columns, dtype), "at": places, "y": np.zeros(rows, DTYPES[dtype])}
        wanted = agree(text, given)["y"].astype(np.float32)
        module(text, small=True).k_out(*given.values())
        found = given["y"].astype(np.float32)
        signs = np.signbit(found) == np.signbit(wanted)
        assert np.all(signs | np.isnan(wanted))


def test_they_compile(tmp_path: Path) -> None:
    texts = [_text(name, dtype) for name in ("of a carry after its loop", "of a scan") for dtype in ("bf16",)]
    texts += [_text("of a carry in its loop", dtype) for dtype in ("f8e5m2",)]
    assert problems(texts, tmp_path) == []

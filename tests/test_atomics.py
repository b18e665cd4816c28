"""Atomic updates and combining scatters of every dtype: by tl.atomic_* or by compare and swap, masked or not."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np
import pytest
from program_runs import agree, device_text

NUMPY = {
    "bool": np.dtype(np.bool_), "i8": np.dtype(np.int8), "u8": np.dtype(np.uint8), "i16": np.dtype(np.int16),
    "u16": np.dtype(np.uint16), "i32": np.dtype(np.int32), "u32": np.dtype(np.uint32), "i64": np.dtype(np.int64),
    "u64": np.dtype(np.uint64), "index": np.dtype(np.int64), "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn), "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
}  # fmt: skip
FLOATS = ("f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2")
NUMBERS = tuple(name for name in NUMPY if name != "bool")
BITS = tuple(name for name in NUMPY if name not in FLOATS)
COMBINES = {"add": "I.add", "max": "I.maximum", "min": "I.minimum", "and": "both", "or": "either", "xor": "other"}

SCATTER = """
@intent.fn
def both(a, b):
    return a & b

@intent.fn
def either(a, b):
    return a | b

@intent.fn
def other(a, b):
    return a ^ b

@intent.kernel
def k(v: I.In[I.{dtype}, ("N",)], at: I.In[I.i32, ("N",)], o: I.InOut[I.{dtype}, ("M",)]):
    I.scatter_reduce(o, index=(at[:],), value=v[:], combine={combine})
"""
UPDATE = """
@intent.kernel
def k(v: I.In[I.{dtype}, ("N",)], o: I.InOut[I.{dtype}, ("N",)], old: I.InOut[I.{dtype}, ("N",)]):
    for i in I.parallel(I.domain(0, v.shape[0])):
        if i % 3 != 1:
            old[i] = I.atomic.{action}(o, (v.shape[0] - 1 - i,), v[i], order="{order}")
"""
EXCHANGED = """
@intent.kernel
def k(e: I.In[I.{dtype}, ("N",)], v: I.In[I.{dtype}, ("N",)], o: I.InOut[I.{dtype}, ("N",)],
      old: I.InOut[I.{dtype}, ("N",)], done: I.InOut[I.bool, ("N",)]):
    for i in I.parallel(I.domain(0, v.shape[0])):
        if i % 3 != 1:
            r = I.atomic.compare_exchange(o, (i,), e[i], v[i], order="{order}")
            old[i] = r.old_value
            done[i] = r.success
"""
LOADED = """
@intent.kernel
def k(o: I.InOut[I.{dtype}, ("N",)], r: I.Out[I.{dtype}, ("N",)]):
    for i in I.parallel(I.domain(0, o.shape[0])):
        r[i] = I.atomic.load(o, (i,), order="{order}")
"""
STORED = """
@intent.kernel
def k(v: I.In[I.{dtype}, ("N",)], o: I.InOut[I.{dtype}, ("N",)]):
    for i in I.parallel(I.domain(0, o.shape[0])):
        if i > 1:
            I.atomic.store(o, (i,), v[i], order="{order}")
"""
SINGLE = """
@intent.kernel
def k(v: I.{dtype}, o: I.InOut[I.{dtype}, ("N",)], old: I.Out[I.{dtype}, ()]):
    old[()] = I.atomic.{action}(o, (1,), v, order="relaxed")
"""
TILE = """
@intent.kernel
def k(v: I.In[I.{dtype}, ("M",)], o: I.InOut[I.{dtype}, ("M", "N")], old: I.Out[I.{dtype}, ("M", "N")]):
    old[:, :] = I.atomic.{action}(o, (I.domain(0, o.shape[0]), I.domain(0, o.shape[1])), v[:, None], order="relaxed")
"""
UNUSED = """
@intent.kernel
def k(o: I.InOut[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, o.shape[0])):
        I.atomic.compare_exchange(o, (i,), 3, 7, order="acq_rel")
        I.atomic.load(o, (i,), order="acquire")
"""


def _values(dtype: str, size: int, seed: int = 0) -> np.ndarray:
    """Few different values, so that sums of them are exact and comparisons often hold."""
    random = np.random.default_rng(seed + size)
    if dtype == "bool":
        return random.integers(0, 2, size).astype(np.bool_)
    low = -3 if dtype in FLOATS or dtype[0] == "i" else 0
    return random.integers(low, 4, size).astype(np.float32 if dtype in FLOATS else NUMPY[dtype]).astype(NUMPY[dtype])


def _kinds() -> list[tuple[str, str]]:
    arithmetic = product(("add", "max", "min"), NUMBERS)
    return [*arithmetic, *product(("and", "or", "xor"), BITS)]


@pytest.mark.parametrize(("action", "dtype"), _kinds())
def test_scatters_combine(action: str, dtype: str) -> None:
    """Neighbours share words; destinations repeat; one size is the tail of a block."""
    text = SCATTER.format(dtype=dtype, combine=COMBINES[action])
    for size, places in ((37, 5), (1, 1), (0, 3)):
        at = np.random.default_rng(size).integers(0, places, size).astype(np.int32)
        v, o = _values(dtype, size), _values(dtype, places, 5)
        if dtype in ("f8e4m3fn", "f8e5m2") and action == "add":
            v = (np.abs(v.astype(np.float32)) > 2).astype(v.dtype)  # these have no room for larger sums
        agree(text, {"v": v, "at": at, "o": o})


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("action", ["max", "min"])
def test_extremes_keep_nan_and_infinities(action: str, dtype: str) -> None:
    infinity = np.float32(np.inf) if dtype != "f8e4m3fn" else np.float32(448)
    v = np.array([1, np.nan, infinity, -infinity, -0.0, 2, -np.nan, 3], np.float32).astype(NUMPY[dtype])
    at = np.array([0, 1, 2, 3, 4, 5, 6, 0], np.int32)
    o = np.array([5, 1, 0, 0, 1, -np.nan, 2, np.nan], np.float32).astype(NUMPY[dtype])
    text = SCATTER.format(dtype=dtype, combine=COMBINES[action])
    result = agree(text, {"v": v, "at": at, "o": o})["o"].astype(np.float32)
    assert np.isnan(result[[1, 5, 6, 7]]).all()


UPDATES = [
    *((action, dtype) for action, dtype in _kinds() if not (action == "add" and dtype in ("f16", "bf16"))),
    *(("exchange", dtype) for dtype in NUMPY), ("add", "f16"), ("add", "bf16"),
]  # fmt: skip


@pytest.mark.parametrize("order", ["relaxed", "acq_rel"])
@pytest.mark.parametrize(("action", "dtype"), UPDATES)
def test_old_values_under_a_condition(action: str, dtype: str, order: str) -> None:
    text = UPDATE.format(dtype=dtype, action=action if action not in ("and", "or") else f"{action}_", order=order)
    for size in (19, 1, 0):
        values = {name: _values(dtype, size, seed) for seed, name in enumerate(("v", "o", "old"))}
        agree(text, values)


@pytest.mark.parametrize("order", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("dtype", NUMPY)
def test_compare_exchange_under_a_condition(dtype: str, order: str) -> None:
    text = EXCHANGED.format(dtype=dtype, order=order)
    for size in (19, 1, 0):
        values: dict[str, object] = {
            name: _values(dtype, size, seed) for seed, name in enumerate(("e", "v", "o", "old"))
        }
        agree(text, {**values, "done": np.zeros(size, np.bool_)})


@pytest.mark.parametrize("dtype", FLOATS)
def test_compare_exchange_compares_bits(dtype: str) -> None:
    e, o = (np.array(values, np.float32).astype(NUMPY[dtype]) for values in ([0.0, 5, np.nan, 1], [-0.0, 6, np.nan, 1]))
    v = np.array([2, 2, 2, 2], np.float32).astype(NUMPY[dtype])
    done = agree(
        EXCHANGED.format(dtype=dtype, order="relaxed"),
        {"e": e, "v": v, "o": o, "old": v.copy(), "done": np.zeros(4, np.bool_)},
    )["done"]
    assert done.tolist() == [False, False, True, True]


@pytest.mark.parametrize("order", ["relaxed", "acquire"])
@pytest.mark.parametrize("dtype", NUMPY)
def test_loads(dtype: str, order: str) -> None:
    agree(LOADED.format(dtype=dtype, order=order), {"o": _values(dtype, 21), "r": np.empty(21, NUMPY[dtype])})


@pytest.mark.parametrize("order", ["relaxed", "release"])
@pytest.mark.parametrize("dtype", NUMPY)
def test_stores(dtype: str, order: str) -> None:
    agree(STORED.format(dtype=dtype, order=order), {"v": _values(dtype, 21), "o": _values(dtype, 21, 1)})


@pytest.mark.parametrize("action", ["max", "exchange", "add"])
@pytest.mark.parametrize("dtype", ["i8", "f32", "bf16", "i64"])
def test_single_elements(dtype: str, action: str) -> None:
    value = _values(dtype, 1)[0] if dtype != "bf16" else 2.0
    agree(
        SINGLE.format(dtype=dtype, action=action),
        {"v": value, "o": _values(dtype, 3), "old": np.empty((), NUMPY[dtype])},
    )


@pytest.mark.parametrize("action", ["min", "xor"])
@pytest.mark.parametrize("dtype", ["u8", "i32", "i16"])
def test_tiles(dtype: str, action: str) -> None:
    text = TILE.format(dtype=dtype, action=action)
    for rows, columns in ((5, 19), (1, 1), (3, 0)):
        o = _values(dtype, rows * columns).reshape(columns, rows).T
        agree(text, {"v": _values(dtype, rows), "o": o, "old": np.empty((rows, columns), NUMPY[dtype])})


def test_results_that_nobody_uses() -> None:
    agree(UNUSED, {"o": np.array([3, 1, 3, 4, 3], np.int32)})


def test_plain_updates_are_tritons_own() -> None:
    for action, dtype in (("max", "i32"), ("add", "f32"), ("add", "f16"), ("exchange", "f64"), ("min", "u64")):
        text = device_text(UPDATE.format(dtype=dtype, action=action, order="relaxed"))
        assert "tl.atomic_" in text and "_atomic_" not in text.replace("tl.atomic_", "")

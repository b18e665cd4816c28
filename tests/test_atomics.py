"""Atomic updates and combining scatters of every dtype: by tl.atomic_* or by compare and swap, masked or not."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np
import pytest
from program_runs import agree, compiled, device_text

pytestmark = pytest.mark.gpu

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


# Old values at other positions than their own, along axes that one program runs along, and of tiles that could not stay
# on chip.
KEPT = {
    "sum": """
@intent.kernel
def k(v: I.In[I.i32, ("N",)], o: I.InOut[I.i32, ("N",)], s: I.Out[I.i32, ()]):
    n = I.domain(0, v.shape[0])
    s[()] = I.reduce.sum(I.atomic.add(o, (n,), v[n], order="relaxed"), axis=0)
""",
    "scan": """
@intent.kernel
def k(v: I.In[I.i32, ("M", "N")], o: I.InOut[I.i32, ("M", "N")], s: I.Out[I.i32, ("M", "N")]):
    m, n = I.domain(0, v.shape[0]), I.domain(0, v.shape[1])
    s[m, n] = I.cumsum(I.atomic.max(o, (m, n), v[m, n], order="relaxed"), axis=1)
""",
    "reversed, twice": """
@intent.kernel
def k(v: I.In[I.i32, ("N",)], o: I.InOut[I.i32, ("N",)], s: I.Out[I.i32, ("N",)], t: I.Out[I.i32, ("N",)]):
    n = I.domain(0, v.shape[0])
    old = I.atomic.exchange(o, (n,), v[n], order="relaxed")
    s[n] = old[v.shape[0] - 1 - I.indices(n)]
    later = I.atomic.add(o, (n,), 5, order="acq_rel")
    t[n] = later + old
""",
    "row": """
@intent.kernel
def k(v: I.In[I.i32, ("M", "N")], o: I.InOut[I.i32, ("M", "N")], s: I.Out[I.i32, ("M", "N")]):
    n = I.domain(0, v.shape[1])
    for t in I.parallel(I.domain(0, v.shape[0])):
        old = I.atomic.exchange(o, (t, n), v[t, n], order="relaxed")
        for j in I.parallel(n):
            s[t, j] = old[v.shape[1] - 1 - j] + I.reduce.sum(old, axis=0)
""",
    "ordered loops": """
@intent.kernel
def k(v: I.In[I.i32, ("M", "N")], o: I.InOut[I.i32, ("N",)], s: I.Out[I.i32, ("M",)]):
    n = I.domain(0, v.shape[1])
    for t in range(v.shape[0]):
        if t % 2 == 0:
            old = I.atomic.add(o, (n,), v[t, n], order="relaxed")
            most = I.reduce.max(old, axis=0)
            for q in range(2):
                most = most + I.reduce.sum(old * (I.cast(q, I.i32) + 1), axis=0)
            s[t] = most
        else:
            s[t] = 1
""",
    "compare and swap": """
@intent.kernel
def k(
    v: I.In[I.i32, ("M", "N")], o: I.InOut[I.i32, ("M", "N")], s: I.Out[I.i32, ("M", "N")], d: I.Out[I.bool, ("M", "N")]
):
    m, n = I.domain(0, v.shape[0]), I.domain(0, v.shape[1])
    r = I.atomic.compare_exchange(o, (m, n), v[m, n], 77, order="relaxed")
    s[m, n] = r.old_value - I.reduce.max(r.old_value, axis=1)[:, None]
    d[m, n] = r.success
""",
    "compare and swap of odd tiles": """
@intent.kernel
def k(v: I.In[I.i32, (7, 5)], o: I.InOut[I.i32, (7, 5)], s: I.Out[I.i32, (7, 5)], d: I.Out[I.bool, (7, 5)]):
    m, n = I.domain(0, 7), I.domain(0, 5)
    r = I.atomic.compare_exchange(o, (m, n), v[m, n], 77, order="acq_rel")
    s[m, n] = r.old_value - I.reduce.max(r.old_value, axis=1)[:, None]
    d[m, n] = r.success
""",
    "compare and swap of a state": """
@intent.kernel
def k(v: I.In[I.i32, (4, 5)], o: I.InOut[I.i32, (5,)], s: I.Out[I.i32, (5,)]):
    n = I.domain(0, 5)
    total = I.zeros((5,), I.i32)
    for t in range(4):
        r = I.atomic.compare_exchange(o, (n,), v[t, n], 3, order="relaxed")
        total = total + r.old_value + I.cast(r.success, I.i32) * 100 + total[4 - I.indices(n)]
    s[n] = total
""",
    "compare and swap of several sizes": """
@intent.kernel
def k(
    o: I.InOut[I.i32, (128,)], q: I.InOut[I.i32, ("N",)], w: I.InOut[I.i32, (300,)],
    s: I.Out[I.i32, (128,)], t: I.Out[I.i32, ("N",)], u: I.Out[I.i32, (300,)],
):
    n, m, p = I.domain(0, 128), I.domain(0, q.shape[0]), I.domain(0, 300)
    a = I.atomic.compare_exchange(o, (n,), 1, 5, order="relaxed").old_value
    b = I.atomic.compare_exchange(q, (m,), 2, 6, order="relaxed").old_value
    c = I.atomic.compare_exchange(w, (p,), 2, 6, order="relaxed").old_value
    s[n] = a + I.reduce.sum(a, axis=0)
    t[m] = b
    u[p] = c + I.reduce.sum(c, axis=0)
""",
    "a narrow maximum beside a row": """
@intent.kernel
def k(v: I.In[I.i8, (5, 7)], o: I.InOut[I.i8, (5, 7)], s: I.Out[I.i32, (5,)]):
    m, n = I.domain(0, 5), I.domain(0, 7)
    x = v[m, n]
    I.scatter_reduce(o, (m, n), x, combine=I.maximum)
    s[m] = I.reduce.max(I.cast(x, I.i32) - I.reduce.sum(x, axis=1)[:, None], axis=1)
""",
    "an ordered load": """
@intent.kernel
def k(o: I.InOut[I.i32, ("M", "N")], s: I.Out[I.i32, ("M", "N")]):
    m, n = I.domain(0, o.shape[0]), I.domain(0, o.shape[1])
    v = I.atomic.load(o, (m, n), order="acquire")
    s[m, n] = v - I.reduce.max(v, axis=1)[:, None]
""",
}


@pytest.mark.parametrize("size", [19, 1, 0, 70])
@pytest.mark.parametrize("name", KEPT)
def test_old_values_are_kept(name: str, size: int) -> None:
    found = compiled(KEPT[name])
    assert found.program is not None
    random = np.random.default_rng(size)
    sizes = {"M": 3, "N": size}
    values: dict[str, object] = {}
    for view in found.program.kernels[-1].views:
        shape = tuple(sizes.get(repr(extent)) or extent.constant or 0 for extent in view.shape)
        values[view.name] = random.integers(0, 4, shape).astype(NUMPY[view.dtype.name])
    agree(KEPT[name], values, small=size != 70)


TIMED = """
@intent.kernel
def k(at: I.In[I.i32, ("N",)], count: I.InOut[I.i32, ("N",)], out: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, at.shape[0])):
        {}
"""


@pytest.mark.parametrize(
    ("statement", "depends"),
    [
        ('out[i] = I.atomic.add(count, (0,), 1, order="relaxed")', True),
        ('out[i] = I.atomic.max(count, (at[i],), 1, order="relaxed")', True),
        ('out[i] = I.atomic.add(count, (i,), 1, order="relaxed")', False),
        ('out[i] = I.atomic.exchange(count, (at.shape[0] - 1 - i,), 1, order="relaxed")', False),
        ('out[i] = I.atomic.load(count, (0,), order="relaxed")', False),
        ('I.atomic.add(count, (at[i],), 1, order="relaxed")\n        out[i] = 0', False),
    ],
)
def test_a_note_names_what_depends_on_the_order_of_programs(statement: str, depends: bool) -> None:
    (code,) = compiled(TIMED.format(statement)).codes
    found = [note.message for note in code.notes if note.code == "INT957"]
    message = "a value of count is used that depends on the order of programs: two runs may differ"
    assert found == [message] * depends

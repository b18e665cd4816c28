"""Reductions, scans and random bits of tiles, run in the CPU interpreter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from device_kernels import TORCH, array, load_text, tensor, with_prelude
from test_arithmetic import assert_same, values

from intent.dtypes import (
    ALL,
    DType,
    bf16,
    boolean,
    f8e4m3fn,
    f8e5m2,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    index,
    u8,
    u16,
    u32,
    u64,
)  # fmt: skip
from translators.logical import reference_numerics
from translators.logical.reference_numerics import carrier
from translators.triton_source.conversions import TRITON_NAME, cast
from translators.triton_source.expressions import Code, Emitted
from translators.triton_source.reductions import (
    accumulate,
    accumulate_arg_max,
    arg_max_tile,
    computed_in,
    identity,
    random_bits,
    reduce_tile,
    scan_tile,
)  # fmt: skip

X = Code("x")
ROWS, COLUMNS = 4, 8
QUARTERS = (f8e4m3fn, f8e5m2)
REDUCTIONS = [
    *(("sum", dtype) for dtype in ALL if dtype.kind != "bool" and dtype not in QUARTERS),
    *(("max", dtype) for dtype in ALL),
    *(("min", dtype) for dtype in (f32, i8, u64)),
    ("any", boolean), ("all", boolean),
]  # fmt: skip
SCANS = [
    *(("sum", dtype) for dtype in (i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64)),
    *(("max", dtype) for dtype in (f32, f64, f16, bf16, i32, i64, u8)),
]
NUMPY = {"sum": np.add, "max": np.maximum, "min": np.minimum, "any": np.logical_or, "all": np.logical_and}


def kernel(body: str, helpers: frozenset[str], folder: Path, *arrays: torch.Tensor) -> None:
    """Runs `body`, which has the tile x, the positions `tile` of its elements, and pointers to the other arrays."""
    parameters = ", ".join(["x_ptr", *(f"out{number}_ptr" for number in range(len(arrays) - 1))])
    text = (
        f"@triton.jit\ndef kernel({parameters}):\n"
        f"    rows = tl.arange(0, {ROWS})\n    columns = tl.arange(0, {COLUMNS})\n"
        f"    tile = rows[:, None] * {COLUMNS} + columns[None, :]\n    x = tl.load(x_ptr + tile)\n{body}"
    )
    load_text(with_prelude(helpers, [text]), folder).kernel[(1,)](*arrays)


def tile_of(dtype: DType) -> np.ndarray:
    """Values whose sums are exact, a row with a NaN where the type has one, and one with the least value only."""
    random = np.random.default_rng(3)
    if dtype.kind == "bool":
        return np.array([[0] * 8, [1] * 8, [0, 1] * 4, [0] * 7 + [1]], bool)
    low = 0 if dtype.kind == "unsigned" else -12
    tile = random.integers(low, 13, (ROWS, COLUMNS)).astype(carrier(dtype))
    if dtype.is_float:
        tile[1, 3] = np.nan
        tile[2] = reference_numerics.lowest(dtype)
    return tile


@pytest.mark.parametrize(("kind", "dtype"), REDUCTIONS, ids=lambda value: getattr(value, "name", value))
def test_reduction(kind: str, dtype: DType, tmp_path: Path) -> None:
    tile = tile_of(dtype)
    emitted = reduce_tile(kind, dtype, X, 1)
    out = torch.zeros(ROWS, dtype=TORCH[dtype.name])
    body = (
        f"    result = {emitted.code.text}\n    tl.static_assert(result.dtype == {TRITON_NAME[dtype.name]})\n"
        f"    tl.store(out0_ptr + rows, result)\n"
    )
    kernel(body, emitted.helpers, tmp_path, tensor(tile, dtype), out)
    expected = NUMPY[kind].reduce(tile.astype(np.float64) if dtype.is_float else tile, axis=1, dtype=None)
    assert_same(array(out, dtype), expected.astype(carrier(dtype)))


@pytest.mark.parametrize(("kind", "dtype"), REDUCTIONS, ids=lambda value: getattr(value, "name", value))
def test_identity_changes_nothing(kind: str, dtype: DType) -> None:
    everything = values(dtype)
    if dtype == f8e4m3fn:
        everything = everything[~np.isnan(everything)]
    neutral = np.full(everything.shape, identity(kind, dtype)).astype(carrier(dtype))
    with np.errstate(all="ignore"):
        found = NUMPY[kind](everything, neutral).astype(carrier(dtype))
    assert np.array_equal(found, everything, equal_nan=dtype.is_float)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("kind", "dtype"), SCANS, ids=lambda value: getattr(value, "name", value))
def test_scan(kind: str, dtype: DType, reverse: bool, tmp_path: Path) -> None:
    tile = tile_of(dtype)
    emitted = scan_tile(kind, dtype, X, 1, reverse)
    out = torch.zeros((ROWS, COLUMNS), dtype=TORCH[dtype.name])
    body = (
        f"    result = {emitted.code.text}\n    tl.static_assert(result.dtype == {TRITON_NAME[dtype.name]})\n"
        f"    tl.store(out0_ptr + tile, result)\n"
    )
    kernel(body, emitted.helpers, tmp_path, tensor(tile, dtype), out)
    ordered = tile[:, ::-1] if reverse else tile
    wide = ordered.astype(np.float64) if dtype.is_float else ordered
    expected = NUMPY[kind].accumulate(wide, axis=1, dtype=wide.dtype).astype(carrier(dtype))
    assert_same(array(out.view(-1), dtype).reshape(ROWS, COLUMNS), expected[:, ::-1] if reverse else expected)


@pytest.mark.parametrize("dtype", [f32, f64, f16, bf16, f8e5m2, i8, i32, i64, u64, index], ids=lambda dtype: dtype.name)
def test_arg_max(dtype: DType, tmp_path: Path) -> None:
    tile = tile_of(dtype)
    if dtype.is_float:
        tile[1, 5] = np.nan  # the first one counts
    emitted = arg_max_tile(dtype, X, Code("tl.broadcast_to(columns[None, :], x.shape)"), 1)
    narrowed = cast(Code("value"), computed_in(dtype), dtype)
    value, place = torch.zeros(ROWS, dtype=TORCH[dtype.name]), torch.zeros(ROWS, dtype=torch.int32)
    body = (
        f"    value, place = {emitted.code.text}\n    tl.store(out0_ptr + rows, {narrowed.code.text})\n"
        f"    tl.store(out1_ptr + rows, place)\n"
    )
    kernel(body, emitted.helpers | narrowed.helpers, tmp_path, tensor(tile, dtype), value, place)
    expected = np.argmax(tile.astype(np.float64) if dtype.is_float else tile, axis=1)
    assert place.tolist() == expected.tolist()
    assert_same(array(value, dtype), tile[np.arange(ROWS), expected])


def test_arg_max_accumulates_like_the_tile(tmp_path: Path) -> None:
    tile = tile_of(f32)
    step = accumulate_arg_max(Code("best"), Code("place"), Code("x"), Code("tile + 1"), backwards=False)
    best, place = torch.zeros(ROWS * COLUMNS), torch.zeros(ROWS * COLUMNS, dtype=torch.int32)
    body = (
        f'    best = tl.where(x > 3.0, x, float("nan"))\n    place = tile\n    best, place = {step.code.text}\n'
        f"    tl.store(out0_ptr + tile, best)\n    tl.store(out1_ptr + tile, place)\n"
    )
    kernel(body, step.helpers, tmp_path, tensor(tile, f32), best, place)
    kept = (tile > 3) | ~np.isnan(tile) | np.isnan(tile)
    assert np.array_equal(place.numpy().reshape(tile.shape), np.arange(ROWS * COLUMNS).reshape(tile.shape) + ~kept)


def test_accumulation_is_elementwise() -> None:
    assert accumulate("sum", f32, Code("total"), X).code.text == "total + x"
    assert accumulate("any", boolean, Code("found"), X).code.text == "found | x"
    assert accumulate("max", f32, Code("top"), X).code.text == "_maximum(top, x)"


def philox(seed: int, counter: int) -> int:
    """Philox4x32-10 in Python integers (language.md section 10)."""
    mask = 0xFFFFFFFF
    block, word = divmod(counter, 4)
    c0, c1, c2, c3 = block & mask, block >> 32, 0, 0
    k0, k1 = seed & mask, seed >> 32
    for _ in range(10):
        first, second = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (second >> 32) ^ c1 ^ k0, second & mask, (first >> 32) ^ c3 ^ k1, first & mask
        k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
    return (c0, c1, c2, c3)[word]


def test_philox_vectors() -> None:
    """The published vectors of Philox4x32-10 for a zero key and counter."""
    assert [philox(0, word) for word in range(4)] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("seed", [0, 1, 0x123456789ABCDEF0, 2**64 - 1])
def test_random_bits(seed: int, tmp_path: Path) -> None:
    counters = np.array([*range(16), 2**32 - 1, 2**34, 2**34 + 5, 2**62 + 3, *range(1000, 1012)], np.uint64)
    emitted: Emitted = random_bits(Code(str(seed), value=seed), X)
    out = torch.zeros(ROWS * COLUMNS, dtype=torch.uint32)
    body = f"    tl.store(out0_ptr + tile, {emitted.code.text})\n"
    kernel(body, emitted.helpers, tmp_path, tensor(counters, u64), out)
    assert array(out, u32).tolist() == [philox(seed, int(counter)) for counter in counters]

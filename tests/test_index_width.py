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
import torch
from program_runs import agree, compiled, module

from intent.host.interpreter import interpreted

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


# title -> text; offsets beyond 2**31 of an array of 5 matrices of 2**30 bytes, of which each holds its number
OFFSETS = {
    "sizes and constants": """
@intent.kernel
def k(x: I.In[I.u8, ("T", "N", "M")], o: I.Out[I.u8, ("M",)]):
    T, N, M = x.shape
    o[:] = x[T - 1, N - 2, :] * 100 + x[3, 5, :] * 10 + x[(T + 1) // 2, 7, :]
""",
    "counters": """
@intent.kernel
def k(x: I.In[I.u8, ("T", "N", "M")], o: I.Out[I.u8, ("M",)]):
    T, N, M = x.shape
    total = I.zeros((M,), I.u8)
    for t in range(T):
        total = total * 3 + x[t, N - 1, :] + x[T - 1 - t, N - 1, :]
    o[:] = total
""",
    "counters of fixed loops": """
@intent.kernel
def k(x: I.In[I.u8, (5, "N", "M")], o: I.Out[I.u8, ("M",)]):
    _, N, M = x.shape
    total = I.zeros((M,), I.u8)
    for t in range(1, 5):
        total = total * 3 + x[t, N - 1, :]
    o[:] = total
""",
    "streamed axes": """
@intent.kernel
def k(x: I.In[I.u8, ("T", "N", "M")], o: I.Out[I.u8, ("M",)]):
    o[:] = I.cast(I.reduce.sum(I.cast(x[:, 4, :], I.i32), axis=0), I.u8)
""",
    "scratch": """
@intent.kernel
def k(x: I.In[I.u8, ("T", "N", "M")], o: I.Out[I.u8, ("M",)]):
    T, N, M = x.shape
    n = I.domain(0, N)
    held = I.buffer((T, N, M), I.u8)
    held[:, :, :] = x[:, :, :] + 1
    o[:] = held[T - 1, N - 1 - I.indices(n), :][0] * 20 + held[3, 0, :] * 5 + held[0, 0, :]
""",
}


def _expected(title: str) -> int:
    counted = (4 * 81 + 4 * 27 + 4 * 9 + 4 * 3 + 4) % 256
    return {
        "sizes and constants": 400 % 256 + 30 + 3, "counters": counted, "counters of fixed loops": 27 + 18 + 9 + 4,
        "streamed axes": 10, "scratch": 100 + 20 + 1,
    }[title] % 256  # fmt: skip


@pytest.mark.gpu
@pytest.mark.parametrize("title", OFFSETS)
def test_large_offsets(title: str) -> None:
    run = module(OFFSETS[title]).k_device
    side = 1 << 4 if interpreted() else 1 << 15
    device = "cpu" if interpreted() else "cuda"
    x = torch.arange(5, dtype=torch.uint8, device=device)[:, None, None].repeat(1, side, side)
    assert torch.equal(run(x), torch.full((side,), _expected(title), dtype=torch.uint8, device=device))


@pytest.mark.parametrize(
    ("title", "wide"),
    [
        ("sizes and constants", ["stride_x_t = tl.cast(stride_x_t, INDEX)", "stride_x_n = tl.cast(stride_x_n, INDEX)"]),
        ("counters", ["range(tl.cast(T, INDEX)"]),
        ("counters of fixed loops", ["in range(1, tl.cast(5, INDEX)):"]),
        ("scratch", ["tl.cast(N, INDEX) * M"]),
    ],
)
def test_factors_of_large_offsets(title: str, wide: list[str]) -> None:
    """One factor of each is as wide as INDEX: Triton passes sizes and strides below 2**31 in 32 bits."""
    source = compiled(OFFSETS[title]).source
    assert source is not None and all(text in source for text in wide)


def test_extents_that_are_products_of_sizes() -> None:
    """The launcher looks at the product, and the kernel computes it in the width that the launcher chooses."""
    text = """
@intent.kernel
def k(x: I.In[I.u8, ("M",)], y: I.In[I.u8, ("N",)], o: I.Out[I.i64, ()]):
    M, N = x.shape[0], y.shape[0]
    at = I.indices(I.domain(0, M * N))
    o[()] = I.reduce.sum(I.cast(x[at % M] ^ y[at // M], I.i64), axis=0)
"""
    source = compiled(text).source
    assert source is not None
    assert "index = tl.int64 if M * N >= 2**30 else _index_type(" in source and "tl.cast(M, INDEX) * N" in source
    agree(text, {"x": np.arange(9, dtype=np.uint8), "y": np.arange(7, dtype=np.uint8), "o": np.zeros((), np.int64)})


@pytest.mark.gpu
def test_products_of_sizes_beyond_32_bits() -> None:
    text = """
@intent.kernel
def k(x: I.In[I.u8, ("M",)], y: I.In[I.u8, ("N",)], o: I.Out[I.i64, ("M",)]):
    M, N = x.shape[0], y.shape[0]
    at = I.indices(I.domain(M * N - M, M * N))
    o[:] = I.cast(x[at % M], I.i64) + I.cast(y[at // M], I.i64)
"""
    device = "cpu" if interpreted() else "cuda"
    x, y = torch.zeros((2, 1 << 16), dtype=torch.uint8, device=device)
    x[-1], y[-1] = 3, 4
    wanted = torch.full((1 << 16,), 4, device=device)
    wanted[-1] = 7
    assert torch.equal(module(text).k_device(x, y), wanted)

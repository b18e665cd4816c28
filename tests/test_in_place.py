"""Kernels that read and write one memory: reads are snapshots, whichever lane, tile or program writes."""

from __future__ import annotations

import numpy as np
import pytest
from program_runs import agree, compiled, device_text, module

pytestmark = pytest.mark.gpu

VECTOR = """
@intent.kernel
def k(x: I.InOut[I.f32, ("N",)]):
    n = I.domain({begin}, x.shape[0]{end})
    i = I.indices(n)
    {body}
"""
LAST = "x.shape[0] - 1 - i"
BODIES = {
    "reversed": (0, "", f"x[n] = x[{LAST}] + 1.0"),
    "shifted up": (0, " - 1", "x[i + 1] = x[n]"),
    "shifted down": (0, " - 1", "x[n] = x[i + 1]"),
    "stencil": (1, " - 1", "x[n] = x[i - 1] + x[i + 1] * 0.5"),
    "added to the reversed": (0, "", f"x[n] = x[n] + x[{LAST}]"),
    "two stores": (0, "", f"v = x[n]\n    w = x[{LAST}]\n    x[n] = v + w\n    x[{LAST}] = v - w"),
    "stores that meet": (0, " - 1", "v = x[n]\n    x[n] = v * 2.0\n    x[i + 1] = v + 1.0"),
    "read back": (0, " - 1", "x[n] = x[n] * 2.0\n    x[i + 1] = x[n] + 1.0"),
    "overwritten and forwarded": (0, " - 1", "x[n] = 1.0\n    x[i + 1] = 2.0\n    x[n] = x[n] + 1.0"),
    "prefix of the reversed": (0, "", f"x[n] = I.cumsum(x[{LAST}], axis=0)"),
    "less its largest": (0, "", "x[n] = x[n] - I.reduce.max(x[n], axis=0)"),
    "steps of a stencil": (1, " - 1", "for s in range(0, 3):\n        x[n] = x[n] + x[i - 1] * 0.5 + x[i + 1]"),
    "steps reversed": (0, "", f"for s in range(0, 3):\n        x[n] = x[{LAST}] + 1.0"),
    "a later use": (0, "", f"v = x[n]\n    x[{LAST}] = 0.0\n    x[n] = v + 1.0"),
    "points": (0, " - 1", "for p in I.parallel(n):\n        x[p] = x[p + 1] * 2.0"),
}  # fmt: skip
MATRIX = """
@intent.kernel
def k(x: I.InOut[I.f32, ("M", "N")], at: I.In[I.i32, ("M",)]):
    m = I.domain({margin}, x.shape[0] - {margin})
    n = I.domain({margin}, x.shape[1] - {margin})
    i, j = I.indices(m), I.indices(n)
    {body}
"""
MATRICES = {
    "rows reversed": (0, "for r in I.parallel(m):\n        x[r, n] = x[r, x.shape[1] - 1 - j] * 2.0"),
    "columns shifted": (0, "x[m, n] = x[x.shape[0] - 1 - i, n]"),
    "jacobi": (1, "x[m, n] = x[i - 1, n] + x[i + 1, n] + x[m, j - 1] + x[m, j + 1]"),
    "rows permuted": (0, "x[m, n] = x[I.cast(at[m], I.index), n]"),
    "pairs": (0, "p = I.domain(0, x.shape[1] // 2)\n    q = I.indices(p)\n    a = x[m, 2 * q]\n"
              "    b = x[m, 2 * q + 1]\n    x[m, 2 * q] = a - b\n    x[m, 2 * q + 1] = a + b"),
    "halves": (0, "h = I.domain(0, x.shape[1] // 2)\n    o = I.indices(h) + x.shape[1] // 2\n    a = x[m, h]\n"
               "    b = x[m, o]\n    x[m, h] = b\n    x[m, o] = a"),
}  # fmt: skip
SQUARE = """
@intent.kernel
def k(x: I.InOut[I.f32, ("N", "N")]):
    x[:, :] = {value}
"""
GATHER = """
@intent.kernel
def k(x: I.InOut[I.f32, ("N",)], at: I.In[I.i32, ("N",)], t: I.Out[I.f32, ("N",)], o: I.Out[I.f32, ("N",)]):
    t[:] = x[:] * 2.0
    o[:] = t[I.cast(at[:], I.index)]
    t[:] = o[:] + t[:]
    x[:] = x[I.cast(at[:], I.index)] + t[:]
"""
POINTS = """
@intent.kernel
def k(x: I.InOut[I.f32, ("M", "N")], at: I.In[I.i32, ("M",)]):
    for m in I.parallel(I.domain(0, x.shape[0])):
        x[m, :] = x[I.cast(at[m], I.index), :]
"""


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("size", [37, 2, 16])
@pytest.mark.parametrize("name", BODIES)
def test_vectors(name: str, size: int) -> None:
    begin, end, body = BODIES[name]
    agree(VECTOR.format(begin=begin, end=end, body=body), {"x": _random(size)}, tolerance=1e-5)


@pytest.mark.parametrize("name", ["reversed", "stencil", "stores that meet", "steps of a stencil", "read back"])
def test_vectors_of_several_usual_tiles(name: str) -> None:
    begin, end, body = BODIES[name]
    agree(VECTOR.format(begin=begin, end=end, body=body), {"x": _random(9001)}, small=False, tolerance=1e-5)


@pytest.mark.parametrize("sizes", [(5, 36), (20, 22), (3, 4)])
@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name: str, sizes: tuple[int, int]) -> None:
    margin, body = MATRICES[name]
    at = np.random.default_rng(4).permutation(sizes[0]).astype(np.int32)
    agree(MATRIX.format(margin=margin, body=body), {"x": _random(*sizes), "at": at}, tolerance=1e-5)


@pytest.mark.parametrize("value", ["I.transpose(x[:, :])", "I.matmul(x[:, :], x[:, :], acc_dtype=I.f32)"])
def test_squares(value: str) -> None:
    agree(SQUARE.format(value=value), {"x": _random(21, 21)}, tolerance=1e-5)


def test_gathers_and_what_was_written() -> None:
    at = np.random.default_rng(2).permutation(37).astype(np.int32)
    agree(GATHER, {"x": _random(37), "at": at, "t": _random(37), "o": _random(37)}, tolerance=1e-5)


@pytest.mark.parametrize("small", [True, False])
def test_points_read_what_stood_there(small: bool) -> None:
    """The reference takes point after point; the statement of all points is a snapshot too."""
    at = np.array([4, 2, 0, 1, 3], np.int32)
    x = _random(5, 37)
    before = x.copy()
    module(POINTS, small=small).k_out(x, at)
    np.testing.assert_array_equal(x, before[at])


def test_lanes_of_one_tile_need_no_copy() -> None:
    for name in ("pairs", "halves"):
        margin, body = MATRICES[name]
        assert "before" not in device_text(MATRIX.format(margin=margin, body=body))


def test_a_note_says_what_runs_in_one_program() -> None:
    notes = [d.message for d in compiled(VECTOR.format(begin=0, end="", body=BODIES["reversed"][2])).diagnostics]
    assert any("runs in one program" in note for note in notes)

"""Which accesses get a check of bounds: what is provable needs none, what is not proven has one and a note says so."""

from __future__ import annotations

import numpy as np
import program_runs
import pytest

from translators.pipeline import compile_text

pytestmark = pytest.mark.gpu

HEADER = """
import intent
import intent.language as I

@intent.kernel
def k(
    x: I.In[I.f32, ("M", "N")],
    y: I.In[I.f32, ("B", "N")],
    at: I.In[I.i32, ("P",)],
    s: I.index,
    o: I.Out[I.f32, ("B", "N")],
):
    B, N = o.shape
    M = x.shape[0]
    n = I.domain(0, N)
    b = I.domain(0, B)
"""


def checked(body: str) -> set[str]:
    """The arrays with accesses that are not proven in bounds."""
    text = HEADER + "".join(f"    {line}\n" for line in body.splitlines())
    found = compile_text(text, "k.py")
    assert found.source is not None, found.diagnostics
    notes = [note for code in found.codes for note in code.notes if note.code == "INT950"]
    return {note.message.split()[3] for note in notes}


PROVEN = {
    "remainder by a size": "o[b, n] = y[((I.indices(b) - s) % B)[:, None], ((I.indices(n) + s) % N)]",
    "limited from both sides": "o[b, n] = y[b, I.minimum(I.maximum(I.indices(n) - 1, 0), N - 1)]",
    "quotient": "o[b, n] = y[b, I.indices(n) // 2]",
}
NOT_PROVEN = {
    "bounds of a reduced ragged axis": (
        "rows = I.ragged(b, I.domain(0, M), at)\n"
        "for i in I.parallel(b):\n    o[i, n] = I.reduce.sum(x[rows[i], n], axis=0)",
        {"at", "x"},
    ),
    "a loaded coordinate": (
        "for i in I.parallel(b):\n    o[i, n] = x[at[i], n]",
        {"at", "x"},
    ),
    "remainder of a loaded number": (
        "for i in I.parallel(b):\n    o[i, n] = x[I.cast(at[i], I.index) % M, n]",
        {"at"},
    ),
}


@pytest.mark.parametrize("title", PROVEN)
def test_proven_accesses_have_no_check(title: str) -> None:
    assert not checked(PROVEN[title])


@pytest.mark.parametrize("title", NOT_PROVEN)
def test_what_is_not_proven_is_checked(title: str) -> None:
    body, arrays = NOT_PROVEN[title]
    assert checked(body) == arrays


def test_equal_checks_of_two_axes_are_one() -> None:
    text = """
    @intent.kernel
    def diagonal(a: I.In[I.f64, ("N", "N")], k: I.index, out: I.Out[I.f64, ()]):
        out[()] = a[k, k]
    """
    assert "mask=(k >= 0) & (k < N)," in program_runs.device_text(text)


PROMISING = """
@intent.kernel
def k(at: I.In[I.index, ("K",)], v: I.In[I.f32, ("K",)], o: I.InOut[I.f32, (4, 5)], w: I.InOut[I.f32, ("K",)]):
    k = I.domain(0, at.shape[0])
"""
PROMISED = {
    "store": """
    for t in I.parallel(k):
        I.assume_in_bounds(at[t], o, axis=0)
        o[at[t], 0] = v[t]
    """,
    "store of a row": """
    for t in I.parallel(k):
        i = at[t]
        I.assume_in_bounds(i, o, axis=0)
        o[i, :] = v[t]
    """,
    "store by indices": """
    i = at[k]
    I.assume_in_bounds(i, o, axis=0)
    o[i, 0] = v[k]
    """,
    "update": """
    for t in I.parallel(k):
        I.assume_in_bounds(at[t], o, axis=0)
        I.atomic.add(o, index=(at[t], 0), value=v[t], order="relaxed")
    """,
    "update with its old value": """
    for t in I.parallel(k):
        I.assume_in_bounds(at[t], o, axis=0)
        w[t] = I.atomic.exchange(o, index=(at[t], 0), value=v[t], order="relaxed")
    """,
    "buffer": """
    b = I.buffer((4,), I.f32, init=0.0)
    for t in k:
        i = at[t]
        I.assume_in_bounds(i, b, axis=0)
        b[i] = b[i] + v[t]
    o[:, 0] = b[:]
    """,
    "buffer of every point": """
    for t in I.parallel(k):
        i = at[t]
        b = I.buffer((4,), I.f32, init=0.0)
        I.assume_in_bounds(i, b, axis=0)
        b[i] = v[t]
        w[t] = b[0]
    """,
    "promise around a condition": """
    for t in I.parallel(k):
        I.assume_in_bounds(at[t], o, axis=0)
        if v[t] > 0.0:
            o[at[t], 0] = v[t]
    """,
    "promise under the same condition": """
    for t in I.parallel(k):
        if v[t] > 0.0:
            I.assume_in_bounds(at[t], o, axis=0)
            o[at[t], 0] = v[t]
    """,
}
NOT_PROMISED = {
    "nothing": """
    for t in I.parallel(k):
        o[at[t], 0] = v[t]
    """,
    "another axis": """
    for t in I.parallel(k):
        I.assume_in_bounds(at[t], o, axis=1)
        o[at[t], 0] = v[t]
    """,
    "under another condition": """
    for t in I.parallel(k):
        i = at[t]
        if v[t] > 9.0:
            I.assume_in_bounds(i, o, axis=0)
        if v[t] <= 9.0:
            o[i, 0] = v[t]
    """,
    "of a read, under a condition": """
    for t in I.parallel(k):
        i = at[t]
        if v[t] > 9.0:
            I.assume_in_bounds(i, o, axis=0)
        w[t] = o[i, 0]
    """,
    "in a loop that may not run": """
    for t in I.parallel(k):
        i = at[t]
        for u in range(at[0]):
            I.assume_in_bounds(i, o, axis=0)
        o[i, 0] = v[t]
    """,
}


def _unchecked(body: str) -> bool:
    """No access of `o` or a buffer is noted or masked for bounds that no domain has: the places are below 4."""
    found = program_runs.compiled(PROMISING + body)
    assert found.source is not None, found.diagnostics
    noted = any(note.code == "INT950" for code in found.codes for note in code.notes)
    masked = "< 4" in program_runs.device_text(PROMISING + body)
    assert noted == masked
    return not noted


@pytest.mark.parametrize("title", PROMISED)
def test_a_promise_removes_the_check(title: str) -> None:
    body = PROMISED[title]
    assert _unchecked(body)
    for count in (4, 1, 0):  # a place for each point
        places = np.random.default_rng(count).permutation(4)[:count].astype(np.int64)
        values = np.arange(count, dtype=np.float32) - 1
        given = {"at": places, "v": values, "o": np.full((4, 5), 7, np.float32), "w": -values}
        program_runs.agree(PROMISING + body, given)


@pytest.mark.parametrize("title", NOT_PROMISED)
def test_a_promise_holds_where_it_is_reached(title: str) -> None:
    assert not _unchecked(NOT_PROMISED[title])


def test_a_promise_among_points_asks_whether_there_are_any() -> None:
    """The load needs no coordinate of theirs, and would be issued before the loop shows that it is empty."""
    text = """
@intent.kernel
def k(x: I.In[I.i32, ("M",)], v: I.In[I.i32, ("M", "N")], s: I.i32, o: I.Out[I.i32, ("M", "N")],
      p: I.Out[I.i32, ("M", "N")], q: I.Out[I.i32, ("M",)]):
    M, N = v.shape
    m, n = I.domain(0, M), I.domain(0, N)
    for i in I.parallel(m):
        o[i, n] = v[i, n]
    for i, j in I.parallel((m, n)):
        at = I.cast(s, I.index) % M
        I.assume_in_bounds(at, x, axis=0)
        p[i, j] = o[i, j] - x[at]
    for i in range(M):
        I.assume_in_bounds(s, x, axis=0)
        q[i] = x[s] + x[i]
"""
    source = program_runs.device_text(text)
    assert "mask=(0 < M) & (0 < N)" in source
    lines = source.splitlines()
    (own,) = (line for line in lines if "x_ptr + s" in line)
    assert own.startswith("        ") and "mask" not in own  # within the loop
    for m in (0, 1, 3):
        given = {
            "x": np.arange(m, dtype=np.int32), "v": np.arange(5 * m, dtype=np.int32).reshape(m, 5), "s": np.int32(0),
            "o": np.zeros((m, 5), np.int32), "p": np.zeros((m, 5), np.int32), "q": np.zeros(m, np.int32),
        }  # fmt: skip
        program_runs.agree(text, given)

"""Which accesses get a check of bounds: what is provable needs none, what is not proven has one and a note says so."""

from __future__ import annotations

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

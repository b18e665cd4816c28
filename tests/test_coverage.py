"""Which outputs are proven to be written in full, and the note about those that are not."""

from __future__ import annotations

from textwrap import indent

import pytest
from program_runs import compiled

pytestmark = pytest.mark.gpu

HEAD = """
@intent.kernel
def k(x: I.In[I.f32, ("N", 3)], at: I.In[I.i32, ("N",)], keep: I.bool, out: I.Out[I.f32, ("N", 3)]):
    N = x.shape[0]
    n = I.domain(0, N)
    c = I.domain(0, 3)
"""
WHOLE = {
    "all": "out[:, :] = x[:, :]",
    "points": "for i, j in I.parallel((n, c)):\n    out[i, j] = x[i, j]",
    "an ordered loop": "for i in n:\n    out[i, :] = x[i, :]",
    "columns one by one": "out[n, 2] = x[n, 0]\nout[n, 0] = x[n, 1]\nout[n, 1] = x[n, 2]",
    "a first row": "out[0, c] = x[0, c]\nm = I.domain(1, N)\nout[m, c] = x[m, c]",
    "a shifted rest": "out[0, c] = x[0, c]\nm = I.domain(0, N - 1)\nout[I.indices(m) + 1, :] = x[m, c]",
    "halves of different pieces": "m = I.domain(0, N // 2)\nr = I.domain(N // 2, N)\n"
    "out[m, 0:2] = x[m, 0:2]\nout[m, 2] = x[m, 2]\nout[r, c] = x[r, c]",
    "a loop of a known number": "for _ in range(2):\n    out[n, c] = x[n, c]",
}
PARTS = {
    "columns": "out[n, 0] = x[n, 0]\nout[n, 2] = x[n, 2]",
    "rows": "m = I.domain(1, N)\nout[m, c] = x[m, c]",
    "a condition": "for i in I.parallel(n):\n    if x[i, 0] > 0.0:\n        out[i, :] = x[i, :]",
    "a runtime branch": "if keep:\n    out[:, :] = x[:, :]",
    "places from memory": "I.scatter_unique(out, (at[n], slice(None)), x[n, c])",
    "the diagonal": "i = I.indices(c)\nout[i, i] = x[i, i]",
    "steps": "m = I.domain(0, N, 2)\nout[m, c] = x[m, c]",
    "a loop that may not run": "for _ in range(at[0]):\n    out[n, c] = x[n, c]",
    "a loop that may end": "for i in n:\n    if x[i, 0] > 0.0:\n        break\n    out[i, :] = x[i, :]",
    "boundaries that form a circle": "m = I.domain(0, N // 2)\nr = I.domain(N // 2, 0)\n"
    "out[m, c] = x[m, c]\nout[r, c] = x[r, c]",
}


@pytest.mark.parametrize("title", WHOLE)
def test_written_in_full(title: str) -> None:
    (code,) = compiled(HEAD + indent(WHOLE[title], "    ")).codes
    assert code.covered == {"out"}
    assert "INT951" not in [note.code for note in code.notes]


@pytest.mark.parametrize("title", PARTS)
def test_perhaps_not_written_in_full(title: str) -> None:
    (code,) = compiled(HEAD + indent(PARTS[title], "    ")).codes
    assert not code.covered
    (note,) = [note for note in code.notes if note.code == "INT951"]
    assert note.message == "out is not proven to be written in full: what is not written is unspecified"
    assert note.help == "as I.InOut, out would keep the caller's elements"

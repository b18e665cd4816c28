"""Undefined reads and conflicting parallel writes, on programs read from text."""

from __future__ import annotations

import pytest

from translators.diagnostics import Diagnostic
from translators.intent_source.read import read_program

HEADER = """import intent
import intent.language as I


@intent.kernel
def k(
    x: I.In[I.f32, ("M", "N")], v: I.In[I.f32, ("N",)], ix: I.In[I.i32, ("N",)], c: I.bool, K: I.index,
    y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("M", "N")], s: I.InOut[I.f32, ("N",)],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
"""


def findings(body: str) -> list[Diagnostic]:
    text = HEADER + "".join(f"    {line}\n" for line in body.strip().splitlines())
    return list(read_program(text, "k.py").diagnostics)


def codes(body: str) -> list[tuple[str, str]]:
    return [(diagnostic.code, diagnostic.severity) for diagnostic in findings(body)]


# ----------------------------------------------------------------------------------------------------- undefined reads
UNDEFINED = [
    "y[n] = y[n] + v[n]",
    "z[m, n] = x[m, n]\ny[n] = y[n]",
    "for i in range(N):\n    y[i] = y[i] + v[i]",
    "for i in I.parallel(n):\n    s[i] = y[i]\n    y[i] = v[i]",
    "if c:\n    s[0] = y[0]\ny[n] = v[n]",
    "I.scatter_reduce(y, (ix[n],), v[n], combine=I.add)",
    "I.atomic.add(y, (0,), 1.0, order='relaxed')",
]
DEFINED = [
    "y[n] = v[n]\ns[n] = y[n]",
    "for i in range(N):\n    y[i] = v[i]\ns[n] = y[n]",
    "for i in range(N):\n    if i > 0:\n        s[i] = y[i - 1]\n    y[i] = v[i]",
    "for i in range(N):\n    for j in range(i):\n        s[i] = y[j]\n    y[i] = v[i]",
    "if c:\n    y[n] = v[n]\ns[n] = y[n]",
    "I.atomic.store(y, (0,), 1.0, order='relaxed')\ns[0] = y[0]",
    "s[n] = s[n] + 1.0",
]


@pytest.mark.parametrize("body", UNDEFINED)
def test_undefined_read(body: str) -> None:
    found = findings(body)
    assert [diagnostic.code for diagnostic in found if diagnostic.severity == "error"] == ["INT508"]
    assert "`y`" in found[0].message and "I.InOut" in (found[0].help or "")


@pytest.mark.parametrize("body", DEFINED)
def test_read_that_may_be_defined(body: str) -> None:
    assert "INT508" not in [code for code, _ in codes(body)]


# ----------------------------------------------------------------------------------------------------------- conflicts
CONFLICTING = [
    "for i in I.parallel(n):\n    y[0] = v[i]",
    "for i in I.parallel(n):\n    y[n] = v[n] * v[i]",
    "for i, j in I.parallel((m, n)):\n    y[j] = x[i, j]",
    "for i in I.parallel(m):\n    for j in I.parallel(n):\n        y[j] = x[i, j]",
    "for i in I.parallel(n):\n    total = I.cast(0.0, I.f32)\n    for t in range(3):\n        total = total + v[i]\n"
    "    y[K] = total",
]
UNPROVEN = [
    "for i in I.parallel(n):\n    y[ix[i]] = v[i]",
    "for i in I.parallel(n):\n    if v[i] > 0.0:\n        y[0] = v[i]",
    "for i in I.parallel(n):\n    y[i // 2] = v[i]",
    "for i in I.parallel(n):\n    for t in range(3):\n        y[i + t] = v[i]",
    "for i in I.parallel(n):\n    y[i * K] = v[i]",
    "for i in I.parallel(n):\n    y[I.minimum(i, 3)] = v[i]",
    "y[ix[n]] = v[n]",
]
APART = [
    "for i in I.parallel(n):\n    y[i] = v[i]",
    "for i in I.parallel(n):\n    y[N - 1 - i] = v[i]",
    "for i, j in I.parallel((m, n)):\n    z[i, j] = x[i, j]",
    "for i in I.parallel(m):\n    for t in range(N):\n        z[i, t] = x[i, t]",
    "for i, j in I.parallel((I.domain(0, 4), I.domain(0, K))):\n    y[i * K + j] = v[j]",
    "for i in I.parallel(I.domain(0, N // 4)):\n    for t in range(4):\n        y[4 * i + t] = v[t]",
    "for i in I.parallel(I.domain(0, N // 4)):\n    y[4 * i : 4 * i + 4] = v[4 * i : 4 * i + 4]",
    "for i in I.parallel(m):\n    b = I.buffer((4,), I.f32)\n    b[0] = x[i, 0]\n    z[i, 0] = b[0]",
    "for i in I.parallel(I.domain(0, 1)):\n    y[0] = v[i]",
    "for i in I.parallel(n):\n    I.scatter_unique(y, (ix[i],), v[i])",
    "y[N - 1 - I.indices(n)] = v[n]",
    "z[I.indices(m)[:, None], I.indices(n)[None, :]] = x[m, n]",
]


@pytest.mark.parametrize("body", CONFLICTING)
def test_conflict(body: str) -> None:
    assert codes(body) == [("INT511", "error")]


@pytest.mark.parametrize("body", UNPROVEN)
def test_unproven(body: str) -> None:
    assert codes(body) == [("INT952", "note")]


@pytest.mark.parametrize("body", APART)
def test_apart(body: str) -> None:
    assert codes(body) == []

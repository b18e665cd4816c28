"""Ranges up to a row of a sum around them, products within sums, and names of axes: run side by side."""

from __future__ import annotations

import textwrap

import pytest

from intent import dtypes as d
from intentc.lift_verification import verify
from translators.algebra.polynomial import Polynomial, atomic, number, symbol
from translators.lifting.files import lift_text, source_of
from translators.lifting.lift import Lifted
from translators.logical.types import View
from translators.tile.expression import Arena, Expression, Place, Reduction
from translators.tile.substitution import Rebuilding

HEAD = """import triton
import triton.language as tl

"""

BELOW_ROWS = """
    @triton.jit
    def solved(a_ptr, s_ptr, v_ptr, o_ptr, T, B: tl.constexpr, D: tl.constexpr):
        p = tl.program_id(0)
        i, d = tl.arange(0, B), tl.arange(0, D)
        t = p * B + i
        square = t[:, None] * B + i[None, :]
        a = tl.load(a_ptr + square, mask=(t[:, None] < T) & (t[None, :] < T), other=0.0)
        s = tl.load(s_ptr + square, mask=t[:, None] < T, other=0.0)
        s = tl.where(i[:, None] > i[None, :], s, 0.0)
        v = tl.load(v_ptr + t[:, None] * D + d[None, :], mask=t[:, None] < T, other=0.0)
        made = tl.dot(a, tl.dot(s, v, allow_tf32=False), allow_tf32=False)
        tl.store(o_ptr + t[:, None] * D + d[None, :], made, mask=t[:, None] < T)
"""
AT_ROWS = BELOW_ROWS.replace("i[:, None] > i[None, :]", "i[:, None] >= i[None, :]")

STEPS = """
    @triton.jit
    def weighted(x_ptr, y_ptr, w_ptr, o_ptr, N: tl.constexpr):
        i = tl.arange(0, N)
        square = i[:, None] * N + i[None, :]
        x, y = tl.load(x_ptr + square), tl.load(y_ptr + square)
        each = tl.dot(x, y, allow_tf32=False)
        total = tl.sum(tl.where(i[:, None] == i[None, :], each, 0.0) * tl.load(w_ptr + i)[None, :])
        tl.store(o_ptr, total)
"""

SAME_RANGES = """
    @triton.jit
    def sums(a_ptr, b_ptr, c_ptr, o_ptr, N: tl.constexpr):
        i = tl.arange(0, N)
        row_sums = tl.sum(tl.exp(tl.load(a_ptr + i[:, None] * N + i[None, :])), 1)
        total = tl.sum(tl.load(b_ptr + i) * row_sums, 0)
        tl.store(o_ptr + i, total * tl.load(c_ptr + i))
"""


def lifted(text: str) -> Lifted:
    (kernel,) = lift_text(HEAD + textwrap.dedent(text), "kernels.py").kernels
    return kernel


@pytest.mark.parametrize(
    "text",
    [BELOW_ROWS, AT_ROWS, STEPS, SAME_RANGES],
    ids=["below rows", "up to rows", "each step", "same ranges"],
)
def test_the_lifted_kernel_computes_the_same(text: str) -> None:
    kernel = lifted(text)
    assert kernel.source is not None, kernel.reason
    found = verify(HEAD + textwrap.dedent(text), "kernels.py", kernel, 3)
    assert found.holds, found


def test_rows_of_a_sum_are_masked() -> None:
    source = source_of((lifted(BELOW_ROWS),), "kernels.py")
    assert source is not None
    assert "I.matmul(I.select(" in "".join(source.split())


def test_what_only_some_rows_read_is_not_read_for_all() -> None:
    """g[i - j] has no place for j > i; the product is over i, so that i is no loop."""
    text = BELOW_ROWS.replace(
        "s = tl.load(s_ptr + square, mask=t[:, None] < T, other=0.0)",
        "s = tl.load(s_ptr + i[:, None] - i[None, :], mask=i[:, None] > i[None, :], other=0.0)",
    )
    kernel = lifted(text)
    assert kernel.source is None
    assert "bounds depend on coordinates" in (kernel.reason or "")


def _sum_along(arena: Arena, coordinates: tuple[Polynomial, ...], n: Polynomial, axis: object) -> Expression:
    view = View("x", d.f32, (n, n), "In")
    element = arena.make("load", d.f32, (), Place(view, coordinates))
    return arena.make("reduce", d.f32, (element,), Reduction("sum", (axis,)))  # type: ignore[arg-type]


def test_what_is_put_in_keeps_its_meaning_below_a_reduction_of_the_same_axis() -> None:
    """sum over k of x[k, j], with k for j, is no sum over a diagonal."""
    arena, n = Arena(), symbol("N")
    j, k = arena.axis("j", number(0), n), arena.axis("k", number(0), n)
    node = _sum_along(arena, (atomic(k), atomic(j)), n, k)
    made = Rebuilding(arena, {j: atomic(k)}).expression(node)
    (bound,) = made.attribute.axes
    assert bound is not k
    assert made.arguments[0].attribute.coordinates == (atomic(bound), atomic(k))
    assert made.axes == {k}


def test_a_reduction_keeps_its_axis_where_nothing_is_captured() -> None:
    arena, n = Arena(), symbol("N")
    i, j, k = (arena.axis(name, number(0), n) for name in "ijk")
    node = _sum_along(arena, (atomic(k), atomic(j)), n, k)
    made = Rebuilding(arena, {j: atomic(i)}).expression(node)
    assert made.attribute.axes == (k,)

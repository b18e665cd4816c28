"""Comparison of Triton kernels with each other: what their compile-time parameters and grids are to each other."""

from __future__ import annotations

from translators.comparison.sides import Side, read_sides
from translators.comparison.verdict import compare

HEAD = "import triton\nimport triton.language as tl\n"
SCALED = f"""{HEAD}
@triton.jit
def scaled(x_ptr, y_ptr, n, a: tl.constexpr, b: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    tl.store(y_ptr + i, x * FIRST + SECOND, mask=mask)
"""
ROWS = f"""{HEAD}
def launch(x, y):
    m, n = x.shape
    A = SIDE
    B = SIDE
    rows[(triton.cdiv(m, A), triton.cdiv(n, B))](x, y, m, n, A, B)

@triton.jit
def rows(x_ptr, y_ptr, m, n, A: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(ROW) * A + tl.arange(0, A)
    c = tl.program_id(COLUMN) * B + tl.arange(0, B)
    at = r[:, None] * n + c[None, :]
    mask = (r < m)[:, None] & (c < n)[None, :]
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=mask) + 1.0, mask=mask)
"""
PLAIN, DOUBLED = "triton.next_power_of_2(min(128, n))", "2 * triton.next_power_of_2(min(128, n))"


def _side(text: str, **parts: object) -> Side:
    for name, part in parts.items():
        text = text.replace(name, str(part))
    (side,) = read_sides(text, "kernels.py", None, {})
    return side


def test_compile_time_numbers_are_matched() -> None:
    """A number that is computed with is the same number of the other kernel in its place, and no other."""
    first = _side(SCALED, FIRST="a", SECOND="b")
    assert compare(first, first).answer == "same"
    assert compare(first, _side(SCALED, FIRST="b", SECOND="a")).answer == "different"


def test_a_grid_that_is_known_on_one_side() -> None:
    """It goes over the sizes that the other side is assumed to go over, axis by axis."""
    first = _side(ROWS, SIDE=PLAIN, ROW=0, COLUMN=1)
    assert compare(first, _side(ROWS, SIDE=DOUBLED, ROW=0, COLUMN=1)).answer == "same"
    swapped = _side(ROWS, SIDE=DOUBLED, ROW=1, COLUMN=0)  # programs that go over other sizes than they take
    assert not compare(first, swapped).holds


INNER = f"""{HEAD}
def launch(x, y, z):
    n = x.shape[0]
    inner[(triton.cdiv(n, 128),)](x, y, z, n, x.stride(0), y.stride(0), z.stride(0), BLOCK=128)

@triton.jit
def inner(x_ptr, y_ptr, z_ptr, n, x_stride, y_stride, z_stride, BLOCK: tl.constexpr):
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z_ptr + j * z_stride, tl.load(x_ptr + j * x_stride, mask=j < n), mask=j < n)
    i = j + FROM
    mask = i < n TO
    tl.store(y_ptr + i * y_stride, tl.load(x_ptr + i * x_stride, mask=mask, other=0.0) * 2.0, mask=mask)
"""
DECLARED = """
import intent
import intent.language as I

@intent.kernel
def inner(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    z[:] = x[:]
    i = I.domain(FROM, x.shape[0] TO)
    y[i] = x[i] * 2.0
"""


def test_an_array_is_as_large_as_declared_if_that_is_enough() -> None:
    """The kernel needs n - 1 elements of `y`; the program says that there are n."""
    first, second = (_side(text, FROM=1, TO="- 1") for text in (DECLARED, INNER))
    assert compare(first, second).answer == "same"
    assert compare(second, first).answer == "same"
    for start, end in ((1, "- 2"), (2, "- 1"), (0, "- 1")):
        assert not compare(first, _side(INNER, FROM=start, TO=end)).holds


def test_an_array_that_may_be_too_short() -> None:
    program, kernel = _side(DECLARED, FROM=1, TO=""), _side(INNER, FROM=1, TO="+ 1")
    assert not compare(program, kernel).holds

"""Combines of generic reductions and scans: components of different rank, operands that are tensors, positions, and
elements that are combined with others of their slice. Every combine is associative, and commutative where it must be.
"""

from __future__ import annotations

import numpy as np
import pytest
from program_runs import agree, compiled, device_text

pytestmark = pytest.mark.gpu

MATRICES = 'x: I.In[I.f32, ("N", 3, 3)], o: I.Out[I.f32, (3, 3)]'
WEIGHTS = "w: I.In[I.f32, (3,)]"
SUMS = """
@intent.fn
def combine(a, b):
    return I.record(p=a.p + b.p, m=a.m + b.m)
"""
LARGEST = """
@intent.fn
def combine(a, b):
    largest = I.maximum(a.largest, b.largest)
    left = I.select(a.largest == largest, I.cast(1.0, I.f32), 0.0)
    right = I.select(b.largest == largest, I.cast(1.0, I.f32), 0.0)
    return I.record(
        largest=largest,
        mass=a.mass * left + b.mass * right,
        moment=a.moment * left[:, None] + b.moment * right[:, None],
    )
"""
ROWS = """
@intent.fn
def combine(a, b):
    return I.record(g=a.g * b.g, s=a.s * b.g[:, None] + b.s)
"""
COLUMNS = ROWS.replace("b.g[:, None]", "b.g")
SCAN = """
    identity = I.record(g=I.full((3,), 1.0, dtype=I.f32), s=I.zeros((3, 3), I.f32))
    f = I.scan(I.record(g=x[:, 0, :], s=x[:, :, :]), axis=0, identity=identity, combine=combine, {how})
    p[:, :, :] = f.s
    o[:, :] = I.reduce.sum(f.s * f.g[:, :, None], axis=0)
"""
POSITIONS = """
@intent.fn
def combine(a, b):
    even = I.indices(I.domain(0, 3)) % 2 == 0
    return I.select(even, I.maximum(a, b), a + b)
"""
OPERAND = """
@intent.fn
def combine(a, b, w, bound):
    return I.select(w[:, None] > bound, I.maximum(a, b), a + b)
"""
COMPLEX = """
@intent.fn
def combine(a, b):
    real, imaginary = a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]
    return I.join(I.full((), real, dtype=I.f32), I.full((), imaginary, dtype=I.f32))
"""
OFFSET = """
@intent.fn
def combine(a, b):
    return I.record(at=I.maximum(a.at, b.at), sums=a.sums + b.sums)
"""
FOLD = "I.reduce({value}, axis=0, identity={identity}, combine=combine{operands})"
ZEROS = "I.zeros((3, 3), I.f32)"


def fold(value: str, identity: str, operands: str = "") -> str:
    return FOLD.format(value=value, identity=identity, operands=operands and f", combine_operands={operands}")


# title -> helper, parameters, body
PROGRAMS = {
    "scalars and matrices": (SUMS, MATRICES, f"""
    f = {fold("I.record(p=x[:, 0, 1] * 2.0 + x[:, 2, 0], m=x[:, :, :])", f"I.record(p=0.0, m={ZEROS})")}
    o[:, :] = f.m + f.p
"""),
    "vectors and matrices": (LARGEST, MATRICES, f"""
    first = I.record(largest=I.full((3,), -9.0, dtype=I.f32), mass=I.zeros((3,), I.f32), moment={ZEROS})
    f = {fold("I.record(largest=x[:, 0, :], mass=x[:, 1, :], moment=x[:, :, :])", "first")}
    o[:, :] = f.moment * 2.0 + f.mass[:, None] + f.largest[:, None]
"""),
    "prefixes, rows scaled": (ROWS, MATRICES + ', p: I.Out[I.f32, ("N", 3, 3)]', SCAN.format(how="inclusive=True")),
    "prefixes, columns scaled": (
        COLUMNS, MATRICES + ', p: I.Out[I.f32, ("N", 3, 3)]', SCAN.format(how="inclusive=False, reverse=True"),
    ),
    "positions": (POSITIONS, MATRICES, f"    o[:, :] = {fold('x[:, :, :]', ZEROS)}\n"),
    "operands": (OPERAND, f"{MATRICES}, {WEIGHTS}, c: I.f32", f"""
    o[:, :] = {fold("x[:, :, :]", ZEROS, "(w[:], c)")}
"""),
    "complex product": (COMPLEX, 'x: I.In[I.f32, ("N", 2)], o: I.Out[I.f32, (2,)]', f"""
    one = I.join(I.full((), 1.0, dtype=I.f32), I.full((), 0.0, dtype=I.f32))
    o[:] = {fold("x[:, :]", "one")}
"""),
    "complex prefixes": (COMPLEX, 'x: I.In[I.f32, ("N", 2)], o: I.Out[I.f32, ("N", 2)]', """
    one = I.join(I.full((), 1.0, dtype=I.f32), I.full((), 0.0, dtype=I.f32))
    o[:, :] = I.scan(x[:, :], axis=0, identity=one, combine=combine, inclusive=True)
"""),
    "integers beside floats": (OFFSET, MATRICES, f"""
    n = I.domain(0, x.shape[0])
    f = {fold("I.record(at=I.indices(n), sums=x[n, :, :])", f"I.record(at=0, sums={ZEROS})")}
    o[:, :] = f.sums + I.cast(f.at, I.f32)
"""),
}  # fmt: skip


def program(title: str) -> str:
    helper, parameters, body = PROGRAMS[title]
    return f"{helper}\n@intent.kernel\ndef k({parameters}):\n{body.strip(chr(10))}\n"


def arguments(title: str, size: int) -> dict[str, object]:
    """Small whole numbers and signs: sums and products are exact."""
    generator = np.random.default_rng(size)
    text, found = program(title), {}
    kernel = compiled(text).program.kernels[-1]  # type: ignore[union-attr]
    for view in kernel.views:
        shape = tuple(size if extent.constant is None else extent.constant for extent in view.shape)
        signs = "complex" in title or "prefixes" in title
        values = generator.choice([-1, 0, 1], shape) if signs else generator.integers(-4, 5, shape)
        found[view.name] = values.astype(np.float32)
    return {**found, **{scalar.name: 0.5 for scalar in kernel.scalars}}


@pytest.mark.parametrize("size", [5, 1, 0, 9])
@pytest.mark.parametrize("title", PROGRAMS)
def test_agrees_with_the_reference(title: str, size: int) -> None:
    agree(program(title), arguments(title, size))


def test_elements_of_their_own_need_no_ordered_loop() -> None:
    """Vectors beside matrices are one reduction, whose combine takes an element of each."""
    text = device_text(program("vectors and matrices"))
    assert "tl.reduce((" in text and "(N, INDEX)" not in text
    assert "range(tl.cast(N, INDEX)" in device_text(program("complex product"))

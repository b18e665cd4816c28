"""Reductions and scans whose combine multiplies matrices, reduces, or has a loop: the reference's values, all forms."""

from __future__ import annotations

import numpy as np
import pytest
from program_runs import agree, compiled

pytestmark = pytest.mark.gpu

PRODUCT = """
@intent.fn
def combine(a, b):
    return I.matmul(b, a, acc_dtype=I.f32)

"""
LOOP = """
@intent.fn
def combine(a, b):
    result = a
    for i in range(3):
        result = result + b * (0.5 * I.cast(i, I.f32) - 0.25) * 1.33333333
    return result

"""
RECORD = """
@intent.fn
def combine(a, b):
    largest = I.reduce.max(I.maximum(a.row, b.row), axis=0)
    return I.record(row=I.maximum(a.row, b.row), most=I.maximum(I.maximum(a.most, b.most), largest))

"""
SCALED = """
@intent.fn
def combine(a, b, factor):
    result = a + b
    while result > factor:
        result = result - factor
    return result

"""
PROGRAMS = {
    "product of all": PRODUCT
    + """
@intent.kernel
def k(x: I.In[I.f32, ("N", 2, 2)], e: I.In[I.f32, (2, 2)], o: I.Out[I.f32, (2, 2)]):
    o[:, :] = I.reduce(x[:, :, :], axis=0, identity=e[:, :], combine=combine)
""",
    "products": PRODUCT
    + """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N", 2, 2)], e: I.In[I.f32, (2, 2)], o: I.Out[I.f32, ("M", "N", 2, 2)]):
    for m in I.parallel(I.domain(0, x.shape[0])):
        o[m, :, :, :] = I.scan(x[m, :, :, :], axis=0, identity=e[:, :], combine=combine, inclusive=True)
""",
    "products before, from the end": PRODUCT
    + """
@intent.kernel
def k(x: I.In[I.f32, ("N", 2, 2)], e: I.In[I.f32, (2, 2)], o: I.Out[I.f32, ("N", 2, 2)]):
    before = I.scan(x[:, :, :], axis=0, identity=e[:, :], combine=combine, inclusive=False, reverse=True)
    o[:, :, :] = before + x[:, :, :]
""",
    "rows": LOOP
    + """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], o: I.Out[I.f32, ("M", "N")], s: I.Out[I.f32, ("M",)], t: I.Out[I.f32, ()]):
    zero = I.cast(0.0, I.f32)
    prefix = I.scan(x[:, :], axis=1, identity=zero, combine=combine, inclusive=True)
    o[:, :] = prefix
    s[:] = I.reduce.max(prefix, axis=1)
    t[()] = I.reduce(x[:, :], axis=(0, 1), identity=zero, combine=combine)
""",
    "record": RECORD
    + """
@intent.kernel
def k(x: I.In[I.f32, ("N", 5)], o: I.Out[I.f32, (5,)], most: I.Out[I.f32, ()], p: I.Out[I.f32, ("N",)]):
    first = I.record(row=I.zeros((5,), I.f32), most=I.cast(-9.0, I.f32))
    values = I.record(row=x[:, :], most=x[:, 0])
    found = I.scan(values, axis=0, identity=first, combine=combine, inclusive=True)
    p[:] = found.most
    last = I.reduce(values, axis=0, identity=first, combine=combine)
    o[:] = last.row
    most[()] = last.most
""",
    "captured": SCALED
    + """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], f: I.f32, o: I.Out[I.f32, ("M",)]):
    zero = I.cast(0.0, I.f32)
    for m in I.parallel(I.domain(0, x.shape[0])):
        o[m] = I.reduce(I.abs(x[m, :]), axis=0, identity=zero, combine=combine, combine_operands=(f,))
""",
    "in an ordered loop": LOOP
    + """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], o: I.Out[I.f32, ("M", "N")]):
    zero = I.cast(0.0, I.f32)
    for m in range(x.shape[0]):
        if m % 2 == 0:
            o[m, :] = I.scan(x[m, :], axis=0, identity=zero, combine=combine, inclusive=False)
        else:
            o[m, :] = x[m, :]
""",
}


@pytest.mark.parametrize("size", [19, 1, 0, 70])
@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_the_reference(name: str, size: int) -> None:
    found = compiled(PROGRAMS[name])
    assert found.program is not None
    random = np.random.default_rng(size)
    values: dict[str, object] = {}
    for view in found.program.kernels[-1].views:
        shape = tuple({"M": 3, "N": size}.get(repr(extent), extent.constant or 0) for extent in view.shape)
        values[view.name] = np.asarray(random.standard_normal(shape) * 0.6, np.float32)
    if "f" in {scalar.name for scalar in found.program.kernels[-1].scalars}:
        values = {"x": values["x"], "f": 1.5, "o": values["o"]}
    agree(PROGRAMS[name], values, small=size != 70, tolerance=1e-4)


SLICES = (
    PRODUCT
    + """
@intent.fn
def summarize(x, e):
    return I.reduce(x, axis=0, identity=e, combine=combine)

@intent.fn
def emit(x, state, e):
    p = I.scan(x, axis=0, identity=e, combine=combine, inclusive={inclusive})
    return I.contract(p, state, reduce=((2, 0),), acc_dtype=I.f32)

@intent.fn
def apply(summary, state):
    return combine(state, summary)

@intent.kernel
def k(x: I.In[I.f32, ("N", 2, 2)], e: I.In[I.f32, (2, 2)], o: I.Out[I.f32, ("N", 2, 2)], s: I.Out[I.f32, (2, 2)]):
    n = I.domain(0, x.shape[0])
    out, last = I.region_scan(
        source=x[n, :, :], axis=0, summarize=summarize, combine=combine, identity=e[:, :], initial_state=e[:, :],
        apply=apply, emit=emit, operands=(e[:, :],),
    )
    o[n, :, :] = out
    folded = I.region_fold(
        source=x[n, :, :], axis=0, summarize=summarize, combine=combine, identity=e[:, :], operands=(e[:, :],)
    )
    s[:, :] = folded - last
"""
)


@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("size", [9, 1, 0])
def test_along_slices_of_one_element(size: int, inclusive: bool) -> None:
    """Where slices end is the compiler's choice: a product of all matrices of a slice is the matrix itself."""
    x = np.random.default_rng(size).integers(-1, 2, (size, 2, 2)).astype(np.float32)
    given = {"x": x, "e": np.eye(2, dtype=np.float32), "o": np.zeros_like(x), "s": np.zeros((2, 2), np.float32)}
    agree(SLICES.replace("{inclusive}", str(inclusive)), given, tolerance=1e-6)


@pytest.mark.parametrize("name", ["product of all", "products"])
def test_products_of_small_matrices_have_the_lanes_that_a_product_needs(name: str) -> None:
    for variant in compiled(PROGRAMS[name]).codes[-1].variants:
        assert "tl.dot" not in variant.source or sorted(size for _, size in variant.constants)[-3:] >= [16] * 3

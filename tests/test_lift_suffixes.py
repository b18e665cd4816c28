"""Lifting of loops that count down, sums that blocks split in two, updates that share a factor, and strides of what
the host allocates.
"""

from __future__ import annotations

import pytest

from intentc.lift_verification import verify
from tests.test_lift_recurrences import lines_of
from tests.test_lift_wrapping import lifted
from translators.lifting.lift import Lifted

SUFFIXES = """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    later = tl.where(lane[:, None] <= lane[None, :], 1.0, 0.0)
    rest = 0.0
    for block in range(tl.cdiv(n, BLOCK) - 1, -1, -1):
        i = block * BLOCK + lane
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
        own = tl.sum(tl.where(lane[:, None] {order} lane[None, :], x[None, :], 0.0), axis=1)
        tl.store(y_ptr + row * n + i, rest + own, mask=i < n)
        rest += tl.sum(x, axis=0)


def call(x, y):
    kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=16)
"""
PRODUCTS = """
@triton.jit
def kernel(x_ptr, y_ptr, n, D: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    upto = tl.where(lane[:, None] >= lane[None, :], 1.0, 0.0)
    before = tl.zeros((D,), tl.float32)
    for block in range(tl.cdiv(n, BLOCK)):
        i = block * BLOCK + lane
        x = tl.load(x_ptr + i[:, None] * D + d[None, :], mask=i[:, None] < n, other=0.0)
        tl.store(y_ptr + i[:, None] * D + d[None, :], before[None, :] + tl.dot(upto, x), mask=i[:, None] < n)
        before += tl.sum(x, 0)


def call(x, y):
    kernel[(1,)](x, y, x.shape[0], D=x.shape[1], BLOCK=16)
"""
PARTS = """
@triton.jit
def kernel(x_ptr, w_ptr, y_ptr, K, scale, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    part = tl.program_id(0)
    row = tl.program_id(1)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, K, BLOCK * PARTS):
        i = k + part * BLOCK + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * K + i, mask=i < K, other=0.0) * tl.load(w_ptr + i, mask=i < K, other=0.0)
    tl.atomic_add(y_ptr + row, tl.sum(total, axis=0) * scale{own})


def call(x, w, y, scale):
    kernel[(4, x.shape[0])](x, w, y, x.shape[1], scale, BLOCK=16, PARTS=4)
"""
CLIPPED = """
@triton.jit
def kernel(x_ptr, y_ptr, lengths_ptr, others_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    length = tl.load(lengths_ptr + row)
    other = tl.load(others_ptr + row)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, length, BLOCK):
        i = k + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=(i < n) & (i < length), other=0.0)
        total += tl.where(i < other, x, 0.0)
    tl.store(y_ptr + row, tl.sum(total, axis=0))


def call(x, y, lengths, others):
    kernel[(x.shape[0],)](x, y, lengths, others, x.shape[1], BLOCK=16)
"""
STATES = """
@triton.jit
def kernel(x_ptr, h_ptr, s_row, s_inner, T, K: tl.constexpr, V: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    v = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (k[:, None] < K) & (v[None, :] < V)
    state = tl.zeros((BLOCK, BLOCK), tl.float32)
    for t in range(T):
        place = row * s_row + t * K * V + k[:, None] * s_inner + v[None, :]
        tl.store(h_ptr + place, state, mask=inside)
        state = state * 0.5 + tl.load(x_ptr + ((row * T + t) * K + k[:, None]) * V + v[None, :], mask=inside, other=0.0)


def call(x):
    B, T, K, V = x.shape
    h = {allocated}
    kernel[(B, triton.cdiv(V, 16))](x, h, h.stride(0), h.stride(1), T, K=K, V=V, BLOCK=16)
"""


def _verified(text: str, made: Lifted) -> None:
    found = verify(text, "kernel.py", made, calls=3)
    assert found.holds, str(found)


def test_sums_from_a_coordinate_on_are_one_scan_in_reverse() -> None:
    text, made = lifted(SUFFIXES.format(order="<="))
    assert made.status == "lifted", made.reason
    assert "reverse=True" in lines_of(made)[-1]
    _verified(text, made)


def test_sums_that_do_not_adjoin_stay_two() -> None:
    text, made = lifted(SUFFIXES.format(order=">="))
    assert made.status != "lifted"
    if made.source is not None:
        _verified(text, made)


def test_a_product_with_ones_is_a_sum() -> None:
    text, made = lifted(PRODUCTS)
    assert made.status == "lifted", made.reason
    assert "I.cumsum" in lines_of(made)[-1]
    _verified(text, made)


def test_parts_of_a_sum_that_share_a_factor_are_one_sum() -> None:
    text, made = lifted(PARTS.format(own=""))
    assert made.status == "lifted", made.reason
    assert lines_of(made)[-1].endswith("* scale")
    _verified(text, made)


def test_parts_of_a_sum_with_factors_of_their_own_are_not() -> None:
    text, made = lifted(PARTS.format(own=" * (part + 1)"))
    assert not lines_of(made)[-1].endswith("* scale")
    _verified(text, made)


def test_lanes_that_several_lengths_bound_are_one_range() -> None:
    text, made = lifted(CLIPPED)
    assert made.status == "lifted", made.reason
    _verified(text, made)


@pytest.mark.parametrize("allocated", ["torch.empty((B, T * K, V))", "x.new_empty(B, T * K, V)"])
def test_strides_of_what_the_host_allocates_are_products(allocated: str) -> None:
    text, made = lifted(STATES.format(allocated=allocated))
    assert made.source is not None, made.reason
    assert any(note.basis == "host" and note.text.startswith("s_inner is V") for note in made.notes)
    _verified(text, made)


@pytest.mark.parametrize(
    "allocated",
    [
        "torch.empty((B, V, T * K)).transpose(1, 2)",
        "torch.empty((B, T * K, V), memory_format=torch.channels_last)",
        "torch.empty_like(x)",
        "allocate(B, T * K, V)",
    ],
)
def test_strides_of_anything_else_are_not(allocated: str) -> None:
    _, made = lifted(STATES.format(allocated=allocated))
    assert made.source is None


TILES = """
@triton.jit
def kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    part = tl.program_id(1)
    i = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
    {stored}


def call(x, y, z):
    n = x.shape[1]
    kernel[(x.shape[0], {parts})](x, y, z, n, BLOCK=16)
"""
ONE_PART = {
    "a mask": "tl.store(y_ptr + row, tl.sum(x, axis=0), mask=part == 0)",
    "a branch": "if part == 0:\n        tl.store(y_ptr + row, tl.sum(x, axis=0))",
    "an inequality": "tl.store(y_ptr + row, tl.sum(x, axis=0), mask=part < 1)",
    "another part": "tl.store(y_ptr + row, tl.sum(x, axis=0), mask=part == 1)",
    "the last part": "tl.store(y_ptr + row, tl.sum(x, axis=0), mask=part == tl.num_programs(1) - 1)",
    "elements": "tl.store(y_ptr + row * n + i, x, mask=(i < n) & (part == 0))",
    "beside all parts": (
        "tl.store(y_ptr + row * n + i, x, mask=i < n)\n    tl.store(z_ptr + row, tl.sum(x, axis=0), mask=part == 0)"
    ),
}


@pytest.mark.parametrize("stored", ONE_PART)
@pytest.mark.parametrize("parts", ["4", "triton.cdiv(n, 16)"])
def test_one_of_several_parts_is_not_everything(stored: str, parts: str) -> None:
    """The launch has as many parts as there are elements for: no part has all of them."""
    text, made = lifted(TILES.format(stored=ONE_PART[stored], parts=parts))
    assert not any("every launch covers all elements" in note.text for note in made.notes)
    if made.source is not None:
        _verified(text, made)


LATER = """
@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, n, D: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + row[:, None] * D + d[None, :], mask=row[:, None] < n, other=0.0)
    total = tl.zeros((BLOCK, D), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + i[None, :] * D + d[:, None], mask=i[None, :] < n, other=0.0)
        v = tl.load(v_ptr + i[:, None] * D + d[None, :], mask=i[:, None] < n, other=0.0)
        score = tl.where(row[:, None] {order} i[None, :], tl.dot(q, k), 0.0)
        total += tl.dot(score, v)
    tl.store(o_ptr + row[:, None] * D + d[None, :], total, mask=row[:, None] < n)


def call(q, k, v, o):
    kernel[(triton.cdiv(q.shape[0], 16),)](q, k, v, o, q.shape[0], D=q.shape[1], BLOCK=16)
"""


@pytest.mark.parametrize("order", ["<=", "<", ">=", ">"])
def test_products_over_coordinates_from_a_row_on_are_masked(order: str) -> None:
    text, made = lifted(LATER.format(order=order))
    assert made.status == "lifted", made.reason
    assert lines_of(made)[-1].startswith("o[") and "I.matmul" in lines_of(made)[-1]
    _verified(text, made)

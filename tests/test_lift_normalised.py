"""Lifting of weighted sums that every iteration divides by the weight so far, and of rows within segments."""

from __future__ import annotations

import pytest

from intentc.lift_verification import verify
from tests.test_lift_recurrences import lines_of
from tests.test_lift_wrapping import lifted

MEAN = """
@triton.jit
def kernel(x_ptr, v_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    peak = float("-inf")
    weight = 0.0
    mean = 0.0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=float("-inf"))
        v = tl.load(v_ptr + row * n + i, mask=i < n, other=0.0)
        block_peak = tl.max(x, axis=0)
        p = tl.exp(x - block_peak)
        new_peak = tl.maximum(peak, block_peak)
        old = tl.exp(peak - new_peak)
        now = tl.exp(block_peak - new_peak)
        new_weight = old * weight + now * tl.sum(p, axis=0)
        {update}
        weight = new_weight
        peak = new_peak
    tl.store(y_ptr + row, mean)


def call(x, v, y):
    kernel[(x.shape[0],)](x, v, y, x.shape[1], BLOCK=16)
"""
UPDATES = {
    "a quotient": "mean = mean * (weight / new_weight * old) + tl.sum(p * (now / new_weight) * v, axis=0)",
    "a reciprocal": """inverse = 1.0 / new_weight
        mean = mean * (old * weight * inverse) + tl.sum((p * now) * inverse * v, axis=0)""",
}
OTHERS = {
    "what is carried is not scaled by the weight": "mean = mean * old + tl.sum(p * (now / new_weight) * v, axis=0)",
    "what is added is not divided": "mean = mean * (weight / new_weight * old) + tl.sum(p * now * v, axis=0)",
    "what is added is divided by the weight before": (
        "mean = mean * (weight / new_weight * old) + tl.sum(p * (now / (weight + 1.0)) * v, axis=0)"
    ),
    "what is added is not relative to the maximum": (
        "mean = mean * (weight / new_weight * old) + tl.sum(p / new_weight * v, axis=0)"
    ),
    "it does not begin with nothing": (
        "mean = tl.where(start == 0, 1.0, mean) * (weight / new_weight * old) + "
        "tl.sum(p * (now / new_weight) * v, axis=0)"
    ),
}
RAGGED = """
@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, starts_ptr, lengths_ptr, D: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.load(starts_ptr + tl.program_id(0))
    length = tl.load(lengths_ptr + tl.program_id(0))
    row = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (start + row[:, None]) * D + d[None, :], mask=row[:, None] < length, other=0.0)
    peak = tl.full((BLOCK,), float("-inf"), tl.float32)
    weight = tl.zeros((BLOCK,), tl.float32)
    mean = tl.zeros((BLOCK, D), tl.float32)
    busy = tl.where(tl.program_id(1) * BLOCK < length, 1, 0)
    for first in range(0, busy * (tl.program_id(1) + 1) * BLOCK, BLOCK):
        i = first + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + (start + i[None, :]) * D + d[:, None], mask=i[None, :] < length, other=0.0)
        score = tl.where(row[:, None] >= i[None, :], tl.dot(q, k), float("-inf"))
        block_peak = tl.max(score, 1)
        p = tl.exp(score - block_peak[:, None])
        new_peak = tl.maximum(peak, block_peak)
        old = tl.exp(peak - new_peak)
        now = tl.exp(block_peak - new_peak)
        new_weight = old * weight + now * tl.sum(p, 1)
        v = tl.load(v_ptr + (start + i[:, None]) * D + d[None, :], mask=i[:, None] < length, other=0.0)
        p = p * (now / new_weight)[:, None]
        mean = mean * (weight / new_weight * old)[:, None] + tl.dot(p, v)
        weight = new_weight
        peak = new_peak
    tl.store(o_ptr + (start + row[:, None]) * D + d[None, :], mean, mask=row[:, None] < length)


def call(q, k, v, o, starts, lengths, longest):
    grid = (starts.shape[0], triton.cdiv(longest, 16))
    kernel[grid](q, k, v, o, starts, lengths, D=q.shape[1], BLOCK=16)
"""


@pytest.mark.parametrize("update", UPDATES)
def test_a_mean_that_follows_its_weight_is_one_quotient(update: str) -> None:
    text, made = lifted(MEAN.format(update=UPDATES[update]))
    assert made.status == "lifted" and lines_of(made)[-1].endswith("_sum")
    assert "sums are divided by their weight once, not in every iteration" in made.numerics
    found = verify(text, "kernel.py", made, calls=3)
    assert found.holds, str(found)


@pytest.mark.parametrize("update", OTHERS)
def test_a_mean_that_follows_something_else_is_no_quotient(update: str) -> None:
    text, made = lifted(MEAN.format(update=OTHERS[update]))
    assert "sums are divided by their weight once, not in every iteration" not in made.numerics
    if made.source is not None:
        found = verify(text, "kernel.py", made, calls=3)
        assert found.holds, str(found)


def test_attention_within_segments_is_lifted() -> None:
    text, made = lifted(RAGGED)
    assert made.status == "lifted", made.reason
    assert any(line.startswith("o[members, d] = ") for line in lines_of(made))
    found = verify(text, "kernel.py", made, calls=2)
    assert found.holds, str(found)

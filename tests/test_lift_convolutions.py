"""Lifting of loops that count taps and blocks of channels together, and of bounds of what is taken apart."""

from __future__ import annotations

import pytest

from intentc.lift_verification import verify
from tests.test_lift_recurrences import lines_of
from tests.test_lift_wrapping import lifted

CONVOLUTION = """
@triton.jit
def kernel(x_ptr, w_ptr, y_ptr, N, C, L, T, K, BLOCK: tl.constexpr, BLOCK_C: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = i // T
    t = i % T
    blocks = tl.cdiv(C, BLOCK_C)
    total = tl.zeros((BLOCK,), tl.float32)
    for kc in range({trips}):
        c = (kc % blocks) * BLOCK_C + tl.arange(0, BLOCK_C)
        k = kc // blocks
        inside = (row < N)[:, None] & (c < C)[None, :]
        x = tl.load(x_ptr + (row[:, None] * C + c[None, :]) * L + (t + k)[:, None], mask=inside, other=0.0)
        w = tl.load(w_ptr + c * K + k, mask=c < C, other=0.0)
        total += tl.sum(x * w[None, :], axis=1)
    tl.store(y_ptr + row * T + t, total, mask=row < {rows})


def call(x, w, y):
    N, C, L = x.shape
    T = y.shape[1]
    kernel[(triton.cdiv(N * T, 16),)](x, w, y, N, C, L, T, w.shape[1], BLOCK=16, BLOCK_C=16)
"""


def test_a_loop_over_taps_and_blocks_of_channels_is_two_sums() -> None:
    text, made = lifted(CONVOLUTION.format(trips="K * blocks", rows="N"))
    assert made.status == "lifted", made.reason
    assert not any("BLOCK" in line for line in lines_of(made))
    found = verify(text, "kernel.py", made, calls=3)
    assert found.holds, str(found)


@pytest.mark.parametrize("changed", [{"trips": "K * blocks - 1"}, {"rows": "N - 1"}, {"trips": "K * (blocks + 1)"}])
def test_other_bounds_are_not_taken_for_these(changed: dict[str, str]) -> None:
    text, made = lifted(CONVOLUTION.format(**{"trips": "K * blocks", "rows": "N", **changed}))
    if made.source is not None:
        found = verify(text, "kernel.py", made, calls=3)
        assert found.holds, str(found)

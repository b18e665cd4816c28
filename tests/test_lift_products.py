"""Products of blocks with scales of their own, and what a product tells of its operands: run side by side."""

from __future__ import annotations

import textwrap

import pytest

from intentc.lift_verification import verify
from translators.lifting.files import lift_text, source_of
from translators.lifting.lift import Lifted

HEAD = """import triton
import triton.language as tl

"""

SCALED_BLOCKS = """
    @triton.jit
    def largest(q_ptr, k_ptr, s_ptr, y_ptr, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
        p = tl.program_id(0)
        m, d = p * BM + tl.arange(0, BM), tl.arange(0, D)
        q = tl.load(q_ptr + m[:, None] * D + d[None, :])
        best = tl.full([BM], float("-inf"), tl.float32)
        for j in range(0, tl.cdiv(N, BN)):
            n = j * BN + tl.arange(0, BN)
            k = tl.load(k_ptr + n[None, :] * D + d[:, None], mask=n[None, :] < N)
            scores = tl.dot(q, k, allow_tf32=False) * tl.load(s_ptr + j)
            best = tl.maximum(best, tl.max(scores, 1))
        tl.store(y_ptr + m, best)
"""

NARROW_SUMS = """
    @triton.jit
    def mixed(x_ptr, v_ptr, y_ptr, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
        m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
        acc = tl.zeros([BM, D], dtype=tl.float32)
        for j in range(0, N, BN):
            n = j + tl.arange(0, BN)
            x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
            v = tl.load(v_ptr + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
            acc += tl.dot(x.to(tl.float16), v, out_dtype=tl.float16)
        tl.store(y_ptr + m[:, None] * D + d[None, :], acc.to(tl.float16))
"""


def lifted(text: str) -> Lifted:
    (kernel,) = lift_text(HEAD + textwrap.dedent(text), "kernels.py").kernels
    return kernel


def checked(text: str) -> Lifted:
    kernel = lifted(text)
    assert kernel.source is not None, kernel.reason
    found = verify(HEAD + textwrap.dedent(text), "kernels.py", kernel, 3)
    assert found.holds, found
    return kernel


def test_a_block_with_a_scale_of_its_own_is_a_quotient() -> None:
    """The last block may be short: lanes that a load leaves undefined are in no launch that is lifted."""
    kernel = checked(SCALED_BLOCKS)
    assert kernel.groups == ("BN",)
    assert "// BN" in (source_of((kernel,), "kernels.py") or "")
    assert any("leaves undefined" in note.text for note in kernel.notes if note.basis == "assumed")


def test_blocks_that_overlap_are_not_decoded() -> None:
    """With lanes of two blocks, a coordinate has two scales."""
    text = SCALED_BLOCKS.replace("n = j * BN + tl.arange(0, BN)", "n = j * BN + tl.arange(0, 2 * BN)")
    kernel = lifted(text)
    assert kernel.source is None or verify(HEAD + textwrap.dedent(text), "kernels.py", kernel, 3).holds
    assert not any("number of a block" in note.text for note in kernel.notes)


def test_a_product_tells_the_type_of_what_is_loaded() -> None:
    kernel = checked(NARROW_SUMS)
    assert {view.pointer: view.view.dtype.name for view in kernel.views} == {
        "x_ptr": "f32",
        "v_ptr": "f16",
        "y_ptr": "f16",
    }
    assert any("sums in f16" in remark for remark in kernel.numerics)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x.to(tl.float16), v", "x.to(tl.float16), v * 2.0"),
        ("x.to(tl.float16), v", "x.to(tl.bfloat16), v.to(tl.float16)"),
    ],
)
def test_a_product_of_two_types_is_refused(old: str, new: str) -> None:
    kernel = lifted(NARROW_SUMS.replace(old, new).replace(", out_dtype=tl.float16", ""))
    assert kernel.source is None
    assert kernel.reason is not None
    assert "a dot of" in kernel.reason


def test_a_rounding_between_product_and_sum_stays() -> None:
    """Rounded explicitly, every block's product is a number of its own."""
    text = NARROW_SUMS.replace("v, out_dtype=tl.float16)", "v).to(tl.float16)")
    kernel = lifted(text)
    assert kernel.source is None or "BN" in kernel.groups


ASSERTED = """
    @triton.jit
    def halves(x_ptr, y_ptr, N, K: tl.constexpr, B: tl.constexpr):
        tl.static_assert(K % 8 == 0, "whole words")
        i = tl.program_id(0) * B + tl.arange(0, B)
        total = tl.zeros([B], dtype=tl.float32)
        for k in tl.static_range(K):
            total += tl.load(x_ptr + i * K + k, mask=i < N, other=0.0)
        tl.store(y_ptr + i, total, mask=i < N)
"""


def test_values_that_an_assertion_rules_out_are_not_lifted_for() -> None:
    """4 is tried before 16: no launch has it."""
    kernel = checked(ASSERTED)
    assert any("K is 16" in note.text for note in kernel.notes)
    refused = lifted(ASSERTED.replace("K % 8 == 0", "K % 8 == 1"))
    assert refused.source is None
    assert "static assertion" in (refused.reason or "")

"""Products of matrices in groups, each with scales of its own, and floats of eight bits that are written out."""

from __future__ import annotations

from pathlib import Path

import pytest
from round_trips import round_trip

from intentc.lift_verification import verify
from tests.test_lift_functions import one

GOLDEN = Path(__file__).parents[1] / "golden"
GROUPS = """import triton
import triton.language as tl


@triton.jit
def kernel(a_ptr, b_ptr, s_ptr, c_ptr, M, N, G, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, K: tl.constexpr = 32):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, K)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for g in range(G):
        a = tl.load(a_ptr + (m[:, None] * G + g) * K + k[None, :], mask=m[:, None] < M, other=0.0)
        b = tl.load(b_ptr + (g * K + k[:, None]) * N + n[None, :], mask=n[None, :] < N, other=0.0)
        s = tl.load(s_ptr + m * G + g, mask=m < M, other=0.0)
        total += tl.dot(a, b, input_precision="ieee") * s[:, None]
    tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))
"""


def test_groups_of_products_are_a_batch() -> None:
    kernel = one(GROUPS)
    assert kernel.status == "lifted" and kernel.source is not None
    body = "\n".join(kernel.source.body)
    assert "reduce=((2, 1),), batch=((1, 0),)" in body and "axis=1" in body
    found = verify(GROUPS, "k.py", kernel, calls=2)
    assert found.holds, (str(found), kernel.source)


@pytest.mark.parametrize(
    ("stem", "old", "new"),
    [
        ("fp8_gemm", "g * stride_a_scale_g", "(g + 1) * stride_a_scale_g"),
        ("fp8_gemm", "n * stride_b_scale_n + g", "n * stride_b_scale_n + 2 * g"),
        ("fp8_gemm", "total + part * a_scale", "total + part * part * a_scale"),
        ("scaled_matmul", "bitcast=True) * 256.0", "bitcast=True) * 128.0"),
        ("scaled_matmul", "(byte & 0x7F) == 0x7F", "(byte & 0x7F) == 0x7E"),
        ("group_quantize_fp8", "bits + 0x7FFFF + ", "bits + 0x7FFFE + "),
        ("group_quantize_fp8", ", -448.0)", ", -447.0)"),
    ],
)
def test_other_products_and_conversions_are_other_programs(stem: str, old: str, new: str) -> None:
    module = (GOLDEN / stem / "module.py").read_text()
    assert old in module
    trip = round_trip(stem, module.replace(old, new))
    assert trip is not None and not trip.answer.startswith("same"), trip

"""An axis that has a stride of its own is one axis, however its coordinate is decoded elsewhere."""

from __future__ import annotations

import pytest

from intentc.lift_verification import verify
from tests.test_lift_functions import one

PAIRS = """import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n, stride_x, stride_y, stride_d, stride_e, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, 64)
    even = tl.load(x_ptr + i[:, None] * stride_x + (d[None, :] // 2 * 2) * stride_d, mask=i[:, None] < n)
    odd = tl.load(x_ptr + i[:, None] * stride_x + (d[None, :] // 2 * 2 + 1) * stride_d, mask=i[:, None] < n)
    y = tl.where(d[None, :] % 2 == 0, -odd, even)
    tl.store(y_ptr + i[:, None] * stride_y + d[None, :] * stride_e, y, mask=i[:, None] < n)
"""


def shapes(text: str) -> list[str]:
    kernel = one(text)
    assert kernel.source is not None
    found = verify(text, "k.py", kernel, calls=2)
    assert found.holds, (str(found), kernel.source)
    return [annotation.partition(", ")[2].rstrip("]") for _, annotation in kernel.source.parameters[:2]]


def test_axes_with_strides_are_whole() -> None:
    assert shapes(PAIRS) == ['("n", 64)', '("n", 64)']


@pytest.mark.parametrize("ends", [(" * stride_e", ""), (" * stride_d", "")])
def test_a_dense_axis_may_be_pairs(ends: tuple[str, str]) -> None:
    """What is stored or loaded without a stride may be split; the program does the same."""
    assert all("64" in each or "32, 2" in each for each in shapes(PAIRS.replace(*ends)))

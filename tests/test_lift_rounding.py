"""Division that rounds down, written with Triton's, which truncates."""

from __future__ import annotations

import pytest

from translators.lifting.files import lift_text

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x_ptr + i, mask=mask, other=0).to(tl.int32)
    b = tl.load(y_ptr + i, mask=mask, other=1).to(tl.int32)
    q, r = a // b, a % b
    tl.store(out_ptr + i, {value}, mask=mask)
"""


def _lifted(value: str) -> str:
    source = lift_text(KERNEL.format(value=value), "kernel.py").source
    assert source is not None
    return source


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("tl.where((r != 0) & ((a ^ b) < 0), q - 1, q)", "//"),
        ("tl.where((r != 0) & ((r ^ b) < 0), r + b, r)", "%"),
        ("tl.where((r != 0) & ((a ^ b) < 0), r + b, r)", "%"),
    ],
)
def test_rounding_down(value: str, wanted: str) -> None:
    lifted = _lifted(value)
    assert wanted in lifted
    assert "select" not in lifted


@pytest.mark.parametrize(
    "value",
    [
        "tl.where((r != 0) & ((a ^ b) < 0), q + 1, q)",
        "tl.where((r != 0) & ((a ^ b) < 0), q - 2, q)",
        "tl.where((r == 0) & ((a ^ b) < 0), q - 1, q)",
        "tl.where((r != 1) & ((a ^ b) < 0), q - 1, q)",
        "tl.where((r != 0) & ((a ^ b) > 0), q - 1, q)",
        "tl.where((r != 0) | ((a ^ b) < 0), q - 1, q)",
        "tl.where((r != 0) & ((q ^ b) < 0), q - 1, q)",
        "tl.where((r != 0) & ((r ^ a) < 0), r + b, r)",
        "tl.where((r != 0) & ((r ^ b) < 0), r - b, r)",
        "tl.where((r != 0) & ((r ^ b) < 0), r + a, r)",
    ],
)
def test_what_only_looks_like_rounding_down(value: str) -> None:
    assert "select" in _lifted(value)

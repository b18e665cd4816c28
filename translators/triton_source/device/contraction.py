# mypy: ignore-errors
"""Matrix products of tiles."""

import os

import triton
import triton.language as tl

_INTERPRETED = tl.constexpr(os.getenv("TRITON_INTERPRET") == "1")


@triton.jit
def _dot_bfloat16(a, b, total):
    # The CPU interpreter multiplies bfloat16 wrongly; their products are exact in float32.
    if _INTERPRETED:
        a = a.to(tl.float32)
        b = b.to(tl.float32)
    return tl.dot(a, b, total)


@triton.jit
def _product_bfloat16(a, b):
    if _INTERPRETED:
        a = a.to(tl.float32)
        b = b.to(tl.float32)
    return tl.dot(a, b)

"""Functions of Triton's language and device library: each means what it computes, run side by side."""

from __future__ import annotations

import textwrap

import pytest

from intentc.lift_verification import verify
from translators.lifting.files import Wanted, lift_text
from translators.lifting.lift import Lifted

HEAD = """import triton
import triton.language as tl
from triton.language.extra import libdevice
from somewhere import pointwise_dynamic

"""
KERNEL = """
@triton.jit
def combine(x_ptr, k_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside, other=1.0)
    k = tl.load(k_ptr + i, mask=inside, other=1)
    tl.store(y_ptr + i, {value}, mask=inside)
"""
VALUES = {
    "clamp": "tl.clamp(x, -0.5, 0.5)",
    "log2": "tl.log2(tl.abs(x)) + tl.math.log2(x * x + 1.0)",
    "power": "libdevice.pow(tl.abs(x), 3.0) + libdevice.pow(x, 2)",
    "rint": "libdevice.rint(x * 4.0) + libdevice.nearbyint(k * 0.5)",
    "trunc": "libdevice.trunc(x * 3.0)",
    "tan": "libdevice.tan(x * 0.5)",
    "isnan": "tl.where(libdevice.isnan(tl.where(k > 1, x, float('nan'))), 1.0, x)",
    "isinf": "tl.where(libdevice.isinf(x / tl.where(k > 1, 1.0, 0.0)), 1.0, x)",
    "finitef": "tl.where(libdevice.finitef(x / tl.where(k > 1, 1.0, 0.0)), x, 2.0)",
    "fast": "libdevice.fast_expf(x) + libdevice.fast_dividef(x, 3.0)",
    "division that rounds to zero": "(k - 3) // 2 * 1.0 + (k - 3) % 2 * 10.0 + (5 - 3 * k) // (k - 9) * 100.0",
    "one rounding": "tl.math.fma(x, x, 1.0) + tl.fma(x, 2.0, 1.0)",
    "quotient rounded up": "tl.cdiv(k, 3) * 1.0",
}


def one(text: str, **wanted: object) -> Lifted:
    (made,) = lift_text(text, "kernel.py", Wanted(**wanted)).kernels  # type: ignore[arg-type]
    assert made.source is not None, made.reason
    return made


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_functions(value: str) -> None:
    from intent import dtypes as d

    text = HEAD + KERNEL.format(value=value)
    kernel = one(text, dtypes={"k_ptr": d.i32})
    assert verify(text, "kernel.py", kernel, calls=2).holds, kernel.source


def test_a_type_as_a_function() -> None:
    kernel = one(HEAD + KERNEL.format(value="tl.float32(k) * tl.float32(2)"))
    assert "y[n_domain] = k[n_domain] * 2.0" in "\n".join(kernel.source.body)  # type: ignore[union-attr]


ELEMENTWISE = HEAD + textwrap.dedent(
    """
    @pointwise_dynamic(is_tensor=[True, True, False], promotion_methods=[(0, 1, "DEFAULT"), (0, 1, "DEFAULT")])
    @triton.jit
    def lerp_and_sum(a, b, weight):
        return a + weight * (b - a), a + b
    """
)


def test_functions_of_one_element_are_kernels() -> None:
    kernel = one(ELEMENTWISE)
    assert kernel.status == "lifted" and kernel.physical == ("BLOCK",)
    assert [name for name, _ in kernel.source.parameters] == ["a", "b", "weight", "out0", "out1"]  # type: ignore[union-attr]
    assert verify(ELEMENTWISE, "kernel.py", kernel, calls=2).holds


SWIZZLED = HEAD + textwrap.dedent(
    """
    @triton.jit
    def copy(x_ptr, y_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
        rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
        p = tl.program_id(0)
        i, j = tl.swizzle2d(p // columns, p % columns, rows, columns, GROUP)
        m = i * BM + tl.arange(0, BM)
        n = j * BN + tl.arange(0, BN)
        inside = (m[:, None] < M) & (n[None, :] < N)
        offsets = m[:, None] * N + n[None, :]
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside), mask=inside)

    def host(x, y, M, N):
        grid = lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)
        copy[grid](x, y, M, N, BM=16, BN=16, GROUP=4)
    """
)


def test_swizzle2d() -> None:
    kernel = one(SWIZZLED)
    assert kernel.status == "lifted", kernel.source
    assert verify(SWIZZLED, "kernel.py", kernel, calls=2).holds


@pytest.mark.parametrize(
    ("line", "dtype"),
    [
        ("tl.store(y_ptr + i, tl.load(x_ptr + tl.load(k_ptr + i) // 2))", "i64"),
        ("tl.store(y_ptr + i, tl.load(x_ptr + tl.where(i < 2, tl.load(k_ptr + i), 0)))", "i64"),
    ],
)
def test_elements_used_as_coordinates_are_integers(line: str, dtype: str) -> None:
    text = f"{HEAD}@triton.jit\ndef kernel(x_ptr, k_ptr, y_ptr):\n    i = tl.program_id(0)\n    {line}\n"
    assert f"k: I.In[I.{dtype}" in " ".join(f"{name}: {kind}" for name, kind in one(text).source.parameters)  # type: ignore[union-attr]

"""Which quotients share one exact division: those of float32 that are rounded to float16, of many by one divisor."""

from __future__ import annotations

import numpy as np
import pytest
from program_runs import agree, compiled, device_text

from translators.lifting.files import lift_text

pytestmark = pytest.mark.gpu

KERNEL = """
@intent.kernel
def k(x: I.In[I.f16, ("M", "N")], s: I.f32, out: I.Out[I.{dtype}, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        v = I.cast(x[row, :], I.f32)
        out[row, :] = {value}
"""
SHARED = ("I.cast(v / I.reduce.max(v, axis=0), I.f16)", "I.cast((v + 1.0) / s, I.f16)")
OWN = [
    ("f32", "v / I.reduce.max(v, axis=0)"),
    ("f16", "I.cast(s / v, I.f16)"),
    ("f16", "I.cast(v / (v + 2.0), I.f16)"),
    ("f16", "I.cast(v / I.reduce.max(v, axis=0) + 1.0, I.f16)"),
    ("f16", "I.cast(I.fdiv(v, I.reduce.max(v, axis=0), approximate=True), I.f16)"),
    ("bf16", "I.cast(v / I.reduce.max(v, axis=0), I.bf16)"),
]


@pytest.mark.parametrize("value", SHARED)
def test_shared_divisors(value: str) -> None:
    text = device_text(KERNEL.format(dtype="f16", value=value))
    assert "_half_quotient(" in text and "div_rn" not in text


@pytest.mark.parametrize(("dtype", "value"), OWN)
def test_quotients_of_their_own(dtype: str, value: str) -> None:
    assert "_half_quotient(" not in device_text(KERNEL.format(dtype=dtype, value=value))


@pytest.mark.parametrize("value", SHARED)
@pytest.mark.parametrize("sizes", [(3, 37), (1, 1), (2, 0)])
def test_results(value: str, sizes: tuple[int, int]) -> None:
    x = np.random.default_rng(1).normal(size=sizes).astype(np.float16)
    x[:, 1::7], x[:, 2::9], x[:1, 3::11] = 0.0, -0.0, np.inf
    agree(KERNEL.format(dtype="f16", value=value), {"x": x, "s": 3.7, "out": np.empty(sizes, np.float16)})


def test_they_are_read_as_quotients() -> None:
    source = compiled(KERNEL.format(dtype="f16", value=SHARED[0])).source
    assert source is not None
    lifted = lift_text(source, "module.py").source
    assert lifted is not None and "x_f32 / x_max" in lifted

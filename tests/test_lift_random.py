"""Random numbers are lifted to the language's own, bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from intent import dtypes as d
from intentc.lift_verification import verify
from tests.test_lift_functions import HEAD, KERNEL, one
from translators.lifting.files import Wanted, lift_text

RANDOM = (Path(__file__).parent / "lift" / "randomness.py").read_text()
INTEGERS = {"ids_ptr": d.i32, "seed_ptr": d.i64}


@pytest.mark.parametrize("name", ["dropout_kernel", "words_kernel", "drawn_kernel"])
def test_numbers_are_the_same(name: str) -> None:
    kernel = one(RANDOM, kernel=name, dtypes=INTEGERS if name == "drawn_kernel" else {})
    assert kernel.status == "lifted"
    found = verify(RANDOM, "randomness.py", kernel, calls=2)
    assert found.holds, (str(found), kernel.source)


def test_seed_is_an_integer() -> None:
    kernel = one(RANDOM, kernel="dropout_kernel")
    assert kernel.source is not None and ("seed", "I.index") in kernel.source.parameters


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("tl.rand(3, i - 5)", "may be negative"),
        ("tl.rand(3, i, 7)", "another number of rounds"),
        ("tl.rand(3, x)", "no integer"),
    ],
)
def test_what_is_refused(value: str, reason: str) -> None:
    (kernel,) = lift_text(HEAD + KERNEL.format(value=value), "k.py").kernels
    assert kernel.source is None and reason in str(kernel.reason)


PHILOX = (Path(__file__).parent / "lift" / "philox.py").read_text()


def written(name: str) -> tuple[str, bool]:
    """The body of a lifted kernel of `lift/philox.py`, and whether it agrees with its original."""
    types = {"y_ptr": d.i32, "ids_ptr": d.i64, "seed_ptr": d.i64}
    kernel = one(PHILOX, kernel=name, dtypes=types)
    assert kernel.status == "lifted" and kernel.source is not None, kernel.reason
    return "\n".join(kernel.source.body), verify(PHILOX, "philox.py", kernel, calls=2).holds


@pytest.mark.parametrize(
    ("name", "drawn"),
    [("words_kernel", 4), ("two_words_kernel", 1), ("misplaced_words_kernel", 4)],
)
def test_rounds_that_a_kernel_computes_are_the_generator(name: str, drawn: int) -> None:
    body, holds = written(name)
    assert holds
    assert body.count("I.random.bits") == drawn and ">> 32" not in body


@pytest.mark.parametrize("name", ["nine_rounds_kernel", "other_factor_kernel", "other_key_kernel", "third_word_kernel"])
def test_rounds_of_another_generator_stay_arithmetic(name: str) -> None:
    body, holds = written(name)
    assert holds
    assert "I.random" not in body


UNSIGNED = """import triton
import triton.language as tl


@triton.jit
def kernel(k_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = tl.load(k_ptr + i, mask=i < n, other=0)
    tl.store(y_ptr + i, ({value}).to(tl.int64), mask=i < n)
"""


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        *((f"k {rest}", dtype) for rest in ("+ 250", "<< 3", "* 17 >> 1", "// 3") for dtype in (d.u8, d.u32)),
        ("k + 0xCD9E8D57", d.u32),
        ("tl.umulhi(k, k * 3)", d.u32),
        ("tl.umulhi(k, 0xCD9E8D57)", d.u32),
    ],
)
def test_numbers_that_wrap_around(value: str, dtype: d.DType) -> None:
    """A literal takes the type of what it is combined with; an upper half is one of unsigned numbers."""
    text = UNSIGNED.format(value=value)
    kernel = one(text, dtypes={"k_ptr": dtype, "y_ptr": d.i64})
    assert kernel.source is not None
    found = verify(text, "k.py", kernel, calls=2)
    assert found.holds, (str(found), kernel.source)


def test_upper_half_of_signed_numbers_is_refused() -> None:
    (kernel,) = lift_text(UNSIGNED.format(value="tl.umulhi(k, 5)"), "k.py", Wanted(dtypes={"k_ptr": d.i32})).kernels
    assert kernel.source is None and "unsigned integers of 32 bits" in str(kernel.reason)

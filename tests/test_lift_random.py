"""Random numbers are lifted to the language's own, bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from intent import dtypes as d
from intentc.lift_verification import verify
from tests.test_lift_functions import HEAD, KERNEL, one
from translators.lifting.files import lift_text

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

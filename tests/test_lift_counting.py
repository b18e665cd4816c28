"""Loops that count by hand are loops over a range; programs that take turns dissolve."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentc.lift_verification import verify
from tests.test_lift_functions import HEAD, one
from translators.algebra.polynomial import number, symbol
from translators.lifting.files import lift_text
from translators.lifting.lift import Launch, lift_kernel
from translators.triton_source.read.source import read_file

COUNTING = (Path(__file__).parent / "lift" / "counting.py").read_text()


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("row_sum_kernel", "y[m] = I.reduce.sum(x[m, n_domain], axis=1)"),
        ("powers_kernel", "for k in range(m):"),
        ("strided_kernel", "y[n_domain] = x[n_domain] + m"),
        ("turns_kernel", "for row in I.parallel(I.domain(0, n_rows)):"),
    ],
)
def test_loops_that_count(name: str, statement: str) -> None:
    kernel = one(COUNTING, kernel=name)
    assert kernel.status == "lifted" and kernel.source is not None
    assert statement in kernel.source.body, kernel.source
    assert verify(COUNTING, "counting.py", kernel, calls=3).holds


@pytest.mark.parametrize(
    "loop",
    [
        "while k < n:\n        k += 1\n        tl.store(y_ptr + k, 1.0)",
        "while k < n:\n        n -= 1\n        tl.store(y_ptr + k, 1.0)\n        k += 1",
        "while k < n:\n        tl.store(y_ptr + k, 1.0)\n        k -= 1",
        "while k != n:\n        tl.store(y_ptr + k, 1.0)\n        k += 1",
        "while k < n:\n        tl.store(y_ptr + k, 1.0)\n        k += k",
        "while k < n:\n        if k == 2:\n            break\n        tl.store(y_ptr + k, 1.0)\n        k += 1",
    ],
)
def test_other_loops_are_refused(loop: str) -> None:
    text = HEAD + f"@triton.jit\ndef kernel(y_ptr, n):\n    k = 0\n    {loop}\n"
    (kernel,) = lift_text(text, "k.py").kernels
    assert kernel.source is None and "the statement 'while" in str(kernel.reason)


def test_a_launch_has_programs_along_axes_that_are_not_asked_for() -> None:
    file = read_file(COUNTING, "counting.py")
    (function,) = (each for each in file.kernels if each.name == "row_sum_kernel")
    kernel = lift_kernel(file, function, Launch(grid=(symbol("rows"), symbol("parts"), number(1))))
    assert any(note.text == "parts is at least 1: a launch has programs" for note in kernel.notes)
    assert kernel.correspondence is not None and symbol("parts") - 1 in kernel.correspondence.facts

"""Reductions by functions of elements: lifted, they run as the original does; what depends on the order is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from intent import dtypes as d
from intent.dtypes import DType
from intentc.lift_verification import verify
from tests.test_lift_functions import HEAD, one
from translators.intent_source.write import SourceFunction, SourceKernel, write_file
from translators.lifting.files import Wanted, lift_text
from translators.pipeline import check_text

CORPUS = (Path(__file__).parent / "lift" / "combines.py").read_text()
REDUCED = (
    HEAD
    + """
@triton.jit
def combine(a, b):
    return {combine}

@triton.jit
def reduced(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other={other})
    tl.store(y_ptr, tl.reduce(x, 0, combine))
"""
)
INTEGERS: dict[str, DType] = {"x_ptr": d.i32, "y_ptr": d.i32}


@pytest.mark.parametrize("name", ["row_moments", "row_largest", "row_total_and_largest", "row_parity"])
def test_what_is_combined_is_the_same(name: str) -> None:
    kernel = one(CORPUS, kernel=name, dtypes={"ids_ptr": d.i32} if name == "row_parity" else {})
    assert kernel.status == "lifted"
    assert verify(CORPUS, "combines.py", kernel, calls=3).holds, kernel.source


def test_results_of_one_reduction_are_named_together() -> None:
    kernel = one(CORPUS, kernel="row_moments")
    assert kernel.source is not None
    assert "\n".join(kernel.source.body).count("I.reduce(") == 1
    (function,) = kernel.source.functions
    assert function.parameters == ("left", "right") and function.body[-1] == "return mean, count, spread"


def test_parts_that_do_not_read_each_other_are_reductions_with_names() -> None:
    kernel = one(CORPUS, kernel="row_total_and_largest")
    assert kernel.source is not None and not kernel.source.functions


@pytest.mark.parametrize(
    "combine", ["a", "a - b", "a * 2 + b", "tl.where(a > 2, a, b)", "(a + b) // 2"], ids=lambda text: text
)
def test_what_depends_on_the_order_is_refused(combine: str) -> None:
    (kernel,) = lift_text(REDUCED.format(combine=combine, other="0"), "k.py", Wanted(dtypes=INTEGERS)).kernels
    assert kernel.source is None and "depends on the order" in str(kernel.reason)


def test_padding_that_counts_is_kept() -> None:
    text = REDUCED.format(combine="a ^ b", other="1")
    kernel = one(text, dtypes=INTEGERS)
    assert kernel.groups == ("BLOCK",)
    assert verify(text, "k.py", kernel, calls=3).holds, kernel.source


def test_the_least_integer_is_a_minimum() -> None:
    text = REDUCED.format(combine="tl.minimum(a, b)", other="2147483647")
    kernel = one(text, dtypes=INTEGERS)
    assert "~I.reduce.max(~x[n_domain], axis=0)" in "\n".join(kernel.source.body)  # type: ignore[union-attr]


def test_numbers_that_a_function_divides_by_are_at_least_1() -> None:
    text = CORPUS.replace("ones = tl.where(inside, 1.0, 0.0)", "ones = tl.load(count_ptr + row * N + i, inside, 0.0)")
    text = text.replace("def row_moments(x_ptr, ", "def row_moments(x_ptr, count_ptr, ")
    kernel = one(text, kernel="row_moments")
    assert any("elements of count_ptr are at least 1" in note.text for note in kernel.notes)
    assert verify(text, "combines.py", kernel, calls=3).holds, kernel.source


def test_no_number_is_the_identity_of_the_place_of_the_largest() -> None:
    """What a function does not divide by may be anything: its identity leaves negative and infinite numbers too."""
    text = (
        HEAD
        + """
@triton.jit
def earlier(a, i, b, j):
    take = (b > a) | ((b == a) & (j < i))
    return tl.where(take, b, a), tl.where(take, j, i)

@triton.jit
def largest(x_ptr, y_ptr, at_ptr):
    i = tl.arange(0, 64)
    value, place = tl.reduce((tl.load(x_ptr + i), i), 0, earlier)
    tl.store(y_ptr, value)
    tl.store(at_ptr, place)
"""
    )
    kernel = one(text, dtypes={"at_ptr": d.i32})
    assert kernel.source is not None, kernel.reason
    assert "identity=(-I.inf, 2147483647)" in "\n".join(kernel.source.body)
    assert not any("at least 1" in note.text for note in kernel.notes)
    assert verify(text, "k.py", kernel, calls=3).holds, kernel.source


def test_functions_of_one_name_in_two_kernels() -> None:
    kernels = [
        SourceKernel(
            f"k{position}",
            (("x", 'I.In[I.f32, ("N",)]'), ("y", "I.Out[I.f32, ()]")),
            ("y[()] = I.reduce(x[:], axis=0, identity=0.0, combine=both)",),
            functions=(SourceFunction("both", ("a", "b"), (f"return a + b * {number}.0",)),),
        )
        for position, number in enumerate((1, 1, 2))
    ]
    text = write_file(kernels, "A test.")
    assert text.count("def both(") == 1 and text.count("def both_2(") == 1 and text.count("combine=both_2)") == 1
    assert not [each for each in check_text(text, "k.py").diagnostics if each.severity == "error"]

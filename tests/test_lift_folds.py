"""Loops that combine one element after the other by the function of the reduction that follows; and what does not."""

from __future__ import annotations

import pytest

from intentc.lift_verification import verify
from tests.test_lift_recurrences import lines_of
from tests.test_lift_wrapping import lifted
from translators.lifting.lift import Lifted

MOMENTS = """
@triton.jit
def merge(count, mean, deviation, other_count, other_mean, other_deviation):
    share = other_count / tl.maximum(count + other_count, 1.0)
    return (
        count + other_count,
        mean + (other_mean - mean) * share,
        deviation + other_deviation + (other_mean - mean) * (other_mean - mean) * count * share,
    )


@triton.jit
def other(count, mean, deviation, other_count, other_mean, other_deviation):
    share = other_count / tl.maximum(count + other_count, 1.0)
    return count + other_count, mean + (other_mean - mean) * share, deviation + other_deviation


@triton.jit
def kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    count = tl.full((BLOCK,), {count}, tl.float32)
    mean = tl.full((BLOCK,), {mean}, tl.float32)
    deviation = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = i < n
        x = tl.load(x_ptr + row * n + i, mask=inside, other=0.0)
        new_count, new_mean, new_deviation = {function}(count, mean, deviation, {elements})
        count = tl.where(inside, new_count, count)
        mean = tl.where({condition}, new_mean, mean)
        deviation = tl.where(inside, new_deviation, deviation)
    count, mean, deviation = tl.reduce((count, mean, deviation), 0, merge)
    tl.store(y_ptr + row, mean)
    tl.store(z_ptr + row, deviation)


def call(x, y, z):
    kernel[(x.shape[0],)](x, y, z, x.shape[1], BLOCK=16)
"""


def _lifted(
    elements: str = "1.0, x, 0.0",
    function: str = "merge",
    condition: str = "inside",
    count: str = "0.0",
    mean: str = "0.0",
) -> tuple[str, Lifted]:
    return lifted(MOMENTS.format(elements=elements, function=function, condition=condition, count=count, mean=mean))


def _verified(text: str, made: Lifted) -> None:
    found = verify(text, "kernel.py", made, calls=4)
    assert found.holds, str(found)


@pytest.mark.parametrize("elements", ["1.0, x, 0.0", "2.0, x * 0.5, x"])
def test_a_loop_and_a_reduction_by_one_function_are_one_reduction(elements: str) -> None:
    text, made = _lifted(elements)
    assert made.status == "lifted", made.reason
    assert str(lines_of(made)).count("I.reduce(") == 1 and "range(" not in str(lines_of(made))
    _verified(text, made)


@pytest.mark.parametrize(
    "changed",
    [
        {"mean": "1.0", "count": "1.0"},  # no identity
        {"function": "other"},
        {"condition": "inside & (i > 2)"},
        {"elements": "1.0, x + mean, 0.0"},
        {"elements": "0.25, x, 0.0"},  # of less than 1 the function is not associative
    ],
    ids=str,
)
def test_what_is_not_one_reduction(changed: dict[str, str]) -> None:
    text, made = _lifted(**changed)
    if made.source is not None:
        assert "range(" in str(lines_of(made))
        _verified(text, made)

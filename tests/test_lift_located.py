"""Where the extremum of a row stands, by loops and functions that choose by comparing; and what looks like it."""

from __future__ import annotations

import pytest

from intentc.lift_verification import verify
from tests.test_lift_recurrences import lines_of
from tests.test_lift_wrapping import lifted
from translators.lifting.lift import Lifted

RUNNING = """
@triton.jit
def kernel(x_ptr, best_ptr, place_ptr, n, W: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), {first}, tl.float32)
    place = tl.full((BLOCK,), {at}, tl.int32)
    for i in range(W):
        x = tl.load(x_ptr + row * W + i, mask=row < n)
        take = {take}
        place = tl.where({chosen}, {picked}, place)
        best = tl.where(take, x, best)
    tl.store(best_ptr + row, best, mask=row < n)
    tl.store(place_ptr + row, place, mask=row < n)


def call(x, best, place):
    kernel[(triton.cdiv(x.shape[0], 16),)](x, best, place, x.shape[0], W=8, BLOCK=16)
"""
LARGEST = "(best == best) & ((x <= best) == 0)"
LEAST = "(best == best) & ((x >= best) == 0)"
ROWS = """
@triton.jit
def pick(value, index, other, other_index):
    larger = {larger}
    equal = (other == value) | ((other != other) & (value != value))
    take = larger | (equal & ({tie}))
    return tl.where(take, other, value), tl.where(take, other_index, index)


@triton.jit
def kernel(x_ptr, best_ptr, place_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    place = tl.full((BLOCK,), {first}, tl.int64)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=-float("inf"))
        take = (best == best) & ((x <= best) == 0)
        place = tl.where(take, {index}, place)
        best = tl.where(take, x, best)
    best, place = tl.reduce((best, place), 0, pick)
    tl.store(best_ptr + row, best)
    tl.store(place_ptr + row, place)


def call(x, best, place):
    kernel[(x.shape[0],)](x, best, place, x.shape[1], BLOCK=16)
"""
LARGER, LOWER = "(other > value) | ((other != other) & (value == value))", "other_index < index"


def _running(
    take: str = LARGEST, chosen: str = "take", picked: str = "i", first: str = '-float("inf")', at: str = "0"
) -> tuple[str, Lifted]:
    return lifted(RUNNING.format(take=take, chosen=chosen, picked=picked, first=first, at=at))


def _rows(larger: str = LARGER, tie: str = LOWER, first: str = "0", index: str = "i") -> tuple[str, Lifted]:
    return lifted(ROWS.format(larger=larger, tie=tie, first=first, index=index))


def _verified(text: str, made: Lifted) -> None:
    found = verify(text, "kernel.py", made, calls=4)
    assert found.holds, str(found)


def test_a_running_maximum_and_its_place() -> None:
    text, made = _running()
    assert made.status == "lifted", made.reason
    assert any("I.arg_reduce.max(" in line for line in lines_of(made)) and "for i in" not in str(lines_of(made))
    assert any(line.startswith("best[") and "I.reduce.max(" in line for line in lines_of(made))
    _verified(text, made)


def test_a_condition_that_is_turned_round() -> None:
    text, made = _running("~((best != best) | (x <= best))")
    assert any("I.arg_reduce.max(" in line for line in lines_of(made))
    _verified(text, made)


def test_a_running_minimum_and_its_place() -> None:
    text, made = _running(LEAST, first='float("inf")')
    assert any("I.arg_reduce.max(-" in line for line in lines_of(made))
    _verified(text, made)


def test_what_is_picked_may_be_more_than_the_place() -> None:
    text, made = _running(picked="2 * i + 5", at="5")
    assert any("I.arg_reduce.max(" in line and "select" not in line for line in lines_of(made))
    _verified(text, made)


def test_the_first_value_stays_where_nothing_is_above_it() -> None:
    """Of a row of -inf alone the place is what it was before the loop."""
    text, made = _running(at="7")
    assert any("I.arg_reduce.max(" in line and "== -I.inf" in str(lines_of(made)) for line in lines_of(made))
    _verified(text, made)


@pytest.mark.parametrize(
    "changed",
    [
        {"take": "(best == best) & ((x < best) == 0)"},  # of equal ones the last
        {"take": "x > best"},  # a NaN is passed by
        {"take": "(x <= best) == 0"},  # a NaN does not stay
        {"first": "0.0"},
        {"chosen": "x > best"},
        {"chosen": "take & (i > 2)"},
        {"picked": "place + 1"},
    ],
    ids=str,
)
def test_what_is_not_the_first_place(changed: dict[str, str]) -> None:
    text, made = _running(**changed)
    if made.source is not None:
        assert not any("arg_reduce" in line for line in lines_of(made))
        _verified(text, made)


def test_a_maximum_that_passes_over_nan() -> None:
    text, made = _running("x > best")
    assert not any("arg_reduce" in line for line in lines_of(made))
    _verified(text, made)


def test_a_maximum_that_the_loop_compares_with_stays_in_the_loop() -> None:
    text, made = _running(chosen="x > best + 1.0")
    assert "for i in range(8):" in lines_of(made) and "I.reduce.max(" not in str(lines_of(made))
    _verified(text, made)


def test_pairs_of_blocks_are_one_row() -> None:
    text, made = _rows()
    assert made.status == "lifted", made.reason
    assert any("I.arg_reduce.max(" in line for line in lines_of(made)) and "combine=" not in str(lines_of(made))
    assert any("a position is one of an element" in note.text for note in made.notes if note.basis == "assumed")
    _verified(text, made)


@pytest.mark.parametrize(
    "changed",
    [
        {"tie": "other_index > index"},
        {"tie": "other_index <= index - 1"},
        {"larger": "other > value"},
        {"larger": "other >= value"},
        {"first": "3"},
        {"first": "-1"},
        {"index": "n - i"},
        {"index": "i // 2"},
    ],
    ids=str,
)
def test_pairs_that_say_another_place(changed: dict[str, str]) -> None:
    text, made = _rows(**changed)
    if made.source is not None:
        assert "combine=pick" in str(lines_of(made)).replace("_pick", "pick")
        _verified(text, made)

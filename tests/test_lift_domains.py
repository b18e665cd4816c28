"""Reductions whose range another coordinate bounds, bins that several programs count, and equations of coordinates."""

from __future__ import annotations

import pytest

from intent import dtypes as d
from intentc.lift_verification import verify
from tests.test_lift_recurrences import lines_of
from tests.test_lift_wrapping import lifted
from translators.algebra.facts import Facts
from translators.algebra.polynomial import atomic, number
from translators.lifting.equations import equated
from translators.lifting.lift import Lifted
from translators.lifting.rewriting import conjunction, conjuncts
from translators.tile.effects import Address
from translators.tile.expression import Arena, Expression
from translators.tile.substitution import as_index

FALLS = """
@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    deepest = tl.full((BLOCK,), -float("inf"), tl.float32)
    before = tl.full((), -float("inf"), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=-float("inf"))
        top = {top}
        before = {after}
        deepest = larger(deepest, tl.where(i < n, top - x, -float("inf")))
    tl.store(y_ptr + row, tl.reduce(deepest, 0, larger))


def call(x, y):
    kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=16)
"""
WHOLE = "larger(before, tl.associative_scan(x, 0, larger))"
ALL = "larger(before, tl.reduce(x, 0, larger))"
BINS = """
@triton.jit
def kernel(x_ptr, y_ptr, n, bins, BINS: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BINS
    counts = tl.zeros((BINS,), tl.int32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0)
        at = x - first
        inside = (i < n) & (at >= {low}) & (at < {high})
        counts += tl.histogram(at.to(tl.{dtype}), BINS, mask=inside)
    place = first + tl.arange(0, BINS)
    tl.store(y_ptr + place, counts, mask=place < bins)


def call(x: "int64", y):
    kernel[(triton.cdiv(y.shape[0], 64),)](x, y, x.shape[0], y.shape[0], BINS=64, BLOCK=16)
"""


def _verified(text: str, made: Lifted) -> None:
    found = verify(text, "kernel.py", made, calls=4)
    assert found.holds, str(found)


def test_a_running_maximum_over_tiles_within_a_reduction_is_a_scan() -> None:
    text, made = lifted(FALLS.format(top=WHOLE, after=ALL))
    assert made.status == "lifted", made.reason
    assert any("I.reduce.max(I.cummax(" in line or "_running - " in line for line in lines_of(made))
    _verified(text, made)


@pytest.mark.parametrize(
    ("top", "after"),
    [
        ("tl.associative_scan(x, 0, larger)", ALL),  # of each tile for itself
        (WHOLE, "tl.reduce(x, 0, larger)"),  # of the tile before
        ("larger(before, tl.associative_scan(x, 0, larger, reverse=True))", ALL),
        (ALL, ALL),
    ],
)
def test_what_is_no_running_maximum_of_all(top: str, after: str) -> None:
    text, made = lifted(FALLS.format(top=top, after=after))
    if made.source is not None:
        assert not any("I.cummax(" in line for line in lines_of(made)) or made.status != "lifted"
        _verified(text, made)


def test_bins_of_several_programs_are_one_axis() -> None:
    _, made = lifted(BINS.format(low=0, high="BINS", dtype="int32"))
    assert made.status == "lifted", made.reason
    assert not any("64" in line for line in lines_of(made))


@pytest.mark.parametrize(("low", "high"), [("1", "BINS"), ("0", "BINS - 1")])
def test_bins_that_are_not_all_counted(low: str, high: str) -> None:
    _, made = lifted(BINS.format(low=low, high=high, dtype="int32"))
    assert made.source is None or any("64" in line for line in lines_of(made))


def _parts(arena: Arena, cast: d.DType, least: int, most: int, bound: int) -> tuple[Facts, Expression]:
    """i32(n) == c, least <= n < most, where c is in [0, bound)."""
    axis = arena.axis("c", number(0), number(bound))
    always = arena.make("constant", d.boolean, (), True)
    value = arena.make(
        "load", d.i64, (as_index(arena, number(0)), always, arena.make("poison", d.i64)), Address("n_ptr", 0)
    )
    narrow, zero = arena.make("cast", cast, (value,)), as_index(arena, number(0))

    def compared(function: str, difference: object) -> Expression:
        return arena.make("pointwise", d.boolean, (as_index(arena, difference), zero), (function, False, False))  # type: ignore[arg-type]

    conditions = [
        compared("equal", atomic(narrow) - atomic(axis)),
        compared("less", number(least - 1) - atomic(value)),
        compared("less", atomic(value) - most),
    ]
    return Facts().with_bounds(axis, 0, bound - 1), conjunction(arena, conditions)


def _shown(cast: d.DType, least: int, most: int, bound: int) -> list[str]:
    arena = Arena()
    facts, condition = _parts(arena, cast, least, most, bound)
    made = equated(arena, facts, condition) or condition
    return [f"{each.attribute[0]} {'narrow' if _narrow(each) else 'wide'}" for each in conjuncts(made)]


def _narrow(condition: Expression) -> bool:
    atoms = condition.arguments[0].polynomial.atoms()
    return any(isinstance(atom, Expression) and atom.operation == "cast" for atom in atoms)


def test_an_equation_of_a_converted_integer_within_its_range() -> None:
    assert _shown(d.i32, 0, 64, 64) == ["equal wide"]
    assert _shown(d.i8, 0, 64, 64) == ["equal wide"]


def test_bounds_that_an_equation_does_not_say() -> None:
    assert _shown(d.i32, 0, 64, 65) == ["equal wide", "less wide"]
    assert _shown(d.i32, 1, 64, 64) == ["equal wide", "less wide"]


def test_a_conversion_that_may_change_the_number() -> None:
    assert _shown(d.i8, 0, 200, 64) == ["equal narrow", "less wide", "less wide"]

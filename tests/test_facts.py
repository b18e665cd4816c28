"""Proofs of inequalities: sound on every small model (brute force), and strong enough for what the planner asks."""

from __future__ import annotations

from itertools import product
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_polynomial import Point, Tree, build, compute, trees, value

from translators.algebra.facts import Facts
from translators.algebra.polynomial import (
    Polynomial,
    Symbol,
    ceiling_divide,
    floor_divide,
    maximum,
    minimum,
    number,
    remainder,
    symbol,
)
from translators.algebra.samples import Samples

N, M, D, i, j, start, lane, pid = map(symbol, ("N", "M", "D", "i", "j", "start", "lane", "pid"))


def knows(**bounds: tuple[Polynomial | int | None, Polynomial | int | None]) -> Facts:
    facts = Facts()
    for name, (low, high) in bounds.items():
        facts = facts.with_bounds(Symbol(name), low, high)
    return facts


def models(facts: Facts) -> list[Point]:
    """Every small point that satisfies the facts."""
    points = [dict(zip("abc", values, strict=True)) for values in product(range(6), repeat=3)]
    return [
        point
        for point in points
        if all(point[atom.name] >= value(low, point) for atom, lows in facts.lows.items() for low in lows)
        and all(point[atom.name] <= value(high, point) for atom, highs in facts.highs.items() for high in highs)
        and all(value(known, point) >= 0 for known in facts.assumed)
    ]


small = st.one_of(st.integers(-1, 5), st.sampled_from([("-", "a", 1), "a", ("+", "a", "b"), ("*", "a", "b"), "b"]))
bound_sets = st.tuples(small, small, small, st.sampled_from([None, ("-", "c", "a"), ("-", "a", "b"), ("-", "b", 1)]))


def facts_from(bounds: tuple[Tree, Tree, Tree, Tree | None]) -> Facts:
    low, high, other, assumed = bounds
    facts = Facts().with_bounds(Symbol("c"), build(low), build(high)).with_bounds(Symbol("b"), None, build(other))
    return facts if assumed is None else facts.assuming(build(assumed))


@settings(max_examples=400, deadline=None)
@given(bound_sets, trees)
def test_proofs_and_intervals_are_sound(bounds: tuple[Tree, Tree, Tree, Tree | None], tree: Tree) -> None:
    facts, polynomial = facts_from(bounds), build(tree)
    proven, interval = facts.nonnegative(polynomial), facts.bounds(polynomial)
    for point in models(facts):
        try:
            actual = compute(tree, point)
        except ZeroDivisionError:
            continue
        assert actual >= 0 or not proven
        assert interval.low is None or actual >= interval.low
        assert interval.high is None or actual <= interval.high


@settings(max_examples=200, deadline=None)
@given(bound_sets, st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3), st.integers(-6, 6))
def test_affine_proofs_are_sound(
    bounds: tuple[Tree, Tree, Tree, Tree | None], x: int, y: int, z: int, offset: int
) -> None:
    facts, polynomial = facts_from(bounds), x * symbol("a") + y * symbol("b") + z * symbol("c") + offset
    if facts.nonnegative(polynomial):
        assert all(value(polynomial, point) >= 0 for point in models(facts))


ROW = knows(i=(0, N - 1), j=(0, M - 1))
TILE = knows(start=(0, N - 1), lane=(0, 127), pid=(0, ceiling_divide(N, number(128)) - 1))


@pytest.mark.parametrize(
    ("facts", "polynomial"),
    [
        (Facts(), N),
        (Facts(), N * M + 3),
        (ROW, N - 1 - i),
        (ROW, N * M - 1 - (i * M + j)),  # a row-major offset stays inside
        (ROW, i * M + j),
        (ROW, minimum(N, M) - 0),
        (ROW, N - 1 - minimum(i, j + N)),
        (ROW, N + 2 - maximum(i, i + 3)),
        (ROW, floor_divide(i, number(4))),
        (ROW, floor_divide(N - 1, number(4)) - floor_divide(i, number(4))),
        (ROW, 3 - remainder(i, number(4))),
        (ROW, i - remainder(i, number(4))),
        (Facts(), remainder(i, N)),  # nothing is divided by zero
        (Facts(), N - 1 - remainder(i, N)),
        (knows(N=(1, None), pid=(0, M * N - 1)), M - 1 - floor_divide(pid, N)),  # the two parts of a flat program id
        (knows(N=(1, None), pid=(0, M * N - 1)), N - 1 - remainder(pid, N)),
        (TILE, N - 1 - 128 * pid),  # the first lane of every program exists
        (TILE, 127 + N - 1 - (128 * pid + lane)),
        (knows(i=(0, 2 * N - 1)), N - 1 - floor_divide(i, number(2))),
        (knows(i=(0, N - 1)), 2 * N - 1 - (2 * i + 1)),
        (knows(i=(1, N - 2)), i - 1),
        (knows(i=(1, N - 2)), N - 1 - (i + 1)),
        (knows(i=(0, j), j=(0, N - 1)), N - 1 - i),
        (knows(D=(1, None)), floor_divide(i, D) * D - i + D - 1),
        (Facts().assuming(M - N), M - N + 2),
        (Facts().assuming(M - N).with_bounds(Symbol("i"), 0, N - 1), M - 1 - i),
        (knows(N=(1, None)), ceiling_divide(N, number(16)) * 16 - N),
        (Facts(), N - minimum(N, M)),
        (Facts(), maximum(N, M) - minimum(N, M)),
    ],
)
def test_the_planner_can_prove(facts: Facts, polynomial: Polynomial) -> None:
    assert facts.nonnegative(polynomial)


@pytest.mark.parametrize(
    ("facts", "polynomial"),
    [
        (Facts(), N - 1),  # an extent may be zero
        (ROW, N - 2 - i),
        (ROW, M - 1 - i),
        (TILE, N - 1 - (128 * pid + lane)),
        (Facts(), remainder(i, D - 4)),
        (knows(i=(None, None)), i - 1),
    ],
)
def test_what_does_not_hold_is_not_proven(facts: Facts, polynomial: Polynomial) -> None:
    assert not facts.nonnegative(polynomial)


def test_comparisons() -> None:
    assert ROW.less(i, N) and ROW.less_equal(i + 1, N) and not ROW.less(i + 1, N)
    assert ROW.positive(i + 1) and not ROW.positive(i)
    assert Facts().equal(N + M, M + N) and not Facts().equal(N, M)
    assert ROW.with_bounds(Symbol("i"), None, 3).less(i, 4)
    assert Facts().bounds(remainder(i, number(4))).high == 3


def test_circular_bounds_end() -> None:
    facts = knows(i=(j, j), j=(i, i))
    assert not facts.nonnegative(i - j - 1)
    assert facts.nonnegative(i - j)


def test_a_question_is_cheap() -> None:
    hard = N * M * D - 1 - (floor_divide(pid, number(7)) * M * D + remainder(pid, number(7)) * D + i * j + lane)
    begin = process_time()
    for _ in range(5):
        ROW.nonnegative(hard)
    assert process_time() - begin < 1.0


def test_points_meet_every_fact() -> None:
    facts = knows(N=(1, None), i=(0, N - 1), j=(i, 2 * N)).assuming(3 * M - N).assuming(j - i - 1)
    points = Samples(facts.lows, facts.highs, facts.assumed).points()
    assert len(points) >= 3
    for point in points:
        assert point.polynomial(N) >= 1
        assert 0 <= point.polynomial(i) <= point.polynomial(N) - 1
        assert point.polynomial(i) < point.polynomial(j) <= 2 * point.polynomial(N)
        assert point.polynomial(3 * M - N) >= 0


def test_points_refute_what_does_not_hold_only() -> None:
    samples = Samples(TILE.lows, TILE.highs, TILE.assumed)
    assert samples.refute(N - 1 - (128 * pid + lane))
    assert not samples.refute(N - 1 - 128 * pid)
    assert not samples.refute(remainder(pid, N))  # where N is 0 the remainder has no value


def test_points_for_one_question_meet_every_fact_too() -> None:
    facts = knows(N=(1, None), i=(0, N - 1)).assuming(M - 40 * N)
    samples = Samples(facts.lows, facts.highs, facts.assumed)
    assert samples.refute_elsewhere(i - 1) and samples.refute_elsewhere(41 * N - M - 1)
    assert not samples.refute_elsewhere(N - 1 - i) and not samples.refute_elsewhere(M - 40 * i - 40)

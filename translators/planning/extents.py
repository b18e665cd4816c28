"""What is known about extents: facts about coordinates, and what the host can count before the launch."""

from __future__ import annotations

from collections.abc import Iterable

from intent.dtypes import DType
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Polynomial, Symbol, number
from translators.planning.ranges import known_at_launch
from translators.planning.regions import Region
from translators.planning.sinks import Loop
from translators.tile.expression import Axis


def region_facts(region: Region) -> Facts:
    """Every axis and loop variable lies within its bounds; unsigned values are nonnegative."""
    facts = Facts()
    for axis in (*region.axes, *region.twins):
        facts = facts.with_bounds(axis, axis.begin, axis.end - 1)
    for axis in region.program:  # a program runs for a coordinate that there is
        atom = axis.extent.atom
        facts = facts.assuming(axis.extent - 1) if atom is None else facts.with_bounds(atom, 1)
    for loop in region.loops:
        facts = _loop_facts(facts, loop)
    for node in region.nodes:
        if node.operation == "cast" and _never_negative(node.arguments[0].dtype):
            facts = facts.with_bounds(node, 0, None)
        if node.operation == "reduce" and node.attribute.kind == "arg_max" and node.attribute.result == 1:
            facts = facts.with_bounds(node, 0, None)
    return facts


def products_of_sizes(regions: Iterable[Region]) -> list[Polynomial]:
    """Ends of axes that may be large although the sizes that they are products of are not."""
    found = dict.fromkeys(axis.end for region in regions for axis in region.axes if known_at_launch(axis.end))
    return [end for end in found if any(sum(isinstance(a, Symbol) for a in monomial) > 1 for monomial, _ in end.terms)]


def _never_negative(dtype: DType) -> bool:
    """As an index: a 64-bit unsigned integer may wrap."""
    return dtype.kind in ("unsigned", "bool") and dtype.bits < 64


def _loop_facts(facts: Facts, loop: Loop) -> Facts:
    if loop.low is None or loop.high is None:
        return facts
    return facts.with_bounds(loop.token, loop.low.polynomial, loop.high.polynomial - 1)


def covering_power(axis: Axis, facts: Facts, most: int) -> int | None:
    """The smallest power of two, at most `most`, that certainly holds the axis: for `domain(b*s, min(b*s + b, n))`
    the one that holds b.
    """
    extent: Polynomial = axis.extent
    if extent.constant is not None:
        size = 1 << max(extent.constant - 1, 0).bit_length()
        return size if size <= most else None
    if not facts.less_equal(extent, number(most)):
        return None
    size = 1
    while not facts.less_equal(extent, number(size)):
        size *= 2
    return size

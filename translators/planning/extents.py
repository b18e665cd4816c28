"""What is known about extents: facts about coordinates, and what the host can count before the launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from intent.dtypes import DType
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Polynomial, Symbol, atomic, number, product
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
        factors = sizes_multiplied(axis.extent)
        facts = facts if factors else facts.assuming(axis.extent - 1)
        for atom in factors:
            facts = facts.with_bounds(atom, 1)
    for loop in region.loops:
        facts = _loop_facts(facts, loop)
    for node in region.nodes:
        if node.operation == "cast" and _never_negative(node.arguments[0].dtype):
            facts = facts.with_bounds(node, 0, None)
        if node.operation == "reduce" and node.attribute.kind == "arg_max" and node.attribute.result == 1:
            facts = facts.with_bounds(node, 0, None)
    return facts


def sizes_multiplied(extent: Polynomial) -> tuple[Atom, ...]:
    """The atoms that are all positive if the extent is: itself, or the sizes that it is a product of."""
    if extent.atom is not None:
        return (extent.atom,)
    ((monomial, _),) = extent.terms if len(extent.terms) == 1 else (((), 0),)
    return monomial if all(isinstance(atom, Symbol) for atom in monomial) else ()


def bounded_products(region: Region) -> Iterator[Polynomial]:
    """Products of sizes that are no larger than the extent of an axis over the grid, of which they are factors."""
    for axis in region.program:
        sizes = sizes_multiplied(axis.extent)
        for count in range(2, len(sizes) + 1):
            yield from (product(map(atomic, chosen)) for chosen in combinations(sizes, count))


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

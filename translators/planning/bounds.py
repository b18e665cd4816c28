"""Facts about coordinates, and the bounds checks that no fact makes superfluous."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from intent.records import dataclass, field
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Polynomial, Quotient, number, product
from translators.diagnostics import Span
from translators.logical.types import Buffer, Memory
from translators.planning.demand import Demand
from translators.planning.neutral import implied
from translators.planning.regions import Region
from translators.planning.running_maximum import unless_empty
from translators.planning.sinks import Sink
from translators.tile.expression import Expression, Place, walk
from translators.tile.program import Check


@dataclass(slots=True)
class Bounds:
    """Decides bounds checks; remembers which accesses needed one, and whose exponents are not positive."""

    facts: Facts
    demand: Demand
    nonpositive: frozenset[Expression] = frozenset()
    unproven: list[tuple[str, Span | None]] = field(default_factory=list)

    def load(self, node: Expression, span: Span | None) -> tuple[Check, ...]:
        place = node.attribute
        guard = node.arguments[:1]
        checks = self._checks(place.memory, place.coordinates, place.assumed, guard, span)
        return (*checks, *(check for check in self._occupied(place) if check not in checks))

    def atomic(self, node: Expression, span: Span | None) -> tuple[Check, ...]:
        place = node.attribute.place
        guards = node.arguments[-1:] if node.attribute.guarded else ()
        return self._checks(place.memory, place.coordinates, place.assumed, guards, span)

    def store(self, sink: Sink) -> tuple[Check, ...]:
        guard = (sink.predicate,) if sink.predicate is not None else ()
        return self._checks(sink.memory, sink.coordinates, sink.assumed, guard, sink.span)

    def _checks(
        self,
        memory: Memory,
        coordinates: tuple[Polynomial, ...],
        assumed: frozenset[int],
        guards: Iterable[Expression],
        span: Span | None,
    ) -> tuple[Check, ...]:
        facts = self.facts
        for guard in guards:
            for difference in implied(guard):
                facts = facts.assuming(difference)
        legal = facts
        if isinstance(memory, Buffer):
            for part, whole in self.demand.rooms.items():
                legal = legal.assuming(whole - part)
        pairs = list(zip(coordinates, self.demand.shape(memory), strict=True))
        pairs = [pair for axis, pair in enumerate(pairs) if axis not in assumed]
        checks = list(_within(pairs, legal))
        if checks:
            self.unproven.append((memory.name, span))
        if isinstance(memory, Buffer):
            checks += _within(pairs, facts) if self.demand.rooms else ()
            checks += self._fits(memory, facts)
        return tuple(dict.fromkeys(checks))  # `a[k, k]` of a square array is checked once

    def _occupied(self, place: Place) -> Iterator[Check]:
        """Where a promise holds there is a point of every parallel axis around it."""
        for axis in sorted(place.occupied, key=lambda axis: axis.serial):
            if not self.facts.less(axis.begin, axis.end):
                yield Check(axis.begin, axis.end, strict=True)

    def _fits(self, memory: Buffer, facts: Facts) -> Iterator[Check]:
        """Lengths that data decide may exceed, where the data are illegal, what the host made room for."""
        for extent, most in self.demand.limited(memory):
            if not facts.less_equal(extent, most):
                yield Check(extent, most, strict=False)


def _within(pairs: Iterable[tuple[Polynomial, Polynomial]], facts: Facts) -> Iterator[Check]:
    for coordinate, extent in pairs:
        if not facts.nonnegative(coordinate):
            yield Check(number(0), coordinate, strict=False)
        if not facts.less(coordinate, extent):
            yield Check(coordinate, extent, strict=True)


def bounded_numerators(region: Region, demand: Demand) -> frozenset[Polynomial]:
    """Positions that an access without a condition keeps below the number of elements of its array.

    n // d as a coordinate below its extent e gives n < e * d, and e * d divides the number of elements where n is the
    linear position in a reshaped array.
    """
    places = [(sink.memory, sink.coordinates) for sink in region.sinks if sink.predicate is None]
    places += [
        (node.attribute.memory, node.attribute.coordinates)
        for node in region.nodes
        if node.operation == "load" and not node.arguments
    ]
    found: set[Polynomial] = set()
    for memory, coordinates in places:
        extents = demand.shape(memory)
        for coordinate, extent in zip(coordinates, extents, strict=True):
            atom = coordinate.atom
            if isinstance(atom, Quotient) and product(extents).divided_by(atom.denominator * extent) is not None:
                found.add(atom.numerator)
    return frozenset(found)


def normalising_exponentials(region: Region) -> frozenset[Expression]:
    """exp(x - max x) that is summed: its argument is <= 0, and its error is divided out by the sum's."""
    summed = {
        below
        for node in region.nodes
        if node.operation == "reduce" and node.attribute.kind == "sum"
        for below in walk(*node.arguments, stop=lambda inner: inner.operation in ("reduce", "contract"))
    }
    return frozenset(node for node in region.nodes if node in summed and _is_shifted_exponential(node))


def _is_shifted_exponential(node: Expression) -> bool:
    if node.operation != "pointwise" or node.attribute[0] not in ("exp", "exp2"):
        return False
    (argument,) = node.arguments
    if argument.operation != "pointwise" or argument.attribute[0] != "subtract":
        return False
    value, shift = argument.arguments
    largest = unless_empty(shift)
    running = largest.operation == "pointwise" and largest.attribute[0] == "maximum"
    return any(_is_maximum_of(each, value) for each in (largest.arguments if running else (largest,)))


def _is_maximum_of(node: Expression, value: Expression) -> bool:
    return node.operation == "reduce" and node.attribute.kind == "max" and node.arguments == (value,)

"""Products over the coordinates up to one of the result (as under a causal mask), or from it on, as masked products of
matrices.

    sum over j in [begin, l + 1) of f(l, j)     is     sum over all j of (f(l, j) if l >= j else 0)
    sum over j in [l, end) of f(l, j)           is     sum over all j of (f(l, j) if l <= j else 0)

Where there are contractions, rows are rows of matrices, and such a range would make each row a loop of its own. The row
may be one of a sum around this one, which is no loop at all. No element is read that is not there: places that no row
reads are proven to be within the array, or left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from intent import dtypes as d
from intent.records import dataclass, replace
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Extremum, Polynomial, atomic, minimum, number
from translators.algebra.simplification import at_most
from translators.lifting.context import Context, with_axes
from translators.lifting.neutral import neutral
from translators.lifting.views import Viewed
from translators.tile.expression import LOADS, Arena, Axis, Expression, dependences, having
from translators.tile.substitution import Rebuilding, as_index, over

MOST_NESTED: Final = 4


def masked(context: Context, viewed: Viewed) -> Viewed:
    for _ in range(MOST_NESTED):  # the range of a row may depend on a row in turn
        if all("contract" not in root.operations for root in viewed.sink.roots):
            break
        masking = _Masking(context.arena, context.facts, frozenset(viewed.sink.axes), frozenset(viewed.sink.every_axis))
        sink = viewed.sink.mapped(Rebuilding(context.arena, {}, finish=masking.node).expression)
        if sink == viewed.sink:
            break
        viewed = replace(viewed, sink=sink)
    return viewed


@dataclass(frozen=True, slots=True)
class _Triangle:
    """A range up to a row, or from it on: the ranges that do for all rows, and what is negative where it holds."""

    row: Axis
    ranges: tuple[tuple[Polynomial, Polynomial], ...]  # as the row has it; of places that some row reads
    below: Callable[[Polynomial], Polynomial]


@dataclass(frozen=True, slots=True)
class _Masking:
    arena: Arena
    facts: Facts
    free: frozenset[Axis]
    own: frozenset[Axis]  # of the sink: all others are axes of reductions

    def node(self, node: Expression) -> Expression | None:
        if node.operation not in ("reduce", "contract") or node.dtype == d.index:
            return None
        for axis in node.attribute.axes:
            for triangle in self._triangles(axis):
                made = self._over(node, axis, triangle)
                if made is not None:
                    return made
        return None

    def _triangles(self, axis: Axis) -> Iterator[_Triangle]:
        """The ways in which the range ends at or after a row, or begins so."""
        ends = axis.end.atom
        parts = ends.operands if isinstance(ends, Extremum) and ends.kind == "minimum" else (axis.end,)
        for part in parts:
            row = self._row(part)
            rest = [other for other in parts if other != part]
            if row is not None and self._is_column(axis, row):
                after = part - atomic(row)
                every, read = (minimum(last, *rest) for last in (row.end, row.end - 1 + after))
                yield _Triangle(row, ((axis.begin, every), (axis.begin, read)), _less(part))
        row = self._row(axis.begin)
        if row is not None and row not in axis.end.atoms():
            after = axis.begin - atomic(row)
            yield _Triangle(row, ((row.begin, axis.end), (row.begin + after, axis.end)), _from(axis.begin))

    def _row(self, bound: Polynomial) -> Axis | None:
        """The row that a range ends or begins at, or after."""
        for row in (atom for atom in bound.atoms() if isinstance(atom, Axis)):
            if bound - atomic(row) in (number(0), number(1)) and (row in self.free or row not in self.own):
                return row
        return None

    def _is_column(self, axis: Axis, row: Axis) -> bool:
        """Whether the range that ends at a row is the first part of what does for all rows. Rows of the result become
        a loop for whatever else a range varies with; then it is as good a range in that loop.
        """
        if row not in self.own:
            return row not in axis.begin.atoms()
        alone = axis.end - atomic(row) in (number(0), number(1))
        return alone and row.begin == axis.begin and not any(isinstance(atom, Axis) for atom in row.end.atoms())

    def _over(self, node: Expression, axis: Axis, triangle: _Triangle) -> Expression | None:
        for begin, end in dict.fromkeys(triangle.ranges):
            wide = self.arena.axis(axis.name, begin, end)
            moved = over(self.arena, node, axis, wide, atomic(wide))
            if self._is_there(moved, wide, triangle.row, (begin, end) == triangle.ranges[-1]):
                return self._chosen(node, moved, triangle.below(atomic(wide)))
        return None

    def _is_there(self, moved: Expression, wide: Axis, row: Axis, some_row: bool) -> bool:
        """Whether every element is in its array: proven, or `some_row` reads it."""
        for load in having(LOADS, *moved.arguments):
            for coordinate, extent in zip(load.attribute.coordinates, load.attribute.memory.shape, strict=True):
                axes = {axis: None for atom in coordinate.atoms() for axis in dependences(atom)[0]}
                if wide not in axes or (some_row and row not in axes):
                    continue
                facts = with_axes(self.facts, sorted(axes, key=lambda each: each.serial))
                if not (facts.nonnegative(coordinate) and at_most(facts, coordinate + 1, extent)):
                    return False
        return True

    def _chosen(self, node: Expression, moved: Expression, below: Polynomial) -> Expression:
        operands = (as_index(self.arena, below), as_index(self.arena, number(0)))
        inside = self.arena.make("pointwise", d.boolean, operands, ("less", False, False))
        first, *rest = moved.arguments
        identity = neutral(self.arena, "sum" if node.operation == "contract" else node.attribute.kind, first)
        chosen = self.arena.make("select", first.dtype, (inside, first, identity))
        return self.arena.make(node.operation, node.dtype, (chosen, *rest), moved.attribute)


def _less(end: Polynomial) -> Callable[[Polynomial], Polynomial]:
    return lambda place: place - end


def _from(begin: Polynomial) -> Callable[[Polynomial], Polynomial]:
    return lambda place: begin - place - 1

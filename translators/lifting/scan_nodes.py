"""Reductions up to a coordinate of the result, or from it on, as scans along that axis.

    sum over j in [begin, c + 1) of f(j)     is element c of the prefix sums of f along c's own axis

if c ranges from `begin` on, and f does not otherwise depend on c. An end of c instead of c + 1 leaves the element
itself out; a range from c (or c + 1) to the end of c's axis is a scan in reverse. `Reduction.result` is 1 for an
exclusive scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from intent.records import dataclass, replace
from translators.algebra.polynomial import Polynomial, atomic
from translators.lifting.views import Viewed
from translators.tile.expression import Arena, Axis, Expression, Reduction, walk
from translators.tile.substitution import Rebuilding, as_index

SCANNED: Final = ("sum", "max", "max_num", "min", "min_num")


def with_scans(arena: Arena, sinks: Sequence[Viewed]) -> tuple[Viewed, ...]:
    scans = _Scans(arena)
    return tuple(scans.viewed(each) for each in sinks)


def scanned_axes(sinks: Sequence[Viewed]) -> set[Axis]:
    nodes = (node for each in sinks for node in walk(*each.sink.roots))
    return {axis for node in nodes if node.operation == "scan" for axis in node.attribute.axes}


@dataclass(frozen=True, slots=True)
class _Scans:
    """Outer reductions first: in what a scan is of, its axis stands for the one that the reduction was over."""

    arena: Arena

    def viewed(self, viewed: Viewed) -> Viewed:
        rebuilding = self._rebuilding()
        coordinates = tuple(rebuilding.expression(as_index(self.arena, each)).polynomial for each in viewed.coordinates)
        return replace(viewed, sink=viewed.sink.mapped(rebuilding.expression), coordinates=coordinates)

    def _rebuilding(self) -> Rebuilding:
        return Rebuilding(self.arena, {}, node=self._within)

    def _within(self, node: Expression) -> Expression | None:
        made = self._scan(node)
        return None if made is None else self._rebuilding().expression(made)

    def _scan(self, node: Expression) -> Expression | None:
        if node.operation != "reduce" or node.attribute.kind not in SCANNED or len(node.attribute.axes) != 1:
            return None
        (inner,) = node.attribute.axes
        found = _direction(inner)
        (body,) = node.arguments
        if found is None or found[0] in body.axes or _captures(body, inner, found[0]):
            return None
        axis, reverse, exclusive = found
        moved = Rebuilding(self.arena, {inner: atomic(axis)}).expression(body)
        reduction = Reduction(node.attribute.kind, (axis,), int(exclusive), None, reverse)
        return self.arena.make("scan", node.dtype, (moved,), reduction)


def _direction(inner: Axis) -> tuple[Axis, bool, bool] | None:
    """(the axis c, reverse, exclusive)."""
    axes = [atom for bound in (inner.begin, inner.end) for atom in bound.atoms() if isinstance(atom, Axis)]
    for axis in axes:
        here = atomic(axis)
        if inner.begin == axis.begin and inner.end in (here, here + 1):
            return axis, False, inner.end == here
        if inner.end == axis.end and inner.begin in (here, here + 1):
            return axis, True, inner.begin != here
    return None


def _captures(body: Expression, inner: Axis, axis: Axis) -> bool:
    """Whether a reduction within binds the axis and depends on what would become it."""
    return any(
        axis in node.attribute.axes and (inner in node.axes or any(inner in bound.atoms() for bound in _bounds(node)))
        for node in walk(body)
        if node.operation in ("reduce", "contract")
    )


def _bounds(node: Expression) -> list[Polynomial]:
    return [bound for axis in node.attribute.axes for bound in (axis.begin, axis.end)]

"""Scans in both directions over one axis.

A loop over the tiles of an axis runs one way. What a scan the other way continues from, the fold of all tiles still to
come, is found by a loop over these: the same scan, along an axis of its own (its *twin*), of which only the carry is
kept.
"""

from __future__ import annotations

from collections.abc import Iterable

from translators.algebra.polynomial import atomic
from translators.planning.demand import Demand
from translators.tile.expression import Axis, Expression, walk
from translators.tile.substitution import Rebuilding


def contrary_scans(demand: Demand, nodes: Iterable[Expression]) -> dict[Expression, Expression]:
    """The twin of every scan that shares its axis with one in the other direction, and of those within twins."""
    scans = [node for node in nodes if node.operation == "scan"]
    directions: dict[Axis, set[bool]] = {}
    for scan in scans:
        directions.setdefault(scan.attribute.axes[0], set()).add(scan.attribute.reverse)
    found: dict[Expression, Expression] = {}
    pending = [scan for scan in scans if len(directions[scan.attribute.axes[0]]) == 2]
    while pending:
        scan = pending.pop()
        if scan not in found:
            found[scan] = _twin(demand, scan)
            pending.extend(_against(found[scan]))
    return found


def _against(scan: Expression) -> list[Expression]:
    """Scans that the operands of a scan need, over its axis and against its direction."""
    (axis,) = scan.attribute.axes
    below = (node for node in walk(*scan.arguments) if node.operation == "scan" and node.attribute.axes == (axis,))
    return [node for node in below if node.attribute.reverse != scan.attribute.reverse]


def _twin(demand: Demand, scan: Expression) -> Expression:
    """The scan along another axis; what does not vary with its axis stays what it is."""
    (axis,) = scan.attribute.axes
    other = demand.arena.axis(axis.name, axis.begin, axis.end)
    rebuilding = Rebuilding(demand.arena, {axis: atomic(other)}, lambda node: None if axis in node.axes else node)
    made = rebuilding.expression(scan)
    for original, copy in rebuilding.done.items():
        demand.stand_for(copy, original)
    return made

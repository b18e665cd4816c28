"""Scans that the loop over their tiles cannot carry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from intent.records import dataclass, replace
from translators.algebra.polynomial import Polynomial, atomic, number
from translators.planning.author_loops import AuthorLoops
from translators.planning.goals import Goal
from translators.planning.placement import Scope
from translators.planning.sinks import MustHold
from translators.tile import program as tile
from translators.tile.expression import Axis, Expression, walk


@dataclass(slots=True)
class ContraryScans(AuthorLoops):
    """Of a scan against the direction of the loop over its tiles, a loop over those before it in its own direction
    finds in every tile what it starts from. A scan whose tile has lanes of a loop further inside, where no carry is at
    hand, is kept in scratch memory.
    """

    @abstractmethod
    def _satisfy(self, nodes: Sequence[Expression], goals: Sequence[Goal]) -> None:
        """Compute the streamed reductions that the nodes wait for."""

    def _scan_step(self, node: Expression, name: str, order: tuple[Axis, ...]) -> None:
        level = self._scan_level(node)
        inside = max(ordinal for ordinal, scope in enumerate(self.scopes) if scope.axis in node.axes)
        if self.scopes[level].reverse == node.attribute.reverse and inside == level:
            self._continue_scan(node, name, order)
            return
        if inside != level or node not in self.region.contrary:
            raise self._kept_elsewhere(node)
        inner_scopes = self.scopes[level + 1 :]
        del self.scopes[level + 1 :]
        scope = self.scopes[level]
        carries = self._earlier_tiles(self.region.contrary[node], scope)
        results = self._named_results(node, name, self._siblings(node))
        step = tile.ScanStep(results, carries, order, scope.start, moves=False)
        scope.statements.append(step)
        scope.names.update({member: given for given, member in results})
        self.scopes.extend(inner_scopes)

    def _kept_elsewhere(self, scan: Expression) -> MustHold:
        """What is to be kept in scratch memory: the scans over other axes that this one is of, or else itself."""
        (axis,) = scan.attribute.axes
        below = (node for node in walk(*scan.arguments) if node.operation == "scan" and node.attribute.axes != (axis,))
        values = [value for node in below for value in self.demand.results.get(node, ())]
        return MustHold(
            [value for value in values if value not in self.demand.held] or self.demand.results.get(scan, ()),
            self.demand.spans.get(scan, self.region.sinks[0].span),
        )

    def _earlier_tiles(self, twin: Expression, here: Scope) -> tuple[str, ...]:
        """The loop over the tiles that the scan has before the one that is open; the names of what they fold to."""
        (axis,) = twin.attribute.axes
        lanes = self.layout.lanes[axis]
        start = self.namer.fresh(f"start_{self.namer.axis(axis)}") if lanes else self.namer.axis(axis)
        low, high = self._before(twin, atomic(tile.Named(here.start)))
        inner = Scope(axis=axis, start=start, reverse=twin.attribute.reverse)
        self.scopes.append(inner)
        self._open_axis(axis, start)
        self._satisfy([twin], ())
        self._prepare([twin])
        self.scopes.pop()
        self._close(inner)
        carries = self._carries[twin]
        steps = [
            replace(each, used=False) if isinstance(each, tile.ScanStep) and each.carries == carries else each
            for each in inner.statements
        ]
        self.scopes[-1].statements.append(
            tile.StreamLoop(axis, start, tuple(steps), twin.attribute.reverse, low=low, high=high)
        )
        return carries

    def _before(self, scan: Expression, here: Polynomial) -> tuple[Polynomial, Polynomial]:
        """The coordinates that the scan has before the tile at `here`."""
        (axis,) = scan.attribute.axes
        block = self.forms[axis].block
        size = atomic(tile.Named(block)) if block is not None else number(1)
        return (here + size, axis.end) if scan.attribute.reverse else (axis.begin, here)

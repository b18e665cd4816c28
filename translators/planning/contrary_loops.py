"""Scans that the loop over their tiles cannot carry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from intent.records import dataclass, replace
from translators.algebra.polynomial import Polynomial, atomic, number
from translators.planning.author_loops import AuthorLoops
from translators.planning.goals import Goal
from translators.planning.placement import Scope
from translators.planning.sinks import unsupported
from translators.tile import program as tile
from translators.tile.expression import Axis, Expression


@dataclass(slots=True)
class ContraryScans(AuthorLoops):
    """In every tile, a loop over the tiles before it in a scan's own direction finds what the scan starts from.

    So it is for a scan against the direction of the loop over its tiles, and for one whose tile has lanes of a loop
    further inside, where no carry would be at hand.
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
        inner_scopes = self.scopes[inside + 1 :]
        del self.scopes[inside + 1 :]
        carries = self._earlier_tiles(node, self.scopes[level].start)
        results = self._named_results(node, name, self._siblings(node))
        scope = self.scopes[inside]
        step = tile.ScanStep(results, carries, order, self.scopes[level].start, moves=False)
        scope.statements.append(step)
        scope.names.update({member: given for given, member in results})
        self.scopes.extend(inner_scopes)

    def _earlier_tiles(self, node: Expression, here: str) -> tuple[str, ...]:
        """The loop over the tiles that the scan has before the one from `here` on; the names of what they fold to."""
        twin = self.region.contrary.get(node)
        if twin is None:
            span = self.region.sinks[0].span
            raise unsupported("scans in both directions over one long axis are not lowered yet here", span)
        (axis,) = twin.attribute.axes
        lanes = self.layout.lanes[axis]
        start = self.namer.fresh(f"start_{self.namer.axis(axis)}") if lanes else self.namer.axis(axis)
        low, high = self._before(twin, atomic(tile.Named(here)))
        inner = Scope(axis=axis, start=start, reverse=twin.attribute.reverse)
        self.scopes.append(inner)
        self._open_axis(axis, start)
        self._satisfy([twin], ())
        self._prepare([twin])
        self.scopes.pop()
        self.namer.release(inner.names.values())
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

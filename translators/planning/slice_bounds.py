"""The bounds of loops over slices in one program, from the tiles it is at."""

from __future__ import annotations

from collections.abc import Sequence

from intent.records import dataclass, replace
from translators.algebra.polynomial import (
    Polynomial,
    Symbol,
    atomic,
    ceiling_divide,
    floor_divide,
    maximum,
    minimum,
    number,
    polynomial_key,
)
from translators.planning.neutral import reduction_limits
from translators.planning.placement import Placement
from translators.planning.product_layouts import ALIGNED
from translators.planning.sinks import Loop, coordinate_expressions
from translators.planning.slice_pieces import Piece, Solver, Visited, pieces, visited
from translators.tile import program as tile
from translators.tile.expression import Axis, Expression, LoopToken
from translators.tile.program import Statement


@dataclass(slots=True)
class SliceBounds(Placement):
    """Solves the limits of region folds where their loops stand."""

    def _pieces(self, loop: Loop) -> list[Piece]:
        """The loops over a region operation's slices; their bounds get names."""
        axis, open_loops = loop.slices[0], frozenset(scope.loop for scope in self.scopes if scope.loop is not None)
        solver = Solver(loop.token, open_loops, self._ends)
        solved = [solver.bound(limit) for limit in loop.limits.nonnegative]
        bounds = [bound for bound in solved if bound is not None]
        self._prepare(coordinate_expressions((axis.extent,)))
        for bound in bounds:
            self._prepare(coordinate_expressions((bound.matters, bound.certain)))
        lower, upper = any(not bound.upper for bound in bounds), any(bound.upper for bound in bounds)
        exact = self.layout.exact(axis)
        split = bool(loop.whole_slices) and len(bounds) == len(solved) and (upper or lower or not exact)
        found = self._named(axis, visited(bounds, axis.extent, self._block(axis), self.decoded.facts), split)
        return pieces(found, lower, upper or not exact) if split else [Piece(found.begin, found.end, whole=False)]

    def _tiles_that_matter(
        self, axis: Axis, reductions: Sequence[Expression]
    ) -> tuple[Polynomial | None, Polynomial | None]:
        """From where to where tiles change any of the reductions; None: from the beginning, to the end."""
        limits = [set(reduction_limits(node, axis)) for node in reductions]
        shared = sorted(set.intersection(*limits), key=polynomial_key) if limits else []
        open_loops = frozenset(scope.loop for scope in self.scopes if scope.loop is not None)
        solved = [Solver(axis, open_loops, self._ends).bound(limit) for limit in shared]
        bounds = [bound for bound in solved if bound is not None]
        if not bounds:
            return None, None
        self._prepare(coordinate_expressions((axis.begin, axis.extent)))
        for bound in bounds:
            self._prepare(coordinate_expressions((bound.matters,)))
        size = self._block(axis) if self.layout.lanes[axis] else number(1)
        found, name = visited(bounds, axis.extent, size, self.decoded.facts), self.namer.axis(axis)
        low, high = found.begin != number(0), found.end != axis.extent
        return (
            self._named_bound(f"{name}_begin", axis.begin + found.begin) if low else None,
            self._named_bound(f"{name}_end", axis.begin + found.end) if high else None,
        )

    def _whole_and_rest(self, loop: tile.StreamLoop) -> list[Statement]:
        """The tiles of a loop that needs no guards but at its ends: whole ones begin where wide accesses may."""
        axis = loop.axis
        if self.layout.lanes[axis] is None or self.layout.exact(axis) or loop.reverse:
            return [loop]
        low = loop.low or axis.begin
        high = self._named_bound(f"{self.namer.axis(axis)}_end", loop.high or axis.end)
        aligned = low.constant is not None and low.constant % ALIGNED == 0
        # Triton sees that this is a multiple: no minimum is taken of it.
        begin = low if aligned else self._named_bound("whole_begin", ceiling_divide(low, number(ALIGNED)) * ALIGNED)
        left = high - begin if aligned else maximum(high - begin, number(0))
        end = self._named_bound("whole_end", begin + floor_divide(left, self._block(axis)) * self._block(axis))
        whole: list[Statement] = [
            replace(loop, low=begin, high=end, whole=True),
            replace(loop, low=end, high=high, guard=high),
        ]
        if aligned:
            return whole
        first = self._named_bound("first_end", minimum(begin, high))
        return [replace(loop, high=first, guard=first), *whole]

    def _named(self, axis: Axis, found: Visited, split: bool) -> Visited:
        name = self.namer.axis(axis)
        begin = self._named_bound(f"{name}_begin", found.begin)
        whole_begin = self._named_bound("whole_begin", found.whole_begin) if split else begin
        whole_end = self._named_bound("whole_end", found.whole_end) if split else begin
        return Visited(begin, whole_begin, whole_end, self._named_bound(f"{name}_end", found.end))

    def _named_bound(self, wish: str, value: Polynomial) -> Polynomial:
        if value.constant is not None or isinstance(value.atom, Symbol | tile.Named):
            return value
        name = self.namer.fresh(wish)
        self.scopes[-1].statements.append(tile.BindIndex(name, value))
        return atomic(tile.Named(name))

    def _block(self, axis: Axis) -> Polynomial:
        block = self.forms[axis].block
        if block is None:
            raise AssertionError("slices are lanes")
        return atomic(tile.Named(block))

    def _ends(self, axis: Axis) -> tuple[Polynomial, Polynomial] | None:
        """The first and the last coordinate of the axis that this program, in the open loops, is at."""
        if self.layout.lanes[axis] is None:
            known = self.layout.roles[axis] == "program" or any(scope.axis is axis for scope in self.scopes)
            return (atomic(axis), atomic(axis)) if known else self._whole_range(axis)
        first = self.decoded.firsts.get(axis)
        for scope in self.scopes:
            if scope.axis is axis or (scope.loop is not None and scope.loop is axis.slices):
                first = atomic(tile.Named(scope.start))
        return (first, first + self._block(axis) - 1) if first is not None else self._whole_range(axis)

    def _whole_range(self, axis: Axis) -> tuple[Polynomial, Polynomial] | None:
        """All coordinates, if they are known before any of them is."""
        if any(
            isinstance(atom, Axis | Expression | LoopToken) for end in (axis.begin, axis.end) for atom in end.atoms()
        ):
            return None
        return axis.begin, axis.end - 1

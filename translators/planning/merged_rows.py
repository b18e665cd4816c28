"""Rows of a product along several axes, merged into one: a tile then has points of all of them.

Of `out[b, i, w, f] = sum over c of x[b, i, w, c] * k[c, f]` the rows are the points (b, i, w). One axis can be lanes of
a tile: where the last of them is short, or a little longer than a tile, many lanes are beyond its end. The merged axis
has a coordinate for every point, from which each of the axes follows by division.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from intent.records import dataclass, field, replace
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Polynomial, Quotient, Remainder, atomic, number, product
from translators.planning.demand import Demand
from translators.planning.product_layouts import is_dot
from translators.planning.ranges import known_at_launch
from translators.planning.regions import Region
from translators.planning.sinks import Loop, LoopCarry, Sink
from translators.tile.expression import Axis, Expression, Place
from translators.tile.substitution import Rebuilding, as_index

_FIRM = frozenset({"atomic", "scan"})  # operations that say themselves along which axes they are


def several_rows(demand: Demand, regions: Sequence[Region]) -> tuple[Axis, ...]:
    """The axes over the grid, one beside the other, along which every product of the kernel has its rows; () unless
    they are several, and all that is done is products and effects that may come in any order.
    """
    if len(regions) != 1 or demand.instances:
        return ()
    (region,) = regions
    plain = not (region.ordered or region.exposed or region.counts or region.contrary)
    plain = plain and not any(loop.slices for loop in region.loops)
    products = region.contractions
    if not plain or not products or not all(is_dot(node, region) for node in products):
        return ()
    if any(node.operation in _FIRM for node in region.nodes):
        return ()
    sides = [[node.arguments, node.arguments[::-1]] for node in products]
    found = [_adjacent(region, [pair[first] for pair in sides]) for first in (0, 1)]
    return max((axes for axes in found if _as_often(region, axes)), key=len, default=())


def _as_often(region: Region, axes: Collection[Axis]) -> bool:
    """Nothing that varies along what is summed would be computed for points of all the axes instead of some."""
    along = {axis for node in region.contractions for axis in node.attribute.axes}
    shares = (node.axes.intersection(axes) for node in region.nodes if not along.isdisjoint(node.axes))
    return all(not share or len(share) == len(axes) for share in shares)


def _adjacent(region: Region, sides: Sequence[tuple[Expression, ...]]) -> tuple[Axis, ...]:
    """The longest run of the program's axes that the first operand of every pair has and the second has not."""
    runs: list[list[Axis]] = [[]]
    scalar = region.scalar_only
    for axis in region.program:
        rows = all(axis in rows.axes and axis not in columns.axes for rows, columns in sides)
        counted = known_at_launch(axis.extent) and Facts().nonnegative(axis.extent)  # -1 times -1 points are none
        if rows and counted and axis not in scalar:
            runs[-1].append(axis)
        else:
            runs.append([])
    longest = max(runs, key=len)
    return tuple(longest) if len(longest) > 1 else ()


def with_merged(demand: Demand, axes: Sequence[Axis]) -> Demand:
    """The same effects along one axis instead of these."""
    return _Merging(demand, tuple(axes)).demanded()


@dataclass(slots=True)
class _Merging:
    demand: Demand
    axes: tuple[Axis, ...]
    merged: Axis = field(init=False)
    rebuilding: Rebuilding = field(init=False)
    loops: dict[Loop, Loop] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = "_".join(axis.name for axis in self.axes)
        end = product(axis.extent for axis in self.axes)
        self.merged = self.demand.arena.axis(name, number(0), end)
        self.rebuilding = Rebuilding(self.demand.arena, self._coordinates(), self._replaced)

    def _coordinates(self) -> dict[Atom, Polynomial]:
        found: dict[Atom, Polynomial] = {}
        within = number(1)
        for ordinal, axis in reversed(tuple(enumerate(self.axes))):
            position = atomic(self.merged)
            if within != number(1):
                position = atomic(Quotient(position, within))
            if ordinal > 0:
                position = atomic(Remainder(position, axis.extent))
            found[axis] = axis.begin + position
            within = within * axis.extent
        return found

    def demanded(self) -> Demand:
        """Nodes that are rebuilt keep the author's names and places."""
        for loop in self.demand.loops.values():  # those around others come first
            self.loops[loop] = self._loop(loop)
        for loop in self.loops.values():
            for carry in loop.carries:
                carry.update = self._maybe(carry.update)
        sinks = [self._sink(sink) for sink in self.demand.sinks]
        loops = {key: self.loops[loop] for key, loop in self.demand.loops.items()}
        made = replace(self.demand, sinks=sinks, loops=loops)
        known: tuple[dict[Expression, Any], ...] = (made.names, made.spans, made.issued, made.readers, made.results)
        for each in known:
            for old, new in self.rebuilding.done.items():
                if old in each:
                    each.setdefault(new, each[old])
        for axis, place in self.rebuilding.atoms.items():
            if isinstance(axis, Axis):
                made.names.setdefault(as_index(made.arena, place), axis.name)
        return made

    def _maybe(self, expression: Expression | None) -> Expression | None:
        return None if expression is None else self.rebuilding.expression(expression)

    def _along(self, axes: Iterable[Axis]) -> tuple[Axis, ...]:
        """The merged axis once, where the first of its parts is."""
        return tuple(dict.fromkeys(self.merged if axis in self.axes else axis for axis in axes))

    def _sink(self, sink: Sink) -> Sink:
        axes = self._along(sink.axes)
        outside = 1 + max((axes.index(axis) for axis in sink.parallel if axis not in self.axes), default=-1)
        return replace(
            sink,
            coordinates=tuple(map(self.rebuilding.polynomial, sink.coordinates)),
            value=self.rebuilding.expression(sink.value),
            predicate=self._maybe(sink.predicate),
            parallel=axes[:outside],
            free=axes[outside:],
            loops=tuple(self.loops[loop] for loop in sink.loops),
        )

    def _loop(self, loop: Loop) -> Loop:
        return replace(
            loop,
            enclosing=tuple(self.loops[each] for each in loop.enclosing),
            parallel=self._along(loop.parallel),
            low=self._maybe(loop.low),
            high=self._maybe(loop.high),
            live=self._maybe(loop.live),
            condition=self._maybe(loop.condition),
            predicate=self._maybe(loop.predicate),
            carries=[self._carry(carry) for carry in loop.carries],
        )

    def _carry(self, carry: LoopCarry) -> LoopCarry:
        initial = self.rebuilding.expression(carry.initial)
        return replace(carry, own=self._along(carry.own), axes=self._along(carry.axes), initial=initial)

    def _replaced(self, node: Expression) -> Expression | None:
        """A node whose attribute names axes."""
        match node.operation, node.attribute:
            case "carry" | "carried", (token, ordinal, axes, *around):
                attribute = (token, ordinal, self._along(axes), *around)
                return self.demand.arena.make(node.operation, node.dtype, (), attribute)
            case "load", Place(occupied=occupied) as place if not occupied.isdisjoint(self.axes):
                place = replace(place, occupied=frozenset(self._along(occupied)))
                return self.rebuilding.expression(
                    self.demand.arena.make(node.operation, node.dtype, node.arguments, place)
                )
            case _:
                return None

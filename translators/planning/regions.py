"""Grouping sinks into regions and giving every axis of a region its role.

A region is a set of sinks that share programs. Its *program* axes are spread over the grid; every other axis is
*resident* (its
whole extent is one tile), *streamed* (a loop of tiles, or of single coordinates, inside the program) or *slice* (the
tiles of a
region operation's loop).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from intent.records import dataclass, field
from translators.algebra.polynomial import Polynomial, number
from translators.logical.types import View
from translators.planning.contrary_scans import contrary_scans
from translators.planning.demand import Demand
from translators.planning.hazards import Cells, apart, crosses, identities, meet, mentioned, separating
from translators.planning.neutral import reduction_limits
from translators.planning.ranges import axes_of, known_at_launch
from translators.planning.sinks import Loop, LoopCarry, Sink, loop_roots, roots
from translators.tile.expression import Atomic, Axis, Expression, LoopToken, Reduction, walk
from translators.triton_source.atomics import swaps
from translators.triton_source.shared_loads import neighbours


@dataclass(slots=True, eq=False)
class Region:
    """Sinks that share programs, with what they need. `order` ranks tile axes: the order of tile dimensions."""

    sinks: tuple[Sink, ...]
    program: tuple[Axis, ...]
    nodes: tuple[Expression, ...]
    loops: tuple[Loop, ...]
    bound: frozenset[Axis]
    order: dict[Axis, int] = field(default_factory=dict)
    exposed: dict[Axis, Sink] = field(default_factory=dict)  # axes kept within one program for the sake of memory order
    limiting: frozenset[Axis] = frozenset()  # whose tiles say which slices and tiles of other axes matter
    growing: frozenset[Axis] = frozenset()  # along which later programs visit more slices
    contrary: dict[Expression, Expression] = field(default_factory=dict)  # scans against others over their axis
    ordered: bool = False  # statement order matters
    copied: frozenset[Expression] = frozenset()  # nodes that only whole slices need
    _scalar_only: tuple[object, frozenset[Axis]] | None = None  # what is copied may still change

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Every axis of the region, program axes first."""
        reduced = (node.attribute.axes for node in self.nodes if isinstance(node.attribute, Reduction))
        rest: set[Axis] = set().union(*(node.axes for node in self.nodes), *reduced, *(s.axes for s in self.sinks))
        return (*self.program, *sorted(rest - set(self.program), key=lambda axis: axis.serial))

    @property
    def twins(self) -> dict[Axis, Axis]:
        """Axes of the twins of scans, and whose they are: no other node has them."""
        pairs = self.contrary.items()
        return {twin.attribute.axes[0]: scan.attribute.axes[0] for scan, twin in pairs}

    @property
    def twin_nodes(self) -> tuple[Expression, ...]:
        known = frozenset(self.nodes)
        return tuple(node for node in walk(*self.contrary.values()) if node not in known)

    @property
    def scalar_only(self) -> frozenset[Axis]:
        """Axes that bound other axes or loops, batch a contraction, are summed in order or have a histogram each: one
        coordinate at a time.
        """
        if self._scalar_only is None or self._scalar_only[0] is not self.copied:
            self._scalar_only = self.copied, self._one_at_a_time()
        return self._scalar_only[1]

    def _one_at_a_time(self) -> frozenset[Axis]:
        found: set[Axis] = set()
        for axis in self.axes:
            found |= mentioned(axis.begin) | mentioned(axis.end)
        for loop in self.loops:
            for limit in (loop.low, loop.high):
                found |= limit.axes if limit is not None else frozenset()
        for node in self.nodes:
            if isinstance(node.attribute, Reduction) and node.attribute.ordered:
                found.update(node.attribute.axes)
        for node in self.counts:
            found |= frozenset().union(*(argument.axes for argument in node.arguments)) - set(node.attribute.axes)
        for node in self.contractions:
            lhs, rhs = node.arguments
            found |= (lhs.axes & rhs.axes) - set(node.attribute.axes)
        return frozenset(found)

    @property
    def contractions(self) -> tuple[Expression, ...]:
        return tuple(node for node in self.nodes if node.operation == "contract" and node not in self.copied)

    @property
    def swapped(self) -> tuple[frozenset[Axis], ...]:
        """Axes of the updates that are made of compare and swap."""
        nodes = [node for node in self.nodes if node.operation == "atomic"]
        found = [node.axes for node in nodes if _swaps(node.attribute)]
        sinks = [sink for sink in self.sinks if sink.action not in ("store", "issued")]
        return (*found, *(frozenset(s.axes) for s in sinks if swaps(s.action, s.semantics, s.memory.dtype)))

    def carries_along(self, axis: Axis) -> list[LoopCarry]:
        """The carries that have the axis as their own, or are read along it. Parallel axes around a loop are no own."""
        found = [carry for loop in self.loops for carry in loop.carries if axis in carry.own]
        for node in self.nodes:
            if node.operation in ("carry", "carried"):
                carry = _loop(self.loops, node.attribute[0]).carries[node.attribute[1]]
                if axis in node.attribute[2][: len(carry.own)]:
                    found.append(carry)
        return found

    @property
    def counts(self) -> tuple[Expression, ...]:
        return tuple(node for node in self.nodes if node.operation == "reduce" and node.attribute.kind == "count")

    @property
    def bins(self) -> frozenset[Axis]:
        """The bins of histograms."""
        return frozenset(node.attribute.bins for node in self.counts)

    @property
    def carried(self) -> frozenset[Axis]:
        """Own axes of loop carries that an iteration mixes (or that are used under another name), and those that only
        some effects have: the loop runs once for all of them.
        """
        mixed: set[Axis] = set()
        for loop in self.loops:
            users = [sink for sink in self.sinks if loop.token in _loops_before(sink)]
            for carry in loop.carries:
                mixed |= set(carry.own) & self.bound
                mixed |= {axis for axis in carry.own if 0 < sum(axis in sink.axes for sink in users) < len(users)}
        return frozenset(mixed).union(*self.renamed)

    @property
    def renamed(self) -> frozenset[tuple[Axis, Axis]]:
        """Own axes of loop carries, each with one that the carry is read along instead."""
        found: set[tuple[Axis, Axis]] = set()
        for node in self.nodes:
            if node.operation in ("carry", "carried"):
                token, ordinal, axes = node.attribute[:3]
                own = _loop(self.loops, token).carries[ordinal].axes
                found |= {pair for pair in zip(own, axes, strict=True) if pair[0] is not pair[1]}
        return frozenset(found)


def _loops_before(sink: Sink) -> set[LoopToken]:
    """The loops whose results the effect uses."""
    return {node.attribute[0] for node in walk(*roots(sink)) if node.operation == "carried"}


def _swaps(atomic: Atomic) -> bool:
    return swaps(atomic.action, atomic.order, atomic.place.memory.dtype)


def _loop(loops: Sequence[Loop], token: LoopToken) -> Loop:
    return next(loop for loop in loops if loop.token is token)


def axes_at(node: Expression) -> Iterator[Axis]:
    yield from node.axes
    if isinstance(node.attribute, Reduction):
        yield from node.attribute.axes


# ----------------------------------------------------------------------------------------------------------- grouping
@dataclass(slots=True, eq=False)
class _Group:
    sinks: list[Sink]
    nodes: dict[Expression, None]
    loops: dict[Loop, None]


def form_regions(demand: Demand) -> tuple[Region, ...]:
    """Sinks in program order, joined where they must or profit from sharing programs."""
    groups: list[_Group] = []
    for sink in demand.sinks:
        group = _gather(demand, sink)
        for other in [other for other in groups if _belong_together(other, group)]:
            groups.remove(other)
            group = _Group(other.sinks + group.sinks, {**other.nodes, **group.nodes}, {**other.loops, **group.loops})
        groups.append(group)
    return tuple(_region(demand, group) for group in groups)


def _gather(demand: Demand, sink: Sink) -> _Group:
    """Everything the sink needs: its expressions, those of the loops around it and of the loops whose results it
    reads.
    """
    nodes: dict[Expression, None] = {}
    loops: dict[Loop, None] = {}
    pending: list[Expression] = list(roots(sink))
    queue: list[Loop] = list(sink.loops)
    by_token = {loop.token: loop for loop in demand.loops.values()}
    while pending or queue:
        for node in walk(*pending):
            nodes[node] = None
            if node.operation in ("carry", "carried"):
                queue.append(by_token[node.attribute[0]])
            queue.extend(by_token[token] for token in node.loops)
        pending = []
        for loop in queue:
            if loop not in loops:
                loops[loop] = None
                pending.extend(loop_roots(loop))
        queue = [outer for loop in loops for outer in loop.enclosing if outer not in loops]
    return _Group([sink], nodes, loops)


def _belong_together(first: _Group, second: _Group) -> bool:
    """A shared loop, parallel or atomic forces it; else shared program axes and a shared load make it worthwhile."""
    if first.loops.keys() & second.loops.keys():
        return True
    shared = set(_program(first)) & set(_program(second))
    if any(axis.parallel for axis in shared):
        return True
    if any(node.operation == "atomic" and node in second.nodes for node in first.nodes):
        return True  # an update happens once
    loads = {node for node in first.nodes if node.operation == "load"}
    touching = any(node in loads for node in second.nodes)
    if _touches(first, second) or _touches(second, first):
        return True
    return touching and (bool(shared) or (not _program(first) and not _program(second)))


def _touches(writer: _Group, reader: _Group) -> bool:
    """One reads what the other writes, or both write one memory: their order matters."""
    written = frozenset[Cells]().union(*map(identities, writer.sinks))
    if any(written & identities(sink) for sink in reader.sinks):
        return True
    return any(node.operation == "load" and written & identities(node.attribute) for node in reader.nodes)


def _bound(nodes: Iterable[Expression]) -> frozenset[Axis]:
    found: set[Axis] = set()
    for node in nodes:
        if isinstance(node.attribute, Reduction):
            found.update(node.attribute.axes)
    return frozenset(found)


def _program(group: _Group) -> tuple[Axis, ...]:
    """Axes that every sink of the group has and nothing in the group reduces over, in the first sink's order."""
    bound = _bound(group.nodes)
    shared = set.intersection(*(set(sink.axes) for sink in group.sinks))
    excluded = bound | _renamed(group) | _folded_again(group)
    return tuple(axis for axis in group.sinks[0].axes if axis in shared and axis not in excluded and _countable(axis))


def _countable(axis: Axis) -> bool:
    """The host knows its coordinates, and they are no loop's slices."""
    return axis.slices is None and known_at_launch(axis.begin) and known_at_launch(axis.end)


def _folded_again(group: _Group) -> frozenset[Axis]:
    """Free axes that a region fold does not vary with: every tile of them would repeat the whole fold."""
    found: set[Axis] = set()
    for loop in group.loops:
        if loop.slices and not any(loop in sink.loops for sink in group.sinks):
            inside = {axis for root in loop_roots(loop) for axis in root.axes}
            found |= {axis for sink in group.sinks for axis in sink.free if axis not in inside}
    return frozenset(axis for axis in found if axis.extent.constant is None)


def _renamed(group: _Group) -> frozenset[Axis]:
    """Axes of carries that are read at another axis than their own: the whole extent must be at hand."""
    found: set[Axis] = set()
    carries = {loop.token: loop.carries for loop in group.loops}
    for node in group.nodes:
        if node.operation in ("carry", "carried"):
            own = carries[node.attribute[0]][node.attribute[1]].axes
            found |= {
                axis for pair in zip(own, node.attribute[2], strict=True) if pair[0] is not pair[1] for axis in pair
            }
    return frozenset(found)


def _region(demand: Demand, group: _Group) -> Region:
    sinks = tuple(sorted(group.sinks, key=lambda sink: sink.order))
    nodes = tuple(sorted(group.nodes, key=lambda node: node.serial))
    loops = tuple(sorted(group.loops, key=lambda loop: loop.order))
    region = Region(sinks, _program(group), nodes, loops, _bound(group.nodes))
    region.copied, region.limiting, region.growing = _copied(region), _limiting(region), _growing(region)
    region.exposed = _exposed(region)
    region.program = tuple(axis for axis in region.program if axis not in region.exposed)
    region.ordered = _is_ordered(region)
    region.order = _tile_order(region)
    region.contrary = contrary_scans(demand, region.nodes)
    for twin, axis in region.twins.items():  # a twin of a twin comes after it
        region.order[twin] = region.order[axis]
    return region


def _limiting(region: Region) -> frozenset[Axis]:
    """Axes that the limits of region folds and of reductions mention."""
    limits = [limit for loop in region.loops for limit in loop.limits.nonnegative]
    for node in region.nodes:
        if node.operation in ("reduce", "contract"):
            limits += [limit for axis in node.attribute.axes for limit in reduction_limits(node, axis)]
    return frozenset(axis for limit in limits for axis in mentioned(limit))


def _growing(region: Region) -> frozenset[Axis]:
    """Program axes that move the limit of a fold outwards, and none inwards."""
    moves: dict[Axis, set[bool]] = {}
    for loop in region.loops:
        for limit in loop.limits.nonnegative:
            slices = [axis for axis in mentioned(limit) if axis.slices is loop.token]
            along = limit.coefficient(slices[0]) if len(slices) == 1 else None
            for axis in mentioned(limit) - set(slices):
                own = limit.coefficient(axis)
                known = own is not None and along is not None and along.constant is not None
                # k <= r and k >= -r reach further as r grows
                moves.setdefault(axis, set()).add(known and own is not None and (own.constant or 0) > 0)
    return frozenset(axis for axis, found in moves.items() if found == {True})


def _copied(region: Region) -> frozenset[Expression]:
    guarded = [root for sink in region.sinks for root in roots(sink)]
    guarded += [root for loop in region.loops for root in loop_roots(loop, whole=False)]
    return frozenset(region.nodes) - frozenset(walk(*guarded))


# --------------------------------------------------------------------------------------------------------------- hazard
def _exposed(region: Region) -> dict[Axis, Sink]:
    """Program axes along which one program may touch what another writes, with a write that shows it."""
    found: dict[Axis, Sink] = {}
    for sink in region.sinks:
        for node in region.nodes:
            place = node.attribute
            if node.operation != "load" or apart(sink, place):
                continue
            keep_apart = separating(sink, place)
            found.update({axis: sink for axis in region.program if axis not in keep_apart})
    for first, second in combinations(region.sinks, 2):
        if meet(first, second):
            keep_apart = separating(first, second)
            found.update({axis: first for axis in region.program if axis not in keep_apart})
    return found


def _is_ordered(region: Region) -> bool:
    """A load is pinned, an update is atomic, or two effects touch one memory at different points."""
    if any(node.operation == "load" and node.attribute.pinned for node in region.nodes):
        return True
    if any(node.operation == "atomic" for node in region.nodes):
        return True
    if any(sink.semantics != "relaxed" for sink in region.sinks):
        return True
    if any(meet(first, second) for first, second in combinations(region.sinks, 2)):
        return True
    loops = [node for loop in region.loops for node in walk(*loop_roots(loop)) if node.operation == "load"]
    for sink in region.sinks:
        others = [node for other in region.sinks if other is not sink for node in walk(*roots(other))]
        if any(node.operation == "load" and crosses(sink, node) for node in (*others, *loops)):
            return True
    return False


# ------------------------------------------------------------------------------------------------------ tile dimensions
def _tile_order(region: Region) -> dict[Axis, int]:
    """Tile axes from slow to fast: a dot needs rows < k < columns; otherwise memory order, else order of appearance.

    Columns come before k where several neighbours along k are computed from one element: these stay in one thread.
    """
    edges: dict[Axis, set[Axis]] = {axis: set() for axis in region.axes}
    for node in (node for node in region.nodes if node.operation == "contract"):
        lhs, rhs = node.arguments
        for k in node.attribute.axes:
            _add_edges(edges, lhs.axes - rhs.axes - {k}, {k})
            columns = rhs.axes - lhs.axes - {k}
            _add_edges(edges, *((columns, {k}) if _is_unpacked(rhs, k) else ({k}, columns)))
    for sink in region.sinks:
        _add_sequence(edges, sink.coordinates)
    for node in region.nodes:
        if node.operation == "load":
            _add_sequence(edges, node.attribute.coordinates)
    ranked: list[Axis] = []
    waiting = list(region.axes)
    while waiting:
        ready = [axis for axis in waiting if not any(axis in edges[other] for other in waiting)]
        ranked.append(ready[0])
        waiting.remove(ready[0])
    return {axis: rank for rank, axis in enumerate(ranked)}


def _is_unpacked(operand: Expression, axis: Axis) -> bool:
    """It is computed from elements of which each serves several neighbours along the axis."""
    places = [node.attribute.coordinates for node in walk(operand) if node.operation == "load" and node is not operand]
    return any(place and neighbours(place, axis) > 1 and neighbours(place[-1:], axis) > 1 for place in places)


def _add_sequence(edges: dict[Axis, set[Axis]], coordinates: Sequence[Polynomial]) -> None:
    axes = [sorted(mentioned(coordinate), key=lambda axis: axis.serial) for coordinate in coordinates]
    for slow, fast in pairwise(axes):
        _add_edges(edges, slow, fast)


def _add_edges(edges: dict[Axis, set[Axis]], before: Iterable[Axis], after: Iterable[Axis]) -> None:
    for first in before:
        for second in after:
            if first is not second and not _reaches(edges, second, first):
                edges[first].add(second)


def _reaches(edges: Mapping[Axis, set[Axis]], start: Axis, goal: Axis) -> bool:
    pending, seen = [start], set()
    while pending:
        axis = pending.pop()
        if axis is goal:
            return True
        if axis not in seen:
            seen.add(axis)
            pending.extend(edges[axis])
    return False


def unit_stride_axes(region: Region) -> dict[Axis, int]:
    """How many accesses run along each axis in their last coordinate: where neighbouring lanes read neighbouring
    elements.
    """
    counts: dict[Axis, int] = {}
    for coordinates in access_coordinates(region):
        for axis in mentioned(coordinates[-1]):
            if coordinates[-1].coefficient(axis) == number(1):
                counts[axis] = counts.get(axis, 0) + 1
    return counts


def access_coordinates(region: Region) -> list[tuple[Polynomial, ...]]:
    """Where the region's loads and stores touch views, but for those of rank zero."""
    places = [(sink.memory, sink.coordinates) for sink in region.sinks]
    loads = (node for node in region.nodes if node.operation == "load" and node not in region.copied)
    places += [(load.attribute.memory, load.attribute.coordinates) for load in loads]
    return [coordinates for memory, coordinates in places if coordinates and isinstance(memory, View)]


def reads_neighbours(region: Region, axis: Axis) -> bool:
    """An array is read at several positions of the axis that a constant separates: its rows are wanted by several."""
    found: dict[object, set[int]] = {}
    for node in region.nodes:
        if node.operation == "load":
            for position, coordinate in enumerate(node.attribute.coordinates[:-1]):
                if coordinate.coefficient(axis) == number(1):
                    family = (node.attribute.memory, position, coordinate - coordinate.offset)
                    found.setdefault(family, set()).add(coordinate.offset)
    return any(len(offsets) > 1 for offsets in found.values())


def widest_element(region: Region, axis: Axis) -> int:
    """Bytes of an element of the widest view that is accessed along the axis."""
    accesses = [(sink.memory, sink.coordinates) for sink in region.sinks]
    accesses += [(n.attribute.memory, n.attribute.coordinates) for n in region.nodes if n.operation == "load"]
    return max([memory.dtype.bits // 8 for memory, place in accesses if axis in axes_of(place)], default=4)

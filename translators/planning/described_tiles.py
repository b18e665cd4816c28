"""Operands of matrix products that are read through tensor descriptors: the processor copies whole tiles by itself.

A descriptor knows two extents of an array and fills what lies beyond them with zeros. So it can stand for loads whose
lanes are guarded by nothing but these extents, and whose guarded lanes are zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.records import dataclass, field
from translators.algebra.polynomial import Opaque, Polynomial, Symbol, number
from translators.logical.types import Memory, View
from translators.planning.layouts import Layout
from translators.planning.product_layouts import is_dot
from translators.planning.regions import Region
from translators.planning.sinks import roots
from translators.planning.slice_bounds import SliceBounds
from translators.tile import program as tile
from translators.tile.expression import Axis, Expression, dependences
from translators.tile.program import Check, Statement

MOST_LANES = 256  # along one axis of a tile
LEAST_BYTES = 16  # of a row of a tile

Positions = tuple[int, int]  # of the rows and the columns of a tile among the coordinates of an array


def described_tiles(
    region: Region, layout: Layout, checks: Mapping[Expression, tuple[Check, ...]], once: bool
) -> dict[Expression, Positions]:
    """The loads that descriptors can stand for: of 16-bit elements that nothing but matrix products takes.

    None at all unless they are of several arrays. `once`: descriptors are the same for all programs.
    """
    users: dict[Expression, list[Expression]] = {}
    for node in region.nodes:
        for operand in node.operands:
            users.setdefault(operand, []).append(node)
    stored = {root for sink in region.sinks for root in roots(sink)}
    found: dict[Expression, Positions] = {}
    for node in region.nodes:
        if node.operation != "load" or node in stored or node.arguments or node.attribute.pinned or checks.get(node):
            continue
        memory: Memory = node.attribute.memory
        if not isinstance(memory, View) or memory.direction != "In" or memory.dtype.bits != 16:
            continue
        multiplied = all(user.operation == "contract" and is_dot(user, region) for user in users.get(node, ()))
        positions = _positions(node.attribute.coordinates, memory, region, layout)
        free = not once or len(node.attribute.coordinates) == 2
        if users.get(node) and multiplied and positions is not None and free:
            found[node] = positions
    return found if len({node.attribute.memory for node in found}) > 1 else {}


def _positions(coordinates: tuple[Polynomial, ...], memory: View, region: Region, layout: Layout) -> Positions | None:
    """Where the two axes of lanes stand, neighbours in memory last; other coordinates are the program's own."""
    varying = [place for place, each in enumerate(coordinates) if any(layout.lanes[a] for a in _axes(each))]
    if len(varying) != 2 or varying[1] != len(coordinates) - 1:
        return None
    if not any(layout.roles[axis] in ("streamed", "slice") for each in coordinates for axis in _axes(each)):
        return None  # read once, where no copy has anything to overlap with
    for place, coordinate in enumerate(coordinates):
        if place in varying:
            axis = coordinate.atom
            if not isinstance(axis, Axis) or not _fits(axis, memory, place, layout):
                return None
        elif not all(isinstance(atom, (Symbol, *Opaque)) or atom in region.program for atom in coordinate.atoms()):
            return None
    rows, columns = (coordinates[place].atom for place in varying)
    width = layout.lanes[columns] or 1 if isinstance(columns, Axis) else 1
    return (varying[0], varying[1]) if rows != columns and width * memory.dtype.bits // 8 >= LEAST_BYTES else None


def _fits(axis: Axis, memory: View, place: int, layout: Layout) -> bool:
    """Lanes of which those that count end where the array does."""
    ends = layout.exact(axis) or (axis.end == memory.shape[place])
    return ends and 1 < (layout.lanes[axis] or 1) <= MOST_LANES


def whole_tile(store: tile.StoreTile, layout: Layout) -> Positions | None:
    """The positions of a tile's axes, where a plain store has all coordinates of a matrix, without a condition."""
    if store.action != "store" or store.predicate is not None or store.checks or len(store.order) != 2:
        return None
    memory, axes = store.memory, tuple(coordinate.atom for coordinate in store.coordinates)
    if axes != store.order or not isinstance(memory, View) or memory.dtype.bits != 16:
        return None
    fits = all(_fits(axis, memory, place, layout) for place, axis in enumerate(store.order))
    wide = (layout.lanes[store.order[1]] or 1) * memory.dtype.bits // 16 >= LEAST_BYTES
    return (0, 1) if fits and wide else None


def _axes(coordinate: Polynomial) -> frozenset[Axis]:
    found: frozenset[Axis] = frozenset()
    for atom in coordinate.atoms():
        found |= frozenset({atom}) if isinstance(atom, Axis) else dependences(atom)[0]
    return found


@dataclass(slots=True)
class DescribedTiles(SliceBounds):
    """Reads tiles through descriptors, which are made before anything else."""

    by_halves: bool = False  # tiles are stored through descriptors
    _descriptors: dict[tuple[object, ...], str] = field(default_factory=dict)

    def _load_tile(self, node: Expression, home: int) -> None:
        memory, coordinates = node.attribute.memory, node.attribute.coordinates
        positions = self.described[node]
        rows, columns = (coordinates[place].atom for place in positions)
        axes = (rows, columns)
        base = tuple(number(0) if place in positions else each for place, each in enumerate(coordinates))
        key = (memory, base, positions, *(self.forms[axis].block for axis in axes))
        if key not in self._descriptors:
            self._descriptors[key] = self.namer.fresh(f"{memory.name}_tiles")
            self.scopes[0].statements.append(tile.Describe(self._descriptors[key], memory, base, positions, axes))
        firsts = (self._first(rows), self._first(columns))
        wide = (self._may_be_wide(rows), self._may_be_wide(columns))
        name = self.namer.fresh(self.namer.wish(node))
        self.scopes[home].statements.append(
            tile.LoadTile(name, node, self._descriptors[key], firsts, axes, wide, self.demand.spans.get(node))
        )
        self.scopes[home].names[node] = name

    def _stored_tile(self, store: tile.StoreTile) -> list[Statement]:
        """By copies, which do not hold up the next tile: in halves, as there is little room for them on chip."""
        positions = whole_tile(store, self.layout) if self.by_halves else None
        if positions is None:
            return [store]
        name = self.namer.fresh(f"{store.memory.name}_tiles")
        rows, columns = store.order
        base = tuple(number(0) for _ in store.coordinates)
        made = tile.Describe(name, store.memory, base, positions, (rows, columns), halves=True)
        names = (self.namer.fresh("halves"), self.namer.fresh("left"), self.namer.fresh("right"))
        return [made, tile.StoreHalves(store, name, (self._first(rows), self._first(columns)), names)]

    def _may_be_wide(self, axis: Axis) -> bool:
        """What the author computed says where the tiles of the axis begin, and is an integer of 64 bits."""
        limits = [limit for loop in self.region.loops if loop.token is axis.slices for limit in loop.limits.nonnegative]
        return any(isinstance(atom, Expression) for each in (axis.begin, *limits) for atom in each.atoms())

    def _first(self, axis: Axis) -> Polynomial:
        ends = self._ends(axis)
        assert ends is not None, axis
        return ends[0]


def one_after_the_other(statements: Sequence[Statement], count: Polynomial) -> tuple[Statement, ...]:
    """The same work for a number of programs of the launch's own choice; descriptors are made once."""
    first, *rest = statements
    assert isinstance(first, tile.BindIndex) and first.name == "pid", first
    made = [each for each in rest if isinstance(each, tile.Describe)]
    return (*made, tile.ProgramLoop(count, tuple(each for each in rest if each not in made)))

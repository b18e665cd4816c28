"""From the program id to the coordinates that one program works on, and the lanes of what stays on chip.

The last program axis is the fastest. The two lane axes of a matrix product are walked in groups of rows of tiles, so
that programs that run at the same time share columns while these are in the L2 cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from intent.records import dataclass, field
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Polynomial, Quotient, Remainder, atomic, minimum, number
from translators.planning.layouts import Layout
from translators.planning.naming import Namer
from translators.planning.product_layouts import is_dot
from translators.planning.regions import Region
from translators.tile import program as tile
from translators.tile.expression import Axis
from translators.tile.program import AxisForm, Dealt, Named, Statement

GROUP = 8  # rows of tiles in a group
_PROGRAM_ID = "tl.program_id(0)"


def tile_count(axis: Axis, form: AxisForm, lanes: int | None) -> Polynomial:
    """Tiles of a program axis."""
    extent = axis.extent.constant
    if form.block is None:
        return axis.extent
    if extent is not None and lanes is not None and 1 <= extent <= lanes:
        return number(1)
    block = atomic(Named(form.block))
    return atomic(Quotient(axis.extent + block - 1, block))


@dataclass(frozen=True, slots=True)
class Prologue:
    """Decoding statements, the facts after them, and the first coordinates of the tiles that bound loops."""

    statements: list[Statement]
    facts: Facts
    firsts: Mapping[Axis, Polynomial]


@dataclass(frozen=True, slots=True)
class Decoding:
    """`alone`: the region has all the programs of the launch. First coordinates of tiles of `named` axes get names.
    Several programs may have the same coordinates, and other tiles of a `dealt` axis.
    """

    namer: Namer
    alone: bool
    named: Set[Axis]
    dealt: Dealt | None = None


def prologue(
    region: Region,
    layout: Layout,
    forms: Mapping[Axis, AxisForm],
    facts: Facts,
    decoding: Decoding,
) -> Prologue:
    """Decode the program id into the region's program axes, then bind resident axes."""
    for name in {form.block for form in forms.values() if form.block is not None}:
        facts = facts.with_bounds(Named(name), 1, None)
    facts = facts.with_bounds(Named("pid"), 0, None)
    for axis in region.axes:
        facts = facts.assuming(axis.extent)
    named = decoding.named | region.limiting
    decoder = _Decoder(region, layout, forms, decoding.namer, facts, named, decoding.dealt)
    decoder.decode(decoding.alone)
    for axis in region.axes:
        if layout.roles[axis] == "resident" and layout.lanes[axis] is not None:
            decoder.bind_lanes(axis, number(0))
    return Prologue(decoder.statements, decoder.facts, decoder.firsts)


@dataclass(slots=True)
class _Decoder:
    """Takes one program axis after the other off the program id."""

    region: Region
    layout: Layout
    forms: Mapping[Axis, AxisForm]
    namer: Namer
    facts: Facts
    named: Set[Axis]
    dealt: Dealt | None
    statements: list[Statement] = field(default_factory=list)
    counts: dict[Axis, Polynomial] = field(default_factory=dict)
    firsts: dict[Axis, Polynomial] = field(default_factory=dict)
    position: Polynomial = field(default_factory=lambda: atomic(Named("pid")))

    def decode(self, alone: bool) -> None:
        self.counts = {axis: self._count(axis) for axis in self.region.program}
        axes = [axis for axis in self.region.program if not self._is_one_tile(axis)]
        if alone and len(axes) == 1 and self._is_scalar(axes[0]) and self.dealt is None:
            self._only_axis(axes.pop())
        elif alone and axes:
            self._assign("pid", atomic(Named(_PROGRAM_ID)), wide=True)
        self._take_all(axes)
        for axis in self.region.program:
            if self._is_one_tile(axis):
                self.bind_lanes(axis, number(0))

    def _take_part(self, dealt: Dealt, remaining: Sequence[Axis]) -> None:
        """Which tiles of an axis, before the points that say where it begins and ends."""
        parts = atomic(Named(dealt.parts))
        self.facts = self.facts.with_bounds(Named(dealt.parts), 1, None).with_bounds(Named(dealt.part), 0, None)
        rows = self.forms[dealt.axis].name
        self.statements.append(tile.Remark(f"The tiles of {rows} are dealt out to {dealt.parts} programs."))
        if self.position.atom != Named("pid"):
            self.position = self._assign("pid", self.position)
        self._assign(dealt.part, atomic(Remainder(self.position, parts)))
        self._divide(parts, remaining)

    def _take_all(self, axes: list[Axis]) -> None:
        tiled = [axis for axis in axes if not self._is_scalar(axis)]
        grouped = len(tiled) == 2 and any(is_dot(node, self.region) for node in self.region.contractions)
        if grouped:
            axes = [axis for axis in axes if axis not in tiled]
            self._name_counts([*tiled, *axes[1:]])
            self._take_group(tiled, axes)
        else:
            self._name_counts(axes[1:])  # the first axis' count is never needed
        dealt = self.dealt
        while axes:
            if dealt is not None and all(map(self._is_scalar, axes)):
                self._take_part(dealt, axes)
                dealt = None
            self._take(axes.pop(), axes)

    def _count(self, axis: Axis) -> Polynomial:
        return tile_count(axis, self.forms[axis], self.layout.lanes[axis])

    def _is_scalar(self, axis: Axis) -> bool:
        return self.forms[axis].block is None

    def _is_one_tile(self, axis: Axis) -> bool:
        return not self._is_scalar(axis) and self.counts[axis] == number(1)

    def _assign(self, name: str, value: Polynomial, wide: bool = False) -> Polynomial:
        self.statements.append(tile.BindIndex(name, value, wide))
        return atomic(Named(name))

    def _only_axis(self, axis: Axis) -> None:
        """The program id is the coordinate."""
        name, begin = self.forms[axis].name, axis.begin
        if begin == number(0):
            self._assign(name, atomic(Named(_PROGRAM_ID)), wide=True)
        else:
            self._assign(name, begin + atomic(Named(f"{_PROGRAM_ID}.to(INDEX)")))

    def _name_counts(self, axes: Sequence[Axis]) -> None:
        """A running program has at least one tile of every program axis."""
        for axis in axes:
            if self._is_scalar(axis):
                self.facts = self.facts.assuming(self.counts[axis] - 1)
            else:
                name = self.namer.fresh(f"{self.forms[axis].name}_tiles")
                self.counts[axis] = self._assign(name, self.counts[axis])
                self.facts = self.facts.with_bounds(Named(name), 1, None)

    def _take(self, axis: Axis, remaining: Sequence[Axis]) -> None:
        here = atomic(Remainder(self.position, self.counts[axis])) if remaining else self.position
        self._bind(axis, here)
        if remaining:
            self._divide(self.counts[axis], remaining)

    def _divide(self, count: Polynomial, remaining: Sequence[Axis]) -> None:
        """What is left of the program id once its fastest axes are decoded."""
        left = atomic(Quotient(self.position, count))
        self.position = self._assign("pid", left) if len(remaining) > 1 else left

    def _take_group(self, tiled: Sequence[Axis], remaining: Sequence[Axis]) -> None:
        rows, columns = tiled
        plane = self.counts[rows] * self.counts[columns]
        inside = self.position
        if remaining:
            inside = self._named("tile", atomic(Remainder(self.position, plane)))
        self.statements.append(
            tile.Remark(f"{GROUP} rows of tiles at a time: programs that run together share columns in the L2 cache.")
        )
        width = self.counts[columns] * GROUP
        start = self._named("group_start", atomic(Quotient(inside, width)) * GROUP)
        within = self._named("within_group", atomic(Remainder(inside, width)))
        height = self._named("group_rows", minimum(self.counts[rows] - start, number(GROUP)), least=1)
        self._bind(rows, start + atomic(Remainder(within, height)))
        self._bind(columns, atomic(Quotient(within, height)))
        if remaining:
            self._divide(plane, remaining)

    def _named(self, wish: str, value: Polynomial, least: int = 0) -> Polynomial:
        name = self.namer.fresh(wish)
        self.facts = self.facts.with_bounds(Named(name), least, None)
        return self._assign(name, value)

    def _bind(self, axis: Axis, position: Polynomial) -> None:
        if axis in self.region.growing and not self._is_scalar(axis):
            self.statements.append(tile.Remark("The last tile has most to do: it is first."))
            position = self._named("tile", self.counts[axis] - 1 - position)
        if self._is_scalar(axis):
            self._assign(self.forms[axis].name, axis.begin + position)
        else:
            self.bind_lanes(axis, position)

    def bind_lanes(self, axis: Axis, position: Polynomial) -> None:
        """The lanes of a tile of the axis; from the first coordinate on, the tile has to be widened itself."""
        if axis in self.named and position != number(0):
            self._bind_first(axis, position)
        else:
            self.statements.append(tile.BindAxis(axis, axis.begin, position, wide=position == number(0)))
        if not self.layout.exact(axis):
            self.statements.append(tile.BindMask(axis))

    def _bind_first(self, axis: Axis, position: Polynomial) -> None:
        """Loops stop where this tile's coordinates say so: its first one has a name."""
        name, block = self.namer.fresh(f"first_{self.forms[axis].name}"), self.forms[axis].block
        if block is None:
            raise AssertionError("a tile has a block size")
        self.firsts[axis] = self._assign(name, axis.begin + position * atomic(Named(block)))
        if self.facts.nonnegative(axis.begin):
            self.facts = self.facts.with_bounds(Named(name), 0, None)
        self.statements.append(tile.BindAxis(axis, self.firsts[axis]))

"""Ranges of tensor axes in source coordinates, and the pool of axes that run along them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from intent.records import dataclass, field
from translators.algebra.polynomial import Polynomial, Symbol, atomic, number
from translators.logical import program as lp
from translators.logical.coordinates import polynomial as coordinate_polynomial
from translators.logical.program import Kernel, Value
from translators.logical.types import Domain, Memory
from translators.planning.provenance import axis_origin
from translators.planning.sinks import ExtentKey, extent_key
from translators.tile.expression import Arena, Axis, Expression, LoopToken


@dataclass(frozen=True, slots=True)
class Range:
    """Coordinates [begin, end) of an axis; of the current slice only, if `slices` is a region operation's loop."""

    begin: Polynomial
    end: Polynomial
    name: str
    slices: LoopToken | None = None


@dataclass(slots=True)
class Ranges(ABC):
    """What is known about extents while values are pulled."""

    kernel: Kernel
    pinned: frozenset[Memory] = frozenset()
    unshared: frozenset[ExtentKey] = frozenset()  # extents whose bound axes must not be the effect's own
    held: frozenset[Value] = frozenset()  # reads that are kept in scratch memory, because their memory is overwritten
    in_turn: frozenset[Value] = frozenset()  # parallel variables whose points are taken one after another
    stored: frozenset[Value] = frozenset()  # results of carries that are kept in scratch memory
    arena: Arena = field(default_factory=Arena)
    variables: dict[Value, Polynomial] = field(default_factory=dict)
    slice_ranges: dict[Polynomial, Range] = field(default_factory=dict)  # by the extent of a region operation's slices
    slice_axes: dict[LoopToken, list[Axis]] = field(default_factory=dict)
    binding: list[Axis] = field(default_factory=list)  # bound by the structured operations being pulled
    own: frozenset[Axis] = frozenset()  # free axes of the effect being pulled
    _pool: dict[tuple[Polynomial, LoopToken | None], list[Axis]] = field(default_factory=dict)

    @abstractmethod
    def integer(self, value: Value) -> Polynomial:
        """A runtime integer scalar as a polynomial over expressions."""

    def bounds(self, domain: Domain) -> tuple[Polynomial, Polynomial]:
        return self.extent(domain.begin_polynomial), self.extent(domain.end_polynomial)

    def extent(self, extent: Polynomial) -> Polynomial:
        """A polynomial of the logical program with its runtime values pulled."""
        return extent.rebuild(lambda atom: self._scalar(atom) if isinstance(atom, Value) else None)

    def _scalar(self, value: Value) -> Polynomial | None:
        if value in self.variables:
            return self.variables[value]
        if isinstance(value.origin, lp.BlockParameter):  # the extent of a slice stands for itself
            return None
        explained = coordinate_polynomial(value)
        if explained.atom is not value:
            return self.extent(explained)
        return self.integer(value)

    def bound(self, wanted: Range, taken: frozenset[Axis]) -> Axis:
        """A pooled axis of this extent that is not taken, one of the same coordinates if there is one, or a new axis.

        Axes are shared between ranges of one extent, so that two halves of a row can be lanes of one tile; positions
        along
        an axis (`axis - axis.begin`) do not depend on the coordinates it was made for.
        """
        pool = self._pool.setdefault((wanted.end - wanted.begin, wanted.slices), [])
        excluded = taken | self.own if self._is_unshared(wanted.end - wanted.begin) else taken
        free = [axis for axis in pool if axis not in excluded]
        if free:  # an axis that an enclosing reduction runs along is likely to run along the same loads
            return min(free, key=lambda axis: (axis not in self.binding, axis.begin != wanted.begin))
        axis = self.arena.axis(wanted.name, wanted.begin, wanted.end, slices=wanted.slices)
        pool.append(axis)
        if wanted.slices is not None:
            self.slice_axes.setdefault(wanted.slices, []).append(axis)
        return axis

    def _is_unshared(self, extent: Polynomial) -> bool:
        return bool(self.unshared) and extent_key(extent) in self.unshared

    def whole(self, extent: Polynomial) -> Range:
        """All positions of an axis of which only the extent is known."""
        return Range(number(0), extent, extent_name(extent))

    def range_of(self, value: Value, ordinal: int) -> Range:
        """The range of one axis of a tensor, in source coordinates where they are known."""
        extent = self.extent(value.shape[ordinal])
        if extent in self.slice_ranges:
            return self.slice_ranges[extent]
        domain = axis_origin(value, ordinal)
        if domain is not None and domain.step == 1:
            begin, end = self.bounds(domain)
            if end - begin == extent:
                return Range(begin, end, domain.name or extent_name(extent))
        return self.whole(extent)

    def relation_range(self, relation: lp.Relation, ordinal: int) -> Range:
        """The range of one axis of an access."""
        extent = self.extent(relation.shape[ordinal])
        position, joint_seen = 0, False
        for item in relation.items:
            match item:
                case lp.Along(domain=domain):
                    if position == ordinal and domain.step == 1:
                        begin, end = self.bounds(domain)
                        return Range(begin, end, domain.name or extent_name(extent))
                    position += 1
                case lp.NewAxis():
                    position += 1
                case lp.Gathered(index=tensor) if not joint_seen:
                    joint_seen = True
                    inner = ordinal - position - (len(relation.joint_shape) - len(tensor.shape))
                    if 0 <= inner < len(tensor.shape) and tensor.shape[inner] == relation.shape[ordinal]:
                        return self.range_of(tensor, inner)
                    position += len(relation.joint_shape)
                case _:
                    pass
        return self.whole(extent)


def axes_of(coordinates: Sequence[Polynomial]) -> frozenset[Axis]:
    """The axes that the coordinates vary with."""
    axes: set[Axis] = set()
    for coordinate in coordinates:
        for atom in coordinate.atoms():
            if isinstance(atom, Axis):
                axes.add(atom)
            elif isinstance(atom, Expression):
                axes |= atom.axes
    return frozenset(axes)


def extent_name(extent: Polynomial) -> str:
    atom = extent.atom
    return atom.name.lower() if isinstance(atom, Symbol) else "i"


def position_axis(position: Polynomial) -> Axis | None:
    """The axis of which `position` is the position, counted from its beginning; None if it is anything else."""
    axes = [atom for atom in position.atoms() if isinstance(atom, Axis)]
    return next((axis for axis in axes if position == atomic(axis) - axis.begin), None)


def same_run(axis: Axis, extent: Polynomial, slices: LoopToken | None = None) -> bool:
    """The axis has as many positions, and is cut by the same loop if any."""
    return axis.extent == extent and axis.slices is slices


def known_at_launch(value: Polynomial) -> bool:
    """The host can compute it: no data and no coordinate in it."""
    return not any(
        isinstance(atom, Axis | LoopToken) or (isinstance(atom, Expression) and atom.operation != "parameter")
        for atom in value.atoms()
    )

"""Two accesses of one array that never touch the same element, whichever programs, iterations and lanes they belong to.

Both places are sums of multiples of a distance D and a rest. If the rests differ by something in (0, D), so do the
places: what remains of their difference is no multiple of D.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intent.records import dataclass, replace
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Polynomial, Symbol, atomic
from translators.lifting.context import with_axes
from translators.lifting.rewriting import where
from translators.tile.expression import Arena, Axis, Expression
from translators.tile.substitution import Rebuilding


@dataclass(frozen=True, slots=True)
class Access:
    """An offset, and the condition without which the element is not touched."""

    offset: Polynomial
    mask: Expression

    @property
    def axes(self) -> tuple[Axis, ...]:
        atoms = (*self.offset.atoms(), *self.mask.mentioned)
        return tuple(dict.fromkeys(atom for atom in atoms if isinstance(atom, Axis)))


def never_meet(arena: Arena, facts: Facts, first: Access, second: Access, same: Sequence[Axis] = ()) -> bool:
    """Whether no point of one touches what a point of the other does; both have one coordinate along axes of `same`."""
    if any(isinstance(atom, Expression) for each in (first, second) for atom in each.offset.atoms()):
        return False  # what is read from memory is no coordinate of a known range
    copies = _copies(arena, second.axes, same)
    atoms: dict[Atom, Polynomial] = {old: atomic(new) for old, new in copies.items()}
    mask = Rebuilding(arena, atoms).expression(second.mask)
    other = replace(second, offset=second.offset.substitute(atoms), mask=mask)
    known = where(where(with_axes(facts, (*first.axes, *other.axes)), first.mask), other.mask)
    difference = _without_factors(other.offset - first.offset)
    if known.positive(difference) or known.positive(-difference):
        return True
    for distance in dict.fromkeys(_distances(difference)):
        rest = _without_multiples(difference, distance)
        if any(known.positive(each) and known.less(each, distance) for each in (rest, -rest)):
            return True
    return False


def within_rows(
    first: Access, second: Access, blocks: frozenset[str]
) -> Iterator[tuple[Access, Access, tuple[Symbol, ...]]]:
    """Both accesses within one row, in each way to see them as rows, and the distances of such rows.

    A distance is a size that nothing else is made of. It is chosen so that rows do not overlap: elements that are the
    same are in the same row.
    """
    strides = row_strides(first, second, blocks)
    yield first, second, ()
    for kept in (None, *strides):
        chosen = [each for each in strides if each != kept]
        if chosen:
            one, other = (replace(each, offset=in_row(each.offset, chosen)) for each in (first, second))
            yield one, other, tuple(chosen)


def row_strides(first: Access, second: Access, blocks: frozenset[str]) -> tuple[Symbol, ...]:
    """The sizes that are nothing but distances of rows in both."""
    ends = {atom for each in (first, second) for axis in each.axes for atom in (*axis.begin.atoms(), *axis.end.atoms())}
    sizes = dict.fromkeys(atom for atom in first.offset.atoms() if isinstance(atom, Symbol) and atom not in ends)
    return tuple(each for each in sizes if all(_are_rows(access.offset, each, blocks) for access in (first, second)))


def _are_rows(offset: Polynomial, stride: Symbol, blocks: frozenset[str]) -> bool:
    """Whether the stride stands for nothing but the distance of coordinates, which blocks may be taken to."""
    coordinate = offset.coefficient(stride)
    if coordinate is None or not any(isinstance(atom, Axis) for atom in coordinate.atoms()):
        return False
    factors = (atom for monomial, _ in coordinate.terms for atom in monomial if isinstance(atom, Symbol))
    return all(atom.name in blocks for atom in factors)


def in_row(offset: Polynomial, strides: Sequence[Symbol]) -> Polynomial:
    for stride in strides:
        offset = offset - (offset.coefficient(stride) or Polynomial()) * atomic(stride)
    return offset


def _copies(arena: Arena, axes: Sequence[Axis], same: Sequence[Axis]) -> dict[Axis, Axis]:
    """Axes for other coordinates in the same ranges, of which those come first that bound others."""
    copies: dict[Axis, Axis] = {}
    waiting = [axis for axis in axes if axis not in same]
    while waiting:
        ready = [axis for axis in waiting if not set(waiting) & {*axis.begin.atoms(), *axis.end.atoms()}]
        if not ready:
            break
        atoms: dict[Atom, Polynomial] = {old: atomic(new) for old, new in copies.items()}
        for axis in ready:
            copies[axis] = arena.axis(axis.name, axis.begin.substitute(atoms), axis.end.substitute(atoms))
        waiting = [axis for axis in waiting if axis not in ready]
    return copies


def _without_factors(difference: Polynomial) -> Polynomial:
    """Divided by sizes that are factors of all its terms: a stride is not 0."""
    for atom in difference.terms[0][0] if difference.terms else ():
        rest = difference.divided_by(atomic(atom)) if isinstance(atom, Symbol) else None
        if rest is not None:
            return _without_factors(rest)
    return difference


def _distances(difference: Polynomial) -> Iterator[Polynomial]:
    """What coordinates are multiplied by."""
    for axis in (atom for atom in difference.atoms() if isinstance(atom, Axis)):
        factor = difference.coefficient(axis)
        if factor is not None and factor.terms and not any(isinstance(atom, Axis) for atom in factor.atoms()):
            yield factor if factor.terms[-1][1] > 0 else -factor


def _without_multiples(difference: Polynomial, distance: Polynomial) -> Polynomial:
    """What is left of it without the terms with a coordinate that are multiples of the distance."""
    rest = Polynomial()
    for term in difference.terms:
        single = Polynomial((term,))
        multiple = single.divided_by(distance) if any(isinstance(atom, Axis) for atom in single.atoms()) else None
        rest = rest + (single if multiple is None else Polynomial())
    return rest

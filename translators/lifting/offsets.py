"""Offsets as sums of strides times coordinates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from intent.records import dataclass
from translators.algebra.polynomial import Atom, Extremum, Monomial, Polynomial, Quotient, Remainder, atomic, number
from translators.lifting.sinks import Residue
from translators.tile.expression import Axis, Expression, LoopToken


@dataclass(frozen=True, slots=True)
class Term:
    """One summand of an offset: size * factor * coordinate, where `coordinate` is None for a constant."""

    size: Monomial
    factor: int
    coordinate: Atom | None


def terms(offset: Polynomial) -> Iterator[Term]:
    for monomial, factor in offset.terms:
        sizes = tuple(atom for atom in monomial if not is_coordinate(atom))
        coordinates = [atom for atom in monomial if is_coordinate(atom)]
        if len(coordinates) > 1:
            raise Residue(f"an address with a product of coordinates: {offset!r}")
        yield Term(sizes, factor, coordinates[0] if coordinates else None)


def is_coordinate(atom: Atom) -> bool:
    """Whether it differs between programs, iterations or lanes."""
    if isinstance(atom, Quotient | Remainder | Extremum):
        return any(is_coordinate(inner) for operand in atom.operands for inner in operand.atoms())
    return isinstance(atom, Axis | LoopToken | Expression)


def from_the_end(term: Term, access: Sequence[Term]) -> bool:
    """Whether a constant is the end of an axis along which a coordinate counts down."""
    whole = Polynomial(((term.size, 1),))
    return term.coordinate is None and any(
        other.coordinate is not None
        and other.factor < 0
        and other.size != term.size
        and whole.divided_by(Polynomial(((other.size, 1),))) is not None
        for other in access
    )


def before_ends(offset: Polynomial, sizes: Collection[Monomial]) -> Iterator[Monomial]:
    """Those of the sizes that are added where some elements are taken off: a place is told from an axis's end."""
    constants = [(monomial, factor) for monomial, factor in offset.terms if not any(map(is_coordinate, monomial))]
    for whole, added in constants:
        parts = [part for part, less in constants if less < 0 < added and part != whole]
        size = Polynomial(((whole, 1),))
        if whole in sizes and any(size.divided_by(Polynomial(((part, 1),))) is not None for part in parts):
            yield whole


def belongs(term: Term, size: Monomial, access: Sequence[Term]) -> bool:
    """Whether a term whose size is no stride is a multiple of this one: where the end is, if it is an end."""
    if Polynomial(((term.size, 1),)).divided_by(Polynomial(((size, 1),))) is None:
        return False
    counted = any(other.coordinate is not None and other.factor < 0 and other.size == size for other in access)
    return counted or not from_the_end(term, access)


def value_of(term: Term, scale: int, stride: Monomial | None = None) -> Polynomial:
    factor = number(term.factor * scale)
    if stride is not None:
        factor = factor * (Polynomial(((term.size, 1),)).divided_by(Polynomial(((stride, 1),))) or number(0))
    return factor if term.coordinate is None else factor * atomic(term.coordinate)


def beside_multiples(strides: Sequence[Polynomial]) -> list[Polynomial]:
    """Each stride after those of its multiples that no other stride in between divides."""
    made: list[Polynomial] = []
    for stride in sorted(strides, key=lambda each: len(each.terms[0][0])):
        inner = [each for each in made if each.terms[0][0] and stride.divided_by(each) is not None]
        base = max(inner, key=lambda each: len(each.terms[0][0]), default=None)
        made.insert(len(made) if base is None else made.index(base), stride)
    units = [each for each in made if not each.terms[0][0]]
    return [each for each in made if each not in units] + units

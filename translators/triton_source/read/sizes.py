"""Which compile-time integers of a kernel are sizes or strides of its arrays, and which are sizes of its tiles.

A tile's size counts lanes. A compile-time integer that counts no lanes, but bounds them in a mask, multiplies them in
an address, or is divided into the iterations of a loop, is a size of the data like any other.
"""

from __future__ import annotations

from collections.abc import Iterator

from translators.algebra.polynomial import Polynomial, Quotient, Symbol
from translators.tile.effects import KernelEffects
from translators.tile.expression import REDUCTIONS, Axis, Expression, having, walk


def data_sizes(effects: KernelEffects) -> frozenset[str]:
    """Names of symbols that are sizes of the data."""
    roots = tuple(roots_of(effects))
    evident = {name for root in walk(*roots) for name in _evidence(root, set(effects.programs))}
    evident.update(name for record in effects.loops for name in _divided(record.trip))
    return frozenset(evident - set(_counting(effects, roots)))


def tile_sizes(effects: KernelEffects) -> frozenset[str]:
    """Names of symbols that count the lanes of some tile."""
    return frozenset(_counting(effects, tuple(roots_of(effects))))


def roots_of(effects: KernelEffects) -> Iterator[Expression]:
    """Every expression of the kernel that something depends on."""
    for store in effects.stores:
        yield from (store.offset, store.value, store.mask)
    for record in effects.loops:
        for carry in record.carries:
            yield from (carry.initial, carry.update)
        if record.condition is not None:
            yield record.condition


def _counting(effects: KernelEffects, roots: tuple[Expression, ...]) -> Iterator[str]:
    """Symbols in the number of lanes of any tile."""
    axes = [lane for store in effects.stores for lane in store.lanes]
    axes += [lane for record in effects.loops for carry in record.carries for lane in carry.lanes]
    axes += [axis for node in having(REDUCTIONS, *roots) for axis in node.attribute.axes]
    for axis in axes:
        yield from _names(axis.extent)


def _names(polynomial: Polynomial) -> Iterator[str]:
    return (atom.name for atom in polynomial.atoms() if isinstance(atom, Symbol))


def _evidence(node: Expression, programs: set[Axis]) -> Iterator[str]:
    match node.operation, node.arguments:
        case "load", (offset, *_) if offset.operation == "index":
            yield from _strides(offset.attribute, programs)
        case "index", _:
            yield from _strides(node.attribute, programs) if _is_address(node) else ()
        case "pointwise", (left, right) if node.attribute[0] == "less" and left.operation == "index":
            yield from _bounds(left.polynomial - right.polynomial, programs)


def _is_address(node: Expression) -> bool:
    return isinstance(node.attribute, Polynomial)


def _strides(offset: Polynomial, programs: set[Axis]) -> Iterator[str]:
    for monomial, _ in offset.terms:
        if any(isinstance(atom, Expression) or (isinstance(atom, Axis) and atom not in programs) for atom in monomial):
            yield from (atom.name for atom in monomial if isinstance(atom, Symbol))


def _bounds(difference: Polynomial, programs: set[Axis]) -> Iterator[str]:
    lanes = any(isinstance(atom, Axis) and atom not in programs for atom in difference.atoms())
    for monomial, _ in difference.terms if lanes else ():
        bound = monomial[0] if len(monomial) == 1 else None
        if isinstance(bound, Quotient):
            bound = bound.numerator.atom  # a half of it, say
        if isinstance(bound, Symbol):
            yield bound.name


def _divided(trip: Polynomial) -> Iterator[str]:
    for atom in trip.atoms():
        if isinstance(atom, Quotient):
            denominator = set(_names(atom.denominator))
            yield from (name for name in _names(atom.numerator) if name not in denominator)

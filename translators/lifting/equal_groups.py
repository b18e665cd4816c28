"""Sizes that are divided into groups of one size: A // B, where the quotient tells groups apart.

    x // (A // B), x % (A // B)       the group of x, and its place within it
    x * (A // B) + y                  the first of group x

Such a kernel is meant for an A that is a multiple of B, as heads that share keys are, or channels of a convolution.
Then A is B times a size of its own, and the coordinate has an axis for each. What only ends at A // B may leave a rest
out: that says nothing. A size of tiles is none of data: its last tile need not be whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from translators.algebra.polynomial import Atom, Polynomial, Quotient, Remainder, Symbol, atomic, symbol
from translators.lifting.context import Context
from translators.lifting.names import Names
from translators.lifting.offsets import is_coordinate
from translators.lifting.sinks import Sink
from translators.tile.expression import REDUCTIONS, Axis, having, walk


def equal_groups(context: Context, sinks: Sequence[Sink], names: Names) -> dict[Atom, Polynomial]:
    """A size as the number of its groups times their size, which gets a name."""
    found: dict[Atom, Polynomial] = {}
    tiles = {atom for axis in _lanes(sinks) for atom in axis.end.atoms()}
    for quotient in _group_sizes(sinks):
        whole, count = quotient.numerator.atom, quotient.denominator.atom
        if not (isinstance(whole, Symbol) and isinstance(count, Symbol)) or whole in found or count in found:
            continue
        if {whole, count} & tiles or whole == count:
            continue
        size = symbol(names.fresh("G"))
        found[whole] = atomic(count) * size
        context.group_sizes[size] = atomic(quotient)
        context.ledger.add("assumed", f"{whole.name} is {count.name} times {size!r}: its groups are of one size")
    return found


def in_given_sizes(context: Context, polynomial: Polynomial) -> Polynomial:
    """Sizes of groups as the quotients that they are."""
    return polynomial.substitute({size.atom: quotient for size, quotient in context.group_sizes.items() if size.atom})


def whole_groups(context: Context) -> Iterator[Polynomial]:
    """What is not negative where no group is incomplete."""
    for quotient in context.group_sizes.values():
        atom = quotient.atom
        assert isinstance(atom, Quotient)
        yield quotient * atom.denominator - atom.numerator


def _group_sizes(sinks: Sequence[Sink]) -> Iterator[Quotient]:
    """Quotients that coordinates are divided by, or multiplied with."""
    for polynomial in _polynomials(sinks):
        for atom in polynomial.atoms():
            if isinstance(atom, Quotient | Remainder) and any(map(is_coordinate, atom.numerator.atoms())):
                yield from (each for each in (atom.denominator.atom,) if isinstance(each, Quotient))
        for monomial, _ in polynomial.terms:
            if any(map(is_coordinate, monomial)):
                yield from (atom for atom in monomial if isinstance(atom, Quotient) and not is_coordinate(atom))


def _lanes(sinks: Sequence[Sink]) -> Iterator[Axis]:
    for sink in sinks:
        yield from (axis for axis in sink.every_axis if axis.name.startswith("lane"))
        for node in having(REDUCTIONS, *sink.roots):
            yield from (axis for axis in node.attribute.axes if axis.name.startswith("lane"))


def _polynomials(sinks: Sequence[Sink]) -> Iterator[Polynomial]:
    for sink in sinks:
        for node in walk(*sink.roots):
            if node.operation == "index":
                yield node.attribute

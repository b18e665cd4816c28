"""What two accesses of one array have in common if they touch one element: the programs and iterations that the
coordinates tell.

Offsets are sums of strides times coordinates. A stride that is a size of its own is chosen so that rows do not overlap:
elements that are the same have the same coordinates. Where both coordinates are B*g plus something in [0, B), g is the
same; of several such g, x // D and x % D tell x, and so on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Polynomial, Symbol, number
from translators.lifting.context import with_axes
from translators.lifting.disjoint import Access, in_row, row_strides
from translators.lifting.injectivity import told_by
from translators.lifting.rewriting import where
from translators.tile.expression import Axis, Expression, dependences


def told(
    facts: Facts, first: Access, second: Access, axes: Collection[Axis], blocks: frozenset[str]
) -> tuple[set[Axis], tuple[Symbol, ...]]:
    """Those of `axes` along which both accesses have one coordinate wherever they touch one element; and the distances
    of rows that this rests on.
    """
    if any(_from_memory(atom) for each in (first, second) for atom in each.offset.atoms()):
        return set(), ()
    known = with_axes(facts, dict.fromkeys((*axes, *first.axes, *second.axes)))
    strides = row_strides(first, second, blocks)
    common: list[Polynomial] = []
    for one, other in _coordinates(first.offset, second.offset, strides):
        mine, near = _divided(one, axes)
        theirs, far = _divided(other, axes)
        if mine == theirs and mine.terms:
            factor = _factor(mine)
            rests = ((near, where(known, first.mask)), (far, where(known, second.mask)))
            if all(there.nonnegative(rest) and there.less(rest, factor) for rest, there in rests):
                common.append(mine.divided_by(factor) or mine)
    return told_by(known, common) & set(axes), strides


def _coordinates(
    first: Polynomial, second: Polynomial, strides: tuple[Symbol, ...]
) -> Iterator[tuple[Polynomial, Polynomial]]:
    """Of both offsets: along each stride, and within rows."""
    for stride in strides:
        one, other = first.coefficient(stride), second.coefficient(stride)
        assert one is not None and other is not None  # a stride of both
        yield one, other
    yield in_row(first, strides), in_row(second, strides)


def _divided(coordinate: Polynomial, axes: Collection[Axis]) -> tuple[Polynomial, Polynomial]:
    """(terms that vary with the axes, the others)."""
    mine, others = Polynomial(), Polynomial()
    for term in coordinate.terms:
        single = Polynomial((term,))
        varies = any(not dependences(atom)[0].isdisjoint(axes) for atom in single.atoms())
        mine, others = (mine + single, others) if varies else (mine, others + single)
    return mine, others


def _factor(coordinate: Polynomial) -> Polynomial:
    """The sizes that every term is a multiple of, if no others are."""
    found = {Polynomial(((_sizes(monomial), factor),)) for monomial, factor in coordinate.terms}
    return found.pop() if len(found) == 1 else number(1)


def _sizes(monomial: tuple[Atom, ...]) -> tuple[Atom, ...]:
    return tuple(atom for atom in monomial if isinstance(atom, Symbol))


def _from_memory(atom: Atom) -> bool:
    return isinstance(atom, Expression)

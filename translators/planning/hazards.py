"""Which accesses of one memory may touch the same element, at whichever points of their axes.

Two accesses of one point of a kernel may differ (`x[n]` and `x[n + 1]`) and yet meet between points. An axis
*separates* two accesses if it stands alone in a coordinate that is the same in both: then they meet at equal positions
of it only, so that programs, tiles and lanes along it keep apart.

Views of one alias group are one memory, of which any element of the one may be any of the other, once all of them are
pinned (`joined`). Before, no read follows a write, and inputs of the group are as if they had been copied.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from translators.algebra.polynomial import Atom, Polynomial, atomic
from translators.logical.program import Kernel
from translators.logical.types import Memory, View
from translators.planning.sinks import Sink, conjuncts
from translators.tile.expression import Axis, Expression, LoopToken, Place, dependences

Tokens = frozenset[LoopToken]
Access = Sink | Place
Cells = Memory | str  # what views of an alias group have in common, by its name
OPPOSITE = {
    "equal": "not_equal", "not_equal": "equal", "less": "greater_equal", "greater_equal": "less",
    "greater": "less_equal", "less_equal": "greater",
}  # fmt: skip


def mentioned(polynomial: Polynomial) -> set[Axis]:
    """The axes it varies with."""
    return {axis for atom in polynomial.atoms() for axis in dependences(atom)[0]}


def _loops(polynomial: Polynomial) -> set[LoopToken]:
    return {token for atom in polynomial.atoms() for token in dependences(atom)[1]}


def cells(memory: Memory) -> Cells:
    """Equal for memories that may have elements in common."""
    return memory.alias if isinstance(memory, View) and memory.alias is not None else memory


def identities(access: Access) -> frozenset[Cells]:
    """Two accesses are of one memory if they have one of these in common."""
    return frozenset({access.memory} if _is_alone(access) else {access.memory, cells(access.memory)})


def _is_alone(access: Access) -> bool:
    return isinstance(access, Place) and not access.pinned


def one_memory(first: Access, second: Access) -> bool:
    if first.memory == second.memory:
        return True
    return cells(first.memory) == cells(second.memory) and not (_is_alone(first) or _is_alone(second))


def joined(kernel: Kernel, sinks: Sequence[Sink], read: Set[Memory], reads_after_writes: bool) -> list[Memory]:
    """Views of the alias groups whose members the kernel has to take for one memory: a copy of the inputs is enough
    unless another view may read what one wrote, or there are two that are written, or are no inputs and so not copied.
    """
    written = {sink.memory for sink in sinks}
    groups: dict[str, list[View]] = {}
    for view in kernel.views:
        if view.alias is not None:
            groups.setdefault(view.alias, []).append(view)
    found: list[Memory] = []
    for group in groups.values():
        touched = [view for view in group if view in written or (view in read and view.direction != "In")]
        if written.intersection(group) and (reads_after_writes or len(touched) > 1):
            found += group
    return found


def separating(first: Access, second: Access) -> frozenset[Axis]:
    """Axes at whose different positions the two accesses never meet."""
    found: set[Axis] = set()
    if first.memory != second.memory:  # of other strides, perhaps
        return frozenset()
    for stored, wanted in zip(first.coordinates, second.coordinates, strict=True):
        axes = mentioned(stored)
        if stored == wanted and len(axes) == 1 and stored.coefficient(next(iter(axes))) is not None:
            found |= axes
    return frozenset(found)


def apart(first: Access, second: Access, within: Tokens = frozenset()) -> bool:
    """The accesses touch no element in common, whatever the points, in one and the same iteration of loops `within`."""
    if first.memory != second.memory:
        return not one_memory(first, second)
    common = separating(first, second)
    pairs = zip(first.coordinates, second.coordinates, strict=True)
    return any(_differ(stored, wanted, common, within) for stored, wanted in pairs)


def meet(first: Sink, second: Sink) -> bool:
    """Two stores may touch one element; alternatives of one condition never do at one point."""
    if first.action == second.action != "store" or apart(first, second):
        return False
    same_point = separating(first, second) >= {*first.axes, *second.axes}
    return not (same_point and _excludes(first.predicate, second.predicate))


def crosses(sink: Sink, load: Expression) -> bool:
    """A store may overwrite, at one point, what the load reads at another."""
    place = load.attribute
    iteration = frozenset(token for each in (*sink.coordinates, *place.coordinates) for token in _loops(each))
    if apart(sink, place, iteration):
        return False
    return not separating(sink, place) >= {*sink.axes, *load.axes}


# ------------------------------------------------------------------------------------------------------- one coordinate
def _differ(stored: Polynomial, wanted: Polynomial, common: frozenset[Axis], within: Tokens) -> bool:
    """By a constant, because their ranges cannot meet, or because their remainders never do."""
    if _modulo_apart(stored, wanted, common, within):
        return True
    first, second = (_range(coordinate, common, within) for coordinate in (stored, wanted))
    if first is None or second is None:
        return False
    gaps = ((first[0] - second[1]).constant, (second[0] - first[1]).constant)
    return any(gap is not None and gap > 0 for gap in gaps)


def _fixed(atom: Atom, common: frozenset[Axis], within: Tokens) -> bool:
    """It has one value in both accesses."""
    axes, loops = dependences(atom)
    return axes <= common and loops <= within


def _range(coordinate: Polynomial, common: frozenset[Axis], within: Tokens) -> tuple[Polynomial, Polynomial] | None:
    """Least and largest value over the axes that differ between the accesses; None if these cannot be told."""
    low = high = coordinate
    for atom in list(coordinate.atoms()):
        if _fixed(atom, common, within):
            continue
        factor = coordinate.coefficient(atom) if isinstance(atom, Axis) else None
        if factor is None or factor.constant is None or not isinstance(atom, Axis):
            return None
        ends = (atom.begin, atom.end - 1) if factor.constant > 0 else (atom.end - 1, atom.begin)
        low, high = low + factor * (ends[0] - atomic(atom)), high + factor * (ends[1] - atomic(atom))
    known = all(_fixed(atom, common, within) for bound in (low, high) for atom in bound.atoms())
    return (low, high) if known else None


def _modulo_apart(stored: Polynomial, wanted: Polynomial, common: frozenset[Axis], within: Tokens) -> bool:
    """`a[64 * i + j]` and `a[64 * k + l + 32]` with j and l below 32: remainders by 64 that do not meet."""
    moduli = {abs(factor) for polynomial in (stored, wanted) for monomial, factor in polynomial.terms if monomial}
    for modulus in sorted(moduli - {1}):
        pair = [_remainders(polynomial, modulus, common, within) for polynomial in (stored, wanted)]
        if pair[0] is not None and pair[1] is not None and (pair[0][1] < pair[1][0] or pair[1][1] < pair[0][0]):
            return True
    return False


def _remainders(
    polynomial: Polynomial, modulus: int, common: frozenset[Axis], within: Tokens
) -> tuple[int, int] | None:
    """Bounds of the remainder by the modulus, if they are numbers within [0, modulus)."""
    rest = Polynomial(tuple(term for term in polynomial.terms if not term[0] or term[1] % modulus))
    found = _range(rest, frozenset(), within)
    low, high = (bound.constant for bound in found) if found is not None else (None, None)
    if low is None or high is None:
        return None
    multiple = low // modulus * modulus
    return (low - multiple, high - multiple) if low <= high < multiple + modulus else None


# ----------------------------------------------------------------------------------------------------------- conditions
def _excludes(first: Expression | None, second: Expression | None) -> bool:
    """One condition contains the negation of a part of the other."""
    left, right = set(conjuncts(first)), set(conjuncts(second))
    return any(_negates(a, b) or _negates(b, a) for a in left for b in right)


def _negates(first: Expression, second: Expression) -> bool:
    if first.operation == second.operation == "pointwise" and first.arguments == second.arguments:
        opposite: bool = OPPOSITE.get(first.attribute[0]) == second.attribute[0]  # with NaN neither holds
        return opposite
    return first.operation == "pointwise" and first.attribute[0] == "not" and first.arguments == (second,)

"""Whether every point of a store has an element of its own: the coordinates tell each of the sink's axes.

c                    tells c; with c, what c adds to another coordinate is known too
B*g + i, 0 <= i < B  tells g and i, and so on
x // D and x % D     tell x; so does x // D where the mask makes x % D one number
a[i]                 tells i, if the elements of `a` are all different: an assumption
c in block g         tells g, if blocks do not overlap
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from translators.algebra.facts import Facts
from translators.algebra.polynomial import Polynomial, Quotient, Remainder, Symbol, atomic, floor_divide
from translators.lifting.context import Context
from translators.lifting.offsets import is_coordinate
from translators.lifting.rewriting import conjuncts, where
from translators.lifting.sinks import Residue, SharedByPrograms, Sink
from translators.tile.expression import Axis, Expression, walk
from translators.tile.substitution import Rebuilding


class Memory(Protocol):
    """What a check writes down: arrays of offsets whose segments do not overlap, and of their lengths."""

    sorted: set[str]
    lengths: dict[str, str]
    parts: dict[str, str]


def check_injective(
    context: Context, facts: Facts, sink: Sink, coordinates: Sequence[Polynomial], memory: Memory
) -> None:
    """Raises Residue unless every point stores an element of its own; `facts` know the ranges of the axes."""
    if sink.combine is not None:
        return
    facts = where(facts, sink.mask)
    alone = {atom for each in coordinates for atom in [_only_axis(each)] if atom is not None}
    alone |= {axis for each in coordinates if _only_axis(each) is None for axis in _digits(facts, each)}
    whole = tuple(_recombined(facts, coordinates, tuple(_single_remainders(sink.mask))))
    alone |= {axis for each in (*coordinates, *whole) for axis in _promised(context, each)} - {
        atom for each in coordinates for atom in each.atoms() if isinstance(atom, Axis)
    }
    distinct = len(alone) >= sum(bool(_only_axis(each)) for each in coordinates)
    alone |= _told_by(facts, (*coordinates, *whole), alone)
    shared = {axis for axis in set(sink.axes) - alone if not _told(context, facts, axis, alone, memory)}
    used = {atom for each in coordinates for atom in each.atoms() if isinstance(atom, Axis)}
    if shared & used or not distinct:
        raise Residue(f"stores to '{sink.pointer}' may meet in one element", sink.line)
    if shared:
        names = ", ".join(sorted(axis.name for axis in shared))
        reason = f"several programs or iterations store one element of '{sink.pointer}' ({names})"
        if all(_races(context, sink, axis) for axis in shared):
            raise SharedByPrograms(reason, sink.line, tuple(dict.fromkeys(axis.extent for axis in shared)))
        raise Residue(reason, sink.line)


def _races(context: Context, sink: Sink, axis: Axis) -> bool:
    """Whether each of the programs along the axis stores a value of its own block, so that no launch has several."""
    count = axis.extent.atom
    block = count.denominator.atom if isinstance(count, Quotient) else None
    if not isinstance(block, Symbol) or block.name not in context.blocks or not context.invariant(axis.extent):
        return False
    return axis in context.programs and axis in sink.value.mentioned and axis not in sink.mask.mentioned


def told_by(facts: Facts, coordinates: Sequence[Polynomial]) -> set[Axis]:
    """The axes that these coordinates tell together."""
    return _told_by(facts, (*coordinates, *_recombined(facts, coordinates, ())), set())


def _told_by(facts: Facts, coordinates: Iterable[Polynomial], told: set[Axis]) -> set[Axis]:
    """What these tell, with what is told by then."""
    known = set(told)
    while True:
        found = set[Axis]()
        for each in coordinates:
            alone = _only_axis(each, frozenset(known))
            found |= _digits(facts, each, frozenset(known)) if alone is None else {alone}
        if found <= known:
            return known
        known |= found


def _promised(context: Context, coordinate: Polynomial) -> frozenset[Axis]:
    """The axis of a coordinate that is read from memory: stores of different values would be a race if two of its
    elements were the same."""
    atom = coordinate.atom
    if not isinstance(atom, Expression) or atom.operation != "load" or len(atom.axes) != 1:
        return frozenset()
    name = atom.attribute.memory.name
    context.ledger.add("assumed", f"elements of {name} that select what is stored are all different")
    return atom.axes


def _digits(facts: Facts, coordinate: Polynomial, told: frozenset[Axis] = frozenset()) -> set[Axis]:
    """The axes of B*g + i with i in [0, B), which tells both, and so on; none if it is no such sum.

    What i adds to its axis may depend on g, which is told by then.
    """
    if _read_from_memory(coordinate):
        return set()
    for axis in (atom for atom in coordinate.atoms() if isinstance(atom, Axis) and atom not in told):
        factor = _multiple(coordinate, axis)
        if not factor.terms or any(map(is_coordinate, factor.atoms())):
            continue
        rest = coordinate - factor * atomic(axis)
        if not (facts.nonnegative(rest) and facts.less(rest, factor)):
            continue
        known = told | {axis}
        found = _only_axis(rest, known)
        inner = {found} if found is not None else _digits(facts, rest, known)
        if inner:
            return {axis, *inner}
    return set()


def _told(context: Context, facts: Facts, group: Axis, alone: set[Axis], memory: Memory) -> bool:
    """Whether an axis is told by a coordinate, which ranges over its own blocks only."""
    for axis in alone:
        if axis in context.segments and _may_be_apart(context, facts, axis, group):
            context.ledger.add("assumed", "segments do not overlap: their stores would meet")
            _write_down(axis, memory)
            return True
        size = axis.begin.coefficient(group)
        if size is not None and size.terms and facts.less_equal(axis.extent, size):
            return group not in (axis.begin - size * atomic(group)).atoms()
    return False


def _single_remainders(mask: Expression) -> Iterator[Remainder]:
    """The remainders that are one number wherever the mask holds, whatever the coordinates."""
    for condition in conjuncts(mask):
        if condition.operation == "pointwise" and condition.attribute[0] == "equal":
            difference = Polynomial()
            if all(each.operation == "index" for each in condition.arguments):
                difference = condition.arguments[0].polynomial - condition.arguments[1].polynomial
            for atom in difference.atoms():
                varying = any(isinstance(each, Axis | Expression) for each in (difference - atomic(atom)).atoms())
                if isinstance(atom, Remainder) and not varying:
                    yield atom


def _recombined(facts: Facts, coordinates: Sequence[Polynomial], single: Sequence[Remainder]) -> Iterator[Polynomial]:
    """What coordinates tell together: both x // D and x % D tell x; and so on. Remainders that are `single` numbers
    are told too."""
    known = list(coordinates)
    for _ in range(len(coordinates)):
        remainders = [*single, *(each.atom for each in known if isinstance(each.atom, Remainder))]
        remainders = [each for each in remainders if not any(map(is_coordinate, each.denominator.atoms()))]
        fresh = [each.numerator for each in remainders if any(each in known for each in _quotients(facts, each))]
        if all(each in known for each in fresh):
            return
        yield from (each for each in fresh if each not in known)
        known.extend(fresh)


def _quotients(facts: Facts, rest: Remainder) -> Iterator[Polynomial]:
    """x // D, and a // (A * D) too if x is a // A."""
    yield floor_divide(rest.numerator, rest.denominator)
    inner = rest.numerator.atom
    if isinstance(inner, Quotient) and facts.nonnegative(rest.denominator):
        yield floor_divide(inner.numerator, inner.denominator * rest.denominator)


def _may_be_apart(context: Context, facts: Facts, segment: Axis, group: Axis) -> bool:
    """Whether memory can bound segments so that those of several groups have elements and none in common: both ends
    are read for each group; if an end is another's begin, then the next one's, up to which the segment goes.
    """
    begins, ends = (list(_loads(bound, group)) for bound in (segment.begin, segment.end))
    shared = {step for one in begins for other in ends for step in _groups_between(one, other, group)} - {0}
    if not shared:
        return bool(begins and ends)
    after = Rebuilding(context.arena, {group: atomic(group) + 1}).polynomial(segment.begin)
    return shared == {1} and facts.less_equal(segment.end, after)


def _loads(bound: Polynomial, group: Axis) -> Iterator[Expression]:
    """What is read from memory for each group."""
    for node in walk(*(atom for atom in bound.atoms() if isinstance(atom, Expression))):
        if node.operation == "load" and group in node.axes:
            yield node


def _groups_between(begin: Expression, end: Expression, group: Axis) -> Iterator[int]:
    """How many groups later the begin is read where the end is, if it is so for every group."""
    places = (begin.attribute.coordinates, end.attribute.coordinates)
    if begin.attribute.memory != end.attribute.memory:
        return
    steps = set[int]()
    for first, last in zip(*places, strict=True):
        factor = first.coefficient(group)
        if factor == Polynomial() and first == last:
            continue
        step = (last - first).divided_by(factor) if factor is not None else None
        if step is None or step.constant is None:
            return  # elements of their own, or nothing says
        steps.add(step.constant)
    if len(steps) == 1:
        yield steps.pop()


def _write_down(segment: Axis, memory: Memory) -> None:
    """Where segments begin, and how long they are, so that they do not overlap."""
    starts = list(dict.fromkeys(_sources(segment.begin)))
    memory.sorted.update(starts)
    length = segment.end - segment.begin
    added, taken = (
        list(_sources(Polynomial(tuple(each for each in length.terms if each[1] * sign > 0)))) for sign in (1, -1)
    )
    for name in added if len(starts) == 1 and starts[0] not in added else ():
        memory.lengths.setdefault(name, starts[0])
    for name in taken if len(added) == 1 and taken != added else ():
        memory.parts.setdefault(name, added[0])


def _sources(bound: Polynomial) -> Iterator[str]:
    """The arrays whose elements bound an axis."""
    for atom in bound.atoms():
        if isinstance(atom, Expression):
            yield from (node.attribute.memory.name for node in walk(atom) if node.operation == "load")


def _read_from_memory(coordinate: Polynomial) -> bool:
    return any(isinstance(atom, Expression) for atom in coordinate.atoms())


def _multiple(coordinate: Polynomial, axis: Axis) -> Polynomial:
    """What multiplies the axis where it is a factor of a term."""
    terms_of_axis = Polynomial(tuple(term for term in coordinate.terms if axis in term[0]))
    return terms_of_axis.divided_by(atomic(axis)) or Polynomial()


def _only_axis(coordinate: Polynomial, told: frozenset[Axis] = frozenset()) -> Axis | None:
    """The axis, if the coordinate is a multiple of one axis plus what does not vary, or varies with what is told."""
    axes = [atom for atom in coordinate.atoms() if isinstance(atom, Axis) and atom not in told]
    if len(axes) != 1 or any(isinstance(atom, Expression) for atom in coordinate.atoms()):
        return None
    factor = coordinate.coefficient(axes[0])
    return axes[0] if factor is not None and factor.constant else None

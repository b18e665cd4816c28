"""Segments: rows that an array of offsets bounds, `offsets[g]` to `offsets[g + 1]`, are coordinates of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from intent import dtypes as d
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Monomial,
    Polynomial,
    Quotient,
    Symbol,
    atomic,
    number,
)
from translators.lifting.context import Context
from translators.lifting.groups import shifted
from translators.lifting.rewriting import bound_by, conjuncts, like, replaced, structured, with_axis, with_node
from translators.lifting.simplification import simplifier
from translators.lifting.sinks import Sink
from translators.lifting.sums import parts_of_sum, summed
from translators.tile.expression import LOADS, Axis, Expression, having
from translators.tile.substitution import Rebuilding, as_index


def segment(context: Context, sink: Sink) -> Sink | None:
    """Lanes that memory is only reached at from a place read from memory: that segment's coordinates."""
    for node in structured(sink):
        for lane in node.attribute.axes:
            begin = _segment_begin(node, lane)
            if begin is None:
                continue
            joint = context.arena.axis(lane.name, lane.begin + begin, shifted(lane.end, begin))
            moved = with_axis(context, node, lane, joint, atomic(joint) - begin)
            if not set(begin.atoms()) & _beside(joint, moved.arguments):
                context.ledger.add("proven", f"{lane.name}: the coordinates of a segment that memory bounds")
                return with_node(context, sink, node, moved)
    return None


def _segment_begin(node: Expression, lane: Axis) -> Polynomial | None:
    """What every load adds to the lane that is read from memory, if it is the same."""
    return _common_begin((each.arguments[0].polynomial for each in having(LOADS, *node.arguments)), lane)


def _is_load(node: Expression) -> bool:
    return node.operation == "load"


def _common_begin(offsets: Iterable[Polynomial], lane: Axis) -> Polynomial | None:
    found: set[Polynomial] = set()
    for offset in offsets:
        stride = offset.coefficient(lane)
        if stride is not None and len(stride.terms) == 1:
            terms = (Polynomial((term,)) for term in offset.terms if _from_memory(term[0]))
            begins = [each.divided_by(stride) for each in terms]
            found.add(sum((each for each in begins if each is not None), Polynomial()))
    return found.pop() if len(found) == 1 and found != {Polynomial()} else None


def _from_memory(monomial: Monomial) -> bool:
    return any(_reads(atomic(atom)) for atom in monomial)


def counted(context: Context, sink: Sink) -> Sink | None:
    """Comparisons of coordinates with numbers that memory gives, as such: neither wraps."""

    def finish(node: Expression) -> Expression | None:
        if node.operation != "pointwise" or node.attribute[0] != "less":
            return None
        if all(each.dtype == d.index for each in node.arguments):
            left, right = (summed(each.polynomial) for each in node.arguments)
            if left - right == node.arguments[0].polynomial - node.arguments[1].polynomial:
                return None
        elif _counts(node):
            left, right = map(parts_of_sum, node.arguments)
        else:
            return None
        operands = (as_index(context.arena, left - right), as_index(context.arena, number(0)))
        return context.arena.make("pointwise", node.dtype, operands, node.attribute)

    made = sink.mapped(Rebuilding(context.arena, {}, finish=finish).expression)
    return _with_counted_ends(context, sink) if made == sink else made


def _with_counted_ends(context: Context, sink: Sink) -> Sink | None:
    for node in structured(sink):
        for axis in node.attribute.axes:
            begin, end = summed(axis.begin), summed(axis.end)
            if (begin, end) == (axis.begin, axis.end):
                continue
            return with_node(context, sink, node, with_axis(context, node, axis, like(context, axis, begin, end)))
    return None


def _counts(node: Expression) -> bool:
    """Whether coordinates of lanes are compared with integers that are loaded, and nothing else."""
    if not all(each.dtype.is_integer and each.dtype != d.index for each in node.arguments):
        return False
    difference = parts_of_sum(node.arguments[0]) - parts_of_sum(node.arguments[1])
    loaded = [atom for atom in difference.atoms() if isinstance(atom, Expression)]
    lanes = any(isinstance(atom, Axis) for atom in difference.atoms())
    return lanes and bool(loaded) and all(map(_is_load, loaded))


def stored_segment(context: Context, sink: Sink) -> Sink | None:
    """Lanes of a store up to a length that is read from memory, counted from a place that is: the segment's rows.

    The lanes have to cover the segment: those of a loop do. No launch says how long it is; but it may be part of an
    array whose length the grid covers.
    """
    for lane, length, condition in _lengths(sink):
        rows = _covered(context, lane)
        looped = rows is None and context.facts.less_equal(length, summed(lane.end))
        begin = _common_begin(_offsets(sink), lane)
        if begin is None or not (looped or (rows is not None and context.invariant(rows))):
            continue
        made = _as_segment(context, sink, lane, (begin, begin + length), condition)
        if made is None:
            continue
        joint, changed = made
        context.ledger.add("proven", f"{lane.name}: the coordinates of a segment that memory bounds")
        context.segments[joint] = None if rows is None else _bounded(context, rows)
        if rows is not None and context.segments[joint] is None:
            context.facts = context.facts.assuming(lane.end - joint.extent)
        return changed
    return None


def _lengths(sink: Sink) -> Iterator[tuple[Axis, Polynomial, Expression | None]]:
    """Lanes that begin at 0, the lengths that memory gives them, and the conditions that say so: else their ends do."""
    lanes = [axis for axis in sink.free if not axis.begin.terms]
    for condition in conjuncts(sink.mask):
        for lane in lanes:
            bound = bound_by(condition, lane)
            if bound is not None and bound[0] and _reads(bound[1]):
                yield lane, summed(bound[1]), condition
    for lane in lanes:
        if _reads(lane.end):
            yield lane, _if_any(summed(lane.end)), None


def _if_any(length: Polynomial) -> Polynomial:
    """x for max(0, x): so long if there is an element."""
    atom = length.atom
    if not isinstance(atom, Extremum) or atom.kind != "maximum" or number(0) not in atom.operands:
        return length
    others = [each for each in atom.operands if each != number(0)]
    return others[0] if len(others) == 1 else length


def _bounded(context: Context, rows: Polynomial) -> Polynomial | None:
    """What segments are parts of, if that is what the lanes cover.

    A number that only the host has covers each segment by itself: were one longer, the size of a block would say how
    much of it is stored.
    """
    if isinstance(rows.atom, Symbol) and rows.atom.name in context.arguments:
        context.ledger.add("assumed", f"a segment has at most {rows!r} rows, which every launch covers")
        context.longest.add(rows)
        return None
    context.ledger.add("assumed", f"segments are parts of {rows!r} rows, which every launch covers")
    return rows


def _as_segment(
    context: Context, sink: Sink, lane: Axis, ends: tuple[Polynomial, Polynomial], condition: Expression | None
) -> tuple[Axis, Sink] | None:
    begin, end = ends
    joint = context.arena.axis(lane.name, begin, end)
    context.local.update((joint,) if lane in context.local else ())
    known = {} if condition is None else {condition: True}
    held = sink.mapped(simplifier(context, context.facts, known).expression)
    axes = tuple(joint if axis is lane else axis for axis in sink.axes)
    made = replaced(context, held, {lane: atomic(joint) - begin}, axes)
    addressed = _beside(joint, made.roots, made.offset)
    return None if set(begin.atoms()) & addressed else (joint, made)


def _beside(axis: Axis, roots: Sequence[Expression], offset: Expression | None = None) -> set[Atom]:
    """What addresses add to an axis: those of loads, and one more."""
    loads = [node.arguments[0] for node in having(LOADS, *roots)]
    places = (each.polynomial for each in (*loads, *((offset,) if offset is not None else ())))
    return {atom for place in places if axis in place.atoms() for atom in place.atoms()}


def _offsets(sink: Sink) -> Iterator[Polynomial]:
    yield sink.offset.polynomial
    yield from (each.arguments[0].polynomial for each in having(LOADS, *sink.roots))


def _reads(polynomial: Polynomial) -> bool:
    return any(isinstance(atom, Expression) for atom in polynomial.atoms())


def _covered(context: Context, lane: Axis) -> Polynomial | None:
    """T, if the lanes are those of as many blocks as T elements need, or of one block that the host chooses so."""
    if context.mentions_blocks(lane.end) and isinstance(lane.end.atom, Symbol):
        rows = (lane.end - fact for fact in context.launched)
        sizes = (each for each in rows if isinstance(each.atom, Symbol) and each.atom.name in context.arguments)
        return next(sizes, None)
    for atom in lane.end.terms[0][0] if len(lane.end.terms) == 1 else ():
        if isinstance(atom, Quotient) and lane.end.divided_by(atomic(atom)) == atom.denominator:
            return atom.numerator - atom.denominator + 1
    return None

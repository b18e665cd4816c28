"""Rows that programs store: a block of lanes that is at least a row long is a row, or programs would store in each
other's.

    y[R*p + l] for l in [0, B), by every program p, with B >= R       B = R: else two programs store one element

The launch chooses B; one for which B > R is a race, whose outcome no program says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from translators.algebra.polynomial import Atom, Polynomial, Quotient, Symbol, atomic, ceiling_divide
from translators.lifting.context import Context, with_axes
from translators.lifting.rewriting import bound_by, conjuncts, like, replaced, where
from translators.lifting.sinks import Sink
from translators.tile.expression import Axis, Expression


def whole_rows(context: Context, sinks: Sequence[Sink]) -> dict[Atom, Polynomial]:
    """Block sizes that are lengths of rows."""
    found: dict[Atom, Polynomial] = {}
    for sink in sinks:
        for block, row in _rows(context, sink) if sink.combine is None else ():
            if block not in found and context.facts.less_equal(row, atomic(block)):
                found[block] = row
                context.rows.add(row)
                context.ledger.add("assumed", f"{block!r} is at most {row!r}: programs store no elements of each other")
                context.facts = context.facts.assuming(row - atomic(block))
    return found


def _rows(context: Context, sink: Sink) -> Iterator[tuple[Symbol, Polynomial]]:
    """(number of lanes, distance of the next program's first lane), where that is all that keeps programs apart."""
    offset = sink.offset.polynomial
    facts = where(with_axes(context.facts, sink.axes), sink.mask)
    for lane in (axis for axis in sink.free if axis in context.local):
        block = lane.end.atom
        near = offset.coefficient(lane)
        if _read_from_memory(sink, lane):
            continue
        if not isinstance(block, Symbol) or block.name not in context.blocks or near is None or lane.begin.terms:
            continue
        for program in (axis for axis in sink.free if axis in context.programs):
            far = offset.coefficient(program)
            row = far.divided_by(near) if far and far.terms and near.terms else None
            if row is None or not context.invariant(row) or context.mentions_blocks(row):
                continue
            if not facts.less(atomic(lane), row):
                yield block, row


def whole_tiles(context: Context, sink: Sink) -> Sink:
    """Tiles of B lanes without a mask, on rows that are R apart: B divides R, or programs store in each other's rows.

    y[R*p + c] for c in [0, B * cdiv(R, B)), by every program p
    """
    for lane in sink.free if sink.combine is None else ():
        for row in _rows_of_tiles(context, sink, lane):
            context.required.setdefault(row - lane.end)
            context.ledger.add("assumed", f"{lane.end!r} is {row!r}: programs store no elements of each other")
            made = like(context, lane, lane.begin, row)
            axes = tuple(made if each is lane else each for each in sink.axes)
            return whole_tiles(context, replaced(context, sink, {lane: atomic(made)}, axes))
    return sink


def _rows_of_tiles(context: Context, sink: Sink, lane: Axis) -> Iterator[Polynomial]:
    """The distance of rows of other programs, of which the lane covers one, rounded up to whole blocks."""
    offset = sink.offset.polynomial
    near = offset.coefficient(lane)
    if near is None or not near.terms or lane.begin.terms:
        return
    facts = where(with_axes(context.facts, sink.axes), sink.mask)
    for other in (axis for axis in sink.free if axis in context.programs):
        far = offset.coefficient(other)
        row = far.divided_by(near) if far and far.terms else None
        if row is None or not context.invariant(row) or context.mentions_blocks(row):
            continue
        rounded = any(lane.end == block * ceiling_divide(row, block) for block in _blocks(context, lane.end))
        if rounded and not facts.less(atomic(lane), row):
            yield row


def _blocks(context: Context, extent: Polynomial) -> Iterator[Polynomial]:
    sizes = (atom.denominator for atom in extent.atoms() if isinstance(atom, Quotient))
    return (each for each in sizes if each.constant is not None or context.mentions_blocks(each))


def _read_from_memory(sink: Sink, lane: Axis) -> bool:
    """Whether memory says how many of the lanes count."""
    bounds = (bound_by(condition, lane) for condition in conjuncts(sink.mask))
    return any(isinstance(atom, Expression) for bound in bounds if bound is not None for atom in bound[1].atoms())


def substituted(context: Context, sink: Sink, equal: Mapping[Atom, Polynomial]) -> Sink:
    """The sink with rows for blocks."""
    return replaced(context, sink, dict(equal), sink.axes)

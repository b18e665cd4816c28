"""Places within blocks of rows: the remainder of a number that memory gives, as a coordinate.

Triton's quotient t of x and b rounds to zero, and its remainder x - b*t takes the sign of x. An offset S*(x - b*t) has
that remainder as a coordinate, which is not negative: with b > 0, so is x, or b divides x. So t is x // b wherever
memory holds the numbers that the array is meant for: `x = a[i] + c` is not negative.
"""

from __future__ import annotations

from collections.abc import Iterator

from translators.algebra.polynomial import Atom, Polynomial, atomic, floor_divide
from translators.lifting.context import Context
from translators.lifting.rewriting import replaced
from translators.lifting.sinks import Sink
from translators.tile.expression import LOADS, Expression, having


def with_wrapped_places(context: Context, sink: Sink) -> Sink:
    """The sink with quotients that round down, and remainders, where coordinates are remainders."""
    found: dict[Atom, Polynomial] = {}
    for offset in _offsets(sink):
        for atom in offset.atoms():
            if isinstance(atom, Expression) and atom not in found and _is_wrapped(context, offset, atom):
                found[atom] = floor_divide(*(each.polynomial for each in atom.arguments))
    return replaced(context, sink, found, sink.axes) if found else sink


def _offsets(sink: Sink) -> Iterator[Polynomial]:
    yield sink.offset.polynomial
    yield from (load.arguments[0].polynomial for load in having(LOADS, *sink.roots))


def _is_wrapped(context: Context, offset: Polynomial, divided: Expression) -> bool:
    """Whether S*(x - b*t) is a part of the offset, for this t, where x is an element that may be held not negative."""
    if divided.operation != "pointwise" or divided.attribute[0] != "truncated_divide":
        return False
    top, bottom = (each.polynomial for each in divided.arguments)
    factor = offset.coefficient(divided)
    stride = None if factor is None else (-factor).divided_by(bottom)
    if stride is None or len(stride.terms) != 1 or not context.facts.nonnegative(bottom):
        return False
    rest = offset - stride * (top - bottom * atomic(divided))
    return len(rest.terms) + len(top.terms) + 1 == len(offset.terms) and _is_held(context, top)


def _is_held(context: Context, top: Polynomial) -> bool:
    """Assumes that a[i] + c is not negative: a length, one less than it, or a place."""
    element = (top - top.offset).atom
    if not isinstance(element, Expression) or element.operation != "load" or top.offset < -1:
        return False
    pointer = element.attribute.pointer
    if top.offset < 0:
        context.counted.add(pointer)
    least = max(-top.offset, 0)
    context.ledger.add("assumed", f"numbers in {pointer} that place rows in blocks of them are at least {least}")
    return True

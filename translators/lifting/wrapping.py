"""Lanes that wrap around: what counts only as i % n, for i in [0, E) with E >= n, counts as i in [0, n).

The remainders of [0, E) are all of [0, n), and points of one remainder store one value in one element.
"""

from __future__ import annotations

from collections.abc import Iterator

from translators.algebra.polynomial import Polynomial, Remainder, atomic
from translators.lifting.context import Context, atoms_of, with_axes
from translators.lifting.rewriting import like, occurs, replaced
from translators.lifting.sinks import Sink
from translators.tile.expression import Axis


def unwrap(context: Context, sink: Sink) -> Sink | None:
    """The sink over the numbers that an axis is taken modulo."""
    if sink.combine is not None or sink.pointer in context.loaded:
        return None  # an update counts as often as it is made; what is loaded may be what another point stored
    for axis in sink.free:
        for wrapped in _remainders(sink, axis):
            size = wrapped.denominator
            if not context.invariant(size) or not _covers(context, axis, size):
                continue
            made = like(context, axis, axis.begin, size)
            axes = tuple(made if each is axis else each for each in sink.axes)
            changed = replaced(context, sink, {wrapped: atomic(made)}, axes)
            if not occurs(axis, changed.every_axis, changed.roots):
                context.ledger.add(
                    "proven", f"{axis.name} % {size!r} is each of [0, {size!r}), and nothing else counts"
                )
                return changed
    return None


def _remainders(sink: Sink, axis: Axis) -> Iterator[Remainder]:
    atoms = (atom for atom in atoms_of(*sink.roots) if isinstance(atom, Remainder))
    return (atom for atom in atoms if atom.numerator == atomic(axis))


def _covers(context: Context, axis: Axis, size: Polynomial) -> bool:
    facts = with_axes(context.facts, (axis,))
    return not axis.begin.terms and facts.positive(size) and facts.less_equal(size, axis.end)

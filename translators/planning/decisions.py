"""What attempts to plan a kernel find out: one that fails adds a decision, and the kernel is planned again."""

from __future__ import annotations

from collections.abc import Set

from intent.records import dataclass, replace
from translators.diagnostics import Span
from translators.logical.program import Value
from translators.logical.types import Memory
from translators.planning.sinks import (
    OUT_OF_ORDER,
    AxisConflict,
    ExtentKey,
    MustHold,
    MustPin,
    MustStore,
    MustTakeInTurn,
    OutOfOrder,
    extent_key,
    unsupported,
)

Found = AxisConflict | MustPin | MustHold | MustStore | MustTakeInTurn | OutOfOrder
FINDINGS = (AxisConflict, MustPin, MustHold, MustStore, MustTakeInTurn, OutOfOrder)


@dataclass(frozen=True, slots=True)
class Decisions:
    """`pinned` memories are read in statement order; `unshared` extents have bound axes of their own; `held` values are
    kept in scratch memory, and so are the carries with results `stored`; the points of parallel loops with variables
    `in_turn` are taken one after another.
    """

    pinned: frozenset[Memory] = frozenset()
    unshared: frozenset[ExtentKey] = frozenset()
    held: frozenset[Value] = frozenset()
    in_turn: frozenset[Value] = frozenset()
    stored: frozenset[Value] = frozenset()
    always: frozenset[Value] = frozenset()  # are held whatever else is decided

    @classmethod
    def holding(cls, values: frozenset[Value]) -> Decisions:
        return cls(held=values, always=values)

    def after(self, found: Found, points: Set[Value], span: Span) -> Decisions:
        """What to try next; `points` are the parallel variables that one program runs along, `span` is the kernel's.

        Raises Rejected if nothing is left.
        """
        match found:
            case AxisConflict(extent=extent) if extent_key(extent) not in self.unshared:
                return replace(self, unshared=self.unshared | {extent_key(extent)})
            case AxisConflict(values=values) if not values <= self.held:
                return replace(self, held=self.held | values)
            case AxisConflict():
                raise unsupported("a loop along an axis inside another along the same one is not lowered yet", span)
            case MustPin(memory=memory):
                return replace(self, pinned=self.pinned | {memory})
            case MustTakeInTurn(points=these) if not these <= self.in_turn:
                return self._in_turn(these, found.span, OUT_OF_ORDER)
            case MustStore(carries=carries) if not carries <= self.stored:
                return self._afresh(self.in_turn, self.stored | carries)
            case MustHold(values=values) if not values <= self.held:
                return replace(self, held=self.held | values)
            case OutOfOrder(message=message):
                return self._in_turn(points, found.span, message)
            case _:
                return self._in_turn(points, found.span, OUT_OF_ORDER)

    def _in_turn(self, points: Set[Value], span: Span, message: str) -> Decisions:
        """Where statement order cannot be kept for all points at once, it is for each. Little of what else was found
        still holds then.
        """
        if points <= self.in_turn:
            raise unsupported(message, span)
        return self._afresh(self.in_turn | points, self.stored)

    def _afresh(self, in_turn: frozenset[Value], stored: frozenset[Value]) -> Decisions:
        return Decisions(held=self.always, in_turn=in_turn, stored=stored, always=self.always)

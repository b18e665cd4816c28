"""The form that lifting works on: each store as one scalar expression for every point of its free axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from intent.dtypes import DType
from intent.records import dataclass, field, replace
from translators.algebra.polynomial import Polynomial
from translators.tile.expression import Axis, Expression, LoopToken

Basis = Literal["proven", "host", "assumed"]
Place = tuple[LoopToken, int]  # a carried variable: its loop, and which of that loop's it is


@dataclass(frozen=True, slots=True)
class State:
    """What a loop carries, for every point of the store's axes and of its `own`: first `initial`, then `update`.

    `state[place](coordinates)`, with a coordinate for each of its own axes, is the value before the iteration; in a
    store after the loop it is the last value.
    """

    place: Place
    name: str
    dtype: DType
    own: tuple[Axis, ...]
    initial: Expression
    update: Expression


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A loop in order. `axis` counts the iterations; it is an axis of the sink too if that is within the loop.

    With a `condition` every point goes on for as long as that holds, which is told from the states before an iteration.
    """

    token: LoopToken
    axis: Axis
    states: tuple[State, ...]
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Sink:
    """pointer[offset] = value for every point of `axes` where `mask` holds. No two points share an element.

    With `recurrences`, the value (and what they carry) may read states of loops that go in order.
    """

    pointer: str
    offset: Expression
    value: Expression
    mask: Expression
    axes: tuple[Axis, ...]
    clock: int
    line: int

    recurrences: tuple[Recurrence, ...] = ()
    combine: str | None = None  # for an update of every point, several of which may meet in one element

    @property
    def roots(self) -> tuple[Expression, ...]:
        return (self.offset, self.mask, self.value, *self.carried)

    @property
    def states(self) -> tuple[State, ...]:
        return tuple(state for recurrence in self.recurrences for state in recurrence.states)

    @property
    def carried(self) -> tuple[Expression, ...]:
        """What the recurrences compute."""
        conditions = (each.condition for each in self.recurrences if each.condition is not None)
        return (*(part for state in self.states for part in (state.initial, state.update)), *conditions)

    @property
    def free(self) -> tuple[Axis, ...]:
        """The axes whose points have no order."""
        ordered = {recurrence.axis for recurrence in self.recurrences}
        return tuple(axis for axis in self.axes if axis not in ordered)

    @property
    def every_axis(self) -> tuple[Axis, ...]:
        """Also those of recurrences after which the store comes, and those that states have of their own."""
        loops = (recurrence.axis for recurrence in self.recurrences)
        own = (axis for state in self.states for axis in state.own)
        return tuple(dict.fromkeys((*self.axes, *loops, *own)))

    def mapped(self, change: Callable[[Expression], Expression]) -> Sink:
        """The sink with every expression changed in the same way."""
        recurrences = tuple(
            replace(
                each,
                states=tuple(
                    replace(state, initial=change(state.initial), update=change(state.update)) for state in each.states
                ),
                condition=None if each.condition is None else change(each.condition),
            )
            for each in self.recurrences
        )
        offset, mask, value = change(self.offset), change(self.mask), change(self.value)
        return replace(self, offset=offset, mask=mask, value=value, recurrences=recurrences)

    def with_axes(self, mapping: dict[Axis, Axis]) -> Sink:
        """Other axes for loops and states, after an axis has got another range."""
        recurrences = tuple(
            replace(
                each,
                axis=mapping.get(each.axis, each.axis),
                states=tuple(
                    replace(state, own=tuple(mapping.get(axis, axis) for axis in state.own)) for state in each.states
                ),
            )
            for each in self.recurrences
        )
        return replace(self, recurrences=recurrences)


@dataclass(frozen=True, slots=True)
class Note:
    """One entry of the ledger: a step, and what it rests on."""

    basis: Basis
    text: str


@dataclass(slots=True)
class Ledger:
    """What the lifted program rests on, in order, each once."""

    notes: dict[Note, None] = field(default_factory=dict)
    numerics: dict[str, None] = field(default_factory=dict)  # where results differ by rounding

    def add(self, basis: Basis, text: str) -> None:
        self.notes.setdefault(Note(basis, text))

    def __iter__(self) -> Iterator[Note]:
        return iter(self.notes)


class Residue(Exception):
    """A construct that no rule explains: the kernel is not lifted. `line` is where it stands (0 if unknown)."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class SharedByPrograms(Residue):
    """Programs store different values in one element unless these numbers of blocks are 1."""

    def __init__(self, reason: str, line: int, counts: tuple[Polynomial, ...]) -> None:
        super().__init__(reason, line)
        self.counts = counts

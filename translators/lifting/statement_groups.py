"""Stores that go into the same loops."""

from __future__ import annotations

from collections.abc import Sequence

from intent.records import dataclass, replace
from translators.lifting.sinks import Recurrence
from translators.lifting.spelled import Axes
from translators.lifting.views import Viewed


@dataclass(frozen=True, slots=True)
class Group:
    """Stores within the same loops, those in order last."""

    loops: Axes
    recurrences: tuple[Recurrence, ...]
    members: tuple[Viewed, ...]


def united(first: Sequence[Recurrence], second: Sequence[Recurrence]) -> tuple[Recurrence, ...] | None:
    """The same loops, with what either carries; None if they are different loops."""
    if [(each.token, each.axis) for each in first] != [(each.token, each.axis) for each in second]:
        return None
    made: list[Recurrence] = []
    for one, other in zip(first, second, strict=True):
        states = {state.place: state for state in one.states}
        if any(states.setdefault(state.place, state) != state for state in other.states):
            return None
        made.append(replace(one, states=tuple(sorted(states.values(), key=lambda state: state.place[1]))))
    return tuple(made)

"""What a scope of the schedule is asked for."""

from __future__ import annotations

from intent.records import dataclass
from translators.planning.sinks import Loop, Sink
from translators.tile.expression import Axis, Expression


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """Goal: emit the sink's store. `streamed` are its axes that still need a loop."""

    sink: Sink
    streamed: tuple[Axis, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Goal: accumulate a reduction whose accumulators exist.

    A maximum that sums follow while it grows has a `new_name` for its value with the current tile; `factor` is what
    such a sum is rescaled by.
    """

    reduction: Expression
    names: tuple[str, ...]
    order: tuple[Axis, ...]
    streamed: tuple[Axis, ...]
    new_name: str = ""
    factor: Expression | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Advance:
    """Goal: have everything ready that the loop's carries need to move on; `whole`: through a slice without guards."""

    loop: Loop
    whole: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Test:
    """Goal: have everything ready that the condition of a while is computed from."""

    loop: Loop


Goal = Store | Fold | Advance | Test

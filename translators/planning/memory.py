"""Reads of memory the kernel has written: value forwarding, and which loops rewrite what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from translators.algebra.polynomial import Polynomial, atomic
from translators.logical import program as lp
from translators.logical.program import Block
from translators.logical.types import Memory
from translators.planning.hazards import apart
from translators.planning.ranges import position_axis, same_run
from translators.tile.expression import Axis, Expression, Place

if TYPE_CHECKING:
    from translators.planning.pull import Pull
    from translators.planning.sinks import Sink, Written


def written_memories(block: Block) -> frozenset[Memory]:
    """Every memory that a statement of the block, at any depth, may write."""
    found: set[Memory] = set()
    for statement in block.statements:
        match statement:
            case lp.Write(memory=memory) | lp.Scatter(memory=memory) | lp.AtomicUpdate(memory=memory):
                found.add(memory)
            case lp.If(then=then, orelse=orelse):
                found |= written_memories(then) | written_memories(orelse)
            case lp.For(body=body) | lp.Parallel(body=body):
                found |= written_memories(body)
            case lp.While(test=test, body=body):
                found |= written_memories(test) | written_memories(body)
            case _:
                pass
    return frozenset(found)


def forward(
    pull: Pull, memory: Memory, coordinates: tuple[Polynomial, ...], earlier: tuple[Written, ...]
) -> Expression | None:
    """The stored value itself, if the last write that may touch the element certainly wrote it; else None."""
    for written in reversed(earlier):
        if written.sink.predicate is not None or written.exclusive or written.sink.loops:
            return None
        solution = solve(written.sink, coordinates)
        if solution is not None:
            positions = [solution.get(axis, atomic(axis)) - axis.begin for axis in written.sink.free]
            return pull.pull(written.value, _padded(written, positions))
        if not apart(written.sink, Place(memory, coordinates)):
            return None
    return None


def _padded(written: Written, positions: list[Polynomial]) -> tuple[Polynomial, ...]:
    """Positions within the stored value: the written relation's axes from the right, size-one axes at 0."""
    rest = iter(positions)
    full = [next(rest) if extent.constant != 1 else Polynomial() for extent in written.relation.shape]
    own = written.value.shape
    tail = full[len(full) - len(own) :]
    return tuple(Polynomial() if extent.constant == 1 else position for extent, position in zip(own, tail, strict=True))


def solve(sink: Sink, coordinates: tuple[Polynomial, ...]) -> dict[Axis, Polynomial] | None:
    """Values of the sink's free axes for which it writes exactly `coordinates`; None unless that is certain.

    Certain means: every written coordinate is an axis plus an offset and the solution is an axis of the very same
    range, or
    the coordinate does not involve a free axis and is equal.
    """
    solution: dict[Axis, Polynomial] = {}
    for stored, wanted in zip(sink.coordinates, coordinates, strict=True):
        axis = next((axis for axis in sink.free if stored.coefficient(axis) == Polynomial((((), 1),))), None)
        if axis is None:
            if stored != wanted or any(free in set(stored.atoms()) for free in sink.free):
                return None
            continue
        value = wanted - (stored - atomic(axis))
        if solution.setdefault(axis, value) != value or not _within(value, axis):
            return None
    return solution if set(solution) == set(sink.free) else None


def _within(value: Polynomial, axis: Axis) -> bool:
    """Proven begin <= value < end for the two cases that need no arithmetic: a position of such a run, or constants."""
    other = position_axis(value - axis.begin)
    if other is not None:
        return same_run(other, axis.extent)
    low, high = (value - axis.begin).constant, (axis.end - 1 - value).constant
    return low is not None and high is not None and low >= 0 and high >= 0

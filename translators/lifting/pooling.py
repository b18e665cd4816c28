"""One name for one range: axes of equal range become one axis wherever no value would be captured.

A reduction takes the first axis of its range that does not occur free in what it reduces, and that no reduction in
there takes whose value varies along this one; so what is reduced and then used along the same coordinates becomes one
expression, as the author would write it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from intent.records import dataclass, field, replace
from translators.algebra.polynomial import Atom, Polynomial, atomic
from translators.lifting.loop_choice import loop_axes
from translators.lifting.sinks import State
from translators.lifting.views import Viewed
from translators.tile.expression import REDUCTIONS, Arena, Axis, Expression, having
from translators.tile.substitution import Rebuilding, as_index

Range = tuple[Polynomial, Polynomial]


@dataclass(slots=True)
class Pool:
    arena: Arena
    axes: dict[Range, list[Axis]] = field(default_factory=dict)
    stored: frozenset[Axis] = frozenset()  # axes of the store at hand, if reductions have others

    def viewed(self, sinks: Sequence[Viewed]) -> tuple[Viewed, ...]:
        return self._beside_loops(tuple(map(self._sink, sinks)))

    def _beside_loops(self, sinks: tuple[Viewed, ...]) -> tuple[Viewed, ...]:
        """What is reduced within a loop has an axis beside the loop's, and beside what would be another loop then."""
        looped = {axis for each in sinks for axis in loop_axes(each)}
        made: list[Viewed] = []
        for each in sinks:
            loops = set(loop_axes(each, looped))
            reductions = having(REDUCTIONS, *each.sink.roots)
            if any(not loops.isdisjoint(node.attribute.axes) for node in reductions):
                self.stored = frozenset(each.sink.every_axis)
                each = replace(each, sink=each.sink.mapped(self._bound))
            made.append(each)
        return tuple(made)

    def _sink(self, viewed: Viewed) -> Viewed:
        mapping: dict[Atom, Polynomial] = {}
        taken: list[Axis] = []
        for axis in viewed.sink.axes:
            chosen = self._free(axis, mapping, [*taken, *_bound_along(axis, viewed.sink.roots)])
            taken.append(chosen)
            mapping[axis] = atomic(chosen)
        sink = viewed.sink
        renamed: dict[Axis, Axis] = {}
        for recurrence in sink.recurrences:
            if recurrence.axis not in mapping:
                self._rename(recurrence.axis, mapping, renamed, taken)
            for state in recurrence.states:
                self._rename_own(state, mapping, renamed)
        coordinates = tuple(
            self._bound(self._moved(as_index(self.arena, each), mapping)).polynomial for each in viewed.coordinates
        )
        loops = {axis: taken[position] for position, axis in enumerate(sink.axes)}
        made = sink.mapped(lambda each: self._bound(self._moved(each, mapping))).with_axes({**loops, **renamed})
        return replace(viewed, sink=replace(made, axes=tuple(taken)), coordinates=coordinates)

    def _rename(
        self, axis: Axis, mapping: dict[Atom, Polynomial], renamed: dict[Axis, Axis], taken: Sequence[Axis]
    ) -> None:
        renamed[axis] = self._free(axis, mapping, list(taken))
        mapping[axis] = atomic(renamed[axis])

    def _rename_own(self, state: State, mapping: dict[Atom, Polynomial], renamed: dict[Axis, Axis]) -> None:
        """Axes of a state's own take names that its definition does not use."""
        free = (state.initial.axes | state.update.axes) - set(state.own)
        taken = [found for axis in free if isinstance(found := mapping.get(axis, atomic(axis)).atom, Axis)]
        for axis in state.own:
            self._rename(axis, mapping, renamed, taken)
            taken.append(renamed[axis])

    def _moved(self, expression: Expression, mapping: dict[Atom, Polynomial]) -> Expression:
        return Rebuilding(self.arena, mapping).expression(expression)

    def _free(self, axis: Axis, mapping: dict[Atom, Polynomial], taken: list[Axis]) -> Axis:
        span = (axis.begin.substitute(mapping), axis.end.substitute(mapping))
        known = self.axes.setdefault(span, [])
        for each in known:
            if each not in taken:
                return each
        same = span == (axis.begin, axis.end) and axis not in taken
        made = axis if same else self.arena.axis(axis.name, *span)
        known.append(made)
        return made

    def _bound(self, root: Expression) -> Expression:
        """Inner reductions first, so that an outer one sees the names they no longer need."""
        return Rebuilding(self.arena, {}, finish=self._renamed).expression(root)

    def _renamed(self, node: Expression) -> Expression | None:
        if node.operation not in ("reduce", "contract"):
            return None
        mapping: dict[Atom, Polynomial] = {}
        bound: list[Axis] = []
        inside = frozenset().union(*(argument.axes for argument in node.arguments)) - set(node.attribute.axes)
        for axis in node.attribute.axes:
            taken = [*inside, *bound, *self.stored, *_bound_along(axis, node.arguments)]
            chosen = self._free(axis, mapping, taken)
            bound.append(chosen)
            mapping[axis] = atomic(chosen)
        if tuple(bound) == node.attribute.axes:
            return None
        arguments = tuple(self._moved(argument, mapping) for argument in node.arguments)
        return self.arena.make(node.operation, node.dtype, arguments, replace(node.attribute, axes=tuple(bound)))


def _bound_along(axis: Axis, roots: Iterable[Expression]) -> Iterator[Axis]:
    """The other axes of reductions whose values vary along this one: it cannot become one of them."""
    for node in having(REDUCTIONS, *roots):
        if axis in node.axes:
            yield from (each for each in node.attribute.axes if each is not axis)

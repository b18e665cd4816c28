"""Recurrences as statements: what a loop carries begins as, the loop, and how each iteration goes on.

    state = initial
    for t in range(T):
        state = update of state
        out[t] = ... state ...

An update takes its state's name at once where nothing else still needs the old value; otherwise the new values get
names of their own first.
"""

from __future__ import annotations

from collections.abc import Sequence

from intent.records import dataclass, field, replace
from translators.algebra.polynomial import Polynomial
from translators.intent_source import write as w
from translators.intent_source.write import Text
from translators.lifting.sinks import Recurrence, Residue, State
from translators.lifting.spelled import Spelled, dtype_text
from translators.lifting.spelling import Frame, Speller
from translators.lifting.statement_groups import Group
from translators.lifting.views import Viewed
from translators.tile.expression import Arena, Axis, Expression, walk
from translators.tile.substitution import Rebuilding, as_index

Axes = tuple[Axis, ...]


@dataclass(slots=True)
class OrderedLoops:
    speller: Speller
    group: Group
    indent: str
    known: set[Expression] = field(default_factory=set)  # updates that have their state's name

    def run(self) -> None:
        speller, group = self.speller, self.group
        for viewed in group.members:
            speller.order(viewed)
        for recurrence in group.recurrences:
            inside = [viewed for viewed in group.members if recurrence.axis in viewed.sink.axes]
            self._recurrence(recurrence, inside)
        loops = {recurrence.axis for recurrence in group.recurrences}
        for viewed in group.members:
            if not loops & set(viewed.sink.axes):
                speller.subregions(viewed, self.indent)
                speller.stores([viewed], self.indent)

    def _recurrence(self, recurrence: Recurrence, inside: Sequence[Viewed]) -> None:
        speller, outer = self.speller, self.speller.frame
        for state in recurrence.states:
            self._begin(state)
        axis = recurrence.axis
        if axis.begin != Polynomial():
            raise Residue("a recurrence that does not begin at 0")
        if recurrence.condition is None:
            speller.variables[axis] = speller.names.fresh(axis.name)
            head = f"for {speller.variables[axis]} in {w.call('range', speller.size(axis.end))}:"
        else:
            head = f"while {self._going_on(recurrence.condition)}:"
        speller.lines.append(f"{self.indent}{head}")
        speller.frame = Frame((*outer.loops, axis), outer.order, dict(outer.spelled))
        self._body(recurrence, inside, self.indent + "    ")
        speller.frame = outer

    def _going_on(self, condition: Expression) -> Text:
        """The condition of a loop, which is computed before every iteration."""
        speller, outer = self.speller, self.speller.frame
        speller.frame = Frame(outer.loops, outer.order, dict(outer.spelled))
        spelled = speller.spell(condition)
        speller.frame = outer
        if spelled.axes:
            raise Residue("a loop that ends at another iteration for every element of a tensor")
        return spelled.text

    # ---------------------------------------------------------------------------------------------------- first values
    def _begin(self, state: State) -> None:
        speller = self.speller
        ordered = {recurrence.axis for recurrence in self.group.recurrences}
        axes = speller.sorted_axes(set(_axes(state)) - set(speller.frame.loops) - ordered)
        speller.name_parts(state.initial, self.indent)
        name = speller.names.fresh(state.name)
        speller.lines.append(f"{self.indent}{name} = {self._first(state, axes)}")
        speller.states[state.place] = (name, state.own, axes)

    def _first(self, state: State, axes: Axes) -> Text:
        speller, dtype = self.speller, dtype_text(state.dtype)
        spelled = speller.spell(state.initial)
        if state.initial.operation == "index" and state.initial.attribute.constant is not None:
            spelled = Spelled(w.call("I.cast", spelled.text, dtype))  # a literal alone is no coordinate
        if spelled.axes == axes:
            return spelled.text
        if set(spelled.axes) == set(axes):
            return speller.arranged(spelled, axes)
        if spelled.axes:
            raise Residue(f"'{state.name}' begins as something of fewer axes")
        shape = w.as_tuple([str(speller.size(axis.extent)) for axis in axes])
        if state.initial.operation == "constant":
            value = state.initial.attribute
            return w.call("I.zeros", shape, dtype) if value == 0 else w.call("I.full", shape, w.literal(value), dtype)
        return w.call("I.full", shape, spelled.text, dtype)

    # ------------------------------------------------------------------------------------------------------ iterations
    def _body(self, recurrence: Recurrence, inside: Sequence[Viewed], indent: str) -> None:
        for viewed in (*inside, *(() if inside else self.group.members[:1])):
            self.speller.subregions(viewed, indent)
        for load in self._early(inside):
            self.speller.name(load, indent)
        stores, states = list(inside), list(recurrence.states)
        while states or stores:
            ready = next((state for state in states if not self._needed(state, states, stores)), None)
            if ready is not None:
                self._go_on(ready, indent)
                states.remove(ready)
            elif stores:
                self.speller.stores([stores.pop(0)], indent)
            else:
                self._all_at_once(states, indent)
                states.clear()

    def _early(self, inside: Sequence[Viewed]) -> list[Expression]:
        """Loads of what the iteration stores: before it does."""
        stored = {viewed.memory for viewed in inside}
        if not stored:
            return []
        nodes = walk(*(root for viewed in inside for root in (viewed.sink.value, *_updates(viewed))))
        return [node for node in nodes if node.operation == "load" and node.attribute.memory in stored]

    def _needed(self, state: State, states: Sequence[State], stores: Sequence[Viewed]) -> bool:
        """Whether anything but its own update still reads the state's old value."""
        roots = [other.update for other in states if other is not state]
        roots.extend(root for viewed in stores for root in (viewed.sink.value, viewed.sink.mask))
        found = walk(*roots, stop=lambda node: node in self.known or node is state.update)
        return any(node.operation == "state" and node.attribute == state.place for node in found)

    def _go_on(self, state: State, indent: str) -> None:
        name = self.speller.states[state.place][0]
        self._assign(name, state, indent)

    def _assign(self, name: str, state: State, indent: str) -> None:
        speller = self.speller
        axes = speller.states[state.place][2]
        speller.name_parts(state.update, indent, itself=False)
        text = speller.arranged(speller.spell(state.update), axes)
        if text.text != name:
            speller.lines.append(f"{indent}{name} = {text}")
        if state.update.operation not in ("constant", "state"):
            speller.frame.spelled[state.update] = Spelled(Text(name), axes)
            self.known.add(state.update)

    def _all_at_once(self, states: Sequence[State], indent: str) -> None:
        new = [self.speller.names.fresh(f"next_{state.name}") for state in states]
        for name, state in zip(new, states, strict=True):
            self._assign(name, state, indent)
        for name, state in zip(new, states, strict=True):
            self.speller.lines.append(f"{indent}{self.speller.states[state.place][0]} = {name}")


def _updates(viewed: Viewed) -> tuple[Expression, ...]:
    return tuple(state.update for state in viewed.sink.states)


def _axes(state: State) -> frozenset[Axis]:
    return state.initial.axes | state.update.axes | set(state.own)


# --------------------------------------------------------------------------------------------------- axes of states
def dressed(arena: Arena, viewed: Viewed) -> Viewed:
    """States with the store's axes that they vary along as arguments, after the coordinates of their own axes."""
    sink = viewed.sink
    if not sink.recurrences:
        return viewed
    along = {state.place: _free_axes(state, sink.recurrences) for state in sink.states}
    tests = {state.place: each.condition for each in sink.recurrences for state in each.states}
    for place, test in tests.items():
        along[place] |= test.axes if test is not None else frozenset()  # the points have their ends
    changed = True
    while changed:
        before = dict(along)
        for state in sink.states:
            test = tests[state.place]
            for node in walk(state.initial, state.update, *(() if test is None else (test,))):
                if node.operation == "state":
                    along[state.place] |= along[node.attribute]
        changed = before != along

    def change(node: Expression) -> Expression | None:
        if node.operation != "state":
            return None
        own = len(next(state for state in sink.states if state.place == node.attribute).own)
        axes = sorted(along[node.attribute], key=lambda axis: axis.serial)
        arguments = (*map(rebuilding.expression, node.arguments[:own]), *(as_index(arena, _atomic(a)) for a in axes))
        return arena.make("state", node.dtype, arguments, node.attribute)

    rebuilding = Rebuilding(arena, {}, node=change)
    return replace(viewed, sink=sink.mapped(rebuilding.expression))


def _free_axes(state: State, recurrences: Sequence[Recurrence]) -> set[Axis]:
    """The store's axes that the definition names."""
    loops = {recurrence.axis for recurrence in recurrences}
    return set(state.initial.axes | state.update.axes) - set(state.own) - loops


def _atomic(axis: Axis) -> Polynomial:
    return Polynomial((((axis,), 1),))

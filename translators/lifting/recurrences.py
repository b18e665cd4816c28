"""Loops that stay loops: what the iterations carry, for the stores that need it.

A store that reads an open carry keeps the loop as a `Recurrence`. Along the axes of the store the points of a state
are independent of each other, so that those axes are free to be renamed, joined and restricted like any others: a
state does not name them. Only where a state is read at all its lanes at once (a matrix that is multiplied with a
vector) does it have axes of its own; `state[place](coordinates)` reads it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from intent import dtypes as d
from intent.dtypes import DType
from intent.records import dataclass, field, replace
from translators.algebra.polynomial import Atom, Polynomial, atomic
from translators.lifting.sinks import Place, Recurrence, Residue, Sink, State
from translators.tile.effects import LoopCarry, LoopRecord
from translators.tile.expression import CARRIES, LOADS, Arena, Axis, Expression, LoopToken, having
from translators.tile.substitution import Rebuilding, as_index

Alignment = tuple[Axis | None, ...]  # for each lane of a carry: the store's axis, or None for an axis of its own


@dataclass(slots=True)
class Opening:
    """Gives one sink the recurrences that its expressions read. `atoms` are its loops as axes."""

    arena: Arena
    records: Sequence[LoopRecord]
    resolved: Mapping[Place, tuple[Expression, Expression]]  # initial and update, without closed carries
    trips: Mapping[LoopToken, Polynomial]
    tests: Mapping[LoopToken, Expression]  # of loops that run until a condition fails
    atoms: dict[Atom, Polynomial]
    sink: Sink
    alignments: dict[Place, Alignment] = field(default_factory=dict)
    own: dict[Place, dict[int, Axis]] = field(default_factory=dict)
    loops: dict[LoopToken, Axis] = field(default_factory=dict)
    definitions: dict[Place, tuple[Expression, Expression]] = field(default_factory=dict)
    coordinates: frozenset[Place] = frozenset()

    def run(self) -> Sink:
        while self._aligning():
            self.definitions.clear()
        self.coordinates = self._coordinates()
        states: dict[LoopToken, list[State]] = {}
        for place in sorted(self.alignments, key=lambda each: (each[0].serial, each[1])):
            carry = self._carry(place)
            initial, update = (self._typed(self._read(part), place) for part in self._parts(place))
            axes = tuple(self.own[place][lane] for lane in sorted(self.own[place]))
            state = State(place, carry.name, self._dtype(place), axes, initial, update)
            states.setdefault(place[0], []).append(state)
        made = self.sink.mapped(self._read)
        tokens = [record.token for record in self.records if record.token in states]
        recurrences = tuple(
            Recurrence(token, self.loops[token], tuple(states[token]), self._condition(token)) for token in tokens
        )
        self._check(recurrences)
        return replace(made, recurrences=recurrences)

    def _aligning(self) -> bool:
        """One round over everything that is read; whether it changed an alignment."""
        changed = self._changed(self.sink.roots)
        for place in tuple(self.alignments):
            changed = self._changed(self._parts(place)) or changed
        for token in dict.fromkeys(place[0] for place in tuple(self.alignments)):
            changed = (token in self.tests and self._changed((self._test(token),))) or changed
        return changed

    def _condition(self, token: LoopToken) -> Expression | None:
        return self._read(self._test(token)) if token in self.tests else None

    def _test(self, token: LoopToken) -> Expression:
        """Of a loop that every point leaves for itself: at the point, whose states are all that it reads."""
        test = self.tests[token]
        lanes: dict[Atom, Polynomial] = {}
        for place, alignment in self.alignments.items():
            for lane, axis in zip(self._carry(place).lanes, alignment, strict=True):
                if place[0] is token and lane in test.axes:
                    found = lanes.setdefault(lane, atomic(axis)) if axis is not None else None
                    if axis is None or found != atomic(axis):
                        name = self._carry(place).name
                        raise Residue(f"'{name}' is read at another lane than the one that goes on", self.sink.line)
        return Rebuilding(self.arena, {**self.atoms, **lanes}).expression(test)

    def _carry(self, place: Place) -> LoopCarry:
        return next(record for record in self.records if record.token is place[0]).carries[place[1]]

    # -------------------------------------------------------------------------------------------------------- alignment
    def _changed(self, roots: Sequence[Expression]) -> bool:
        """Whether what these read of carries says something new of their lanes."""
        before = dict(self.alignments)
        for node in _reads(roots):
            seen = tuple(self._aligned(argument.polynomial) for argument in node.arguments)
            known = self.alignments.get(node.attribute, seen)
            both = tuple(old if old is new else None for old, new in zip(known, seen, strict=True))
            self.alignments[node.attribute] = both
        return before != self.alignments

    def _aligned(self, coordinate: Polynomial) -> Axis | None:
        axis = coordinate.atom
        return axis if isinstance(axis, Axis) and axis in self.sink.axes else None

    def _parts(self, place: Place) -> tuple[Expression, Expression]:
        """The first value and the next one, on the store's axes."""
        if place not in self.definitions:
            carry = self._carry(place)
            lanes: dict[Atom, Polynomial] = {place[0]: atomic(self._loop(place[0]))}
            own = self.own.setdefault(place, {})
            for lane, (axis, aligned) in enumerate(zip(carry.lanes, self.alignments[place], strict=True)):
                if aligned is None:
                    own.setdefault(lane, self.arena.axis(axis.name, Polynomial(), carry.extents[lane]))
                lanes[axis] = atomic(aligned or own[lane])
            rebuilding = Rebuilding(self.arena, {**self.atoms, **lanes})
            initial, update = map(rebuilding.expression, self.resolved[place])
            self.definitions[place] = (initial, update)
        return self.definitions[place]

    def _loop(self, token: LoopToken) -> Axis:
        """The loop's iterations: an axis of the store if that is within, else an axis of its own."""
        if token not in self.loops:
            within = self.atoms[token].atom if token in self.atoms else None
            end = Rebuilding(self.arena, self.atoms).polynomial(self.trips[token])
            self.loops[token] = within if isinstance(within, Axis) else self.arena.axis(token.name, Polynomial(), end)
        return self.loops[token]

    # ----------------------------------------------------------------------------------------------------------- states
    def _read(self, root: Expression) -> Expression:
        return Rebuilding(self.arena, {}, node=self._state, finish=self._number).expression(root)

    def _number(self, node: Expression) -> Expression | None:
        """A sum of states and numbers that was held as a coordinate: a number like any other."""
        if node.operation != "cast" or node.arguments[0].operation != "index" or not node.dtype.is_integer:
            return None
        polynomial = node.arguments[0].polynomial
        atoms = [atom for atom in polynomial.atoms() if isinstance(atom, Expression) and atom.operation == "state"]
        if not any(atom.attribute not in self.coordinates for atom in atoms):
            return None
        made: Expression | None = None
        for monomial, factor in sorted(polynomial.terms, key=lambda term: -len(term[0])):
            term = self._product(monomial, factor, node.dtype)
            function = ("add", False, False)
            made = term if made is None else self.arena.make("pointwise", node.dtype, (made, term), function)
        return made

    def _product(self, monomial: tuple[Atom, ...], factor: int, dtype: DType) -> Expression:
        made: Expression | None = None
        for atom in monomial:
            number = atom if isinstance(atom, Expression) else as_index(self.arena, atomic(atom))
            value = number if number.dtype == dtype else self.arena.make("cast", dtype, (number,))
            made = value if made is None else self._multiplied(made, value)
        if made is None:
            return self.arena.make("constant", dtype, (), factor)
        return made if factor == 1 else self._multiplied(made, self.arena.make("constant", dtype, (), factor))

    def _multiplied(self, left: Expression, right: Expression) -> Expression:
        return self.arena.make("pointwise", left.dtype, (left, right), ("multiply", False, False))

    # ------------------------------------------------------------------------------------------------- coordinates
    def _coordinates(self) -> frozenset[Place]:
        """States of 64 bits that are coordinates: places in memory depend on them, and all that they become are."""
        roots = [*self.sink.roots, *(part for place in self.alignments for part in self._parts(place))]
        roots += [
            self._test(token) for token in dict.fromkeys(place[0] for place in self.alignments) if token in self.tests
        ]
        offsets = [load.arguments[0] for load in having(LOADS, *roots)]
        found = {node.attribute for node in having(CARRIES, *offsets)}
        found = {place for place in found if self._carry(place).dtype == d.i64}
        while True:
            kept = {place for place in found if all(self._is_coordinate(part, found) for part in self._parts(place))}
            if kept == found:
                return frozenset(found)
            found = kept

    def _is_coordinate(self, value: Expression, places: set[Place]) -> bool:
        if value.operation in ("carry", "carried"):
            return value.dtype == d.index and value.attribute in places
        if value.operation == "select":
            return all(self._is_coordinate(each, places) for each in value.arguments[1:])
        return _converted_coordinate(value) is not None

    def _as_coordinate(self, value: Expression) -> Expression:
        if value.operation == "select" and value.dtype != d.index:
            condition, *parts = value.arguments
            return self.arena.make("select", d.index, (condition, *map(self._as_coordinate, parts)))
        return _converted_coordinate(value) or value

    def _dtype(self, place: Place) -> DType:
        return d.index if place in self.coordinates else self._carry(place).dtype

    def _typed(self, value: Expression, place: Place) -> Expression:
        """A coordinate as the number that is carried."""
        dtype = self._dtype(place)
        if dtype == d.index:
            return self._as_coordinate(value)
        if value.dtype != d.index:
            return value
        known = value.polynomial.constant
        return (
            self.arena.make("cast", dtype, (value,)) if known is None else self.arena.make("constant", dtype, (), known)
        )

    def _state(self, node: Expression) -> Expression | None:
        if node.operation not in ("carry", "carried"):
            return None
        place: Place = node.attribute
        dtype = self._dtype(place)
        if self._carry(place).dtype == d.index:
            raise Residue(
                f"'{self._carry(place).name}' is an address that does not move in equal steps", self.sink.line
            )
        coordinates = tuple(
            self._read(argument)
            for argument, aligned in zip(node.arguments, self.alignments[place], strict=True)
            if aligned is None
        )
        return self.arena.make("state", dtype, coordinates, place)

    def _check(self, recurrences: Sequence[Recurrence]) -> None:
        """States of one iteration are of one loop; a loop within a recurrence is none itself."""
        names = {state.place: state.name for each in recurrences for state in each.states}
        for each in recurrences:
            record = next(record for record in self.records if record.token is each.token)
            if set(record.parents) & {other.token for other in recurrences}:
                raise Residue(f"'{each.states[0].name}' is carried in a loop within a loop", record.line)
            for state in each.states:
                if state.update.dtype != state.dtype or state.initial.dtype != state.dtype:
                    raise Residue(f"'{names[state.place]}' changes its type in a loop", record.line)


def _converted_coordinate(value: Expression) -> Expression | None:
    """The coordinate that a number of 64 bits is, by way of 32 bits perhaps."""
    while value.operation == "cast" and value.dtype in (d.i32, d.i64):
        (value,) = value.arguments
    return value if value.dtype == d.index else None


def _reads(roots: Sequence[Expression]) -> Iterator[Expression]:
    return having(CARRIES, *roots)

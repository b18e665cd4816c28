"""Loops that run until a condition fails, as loops of single points.

A program runs such a loop for all its lanes together, for as long as any of them goes on:

    active = test(state)                              while any(active):
                                                          state = select(active, next(state), state)
                                                          active = test(state)

A lane that has come to its end keeps its state from then on, so that it may as well have left: every point has a loop
of its own, `while test(state): state = next(state)`. What has to be proven is that `active` is always `test(state)`,
that nothing changes where it fails, and (`recurrences.py`) that no lane reads another one. A condition that is one
number for all lanes needs no such proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from intent import dtypes as d
from intent.dtypes import DType
from intent.records import dataclass, field
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Polynomial, atomic
from translators.lifting.simplification import Simplifier
from translators.lifting.sinks import Place, Residue
from translators.tile.effects import LoopCarry, LoopRecord
from translators.tile.expression import CARRIES, Arena, Expression, having
from translators.tile.substitution import Rebuilding, as_index

Resolve = Callable[[Expression], Expression]


@dataclass(frozen=True, slots=True)
class Points:
    """A point's own loop: the test over the lanes, what each carry becomes where it holds, and the carries that always
    are the test."""

    test: Expression
    updates: dict[int, Expression]
    tested: tuple[int, ...]


@dataclass(slots=True)
class ConditionalLoop:
    """Proofs about one loop. Raises Residue where they fail."""

    arena: Arena
    record: LoopRecord
    resolve: Resolve
    read: frozenset[Place]  # carries that anything reads; others have a name in the loop and the same one outside
    simple: Simplifier = field(init=False)

    def __post_init__(self) -> None:
        self.simple = Simplifier(self.arena, Facts())

    def points(self) -> Points:
        assert self.record.condition is not None
        condition = self.resolve(self.record.condition)
        lanes = _any_of(condition)
        going_on = condition if lanes is None else self._at_lanes(*lanes)
        if going_on.operation == "carry" and going_on.attribute[0] is self.record.token:
            tested = self._test_of(going_on.attribute[1])
        else:
            tested = going_on
        test = self.simple.expression(tested)
        always = tuple(ordinal for ordinal, _ in self._carries() if self._is_test(ordinal, tested))
        if going_on is not tested and going_on.attribute[1] not in always:
            raise Residue("a loop whose condition is no function of what it carries", self.record.line)
        updates = {}
        for ordinal, carry in self._carries():
            update = self.resolve(carry.update)
            if lanes is not None and ordinal not in always and (self.record.token, ordinal) in self.read:
                self._check_kept(ordinal, carry, self._where(update, tested, always, False))
            updates[ordinal] = self._where(update, tested, always, True)
        return Points(test, updates, always)

    def _carries(self) -> Iterator[tuple[int, LoopCarry]]:
        return enumerate(self.record.carries)

    def _own(self, ordinal: int) -> Expression:
        carry = self.record.carries[ordinal]
        coordinates = tuple(as_index(self.arena, atomic(lane)) for lane in carry.lanes)
        dtype = d.index if carry.initial.dtype == d.index else carry.dtype
        return self.arena.make("carry", dtype, coordinates, (self.record.token, ordinal))

    def _at_lanes(self, body: Expression, bound: Sequence[Atom]) -> Expression:
        """What a reduction takes together, at the lanes of what the loop carries."""
        lanes: dict[Atom, Polynomial] = {}
        for node in having(CARRIES, body):
            if node.operation == "carry" and node.attribute[0] is self.record.token:
                carry = self.record.carries[node.attribute[1]]
                for lane, at in zip(carry.lanes, node.arguments, strict=True):
                    axis = at.polynomial.atom
                    if axis is None or axis not in bound or lanes.setdefault(axis, atomic(lane)) != atomic(lane):
                        raise Residue("a loop whose condition reads other lanes", self.record.line)
        if len(lanes) != len(bound) or len({each.atom for each in lanes.values()}) != len(bound):
            raise Residue("a loop whose condition does not read what it carries at every lane", self.record.line)
        return Rebuilding(self.arena, lanes).expression(body)

    # ------------------------------------------------------------------------------------------------------- the test
    def _test_of(self, ordinal: int) -> Expression:
        """The function that gives a carry's next value from the next values of the others."""
        nexts = {}
        for other, carry in self._carries():
            if other != ordinal and (self.record.token, other) in self.read:
                next_value = self.resolve(carry.update)
                nexts[next_value] = self._typed(self._own(other), next_value.dtype)
        update = self.resolve(self.record.carries[ordinal].update)
        return Rebuilding(self.arena, {}, nexts.get).expression(update)

    def _is_test(self, ordinal: int, test: Expression) -> bool:
        """Whether a carry is the test of the others to begin with, and after every iteration."""
        carry = self.record.carries[ordinal]
        if carry.dtype != d.boolean or any(
            node.attribute == (self.record.token, ordinal) for node in having(CARRIES, test)
        ):
            return False
        first = self._values([self.resolve(each.initial) for _, each in self._carries()])
        after = self._values([self.resolve(each.update) for _, each in self._carries()])
        return all(
            self.simple.expression(Rebuilding(self.arena, {}, known.get).expression(test))
            is self.simple.expression(self.resolve(value))
            for known, value in ((first, carry.initial), (after, carry.update))
        )

    def _values(self, values: Sequence[Expression]) -> dict[Expression, Expression]:
        """What stands for the carries, also where coordinates are numbers."""
        known = {}
        for (ordinal, carry), value in zip(self._carries(), values, strict=True):
            own = self._own(ordinal)
            known[own] = value
            if own.dtype != carry.dtype:
                known[self._typed(own, carry.dtype)] = self._typed(value, carry.dtype)
        return known

    def _typed(self, value: Expression, dtype: DType) -> Expression:
        if value.dtype == dtype:
            return value
        known = value.attribute.constant if value.operation == "index" else None
        return (
            self.arena.make("cast", dtype, (value,)) if known is None else self.arena.make("constant", dtype, (), known)
        )

    def _where(self, update: Expression, test: Expression, always: Sequence[int], holds: bool) -> Expression:
        """What is computed at a point at which the test holds, or does not."""
        truth = self.arena.make("constant", d.boolean, (), holds)
        known = {test: truth, **{self._own(ordinal): truth for ordinal in always}}
        return self.simple.expression(Rebuilding(self.arena, {}, known.get).expression(update))

    def _check_kept(self, ordinal: int, carry: LoopCarry, update: Expression) -> None:
        own = self._own(ordinal)
        while update.operation == "cast" and update.dtype.is_integer and update.arguments[0].dtype == d.index:
            (update,) = update.arguments
        if update is not own and not (update.dtype == own.dtype == d.index and update.polynomial == own.polynomial):
            raise Residue(f"'{carry.name}' goes on at lanes that have come to their end", self.record.line)


def _any_of(condition: Expression) -> tuple[Expression, tuple[Atom, ...]] | None:
    """(what has to hold at one lane, the lanes) of a condition that holds if it does at any of them."""
    if condition.operation != "pointwise" or condition.attribute[0] not in ("less", "not_equal"):
        return None
    left, right = condition.arguments
    if left.dtype != d.index:
        return None
    count = (right.polynomial - left.polynomial) if condition.attribute[0] == "less" else left.polynomial
    if condition.attribute[0] == "not_equal" and right.polynomial.constant != 0:
        return None
    node = count.atom
    if not isinstance(node, Expression) or node.operation != "reduce" or node.attribute.kind not in ("max", "sum"):
        return None
    truth = _truth(node.arguments[0])
    return None if truth is None else (truth, node.attribute.axes)


def _truth(number: Expression) -> Expression | None:
    """The condition that is 1 where it holds and 0 elsewhere."""
    match number.operation, number.arguments:
        case "cast", (inner,) if inner.dtype == d.boolean:
            return inner
        case "cast", (inner,) if inner.dtype.is_integer and inner.dtype.bits <= number.dtype.bits:
            return _truth(inner)
        case "select", (condition, Expression(operation="constant", attribute=1), zero) if _is_zero(zero):
            return condition
        case _:
            return None


def _is_zero(node: Expression) -> bool:
    return node.operation == "constant" and node.attribute == 0

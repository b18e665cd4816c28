"""Closing loops: what an iteration carries as a formula of the iteration, or as a reduction over all of them.

    x' = x + d, d the same in every iteration     x = initial + k*d
    a' = a + f(k), f without what is carried      a = initial + sum of f, over the iterations so far

and so with products, maximum and minimum, also where they are written as a choice; with a maximum, what is chosen along
with it is that of the first iteration at which it is reached. Any other variable is a recurrence: it stays open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations

from intent import dtypes as d
from intent.records import dataclass, field, replace
from translators.algebra.polynomial import Atom, Polynomial, atomic
from translators.lifting.choices import FUNCTIONS, chosen, larger, lesser
from translators.lifting.combines import tried
from translators.lifting.conditional_loops import ConditionalLoop
from translators.lifting.folds import elements, is_count
from translators.lifting.gauge import exchanged, rescaled, without_zeros
from translators.lifting.neutral import converted, neutral
from translators.lifting.normalised import normalised
from translators.lifting.positions import as_coordinate
from translators.lifting.recurrences import Opening
from translators.lifting.sinks import Ledger, Place, Sink
from translators.tile.effects import Address, KernelEffects, LoopCarry, LoopRecord, StoreEffect
from translators.tile.expression import (
    CARRIES,
    REDUCTIONS,
    Arena,
    Axis,
    Combine,
    Expression,
    LoopToken,
    Reduction,
    having,
    walk,
)
from translators.tile.substitution import Rebuilding, as_index
from translators.triton_source.read.sizes import roots_of

_KINDS = {
    "add": "sum", "multiply": "product", "maximum": "max", "maximum_num": "max_num", "minimum": "min",
    "minimum_num": "min_num", "or": "any", "and": "all",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Closed:
    """A carry's value over its lanes: `within` for the current iteration (None if it has no formula), and `after`."""

    lanes: tuple[Axis, ...]
    within: Expression | None
    after: Expression


@dataclass(slots=True)
class Closing:
    arena: Arena
    effects: KernelEffects
    ledger: Ledger = field(default_factory=Ledger)
    prefixes: bool = True  # whether a sum may be closed that the iterations read while it grows
    closed: dict[Place, _Closed] = field(default_factory=dict)
    trips: dict[LoopToken, Polynomial] = field(default_factory=dict)
    tests: dict[LoopToken, Expression] = field(default_factory=dict)  # of loops that run until a condition fails
    updates: dict[Place, Expression] = field(default_factory=dict)  # of carries of such loops
    totals: dict[tuple[Place, Expression], _Closed | None] = field(default_factory=dict)
    resolving: tuple[int, Rebuilding] | None = None
    prefixed: bool = False  # whether such a sum was closed

    def run(self) -> tuple[Sink, ...]:
        for record in self.effects.loops:
            self._loop(record)
        return tuple(self._sink(store) for store in self.effects.stores)

    # ------------------------------------------------------------------------------------------------------ resolving
    def resolved(self, expression: Expression) -> Expression:
        """With every closed carry replaced by its formula."""
        return self._rebuilding().expression(expression)

    def _rebuilding(self) -> Rebuilding:
        """One for as long as no other carry is closed."""
        if self.resolving is None or self.resolving[0] != len(self.closed):
            self.resolving = (len(self.closed), Rebuilding(self.arena, {}, self._formula))
        return self.resolving[1]

    def _formula(self, node: Expression) -> Expression | None:
        if node.operation not in ("carry", "carried") or node.attribute not in self.closed:
            return None
        found = self.closed[node.attribute]
        formula = found.within if node.operation == "carry" else found.after
        if formula is None:
            return None
        coordinates = self._coordinates(node)
        atoms: dict[Atom, Polynomial] = dict(zip(found.lanes, coordinates, strict=True))
        return self.resolved(Rebuilding(self.arena, atoms).expression(formula))

    def _coordinates(self, node: Expression) -> list[Polynomial]:
        return [self.resolved(argument).polynomial for argument in node.arguments]

    # ----------------------------------------------------------------------------------------------------------- loops
    def _loop(self, record: LoopRecord) -> None:
        self.trips[record.token] = self._rebuilding().polynomial(record.trip)
        if record.condition is not None:
            self._conditional_loop(record)
            return
        while any(self._close_one(record, close) for close in self._ways()):
            pass

    def _conditional_loop(self, record: LoopRecord) -> None:
        """Nothing tells how often it runs: what it changes stays open."""
        while self._close_one(record, self._unchanged):
            pass
        read = frozenset(node.attribute for node in having(CARRIES, *roots_of(self.effects)))
        found = ConditionalLoop(self.arena, record, self.resolved, read).points()
        self.tests[record.token] = found.test
        self.updates.update({(record.token, ordinal): update for ordinal, update in found.updates.items()})
        for ordinal in found.tested:
            after = self.arena.make("constant", d.boolean, (), False)
            self.closed[record.token, ordinal] = _Closed(record.carries[ordinal].lanes, found.test, after)

    def _unchanged(self, record: LoopRecord, ordinal: int, carry: LoopCarry) -> _Closed | None:
        if self.resolved(carry.update) is not self._own(record, ordinal, carry):
            return None
        initial = self.resolved(carry.initial)
        return _Closed(carry.lanes, initial, initial)

    def _ways(self) -> tuple[Callable[[LoopRecord, int, LoopCarry], _Closed | None], ...]:
        return (self._folded, self._affine, self._normalised, self._gauged, self._located, self._reduction)

    def _close_one(self, record: LoopRecord, close: Callable[[LoopRecord, int, LoopCarry], _Closed | None]) -> bool:
        """Whether another carry of the loop could be closed."""
        for ordinal, carry in enumerate(record.carries):
            if (record.token, ordinal) not in self.closed:
                found = close(record, ordinal, carry)
                if found is not None:
                    self.closed[record.token, ordinal] = found
                    return True
        return False

    def _own(self, record: LoopRecord, ordinal: int, carry: LoopCarry) -> Expression:
        coordinates = tuple(as_index(self.arena, atomic(lane)) for lane in carry.lanes)
        dtype = d.index if carry.initial.dtype == d.index else carry.dtype
        return self.arena.make("carry", dtype, coordinates, (record.token, ordinal))

    def _affine(self, record: LoopRecord, ordinal: int, carry: LoopCarry) -> _Closed | None:
        update = self.resolved(carry.update)
        own = self._own(record, ordinal, carry)
        if update is own or (update.dtype == d.index and update.polynomial == own.polynomial):
            initial = self.resolved(carry.initial)
            return _Closed(carry.lanes, initial, initial)
        if update.dtype != d.index or own.dtype != d.index:
            return None
        step = update.polynomial - own.polynomial
        if self._varies(as_index(self.arena, step), record.token):
            return None
        initial = self.resolved(carry.initial)
        within = initial.polynomial + step * atomic(record.token)
        after = initial.polynomial + step * self.trips[record.token]
        return _Closed(carry.lanes, as_index(self.arena, within), as_index(self.arena, after))

    def _varies(self, expression: Expression, token: LoopToken) -> bool:
        """Whether it depends on the iteration: on the ordinal or on an open carry of the loop."""
        return token in _atoms(expression) or self._open(expression, token)

    def _open(self, expression: Expression, token: LoopToken) -> bool:
        return any(node.attribute[0] is token for node in having(CARRIES, expression) if node.operation == "carry")

    def _reduction(self, record: LoopRecord, ordinal: int, carry: LoopCarry) -> _Closed | None:
        if (not self.prefixes or self._is_choice(record, ordinal, carry)) and self._read_within(record, ordinal):
            return None  # what is compared with a choice so far stays a loop
        total = self._known_total(record, ordinal, carry)
        if total is not None and not self.prefixed:
            self.prefixed = self._read_within(record, ordinal)
        return total

    def _known_total(self, record: LoopRecord, ordinal: int, carry: LoopCarry) -> _Closed | None:
        update = self.resolved(carry.update)
        key = ((record.token, ordinal), update)
        if key not in self.totals:
            self.totals[key] = self._total(record, carry, update, self._own(record, ordinal, carry))
        return self.totals[key]

    def _total(self, record: LoopRecord, carry: LoopCarry, update: Expression, own: Expression) -> _Closed | None:
        found = self._accumulated(update, own)
        if found is None or self._open(found[1], record.token):
            return None
        function, step = found
        initial = self._converted(carry, step)
        within, after = (
            combine(self.arena, function, initial, each) for each in self._sums(record, _KINDS[function], step)
        )
        return _Closed(carry.lanes, within, after)

    def _sums(self, record: LoopRecord, kind: str, step: Expression) -> tuple[Expression, Expression]:
        """The reduction over the iterations before this one, and over all."""
        made = []
        for end in (atomic(record.token), self.trips[record.token]):
            axis = self.arena.axis(record.token.name, Polynomial(), end)
            body = Rebuilding(self.arena, {record.token: atomic(axis)}).expression(step)
            made.append(self.arena.make("reduce", step.dtype, (body,), Reduction(kind, (axis,))))
        return made[0], made[1]

    def _converted(self, carry: LoopCarry, like: Expression) -> Expression:
        initial = self.resolved(carry.initial)
        return initial if initial.dtype == like.dtype else converted(self.arena, initial, like)

    # ------------------------------------------------------------------------------------------- by a function
    def _folded(self, record: LoopRecord, ordinal: int, carry: LoopCarry) -> _Closed | None:
        """What is combined by the function by which a store combines what the loop leaves, in this carry and others."""
        for node in self._combined_after((record.token, ordinal)):
            ordinals = tuple(each.attribute[1] for each in node.arguments)
            bodies = self._elements(record, ordinals, node.attribute.combine)
            if bodies is not None:
                self.ledger.add("proven", f"{carry.name}: combined by {node.attribute.combine.name} in every iteration")
                for position, each in enumerate(ordinals):
                    reduction = Reduction("generic", (), position, node.attribute.combine)
                    self.closed[record.token, each] = self._fold(record, record.carries[ordinals[0]], bodies, reduction)
                return self.closed[record.token, ordinal]
        return None

    def _fold(
        self, record: LoopRecord, first: LoopCarry, bodies: tuple[Expression, ...], reduction: Reduction
    ) -> _Closed:
        """The reduction over the iterations so far, and over all. `bodies` are over the lanes of the first carry."""
        made = []
        for end in (atomic(record.token), self.trips[record.token]):
            axis = self.arena.axis(record.token.name, Polynomial(), end)
            inner = Rebuilding(self.arena, {record.token: atomic(axis)})
            parts = tuple(map(inner.expression, bodies))
            dtype = bodies[reduction.result].dtype
            made.append(self.arena.make("reduce", dtype, parts, replace(reduction, axes=(axis,))))
        return _Closed(first.lanes, made[0], made[1])

    def _combined_after(self, place: Place) -> Iterator[Expression]:
        """Reductions of stored values that combine what a loop leaves in this carry and others."""
        roots = [store.value for store in self.effects.stores]
        for node in having(REDUCTIONS, *roots):
            if node.operation == "reduce" and node.attribute.combine is not None:
                left = [each.attribute if each.operation == "carried" else None for each in node.arguments]
                if place in left and len({each[0] if each is not None else None for each in left}) == 1:
                    yield node

    def _elements(self, record: LoopRecord, ordinals: Sequence[int], combine: Combine) -> tuple[Expression, ...] | None:
        """What an iteration combines each carry with, over the lanes of the first one."""
        carries = [record.carries[each] for each in ordinals]
        if any((record.token, each) in self.closed for each in ordinals) or len(set(ordinals)) != len(ordinals):
            return None
        if any(len(each.lanes) != len(carries[0].lanes) for each in carries):
            return None
        updates, olds = [], []
        for ordinal, carry in zip(ordinals, carries, strict=True):
            atoms: dict[Atom, Polynomial] = dict(zip(carry.lanes, map(atomic, carries[0].lanes), strict=True))
            there = Rebuilding(self.arena, atoms)
            updates.append(there.expression(self.resolved(carry.update)))
            olds.append(there.expression(self._own(record, ordinal, carry)))
        found = elements(combine, updates, olds)
        if found is None or any(self._open(each, record.token) for each in (*found[0], *found[1:]) if each is not None):
            return None
        initial = [self._converted(carry, each) for carry, each in zip(carries, found[0], strict=True)]
        if not self._is_reduction(combine, found[0], initial):
            return None
        if found[1] is None:
            return found[0]
        pairs = zip(found[0], initial, strict=True)
        return tuple(self.arena.make("select", each.dtype, (found[1], each, first)) for each, first in pairs)

    def _is_reduction(self, combine: Combine, bodies: Sequence[Expression], first: Sequence[Expression]) -> bool:
        """Whether elements may be combined in any order, from these first values on. Where that takes numbers of at
        least 1, they are, or are read from arrays of which that is noted when the reduction is settled.
        """
        if any(each.operation != "constant" for each in first):
            return False
        counted = tried(combine, tuple(each.attribute for each in first))
        return counted is not None and all(map(is_count, (bodies[position] for position in counted)))

    # ----------------------------------------------------------------------------------------------- rescaled sums
    def _gauged(self, record: LoopRecord, ordinal: int, carry: LoopCarry) -> _Closed | None:
        """A sum of weights relative to a running maximum of the same loop."""
        if not carry.dtype.is_float:
            return None
        own, update = self._own(record, ordinal, carry), self.resolved(carry.update)
        without = without_zeros(self.arena, update)
        for node in dict.fromkeys(walk(without)):
            if node.operation == "carry" and node.attribute[0] is record.token and node.attribute[1] != ordinal:
                made = self._relative(record, carry, own, without, node)
                if made is not None:
                    if without is not update:
                        self.ledger.add("assumed", "what is multiplied by 0 is finite")
                    return made
        return None

    def _relative(
        self, record: LoopRecord, carry: LoopCarry, own: Expression, update: Expression, old: Expression
    ) -> _Closed | None:
        position = old.attribute[1]
        peak = record.carries[position]
        function = self._accumulated(self.resolved(peak.update), self._own(record, position, peak))
        total = self._known_total(record, position, peak)
        if total is None or function is None or function[0] not in ("maximum", "maximum_num"):
            return None
        atoms: dict[Atom, Polynomial] = dict(zip(peak.lanes, (each.polynomial for each in old.arguments), strict=True))
        there = Rebuilding(self.arena, atoms)
        new, last, first = map(there.expression, (self.resolved(peak.update), total.after, self.resolved(peak.initial)))
        found = rescaled(self.arena, update, own, old, new)
        if found is None or self._open(self._with(found.step, {new: last}), record.token):
            return None
        self._explain(carry, peak, found.guarded)
        by_lanes = peak.lanes and "reduce" not in function[1].operations
        if by_lanes and not found.guarded:  # lanes keep maxima of their own: exp(-inf - -inf) where one meets nothing
            self.ledger.add("assumed", f"every lane of {peak.name} meets an element; one that does not gives NaN")
        after = self._sums(record, "sum", self._with(found.step, {new: last}))[1]
        initial = self._converted(carry, found.step)
        if _is_number(initial, 0.0):
            assert total.within is not None
            now = there.expression(total.within)
            return _Closed(carry.lanes, self._sums(record, "sum", self._with(found.step, {new: now}))[0], after)
        if _is_number(first, float("-inf")):
            self.ledger.add("assumed", f"the loop in line {record.line} has an iteration")
            return _Closed(carry.lanes, None, after)
        factor = self._with(found.factor, {new: last, old: first})
        scaled = self.arena.make("pointwise", initial.dtype, (initial, factor), ("multiply", False, False))
        return _Closed(carry.lanes, None, combine(self.arena, "add", scaled, after))

    def _normalised(self, record: LoopRecord, ordinal: int, carry: LoopCarry) -> _Closed | None:
        """A sum of weights as in `_relative`, each iteration of which is divided by the sum of weights so far."""
        initial = self.resolved(carry.initial)
        if not carry.dtype.is_float or not _is_number(initial, 0.0):
            return None
        own, update = self._own(record, ordinal, carry), self.resolved(carry.update)
        carried = [node for node in dict.fromkeys(walk(update)) if self._is_other(node, own)]
        for weight, peak in permutations(carried, 2):
            made = self._divided(record, carry, (own, update), weight, peak)
            if made is not None:
                return made
        return None

    def _is_other(self, node: Expression, own: Expression) -> bool:
        """Whether it is another open carry of the same loop."""
        (token, ordinal), at = own.attribute, node.attribute
        return node.operation == "carry" and at[0] is token and at[1] != ordinal and node.dtype.is_float

    def _divided(
        self,
        record: LoopRecord,
        carry: LoopCarry,
        own: tuple[Expression, Expression],
        weight: Expression,
        peak: Expression,
    ) -> _Closed | None:
        sums, maxima = (record.carries[each.attribute[1]] for each in (weight, peak))
        after = [self._at(each, self.resolved(record.carries[each.attribute[1]].update)) for each in (weight, peak)]
        found = normalised(self.arena, own[1], own[0], (weight, after[0]), (peak, after[1]))
        top = self._known_total(record, peak.attribute[1], maxima)
        function = self._accumulated(self.resolved(maxima.update), self._own(record, peak.attribute[1], maxima))
        if found is None or top is None or function is None or function[0] not in ("maximum", "maximum_num"):
            return None
        total = self._gauged(record, weight.attribute[1], sums)
        step = self._with(found.step, {after[1]: self._at(peak, top.after)})
        if total is None or self._open(step, record.token):
            return None
        self._explain(carry, maxima, found.guarded)
        self.ledger.add("assumed", f"the sum {sums.name} of the first weights is neither 0 nor NaN")
        self.ledger.numerics.setdefault("sums are divided by their weight once, not in every iteration")
        _, summed = self._sums(record, "sum", step)
        divisor = self._at(weight, total.after)
        quotient = self.arena.make("pointwise", summed.dtype, (summed, divisor), ("divide", False, False))
        return _Closed(carry.lanes, None, quotient)

    def _at(self, read: Expression, formula: Expression) -> Expression:
        """What is computed for the lanes of a carry, where the carry is read."""
        token, ordinal = read.attribute
        record = next(each for each in self.effects.loops if each.token is token)
        lanes = record.carries[ordinal].lanes
        atoms: dict[Atom, Polynomial] = dict(zip(lanes, (each.polynomial for each in read.arguments), strict=True))
        return Rebuilding(self.arena, atoms).expression(formula)

    def _with(self, node: Expression, replaced: dict[Expression, Expression]) -> Expression:
        return Rebuilding(self.arena, {}, replaced.get).expression(node)

    def _explain(self, carry: LoopCarry, peak: LoopCarry, guarded: bool) -> None:
        self.ledger.add("proven", f"{carry.name}: a sum of weights relative to {peak.name}, which cancels")
        if guarded:
            self.ledger.add("assumed", f"where {peak.name} is -inf, so is everything it is the maximum of")
        self.ledger.numerics.setdefault("weights are relative to the maximum of all, not to a running one")

    def _accumulated(self, update: Expression, own: Expression) -> tuple[str, Expression] | None:
        """(function, step) if the update is function(own, step) and the step does not read the carry."""
        if update.operation == "select":
            return self._conditional(update, own) or self._extremum(update, own)
        if update.operation != "pointwise":
            return None
        function = update.attribute[0]
        if function == "subtract":
            inner = self._left(update.arguments[0], own, "add")
            step = self.arena.make("pointwise", update.dtype, (update.arguments[1],), ("negative", False, False))
            return None if inner is None else ("add", self._joined("add", inner, step))
        if function not in _KINDS:
            return None
        left, right = update.arguments
        for first, second in ((left, right), (right, left)):
            inner = self._left(first, own, function)
            if inner is not None and not _mentions(second, own):
                return function, self._joined(function, inner, second)
        return None

    def _left(self, expression: Expression, own: Expression, function: str) -> tuple[Expression, ...] | None:
        """What `expression` adds to the carry itself: () if it is the carry; None if it is no such sum."""
        if _is_carry(expression, own):
            return ()
        found = self._accumulated(expression, own)
        return (found[1],) if found is not None and found[0] == function else None

    def _joined(self, function: str, inner: tuple[Expression, ...], step: Expression) -> Expression:
        return step if not inner else self.arena.make("pointwise", step.dtype, (*inner, step), (function, False, False))

    def _conditional(self, update: Expression, own: Expression) -> tuple[str, Expression] | None:
        """A step that is taken only where a condition holds: elsewhere it is the identity."""
        condition, true, false = update.arguments
        if _mentions(condition, own) or not _is_carry(false, own):
            return None
        found = self._accumulated(true, own)
        if found is None:
            return None
        identity = neutral(self.arena, _KINDS[found[0]], found[1])
        return found[0], self.arena.make("select", update.dtype, (condition, found[1], identity))

    def _extremum(self, update: Expression, own: Expression) -> tuple[str, Expression] | None:
        """A maximum or minimum that is written as a choice between the carry and another value."""
        choice = chosen(self.arena, update, own)
        if choice is None or _mentions(choice.new, own, at_any_lane=True):
            return None
        first = self._initial(own)
        found = (name for name, function in FUNCTIONS.items() if choice.is_function(function, first))
        name = next(found, None)
        return None if name is None else (name, choice.new)

    def _is_choice(self, record: LoopRecord, ordinal: int, carry: LoopCarry) -> bool:
        own, update = self._own(record, ordinal, carry), self.resolved(carry.update)
        return update.operation == "select" and self._conditional(update, own) is None

    def _initial(self, own: Expression) -> Expression:
        token, ordinal = own.attribute
        record = next(each for each in self.effects.loops if each.token is token)
        return self.resolved(record.carries[ordinal].initial)

    def _located(self, record: LoopRecord, ordinal: int, carry: LoopCarry) -> _Closed | None:
        """What is chosen along with a running maximum: that of the first iteration at which the maximum is reached, or
        the first value if the maximum is never above -inf.
        """
        own, update = self._own(record, ordinal, carry), self.resolved(carry.update)
        if update.operation != "select" or self._read_within(record, ordinal):
            return None
        condition, true, false = update.arguments
        picked, truth = (false, False) if _is_carry(true, own) else (true, True)
        if not _is_carry(true if picked is false else false, own):
            return None
        if _mentions(picked, own, at_any_lane=True) or self._open(picked, record.token):
            return None
        for node in dict.fromkeys(each for each in walk(condition) if self._is_other(each, own)):
            top = self._place_of_top(record, node, condition, truth)
            if top is not None:
                self.ledger.add("proven", f"{carry.name}: chosen where {top[1]} is first reached")
                return _Closed(carry.lanes, None, self._at_top(record, carry, as_coordinate(self.arena, picked), top))
        return None

    def _at_top(
        self, record: LoopRecord, carry: LoopCarry, picked: Expression, top: tuple[Expression, str, Expression]
    ) -> Expression:
        """What is picked at the first iteration that has the extremum. Of -inf alone that is the first one, if any."""
        value, kind, low = top
        place = self.arena.make("reduce", d.index, value.arguments, replace(value.attribute, kind=f"arg_{kind}"))
        there = Rebuilding(self.arena, {record.token: place.polynomial}).expression(picked)
        at_first = Rebuilding(self.arena, {record.token: Polynomial()}).expression(picked)
        initial = as_coordinate(self.arena, self._converted(carry, there))
        if at_first is initial and (self.trips[record.token].constant or 0) > 0:
            return there
        never = self.arena.make("pointwise", d.boolean, (value, low), ("equal", False, False))
        return self.arena.make("select", there.dtype, (never, initial, there))

    def _place_of_top(
        self, record: LoopRecord, old: Expression, condition: Expression, truth: bool
    ) -> tuple[Expression, str, Expression] | None:
        """(the largest or least of all new values, which of them, what it is of none), if the condition is the one
        under which a new value takes the place of `old`.
        """
        position = old.attribute[1]
        carry = record.carries[position]
        own = self._own(record, position, carry)
        choice = chosen(self.arena, self.resolved(carry.update), own)
        total = self._known_total(record, position, carry) if choice is not None else None
        if choice is None or total is None or choice.truth is not truth or total.after.operation != "reduce":
            return None
        atoms: dict[Atom, Polynomial] = dict(zip(carry.lanes, (each.polynomial for each in old.arguments), strict=True))
        there = Rebuilding(self.arena, atoms)
        first = self._initial(own)
        if there.expression(choice.condition) is not condition or first.operation != "constant":
            return None
        for kind, before in (("max", larger), ("min", lesser)):
            neutral_value = neutral(self.arena, kind, first)
            if first.attribute == neutral_value.attribute and choice.takes_where(before, first):
                return there.expression(total.after), kind, neutral_value
        return None

    def _read_within(self, record: LoopRecord, ordinal: int) -> bool:
        """Whether anything but its own update reads the carry in an iteration."""
        roots = [root for store in self.effects.stores for root in (store.offset, store.value, store.mask)]
        roots.extend(as_index(self.arena, other.trip) for other in self.effects.loops)
        for other in self.effects.loops:
            for position, carry in enumerate(other.carries):
                if (other.token, position) not in self.closed and (other is not record or position != ordinal):
                    roots.extend((carry.initial, carry.update))
        place = (record.token, ordinal)
        nodes = having(CARRIES, *map(self.resolved, roots))
        return any(node.operation == "carry" and node.attribute == place for node in nodes)

    # ---------------------------------------------------------------------------------------------------------- sinks
    def _sink(self, store: StoreEffect) -> Sink:
        atoms: dict[Atom, Polynomial] = {}
        axes: list[Axis] = []
        for token in store.loops:
            end = self.trips[token].substitute(atoms)
            axes.append(self.arena.axis(token.name, Polynomial(), end))
            atoms[token] = atomic(axes[-1])
        rebuilding = Rebuilding(self.arena, atoms, finish=self._finished)
        offset, value, mask = (
            rebuilding.expression(self.resolved(root)) for root in (store.offset, store.value, store.mask)
        )
        axes = [*self.effects.programs, *axes, *store.lanes]
        sink = Sink(store.pointer, offset, value, mask, tuple(axes), store.clock, store.line, combine=store.combine)
        if all(CARRIES.isdisjoint(root.operations) for root in sink.roots):
            return sink
        return Opening(
            self.arena, self.effects.loops, self._definitions(), self.trips, self._tests(), atoms, sink
        ).run()

    def _tests(self) -> dict[LoopToken, Expression]:
        finishing = Rebuilding(self.arena, {}, finish=self._finished)
        return {token: finishing.expression(self.resolved(test)) for token, test in self.tests.items()}

    def _definitions(self) -> dict[Place, tuple[Expression, Expression]]:
        """Of every open carry: its first value, and how it goes on."""
        made = {}
        finishing = Rebuilding(self.arena, {}, finish=self._finished)
        for record in self.effects.loops:
            for ordinal, carry in enumerate(record.carries):
                if (record.token, ordinal) not in self.closed:
                    initial, update = (
                        finishing.expression(self.resolved(each))
                        for each in (carry.initial, self.updates.get((record.token, ordinal), carry.update))
                    )
                    made[record.token, ordinal] = (initial, update)
        return made

    def _finished(self, node: Expression) -> Expression | None:
        if node.operation == "load" and node.attribute.clock and node.attribute.pointer not in self._stored():
            return self.arena.make("load", node.dtype, node.arguments, Address(node.attribute.pointer, 0))
        return exchanged(self.arena, node)

    def _stored(self) -> set[str]:
        """Pointers whose elements change; when others are loaded does not matter."""
        return {store.pointer for store in self.effects.stores}


def combine(arena: Arena, function: str, left: Expression, right: Expression) -> Expression:
    """function(left, right), which is right if left is the function's identity."""
    if left.operation == "constant" and left.attribute == neutral(arena, _KINDS[function], right).attribute:
        return right
    return arena.make("pointwise", right.dtype, (left, right), (function, False, False))


def _is_carry(expression: Expression, own: Expression) -> bool:
    if expression.operation == "cast" and expression.arguments[0].dtype == d.index:
        expression = expression.arguments[0]  # an integer variable as a number
    return expression is own or (expression.operation == "index" and expression.attribute == own.polynomial)


def _mentions(expression: Expression, own: Expression, at_any_lane: bool = False) -> bool:
    return any(
        node is own or (at_any_lane and node.operation == "carry" and node.attribute == own.attribute)
        for node in walk(expression)
    )


def _atoms(expression: Expression) -> set[Atom]:
    found: set[Atom] = set()
    for node in walk(expression):
        if node.operation == "index":
            found.update(node.attribute.atoms())
        elif node.operation in ("reduce", "contract"):
            for axis in node.attribute.axes:
                found.update(axis.begin.atoms())
                found.update(axis.end.atoms())
    return found


def _is_number(node: Expression, value: float) -> bool:
    return node.operation == "constant" and node.attribute == value


def close(
    arena: Arena, effects: KernelEffects, ledger: Ledger | None = None, prefixes: bool = True
) -> tuple[Sink, ...]:
    return Closing(arena, effects, ledger or Ledger(), prefixes).run()

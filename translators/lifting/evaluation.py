"""What a program stores, for given sizes, with memory as a random function: the test of every rule.

Memory has no shape and no end: an element is a pseudo-random number of its pointer and offset. Two programs that
agree here read and write the same elements, in and out of bounds, and overlapping accesses show. Arithmetic is in
doubles and unbounded integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from intent.dtypes import DType
from intent.records import dataclass, field
from translators.algebra.polynomial import Atom, Extremum, Polynomial, Quotient, Remainder, Symbol
from translators.lifting.sinks import Place, Sink, State
from translators.tile.effects import KernelEffects, LoopRecord, StoreEffect
from translators.tile.expression import Axis, Expression, LoopToken

Number = bool | int | float
Element = tuple[str, int]
POISON: Final = "poison"  # a lane that holds no defined value
Value = Number | str


MOST_ITERATIONS: Final = 64  # of a loop that runs until a condition fails


class Observed(Exception):
    """A stored value depends on a lane that holds no defined value."""


@dataclass(slots=True)
class Evaluator:
    """Evaluates expressions where `point` gives every symbol, axis and loop ordinal a number."""

    loops: Mapping[LoopToken, LoopRecord] = field(default_factory=dict)
    seed: int = 0
    recurrences: Mapping[Place, tuple[Axis, State]] = field(default_factory=dict)
    integers: Mapping[str, int] = field(default_factory=dict)  # pointer -> number of values its integer elements take
    tests: Mapping[Axis, Expression] = field(default_factory=dict)  # of recurrences that run until one fails
    given: Sequence[Value] = ()  # of the arguments of a function that combines elements

    def polynomial(self, polynomial: Polynomial, point: Mapping[Atom, int]) -> int:
        return sum(
            coefficient * math.prod(self.atom(atom, point) for atom in monomial)
            for monomial, coefficient in polynomial.terms
        )

    def atom(self, atom: Atom, point: Mapping[Atom, int]) -> int:
        if atom in point:
            return point[atom]
        match atom:
            case Quotient(top, bottom):
                return self.polynomial(top, point) // self.polynomial(bottom, point)
            case Remainder(top, bottom):
                return self.polynomial(top, point) % self.polynomial(bottom, point)
            case Extremum(kind, operands):
                choose = min if kind == "minimum" else max
                return choose(self.polynomial(operand, point) for operand in operands)
            case Expression():
                found = self.value(atom, point)
                if isinstance(found, str):
                    raise Observed("a coordinate")
                return int(found)
            case _:
                raise KeyError(atom)

    # --------------------------------------------------------------------------------------------------------- values
    def value(self, node: Expression, point: Mapping[Atom, int]) -> Value:
        match node.operation:
            case "constant":
                constant: Number = node.attribute
                return constant
            case "poison":
                return POISON
            case "parameter":
                return self._random(f"parameter {node.attribute}", 0)
            case "index":
                return self.polynomial(node.attribute, point)
            case "load":
                return self._load(node, point)
            case "select":
                chosen = self.value(node.arguments[0], point)
                return POISON if chosen == POISON else self.value(node.arguments[1 if chosen else 2], point)
            case "argument":
                return self.given[node.attribute]
            case "reduce" if node.attribute.combine is not None:
                return self._combined(node, point)
            case "reduce":
                return self._reduce(node, point)
            case "contract":
                return self._contract(node, point)
            case "carry" | "carried":
                return self._carry(node, point)
            case "state":
                return self._state(node, point)
            case _:
                return self._operation(node, [self.value(argument, point) for argument in node.arguments])

    def _load(self, node: Expression, point: Mapping[Atom, int]) -> Value:
        offset, mask, other = node.arguments
        if not self.value(mask, point):
            return self.value(other, point)
        return self.memory(node.attribute.pointer, self.polynomial(offset.polynomial, point), node.dtype)

    def memory(self, pointer: str, position: int, dtype: DType) -> Number:
        """What an element holds before the kernel runs."""
        found = self._random(pointer, position)
        return found if dtype.is_float else int((found + 2) * 1000) % self.integers.get(pointer, 7)

    def _random(self, name: str, position: int) -> float:
        """Between -2 and 2, and never twice the same."""
        return _mixed(name, position, self.seed) / 2**30 - 2.0

    def bound(self, axes: Sequence[Axis], point: Mapping[Atom, int]) -> Iterator[dict[Atom, int]]:
        if not axes:
            yield dict(point)
            return
        axis, *rest = axes
        low, high = self.polynomial(axis.begin, point), self.polynomial(axis.end, point)
        for coordinate in range(low, high):
            yield from self.bound(rest, {**point, axis: coordinate})

    def _reduce(self, node: Expression, point: Mapping[Atom, int]) -> Value:
        points = list(self.bound(node.attribute.axes, point))
        values = [self.value(node.arguments[0], inner) for inner in points]
        if node.attribute.kind in ("arg_max", "arg_min"):
            if not values or POISON in values:
                return POISON  # no element has a position
            best = reduced(node.attribute.kind[4:], values, True)
            return points[values.index(best)][node.attribute.axes[0]]
        return reduced(node.attribute.kind, values, node.dtype.is_float)

    def _combined(self, node: Expression, point: Mapping[Atom, int]) -> Value:
        """The elements combined one after the other; without any there is no telling what it gives."""
        combine = node.attribute.combine
        total: tuple[Value, ...] | None = None
        for inner in self.bound(node.attribute.axes, point):
            element = tuple(self.value(argument, inner) for argument in node.arguments)
            if total is None:
                total = element
                continue
            evaluator = Evaluator(given=(*total, *element))
            total = tuple(evaluator.value(result, {}) for result in combine.results)
        return POISON if total is None else total[node.attribute.result]

    def _contract(self, node: Expression, point: Mapping[Atom, int]) -> Value:
        lhs, rhs = node.arguments
        total: Value = 0.0 if node.dtype.is_float else 0
        for inner in self.bound(node.attribute.axes, point):
            left, right = self.value(lhs, inner), self.value(rhs, inner)
            total = POISON if POISON in (left, right, total) else total + left * right  # type: ignore[operator]
        return total

    def _carry(self, node: Expression, point: Mapping[Atom, int]) -> Value:
        token, ordinal = node.attribute
        record = self.loops[token]
        carry = record.carries[ordinal]
        lanes = {
            lane: self.polynomial(each.polynomial, point)
            for lane, each in zip(carry.lanes, node.arguments, strict=True)
        }
        step = point[token] if node.operation == "carry" else self._trip(token, record.condition, record.trip, point)
        if step == 0:
            return self.value(carry.initial, {**point, **lanes})
        return self.value(carry.update, {**point, **lanes, token: step - 1})

    def _trip(
        self, ordinal: Axis | LoopToken, test: Expression | None, trip: Polynomial, point: Mapping[Atom, int]
    ) -> int:
        """How many iterations there are: so many, or for as long as the test holds."""
        if test is None:
            return self.polynomial(trip, point)
        return next(step for step in range(MOST_ITERATIONS) if not self.value(test, {**point, ordinal: step}))

    def _state(self, node: Expression, point: Mapping[Atom, int]) -> Value:
        axis, state = self.recurrences[node.attribute]
        step = point[axis] if axis in point else self._trip(axis, self.tests.get(axis), axis.end, point)
        here = dict(point)
        for each, at in zip(state.own, node.arguments, strict=True):
            here[each] = self.polynomial(at.polynomial, point)
        return self.value(state.update, {**here, axis: step - 1}) if step else self.value(state.initial, here)

    def _operation(self, node: Expression, values: Sequence[Value]) -> Value:
        if POISON in values:
            return POISON
        function = node.attribute[0] if node.operation == "pointwise" else node.operation
        numbers = [value for value in values if not isinstance(value, str)]
        if function == "cast":
            return _cast(node, numbers[0])
        try:
            return FUNCTIONS[function](*numbers)
        except (OverflowError, ZeroDivisionError, ValueError):
            return math.nan


def _mixed(name: str, position: int, seed: int) -> int:
    """32 well-mixed bits, the same in every process."""
    state = (
        seed * 0x9E3779B1 + position * 0x85EBCA77 + sum((i + 1) * 257 * byte for i, byte in enumerate(name.encode()))
    )
    for _ in range(3):
        state = (state ^ (state >> 15)) * 0x2C1B3C6D & 0xFFFFFFFF
        state = (state ^ (state >> 12)) * 0x297A2D39 & 0xFFFFFFFF
    return state


def _cast(node: Expression, value: Number) -> Number:
    if node.dtype.kind == "bool":
        return bool(value)
    if node.dtype.is_float:
        # Rounding must not be lost: two different widths give visibly different numbers.
        return round(float(value), {16: 2, 32: 6}.get(node.dtype.bits, 12)) if math.isfinite(value) else float(value)
    return int(value) if math.isfinite(value) else 0


def reduced(kind: str, values: Iterable[Value], floating: bool) -> Value:
    found = list(values)
    if POISON in found:
        return POISON
    numbers = [value for value in found if not isinstance(value, str)]
    match kind:
        case "sum":
            return (
                sum(numbers) if not floating else math.fsum(numbers) if all(map(math.isfinite, numbers)) else math.nan
            )
        case "max" | "max_num":
            return max(numbers, default=-math.inf)
        case "min" | "min_num":
            return min(numbers, default=math.inf)
        case "product":
            return math.prod(numbers)
        case "any":
            return any(numbers)
        case "all":
            return all(numbers)
        case _:
            raise KeyError(kind)


def _truncated(a: Number, b: Number) -> Number:
    return int(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


FUNCTIONS: Final[Mapping[str, Callable[..., Number]]] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b, "floor_divide": lambda a, b: a // b, "remainder": lambda a, b: a % b,
    "truncated_divide": _truncated, "truncated_remainder": lambda a, b: a - b * _truncated(a, b),
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "not": lambda a: not a,
    "shift_left": lambda a, b: a << b, "shift_right": lambda a, b: a >> b, "invert": lambda a: ~a,
    "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b, "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
    "maximum": max, "minimum": min, "maximum_num": max, "minimum_num": min, "negative": lambda a: -a, "abs": abs,
    "exp": math.exp, "exp2": lambda a: 2.0**a, "log": math.log, "log1p": math.log1p, "sin": math.sin, "cos": math.cos,
    "floor": math.floor, "sqrt": math.sqrt, "rsqrt": lambda a: 1 / math.sqrt(a), "erf": math.erf, "erfc": math.erfc,
    "tanh": math.tanh, "sigmoid": lambda a: 1 / (1 + math.exp(-a)), "bitcast": lambda a: a, "asin": math.asin,
    "lgamma": math.lgamma, "power": lambda a, b: a**b if a >= 0 else math.nan,
    "random_bits": lambda seed, counter: _mixed(f"random {seed}", int(counter), 0),
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------- whole programs
Stored = dict[Element, list[Value]]


def stored_by_effects(effects: KernelEffects, sizes: Mapping[str, int], evaluator: Evaluator) -> Stored:
    """Every element that the kernel stores, with all values that any program stores there."""
    loops = {record.token: record for record in effects.loops}
    running = Evaluator(loops, evaluator.seed, {}, evaluator.integers)
    start: dict[Atom, int] = {Symbol(name): value for name, value in sizes.items()}
    result: Stored = {}
    for store in effects.stores:
        for point in running.bound((*effects.programs, *store.lanes), start):
            for inner in _iterations(running, [loops[token] for token in store.loops], point):
                _record(running, result, store, inner)
    return result


def stored_by_sinks(sinks: Sequence[Sink], sizes: Mapping[str, int], evaluator: Evaluator) -> Stored:
    start: dict[Atom, int] = {Symbol(name): value for name, value in sizes.items()}
    result: Stored = {}
    for sink in sinks:
        states = {state.place: (each.axis, state) for each in sink.recurrences for state in each.states}
        tests = {each.axis: each.condition for each in sink.recurrences if each.condition is not None}
        running = Evaluator({}, evaluator.seed, states, evaluator.integers, tests)
        for point in evaluator.bound(sink.axes, start):
            _record(running, result, sink, point)
    return result


def _iterations(evaluator: Evaluator, loops: Sequence[LoopRecord], point: dict[Atom, int]) -> Iterator[dict[Atom, int]]:
    if not loops:
        yield point
        return
    for ordinal in range(evaluator.polynomial(loops[0].trip, point)):
        yield from _iterations(evaluator, loops[1:], {**point, loops[0].token: ordinal})


def _record(evaluator: Evaluator, result: Stored, store: StoreEffect | Sink, point: Mapping[Atom, int]) -> None:
    """A store is one more value of its element; an atomic update changes the element's only value."""
    if not evaluator.value(store.mask, point):
        return
    found = evaluator.value(store.value, point)
    place = (store.pointer, evaluator.polynomial(store.offset.polynomial, point))
    if store.combine is None:
        result.setdefault(place, []).append(found)
        return
    (before,) = result.setdefault(place, [evaluator.memory(*place, store.value.dtype)])
    poisoned = isinstance(before, str) or isinstance(found, str)
    result[place] = [POISON if poisoned else _UPDATES[store.combine](before, found)]


_UPDATES: Final[Mapping[str, Callable[..., Number]]] = {
    "add": FUNCTIONS["add"], "max": max, "min": min, "and": FUNCTIONS["and"], "or": FUNCTIONS["or"],
    "xor": FUNCTIONS["xor"],
}  # fmt: skip


def agree(first: Stored, second: Stored) -> bool:
    """Same elements, same values up to the order of summation; an undefined value agrees with nothing."""
    if first.keys() != second.keys():
        return False
    return all(_alike(value, other) for place, values in first.items() for value in values for other in second[place])


def _alike(left: Value, right: Value) -> bool:
    if isinstance(left, str) or isinstance(right, str):
        return False
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return left == right or math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-6)

"""Terms to simpler terms of the same value: the smart constructor of the canonical form.

Every rule here is exact: it changes no bit of any result but the sign of a zero and the payload of a NaN. What only a
permitted reassociation makes equal is left to `relaxed`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import copysign

from intent.dtypes import DType, boolean, f32, i64, index
from intent.records import dataclass, field
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Polynomial, atomic, number, product
from translators.comparison import casting, conditions, coordinates, weights
from translators.comparison.terms import BINDERS, Detail, Term, constant, integer, pointwise, raw
from translators.diagnostics import Span

COMMUTATIVE = frozenset(
    ("add", "multiply", "maximum", "minimum", "maximum_num", "minimum_num", "equal", "and", "or", "xor")
)
ASSOCIATIVE = frozenset(("maximum", "minimum", "and", "or", "xor"))  # exactly; so are sums and products of integers
SWAPPED = {"greater": "less", "greater_equal": "less_equal"}
ROUNDED = ("f16", "bf16")  # types whose operations compute in f32 and round once
BITWISE = ("and", "or", "xor", "invert", "shift_left", "shift_right")


@dataclass(slots=True)
class Rules:
    """`facts` knows the range of every coordinate; `relaxed` also applies what reassociation permits."""

    facts: Facts = field(default_factory=Facts)
    relaxed: bool = False
    finite: bool = False  # what is multiplied by the 0 in place of what is not read
    serial: int = 0

    # -------------------------------------------------------------------------------------------------------- variables
    def next_serial(self) -> int:
        self.serial += 1
        return self.serial

    def variable(self, extent: Term, kind: str = "axis", *within: Term) -> Term:
        """A coordinate in [0, extent) that nothing else is; `within` is the iteration that a slice belongs to."""
        length = integer(coordinates.length(extent.polynomial, self.facts))
        return self.ranged(raw("variable", index, (length, *within), (self.next_serial(), kind)))

    def fresh(self, old: Term, operands: tuple[Term, ...]) -> Term:
        """A new name for a variable."""
        return self.ranged(raw("variable", index, operands, (self.next_serial(), old.detail[1])))

    def ranged(self, coordinate: Term) -> Term:
        if coordinate not in self.facts.lows:
            self.facts = self.facts.with_bounds(coordinate, 0, coordinate.operands[0].polynomial - 1)
        return coordinate

    # ------------------------------------------------------------------------------------------------------- rebuilding
    def rebuilt(self, term: Term, mapping: Mapping[Term, Term]) -> Term:
        """The term with others in the place of some, simplified again."""
        return Rebuilding(self, mapping).term(term)

    # ----------------------------------------------------------------------------------------------------- construction
    def make(
        self, operation: str, dtype: DType, operands: tuple[Term, ...], detail: Detail = (), span: Span | None = None
    ) -> Term:
        return self._made(operation, dtype, operands, detail).at(span)

    def _made(self, operation: str, dtype: DType, operands: tuple[Term, ...], detail: Detail) -> Term:
        match operation:
            case "pointwise":
                return self._pointwise(str(detail[0]), dtype, operands, detail[1:])
            case "select":
                return self._select(dtype, *operands)
            case "cast":
                return casting.cast(operands[0], dtype)
            case "bitcast" if operands[0].dtype == dtype:
                return operands[0]
            case "load":
                return self._load(dtype, operands, detail)
            case "bound" | "variable":
                return self.ranged(raw(operation, dtype, operands, detail))
            case _:
                return raw(operation, dtype, operands, detail)

    def polynomial(self, polynomial: Polynomial) -> Term:
        return integer(coordinates.simplified(polynomial, self.facts))

    def _pointwise(self, function: str, dtype: DType, operands: tuple[Term, ...], permissions: Detail) -> Term:
        if function in SWAPPED:
            return self._pointwise(SWAPPED[function], dtype, operands[::-1], permissions)
        if function == "not_equal":
            return self.negated(self._pointwise("equal", dtype, operands, permissions))
        if dtype == boolean and function in ("and", "or", "not", "invert", "xor"):
            condition = conditions.logical("not" if function == "invert" else function, operands)
            return conditions.with_equations(condition, self.facts) if function == "and" else condition
        if dtype == boolean and _as_numbers(operands[0].dtype):
            left, right = (casting.cast(operand, index).polynomial for operand in operands)
            return coordinates.comparison(function, left - right, self.facts)
        if dtype == index and function in BITWISE:
            wide = tuple(casting.cast(operand, i64) for operand in operands)
            return casting.cast(self._arithmetic(function, i64, wide, permissions), index)
        if dtype == index:
            made = coordinates.arithmetic(function, [operand.polynomial for operand in operands])
            return self.polynomial(made) if made is not None else pointwise(function, dtype, *operands)
        if operands[0].dtype.name in ROUNDED:
            return self._in_f32(function, dtype, operands, permissions)
        return self._arithmetic(function, dtype, operands, permissions)

    def _in_f32(self, function: str, dtype: DType, operands: tuple[Term, ...], permissions: Detail) -> Term:
        """An operation of half precision computes in f32 and rounds once."""
        wide = tuple(casting.cast(operand, f32) for operand in operands)
        made = self._pointwise(function, f32 if dtype != boolean else boolean, wide, permissions)
        return casting.cast(made, dtype)

    def _arithmetic(self, function: str, dtype: DType, operands: tuple[Term, ...], permissions: Detail) -> Term:
        match function, operands:
            case "subtract", (left, right):
                return self._arithmetic("add", dtype, (left, self.negative(right)), permissions)
            case "negative", (operand,):
                return self.negative(operand)
            case "invert", (operand,) if operand.function == "invert":
                return operand.operands[0]
            case "multiply", (left, right) if self.finite and dtype.is_float:
                return self._masked_product(dtype, left, right, permissions)
            case "and" | "or" | "xor" | "shift_right", (left, right) if narrow := casting.narrowed(
                function, dtype, left, right
            ):
                return casting.cast(self._arithmetic(function, narrow[0], narrow[1:], permissions), dtype)
            case "multiply" | "divide", _ if dtype.is_float:
                return self._signed_product(function, dtype, operands, permissions)
            case _:
                return self._ordered(function, dtype, operands, permissions)

    def _masked_product(self, dtype: DType, left: Term, right: Term, permissions: Detail) -> Term:
        """x * (y where c, else 0) is (x * y where c, else 0)."""
        for masked, other in ((left, right), (right, left)):
            if masked.operation == "select" and masked.operands[2] == constant(dtype, 0):
                condition, value, nothing = masked.operands
                made = self._masked_product(dtype, value, other, permissions)
                return self._select(dtype, condition, made, nothing)
        made = self._signed_product("multiply", dtype, (left, right), permissions)
        loads = [each.operands[0] if each.operation == "cast" else each for each in (left, right)]
        inside = [each for load in loads if load.operation == "load" for each in self.inside(load)]
        return self._select(dtype, conditions.logical("and", inside), made, constant(dtype, 0))

    def _signed_product(self, function: str, dtype: DType, operands: tuple[Term, ...], permissions: Detail) -> Term:
        """Signs stand before products and quotients of floats."""
        left, right = operands
        made = self._product(function, dtype, _positive(left), _positive(right), permissions)
        return made if _is_negative(left) == _is_negative(right) else self.negative(made)

    def _product(self, function: str, dtype: DType, left: Term, right: Term, permissions: Detail) -> Term:
        left, right = weights.beside(self, left, right), weights.beside(self, right, left)
        one = constant(dtype, 1.0)
        if right == one or (left == one and function == "multiply"):
            return left if right == one else right
        return self._ordered(function, dtype, (left, right), permissions)

    def _ordered(self, function: str, dtype: DType, operands: tuple[Term, ...], permissions: Detail) -> Term:
        if function in ASSOCIATIVE or (function in ("add", "multiply") and dtype.is_integer):
            operands = _flat(function, dtype, operands)
            coordinates_only = _of_coordinates(function, operands) if dtype.is_integer else None
            if coordinates_only is not None:
                return casting.cast(self.polynomial(coordinates_only), dtype)
        if function in ("add", "multiply") and dtype.is_integer:
            neutral = constant(dtype, 0 if function == "add" else 1)
            operands = tuple(each for each in operands if each != neutral) or (neutral,)
            if len(operands) == 1:
                return operands[0]
        if function in ASSOCIATIVE and function != "xor":
            operands = tuple(dict.fromkeys(operands))
            if len(operands) == 1:
                return operands[0]
        if function in COMMUTATIVE:
            operands = tuple(sorted(operands, key=lambda operand: operand.key))
        return pointwise(function, dtype, *operands, permissions=permissions)

    def negative(self, operand: Term) -> Term:
        """-x: exact, and its own inverse."""
        if operand.operation == "constant" and operand.dtype.is_float:
            value = operand.detail[0]
            assert isinstance(value, float)
            return constant(operand.dtype, -value)
        if operand == constant(operand.dtype, 0):
            return operand
        if operand.operation == "cast" and operand.dtype.is_integer and operand.operands[0].dtype == index:
            return casting.cast(self.polynomial(-operand.operands[0].polynomial), operand.dtype)
        return operand.operands[0] if operand.function == "negative" else pointwise("negative", operand.dtype, operand)

    def negated(self, condition: Term) -> Term:
        return conditions.negated(condition)

    # ----------------------------------------------------------------------------------------------------------- select
    def _select(self, dtype: DType, condition: Term, true: Term, false: Term) -> Term:
        if condition.truth is not None:
            return true if condition.truth else false
        if condition.function == "not":
            return self._select(dtype, condition.operands[0], false, true)
        true, false = self.under(true, condition, True), self.under(false, condition, False)
        if true == false or _is_floor(condition, true, false):
            return false
        if dtype == boolean:
            return self._condition(condition, true, false)
        if dtype == index:
            return integer(atomic(raw("select", dtype, (condition, true, false))))
        inner = true.operands[0].dtype if true.operation == false.operation == "cast" else None
        if (
            inner is not None
            and inner not in (index, boolean)
            and inner == false.operands[0].dtype
            and casting.exact(inner, dtype)
        ):
            return casting.cast(self._select(inner, condition, true.operands[0], false.operands[0]), dtype)
        return raw("select", dtype, (condition, true, false))

    def _condition(self, condition: Term, true: Term, false: Term) -> Term:
        """A selection between truth values."""
        first = conditions.logical("and", (condition, true))
        second = conditions.logical("and", (self.negated(condition), false))
        return conditions.logical("or", (first, second))

    def under(self, term: Term, condition: Term, value: bool) -> Term:
        """The term where the condition is known."""
        known = dict(conditions.known(condition, value))
        return self.rebuilt(term, known) if known else term

    # ------------------------------------------------------------------------------------------------------------- load
    def _load(self, dtype: DType, operands: tuple[Term, ...], detail: Detail) -> Term:
        """Operands: coordinates, extents of the memory (`rank` of each), what else there is, guard and fill.

        A read out of bounds gives 0, so a guard that only keeps it in bounds says nothing if the fill is 0 too. Any
        other guard is a selection.
        """
        rank, guarded = detail[1], detail[2]
        assert isinstance(rank, int)
        access = operands[:-2] if guarded else operands
        made = raw("load", dtype, access, (detail[0], rank, False, *detail[3:]))
        if not guarded:
            return made
        guard, fill = operands[-2:]
        if fill == constant(dtype, 0):
            inside = self.inside(made)
            guard = conditions.logical("and", [each for each in conditions.conjuncts(guard) if each not in inside])
        return self._select(dtype, guard, made, fill)

    def inside(self, load: Term) -> set[Term]:
        """What keeps a read in bounds, and is not known."""
        rank = load.detail[1]
        assert isinstance(rank, int)
        return conditions.in_bounds(load.operands[:rank], load.operands[rank : 2 * rank], self.facts)


def _is_floor(condition: Term, true: Term, false: Term) -> bool:
    """-1 where -1 < x < 0, floor(x) elsewhere: that is floor(x)."""
    if false.function != "floor" or true != constant(true.dtype, -1):
        return False
    (inner,) = false.operands
    bounds = {
        pointwise("less", boolean, inner, constant(inner.dtype, 0)),
        pointwise("less", boolean, constant(inner.dtype, -1), inner),
    }
    return set(conditions.conjuncts(condition)) == bounds


def _as_numbers(dtype: DType) -> bool:
    """Whether its values are compared as coordinates are; u64 has values that no coordinate has."""
    return dtype.is_integer and (dtype.is_signed or dtype.bits < 64)


def _of_coordinates(function: str, operands: Sequence[Term]) -> Polynomial | None:
    """The sum or product of coordinates that are converted to one type: it is modulo a power of two there."""
    parts = []
    for each in operands:
        minus = each.function == "negative"
        each = each.operands[0] if minus else each
        if each.operation == "cast" and each.operands[0].dtype == index:
            parts.append(each.operands[0].polynomial * (-1 if minus else 1))
        elif each.operation == "constant" and isinstance(each.detail[0], int):
            parts.append(number(-each.detail[0] if minus else each.detail[0]))
        else:
            return None
    if function not in ("add", "multiply") or all(each.constant is not None for each in parts):
        return None
    return sum(parts, number(0)) if function == "add" else product(parts)


def _flat(function: str, dtype: DType, operands: tuple[Term, ...]) -> tuple[Term, ...]:
    flat: list[Term] = []
    for operand in operands:
        nested = operand.function == function and operand.dtype == dtype
        flat.extend(operand.operands if nested else (operand,))
    return tuple(flat)


def _is_negative(term: Term) -> bool:
    if term.operation == "constant":
        value = term.detail[0]
        return isinstance(value, float) and copysign(1.0, value) < 0
    return term.function == "negative"


def _positive(term: Term) -> Term:
    if not _is_negative(term):
        return term
    return constant(term.dtype, -float(str(term.detail[0]))) if term.operation == "constant" else term.operands[0]


@dataclass(slots=True)
class Rebuilding:
    """One replacement of terms, bottom up. Binders are opened and closed again where their order may change."""

    rules: Rules
    mapping: Mapping[Term, Term]
    done: dict[str, Term] = field(default_factory=dict)

    def term(self, term: Term) -> Term:
        found = self.done.get(term.key)
        if found is None:
            replaced = self.mapping.get(term)
            found = replaced if replaced is not None else self._inside(term)
            self.done[term.key] = found
        return found

    def _inside(self, term: Term) -> Term:
        if term.operation == "integer":
            made = term.polynomial.rebuild(lambda atom: self.term(atom).polynomial if isinstance(atom, Term) else None)
            return term if made == term.polynomial else self.rules.polynomial(made).at(term.span)
        operands = tuple(map(self.term, term.operands))
        if all(new.key == old.key for new, old in zip(operands, term.operands, strict=True)):
            return term
        if term.operation in BINDERS:
            from translators.comparison.binding import rebound

            return rebound(self.rules, term, operands).at(term.span)
        return self.rules.make(term.operation, term.dtype, operands, term.detail, term.span)

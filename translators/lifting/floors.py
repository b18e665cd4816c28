"""Quotients that round down and remainders with the sign of the divisor, written with those that truncate.

With t = truncated_divide(a, b), r = a - b*t and b > 0 (no program divides by 0):

    t - 1 where r != 0 and a < 0, else t        is a // b
    r + b where r < 0, else r                   is a % b
"""

from __future__ import annotations

from intent import dtypes as d
from intent.dtypes import DType
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Polynomial, Symbol, atomic, floor_divide, remainder
from translators.lifting.rewriting import conjuncts
from translators.tile.expression import Arena, Expression
from translators.tile.substitution import as_index


def sign(facts: Facts, node: Expression) -> Polynomial | None:
    """What is negative where `x ^ y < 0`: the operand whose sign is not known, if one is never negative."""
    left, right = node.arguments
    exclusive = _uncast((left.polynomial - right.polynomial).atom)
    if exclusive is None or exclusive.operation != "pointwise" or exclusive.attribute[0] != "xor":
        return None
    first, second = (_coordinate(each) for each in exclusive.arguments)
    if first is None or second is None:
        return None
    if facts.nonnegative(second):
        return first
    return second if facts.nonnegative(first) else None


def without_zero(condition: Expression) -> Expression | None:
    """d < 0 for d < 0 and d != 0."""
    parts = list(conjuncts(condition))
    if any(each.operation != "pointwise" for each in parts):
        return None
    negative = {_difference(each): each for each in parts if each.attribute[0] == "less" and _difference(each)}
    kept = [each for each in parts if each.attribute[0] != "not_equal" or not _is_of(each, negative)]
    return kept[0] if len(kept) == 1 and len(parts) == 2 else None


def _is_of(condition: Expression, negative: dict[Polynomial | None, Expression]) -> bool:
    difference = _difference(condition)
    return difference is not None and (difference in negative or -difference in negative)


def floored(arena: Arena, facts: Facts, node: Expression) -> Expression | None:
    """The selection as a quotient or remainder, if it is one."""
    condition, true, false = node.arguments
    larger, smaller = _coordinate(true), _coordinate(false)
    if larger is None or smaller is None:
        return _of_values(condition, true, false)
    for atom in smaller.atoms():
        if not isinstance(atom, Expression) or atom.operation != "pointwise":
            continue
        if atom.attribute[0] != "truncated_divide" or not facts.nonnegative(atom.arguments[1].polynomial):
            continue
        made = _whole(condition, larger, smaller, atom)
        if made is not None:
            index = as_index(arena, made)
            return index if node.dtype == d.index else arena.make("cast", node.dtype, (index,))
    return None


def _whole(condition: Expression, larger: Polynomial, smaller: Polynomial, divided: Expression) -> Polynomial | None:
    top, bottom = (each.polynomial for each in divided.arguments)
    rest = top - bottom * atomic(divided)
    every = list(conjuncts(condition))
    if any(each.operation != "pointwise" for each in every):
        return None
    parts = {(each.attribute[0], _difference(each)) for each in every}
    if smaller == atomic(divided) and larger == smaller - 1 and len(parts) == 2:
        unequal = ("not_equal", rest) in parts or ("not_equal", -rest) in parts
        return floor_divide(top, bottom) if unequal and ("less", top) in parts else None
    if smaller == rest and larger == rest + bottom and parts == {("less", rest)}:
        return remainder(top, bottom)
    return None


# ------------------------------------------------------------------------------------- integers that are no coordinates
# The reader writes `a // b` of any signs as what rounds down, and one more where that is not exact and signs differ.
def _of_values(condition: Expression, true: Expression, false: Expression) -> Expression | None:
    """q, which rounds down, where t - 1 is chosen if the remainder of truncation t is not 0 and signs differ, else t.

    In the same way for what has the sign of the divisor, r, and the remainder u of the truncation: u + b, and else u.
    """
    parts = list(conjuncts(condition))
    unequal = next((each for each in parts if _function(each) == "not_equal"), None)
    signed = next((each for each in parts if _function(each) == "less"), None)
    truncated = _truncated(false)
    if truncated is None or len(parts) != 2 or unequal is None or signed is None:
        return None
    rounded, top, bottom = truncated
    rest = _truncated(_compared_with_zero(unequal))
    exclusive = _compared_with_zero(signed)
    if rest is None or _function(rest[0]) != "remainder" or rest[1:] != (top, bottom):
        return None
    quotient = _function(rounded) == "floor_divide"
    signs = {top, bottom} if quotient else {false, bottom}
    if exclusive is None or _function(exclusive) != "xor" or set(exclusive.arguments) not in ({top, bottom}, signs):
        return None
    step = true.arguments[1] if _function(true) in ("add", "subtract") and true.arguments[0] is false else None
    if quotient:
        return rounded if step is not None and _function(true) == "subtract" and _is_number(step, 1) else None
    return rounded if step is bottom and _function(true) == "add" else None


def _truncated(node: Expression | None) -> tuple[Expression, Expression, Expression] | None:
    """(the quotient that rounds down or its remainder, dividend, divisor) of what truncation gives."""
    if node is None or node.operation != "select":
        return None
    condition, apart, rounded = node.arguments
    if _function(rounded) not in ("floor_divide", "remainder") or _function(apart) not in ("add", "subtract"):
        return None
    top, bottom = rounded.arguments
    quotient = _function(rounded) == "floor_divide"
    if apart.arguments[0] is not rounded or (_function(apart) == "add") != quotient:
        return None
    moved = _is_number(apart.arguments[1], 1) if quotient else apart.arguments[1] is bottom
    return (rounded, top, bottom) if moved and _is_inexact(condition, top, bottom) else None


def _is_inexact(condition: Expression, top: Expression, bottom: Expression) -> bool:
    """Whether it says that the division is not exact, and that the signs differ."""
    parts = list(conjuncts(condition))
    if len(parts) != 2 or any(each.operation != "pointwise" for each in parts):
        return False
    unequal, signs = sorted(parts, key=lambda each: _function(each) != "not_equal")
    rest = _compared_with_zero(unequal)
    if _function(unequal) != "not_equal" or rest is None or _function(rest) != "remainder":
        return False
    if rest.arguments != (top, bottom):
        return False
    if _function(signs) == "xor":
        return {_negative(each) for each in signs.arguments} == {top, bottom}
    positive = bottom.operation == "constant" and bottom.attribute > 0
    return positive and _negative(signs) is top


def _negative(condition: Expression) -> Expression | None:
    """What it says is negative."""
    return _compared_with_zero(condition) if _function(condition) == "less" else None


def _compared_with_zero(condition: Expression) -> Expression | None:
    """The integer on the left, if 0 is on the right; without a conversion to a coordinate."""
    left, right = condition.arguments
    if _is_number(right, 0):
        return left
    difference = _difference(condition)
    atom = difference.atom if difference is not None else None
    return _uncast(atom)


def _is_number(node: Expression, value: int) -> bool:
    return node.operation == "constant" and node.attribute == value and not isinstance(node.attribute, bool)


def _function(node: Expression) -> str:
    return str(node.attribute[0]) if node.operation == "pointwise" else ""


def _difference(condition: Expression) -> Polynomial | None:
    if condition.operation != "pointwise" or len(condition.arguments) != 2:
        return None
    left, right = condition.arguments
    return left.polynomial - right.polynomial if left.dtype == right.dtype == d.index else None


def _coordinate(node: Expression) -> Polynomial | None:
    """The coordinate that was converted to a wider type, or is one."""
    found = _uncast(node)
    return found.polynomial if found is not None and found.dtype == d.index else None


def _uncast(node: object) -> Expression | None:
    """Without conversions between coordinates and integers of their width; a size has any integer's width."""
    if not isinstance(node, Expression):
        return None
    while node.operation == "cast" and _is_plain(node.arguments[0], node.dtype):
        (node,) = node.arguments
    return node


def _is_plain(inner: Expression, target: DType) -> bool:
    if {inner.dtype, target} <= {d.index, d.i64}:
        return True
    if inner.operation == "cast" and target == d.i64:
        return inner.dtype == d.i32 and _is_size(inner.arguments[0])
    return target in (d.i32, d.i64) and _is_size(inner)


def _is_size(node: Expression) -> bool:
    return node.operation == "index" and isinstance(node.polynomial.atom, Symbol)

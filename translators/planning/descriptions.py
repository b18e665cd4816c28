"""What an expression is, in the words a colleague would name it with: `x_squared`, `log_mass`, `target_matches`.

Only expressions of one or two things that have a name get their names; of others, the outermost operation is named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from translators.tile.expression import Axis, Expression, LoopToken

NameOf = Callable[[Expression], str]  # the name of a value, or "" if it has none

_BETWEEN = {
    "add": "plus", "subtract": "minus", "multiply": "times", "divide": "over", "less": "below", "less_equal": "at_most",
    "greater": "above", "greater_equal": "at_least", "equal": "equals", "not_equal": "differs_from",
}  # fmt: skip
_WITH_CONSTANT = {
    "add": "{}_shifted", "subtract": "{}_shifted", "multiply": "{}_scaled", "divide": "{}_scaled",
    "maximum": "{}_clamped", "minimum": "{}_clamped", "less": "{}_is_small", "less_equal": "{}_is_small",
    "greater": "{}_is_large", "greater_equal": "{}_is_large", "equal": "{}_matches", "not_equal": "{}_differs",
    "power": "{}_power",
}  # fmt: skip
_FACTORS = {2: "twice_{}", 0.5: "half_{}", -1: "negative_{}"}
_ALONE = {
    "add": "total", "subtract": "difference", "multiply": "product", "divide": "quotient", "negative": "negative",
    "maximum": "larger", "minimum": "smaller", "power": "power", "floor_divide": "quotient", "remainder": "rest",
    "abs": "magnitude",
}  # fmt: skip


def described(node: Expression, name_of: NameOf) -> str:
    """A name for any expression."""
    match node.operation:
        case "pointwise":
            return short_description(node, name_of) or _alone(node)
        case "select":
            return "selected"
        case "bitcast":
            return short_description(node, name_of) or "bits"
        case "cast":
            return short_description(node, name_of) or "converted"
        case "index":
            return "position"
        case _:
            return "value"


def short_description(node: Expression, name_of: NameOf) -> str:
    """A name made of the names of one or two operands, or nothing if it would be longer."""
    match node.operation, node.arguments:
        case "cast", (inner,):
            return name_of(inner) and f"{name_of(inner)}_{node.dtype.name}"
        case "bitcast", (inner,):
            return name_of(inner) and f"{name_of(inner)}_bits"
        case "pointwise", (operand,):
            return name_of(operand) and _of_one(str(node.attribute[0]), name_of(operand))
        case "pointwise", (left, right):
            return _of_two(str(node.attribute[0]), (left, right), name_of)
        case _:
            return ""


def _of_one(function: str, name: str) -> str:
    return f"{function}_{name}" if function not in ("not", "invert") else f"not_{name}"


def _of_two(function: str, operands: Sequence[Expression], name_of: NameOf) -> str:
    left, right = operands
    names = name_of(left), name_of(right)
    if left is right and names[0]:
        return _of_itself(function, names[0])
    if right.operation == "constant" and names[0]:
        return _with_constant(function, names[0], right.attribute)
    if left.operation == "constant" and names[1]:
        return _from_constant(function, left.attribute, names[1])
    if all(names) and function in _BETWEEN:
        return f"{names[0]}_{_BETWEEN[function]}_{names[1]}"
    return ""


def _of_itself(function: str, name: str) -> str:
    return {"multiply": f"{name}_squared", "add": f"twice_{name}", "not_equal": f"{name}_is_nan"}.get(function, "")


def _with_constant(function: str, name: str, constant: object) -> str:
    if function == "power" and constant == 2:
        return f"{name}_squared"
    if function == "multiply" and constant in _FACTORS:
        return _FACTORS[constant].format(name)
    if constant == 0 and function in ("equal", "not_equal"):
        return f"{name}_is_zero" if function == "equal" else f"{name}_is_nonzero"
    if constant == 0 and function in ("less", "greater"):
        return f"{name}_is_negative" if function == "less" else f"{name}_is_positive"
    return _WITH_CONSTANT.get(function, "").format(name)


def _from_constant(function: str, constant: object, name: str) -> str:
    if constant == 1 and function in ("subtract", "divide"):
        return f"one_minus_{name}" if function == "subtract" else f"inverse_{name}"
    if function in ("multiply", "add", "maximum", "minimum"):
        return _with_constant(function, name, constant)
    return ""


def _alone(node: Expression) -> str:
    function = str(node.attribute[0])
    if node.dtype.kind == "bool":
        return "inside" if function == "and" and all(map(_is_bound, node.arguments)) else "condition"
    return _ALONE.get(function, function)


def _is_bound(node: Expression) -> bool:
    """A comparison of coordinates, or several that all have to hold."""
    if node.operation != "pointwise":
        return False
    if node.attribute[0] == "and":
        return all(map(_is_bound, node.arguments))
    return node.attribute[0] in _BETWEEN and all(operand.operation == "index" for operand in node.arguments)


def mean_of(node: Expression, name_of: NameOf) -> str:
    """`x_mean` for a sum of x divided by a number of elements."""
    match node.operation, node.attribute, node.arguments:
        case "pointwise", ("divide", *_), (total, count) if (
            total.operation == "reduce" and total.attribute.kind == "sum"
        ):
            counts = count.operation == "cast" and count.arguments[0].operation == "index"
            name = name_of(total.arguments[0])
            return f"{name}_mean" if counts and name else ""
        case _:
            return ""


def load_name(node: Expression) -> str:
    """The memory's name, with the distance from the coordinates it is otherwise read at: `before_rows_plus_1`."""
    parts = [str(node.attribute.memory.name)]
    for coordinate in node.attribute.coordinates:
        atoms = [monomial[0] for monomial, factor in coordinate.terms if len(monomial) == 1 and factor == 1]
        if coordinate.constant is not None:
            parts += [f"at_{coordinate.constant}"] if coordinate.constant > 0 else []
        elif (
            len(coordinate.terms) == 2
            and len(atoms) == 1
            and isinstance(atoms[0], Axis | LoopToken)
            and coordinate.offset
        ):
            parts.append(f"{atoms[0].name}_{'plus' if coordinate.offset > 0 else 'minus'}_{abs(coordinate.offset)}")
    return "_".join(parts)

"""Expressions of a kernel or helper: from syntax to operands. What an operation means is the typing rules' business."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final

from translators.diagnostics import Fix, Rejected
from translators.intent_source.read import codes, rules
from translators.intent_source.read.casts import with_cast
from translators.intent_source.read.choices import choose, conjoin
from translators.intent_source.read.constants import constant
from translators.intent_source.read.names import member, module_name
from translators.intent_source.read.operands import (
    EnumMember,
    Keyword,
    Literal,
    Operand,
    Product,
    Slice,
    Text,
    Token,
)
from translators.intent_source.read.scope import (
    REFERENCES,
    Abandoned,
    Binding,
    Builtin,
    HostName,
    KernelName,
    Missing,
    Poisoned,
    suggestion,
)
from translators.intent_source.read.walker import Walker

BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder", ast.Pow: "power", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.LShift: "shift_left", ast.RShift: "shift_right",
}  # fmt: skip
_UNARY: Final[dict[type[ast.unaryop], str]] = {
    ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert", ast.Not: "not",
}  # fmt: skip
_COMPARE: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater",
    ast.GtE: "greater_equal",
}  # fmt: skip
_STATIC = (EnumMember, Text, Keyword, Token)


def evaluate(walker: Walker, node: ast.expr) -> Operand:
    """The operand an expression denotes; its operations are appended to the block being built."""
    match node:
        case ast.Constant():
            return _constant(walker, node)
        case ast.Name() | ast.Attribute():
            return _value_of(walker, node)
        case ast.Call():
            from translators.intent_source.read.calls import call

            return call(walker, node)
        case ast.Subscript(value=value, slice=index):
            base, items = evaluate(walker, value), subscript_items(walker, index)
            walker.here(node)
            return rules.subscript(walker.builder, base, items)
        case ast.BinOp(left=left, op=op, right=right):
            return binary(walker, node, type(op), evaluate(walker, left), evaluate(walker, right))
        case ast.UnaryOp(op=op, operand=inner):
            operand = evaluate(walker, inner)
            walker.here(node)
            return rules.unary(walker.builder, _UNARY[type(op)], operand)
        case ast.Compare():
            return _comparison(walker, node)
        case ast.BoolOp():
            return _logical(walker, node)
        case ast.IfExp():
            return _conditional(walker, node)
        case ast.Tuple(elts=parts):
            return Product(tuple(evaluate(walker, part) for part in parts))
        case ast.Slice():
            return _slice(walker, node)
        case _:
            return _not_language(walker, node)


def binary(walker: Walker, node: ast.AST, operator: type[ast.operator], lhs: Operand, rhs: Operand) -> Operand:
    walker.here(node)
    if operator not in BINARY:
        walker.builder.reject(
            codes.NOT_LANGUAGE, "the operator @ is not part of the language", "write I.matmul(a, b, ...)"
        )
    try:
        return rules.binary(walker.builder, BINARY[operator], lhs, rhs)
    except Rejected as rejected:
        parts = (node.left, node.right) if isinstance(node, ast.BinOp) else (None, getattr(node, "value", None))
        raise with_cast(walker.scope, rejected, parts, (lhs, rhs)) from None


def _constant(walker: Walker, node: ast.Constant) -> Operand:
    found = constant(node)
    if found is None:
        walker.here(node)
        walker.builder.reject(codes.NOT_LANGUAGE, "bytes and complex numbers are not part of the language")
    return found


# --------------------------------------------------------------------------------------------------------------- names
def resolve(walker: Walker, node: ast.expr) -> Binding:
    """The meaning of a name or dotted name, which may be no value; of another expression, its operand."""
    found = _resolve(walker, node)
    if walker.observe is not None:
        walker.observe(walker, node, found)
    return found


def _resolve(walker: Walker, node: ast.expr) -> Binding:
    match node:
        case ast.Name(id=name):
            return _name(walker, name, node)
        case ast.Attribute(value=value, attr=attribute):
            owner = resolve(walker, value)
            found = member(walker.scope, owner, attribute, node)
            if found is not None:
                return found
            walker.here(node)
            return rules.attribute(walker.builder, owner, attribute)  # type: ignore[arg-type]  # `member` took the rest
        case _:
            return evaluate(walker, node)


def _name(walker: Walker, name: str, node: ast.AST) -> Binding:
    frame = walker.frame
    found = frame.names.get(name)
    match found:
        case Poisoned():
            raise Abandoned
        case Missing(reason=reason, help=help):
            walker.here(node)
            walker.builder.reject(codes.NOT_DEFINED_HERE, f"'{name}' {reason}", help)
        case None if name in frame.own:
            walker.here(node)
            walker.builder.reject(codes.NOT_DEFINED_HERE, f"'{name}' is read before it is assigned")
        case None:
            return _outer_name(walker, name, node)
        case _:
            return found


def _outer_name(walker: Walker, name: str, node: ast.AST) -> Binding:
    found = module_name(walker.scope, name, node)
    if isinstance(found, Poisoned):
        raise Abandoned
    if found is None:
        walker.here(node)
        owner = next((frame.name for frame in reversed(walker.frames[:-1]) if name in frame.names), None)
        if owner is not None:
            message = f"'{name}' is a name of '{owner}', which '{walker.frame.name}' does not see"
            walker.builder.reject(codes.CAPTURE, message, "pass it as an argument")
        help, fix = _meant(walker, name, node)
        walker.builder.reject(codes.UNKNOWN_NAME, f"nothing here is named '{name}'", help, fix)
    return found


def _meant(walker: Walker, name: str, node: ast.AST) -> tuple[str | None, Fix | None]:
    for view in walker.frame.names.values():
        for extent in getattr(view, "shape", ()):
            if repr(extent) == name and hasattr(view, "direction"):
                help = f"a symbol of an annotation binds no name: write {name} = {view.name}.shape[...]"  # type: ignore[union-attr]
                return help, None
    known = walker.known()
    return suggestion(name, known), walker.scope.respelling(node, name, known)


def _value_of(walker: Walker, node: ast.expr) -> Operand:
    found = resolve(walker, node)
    if isinstance(found, REFERENCES):
        walker.here(node)
        _reject_reference(walker, ast.unparse(node), found)
    return found  # type: ignore[return-value]  # REFERENCES are exactly the bindings that are no operands


def _reject_reference(walker: Walker, spelling: str, found: Binding) -> None:
    match found:
        case HostName(what=what, help=help):
            walker.builder.reject(codes.NOT_CONSTANT, f"'{spelling}' is {what}", help)
        case KernelName():
            walker.builder.reject(
                codes.NOT_A_VALUE, f"'{spelling}' is a kernel, not a value", "kernels are called by host code"
            )
        case Builtin():
            walker.builder.reject(codes.NOT_A_VALUE, f"'{spelling}' of Python is not a value in a kernel")
        case _:
            walker.builder.reject(codes.NOT_A_VALUE, f"'{spelling}' is not a value in a kernel")


# ---------------------------------------------------------------------------------------------------------- subscripts
def subscript_items(walker: Walker, index: ast.expr) -> tuple[Operand, ...]:
    """`x[a, b:c, None]` has three items, `x[()]` none."""
    match index:
        case ast.Tuple(elts=parts):
            return tuple(evaluate(walker, part) for part in parts)
        case _:
            item = evaluate(walker, index)
            return item.items if isinstance(item, Product) and item.names is None else (item,)


def _slice(walker: Walker, node: ast.Slice) -> Slice:
    return Slice(*(None if part is None else evaluate(walker, part) for part in (node.lower, node.upper, node.step)))


# ------------------------------------------------------------------------------------------- comparisons and conditions
def _comparison(walker: Walker, node: ast.Compare) -> Operand:
    """`a < b < c` evaluates b once, and c only if a < b."""
    return _compare_chain(walker, node, evaluate(walker, node.left), list(zip(node.ops, node.comparators, strict=True)))


def _compare_chain(
    walker: Walker, node: ast.Compare, lhs: Operand, rest: Sequence[tuple[ast.cmpop, ast.expr]]
) -> Operand:
    (op, right), *more = rest
    rhs = evaluate(walker, right)
    first = compare(walker, node, op, lhs, rhs)
    if not more:
        return first
    return conjoin(walker, node, "and", first, lambda: _compare_chain(walker, node, rhs, more))


def compare(walker: Walker, node: ast.Compare, op: ast.cmpop, lhs: Operand, rhs: Operand) -> Operand:
    walker.here(node)
    static = _static_comparison(op, lhs, rhs)
    if static is not None:
        return Literal(static)
    if type(op) not in _COMPARE:
        walker.builder.reject(
            codes.NOT_LANGUAGE, "`is` and `in` compare compile-time values only", "write == or a chain of `or`"
        )
    try:
        return rules.compare(walker.builder, _COMPARE[type(op)], lhs, rhs)
    except Rejected as rejected:
        parts = (node.left, node.comparators[0]) if len(node.ops) == 1 else (None, None)
        raise with_cast(walker.scope, rejected, parts, (lhs, rhs)) from None


def _static_comparison(op: ast.cmpop, lhs: Operand, rhs: Operand) -> bool | None:
    """Comparisons of enum members, strings, dtypes and None; None for everything that has a value."""
    match op, lhs, rhs:
        case ((ast.In() | ast.NotIn()), _, Product(items=items)) if _is_static((lhs, *items)):
            return (lhs in items) == isinstance(op, ast.In)
        case ((ast.Is() | ast.IsNot()), _, _) if Keyword("None") in (lhs, rhs):
            return (lhs == rhs) == isinstance(op, ast.Is)
        case ((ast.Eq() | ast.Is()), _, _) if isinstance(lhs, _STATIC) and isinstance(rhs, _STATIC):
            return lhs == rhs
        case ((ast.NotEq() | ast.IsNot()), _, _) if isinstance(lhs, _STATIC) and isinstance(rhs, _STATIC):
            return lhs != rhs
        case _:
            return None


def _is_static(operands: Sequence[Operand]) -> bool:
    return all(isinstance(operand, (*_STATIC, Literal)) for operand in operands)


def _logical(walker: Walker, node: ast.BoolOp) -> Operand:
    operator = "and" if isinstance(node.op, ast.And) else "or"
    return _logical_chain(walker, node, operator, node.values)


def _logical_chain(walker: Walker, node: ast.BoolOp, operator: str, values: Sequence[ast.expr]) -> Operand:
    """`a and b and c` reads b only where a holds, and c only where both do."""
    first = evaluate(walker, values[0])
    for position in range(1, len(values)):
        first = conjoin(walker, node, operator, first, _later(walker, values[position]))
    return first


def _later(walker: Walker, node: ast.expr) -> Callable[[], Operand]:
    return lambda: evaluate(walker, node)


def _conditional(walker: Walker, node: ast.IfExp) -> Operand:
    condition = evaluate(walker, node.test)
    walker.here(node)
    return choose(walker, node, condition, _later(walker, node.body), _later(walker, node.orelse))


# ------------------------------------------------------------------------------------------------------------ the rest
def _not_language(walker: Walker, node: ast.expr) -> Operand:
    walker.here(node)
    match node:
        case ast.JoinedStr():
            what, help = "f-strings are", None
        case ast.List() | ast.Set():
            what, help = "lists and sets are", "write a tuple"
        case ast.Dict():
            what, help = "dictionaries are", "write I.record(name=value)"
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            what, help = "comprehensions are", "write a tensor expression over I.indices(domain), or a loop"
        case ast.Lambda():
            what, help = "lambdas are", "write an @intent.fn at the level of the file"
        case ast.NamedExpr():
            what, help = "assignments inside expressions are", "assign in a statement of its own"
        case ast.Starred():
            what, help = "starred expressions are", "write the items out"
        case _:
            what, help = "yield and await are", None
    walker.builder.reject(codes.NOT_LANGUAGE, f"{what} not part of the language", help)

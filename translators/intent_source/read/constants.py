"""Compile-time evaluation of expressions at the level of a file: constants, annotations, defaults. Nothing runs."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Final

from intent.annotations import canonical_dtype_name
from intent.dtypes import BY_NAME
from translators.intent_source.read import codes
from translators.intent_source.read.names import member, module_name
from translators.intent_source.read.operands import EnumMember, Keyword, Literal, Operand, Product, Slice, Text, Token
from translators.intent_source.read.scope import (
    REFERENCES,
    Binding,
    Builtin,
    ConstexprAnnotation,
    Constraints,
    Form,
    HostName,
    ModuleScope,
    ViewAnnotation,
    suggestion,
)

Number = bool | int | float
_LARGEST_EXPONENT: Final = 4096  # of integer powers and shifts: a constant, not a computation


def _refuse(value: float) -> int:
    raise TypeError(f"~ has no meaning for {value}")


_BINARY: Final[Mapping[type[ast.operator], Callable[[Number, Number], Number]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}  # fmt: skip
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Number], Number]]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
    ast.Invert: lambda value: ~int(value) if not isinstance(value, float) else _refuse(value),
}  # fmt: skip
_COMPARE: Final[Mapping[type[ast.cmpop], Callable[[Number, Number], bool]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


_FUNCTIONS: Final[Mapping[str, Callable[..., Number]]] = {
    "min": min, "max": max, "abs": abs, "int": int, "float": float, "bool": bool, "round": round,
}  # fmt: skip


def constant(node: ast.Constant) -> Operand | None:
    """A literal of the source; None for bytes and complex numbers."""
    match node.value:
        case bool() | int() | float():
            return Literal(node.value)
        case str():
            return Text(node.value)
        case None:
            return Keyword("None")
        case value if value is ...:
            return Keyword("...")
        case _:
            return None


def literal_help(name: str, literal: Literal) -> str:
    """What to write where a name that a loop carries began as a bare literal."""
    if isinstance(literal.value, float):
        return f"'{name}' began as the literal {literal.value!r}, which is f64: write {name}: I.f32 = {literal.value!r}"
    return f"'{name}' began as the literal {literal.value!r}, which is i64: write {name}: I.index = {literal.value!r}"


def fold(scope: ModuleScope, node: ast.expr) -> Binding:
    """The compile-time meaning of an expression; Rejected if it has none."""
    match node:
        case ast.Constant():
            return constant(node) or _not_constant(scope, node)
        case ast.Name(id=name):
            found = module_name(scope, name, node)
            return found if found is not None else unknown_name(scope, name, node)
        case ast.Attribute(value=value, attr=attribute):
            return member(scope, fold(scope, value), attribute, node) or _not_constant(scope, node)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return Product(tuple(operand(scope, part) for part in parts))
        case ast.UnaryOp(op=op, operand=inner):
            return _compute(scope, node, _UNARY[type(op)], number(scope, inner))
        case ast.BinOp():
            return _binary(scope, node)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            return _compute(scope, node, _COMPARE[type(op)], number(scope, left), number(scope, right))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return fold(scope, body if number(scope, test) else orelse)
        case ast.Subscript():
            return _subscript(scope, node)
        case ast.Call():
            return _call(scope, node)
        case _:
            return _not_constant(scope, node)


def unknown_name(scope: ModuleScope, name: str, node: ast.AST) -> Binding:
    fix = scope.respelling(node, name, scope.names)
    scope.reject(node, codes.UNKNOWN_NAME, f"nothing here is named '{name}'", suggestion(name, scope.names), fix)


def operand(scope: ModuleScope, node: ast.expr) -> Operand:
    """The expression as an operand: not a module, a form, or something of the host."""
    found = fold(scope, node)
    if isinstance(found, HostName):
        scope.reject(node, codes.NOT_CONSTANT, f"this is {found.what}", found.help)
    if isinstance(found, REFERENCES):
        _not_constant(scope, node)
    return found  # type: ignore[return-value]  # REFERENCES are exactly the bindings that are no operands


def number(scope: ModuleScope, node: ast.expr) -> Number:
    match operand(scope, node):
        case Literal(value=value):
            return value
        case EnumMember(value=bool() | int() | float() as value):
            return value
        case _:
            scope.reject(node, codes.NOT_CONSTANT, "a compile-time number is expected here")


def _not_constant(scope: ModuleScope, node: ast.expr) -> Operand:
    scope.reject(node, codes.NOT_CONSTANT, "this is not known when the kernel is compiled")


def _binary(scope: ModuleScope, node: ast.BinOp) -> Operand:
    left, right = operand(scope, node.left), operand(scope, node.right)
    match left, right, node.op:
        case Text(), Text(), ast.Add():
            return Text(left.value + right.value)
        case Product(names=None), Product(names=None), ast.Add():
            return Product(left.items + right.items)
        case _:
            pass
    a, b = number(scope, node.left), number(scope, node.right)
    grows = isinstance(node.op, (ast.Pow, ast.LShift)) and not isinstance(a, float) and not isinstance(b, float)
    if grows and abs(b) > _LARGEST_EXPONENT:
        scope.reject(node, codes.CONSTANT_ARITHMETIC, "this number is too large for any dtype")
    if type(node.op) not in _BINARY:
        return _not_constant(scope, node)
    return _compute(scope, node, _BINARY[type(node.op)], a, b)


def _compute(scope: ModuleScope, node: ast.expr, function: Callable[..., object], *values: Number) -> Operand:
    try:
        result = function(*values)
    except (ArithmeticError, TypeError, ValueError) as error:
        scope.reject(node, codes.CONSTANT_ARITHMETIC, f"this constant has no value: {error}")
    if isinstance(result, (bool, int, float)):
        return Literal(result)
    return _not_constant(scope, node)


# ------------------------------------------------------------------------------------------------- subscripts and calls
def _subscript(scope: ModuleScope, node: ast.Subscript) -> Binding:
    match fold(scope, node.value):
        case Form(name="In" | "Out" | "InOut" as direction):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return ViewAnnotation(direction, tuple(fold(scope, part) for part in parts))
        case Form(name="Constexpr"):
            return ConstexprAnnotation(fold(scope, node.slice))
        case Product(items=items):
            return _item(scope, node, items)
        case _:
            return _not_constant(scope, node)


def _item(scope: ModuleScope, node: ast.Subscript, items: tuple[Operand, ...]) -> Operand:
    position = number(scope, node.slice)
    if not isinstance(position, int) or not -len(items) <= position < len(items):
        scope.reject(node.slice, codes.NOT_CONSTANT, f"the tuple has {len(items)} items")
    return items[position]


def _call(scope: ModuleScope, node: ast.Call) -> Binding:
    match fold(scope, node.func):
        case Form(name="constraints"):
            return _constraints(scope, node)
        case Form(name="dtype"):
            return _dtype(scope, node)
        case Builtin(name="slice"):
            return _slice(scope, node)
        case Builtin(name="len") if len(node.args) == 1:
            whole = operand(scope, node.args[0])
            return Literal(len(whole.items)) if isinstance(whole, Product) else _not_constant(scope, node)
        case Builtin(name="float") if (text := _text(node)) in ("inf", "-inf", "nan"):
            return Literal(float(text))
        case Builtin(name=name) if name in _FUNCTIONS and not node.keywords:
            return _compute(scope, node, _FUNCTIONS[name], *(number(scope, part) for part in node.args))
        case Builtin(name=name) if name.startswith("math.") and not node.keywords:
            function = vars(math)[name.removeprefix("math.")]
            return _compute(scope, node, function, *(number(scope, part) for part in node.args))
        case _:
            return _not_constant(scope, node)


def _text(call: ast.Call) -> str:
    match call.args:
        case [ast.Constant(value=str(text))]:
            return text
        case _:
            return ""


def _slice(scope: ModuleScope, node: ast.Call) -> Operand:
    parts = [operand(scope, part) for part in node.args]
    present = [None if part == Keyword("None") else part for part in parts]
    match present:
        case [stop]:
            return Slice(None, stop, None)
        case [start, stop]:
            return Slice(start, stop, None)
        case [start, stop, step]:
            return Slice(start, stop, step)
        case _:
            return _not_constant(scope, node)


def _dtype(scope: ModuleScope, node: ast.Call) -> Operand:
    match [operand(scope, part) for part in node.args]:
        case [Text(value=name)] if name in BY_NAME:
            return Token(BY_NAME[name])
        case [Text(value=name)]:
            meant = canonical_dtype_name(name)
            hint = f'write I.dtype("{meant}")' if meant else None
            fix = f'{ast.unparse(node.func)}("{meant}")' if meant else None
            scope.reject(node, codes.DTYPE, f"{name!r} is no dtype of the language", hint, fix)
        case _:
            scope.reject(node, codes.DTYPE, "I.dtype takes the name of a dtype: I.dtype('f32')")


_CONSTRAINT_NAMES: Final = ("strides", "alias", "noalias")


def _constraints(scope: ModuleScope, node: ast.Call) -> Constraints:
    given = dict(zip(_CONSTRAINT_NAMES, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg not in _CONSTRAINT_NAMES or keyword.arg in given:
            scope.reject(keyword, codes.CONSTRAINTS, "I.constraints takes strides, alias and noalias, each once")
        given[keyword.arg] = keyword.value
    strides, alias, noalias = (
        operand(scope, given[name]) if name in given else Keyword("None") for name in _CONSTRAINT_NAMES
    )
    match alias, noalias:
        case Text(), Literal(value=True):
            scope.reject(node, codes.CONSTRAINTS, "alias and noalias contradict each other", "keep one of them")
        case ((Text() | Keyword("None")), (Literal(value=bool()) | Keyword("None"))):
            name = alias.value if isinstance(alias, Text) else None
            return Constraints(_strides(scope, node, strides), name, noalias == Literal(True))
        case _:
            scope.reject(node, codes.CONSTRAINTS, "alias is a string and noalias is True or False")


def _strides(scope: ModuleScope, node: ast.Call, strides: Operand) -> tuple[int | str | None, ...] | None:
    if strides == Keyword("None"):
        return None
    if not isinstance(strides, Product):
        scope.reject(
            node, codes.CONSTRAINTS, "strides is a tuple with an entry for each axis: an int, a symbol or None"
        )
    return tuple(_stride(scope, node, item) for item in strides.items)


def _stride(scope: ModuleScope, node: ast.Call, item: Operand) -> int | str | None:
    match item:
        case Literal(value=int() as value) if not isinstance(value, bool) and value >= 0:
            return value
        case Text(value=name) if name.isidentifier():
            return name
        case Keyword(name="None"):
            return None
        case _:
            scope.reject(node, codes.CONSTRAINTS, "a stride is a nonnegative int, a symbol such as 'S', or None")

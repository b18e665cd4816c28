"""Expressions of a kernel: names, operators, subscripts, attributes and calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from typing import Final

from intent import dtypes as d
from intent.dtypes import DType
from intent.records import replace
from translators.algebra.polynomial import Polynomial, Symbol, atomic
from translators.triton_source.device_functions import HELPERS
from translators.triton_source.read.execution import Execution, Returned
from translators.triton_source.read.operations import ONE, expect_integers
from translators.triton_source.read.reshapes import row_major
from translators.triton_source.read.source import member
from translators.triton_source.read.values import (
    BlockPointer,
    Builtin,
    Function,
    Method,
    Module,
    NeedsValue,
    NotLifted,
    Pointer,
    PointerType,
    Tile,
    Undefined,
    Value,
)

DEEPEST_CALLS = 24
_OPERATORS: Final[Mapping[type[ast.operator], str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&",
    ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Pow: "**",
}  # fmt: skip
_COMPARED: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_PYTHON: Final = ("range", "min", "max", "float", "int", "len", "abs", "tuple", "bool")
_QUOTIENT: Final = "_half_quotient"  # the device function that stands for an exact quotient
_ROUNDING_DOWN: Final = {"_floor_divide": "//", "_floor_remainder": "%"}  # of integers that may be negative
# From the byte of a float of eight bits to f16, and from f32 to it.
_DECODED: Final = {"_from_float8e4m3fn": d.f8e4m3fn, "_from_float8e5m2": d.f8e5m2}
_ENCODED: Final = {"_to_float8e4m3fn": d.f8e4m3fn, "_to_float8e5m2": d.f8e5m2}
# Device functions of our own generated modules that mean one function of the language exactly.
_MEANT: Final = {
    f"_{name}": name
    for name in (
        "exp",
        "exp2",
        "log",
        "log1p",
        "erf",
        "erfc",
        "rsqrt",
        "sigmoid",
        "tanh",
        "sin",
        "cos",
        "asin",
        "lgamma",
    )
}


def evaluate(execution: Execution, node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=int() | float() | str() | None as value):
            return value
        case ast.Name(id=name):
            return _name(execution, name)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(execution.value(part) for part in parts)
        case ast.BinOp(left=left, op=operator, right=right):
            return binary(execution, operator, execution.value(left), execution.value(right))
        case ast.UnaryOp(op=operation, operand=operand):
            return _unary(execution, operation, execution.value(operand))
        case ast.Compare(left=left, ops=operations, comparators=others):
            return _compared(execution, [left, *others], operations)
        case ast.BoolOp(op=operation, values=values):
            return _boolean(execution, isinstance(operation, ast.And), values)
        case ast.IfExp(test=test, body=true, orelse=false):
            return _chosen(execution, test, true, false)
        case ast.Attribute(value=owner, attr=name):
            return _attribute(execution, execution.value(owner), name)
        case ast.Subscript(value=owner, slice=index):
            return _subscript(execution, execution.value(owner), index)
        case ast.Call():
            return _call(execution, node)
        case ast.JoinedStr():
            return ast.unparse(node)  # a message: what it says is of no consequence
        case _:
            raise NotLifted(f"the expression '{ast.unparse(node)}'")


def _name(execution: Execution, name: str) -> Value:
    if name in execution.names:
        return execution.names[name]
    found = execution.file.resolve(name)
    if not isinstance(found, Undefined):
        return found
    if name in _PYTHON:
        return Builtin(name)
    raise NotLifted(f"'{name}' is not defined here")


# ------------------------------------------------------------------------------------------------------------ operators
def binary(execution: Execution, operator: ast.operator, left: Value, right: Value) -> Value:
    sign = _OPERATORS.get(type(operator))
    if sign is None:
        raise NotLifted(f"operator '{type(operator).__name__}'")
    if _is_number(left) and _is_number(right):
        return _python_number(sign, left, right)
    if isinstance(left, tuple) and isinstance(right, tuple) and sign == "+":
        return left + right
    if sign == "**" and isinstance(left, Polynomial) and _is_number(right):
        return _python_number(sign, execution.known_integer(left), right)
    if _compile_time(left) and _compile_time(right):
        made = execution.operations.binary(sign, left, right)
        known = made.value.polynomial if isinstance(made, Tile) and made.value.operation == "index" else None
        return known if known is not None else made
    return execution.operations.binary(sign, left, right)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float)


def _compile_time(value: Value) -> bool:
    return isinstance(value, int | Polynomial)


def _python_number(sign: str, left: Value, right: Value) -> Value:
    assert isinstance(left, int | float) and isinstance(right, int | float)
    try:
        match sign:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
            case "//":
                return left // right
            case "%":
                return left % right
            case "**":
                return left**right
    except (ZeroDivisionError, OverflowError):
        raise NotLifted("a division by zero") from None
    if isinstance(left, int) and isinstance(right, int):
        return {"&": left & right, "|": left | right, "^": left ^ right, "<<": left << right, ">>": left >> right}[sign]
    raise NotLifted(f"'{sign}' of floats")


def _unary(execution: Execution, operation: ast.unaryop, value: Value) -> Value:
    ops = execution.operations
    match operation, value:
        case ast.USub(), int() | float() | Polynomial():
            return -value
        case ast.UAdd(), _:
            return value
        case ast.Not(), _ if execution.known_truth(value) is not None:
            return not execution.known_truth(value)
        case ast.Not(), _:
            tile = ops.tile(value)
            return Tile(d.boolean, tile.shape, ops.negated(ops.truth(tile)))
        case ast.USub(), Tile(dtype=dtype, value=inner) if inner.dtype == d.index:
            return Tile(dtype, value.shape, ops.index(-inner.polynomial))
        case ast.USub(), Tile(dtype=dtype):
            return Tile(dtype, value.shape, ops.pointwise("negative", dtype, value.value))
        case ast.Invert(), Tile(dtype=d.boolean):
            return Tile(d.boolean, value.shape, ops.negated(value.value))
        case ast.Invert(), int():
            return ~value
        case ast.Invert(), Tile(dtype=dtype):
            expect_integers(value)
            return Tile(dtype, value.shape, ops.pointwise("invert", dtype, ops.data(value)))
        case _:
            raise NotLifted(f"operator '{type(operation).__name__}'")


def _compared(execution: Execution, operands: list[ast.expr], operations: list[ast.cmpop]) -> Value:
    values = [execution.value(operand) for operand in operands]
    results: list[Value] = []
    for left, operation, right in zip(values, operations, values[1:], strict=False):
        results.append(_one_comparison(execution, operation, left, right))
    made = results[0]
    for other in results[1:]:
        made = execution.operations.binary("&", made, other)
    return made


def _one_comparison(execution: Execution, operation: ast.cmpop, left: Value, right: Value) -> Value:
    match operation:
        case ast.Is():
            return left is right if left is None or right is None else left == right
        case ast.IsNot():
            return not (left is right if left is None or right is None else left == right)
        case ast.In() if isinstance(right, tuple):
            return left in right
        case ast.NotIn() if isinstance(right, tuple):
            return left not in right
    sign = _COMPARED.get(type(operation))
    if sign is None:
        raise NotLifted(f"comparison '{type(operation).__name__}'")
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Polynomial) and isinstance(one.atom, Symbol) and isinstance(other, str | None | DType):
            raise NeedsValue(f"a branch needs the value of {one.atom.name}", (one.atom.name,), execution.line)
    if isinstance(left, Polynomial | int) and isinstance(right, Polynomial | int):
        left, right = (
            execution.known_integer(each) if isinstance(each, Polynomial) else each for each in (left, right)
        )
    if not isinstance(left, Tile) and not isinstance(right, Tile) and not isinstance(left, Polynomial):
        return _python_comparison(sign, left, right)
    return execution.operations.compare(sign, left, right)


def _python_comparison(sign: str, left: Value, right: Value) -> bool:
    if sign == "==":
        return left == right
    if sign == "!=":
        return left != right
    if not (isinstance(left, int | float) and isinstance(right, int | float)):
        raise NotLifted(f"'{sign}' of {left!r} and {right!r}")
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign]


def _boolean(execution: Execution, conjunction: bool, nodes: list[ast.expr]) -> Value:
    """`and` and `or`, which end at the first compile-time operand that decides."""
    made: Value = conjunction
    for node in nodes:
        value = execution.value(node)
        known = execution.known_truth(value)
        if known is not None:
            if known is not conjunction:
                return known
            continue
        ops = execution.operations
        test = Tile(d.boolean, ops.tile(value).shape, ops.truth(ops.tile(value)))
        made = test if isinstance(made, bool) else ops.binary("&" if conjunction else "|", made, test)
    return made


def _chosen(execution: Execution, test: ast.expr, true: ast.expr, false: ast.expr) -> Value:
    condition = execution.value(test)
    known = execution.known_truth(condition)
    if known is not None:
        return execution.value(true if known else false)
    chosen = execution.operations.truth(execution.scalar(condition))
    return execution.join(chosen, execution.value(true), execution.value(false))


# ------------------------------------------------------------------------------------------- attributes and subscripts
def _attribute(execution: Execution, owner: Value, name: str) -> Value:
    match owner, name:
        case Builtin(), _:
            return member(owner, name)
        case Module(file=file), _:
            found = file.resolve(name)
            if isinstance(found, Undefined):
                raise NotLifted(f"'{name}' is not defined in '{file.path}'")
            return found
        case ((Pointer(element=element) | BlockPointer(base=Pointer(element=element))), "dtype"):
            return PointerType(element)
        case BlockPointer(base=Pointer(element=element)), "type":
            return PointerType(element)
        case (PointerType(element=element), "element_ty") | (Pointer(element=element), "type"):
            return element if name == "element_ty" else PointerType(element)
        case Tile(dtype=dtype), "dtype" | "type":
            return dtype
        case DType(), "scalar":
            return owner
        case Tile(shape=shape) | Pointer(shape=shape), "shape":
            return tuple(shape)
        case Tile(), "T":
            return transposed(execution, owner, None)
        case ((int() | float() | Polynomial() | DType() | str() | None), "value"):
            return owner
        case DType(), "primitive_bitwidth":
            return owner.bits
        case Tile() | Pointer() | BlockPointer() | DType() | int() | float() | Polynomial(), _:
            return Method(owner, name)
        case _:
            raise NotLifted(f"attribute '{name}'")


def transposed(execution: Execution, value: Tile | Pointer, order: tuple[int, ...] | None) -> Tile | Pointer:
    rank = len(value.shape)
    order = order if order is not None else (*range(rank - 2), rank - 1, rank - 2)
    if sorted(order) != list(range(rank)):
        raise NotLifted("a permutation that does not name each dimension once")
    lanes = execution.operations.lanes
    mapping = {old: atomic(lanes[new]) for new, old in enumerate(order)}
    return execution.operations.reshaped(value, mapping, tuple(value.shape[old] for old in order))


def _subscript(execution: Execution, owner: Value, index: ast.expr) -> Value:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if isinstance(owner, tuple):
        position = execution.value(index)
        if isinstance(position, int):
            return owner[position]
        raise NotLifted("a tuple indexed by a run-time value")
    if not isinstance(owner, Tile | Pointer):
        raise NotLifted("a subscript of something that is no tile")
    return _expanded(execution, owner, parts)


def _expanded(execution: Execution, owner: Tile | Pointer, parts: list[ast.expr]) -> Tile | Pointer:
    """`x[:, None]`: new dimensions of one lane."""
    lanes = execution.operations.lanes
    shape: list[Polynomial] = []
    mapping: dict[int, Polynomial] = {}
    source = 0
    for part in parts:
        match part:
            case ast.Constant(value=None):
                shape.append(ONE)
            case ast.Slice(lower=None, upper=None, step=None) if source < len(owner.shape):
                mapping[source] = atomic(lanes[len(shape)])
                shape.append(owner.shape[source])
                source += 1
            case _:
                raise NotLifted("a tile indexed by anything but ':' and None")
    if source != len(owner.shape):
        raise NotLifted("a subscript that does not name every dimension")
    return execution.operations.reshaped(owner, mapping, tuple(shape))


def reshaped(execution: Execution, value: Tile | Pointer, shape: tuple[Polynomial, ...]) -> Tile | Pointer:
    """Row-major reinterpretation."""
    mapping = row_major(execution.operations.lanes, value.shape, shape)
    return execution.operations.reshaped(value, mapping, shape)


# ---------------------------------------------------------------------------------------------------------------- calls
def _call(execution: Execution, node: ast.Call) -> Value:
    from translators.triton_source.read.builtins import call_builtin, call_method

    function = execution.value(node.func)
    arguments = _arguments(execution, node.args)
    keywords = {each.arg: execution.value(each.value) for each in node.keywords if each.arg is not None}
    line = execution.line
    match function:
        case Builtin(name=name):
            made = call_builtin(execution, name, arguments, keywords)
        case Method(receiver=receiver, name=name):
            made = call_method(execution, receiver, name, arguments, keywords)
        case Function():
            made = call(execution, function, arguments, keywords)
        case DType() if len(arguments) == 1:
            made = call_builtin(execution, "tl.cast", [arguments[0], function], {})
        case _:
            raise NotLifted(f"a call of '{ast.unparse(node.func)}'")
    execution.line = line
    return made


def _arguments(execution: Execution, nodes: list[ast.expr]) -> list[Value]:
    made: list[Value] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            many = execution.value(node.value)
            if not isinstance(many, tuple):
                raise NotLifted("a starred argument that is no tuple")
            made.extend(many)
        else:
            made.append(execution.value(node))
    return made


def call(execution: Execution, function: Function, arguments: list[Value], keywords: Mapping[str, Value]) -> Value:
    """Execute a callee in its own scope."""
    if function.name == _QUOTIENT and len(arguments) == 2 and _is_our_own(function):
        return execution.operations.divided(*arguments)
    if function.name in _ROUNDING_DOWN and len(arguments) == 2 and _is_our_own(function):
        return execution.operations.rounded_down(_ROUNDING_DOWN[function.name], *arguments)
    converted = _converted(execution, function, arguments)
    if converted is not None:
        return converted
    meant = _meant(function, arguments)
    if meant is not None:
        argument = execution.operations.tile(arguments[0])
        return replace(argument, value=execution.operations.pointwise(meant, argument.dtype, argument.value))
    if len(execution.calls) >= DEEPEST_CALLS or function.name in execution.calls:
        raise NotLifted(f"'{function.name}' calls itself")
    outer = execution.names, execution.file
    execution.names = bind(execution, function, arguments, keywords)
    execution.file = function.file
    execution.calls.append(function.name)
    returned = execution.block(function.node.body)
    execution.calls.pop()
    execution.names, execution.file = outer
    return returned.value if isinstance(returned, Returned) else None


def bind(
    execution: Execution, function: Function, arguments: list[Value], keywords: Mapping[str, Value]
) -> dict[str, Value]:
    parameters = function.node.args
    names = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    scope: dict[str, Value] = dict(zip(names, arguments, strict=False))
    scope.update({name: value for name, value in keywords.items() if not name.startswith("_")})
    defaults = dict(zip(reversed(names), reversed(parameters.defaults), strict=False))
    named = {
        each.arg: value for each, value in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True) if value
    }
    for name, default in {**defaults, **named}.items():
        if name not in scope:
            scope[name] = execution.value(default)
    missing = [name for name in (*names, *(each.arg for each in parameters.kwonlyargs)) if name not in scope]
    if missing or len(arguments) > len(names):
        raise NotLifted(f"the arguments of a call of '{function.name}'")
    return scope


def _meant(function: Function, arguments: list[Value]) -> str | None:
    """A device function of our own modules, known by its whole text, means what it computes accurately."""
    meant = _MEANT.get(function.name)
    if meant is None or len(arguments) != 1 or not isinstance(arguments[0], Tile):
        return None
    return meant if arguments[0].dtype.is_float and _is_our_own(function) else None


def _converted(execution: Execution, function: Function, arguments: list[Value]) -> Tile | None:
    """A conversion of our own modules that is written out, as not every target has floats of eight bits."""
    coded = _DECODED.get(function.name) or _ENCODED.get(function.name)
    if coded is None or len(arguments) != 1 or not isinstance(arguments[0], Tile) or not _is_our_own(function):
        return None
    ops, argument = execution.operations, arguments[0]
    if function.name in _DECODED:
        return ops.cast(ops.same_bits(argument, coded), d.f16) if argument.dtype == d.u8 else None
    return ops.same_bits(ops.cast(argument, coded), d.u8) if argument.dtype == d.f32 else None


def _is_our_own(function: Function) -> bool:
    return function.name in HELPERS and _dumped_helper(function.name) == ast.dump(function.node)


@cache
def _dumped_helper(name: str) -> str:
    return ast.dump(ast.parse(HELPERS[name].source).body[0])

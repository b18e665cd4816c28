"""Calls: intrinsics go to the typing rules, helpers are inlined, anything else is explained."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NoReturn

from intent.intrinsics import INTRINSICS
from translators.diagnostics import Fix, Rejected, Span
from translators.intent_source.read import codes, rules
from translators.intent_source.read.constants import fold
from translators.intent_source.read.definitions import check_star, parameters_of
from translators.intent_source.read.expressions import evaluate, resolve
from translators.intent_source.read.operands import (
    EnumMember,
    Function,
    IntrinsicName,
    Keyword,
    Literal,
    Operand,
    Product,
    ShapeOf,
    Slice,
    Text,
    Token,
)
from translators.intent_source.read.scope import (
    REFERENCES,
    Abandoned,
    Binding,
    Builtin,
    ConstexprAnnotation,
    Form,
    Frame,
    HostName,
    KernelName,
    Namespace,
    suggestion,
)
from translators.intent_source.read.walker import Walker, new_frame
from translators.logical.program import Value

_INSTEAD: Final = {
    "abs": "write I.abs", "min": "write I.minimum", "max": "write I.maximum", "sum": "write I.reduce.sum",
    "any": "write I.reduce.any", "all": "write I.reduce.all", "float": "write I.cast(x, I.f32)",
    "int": "write I.cast(x, I.i32)", "bool": "write I.cast(x, I.bool)", "pow": "write x ** y",
    "zip": "loop over one domain and index with its coordinate", "print": None,
    "reversed": "loop forwards and compute the reverse coordinate",
    "enumerate": "enumerate stands in a for statement only",
}  # fmt: skip

_SAME: Final[Mapping[tuple[str, int], str]] = {("abs", 1): "abs", ("min", 2): "minimum", ("max", 2): "maximum"}
"""Functions of Python, by name and number of arguments, that an intrinsic can stand for as it is."""


def call(walker: Walker, node: ast.Call) -> Operand:
    function = resolve(walker, node.func)
    match function:
        case IntrinsicName(path="parallel"):
            walker.here(node)
            walker.builder.reject(
                codes.NOT_LANGUAGE, "I.parallel stands in a for statement only", "for i in I.parallel(rows):"
            )
        case IntrinsicName(path=path):
            positional, keywords = arguments(walker, node)
            walker.here(node)
            return rules.call_intrinsic(walker.builder, path, positional, keywords, _places(walker, node))
        case Function():
            positional, keywords = arguments(walker, node)
            bound = _bind(walker, node, function, positional, keywords)
            return inline(walker, function, bound, walker.scope.source.span(node))
        case Builtin(name=name):
            return _builtin(walker, node, name)
        case Form(name="dtype"):
            return fold(walker.scope, node)  # type: ignore[return-value]  # a Token
        case _:
            return _not_callable(walker, node, function)


def arguments(walker: Walker, node: ast.Call) -> tuple[tuple[Operand, ...], dict[str, Operand]]:
    """The arguments, evaluated in source order."""
    positional = tuple(evaluate(walker, argument) for argument in node.args)
    keywords: dict[str, Operand] = {}
    for keyword in node.keywords:
        walker.here(keyword)
        if keyword.arg is None:
            walker.builder.reject(
                codes.NOT_LANGUAGE, "** in a call is not part of the language", "write the keywords out"
            )
        keywords[keyword.arg] = evaluate(walker, keyword.value)
    return positional, keywords


def _places(walker: Walker, node: ast.Call) -> tuple[Span, ...]:
    """Where the arguments stand."""
    return tuple(map(walker.scope.source.span, (*node.args, *(keyword.value for keyword in node.keywords))))


def _not_callable(walker: Walker, node: ast.Call, function: Binding) -> NoReturn:
    spelling = ast.unparse(node.func)
    walker.here(node)
    match function:
        case KernelName():
            message = f"'{spelling}' is a kernel: a kernel cannot call a kernel"
            walker.builder.reject(codes.KERNEL_CALL, message, "call both from host code, or make it an @intent.fn")
        case HostName(what=what, help=help):
            walker.builder.reject(codes.NOT_CALLABLE, f"'{spelling}' is {what}", help)
        case Token(dtype=dtype):
            help = f"write I.cast(value, I.{dtype.name})"
            walker.builder.reject(codes.NOT_CALLABLE, f"the dtype I.{dtype.name} cannot be called", help)
        case _:
            help = "only intrinsics and @intent.fn helpers can be called"
            walker.builder.reject(codes.NOT_CALLABLE, f"'{spelling}' cannot be called", help)


# ------------------------------------------------------------------------------------------------------------ builtins
def _builtin(walker: Walker, node: ast.Call, name: str) -> Operand:
    if name.startswith("math."):
        return _math(walker, node, name)
    positional, keywords = arguments(walker, node)
    walker.here(node)
    match name, positional, keywords:
        case "range", _, {} if not keywords:
            names = ("start", "stop", "step") if len(positional) > 1 else ("stop",)
            with walker.builder.call(dict(zip(names, _places(walker, node), strict=False))):
                return rules.range_domain(walker.builder, positional)
        case "slice", _, {} if not keywords and 1 <= len(positional) <= 3:
            return _slice(positional)
        case "len", (Product(items=items),), {}:
            return Literal(len(items))
        case "len", (ShapeOf(extents=extents),), {}:
            return Literal(len(extents))
        case (("min" | "max" | "abs" | "int" | "float" | "bool" | "round"), _, {}) if _is_constant(positional):
            return _compute(walker, name, positional)
        case _:
            help = _INSTEAD.get(name) or "use the intrinsics of the language"
            fix = _calling(walker, node, None if keywords else _SAME.get((name, len(positional))))
            walker.builder.reject(codes.NOT_CALLABLE, f"Python's {name} cannot be called on runtime values", help, fix)


def _calling(walker: Walker, node: ast.Call, intrinsic: str | None) -> Fix | None:
    """The edit that calls an intrinsic instead, if there is one that does the same."""
    if intrinsic is None:
        return None
    return Fix(walker.scope.source.span(node.func), f"{walker.scope.language}.{intrinsic}")


def _is_constant(operands: Sequence[Operand]) -> bool:
    return bool(operands) and all(isinstance(operand, Literal) for operand in operands)


def _compute(walker: Walker, name: str, operands: Sequence[Operand]) -> Operand:
    values = [operand.value for operand in operands if isinstance(operand, Literal)]
    functions: dict[str, Callable[..., bool | int | float]] = {
        "min": min,
        "max": max,
        "abs": abs,
        "int": int,
        "float": float,
        "bool": bool,
        "round": round,
    }
    try:
        return Literal(functions[name](*values))
    except (ArithmeticError, TypeError, ValueError) as error:
        walker.builder.reject(codes.CONSTANT_ARITHMETIC, f"this constant has no value: {error}")


def _math(walker: Walker, node: ast.Call, name: str) -> Operand:
    """`math.sqrt(2)` of constants; of runtime values the intrinsic is meant."""
    try:
        return fold(walker.scope, node)  # type: ignore[return-value]  # a Literal
    except Rejected:
        walker.here(node)
        function = name.removeprefix("math.")
        fix = _calling(walker, node, function if function in INTRINSICS else None)
        message, help = f"{name} cannot be called on runtime values", f"write I.{function}"
        walker.builder.reject(codes.NOT_CALLABLE, message, help, fix)


def _slice(parts: tuple[Operand, ...]) -> Slice:
    present = [None if part == Keyword("None") else part for part in parts]
    start, stop, step = [None, *present, None] if len(present) == 1 else [*present, None][:3]
    return Slice(start, stop, step)


# ------------------------------------------------------------------------------------------------------------- helpers
def _bind(
    walker: Walker, node: ast.Call, function: Function, positional: tuple[Operand, ...], keywords: dict[str, Operand]
) -> tuple[Operand, ...]:
    """Arguments in the order of the helper's parameters; None of the defaults is evaluated at the call."""
    walker.here(node)
    _check_fit(walker, function, len(positional), keywords)
    given = dict(zip(_positional_names(function), positional, strict=False)) | keywords
    bound: list[Operand] = []
    for parameter, default in parameters_of(function.node.args):
        if parameter.arg in given:
            bound.append(given[parameter.arg])
        elif default is not None:
            bound.append(_default(walker, function, default))
        else:
            walker.builder.reject(
                codes.CALL, f"'{function.name}' misses its argument '{parameter.arg}'", _spelled(function)
            )
    return tuple(bound)


def _positional_names(function: Function) -> list[str]:
    arguments = function.node.args
    return [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)]


def _check_fit(walker: Walker, function: Function, count: int, keywords: dict[str, Operand]) -> None:
    names = _positional_names(function)
    if count > len(names):
        message = f"'{function.name}' takes {len(names)} positional arguments and {count} are given"
        walker.builder.reject(codes.CALL, message, _spelled(function))
    by_name = {parameter.arg for parameter in (*function.node.args.args, *function.node.args.kwonlyargs)}
    for name in keywords:
        if name not in by_name:
            message = f"'{function.name}' has no parameter '{name}'"
            walker.builder.reject(codes.CALL, message, suggestion(name, by_name) or _spelled(function))
        if name in names[:count]:
            walker.builder.reject(codes.CALL, f"'{function.name}' is given '{name}' twice", _spelled(function))


def _spelled(function: Function) -> str:
    return f"it is declared as {function.name}({ast.unparse(function.node.args)})"


def _default(walker: Walker, function: Function, default: ast.expr) -> Operand:
    found = fold(function.scope, default)
    if isinstance(found, REFERENCES):
        walker.builder.reject(codes.NOT_CONSTANT, f"a default of '{function.name}' is not a compile-time value")
    return found


def inline(walker: Walker, function: Function, operands: tuple[Operand, ...], span: Span) -> Operand:
    """Read the helper's body at the current place with these arguments; its result, or `None`."""
    _check_callable(walker, function, operands, span)
    errors = walker.errors
    frame = new_frame(function.scope, function.node, {}, function)
    walker.frames.append(frame)
    outer, walker.builder.span = walker.builder.span, span
    try:
        _enter(walker, frame, function, operands)
        result = _run(walker, function)
    finally:
        walker.frames.pop()
        walker.builder.span = outer
    if walker.errors > errors:
        raise Abandoned
    return result


def _check_callable(walker: Walker, function: Function, operands: tuple[Operand, ...], span: Span) -> None:
    walker.builder.span = span
    if any(frame.function is function for frame in walker.frames):
        chain = " -> ".join(frame.name for frame in walker.frames[1:])
        message = f"'{function.name}' calls itself: {chain} -> {function.name}"
        walker.builder.reject(codes.RECURSION, message, "write a loop")
    count = len(parameters_of(function.node.args))
    if len(operands) != count:
        message = f"'{function.name}' takes {count} arguments and is applied to {len(operands)}"
        walker.builder.reject(codes.CALL, message, _spelled(function))


def _enter(walker: Walker, frame: Frame, function: Function, operands: tuple[Operand, ...]) -> None:
    """Bind the parameters; an annotation that is a dtype gives it to a literal, `I.Constexpr` demands a constant."""
    check_star(frame.scope, function.node)
    for (parameter, _), operand in zip(parameters_of(function.node.args), operands, strict=True):
        if isinstance(frame.scope.names.get(parameter.arg), Namespace):
            frame.scope.reject(
                parameter, codes.SHADOWED, f"the parameter '{parameter.arg}' hides the module of that name"
            )
        argument = _argument(walker, frame, parameter, operand)
        frame.names[parameter.arg] = walker.named(parameter.arg, argument, overwrite=False)


def _argument(walker: Walker, frame: Frame, parameter: ast.arg, operand: Operand) -> Operand:
    match _annotation(frame, parameter), operand:
        case Token(dtype=dtype), (Literal() | Value()):
            return rules.as_value(walker.builder, operand, dtype)
        case ConstexprAnnotation(), operand if not isinstance(operand, (Literal, Text, EnumMember)):
            message = f"'{parameter.arg}' of '{frame.name}' is a compile-time value, and this argument is not"
            walker.builder.reject(codes.NOT_CONSTANT, message)
        case _:
            return operand


def _annotation(frame: Frame, parameter: ast.arg) -> Binding | None:
    """What a helper's annotation says; annotations that mean nothing to the language are documentation."""
    if parameter.annotation is None:
        return None
    try:
        return fold(frame.scope, parameter.annotation)
    except Rejected:
        return None


def _run(walker: Walker, function: Function) -> Operand:
    from translators.intent_source.read.statements import execute

    execute(walker, function.node.body, frozenset())
    flow = walker.frame.flow
    if flow.result is None:
        return Keyword("None")
    if flow.returned is not True or flow.bare:
        walker.here(function.node)
        message = f"'{function.name}' returns a value on some paths only"
        walker.builder.reject(codes.RETURNS_DIFFER, message, "end every path with a return of the same type")
    return flow.result

"""Signatures: from annotated parameters to views, runtime scalars and bound constexprs."""

from __future__ import annotations

import ast
import enum
import keyword
from collections.abc import Mapping

from intent.annotations import canonical_dtype_name
from intent.records import dataclass
from translators.algebra.polynomial import Polynomial, number, symbol
from translators.diagnostics import Diagnostic, Rejected
from translators.intent_source.read import codes
from translators.intent_source.read.constants import fold
from translators.intent_source.read.operands import (
    EnumClass,
    EnumMember,
    Keyword,
    Literal,
    Operand,
    Product,
    Text,
    Token,
)
from translators.intent_source.read.scope import (
    Binding,
    Builtin,
    ConstexprAnnotation,
    Constraints,
    HostName,
    ModuleScope,
    Namespace,
    ViewAnnotation,
    suggestion,
)
from translators.logical.program import BoundConstant, ScalarParameter
from translators.logical.types import View

Constant = bool | int | float | str
_VIEW_HELP = 'x: I.In[I.f32, ("M", "N")]'


@dataclass(frozen=True, slots=True)
class Bound:
    """A constexpr parameter: what the kernel keeps of it, and what its name means in the body."""

    constant: BoundConstant
    operand: Operand


Declared = View | ScalarParameter | Bound


def signature(
    scope: ModuleScope, node: ast.FunctionDef, constexprs: Mapping[str, object], diagnostics: list[Diagnostic]
) -> tuple[Declared, ...]:
    """The declared parameters in order; one with an error is left out and its diagnostic added."""
    declared: list[Declared] = []
    for parameter, default in _parameters(scope, node, diagnostics):
        try:
            declared.append(_declared(scope, node.name, parameter, default, constexprs))
        except Rejected as rejected:
            diagnostics.append(rejected.diagnostic)
    _check_result(scope, node, diagnostics)
    return tuple(declared)


def parameters_of(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Every parameter with its default, positional ones first."""
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    pairs = list(zip(positional, [*missing, *arguments.defaults], strict=True))
    return pairs + list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))


def check_star(scope: ModuleScope, node: ast.FunctionDef) -> None:
    for star in (node.args.vararg, node.args.kwarg):
        if star is not None:
            message = f"'{node.name}' cannot take a variable number of arguments"
            scope.reject(star, codes.DEFINITION, message, "declare every parameter")


def _parameters(
    scope: ModuleScope, node: ast.FunctionDef, diagnostics: list[Diagnostic]
) -> list[tuple[ast.arg, ast.expr | None]]:
    try:
        check_star(scope, node)
    except Rejected as rejected:
        diagnostics.append(rejected.diagnostic)
    pairs = parameters_of(node.args)
    names = [parameter.arg for parameter, _ in pairs]
    for position, (parameter, _) in enumerate(pairs):
        if parameter.arg in names[:position]:  # Python finds this when it compiles, not when it parses
            message, span = f"two parameters are named '{parameter.arg}'", scope.source.span(parameter)
            diagnostics.append(Diagnostic(codes.DUPLICATE, "error", message, span))
    return pairs


def _check_result(scope: ModuleScope, node: ast.FunctionDef, diagnostics: list[Diagnostic]) -> None:
    match node.returns:
        case None | ast.Constant(value=None):
            pass
        case annotation:
            message = "a kernel returns nothing to the host; its results are Out and InOut views"
            diagnostics.append(Diagnostic(codes.KERNEL_RETURN, "error", message, scope.source.span(annotation)))


def _declared(
    scope: ModuleScope, kernel: str, parameter: ast.arg, default: ast.expr | None, constexprs: Mapping[str, object]
) -> Declared:
    _check_shadowing(scope, parameter)
    annotation = _annotation(scope, parameter)
    if default is not None and not isinstance(annotation, ConstexprAnnotation):
        message = f"'{parameter.arg}' is a runtime parameter and cannot have a default"
        scope.reject(default, codes.RUNTIME_DEFAULT, message, "pass it in every call, or declare it as I.Constexpr")
    match annotation:
        case ViewAnnotation():
            return _view(scope, parameter, annotation)
        case Token(dtype=dtype):
            return ScalarParameter(parameter.arg, dtype)
        case ConstexprAnnotation(choice=choice):
            given = _given(kernel, parameter.arg, constexprs)
            return _bound(scope, kernel, parameter, choice, default, given)
        case _:
            return _bad_annotation(scope, parameter, annotation)


def _check_shadowing(scope: ModuleScope, parameter: ast.arg) -> None:
    if isinstance(scope.names.get(parameter.arg), Namespace):
        message = f"the parameter '{parameter.arg}' hides the module of that name"
        scope.reject(parameter, codes.SHADOWED, message, "rename the parameter")


def _annotation(scope: ModuleScope, parameter: ast.arg) -> Binding:
    match parameter.annotation:
        case None:
            message = f"the parameter '{parameter.arg}' has no annotation"
            scope.reject(parameter, codes.ANNOTATION, message, f"such as {_VIEW_HELP}, or n: I.i32 for a scalar")
        case ast.Constant(value=str()) as quoted:
            scope.reject(quoted, codes.ANNOTATION, "an annotation is written without quotes")
        case annotation:
            return fold(scope, annotation)


def _bad_annotation(scope: ModuleScope, parameter: ast.arg, annotation: Binding) -> Declared:
    node = parameter.annotation
    assert node is not None
    help: str | None = (
        f"views are {_VIEW_HELP}; scalars have a dtype, such as n: I.i32; compile-time values are I.Constexpr[int]"
    )
    fix = None
    match annotation:
        case Builtin(name="int" | "float" | "bool" as name):
            spelled = {"int": "I.i64", "float": "I.f64", "bool": "I.bool"}[name]
            help = f"write {spelled} for a runtime scalar, or I.Constexpr[{name}] for a compile-time value"
        case EnumClass(name=name):
            help, fix = f"write I.Constexpr[{name}]", f"{scope.language}.Constexpr[{ast.unparse(node)}]"
        case HostName() if (dtype := canonical_dtype_name(ast.unparse(node))) is not None:
            help, fix = f"write I.{dtype}", f"{scope.language}.{dtype}"
        case _:
            pass
    message = f"'{parameter.arg}' is annotated with something that is no parameter type"
    scope.reject(node, codes.ANNOTATION, message, help, fix)


# --------------------------------------------------------------------------------------------------------------- views
def _view(scope: ModuleScope, parameter: ast.arg, annotation: ViewAnnotation) -> View:
    node = parameter.annotation
    assert node is not None
    parts = _parts(node)
    match annotation.arguments:
        case [Token(dtype=dtype), Product(items=extents, names=None)]:
            constraints = Constraints()
        case [Token(dtype=dtype), Product(items=extents, names=None), Constraints() as constraints]:
            pass
        case [Token(), Text(value=text), *_]:
            meant = f'("{text}",)'
            scope.reject(parts[1], codes.SHAPE_ANNOTATION, "the shape is a tuple", f"write {meant}", meant)
        case [Token(), Literal(value=extent), *_]:
            meant = f"({extent},)"
            scope.reject(parts[1], codes.SHAPE_ANNOTATION, "the shape is a tuple", f"write {meant}", meant)
        case [Token(), *_]:
            message = f"I.{annotation.direction} takes a dtype, a shape and I.constraints(...) at most"
            scope.reject(node, codes.SHAPE_ANNOTATION, message, _VIEW_HELP)
        case [first, *_]:
            _reject_dtype(scope, parts[0], first)
    pairs = zip(_places(parts[1], len(extents)), extents, strict=True)
    shape = tuple(_extent(scope, place, extent) for place, extent in pairs)
    if constraints.strides is not None and len(constraints.strides) != len(shape):
        message = f"strides has {len(constraints.strides)} entries, and the view has rank {len(shape)}"
        scope.reject(parts[2], codes.CONSTRAINTS, message)
    return View(
        parameter.arg, dtype, shape, annotation.direction, constraints.strides, constraints.alias, constraints.noalias
    )


def _parts(annotation: ast.expr) -> list[ast.expr]:
    """The nodes of dtype, shape and constraints; the annotation itself where it is an alias."""
    match annotation:
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return [*parts, *[annotation] * (3 - len(parts))]
        case ast.Subscript(slice=part):
            return [part, annotation, annotation]
        case _:
            return [annotation] * 3


def _places(shape: ast.expr, count: int) -> list[ast.expr]:
    match shape:
        case ast.Tuple(elts=parts) if len(parts) == count:
            return parts
        case _:
            return [shape] * count


def _reject_dtype(scope: ModuleScope, node: ast.expr, found: Binding) -> None:
    spelling = found.value if isinstance(found, Text) else ast.unparse(node)
    meant = canonical_dtype_name(spelling)
    help, fix = (f"write I.{meant}", f"{scope.language}.{meant}") if meant else (_VIEW_HELP, None)
    scope.reject(node, codes.DTYPE, f"{ast.unparse(node)} is no dtype", help, fix)


def _extent(scope: ModuleScope, node: ast.expr, extent: Operand) -> Polynomial:
    match extent:
        case Literal(value=int() as value) if not isinstance(value, bool) and value >= 0:
            return number(value)
        case Text(value=name) if name.isidentifier() and not keyword.iskeyword(name):
            return symbol(name)
        case Text(value=name) if name.isdigit():
            scope.reject(node, codes.SHAPE_ANNOTATION, f"'{name}' is no symbol", f"write the integer: {name}", name)
        case Text(value=name):
            scope.reject(
                node, codes.SHAPE_ANNOTATION, f"'{name}' is no symbol", "a symbol is an identifier, such as 'M'"
            )
        case _:
            message = "an extent is a nonnegative integer or a symbol such as 'M'"
            scope.reject(node, codes.SHAPE_ANNOTATION, message)


# ---------------------------------------------------------------------------------------------------------- constexprs
def _given(kernel: str, name: str, constexprs: Mapping[str, object]) -> object:
    return constexprs.get(f"{kernel}.{name}", constexprs.get(name))


def _bound(
    scope: ModuleScope, kernel: str, parameter: ast.arg, choice: Binding, default: ast.expr | None, given: object
) -> Bound:
    node = parameter.annotation
    assert node is not None
    if not isinstance(choice, EnumClass) and choice not in (Builtin("int"), Builtin("float"), Builtin("bool")):
        help = "I.Constexpr[int]" if isinstance(choice, Token) else None
        scope.reject(node, codes.CONSTEXPR, "I.Constexpr takes int, float, bool or a class derived from I.Enum", help)
    if given is None and default is None:
        message = f"the constexpr '{parameter.arg}' has no value"
        scope.reject(
            parameter, codes.UNBOUND_CONSTEXPR, message, f"give one: --constexpr {kernel}.{parameter.arg}=VALUE"
        )
    value = _default(scope, default) if given is None and default is not None else _external(given)
    fitted = _fit(choice, value)
    if fitted is None:
        place = default if given is None and default is not None else parameter
        kind = choice.name if isinstance(choice, (EnumClass, Builtin)) else ""
        message = f"the value of '{parameter.arg}' is {_spell(value)}, which is no {kind}"
        help = f"one of {', '.join(choice.members)}" if isinstance(choice, EnumClass) else None
        scope.reject(place, codes.CONSTEXPR, message, help)
    return Bound(BoundConstant(parameter.arg, _plain(fitted)), fitted)


def _default(scope: ModuleScope, default: ast.expr) -> Binding:
    return fold(scope, default)


def _external(given: object) -> Operand:
    """A value from the command line (text) or the host."""
    match given:
        case enum.Enum():
            return Text(f"{type(given).__name__}.{given.name}")
        case bool() | int() | float():
            return Literal(given)
        case _:
            return Text(str(given))


def _fit(choice: Binding, value: Binding) -> Literal | EnumMember | None:
    """The value as the annotation's type; None if it is none."""
    match choice, value:
        case Builtin(name="bool"), Literal(value=bool()):
            return Literal(value.value)
        case Builtin(name="int"), Literal(value=int()) if not isinstance(value.value, bool):
            return Literal(value.value)
        case Builtin(name="float"), Literal(value=int() | float()) if not isinstance(value.value, bool):
            return _float(value.value)
        case EnumClass(name=name), EnumMember(enum=enum_name) if name == enum_name:
            return value
        case EnumClass(name=name, members=members), Text(value=text):
            owner, _, member = text.rpartition(".")
            return members.get(member) if owner in ("", name) else None
        case EnumClass(members=members), Literal(value=number):
            return next((member for member in members.values() if member.value == number), None)
        case _:
            return None


def _float(value: int | float) -> Literal | None:
    try:
        return Literal(float(value))
    except OverflowError:
        return None


def _plain(operand: Literal | EnumMember) -> Constant:
    return operand.value if isinstance(operand, Literal) else operand.name


def _spell(value: Binding) -> str:
    match value:
        case Literal(value=plain):
            return repr(plain)
        case Text(value=text):
            return repr(text)
        case EnumMember(enum=enum_name, name=name):
            return f"{enum_name}.{name}"
        case Keyword(name=name):
            return name
        case _:
            return "no constant"


def unknown_constexprs(
    scope: ModuleScope, nodes: tuple[ast.FunctionDef, ...], constexprs: Mapping[str, object]
) -> list[Diagnostic]:
    """Given names that no kernel declares."""
    declared: set[str] = set()
    for node in nodes:
        names = [parameter.arg for parameter, _ in parameters_of(node.args)]
        declared |= {*names, *(f"{node.name}.{name}" for name in names)}
    found = []
    for name in constexprs:
        if name not in declared:
            span = scope.source.header(nodes[0]) if nodes else scope.source.start
            message = f"no kernel of this file has a constexpr parameter '{name}'"
            found.append(Diagnostic(codes.UNKNOWN_CONSTEXPR, "error", message, span, suggestion(name, declared)))
    return found

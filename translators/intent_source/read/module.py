"""Reading a file: every kernel of it, with all errors found in one run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from translators.algebra.polynomial import Symbol
from translators.diagnostics import Diagnostic, Rejected
from translators.intent_source.read import codes
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.definitions import Bound, Declared, signature, unknown_constexprs
from translators.intent_source.read.files import Files, kernels
from translators.intent_source.read.scope import Binding, ModuleScope
from translators.intent_source.read.statements import execute
from translators.intent_source.read.walker import Walker, new_frame
from translators.logical.checks import check
from translators.logical.program import Block, Kernel, Parameter, Program, ScalarParameter
from translators.logical.types import Scalar, View


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The program without the kernels that have errors; None if the file cannot be read at all."""

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]


def read_program(
    text: str, path: str, constexprs: Mapping[str, object] | None = None, only: str | None = None
) -> ReadResult:
    """Read a file's text. Nothing of it is imported or executed; imported files are found beside `path`.

    `constexprs` binds constexpr parameters, by NAME or KERNEL.NAME, to Python values or to text. `only` names the one
    kernel to read.
    """
    files = Files()
    try:
        scope = files.open(text, path)
    except Rejected as rejected:
        return ReadResult(None, (rejected.diagnostic,))
    nodes = tuple(node for node in kernels(scope) if only in (None, node.name))
    if not nodes and not files.diagnostics:
        return ReadResult(None, (_no_kernel(scope, only),))
    found = files.diagnostics  # grows while kernels are read, by what is wrong in the files they import
    found.extend(unknown_constexprs(scope, nodes, constexprs or {}))
    read = [_kernel(scope, node, constexprs or {}, found) for node in nodes]
    whole = tuple(kernel for kernel in read if kernel is not None)
    docstring = ast.get_docstring(scope.source.tree)
    program = Program(path, whole, docstring, scope.source.lines, files.imported(scope))
    return ReadResult(program, tuple(dict.fromkeys(found)))


def _no_kernel(scope: ModuleScope, only: str | None) -> Diagnostic:
    empty = not scope.source.tree.body
    message = "the file is empty" if empty else f"the file defines no kernel{f' {only}' if only else ''}"
    return Diagnostic(codes.NO_KERNEL, "error", message, scope.source.start, "decorate a function with @intent.kernel")


def _kernel(
    scope: ModuleScope, node: ast.FunctionDef, constexprs: Mapping[str, object], found: list[Diagnostic]
) -> Kernel | None:
    """One kernel; None if it has an error, which is added to `found`."""
    builder = Builder()
    declared = signature(scope, node, constexprs, builder.diagnostics)
    try:
        kernel = _read(scope, node, declared, builder)
    except RecursionError:
        message, help = f"'{node.name}' nests too deeply to be read", "name parts of it in statements of their own"
        builder.diagnostics.append(Diagnostic(codes.TOO_DEEP, "error", message, scope.source.header(node), help))
    found.extend(builder.diagnostics)
    return None if any(diagnostic.severity != "note" for diagnostic in builder.diagnostics) else kernel


def _read(scope: ModuleScope, node: ast.FunctionDef, declared: tuple[Declared, ...], builder: Builder) -> Kernel | None:
    """The kernel, with what is wrong with it as a whole in the builder's diagnostics; None if its body has errors."""
    walker = _walk(scope, node, declared, builder)
    if walker.errors:
        return None
    runtime = tuple(parameter for parameter in declared if not isinstance(parameter, Bound))
    constants = tuple(parameter.constant for parameter in declared if isinstance(parameter, Bound))
    span, docstring = scope.source.header(node), ast.get_docstring(node)
    body = Block(tuple(builder.statements))
    kernel = Kernel(node.name, runtime, constants, body, span, builder.names, docstring)
    builder.diagnostics.extend(check(kernel))
    return kernel


def _walk(scope: ModuleScope, node: ast.FunctionDef, declared: tuple[Declared, ...], builder: Builder) -> Walker:
    """Read the body into the builder."""
    shapes = [extent for parameter in declared if isinstance(parameter, View) for extent in parameter.shape]
    builder.symbols = frozenset(atom.name for extent in shapes for atom in extent.atoms() if isinstance(atom, Symbol))
    walker = Walker(builder)
    builder.tracer = walker
    builder.span = scope.source.header(node)
    names = {_name(parameter): _binding(builder, parameter) for parameter in declared}
    walker.frames.append(new_frame(scope, node, names, None))
    walker.poison(
        frozenset(argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)) - set(names)
    )
    execute(walker, node.body, frozenset())
    return walker


def _name(parameter: Declared) -> str:
    return parameter.constant.name if isinstance(parameter, Bound) else parameter.name


def _binding(builder: Builder, parameter: Declared) -> Binding:
    """What the parameter's name means in the body."""
    match parameter:
        case View():
            return parameter
        case ScalarParameter(name=name, dtype=dtype):
            value = builder.one(Parameter(name), Scalar(dtype))
            builder.names[value] = name
            return value
        case Bound(operand=operand):
            return operand

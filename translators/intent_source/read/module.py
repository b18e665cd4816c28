"""Reading a file: every kernel of it, with all errors found in one run."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from intent.records import dataclass
from translators.algebra.polynomial import Symbol
from translators.diagnostics import Diagnostic, Rejected
from translators.intent_source.read import codes
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.definitions import Bound, Declared, signature, unknown_constexprs
from translators.intent_source.read.files import Files, kernels
from translators.intent_source.read.scope import Binding, HostName, ModuleScope
from translators.intent_source.read.statements import execute
from translators.intent_source.read.walker import Observer, Walker, new_frame
from translators.logical.checks import check
from translators.logical.composition import Host
from translators.logical.program import Block, Kernel, Parameter, Program, ScalarParameter
from translators.logical.types import Scalar, View

Reading = tuple[Kernel | None, list[Diagnostic]]


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The program without the kernels that have errors; None if the file cannot be read at all."""

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]


def read_program(
    text: str,
    path: str,
    constexprs: Mapping[str, object] | None = None,
    only: str | None = None,
    alone: bool = False,
) -> ReadResult:
    """Read a file's text. Nothing of it is imported or executed; imported files are found beside `path`, or nowhere if
    the text stands `alone`.

    `constexprs` binds constexpr parameters, by NAME or KERNEL.NAME, to Python values; text names a member of an
    enum. `only` names the one kernel to read.
    """
    files = Files(alone)
    try:
        scope = files.open(text, path)
    except Rejected as rejected:
        return ReadResult(None, (rejected.diagnostic,))
    nodes = tuple(node for node in kernels(scope) if only in (None, node.name))
    composes = only is None and _has_host_functions(scope)
    if not nodes and not files.diagnostics and not composes:
        return ReadResult(None, (_no_kernel(scope, only),))
    bound = constexprs or {}
    found = files.diagnostics  # grows while kernels are read, by what is wrong in the files they import
    found.extend(unknown_constexprs(scope, nodes, bound))
    read = {node.name: _kernel(scope, node, bound) for node in nodes}
    host = None
    if composes:
        host, read = _host(scope, read, bound, found)
    for _, diagnostics in read.values():
        found.extend(diagnostics)
    whole = tuple(kernel for kernel, _ in read.values() if kernel is not None)
    if not whole and not found:
        return ReadResult(None, (_no_kernel(scope, only),))
    docstring = ast.get_docstring(scope.source.tree)
    program = Program(path, whole, docstring, scope.source.lines, files.imported, host)
    return ReadResult(program, tuple(dict.fromkeys(found)))


def _has_host_functions(scope: ModuleScope) -> bool:
    """Whether there may be functions that call kernels; most files have at most a statement of what they mean."""
    for statement in scope.source.tree.body:
        match statement:
            case ast.FunctionDef(name=name) if isinstance(scope.names.get(name), HostName) and name != "reference":
                return True
            case ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) if isinstance(scope.names[name], HostName):
                return True
            case ast.Assign(value=ast.Lambda()) | ast.AnnAssign(value=ast.Lambda()) | ast.If() | ast.Try() | ast.With():
                return True
            case _:
                pass
    return False


def _host(
    scope: ModuleScope, read: dict[str, Reading], constexprs: Mapping[str, object], found: list[Diagnostic]
) -> tuple[Host | None, dict[str, Reading]]:
    """What composes the kernels, and the kernels with the specialisations that it compiles."""
    from translators.intent_source.host import Specialisations, read_host  # few files need it

    kernels = Specialisations(scope, read, lambda kernel, bound: _kernel(kernel.scope, kernel.node, bound), constexprs)
    reading = read_host(scope, kernels)
    found.extend(reading.diagnostics)
    outcomes = {name: kernels.outcome(name) for name in read}
    made: dict[str, Reading] = {kernel.name: (kernel, []) for kernel in kernels.made}
    return reading.host, {**{name: each for name, each in outcomes.items() if name not in made}, **made}


def _no_kernel(scope: ModuleScope, only: str | None) -> Diagnostic:
    empty = not scope.source.tree.body
    message = "the file is empty" if empty else f"the file defines no kernel{f' {only}' if only else ''}"
    return Diagnostic(codes.NO_KERNEL, "error", message, scope.source.start, "decorate a function with @intent.kernel")


def _kernel(scope: ModuleScope, node: ast.FunctionDef, constexprs: Mapping[str, object]) -> Reading:
    """One kernel, None if it has an error, and its diagnostics."""
    builder = Builder()
    declared = signature(scope, node, constexprs, builder.diagnostics)
    try:
        kernel = _read(scope, node, declared, builder)
    except RecursionError:
        message, help = f"'{node.name}' nests too deeply to be read", "name parts of it in statements of their own"
        builder.diagnostics.append(Diagnostic(codes.TOO_DEEP, "error", message, scope.source.header(node), help))
    whole = all(diagnostic.severity == "note" for diagnostic in builder.diagnostics)
    return (kernel if whole else None), builder.diagnostics


def _read(scope: ModuleScope, node: ast.FunctionDef, declared: tuple[Declared, ...], builder: Builder) -> Kernel | None:
    """The kernel, with what is wrong with it as a whole in the builder's diagnostics; None if its body has errors."""
    walker = walk(scope, node, declared, builder)
    if walker.errors:
        return None
    runtime = tuple(parameter for parameter in declared if not isinstance(parameter, Bound))
    constants = tuple(parameter.constant for parameter in declared if isinstance(parameter, Bound))
    span, docstring = scope.source.header(node), ast.get_docstring(node)
    body = Block(tuple(builder.statements))
    kernel = Kernel(node.name, runtime, constants, body, span, builder.names, docstring)
    builder.diagnostics.extend(check(kernel))
    return kernel


def walk(
    scope: ModuleScope,
    node: ast.FunctionDef,
    declared: tuple[Declared, ...],
    builder: Builder,
    observe: Observer | None = None,
) -> Walker:
    """Read the body into the builder."""
    shapes = [extent for parameter in declared if isinstance(parameter, View) for extent in parameter.shape]
    builder.symbols = frozenset(atom.name for extent in shapes for atom in extent.atoms() if isinstance(atom, Symbol))
    walker = Walker(builder, observe=observe)
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

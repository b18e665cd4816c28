"""Files as scopes: what each module-level statement binds, and imported files, which are found by path and read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from intent.records import dataclass, field
from translators.diagnostics import Diagnostic, Rejected, Span
from translators.intent_source.read import codes
from translators.intent_source.read.constants import fold
from translators.intent_source.read.liveness import bound
from translators.intent_source.read.names import FORMS, LANGUAGE, member
from translators.intent_source.read.operands import EnumClass, EnumMember, Function, Literal, Text
from translators.intent_source.read.scope import (
    Binding,
    Deferred,
    Form,
    HostName,
    KernelName,
    ModuleScope,
    Namespace,
    Poisoned,
)
from translators.intent_source.read.source import parse


@dataclass(slots=True)
class Files:
    """The files read so far. Errors of definitions (not of imports, which count where they are used) are collected.

    `alone`: the first one has no file beside it.
    """

    alone: bool = False
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _scopes: dict[Path, ModuleScope] = field(default_factory=dict)
    _imported: dict[str, bytes] = field(default_factory=dict)

    def open(self, text: str, path: str) -> ModuleScope:
        """The scope of a file's text."""
        scope = ModuleScope(parse(text, path), self)
        self._scopes[Path(path).absolute()] = scope
        for statement in scope.source.tree.body:
            self._bind(scope, statement)
        return scope

    def module(self, importer: ModuleScope, module: str, level: int, span: Span) -> ModuleScope:
        path = None if self.alone else find(Path(importer.source.path), module, level)
        if path is None:
            raise Rejected(self._not_found(f"{'.' * level}{module}", importer, span))
        known = self._scopes.get(path.absolute())
        return known if known is not None else self._read(path, span)

    def _not_found(self, module: str, importer: ModuleScope, span: Span) -> Diagnostic:
        if self.alone:
            message = f"'{importer.source.path}' is text without files beside it, so there is no module '{module}'"
            return Diagnostic(codes.IMPORT, "error", message, span, "write what is imported into the same text")
        message = f"no file of module '{module}' was found beside '{importer.source.path}'"
        message += "" if module.startswith(".") else "; Python packages have no meaning in a kernel"
        return Diagnostic(codes.IMPORT, "error", message, span)

    def _read(self, path: Path, span: Span) -> ModuleScope:
        try:
            content = path.read_bytes()
            self._imported[str(path.absolute())] = content
            return self.open(content.decode("utf-8-sig"), str(path))
        except Rejected as rejected:
            inner = rejected.diagnostic
            message = f"the imported file '{path}' cannot be read: line {inner.span.line}: {inner.message}"
        except (OSError, UnicodeDecodeError) as error:
            message = f"the imported file '{path}' cannot be read: {error}"
        raise Rejected(Diagnostic(codes.IMPORT, "error", message, span))

    @property
    def imported(self) -> dict[str, bytes]:
        """What was read of the files beside the first, by absolute path."""
        return dict(self._imported)

    # ------------------------------------------------------------------------------------------------- statements
    def _bind(self, scope: ModuleScope, statement: ast.stmt) -> None:
        try:
            scope.names.update(_bindings(scope, statement))
        except Rejected as rejected:
            self.diagnostics.append(rejected.diagnostic)
            scope.names.update(dict.fromkeys(bound((statement,)), Poisoned()))


def find(importer: Path, module: str, level: int) -> Path | None:
    """As Python does, a package is preferred to a file of its name."""
    folder = importer.parent
    for _ in range(level - 1):
        folder = folder.parent
    stem = folder.joinpath(*module.split(".")) if module else folder
    candidates = (stem / "__init__.py", stem.with_name(stem.name + ".py"))
    return next((path for path in candidates if path.is_file()), None)


def _bindings(scope: ModuleScope, statement: ast.stmt) -> dict[str, Binding]:
    """What a module-level statement binds."""
    match statement:
        case ast.Import():
            return dict(_imports(statement))
        case ast.ImportFrom(module=module, names=aliases, level=level):
            return dict(
                pair for alias in aliases for pair in _import_from(scope, module or "", alias, level, statement)
            )
        case ast.FunctionDef():
            return {statement.name: _function(scope, statement)}
        case ast.AsyncFunctionDef(decorator_list=decorators) if any(_role(scope, each) for each in decorators):
            scope.reject(statement, codes.DEFINITION, "a kernel or helper is a plain function, not async")
        case ast.ClassDef():
            return {statement.name: _class(scope, statement)}
        case ast.Assign(targets=targets, value=value) if all(isinstance(target, ast.Name) for target in targets):
            found = _constant(scope, value)
            return dict.fromkeys(bound((statement,)), found)
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            pairs = zip(targets, values, strict=True)
            return {target.id: _constant(scope, value) for target, value in pairs if isinstance(target, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return {name: _constant(scope, value)}
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return {}
        case _:
            what = HostName("not a constant of the module: it is assigned conditionally or in a loop")
            return dict.fromkeys(bound((statement,)), what)


def _constant(scope: ModuleScope, value: ast.expr) -> Binding:
    """A module constant; what cannot be folded belongs to the host, and is an error only where a kernel uses it."""
    try:
        return fold(scope, value)
    except Rejected as rejected:
        what = f"not a compile-time constant: line {rejected.diagnostic.span.line}: {rejected.diagnostic.message}"
        return HostName(what, rejected.diagnostic.help)


# ------------------------------------------------------------------------------------------------------------- imports
def _imports(statement: ast.Import) -> Iterator[tuple[str, Binding]]:
    for alias in statement.names:
        first, _, rest = alias.name.partition(".")
        if alias.name == LANGUAGE and alias.asname:
            yield alias.asname, Namespace(LANGUAGE)
        elif alias.name in ("intent", "math") or (first == "intent" and not alias.asname):
            yield alias.asname or first, Namespace(first)
        elif rest and not alias.asname:
            yield first, HostName(f"the package '{first}'; import the module under a name: import {alias.name} as name")
        else:
            yield alias.asname or first, Deferred(alias.name, 0, None)


def _import_from(
    scope: ModuleScope, module: str, alias: ast.alias, level: int, statement: ast.ImportFrom
) -> Iterator[tuple[str, Binding]]:
    name = alias.asname or alias.name
    if level == 0 and module in ("intent", LANGUAGE, "math"):
        if alias.name == "*":
            yield from _star(scope, module, statement)
        else:
            found = member(scope, Namespace(module), alias.name, statement)
            yield name, found if found is not None else HostName(f"{module}.{alias.name}")
    elif level == 0 and module == "__future__":
        return
    elif alias.name == "*":
        message = "a file's names are imported one by one, or the file as a module"
        scope.reject(statement, codes.IMPORT, message, "from .module import first, second")
    else:
        yield name, Deferred(module, level, alias.name)


def _star(scope: ModuleScope, module: str, statement: ast.ImportFrom) -> Iterator[tuple[str, Binding]]:
    import intent.language

    if module != LANGUAGE:
        scope.reject(statement, codes.IMPORT, f"names of {module} are imported one by one")
    for name in (*intent.language.__all__, *FORMS):
        found = member(scope, Namespace(LANGUAGE), name, statement)
        if found is not None:
            yield name, found


# --------------------------------------------------------------------------------------------------- functions, classes
def _function(scope: ModuleScope, node: ast.FunctionDef) -> Binding:
    """A kernel, a helper, or a plain function, which is the host's."""
    roles = [role for decorator in node.decorator_list if (role := _role(scope, decorator)) is not None]
    if not roles:
        help = f"decorate it with @intent.fn to call it from kernels: @intent.fn above 'def {node.name}'"
        return HostName("a plain Python function", help)
    if len(node.decorator_list) > 1:
        scope.reject(node.decorator_list[1], codes.DEFINITION, "a kernel or helper has one decorator, and only it")
    if node.name in scope.names and isinstance(scope.names[node.name], (Function, KernelName)):
        scope.reject(node, codes.DUPLICATE, f"'{node.name}' is defined twice in this file", "rename one of them")
    return KernelName(node, scope) if roles[0] == "kernel" else Function(node.name, node, scope)


def _role(scope: ModuleScope, decorator: ast.expr) -> str | None:
    """`kernel` or `fn` if the decorator is ours; other decorators make host functions."""
    try:
        found = fold(scope, decorator.func if isinstance(decorator, ast.Call) else decorator)
    except Rejected:
        return None
    if not isinstance(found, Form) or found.name not in ("kernel", "fn"):
        return None
    if isinstance(decorator, ast.Call):
        fix = None if decorator.args or decorator.keywords else ast.unparse(decorator.func)
        message, help = f"@intent.{found.name} takes no arguments", "remove the parentheses"
        scope.reject(decorator, codes.DEFINITION, message, help, fix)
    return found.name


def _class(scope: ModuleScope, node: ast.ClassDef) -> Binding:
    match node.bases:
        case [base] if _constant(scope, base) == Form("Enum"):
            return EnumClass(node.name, dict(_members(scope, node)))
        case _:
            return HostName("a Python class", "compile-time choices are classes derived from I.Enum")


def _members(scope: ModuleScope, node: ast.ClassDef) -> Iterator[tuple[str, EnumMember]]:
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, EnumMember(node.name, name, _member_value(scope, value))
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case _:
                scope.reject(statement, codes.DEFINITION, "an I.Enum holds members only: NAME = constant")


def _member_value(scope: ModuleScope, value: ast.expr) -> bool | int | float | str:
    match fold(scope, value):
        case Literal(value=number):
            return number
        case Text(value=text):
            return text
        case _:
            scope.reject(value, codes.NOT_CONSTANT, "the value of an enum member is a number or a string")


def kernels(scope: ModuleScope) -> tuple[ast.FunctionDef, ...]:
    """The kernels that the file itself defines, in order."""
    own = [binding.node for binding in scope.names.values() if isinstance(binding, KernelName)]
    return tuple(node for node in scope.source.tree.body if isinstance(node, ast.FunctionDef) and node in own)

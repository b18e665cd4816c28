"""Which functions of a file compose its kernels, and what has to come along with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Final

from intent.records import dataclass, field
from translators.diagnostics import Diagnostic, Rejected
from translators.intent_source.host.carrying import BUILD, Carrier, HostFile
from translators.intent_source.host.compiled import Compiling, NotCarried, bare_calls, check_constexprs
from translators.intent_source.host.editing import Document
from translators.intent_source.host.lexical import names_of
from translators.intent_source.host.results import Outputs, Results
from translators.intent_source.host.specialisation import Specialisations
from translators.intent_source.host.texts import Carried, constant, function
from translators.intent_source.read import codes
from translators.intent_source.read.liveness import bound
from translators.intent_source.read.scope import HostName, KernelName, ModuleScope, Namespace
from translators.logical.composition import Composition, Host
from translators.syntax_tree import children

# Statements of what the kernels mean, scripts and tests are for the author of the file, not for callers of the module.
_NOT_COMPOSED: Final = re.compile(r"reference|reference_\w+|\w+_reference|main|test_\w+|bench(mark)?(_\w+)?")


@dataclass(frozen=True, slots=True)
class HostReading:
    """`host` is None if nothing composes kernels, or if something is wrong with what does."""

    host: Host | None
    diagnostics: tuple[Diagnostic, ...]


@dataclass(slots=True)
class Reader:
    """One file. `carried` has an outcome for each name that was asked for."""

    file: HostFile
    diagnostics: list[Diagnostic] = field(default_factory=list)
    carried: dict[str, Carried | NotCarried | None] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------------------ definitions
    def get(self, name: str) -> Carried | NotCarried | None:
        """What becomes of a name of the module; None if it is wrong, which is reported."""
        if name not in self.carried:
            self.carried[name] = NotCarried(self.file.statements[name], f"uses '{name}', which uses itself")
            self.carried[name] = self._carry(name)
        return self.carried[name]

    def _carry(self, name: str) -> Carried | NotCarried | None:
        statement = self.file.statements[name]
        assert isinstance(statement, (ast.FunctionDef, ast.Assign, ast.AnnAssign))
        carrier = Carrier(self.file, statement, _context(statement))
        try:
            carrier.carry()
            node = _function_of(statement)
            if node is not None:
                return function(carrier, name, node, Results(carrier, self._outputs_of))
            assert not isinstance(statement, ast.FunctionDef)
            return constant(carrier, statement)
        except NotCarried as reason:
            return reason
        except Rejected as rejected:
            self.diagnostics.append(rejected.diagnostic)
            return None

    def _outputs_of(self, name: str) -> Outputs:
        carried = self.get(name)
        return carried.outputs if isinstance(carried, Carried) else None

    def needed(self, name: str, found: dict[str, Carried]) -> NotCarried | None:
        """Add a definition and all that it needs; the reason if part of it cannot be carried over."""
        if name in found:
            return None
        carried = self.get(name)
        if isinstance(carried, NotCarried):
            return carried
        if carried is None:
            return NotCarried(self.file.statements[name], "has an error")
        found[name] = carried
        reasons = (self.needed(each, found) for each in carried.needs)
        return next((reason for reason in reasons if reason is not None), None)

    # ----------------------------------------------------------------------------------------------------- compositions
    def host(self) -> Host | None:
        functions = [name for name, statement in self.file.statements.items() if _function_of(statement) is not None]
        definitions: dict[str, Carried] = {}
        compositions: list[Composition] = []
        for name in [name for name in functions if self._composes(name)]:
            mine: dict[str, Carried] = {}
            reason = self.needed(name, mine)
            if reason is not None:
                self._report(name, reason)
                continue
            definitions.update(mine)
            if not name.startswith("_"):
                compositions.append(self._composition(name, mine))
        self._note_other_definitions()
        if not compositions:
            return None
        order = sorted(definitions, key=lambda name: self.file.statements[name].lineno)
        imports = dict.fromkeys(line for name in order for line in definitions[name].imports)
        distinct = dict.fromkeys(definitions[name].definition for name in order)
        return Host(tuple(imports), tuple(distinct), tuple(compositions))

    def _composes(self, name: str) -> bool:
        """Whether the function calls kernels, itself or through others."""
        return self._is_host_code(name, self.file.statements[name]) and self._reaches_kernels(name, set())

    def _is_host_code(self, name: str, statement: ast.stmt) -> bool:
        """Whether the definition is for callers of the module. One that calls kernels uncompiled is reported."""
        if not isinstance(self.file.scope.names.get(name), HostName) or _NOT_COMPOSED.fullmatch(name):
            return False
        bare = list(bare_calls(self.file.scope, names_of(statement)))
        self.diagnostics.extend(bare)
        return not bare

    def _reaches_kernels(self, name: str, seen: set[str]) -> bool:
        seen.add(name)
        statement = self.file.statements.get(name)
        if not isinstance(statement, (ast.FunctionDef, ast.Assign, ast.AnnAssign)):
            return False
        return name in self.file.artifacts or self._uses_kernels(statement, seen)

    def _uses_kernels(self, statement: ast.stmt, seen: set[str]) -> bool:
        """Whether the statement compiles kernels, names them, or uses what does."""
        if _compiles(self.file.scope, statement):
            return True
        used = {node.id for node, region in names_of(statement).regions.items() if region is None}
        if any(isinstance(self.file.scope.names.get(name), KernelName) for name in used):
            return True
        return any(self._reaches_kernels(other, seen) for other in sorted(used - seen))

    def _note_other_definitions(self) -> None:
        """Definitions that call kernels and are no plain functions of the file."""
        for statement in self.file.scope.source.tree.body:
            for node, reason in _other_definitions(statement, self.file.statements):
                if self._is_host_code(node.name, node) and self._uses_kernels(node, set()):
                    self._report(node.name, NotCarried(node, reason))

    def _composition(self, name: str, definitions: dict[str, Carried]) -> Composition:
        carried = definitions[name]
        kernels = dict.fromkeys(kernel for each in definitions.values() for kernel in each.kernels)
        found = carried.callable if isinstance(carried.callable, ast.FunctionDef) else None
        own = name if name != BUILD else found.name if found is not None else BUILD
        return Composition(
            name=own if own != BUILD else _stem(self.file.scope.source.path),
            function=name,
            built=carried.built,
            parameters=carried.parameters,
            outputs=carried.outputs,
            kernels=tuple(kernels),
            docstring=ast.get_docstring(found) if found is not None else None,
        )

    def _report(self, name: str, reason: NotCarried) -> None:
        """Without its `build` the module lacks its purpose; other functions may be the author's alone."""
        if self.carried.get(name, reason) is None:
            return
        at = reason.node if getattr(reason.node, "lineno", None) else self.file.statements[name]
        source = self.file.scope.source
        where = source.header(at) if isinstance(at, ast.stmt) else source.span(at)
        message = f"the host function '{name}' is not carried over: it {reason}"
        if name == BUILD:
            self.diagnostics.append(Diagnostic(codes.HOST_UNSUPPORTED, "unsupported", message, where))
        else:
            self.diagnostics.append(Diagnostic(codes.HOST_LEFT_OUT, "note", message, where))


def read_host(scope: ModuleScope, kernels: Specialisations) -> HostReading:
    """The compositions of a file whose kernels have been read."""
    file = HostFile(scope, Document(scope.source), kernels, _statements(scope.source.tree))
    reader = Reader(file)
    _artifacts(reader)
    host = reader.host()
    errors = any(found.severity == "error" for found in reader.diagnostics)
    found = (*reader.diagnostics, *kernels.diagnostics)
    return HostReading(None if errors else host, found)


def _statements(tree: ast.Module) -> dict[str, ast.stmt]:
    """The statement that binds each name, for names that only one binds."""
    pairs = [(name, statement) for statement in tree.body for name in bound((statement,))]
    names = [name for name, _ in pairs]
    return {name: statement for name, statement in pairs if names.count(name) == 1}


def _artifacts(reader: Reader) -> None:
    """Module-level names for compiled kernels."""
    file = reader.file
    for name, statement in file.statements.items():
        match statement:
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as call):
                names = names_of(statement)
                try:
                    request = Compiling(file.scope, names).request(call)
                    if request is not None:
                        check_constexprs(file.scope, call, request)
                    kernel = file.kernels.get(request.kernel, request.constexprs, name.lower()) if request else None
                except Rejected as rejected:
                    reader.diagnostics.append(rejected.diagnostic)
                except NotCarried:
                    pass  # reported where a function uses the name
                else:
                    if kernel is not None:
                        file.artifacts[name] = kernel
            case _:
                pass


def _compiles(scope: ModuleScope, node: ast.AST) -> bool:
    """Whether anything in the statement looks like compiling a kernel."""
    context = _context(node)
    for call in ast.walk(node):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="compile")):
                if owner == context or scope.names.get(owner) == Namespace("intent"):
                    return True
            case _:
                pass
    return False


def _context(node: ast.AST) -> str | None:
    """The name of the context that `build` receives."""
    match node:
        case ast.FunctionDef(name="build", args=ast.arguments(posonlyargs=first, args=more)) if [*first, *more]:
            return [*first, *more][0].arg
        case _:
            return None


def _stem(path: str) -> str:
    name = re.sub(r"\W", "_", PurePath(path.replace("\\", "/")).stem)
    return name if name.isidentifier() else f"composed_{name}"


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _other_definitions(statement: ast.stmt, single: Mapping[str, ast.stmt]) -> Iterator[tuple[Definition, str]]:
    """What a statement of the file defines beside plain functions with a name of their own, and what it is instead."""
    match statement:
        case ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement, "is no plain function"
        case ast.FunctionDef(name=name):
            if name not in single:
                yield statement, "has a name that the file gives several times"
        case _:
            for node in children(statement):
                if isinstance(node, ast.FunctionDef):
                    yield node, "is defined inside another statement"
                elif isinstance(node, ast.stmt):
                    yield from _other_definitions(node, single)


def _function_of(statement: ast.stmt) -> ast.FunctionDef | ast.Lambda | None:
    """The function that a statement of the file defines."""
    match statement:
        case ast.FunctionDef():
            return statement
        case ast.Assign(targets=[ast.Name()], value=ast.Lambda() as found):
            return found
        case ast.AnnAssign(target=ast.Name(), value=ast.Lambda() as found):
            return found
        case _:
            return None

"""Which functions of a file compose its kernels, and what has to come along with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Final

from translators.diagnostics import Diagnostic, Rejected
from translators.intent_source.host.carrying import Carrier, HostFile, blocks, name_edit
from translators.intent_source.host.compiled import Compiling, NotCarried, bare_calls, check_constexprs
from translators.intent_source.host.editing import Document, Edit
from translators.intent_source.host.lexical import names_of
from translators.intent_source.host.results import Outputs, Results
from translators.intent_source.host.specialisation import Specialisations
from translators.intent_source.read import codes
from translators.intent_source.read.liveness import bound
from translators.intent_source.read.scope import HostName, ModuleScope, Namespace
from translators.logical.composition import Composition, Defined, Definition, Host, Parameter, ParameterKind, Text

BUILD: Final = "build"
# Statements of what the kernels mean, scripts and tests are for the author of the file, not for callers of the module.
_NOT_COMPOSED: Final = re.compile(r"reference|reference_\w+|\w+_reference|main|test_\w+|bench(mark)?(_\w+)?")


@dataclass(frozen=True, slots=True)
class HostReading:
    """`host` is None if nothing composes kernels, or if something is wrong with what does."""

    host: Host | None
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Carried:
    """A statement that can be carried over. `callable` is the function it defines, or that `build` returns."""

    definition: Definition
    needs: tuple[str, ...]
    imports: tuple[str, ...]
    kernels: tuple[str, ...]
    callable: ast.FunctionDef | ast.Lambda | None = None
    built: bool = False
    parameters: tuple[Parameter, ...] = ()
    outputs: tuple[str, ...] | None = ()


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
            if isinstance(statement, ast.FunctionDef):
                return _function(carrier, statement, Results(carrier, self._outputs_of))
            return _constant(carrier, statement)
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
        functions = [node for node in self.file.statements.values() if isinstance(node, ast.FunctionDef)]
        composed = [node for node in functions if self._composes(node)]
        definitions: dict[str, Carried] = {}
        compositions: list[Composition] = []
        for node in composed:
            mine: dict[str, Carried] = {}
            reason = self.needed(node.name, mine)
            if reason is not None:
                self._report(node, reason)
                continue
            definitions.update(mine)
            if not node.name.startswith("_"):
                compositions.append(self._composition(node, mine))
        if not compositions:
            return None
        order = sorted(definitions, key=lambda name: self.file.statements[name].lineno)
        imports = dict.fromkeys(line for name in order for line in definitions[name].imports)
        distinct = dict.fromkeys(definitions[name].definition for name in order)
        return Host(tuple(imports), tuple(distinct), tuple(compositions))

    def _composes(self, node: ast.FunctionDef) -> bool:
        """Whether the function calls kernels, itself or through others."""
        if not isinstance(self.file.scope.names.get(node.name), HostName) or _NOT_COMPOSED.fullmatch(node.name):
            return False
        names = names_of(node)
        self.diagnostics.extend(bare_calls(self.file.scope, names))
        return self._reaches_kernels(node, set())

    def _reaches_kernels(self, node: ast.FunctionDef, seen: set[str]) -> bool:
        seen.add(node.name)
        names = names_of(node)
        if _compiles(self.file.scope, node):
            return True
        used = {name.id for name, region in names.regions.items() if region is None}
        if used & set(self.file.artifacts):
            return True
        others = [self.file.statements.get(name) for name in sorted(used - seen)]
        for other in others:
            if isinstance(other, ast.FunctionDef) and self._reaches_kernels(other, seen):
                return True
            if isinstance(other, (ast.Assign, ast.AnnAssign)) and _compiles(self.file.scope, other):
                return True
        return False

    def _composition(self, node: ast.FunctionDef, definitions: dict[str, Carried]) -> Composition:
        carried = definitions[node.name]
        kernels = dict.fromkeys(name for each in definitions.values() for name in each.kernels)
        source = carried.callable if isinstance(carried.callable, ast.FunctionDef) else None
        name = source.name if source is not None and source.name != BUILD else None
        return Composition(
            name=name or _stem(self.file.scope.source.path),
            function=node.name,
            built=carried.built,
            parameters=carried.parameters,
            outputs=carried.outputs,
            kernels=tuple(kernels),
            docstring=ast.get_docstring(source) if source is not None else None,
        )

    def _report(self, node: ast.FunctionDef, reason: NotCarried) -> None:
        """Without its `build` the module lacks its purpose; other functions may be the author's alone."""
        if self.carried.get(node.name) is None:
            return
        severe = node.name == BUILD
        at = reason.node if getattr(reason.node, "lineno", None) else node
        where = self.file.scope.source.header(at) if isinstance(at, ast.stmt) else self.file.scope.source.span(at)
        message = f"the host function '{node.name}' is not carried over: it {reason}"
        if severe:
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


# ---------------------------------------------------------------------------------------------------------------- texts
def _constant(carrier: Carrier, statement: ast.Assign | ast.AnnAssign) -> Carried:
    document = carrier.file.document
    assert statement.end_lineno is not None
    first = document.comments_above(statement.lineno, 0)
    text = document.block(first, statement.end_lineno, 0, carrier.edits)
    definition = Definition(tuple(sorted(bound((statement,)))), text, False)
    return Carried(definition, tuple(carrier.needs), tuple(carrier.imports), tuple(carrier.kernels))


def _function(carrier: Carrier, node: ast.FunctionDef, results: Results) -> Carried:
    """A plain function is carried over whole; of `build`, what it returns if that stands alone."""
    if carrier.context is None:
        found = Carried(_whole(carrier, node), (), (), (), node, False, _parameters(carrier, node.args))
        result: ast.FunctionDef | ast.Lambda | None = node
    else:
        result, alone = _returned(carrier, node)
        if alone and isinstance(result, ast.Lambda):
            definition, built = _of_lambda(carrier, node, result), False
        elif alone and isinstance(result, ast.FunctionDef):
            definition, built = _whole(carrier, result, node.name), False
        else:
            definition, built = _builder(carrier, node), True
        parameters = _parameters(carrier, result.args) if result is not None else _ANY
        found = Carried(definition, (), (), (), result, built, parameters)
    return replace(
        found,
        needs=tuple(carrier.needs),
        imports=tuple(carrier.imports),
        kernels=tuple(carrier.kernels),
        outputs=results.of(result) if result is not None else None,
    )


_ANY: Final = (Parameter("arguments", "any number"), Parameter("keywords", "any keywords"))


def _whole(carrier: Carrier, node: ast.FunctionDef, defined: str | None = None) -> Definition:
    """A function's text, at the left margin and under the name it has in the module."""
    document = carrier.file.document
    name = defined or node.name
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    first = document.comments_above(first, node.col_offset)
    edits = [*carrier.edits, name_edit(document, node, name), *_removals(carrier, node)]
    assert node.end_lineno is not None
    text = document.block(first, node.end_lineno, node.col_offset, edits)
    return Definition((name,), text, True, carrier.local)


def _builder(carrier: Carrier, node: ast.FunctionDef) -> Definition:
    """`build` itself, without its context; it runs once, when the result is first called."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    document = carrier.file.document
    start, end = document.range(arguments[0])
    following = re.compile(r"\s*,?\s*(/\s*,?\s*)?").match(document.text, end)
    assert following is not None
    carrier._replace(start, following.end())
    whole = _whole(carrier, node)
    return replace(whole, text=("@functools.cache\n", *whole.text))


def _of_lambda(carrier: Carrier, node: ast.FunctionDef, found: ast.Lambda) -> Definition:
    document = carrier.file.document
    body = document.expression(found.body, carrier.edits)
    if found.body.lineno != found.body.end_lineno:
        body = ("(", *body, ")")
    start = document.range(found)[0] + len("lambda")
    end = document.text.rindex(":", start, document.range(found.body)[0])
    parameters = [
        piece.strip() if isinstance(piece, str) else piece for piece in document.extract(start, end, carrier.edits)
    ]
    return Definition(
        (node.name,), ("def ", Defined(node.name), "(", *parameters, "):\n    return ", *body), True, carrier.local
    )


def _removals(carrier: Carrier, node: ast.FunctionDef) -> Iterator[Edit]:
    for block in blocks(node):
        yield from carrier.removals(block)


def _returned(carrier: Carrier, node: ast.FunctionDef) -> tuple[ast.FunctionDef | ast.Lambda | None, bool]:
    """What `build` returns, and whether it needs nothing else of `build`."""
    rest = [each for each in node.body if each not in carrier.removed and not _is_docstring(each)]
    returns = [each for each in ast.walk(node) if isinstance(each, ast.Return)]
    last = node.body[-1]
    result: ast.FunctionDef | ast.Lambda | None = None
    match last:
        case ast.Return(value=ast.Lambda() as result):
            alone = rest == [last]
        case ast.Return(value=ast.Name(id=name)):
            result = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == name), None)
            alone = result is not None and rest == [result, last]
        case _:
            raise NotCarried(returns[-1] if returns else node, "does not end in returning the function that it builds")
    return result, alone and result is not None and not _depends(carrier, node, result)


def _depends(carrier: Carrier, node: ast.FunctionDef, inner: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether the inner function uses variables of `build` that are still there, or itself."""
    region = carrier.names.functions[node]
    inside = {each for each in ast.walk(inner) if isinstance(each, ast.Name)}
    return any(
        found is region and name in inside and not carrier._is_covered(name)
        for name, found in carrier.names.regions.items()
        if not carrier.compiling.is_context(name)
    )


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _parameters(carrier: Carrier, arguments: ast.arguments) -> tuple[Parameter, ...]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    first: ParameterKind = "positional only"
    kinds: list[ParameterKind] = [first] * len(arguments.posonlyargs) + ["positional"] * len(arguments.args)
    found = [
        Parameter(argument.arg, kind, _text(carrier, default))
        for argument, kind, default in zip(positional, kinds, defaults, strict=True)
    ]
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, "any number"))
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    found += [Parameter(argument.arg, "keyword only", _text(carrier, default)) for argument, default in pairs]
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, "any keywords"))
    return tuple(found)


def _text(carrier: Carrier, default: ast.expr | None) -> Text | None:
    return carrier.file.document.expression(default, carrier.edits) if default is not None else None

"""Host code's ways of compiling a kernel and of calling what that gave: recognised, and held against the signature."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NoReturn

from intent.records import dataclass
from translators.diagnostics import Diagnostic, Rejected
from translators.intent_source.host.lexical import Names, Region
from translators.intent_source.read import codes
from translators.intent_source.read.constants import fold
from translators.intent_source.read.definitions import parameters_of
from translators.intent_source.read.operands import EnumMember, Literal, Text
from translators.intent_source.read.scope import KernelName, ModuleScope, Namespace, suggestion
from translators.logical.composition import CallForm
from translators.logical.program import Kernel
from translators.logical.types import View, output_symbols


class NotCarried(Exception):
    """Host code that has no place in a module of its own; the message completes "it ..."."""

    def __init__(self, node: ast.AST, reason: str) -> None:
        super().__init__(reason)
        self.node = node


@dataclass(frozen=True, slots=True)
class Request:
    """A call of `intent.compile` or `context.compile`: kernel, constexprs, and a name for the specialisation."""

    kernel: KernelName
    constexprs: Mapping[str, object]
    name: str | None


@dataclass(frozen=True, slots=True)
class Use:
    """A call of a compiled kernel: `callee` is the expression that is called, such as `sums.run`."""

    callee: ast.expr
    call: ast.Call
    form: CallForm

    @property
    def allocates(self) -> bool:
        """The outputs are no arguments."""
        return self.form != "launch"

    @property
    def given_outputs(self) -> bool:
        return self.form == "prepare" and any(keyword.arg == "outputs" for keyword in self.call.keywords)


@dataclass(frozen=True, slots=True)
class Compiling:
    """Recognises compile calls in one statement of the file. `context` is the parameter of `build`, with its region."""

    scope: ModuleScope
    names: Names
    context: tuple[Region, str] | None = None

    def is_context(self, node: ast.expr) -> bool:
        if self.context is None or not isinstance(node, ast.Name):
            return False
        region, name = self.context
        return node.id == name and self.names.regions[node] is region

    def is_intent(self, node: ast.expr) -> bool:
        known = isinstance(node, ast.Name) and self.names.regions[node] is None
        return known and self.scope.names.get(node.id) == Namespace("intent")  # type: ignore[attr-defined]

    def request(self, call: ast.Call) -> Request | None:
        """What a call compiles; None if it is another call."""
        match call.func:
            case ast.Attribute(value=owner, attr="compile") if self.is_context(owner):
                parts = self._arguments(call, ("name", "kernel", "constexprs"))
                name = self._name(call, parts)
                return Request(self._kernel(call, parts), self._constexprs(parts), name)
            case ast.Attribute(value=owner, attr="compile") if self.is_intent(owner):
                parts = self._arguments(call, ("kernel", "target", "constexprs", "options", "compiler"))
                if "options" in parts:
                    raise NotCarried(parts["options"], "compiles with options of its own; give them to the compiler")
                return Request(self._kernel(call, parts), self._constexprs(parts), None)
            case _:
                return None

    def _arguments(self, call: ast.Call, parameters: tuple[str, ...]) -> dict[str, ast.expr]:
        given = dict(zip(parameters, call.args, strict=False))
        given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
        unknown = [name for name in given if name not in parameters]
        stars = any(isinstance(each, ast.Starred) for each in call.args) or any(not each.arg for each in call.keywords)
        if unknown or stars or len(call.args) > len(parameters):
            message = f"compile takes {', '.join(parameters)}"
            self.scope.reject(
                call, codes.HOST_COMPILE, message, suggestion(unknown[0], parameters) if unknown else None
            )
        return given

    def _kernel(self, call: ast.Call, parts: Mapping[str, ast.expr]) -> KernelName:
        node = parts.get("kernel")
        if node is None:
            self.scope.reject(call, codes.HOST_COMPILE, "compile is given no kernel")
        if self._is_local(node) or not isinstance(node, (ast.Name, ast.Attribute)):
            raise NotCarried(node, "chooses the kernel to compile when it runs")
        found = fold(self.scope, node)
        if not isinstance(found, KernelName):
            self.scope.reject(node, codes.HOST_COMPILE, f"'{ast.unparse(node)}' is no kernel")
        return found

    def _is_local(self, node: ast.expr) -> bool:
        return any(self.names.regions[each] is not None for each in ast.walk(node) if isinstance(each, ast.Name))

    def _name(self, call: ast.Call, parts: Mapping[str, ast.expr]) -> str | None:
        match parts.get("name"):
            case ast.Constant(value=str(name)):
                return name
            case None:
                self.scope.reject(call, codes.HOST_COMPILE, "context.compile takes a name, then the kernel")
            case node:
                help = 'context.compile("name", kernel)'
                self.scope.reject(node, codes.HOST_COMPILE, "the name of a specialisation is a string literal", help)

    def _constexprs(self, parts: Mapping[str, ast.expr]) -> dict[str, object]:
        match parts.get("constexprs"):
            case None | ast.Constant(value=None):
                return {}
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return {self._constexpr_name(key): self._constant(value) for key, value in pairs}
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
                return {keyword.arg or "": self._constant(keyword.value) for keyword in keywords}
            case node:
                raise NotCarried(node, "does not list its constexprs where it compiles")

    def _constexpr_name(self, key: ast.expr | None) -> str:
        match key:
            case ast.Constant(value=str(name)):
                return name
            case _:
                raise NotCarried(key or ast.Constant(None), "does not list its constexprs where it compiles")

    def _constant(self, node: ast.expr) -> object:
        """The value if it is known without running anything."""
        try:
            found = fold(self.scope, node) if not self._is_local(node) else None
        except Rejected:
            found = None
        match found:
            case Literal(value=value):
                return value
            case Text(value=text):
                return text
            case EnumMember(name=name):
                return name
            case _:
                raise NotCarried(node, "computes a constexpr when it runs")


def check_constexprs(scope: ModuleScope, call: ast.Call, request: Request) -> None:
    """Rejected if the kernel has no such constexpr."""
    declared = [parameter.arg for parameter, _ in parameters_of(request.kernel.node.args)]
    for name in request.constexprs:
        if name not in declared:
            message = f"the kernel '{request.kernel.node.name}' has no constexpr parameter '{name}'"
            scope.reject(call, codes.UNKNOWN_CONSTEXPR, message, suggestion(name, declared))


# --------------------------------------------------------------------------------------------------------------- calls
def use_of(node: ast.expr, names: Names) -> Use | None:
    """How a compiled kernel is called where it stands; None if it is used as a value."""
    match names.parents.get(node):
        case ast.Call(func=callee) as call if callee is node:
            return Use(node, call, "launch")
        case ast.Attribute(attr="run" | "launch" | "prepare" as form) as callee:
            around = names.parents.get(callee)
            return Use(callee, around, form) if isinstance(around, ast.Call) and around.func is callee else None
        case ast.Attribute(attr=member) as callee:
            raise NotCarried(callee, f"uses .{member} of a compiled kernel")
        case _:
            return None


def check_call(scope: ModuleScope, use: Use, kernel: Kernel) -> None:
    """Rejected if the arguments do not fit the signature. What stars unpack cannot be seen."""
    call = use.call
    stars = any(isinstance(each, ast.Starred) for each in call.args) or any(not each.arg for each in call.keywords)
    if stars:
        return
    names = _parameters(kernel, use.allocates)
    symbols = output_symbols(kernel.views) if use.allocates else []
    form = f"{kernel.name}.{use.form}" if use.allocates else kernel.name
    shown = f"'{form}' takes {', '.join([*names, *(f'{symbol}=' for symbol in symbols)]) or 'nothing'}"
    if len(call.args) > len(names):
        _misfit(scope, call, f"{shown}, and is given {len(call.args)} arguments")
    keywords = [keyword.arg or "" for keyword in call.keywords if not (keyword.arg == "outputs" and use.given_outputs)]
    given = [*names[: len(call.args)], *keywords]
    for name in given:
        if name not in names and name not in symbols:
            _misfit(scope, call, f"{shown}, and no '{name}'", _advice(kernel, name))
        if given.count(name) > 1:
            _misfit(scope, call, f"{shown}, and is given '{name}' twice")
    missing = [name for name in (*names, *([] if use.given_outputs else symbols)) if name not in given]
    if missing:
        help = "artifact(...) takes the outputs too; artifact.run(...) allocates them" if not use.allocates else None
        _misfit(scope, call, f"{shown}, and is given no {', '.join(missing)}", help)


def _parameters(kernel: Kernel, allocates: bool) -> list[str]:
    return [
        each.name
        for each in kernel.parameters
        if not (allocates and isinstance(each, View) and each.direction == "Out")
    ]


def _advice(kernel: Kernel, name: str) -> str | None:
    if any(constant.name == name for constant in kernel.constants):
        return f"'{name}' is a constexpr: bind it where the kernel is compiled, constexprs={{\"{name}\": ...}}"
    if any(view.name == name for view in kernel.views):
        return f"run allocates '{name}' and returns it"
    return None


def _misfit(scope: ModuleScope, call: ast.Call, message: str, help: str | None = None) -> NoReturn:
    scope.reject(call, codes.HOST_CALL, message, help)


def bare_calls(scope: ModuleScope, names: Names) -> Iterator[Diagnostic]:
    """Kernels that are called without having been compiled."""
    for node, region in names.regions.items():
        parent = names.parents.get(node)
        called = isinstance(parent, ast.Call) and parent.func is node
        if called and region is None and isinstance(scope.names.get(node.id), KernelName):
            message = f"the kernel '{node.id}' is called without having been compiled"
            help = f"compiled = intent.compile({node.id}), and call that"
            yield Diagnostic(codes.HOST_KERNEL_CALL, "error", message, scope.source.span(node), help)

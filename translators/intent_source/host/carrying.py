"""One function or constant of the file as text that stands in another module."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Final

from intent.annotations import canonical_dtype_name
from intent.dtypes import BY_NAME
from intent.records import dataclass, field
from translators.diagnostics import Rejected
from translators.intent_source.host.compiled import (
    Compiling,
    NotCarried,
    Request,
    Use,
    check_call,
    check_constexprs,
    use_of,
)
from translators.intent_source.host.editing import Document, Edit
from translators.intent_source.host.lexical import Function, Names, Region, names_of
from translators.intent_source.host.specialisation import Specialisations
from translators.intent_source.read import codes
from translators.intent_source.read.constants import fold
from translators.intent_source.read.operands import Function as Helper
from translators.intent_source.read.operands import Literal, Token
from translators.intent_source.read.scope import Binding, KernelName, ModuleScope, Namespace
from translators.logical.composition import CallForm, Defined, KernelFunction, KernelParameter, KernelValue
from translators.logical.program import Kernel

BUILD: Final = "build"
PACKAGES: Final = frozenset({"torch", "triton", "numpy"}) | sys.stdlib_module_names
Statement = ast.FunctionDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, slots=True)
class HostFile:
    """What all statements of a file share. `artifacts` are its module-level names for compiled kernels."""

    scope: ModuleScope
    document: Document
    kernels: Specialisations
    statements: dict[str, ast.stmt]  # what binds each name of the module; several statements: the name is missing
    artifacts: dict[str, Kernel] = field(default_factory=dict)


@dataclass(slots=True)
class Carrier:
    """The edits that make a statement stand on its own, and what it needs beside itself."""

    file: HostFile
    root: Statement
    context: str | None = None  # the parameter of `build` that compiles
    names: Names = field(init=False)
    compiling: Compiling = field(init=False)
    edits: list[Edit] = field(default_factory=list)
    needs: dict[str, None] = field(default_factory=dict)  # in order
    imports: dict[str, None] = field(default_factory=dict)
    kernels: dict[str, None] = field(default_factory=dict)
    removed: list[ast.stmt] = field(default_factory=list)
    compiled: dict[ast.Call, Kernel] = field(default_factory=dict)
    calls: dict[ast.Call, tuple[Kernel, CallForm]] = field(default_factory=dict)
    _covered: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = names_of(self.root)
        region = self.names.functions[self.root] if isinstance(self.root, ast.FunctionDef) else None
        context = (region, self.context) if region is not None and self.context is not None else None
        self.compiling = Compiling(self.file.scope, self.names, context)

    def carry(self) -> None:
        """NotCarried if the statement depends on what has no place in another module; Rejected if it is wrong."""
        self._refuse_statements()
        self._signatures()
        for call in [node for node in ast.walk(self.root) if isinstance(node, ast.Call)]:
            request = self.compiling.request(call)
            if request is not None:
                self._compile(call, request)
        for call, kernel in self.compiled.items():
            self._place(call, kernel)
        for node, region in self.names.regions.items():
            if not self._is_covered(node):
                self._name(node, region)
        self._refuse_hiding()

    @property
    def local(self) -> frozenset[str]:
        return frozenset(name for region in self.names.functions.values() for name in region.names)

    # ------------------------------------------------------------------------------------------------------- statements
    def _refuse_statements(self) -> None:
        for node in ast.walk(self.root):
            match node:
                case ast.Global():
                    raise NotCarried(node, "changes variables of the module")
                case ast.AsyncFunctionDef() | ast.Await() | ast.Yield() | ast.YieldFrom():
                    raise NotCarried(node, "is no plain function")
                case ast.ClassDef():
                    raise NotCarried(node, "defines a class")
                case ast.Import(names=aliases):
                    self._check_packages(node, [alias.name for alias in aliases])
                case ast.ImportFrom(module=module, level=level):
                    self._check_packages(node, [module if module and not level else "."])
                case _:
                    pass

    def _refuse_hiding(self) -> None:
        """What was put into the text names `torch` and `_device`."""
        for node in ast.walk(self.root):
            match node:
                case (
                    ast.arg(arg="torch" | "_device" as name) | ast.Name(id="torch" | "_device" as name, ctx=ast.Store())
                ):
                    raise NotCarried(node, f"has a variable called {name}")
                case _:
                    pass

    def _check_packages(self, node: ast.AST, modules: Iterable[str]) -> None:
        for module in modules:
            if module.partition(".")[0] not in PACKAGES:
                raise NotCarried(node, f"imports {module}; a generated module has torch, triton and numpy only")

    def _signatures(self) -> None:
        """Annotations name types that the module need not have."""
        for node in ast.walk(self.root):
            match node:
                case ast.arg(arg=name, annotation=ast.expr()):
                    start, end = self._range(node)
                    default = re.compile(r"\s*=\s*").match(self.file.document.text, end)
                    self._replace(start + len(name), default.end() if default else end, "=" if default else "")
                case ast.FunctionDef(returns=ast.expr() as returned):
                    start, end = self._range(returned)
                    arrow = self.file.document.text.rindex("->", 0, start)
                    before = len(self.file.document.text[:arrow].rstrip())
                    self._replace(before, self.file.document.text.index(":", end))
                case ast.AnnAssign(target=target, value=ast.expr() as value) if node is not self.root:
                    self._replace(self._range(target)[1], self._range(value)[0], " = ")
                case _:
                    pass

    # ---------------------------------------------------------------------------------------------------------- kernels
    def _compile(self, call: ast.Call, request: Request) -> None:
        parent = self.names.parents.get(call)
        wish = request.name
        if wish is None and isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            wish = parent.targets[0].id.lower()
        check_constexprs(self.file.scope, call, request)
        kernel = self.file.kernels.get(request.kernel, request.constexprs, wish)
        if kernel is None:
            raise NotCarried(call, f"compiles '{request.kernel.node.name}', which has errors")
        self.compiled[call] = kernel

    def _place(self, call: ast.Call, kernel: Kernel) -> None:
        """A kernel that is only called needs no variable: its functions stand in the calls."""
        use = use_of(call, self.names)
        variable = self._variable(call)
        if use is not None:
            self._use(use, kernel)
        elif variable is not None:
            for occurrence in variable:
                found = use_of(occurrence, self.names)
                assert found is not None
                self._use(found, kernel)
            statement = self.names.parents[call]
            assert isinstance(statement, ast.stmt)
            self.removed.append(statement)
            self._covered.append(self._range(statement))
        else:
            self._value(call, kernel)

    def _variable(self, call: ast.Call) -> list[ast.Name] | None:
        """The calls through the variable that alone holds the kernel; None if it is anything but called."""
        match self.names.parents.get(call):
            case ast.Assign(targets=[ast.Name(id=name) as target]) as statement:
                region = self.names.regions[target]
                others = [node for node in self.names.of(region, name) if node is not target]
            case _:
                return None
        owner = region.node if region is not None else None
        if not isinstance(owner, ast.FunctionDef) or name in _parameters(owner):
            return None
        if not all(isinstance(node.ctx, ast.Load) and use_of(node, self.names) is not None for node in others):
            return None
        return others if self.file.document.removal(statement, False) is not None else None

    def _use(self, use: Use, kernel: Kernel) -> None:
        check_call(self.file.scope, use, kernel)
        self.kernels[kernel.name] = None
        self.calls[use.call] = (kernel, use.form)
        self._replace(*self._range(use.callee), KernelFunction(kernel.name, use.form))
        for keyword in use.call.keywords:
            if keyword.arg is not None and not (keyword.arg == "outputs" and use.given_outputs):
                start, _ = self._range(keyword)
                self._replace(start, start + len(keyword.arg), KernelParameter(kernel.name, keyword.arg))

    def _value(self, node: ast.expr, kernel: Kernel) -> None:
        self.kernels[kernel.name] = None
        self._replace(*self._range(node), KernelValue(kernel.name))

    # ------------------------------------------------------------------------------------------------------------ names
    def _name(self, node: ast.Name, region: Region | None) -> None:
        if self.compiling.is_context(node):
            self._context(node)
        elif region is None and isinstance(node.ctx, ast.Load):
            self._global(node)
        elif region is None:
            self._replace(*self._range(node), Defined(node.id))

    def _global(self, node: ast.Name) -> None:
        name, binding = node.id, self.file.scope.names.get(node.id)
        if name in self.file.artifacts:
            use = use_of(node, self.names)
            kernel = self.file.artifacts[name]
            self._use(use, kernel) if use is not None else self._value(node, kernel)
            return
        match binding:
            case None if hasattr(builtins, name):
                pass
            case None:
                raise NotCarried(node, f"uses '{name}', which nothing defines")
            case KernelName() | Helper():
                raise NotCarried(node, f"uses '{name}', which the compiler reads and Python does not run")
            case Namespace(path="intent" | "intent.language") | Token():
                self._language(node)
            case _:
                self._definition(node, binding)

    def _definition(self, node: ast.Name, binding: Binding) -> None:
        """A name of another statement of the file."""
        statement = self.file.statements.get(node.id)
        match statement:
            case ast.Import() | ast.ImportFrom():
                self.imports[_import_of(statement, node.id, self)] = None
            case ast.FunctionDef() | ast.Assign() | ast.AnnAssign():
                self.needs[node.id] = None
                self._replace(*self._range(node), Defined(node.id))
            case _:
                raise NotCarried(node, f"uses '{node.id}', which is no function and no constant of the file")

    def _language(self, node: ast.Name) -> None:
        """A dtype of the language is PyTorch's of the same elements; constants are numbers."""
        whole: ast.expr = node
        while isinstance(parent := self.names.parents.get(whole), ast.Attribute):
            whole = parent
        parent = self.names.parents.get(whole)
        if isinstance(parent, ast.Call) and parent.func is whole:
            whole = parent
        try:
            found = fold(self.file.scope, whole)
        except Rejected:
            found = None
        match found:
            case Token(dtype=dtype):
                self._replace(*self._range(whole), f"torch.{dtype.element}")
            case Literal(value=value):
                text = f'float("{value}")' if value in (float("inf"), float("-inf")) else repr(value)
                self._replace(*self._range(whole), text)
            case _:
                raise NotCarried(whole, f"uses {ast.unparse(whole)}")

    def _context(self, node: ast.Name) -> None:
        """`context.empty(shape, dtype)`; compiling is done with already."""
        attribute = self.names.parents.get(node)
        if not isinstance(attribute, ast.Attribute):
            raise NotCarried(node, "passes its context on")
        call = self.names.parents.get(attribute)
        if attribute.attr != "empty" or not isinstance(call, ast.Call) or call.func is not attribute:
            raise NotCarried(node, f"uses .{attribute.attr} of its context")
        given = dict(zip(("shape", "dtype"), call.args, strict=False))
        given.update({keyword.arg or "": keyword.value for keyword in call.keywords})
        if set(given) != {"shape", "dtype"} or len(call.args) + len(call.keywords) != 2:
            message, help = "context.empty takes a shape and a dtype", "context.empty((rows, columns), I.f32)"
            self.file.scope.reject(call, codes.HOST_CALL, message, help)
        self._empty(call, given["dtype"])

    def _empty(self, call: ast.Call, dtype: ast.expr) -> None:
        self._replace(*self._range(call.func), "torch.empty")
        start, end = self._range(dtype)
        keyword = "" if any(each.value is dtype for each in call.keywords) else "dtype="
        match dtype:
            case ast.Constant(value=str(name)) if name in BY_NAME:
                self._replace(start, end, f"{keyword}torch.{BY_NAME[name].element}")
            case ast.Constant(value=value):
                meant = canonical_dtype_name(str(value))
                help = f'write "{meant}", or I.{meant}' if meant else "write a dtype of the language, such as I.f32"
                self.file.scope.reject(dtype, codes.HOST_CALL, f"{value!r} is no dtype", help)
            case _ if keyword:
                self.edits.append(Edit(start, start, (keyword,)))
            case _:
                pass
        after = max(self._range(part)[1] for part in (*call.args, *call.keywords))
        self.edits.append(Edit(after, after, (", device=_device()",)))

    # ------------------------------------------------------------------------------------------------------------ edits
    def _range(self, node: ast.AST) -> tuple[int, int]:
        return self.file.document.range(node)

    def _replace(
        self, start: int, end: int, *text: str | KernelFunction | KernelParameter | KernelValue | Defined
    ) -> None:
        self.edits.append(Edit(start, end, text))
        self._covered.append((start, end))

    def _is_covered(self, node: ast.AST) -> bool:
        start, end = self._range(node)
        return any(first <= start and end <= last for first, last in self._covered)

    def removals(self, body: list[ast.stmt]) -> Iterator[Edit]:
        """Delete the removed statements of a block, which does not begin with blank lines afterwards."""
        if all(statement in self.removed for statement in body):
            yield Edit(*self._range(body[-1]), ("pass",))
            body = body[:-1]
        at_start = True
        for statement in body:
            if statement in self.removed:
                edit = self.file.document.removal(statement, at_start)
                assert edit is not None
                yield edit
            else:
                at_start = False


def blocks(function: Function) -> Iterator[list[ast.stmt]]:
    """Every list of statements in a function."""
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def name_edit(document: Document, function: ast.FunctionDef, defined: str) -> Edit:
    """Names a function as the module does."""
    start, end = document.range(function)
    found = re.compile(rf"def\s+({function.name})\b").search(document.text, document.line_start(function.lineno), end)
    assert found is not None and start <= found.start()
    return Edit(found.start(1), found.end(1), (Defined(defined),))


def _parameters(function: Function) -> list[str]:
    return [argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)]


def _import_of(statement: ast.Import | ast.ImportFrom, name: str, carrier: Carrier) -> str:
    """The part of an import statement that binds a name, as a statement."""
    alias = next(each for each in statement.names if (each.asname or each.name.partition(".")[0]) == name)
    renamed = f" as {alias.asname}" if alias.asname else ""
    if isinstance(statement, ast.Import):
        carrier._check_packages(statement, [alias.name])
        return f"import {alias.name}{renamed}"
    module = statement.module if statement.module and not statement.level else "."
    carrier._check_packages(statement, [module])
    return f"from {module} import {alias.name}{renamed}"

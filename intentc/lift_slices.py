"""Slices of a package: one kernel with the device functions and constants that it needs, as files that can be imported.

Importing the package itself would run its host code, which asks for devices. A slice has one file for each file that
something is taken from, so that names keep their scope. Decorators that tune are left out, and so are annotations that
are no `constexpr`. Under the interpreter a scalar argument is a plain number, tensors have no `and`, and Triton's
device library gives nothing: all that goes through `lift_shims`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from copy import deepcopy
from typing import Final

from intent.dtypes import DType
from intent.records import dataclass, field
from translators.triton_source.read.builtins import BUILTINS
from translators.triton_source.read.source import TritonFile, triton_dtype
from translators.triton_source.read.values import Builtin, Function, Module, Undefined, Value

HEAD: Final = """import math
import torch
import triton
import triton.language as tl
import lift_shims
"""
_MODULES: Final = {
    "libdevice": "lift_shims", "extra": "tl.extra", "tl": "tl", "triton": "triton", "math": "math", "torch": "torch",
}  # fmt: skip


def sliced(file: TritonFile, kernel: str) -> dict[str, str]:
    """Texts by module name; the kernel is in the first one."""
    slicing = _Slicing()
    slicing.function(file.functions[kernel])
    return {each.name: each.text() for each in slicing.slices.values()}


@dataclass(slots=True)
class _Slice:
    """What is taken from one file."""

    name: str
    bindings: dict[str, str] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)

    def text(self) -> str:
        kept = [ast.unparse(node) for node in self.functions.values()]
        return "\n".join([HEAD, *self.bindings.values(), "", *kept, ""])


@dataclass(slots=True)
class _Slicing:
    slices: dict[int, _Slice] = field(default_factory=dict)

    def slice(self, file: TritonFile) -> _Slice:
        return self.slices.setdefault(id(file), _Slice(f"slice_{len(self.slices)}"))

    def function(self, function: Function) -> None:
        target = self.slice(function.file)
        if function.name in target.functions:
            return
        target.functions[function.name] = function.node  # until it is rewritten: a callee may refer back
        for name in _free_names(function.node):
            self.name(function.file, name)
        for owner, name in _attributes(function.node):
            found = function.file.resolve(owner)
            if isinstance(found, Module):
                self.name(found.file, name)
        del target.functions[function.name]  # callees come first: a default or a decorator may name them
        target.functions[function.name] = _rewritten(function)

    def name(self, file: TritonFile, name: str) -> None:
        """Make the name mean in the slice what it means in the file."""
        target = self.slice(file)
        if name in target.bindings or name in target.functions:
            return
        value = file.resolve(name)
        match value:
            case Function() if value.file is file and value.name == name:
                self.function(value)
            case Function() if value.file is file:
                self.function(value)
                alias = deepcopy(target.functions[value.name])
                alias.name = name
                target.functions[name] = alias
            case Function():
                self.function(value)
                target.bindings[name] = f"from {self.slice(value.file).name} import {value.name} as {name}"
            case Module():
                target.bindings[name] = f"import {self.slice(value.file).name} as {name}"
            case _:
                text = None if isinstance(value, Undefined) else _spelled(value, _is_constexpr(file, name))
                if text is not None:
                    target.bindings[name] = f"{name} = {text}"


def _is_constexpr(file: TritonFile, name: str) -> bool:
    return any("constexpr" in ast.unparse(each) for each in file.tables.get(name, ()))


def _spelled(value: Value, constexpr: bool) -> str | None:
    match value:
        case Builtin(name=name):
            first, dot, rest = name.partition(".")
            text = f"{_MODULES[first]}{dot}{rest}" if first in _MODULES else None
            # The interpreter replaces functions within Triton's modules, which a name bound earlier would not see.
            return f"lambda *a, **k: {text}(*a, **k)" if name in BUILTINS and first == "tl" else text
        case DType():
            return f"tl.{triton_dtype(value)}"
        case bool() | int() | float() | str() | None:
            infinite = isinstance(value, float) and not math.isfinite(value)
            text = f"float('{value}')" if infinite else repr(value)
            return f"tl.constexpr({text})" if constexpr else text
        case tuple():
            parts = [_spelled(each, False) for each in value]
            return None if None in parts else f"({', '.join(map(str, parts))},)"
        case _:
            return None


def _free_names(node: ast.FunctionDef) -> Iterator[str]:
    own = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    own |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    stripped = _without_annotations(node)
    used = {each.id for each in ast.walk(stripped) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    return iter(sorted(used - own))


def _attributes(node: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
            yield inner.value.id, inner.attr


def _without_annotations(node: ast.FunctionDef) -> ast.FunctionDef:
    made = deepcopy(node)
    made.returns = None
    made.decorator_list = []
    for parameter in (*made.args.posonlyargs, *made.args.args, *made.args.kwonlyargs):
        if parameter.annotation is not None:
            constexpr = "constexpr" in ast.unparse(parameter.annotation)
            parameter.annotation = ast.parse("tl.constexpr", mode="eval").body if constexpr else None
    return made


_CALLED_TYPES: Final = frozenset(
    f"tl.{each}" for each in ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64")
)


_LIBRARIES: Final = frozenset(
    f"{root}.extra.{path}libdevice" for root in ("tl", "triton.language") for path in ("", "cuda.")
)
_HISTOGRAMS: Final = frozenset({"tl.histogram", "triton.language.histogram"})


class _Shimmed(ast.NodeTransformer):
    """What Triton's interpreter takes for plain Python: x.to(...), x.value, tl.float32(x), and `and`, `or`, `not`, `**`
    of tensors.
    """

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to":
            return ast.Call(_shim("to"), [node.func.value, *node.args], node.keywords)
        if len(node.args) == 1 and not node.keywords and ast.unparse(node.func) in _CALLED_TYPES:
            return ast.Call(_shim("to"), [node.args[0], node.func], [])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return ast.Call(_shim("power"), [node.left, node.right], []) if isinstance(node.op, ast.Pow) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if ast.unparse(node.value) in _LIBRARIES or ast.unparse(node) in _HISTOGRAMS:
            return _shim(node.attr)
        if node.attr == "value" and isinstance(node.ctx, ast.Load):
            return ast.Call(_shim("value"), [node.value], [])
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        name = "both" if isinstance(node.op, ast.And) else "either"
        made = node.values[0]
        for operand in node.values[1:]:
            later = ast.Lambda(ast.arguments([], [], None, [], [], None, []), operand)
            made = ast.Call(_shim(name), [made, later], [])
        return made

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return ast.Call(_shim("negation"), [node.operand], []) if isinstance(node.op, ast.Not) else node


def _shim(name: str) -> ast.expr:
    return ast.Attribute(ast.Name("lift_shims", ast.Load()), name, ast.Load())


def _rewritten(function: Function) -> ast.FunctionDef:
    made = _without_annotations(function.node)
    made.name = function.name
    _Shimmed().visit(made)
    made.decorator_list = [ast.parse("triton.jit", mode="eval").body]
    return ast.fix_missing_locations(made)

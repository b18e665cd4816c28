"""A file of Triton code as text: its device functions, constants, imported names, and host functions. Nothing runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from intent import dtypes as d
from intent.dtypes import DType
from translators.triton_source.read.values import Builtin, Function, Value

# Where Triton's own modules are imported from, by the prefix that the reader's tables use.
_MODULES: Final = {
    "triton": "triton",
    "triton.language": "tl",
    "triton.language.core": "tl",
    "triton.language.standard": "tl",
    "triton.language.math": "tl.math",
    "triton.language.extra": "extra",
    "triton.language.extra.libdevice": "libdevice",
    "triton.language.extra.cuda": "extra",
    "triton.language.extra.cuda.libdevice": "libdevice",
    "triton.language.extra.hip.libdevice": "libdevice",
    "math": "math",
    "torch": "torch",
    "numpy": "numpy",
}
_DTYPES: Final[Mapping[str, DType]] = {
    "int1": d.boolean, "bool": d.boolean, "int8": d.i8, "int16": d.i16, "int32": d.i32, "int64": d.i64, "uint8": d.u8,
    "uint16": d.u16, "uint32": d.u32, "uint64": d.u64, "float16": d.f16, "bfloat16": d.bf16, "float32": d.f32,
    "float64": d.f64, "float8e4nv": d.f8e4m3fn, "float8e5": d.f8e5m2, "half": d.f16, "long": d.i64, "int": d.i32,
    "float": d.f32, "double": d.f64, "short": d.i16, "float8_e4m3fn": d.f8e4m3fn, "float8_e5m2": d.f8e5m2,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TritonFile:
    """`functions` are those decorated with triton.jit, `hosts` all others, `names` the module's other names."""

    path: str
    functions: Mapping[str, Function]
    hosts: Mapping[str, ast.FunctionDef]
    names: Mapping[str, Value]
    tables: Mapping[str, ast.expr]

    @property
    def kernels(self) -> tuple[Function, ...]:
        """The functions that a host can launch: called by no other device function, and returning nothing."""
        called = {name for function in self.functions.values() for name in _names(function.node)}
        return tuple(
            function
            for name, function in self.functions.items()
            if name not in called and not _returns_value(function.node)
        )


def read_file(text: str, path: str) -> TritonFile:
    """Raises SyntaxError if the text is not Python."""
    functions: dict[str, Function] = {}
    hosts: dict[str, ast.FunctionDef] = {}
    names: dict[str, Value] = {}
    tables: dict[str, ast.expr] = {}
    for statement in _statements(ast.parse(text).body):
        match statement:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                if any(map(_is_jit, decorators)):
                    functions[name] = Function(name, statement, tuple(decorators))
                else:
                    hosts[name] = statement
            case ast.Import() | ast.ImportFrom():
                names.update(_imported(statement))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                tables[name] = value
                names.update(_constant(name, value, names))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                names.update(_constant(name, value, names))
            case _:
                pass
    return TritonFile(path, functions, hosts, names, tables)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Module-level statements, also those under `if` and `try`, and methods of classes (host code)."""
    for statement in body:
        match statement:
            case ast.If(body=inner, orelse=other):
                yield from _statements(inner)
                yield from _statements(other)
            case ast.Try(body=inner, handlers=handlers):
                for handler in handlers:
                    yield from _statements(handler.body)
                yield from _statements(inner)
            case ast.ClassDef(body=inner):
                yield from (each for each in inner if isinstance(each, ast.FunctionDef))
            case _:
                yield statement


def _is_jit(decorator: ast.expr) -> bool:
    name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return name in ("triton.jit", "jit", "triton.runtime.jit", "triton_jit")


def _names(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            yield inner.func.id
        if isinstance(inner, ast.Call):
            yield from (argument.id for argument in inner.args if isinstance(argument, ast.Name))


def _returns_value(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function))


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Value]]:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            known = _MODULES.get(alias.name if alias.asname else alias.name.split(".")[0])
            if known is not None:
                yield alias.asname or alias.name.split(".")[0], Builtin(known)
        return
    for alias in statement.names:
        whole = f"{statement.module}.{alias.name}"
        prefix = _MODULES.get(statement.module or "")
        if whole in _MODULES:
            yield alias.asname or alias.name, Builtin(_MODULES[whole])
        elif prefix is not None:
            yield alias.asname or alias.name, member(Builtin(prefix), alias.name)


def member(module: Builtin, name: str) -> Value:
    """An attribute of one of Triton's modules."""
    if module.name in ("tl", "torch", "numpy") and name in _DTYPES:
        return _DTYPES[name]
    inner = {"tl.extra": "extra", "extra.libdevice": "libdevice", "extra.cuda": "extra", "triton.language": "tl"}
    whole = f"{module.name}.{name}"
    return Builtin(inner.get(whole, whole))


def _constant(name: str, value: ast.expr, known: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    """Literals, and constexpr literals, of the module; and other names for what is known."""
    match value:
        case ast.Call(func=function, args=[inner]) if ast.unparse(function) in (
            "tl.constexpr",
            "triton.language.constexpr",
        ):
            yield from _constant(name, inner, known)
        case ast.Call() | ast.Compare() if "TRITON_INTERPRET" in ast.unparse(value):
            yield name, False  # whether the interpreter runs the kernel: what is lifted is the compiled program
        case ast.Name(id=other) if other in known:
            yield name, known[other]
        case ast.Attribute(value=ast.Name(id=module)) if isinstance(known.get(module), Builtin):
            owner = known[module]
            assert isinstance(owner, Builtin)
            yield name, member(owner, value.attr)
        case _:
            literal = _literal(value)
            if literal is not None:
                yield name, literal


def _literal(value: ast.expr) -> int | float | str | None:
    try:
        found = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return None
    return found if isinstance(found, int | float | str) else None

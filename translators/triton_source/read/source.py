"""A file of Triton code as text: its device functions, constants, imported names, and host functions. Nothing runs.

Other files of its package are found by path and read in the same way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from intent import dtypes as d
from intent.dtypes import DType
from intent.records import dataclass, field
from translators.triton_source.read.elementwise import SCALAR_NAME, elementwise_kernel
from translators.triton_source.read.values import UNDEFINED, Builtin, Function, Module, Undefined, Value

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
    "torch._inductor.runtime.triton_helpers": "triton_helpers",
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
class Import:
    """A name that another file of the package defines, or that file itself if `name` is None."""

    module: str
    level: int
    name: str | None


@dataclass(frozen=True, slots=True, eq=False)
class TritonFile:
    """`functions` are those decorated with triton.jit, `hosts` all others, `names` what comes from Triton's modules,
    `tables` all that a name is assigned, `pointers` the parameters of kernels that are known to be pointers."""

    path: str
    functions: Mapping[str, Function]
    hosts: Mapping[str, ast.FunctionDef]
    names: Mapping[str, Value]
    tables: Mapping[str, list[ast.expr]]
    imports: Mapping[str, Import] = field(default_factory=dict)
    package: Package = field(default_factory=lambda: Package())
    pointers: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, compare=False, repr=False)
    _kernels: list[tuple[Function, ...]] = field(default_factory=list, init=False, compare=False, repr=False)

    @property
    def kernels(self) -> tuple[Function, ...]:
        """The functions that a host can launch: called by no other device function, and returning nothing."""
        if not self._kernels:  # the whole file has been read when it is first asked for them
            self._kernels.append(self._launchable())
        return self._kernels[0]

    def _launchable(self) -> tuple[Function, ...]:
        called: set[str] = set()
        returning: set[str] = set()
        for name, function in self.functions.items():
            for node in ast.walk(function.node):
                if isinstance(node, ast.Call):
                    called.update(_names(node))
                elif isinstance(node, ast.Return) and node.value is not None:
                    returning.add(name)
        return tuple(each for name, each in self.functions.items() if name not in called | returning)

    def resolve(self, name: str, importing: frozenset[tuple[str, str]] = frozenset()) -> Value | Undefined:
        """What a name of the module stands for, in this file or in the one that it is imported from."""
        if name in self.functions:
            return self.functions[name]
        if (self.path, name) in importing:
            return UNDEFINED
        importing = importing | {(self.path, name)}
        for assigned in reversed(self.tables.get(name, ())):
            value = constant_of(self, assigned, importing)
            if not isinstance(value, Undefined):
                return value
        if name in self.names:
            return self.names[name]
        found = self.imports.get(name)
        if found is None:
            return UNDEFINED
        if found.name is None:
            file = self.package.module(self.path, found.module, found.level)
            return UNDEFINED if file is None else Module(file)
        file = self.package.module(self.path, found.module, found.level)
        made = UNDEFINED if file is None else file.resolve(found.name, importing)
        if made is not UNDEFINED:
            return made
        inner = self.package.module(self.path, f"{found.module}.{found.name}".strip("."), found.level)
        return UNDEFINED if inner is None else Module(inner)


@dataclass(slots=True)
class Package:
    """The files that a file of Triton code imports by path, each read once. They are never imported.

    `alone`: there are none.
    """

    files: dict[Path, TritonFile | None] = field(default_factory=dict)
    texts: dict[Path, str] = field(default_factory=dict)
    alone: bool = False

    def module(self, importer: str, module: str, level: int) -> TritonFile | None:
        for path in () if self.alone else _module_paths(Path(importer), module, level):
            found = self.read(path)
            if found is not None:
                return found
        return None

    def read(self, path: Path) -> TritonFile | None:
        """A file by its path; None if it cannot be read."""
        if path not in self.files:
            self.files[path] = None  # while it is being read
            self.files[path] = self._read(path)
        return self.files[path]

    def text(self, path: Path) -> str:
        """What the file holds, whatever it is."""
        if path not in self.texts:
            self.texts[path] = path.read_text(encoding="utf-8-sig", errors="replace")
        return self.texts[path]

    def _read(self, path: Path) -> TritonFile | None:
        try:
            return read_file(self.text(path), str(path), self)
        except (OSError, ValueError, SyntaxError):
            return None


def _module_paths(importer: Path, module: str, level: int) -> Iterator[Path]:
    """Where the file of a module can be: beside the importer, or in a directory around it that has the package's
    name."""
    parts = [part for part in module.split(".") if part]
    above = importer.absolute().parents
    if level:
        roots = [above[level - 1]] if level <= len(above) else []
    else:
        roots = [each.parent for each in above if parts and each.name == parts[0]] or [above[0]]
    for root in roots:
        whole = root.joinpath(*parts)
        if parts:
            yield whole.with_name(f"{whole.name}.py")
        yield whole / "__init__.py"


def read_file(text: str, path: str, package: Package | None = None) -> TritonFile:
    """Raises SyntaxError if the text is not Python."""
    functions: dict[str, Function] = {}
    reading = _Reading()
    file = TritonFile(
        path, functions, reading.hosts, reading.names, reading.tables, reading.imports, package or Package()
    )
    for statement in _statements(ast.parse(text).body):
        reading.statement(statement)
    for name, (node, decorators) in reading.functions.items():
        kernel = elementwise_kernel(node, decorators)
        if kernel is not None:
            reading.names.setdefault("tl", Builtin("tl"))
            scalar = SCALAR_NAME.format(name)
            functions[scalar] = Function(scalar, node, decorators, file)
        functions[name] = Function(name, kernel or node, decorators, file)
    return file


@dataclass(slots=True)
class _Reading:
    """What the module's statements bind, the last one counting."""

    functions: dict[str, tuple[ast.FunctionDef, tuple[ast.expr, ...]]] = field(default_factory=dict)
    hosts: dict[str, ast.FunctionDef] = field(default_factory=dict)
    names: dict[str, Value] = field(default_factory=dict)
    tables: dict[str, list[ast.expr]] = field(default_factory=dict)
    imports: dict[str, Import] = field(default_factory=dict)

    def statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                if any(map(_is_jit, decorators)):
                    self.functions[name] = (statement, tuple(decorators))
                else:
                    self.hosts[name] = statement
            case ast.Import() | ast.ImportFrom():
                self.names.update(_imported(statement))
                self.imports.update(_imports(statement))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assigned(name, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._assigned(name, value)
            case _:
                pass

    def _assigned(self, name: str, value: ast.expr) -> None:
        decorated = _jit_of(value)
        if decorated is not None and decorated[0] in self.hosts:
            self.functions[name] = (self.hosts[decorated[0]], decorated[1])
        self.tables.setdefault(name, []).append(value)


def _jit_of(value: ast.expr) -> tuple[str, tuple[ast.expr, ...]] | None:
    """`triton.jit(f)`, also within calls of decorators: (f, the decorators)."""
    decorators: list[ast.expr] = []
    while isinstance(value, ast.Call) and len(value.args) == 1:
        decorators.append(value.func)
        value = value.args[0]
    if isinstance(value, ast.Name) and any(map(_is_jit, decorators)):
        return value.id, tuple(decorators)
    return None


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Module-level statements, also those under `if` and `try`, and methods of classes (host code)."""
    for statement in body:
        match statement:
            case ast.If(test=test, body=inner, orelse=other):
                decided = _decided(test)
                if decided is not False:
                    yield from _statements(inner)
                if decided is not True:
                    yield from _statements(other)
            case ast.Try(body=inner, handlers=handlers):
                for handler in handlers:
                    yield from _statements(handler.body)
                yield from _statements(inner)
            case ast.ClassDef(body=inner):
                yield from (each for each in inner if isinstance(each, ast.FunctionDef))
            case _:
                yield statement


def _decided(test: ast.expr) -> bool | None:
    """A comparison of an environment variable that is not set, so that its default counts; or of versions: the newer
    one counts."""
    match test:
        case ast.Compare(left=ast.Call(args=[_, ast.Constant(value=default)]) as call, ops=[operation],
                         comparators=[ast.Constant(value=other)]) if ast.unparse(call.func) in (
            "os.environ.get",
            "os.getenv",
        ):  # fmt: skip
            if isinstance(operation, ast.Eq | ast.NotEq):
                return (default == other) == isinstance(operation, ast.Eq)
            return None
        case ast.Compare(ops=[operation]) if "version" in ast.unparse(test):
            newer, older = isinstance(operation, ast.Gt | ast.GtE), isinstance(operation, ast.Lt | ast.LtE)
            return True if newer else False if older else None
        case ast.Call() if "version" in ast.unparse(test.func):
            operators = {ast.unparse(argument).rpartition(".")[2] for argument in test.args}
            return True if operators & {"ge", "gt"} else False if operators & {"le", "lt"} else None
        case ast.BoolOp(op=operation, values=values) if any(_decided(each) is not None for each in values):
            return (all if isinstance(operation, ast.And) else any)(map(_holds, values))
        case _:
            return None


def _holds(test: ast.expr) -> bool:
    """Beside a condition that is decided, what asks for a particular device does not hold."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return not _holds(test.operand)
    return _decided(test) is True


_CONSTEXPR: Final = (
    "tl.constexpr", "triton.language.constexpr", "constexpr", "core.constexpr", "triton.constexpr_function",
    "constexpr_function",
)  # fmt: skip


def _is_jit(decorator: ast.expr) -> bool:
    """Also of functions that are called while a kernel is compiled."""
    name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return name in ("triton.jit", "jit", "triton.runtime.jit", "triton_jit") or name in _CONSTEXPR


def _names(call: ast.Call) -> Iterator[str]:
    """What may be called: the function, or what is handed to it."""
    return (each.id for each in (call.func, *call.args) if isinstance(each, ast.Name))


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Value]]:
    """Names of Triton's own modules and what they hold."""
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


def _imports(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Import]]:
    """Names that may come from other files of the package."""
    if isinstance(statement, ast.Import):
        yield from ((alias.asname, Import(alias.name, 0, None)) for alias in statement.names if alias.asname)
        return
    if not statement.level and (statement.module or "") in _MODULES:
        return
    for alias in statement.names:
        yield alias.asname or alias.name, Import(statement.module or "", statement.level, alias.name)


def member(module: Builtin, name: str) -> Value:
    """An attribute of one of Triton's modules."""
    if module.name in ("tl", "torch", "numpy") and name in _DTYPES:
        return _DTYPES[name]
    inner = {"tl.extra": "extra", "extra.libdevice": "libdevice", "extra.cuda": "extra", "triton.language": "tl",
             "triton_helpers.libdevice": "libdevice", "triton_helpers.math": "tl.math"}  # fmt: skip
    whole = f"{module.name}.{name}"
    return Builtin(inner.get(whole, whole))


# ------------------------------------------------------------------------------------------- module-level constants


def constant_of(
    file: TritonFile, node: ast.expr, importing: frozenset[tuple[str, str]] = frozenset()
) -> Value | Undefined:
    """The value of an expression of the module that is a compile-time constant."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.Name(id=name):
            return file.resolve(name, importing)
        case ast.Attribute(value=ast.Call(func=ast.Attribute(attr="finfo" | "iinfo"), args=[of]), attr=name):
            return _limit(constant_of(file, of, importing), name)
        case ast.Attribute(value=owner, attr=name):
            return _attribute(constant_of(file, owner, importing), name, importing)
        case ast.Call(func=function, args=[inner]) if ast.unparse(function) in _CONSTEXPR:
            return constant_of(file, inner, importing)
        case ast.Call() | ast.Compare() if "TRITON_INTERPRET" in ast.unparse(node):
            return False  # whether the interpreter runs the kernel: what is lifted is the compiled program
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            values = [constant_of(file, part, importing) for part in parts]
            known = tuple(value for value in values if not isinstance(value, Undefined))
            return known if len(known) == len(values) else UNDEFINED
        case ast.UnaryOp() | ast.BinOp() | ast.Call():
            return _computed(file, node, importing)
        case _:
            return UNDEFINED


def _limit(dtype: Value | Undefined, name: str) -> Value | Undefined:
    """`torch.finfo(dtype).max` and the like."""
    if not isinstance(dtype, DType) or name not in ("min", "max"):
        return UNDEFINED
    if dtype.is_integer:
        lowest = -(2 ** (dtype.bits - 1)) if dtype.is_signed else 0
        return lowest if name == "min" else lowest + 2**dtype.bits - 1
    largest = _LARGEST.get(dtype)
    return UNDEFINED if largest is None else -largest if name == "min" else largest


_LARGEST: Final = {
    d.f16: 65504.0, d.bf16: float.fromhex("0x1.fep127"), d.f32: float.fromhex("0x1.fffffep127"),
    d.f64: float.fromhex("0x1.fffffffffffffp1023"),
}  # fmt: skip


def triton_dtype(dtype: DType) -> str:
    """Triton's own name of a type."""
    return next(name for name, each in _DTYPES.items() if each == dtype)


def _attribute(owner: Value | Undefined, name: str, importing: frozenset[tuple[str, str]]) -> Value | Undefined:
    match owner:
        case Builtin():
            return member(owner, name)
        case Module(file=inner):
            return inner.resolve(name, importing)
        case _:
            return owner if name == "value" else UNDEFINED


def _computed(file: TritonFile, node: ast.expr, importing: frozenset[tuple[str, str]]) -> Value | Undefined:
    """Arithmetic on numbers, `float("inf")`, and the limits of types."""
    match node:
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() | int() | float() as text)]):
            return float(text)
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if name in file.hosts:
            return _returned(file, file.hosts[name], importing)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = constant_of(file, operand, importing)
            return -value if isinstance(value, int | float) else UNDEFINED
        case ast.BinOp(left=left, op=operator, right=right):
            values = [constant_of(file, each, importing) for each in (left, right)]
            return _arithmetic(operator, *values)
        case _:
            return UNDEFINED


def _returned(file: TritonFile, function: ast.FunctionDef, importing: frozenset[tuple[str, str]]) -> Value | Undefined:
    """What a function without parameters chooses, if it does nothing else."""
    match [each for each in function.body if not isinstance(each, ast.Expr)]:
        case [ast.Return(value=ast.IfExp(test=test, body=true, orelse=false))] if _decided(test) is not None:
            return constant_of(file, true if _decided(test) else false, importing)
        case [ast.Return(value=ast.expr() as value)]:
            return constant_of(file, value, importing)
        case _:
            return UNDEFINED


def _arithmetic(operator: ast.operator, left: Value | Undefined, right: Value | Undefined) -> Value | Undefined:
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return UNDEFINED
    try:
        match operator:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.FloorDiv():
                return left // right
            case ast.Pow():
                return left**right
            case ast.LShift() if isinstance(left, int) and isinstance(right, int) and 0 <= right < 128:
                return left << right
            case _:
                return UNDEFINED
    except (ArithmeticError, ValueError):
        return UNDEFINED

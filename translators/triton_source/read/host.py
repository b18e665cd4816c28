"""Host code that launches kernels, as text: grids, and what is passed for sizes, block sizes and types. Nothing runs.

A host function is followed statement by statement with integers as polynomials: dimensions of tensors are symbols, as
are local
constants that are passed on as block sizes. What is not understood is unknown; a launch then says less, never
something else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce as fold
from itertools import takewhile
from operator import mul
from pathlib import Path
from typing import Final

from intent import dtypes as d
from intent.dtypes import DType
from intent.records import dataclass, field, replace
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Polynomial,
    Quotient,
    Remainder,
    Symbol,
    ceiling_divide,
    floor_divide,
    maximum,
    minimum,
    number,
    symbol,
)
from translators.triton_source.read import conditions
from translators.triton_source.read.absence import ABSENT, Absent, flags, optional_parameters, truth
from translators.triton_source.read.chosen_kernels import Chosen, chosen_kernels, merged, numbers
from translators.triton_source.read.source import TritonFile
from translators.triton_source.read.values import Function

PLAN: Final = "_Plan"  # what a row of a generated module's table of plans is
_OPAQUE: Final = " of line "
_DTYPES: Final = {
    "float16": d.f16, "bfloat16": d.bf16, "float32": d.f32, "float64": d.f64, "int8": d.i8, "int16": d.i16,
    "int32": d.i32, "int64": d.i64, "uint8": d.u8, "bool": d.boolean, "float": d.f32, "half": d.f16, "long": d.i64,
    "int": d.i32,
}  # fmt: skip
_VIEW_DTYPES: Final = _DTYPES | {
    "float8_e4m3fn": d.f8e4m3fn, "float8_e5m2": d.f8e5m2, "uint16": d.u16, "uint32": d.u32, "uint64": d.u64,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HostTensor:
    """A tensor of the host, by name; its dtype if the code says it; its shape if it is allocated there, row by row."""

    name: str
    dtype: DType | None = None
    shape: tuple[Polynomial, ...] | None = None


@dataclass(frozen=True, slots=True)
class Covering:
    """next_power_of_2(of): at least `of`."""

    of: Polynomial


HostValue = Polynomial | HostTensor | Covering | Absent | DType | float | str | None | tuple["HostValue", ...]
_Names = tuple[dict[str, HostValue], dict[str, "ast.Lambda | ast.FunctionDef"], dict[str, int], dict[str, Chosen]]


@dataclass(frozen=True, slots=True)
class HostLaunch:
    """One launch, in the kernel's own names. `grid` is empty if it is not understood; `facts` are not negative.

    `bytes` are arrays of floats of eight bits of which the kernel gets the bytes.
    """

    kernel: str
    grid: tuple[Polynomial, ...]
    constants: Mapping[str, bool | int | float | str | None]
    dtypes: Mapping[str, DType]
    facts: tuple[Polynomial, ...]
    line: int
    bytes: frozenset[str] = frozenset()
    guards: tuple[Polynomial, ...] = ()  # not negative, as conditions around the launch say
    absent: frozenset[str] = frozenset()  # arguments of the host function that are None
    strides: Mapping[str, Polynomial] = field(default_factory=dict)  # parameters that are strides of what is allocated


def read_launches(file: TritonFile, absent: bool = False) -> tuple[HostLaunch, ...]:
    """Every launch in the file that is found, in order; of kernels that it has none of, those beside it.

    `absent`: as they are where no argument is given that can be left out.
    """
    return HostCode(file).launches(absent)


@dataclass(slots=True)
class HostCode:
    """The host functions of a file and of those beside it, each followed once for what its caller leaves out."""

    file: TritonFile
    followed: dict[tuple[ast.FunctionDef, frozenset[str]], tuple[HostLaunch, ...]] = field(default_factory=dict)

    def launches(self, absent: bool) -> tuple[HostLaunch, ...]:
        """As `read_launches` has them."""
        file = self.file
        found = list(self._launches_in(file, absent))
        missing = {each.name for each in file.kernels} - {each.kernel for each in found}
        for other in _beside(file, missing):
            found.extend(each for each in self._launches_in(other, absent) if each.kernel in missing)
        return tuple(found)

    def _launches_in(self, file: TritonFile, absent: bool) -> Iterator[HostLaunch]:
        for function in file.hosts.values():
            key = (function, frozenset(optional_parameters(function) if absent else ()))
            if key not in self.followed:
                launches = _Host(file, function, self.file, key[1]).launches() if _has_launch(function) else ()
                self.followed[key] = tuple(launches)
            yield from self.followed[key]


def _has_launch(function: ast.FunctionDef) -> bool:
    """Whether something in it looks like one."""
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(isinstance(each, ast.Subscript) or (isinstance(each, ast.Name) and each.id == PLAN) for each in calls)


def _beside(file: TritonFile, names: set[str]) -> Iterator[TritonFile]:
    """The files of the same folder that launch one of these kernels."""
    own = Path(file.path)
    for path in sorted(own.parent.glob("*.py")) if names and not file.package.alone and own.is_file() else ():
        text = file.package.text(path)
        if path != own and own.stem in text and any(f"{name}[" in text for name in names):
            other = file.package.read(path)
            if other is not None:
                yield other


@dataclass(slots=True)
class _Host:
    file: TritonFile
    function: ast.FunctionDef
    kernels: TritonFile  # whose kernels are launched
    absent: frozenset[str] = frozenset()  # parameters that are None
    names: dict[str, HostValue] = field(default_factory=dict)
    lambdas: dict[str, ast.Lambda | ast.FunctionDef] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)  # of local integer constants, which are symbols
    chosen: dict[str, Chosen] = field(default_factory=dict)  # kernels by other names
    guards: tuple[Polynomial, ...] = ()  # not negative where the statement at hand is reached
    unsteady: frozenset[str] = frozenset()
    asked: set[str] = field(default_factory=set)  # absent parameters that something was computed with
    strides: dict[Atom, Polynomial] = field(default_factory=dict)  # of tensors that are allocated, row by row

    def launches(self) -> Iterator[HostLaunch]:
        self.unsteady = conditions.unsteady(self.function)
        arguments = self.function.args
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            self.names[parameter.arg] = ABSENT if parameter.arg in self.absent else HostTensor(parameter.arg)
        self._default_types(arguments)
        yield from self._block(self.function.body)

    def _default_types(self, arguments: ast.arguments) -> None:
        """What a caller that names no type of elements gets."""
        positional = [*arguments.posonlyargs, *arguments.args]
        named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        for each, default in (*zip(reversed(positional), reversed(arguments.defaults), strict=False), *named):
            stated = None if default is None else self.value(default)
            if isinstance(stated, DType):
                self.names[each.arg] = stated

    def _block(self, statements: Sequence[ast.stmt]) -> Iterator[HostLaunch]:
        around = self.guards
        for statement in statements:
            match statement:
                case ast.If(test=test, body=body, orelse=other):
                    decided = truth(test, self.value)
                    if decided is None:
                        yield from self._branches(statement, *conditions.known(test, self._number))
                        continue
                    taken = body if decided else other
                    yield from self._block(taken)
                    if conditions.leaves(taken):
                        break
                    continue
                case ast.Assert(test=test):
                    self.guards += conditions.known(test, self._number)[0]
                case ast.FunctionDef(name=name):
                    self.lambdas[name] = statement
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._assign(target, value)
                case ast.AugAssign(target=ast.Name(id=name)):
                    self.names[name] = symbol(f"{name}{_OPAQUE}{statement.lineno}")
                    self.values.pop(name, None)
                case ast.With() | ast.For() | ast.While():
                    yield from self._block(statement.body)
                    yield from self._block(getattr(statement, "orelse", []))
                    continue
                case _:
                    pass
            for node in ast.walk(statement):
                if isinstance(node, ast.Call):
                    yield from self._launch(node)
        self.guards = around

    def _branches(
        self, statement: ast.If, holds: tuple[Polynomial, ...], fails: tuple[Polynomial, ...]
    ) -> Iterator[HostLaunch]:
        """What the condition says holds in one branch, and its opposite in the other and after a branch that leaves."""
        around, before = self.guards, self._known_names()
        self.guards = around + holds
        yield from self._block(statement.body)
        after = self._known_names()
        self.guards = around + fails
        self._go_on(before)
        yield from self._block(statement.orelse)
        left = (conditions.leaves(statement.body), conditions.leaves(statement.orelse))
        self.guards = around + (fails if left == (True, False) else holds if left == (False, True) else ())
        if left == (False, True):
            self._go_on(after)
        elif left != (True, False):
            self._merge(after, statement.lineno)

    def _known_names(self) -> _Names:
        return dict(self.names), dict(self.lambdas), dict(self.values), dict(self.chosen)

    def _go_on(self, known: _Names) -> None:
        names, lambdas, values, chosen = known
        self.names, self.lambdas, self.values, self.chosen = dict(names), dict(lambdas), dict(values), dict(chosen)

    def _merge(self, other: _Names, line: int) -> None:
        """What is known after either of two ways: what differs is a number by name, or a tensor of some type."""
        names, lambdas, values, chosen = other
        self.chosen = merged(chosen, self.chosen)
        self.lambdas = {name: each for name, each in self.lambdas.items() if lambdas.get(name, each) is each} | {
            name: each for name, each in lambdas.items() if name not in self.lambdas
        }
        for name in {**names, **self.names}:
            one, two = names.get(name), self.names.get(name)
            if one == two and values.get(name) == self.values.get(name):
                continue
            self.values.pop(name, None)
            tensors = isinstance(one, HostTensor) or isinstance(two, HostTensor)
            counted = isinstance(one, Polynomial | Covering) or isinstance(two, Polynomial | Covering)
            if tensors and not counted:
                self.names[name] = HostTensor(name)
            else:
                self.names[name] = symbol(f"{name}{_OPAQUE}{line}") if counted else None

    def _number(self, node: ast.expr) -> Polynomial | None:
        """A number that is the same wherever its names are; local constants are the numbers that they are."""
        if any(isinstance(each, ast.Name) and each.id in self.unsteady for each in ast.walk(node)):
            return None
        value = _counted(self.value(node))
        if not isinstance(value, Polynomial):
            return None
        return value.substitute({Symbol(name): number(known) for name, known in self.values.items()})

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.chosen.pop(target.id, None)
            chosen = chosen_kernels(value, self._kernel, self.chosen, self._number, self.guards)
            if chosen:
                self.chosen[target.id] = chosen
        match target, value:
            case ast.Name(id=name), ast.Lambda():
                self.lambdas[name] = value
            case ast.Name(id=name), ast.Constant(value=int() as constant) if not isinstance(constant, bool):
                self.names[name] = symbol(name)
                self.values[name] = constant
            case ast.Name(id=name), _:
                self.names[name] = self._renamed(self._known(target, self.value(value), value), name)
            case ast.Tuple(elts=targets), ast.Attribute(attr="shape", value=ast.Name(id=tensor)):
                for axis, each in enumerate(targets):
                    if isinstance(each, ast.Name):
                        self.names[each.id] = _dimension(tensor, axis)
            case ast.Tuple(elts=targets), _:
                for each, part, origin in self._parts(targets, value):
                    if isinstance(each, ast.Name):
                        self.names[each.id] = self._known(each, part, origin)
            case _:
                pass

    def _parts(self, targets: Sequence[ast.expr], value: ast.expr) -> Iterator[tuple[ast.expr, HostValue, ast.expr]]:
        """What each target is given, and by which expression; `*x.shape` has the dimensions that are left for it."""
        elements = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        starred = [each for each in elements if isinstance(each, ast.Starred)]
        if len(elements) == len(targets) and not starred:
            yield from ((each, self.value(part), part) for each, part in zip(targets, elements, strict=True))
            return
        rest = iter(targets)
        for element in elements if len(starred) == 1 else ():
            match element:
                case ast.Starred(value=ast.Attribute(attr="shape", value=ast.Name(id=tensor))):
                    for axis in range(len(targets) - len(elements) + 1):
                        yield next(rest), _dimension(tensor, axis), element
                case ast.Starred():
                    for _ in range(len(targets) - len(elements) + 1):
                        yield next(rest), None, element
                case _:
                    yield next(rest), self.value(element), element
        parts = self.value(value) if not starred else None
        for position, each in enumerate(rest):
            known = isinstance(parts, tuple) and len(parts) == len(targets)
            yield each, parts[position] if known and isinstance(parts, tuple) else None, value

    def _known(self, target: ast.expr, value: HostValue, origin: ast.expr) -> HostValue:
        """A number that is not understood is itself: computed with, it is the same wherever its name stands."""
        absent = isinstance(origin, ast.Constant | ast.Tuple | ast.List | ast.Dict | ast.Set)
        return symbol(f"{ast.unparse(target)}{_OPAQUE}{target.lineno}") if value is None and not absent else value

    def _renamed(self, value: HostValue, name: str) -> HostValue:
        return replace(value, name=name) if isinstance(value, HostTensor) else value

    # --------------------------------------------------------------------------------------------------------- launches
    def _launch(self, node: ast.Call) -> Iterator[HostLaunch]:
        match node.func:
            case ast.Subscript(value=ast.Name() as launched, slice=grid):
                for each in chosen_kernels(launched, self._kernel, self.chosen, self._number, self.guards):
                    arguments = self._arguments(each.kernel, node)
                    yield self._bound(each.kernel, self._grid(grid), arguments, node.lineno, each.guards)
            case ast.Name(id=name) if name == PLAN and node.args and isinstance(node.args[0], ast.Name):
                yield from self._planned(node)

    def _kernel(self, name: str) -> Function | None:
        if self.file is self.kernels:
            return self.file.functions.get(name)
        found = self.file.resolve(name)
        if not isinstance(found, Function) or Path(found.file.path).resolve() != Path(self.kernels.path).resolve():
            return None
        return found

    def _planned(self, node: ast.Call) -> Iterator[HostLaunch]:
        """A row of a plan table, as generated modules have them; what is passed stands in a tuple of its own."""
        assert isinstance(node.args[0], ast.Name)
        kernel = self.file.functions.get(node.args[0].id)
        if kernel is None or len(node.args) < 2:
            return
        types = view_types(self.file)
        for parameter in self.function.args.args:
            name = parameter.arg
            self.names[name] = HostTensor(name, types[name]) if name in types else symbol(name)
        programs = self.value(node.args[1])
        arguments = dict(zip(_parameter_names(kernel), self._passed(node), strict=False))
        if len(node.args) > 2 and isinstance(node.args[2], ast.Dict):
            for key, value in zip(node.args[2].keys, node.args[2].values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    arguments[key.value] = self.value(value)
        grid = (programs,) if isinstance(programs, Polynomial) else ()
        launch = self._bound(kernel, grid, arguments, node.lineno, self.guards)
        as_bytes = {name for name, dtype in launch.dtypes.items() if dtype in (d.f8e4m3fn, d.f8e5m2)}
        yield replace(launch, bytes=frozenset(as_bytes))

    def _passed(self, plan: ast.Call) -> list[HostValue]:
        """The first arguments of a launch by plan: arrays, then sizes; what is unpacked after them is left out.

        Where the numbers depend on the plan, they are named beside it.
        """
        for node in ast.walk(self.function):
            match node:
                case ast.Call(func=ast.Name(id="_launch"), args=[_, ast.Tuple(elts=views), integers, *_]):
                    named = self._beside(plan, integers.id) if isinstance(integers, ast.Name) else integers
                    numbers = named.elts if isinstance(named, ast.Tuple) else []
                    whole = takewhile(lambda each: not isinstance(each, ast.Starred), (*views, *numbers))
                    return [self.value(each) for each in whole]
                case _:
                    pass
        return []

    def _beside(self, plan: ast.Call, name: str) -> ast.expr | None:
        """What a name is given in the block of the plan, else in the function's own."""
        blocks = [each for node in ast.walk(self.function) for each in _blocks(node)]
        near = [block for block in blocks if any(isinstance(s, ast.Assign) and s.value is plan for s in block)]
        for block in (*near, self.function.body):
            for statement in block:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                        return value
                    case _:
                        pass
        return None

    def _grid(self, node: ast.expr) -> tuple[HostValue, ...]:
        if isinstance(node, ast.Name) and node.id in self.lambdas:
            found = self.lambdas[node.id]
            body = found.body if isinstance(found, ast.Lambda) else _returned(found)
            return self._grid(body) if body is not None else ()
        if isinstance(node, ast.Lambda):
            return self._grid(node.body)
        made = self.value(node)
        return tuple(map(_counted, made)) if isinstance(made, tuple) else ()

    def _arguments(self, kernel: Function, node: ast.Call) -> dict[str, HostValue]:
        names = _parameter_names(kernel)
        bound: dict[str, HostValue] = {}
        for name, argument in zip(names, node.args, strict=False):
            if isinstance(argument, ast.Starred):
                break
            bound[name] = self.value(argument)
        bound.update({each.arg: self.value(each.value) for each in node.keywords if each.arg in names})
        return bound

    def _bound(
        self,
        kernel: Function,
        grid: tuple[HostValue, ...],
        arguments: Mapping[str, HostValue],
        line: int,
        around: tuple[Polynomial, ...],
    ) -> HostLaunch:
        """The grid in the kernel's names: a host integer that is passed as a parameter is that parameter."""
        mapping: dict[Atom, Polynomial] = {}
        facts: list[Polynomial] = []
        constants: dict[str, bool | int | float | str | None] = {}
        for name, value in arguments.items():
            counted = _counted(value)
            atom = counted.atom if isinstance(counted, Polynomial) else None
            if isinstance(atom, Symbol | Quotient | Remainder | Extremum):
                mapping.setdefault(atom, symbol(name))
            self._constant(name, value, constants)
        passed = {
            value: symbol(name) for name, value in arguments.items() if isinstance(value, Polynomial) and value.terms
        }
        for name, value in arguments.items():
            if isinstance(value, Covering):
                facts.append(symbol(name) - passed.get(value.of, value.of.substitute(mapping)))
        extents = tuple(passed.get(each, each.substitute(mapping)) for each in grid if isinstance(each, Polynomial))
        dtypes = {
            name: value.dtype for name, value in arguments.items() if isinstance(value, HostTensor) and value.dtype
        }
        whole = extents if len(extents) == len(grid) else ()
        guards = tuple(each.substitute(mapping) for each in around if mapping.keys() >= set(each.atoms()))
        without = frozenset(name for name, value in arguments.items() if value is ABSENT)
        constants.update(flags(kernel, without))
        constants = {**dict(numbers(guards)), **constants}
        strides = dict(self._strides(arguments, mapping))
        return HostLaunch(
            kernel.name, whole, constants, dtypes, tuple(facts), line, frozenset(), guards, self._unused(), strides
        )

    def _strides(
        self, arguments: Mapping[str, HostValue], mapping: Mapping[Atom, Polynomial]
    ) -> Iterator[tuple[str, Polynomial]]:
        """The parameters that are strides of what the host allocates, as products of other parameters."""
        for name, value in arguments.items():
            product = self.strides.get(value.atom) if isinstance(value, Polynomial) and value.atom else None
            factors = {atom for monomial, _ in product.terms for atom in monomial} if product is not None else set()
            if product is not None and mapping.keys() >= factors:
                yield name, product.substitute(mapping)

    def _unused(self) -> frozenset[str]:
        """The parameters that are still None, and count."""
        return frozenset(name for name in self.absent & self.asked if self.names.get(name) is ABSENT)

    def _constant(self, name: str, value: HostValue, constants: dict[str, bool | int | float | str | None]) -> None:
        if isinstance(value, Polynomial):
            atom = value.atom
            known = self.values.get(atom.name) if isinstance(atom, Symbol) else value.constant
            if known is not None:
                constants[name] = known
        elif isinstance(value, bool | float | str):
            constants[name] = value

    # ------------------------------------------------------------------------------------------------------ expressions
    def value(self, node: ast.expr) -> HostValue:
        match node:
            case ast.Constant(value=bool() | float() | str() as value):
                return value
            case ast.Constant(value=int() as value):
                return number(value)
            case ast.Name(id=name):
                return self._named(name)
            case ast.IfExp(test=test, body=true, orelse=false):
                decided = truth(test, self.value)
                return None if decided is None else self.value(true if decided else false)
            case ast.Compare(left=_, ops=[ast.Is() | ast.IsNot()]) | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return truth(node, self.value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return tuple(self.value(part) for part in parts)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._binary(operator, self.value(left), self.value(right))
            case ast.Subscript(value=owner, slice=index):
                return self._subscript(owner, index)
            case ast.Attribute(value=ast.Name(id="torch"), attr=name):
                return _DTYPES.get(name)
            case ast.Attribute(attr="dtype", value=owner):
                tensor = self.value(owner)
                return tensor.dtype if isinstance(tensor, HostTensor) else None
            case ast.Call():
                return self._call(node)
            case _:
                return None

    def _named(self, name: str) -> HostValue:
        if name in self.names:
            if self.names[name] is ABSENT:
                self.asked.add(name)
            return self.names[name]
        value = self.file.resolve(name)
        return number(value) if isinstance(value, int) and not isinstance(value, bool) else None

    def _binary(self, operator: ast.operator, left: HostValue, right: HostValue) -> HostValue:
        left, right = _counted(left), _counted(right)
        if not isinstance(left, Polynomial) or not isinstance(right, Polynomial):
            return None
        match operator:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.FloorDiv():
                return floor_divide(left, right)
            case _:
                return None

    def _subscript(self, owner: ast.expr, index: ast.expr) -> HostValue:
        match owner, index:
            case ast.Attribute(value=ast.Name(id=tensor), attr="shape"), ast.Constant(value=int() as axis):
                return _dimension(tensor, axis)
            case (
                ast.Attribute(value=ast.Name(id=tensor), attr="shape"),
                ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as axis)),
            ):
                return _dimension(tensor, -axis)
            case ast.Name(), ast.Constant(value=str() as name):
                return symbol(name)  # meta["BLOCK"]
            case ast.Name(id=name), ast.Constant(value=int() as place):
                parts = self.names.get(name)
                return parts[place] if isinstance(parts, tuple) and place < len(parts) else None
            case _:
                return None

    def _call(self, node: ast.Call) -> HostValue:
        name = ast.unparse(node.func)
        values = [self.value(argument) for argument in node.args]
        numbers = [value for value in map(_counted, values) if isinstance(value, Polynomial)]
        match name.rpartition(".")[2], numbers:
            case "cdiv", [top, bottom]:
                return ceiling_divide(top, bottom)
            case "next_power_of_2", [of]:
                return Covering(of)
            case "min", [first, second]:
                return minimum(first, second)
            case "max", [first, second]:
                return maximum(first, second)
            case "int", [only]:
                return only
            case _:
                return self._method(node, name)

    def _method(self, node: ast.Call, name: str) -> HostValue:
        match node.func:
            case ast.Attribute(value=ast.Name(id=tensor), attr="size" | "stride" as which) if len(node.args) == 1:
                axis = node.args[0]
                if isinstance(axis, ast.Constant) and isinstance(axis.value, int):
                    return _dimension(tensor, axis.value) if which == "size" else self._stride(tensor, axis.value)
            case ast.Attribute(value=ast.Name(id=tensor), attr="numel"):
                return symbol(f"{tensor}.numel()")
            case ast.Attribute(attr="contiguous" | "cuda" | "detach", value=owner):
                return self.value(owner)
        if name.startswith("torch.") and name.partition(".")[2] in (
            "empty",
            "zeros",
            "ones",
            "full",
            "empty_like",
            "zeros_like",
        ):
            return self._allocated(node, name)
        match node.func:
            case ast.Attribute(value=owner, attr="new_empty" | "new_zeros" | "new_ones"):
                like = self.value(owner)
                made = self._allocated(node, name)
                return made if made.dtype or not isinstance(like, HostTensor) else replace(made, dtype=like.dtype)
        return None

    def _allocated(self, node: ast.Call, name: str) -> HostTensor:
        stated = next((self.value(each.value) for each in node.keywords if each.arg == "dtype"), None)
        like = self.value(node.args[0]) if name.endswith("_like") and node.args else None
        if stated is None and isinstance(like, HostTensor):
            stated = like.dtype
        shape = None if name.endswith("_like") else self._shape(node)
        return HostTensor(name, stated if isinstance(stated, DType) else None, shape)

    def _shape(self, node: ast.Call) -> tuple[Polynomial, ...] | None:
        """The sizes that a tensor is allocated with, if all are understood: several numbers, or one tuple of them."""
        if any(each.arg == "memory_format" for each in node.keywords):
            return None
        given = [self.value(each) for each in node.args]
        parts = given[0] if given and isinstance(given[0], tuple) else given
        sizes = [_counted(each) for each in parts]
        known = tuple(each for each in sizes if isinstance(each, Polynomial))
        return known if known and len(known) == len(sizes) else None

    def _stride(self, tensor: str, axis: int) -> Polynomial:
        """By name; what it is for a tensor that is allocated here is kept beside it."""
        made, known = symbol(f"{tensor}.stride({axis})"), self.names.get(tensor)
        shape = known.shape if isinstance(known, HostTensor) else None
        atom = made.atom
        assert atom is not None
        self.strides.pop(atom, None)
        if shape is not None and -len(shape) <= axis < len(shape):
            self.strides[atom] = fold(mul, shape[axis % len(shape) + 1 :], number(1))
        return made


def is_opaque(atom: Atom) -> bool:
    """Whether it stands for what the host computes in a way that is not understood."""
    return isinstance(atom, Symbol) and _OPAQUE in atom.name


def _counted(value: HostValue) -> HostValue:
    """A parameter of the host function that is computed with is a number, not a tensor."""
    return symbol(value.name) if isinstance(value, HostTensor) and value.dtype is None else value


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    yield from (block for name in ("body", "orelse") if isinstance(block := getattr(node, name, None), list))


def _dimension(tensor: str, axis: int) -> Polynomial:
    return symbol(f"{tensor}.shape[{axis}]")


def _returned(function: ast.FunctionDef) -> ast.expr | None:
    returns = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    return returns[0] if len(returns) == 1 else None


def _parameter_names(kernel: Function) -> list[str]:
    arguments = kernel.node.args
    return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def view_types(file: TritonFile) -> dict[str, DType]:
    """Element types of a generated module's array parameters, from its tables."""
    found: dict[str, DType] = {}
    for table in (each for tables in file.tables.values() for each in tables):
        for node in ast.walk(table):
            match node:
                case ast.Call(
                    func=ast.Name(id="_View"), args=[ast.Constant(value=name), ast.Constant(value=dtype), *_]
                ):
                    if isinstance(name, str) and dtype in _VIEW_DTYPES:
                        found[name] = _VIEW_DTYPES[dtype]
    return found

"""One kernel of a file: what its parameters are, and its execution.

A parameter's kind is found by use: pointers by what is loaded and stored through, integers by address arithmetic, and
the rest are floats. Element types come from the caller, from annotations, or from use; those are marked as assumed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Final

from intent import dtypes as d
from intent.dtypes import DType
from intent.records import dataclass, field, replace
from translators.algebra.effort import Effort
from translators.algebra.polynomial import Polynomial, Symbol, number, symbol
from translators.tile.effects import KernelEffects, KernelParameter, ParameterKind
from translators.tile.expression import LOADS, REDUCTIONS, Arena, Axis, Expression, LoopToken, having, walk
from translators.triton_source.read.execution import Execution, new_execution
from translators.triton_source.read.philox import with_generators
from translators.triton_source.read.sizes import data_sizes, roots_of
from translators.triton_source.read.source import TritonFile
from translators.triton_source.read.values import (
    UNDEFINED,
    Function,
    HoldsType,
    Module,
    NeedsValue,
    NotLifted,
    Pointer,
    Tile,
    Value,
)

MOST_ATTEMPTS = 12
DEFAULT_ELEMENT = d.f32


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a kernel's parameters from outside: compile-time values, and types of elements and scalars."""

    constants: Mapping[str, Value] = field(default_factory=dict)
    numbers: bool = False  # compile-time integers are used by value, not by name
    dtypes: Mapping[str, DType] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()  # compile-time parameters that are used by value in any case
    bytes: frozenset[str] = frozenset()  # arrays of floats of eight bits that are passed as bytes


@dataclass(frozen=True, slots=True)
class _Guess:
    """What this attempt takes the parameters to be."""

    pointers: frozenset[str]
    floats: frozenset[str]
    numbers: frozenset[str]  # integers that say nothing of where elements are
    elements: Mapping[str, DType]


@dataclass(frozen=True, slots=True)
class ReadKernel:
    effects: KernelEffects
    arena: Arena


def read_kernel(file: TritonFile, function: Function, known: Known, effort: Effort | None = None) -> ReadKernel:
    """Execute the kernel, again whenever an execution showed that a parameter is something else than was thought.

    Raises Exhausted if that takes more than the effort that is allowed.
    """
    guess = _Guess(frozenset(pointer_parameters(file, function)), frozenset(), frozenset(), dict(known.dtypes))
    for _ in range(MOST_ATTEMPTS):
        attempt = _Attempt(file, function, known, guess, effort or Effort())
        try:
            made = attempt.run()
        except HoldsType as found:
            if found.pointer in known.dtypes or guess.elements.get(found.pointer) == found.dtype:
                raise
            guess = replace(guess, elements={**guess.elements, found.pointer: found.dtype})
            continue
        better = _corrected(attempt, made, guess, known)
        if better == guess:
            made = with_generators(attempt.execution.arena, made)
            return ReadKernel(_with_sizes(function, made), attempt.execution.arena)
        guess = better
    raise NotLifted("the types of the parameters cannot be told", function.node.lineno)


def _with_sizes(function: Function, effects: KernelEffects) -> KernelEffects:
    """Compile-time integers that are sizes of the data are parameters like the others."""
    found = {each.name: each for each in effects.parameters}
    for name in data_sizes(effects) - found.keys():
        found[name] = KernelParameter(name, "integer", d.i32, False)
    order = [parameter.arg for parameter in _parameters(function.node)]
    return replace(effects, parameters=tuple(found[name] for name in order if name in found))


@dataclass(slots=True)
class _Attempt:
    file: TritonFile
    function: Function
    known: Known
    guess: _Guess
    effort: Effort
    execution: Execution = field(init=False)
    compile_time: set[str] = field(default_factory=set)

    def run(self) -> KernelEffects:
        self.execution = new_execution(self.file, self.effort)
        self.execution.bytes = self.known.bytes
        try:
            parameters = [self._parameter(each) for each in _parameters(self.function.node)]
            self.execution.calls.append(self.function.name)
            self.execution.block(self.function.node.body)
        except (HoldsType, NeedsValue):
            raise
        except NotLifted as reason:
            raise NotLifted(reason.reason, reason.line or self.execution.line) from None
        programs = tuple(self.execution.programs[axis] for axis in sorted(self.execution.programs))
        return KernelEffects(
            self.function.name,
            tuple(each for each in parameters if each is not None),
            programs,
            tuple(self.execution.records),
            tuple(self.execution.stores),
            tuple(self.execution.remarks),
            self.function.node.lineno,
            tuple(sorted(self.execution.integer_types)),
        )

    def _parameter(self, parameter: ast.arg) -> KernelParameter | None:
        name = parameter.arg
        if is_constexpr(parameter) and (name not in self.guess.floats or not self._unknown(name)):
            self.compile_time.add(name)
            self.execution.names[name] = self._constant(name)
            return None
        if name in self.guess.pointers:
            element = self.guess.elements.get(name, DEFAULT_ELEMENT)
            self.execution.names[name] = Pointer(name, element, (), number(0))
            return KernelParameter(name, "pointer", element, name not in self.known.dtypes)
        return self._scalar(parameter)

    def _unknown(self, name: str) -> bool:
        """Whether nothing says what the compile-time parameter is."""
        return isinstance(self._constant(name), Polynomial)

    def _constant(self, name: str) -> Value:
        """A compile-time integer stays a name; flags, types and everything else are needed as values."""
        constants = self.known.constants
        value = constants[name] if name in constants else default_of(self.function.node, name)
        if isinstance(value, int) and (self.known.numbers or name in self.known.fixed):
            return value
        return value if isinstance(value, bool | float | str | DType | Function) or value is None else symbol(name)

    def _scalar(self, parameter: ast.arg) -> KernelParameter:
        name = parameter.arg
        annotated = None if is_constexpr(parameter) else _annotated(parameter)
        dtype = annotated or self.known.dtypes.get(name) or (d.f32 if name in self.guess.floats else d.i32)
        if dtype == d.boolean or dtype.is_float or dtype.kind == "unsigned" or name in self.guess.numbers:
            self.execution.names[name] = Tile(dtype, (), self.execution.arena.make("parameter", dtype, (), name))
        else:
            self.execution.names[name] = Tile(dtype, (), self.execution.operations.index(symbol(name)))
        kind: ParameterKind = "float" if dtype.is_float else "bool" if dtype == d.boolean else "integer"
        return KernelParameter(name, kind, dtype, _annotated(parameter) is None and name not in self.known.dtypes)


def _parameters(node: ast.FunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def is_constexpr(parameter: ast.arg) -> bool:
    return parameter.annotation is not None and "constexpr" in ast.unparse(parameter.annotation)


def default_of(node: ast.FunctionDef, name: str) -> Value:
    """The default of a compile-time parameter; the name itself (as an integer) if there is none."""
    positional = [*node.args.posonlyargs, *node.args.args]
    defaults = dict(zip(reversed([each.arg for each in positional]), reversed(node.args.defaults), strict=False))
    default = defaults.get(name)
    if isinstance(default, ast.Constant) and isinstance(default.value, bool | int | float | str | None):
        return default.value
    return symbol(name)


_ANNOTATIONS: Final = {
    "float32": d.f32, "float64": d.f64, "float": d.f32, "fp32": d.f32, "int": d.i32, "int32": d.i32, "int64": d.i64,
    "uint8": d.u8, "uint16": d.u16, "uint32": d.u32, "uint64": d.u64,
}  # fmt: skip


def _annotated(parameter: ast.arg) -> DType | None:
    if parameter.annotation is None:
        return None
    text = ast.unparse(parameter.annotation).split(".")[-1].strip("'\"")
    return _ANNOTATIONS.get(text)


# -----------------------------------------------------------------------------------------------------------
# corrections
def _corrected(attempt: _Attempt, made: KernelEffects, guess: _Guess, known: Known) -> _Guess:
    positions, values = _uses(made)
    names = {each.name for each in made.parameters if each.kind == "integer" and each.assumed}
    floats = {name for name in names if name in values and name not in positions}
    floats |= attempt.compile_time & values & _bare_numbers(made) - positions
    elements = dict(guess.elements)
    loaded = _loaded_types(made)
    for name in guess.pointers - known.dtypes.keys():
        if name in positions and not elements.get(name, DEFAULT_ELEMENT).is_integer:
            elements[name] = d.i64
        elif name not in loaded and name not in guess.elements:
            stored = _stored_type(made, name)
            if stored is not None and stored != DEFAULT_ELEMENT:
                elements[name] = stored
    typed = {each.name for each in made.parameters if each.kind == "integer" and not each.assumed}
    numbers = typed - _placing(made) if typed else set()
    return replace(guess, floats=guess.floats | floats, numbers=guess.numbers | numbers, elements=elements)


def _placing(made: KernelEffects) -> set[str]:
    """Names that occur in addresses, in numbers of iterations, or in what coordinates are compared with."""
    roots = tuple(roots_of(made))
    found = {name for store in made.stores for name in _every_symbol(store.offset)}
    found.update(name for load in having(LOADS, *roots) for name in _every_symbol(load.arguments[0]))
    found.update(name for record in made.loops for name in _symbols(record.trip))
    for node in walk(*roots):
        if node.operation == "index" and any(isinstance(atom, Axis | LoopToken) for atom in node.attribute.atoms()):
            found.update(_symbols(node.attribute))
    return found


def _every_symbol(node: Expression) -> Iterator[str]:
    return (name for each in walk(node) if each.operation == "index" for name in _symbols(each.attribute))


def _uses(made: KernelEffects) -> tuple[set[str], set[str]]:
    """(names that occur in coordinates, names that occur as numbers): parameters, and pointers whose elements do."""
    positions: set[str] = set()
    values: set[str] = set()
    nodes = list(walk(*roots_of(made)))
    rounded = {node.arguments[0] for node in nodes if node.operation == "cast" and node.dtype.is_float}
    for node in nodes:
        if node.operation == "cast" and node.arguments[0].operation == "index":
            summed = set(_summed_symbols(node.arguments[0].attribute))
            values.update(summed if node.dtype.is_float or node in rounded else ())
            positions.update(set(_symbols(node.arguments[0].attribute)) - summed)
        elif node.operation == "index":
            positions.update(_elements(node.attribute))
        elif node.operation == "pointwise" and node.attribute[0] == "less":
            positions.update(_bounds_of_lanes(node))
        positions.update(_position_symbols(node))
    for record in made.loops:
        positions.update(_symbols(record.trip), _elements(record.trip))
    return positions, values


def _bounds_of_lanes(comparison: Expression) -> Iterator[str]:
    """The pointer to a number that lanes are counted up to: a length, not a measure."""
    for counted, bound in permutations(comparison.arguments):
        while counted.operation == "cast":
            (counted,) = counted.arguments
        lanes = counted.operation == "index" and any(isinstance(atom, Axis) for atom in counted.attribute.atoms())
        if lanes and bound.operation == "load" and bound.dtype.is_float:
            yield bound.attribute.pointer


def _bare_numbers(made: KernelEffects) -> set[str]:
    """Names that are converted to a float as they are, and are never part of an integer."""
    bare: set[str] = set()
    within: set[str] = set()
    roots = tuple(roots_of(made))
    uses = [(None, root) for root in roots] + [(node, each) for node in walk(*roots) for each in node.arguments]
    for user, value in uses:
        if value.operation == "cast" and value.arguments[0].operation == "index":
            cast = user or value
            rounded = value.dtype.is_float or (cast.operation == "cast" and cast.dtype.is_float)
            alone = isinstance(value.arguments[0].attribute.atom, Symbol) and rounded
            (bare if alone else within).update(_symbols(value.arguments[0].attribute))
    return bare - within


def _position_symbols(node: Expression) -> Iterator[str]:
    """Symbols of a node's coordinates: of every index node that is not merely converted to a number."""
    if node.operation != "cast":
        for argument in node.arguments:
            if argument.operation == "index":
                yield from _symbols(argument.attribute)
    if node.operation in REDUCTIONS:
        for axis in node.attribute.axes:
            yield from _symbols(axis.end)


def _symbols(polynomial: Polynomial) -> Iterator[str]:
    return (atom.name for atom in polynomial.atoms() if isinstance(atom, Symbol))


def _summed_symbols(polynomial: Polynomial) -> Iterator[str]:
    """Factors of its terms; what stands in a quotient or remainder is an integer in any case."""
    return (atom.name for monomial, _ in polynomial.terms for atom in monomial if isinstance(atom, Symbol))


def _elements(polynomial: Polynomial) -> Iterator[str]:
    """Pointers whose elements are part of a coordinate."""
    for atom in polynomial.atoms():
        if isinstance(atom, Expression):
            found = walk(atom, stop=_is_position) if "load" in atom.operations else ()
            yield from (node.attribute.pointer for node in found if node.operation == "load")


def _is_position(node: Expression) -> bool:
    """Where an extremum stands, what was rounded down, and conditions say nothing of the elements' type."""
    if node.dtype == d.boolean and node.operation == "pointwise":
        return True
    if node.operation == "pointwise" and node.attribute[0] == "floor":
        return True
    return node.operation == "reduce" and node.attribute.kind in ("arg_max", "arg_min")


def _loaded_types(made: KernelEffects) -> set[str]:
    return {load.attribute.pointer for load in having(LOADS, *roots_of(made))}


def _stored_type(made: KernelEffects, name: str) -> DType | None:
    """The type that every value had before it was converted for the store."""
    found = {
        store.value.arguments[0].dtype if store.value.operation == "cast" else store.value.dtype
        for store in made.stores
        if store.pointer == name
    }
    only = found.pop() if len(found) == 1 else None
    return d.i32 if only == d.index else only


# --------------------------------------------------------------------------------------------------------------
# pointers
def pointer_parameters(file: TritonFile, function: Function) -> tuple[str, ...]:
    """Parameters that something is loaded or stored through, here or in a callee."""
    found = file.pointers.get(function.name)
    if found is None:
        names = {parameter.arg for parameter in _parameters(function.node) if not is_constexpr(parameter)}
        roots = _Roots(file, function, names, frozenset((function.name,)))
        found = file.pointers[function.name] = tuple(sorted(roots.found()))
    return found


@dataclass(slots=True)
class _Roots:
    file: TritonFile
    function: Function
    names: set[str]
    active: frozenset[str]
    visiting: set[str] = field(default_factory=set)
    values: dict[str, list[ast.expr]] = field(default_factory=dict)  # by name: all that it is assigned

    def found(self) -> set[str]:
        made: set[str] = set()
        calls: list[ast.Call] = []
        for node in ast.walk(self.function.node):
            match node:
                case ast.Call():
                    calls.append(node)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.values.setdefault(name, []).append(value)
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                    for each, value in zip(targets, values, strict=False):
                        if isinstance(each, ast.Name):
                            self.values.setdefault(each.id, []).append(value)
        for address in (address for call in calls for address in self._addresses(call)):
            self.visiting.clear()
            made.update(self._root(address))
        return made

    def _addresses(self, node: ast.Call) -> Iterator[ast.expr]:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in ("load", "store", "make_block_ptr", "make_tensor_descriptor") or name.startswith("atomic_"):
            yield from node.args[:1]
            yield from (each.value for each in node.keywords if each.arg in ("pointer", "base"))
            return
        callee = self._callee(node.func)
        if callee is not None and callee.name not in self.active:
            parameters = [each.arg for each in _parameters(callee.node)]
            inner = _Roots(callee.file, callee, set(parameters), self.active | {callee.name}).found()
            yield from (value for name, value in zip(parameters, node.args, strict=False) if name in inner)
            yield from (each.value for each in node.keywords if each.arg in inner)

    def _callee(self, function: ast.expr) -> Function | None:
        match function:
            case ast.Name(id=name):
                found = self.file.resolve(name)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                owner = self.file.resolve(name)
                found = owner.file.resolve(attribute) if isinstance(owner, Module) else UNDEFINED
            case _:
                return None
        return found if isinstance(found, Function) else None

    def _root(self, address: ast.expr) -> set[str]:
        match address:
            case ast.Name(id=name):
                return self._named(name)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._root(left) or self._root(right)
            case ast.BinOp(left=left, op=ast.Sub()):
                return self._root(left)
            case ast.IfExp(body=true, orelse=false):
                return self._root(true) | self._root(false)
            case ast.Subscript(value=value):
                return self._root(value)
            case ast.Call(func=ast.Attribute(value=owner, attr="to")):
                return self._root(owner)
            case ast.Call(func=ast.Attribute(), args=[first, *_]):
                return (
                    self._root(first) if ast.unparse(address.func).endswith(("broadcast_to", "multiple_of")) else set()
                )
            case _:
                return set()

    def _named(self, name: str) -> set[str]:
        if name in self.visiting:
            return set()
        self.visiting.add(name)
        if name in self.names:
            return {name}
        return set[str]().union(*map(self._root, self.values.get(name, ())))

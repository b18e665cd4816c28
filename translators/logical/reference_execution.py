"""Running the statements of a logical program on NumPy arrays: control, values, structured operations.

A `Machine` is one execution: the value of every SSA value last computed, the memory, and the symbols. Statements run in
order; a read copies, so that it is a snapshot; points of a parallel loop run one by one, in order or permuted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from typing_extensions import assert_never

from intent.records import dataclass, field
from translators.algebra.polynomial import Atom, Extremum, Polynomial, Quotient, Remainder, Symbol
from translators.diagnostics import NOWHERE
from translators.logical import program
from translators.logical.program import Block, Lambda, Op, Statement, Value
from translators.logical.reference_encoded import (
    Compressed,
    quantize,
    quantized_dot,
    scaled_contract,
    sparse_contract,
)  # fmt: skip
from translators.logical.reference_memory import (
    Access,
    Fresh,
    Item,
    Joint,
    Point,
    Span,
    Store,
    atomic,
    read,
    resolve,
    scatter,
    write,
)  # fmt: skip
from translators.logical.reference_numerics import Array, IllegalInput, bitcast, carrier, cast, literal
from translators.logical.reference_pointwise import pointwise
from translators.logical.reference_structured import (
    Labels,
    arg_max,
    contract,
    histogram,
    random_bits,
    reduce_builtin,
    scan_builtin,
)  # fmt: skip
from translators.logical.types import Domain, Memory


class NotEvaluated(NotImplementedError):
    """A legal operation that the reference does not cover yet."""


@dataclass(frozen=True, slots=True)
class Options:
    """What an execution may vary without changing a legal program's results.

    `permute` runs the points of every parallel loop in random order. `slice_length` cuts the axis of region operations
    into slices of this length (None: one slice). `require_defined` makes reads of unwritten storage illegal input.
    `verify_types` checks every result against its type: a fault there is the compiler's, not the program's.
    """

    permute: np.random.Generator | None = None
    slice_length: int | None = None
    require_defined: bool = True
    verify_types: bool = False


@dataclass(slots=True)
class Machine:
    """Mutable: one execution of one kernel."""

    symbols: dict[str, int]
    scalars: dict[str, Array]
    stores: dict[Memory, Store]
    options: Options
    values: dict[Value, Array] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------------------- statements
    def block(self, block: Block) -> None:
        for statement in block.statements:
            try:
                self._statement(statement)
            except IllegalInput as error:
                if error.span is None or error.span == NOWHERE:
                    error.span = statement.span
                raise

    def _statement(self, statement: Statement) -> None:
        match statement:
            case program.Let(op, results):
                self._bind(results, self._operation(op, results))
            case program.Write(memory, relation, value):
                write(self.stores[memory], self._access(relation), self.values[value])
            case program.If():
                self._if(statement)
            case program.For():
                self._for(statement)
            case program.While():
                self._while(statement)
            case program.Parallel():
                self._parallel(statement)
            case program.Scatter(memory, relation, value, combine):
                scatter(self.stores[memory], self._access(relation), self.values[value], combine)
            case program.AtomicUpdate(action, memory, relation, arguments, _, results):
                operands = tuple(self.values[argument] for argument in arguments)
                self._bind(results, atomic(self.stores[memory], self._access(relation), action, operands))
            case program.Allocate():
                self._allocate(statement)
            case program.AssumeInBounds(index_value, memory, axis):
                self._assume(self.values[index_value], self.stores[memory], axis)
            case _:
                assert_never(statement)

    def _bind(self, results: tuple[Value, ...], arrays: tuple[Array, ...]) -> None:
        for value, array in zip(results, arrays, strict=True):
            if self.options.verify_types:
                self._verify(value, array)
            self.values[value] = array

    def _verify(self, value: Value, array: Array) -> None:
        expected = (carrier(value.dtype), self._shape(value.shape))
        found = (array.dtype, array.shape)
        assert found == expected, f"{value} of {value.type} is {found} at {value.span}"

    def _if(self, statement: program.If) -> None:
        taken = bool(self.values[statement.condition])
        self.block(statement.then if taken else statement.orelse)
        for merge in statement.merges:
            assert isinstance(merge.origin, program.Merge)
            self.values[merge] = self.values[merge.origin.true if taken else merge.origin.false]

    def _for(self, statement: program.For) -> None:
        self._enter(statement.carries)
        for coordinate in self._coordinates(statement.domain):
            self.values[statement.variable] = np.asarray(coordinate, np.int64)
            self.block(statement.body)
            if self._advance(statement.carries, statement.exit):
                break
        self._leave(statement.carries)

    def _while(self, statement: program.While) -> None:
        self._enter(statement.carries)
        while True:
            self.block(statement.test)
            if not self.values[statement.condition]:
                break
            self.block(statement.body)
            if self._advance(statement.carries, statement.exit):
                break
        self._leave(statement.carries)

    def _enter(self, carries: tuple[program.Carry, ...]) -> None:
        for carry in carries:
            self.values[carry.inside] = self.values[carry.initial]

    def _advance(self, carries: tuple[program.Carry, ...], exit: int | None) -> bool:
        """All carries step at once; True if the loop ends here."""
        updated = [self.values[carry.update] for carry in carries]
        for carry, array in zip(carries, updated, strict=True):
            self.values[carry.inside] = array
        return exit is not None and bool(updated[exit])

    def _leave(self, carries: tuple[program.Carry, ...]) -> None:
        for carry in carries:
            self.values[carry.result] = self.values[carry.inside]

    def _parallel(self, statement: program.Parallel) -> None:
        points = list(product(*(self._coordinates(domain) for domain in statement.domains)))
        generator = self.options.permute
        order: Sequence[int] = range(len(points)) if generator is None else generator.permutation(len(points)).tolist()
        for position in order:
            for variable, coordinate in zip(statement.variables, points[position], strict=True):
                self.values[variable] = np.asarray(coordinate, np.int64)
            self.block(statement.body)

    def _allocate(self, statement: program.Allocate) -> None:
        buffer = statement.buffer
        elements = np.zeros(self._shape(buffer.shape), carrier(buffer.dtype))
        if statement.init is not None:
            elements[...] = self.values[statement.init]
        track = statement.init is None and self.options.require_defined
        defined = np.zeros(elements.shape, np.bool_) if track else None
        self.stores[buffer] = Store(buffer.name, buffer.dtype, elements, defined)

    def _assume(self, coordinates: Array, store: Store, axis: int) -> None:
        extent = store.elements.shape[axis]
        if np.any(np.less(coordinates, 0)) or np.any(np.greater_equal(coordinates, extent)):
            raise IllegalInput(f"assume_in_bounds fails on axis {axis} of '{store.name}' (extent {extent})")

    # ------------------------------------------------------------------------------------------------- extents, domains
    def integer(self, value: Value) -> int:
        return int(self.values[value])

    def polynomial(self, polynomial: Polynomial) -> int:
        total = 0
        for monomial, coefficient in polynomial.terms:
            for atom in monomial:
                coefficient *= self._atom(atom)
            total += coefficient
        return total

    def _atom(self, atom: Atom) -> int:
        match atom:
            case Symbol(name):
                return self.symbols[name]
            case Value():
                return self.integer(atom)
            case Quotient(numerator, denominator):
                return self.polynomial(numerator) // self.polynomial(denominator)
            case Remainder(numerator, denominator):
                return self.polynomial(numerator) % self.polynomial(denominator)
            case Extremum(kind, operands):
                return (min if kind == "minimum" else max)(map(self.polynomial, operands))
            case _:
                raise AssertionError(f"no value for {atom!r}")

    def _shape(self, shape: tuple[Polynomial, ...]) -> tuple[int, ...]:
        """Extents as integers; a domain whose end lies before its begin is empty."""
        return tuple(max(0, self.polynomial(extent)) for extent in shape)

    def _coordinates(self, domain: Domain) -> range:
        coordinates = range(self.integer(domain.begin), self.integer(domain.end), domain.step)
        if domain.parent is not None and len(coordinates):
            source = self._coordinates(domain.parent)
            if coordinates[0] < source.start or coordinates[-1] >= source.stop:
                raise IllegalInput(
                    f"the subregion [{coordinates.start}, {coordinates.stop}) lies outside its source "
                    f"[{source.start}, {source.stop})"
                )
        return coordinates

    def _access(self, relation: program.Relation) -> Access:
        return resolve(tuple(self._item(item) for item in relation.items))

    def _item(self, item: program.IndexItem) -> Item:
        match item:
            case program.At(value):
                return Point(self.integer(value))
            case program.Along(domain):
                return Span(self._coordinates(domain))
            case program.Gathered(value):
                return Joint(_as_coordinates(self.values[value]))
            case program.NewAxis():
                return Fresh()
            case _:
                assert_never(item)

    # ------------------------------------------------------------------------------------------------------- operations
    def _operation(self, op: Op, results: tuple[Value, ...]) -> tuple[Array, ...]:
        match op:
            case program.ArgReduce(argument, axis):
                return arg_max(self.values[argument], axis, argument.dtype)
            case program.Reduce(kind="generic") | program.Scan(kind="generic"):
                return self._fold(op)
            case program.RegionFold():
                return self._region_fold(op)
            case program.RegionScan():
                return self._region_scan(op, results)
            case _:
                return (np.asarray(self._single(op, results[0])),)

    def _single(self, op: Op, result: Value) -> Array:
        """Operations with one result."""
        values = self.values
        match op:
            case program.Pointwise(function, arguments):
                operands = tuple(values[argument] for argument in arguments)
                return pointwise(function, operands, arguments[0].dtype, op.flush_to_zero)
            case program.Constant(value):
                return literal(value, result.dtype)
            case program.Read(memory, relation, valid, fill):
                return read(self.stores[memory], self._access(relation), self._maybe(valid), self._maybe(fill))
            case program.Pick(argument, relation, valid, fill):
                store = Store("the tensor", argument.dtype, values[argument])
                return read(store, self._access(relation), self._maybe(valid), self._maybe(fill))
            case program.Size(extent):
                return np.asarray(max(0, self.polynomial(extent)), np.int64)
            case program.Parameter(name):
                return self.scalars[name]
            case program.Select(condition, true, false):
                return np.where(values[condition], values[true], values[false])
            case program.Cast(argument):
                return cast(values[argument], argument.dtype, result.dtype)
            case program.Bitcast(argument):
                return bitcast(values[argument], result.dtype)
            case program.Full(fill):
                return np.full(self._shape(result.shape), values[fill])
            case program.Indices(domain):
                coordinates = self._coordinates(domain)
                return np.arange(coordinates.start, coordinates.stop, coordinates.step, dtype=np.int64)
            case _:
                return self._reshaping(op, result)

    def _maybe(self, value: Value | None) -> Array | None:
        return None if value is None else self.values[value]

    def _reshaping(self, op: Op, result: Value) -> Array:
        values = self.values
        match op:
            case program.Reshape(argument):
                return _reshaped(values[argument], self._shape(result.shape))
            case program.Broadcast(argument):
                return np.broadcast_to(values[argument], self._shape(result.shape))
            case program.Transpose(argument, permutation):
                return np.transpose(values[argument], permutation)
            case program.Join(lhs, rhs):
                return np.stack((values[lhs], values[rhs]), axis=-1)
            case _:
                return self._structured(op, result)

    def _structured(self, op: Op, result: Value) -> Array:
        values = self.values
        match op:
            case program.Reduce(kind, (argument,), axes):
                return reduce_builtin(kind, values[argument], axes, argument.dtype)
            case program.Scan(kind, (argument,), axis, inclusive, reverse):
                return scan_builtin(kind, values[argument], axis, inclusive, reverse, argument.dtype)
            case program.Contract(lhs, rhs):
                labels = Labels(op.lhs_labels, op.rhs_labels, op.result_labels)
                return contract(labels, values[lhs], values[rhs], op.accumulator)
            case program.Histogram(counted, valid, bins):
                return histogram(values[counted], values[valid], self.integer(bins), result.dtype)
            case program.RandomBits(seed, counter):
                return random_bits(values[seed], values[counter])
            case program.Intrinsic(arguments=arguments):
                return self._encoded(op, [values[argument] for argument in arguments])
            case _:
                raise AssertionError(f"{type(op).__name__} is not an operation that a Let evaluates")

    def _encoded(self, op: program.Intrinsic, arrays: list[Array]) -> Array:
        """Operations on encoded operands, by name: their definition in ordinary operations is not looked at."""
        given: dict[str, Any] = dict(op.attributes)
        match op.name:
            case "scaled_contract":
                return scaled_contract(given["formats"], arrays, given["accumulator"])
            case "sparse_contract":
                form = Compressed(given["group"], given["axis"], self.polynomial(given["extent"]))
                return sparse_contract(form, arrays, Labels(*given["labels"]), given["accumulator"])
            case "quantize":
                return quantize(arrays[0])
            case "quantized_dot":
                return quantized_dot(*arrays)
            case _:
                raise AssertionError(f"no reference for {op.name}")

    # ----------------------------------------------------------------------------------------------- structured helpers
    def _apply(self, function: Lambda, arguments: Sequence[Array]) -> tuple[Array, ...]:
        for parameter, array in zip(function.parameters, arguments, strict=True):
            self.values[parameter] = array
        self.block(function.body)
        return tuple(self.values[result] for result in function.results)

    def _fold(self, op: program.Reduce | program.Scan) -> tuple[Array, ...]:
        """A generic reduction or scan: the elements in order, all kept positions at once."""
        axes = op.axes if isinstance(op, program.Reduce) else (op.axis,)
        elements = [_leading(self.values[argument], axes) for argument in op.arguments]
        captures = [self.values[capture] for capture in op.captures]
        assert op.combine is not None
        states = [
            np.array(np.broadcast_to(self.values[identity], element.shape[1:]))
            for identity, element in zip(op.identities, elements, strict=True)
        ]
        if isinstance(op, program.Reduce):
            for position in range(elements[0].shape[0]):
                states = list(self._apply(op.combine, [*states, *(each[position] for each in elements), *captures]))
            return tuple(states)
        return self._scan(op, elements, states, captures)

    def _scan(
        self, op: program.Scan, elements: list[Array], states: list[Array], captures: list[Array]
    ) -> tuple[Array, ...]:
        assert op.combine is not None
        count = elements[0].shape[0]
        results = [np.empty_like(element) for element in elements]
        for position in reversed(range(count)) if op.reverse else range(count):
            stepped = list(self._apply(op.combine, [*states, *(each[position] for each in elements), *captures]))
            for result, state in zip(results, stepped if op.inclusive else states, strict=True):
                result[position] = state
            states = stepped
        return tuple(np.moveaxis(result, 0, op.axis) for result in results)

    def _slices(self, sources: Sequence[Array], axis: int, extent: Polynomial) -> Iterator[list[Array]]:
        """Consecutive slices of all sources, with the slice extent bound to each one's length."""
        total = sources[0].shape[axis]
        length = self.options.slice_length or max(total, 1)
        atom = extent.atom
        for begin in range(0, total, length):
            end = min(begin + length, total)
            if isinstance(atom, Value):
                self.values[atom] = np.asarray(end - begin, np.int64)
            yield [np.take(source, np.arange(begin, end), axis) for source in sources]

    def _region_fold(self, op: program.RegionFold) -> tuple[Array, ...]:
        operands = [self.values[operand] for operand in op.operands]
        state = tuple(self.values[identity] for identity in op.identities)
        for slices in self._slices([self.values[source] for source in op.sources], op.axis, op.slice_extent):
            summary = self._apply(op.summarize, [*slices, *operands])
            state = self._apply(op.combine, [*state, *summary])
        return state

    def _region_scan(self, op: program.RegionScan, results: tuple[Value, ...]) -> tuple[Array, ...]:
        operands = [self.values[operand] for operand in op.operands]
        state = tuple(self.values[initial] for initial in op.initial_state)
        pieces: list[tuple[Array, ...]] = []
        for slices in self._slices([self.values[source] for source in op.sources], op.axis, op.slice_extent):
            summary = self._apply(op.summarize, [*slices, *operands])
            pieces.append(self._apply(op.emit, [*slices, *state, *operands]))
            state = self._apply(op.apply, [*summary, *state])
        outputs = tuple(
            self._joined([piece[position] for piece in pieces], op, position, results[position])
            for position in range(op.emit_results)
        )
        return (*outputs, *state)

    def _joined(self, pieces: list[Array], op: program.RegionScan, position: int, result: Value) -> Array:
        if not pieces:
            return np.empty(self._shape(result.shape), carrier(result.dtype))
        emitted = op.emit.results[position].shape
        axis = next((axis for axis, extent in enumerate(emitted) if extent == op.slice_extent), op.axis)
        return np.concatenate(pieces, axis)


def _reshaped(array: Array, shape: tuple[int, ...]) -> Array:
    if array.size != int(np.prod(shape)):
        raise IllegalInput(f"{array.size} elements cannot be reshaped to {shape}")
    return np.ascontiguousarray(array).reshape(shape)


def _leading(array: Array, axes: tuple[int, ...]) -> Array:
    """The reduced axes flattened, in row-major order, into one leading axis."""
    moved = np.moveaxis(array, axes, range(len(axes)))
    count = int(np.prod([array.shape[axis] for axis in axes]))
    return np.ascontiguousarray(moved).reshape((count, *moved.shape[len(axes) :]))


def _as_coordinates(array: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Indices of any integer dtype; a u64 beyond the signed range is out of bounds wherever it points."""
    signed = np.minimum(array, np.uint64(2**63 - 1)) if array.dtype == np.uint64 else array
    return np.asarray(signed).astype(np.int64)

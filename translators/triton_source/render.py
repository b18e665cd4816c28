"""Expressions of a tile program as Triton text.

`Renderer.value(node, shape)` prints a node as a tile whose dimensions are the axes of `shape`, in order; a named tile
that lacks some of them is indexed with None there. Coordinates print as polynomials, loads as pointer, mask and
padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from intent.dtypes import DType, f16, f32, i64, index
from intent.records import dataclass, field, replace
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Monomial,
    Polynomial,
    Quotient,
    Remainder,
    Symbol,
    atomic,
    floor_divide,
    number,
    product,
    remainder,
)
from translators.logical.types import Buffer, Memory
from translators.printing.python_text import ATOM
from translators.tile.expression import Atomic, Axis, Expression, LoopToken, Place
from translators.tile.program import AxisForm, Check, Named, Section
from translators.triton_source import arithmetic, atomics, conversions, reductions
from translators.triton_source.expressions import Code, Emitted, binary, call, method, unary
from translators.triton_source.names import LaunchNames
from translators.triton_source.shared_loads import Fewer, Tiles, shared_extent, sharing

Shape = tuple[Axis, ...]
WINDOW = 64  # elements that a product takes in an order of its own where they are interleaved


@dataclass(slots=True)
class Renderer:
    """Prints within one section; `values` and `carries` hold the names that are in scope."""

    names: LaunchNames
    section: Section
    values: dict[Expression, tuple[str, Shape]] = field(default_factory=dict)
    carries: dict[tuple[LoopToken, int], tuple[str, Shape, Shape]] = field(default_factory=dict)
    loops: dict[LoopToken, str] = field(default_factory=dict)
    counters: set[Axis] = field(default_factory=set)  # axes that are variables of loops: Python ints in the interpreter
    whole: set[Axis] = field(default_factory=set)  # axes whose tiles need no guard here
    lengths: Mapping[str, int] = field(default_factory=dict)  # of blocks
    tiles: dict[Axis, Tiles] = field(default_factory=dict)  # axes whose tiles begin at multiples of their length
    fewer: dict[Axis, Fewer] = field(default_factory=dict)  # lanes of what is being printed once for several
    few: dict[Expression, tuple[Axis, int]] = field(default_factory=dict)  # names that hold a value for several lanes
    firsts: dict[Axis, Code] = field(default_factory=dict)  # positions of the first lanes of the bins of histograms
    certain: frozenset[Expression] = frozenset()  # conditions that hold wherever the current statements run
    helpers: set[str] = field(default_factory=set)
    functions: dict[str, str] = field(default_factory=dict)  # text of device functions made for this kernel
    arguments: list[str] = field(default_factory=list)  # parameter names of the combine being printed
    strides: set[tuple[str, int]] = field(default_factory=set)
    widened: set[tuple[str, int]] = field(default_factory=set)  # strides of which INDEX has to hold multiples
    indices: set[Atom] = field(default_factory=set)  # counters of loops that offsets are multiples of
    scalars: dict[str, bool] = field(default_factory=dict)  # those used; True: also with nothing beside it
    symbols: dict[str, None] = field(default_factory=dict)
    buffers: dict[str, None] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)  # text of an expression -> the author's name of its value

    # ------------------------------------------------------------------------------------------------------ values
    def value(self, node: Expression, shape: Shape) -> Code:
        node = self.simplified(node)
        if node in self.values:
            name, own = self.values[node]
            few = self.few.get(node)
            code = Code(name) if few is None or few[0] in self.fewer else self._repeated(Code(name), own, *few)
            return placed(code, own, shape)
        shared = self.shared_by_lanes(node, shape)
        if shared is not None:
            return self._repeated(self.for_fewer(node, shape, *shared), shape, *shared)
        code = self._value(node, shape)
        self._note_meaning(code, self.section.names.get(node))
        return code

    def simplified(self, node: Expression) -> Expression:
        """The node without what is certain: a choice by such a condition, or such a part of a conjunction."""
        while self.certain and node not in self.values:
            match node.operation, node.arguments:
                case "select", (condition, chosen, _) if condition in self.certain:
                    node = chosen
                case "pointwise", (first, second) if node.attribute[0] == "and" and first in self.certain:
                    node = second
                case "pointwise", (first, second) if node.attribute[0] == "and" and second in self.certain:
                    node = first
                case _:
                    break
        return node

    def _value(self, node: Expression, shape: Shape) -> Code:
        match node.operation:
            case "constant":
                return conversions.constant(node.attribute, node.dtype)
            case "parameter":
                return self._parameter(node, alone=True)
            case "index":
                return self.polynomial(node.attribute, shape)
            case "load":
                return self.load(node, shape)
            case "atomic":
                return self.atomic(node, shape)
            case "pointwise":
                return self._pointwise(node, shape)
            case "select" if (interleaved := self._interleaved(node, shape)) is not None:
                return interleaved
            case "select":
                condition, *branches = (self.value(argument, shape) for argument in node.arguments)
                if node.dtype.kind == "bool":
                    lanes = bool(self.lanes(node.axes))
                    pairs = zip(node.arguments[1:], branches, strict=True)
                    branches = [self._beside_lanes(*pair, lanes) for pair in pairs]
                return arithmetic.select(condition, branches[0], branches[1], node.dtype)
            case "cast":
                return self._cast(node, shape)
            case "bitcast":
                return self.emitted(
                    conversions.bitcast(self.data(node.arguments[0], shape), node.arguments[0].dtype, node.dtype)
                )
            case "random_bits":
                seed, counter = node.arguments
                return self.emitted(reductions.random_bits(self.value(seed, shape), self.wide(counter, shape)))
            case "carry" | "carried":
                return self._carry(node, shape)
            case "argument":
                return Code(self.arguments[node.attribute])
            case _:
                raise AssertionError(f"{node.operation} is printed by its own statement")

    def data(self, node: Expression, shape: Shape) -> Code:
        """A value in the width of its dtype, where nothing else would widen it."""
        return self.wide(node, shape) if node.dtype == index else self.value(node, shape)

    def emitted(self, emitted: Emitted) -> Code:
        self.helpers |= emitted.helpers
        return emitted.code

    def _parameter(self, node: Expression, alone: bool) -> Code:
        self.scalars[node.attribute] = alone or self.scalars.get(node.attribute, False)
        return Code(self.names.parameters[node.attribute])

    def _pointwise(self, node: Expression, shape: Shape) -> Code:
        function, approximate, flush = node.attribute
        dtype = node.arguments[0].dtype
        widen = dtype == index and node.dtype == index
        alone = all(argument.operation in ("parameter", "constant") for argument in node.arguments)
        arguments = [self._operand(argument, shape, widen, alone) for argument in node.arguments]
        if all(code.value is not None for code in arguments):
            arguments[0] = conversions.typed(arguments[0], dtype)
        if function == "not" and not self.lanes(node.axes):
            # Scalars are Python bools when interpreted, and `~` of one is -1 or -2.
            return binary("==", arguments[0], Code("0"))
        if dtype.kind == "bool":
            lanes = bool(self.lanes(node.axes))
            arguments = [self._beside_lanes(*pair, lanes) for pair in zip(node.arguments, arguments, strict=True)]
        multiplied = any(each.operation == "pointwise" and each.attribute[0] == "multiply" for each in node.arguments)
        permissions = arithmetic.Permissions(
            approximate,
            flush,
            nonpositive=node in self.section.nonpositive,
            fusible=multiplied and function != "multiply",
        )
        return self.emitted(arithmetic.pointwise(function, dtype, node.dtype, arguments, permissions))

    def _beside_lanes(self, condition: Expression, code: Code, lanes: bool) -> Code:
        """A condition that meets lanes. The CPU interpreter repeats a comparison of scalar floats as floats."""
        if lanes and not self.lanes(condition.axes) and _is_float_comparison(condition):
            return call("tl.where", code, Code("True"), Code("False"))
        return code

    def _operand(self, node: Expression, shape: Shape, widen: bool, alone: bool) -> Code:
        if widen:
            return self.wide(node, shape)
        return self._parameter(node, alone) if node.operation == "parameter" else self.value(node, shape)

    def _cast(self, node: Expression, shape: Shape) -> Code:
        argument = node.arguments[0]
        if {node.dtype, argument.dtype} == {index, i64} and not self._may_be_narrow(argument):
            return self.value(argument, shape)
        if node.dtype == f16 and self._has_shared_divisor(argument):
            operands = [self.value(operand, shape) for operand in argument.arguments]
            return self.emitted(conversions.cast(self.emitted(arithmetic.half_quotient(*operands)), f32, f16))
        code = self.value(argument, shape)
        if argument.operation == "index" and not self.lanes(argument.axes) and node.dtype.kind != "bool":
            return self._cast_coordinate(code, node.dtype)
        return self.emitted(conversions.cast(code, argument.dtype, node.dtype))

    def _has_shared_divisor(self, node: Expression) -> bool:
        """An exact quotient of float32 that has no name, with the same divisor for many elements."""
        if node in self.values or node.operation != "pointwise" or node.attribute[:2] != ("divide", False):
            return False
        dividend, divisor = node.arguments
        several = set(self.lanes(dividend.axes)) > set(self.lanes(divisor.axes))
        return node.dtype == f32 and several and divisor.operation != "constant"

    def _cast_coordinate(self, code: Code, dtype: DType) -> Code:
        """A size may be a Python int, which has no methods."""
        if dtype.is_float and dtype.bits < 32:
            wide = call("tl.cast", code, Code(conversions.TRITON_NAME["i64"]))
            return self.emitted(conversions.cast(wide, i64, dtype))
        return call("tl.cast", code, Code(conversions.TRITON_NAME[dtype.name]))

    def _carry(self, node: Expression, shape: Shape) -> Code:
        token, ordinal, axes = node.attribute[:3]
        name, own, canonical = self.carries[token, ordinal]
        relabelled = dict(zip(canonical, axes, strict=True))
        return placed(Code(name), tuple(relabelled[axis] for axis in own), shape)

    # ------------------------------------------------------------------------------------------------- coordinates
    def wide(self, node: Expression, shape: Shape) -> Code:
        """An index in 64 bits, for arithmetic that 32-bit lanes might overflow."""
        if node.operation != "index":
            code = self.value(node, shape)
            return method(code, "to", "tl.int64") if self._may_be_narrow(node) else code
        if node.attribute.constant is not None:
            return conversions.typed(conversions.constant(node.attribute.constant, i64), i64)
        return self.polynomial(node.attribute, shape, wide=True)

    def _may_be_narrow(self, node: Expression) -> bool:
        """Whether the code of an index may be 32 bits wide: coordinates of lanes, and what is chosen among them."""
        match node.operation:
            case "index":
                atom = node.attribute.atom
                if isinstance(atom, Expression):
                    return self._may_be_narrow(atom)
                return self._small(node.attribute) or not node.axes
            case "reduce":
                return bool(node.attribute.kind == "arg_max")
            case "select":
                return all(self._may_be_narrow(branch) for branch in node.arguments[1:])
            case _:
                return False

    def _small(self, value: Polynomial) -> bool:
        """A sum so small that 32-bit lanes hold it: coordinates are below 2**27 where the launch chooses 32 bits."""
        if isinstance(value.atom, Expression) or value in self.section.bounded:
            return True
        varying = [(monomial, c) for monomial, c in value.terms if monomial]
        return (
            all(self._small_product(monomial) for monomial, _ in varying)
            and sum(abs(c) for _, c in varying) <= 15
            and abs(value.offset) < 1 << 20
        )

    def _small_product(self, factors: Monomial) -> bool:
        if len(factors) > 1:
            return Polynomial(((factors, 1),)) in self.section.bounded
        return self._small_atom(factors[0])

    def _small_atom(self, atom: Atom) -> bool:
        match atom:
            case Expression():
                return False
            case Quotient() | Remainder() | Extremum():
                return all(self._small(operand) for operand in atom.operands)
            case _:
                return True

    def polynomial(self, value: Polynomial, shape: Shape, wide: bool | None = None) -> Code:
        """A coordinate. As data it is computed in 64 bits unless it is too small a sum to leave 32."""
        code = self._sum(value, shape, wide)
        self._note_meaning(code, self._author_name(value))
        return code

    def _author_name(self, coordinate: Polynomial) -> str | None:
        """Not of fewer lanes, which have their own."""
        return self.section.coordinates.get(coordinate) if self.fewer.keys().isdisjoint(_axes(coordinate)) else None

    def _note_meaning(self, code: Code, name: str | None) -> None:
        """Should the text be written twice, it gets the author's name of its value."""
        if name is not None and (code.precedence < ATOM or "(" in code.text):
            self.meanings[code.text] = name

    def _sum(self, value: Polynomial, shape: Shape, wide: bool | None) -> Code:
        wide = not self._small(value) if wide is None else wide
        total: Code | None = None
        for monomial, coefficient in sorted(value.terms, key=lambda term: (not term[0], term[1] < 0)):
            term = self._term(monomial, abs(coefficient), shape, wide)
            if total is None:
                total = term if coefficient > 0 else unary("-", term)
            else:
                total = binary("+" if coefficient > 0 else "-", total, term)
        constant = value.constant
        return total if total is not None and constant is None else Code(str(constant), value=constant)

    def _term(self, monomial: Monomial, coefficient: int, shape: Shape, wide: bool) -> Code:
        if not monomial:
            return Code(str(coefficient), value=coefficient)
        factors = [self._atom(atom, shape, wide) for atom in sorted(monomial, key=_writing_order)]
        if all(isinstance(atom, Symbol) for atom in monomial) and (len(monomial) > 1 or coefficient > 1):
            dtype = "tl.int64" if wide else "INDEX"
            factors[0] = call("tl.cast", factors[0], Code(dtype))  # a product of sizes may leave 32 bits
        total = factors[0]
        for factor in factors[1:]:
            total = binary("*", total, factor)
        return total if coefficient == 1 else binary("*", total, Code(str(coefficient)))

    def _atom(self, atom: Atom, shape: Shape, wide: bool) -> Code:
        code = self._atom_code(atom, shape, wide)
        if isinstance(atom, Quotient | Remainder | Extremum):
            self._note_meaning(code, self._author_name(atomic(atom)))
        return code

    def _atom_code(self, atom: Atom, shape: Shape, wide: bool) -> Code:
        match atom:
            case Symbol(name=name):
                self.symbols[name] = None
                return Code(self.names.sizes[name])
            case Named(name=name):
                return Code(name)
            case Axis():
                code = self.axis(atom, shape)
                if wide and atom in self.counters:
                    return call("tl.cast", code, Code("tl.int64"))
                return method(code, "to", "tl.int64") if wide else code
            case LoopToken():
                code = Code(self.loops[atom])
                return call("tl.cast", code, Code("tl.int64")) if wide else code
            case Expression():
                return self.wide(atom, shape) if wide else self.value(atom, shape)
            case Quotient(numerator=Polynomial(atom=Axis() as axis)) if axis in self.fewer:
                return placed(self.fewer[axis].quotient(atom.denominator.constant or 1), (axis,), shape)
            case Quotient(numerator=numerator, denominator=denominator):
                return self._division("//", numerator, denominator, shape, wide)
            case Remainder(numerator=numerator, denominator=denominator):
                return self._division("%", numerator, denominator, shape, wide)
            case Extremum(kind=kind, operands=operands):
                wide = wide or not self._small_atom(atom)
                ordered = sorted(operands, key=lambda operand: not _axes(operand))  # what varies first, then its limit
                parts = [self.polynomial(operand, shape, wide) for operand in ordered]
                total = parts[0]
                for part in parts[1:]:
                    total = call(f"tl.{kind}", total, part)
                return total
            case _:
                raise AssertionError(f"no spelling for {atom!r}")

    def _division(self, symbol: str, top: Polynomial, bottom: Polynomial, shape: Shape, wide: bool) -> Code:
        """Floor division: Triton truncates, which agrees where nothing is negative. A rounded-up one is tl.cdiv."""
        facts = self.section.facts
        wide = wide or not (self._small(top) and self._small(bottom))
        plain = facts.nonnegative(bottom) and facts.nonnegative(top)
        rounded_up = top - bottom + 1
        if symbol == "//" and plain and len(rounded_up.terms) < len(top.terms) and facts.nonnegative(rounded_up):
            return call("tl.cdiv", self.polynomial(rounded_up, shape, wide), self.polynomial(bottom, shape, wide))
        left, right = self.polynomial(top, shape, wide), self.polynomial(bottom, shape, wide)
        if plain:
            return binary(symbol, left, right)
        helper = "_floor_divide" if symbol == "//" else "_floor_remainder"
        self.helpers.add(helper)
        return call(helper, left, right)

    def axis(self, axis: Axis, shape: Shape) -> Code:
        form = self.form(axis)
        return placed(Code(form.name), (axis,) if form.block else (), shape)

    def form(self, axis: Axis) -> AxisForm:
        form = self.section.forms[axis]
        return replace(form, mask=None) if axis in self.whole else form

    def lanes(self, axes: Iterable[Axis]) -> Shape:
        """Those of the axes that are tile dimensions, in tile order."""
        kept = {axis for axis in axes if self.section.forms[axis].block is not None}
        return tuple(sorted(kept, key=lambda axis: self.section.order[axis]))

    def block(self, axis: Axis) -> str:
        block = str(self.form(axis).block)
        return f"{block} // {self.fewer[axis].times}" if axis in self.fewer else block

    def blocks(self, shape: Shape) -> str:
        names = [self.block(axis) for axis in shape]
        return f"({', '.join(names)},)" if len(names) == 1 else f"({', '.join(names)})"

    # ------------------------------------------------------------------------------------------------------ memory
    def shared_by_lanes(self, node: Expression, shape: Shape) -> tuple[Axis, int] | None:
        """An axis of which several neighbouring lanes have one value of the node, and how many. Only where nothing is
        printed for fewer lanes already.
        """
        if self.fewer or len(shape) > 2 or node.axes.isdisjoint(self.tiles):
            return None
        found = ((axis, self._sharing(node, axis)) for axis in shape if axis in self.tiles)
        return next(((axis, times) for axis, times in found if times > 1), None)

    def _sharing(self, node: Expression, axis: Axis) -> int:
        """How many neighbouring lanes have one value: 1 if each has its own, 0 if the axis does not matter."""
        if axis not in node.axes:
            return 0
        if node in self.values:
            own = self.few.get(node)
            return own[1] if own is not None and own[0] is axis else 1
        match node.operation:
            case "load" if not node.arguments and not self.section.checks.get(node):
                times = sharing(node.attribute.coordinates, axis, self.tiles[axis])
                return times if shared_extent(axis, times) is not None else 1
            case "pointwise" | "select" | "cast" | "bitcast":
                found = {self._sharing(argument, axis) for argument in node.arguments} - {0}
                return found.pop() if len(found) == 1 else 1
            case _:
                return 1

    def for_fewer(self, node: Expression, shape: Shape, axis: Axis, times: int) -> Code:
        """One value for each of so many neighbouring lanes."""
        tiles, extent = self.tiles[axis], shared_extent(axis, times)
        guarded = self.form(axis).mask is not None and extent is not None
        limit = self.polynomial(extent, (), wide=False) if guarded and extent is not None else None
        fewer = tiles.fewer(times, limit)
        known = self.section.coordinates.get(floor_divide(atomic(axis), number(times)))
        self._note_meaning(fewer.lanes, known or f"{self.form(axis).name}_by_{times}")
        self.fewer[axis] = fewer
        code = self.value(node, shape)
        del self.fewer[axis]
        return code

    def _repeated(self, code: Code, shape: Shape, axis: Axis, times: int) -> Code:
        self.helpers.add("_each_repeated")
        return call("_each_repeated", code, Code(str(shape.index(axis))), Code(str(times)))

    def _interleaved(self, node: Expression, shape: Shape) -> Code | None:
        """A choice between what pairs of neighbouring lanes have: the first for the one, the second for the other."""
        condition, first, second = node.arguments
        axis = shape[-1] if shape else None
        if axis is None or axis not in self.tiles or self.fewer or not _is_even(condition, axis):
            return None
        if self.section.steps.get(axis, WINDOW) % WINDOW:
            return None
        whole = all(self.lanes(each.axes) == shape for each in (first, second))
        if not whole or any(self._sharing(each, axis) != 2 for each in (first, second)):
            return None
        return call("tl.interleave", *(self.for_fewer(each, shape, axis, 2) for each in (first, second)))

    def load(self, node: Expression, shape: Shape) -> Code:
        place: Place = node.attribute
        own = self.lanes(node.axes)
        inner = tuple(axis for axis in shape if axis in own)
        pointer, pointer_axes = self.pointer(place.memory, place.coordinates, shape)
        checks = self.section.checks.get(node, ())
        guard = node.arguments[0] if node.arguments else None
        mask, mask_axes = self.mask(own, checks, guard, shape)
        if mask is None:
            return call("tl.load", pointer)
        if not mask_axes <= pointer_axes:
            pointer = self.broadcast(pointer, inner, shape)
        other = self._other(node, checks, shape)
        keywords = {"mask": mask.text} | ({"other": other.text} if other is not None else {})
        return call("tl.load", pointer, **keywords)

    def atomic(self, node: Expression, shape: Shape) -> Code:
        """The update of one element for every lane, giving the old values."""
        attribute: Atomic = node.attribute
        guard = node.arguments[-1] if attribute.guarded else None
        operands = node.arguments[:-1] if attribute.guarded else node.arguments
        checks = self.section.checks.get(node, ())
        return self.updated(attribute, operands, (checks, guard), shape)

    def updated(
        self,
        atomic: Atomic,
        operands: Sequence[Expression],
        guards: tuple[Sequence[Check], Expression | None],
        shape: Shape,
    ) -> Code:
        """An atomic update for every lane whose guards hold."""
        place: Place = atomic.place
        values = [self.atomic_operand(operand, shape) for operand in operands]
        pointer, pointer_axes = self.pointer(place.memory, place.coordinates, shape)
        mask, mask_axes = self.mask(shape, *guards, shape)
        if not set(shape) <= pointer_axes:
            pointer = self.broadcast(pointer, shape, shape)
        spare = Code(
            f"{place.memory.name}_ptr" if isinstance(place.memory, Buffer) else self.names.pointers[place.memory.name]
        )
        update = atomics.Update(
            atomic.action, atomic.order, place.memory.dtype, pointer, values, mask, spare, bool(shape)
        )
        if not atomics.is_native(update) and shape and mask_axes != set(shape):
            full = call("tl.full", Code(self.blocks(shape)), mask or Code("True"), Code("tl.int1"))
            broadcast = call("tl.broadcast_to", mask, Code(self.blocks(shape))) if mask_axes and mask else full
            update = replace(update, mask=broadcast)
        emitted, functions = atomics.updated(update)
        self.functions |= functions
        return self.emitted(emitted)

    def atomic_operand(self, operand: Expression, shape: Shape) -> Code:
        """A value for every lane."""
        code = self.value(operand, shape)
        if code.value is not None and shape:
            return conversions.filled(code.value, operand.dtype, self.blocks(shape))
        code = conversions.typed(code, operand.dtype)
        if set(self.lanes(operand.axes)) != set(shape):
            code = call("tl.broadcast_to", code, Code(self.blocks(shape)))
        return code

    def broadcast(self, pointer: Code, axes: Shape, shape: Shape) -> Code:
        """A pointer tile with all dimensions of its mask, which tl.load does not broadcast it to."""
        sizes = ", ".join(self.block(axis) if axis in axes else "1" for axis in shape)
        return call("tl.broadcast_to", pointer, Code(f"({sizes},)" if len(shape) == 1 else f"({sizes})"))

    def _other(self, node: Expression, checks: Sequence[Check], shape: Shape) -> Code | None:
        if node.arguments:
            return conversions.as_access(self.value(node.arguments[1], shape), node.dtype)
        padding = self.section.padding.get(node)
        if padding is None and not checks:
            return None
        dtype = node.dtype if node.dtype != index else i64
        return conversions.as_access(conversions.constant(0 if padding is None else padding, dtype), dtype)

    def pointer(self, memory: Memory, coordinates: Sequence[Polynomial], shape: Shape) -> tuple[Code, frozenset[Axis]]:
        """base + sum of coordinate * stride, and the lanes it varies with."""
        axes = frozenset(axis for coordinate in coordinates for axis in _axes(coordinate))
        if isinstance(memory, Buffer):
            return self._buffer_pointer(memory, coordinates, shape), axes
        total = Code(self.names.pointers[memory.name])
        for ordinal, coordinate in enumerate(coordinates):
            if coordinate.constant == 0:
                continue
            self.strides.add((memory.name, ordinal))
            if coordinate.constant != 1 and not self._widen(coordinate):
                self.widened.add((memory.name, ordinal))
            stride = Code(self.names.strides[memory.name, ordinal])
            total = binary("+", total, self._scaled(coordinate, stride, shape))
        return total, axes

    def _buffer_pointer(self, buffer: Buffer, coordinates: Sequence[Polynomial], shape: Shape) -> Code:
        """Buffers are contiguous, the instances of parallel points innermost: neighbouring lanes are neighbours."""
        self.buffers[buffer.name] = None
        extents = self.section.shapes[buffer]
        instances = len(extents) - buffer.rank
        ordered = [*range(instances, len(extents)), *range(instances)]
        elements = product(extents).constant
        large = elements is None or elements >= 1 << 31
        total = Code(f"{buffer.name}_ptr")
        for position, ordinal in enumerate(ordered):
            if coordinates[ordinal].constant == 0:
                continue
            inner = [extents[each] for each in ordered[position + 1 :]]
            total = binary("+", total, self._element_offset(coordinates[ordinal], inner, shape, large))
        return total

    def _element_offset(self, place: Polynomial, inner: Sequence[Polynomial], shape: Shape, large: bool) -> Code:
        """`place` times the extents further inside. `large`: the buffer may have 2**31 elements or more."""
        code, stride = self.polynomial(place, shape, wide=False), product(inner)
        if stride.constant == 1:
            return code
        if stride.constant is not None:
            code = call("tl.cast", code, Code("INDEX")) if large and not self._widen(place) else code
            return binary("*", code, Code(str(stride.constant), value=stride.constant))
        if not large or (self._widen(place) and stride.atom is not None):
            return self._scaled(place, self.polynomial(stride, shape, wide=False), shape)
        varying = sorted(inner, key=lambda extent: extent.constant is not None)
        total = call("tl.cast", self.polynomial(varying[0], shape, wide=False), Code("INDEX"))
        for extent in varying[1:]:
            if extent.constant != 1:
                total = binary("*", total, self.polynomial(extent, shape, wide=False))
        return self._scaled(place, total, shape)

    def _scaled(self, coordinate: Polynomial, stride: Code, shape: Shape) -> Code:
        if coordinate.constant == 1:
            return stride
        return binary("*", self.polynomial(coordinate, shape, wide=False), stride)

    def _widen(self, coordinate: Polynomial) -> bool:
        """Make the coordinate's code as wide as INDEX, unless it consists of sizes and constants."""
        parts = list(_operands(coordinate))
        counters = [atom for atom in parts if isinstance(atom, LoopToken) or atom in self.counters]
        if any(not isinstance(atom, Symbol) and atom not in counters for atom in parts):
            return True
        self.indices.update(counters)
        return bool(counters)

    def mask(
        self, lanes: Shape, checks: Sequence[Check], guard: Expression | None, shape: Shape
    ) -> tuple[Code | None, frozenset[Axis]]:
        """Conjunction of the lanes' guards, the bounds checks and an explicit condition; None if always true."""
        parts: list[Code] = []
        axes: set[Axis] = set()
        for axis in lanes:
            name = self.form(axis).mask
            if name is not None:
                shared = self.fewer[axis].mask if axis in self.fewer else None
                parts.append(placed(shared or Code(name), (axis,), shape))
                axes.add(axis)
        for check in checks:
            parts.append(self.check(check, shape))
            axes |= _axes(check.left) | _axes(check.right)
        guard = self.simplified(guard) if guard is not None else None
        if guard is not None and guard not in self.certain:
            parts.append(self._beside_lanes(guard, self.value(guard, shape), bool(self.lanes(axes | guard.axes))))
            axes |= guard.axes
        if not parts:
            return None, frozenset()
        total = parts[0]
        for part in parts[1:]:
            total = binary("&", total, part)
        return total, frozenset(self.lanes(axes))

    def check(self, check: Check, shape: Shape) -> Code:
        """Written with the varying side first, as a person would: `j >= 0`, `j < N`."""
        if check.left.constant is not None and not check.strict:
            return binary(">=", self.polynomial(check.right, shape), self.polynomial(check.left, shape))
        operator = "<" if check.strict else "<="
        return binary(operator, self.polynomial(check.left, shape), self.polynomial(check.right, shape))

    def guarded(self, node: Expression, ordinal: int, shape: Shape, identity: bool | int | float) -> Code:
        """Operand of a reduction with its guarded lanes at the identity."""
        operand = node.arguments[ordinal]
        code = self.data(operand, shape)
        masks = [
            placed(Code(str(self.form(axis).mask)), (axis,), shape)
            for axis in self.section.selected.get((node, ordinal), ())
            if self.form(axis).mask is not None and axis in shape
        ]
        if not masks:
            return code
        total = masks[0]
        for mask in masks[1:]:
            total = binary("&", total, mask)
        return arithmetic.select(total, code, conversions.constant(identity, operand.dtype), operand.dtype)


def _is_even(condition: Expression, axis: Axis) -> bool:
    """axis % 2 == 0"""
    if condition.operation != "pointwise" or condition.attribute[0] != "equal":
        return False
    left, right = condition.arguments
    return left.operation == "index" and left.attribute == remainder(atomic(axis), number(2)) and _is_zero(right)


def _is_zero(node: Expression) -> bool:
    return (
        node.polynomial.constant == 0
        if node.operation == "index"
        else node.operation == "constant" and not node.attribute
    )


def _is_float_comparison(condition: Expression) -> bool:
    """Whether the interpreter takes the condition for a float: its type is that of its first comparison's operands."""
    match condition.operation:
        case "pointwise":
            first = next((each for each in condition.arguments if each.operation != "constant"), condition.arguments[0])
            return first.dtype.is_float if first.dtype.kind != "bool" else _is_float_comparison(first)
        case "select":
            return any(_is_float_comparison(branch) for branch in condition.arguments[1:])
        case "cast":
            return condition.dtype.kind == "bool" and condition.arguments[0].dtype.is_float
        case _:
            return False


def placed(code: Code, own: Shape, shape: Shape) -> Code:
    """A tile over `own` as an operand of a tile over `shape`."""
    if own == shape or not own:
        return code
    present = tuple(axis for axis in shape if axis in own)
    if present != own:
        permutation = ", ".join(str(own.index(axis)) for axis in present)
        code = call("tl.trans", code) if len(own) == 2 else call("tl.permute", code, Code(f"({permutation})"))
    if present == shape:
        return code
    marks = ", ".join(":" if axis in own else "None" for axis in shape)
    text = code.text if code.precedence >= ATOM else f"({code.text})"
    return Code(f"{text}[{marks}]")


def _axes(value: Polynomial) -> set[Axis]:
    found: set[Axis] = set()
    for atom in value.atoms():
        if isinstance(atom, Axis):
            found.add(atom)
        elif isinstance(atom, Expression):
            found |= atom.axes
    return found


def _writing_order(atom: Atom) -> int:
    """Coordinates, then sizes, then block sizes: `pid * BLOCK_N`."""
    match atom:
        case Symbol():
            return 1
        case Named(name=name) if name.startswith("BLOCK_"):
            return 2
        case _:
            return 0


def _operands(value: Polynomial) -> Iterator[Atom]:
    """Atoms that are no quotient, remainder or extremum of others."""
    for atom in value.atoms():
        if isinstance(atom, Quotient | Remainder | Extremum):
            for operand in atom.operands:
                yield from _operands(operand)
        elif isinstance(atom, Expression) and atom.operation == "index":
            yield from _operands(atom.attribute)
        else:
            yield atom

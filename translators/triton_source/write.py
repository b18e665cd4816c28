"""Tile functions as the text of `@triton.jit` functions, one statement at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from typing_extensions import assert_never

from intent.dtypes import DType, f32, i32, index
from translators.algebra.polynomial import Quotient, Symbol
from translators.diagnostics import Span
from translators.logical.program import Kernel
from translators.tile.expression import Axis, Combine, Expression, Reduction
from translators.tile.program import (
    Accumulate,
    Assign,
    AssignResults,
    Barrier,
    BindAxis,
    BindIndex,
    BindMask,
    CarryForm,
    Finish,
    Named,
    OrderedLoop,
    Remark,
    ScanStep,
    Section,
    Start,
    Statement,
    StoreTile,
    StreamLoop,
    TileFunction,
)
from translators.triton_source import arithmetic, conversions, reductions
from translators.triton_source.expressions import SUM, Code, binary, call, method, parenthesised
from translators.triton_source.finishing import finished
from translators.triton_source.launch import Argument, Pointer, ScalarArgument, ScratchPointer, Size, Stride
from translators.triton_source.layout import INDENT, WIDTH
from translators.triton_source.lines import Line
from translators.triton_source.names import LaunchNames
from translators.triton_source.render import Renderer, Shape, atomic_call, placed
from translators.triton_source.telling_names import Vocabulary


@dataclass(frozen=True, slots=True)
class Written:
    """A device function's text without its decorator, its runtime arguments, and the device functions it calls."""

    text: str
    arguments: tuple[Argument, ...]
    helpers: frozenset[str]
    combines: dict[str, str]
    wide_index: bool


def write_function(kernel: Kernel, names: LaunchNames, function: TileFunction) -> Written:
    """Print one tile function."""
    writer = _FunctionWriter(kernel, names, function)
    return writer.write()


@dataclass(slots=True)
class _FunctionWriter:
    kernel: Kernel
    names: LaunchNames
    function: TileFunction
    helpers: set[str] = field(default_factory=set)
    combines: dict[str, str] = field(default_factory=dict)
    strides: set[tuple[str, int]] = field(default_factory=set)
    scalars: dict[str, bool] = field(default_factory=dict)
    symbols: set[str] = field(default_factory=set)
    buffers: set[str] = field(default_factory=set)
    meanings: dict[str, str] = field(default_factory=dict)

    def write(self) -> Written:
        sections = self._sections(self.function.sections, 1)
        lines = [*self._typed_scalars("\n".join(line.text for line in sections)), *sections]
        body = finished(lines, self._vocabulary())
        text = "\n".join(body)
        arguments = tuple(self._arguments(text))
        header = self._header(arguments, "INDEX" in text)
        return Written("\n".join([*header, *body]), arguments, frozenset(self.helpers), self.combines, "INDEX" in text)

    def _vocabulary(self) -> Vocabulary:
        constants = frozenset({*(name for name, _ in self.function.blocks), "INDEX"})
        names = self.names
        pointers = {pointer: names.parameters[view] for view, pointer in names.pointers.items()}
        pointers |= {f"{buffer}_ptr": buffer for buffer in self.buffers}
        author = {name for section in self.function.sections for name in section.names.values()}
        author |= {form.name for section in self.function.sections for form in section.forms.values()}
        scalars = {names.parameters[scalar.name] for scalar in self.kernel.scalars}
        taken = {*constants, *pointers, *scalars, *names.sizes.values(), *names.strides.values()}
        return Vocabulary(frozenset(author | scalars), self.meanings, constants, pointers, names.axes(), taken)

    def _sections(self, sections: Sequence[Section], level: int) -> list[Line]:
        if len(sections) == 1:
            return self._section(sections[0], level)
        first, rest = sections[0], sections[1:]
        renderer = self._renderer(first)
        bound = renderer.polynomial(first.count, (), wide=False)
        self._absorb(renderer)
        lines = [Line(level, "pid = tl.program_id(0).to(INDEX)")] if sections is self.function.sections else []
        lines.append(Line(level, f"if pid < {bound.text}:"))
        lines += self._section(first, level + 1)
        lines.append(Line(level, "else:"))
        lines.append(Line(level + 1, f"pid -= {parenthesised(bound, SUM + 1)}"))
        return lines + self._sections(rest, level + 1)

    def _typed_scalars(self, text: str) -> Iterator[Line]:
        """The CPU interpreter passes floats as Python floats, and integers as wide as their value."""
        for scalar in self.kernel.scalars:
            name = self.names.parameters[scalar.name]
            alone = self.scalars.get(scalar.name, False) or re.search(rf"\b{name}\.to\(", text) is not None
            needed = alone if scalar.dtype == f32 else scalar.name in self.scalars
            if needed and scalar.dtype not in (i32, index):
                yield Line(1, f"{name} = {conversions.scalar_parameter(Code(name), scalar.dtype).text}")

    def _renderer(self, section: Section) -> Renderer:
        return Renderer(self.names, section)

    def _section(self, section: Section, level: int) -> list[Line]:
        writer = _StatementWriter(self, self._renderer(section), level)
        writer.statements(section.statements)
        self._absorb(writer.renderer)
        return writer.lines

    def _absorb(self, renderer: Renderer) -> None:
        self.helpers |= renderer.helpers
        self.strides |= renderer.strides
        for name, alone in renderer.scalars.items():
            self.scalars[name] = alone or self.scalars.get(name, False)
        self.symbols |= set(renderer.symbols)
        self.buffers |= set(renderer.buffers)
        self.meanings |= renderer.meanings

    def _arguments(self, text: str) -> Iterator[Argument]:
        """Pointers in declaration order, then sizes, strides and scalars, each only if it is used."""
        for view in self.kernel.views:
            if self.names.pointers[view.name] in text:
                yield Pointer(view.name)
        seen: set[str] = set()
        for view in self.kernel.views:
            for extent in view.shape:
                atom = extent.atom
                if isinstance(atom, Symbol) and atom.name in self.symbols and atom.name not in seen:
                    seen.add(atom.name)
                    yield Size(atom.name)
        for view in self.kernel.views:
            for axis in range(view.rank):
                if (view.name, axis) in self.strides:
                    yield Stride(view.name, axis)
        yield from (ScratchPointer(name) for name in sorted(self.buffers))
        for scalar in self.kernel.scalars:
            if scalar.name in self.scalars:
                yield ScalarArgument(scalar.name)

    def _header(self, arguments: Sequence[Argument], wide: bool) -> list[str]:
        groups: list[list[str]] = []
        for kind in (Pointer, Size, Stride, ScratchPointer, ScalarArgument):
            group = [self._parameter(argument) for argument in arguments if isinstance(argument, kind)]
            groups.append(group)
        constants = [f"{name}: tl.constexpr" for name, _ in self.function.blocks]
        constants += ["INDEX: tl.constexpr"] if wide else []
        parameters = [parameter for group in groups for parameter in group] + constants
        one_line = f"def {self.function.name}({', '.join(parameters)}):"
        if len(one_line) <= WIDTH:
            return [one_line]
        if len(INDENT) + len(", ".join(parameters)) <= WIDTH:
            return [f"def {self.function.name}(", f"{INDENT}{', '.join(parameters)}", "):"]
        lines = [line for group in [*groups, constants] for line in _filled(group)]
        return [f"def {self.function.name}(", *lines, "):  # fmt: skip"]

    def _parameter(self, argument: Argument) -> str:
        name = self.names.argument(argument)
        if isinstance(argument, ScalarArgument):
            dtype = next(scalar.dtype for scalar in self.kernel.scalars if scalar.name == argument.name)
            return f"{name}: {conversions.TRITON_NAME[dtype.name]}"
        return name


@dataclass(slots=True)
class _StatementWriter:
    function: _FunctionWriter
    renderer: Renderer
    level: int
    lines: list[Line] = field(default_factory=list)

    def line(self, text: str, span: Span | None = None) -> None:
        """One statement; `span` is the author's line that a reader may want to find."""
        comment = f"{PurePath(span.path).name}:{span.line}" if span is not None and span.line > 0 else ""
        self.lines.append(Line(self.level, text, comment))

    def statements(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            self.statement(statement)

    def nested(self, statements: Iterable[Statement]) -> None:
        """A loop body: names it binds are gone after it."""
        saved = dict(self.renderer.values)
        self.level += 1
        self.statements(statements)
        self.level -= 1
        self.renderer.values = saved

    def statement(self, statement: Statement) -> None:
        match statement:
            case BindIndex():
                self._bind_index(statement)
            case BindAxis():
                self._bind_axis(statement)
            case BindMask(axis=axis):
                self._bind_mask(axis)
            case Assign():
                self._assign(statement)
            case AssignResults():
                self._assign_results(statement)
            case Start():
                self._start(statement)
            case Accumulate():
                self._accumulate(statement)
            case Finish():
                self._finish(statement)
            case ScanStep():
                self._scan_step(statement)
            case StoreTile():
                self._store(statement)
            case StreamLoop():
                self._stream(statement)
            case OrderedLoop():
                self._ordered(statement)
            case Barrier():
                self.line("tl.debug_barrier()")
            case Remark(text=text):
                self.line(f"# {text}")
            case _:
                assert_never(statement)

    # ------------------------------------------------------------------------------------------------- coordinates
    def _bind_index(self, statement: BindIndex) -> None:
        code = self.renderer.polynomial(statement.value, (), wide=False)
        if statement.wide:
            code = method(code, "to", "INDEX")
        match statement.value.atom:
            case Quotient(numerator=numerator, denominator=divisor) if numerator.atom == Named(statement.name):
                self.line(f"{statement.name} //= {self.renderer.polynomial(divisor, (), wide=False).text}")
            case _:
                self.line(f"{statement.name} = {code.text}")

    def _bind_axis(self, statement: BindAxis) -> None:
        form = self.renderer.form(statement.axis)
        if form.block is None:
            raise AssertionError("a single coordinate is bound as an index")
        lanes = call("tl.arange", Code("0"), Code(form.block))
        total = method(lanes, "to", "INDEX") if statement.wide else lanes
        if statement.tile.constant != 0:
            first = binary("*", self.renderer.polynomial(statement.tile, (), wide=False), Code(form.block))
            total = binary("+", first, total)
        base = self.renderer.polynomial(statement.base, (), wide=False)
        if statement.base.constant is None:
            total = binary("+", base, total)
        elif statement.base.constant != 0:
            total = binary("+", total, base) if statement.base.constant > 0 else binary("+", base, total)
        self.line(f"{form.name} = {total.text}")

    def _bind_mask(self, axis: Axis) -> None:
        form = self.renderer.form(axis)
        end = self.renderer.polynomial(axis.end, (), wide=False)
        self.line(f"{form.mask} = {binary('<', Code(form.name), end).text}")

    # ------------------------------------------------------------------------------------------------------ values
    def _assign(self, statement: Assign) -> None:
        node, order = statement.value, statement.order
        match node.operation:
            case "reduce":
                self._resident_reduce(statement)
                return
            case "contract":
                code = self._dot(node, order, None)
            case "scan":
                code = self._resident_scan(node, order)
            case _:
                code = self.renderer.value(node, order)
        self.line(f"{statement.name} = {code.text}")
        self.renderer.values[node] = (statement.name, order)

    def _resident_reduce(self, statement: Assign) -> None:
        """A reduction of whole tiles by a kind that Triton knows."""
        node, order = statement.value, statement.order
        kind, lanes, shape = node.attribute.kind, *self._reduced_shape(node, order)
        code = self.renderer.guarded(node, 0, shape, reductions.identity(kind, node.dtype))
        code = self._reduced(kind, node.dtype, self._full(code, node.arguments[0], shape), shape, lanes)
        self.line(f"{statement.name} = {code.text}", statement.span)
        self.renderer.values[node] = (statement.name, order)

    def _reduced_shape(self, node: Expression, order: Shape) -> tuple[Shape, Shape]:
        """(reduced lanes, all lanes of the operands)."""
        lanes = self.renderer.lanes(node.attribute.axes)
        return lanes, self.renderer.lanes({*order, *lanes, *(axis for a in node.arguments for axis in a.axes)})

    def _assign_results(self, statement: AssignResults) -> None:
        node, order = statement.results[0][1], statement.order
        wanted = {member.attribute.result: name for name, member in statement.results}
        if node.operation == "scan":
            self._resident_generic_scan(node, order, wanted)
        elif node.attribute.kind == "arg_max":
            self._resident_arg_max(node, self._reduced_shape(node, order)[1], wanted)
        else:
            shape = self._reduced_shape(node, order)[1]
            codes = [self._identity_filled(node, ordinal, shape) for ordinal in range(len(node.arguments))]
            self._reduce_generic(node, codes, shape, wanted)
        for name, member in statement.results:
            self.renderer.values[member] = (name, order)

    def _full(self, code: Code, node: Expression, shape: Shape) -> Code:
        """The operand over all the lanes it is reduced along, even those it does not vary with."""
        missing = [axis for axis in shape if axis not in node.axes]
        if not missing:
            return code
        typed = conversions.typed(code, node.dtype)
        return call("tl.broadcast_to", typed, Code(self.renderer.blocks(shape)))

    def _reduced(self, kind: str, dtype: DType, code: Code, shape: Shape, lanes: Shape) -> Code:
        """Reduce the dimensions of `lanes`, last first."""
        for axis in reversed(lanes):
            code = self.renderer.emitted(reductions.reduce_tile(kind, dtype, code, shape.index(axis)))
            shape = tuple(other for other in shape if other is not axis)
        return code

    def _resident_arg_max(self, node: Expression, shape: Shape, wanted: dict[int, str]) -> None:
        axis, operand = node.attribute.axes[0], node.arguments[0]
        values = self._full(
            self.renderer.guarded(node, 0, shape, reductions.identity("max", operand.dtype)), operand, shape
        )
        indices = self.renderer.axis(axis, shape)
        if len(shape) > 1:
            indices = call("tl.broadcast_to", indices, Code(self.renderer.blocks(shape)))
        pair = self.renderer.emitted(reductions.arg_max_tile(operand.dtype, values, indices, shape.index(axis)))
        self.line(f"{wanted.get(0, '_')}, {wanted.get(1, '_')} = {pair.text}")
        if 0 in wanted and reductions.computed_in(operand.dtype) != operand.dtype:
            self.line(
                f"{wanted[0]} = {self.renderer.emitted(conversions.narrow(Code(wanted[0]), operand.dtype, True)).text}"
            )

    def _identity_filled(self, node: Expression, ordinal: int, shape: Shape) -> Code:
        """Operand of a generic reduction; guarded lanes hold the author's identity."""
        operand = node.arguments[ordinal]
        code = self._full(self.renderer.value(operand, shape), operand, shape)
        mask, _ = self.renderer.mask(self.renderer.lanes(node.attribute.axes), (), None, shape)
        if mask is None:
            return code
        identity = self.renderer.value(node.attribute.combine.identities[ordinal], shape)
        return arithmetic.select(mask, code, identity, operand.dtype)

    def _reduce_generic(self, node: Expression, codes: Sequence[Code], shape: Shape, wanted: dict[int, str]) -> None:
        combine = self._combine(node.attribute.combine)
        lanes = self.renderer.lanes(node.attribute.axes)
        current = [code.text for code in codes]
        for count, axis in enumerate(reversed(lanes)):
            dimension = shape.index(axis)
            shape = tuple(other for other in shape if other is not axis)
            last = count == len(lanes) - 1
            names = [wanted.get(n, "_") if last else f"partial_{n}" for n in range(len(codes))]
            operand = f"({', '.join(current)})" if len(current) > 1 else current[0]
            target = ", ".join(names)
            self.line(f"{target} = tl.reduce({operand}, {dimension}, {combine})")
            current = names

    def _combine(self, combine: Combine) -> str:
        """The author's combine as a device function."""
        arity = combine.arity
        parameters = argument_names(arity)
        self.renderer.arguments = parameters
        results = [self.renderer.value(result, ()).text for result in combine.results]
        vocabulary = Vocabulary(frozenset(parameters), self.renderer.meanings, taken=set(parameters))
        body = "\n".join(finished([Line(1, f"return {', '.join(results)}")], vocabulary))
        for name, text in self.function.combines.items():
            if text.endswith(f":\n{body}"):
                return name
        name = f"_{self.function.kernel.name}_{combine.name}"
        name = name if name not in self.function.combines else f"{name}_{len(self.function.combines) + 1}"
        self.function.combines[name] = f"@triton.jit\ndef {name}({', '.join(parameters)}):\n{body}"
        return name

    def _resident_generic_scan(self, node: Expression, order: Shape, wanted: dict[int, str]) -> None:
        codes = [self._identity_filled(node, ordinal, order) for ordinal in range(len(node.arguments))]
        names = [wanted.get(ordinal, "_") for ordinal in range(len(codes))]
        self.line(f"{', '.join(names)} = {self._scan_call(node, codes, order)}")

    def _scan_call(self, node: Expression, codes: Sequence[Code], order: Shape) -> str:
        reduction: Reduction = node.attribute
        if reduction.combine is None:
            raise AssertionError("a generic scan has a combine")
        operand = f"({', '.join(code.text for code in codes)})" if len(codes) > 1 else codes[0].text
        backwards = ", reverse=True" if reduction.reverse else ""
        dimension = order.index(reduction.axes[0])
        return f"tl.associative_scan({operand}, {dimension}, {self._combine(reduction.combine)}{backwards})"

    def _resident_scan(self, node: Expression, order: Shape) -> Code:
        reduction: Reduction = node.attribute
        axis = reduction.axes[0]
        code = self.renderer.guarded(node, 0, order, reductions.identity(reduction.kind, node.dtype))
        code = self._full(code, node.arguments[0], order)
        return self.renderer.emitted(
            reductions.scan_tile(reduction.kind, node.dtype, code, order.index(axis), reduction.reverse)
        )

    # -------------------------------------------------------------------------------------------- streamed reductions
    def _start(self, statement: Start) -> None:
        node = statement.reduction
        reduction: Reduction = node.attribute
        if reduction.kind == "generic" and reduction.combine is not None:
            for name, identity, operand in zip(
                statement.names, reduction.combine.identities, node.arguments, strict=True
            ):
                if identity.operation == "constant":
                    self._fill(name, identity.attribute, operand.dtype, statement.order)
                    continue
                code = conversions.typed(self.renderer.value(identity, statement.order), operand.dtype)
                if statement.order:
                    code = call("tl.broadcast_to", code, Code(self.renderer.blocks(statement.order)))
                self.line(f"{name} = {code.text}")
            return
        if reduction.kind == "arg_max":
            wide = reductions.computed_in(node.arguments[0].dtype)
            self._fill(statement.names[0], reductions.identity("max", wide), wide, statement.order)
            shape = self.renderer.blocks(statement.order) if statement.order else "()"
            self.line(f"{statement.names[1]} = tl.full({shape}, 0, INDEX)")
            return
        self._fill(statement.names[0], reductions.identity(reduction.kind, node.dtype), node.dtype, statement.order)

    def _fill(self, name: str, value: bool | int | float, dtype: DType, order: Shape) -> None:
        constant = conversions.constant(value, dtype)
        tile = (
            conversions.filled(value, dtype, self.renderer.blocks(order))
            if order
            else conversions.typed(constant, dtype)
        )
        self.line(f"{name} = {tile.text}")

    def _accumulate(self, statement: Accumulate) -> None:
        node, order = statement.reduction, statement.order
        kind = node.attribute.kind
        if node.operation == "contract":
            self._accumulate_contraction(statement)
        elif kind == "arg_max":
            self._accumulate_arg_max(statement)
        elif kind == "generic":
            self._accumulate_generic(statement)
        else:
            code = self._tile_contribution(node, kind, order)
            if kind == "sum" and node.dtype.is_float is (node.dtype.bits >= 32) and node.dtype.kind != "bool":
                self.line(f"{statement.names[0]} += {code.text}")
                return
            total = self.renderer.emitted(reductions.accumulate(kind, node.dtype, Code(statement.names[0]), code))
            self.line(f"{statement.names[0]} = {total.text}")

    def _tile_contribution(self, node: Expression, kind: str, order: Shape) -> Code:
        """The tile's elements, already reduced along the resident axes that the accumulators lack."""
        inner = self.renderer.lanes(node.attribute.axes)
        extra = tuple(axis for axis in inner if axis not in order)
        shape = self.renderer.lanes({*order, *extra})
        code = self.renderer.guarded(node, 0, shape, reductions.identity(kind, node.dtype))
        if extra:
            code = self._full(code, node.arguments[0], shape)
        return self._reduced(kind, node.dtype, code, shape, extra)

    def _accumulate_arg_max(self, statement: Accumulate) -> None:
        node, order = statement.reduction, statement.order
        axis = node.attribute.axes[0]
        operand = node.arguments[0]
        values = self.renderer.guarded(node, 0, order, reductions.identity("max", operand.dtype))
        if operand.dtype.is_float:
            values = self.renderer.emitted(conversions.widen(values, operand.dtype))
        indices = self.renderer.axis(axis, order)
        pair = self.renderer.emitted(
            reductions.accumulate_arg_max(Code(statement.names[0]), Code(statement.names[1]), values, indices)
        )
        self.line(f"{', '.join(statement.names)} = {pair.text}")

    def _accumulate_generic(self, statement: Accumulate) -> None:
        node, order = statement.reduction, statement.order
        combine = self._combine(node.attribute.combine)
        elements = [self.renderer.value(argument, order).text for argument in node.arguments]
        arguments = ", ".join([*statement.names, *elements])
        lanes = tuple(axis for axis in order if axis in node.attribute.axes)
        mask, _ = self.renderer.mask(lanes, (), None, order)
        if mask is None:
            self.line(f"{', '.join(statement.names)} = {combine}({arguments})")
            return
        fresh = [f"new_{name}" for name in statement.names]
        self.line(f"{', '.join(fresh)} = {combine}({arguments})")
        for name, new in zip(statement.names, fresh, strict=True):
            self.line(f"{name} = tl.where({mask.text}, {new}, {name})")

    def _accumulate_contraction(self, statement: Accumulate) -> None:
        node, order = statement.reduction, statement.order
        (name,) = statement.names
        if not set(self.renderer.lanes(node.attribute.axes)) & set(order):
            lanes = self.renderer.lanes(node.attribute.axes)
            if lanes:
                self.line(f"{name} = {self._dot(node, order, name).text}")
                return
        self.line(f"{name} += {self._product(node, order).text}")

    def _product(self, node: Expression, shape: Shape) -> Code:
        """Elementwise products in the accumulator's type, where tl.dot does not apply."""
        sides: list[Code] = []
        for ordinal, operand in enumerate(node.arguments):
            code = self.renderer.guarded(node, ordinal, shape, 0.0 if operand.dtype.is_float else 0)
            sides.append(self.renderer.emitted(conversions.cast(code, operand.dtype, node.dtype)))
        product = arithmetic.pointwise("multiply", node.dtype, node.dtype, sides)
        return self.renderer.emitted(product)

    def _dot(self, node: Expression, order: Shape, accumulator: str | None) -> Code:
        """tl.dot on [rows, k] and [k, columns], or a sum of products where a side has no lanes of its own."""
        lhs, rhs = node.arguments
        contracted = self.renderer.lanes(node.attribute.axes)
        rows = tuple(axis for axis in self.renderer.lanes(lhs.axes) if axis not in contracted)
        columns = tuple(axis for axis in self.renderer.lanes(rhs.axes) if axis not in contracted)
        if (len(contracted), len(rows), len(columns)) != (1, 1, 1) or not _exact_dot(lhs.dtype, node.dtype):
            shape = self.renderer.lanes({*order, *contracted})
            return self._reduced("sum", node.dtype, self._product(node, shape), shape, contracted)
        left = self.renderer.guarded(node, 0, (*rows, *contracted), _zero(lhs.dtype))
        right = self.renderer.guarded(node, 1, (*contracted, *columns), _zero(rhs.dtype))
        total = self._dot_call(lhs.dtype, node.dtype, left, right, accumulator)
        return placed(total, (*rows, *columns), order)

    def _dot_call(self, operand: DType, result: DType, left: Code, right: Code, accumulator: str | None) -> Code:
        parts = [left, right, *([Code(accumulator)] if accumulator else [])]
        if operand.name == "bf16":
            helper = "_dot_bfloat16" if accumulator else "_product_bfloat16"
            self.renderer.helpers.add(helper)
            return call(helper, *parts)
        keywords = {"input_precision": '"ieee"'} if operand.name == "f32" else {}
        if accumulator is None and result.kind == "signed":
            keywords["out_dtype"] = "tl.int32"
        return call("tl.dot", *parts, **keywords)

    def _finish(self, statement: Finish) -> None:
        node = statement.reduction
        reduction: Reduction = node.attribute
        lanes = tuple(axis for axis in statement.order if axis in reduction.axes)
        left = tuple(axis for axis in statement.order if axis not in lanes)
        if lanes and reduction.kind == "arg_max":
            self._finish_arg_max(statement, lanes[0])
        elif lanes and reduction.kind == "generic":
            wanted = {member.attribute.result: name for name, member in statement.results}
            self._reduce_generic(node, [Code(name) for name in statement.names], statement.order, wanted)
        elif lanes:
            kind = "sum" if node.operation == "contract" else reduction.kind
            code = self._reduced(kind, node.dtype, Code(statement.names[0]), statement.order, lanes)
            name, member = statement.results[0]
            self.line(f"{name} = {code.text}", self.renderer.section.spans.get(member))
        elif reduction.kind == "arg_max":
            self._narrow_value(statement)
        for name, member in statement.results:
            self.renderer.values[member] = (name, left)

    def _finish_arg_max(self, statement: Finish, axis: Axis) -> None:
        names = {member.attribute.result: name for name, member in statement.results}
        operand = statement.reduction.arguments[0].dtype
        wide = reductions.computed_in(operand)
        pair = self.renderer.emitted(
            reductions.arg_max_tile(
                wide, Code(statement.names[0]), Code(statement.names[1]), statement.order.index(axis)
            )
        )
        self.line(f"{names.get(0, '_')}, {names.get(1, '_')} = {pair.text}")
        if 0 in names and wide != operand:
            self.line(f"{names[0]} = {self.renderer.emitted(conversions.narrow(Code(names[0]), operand, True)).text}")

    def _narrow_value(self, statement: Finish) -> None:
        operand = statement.reduction.arguments[0].dtype
        for name, member in statement.results:
            if member.attribute.result == 0 and reductions.computed_in(operand) != operand:
                self.line(f"{name} = {self.renderer.emitted(conversions.narrow(Code(name), operand, True)).text}")

    def _scan_step(self, statement: ScanStep) -> None:
        node, order = statement.results[0][1], statement.order
        axis = node.attribute.axes[0]
        outer = tuple(other for other in order if other is not axis)
        if axis not in order:
            self._single_scan_step(statement)
        elif node.attribute.kind == "generic":
            self._generic_scan_step(statement, outer)
        else:
            self._plain_scan_step(statement, outer)
        for name, member in statement.results:
            self.renderer.values[member] = (name, order)

    def _single_scan_step(self, statement: ScanStep) -> None:
        """One coordinate at a time: the prefix is the carry with the element taken in."""
        node, order = statement.results[0][1], statement.order
        reduction: Reduction = node.attribute
        elements = [self.renderer.value(argument, order) for argument in node.arguments]
        wanted = {member.attribute.result: name for name, member in statement.results}
        if reduction.combine is not None:
            arguments = ", ".join([*statement.carries, *(element.text for element in elements)])
            self.line(f"{', '.join(statement.carries)} = {self._combine(reduction.combine)}({arguments})")
        else:
            carry = statement.carries[0]
            total = reductions.accumulate(reduction.kind, node.dtype, Code(carry), elements[0])
            self.line(f"{carry} = {self.renderer.emitted(total).text}")
        for ordinal, name in wanted.items():
            self.line(f"{name} = {statement.carries[ordinal]}")

    def _plain_scan_step(self, statement: ScanStep, outer: Shape) -> None:
        """Prefix within the tile plus what came before; the carry takes in the tile's total."""
        ((name, node),) = statement.results
        (carry,) = statement.carries
        order, reduction = statement.order, node.attribute
        dimension = order.index(reduction.axes[0])
        element = self.renderer.guarded(node, 0, order, reductions.identity(reduction.kind, node.dtype))
        element = self._full(element, node.arguments[0], order)
        if not element.text.isidentifier():
            self.line(f"{name} = {element.text}")
            element = Code(name)
        moved = self.renderer.emitted(reductions.reduce_tile(reduction.kind, node.dtype, element, dimension))
        within = self.renderer.emitted(
            reductions.scan_tile(reduction.kind, node.dtype, element, dimension, reduction.reverse)
        )
        before = placed(Code(carry), outer, order)
        carried = self.renderer.emitted(reductions.accumulate(reduction.kind, node.dtype, Code(carry), moved))
        total = self.renderer.emitted(reductions.accumulate(reduction.kind, node.dtype, before, within))
        if element.text == name:
            self.line(f"{name}_total = {moved.text}")
            carried = self.renderer.emitted(
                reductions.accumulate(reduction.kind, node.dtype, Code(carry), Code(f"{name}_total"))
            )
        self.line(f"{name} = {total.text}")
        self.line(f"{carry} = {carried.text}")

    def _generic_scan_step(self, statement: ScanStep, outer: Shape) -> None:
        """The carry comes first in the combine; its next value is the last prefix of the tile."""
        node, order = statement.results[0][1], statement.order
        reduction: Reduction = node.attribute
        if reduction.combine is None:
            raise AssertionError("a generic scan has a combine")
        axis = reduction.axes[0]
        codes = [self._identity_filled(node, ordinal, order) for ordinal in range(len(node.arguments))]
        wanted = {member.attribute.result: name for name, member in statement.results}
        names = [wanted.get(n, f"{statement.carries[n]}_next") for n in range(len(codes))]
        self.line(f"{', '.join(names)} = {self._scan_call(node, codes, order)}")
        before = [placed(Code(carry), outer, order).text for carry in statement.carries]
        self.line(f"{', '.join(names)} = {self._combine(reduction.combine)}({', '.join([*before, *names])})")
        block = self.renderer.form(axis).block
        end = statement.start if reduction.reverse else f"{statement.start} + {block} - 1"
        last = placed(Code(f"({self.renderer.form(axis).name} == {end})"), (axis,), order)
        for ordinal, (carry, name) in enumerate(zip(statement.carries, names, strict=True)):
            dtype = node.arguments[ordinal].dtype
            chosen = arithmetic.select(last, Code(name), conversions.constant(0, dtype), dtype)
            kind = "any" if dtype.kind == "bool" else "sum"
            self.line(f"{carry} = {self._reduced(kind, dtype, chosen, order, (axis,)).text}")

    # ------------------------------------------------------------------------------------------------------- memory
    def _store(self, statement: StoreTile) -> None:
        renderer, shape = self.renderer, statement.order
        pointer, pointer_axes = renderer.pointer(statement.memory, statement.coordinates, shape)
        mask, mask_axes = renderer.mask(shape, statement.checks, statement.predicate, shape)
        value = renderer.value(statement.value, shape)
        value = conversions.as_access(value, statement.value.dtype)
        if not (mask_axes | statement.value.axes & set(shape)) <= pointer_axes:
            pointer = renderer.broadcast(pointer, shape, shape)
        if statement.action != "store":
            pointer = renderer.broadcast(pointer, shape, shape) if not set(shape) <= pointer_axes else pointer
            value = renderer.atomic_operand(statement.value, shape)
            call_text = atomic_call(statement.action, statement.semantics, pointer, [value], mask).text
            self.line(call_text, statement.span)
            return
        keywords = {"mask": mask.text} if mask is not None else {}
        self.line(call("tl.store", pointer, value, **keywords).text, statement.span)

    # --------------------------------------------------------------------------------------------------------- loops
    def _stream(self, statement: StreamLoop) -> None:
        form = self.renderer.form(statement.axis)
        begin = self.renderer.polynomial(statement.axis.begin, (), wide=False)
        end = self.renderer.polynomial(statement.axis.end, (), wide=False)
        step = form.block or "1"
        low = begin.text
        if statement.reverse:
            length = self.renderer.polynomial(statement.axis.extent, (), wide=False)
            last = call("tl.cdiv", length, Code(step))
            self.line(f"for back in range({last.text}):")
            ordinal = binary("-", binary("-", last, Code("1")), Code("back"))
            scaled = binary("*", ordinal, Code(step))
            first = scaled if begin.value == 0 else binary("+", begin, scaled)
            self.lines.append(Line(self.level + 1, f"{statement.start} = {first.text}"))
        elif step == "1":
            low = f"{low}, " if low != "0" else ""
            self.line(f"for {statement.start} in range({low}{end.text}):")
        else:
            self.line(f"for {statement.start} in range({low}, {end.text}, {step}):")
        self.nested(statement.body)

    def _ordered(self, statement: OrderedLoop) -> None:
        renderer = self.renderer
        renderer.loops[statement.token] = statement.name
        for ordinal, carry in enumerate(statement.carries):
            self._initial(carry)
            renderer.carries[statement.token, ordinal] = (carry.name, carry.order, carry.axes)
        if statement.low is not None and statement.high is not None:
            self.line(f"for {statement.name} in {self._range(statement)}:")
        elif statement.sliced is not None:
            form = renderer.form(statement.sliced)
            end = renderer.polynomial(statement.sliced.end, (), wide=False)
            self.line(f"for {statement.name} in range(0, {end.text}, {form.block}):")
        else:
            self._test(statement)
            self.line(f"while {self._any_active(statement)}:")
        saved = dict(renderer.values)
        if statement.live is not None and statement.active is not None:
            renderer.values[statement.live] = (statement.active, statement.active_order)
        self.level += 1
        before = len(self.lines)
        self.statements(statement.body)
        self._updates(statement)
        renderer.values = saved
        if statement.live is not None:
            self._test(statement)
        if before == len(self.lines):
            self.line("pass")
        self.level -= 1

    def _range(self, statement: OrderedLoop) -> str:
        assert statement.low is not None and statement.high is not None
        low = self.renderer.polynomial(statement.low.polynomial, (), wide=False)
        high = self.renderer.polynomial(statement.high.polynomial, (), wide=False)
        if statement.step != 1:
            return f"range({low.text}, {high.text}, {statement.step})"
        return f"range({high.text})" if low.value == 0 else f"range({low.text}, {high.text})"

    def _test(self, statement: OrderedLoop) -> None:
        if statement.live is None or statement.active is None:
            return
        saved = dict(self.renderer.values)
        self.renderer.values.pop(statement.live, None)
        self.statements(statement.test)
        code = self._live(statement)
        self.line(f"{statement.active} = {code.text}")
        self.renderer.values = saved

    def _live(self, statement: OrderedLoop) -> Code:
        """The lanes that go on: guarded lanes never do, so that they cannot keep the loop alive."""
        assert statement.live is not None
        mask, _ = self.renderer.mask(statement.active_order, (), statement.live, statement.active_order)
        assert mask is not None
        return mask

    def _any_active(self, statement: OrderedLoop) -> str:
        assert statement.active is not None
        code = Code(statement.active)
        for dimension in reversed(range(len(statement.active_order))):
            code = reductions.reduce_tile("any", statement.live.dtype, code, dimension).code if statement.live else code
        return code.text

    def _initial(self, carry: CarryForm) -> None:
        code = conversions.typed(self._as_value(carry.initial, carry.order), carry.dtype)
        missing = [axis for axis in carry.order if axis not in carry.initial.axes]
        constant = _constant_value(carry.initial)
        if missing and constant is not None:
            self._fill(carry.name, constant, carry.dtype, carry.order)
            return
        if missing:
            code = call("tl.broadcast_to", code, Code(self.renderer.blocks(carry.order)))
        if code.text != carry.name:
            self.line(f"{carry.name} = {code.text}")

    def _as_value(self, node: Expression, order: Shape) -> Code:
        """A carry's value; index carries are 64-bit throughout, so that their type never changes."""
        if node.dtype != index:
            return self.renderer.value(node, order)
        if node.operation == "index" and node.attribute.constant is None:
            code = self.renderer.polynomial(node.attribute, order, wide=True)
            return call("tl.cast", code, Code("tl.int64"))
        return self.renderer.wide(node, order)

    def _updates(self, statement: OrderedLoop) -> None:
        late: list[tuple[str, str]] = []
        for carry in statement.carries:
            code = self._as_value(carry.update, carry.order)
            code = conversions.typed(code, carry.dtype)
            if [axis for axis in carry.order if axis not in carry.update.axes]:
                code = call("tl.broadcast_to", code, Code(self.renderer.blocks(carry.order)))
            if carry.new_name is not None:
                self.line(f"{carry.new_name} = {code.text}")
                late.append((carry.name, carry.new_name))
            elif code.text != carry.name:
                self.line(f"{carry.name} = {code.text}")
        for name, new in late:
            self.line(f"{name} = {new}")


def _constant_value(node: Expression) -> bool | int | float | None:
    match node.operation:
        case "constant":
            value: bool | int | float = node.attribute
            return value
        case "index":
            coordinate: int | None = node.attribute.constant
            return coordinate
        case _:
            return None


def _zero(dtype: DType) -> float | int:
    return 0.0 if dtype.is_float else 0


def _exact_dot(operand: DType, result: DType) -> bool:
    return (operand.name, result.name) in {("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("i8", "i32")}


def argument_names(arity: int) -> list[str]:
    """Parameters of a combine: accumulators, then elements."""
    if arity == 1:
        return ["left", "right"]
    return [f"{side}_{ordinal}" for side in ("left", "right") for ordinal in range(arity)]


def _filled(parameters: Sequence[str]) -> Iterator[str]:
    """Parameters of one kind, as many to a line as fit."""
    line = ""
    for parameter in parameters:
        if line and len(line) + len(parameter) + 2 > WIDTH:
            yield line
            line = ""
        line = f"{line} {parameter}," if line else f"{INDENT}{parameter},"
    if line:
        yield line

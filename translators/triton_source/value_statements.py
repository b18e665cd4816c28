"""Assignments of a device function: values, reductions and scans, of whole tiles and streamed over tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePath

from intent.dtypes import DType, boolean, f8e4m3fn, f8e5m2, f16, i32, i64
from intent.records import dataclass, field, replace
from translators.algebra.polynomial import atomic
from translators.diagnostics import Span
from translators.tile.expression import EXACT_PRODUCTS, Axis, Combine, Expression, Reduction, walk
from translators.tile.program import (
    Accumulate,
    Assign,
    AssignResults,
    Finish,
    Renew,
    ScanStep,
    Start,
    of_sizes,
)
from translators.triton_source import arithmetic, conversions, reductions
from translators.triton_source.expressions import Code, binary, call, method
from translators.triton_source.finishing import finished
from translators.triton_source.lines import Line, Origins
from translators.triton_source.render import Renderer, Shape, placed
from translators.triton_source.telling_names import Vocabulary


@dataclass(slots=True)
class ValueWriter:
    """Prints statements that compute.

    `known_combines` names the authors' combines for all variants of the kernel; `combines` collects those used here.
    """

    kernel: str
    known_combines: dict[str, str]
    combines: dict[str, str]
    renderer: Renderer
    level: int
    lines: list[Line] = field(default_factory=list)
    explained: set[str] = field(default_factory=set)

    def line(self, text: str, span: Span | None = None, cited: bool = False, why: str = "") -> None:
        """One statement for what the author wrote at `span`; `cited` if a reader may want to find that."""
        place = span.line if span is not None else 0
        if span is not None and cited and place > 0:
            why = f"{PurePath(span.path).name}:{place}"
        self.lines.append(Line(self.level, text, why, place))

    def origins(self, *nodes: Expression, alone: bool = False) -> Origins:
        """Where the author wrote what is computed for these, or these `alone`; what has a name was computed before."""
        named = self.renderer.values
        made = nodes if alone else walk(*nodes, stop=lambda node: node in named and node not in nodes)
        spans = (self.renderer.section.spans.get(node) for node in made if node not in named or node in nodes)
        return frozenset((span.path, span.line) for span in spans if span is not None and span.line > 0)

    def trace(self, first: int, origins: Origins) -> None:
        """Lines from number `first` on come from there, unless they are known to come from elsewhere."""
        for number in range(first, len(self.lines)):
            if not self.lines[number].origins:
                self.lines[number] = replace(self.lines[number], origins=origins)

    # ------------------------------------------------------------------------------------------------------ values
    def _assign(self, statement: Assign) -> None:
        node, order = statement.value, statement.order
        shared: tuple[Axis, int] | None = None
        match node.operation:
            case "reduce":
                self._resident_reduce(statement)
                return
            case "contract":
                code = self._dot(node, order, None)
            case "scan":
                code = self._resident_scan(node, order)
            case _ if (shared := self.renderer.shared_by_lanes(node, order)) is not None:
                code = self.renderer.for_fewer(node, order, *shared)
            case _:
                code = self.renderer.value(node, order)
        self.line(f"{statement.name} = {code.text}", statement.span, why=self._why_padded(node))
        self.renderer.values[node] = (statement.name, order)
        if shared is not None:
            self.renderer.few[node] = shared
        else:
            self.renderer.few.pop(node, None)

    def _why_padded(self, node: Expression) -> str:
        """Why masked lanes of a load hold infinity, the first time."""
        load = node.arguments[0] if node.operation == "cast" else node
        padding = self.renderer.section.padding.get(load)
        text = {-math.inf: "masked lanes lose every maximum", math.inf: "masked lanes lose every minimum"}
        masked = any(self.renderer.form(axis).mask for axis in load.axes) and load not in self.renderer.values
        why = text.get(padding, "") if isinstance(padding, float) and masked else ""
        if why in self.explained:
            return ""
        self.explained.add(why)
        return why

    def _resident_reduce(self, statement: Assign) -> None:
        """A reduction of whole tiles by a kind that Triton knows."""
        node, order = statement.value, statement.order
        kind, lanes, shape = node.attribute.kind, *self._reduced_shape(node, order)
        if kind == "count":
            code = self._counted(node, order)
        else:
            code = self.renderer.guarded(node, 0, shape, reductions.identity(kind, node.dtype))
            code = self._reduced(kind, node.dtype, self._full(code, node.arguments[0], shape), shape, lanes)
        self.line(f"{statement.name} = {code.text}", statement.span, cited=True)
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
        span = self.renderer.section.spans.get(node)
        self.line(f"{wanted.get(0, '_')}, {wanted.get(1, '_')} = {pair.text}", span, cited=True)
        if 0 in wanted and reductions.computed_in(operand.dtype) != operand.dtype:
            self.line(
                f"{wanted[0]} = {self.renderer.emitted(conversions.narrow(Code(wanted[0]), operand.dtype, True)).text}"
            )

    def _identity_filled(self, node: Expression, ordinal: int, shape: Shape) -> Code:
        """Operand of a generic reduction; guarded lanes hold the author's identity."""
        operand = node.arguments[ordinal]
        code = self._full(self.renderer.data(operand, shape), operand, shape)
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
            span = self.renderer.section.spans.get(node)
            self.line(f"{target} = tl.reduce({operand}, {dimension}, {combine})", span, cited=True)
            current = names

    def _combine(self, combine: Combine) -> str:
        """The author's combine as a device function."""
        arity = combine.arity
        parameters = argument_names(arity)
        self.renderer.arguments = parameters
        results = [self.renderer.value(result, ()).text for result in combine.results]
        vocabulary = Vocabulary(frozenset(parameters), self.renderer.meanings, taken=set(parameters))
        body = "\n".join(text for text, _ in finished([Line(1, f"return {', '.join(results)}")], vocabulary))
        name = next((name for name, text in self.known_combines.items() if text.endswith(f":\n{body}")), None)
        if name is None:
            name = f"_{self.kernel}_{combine.name}"
            name = name if name not in self.known_combines else f"{name}_{len(self.known_combines) + 1}"
            self.known_combines[name] = f"@triton.jit\ndef {name}({', '.join(parameters)}):\n{body}"
        self.combines[name] = self.known_combines[name]
        return name

    def _resident_generic_scan(self, node: Expression, order: Shape, wanted: dict[int, str]) -> None:
        codes = [self._identity_filled(node, ordinal, order) for ordinal in range(len(node.arguments))]
        names = [wanted.get(ordinal, "_") for ordinal in range(len(codes))]
        span = self.renderer.section.spans.get(node)
        self.line(f"{', '.join(names)} = {self._scan_call(node, codes, order)}", span, cited=True)

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
        if statement.initial is not None:
            self.line(f"{statement.names[0]} = {self.renderer.value(statement.initial, statement.order).text}")
            return
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
            # if nothing is larger than the identity, the first element is the largest
            first = self.renderer.polynomial(reduction.axes[0].begin, ())
            shape = self.renderer.blocks(statement.order) if statement.order else "()"
            self.line(f"{statement.names[1]} = tl.full({shape}, {first.text}, {_position_type(reduction.axes[0])})")
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
        if statement.factor is not None:
            self._accumulate_rescaled(statement, statement.factor)
        elif node.operation == "contract":
            self._accumulate_contraction(statement)
        elif kind == "arg_max":
            self._accumulate_arg_max(statement)
        elif kind == "count":
            self.line(f"{statement.names[0]} += {self._counted(node, order).text}")
        elif kind == "generic":
            self._accumulate_generic(statement)
        else:
            code = self._tile_contribution(node, kind, order)
            if kind == "sum" and node.dtype.is_float is (node.dtype.bits >= 32) and node.dtype.kind != "bool":
                self.line(f"{statement.names[0]} += {code.text}")
                return
            total = self.renderer.emitted(reductions.accumulate(kind, node.dtype, Code(statement.names[0]), code))
            self.line(f"{statement.names[0]} = {total.text}")

    def _counted(self, node: Expression, order: Shape) -> Code:
        """How often each bin's number stands in the tile of values: tl.histogram of a row, else a sum over matches."""
        reduction: Reduction = node.attribute
        values, bins = node.arguments[0], reduction.bins
        assert bins is not None
        lanes = self.renderer.lanes(reduction.axes)
        condition = node.arguments[1] if len(node.arguments) > 1 else None
        row = self.renderer.lanes(frozenset().union(*(argument.axes for argument in node.arguments)))
        if order == (bins,) and len(lanes) == 1 and row == self.renderer.lanes(values.axes) == lanes:
            mask, _ = self.renderer.mask(lanes, (), condition, lanes)
            block = str(self.renderer.form(bins).block)
            parts = (self.renderer.value(values, lanes), self.renderer.firsts[bins], mask or Code("True"), block)
            code = self.renderer.emitted(reductions.count_tile(values.dtype, *parts))
            return code if node.dtype == i32 else self.renderer.emitted(conversions.cast(code, i32, node.dtype))
        shape = self.renderer.lanes({*order, *lanes})
        number = self.renderer.emitted(conversions.cast(self.renderer.value(values, shape), values.dtype, i64))
        position = self.renderer.polynomial(atomic(bins) - bins.begin, shape)
        mask, _ = self.renderer.mask(lanes, (), condition, shape)
        hits = binary("==", number, position)
        hits = binary("&", hits, mask) if mask is not None else hits
        full = call("tl.broadcast_to", hits, Code(self.renderer.blocks(shape))) if shape else hits
        counts = self.renderer.emitted(conversions.cast(full, boolean, node.dtype))
        return self._reduced("sum", node.dtype, counts, shape, lanes)

    def _accumulate_rescaled(self, statement: Accumulate, factor: Expression) -> None:
        """A sum whose elements so far were relative to a smaller maximum."""
        node, order = statement.reduction, statement.order
        scale = self.renderer.value(factor, order)
        (name,) = statement.names
        if node.operation == "contract":
            self.line(f"{name} = {binary('*', Code(name), scale).text}")
            self._accumulate_contraction(statement)
            return
        rescaled = binary("*", Code(name), scale)
        self.line(f"{name} = {binary('+', rescaled, self._tile_contribution(node, 'sum', order)).text}")

    def _renew(self, statement: Renew) -> None:
        """The largest element so far, this tile included."""
        node, order = statement.reduction, statement.order
        code = self._tile_contribution(node, "max", order)
        total = self.renderer.emitted(reductions.accumulate("max", node.dtype, Code(statement.name), code))
        self.line(f"{statement.new_name} = {total.text}", self.renderer.section.spans.get(node), cited=True)
        self.renderer.values[node] = (statement.new_name, order)
        self.renderer.values[statement.previous] = (statement.name, order)

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
        if axis not in operand.axes:  # the interpreter would repeat comparisons of a scalar float as floats
            values = conversions.typed(values, reductions.computed_in(operand.dtype))
            values = call("tl.broadcast_to", values, Code(self.renderer.blocks(order))) if order else values
        indices = self.renderer.axis(axis, order)
        if _position_type(axis) != "INDEX":
            indices = method(indices, "to", _position_type(axis))
        best, place = (Code(name) for name in statement.names)
        pair = self.renderer.emitted(reductions.accumulate_arg_max(best, place, values, indices, statement.backwards))
        self.line(f"{', '.join(statement.names)} = {pair.text}")

    def _accumulate_generic(self, statement: Accumulate) -> None:
        node, order = statement.reduction, statement.order
        combine = self._combine(node.attribute.combine)
        elements = [self.renderer.data(argument, order).text for argument in node.arguments]
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
        within = tuple(axis for axis in self.renderer.lanes(node.attribute.axes) if axis not in order)
        if within and self._sides(node) is not None:
            self.line(f"{name} = {self._dot(node, order, name).text}")
            return
        shape = self.renderer.lanes({*order, *within})
        code = self._reduced("sum", node.dtype, self._product(node, shape), shape, within)
        self.line(f"{name} += {code.text}")

    def _sides(self, node: Expression) -> tuple[Shape, Shape, Shape] | None:
        """(rows, contracted, columns) of a product that tl.dot computes: one axis of lanes each."""
        lhs, rhs = node.arguments
        contracted = self.renderer.lanes(node.attribute.axes)
        rows = tuple(axis for axis in self.renderer.lanes(lhs.axes) if axis not in contracted)
        columns = tuple(axis for axis in self.renderer.lanes(rhs.axes) if axis not in contracted)
        single = (len(contracted), len(rows), len(columns)) == (1, 1, 1)
        return (rows, contracted, columns) if single and _exact_dot(lhs.dtype, node.dtype) else None

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
        sides = self._sides(node)
        if sides is None:
            contracted = self.renderer.lanes(node.attribute.axes)
            shape = self.renderer.lanes({*order, *contracted})
            return self._reduced("sum", node.dtype, self._product(node, shape), shape, contracted)
        rows, contracted, columns = sides
        first, second = 0, 1
        if order.index(columns[0]) < order.index(rows[0]):  # the transpose of a product is the product of transposes
            first, second, rows, columns = second, first, columns, rows
        left = self._factor(node, first, (*rows, *contracted))
        right = self._factor(node, second, (*contracted, *columns))
        total = self._dot_call(node.arguments[0].dtype, node.dtype, left, right, accumulator)
        return placed(total, (*rows, *columns), order)

    def _factor(self, node: Expression, ordinal: int, shape: Shape) -> Code:
        """An operand of tl.dot. Floats of eight bits are exact as float16, which every target multiplies."""
        dtype = node.arguments[ordinal].dtype
        code = self.renderer.guarded(node, ordinal, shape, _zero(dtype))
        return self.renderer.emitted(conversions.cast(code, dtype, f16)) if dtype in (f8e4m3fn, f8e5m2) else code

    def _dot_call(self, operand: DType, result: DType, left: Code, right: Code, accumulator: str | None) -> Code:
        parts = [left, right, *([Code(accumulator)] if accumulator else [])]
        if operand.name == "bf16":
            helper = "_dot_bfloat16" if accumulator else "_product_bfloat16"
            self.renderer.helpers.add(helper)
            return call(helper, *parts)
        keywords = {"input_precision": '"ieee"'} if operand.name in ("f32", "f64") else {}
        if result.name != "f32":  # not inferred from the accumulator
            keywords["out_dtype"] = {"i32": "tl.int32", "f64": "tl.float64"}[result.name]
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
            self.line(f"{name} = {code.text}", self.renderer.section.spans.get(member), cited=True)
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
        span = self.renderer.section.spans.get(statement.reduction)
        self.line(f"{names.get(0, '_')}, {names.get(1, '_')} = {pair.text}", span, cited=True)
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
        for ordinal, name in wanted.items() if statement.used else ():
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
        if element.text == name and statement.moves:
            self.line(f"{name}_total = {moved.text}")
            carried = self.renderer.emitted(
                reductions.accumulate(reduction.kind, node.dtype, Code(carry), Code(f"{name}_total"))
            )
        if statement.used:
            self.line(f"{name} = {total.text}")
        if statement.moves:
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
        if not statement.moves:
            return
        for ordinal, (carry, name) in enumerate(zip(statement.carries, names, strict=True)):
            dtype = node.arguments[ordinal].dtype
            chosen = arithmetic.select(last, Code(name), conversions.constant(0, dtype), dtype)
            kind = "any" if dtype.kind == "bool" else "sum"
            self.line(f"{carry} = {self._reduced(kind, dtype, chosen, order, (axis,)).text}")


def _zero(dtype: DType) -> float | int:
    return 0.0 if dtype.is_float else 0


def _exact_dot(operand: DType, result: DType) -> bool:
    return (operand.name, result.name) in EXACT_PRODUCTS


def argument_names(arity: int) -> list[str]:
    """Parameters of a combine: accumulators, then elements."""
    if arity == 1:
        return ["left", "right"]
    return [f"{side}_{ordinal}" for side in ("left", "right") for ordinal in range(arity)]


def _position_type(axis: Axis) -> str:
    """The one type of positions along an axis: a program's data, where they begin with it, are 64 bits wide."""
    return "INDEX" if of_sizes(axis.begin) else "tl.int64"

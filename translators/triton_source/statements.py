"""The statements of a device function: coordinates, memory and loops. `value_statements` prints what computes."""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import assert_never

from intent.dtypes import index
from intent.records import dataclass, field
from translators.algebra.polynomial import Polynomial, Quotient, atomic
from translators.printing.python_text import PRODUCT
from translators.tile.accumulation import accumulated_product
from translators.tile.expression import Atomic, Axis, Expression, Place
from translators.tile.program import (
    Accumulate,
    Assign,
    AssignResults,
    Barrier,
    BindAxis,
    BindIndex,
    BindMask,
    CarryForm,
    Describe,
    Finish,
    LoadTile,
    Named,
    OrderedLoop,
    ProgramLoop,
    Remark,
    Renew,
    ScanStep,
    Start,
    Statement,
    StoreHalves,
    StoreTile,
    StreamLoop,
)
from translators.triton_source import conversions, reductions
from translators.triton_source.expressions import Code, binary, call, method
from translators.triton_source.lines import Line, Origins
from translators.triton_source.render import Shape
from translators.triton_source.shared_loads import Tiles
from translators.triton_source.value_statements import ValueWriter


@dataclass(slots=True)
class StatementWriter(ValueWriter):
    """Prints the statements of one section, in order; `ends` guards lanes in parts of an axis."""

    ends: dict[Axis, Polynomial] = field(default_factory=dict)
    aligned: set[Axis] = field(default_factory=set)  # streamed axes whose tiles begin at multiples of their length

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
        origins, first = self._written_at(statement), len(self.lines)
        self._print(statement)
        self.trace(first, origins)

    def _written_at(self, statement: Statement) -> Origins:
        match statement:
            case Assign(value=value) | LoadTile(value=value):
                return self.origins(value)
            case AssignResults(results=results) | ScanStep(results=results):
                return self.origins(*(node for _, node in results))
            case Accumulate(reduction=reduction) | Renew(reduction=reduction):
                return self.origins(reduction)
            case Start(reduction=reduction) | Finish(reduction=reduction):
                return self.origins(reduction, alone=True)
            case StoreTile(value=value, predicate=predicate, span=span):
                own = frozenset({(span.path, span.line)} if span.line > 0 else ())
                return own | self.origins(value, *(() if predicate is None else (predicate,)))
            case StoreHalves(store=store):
                return self._written_at(store)
            case OrderedLoop(span=span) if span is not None and span.line > 0:
                return frozenset({(span.path, span.line)})
            case _:
                return frozenset()

    def _print(self, statement: Statement) -> None:
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
            case Describe():
                self._describe(statement)
            case LoadTile():
                self._load_tile(statement)
            case Start():
                self._start(statement)
            case Accumulate():
                self._accumulate(statement)
            case Renew():
                self._renew(statement)
            case Finish():
                self._finish(statement)
            case ScanStep():
                self._scan_step(statement)
            case StoreTile():
                self._store(statement)
            case StoreHalves():
                self._store_halves(statement)
            case StreamLoop():
                self._stream(statement)
            case OrderedLoop():
                self._ordered(statement)
            case ProgramLoop():
                self._program_loop(statement)
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
        self._bind_first(statement)
        lanes = call("tl.arange", Code("0"), Code(form.block))
        total = method(lanes, "to", "INDEX") if statement.wide else lanes
        if statement.tile.constant != 0:
            first = binary("*", self.renderer.polynomial(statement.tile, (), wide=False), Code(form.block))
            total = binary("+", Code(form.first) if form.first and statement.base.constant == 0 else first, total)
        base = self.renderer.polynomial(statement.base, (), wide=False)
        if statement.base.constant is None:
            total = binary("+", base, total)
        elif statement.base.constant != 0:
            total = binary("+", total, base) if statement.base.constant > 0 else binary("+", base, total)
        if statement.tile.constant == 0 and (statement.base.constant == 0 or statement.axis in self.aligned):
            start = Code(base.text) if statement.base.constant is None else None
            self.renderer.tiles[statement.axis] = Tiles(start, form.block, self.renderer.lengths[form.block])
        self.line(f"{form.name} = {total.text}")

    def _bind_first(self, statement: BindAxis) -> None:
        """The position of the first lane, where a histogram counts from it."""
        axis = statement.axis
        form = self.renderer.form(axis)
        if form.first is None:
            return
        first = statement.tile * atomic(Named(str(form.block))) + statement.base - axis.begin
        self.renderer.firsts[axis] = Code("0", value=0)
        if first.constant != 0:
            self.line(f"{form.first} = {self.renderer.polynomial(first, (), wide=False).text}")
            self.renderer.firsts[axis] = Code(form.first)

    def _bind_mask(self, axis: Axis) -> None:
        form = self.renderer.form(axis)
        if form.mask is None:
            return
        end = self.renderer.polynomial(self.ends.get(axis, axis.end), (), wide=False)
        self.line(f"{form.mask} = {binary('<', Code(form.name), end).text}")

    # ------------------------------------------------------------------------------------------------------- memory
    def _describe(self, statement: Describe) -> None:
        """The launcher has seen to it that columns are neighbours in memory, so that their stride is a constant."""
        memory, renderer = statement.memory, self.renderer
        pointer, _ = renderer.pointer(memory, statement.coordinates, ())
        extents = [renderer.polynomial(memory.shape[place], (), wide=False).text for place in statement.positions]
        renderer.strides |= {(memory.name, place) for place in statement.positions}
        strides = [renderer.names.strides[memory.name, place] for place in statement.positions]
        blocks = [str(renderer.form(axis).block) for axis in statement.axes]
        blocks = [blocks[0], f"{blocks[1]} // 2"] if statement.halves else blocks
        parts = {"shape": extents, "strides": strides, "block_shape": blocks}
        keywords = {name: f"[{', '.join(each)}]" for name, each in parts.items()}
        self.line(f"{statement.name} = {call('tl.make_tensor_descriptor', pointer, **keywords).text}")

    def _load_tile(self, statement: LoadTile) -> None:
        codes = [self.renderer.polynomial(first, (), wide=False) for first in statement.firsts]
        pairs = zip(codes, statement.wide, strict=True)
        firsts = ", ".join(call("tl.cast", code, Code("tl.int32")).text if wide else code.text for code, wide in pairs)
        self.line(f"{statement.name} = {statement.descriptor}.load([{firsts}])", statement.span)
        self.renderer.values[statement.value] = (statement.name, statement.axes)

    def _store_halves(self, statement: StoreHalves) -> None:
        """A thread has neighbouring columns of both halves, so that nothing moves between threads."""
        store, renderer = statement.store, self.renderer
        both, left, right = statement.names
        value = conversions.as_access(renderer.value(store.value, store.order), store.value.dtype)
        rows, columns = (str(renderer.form(axis).block) for axis in store.order)
        pair = call("tl.reshape", value, Code(f"({rows}, 2, {columns} // 2)"))
        self.line(f"{both} = {call('tl.permute', pair, Code('(0, 2, 1)')).text}")
        self.line(f"{left}, {right} = tl.split({both})")
        first, second = (renderer.polynomial(each, (), wide=False) for each in statement.firsts)
        middle = binary("+", second, Code(f"{columns} // 2", PRODUCT))
        self.line(f"{statement.descriptor}.store([{first.text}, {second.text}], {left})", store.span, cited=True)
        self.line(f"{statement.descriptor}.store([{first.text}, {middle.text}], {right})")

    def _store(self, statement: StoreTile) -> None:
        renderer, shape = self.renderer, statement.order
        if statement.action != "store":
            self._update(statement)
            return
        pointer, pointer_axes = renderer.pointer(statement.memory, statement.coordinates, shape)
        mask, mask_axes = renderer.mask(shape, statement.checks, statement.predicate, shape)
        value = renderer.value(statement.value, shape)
        value = conversions.as_access(value, statement.value.dtype)
        if not (mask_axes | statement.value.axes & set(shape)) <= pointer_axes:
            pointer = renderer.broadcast(pointer, shape, shape)
        keywords = {"mask": mask.text} if mask is not None else {}
        self.line(call("tl.store", pointer, value, **keywords).text, statement.span, cited=True)

    def _update(self, statement: StoreTile) -> None:
        """An atomic update whose old values nobody needs."""
        atomic = Atomic(Place(statement.memory, statement.coordinates), statement.action, statement.semantics, ())
        guards = (statement.checks, statement.predicate)
        code = self.renderer.updated(atomic, (statement.value,), guards, statement.order)
        self.line(code.text, statement.span, cited=True)

    # --------------------------------------------------------------------------------------------------------- loops
    def _stream(self, statement: StreamLoop) -> None:
        form = self.renderer.form(statement.axis)
        lowest = statement.axis.begin if statement.low is None else statement.low
        limit = statement.axis.end if statement.high is None else statement.high
        begin, end = (self.renderer.polynomial(bound, (), wide=False) for bound in (lowest, limit))
        step = form.block or "1"
        if statement.dealt is not None:
            own = binary("*", Code(statement.dealt.part), Code(step))
            begin = own if begin.value == 0 else binary("+", begin, own)
            step = binary("*", Code(statement.dealt.parts), Code(step)).text
        head = len(self.lines)
        if statement.reverse:
            length = self.renderer.polynomial(limit - lowest, (), wide=False)
            last = call("tl.cdiv", length, Code(step)) if form.block else length
            self.line(f"for back in range({last.text}):")
            ordinal = binary("-", binary("-", last, Code("1")), Code("back"))
            scaled = binary("*", ordinal, Code(step)) if form.block else ordinal
            first = scaled if begin.value == 0 else binary("+", begin, scaled)
            self.lines.append(Line(self.level + 1, f"{statement.start} = {first.text}"))
        elif step == "1":
            self.line(f"for {statement.start} in {_counting(begin, end)}:")
        else:
            self.line(f"for {statement.start} in range({begin.text}, {end.text}, {step}):")
        if form.block is None:
            self.renderer.counters.add(statement.axis)
        if statement.guard is not None:
            self.ends[statement.axis] = statement.guard
        elif lowest.constant == 0:
            self.aligned.add(statement.axis)
        if statement.whole:
            self.renderer.whole.add(statement.axis)
        self.nested(statement.body)
        if statement.axis in self.renderer.indices:
            low, high, most = (Code("0", value=0), last, limit - lowest) if statement.reverse else (begin, end, limit)
            self._as_index(head, _counting(low, high), _counting(low, self._as_offset(most)))
        self.aligned.discard(statement.axis)
        self.renderer.tiles.pop(statement.axis, None)
        self.renderer.counters.discard(statement.axis)
        self.renderer.whole.discard(statement.axis)
        self.ends.pop(statement.axis, None)
        for name, new_name in statement.moves:
            self.lines.append(Line(self.level + 1, f"{name} = {new_name}"))

    def _program_loop(self, statement: ProgramLoop) -> None:
        count = self.renderer.polynomial(statement.count, (), wide=False).text
        self.line(f"for pid in tl.range(tl.program_id(0), {count}, tl.num_programs(0), flatten=True):")
        self.nested(statement.body)

    def _ordered(self, statement: OrderedLoop) -> None:
        renderer = self.renderer
        renderer.loops[statement.token] = statement.name
        for ordinal, carry in enumerate(statement.carries):
            if not statement.continued:
                self._initial(carry)
            renderer.carries[statement.token, ordinal] = (carry.name, carry.order, carry.axes)
        if statement.low is not None and statement.high is not None:
            self.line(f"for {statement.name} in {self._range(statement)}:")
        head = len(self.lines) - 1
        saved, certain = dict(renderer.values), renderer.certain
        if statement.low is None:
            self._test(statement)
            self.line(f"while {self._any_active(statement)}:")
            renderer.values = {**saved, **{node: renderer.values[node] for node in statement.shared}}
        if statement.live is not None and statement.active is not None:
            renderer.values[statement.live] = (statement.active, statement.active_order)
            if not statement.active_order:  # the loop ends at once for all lanes
                renderer.certain |= {statement.live}
        self.level += 1
        before = len(self.lines)
        self.statements(statement.body)
        self._updates(statement)
        renderer.values, renderer.certain = saved, certain
        if statement.live is not None:
            self._test(statement)
            renderer.values = dict(saved)
        if before == len(self.lines):
            self.line("pass")
        self.level -= 1
        if statement.token in renderer.indices:
            self._as_index(head, self._range(statement), self._range(statement, wide=True))
        if statement.ahead:
            text = self.lines[head].text.replace(" in range(", " in tl.range(")
            self.lines[head] = self.lines[head].rewritten(f"{text.removesuffix('):')}, num_stages={statement.ahead}):")

    def _as_index(self, head: int, plain: str, wide: str) -> None:
        """Offsets are multiples of the counter, which is as wide as the bounds."""
        self.lines[head] = self.lines[head].rewritten(self.lines[head].text.replace(plain, wide))

    def _as_offset(self, bound: Polynomial) -> Code:
        """The bound of a loop, in a type that holds offsets."""
        if any(isinstance(atom, Expression) for atom in bound.atoms()):
            return self.renderer.polynomial(bound, (), wide=True)  # data have a width of their own
        code = self.renderer.polynomial(bound, (), wide=False)
        return code if "INDEX" in code.text else call("tl.cast", code, Code("INDEX"))

    def _range(self, statement: OrderedLoop, wide: bool = False) -> str:
        assert statement.low is not None and statement.high is not None
        low = self.renderer.polynomial(statement.low.polynomial, (), wide=False)
        high = self.renderer.polynomial(statement.high.polynomial, (), wide=False)
        high = self._as_offset(statement.high.polynomial) if wide else high
        if statement.sliced is not None:
            return f"range({low.text}, {high.text}, {self.renderer.form(statement.sliced).block})"
        if statement.step != 1:
            return f"range({low.text}, {high.text}, {statement.step})"
        return _counting(low, high)

    def _test(self, statement: OrderedLoop) -> None:
        if statement.live is None or statement.active is None:
            return
        self.renderer.values.pop(statement.live, None)
        self.statements(statement.test)
        code = self._live(statement)
        self.line(f"{statement.active} = {code.text}")

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
        for ordinal, carry in enumerate(statement.carries):
            origins, first = self.origins(carry.update), len(self.lines)
            found = accumulated_product(carry.update, statement.token, ordinal, carry.axes)
            if found is not None and found[1] not in self.renderer.values:
                before, product = found
                code = self._dot(product, carry.order, self.renderer.value(before, carry.order).text)
            else:
                code = conversions.typed(self._as_value(carry.update, carry.order), carry.dtype)
            if [axis for axis in carry.order if axis not in carry.update.axes]:
                code = call("tl.broadcast_to", code, Code(self.renderer.blocks(carry.order)))
            if carry.new_name is not None:
                if code.text != carry.new_name:
                    self.line(f"{carry.new_name} = {code.text}")
                late.append((carry.name, carry.new_name))
            elif code.text != carry.name:
                self.line(f"{carry.name} = {code.text}")
            self.trace(first, origins)
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


def _counting(low: Code, high: Code) -> str:
    return f"range({high.text})" if low.value == 0 else f"range({low.text}, {high.text})"

"""From effects to what they need: the sinks of a kernel as demand-DAG expressions.

Every effect gets fresh, distinct free axes; `pull` substitutes their coordinates through the producers of the stored
value.
Bound axes (of reductions, contractions, scans, carries) come from a pool keyed by range, so that a value reduced over
an axis and used along it again shares that axis, and one used at two different axes does not (capture-avoiding
naming, no unification)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from intent.dtypes import DType
from intent.records import dataclass, field, replace
from translators.algebra.polynomial import Atom, Polynomial, atomic, number
from translators.diagnostics import Span
from translators.logical import program as lp
from translators.logical.carries import is_unchanged, live_values, made_of
from translators.logical.program import Block, Value
from translators.logical.types import Buffer, Memory, View
from translators.logical.uses import used_values
from translators.planning.atomics import combining, issued, old_value, same_bits
from translators.planning.hazards import Cells, cells
from translators.planning.memory import written_memories
from translators.planning.merged_steps import merged_steps
from translators.planning.ranges import Range
from translators.planning.region_operations import AlongSlices
from translators.planning.rooms import Rooms
from translators.planning.sinks import (
    Context,
    Coordinates,
    Loop,
    LoopCarry,
    MustHold,
    MustPin,
    ReadPoint,
    Sink,
    Written,
    roots,
)
from translators.tile.expression import Axis, Expression, LoopToken, Place, walk
from translators.tile.substitution import substitute

Write = Callable[[list[Axis | None], Context], None]  # an effect along these axes


@dataclass(frozen=True, slots=True)
class Effect:
    """A write of the program. `exclusive`: the author promises distinct destinations."""

    memory: Memory
    relation: lp.Relation
    value: Value
    span: Span
    exclusive: bool


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a statement gives, to be stored in scratch memory: an element of it at its positions along free axes."""

    value: Expression
    name: str
    extents: Coordinates
    positions: Coordinates
    free: tuple[Axis, ...]


@dataclass(slots=True)
class Demand(Rooms):
    """Walks a kernel once and collects its sinks and loops.

    Raises MustPin for a memory that is not `pinned` and should be.
    """

    relaxed: bool = False  # the caller permits normalisations to be rescaled while they are computed
    sinks: list[Sink] = field(default_factory=list)
    read: set[Memory] = field(default_factory=set)
    turns: dict[str, Span] = field(default_factory=dict)  # parallel variables whose points are taken one after another
    reads_after_writes: bool = False  # a read follows a write of another view, which it would observe if they overlap
    _written: list[Written] = field(default_factory=list)
    _rewritten: list[frozenset[Memory]] = field(default_factory=list)  # per enclosing loop: what it writes
    _clock: dict[Cells, int] = field(default_factory=dict)  # writes passed so far
    _states: dict[tuple[Memory, tuple[LoopToken, ...], int], int] = field(default_factory=dict)
    _live_values: set[Value] = field(default_factory=set)
    _dropped: set[Value] = field(default_factory=set)  # carries that nothing depends on
    _used: set[Value] = field(default_factory=set)
    _copies: dict[tuple[Expression, Coordinates, Context], Buffer] = field(default_factory=dict)  # by what they hold
    _order: int = 0

    def collect(self) -> None:
        self.block(self.kernel.body, Context())

    def block(self, block: Block, context: Context) -> None:
        for statement in block.statements:
            self._order += 1
            self._statement(statement, context)

    def _statement(self, statement: lp.Statement, context: Context) -> None:
        self.note_subregions(statement, context)
        match statement:
            case lp.Let(op=lp.Read(memory=memory), results=(result,)):
                self._read_point(result, memory, context)
                if result in self.held:
                    self._hold(result, context, f"{self.kernel.names.get(result, memory.name)}_before")
            case lp.Let(op=lp.RegionFold() | lp.RegionScan() as op, results=results):
                self.contexts[op] = context
                self.orders[op], self.outcomes[op] = self._order, results
                if self.is_kept(op):
                    self.run_in_memory(op, context)
                    return
                for result in self.held.intersection(results):
                    self.keep_output(op, result, context)
            case lp.Let(op=lp.Reduce() | lp.Scan() as op, results=results) if self._matters(
                results
            ) and self.is_in_order(op):
                self.fold_in_order(op, results, self._order, context)
            case lp.Let(results=results):
                for result in self.held.intersection(results):
                    self._hold(result, context, f"{self.kernel.names.get(result, 'result')}_kept")
            case lp.Write(memory=memory, relation=relation, value=value, span=span):
                self._write(Effect(memory, relation, value, span, exclusive=False), context)
            case lp.Scatter(memory=memory, relation=relation, value=value, combine=None, span=span):
                self._write(Effect(memory, relation, value, span, exclusive=True), context)
            case lp.AssumeInBounds(index=assumed, memory=memory, axis=axis):
                if self._dropped.isdisjoint(made_of(assumed)):
                    self.promise(assumed, memory, axis, context)
            case lp.If():
                self._conditional(statement, context)
            case lp.Parallel():
                self._parallel(statement, context)
            case lp.For():
                self._for(statement, context)
            case lp.While():
                self._while(statement, context)
            case lp.Scatter():
                self._atomic(combining(statement), context)
            case lp.AtomicUpdate():
                self._atomic(statement, context)
            case lp.Allocate():
                self._allocate(statement, context)

    def _conditional(self, statement: lp.If, context: Context) -> None:
        condition = self.pull(statement.condition, ())
        self.block(statement.then, replace(context, predicate=self.conjoin(context.predicate, condition)))
        negated = self.negated(condition)
        self.block(statement.orelse, replace(context, predicate=self.conjoin(context.predicate, negated)))

    def _parallel(self, statement: lp.Parallel, context: Context) -> None:
        if not self.in_turn.isdisjoint(statement.variables):
            self._points_in_turn(statement, context)
            return
        axes: list[Axis] = []
        for variable, domain in zip(statement.variables, statement.domains, strict=True):
            begin, end = self.bounds(domain)
            name = self.kernel.names.get(variable, "i")
            if domain.step == 1:
                axis = self.arena.axis(name, begin, end, parallel=True)
                self.variables[variable] = atomic(axis)
            else:
                axis = self.arena.axis(name, number(0), self.extent(domain.extent), parallel=True)
                self.variables[variable] = begin + atomic(axis) * domain.step
            axes.append(axis)
            self.points[axis] = variable
        self.block(statement.body, replace(context, parallel=context.parallel + tuple(axes)))

    def _points_in_turn(self, statement: lp.Parallel, context: Context) -> None:
        """An ordered loop for each variable: any order of the points is one that the author permits."""
        block = statement.body
        for variable, domain in reversed(tuple(zip(statement.variables, statement.domains, strict=True))):
            self.turns[self.kernel.names.get(variable, "i")] = statement.span
            key = lp.LoopKey(self.arena.serial())
            block = Block((lp.For(key, variable, domain, (), block, statement.span),))
        self.block(block, context)

    def _for(self, statement: lp.For, context: Context) -> None:
        begin, end = self.bounds(statement.domain)
        name = self.kernel.names.get(statement.variable, "step")
        token = LoopToken(name, self.arena.serial())
        self.variables[statement.variable] = atomic(token)
        low, high = self.index_value(begin), self.index_value(end)
        loop = Loop(token, context.loops, context.parallel, low, high, statement.domain.step, statement.span)
        self._run_loop(statement, loop, context)

    def _while(self, statement: lp.While, context: Context) -> None:
        token = LoopToken("step", self.arena.serial())
        loop = Loop(token, context.loops, context.parallel, None, None, 1, statement.span)
        self._run_loop(statement, loop, context)

    def _run_loop(self, statement: lp.For | lp.While, loop: Loop, context: Context) -> None:
        self.loops[statement.key] = loop
        carries = self._changing(statement)
        changing = [carry for carry in carries if carry.result not in self.stored]
        stored = [(carry, self._stored(carry, context)) for carry in carries if carry.result in self.stored]
        loop.predicate, loop.order = context.predicate, self._order
        for carry in changing:
            loop.carries.append(self._carry(carry, context))
        for ordinal, carry in enumerate(changing):
            self.kept[carry.inside] = partial(self.carried, "carry", loop, ordinal)
            self.kept[carry.result] = partial(self.carried, "carried", loop, ordinal)
        if statement.exit is not None:
            loop.exit = changing.index(statement.carries[statement.exit])
            loop.carries[loop.exit].name = "stopped"
        inner, sinks = replace(context, loops=(*context.loops, loop)), len(self.sinks)
        for carry, memory in stored:
            self._loaded(carry.inside, memory, inner)
        self._rewritten.append(written_memories(statement.body))
        if isinstance(statement, lp.While):
            self.block(statement.test, inner)
            loop.tested = self._order
            loop.condition = self.conjoin(context.predicate, self.pull(statement.condition, ()))
        live = self._live(loop)
        self.block(statement.body, replace(inner, predicate=self.conjoin(context.predicate, live)))
        self._rewritten.pop()
        for ordinal, (carry, made) in enumerate(zip(changing, loop.carries, strict=True)):
            update = self.pull(carry.update, tuple(atomic(axis) - axis.begin for axis in made.own))
            kept = self.arena.make("carry", made.dtype, (), (loop.token, ordinal, made.axes))
            made.update = update if live is None else self._kept(live, update, kept)
        loop.live = live
        if isinstance(statement, lp.For) and not stored and len(self.sinks) == sinks:
            self._merge_steps(changing, loop)
        for carry, memory in stored:
            self._renewed(carry.update, memory, replace(inner, predicate=self.conjoin(context.predicate, live)))
        for carry, memory in stored:
            self._loaded(carry.result, memory, context)

    def _merge_steps(self, changing: Sequence[lp.Carry], loop: Loop) -> None:
        """A loop without effects that adds up products is one product for each carry."""
        merged = merged_steps(self, loop)
        for carry, made, product in zip(changing, loop.carries, merged or (), strict=False):
            self.kept[carry.result] = partial(self._element_along, product, made.own)

    def _element_along(self, tile: Expression, own: Sequence[Axis], at: Coordinates) -> Expression:
        places: dict[Atom, Polynomial] = {axis: place + axis.begin for axis, place in zip(own, at, strict=True)}
        made = substitute(self.arena, tile, places)
        self.stand_for(made, tile)
        return made

    def _stored(self, carry: lp.Carry, context: Context) -> Buffer:
        """Scratch memory for a carry, which holds what it starts as."""
        name = self.kernel.names.get(carry.result) or self.kernel.names.get(carry.inside) or "state"
        memory = self._scratch(name, carry.inside.dtype, map(self.extent, carry.update.shape), context)
        self._renewed(carry.initial, memory, context)
        return memory

    def _tick(self) -> int:
        self._order += 1
        return self._order

    def _in_scratch(self, state: LoopCarry, context: Context, span: Span) -> Buffer:
        memory = self._scratch(state.name, state.dtype, (axis.extent for axis in state.own), context)
        self._overwritten(memory, state.own, state.initial, context, span)
        return memory

    def _scratch(self, name: str, dtype: DType, extents: Iterable[Polynomial], context: Context) -> Buffer:
        """Memory with an instance for each of the parallel points around."""
        shape = [self.at_most(extent, context) for extent in (*(axis.extent for axis in context.parallel), *extents)]
        memory = Buffer(self._free_name(name), dtype, tuple(shape), self._order)
        self.instances[memory], self.places[memory] = (), context
        return memory

    def _renewed(self, value: Value, memory: Buffer, context: Context) -> None:
        """Every element of a carry in memory is overwritten."""
        free: list[Axis] = []
        for ordinal in range(len(value.shape)):
            free.append(self.bound(self.range_of(value, ordinal), frozenset(free)))
        positions = tuple(atomic(axis) - axis.begin for axis in free)
        self._overwritten(memory, free, self.pull(value, positions), context, value.span)

    def _overwritten(
        self, memory: Buffer, free: Sequence[Axis], value: Expression, context: Context, span: Span
    ) -> None:
        self._order += 1
        place = self._outer(context) + tuple(atomic(axis) - axis.begin for axis in free)
        self._add(Sink(
            memory, place, value, context.predicate, tuple(free), context.parallel, context.loops, self._order, span,
        ))  # fmt: skip

    def _loaded(self, value: Value, memory: Buffer, context: Context) -> None:
        """From here on elements of a carry come from memory."""
        self._order += 1
        element = partial(self._kept_element, memory, self._outer(context), context, self._order)

        def read(at: Coordinates) -> Expression:
            made = element(at)
            load = next(node for node in walk(made) if node.operation == "load" and node.attribute.memory == memory)
            self.readers.setdefault(load, [value])
            return made

        self.kept[value] = read
        if value in self.held:
            self._hold(value, context, f"{memory.name}_before")

    def _outer(self, context: Context) -> Coordinates:
        """Which instance of scratch memory belongs to the enclosing parallel points."""
        return tuple(atomic(axis) - axis.begin for axis in context.parallel)

    def _changing(self, statement: lp.For | lp.While) -> list[lp.Carry]:
        """The carries that anything depends on; those that no iteration changes stand for what they start as."""
        found: list[lp.Carry] = []
        for ordinal, carry in enumerate(statement.carries):
            if ordinal != statement.exit and is_unchanged(carry):
                for value in (carry.inside, carry.result):
                    self.kept[value] = partial(self.pull, carry.initial)
            elif ordinal == statement.exit or self._matters((carry.inside, carry.result)):
                found.append(carry)
            else:
                self._dropped.update((carry.inside, carry.result))
        return found

    def _matters(self, values: Iterable[Value]) -> bool:
        """Anything depends on one of them; what they are made of may not have been collected otherwise."""
        self._live_values = self._live_values or live_values(self.kernel.body)
        return not self._live_values.isdisjoint(values)

    def _live(self, loop: Loop) -> Expression | None:
        """True where this iteration happens: the condition of a while holds and no earlier iteration has left the
        loop.
        """
        if loop.exit is None:
            return loop.condition
        left = self.carried("carry", loop, loop.exit, ())
        return self.conjoin(loop.condition, self.negated(left))

    def _kept(self, live: Expression, update: Expression, kept: Expression) -> Expression:
        """Lanes that have left keep their value while others go on."""
        if update is kept:
            return update
        old = self.indexed(kept)
        return self.indexed(self.arena.make("select", update.dtype, (live, update, old)))

    def _carry(self, carry: lp.Carry, context: Context) -> LoopCarry:
        own: list[Axis] = []
        for ordinal in range(len(carry.inside.shape)):
            own.append(self.bound(self.range_of(carry.update, ordinal), frozenset(own)))
        coordinates = tuple(atomic(axis) - axis.begin for axis in own)
        name = self.kernel.names.get(carry.result) or self.kernel.names.get(carry.inside) or "state"
        initial = self.pull(carry.initial, coordinates)
        return LoopCarry(name, carry.inside.dtype, tuple(own), (*own, *context.parallel), initial, carry.result)

    def _write(self, effect: Effect, context: Context) -> None:
        self._along_slices(effect.relation, context, partial(self._store, effect))

    def _atomic(self, update: lp.AtomicUpdate, context: Context) -> None:
        self._along_slices(update.relation, context, partial(self._update, update, context), apart=True)

    def _along_slices(self, relation: lp.Relation, context: Context, write: Write, apart: bool = False) -> None:
        """An effect along an output of a region scan belongs into the scan's loop, along its slices."""
        ranges = [self.relation_range(relation, ordinal) for ordinal in range(len(relation.shape))]
        axes = self._free_axes(relation.shape, ranges)
        if apart:
            axes = [self._set_apart(axis) for axis in axes]
        moved: list[AlongSlices] = []
        while True:
            try:
                write(axes, context)
            except AlongSlices as found:
                if found.outside not in axes:
                    raise
                context = replace(context, loops=(*context.loops, found.loop))
                axes = [found.inside if axis is found.outside else axis for axis in axes]
                moved.append(found)
            else:
                break
        for scan in moved:
            self._check_within(scan, self.sinks[-1])

    def _check_within(self, moved: AlongSlices, sink: Sink) -> None:
        """An effect within a region scan's loop cannot have what is known after it, nor overtake what it depends on:
        the output is kept until then.
        """
        start, needed = moved.loop.order, list(walk(*roots(sink)))
        later = {cells(other.memory) for other in self.sinks if other.order > start and other is not sink}
        known_after = any(n.operation == "carried" and n.attribute[0] is moved.loop.token for n in needed)
        loads = (node for node in needed if node.operation == "load" and node.attribute.pinned)
        overtaken = any(cells(node.attribute.memory) in later and self.issued[node] > start for node in loads)
        read = sink.memory in self.pinned and any(
            point.order > start and cells(value.origin.memory) == cells(sink.memory)
            for value, point in self.reads.items()
            if isinstance(value.origin, lp.Read)
        )
        elsewhere = sink.loops[: -1 - len(moved.loop.enclosing)] if sink.loops else ()
        if known_after or overtaken or read or cells(sink.memory) in later or elsewhere:
            raise MustHold([moved.value], sink.span)

    def _update(self, update: lp.AtomicUpdate, stated: Context, axes: Sequence[Axis | None], context: Context) -> None:
        """An update of every element of a relation; if its old values are used, it is issued where it stands."""
        relation = update.relation
        positions = tuple(number(0) if axis is None else atomic(axis) - axis.begin for axis in axes)
        coordinates, promised = self.locate(relation, positions, update.memory, context)
        operands = tuple(self.operand(value, positions, relation.shape) for value in update.arguments)
        free = tuple(axis for axis in axes if axis is not None)
        sink = Sink(
            update.memory, self.instance(update.memory) + coordinates, self.zero(update.memory.dtype),
            context.predicate, free, context.parallel, context.loops, self._order, update.span, update.action,
            update.order, frozenset(promised),
        )  # fmt: skip
        self._used = self._used or used_values(self.kernel.body)
        if update.action in ("load", "compare_exchange") or any(result in self._used for result in update.results):
            if context is not stated and self.held.isdisjoint(update.results):
                raise MustHold(update.results, update.span)  # from within the scan's loop, for what follows it
            sink = issued(self, sink, operands)
            self.readers[sink.value] = list(update.results)
            self._add(sink)
            self._old_values(update, sink, positions, operands, (context, stated))
        else:
            action = "exchange" if update.action == "store" else update.action
            self._add(replace(sink, value=operands[0], action=action))

    def _set_apart(self, axis: Axis | None) -> Axis | None:
        """An update is to have an axis of its own where sharing one would keep it on chip."""
        if axis is None or not self._is_unshared(axis.extent):
            return axis
        return self.arena.axis(axis.name, axis.begin, axis.end, slices=axis.slices)

    def _old_values(
        self, update: lp.AtomicUpdate, sink: Sink, positions: Coordinates, operands: tuple[Expression, ...],
        contexts: tuple[Context, Context],
    ) -> None:  # fmt: skip
        """Where the results of an update come from: its place in the program, or what was kept of it. The contexts are
        that of the update, and that of the statement, for what follows it.
        """
        (context, later), (old, *success) = contexts, update.results
        if not self.held.intersection(update.results):
            for result in update.results:
                self.parameters[result] = partial(old_value, self, sink, positions, result, operands)
            return
        extents = tuple(self.at_most(self.extent(extent), context) for extent in update.relation.shape)
        name = f"{self.kernel.names.get(old, sink.memory.name)}_kept"
        element = self._keep(old, _Kept(sink.value, name, extents, positions, sink.free), context, later)
        self.parameters[old] = element
        for result in success:
            self.parameters[result] = partial(self._succeeded, update, element)

    def _succeeded(
        self, update: lp.AtomicUpdate, old: Callable[[Coordinates], Expression], at: Coordinates
    ) -> Expression:
        return same_bits(self, old(at), self.operand(update.arguments[0], at, update.relation.shape))

    def _free_axes(self, shape: Sequence[Polynomial], ranges: Sequence[Range]) -> list[Axis | None]:
        """A distinct axis for every dimension that is not of extent 1."""
        axes: list[Axis | None] = []
        for extent, wanted in zip(shape, ranges, strict=True):
            taken = frozenset(axis for axis in axes if axis is not None)
            axes.append(None if extent.constant == 1 else self.bound(wanted, taken))
        return axes

    def _store(self, effect: Effect, axes: Sequence[Axis | None], context: Context) -> None:
        positions = tuple(number(0) if axis is None else atomic(axis) - axis.begin for axis in axes)
        free = tuple(axis for axis in axes if axis is not None)
        self.own = frozenset(free)
        coordinates, promised = self.locate(effect.relation, positions, effect.memory, context)
        stored = self.pull(effect.value, self.aligned(effect.value, positions, effect.relation.shape))
        self.own = frozenset()
        sink = Sink(
            effect.memory, self.instance(effect.memory) + coordinates, stored, context.predicate, free,
            context.parallel, context.loops, self._order, effect.span, assumed=frozenset(promised),
        )  # fmt: skip
        self._add(sink)
        self._written.append(Written(sink, effect.relation, effect.value, effect.exclusive))

    def _read_point(self, result: Value, memory: Memory, context: Context) -> None:
        earlier = tuple(written for written in self._written if written.sink.memory == memory)
        rewritten = any(memory in memories for memories in self._rewritten)
        tokens = tuple(loop.token for loop in context.loops)
        # reads with no write between them see one state of the memory and can share a load
        order = self._states.setdefault((memory, tokens, self._clock.get(cells(memory), 0)), self._order)
        self.reads[result] = ReadPoint(context, earlier, rewritten, self._order, order)
        before = [sink.memory for sink in self.sinks] + [each for within in self._rewritten for each in within]
        self.reads_after_writes |= any(isinstance(each, View) and each != memory for each in before)
        self.read.add(memory)

    def keep_output(self, op: lp.RegionFold | lp.RegionScan, result: Value, context: Context) -> None:
        self._order += self.is_kept(op)
        if not self.keep_outputs(op, result, context):
            self._hold(result, context, f"{self.kernel.names.get(result, 'result')}_kept")

    def _hold(self, result: Value, context: Context, name: str) -> None:
        """Keep what a statement gives in scratch memory."""
        free: list[Axis] = []
        for ordinal in range(len(result.shape)):
            free.append(self.bound(self.range_of(result, ordinal), frozenset(free)))
        inside, found = context, None
        while found is None:
            positions = tuple(atomic(axis) - axis.begin for axis in free)
            try:
                found = self.pull(result, positions)
            except AlongSlices as along:
                if along.outside not in free:
                    raise
                inside = replace(inside, loops=(*inside.loops, along.loop))
                free = [along.inside if axis is along.outside else axis for axis in free]
        del self._memo[result, positions]
        extents = tuple(self.at_most(self.extent(extent), context) for extent in result.shape)
        kept = _Kept(found, name, extents, positions, tuple(free))
        self.kept[result] = self._keep(result, kept, inside, context)

    def _keep(
        self, result: Value, kept: _Kept, context: Context, later: Context | None = None
    ) -> Callable[[Coordinates], Expression]:
        """Scratch memory with one instance for every enclosing parallel point; elements are loaded from there."""
        outer = self._outer(context)
        buffer = self._copies.get((kept.value, kept.positions, context))
        if buffer is None:
            shape = (*(self.at_most(axis.extent, context) for axis in context.parallel), *kept.extents)
            buffer = Buffer(self._free_name(kept.name), result.dtype, shape, self._order)
            self._copies[kept.value, kept.positions, context] = buffer
            self.places[buffer] = context
            self.instances[buffer] = ()
            sink = Sink(
                buffer, outer + kept.positions, kept.value, context.predicate, kept.free, context.parallel,
                context.loops, self._order, result.span,
            )  # fmt: skip
            self._add(sink)
        return partial(self._kept_element, buffer, outer, later or context, buffer.serial)

    def _keep_along(
        self, result: Value, value: Expression, place: Coordinates, free: Sequence[Axis], context: Context
    ) -> Callable[[Coordinates], Expression]:
        extents = tuple(self.at_most(self.extent(extent), context) for extent in result.shape)
        kept = _Kept(value, f"{self.kernel.names.get(result, 'prefix')}_kept", extents, place, tuple(free))
        outside = replace(context, loops=context.loops[:-1])
        return self._keep(result, kept, context, outside)

    def _free_name(self, wish: str) -> str:
        taken = {each.name for each in (*self.kernel.parameters, *self.instances)}
        names = (wish, *(f"{wish}_{count}" for count in range(2, len(taken) + 3)))
        return next(name for name in names if name not in taken)

    def _kept_element(
        self, buffer: Buffer, outer: Coordinates, context: Context, order: int, at: Coordinates
    ) -> Expression:
        tokens = tuple(loop.token for loop in context.loops)
        guard = (context.predicate, self.zero(buffer.dtype)) if context.predicate is not None else ()
        made = self.arena.make("load", buffer.dtype, guard, Place(buffer, outer + at, order, tokens))
        self.issued[made] = order
        return self.indexed(made)

    def _allocate(self, statement: lp.Allocate, context: Context) -> None:
        """A buffer is memory with one instance per enclosing parallel point; its reads keep statement order."""
        buffer = statement.buffer
        if buffer not in self.pinned:
            raise MustPin(buffer)
        self.instances[buffer], self.places[buffer] = context.parallel, context
        self.allocated[buffer] = statement.span
        for axis in context.parallel:
            self.at_most(axis.extent, context)
        if statement.init is None:
            return
        axes: list[Axis] = []
        for extent in buffer.shape:
            axes.append(self.bound(self.whole(self.extent(extent)), frozenset(axes)))
        positions = tuple(atomic(axis) for axis in axes)
        value = self.pull(statement.init, positions if statement.init.shape else ())
        sink = Sink(
            buffer, self.instance(buffer) + positions, value, context.predicate, tuple(axes),
            context.parallel, context.loops, self._order, statement.span,
        )  # fmt: skip
        self._add(sink)

    def _add(self, sink: Sink) -> Sink:
        """Collect an effect; it begins a new state of its memory."""
        self.sinks.append(sink)
        self._clock[cells(sink.memory)] = self._clock.get(cells(sink.memory), 0) + 1
        return sink

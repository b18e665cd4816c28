"""From effects to what they need: the sinks of a kernel as demand-DAG expressions.

Every effect gets fresh, distinct free axes; `pull` substitutes their coordinates through the producers of the stored value.
Bound axes (of reductions, contractions, scans, carries) come from a pool keyed by range, so that a value reduced over an axis
and used along it again shares that axis, and one used at two different axes does not (capture-avoiding naming, no unification).
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from intent.dtypes import DType, boolean, index
from translators.algebra.polynomial import Polynomial, Symbol, atomic, floor_divide, number, product, remainder
from translators.diagnostics import Diagnostic, Rejected, Span
from translators.logical import program as lp
from translators.logical.coordinates import polynomial as coordinate_polynomial
from translators.logical.program import Block, Kernel, Value
from translators.logical.types import Domain, Memory
from translators.planning.memory import Written, forward, written_memories
from translators.planning.provenance import axis_origin
from translators.tile.expression import Arena, Axis, Combine, Expression, LoopToken, Place, Reduction

Coordinates = tuple[Polynomial, ...]


def unsupported(message: str, span: Span, help: str | None = None) -> Rejected:
    """The program is legal; the planner cannot lower it yet."""
    return Rejected(Diagnostic("INT900", "unsupported", message, span, help))


class MustPin(Exception):
    """A read of this memory can only be served from memory, in statement order: plan again with it pinned."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory.name)
        self.memory = memory


@dataclass(slots=True, eq=False)
class LoopCarry:
    """One carry: a tile over `axes` (own axes, then the enclosing parallel axes). `position(i) = axes[i] - begin`."""

    name: str
    dtype: DType
    own: tuple[Axis, ...]
    axes: tuple[Axis, ...]
    initial: Expression
    update: Expression | None = None


@dataclass(slots=True, eq=False)
class Loop:
    """An author's ordered loop, with what its iterations carry. A `while` has a condition and no bounds."""

    token: LoopToken
    enclosing: tuple[Loop, ...]
    parallel: tuple[Axis, ...]
    low: Expression | None
    high: Expression | None
    step: int
    span: Span
    carries: list[LoopCarry] = field(default_factory=list)
    condition: Expression | None = None
    live: Expression | None = None  # of the current iteration; None if every iteration of the range happens
    exit: int | None = None
    predicate: Expression | None = None
    order: int = 0

    @property
    def tokens(self) -> frozenset[LoopToken]:
        """The loops whose iterations this loop runs in."""
        return frozenset(loop.token for loop in self.enclosing)


@dataclass(frozen=True, slots=True, eq=False)
class Sink:
    """One effect: memory[coordinates] = value for every point of the free axes where the predicate holds.

    `free` are the axes of the written relation, `parallel` those of the enclosing I.parallel; `loops` the ordered loops around
    it, outermost first; `order` its place in the program.
    """

    memory: Memory
    coordinates: Coordinates
    value: Expression
    predicate: Expression | None
    free: tuple[Axis, ...]
    parallel: tuple[Axis, ...]
    loops: tuple[Loop, ...]
    order: int
    span: Span

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.parallel + self.free


@dataclass(frozen=True, slots=True)
class Context:
    """Where a statement stands."""

    parallel: tuple[Axis, ...] = ()
    loops: tuple[Loop, ...] = ()
    predicate: Expression | None = None


@dataclass(frozen=True, slots=True)
class ReadPoint:
    """Where a read statement stands: its condition, the writes before it, and whether a loop around it writes its memory."""

    predicate: Expression | None
    earlier: tuple[Written, ...]
    rewritten: bool
    order: int
    state: int  # equal for reads with no write to the memory between them
    within: tuple[LoopToken, ...]


@dataclass(slots=True)
class Demand:
    """Walks a kernel once and collects its sinks and loops. Raises MustPin for a memory that is not `pinned` and should be."""

    kernel: Kernel
    pinned: frozenset[Memory] = frozenset()
    arena: Arena = field(default_factory=Arena)
    sinks: list[Sink] = field(default_factory=list)
    loops: dict[lp.LoopKey, Loop] = field(default_factory=dict)
    names: dict[Expression, str] = field(default_factory=dict)
    spans: dict[Expression, Span] = field(default_factory=dict)
    issued: dict[Expression, int] = field(default_factory=dict)  # order of the first read statement a load serves
    reads_after_writes: bool = False  # a read statement follows a write, so that aliased views would observe it
    requirements: list[tuple[Polynomial, Polynomial, Span]] = field(default_factory=list)
    _variables: dict[Value, Polynomial] = field(default_factory=dict)
    _pool: dict[tuple[Polynomial, Polynomial], list[Axis]] = field(default_factory=dict)
    _memo: dict[tuple[Value, Coordinates], Expression] = field(default_factory=dict)
    instances: dict[Memory, tuple[Axis, ...]] = field(default_factory=dict)  # of a buffer: one per point of these axes
    _reads: dict[Value, ReadPoint] = field(default_factory=dict)
    _written: list[Written] = field(default_factory=list)
    _rewritten: list[frozenset[Memory]] = field(default_factory=list)  # per enclosing loop: what it writes
    _assumed: dict[tuple[Memory, int], set[Value]] = field(default_factory=dict)
    _arguments: dict[Value, Expression] = field(default_factory=dict)  # parameters of the combine being pulled
    _clock: dict[Memory, int] = field(default_factory=dict)  # writes passed so far
    _states: dict[tuple[Memory, tuple[LoopToken, ...], int], int] = field(default_factory=dict)
    _order: int = 0

    # ------------------------------------------------------------------------------------------------ statements
    def collect(self) -> None:
        self._block(self.kernel.body, Context())

    def _block(self, block: Block, context: Context) -> None:
        for statement in block.statements:
            self._order += 1
            self._statement(statement, context)

    def _statement(self, statement: lp.Statement, context: Context) -> None:
        match statement:
            case lp.Let(op=lp.Read(memory=memory), results=(result,)):
                self._read_point(result, memory, context)
            case lp.Let():
                pass
            case lp.Write(memory=memory, relation=relation, value=value, span=span):
                self._write(memory, relation, value, context, span, exclusive=False)
            case lp.Scatter(memory=memory, relation=relation, value=value, combine=None, span=span):
                self._write(memory, relation, value, context, span, exclusive=True)
            case lp.AssumeInBounds(index=assumed, memory=memory, axis=axis):
                self._assumed.setdefault((memory, axis), set()).add(assumed)
            case lp.If():
                self._conditional(statement, context)
            case lp.Parallel():
                self._parallel(statement, context)
            case lp.For():
                self._for(statement, context)
            case lp.While():
                self._while(statement, context)
            case lp.Scatter(span=span):
                raise unsupported("scatter_reduce is not lowered yet", span)
            case lp.AtomicUpdate(span=span):
                raise unsupported("atomics are not lowered yet", span)
            case lp.Allocate():
                self._allocate(statement, context)

    def _conditional(self, statement: lp.If, context: Context) -> None:
        condition = self.pull(statement.condition, ())
        self._block(statement.then, replace(context, predicate=self._conjoin(context.predicate, condition)))
        negated = self._negated(condition)
        self._block(statement.orelse, replace(context, predicate=self._conjoin(context.predicate, negated)))

    def _negated(self, condition: Expression) -> Expression:
        return self.arena.make("pointwise", boolean, (condition,), ("not", False, False))

    def _conjoin(self, first: Expression | None, second: Expression | None) -> Expression | None:
        if first is None or second is None:
            return first or second
        return self.arena.make("pointwise", boolean, (first, second), ("and", False, False))

    def _parallel(self, statement: lp.Parallel, context: Context) -> None:
        axes: list[Axis] = []
        for variable, domain in zip(statement.variables, statement.domains, strict=True):
            begin, end = self.bounds(domain)
            name = self.kernel.names.get(variable, "i")
            if domain.step == 1:
                axis = self.arena.axis(name, begin, end, parallel=True)
                self._variables[variable] = atomic(axis)
            else:
                axis = self.arena.axis(name, number(0), self.extent(domain.extent), parallel=True)
                self._variables[variable] = begin + atomic(axis) * domain.step
            axes.append(axis)
        self._block(statement.body, replace(context, parallel=context.parallel + tuple(axes)))

    def _for(self, statement: lp.For, context: Context) -> None:
        begin, end = self.bounds(statement.domain)
        name = self.kernel.names.get(statement.variable, "step")
        token = LoopToken(name, self.arena.serial())
        self._variables[statement.variable] = atomic(token)
        low, high = self._index(begin), self._index(end)
        loop = Loop(token, context.loops, context.parallel, low, high, statement.domain.step, statement.span)
        self._run_loop(statement, loop, context)

    def _while(self, statement: lp.While, context: Context) -> None:
        token = LoopToken("step", self.arena.serial())
        loop = Loop(token, context.loops, context.parallel, None, None, 1, statement.span)
        self._run_loop(statement, loop, context)

    def _run_loop(self, statement: lp.For | lp.While, loop: Loop, context: Context) -> None:
        loop.predicate, loop.exit, loop.order = context.predicate, statement.exit, self._order
        self.loops[statement.key] = loop
        for carry in statement.carries:
            loop.carries.append(self._carry(carry, context))
        inner = replace(context, loops=(*context.loops, loop))
        self._rewritten.append(written_memories(statement.body))
        if isinstance(statement, lp.While):
            self._block(statement.test, inner)
            loop.condition = self._conjoin(context.predicate, self.pull(statement.condition, ()))
        live = self._live(loop)
        self._block(statement.body, replace(inner, predicate=self._conjoin(context.predicate, live)))
        self._rewritten.pop()
        for ordinal, (carry, made) in enumerate(zip(statement.carries, loop.carries, strict=True)):
            update = self.pull(carry.update, tuple(atomic(axis) - axis.begin for axis in made.own))
            kept = self.arena.make("carry", made.dtype, (), (loop.token, ordinal, made.axes))
            made.update = update if live is None else self._kept(live, update, kept)
        loop.live = live

    def _live(self, loop: Loop) -> Expression | None:
        """True where this iteration happens: the condition of a while holds and no earlier iteration has left the loop."""
        if loop.exit is None:
            return loop.condition
        left = self._carried("carry", loop, loop.exit, ())
        return self._conjoin(loop.condition, self._negated(left))

    def _kept(self, live: Expression, update: Expression, kept: Expression) -> Expression:
        """Lanes that have left keep their value while others go on."""
        if update is kept:
            return update
        old = self._indexed(kept)
        return self._indexed(self.arena.make("select", update.dtype, (live, update, old)))

    def _carry(self, carry: lp.Carry, context: Context) -> LoopCarry:
        own: list[Axis] = []
        for ordinal in range(len(carry.inside.shape)):
            begin, end, name = self._range(carry.update, ordinal)
            own.append(self._bound(begin, end, name, frozenset(own)))
        coordinates = tuple(atomic(axis) - axis.begin for axis in own)
        name = self.kernel.names.get(carry.result) or self.kernel.names.get(carry.inside) or "state"
        initial = self.pull(carry.initial, coordinates)
        return LoopCarry(name, carry.inside.dtype, tuple(own), (*own, *context.parallel), initial)

    # ----------------------------------------------------------------------------------------------------- effects
    def _write(
        self, memory: Memory, relation: lp.Relation, value: Value, context: Context, span: Span, exclusive: bool
    ) -> None:
        free: list[Axis] = []
        positions: list[Polynomial] = []
        for ordinal, extent in enumerate(relation.shape):
            begin, end, name = self._relation_range(relation, ordinal)
            if extent.constant == 1:
                positions.append(number(0))
                continue
            axis = self._bound(begin, end, name, frozenset(free))
            free.append(axis)
            positions.append(atomic(axis) - begin)
        coordinates, _ = self.locate(relation, tuple(positions), memory)
        stored = self.pull(value, self._aligned(value, tuple(positions), relation.shape))
        sink = self._sink(memory, coordinates, stored, tuple(free), context, span)
        self._written.append(Written(sink, relation, value, exclusive))

    def _read_point(self, result: Value, memory: Memory, context: Context) -> None:
        earlier = tuple(written for written in self._written if written.sink.memory == memory)
        rewritten = any(memory in memories for memories in self._rewritten)
        tokens = tuple(loop.token for loop in context.loops)
        # reads with no write between them see one state of the memory and can share a load
        order = self._states.setdefault((memory, tokens, self._clock.get(memory, 0)), self._order)
        self._reads[result] = ReadPoint(context.predicate, earlier, rewritten, self._order, order, tokens)
        self.reads_after_writes |= bool(self._written) or any(self._rewritten)

    def _allocate(self, statement: lp.Allocate, context: Context) -> None:
        """A buffer is memory with one instance per enclosing parallel point; its reads keep statement order."""
        buffer = statement.buffer
        if buffer not in self.pinned:
            raise MustPin(buffer)
        self.instances[buffer] = context.parallel
        if statement.init is None:
            return
        axes: list[Axis] = []
        for extent in buffer.shape:
            axes.append(self._bound(number(0), self.extent(extent), _extent_name(extent), frozenset(axes)))
        positions = tuple(atomic(axis) for axis in axes)
        value = self.pull(statement.init, positions if statement.init.shape else ())
        self._sink(buffer, positions, value, tuple(axes), context, statement.span)

    def _sink(
        self, memory: Memory, coordinates: Coordinates, value: Expression, free: tuple[Axis, ...], context: Context, span: Span
    ) -> Sink:
        place = self.instance(memory) + coordinates
        sink = Sink(
            memory, place, value, context.predicate, free, context.parallel, context.loops, self._order, span
        )  # fmt: skip
        self.sinks.append(sink)
        self._clock[memory] = self._clock.get(memory, 0) + 1
        return sink

    def instance(self, memory: Memory) -> Coordinates:
        """Leading coordinates of a buffer's address: which parallel point's instance."""
        return tuple(atomic(axis) - axis.begin for axis in self.instances.get(memory, ()))

    def shape(self, memory: Memory) -> Coordinates:
        """Extents that the coordinates of an access range over."""
        extents = tuple(axis.extent for axis in self.instances.get(memory, ()))
        return extents + tuple(self.extent(extent) for extent in memory.shape)

    # ---------------------------------------------------------------------------------------------------- pulling
    def pull(self, value: Value, coordinates: Coordinates) -> Expression:
        """One element of `value` at local positions `coordinates`."""
        key = (value, coordinates)
        found = self._memo.get(key)
        if found is None:
            found = self._pull(value, coordinates)
            self._memo[key] = found
            name = self.kernel.names.get(value)
            if name and found.operation not in ("constant", "parameter", "carry", "carried"):
                self.names[found] = name
            self.spans.setdefault(found, value.span)
        return found

    def _pull(self, value: Value, at: Coordinates) -> Expression:
        make = self.arena.make
        match value.origin:
            case lp.Constant(value=literal):
                return self._index(number(int(literal))) if value.dtype == index else make("constant", value.dtype, (), literal)
            case lp.Size(extent=extent):
                return self._index(self.extent(extent))
            case lp.Parameter(name=name):
                parameter = make("parameter", value.dtype, (), name)
                return self._index(atomic(parameter)) if value.dtype == index else parameter
            case lp.Pointwise() as op:
                return self._pointwise(op, value, at)
            case lp.Select(condition=condition, true=true, false=false) | lp.Merge(
                condition=condition, true=true, false=false
            ):
                return self._select(value, at, (condition, true, false))
            case lp.Cast(argument=argument):
                return self._cast(self._operand(argument, at, value.shape), value.dtype)
            case lp.Bitcast(argument=argument):
                return make("bitcast", value.dtype, (self._operand(argument, at, value.shape),))
            case lp.Full(fill=fill):
                return self.pull(fill, ())
            case lp.Broadcast(argument=argument):
                return self._operand(argument, at, value.shape)
            case lp.Reshape(argument=argument):
                return self.pull(argument, self._unflatten(at, value.shape, argument.shape))
            case lp.Transpose(argument=argument, permutation=permutation):
                source = dict(zip(permutation, at, strict=True))
                return self.pull(argument, tuple(source[ordinal] for ordinal in range(len(at))))
            case lp.Join(lhs=lhs, rhs=rhs):
                return self._join(lhs, rhs, at)
            case lp.Indices(domain=domain):
                begin, _ = self.bounds(domain)
                return self._index(begin + at[0] * domain.step)
            case lp.Read() as op:
                return self._read(op, value, at)
            case lp.Pick() as op:
                return self._pick(op, value, at)
            case lp.LoopVariable():
                return self._index(self._variables[value])
            case lp.CarryIn(loop=key):
                return self._carried("carry", self.loops[key], value.position, at)
            case lp.CarryOut(loop=key):
                return self._carried("carried", self.loops[key], value.position, at)
            case lp.RandomBits(seed=seed, counter=counter):
                parts = (self.pull(seed, ()), self._operand(counter, at, value.shape))
                return make("random_bits", value.dtype, parts)
            case lp.BlockParameter() if value in self._arguments:
                return self._arguments[value]
            case lp.Reduce() | lp.ArgReduce() | lp.Scan() | lp.Contract() as op:
                return self._structured(op, value, at)
            case _:
                raise unsupported(f"{_word(value.origin)} is not lowered yet", value.span)

    def _operand(self, value: Value, at: Coordinates, shape: Sequence[Polynomial]) -> Expression:
        return self.pull(value, self._aligned(value, at, shape))

    def _aligned(self, value: Value, at: Coordinates, shape: Sequence[Polynomial]) -> Coordinates:
        """Coordinates of an operand that broadcasts from the right to `shape`."""
        own = value.shape
        tail = at[len(at) - len(own) :]
        wide = shape[len(shape) - len(own) :]
        return tuple(
            number(0) if extent.constant == 1 and full.constant != 1 else coordinate
            for coordinate, extent, full in zip(tail, own, wide, strict=True)
        )

    def _pointwise(self, op: lp.Pointwise, value: Value, at: Coordinates) -> Expression:
        parts = tuple(self._operand(argument, at, value.shape) for argument in op.arguments)
        if value.dtype == index:
            polynomials = [part.polynomial for part in parts]
            arithmetic = _INDEX_ARITHMETIC.get((op.function, len(parts)))
            if arithmetic is not None:
                return self._index(arithmetic(*polynomials))
        return self.arena.make("pointwise", value.dtype, parts, (op.function, op.approximate, op.flush_to_zero))

    def _select(self, value: Value, at: Coordinates, operands: tuple[Value, Value, Value]) -> Expression:
        condition, true, false = (self._operand(operand, at, value.shape) for operand in operands)
        if condition.operation == "constant":
            return true if condition.attribute else false
        if true is false:
            return true
        return self._indexed(self.arena.make("select", value.dtype, (condition, true, false)))

    def _indexed(self, made: Expression) -> Expression:
        """An opaque index value takes part in index arithmetic as an atom."""
        return self._index(atomic(made)) if made.dtype == index else made

    def _index(self, value: Polynomial) -> Expression:
        return self.arena.make("index", index, (), value)

    def _cast(self, argument: Expression, target: DType) -> Expression:
        if argument.dtype == target:
            return argument
        return self._indexed(self.arena.make("cast", target, (argument,)))

    def _join(self, lhs: Value, rhs: Value, at: Coordinates) -> Expression:
        side = at[-1].constant
        if side is not None:
            return self.pull(rhs if side else lhs, at[:-1])
        zero = self._index(number(0))
        first = self.arena.make("pointwise", boolean, (self._index(at[-1]), zero), ("equal", False, False))
        parts = (first, self.pull(lhs, at[:-1]), self.pull(rhs, at[:-1]))
        return self._indexed(self.arena.make("select", lhs.dtype, parts))

    def _unflatten(self, at: Coordinates, shape: Sequence[Polynomial], target: Sequence[Polynomial]) -> Coordinates:
        """Row-major position `at` of `shape` as coordinates of `target`; groups of axes with equal counts map apart."""
        result: list[Polynomial] = []
        for own, other in _groups([self.extent(e) for e in shape], [self.extent(e) for e in target]):
            if own is None:
                self.requirements.append((product(shape), product(target), self.kernel.span))
                return _row_major(at, shape, target)
            result.extend(_row_major(at[own], [self.extent(e) for e in shape[own]], [self.extent(e) for e in target[other]]))
        return tuple(result)

    # ------------------------------------------------------------------------------------------------------ memory
    def _read(self, op: lp.Read, value: Value, at: Coordinates) -> Expression:
        coordinates, assumed = self.locate(op.relation, at, op.memory)
        point = self._reads[value]
        valid = self._operand(op.valid, at, op.relation.shape) if op.valid is not None else None
        guard = self._conjoin(point.predicate, valid)
        if guard is not None and guard.operation == "constant" and guard.attribute:
            guard = None
        place = Place(op.memory, coordinates, assumed=assumed)
        if op.memory in self.pinned:
            shifted = frozenset(axis + len(self.instance(op.memory)) for axis in assumed)
            place = Place(op.memory, self.instance(op.memory) + coordinates, point.state, point.within, shifted)
        elif point.earlier or point.rewritten:
            known = None if point.rewritten else forward(self, op.memory, coordinates, point.earlier)
            if known is None or op.valid is not None:
                raise MustPin(op.memory)
            return known
        parts: tuple[Expression, ...] = ()
        if guard is not None:
            fill = self._operand(op.fill, at, op.relation.shape) if op.fill is not None else self._zero(value.dtype)
            parts = (guard, fill)
        made = self.arena.make("load", value.dtype, parts, place)
        self.issued[made] = min(point.order, self.issued.get(made, point.order))
        return self._indexed(made)

    def _zero(self, dtype: DType) -> Expression:
        if dtype == index:
            return self._index(number(0))
        return self.arena.make("constant", dtype, (), False if dtype == boolean else 0.0 if dtype.is_float else 0)

    def _pick(self, op: lp.Pick, value: Value, at: Coordinates) -> Expression:
        coordinates, _ = self.locate(op.relation, at, None)
        picked = self.pull(op.argument, coordinates)
        if op.valid is None:
            return picked
        condition = self._operand(op.valid, at, op.relation.shape)
        fill = self._operand(op.fill, at, op.relation.shape) if op.fill is not None else self._zero(value.dtype)
        return self._indexed(self.arena.make("select", value.dtype, (condition, picked, fill)))

    def locate(
        self, relation: lp.Relation, at: Coordinates, memory: Memory | None
    ) -> tuple[Coordinates, frozenset[int]]:
        """Coordinates of the touched element at result position `at`, and the axes the author promised to be in bounds."""
        found: list[Polynomial] = []
        assumed: set[int] = set()
        position, joint = 0, None
        for item in relation.items:
            match item:
                case lp.NewAxis():
                    position += 1
                    continue
                case lp.At(index=scalar):
                    found.append(self._integer(self.pull(scalar, ())))
                case lp.Along(domain=domain):
                    begin, _ = self.bounds(domain)
                    found.append(begin + at[position] * domain.step)
                    position += 1
                case lp.Gathered(index=tensor):
                    if joint is None:
                        joint = at[position : position + len(relation.joint_shape)]
                        position += len(relation.joint_shape)
                    found.append(self._integer(self._operand(tensor, joint, relation.joint_shape)))
            if memory is not None and self._is_assumed(item, memory, len(found) - 1):
                assumed.add(len(found) - 1)
        return tuple(found), frozenset(assumed)

    def _is_assumed(self, item: lp.IndexItem, memory: Memory, axis: int) -> bool:
        promised = self._assumed.get((memory, axis), ())
        return isinstance(item, lp.At | lp.Gathered) and item.index in promised

    def _integer(self, coordinate: Expression) -> Polynomial:
        return self._cast(coordinate, index).polynomial

    # -------------------------------------------------------------------------------------------------- structured
    def _structured(self, op: lp.Op, value: Value, at: Coordinates) -> Expression:
        match op:
            case lp.Reduce():
                return self._reduce(op, value, at)
            case lp.ArgReduce(argument=argument, axis=axis):
                bound = self._bind(argument, axis, at)
                body = self.pull(argument, (*at[:axis], atomic(bound) - bound.begin, *at[axis:]))
                made = self.arena.make("reduce", value.dtype, (body,), Reduction("arg_max", (bound,), value.position))
                if value.position == 0:
                    return made
                return self._index(atomic(made) - bound.begin)
            case lp.Scan():
                return self._scan(op, value, at)
            case lp.Contract():
                return self._contract(op, value, at)
            case _:
                raise AssertionError(op)

    def _bind(self, value: Value, ordinal: int, at: Coordinates, taken: frozenset[Axis] = frozenset()) -> Axis:
        begin, end, name = self._range(value, ordinal)
        return self._bound(begin, end, name, taken | _axes_of(at))

    def _bound(self, begin: Polynomial, end: Polynomial, name: str, taken: frozenset[Axis]) -> Axis:
        """The first pooled axis of this range that is not taken, or a new one."""
        pool = self._pool.setdefault((begin, end), [])
        for axis in pool:
            if axis not in taken:
                return axis
        pool.append(self.arena.axis(name, begin, end))
        return pool[-1]

    def _reduce(self, op: lp.Reduce, value: Value, at: Coordinates) -> Expression:
        source = op.arguments[0]
        axes: list[Axis] = []
        inside: list[Polynomial] = []
        kept = iter(at)
        for ordinal in range(len(source.shape)):
            if ordinal in op.axes:
                bound = self._bind(source, ordinal, at, frozenset(axes))
                axes.append(bound)
                inside.append(atomic(bound) - bound.begin)
            else:
                inside.append(next(kept))
        bodies = tuple(self.pull(argument, tuple(inside)) for argument in op.arguments)
        combine = self._combine(op, at) if op.kind == "generic" else None
        reduction = Reduction(op.kind, tuple(axes), value.position, combine)
        return self._indexed(self._flattened(value.dtype, bodies, reduction))

    def _flattened(self, dtype: DType, bodies: tuple[Expression, ...], reduction: Reduction) -> Expression:
        """Nested reductions of one kind are one reduction over more axes."""
        (body, *others) = bodies
        inner = body.attribute if body.operation == "reduce" else None
        if not others and reduction.kind in ("sum", "max", "any", "all") and isinstance(inner, Reduction):
            if inner.kind == reduction.kind and not set(inner.axes) & set(reduction.axes):
                reduction = replace(reduction, axes=reduction.axes + inner.axes)
                bodies = body.arguments
        return self.arena.make("reduce", dtype, bodies, reduction)

    def _combine(self, op: lp.Reduce | lp.Scan, at: Coordinates) -> Combine:
        if op.combine is None:
            raise AssertionError("a generic reduction has a combine")
        arity = len(op.arguments)
        saved = dict(self._arguments)
        for ordinal, parameter in enumerate(op.combine.parameters):
            if ordinal < 2 * arity:
                self._arguments[parameter] = self.arena.make("argument", parameter.dtype, (), ordinal)
            else:
                self._arguments[parameter] = self.pull(op.captures[ordinal - 2 * arity], ())
        self._scan_reads(op.combine.body)
        results = tuple(self.pull(result, at[len(at) - len(result.shape) :]) for result in op.combine.results)
        identities = tuple(self.pull(value, at[: len(value.shape)] if value.shape else ()) for value in op.identities)
        self._arguments = saved
        if any(result.axes for result in results):
            raise unsupported("a combine that is not elementwise is not lowered yet", op.combine.results[0].span)
        return Combine("combine", arity, results, identities)

    def _scan_reads(self, block: Block) -> None:
        for statement in block.statements:
            if not isinstance(statement, lp.Let | lp.If):
                raise unsupported("a combine with loops is not lowered yet", statement.span)

    def _scan(self, op: lp.Scan, value: Value, at: Coordinates) -> Expression:
        source = op.arguments[0]
        others = at[: op.axis] + at[op.axis + 1 :]
        begin, end, name = self._range(source, op.axis)
        position = (at[op.axis] + begin).atom
        along = position if isinstance(position, Axis) and (position.begin, position.end) == (begin, end) else None
        axis = along or self._bound(begin, end, name, _axes_of(others) | _axes_of((at[op.axis],)))
        made = self._prefix(op, value, others, axis)
        if along is None:  # one element of the prefix: select it out of the whole
            here = self.arena.make(
                "pointwise", boolean, (self._index(atomic(axis)), self._index(at[op.axis] + begin)), ("equal", False, False)
            )
            chosen = self.arena.make("select", made.dtype, (here, made, self._zero(made.dtype)))
            made = self.arena.make("reduce", made.dtype, (chosen,), Reduction("sum", (axis,)))
        return self._indexed(made)

    def _prefix(self, op: lp.Scan, value: Value, others: Coordinates, axis: Axis) -> Expression:
        """An exclusive scan is the inclusive scan of its argument shifted by one, the identity standing at the open end."""
        combine = self._combine(op, others) if op.kind == "generic" else None
        here = atomic(axis) - axis.begin
        shift = 0 if op.inclusive else (1 if op.reverse else -1)
        inside = self._inside(axis, shift) if shift else None
        bodies: list[Expression] = []
        for ordinal, argument in enumerate(op.arguments):
            if inside is None:
                bodies.append(self.pull(argument, (*others[: op.axis], here, *others[op.axis :])))
                continue
            shifted = self.pull(argument, (*others[: op.axis], here + shift, *others[op.axis :]))
            identity = combine.identities[ordinal] if combine else self.identity(op.kind, argument.dtype)
            bodies.append(self.arena.make("select", argument.dtype, (inside, shifted, identity)))
        reduction = Reduction(op.kind, (axis,), value.position, combine, op.reverse)
        return self.arena.make("scan", value.dtype, tuple(bodies), reduction)

    def _inside(self, axis: Axis, shift: int) -> Expression:
        """True where the shifted coordinate is still in the axis."""
        here = self._index(atomic(axis))
        if shift < 0:
            return self.arena.make("pointwise", boolean, (here, self._index(axis.begin)), ("greater", False, False))
        return self.arena.make("pointwise", boolean, (here, self._index(axis.end - 1)), ("less", False, False))

    def identity(self, kind: str, dtype: DType) -> Expression:
        if kind == "max":
            lowest: float | int = -float("inf") if dtype.is_float else (-(1 << (dtype.bits - 1)) if dtype.is_signed else 0)
            return self.arena.make("constant", dtype, (), lowest)
        return self._zero(dtype)

    def _contract(self, op: lp.Contract, value: Value, at: Coordinates) -> Expression:
        place = dict(zip(op.result_labels, at, strict=True))
        axes: list[Axis] = []
        for operand, labels in ((op.lhs, op.lhs_labels), (op.rhs, op.rhs_labels)):
            for ordinal, label in enumerate(labels):
                if label not in place:
                    bound = self._bind(operand, ordinal, at, frozenset(axes))
                    axes.append(bound)
                    place[label] = atomic(bound) - bound.begin
        extents = self._label_extents(op)
        lhs, rhs = (
            self.pull(operand, tuple(
                number(0) if extent.constant == 1 and extents[label].constant != 1 else place[label]
                for label, extent in zip(labels, operand.shape, strict=True)
            ))
            for operand, labels in ((op.lhs, op.lhs_labels), (op.rhs, op.rhs_labels))
        )  # fmt: skip
        return self.arena.make("contract", op.accumulator, (lhs, rhs), Reduction("sum", tuple(axes)))

    def _label_extents(self, op: lp.Contract) -> dict[int, Polynomial]:
        extents: dict[int, Polynomial] = {}
        for operand, labels in ((op.lhs, op.lhs_labels), (op.rhs, op.rhs_labels)):
            for label, extent in zip(labels, operand.shape, strict=True):
                if label not in extents or extents[label].constant == 1:
                    extents[label] = extent
        return extents

    def _carried(self, operation: str, loop: Loop, ordinal: int, at: Coordinates) -> Expression:
        carry = loop.carries[ordinal]
        own: list[Axis] = []
        picked: list[tuple[Axis, Polynomial]] = []
        for coordinate, canonical in zip(at, carry.own, strict=True):
            axis = (coordinate + canonical.begin).atom
            if isinstance(axis, Axis) and (axis.begin, axis.end) == (canonical.begin, canonical.end) and axis not in own:
                own.append(axis)
                continue
            bound = self._bound(canonical.begin, canonical.end, canonical.name, _axes_of(at) | frozenset(own))
            own.append(bound)
            picked.append((bound, coordinate + canonical.begin))
        axes = (*own, *loop.parallel)
        attribute = (loop.token, ordinal, axes)
        if operation == "carried":
            attribute = (*attribute, loop.tokens)  # type: ignore[assignment]
        made = self.arena.make(operation, carry.dtype, (), attribute)
        for axis, coordinate in picked:
            here = self.arena.make(
                "pointwise", boolean, (self._index(atomic(axis)), self._index(coordinate)), ("equal", False, False)
            )
            chosen = self.arena.make("select", carry.dtype, (here, made, self._zero(carry.dtype)))
            made = self.arena.make("reduce", carry.dtype, (chosen,), Reduction("sum", (axis,)))
        return self._indexed(made)

    # ----------------------------------------------------------------------------------------------------- ranges
    def bounds(self, domain: Domain) -> tuple[Polynomial, Polynomial]:
        return self.extent(domain.begin_polynomial), self.extent(domain.end_polynomial)

    def extent(self, extent: Polynomial) -> Polynomial:
        """A polynomial of the logical program with its runtime values pulled."""
        return extent.rebuild(lambda atom: self._scalar(atom) if isinstance(atom, Value) else None)

    def _scalar(self, value: Value) -> Polynomial:
        if value in self._variables:
            return self._variables[value]
        explained = coordinate_polynomial(value)
        if explained.atom is not value:
            return self.extent(explained)
        return self._integer(self.pull(value, ()))

    def _range(self, value: Value, ordinal: int) -> tuple[Polynomial, Polynomial, str]:
        """(begin, end, name) in source coordinates for one axis of a tensor."""
        extent = self.extent(value.shape[ordinal])
        domain = axis_origin(value, ordinal)
        if domain is not None and domain.step == 1:
            begin, end = self.bounds(domain)
            if end - begin == extent:
                return begin, end, domain.name or _extent_name(extent)
        return number(0), extent, _extent_name(extent)

    def _relation_range(self, relation: lp.Relation, ordinal: int) -> tuple[Polynomial, Polynomial, str]:
        extent = self.extent(relation.shape[ordinal])
        position, joint_seen = 0, False
        for item in relation.items:
            match item:
                case lp.Along(domain=domain):
                    if position == ordinal and domain.step == 1:
                        begin, end = self.bounds(domain)
                        return begin, end, domain.name or _extent_name(extent)
                    position += 1
                case lp.NewAxis():
                    position += 1
                case lp.Gathered(index=tensor) if not joint_seen:
                    joint_seen = True
                    inner = ordinal - position - (len(relation.joint_shape) - len(tensor.shape))
                    if 0 <= inner < len(tensor.shape) and tensor.shape[inner] == relation.shape[ordinal]:
                        return self._range(tensor, inner)
                    position += len(relation.joint_shape)
                case _:
                    pass
        return number(0), extent, _extent_name(extent)


_INDEX_ARITHMETIC = {
    ("add", 2): lambda a, b: a + b,
    ("subtract", 2): lambda a, b: a - b,
    ("multiply", 2): lambda a, b: a * b,
    ("negative", 1): lambda a: -a,
    ("floor_divide", 2): floor_divide,
    ("remainder", 2): remainder,
}


def _axes_of(coordinates: Sequence[Polynomial]) -> frozenset[Axis]:
    axes: set[Axis] = set()
    for coordinate in coordinates:
        for atom in coordinate.atoms():
            if isinstance(atom, Axis):
                axes.add(atom)
            elif isinstance(atom, Expression):
                axes |= atom.axes
    return frozenset(axes)


def _extent_name(extent: Polynomial) -> str:
    atom = extent.atom
    return atom.name.lower() if isinstance(atom, Symbol) else "i"


def _groups(
    shape: Sequence[Polynomial], target: Sequence[Polynomial]
) -> Iterator[tuple[slice | None, slice]]:
    """Pairs of index ranges of the two shapes whose element counts are equal; (None, _) once nothing more matches."""
    i = j = 0
    while i < len(shape) or j < len(target):
        start_i, start_j = i, j
        matched = False
        for end_i in range(i, len(shape) + 1):
            for end_j in range(j, len(target) + 1):
                if (end_i, end_j) == (i, j) or product(shape[i:end_i]) != product(target[j:end_j]):
                    continue
                i, j, matched = end_i, end_j, True
                break
            if matched:
                break
        if not matched:
            yield None, slice(0)
            return
        yield slice(start_i, i), slice(start_j, j)


def _row_major(at: Sequence[Polynomial], shape: Sequence[Polynomial], target: Sequence[Polynomial]) -> Coordinates:
    """Linearise `at` over `shape`, then split by the suffix products of `target`."""
    if len(shape) == len(target) == 1:
        return tuple(at)
    linear = number(0)
    for coordinate, extent in zip(at, shape, strict=True):
        linear = linear * extent + (number(0) if extent.constant == 1 else coordinate)
    result: list[Polynomial] = []
    for ordinal, extent in enumerate(target):
        if extent.constant == 1:
            result.append(number(0))
            continue
        quotient = floor_divide(linear, product(target[ordinal + 1 :]))
        leading = all(other.constant == 1 for other in target[:ordinal])
        result.append(quotient if leading else remainder(quotient, extent))
    return tuple(result)


def _word(op: lp.Op) -> str:
    return op.name if isinstance(op, lp.Intrinsic) else type(op).__name__

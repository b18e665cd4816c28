"""Region folds and scans: ordered loops over the slices of an axis, with the summary as their carry.

In each iteration the helpers see one slice: its axis is a tile inside the loop, so that reductions over it stay there.
A local
position along a slice is pulled as the position along the whole axis.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from intent.records import dataclass, field
from translators.algebra.polynomial import Polynomial, atomic, number
from translators.diagnostics import Span
from translators.logical import program as lp
from translators.logical.program import Block, Value
from translators.logical.types import Buffer
from translators.planning.neutral import limits_of
from translators.planning.provenance import axis_origin
from translators.planning.ranges import Range, extent_name, position_axis, same_run
from translators.planning.running_maximum import relative_to_running
from translators.planning.sinks import Context, Coordinates, Loop, LoopCarry, MustHold
from translators.planning.slice_places import looks_at_places
from translators.planning.structured import Structured
from translators.planning.whole_slices import whole_copies, worth_two_loops
from translators.tile.expression import Axis, Expression, LoopToken, walk


class AlongSlices(Exception):
    """An output of a region scan is demanded along an axis: the effect belongs inside the scan's loop, along its
    slices.
    """

    def __init__(self, value: Value, loop: Loop, outside: Axis, inside: Axis) -> None:
        super().__init__(loop.token.name)
        self.value, self.loop, self.outside, self.inside = value, loop, outside, inside


@dataclass(frozen=True, slots=True)
class States:
    """What a fold or scan goes on with, and which memory holds it (None: it is a carry of the loop)."""

    states: tuple[LoopCarry, ...]
    memories: tuple[Buffer | None, ...]

    def place(self, ordinal: int) -> int | None:
        """Which carry of its loop a state is; None for one in memory."""
        if self.memories[ordinal] is not None:
            return None
        return sum(memory is None for memory in self.memories[:ordinal])

    def in_memory(self) -> Iterator[tuple[LoopCarry, Buffer]]:
        for state, memory in zip(self.states, self.memories, strict=True):
            if memory is not None:
                yield state, memory


def _step(op: lp.RegionFold | lp.RegionScan) -> lp.Lambda:
    """The helper that gives the next states."""
    return op.combine if isinstance(op, lp.RegionFold) else op.apply


def _outputs(op: lp.RegionFold | lp.RegionScan) -> int:
    """How many of the results come before the states."""
    return 0 if isinstance(op, lp.RegionFold) else op.emit_results


@dataclass(slots=True)
class RegionOperations(Structured):
    """Makes one loop per region operation, when a result is first demanded."""

    contexts: dict[lp.RegionFold | lp.RegionScan, Context] = field(default_factory=dict)
    orders: dict[lp.RegionFold | lp.RegionScan, int] = field(default_factory=dict)
    outcomes: dict[lp.RegionFold | lp.RegionScan, Sequence[Value]] = field(default_factory=dict)
    _made: dict[lp.RegionFold | lp.RegionScan, Loop] = field(default_factory=dict)
    _loop_states: dict[LoopToken, States] = field(default_factory=dict)

    @abstractmethod
    def block(self, block: Block, context: Context) -> None:
        """Walk the statements of a helper's body."""

    @abstractmethod
    def _tick(self) -> int:
        """A place in the program after all statements so far."""

    @abstractmethod
    def _in_scratch(self, state: LoopCarry, context: Context, span: Span) -> Buffer:
        """Scratch memory for a state, which holds what it starts as."""

    @abstractmethod
    def _overwritten(
        self, memory: Buffer, free: Sequence[Axis], value: Expression, context: Context, span: Span
    ) -> None:
        """Every element of a state in memory is overwritten."""

    @abstractmethod
    def _loaded(self, value: Value, memory: Buffer, context: Context) -> None:
        """From here on elements of the value come from memory."""

    def region(self, op: lp.RegionFold | lp.RegionScan, value: Value, at: Coordinates) -> Expression:
        loop = self.loop_over(op)
        outputs = _outputs(op)
        if value.position >= outputs:
            place = self._loop_states[loop.token].place(value.position - outputs)
            assert place is not None  # what is in memory has been loaded at the statement
            return self.carried("carried", loop, place, at)
        assert isinstance(op, lp.RegionScan)
        return self._emitted(op, loop, value, at)

    def loop_over(self, op: lp.RegionFold | lp.RegionScan) -> Loop:
        return self._made.get(op) or self._make(op)

    def _make(self, op: lp.RegionFold | lp.RegionScan) -> Loop:
        """The loop over slices, its carries initialised by the identities (or the initial state)."""
        if looks_at_places(op):
            return self._make_single(op)
        context = self.contexts[op]
        source = op.sources[0]
        extent = self.extent(source.shape[op.axis])
        origin = axis_origin(source, op.axis)
        name = (origin.name if origin is not None else None) or extent_name(extent)
        token = LoopToken(f"{name}_slices", self.arena.serial())
        self.slice_ranges[op.slice_extent] = Range(number(0), extent, name, token)
        axes = self.slice_axes.setdefault(token, [])
        loop = Loop(
            token, context.loops, context.parallel, None, None, 1, source.span, order=self.orders[op], slices=axes
        )
        self._made[op] = loop
        self.loops[lp.LoopKey(token.serial)] = loop
        self.bound(self.slice_ranges[op.slice_extent], frozenset())  # the loop goes over slices even if no helper looks
        self._start_states(op, loop, context)
        self._advance(op, loop, context)
        return loop

    def _make_single(self, op: lp.RegionFold | lp.RegionScan) -> Loop:
        """A loop over single elements, whose helpers see slices of length 1."""
        context = self.contexts[op]
        source = op.sources[0]
        token = LoopToken("step", self.arena.serial())
        low, high = self.index_value(number(0)), self.index_value(self.extent(source.shape[op.axis]))
        loop = Loop(
            token, context.loops, context.parallel, low, high, 1, source.span, order=self.orders[op], single=True
        )
        loop.predicate = context.predicate
        self._made[op] = self.loops[lp.LoopKey(token.serial)] = loop
        (extent,) = op.slice_extent.atoms()
        assert isinstance(extent, Value)
        self.variables[extent] = number(1)
        self._start_states(op, loop, context)
        self._advance(op, loop, context)
        return loop

    def _start_states(self, op: lp.RegionFold | lp.RegionScan, loop: Loop, context: Context) -> None:
        initial = op.identities if isinstance(op, lp.RegionFold) else op.initial_state
        results = _step(op).results
        states = [self._summary_carry(*each, loop) for each in zip(initial, range(len(initial)), results, strict=True)]
        for result in self.outcomes[op]:  # memory is named like what is read from it
            place = result.position - _outputs(op)
            if place >= 0 and states[place].result in self.stored:
                states[place].name = self.kernel.names.get(result, states[place].name)
        self.start(loop, tuple(states), context)

    def start(self, loop: Loop, states: tuple[LoopCarry, ...], context: Context) -> None:
        """The states of a loop are its carries, but for those that are kept in scratch memory."""
        memories = [
            self._in_scratch(each, context, loop.span) if each.result in self.stored else None for each in states
        ]
        if any(memory is not None for memory in memories):
            loop.order = self._tick()
        loop.carries += [state for state, memory in zip(states, memories, strict=True) if memory is None]
        self._loop_states[loop.token] = States(states, tuple(memories))

    def move_on(self, loop: Loop, inner: Context) -> None:
        """States in memory become what an iteration makes of them."""
        for state, memory in self._loop_states[loop.token].in_memory():
            assert state.update is not None
            self._overwritten(memory, state.own, state.update, inner, loop.span)

    def load_states(self, loop: Loop, results: Mapping[int, Value], context: Context) -> None:
        """Elements of results that are states in memory come from there."""
        for ordinal, memory in enumerate(self._loop_states[loop.token].memories):
            if memory is not None and ordinal in results:
                self._loaded(results[ordinal], memory, context)

    def _summary_carry(self, identity: Value, ordinal: int, result: Value, loop: Loop) -> LoopCarry:
        own: list[Axis] = []
        for dimension in range(len(identity.shape)):
            own.append(self.bound(self.range_of(identity, dimension), frozenset(own)))
        coordinates = tuple(atomic(axis) - axis.begin for axis in own)
        initial = self.pull(identity, coordinates)
        name = self.kernel.names.get(identity, f"summary_{ordinal}")
        return LoopCarry(name, identity.dtype, tuple(own), (*own, *loop.parallel), initial, result)

    def is_kept(self, op: lp.RegionFold | lp.RegionScan) -> bool:
        """Whether a state is in memory: then all of it happens at its statement."""
        return not self.stored.isdisjoint(_step(op).results)

    def run_in_memory(self, op: lp.RegionFold | lp.RegionScan, context: Context) -> None:
        """Outputs are kept before the states move on."""
        results = self.outcomes[op]
        outputs = _outputs(op)
        loop = self.loop_over(op)
        for result in results:
            if result.position < outputs:
                self.keep_output(op, result, context)
        self.move_on(loop, Context(context.parallel, (*context.loops, loop), context.predicate))
        states = {result.position - outputs: result for result in results if result.position >= outputs}
        self.load_states(loop, states, context)

    @abstractmethod
    def keep_output(self, op: lp.RegionFold | lp.RegionScan, result: Value, context: Context) -> None:
        """Keep a result in scratch memory where the operation stands."""

    def _advance(self, op: lp.RegionFold | lp.RegionScan, loop: Loop, context: Context) -> None:
        """state' = combine(state, summarize(slice)), or apply(summarize(slice), state) of a scan."""
        inner = Context(context.parallel, (*context.loops, loop), context.predicate)
        self._bind_slices(op, op.summarize, loop)
        self.block(op.summarize.body, inner)
        count, step = len(op.identities), _step(op)
        first, second = step.parameters[:count], step.parameters[count : 2 * count]
        states, summaries = (first, second) if isinstance(op, lp.RegionFold) else (second, first)
        self.bind_states(states, loop, inner)
        for parameter, summary in zip(summaries, op.summarize.results, strict=True):
            self.parameters[parameter] = partial(self.pull, summary)
        self.block(step.body, inner)
        for carry, result in zip(self._loop_states[loop.token].states, step.results, strict=True):
            carry.update = self.pull(result, tuple(atomic(axis) - axis.begin for axis in carry.own))
            carry.name = self.kernel.names.get(result, carry.name)
        if isinstance(op, lp.RegionFold) and loop.slices and not self.is_kept(op):
            updates, originals = relative_to_running(self.arena, [carry.update for carry in loop.carries])
            for carry, update in zip(loop.carries, updates, strict=True):
                carry.update = update
            self._keep_names(op, originals)
            self._limit(op, loop)
        elif isinstance(op, lp.RegionScan):
            self._bind_emission(op, loop, inner)
            self.block(op.emit.body, inner)

    def _limit(self, op: lp.RegionFold, loop: Loop) -> None:
        """Which slices of a fold matter, and what the others within reach become without guards."""
        updates = [carry.update for carry in loop.carries if carry.update is not None]
        positions = [tuple(atomic(axis) - axis.begin for axis in carry.own) for carry in loop.carries]
        summaries = [self.pull(*pair) for pair in zip(op.summarize.results, positions, strict=True)]
        loop.limits = limits_of(summaries, [carry.initial for carry in loop.carries], loop.token)
        if not worth_two_loops(updates, loop):
            return
        copies = whole_copies(self.arena, loop)
        for carry in loop.carries:
            carry.whole_update = copies.expression(carry.update) if carry.update is not None else None
        self._keep_names(op, {copy: original for original, copy in copies.done.items() if copy is not original})

    def _keep_names(self, op: lp.RegionFold, originals: Mapping[Expression, Expression]) -> None:
        """New nodes have the names and the places of what they replace."""
        for node, original in originals.items():
            self.stand_for(node, original)
            self.spans.setdefault(node, op.sources[0].span)

    def _bind_slices(self, op: lp.RegionFold | lp.RegionScan, helper: lp.Lambda, loop: Loop) -> None:
        """Slices, then operands. A slice's local position is the position along the whole axis."""
        given = (*op.sources, *op.operands)
        self._give(helper.parameters, given)
        self._bind_single(op, helper, loop)

    def _bind_single(self, op: lp.RegionFold | lp.RegionScan, helper: lp.Lambda, loop: Loop) -> None:
        """Slices of length 1 are what the source has at the loop's position."""
        if not loop.slices:
            for parameter, source in zip(helper.parameters[: len(op.sources)], op.sources, strict=True):
                self.parameters[parameter] = partial(self._element_at, source, op.axis, atomic(loop.token))

    def _element_at(self, source: Value, axis: int, position: Polynomial, at: Coordinates) -> Expression:
        return self.pull(source, (*at[:axis], position, *at[axis + 1 :]))

    def _give(self, parameters: Sequence[Value], values: Sequence[Value]) -> None:
        """What is promised about a value holds for the parameter that receives it."""
        for parameter, value in zip(parameters, values, strict=True):
            self.parameters[parameter] = partial(self.pull, value)
            self.given[parameter] = value

    def bind_states(self, parameters: Sequence[Value], loop: Loop, inner: Context) -> None:
        """Parameters of a helper that takes the states before an iteration."""
        states = self._loop_states[loop.token]
        for ordinal, parameter in enumerate(parameters):
            memory, place = states.memories[ordinal], states.place(ordinal)
            if memory is not None:
                self._loaded(parameter, memory, inner)
            elif place is not None:
                self.parameters[parameter] = partial(self.carried, "carry", loop, place)

    def _bind_emission(self, op: lp.RegionScan, loop: Loop, inner: Context) -> None:
        """Parameters of `emit`: the slices, the incoming state, the operands."""
        slices, states = len(op.sources), len(op.initial_state)
        parameters = op.emit.parameters
        given = [*op.sources, *op.operands]
        self._give((*parameters[:slices], *parameters[slices + states :]), given)
        self._bind_single(op, op.emit, loop)
        self.bind_states(parameters[slices : slices + states], loop, inner)

    def _emitted(self, op: lp.RegionScan, loop: Loop, value: Value, at: Coordinates) -> Expression:
        """An output at a slice's own coordinates; demanded along another axis, the effect moves into the loop."""
        result = op.emit.results[value.position]
        along = self._along(op, result)
        if not loop.slices:  # all of it is kept where the operation stands
            raise MustHold([value], value.span)
        axis = position_axis(at[along])
        if axis is None or axis.slices is not loop.token:
            if axis is not None and same_run(axis, loop.slices[0].extent):
                raise AlongSlices(value, loop, axis, self._output_axis(loop, result, at, along))
            raise MustHold([value], value.span)
        return self.pull(result, at)

    def _along(self, op: lp.RegionScan, output: Value) -> int:
        """Which axis of an output runs along the slices."""
        return next(ordinal for ordinal, extent in enumerate(output.shape) if extent == op.slice_extent)

    def _output_axis(self, loop: Loop, result: Value, at: Coordinates, along: int) -> Axis:
        """The axis of slices along which an output needs the fewest loads beside those of the loop's carries."""
        updates = [carry.update for carry in loop.carries if carry.update is not None]

        def loads(axis: Axis) -> int:
            output = self.pull(result, (*at[:along], atomic(axis) - axis.begin, *at[along + 1 :]))
            return sum(node.operation == "load" for node in walk(output, *updates))

        loads(loop.slices[0])  # products along the output make further axes of slices
        return min(loop.slices, key=loads)

"""Reductions and scans whose combine is more than one expression of single elements: ordered loops over the elements.

A combine that multiplies matrices, or has a loop of its own, cannot be handed to Triton. Its states are then carries of
a loop along the axes, one element after the other; the prefixes of a scan are stored in scratch memory as they appear.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from translators.algebra.polynomial import Polynomial, atomic, floor_divide, number, product, remainder
from translators.logical import program as lp
from translators.logical.program import Block, Value
from translators.planning.combines import Folded, inserted, mixes_elements
from translators.planning.ranges import axes_of
from translators.planning.region_operations import RegionOperations
from translators.planning.sinks import Context, Coordinates, Loop, LoopCarry
from translators.planning.slice_places import looks_at_places
from translators.tile.expression import Axis, Expression, LoopToken, Reduction

_BLOCKWISE = (lp.RegionFold, lp.RegionScan, lp.Read)


def _is_sequential(block: Block) -> bool:
    """Something in it has to be done at its place."""
    for statement in block.statements:
        match statement:
            case lp.Let(op=op):
                if isinstance(op, _BLOCKWISE):
                    return True
            case lp.If(then=then, orelse=orelse):
                if _is_sequential(then) or _is_sequential(orelse):
                    return True
            case _:
                return True
    return False


class OrderedFolds(RegionOperations):
    """Makes the loop of such an operation where its statement stands."""

    __slots__ = ()

    @abstractmethod
    def _keep_along(
        self, result: Value, value: Expression, place: Coordinates, free: Sequence[Axis], context: Context
    ) -> Callable[[Coordinates], Expression]:
        """Store elements of `result` in scratch memory; how to load one afterwards."""

    def is_in_order(self, op: Folded) -> bool:
        """Whether its combine is more than a function of single elements."""
        return op.combine is not None and (_is_sequential(op.combine.body) or mixes_elements(self, op))

    def fold_in_order(self, op: Folded, results: Sequence[Value], order: int, context: Context) -> None:
        extents = [self.extent(extent) for extent in op.arguments[0].shape]
        assert op.combine is not None
        axes = op.axes if isinstance(op, lp.Reduce) else (op.axis,)
        if any(extents[axis] in self.slice_ranges for axis in axes):
            self._fold_single_elements(op, results, axes)
            return
        along = [extents[axis] for axis in axes]
        token = LoopToken("step", self.arena.serial())
        low, high = self.index_value(number(0)), self.index_value(product(along))
        loop = Loop(token, context.loops, context.parallel, low, high, 1, results[0].span)
        loop.order, loop.predicate = order, context.predicate
        self.loops[lp.LoopKey(token.serial)] = loop
        position = atomic(token)
        if isinstance(op, lp.Scan) and op.reverse:
            position = along[0] - 1 - position
        place = dict(zip(axes, _unravelled(position, along), strict=True))
        self.start(loop, tuple(self._ordered_states(op, results, loop, axes)), context)
        inner = Context(context.parallel, (*context.loops, loop), context.predicate)
        self._bind(op, loop, place, inner)
        self.block(op.combine.body, inner)
        states = self._loop_states[loop.token]
        for carry, result in zip(states.states, op.combine.results, strict=True):
            at = tuple(atomic(axis) - axis.begin for axis in carry.own)
            carry.update = self.pull(result, at[len(at) - len(result.shape) :] if result.shape else ())
        for ordinal, result in enumerate(results):
            if isinstance(op, lp.Scan):
                self.kept[result] = self._prefixes(op, result, loop, place, inner)
            elif (carried := states.place(ordinal)) is not None:
                self.kept[result] = partial(self.carried, "carried", loop, carried)
        self.move_on(loop, inner)
        if isinstance(op, lp.Reduce):
            self.load_states(loop, dict(enumerate(results)), context)

    def _fold_single_elements(self, op: Folded, results: Sequence[Value], axes: Sequence[int]) -> None:
        """Along slices, whose length is the compiler's choice: of one element, a fold is the element itself."""
        (axis,) = axes
        run = self.range_of(op.arguments[0], axis)
        assert run.slices is not None
        self.loop_of(run.slices).single = True
        for result in results:
            argument, identity = op.arguments[result.position], op.identities[result.position]
            if isinstance(op, lp.Reduce):
                self.kept[result] = partial(self._only_element, argument, axis)
            elif op.inclusive:
                self.kept[result] = partial(self.pull, argument)
            else:
                self.kept[result] = partial(self._whole_element, identity, axis)

    def _only_element(self, argument: Value, axis: int, at: Coordinates) -> Expression:
        """The largest of one."""
        along = self.bound(self.range_of(argument, axis), axes_of(at))
        element = self.pull(argument, inserted(at, {axis: atomic(along) - along.begin}))
        kind = "any" if argument.dtype.kind == "bool" else "max"
        return self.indexed(self.arena.make("reduce", argument.dtype, (element,), Reduction(kind, (along,))))

    def _whole_element(self, identity: Value, axis: int, at: Coordinates) -> Expression:
        return self.pull(identity, (*at[:axis], *at[axis + 1 :]) if identity.shape else ())

    def _ordered_states(
        self, op: Folded, results: Sequence[Value], loop: Loop, axes: Sequence[int]
    ) -> Iterator[LoopCarry]:
        """One state for every component: the result's elements without the axes of the loop."""
        by_position = {result.position: result for result in results}
        assert op.combine is not None
        for ordinal, identity in enumerate(op.identities):
            own: list[Axis] = []
            argument = op.arguments[ordinal]
            for dimension in range(len(argument.shape)):
                if dimension not in axes:
                    own.append(self.bound(self.range_of(argument, dimension), frozenset(own)))
            at = tuple(atomic(axis) - axis.begin for axis in own)
            initial = self.pull(identity, at if identity.shape else ())
            name = self.kernel.names.get(by_position.get(ordinal, identity), f"state_{ordinal}")
            result = op.combine.results[ordinal]
            yield LoopCarry(name, argument.dtype, tuple(own), (*own, *loop.parallel), initial, result)

    def _bind(self, op: Folded, loop: Loop, place: dict[int, Polynomial], inner: Context) -> None:
        """Parameters of the combine: the states, the elements, what it captures."""
        assert op.combine is not None
        count = len(op.arguments)
        parameters = op.combine.parameters
        self.bind_states(parameters[:count], loop, inner)
        for parameter, argument in zip(parameters[count : 2 * count], op.arguments, strict=True):
            self.parameters[parameter] = partial(self._element, argument, place)
        for parameter, capture in zip(parameters[2 * count :], op.captures, strict=True):
            self.parameters[parameter] = partial(self.pull, capture)

    def _element(self, argument: Value, place: dict[int, Polynomial], at: Coordinates) -> Expression:
        return self.pull(argument, inserted(at, place))

    def keep_outputs(self, op: lp.RegionFold | lp.RegionScan, result: Value, context: Context) -> bool:
        """Keep an output of a scan whose slices are single elements, as they appear; False if it is no such output."""
        if isinstance(op, lp.RegionFold) or result.position >= op.emit_results or not looks_at_places(op):
            return False
        loop = self.loop_over(op)
        inner = Context(context.parallel, (*context.loops, loop), context.predicate)
        output = op.emit.results[result.position]
        along = self._along(op, output)
        free: list[Axis] = []
        for ordinal in range(len(output.shape)):
            if ordinal != along:
                free.append(self.bound(self.range_of(output, ordinal), frozenset(free)))
        at = tuple(atomic(axis) - axis.begin for axis in free)
        value = self.pull(output, inserted(at, {along: number(0)}))
        place = inserted(at, {along: atomic(loop.token)})
        self.kept[result] = self._keep_along(result, value, place, free, inner)
        return True

    def _prefixes(
        self, op: lp.Scan, result: Value, loop: Loop, place: dict[int, Polynomial], inner: Context
    ) -> Callable[[Coordinates], Expression]:
        carry = self._loop_states[loop.token].states[result.position]
        at = tuple(atomic(axis) - axis.begin for axis in carry.own)
        assert carry.update is not None and op.combine is not None
        value = carry.update if op.inclusive else self.pull(op.combine.parameters[result.position], at)
        return self._keep_along(result, value, inserted(at, place), carry.own, inner)


def _unravelled(position: Polynomial, extents: Sequence[Polynomial]) -> Iterator[Polynomial]:
    """A row-major position as one coordinate for every extent."""
    for ordinal, extent in enumerate(extents):
        quotient = floor_divide(position, product(extents[ordinal + 1 :]))
        yield quotient if ordinal == 0 else remainder(quotient, extent)

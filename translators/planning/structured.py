"""Structured operations: reductions, scans, contractions, histograms over bound axes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from intent.dtypes import DType, boolean, index
from intent.records import dataclass, replace
from translators.algebra.polynomial import Polynomial, atomic, number
from translators.logical import program as lp
from translators.logical.program import Value
from translators.planning.combines import Combination, element_combine, inserted
from translators.planning.known_values import lowest
from translators.planning.merged_steps import merged_depth
from translators.planning.pull import Pull
from translators.planning.ranges import axes_of, position_axis, same_run
from translators.planning.sinks import Coordinates, Loop
from translators.tile.expression import Axis, Expression, LoopToken, Reduction


@dataclass(slots=True)
class Structured(Pull):
    """Binds the axes that structured operations run over."""

    @abstractmethod
    def region(self, op: lp.RegionFold | lp.RegionScan, value: Value, at: Coordinates) -> Expression:
        """An element of a region operation's result."""

    def structured(self, value: Value, at: Coordinates) -> Expression:
        match value.origin:
            case lp.Reduce() as op:
                return self._reduce(op, value, at)
            case lp.ArgReduce() as op:
                return self._arg_reduce(op, value, at)
            case lp.Scan() as op:
                return self._scan(op, value, at)
            case lp.Contract() as op:
                return self._contract(op, value, at)
            case lp.Histogram() as op:
                return self._histogram(op, value, at)
            case lp.RegionFold() | lp.RegionScan() as op:
                return self.region(op, value, at)
            case _:
                raise AssertionError(value.origin)

    def bind(self, value: Value, ordinal: int, at: Coordinates, taken: frozenset[Axis] = frozenset()) -> Axis:
        """An axis along one dimension of a value that the demanded coordinates do not use."""
        return self.bound(self.range_of(value, ordinal), taken | axes_of(at))

    @contextmanager
    def bind_axes(self, axes: Sequence[Axis]) -> Iterator[None]:
        """Pull the operands of an operation that runs along the axes."""
        self.binding.extend(axes)
        try:
            yield
        finally:
            del self.binding[len(self.binding) - len(axes) :]

    def _arg_reduce(self, op: lp.ArgReduce, value: Value, at: Coordinates) -> Expression:
        axis = self.bind(op.argument, op.axis, at)
        body = self.pull(op.argument, (*at[: op.axis], atomic(axis) - axis.begin, *at[op.axis :]))
        made = self.arena.make("reduce", value.dtype, (body,), Reduction("arg_max", (axis,), value.position))
        return made if value.position == 0 else self.index_value(atomic(made) - axis.begin)

    def _histogram(self, op: lp.Histogram, value: Value, at: Coordinates) -> Expression:
        """counts[b] = sum over positions of (valid and value == b); of a single bin, that very sum."""
        axes: list[Axis] = []
        for ordinal in range(len(op.values.shape)):
            axes.append(self.bind(op.values, ordinal, at, frozenset(axes)))
        inside = tuple(atomic(axis) - axis.begin for axis in axes)
        counted = self.operand(op.values, inside, op.values.shape)
        valid = self.operand(op.valid, inside, op.values.shape)
        condition = None if valid.operation == "constant" and valid.attribute else valid
        bins = position_axis(at[0])
        if bins is not None and bins not in counted.axes | valid.axes:
            parts = (counted,) if condition is None else (counted, condition)
            reduction = Reduction("count", tuple(axes), bins=bins)
            return self.indexed(self.arena.make("reduce", value.dtype, parts, reduction))
        numbers = (self.cast(counted, index), self.index_value(at[0]))
        hit = self.arena.make("pointwise", boolean, numbers, ("equal", False, False))
        hit = self.conjoin(condition, hit) or hit
        body = self.cast(hit, value.dtype)
        return self.indexed(self.arena.make("reduce", value.dtype, (body,), Reduction("sum", tuple(axes))))

    def _reduce(self, op: lp.Reduce, value: Value, at: Coordinates) -> Expression:
        whole = Combination(tuple(range(len(op.arguments))), (at,) * len(op.arguments), None)
        of = element_combine(self, op, value.position, at) if op.kind == "generic" else whole
        taken = axes_of(at).union(*map(axes_of, of.places))
        axes: list[Axis] = []
        for ordinal in op.axes:
            axes.append(self.bound(self.range_of(op.arguments[0], ordinal), taken.union(axes)))
        folded = {ordinal: atomic(axis) - axis.begin for ordinal, axis in zip(op.axes, axes, strict=True)}
        with self.bind_axes(axes):
            pairs = zip(of.components, of.places, strict=True)
            bodies = tuple(self.pull(op.arguments[ordinal], inserted(place, folded)) for ordinal, place in pairs)
        bodies += of.combine.captures if of.combine is not None else ()
        position = of.components.index(value.position)
        reduction = Reduction(op.kind, tuple(axes), position, of.combine, ordered=op.ordered)
        return self.indexed(self._flattened(value.dtype, bodies, reduction))

    def _flattened(self, dtype: DType, bodies: tuple[Expression, ...], reduction: Reduction) -> Expression:
        """Nested reductions of one kind are one reduction over more axes."""
        (body, *others) = bodies
        inner = body.attribute if body.operation == "reduce" else None
        if not others and isinstance(inner, Reduction) and _merge(inner, reduction):
            reduction = replace(reduction, axes=reduction.axes + inner.axes)
            bodies = body.arguments
        return self.arena.make("reduce", dtype, bodies, reduction)

    def _scan(self, op: lp.Scan, value: Value, at: Coordinates) -> Expression:
        source = op.arguments[0]
        others = at[: op.axis] + at[op.axis + 1 :]
        combination = element_combine(self, op, value.position, others) if op.kind == "generic" else None
        wanted = self.range_of(source, op.axis)
        along = position_axis(at[op.axis])
        if along is not None and not same_run(along, wanted.end - wanted.begin, wanted.slices):
            along = None
        taken = axes_of(others) | axes_of((at[op.axis],))
        axis = along or self.bound(wanted, taken.union(*map(axes_of, combination.places if combination else ())))
        made = self._prefix(op, value, combination or Combination((0,), (others,), None), axis)
        if along is None:  # one element of the prefix: select it out of the whole
            made = self.chosen(made, axis, at[op.axis] + axis.begin)
        return self.indexed(made)

    def _prefix(self, op: lp.Scan, value: Value, of: Combination, axis: Axis) -> Expression:
        """An exclusive scan is the inclusive scan of its argument shifted by one, the identity standing at the open
        end. That of a slice from its end, wherever that is, is known where every slice is a single element.
        """
        here = atomic(axis) - axis.begin
        shift = 0 if op.inclusive else (1 if op.reverse else -1)
        if shift > 0 and axis.slices is not None:
            self.loop_of(axis.slices).single = True
        inside = self._inside(axis, shift) if shift else None
        bodies: list[Expression] = []
        for ordinal, place in zip(of.components, of.places, strict=True):
            argument = op.arguments[ordinal]
            if inside is None:
                bodies.append(self.pull(argument, inserted(place, {op.axis: here})))
                continue
            shifted = self.pull(argument, inserted(place, {op.axis: here + shift}))
            identity = (
                self.identity(op.kind, argument.dtype) if of.combine is None else of.combine.identities[len(bodies)]
            )
            bodies.append(self.arena.make("select", argument.dtype, (inside, shifted, identity)))
        bodies += of.combine.captures if of.combine is not None else ()
        position = of.components.index(value.position)
        reduction = Reduction(op.kind, (axis,), position, of.combine, op.reverse)
        made = self.arena.make("scan", value.dtype, tuple(bodies), reduction)
        served = self.results.setdefault(made, [])
        served.extend([value] if value not in served else [])
        return made

    def _inside(self, axis: Axis, shift: int) -> Expression:
        """True where the shifted coordinate is still in the axis, or in its slice."""
        first = axis.begin if axis.slices is None else atomic(axis.slices)
        function, end = ("greater", first) if shift < 0 else ("less", axis.end - 1 if axis.slices is None else first)
        parts = (self.index_value(atomic(axis)), self.index_value(end))
        return self.arena.make("pointwise", boolean, parts, (function, False, False))

    def loop_of(self, slices: LoopToken) -> Loop:
        """The region operation's loop over these slices."""
        return next(loop for loop in self.loops.values() if loop.token is slices)

    def identity(self, kind: str, dtype: DType) -> Expression:
        if kind == "max":
            return self.arena.make("constant", dtype, (), lowest(dtype))
        return self.zero(dtype)

    def _contract(self, op: lp.Contract, value: Value, at: Coordinates) -> Expression:
        place = dict(zip(op.result_labels, at, strict=True))
        axes: list[Axis] = []
        for operand, labels in ((op.lhs, op.lhs_labels), (op.rhs, op.rhs_labels)):
            for ordinal, label in enumerate(labels):
                if label not in place:
                    bound = self.bind(operand, ordinal, at, frozenset(axes))
                    axes.append(bound)
                    place[label] = atomic(bound) - bound.begin
        extents = self._label_extents(op)
        with self.bind_axes(axes):
            lhs, rhs = (
                self.pull(operand, tuple(
                    number(0) if extent.constant == 1 and extents[label].constant != 1 else place[label]
                    for label, extent in zip(labels, operand.shape, strict=True)
                ))
                for operand, labels in ((op.lhs, op.lhs_labels), (op.rhs, op.rhs_labels))
            )  # fmt: skip
        product = self.arena.make("contract", op.accumulator, (lhs, rhs), Reduction("sum", tuple(axes)))
        return merged_depth(self, product) or product

    def _label_extents(self, op: lp.Contract) -> dict[int, Polynomial]:
        extents: dict[int, Polynomial] = {}
        for operand, labels in ((op.lhs, op.lhs_labels), (op.rhs, op.rhs_labels)):
            for label, extent in zip(labels, operand.shape, strict=True):
                if label not in extents or extents[label].constant == 1:
                    extents[label] = extent
        return extents


def _merge(inner: Reduction, outer: Reduction) -> bool:
    """Two nested reductions over different axes that are one over both."""
    same = inner.kind == outer.kind and outer.kind in ("sum", "max", "any", "all") and not inner.ordered | outer.ordered
    return same and not set(inner.axes) & set(outer.axes)

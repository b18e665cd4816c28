"""Structured operations: reductions, scans, contractions, histograms over bound axes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from intent.dtypes import DType, boolean, index
from intent.records import dataclass, replace
from translators.algebra.polynomial import Polynomial, atomic, number
from translators.logical import program as lp
from translators.logical.program import Value
from translators.planning.known_values import lowest
from translators.planning.pull import Pull
from translators.planning.ranges import axes_of, position_axis, same_run
from translators.planning.sinks import Coordinates, unsupported
from translators.tile.expression import Axis, Combine, Expression, Reduction, walk


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
        source = op.arguments[0]
        axes: list[Axis] = []
        inside: list[Polynomial] = []
        kept = iter(at)
        for ordinal in range(len(source.shape)):
            if ordinal in op.axes:
                bound = self.bind(source, ordinal, at, frozenset(axes))
                axes.append(bound)
                inside.append(atomic(bound) - bound.begin)
            else:
                inside.append(next(kept))
        with self.bind_axes(axes):
            bodies = tuple(self.pull(argument, tuple(inside)) for argument in op.arguments)
        combine = self._combine(op, at) if op.kind == "generic" else None
        if combine is not None:
            bodies += combine.captures
        reduction = Reduction(op.kind, tuple(axes), value.position, combine, ordered=op.ordered)
        return self.indexed(self._flattened(value.dtype, bodies, reduction))

    def _flattened(self, dtype: DType, bodies: tuple[Expression, ...], reduction: Reduction) -> Expression:
        """Nested reductions of one kind are one reduction over more axes."""
        (body, *others) = bodies
        inner = body.attribute if body.operation == "reduce" else None
        if not others and isinstance(inner, Reduction) and _merge(inner, reduction):
            reduction = replace(reduction, axes=reduction.axes + inner.axes)
            bodies = body.arguments
        return self.arena.make("reduce", dtype, bodies, reduction)

    def _combine(self, op: lp.Reduce | lp.Scan, at: Coordinates) -> Combine:
        """The author's combine over `argument` nodes.

        A device function has no captures: a runtime operand of the combine is carried along as one more component, the
        same
        in every accumulator and element.
        """
        if op.combine is None:
            raise AssertionError("a generic reduction has a combine")
        arity = len(op.arguments)
        given = [self.pull(capture, ()) for capture in op.captures]
        carried = tuple(dict.fromkeys(capture for capture in given if capture.operation != "constant"))
        width = arity + len(carried)
        for ordinal, parameter in enumerate(op.combine.parameters):
            if ordinal < 2 * arity:
                place = ordinal if ordinal < arity else width + ordinal - arity
                made = self.arena.make("argument", parameter.dtype, (), place)
            else:
                made = given[ordinal - 2 * arity]
                if made in carried:
                    made = self.arena.make("argument", made.dtype, (), arity + carried.index(made))
            self.parameters[parameter] = constantly(self.indexed(made))
        results = [self.pull(result, at[len(at) - len(result.shape) :]) for result in op.combine.results]
        results += [self.arena.make("argument", capture.dtype, (), arity + n) for n, capture in enumerate(carried)]
        identities = [self.pull(value, at[: len(value.shape)] if value.shape else ()) for value in op.identities]
        inside = walk(*results)
        if any(node.axes or node.loops or isinstance(node.attribute, Reduction) for node in inside):
            raise unsupported("a combine that is not elementwise is not lowered yet", op.combine.results[0].span)
        return Combine("combine", width, tuple(results), (*identities, *carried), carried)

    def _scan(self, op: lp.Scan, value: Value, at: Coordinates) -> Expression:
        source = op.arguments[0]
        others = at[: op.axis] + at[op.axis + 1 :]
        wanted = self.range_of(source, op.axis)
        along = position_axis(at[op.axis])
        if along is not None and not same_run(along, wanted.end - wanted.begin, wanted.slices):
            along = None
        axis = along or self.bound(wanted, axes_of(others) | axes_of((at[op.axis],)))
        made = self._prefix(op, value, others, axis)
        if along is None:  # one element of the prefix: select it out of the whole
            made = self.chosen(made, axis, at[op.axis] + axis.begin)
        return self.indexed(made)

    def _prefix(self, op: lp.Scan, value: Value, others: Coordinates, axis: Axis) -> Expression:
        """An exclusive scan is the inclusive scan of its argument shifted by one, the identity standing at the open
        end.
        """
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
        bodies += combine.captures if combine is not None else ()
        reduction = Reduction(op.kind, (axis,), value.position, combine, op.reverse)
        made = self.arena.make("scan", value.dtype, tuple(bodies), reduction)
        served = self.results.setdefault(made, [])
        served.extend([value] if value not in served else [])
        return made

    def _inside(self, axis: Axis, shift: int) -> Expression:
        """True where the shifted coordinate is still in the axis."""
        here = self.index_value(atomic(axis))
        if shift < 0:
            return self.arena.make(
                "pointwise", boolean, (here, self.index_value(axis.begin)), ("greater", False, False)
            )
        return self.arena.make("pointwise", boolean, (here, self.index_value(axis.end - 1)), ("less", False, False))

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
        return self.arena.make("contract", op.accumulator, (lhs, rhs), Reduction("sum", tuple(axes)))

    def _label_extents(self, op: lp.Contract) -> dict[int, Polynomial]:
        extents: dict[int, Polynomial] = {}
        for operand, labels in ((op.lhs, op.lhs_labels), (op.rhs, op.rhs_labels)):
            for label, extent in zip(labels, operand.shape, strict=True):
                if label not in extents or extents[label].constant == 1:
                    extents[label] = extent
        return extents


def constantly(made: Expression) -> Callable[[Coordinates], Expression]:
    """A helper's parameter that is the same element wherever it is asked for."""
    return lambda _: made


def _merge(inner: Reduction, outer: Reduction) -> bool:
    """Two nested reductions over different axes that are one over both."""
    same = inner.kind == outer.kind and outer.kind in ("sum", "max", "any", "all") and not inner.ordered | outer.ordered
    return same and not set(inner.axes) & set(outer.axes)

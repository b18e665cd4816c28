"""`pull(value, coordinates)`: one element of a value as an expression over the axes of its coordinates.

Index expressions are substituted through the producers: reshape, transpose, broadcast, slice, shifted index, gather
and helper
calls disappear into coordinates.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from intent.dtypes import DType, boolean, index
from intent.records import dataclass, field
from translators.algebra.polynomial import (
    Polynomial,
    atomic,
    floor_divide,
    maximum,
    minimum,
    number,
    product,
    recombined,
    remainder,
)
from translators.diagnostics import Span
from translators.logical import program as lp
from translators.logical.program import Value
from translators.logical.types import Memory
from translators.planning.hazards import OPPOSITE
from translators.planning.known_values import lowest
from translators.planning.memory import forward
from translators.planning.ranges import Range, Ranges, axes_of, known_at_launch, position_axis, same_run
from translators.planning.sinks import Context, Coordinates, Loop, MustPin, ReadPoint, unsupported
from translators.tile.expression import Axis, Expression, LoopToken, Place, Reduction


@dataclass(slots=True)
class Pull(Ranges):
    """Values to expressions. Raises MustPin for a memory that is not `pinned` and should be."""

    loops: dict[lp.LoopKey, Loop] = field(default_factory=dict)
    names: dict[Expression, str] = field(default_factory=dict)
    spans: dict[Expression, Span] = field(default_factory=dict)
    steps: dict[Axis, int] = field(default_factory=dict)  # of axes that run through steps of ordered loops: their depth
    depths: dict[tuple[Axis, Axis], dict[Polynomial, Axis]] = field(default_factory=dict)  # what two axes are merged to
    issued: dict[Expression, int] = field(default_factory=dict)  # order of the first read statement a load serves
    requirements: list[tuple[Polynomial, Polynomial]] = field(default_factory=list)  # equal, or the program is illegal
    instances: dict[Memory, tuple[Axis, ...]] = field(default_factory=dict)  # of a buffer: one per point of these axes
    rounded: bool = False  # some product must be rounded before it is added
    rooms: dict[Polynomial, Polynomial] = field(default_factory=dict)  # extents that data decide -> at most
    reads: dict[Value, ReadPoint] = field(default_factory=dict)
    unguarded: set[Place] = field(default_factory=set)  # what is read whatever happens
    readers: dict[Expression, list[Value]] = field(default_factory=dict)  # the reads that a load serves
    results: dict[Expression, list[Value]] = field(
        default_factory=dict
    )  # reductions and scans that a node is the result of
    kept: dict[Value, Callable[[Coordinates], Expression]] = field(default_factory=dict)  # elements of held reads
    assumed: dict[tuple[Memory, int, Value | Polynomial], list[Context]] = field(
        default_factory=dict
    )  # indices promised to be in bounds, and where
    parameters: dict[Value, Callable[[Coordinates], Expression]] = field(
        default_factory=dict
    )  # of helpers being applied
    given: dict[Value, Value] = field(default_factory=dict)  # parameters of region helpers -> the author's values
    _memo: dict[tuple[Value, Coordinates], Expression] = field(default_factory=dict)

    @abstractmethod
    def structured(self, value: Value, at: Coordinates) -> Expression:
        """An element of a structured operation's result."""

    def integer(self, value: Value) -> Polynomial:
        return self.as_integer(self.pull(value, ()))

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
            if isinstance(value.origin, lp.Reduce | lp.Contract) and found.operation in ("reduce", "contract"):
                self.results.setdefault(found, []).append(value)
            self.spans.setdefault(found, value.span)
        return found

    def stand_for(self, made: Expression, original: Expression) -> None:
        """A node that a rewrite made has the name and the place of what it replaces, and serves the same reads."""
        if made is original:
            return
        if original in self.names:
            self.names.setdefault(made, self.names[original])
        if original in self.spans:
            self.spans.setdefault(made, self.spans[original])
        if original in self.issued:
            self.issued.setdefault(made, self.issued[original])
        for served in (self.readers, self.results):
            if original in served:
                served.setdefault(made, list(served[original]))

    @contextmanager
    def anew(self) -> Iterator[None]:
        """What is pulled meanwhile is neither remembered nor taken from what has been."""
        memo, self._memo = self._memo, {}
        try:
            yield
        finally:
            self._memo = memo

    def _pull(self, value: Value, at: Coordinates) -> Expression:
        """Values whose elements are computed from elements of other values; sources are left to `_source`."""
        if value in self.kept:
            return self.kept[value](at)
        match value.origin:
            case lp.Pointwise() as op:
                return self._pointwise(op, value, at)
            case (
                lp.Select(condition=condition, true=true, false=false)
                | lp.Merge(condition=condition, true=true, false=false)
            ):
                return self._select(value, at, (condition, true, false))
            case lp.Cast(argument=argument):
                return self.cast(self.operand(argument, at, value.shape), value.dtype)
            case lp.Bitcast(argument=argument):
                return self.arena.make("bitcast", value.dtype, (self.operand(argument, at, value.shape),))
            case lp.Full(fill=fill):
                return self.pull(fill, ())
            case lp.Broadcast(argument=argument):
                return self.operand(argument, at, value.shape)
            case lp.Reshape(argument=argument):
                return self.pull(argument, self._unflatten(at, value.shape, argument.shape))
            case lp.Transpose(argument=argument, permutation=permutation):
                source = dict(zip(permutation, at, strict=True))
                return self.pull(argument, tuple(source[ordinal] for ordinal in range(len(at))))
            case lp.Join(lhs=lhs, rhs=rhs):
                return self._join(lhs, rhs, at)
            case lp.Pick() as op:
                return self._pick(op, value, at)
            case lp.RandomBits(seed=seed, counter=counter):
                parts = (self.pull(seed, ()), self.operand(counter, at, value.shape))
                return self.arena.make("random_bits", value.dtype, parts)
            case _:
                return self._source(value, at)

    def _source(self, value: Value, at: Coordinates) -> Expression:
        make = self.arena.make
        match value.origin:
            case lp.Constant(value=literal) if value.dtype == index:
                return self.index_value(number(int(literal)))
            case lp.Constant(value=literal):
                return make("constant", value.dtype, (), literal)
            case lp.Size(extent=extent):
                return self.index_value(self.extent(extent))
            case lp.Parameter(name=name):
                return self.indexed(make("parameter", value.dtype, (), name))
            case lp.Indices(domain=domain):
                return self.index_value(self.bounds(domain)[0] + at[0] * domain.step)
            case lp.Read() as op:
                return self._read(op, value, at)
            case lp.LoopVariable():
                return self.index_value(self.variables[value])
            case lp.CarryIn(loop=key):
                return self.carried("carry", self.loops[key], value.position, at)
            case lp.CarryOut(loop=key):
                return self.carried("carried", self.loops[key], value.position, at)
            case lp.BlockParameter() | lp.AtomicResult() if value in self.parameters:
                return self.parameters[value](at)
            case lp.Intrinsic(result=result, rounded=rounded):
                self.rounded |= rounded
                return self.pull(result, at)
            case lp.AtomicResult() | lp.BlockParameter():
                raise unsupported(f"{type(value.origin).__name__} is not lowered yet", value.span)
            case _:
                return self.structured(value, at)

    def operand(self, value: Value, at: Coordinates, shape: Sequence[Polynomial]) -> Expression:
        return self.pull(value, self.aligned(value, at, shape))

    def aligned(self, value: Value, at: Coordinates, shape: Sequence[Polynomial]) -> Coordinates:
        """Coordinates of an operand that broadcasts from the right to `shape`."""
        own = value.shape
        tail = at[len(at) - len(own) :]
        wide = shape[len(shape) - len(own) :]
        return tuple(
            number(0) if extent.constant == 1 and full.constant != 1 else coordinate
            for coordinate, extent, full in zip(tail, own, wide, strict=True)
        )

    def _pointwise(self, op: lp.Pointwise, value: Value, at: Coordinates) -> Expression:
        parts = tuple(self.operand(argument, at, value.shape) for argument in op.arguments)
        if value.dtype == index:
            polynomials = [part.polynomial for part in parts]
            arithmetic = _INDEX_ARITHMETIC.get((op.function, len(parts)))
            if arithmetic is not None:
                return self.index_value(arithmetic(*polynomials))
        return self.arena.make("pointwise", value.dtype, parts, (op.function, op.approximate, op.flush_to_zero))

    def _select(self, value: Value, at: Coordinates, operands: tuple[Value, Value, Value]) -> Expression:
        condition, true, false = (self.operand(operand, at, value.shape) for operand in operands)
        if condition.operation == "constant":
            return true if condition.attribute else false
        if true is false:
            return true
        return self.indexed(self.arena.make("select", value.dtype, (condition, true, false)))

    def indexed(self, made: Expression) -> Expression:
        """An opaque index value takes part in index arithmetic as an atom."""
        return self.index_value(atomic(made)) if made.dtype == index else made

    def index_value(self, value: Polynomial) -> Expression:
        return self.arena.make("index", index, (), value)

    def cast(self, argument: Expression, target: DType) -> Expression:
        if argument.dtype == target:
            return argument
        return self.indexed(self.arena.make("cast", target, (argument,)))

    def _join(self, lhs: Value, rhs: Value, at: Coordinates) -> Expression:
        side = at[-1].constant
        if side is not None:
            return self.pull(rhs if side else lhs, at[:-1])
        zero = self.index_value(number(0))
        first = self.arena.make("pointwise", boolean, (self.index_value(at[-1]), zero), ("equal", False, False))
        parts = (first, self.pull(lhs, at[:-1]), self.pull(rhs, at[:-1]))
        return self.indexed(self.arena.make("select", lhs.dtype, parts))

    def _unflatten(self, at: Coordinates, shape: Sequence[Polynomial], target: Sequence[Polynomial]) -> Coordinates:
        """Row-major position `at` of `shape` as coordinates of `target`; groups of axes with equal counts map apart.

        Where no more groups match, from either end, the host checks that the counts agree.
        """
        own, other = [self.extent(e) for e in shape], [self.extent(e) for e in target]
        result: list[Polynomial] = []
        for mine, theirs, matched in _groups(own, other):
            if not matched:
                self.requirements.append((product(own), product(other)))
            result.extend(_row_major(at[mine], own[mine], other[theirs]))
        return tuple(result)

    def _read(self, op: lp.Read, value: Value, at: Coordinates) -> Expression:
        point = self.reads[value]
        coordinates, promised = self.locate(op.relation, at, op.memory, point.context)
        assumed, occupied, inside = frozenset(promised), _occupied(promised.values()), _inside(promised.values())
        valid = self.operand(op.valid, at, op.relation.shape) if op.valid is not None else None
        guard = self.conjoin(point.context.predicate, valid)
        if guard is not None and guard.operation == "constant" and guard.attribute:
            guard = None
        place = Place(op.memory, coordinates, within=inside, assumed=assumed, occupied=occupied)
        if op.memory in self.pinned:
            within = tuple(loop.token for loop in point.context.loops)
            place = Place(op.memory, self.instance(op.memory) + coordinates, point.state, within, assumed, occupied)
        elif point.earlier or point.rewritten:
            known = None if point.rewritten else forward(self, op.memory, coordinates, point.earlier)
            if known is None or op.valid is not None:
                raise MustPin(op.memory)
            return known
        parts: tuple[Expression, ...] = ()
        if valid is None and place in self.unguarded:  # where the statement is not reached, any value will do
            guard = None
        if guard is not None:
            fill = self.operand(op.fill, at, op.relation.shape) if op.fill is not None else self.zero(value.dtype)
            parts = (guard, fill)
        else:
            self.unguarded.add(place)
        made = self.arena.make("load", value.dtype, parts, place)
        self.issued[made] = min(point.order, self.issued.get(made, point.order))
        self.readers.setdefault(made, []).append(value)
        return self.indexed(made)

    def zero(self, dtype: DType) -> Expression:
        if dtype == index:
            return self.index_value(number(0))
        return self.arena.make("constant", dtype, (), False if dtype == boolean else 0.0 if dtype.is_float else 0)

    def _pick(self, op: lp.Pick, value: Value, at: Coordinates) -> Expression:
        coordinates, _ = self.locate(op.relation, at)
        picked = self.pull(op.argument, coordinates)
        if op.valid is None:
            return picked
        condition = self.operand(op.valid, at, op.relation.shape)
        fill = self.operand(op.fill, at, op.relation.shape) if op.fill is not None else self.zero(value.dtype)
        return self.indexed(self.arena.make("select", value.dtype, (condition, picked, fill)))

    def locate(
        self, relation: lp.Relation, at: Coordinates, memory: Memory | None = None, context: Context | None = None
    ) -> tuple[Coordinates, dict[int, Context]]:
        """Coordinates of the touched element at result position `at`; which coordinates of an access, after those of an
        instance, the author promised to be in bounds, and where that holds.
        """
        found: list[Polynomial] = []
        assumed: dict[int, Context] = {}
        instance = 0 if memory is None else len(self.instance(memory))
        position, joint = 0, None
        for item in relation.items:
            match item:
                case lp.NewAxis():
                    position += 1
                    continue
                case lp.At(index=scalar):
                    found.append(self.as_integer(self.pull(scalar, ())))
                case lp.Along(domain=domain):
                    begin, _ = self.bounds(domain)
                    found.append(begin + at[position] * domain.step)
                    position += 1
                case lp.Gathered(index=tensor):
                    if joint is None:
                        joint = at[position : position + len(relation.joint_shape)]
                        position += len(relation.joint_shape)
                    found.append(self.as_integer(self.operand(tensor, joint, relation.joint_shape)))
            if memory is None or context is None or not isinstance(item, lp.At | lp.Gathered):
                continue
            promised = self._promised((item.index, found[-1]), memory, len(found) - 1, context)
            if promised is not None:
                assumed[instance + len(found) - 1] = promised
        return tuple(found), assumed

    def promise(self, index_value: Value, memory: Memory, axis: int, context: Context) -> None:
        """Wherever the context is reached the index is in bounds; a scalar is known by what it is made of, too."""
        known: list[Value | Polynomial] = (
            [index_value] if index_value.shape else [index_value, self.integer(index_value)]
        )
        for each in known:
            self.assumed.setdefault((memory, axis, each), []).append(context)

    def _promised(self, index: tuple[Value, Polynomial], memory: Memory, axis: int, context: Context) -> Context | None:
        """Where the promise has been made, or will be, whenever the access happens: of several places the outermost."""
        value, coordinate = index
        while value in self.given and (memory, axis, value) not in self.assumed:
            value = self.given[value]
        promised = [where for each in (value, coordinate) for where in self.assumed.get((memory, axis, each), ())]
        places = [where for where in promised if where.around(context) and _tells_where(where)]
        return min(places, key=lambda where: len(where.parallel) + len(where.loops), default=None)

    def as_integer(self, coordinate: Expression) -> Polynomial:
        return self.cast(coordinate, index).polynomial

    def instance(self, memory: Memory) -> Coordinates:
        """Leading coordinates of a buffer's address: which parallel point's instance."""
        return tuple(atomic(axis) - axis.begin for axis in self.instances.get(memory, ()))

    def shape(self, memory: Memory) -> Coordinates:
        """Extents that the coordinates of an access range over."""
        extents = tuple(self.rooms.get(axis.extent, axis.extent) for axis in self.instances.get(memory, ()))
        return extents + tuple(self.extent(extent) for extent in memory.shape)

    def negated(self, condition: Expression) -> Expression:
        if condition.operation == "pointwise":
            function, *permissions = condition.attribute
            ordered = function not in ("equal", "not_equal") and condition.arguments[0].dtype.is_float
            if function in OPPOSITE and not ordered:  # a NaN is neither less nor not less
                return self.arena.make("pointwise", boolean, condition.arguments, (OPPOSITE[function], *permissions))
        return self.arena.make("pointwise", boolean, (condition,), ("not", False, False))

    def conjoin(self, first: Expression | None, second: Expression | None) -> Expression | None:
        if first is None or second is None:
            return first or second
        return self.arena.make("pointwise", boolean, (first, second), ("and", False, False))

    def carried(self, operation: str, loop: Loop, ordinal: int, at: Coordinates) -> Expression:
        """A loop carry inside its loop ("carry") or after it ("carried"), at local positions `at`.

        A position that is a coordinate of the carry's own range is a tile dimension; any other picks one element.
        """
        carry = loop.carries[ordinal]
        own: list[Axis] = []
        picked: list[tuple[Axis, Polynomial]] = []
        for coordinate, canonical in zip(at, carry.own, strict=True):
            axis = position_axis(coordinate)
            if axis is not None and same_run(axis, canonical.extent, canonical.slices) and axis not in own:
                own.append(axis)
                continue
            own.append(self.bound(range_like(canonical), axes_of(at) | frozenset(own)))
            picked.append((own[-1], coordinate + own[-1].begin))
        axes = (*own, *loop.parallel)
        attribute: tuple[object, ...] = (loop.token, ordinal, axes)
        attribute = attribute if operation == "carry" else (*attribute, loop.tokens)
        made = self.arena.make(operation, carry.dtype, (), attribute)
        for axis, coordinate in picked:
            made = self.chosen(made, axis, coordinate)
        return self.indexed(made)

    def chosen(self, tile: Expression, axis: Axis, coordinate: Polynomial) -> Expression:
        """One element of a tile along an axis: all others are cleared and the sum taken, or the maximum of floats, of
        which a sum with zeros is never -0.0.
        """
        parts = (self.index_value(atomic(axis)), self.index_value(coordinate))
        here = self.arena.make("pointwise", boolean, parts, ("equal", False, False))
        kind = "max" if tile.dtype.is_float else "any" if tile.dtype.kind == "bool" else "sum"
        other = self.zero(tile.dtype)
        if tile.dtype.is_float:
            other = self.arena.make("constant", tile.dtype, (), lowest(tile.dtype))
        cleared = self.arena.make("select", tile.dtype, (here, tile, other))
        return self.arena.make("reduce", tile.dtype, (cleared,), Reduction(kind, (axis,)))


def range_like(axis: Axis) -> Range:
    return Range(axis.begin, axis.end, axis.name, axis.slices)


_INDEX_ARITHMETIC: dict[tuple[str, int], Callable[..., Polynomial]] = {
    ("add", 2): lambda a, b: a + b,
    ("subtract", 2): lambda a, b: a - b,
    ("multiply", 2): lambda a, b: a * b,
    ("negative", 1): lambda a: -a,
    ("floor_divide", 2): floor_divide,
    ("remainder", 2): remainder,
    ("maximum", 2): maximum,
    ("minimum", 2): minimum,
}


def _groups(shape: Sequence[Polynomial], target: Sequence[Polynomial]) -> Iterator[tuple[slice, slice, bool]]:
    """Pairs of index ranges of the two shapes whose element counts are equal; at most one pair, in between, has counts
    that are not known to be.
    """
    end = (len(shape), len(target))
    front = [(0, 0), *_matches(shape, target)]
    left, right = front[-1]
    tail = _matches(shape[left:][::-1], target[right:][::-1])
    back = [*((end[0] - own, end[1] - other) for own, other in reversed(tail)), end]
    points = [*front, *back] if back[0] != end or front[-1] != end else front
    for before, after in pairwise(points):
        if before != after:
            matched = before != front[-1] or (len(tail) > 0 and before == back[0])
            yield slice(before[0], after[0]), slice(before[1], after[1]), matched


def _matches(shape: Sequence[Polynomial], target: Sequence[Polynomial]) -> list[tuple[int, int]]:
    """Ends of consecutive index ranges of both shapes with equal element counts, each as short as possible."""
    found: list[tuple[int, int]] = []
    i = j = 0
    while (i, j) != (len(shape), len(target)):
        ends = ((a, b) for a in range(i, len(shape) + 1) for b in range(j, len(target) + 1) if (a, b) != (i, j))
        match = next(((a, b) for a, b in ends if product(shape[i:a]) == product(target[j:b])), None)
        if match is None:
            break
        i, j = match
        found.append(match)
    return found


def _row_major(at: Sequence[Polynomial], shape: Sequence[Polynomial], target: Sequence[Polynomial]) -> Coordinates:
    """Linearise `at` over `shape`, then split by the suffix products of `target`."""
    if len(shape) == len(target) == 1:
        return tuple(at)
    linear = number(0)
    for coordinate, extent in zip(at, shape, strict=True):
        linear = linear * extent + (number(0) if extent.constant == 1 else coordinate)
    linear = recombined(linear)
    result: list[Polynomial] = []
    for ordinal, extent in enumerate(target):
        if extent.constant == 1:
            result.append(number(0))
            continue
        quotient = floor_divide(linear, product(target[ordinal + 1 :]))
        leading = all(other.constant == 1 for other in target[:ordinal])
        result.append(quotient if leading else remainder(quotient, extent))
    return tuple(result)


# A promise holds where its statement is reached. A load that needs none of the coordinates around may be issued before
# them, where a loop without an iteration has not shown yet that it is empty.
def _tells_where(promised: Context) -> bool:
    """Whether what is around the promise can be asked for, or waited for."""
    bounds = [bound for axis in promised.parallel for bound in (axis.begin, axis.end)]
    return all(map(known_at_launch, bounds)) and not any(loop.slices for loop in promised.loops)


def _occupied(promises: Iterable[Context]) -> frozenset[Axis]:
    """Parallel axes that have a coordinate wherever all promises hold."""
    return frozenset(axis for promised in promises for axis in promised.parallel)


def _inside(promises: Iterable[Context]) -> tuple[LoopToken, ...]:
    """Ordered loops that may have no iteration: what needs their promises stays within them."""
    return tuple(dict.fromkeys(loop.token for each in promises for loop in each.loops if not _repeats(loop)))


def _repeats(loop: Loop) -> bool:
    if loop.low is None or loop.high is None:
        return False
    length = (loop.high.polynomial - loop.low.polynomial).constant
    return length is not None and length > 0

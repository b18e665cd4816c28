"""What demand collects: effects with the expressions they store, and the ordered loops around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from intent.dtypes import DType
from intent.records import dataclass, field
from translators.algebra.polynomial import Atom, Polynomial, Symbol
from translators.diagnostics import Diagnostic, Rejected, Span
from translators.logical import program as lp
from translators.logical.program import Value
from translators.logical.types import Memory
from translators.planning.neutral import Limits
from translators.tile.expression import Axis, Expression, LoopToken

OUT_OF_ORDER = "the order in which memory is read and written here is not lowered yet"
Coordinates = tuple[Polynomial, ...]
ExtentKey = tuple[tuple[tuple[str, ...], int], ...]


def unsupported(message: str, span: Span, help: str | None = None) -> Rejected:
    """The program is legal; the planner cannot lower it yet."""
    return Rejected(Diagnostic("INT900", "unsupported", message, span, help))


def extent_key(extent: Polynomial) -> ExtentKey:
    """Equal for an extent in all plans of a kernel, each of which makes its own loops, axes and expressions.

    Two extents may have the same key: what is done for the one is then done for the other, too.
    """
    return tuple(sorted((tuple(sorted(map(_atom_name, factors))), factor) for factors, factor in extent.terms))


def _atom_name(atom: Atom) -> str:
    match atom:
        case Expression():
            return f"{atom.operation} of {atom.dtype.name}"
        case Axis() | LoopToken():
            return atom.name
        case _:
            return f"{type(atom).__name__} {atom if isinstance(atom, Symbol) else ''}"


class MustPin(Exception):
    """A read of this memory can only be served from memory, in statement order: plan again with it pinned."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory.name)
        self.memory = memory


class MustHold(Exception):
    """Values that are read from a memory have to be kept elsewhere before it is written: plan again with them held."""

    def __init__(self, values: Iterable[Value], span: Span) -> None:
        super().__init__(span)
        self.values, self.span = frozenset(values), span


class MustTakeInTurn(Exception):
    """The points of parallel loops, given by their variables, have to be taken one after another: plan again so."""

    def __init__(self, points: Iterable[Value], span: Span) -> None:
        super().__init__(span)
        self.points, self.span = frozenset(points), span


class MustStore(Exception):
    """Carries of loops, given by their results, cannot be on chip: plan again with them in memory."""

    def __init__(self, carries: Iterable[Value], span: Span) -> None:
        super().__init__(span)
        self.carries, self.span = frozenset(carries), span


class OutOfOrder(Exception):
    """Nothing that is left can be issued next without breaking the order of statements."""

    def __init__(self, span: Span, message: str = OUT_OF_ORDER) -> None:
        super().__init__(span)
        self.span, self.message = span, message


class AxisConflict(Exception):
    """A reduction runs along an axis whose loop is open already, or an update along one that stays on chip: plan again
    with axes of this extent not shared, or if they are not, with the reduction's `values` held.
    """

    def __init__(self, extent: Polynomial, values: Iterable[Value] = ()) -> None:
        super().__init__(repr(extent))
        self.extent, self.values = extent, frozenset(values)


@dataclass(slots=True, eq=False)
class LoopCarry:
    """One carry: a tile over `axes` (own axes, then the enclosing parallel axes). `position(i) = axes[i] - begin`."""

    name: str
    dtype: DType
    own: tuple[Axis, ...]
    axes: tuple[Axis, ...]
    initial: Expression
    result: Value | None = None  # after the author's loop
    update: Expression | None = None
    whole_update: Expression | None = None  # in slices that lie wholly within the source and the loop's limits

    def updated(self, whole: bool) -> Expression | None:
        return self.whole_update if whole else self.update


@dataclass(slots=True, eq=False)
class Loop:
    """An author's ordered loop, with what its iterations carry. A `while` has a condition and no bounds; a region
    operation has neither: it goes over the slices of an axis."""

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
    tested: int = 0  # order of the last statement of a while's test
    exit: int | None = None
    predicate: Expression | None = None
    order: int = 0
    slices: list[Axis] = field(default_factory=list)  # of a region operation: the axes that its iterations cut
    limits: Limits = field(default_factory=Limits)  # of a region fold: which slices matter
    single: bool = False  # its slices are single elements
    whole_slices: list[Axis] = field(default_factory=list)  # stand for `slices` in the carries' whole updates

    @property
    def tokens(self) -> frozenset[LoopToken]:
        """The loops whose iterations this loop runs in."""
        return frozenset(loop.token for loop in self.enclosing)


@dataclass(frozen=True, slots=True, eq=False)
class Sink:
    """One effect: memory[coordinates] = value for every point of the free axes where the predicate holds.

    `free` are the axes of the written relation, `parallel` those of the enclosing I.parallel; `loops` the ordered
    loops around
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
    action: str = "store"  # or the atomic update that combines the value with the element, or "issued": see `atomics`
    semantics: str = "relaxed"
    assumed: frozenset[int] = frozenset()  # axes of the memory whose coordinate the author promises to be in bounds

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.parallel + self.free


@dataclass(frozen=True, slots=True)
class Context:
    """Where a statement stands."""

    parallel: tuple[Axis, ...] = ()
    loops: tuple[Loop, ...] = ()
    predicate: Expression | None = None

    def around(self, inner: Context) -> bool:
        """Whoever reaches the inner place has been, or will be, at this one."""
        return (
            self.parallel == inner.parallel[: len(self.parallel)]
            and self.loops == inner.loops[: len(self.loops)]
            and set(conjuncts(self.predicate)) <= set(conjuncts(inner.predicate))
        )


@dataclass(frozen=True, slots=True)
class Written:
    """A write that precedes the current point: its sink, and the value it stored."""

    sink: Sink
    relation: lp.Relation
    value: Value
    exclusive: bool


@dataclass(frozen=True, slots=True)
class ReadPoint:
    """Where a read statement stands, the writes before it, and whether a loop around it writes its memory."""

    context: Context
    earlier: tuple[Written, ...]
    rewritten: bool
    order: int
    state: int  # equal for reads with no write to the memory between them


def conjuncts(condition: Expression | None) -> Iterator[Expression]:
    """The conditions that all have to hold."""
    if condition is None:
        return
    if condition.operation == "pointwise" and condition.attribute[0] == "and":
        for part in condition.arguments:
            yield from conjuncts(part)
    else:
        yield condition


def roots(sink: Sink) -> Iterator[Expression]:
    yield sink.value
    if sink.predicate is not None:
        yield sink.predicate
    yield from coordinate_expressions(sink.coordinates)
    for axis in sink.axes:
        yield from coordinate_expressions((axis.begin, axis.end))


def coordinate_expressions(coordinates: Iterable[Polynomial]) -> Iterator[Expression]:
    for coordinate in coordinates:
        yield from (atom for atom in coordinate.atoms() if isinstance(atom, Expression))


def loop_roots(loop: Loop, whole: bool = True) -> Iterator[Expression]:
    """What a loop's bounds, condition and carries evaluate; `whole`: also in slices without guards."""
    yield from (bound for bound in (loop.low, loop.high, loop.live) if bound is not None)
    for carry in loop.carries:
        yield carry.initial
        if carry.update is not None:
            yield carry.update
        if whole and carry.whole_update is not None:
            yield carry.whole_update
    for axis in loop.slices:
        yield from coordinate_expressions((axis.begin, axis.end))

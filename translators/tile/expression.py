"""The demand DAG: what one element of an effect needs, as a scalar expression over axes.

An `Expression` has no shape. Its free *axes* are its tile: `exp(x[row, column] - m[row])` has the axes row and
column. Reshape, transpose, broadcast, slicing, shifts and helper calls have disappeared into coordinates. Nodes are
hash-consed by an `Arena`, so equal expressions are one object and common subexpressions need no analysis.

    constant(value) | parameter(name) | index(polynomial) | load(memory, coordinates; valid, fill)
    pointwise | select | cast | bitcast | random_bits
    reduce(kind, axes; bodies) | contract(axes; lhs, rhs) | scan(kind, axis; bodies)
    carry(loop, ordinal, axes)                value of a loop carry inside its loop
    carried(loop, ordinal, axes, enclosing)   value after the loop; varies with the enclosing loops
    atomic(place, action; operands, guard)    the old value of an element that is updated at this point
    argument(ordinal)            a parameter of a combine function
    previous(maximum)            inside a loop that a running maximum is kept in: its value before the current tile
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from intent.dtypes import DType
from intent.records import dataclass, field
from translators.algebra.effort import OF_AN_EXPRESSION, Effort
from translators.algebra.polynomial import Atom, Polynomial, atomic
from translators.logical.types import Memory

Attribute: TypeAlias = Any  # each operation has its own: see the module's docstring


EXACT_PRODUCTS = frozenset(
    {
        ("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64"), ("f8e4m3fn", "f32"), ("f8e5m2", "f32"),
        ("i8", "i32"),
    }
)  # fmt: skip
"""Dtypes of factors and of their sum that matrix units multiply as the language says."""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """A coordinate that ranges over [begin, end) with step 1. An identity: two axes of equal range are still two."""

    name: str
    begin: Polynomial
    end: Polynomial
    serial: int
    parallel: bool = False  # a variable of the author's I.parallel
    slices: LoopToken | None = None  # its tiles are the slices of a region operation's loop
    whole: bool = False  # every lane of every tile that is visited is a coordinate

    @property
    def sort_key(self) -> tuple[object, ...]:
        return ("axis", self.serial)

    @property
    def extent(self) -> Polynomial:
        return self.end - self.begin

    def __repr__(self) -> str:
        return f"{self.name}#{self.serial}"


@dataclass(frozen=True, slots=True, eq=False)
class LoopToken:
    """An author's ordered loop; as an atom it is the loop's coordinate."""

    name: str
    serial: int

    @property
    def sort_key(self) -> tuple[object, ...]:
        return ("loop", self.serial)

    def __repr__(self) -> str:
        return f"{self.name}@{self.serial}"


@dataclass(frozen=True, slots=True)
class Place:
    """Attribute of a load: which element of which memory, and which state of it.

    A `pinned` load is issued at its own point of the program, in statement order with the writes to its memory, and
    once per
    iteration of the loops it stands `within`. For a buffer, the coordinates begin with those of the parallel points
    that have
    an instance each.
    """

    memory: Memory
    coordinates: tuple[Polynomial, ...]
    pinned: int = 0
    within: tuple[LoopToken, ...] = ()
    assumed: frozenset[int] = frozenset()  # axes whose coordinate the author promises to be in bounds
    occupied: frozenset[Axis] = frozenset()  # the promise holds if there is a coordinate of each


@dataclass(frozen=True, slots=True)
class Atomic:
    """Attribute of an atomic: an update of the element at `place` for every point of `lanes`, giving the old value.

    `action` is load, store, exchange, add, max, min, and, or, xor or compare_exchange; `order` its memory order. If it
    is `guarded`, its last argument says where it happens.
    """

    place: Place
    action: str
    order: str
    lanes: tuple[Axis, ...]
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class Reduction:
    """Attribute of a reduce, contract or scan. `result` selects one of several results; an `ordered` sum takes one
    element after the other.

    A reduce of kind "count" counts the points of `axes` whose value (the first argument) is the position along `bins`,
    a free axis, and whose condition (the second argument, if there is one) holds.
    """

    kind: str
    axes: tuple[Axis, ...]
    result: int = 0
    combine: Combine | None = None
    reverse: bool = False
    bins: Axis | None = None
    ordered: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Combine:
    """A scalar function of `arity` accumulators and `arity` elements, as expressions over `argument` nodes.

    `parameters` are the author's names of the arguments, where there are any; `identities` may still be unknown where
    the function was read from a Triton kernel.
    """

    name: str
    arity: int
    results: tuple[Expression, ...]
    identities: tuple[Expression, ...]
    captures: tuple[Expression, ...] = ()  # the last components: runtime operands of the combine, the same everywhere
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """One node. `axes` are its free axes, `loops` the author's loops it varies with. An integer node is an atom.

    `operands` are all that it evaluates: its arguments, and the expressions in its coordinates and its axes' bounds;
    `operations` are its own and those of every node below.
    """

    operation: str
    arguments: tuple[Expression, ...]
    attribute: Attribute
    dtype: DType
    axes: frozenset[Axis]
    loops: frozenset[LoopToken]
    serial: int
    operands: tuple[Expression, ...]
    operations: frozenset[str]
    _mentioned: frozenset[Atom] | None = field(default=None, init=False, repr=False)

    @property
    def sort_key(self) -> tuple[object, ...]:
        return ("expression", self.serial)

    @property
    def mentioned(self) -> frozenset[Atom]:
        """Every atom of coordinates and ranges here and below, and every axis that something below binds."""
        if self._mentioned is None:
            for node in walk(self, stop=lambda node: node._mentioned is not None):
                if node._mentioned is None:
                    below = (each._mentioned or frozenset() for each in node.operands)
                    object.__setattr__(node, "_mentioned", frozenset(_own_atoms(node)).union(*below))
        return self._mentioned or frozenset()

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.arguments))
        return (
            f"{self.operation}[{self.attribute}]({inside})"
            if self.attribute is not None
            else f"{self.operation}({inside})"
        )

    @property
    def polynomial(self) -> Polynomial:
        """This integer as a polynomial: its own if it is an index, else itself as an atom."""
        return self.attribute if self.operation == "index" else atomic(self)


POINTWISE = frozenset({"pointwise"})
LOADS = frozenset({"load"})
REDUCTIONS = frozenset({"reduce", "contract"})
CARRIES = frozenset({"carry", "carried"})


@dataclass(slots=True)
class Arena:
    """Makes expressions, each once. What is asked for is counted; it raises Exhausted if that is too much."""

    effort: Effort = field(default_factory=Effort)
    _nodes: dict[tuple[object, ...], Expression] = field(default_factory=dict)
    _serial: int = 0

    @property
    def size(self) -> int:
        """How many nodes and axes it has made."""
        return self._serial

    def serial(self) -> int:
        self._serial += 1
        return self._serial

    def has_constant(self, dtype: DType, value: int) -> bool:
        """Whether a constant of this type was made."""
        return ("constant", dtype, (), value, int) in self._nodes

    def axis(
        self, name: str, begin: Polynomial, end: Polynomial, parallel: bool = False, slices: LoopToken | None = None
    ) -> Axis:
        return Axis(name, begin, end, self.serial(), parallel, slices)

    def make(
        self, operation: str, dtype: DType, arguments: tuple[Expression, ...] = (), attribute: Attribute = None
    ) -> Expression:
        kind = type(attribute)
        exactly = repr(attribute) if kind is float else attribute  # 0.0 is not -0.0
        self.effort.spend(OF_AN_EXPRESSION)
        key = (operation, dtype, tuple(map(id, arguments)), exactly, kind)
        found = self._nodes.get(key)
        if found is None:
            axes, loops = _free(operation, arguments, attribute)
            below = (*arguments, *_in_attribute(operation, attribute))
            operations = frozenset((operation,)).union(*(each.operations for each in below))
            found = Expression(operation, arguments, attribute, dtype, axes, loops, self.serial(), below, operations)
            self._nodes[key] = found
        return found


def _free(
    operation: str, arguments: tuple[Expression, ...], attribute: Attribute
) -> tuple[frozenset[Axis], frozenset[LoopToken]]:
    axes: set[Axis] = set()
    loops: set[LoopToken] = set()
    for argument in arguments:
        axes |= argument.axes
        loops |= argument.loops
    polynomials: tuple[Polynomial, ...] = ()
    match operation, attribute:
        case "index", Polynomial():
            polynomials = (attribute,)
        case "load", Place(coordinates=coordinates, within=within):
            polynomials = coordinates
            loops.update(within)
        case "atomic", Atomic(place=place, lanes=lanes):
            polynomials = place.coordinates
            axes.update(lanes)
            loops.update(place.within)
        case "reduce" | "contract" | "scan", Reduction(axes=bound, bins=bins):
            loops.update(axis.slices for axis in bound if axis.slices is not None)
            axes = axes | set(bound) if operation == "scan" else axes - set(bound)  # prefixes of equal elements differ
            more_axes, more_loops = _of_bounds(bound)
            axes |= more_axes - set(bound)
            loops |= more_loops
            axes |= {bins} if bins is not None else set()
        case "carry", (LoopToken() as token, _, tuple() as own):
            axes |= set(own)
            loops.add(token)
        case "carried", (_, _, tuple() as own, frozenset() as enclosing):
            axes |= set(own)
            loops |= enclosing
        case _:
            pass
    for polynomial in polynomials:
        for atom in polynomial.atoms():
            more_axes, more_loops = dependences(atom)
            axes |= more_axes
            loops |= more_loops
    loops.update(axis.slices for axis in axes if axis.slices is not None)
    return frozenset(axes), frozenset(loops)


def _of_bounds(axes: Iterable[Axis]) -> tuple[frozenset[Axis], frozenset[LoopToken]]:
    """The axes and loops that say where these begin and end."""
    atoms = [atom for axis in axes for bound in (axis.begin, axis.end) for atom in bound.atoms()]
    varying = [dependences(atom) for atom in atoms]
    return frozenset().union(*(own for own, _ in varying)), frozenset().union(*(own for _, own in varying))


def dependences(atom: Atom) -> tuple[frozenset[Axis], frozenset[LoopToken]]:
    """The axes and loops one atom varies with."""
    match atom:
        case Axis():
            return frozenset((atom,)), frozenset()
        case LoopToken():
            return frozenset(), frozenset((atom,))
        case Expression():
            return atom.axes, atom.loops
        case _:
            return frozenset(), frozenset()


def _in_attribute(operation: str, attribute: Attribute) -> Iterator[Expression]:
    """The expressions in a node's coordinates and its axes' bounds."""
    polynomials: Iterable[Polynomial] = ()
    match operation, attribute:
        case "index", Polynomial() as polynomial:
            polynomials = (polynomial,)
        case ("load", Place(coordinates=coordinates)) | ("atomic", Atomic(place=Place(coordinates=coordinates))):
            polynomials = coordinates
        case _, Reduction(axes=axes):
            polynomials = [bound for axis in axes for bound in (axis.begin, axis.end)]
    return (atom for polynomial in polynomials for atom in polynomial.atoms() if isinstance(atom, Expression))


def _own_atoms(node: Expression) -> Iterator[Atom]:
    match node.operation, node.attribute:
        case "index", Polynomial() as polynomial:
            yield from polynomial.atoms()
        case ("load", Place(coordinates=coordinates)) | ("atomic", Atomic(place=Place(coordinates=coordinates))):
            for coordinate in coordinates:
                yield from coordinate.atoms()
        case _, Reduction(axes=axes):
            for axis in axes:
                yield axis
                yield from (*axis.begin.atoms(), *axis.end.atoms())


def walk(*roots: Expression, stop: Callable[[Expression], bool] | None = None) -> Iterator[Expression]:
    """Every node once, operands before users; nodes for which `stop` holds are yielded without their operands."""
    done: set[Expression] = set()
    opened: set[Expression] = set()
    stack = list(reversed(roots))
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
        elif not node.operands or node in opened or (stop is not None and stop(node)):
            stack.pop()
            done.add(node)
            yield node
        else:
            opened.add(node)
            stack.extend(node.operands)


def having(operations: frozenset[str], *roots: Expression) -> Iterator[Expression]:
    """The nodes of these operations, in the order of `walk`; what has none of them below is passed by."""
    found = walk(*roots, stop=lambda node: operations.isdisjoint(node.operations))
    return (node for node in found if node.operation in operations)

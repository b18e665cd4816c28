"""A kernel's effects as canonical terms: what each stores where, whatever names and steps it took to say so.

Works on what the planner's demand gives (helpers inlined, reshapes and broadcasts dissolved into coordinates): its
expressions become terms, its axes variables, its ordered loops systems of equations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from intent.dtypes import DType, boolean, index
from intent.records import dataclass, field
from translators.algebra.polynomial import (
    Atom,
    Polynomial,
    Symbol,
    atomic,
    ceiling_divide,
    maximum,
    minimum,
    number,
)
from translators.comparison import casting
from translators.comparison.binding import Open, close
from translators.comparison.conditions import logical
from translators.comparison.elements import of_one_element
from translators.comparison.parts import parted
from translators.comparison.reductions import partial, reduction
from translators.comparison.rules import Rules
from translators.comparison.systems import Loop, as_reduction, carry, close_system, name_of
from translators.comparison.terms import Term, constant, integer, raw
from translators.logical.types import Buffer, Memory, View
from translators.planning import sinks as planned
from translators.planning.demand import Demand
from translators.tile.expression import (
    Atomic,
    Axis,
    Combine,
    Expression,
    LoopToken,
    Place,
    Reduction,
    dependences,
)

ITERATIONS = Symbol("iterations of a while loop")


Bounds = tuple[Polynomial, Polynomial]
Varies = tuple[frozenset[Axis], frozenset[LoopToken]]
Asked = tuple[LoopToken, int, int, tuple[Term, ...]]  # loop, carry, scope, positions


class Unclear(Exception):
    """The comparison cannot tell: something has no canonical form."""


@dataclass(frozen=True, slots=True)
class Names:
    """What the parameters are called on both sides: views and scalars by parameter, sizes by symbol.

    `axes` are those of a view that count: axes of one element need not be on both sides. `parts` has the extents of
    those that one axis of a view is on the other side.
    """

    parameters: Mapping[str, str]
    sizes: Mapping[str, Polynomial]
    axes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    parts: Mapping[str, Mapping[int, tuple[int, ...]]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Scope:
    """What axes and loops stand for. `names` has a loop's carries while its equations are made."""

    parent: Scope | None = None
    axes: dict[Axis, Polynomial] = field(default_factory=dict)
    loops: dict[LoopToken, Term] = field(default_factory=dict)  # the ordinal of the iteration
    names: dict[LoopToken, tuple[Term, ...]] = field(default_factory=dict)
    memo: dict[Expression, Term] = field(default_factory=dict)

    def concerns(self, varies: Varies) -> bool:
        """Whether what varies so has another meaning here than in the parent."""
        axes, loops = varies
        return not (self.axes.keys().isdisjoint(axes) and self.loops.keys().isdisjoint(loops))

    def axis(self, axis: Axis) -> Polynomial:
        if axis in self.axes:
            return self.axes[axis]
        if self.parent is None:
            raise Unclear(f"the coordinate '{axis.name}' belongs to no statement")
        return self.parent.axis(axis)

    def iteration(self, token: LoopToken) -> Term | None:
        if token in self.loops:
            return self.loops[token]
        return self.parent.iteration(token) if self.parent is not None else None

    def carries(self, token: LoopToken) -> tuple[Term, ...] | None:
        if token in self.names:
            return self.names[token]
        if token in self.loops or self.parent is None:
            return None
        return self.parent.carries(token)


@dataclass(slots=True)
class Canonical:
    """Makes the terms of one kernel."""

    demand: Demand
    names: Names
    rules: Rules
    clipped: bool = False  # whether subregions that data bound are cut to their sources, which they lie within
    cut: bool = False  # whether there is one that is, or would be
    buffers: dict[Memory, str] = field(default_factory=dict)
    systems: dict[Asked, tuple[Term, tuple[Term, ...]]] = field(default_factory=dict)
    made: dict[tuple[LoopToken, int], Loop] = field(default_factory=dict)
    scopes: list[Scope] = field(default_factory=list)  # keeps every scope alive, so that an id is of one scope
    varying: dict[Expression, Varies] = field(default_factory=dict)

    # -------------------------------------------------------------------------------------------------------- the nodes
    def term(self, expression: Expression, scope: Scope) -> Term:
        varies = self.varies(expression)
        while scope.parent is not None and not scope.concerns(varies):
            scope = scope.parent
        found = scope.memo.get(expression)
        if found is None:
            found = self._term(expression, scope).at(self.demand.spans.get(expression))
            scope.memo[expression] = found
        return found

    def _term(self, expression: Expression, scope: Scope) -> Term:
        dtype = expression.dtype
        match expression.operation:
            case "index":
                return self.integer(expression.attribute, scope)
            case "constant":
                return self._constant(dtype, expression.attribute)
            case "parameter":
                return raw("scalar", dtype, (), (self.names.parameters[expression.attribute],))
            case "argument":
                return raw("argument", dtype, (), (expression.attribute,))
            case "load":
                return self._load(expression, scope)
            case "reduce" | "contract":
                return self._reduce(expression, scope)
            case "scan":
                return self._scan(expression, scope)
            case "carry" | "carried":
                return self._carry(expression, scope)
            case "atomic":
                return self._atomic(expression, scope)
            case operation:
                parts = tuple(self.term(argument, scope) for argument in expression.arguments)
                return self.rules.make(operation, dtype, parts, expression.attribute or ())

    def varies(self, expression: Expression) -> Varies:
        """The axes and loops that a value varies with, also by way of the ranges that it is reduced over."""
        found = self.varying.get(expression)
        if found is None:
            found = self._varies(expression)
            self.varying[expression] = found
        return found

    def _varies(self, expression: Expression) -> Varies:
        axes, loops = set(expression.axes), set(expression.loops)
        bound = expression.attribute.axes if isinstance(expression.attribute, Reduction) else ()
        for operand in expression.operands:
            more_axes, more_loops = self.varies(operand)
            axes |= more_axes - set(bound)
            loops |= more_loops
        for axis in bound:
            for atom in (*axis.begin.atoms(), *axis.end.atoms()):
                more_axes, more_loops = self.varies(atom) if isinstance(atom, Expression) else dependences(atom)
                axes |= more_axes - set(bound)
                loops |= more_loops
        return frozenset(axes), frozenset(loops)

    def _constant(self, dtype: DType, value: bool | int | float) -> Term:
        if not dtype.is_float:
            return constant(dtype, value)
        rounded = casting.rounded(dtype, float(value))
        return constant(dtype, float(value) if rounded is None else rounded)

    def integer(self, polynomial: Polynomial, scope: Scope) -> Term:
        return self.rules.polynomial(polynomial.rebuild(lambda atom: self._atom(atom, scope)))

    def _atom(self, atom: Atom, scope: Scope) -> Polynomial | None:
        match atom:
            case Expression():
                return self.term(atom, scope).polynomial
            case Axis():
                return scope.axis(atom)
            case LoopToken():
                return self._coordinate(atom, scope)
            case Symbol(name) if name in self.names.sizes:
                return self.names.sizes[name]
            case Symbol(name):
                raise Unclear(f"nothing says what the size '{name}' is")
            case _ if hasattr(atom, "operands"):
                return None
            case _:
                raise Unclear("a size that is not known outside a helper")

    def _coordinate(self, token: LoopToken, scope: Scope) -> Polynomial:
        """The author's loop variable: begin + step * ordinal."""
        iteration = scope.iteration(token)
        loop = self._loop(token)
        if iteration is None or loop.low is None:
            raise Unclear(f"the loop variable '{token.name}' is used outside its loop")
        return self.term(loop.low, scope).polynomial + atomic(iteration) * loop.step

    def _loop(self, token: LoopToken) -> planned.Loop:
        return next(loop for loop in self.demand.loops.values() if loop.token is token)

    # ----------------------------------------------------------------------------------------------------------- memory
    def memory(self, memory: Memory) -> str:
        if isinstance(memory, Buffer):
            return self.buffers.setdefault(memory, f"buffer {len(self.buffers) + 1} of {memory.dtype.name}")
        return self.names.parameters[memory.name]

    def place(
        self, memory: Memory, at: Sequence[Polynomial], scope: Scope
    ) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
        """Coordinates, and the extents of the memory."""
        coordinates = tuple(self.integer(each, scope) for each in at)
        extents = tuple(self.integer(each, scope) for each in self.demand.shape(memory))
        kept = self.names.axes.get(memory.name) if isinstance(memory, View) else None
        if kept is None:
            return coordinates, extents
        if any(each != integer(0) for axis, each in enumerate(coordinates) if axis not in kept):
            raise Unclear(f"an axis of one element of '{memory.name}' is not read at 0")
        parts = self.names.parts.get(memory.name, {})
        found: list[tuple[Term, Term]] = []
        for axis in kept:
            if axis in parts:
                each = parted(coordinates[axis].polynomial, parts[axis])
                found.extend((self.rules.polynomial(within), self.rules.polynomial(extent)) for within, extent in each)
            else:
                found.append((coordinates[axis], extents[axis]))
        return tuple(within for within, _ in found), tuple(extent for _, extent in found)

    def _load(self, expression: Expression, scope: Scope) -> Term:
        place = expression.attribute
        rest = tuple(self.term(argument, scope) for argument in expression.arguments)
        state = self.state(place)
        changing = [token for token in place.within if self._writes_in(token, place.memory)]
        within = tuple(term for token in changing if (term := scope.iteration(token)) is not None)
        coordinates, extents = self.place(place.memory, place.coordinates, scope)
        detail = (self.memory(place.memory), len(coordinates), bool(rest), state, len(within))
        operands = (*coordinates, *extents, *within, *rest)
        made = self.rules.make("load", expression.dtype, operands, detail)
        return integer(made.polynomial) if expression.dtype == index else made

    def _writes_in(self, token: LoopToken, memory: Memory) -> bool:
        """Whether iterations of a loop write a memory, so that it matters in which one it is read."""
        alias = getattr(memory, "alias", None)
        return any(
            loop.token is token
            for sink in self.demand.sinks
            if sink.memory == memory or (alias is not None and getattr(sink.memory, "alias", None) == alias)
            for loop in sink.loops
        )

    def state(self, place: Place) -> str:
        """Which writes a load comes after: none that matter, or so many to its memory."""
        if not place.pinned:
            return "as given"
        before = sum(sink.memory == place.memory and sink.order < place.pinned for sink in self.demand.sinks)
        return f"after {before} writes"

    def _atomic(self, expression: Expression, scope: Scope) -> Term:
        attribute: Atomic = expression.attribute
        rest = tuple(self.term(argument, scope) for argument in expression.arguments)
        lanes = tuple(integer(scope.axis(axis)) for axis in attribute.lanes)
        before = sum(sink.order < attribute.place.pinned for sink in self.demand.sinks)
        detail = (self.memory(attribute.place.memory), attribute.action, attribute.order, before)
        coordinates, extents = self.place(attribute.place.memory, attribute.place.coordinates, scope)
        return raw("atomic", expression.dtype, (*coordinates, *extents, *lanes, *rest), detail)

    # ------------------------------------------------------------------------------------------------------- structures
    def inside(self, scope: Scope) -> Scope:
        self.scopes.append(Scope(scope))
        return self.scopes[-1]

    def bind(
        self, axes: Sequence[Axis], scope: Scope, points: Collection[Axis] = (), positional: bool = False
    ) -> tuple[Term, ...]:
        """A variable for each axis, counted from 0: `positional` ones are told by how many come before."""
        made: list[Term] = []
        waiting = list(axes)
        while waiting:
            axis = next(each for each in waiting if not _mentions(each, waiting))
            waiting.remove(axis)
            made.append(self._variable(axis, scope, "parallel" if axis in points else "axis", positional))
        return tuple(made)

    def _variable(self, axis: Axis, scope: Scope, kind: str, positional: bool) -> Term:
        low, high = (axis.begin, axis.end) if positional else self._within_source(axis)
        extent = self.integer(high - low, scope)
        within: tuple[Term, ...] = ()
        if axis.slices is not None:
            iteration = scope.iteration(axis.slices)
            if iteration is None:
                raise Unclear("a slice is used outside its region operation")
            kind, within = "slice", (iteration,)
        variable = self.rules.variable(extent, kind, *within)
        scope.axes[axis] = atomic(variable) + self.integer(low, scope).polynomial
        return variable

    def _within_source(self, axis: Axis) -> tuple[Polynomial, Polynomial]:
        """The range of an axis. A subregion is within its source in every legal program."""
        begin, end = axis.begin, axis.end
        if axis.slices is not None or not any(isinstance(atom, Expression) for atom in (end - begin).atoms()):
            return begin, end
        for (low, high), (first, last) in self._subregions():
            if high - low == end - begin:
                self.cut = True
                shift = begin - low
                return (maximum(low, first) + shift, minimum(high, last) + shift) if self.clipped else (begin, end)
        return begin, end

    def _subregions(self) -> Iterator[tuple[Bounds, Bounds]]:
        """The bounds of subregions that every point and iteration has, and of what they are part of."""
        bounds = self.demand.bounds
        for domain, source in self.demand.subregions():
            if domain.step == source.step == 1:
                yield bounds(domain), bounds(source)

    def _reduce(self, expression: Expression, scope: Scope) -> Term:
        attribute: Reduction = expression.attribute
        inside = self.inside(scope)
        variables = self.bind(attribute.axes, inside, positional=attribute.kind == "arg_max")
        bodies = tuple(self.term(argument, inside) for argument in expression.arguments)
        dtype = expression.dtype
        if expression.operation == "contract":
            wide = tuple(casting.cast(body, dtype) for body in bodies)
            bodies = (self.rules.make("pointwise", dtype, wide, ("multiply", False, False)),)
        if attribute.kind == "count":
            bodies = (self._counted(attribute, bodies, dtype, scope),)
        parts = (*bodies, *self._combine(attribute.combine, scope))
        detail = (self._kind(attribute, dtype), attribute.result, len(bodies))
        made = reduction(self.rules, Open("reduce", dtype, variables, parts, detail))
        if attribute.kind == "arg_max" and attribute.result == 1:  # a position; the node is a coordinate
            begin = self.integer(attribute.axes[0].begin, scope).polynomial
            return integer(made.polynomial + begin)
        return integer(made.polynomial) if dtype == index else made

    def _kind(self, attribute: Reduction, dtype: DType) -> str:
        """A count is the sum of truths; a sum that takes its elements in order is another one, if it rounds."""
        if attribute.ordered and dtype.is_float and not self.rules.relaxed:
            return f"{attribute.kind} in order"
        if attribute.kind == "arg_max" and attribute.result == 0:
            return "max"  # the value at the position
        return "sum" if attribute.kind == "count" else attribute.kind

    def _counted(self, attribute: Reduction, bodies: Sequence[Term], dtype: DType, scope: Scope) -> Term:
        """1 where the value is the position along the bins, and the condition holds if there is one."""
        value, *condition = bodies
        assert attribute.bins is not None
        begin = self.integer(attribute.bins.begin, scope).polynomial
        place = integer(scope.axis(attribute.bins) - begin)
        hit = self.rules.make("pointwise", boolean, (casting.cast(value, index), place), ("equal", False, False))
        return casting.cast(logical("and", (*condition, hit)), dtype)

    def _combine(self, combine: Combine | None, scope: Scope) -> tuple[Term, ...]:
        if combine is None:
            return ()
        return tuple(self.term(each, scope) for each in (*combine.results, *combine.identities))

    def _scan(self, expression: Expression, scope: Scope) -> Term:
        attribute: Reduction = expression.attribute
        (axis,) = attribute.axes
        inside = self.inside(scope)
        variables = self.bind((axis,), inside, positional=True)
        bodies = tuple(self.term(argument, inside) for argument in expression.arguments)
        begin = self.integer(axis.begin, scope).polynomial
        position = integer(scope.axis(axis) - begin)
        if self._is_exact(attribute, bodies, expression.dtype):
            made = partial(self.rules, variables[0], bodies[0], attribute.kind, position, attribute.reverse)
            return integer(made.polynomial) if expression.dtype == index else made
        detail = (attribute.kind, attribute.result, len(bodies), attribute.reverse)
        parts = (*bodies, *self._combine(attribute.combine, scope))
        prefix = close(self.rules, Open("scan", expression.dtype, variables, parts, detail))
        made = raw("prefix", expression.dtype, (prefix, position))
        return integer(made.polynomial) if expression.dtype == index else made

    def _is_exact(self, attribute: Reduction, bodies: Sequence[Term], dtype: DType) -> bool:
        """Whether the elements of a scan do not depend on how it is taken, or need not."""
        exact = attribute.kind in ("max", "any", "all") or (attribute.kind == "sum" and not dtype.is_float)
        relaxed = attribute.kind == "sum" and self.rules.relaxed
        return len(bodies) == 1 and bodies[0].dtype == dtype and attribute.result == 0 and (exact or relaxed)

    # ------------------------------------------------------------------------------------------------------------ loops
    def _carry(self, expression: Expression, scope: Scope) -> Term:
        token, ordinal, axes = expression.attribute[:3]
        loop = self._loop(token)
        own = loop.carries[ordinal].own
        positions = tuple(
            integer(scope.axis(axis) - self.integer(axis.begin, scope).polynomial) for axis in axes[: len(own)]
        )
        if expression.operation == "carried":
            made = self._after(loop, ordinal, positions, scope)
        else:
            made = self._during(loop, ordinal, positions, expression.dtype, scope)
        return integer(made.polynomial) if expression.dtype == index else made

    def _after(self, loop: planned.Loop, ordinal: int, positions: tuple[Term, ...], scope: Scope) -> Term:
        made = self._made(loop, scope)
        reduced = as_reduction(self.rules, made, made.names[ordinal], positions)
        if reduced is not None:
            return reduced
        system, rest = self._system(loop, ordinal, scope, positions)
        return raw("carried", loop.carries[ordinal].dtype, (system, *rest))

    def _during(
        self, loop: planned.Loop, ordinal: int, positions: tuple[Term, ...], dtype: DType, scope: Scope
    ) -> Term:
        names = scope.carries(loop.token)
        if names is not None:
            return carry(dtype, names[ordinal], positions)
        iteration = scope.iteration(loop.token)
        if iteration is None:
            raise Unclear("a carry is used outside its loop")
        system, rest = self._system(loop, ordinal, scope, positions)
        return raw("during", dtype, (system, iteration, *rest))

    def _made(self, loop: planned.Loop, scope: Scope) -> Loop:
        place = (loop.token, id(scope))
        if place not in self.made:
            self.made[place] = self.equations(loop, scope)
        return self.made[place]

    def _system(
        self, loop: planned.Loop, ordinal: int, scope: Scope, positions: tuple[Term, ...]
    ) -> tuple[Term, tuple[Term, ...]]:
        """The system of a carry for these positions, and those along axes that it still has."""
        key = (loop.token, ordinal, id(scope), positions)
        if key not in self.systems:
            made = self._made(loop, scope)
            made, rest = of_one_element(self.rules, made, made.names[ordinal], positions)
            self.systems[key] = close_system(self.rules, made, made.names[ordinal]), rest
        return self.systems[key]

    def equations(self, loop: planned.Loop, scope: Scope) -> Loop:
        kind, trip = self.trip(loop, scope)
        inside = self.inside(scope)
        iteration = self.rules.variable(trip, "ordered")
        inside.loops[loop.token] = iteration
        inside.names[loop.token] = names = tuple(name_of(self.rules.next_serial()) for _ in loop.carries)
        made = []
        for carried in loop.carries:
            own = self.inside(inside)
            variables = self.bind(carried.own, own, positional=True)
            if carried.update is None:
                raise Unclear("a carry that is used before its loop is known")
            parts = (self.term(carried.initial, own), self.term(carried.update, own))
            made.append(Open("equation", carried.dtype, variables, parts, ()))
        return Loop(kind, iteration, names, tuple(made))

    def trip(self, loop: planned.Loop, scope: Scope) -> tuple[str, Term]:
        """What kind of loop, and how many iterations; of a region operation, the extent that it slices."""
        if loop.low is not None and loop.high is not None:
            span = self.term(loop.high, scope).polynomial - self.term(loop.low, scope).polynomial
            return "for", self.rules.polynomial(ceiling_divide(span, number(loop.step)))
        if loop.slices:
            axis = loop.slices[0]
            return "slices", self.integer(axis.end - axis.begin, scope)
        return "while", integer(atomic(ITERATIONS))


def _mentions(axis: Axis, others: Sequence[Axis]) -> bool:
    """Whether the range of the axis varies with others that are not bound yet."""
    found: set[Axis] = set()
    for bound in (axis.begin, axis.end):
        for atom in bound.atoms():
            found |= dependences(atom)[0]
    return bool(found & set(others) - {axis})

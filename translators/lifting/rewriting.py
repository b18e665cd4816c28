"""Steps that the rules share: a sink over other axes, or with one node replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from functools import reduce as fold

from intent import dtypes as d
from intent.records import replace
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Polynomial, atomic
from translators.lifting.context import Context, atoms_of, in_bounds, within_ranges
from translators.lifting.sinks import Sink
from translators.tile.expression import LOADS, REDUCTIONS, Arena, Axis, Expression, having
from translators.tile.substitution import Rebuilding, over


def replaced(context: Context, sink: Sink, atoms: dict[Atom, Polynomial], axes: tuple[Axis, ...]) -> Sink:
    """The sink over other axes; ranges of the remaining axes follow."""
    mapping = dict(atoms)
    renamed: dict[Axis, Axis] = {}
    rest = [axis for axis in sink.every_axis if axis not in sink.axes]
    for axis in (*axes, *rest):
        begin, end = map(Rebuilding(context.arena, mapping).polynomial, (axis.begin, axis.end))
        if begin != axis.begin or end != axis.end:
            renamed[axis] = like(context, axis, begin, end)
            mapping[axis] = atomic(renamed[axis])
    made = sink.mapped(Rebuilding(context.arena, mapping).expression).with_axes(renamed)
    return replace(made, axes=tuple(renamed.get(axis, axis) for axis in axes))


def occurs(axis: Axis, axes: Sequence[Axis], roots: Sequence[Expression]) -> bool:
    return axis in atoms_of(*roots) or any(axis in (*each.begin.atoms(), *each.end.atoms()) for each in axes)


def structured(sink: Sink) -> list[Expression]:
    """Reductions whose axes may be renamed: a position is a coordinate of its own axis."""
    return [node for node in reductions(sink) if node.dtype != d.index]


def reductions(sink: Sink) -> list[Expression]:
    return list(having(REDUCTIONS, *sink.roots))


def loaded_pointers(sinks: Iterable[Sink]) -> Iterator[str]:
    """The pointers to what is loaded anywhere, also for masks, places and ranges."""
    for sink in sinks:
        bounds = (*within_ranges(sink.roots), *in_bounds(sink.every_axis))
        yield from (node.attribute.pointer for node in having(LOADS, *sink.roots, *bounds))


def with_node(context: Context, sink: Sink, node: Expression, replacement: Expression) -> Sink:
    return sink.mapped(Rebuilding(context.arena, {}, lambda each: replacement if each is node else None).expression)


def with_axis(
    context: Context, node: Expression, axis: Axis, made: Axis, place: Polynomial | None = None
) -> Expression:
    """The reduction over `made` instead of one of its axes: at the same place, or where `place` says."""
    return over(context.arena, node, axis, made, atomic(made) if place is None else place, partial(like, context))


def like(context: Context, axis: Axis, begin: Polynomial, end: Polynomial) -> Axis:
    made = context.arena.axis(axis.name, begin, end)
    if axis in context.local:
        context.local.add(made)
    if axis in context.programs:
        context.programs.add(made)
    if axis in context.segments:
        context.segments[made] = context.segments[axis]
    return made


def conjuncts(condition: Expression) -> Iterator[Expression]:
    if condition.operation == "pointwise" and condition.attribute[0] == "and":
        for part in condition.arguments:
            yield from conjuncts(part)
    else:
        yield condition


def conjunction(arena: Arena, conditions: Sequence[Expression]) -> Expression:
    """Where all of them hold; there is at least one."""
    return fold(lambda one, other: arena.make("pointwise", d.boolean, (one, other), ("and", False, False)), conditions)


def opposites(first: Expression, second: Expression) -> Iterator[frozenset[Axis]]:
    """The axes of each pair of parts of two conditions that cannot hold together at one point of those axes."""
    for one in conjuncts(first):
        yield from (one.axes | other.axes for other in conjuncts(second) if _opposite(one, other))


def _opposite(one: Expression, other: Expression) -> bool:
    if one.operation != "pointwise" or other.operation != "pointwise":
        return False
    functions = (one.attribute[0], other.attribute[0])
    if functions == ("less", "less") and one.arguments[0].dtype == other.arguments[0].dtype == d.index:
        sides = [each.arguments[0].polynomial - each.arguments[1].polynomial for each in (one, other)]
        known = (sides[0] + sides[1]).constant  # both are -1 at most where they hold
        return known is not None and known >= -1
    if set(functions) == {"equal", "not_equal"}:
        return one.arguments == other.arguments
    return any(
        function == "not" and each.arguments[0] is opposite
        for function, each, opposite in ((functions[0], one, other), (functions[1], other, one))
    )


def bound_by(condition: Expression, axis: Axis) -> tuple[bool, Polynomial] | None:
    """(True, E) if the condition is axis < E; (False, E) if it is axis >= E."""
    if condition.operation != "pointwise" or condition.attribute[0] != "less":
        return None
    left, right = condition.arguments
    if left.dtype != d.index:
        return None
    difference = left.polynomial - right.polynomial
    match difference.coefficient(axis):
        case Polynomial(terms=(((), 1),)):
            return True, atomic(axis) - difference
        case Polynomial(terms=(((), -1),)):
            return False, difference + atomic(axis) + 1
        case _:
            return None


def where(facts: Facts, condition: Expression) -> Facts:
    """What is known where a condition holds."""
    for part in conjuncts(condition):
        if part.operation == "pointwise" and part.attribute[0] == "less":
            left, right = part.arguments
            if left.dtype == d.index:
                facts = facts.assuming(right.polynomial - left.polynomial - 1)
    return facts

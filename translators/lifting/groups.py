"""Blocks that are observable: their number selects a summary, or bounds what is computed together.

Nothing dissolves such a number; its lanes become coordinates of the blocked axis all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from translators.algebra.facts import Facts
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Polynomial,
    Quotient,
    atomic,
    ceiling_divide,
    maximum,
    minimum,
    number,
)
from translators.lifting.context import Context, with_axes
from translators.lifting.rewriting import bound_by, conjuncts, like, occurs, replaced, structured, with_axis, with_node
from translators.lifting.simplification import simplifier
from translators.lifting.sinks import Sink
from translators.tile.expression import Axis, Expression, walk


def block_size(block: Axis, lane: Axis) -> tuple[Polynomial, Polynomial | None] | None:
    """(B, None) if the lane ranges over [0, B); (B, A) if it ranges over [0, min(B, A - B*block))."""
    if block not in lane.end.atoms():
        return lane.end, None
    operands = _clipped(lane.end)
    if operands is None:
        return None
    for size in operands:
        rest = [each + size * atomic(block) for each in operands if each != size]
        if rest and all(block not in each.atoms() for each in (size, *rest)):
            return size, minimum(*rest)
    return None


def one_axis(context: Context, block: Axis, lane: Axis) -> tuple[Axis, dict[Atom, Polynomial]] | None:
    """The coordinate c = B*block + lane, and lane := c - B*block; None if the ranges do not fit."""
    if lane.begin != Polynomial() or not _is_number(block.begin):
        return None
    found = block_size(block, lane)
    if found is None:
        return None
    size, clipped = found
    if size == number(1) or not (
        context.mentions_blocks(size) or context.chosen(size) or size.constant or clipped is not None
    ):
        return None  # rows of a size that the data has are no blocks
    if lane in size.atoms():
        return None
    if lane in block.begin.atoms():
        return None
    if lane in block.end.atoms():
        end = rounds(context, block, lane) if block.begin == Polynomial() else None
        if end is None:
            return None
    else:
        end = block.end * size if clipped is None else minimum(block.end * size, clipped)
    end = simplifier(context, context.facts).polynomial(end)
    joint = context.arena.axis(lane.name, block.begin * size, end)
    return joint, {lane: atomic(joint) - size * atomic(block)}


def _is_number(begin: Polynomial) -> bool:
    """Whether blocks are counted from there: other axes count in it one by one, not in blocks of what they count."""
    factors = (begin.coefficient(atom) for atom in begin.atoms() if isinstance(atom, Axis))
    return all(factor is not None and factor.constant in (1, -1) for factor in factors)


def rounds(context: Context, block: Axis, lane: Axis) -> Polynomial | None:
    """T, if the lanes [0, P) take turns: the one at l has the turns k for which P*k + l is below T."""
    end = block.end
    if isinstance(end.atom, Extremum) and end.atom.kind == "maximum" and number(0) in end.atom.operands:
        end = next(each for each in end.atom.operands if each != number(0))
    found = _quotient(end)
    step = found[1].divided_by(lane.end) if found is not None else None
    if found is None or step is None:
        return None
    numerator, denominator = found
    whole = numerator.substitute({lane: number(0)}) - denominator + 1
    simplify = simplifier(context, context.facts).polynomial
    if simplify(whole - step * atomic(lane)) != simplify(numerator - denominator + 1):
        return None
    return ceiling_divide(whole, step)


def _quotient(value: Polynomial) -> tuple[Polynomial, Polynomial] | None:
    """n and d, if the value is n // d; a whole number beside a quotient is part of it."""
    atoms = [monomial[0] for monomial, factor in value.terms if factor == 1 and len(monomial) == 1]
    quotients = [atom for atom in atoms if isinstance(atom, Quotient)]
    if len(quotients) != 1:
        return None
    rest = value - atomic(quotients[0])
    return quotients[0].numerator + rest * quotients[0].denominator, quotients[0].denominator


def _clipped(end: Polynomial) -> tuple[Polynomial, ...] | None:
    """(a, b, ...) if the end is min(a, b, ...), a multiple of it, or that where it is not negative."""
    atom = end.atom
    if isinstance(atom, Extremum) and atom.kind == "maximum" and len(atom.operands) == 2 and number(0) in atom.operands:
        inner = next(each for each in atom.operands if each != number(0))
        return _clipped(inner)  # where it is negative, the whole coordinate is beyond the end too
    for monomial, factor in end.terms:
        least = monomial[0] if factor == 1 and len(monomial) == 1 else None
        if isinstance(least, Extremum) and least.kind == "minimum":
            rest = end - atomic(least)
            return tuple(each + rest for each in least.operands)
    if len(end.terms) != 1:
        return None
    for atom in end.terms[0][0]:
        if isinstance(atom, Extremum) and atom.kind == "minimum":
            scale = end.divided_by(atomic(atom))
            if scale is not None and atom not in scale.atoms():
                return tuple(scale * each for each in atom.operands)
    return None


def rebase(context: Context, sink: Sink) -> Sink | None:
    """A reduction within one block of an axis: its lanes are the coordinates [B*g, B*g + B) of that axis.

    The number of the block may be an axis of the sink, or of a reduction around this one.
    """
    outside = with_axes(context.facts, sink.every_axis)
    for node in structured(sink):
        around = [axis for axis in _with_ranges(node.axes) if axis not in sink.every_axis]
        facts = with_axes(outside, around) if around else outside
        for lane in node.attribute.axes:
            for group in sorted((*sink.every_axis, *around), key=lambda axis: axis.serial):
                made = _rebased(context, facts, node, lane, group)
                if made is not None:
                    context.ledger.add("proven", f"{group.name} selects a block of the reduced axis, and is observable")
                    return with_node(context, sink, node, made)
    return None


def _with_ranges(axes: Iterable[Axis]) -> list[Axis]:
    """The axes, and those that their ranges depend on."""
    found: set[Axis] = set()
    waiting = list(axes)
    while waiting:
        axis = waiting.pop()
        if axis not in found:
            found.add(axis)
            waiting.extend(atom for bound in (axis.begin, axis.end) for atom in bound.atoms() if isinstance(atom, Axis))
    return sorted(found, key=lambda axis: axis.serial)


def _rebased(context: Context, facts: Facts, node: Expression, lane: Axis, group: Axis) -> Expression | None:
    """Only of a lane whose range says that it is part of a block: rows of an array have coordinates of their own."""
    if not any(isinstance(atom, Axis) for bound in (lane.begin, lane.end) for atom in bound.atoms()):
        return None
    for size in _steps(node, lane, group):
        if not _within_block(context, facts, lane, size):
            continue
        shift = size * atomic(group)
        joint = context.arena.axis(lane.name, lane.begin + shift, shifted(lane.end, shift))
        made = with_axis(context, node, lane, joint, atomic(joint) - shift)
        if group not in positions(made.arguments):
            context.local.add(joint)
            return made
    return None


def _within_block(context: Context, facts: Facts, lane: Axis, size: Polynomial) -> bool:
    if not context.mentions_blocks(size) and size.constant is None and size not in context.rows:
        return False
    return facts.nonnegative(lane.begin) and facts.less_equal(lane.end, size)


def _steps(node: Expression, lane: Axis, group: Axis) -> list[Polynomial]:
    """How many lanes further the next block begins, as the loads have it."""
    found: dict[Polynomial, None] = {}
    for load in walk(*node.arguments):
        if load.operation == "load":
            offset = load.arguments[0].polynomial
            near, far = offset.coefficient(lane), offset.coefficient(group)
            step = far.divided_by(near) if near and near.terms and far and far.terms else None
            if step is not None:
                found.setdefault(step)
    return list(found)


def positions(arguments: Sequence[Expression]) -> set[Atom]:
    """Atoms of coordinates, without those of ranges."""
    return {atom for node in walk(*arguments) if node.operation == "index" for atom in node.attribute.atoms()}


def shifted(end: Polynomial, shift: Polynomial) -> Polynomial:
    """The end plus a distance, which moves into minima and maxima."""
    for monomial, factor in end.terms:
        if factor == 1 and len(monomial) == 1 and isinstance(monomial[0], Extremum):
            choose = minimum if monomial[0].kind == "minimum" else maximum
            rest = end - atomic(monomial[0]) + shift
            return choose(*(shifted(operand, rest) for operand in monomial[0].operands))
    return end + shift


# -------------------------------------------------------------------------------- blocks of stores
def regroup(context: Context, sink: Sink) -> Sink | None:
    """Lanes of a block that is observable are coordinates too: [B*g, B*g + B), as far as the store's mask goes."""
    for condition in conjuncts(sink.mask):
        for lane in sink.free:
            bound = bound_by(condition, lane)
            for group in sink.axes if bound is not None and bound[0] else ():
                made = _regrouped(context, sink, (lane, group), bound[1]) if bound else None
                if made is not None:
                    context.ledger.add("proven", f"{group.name} selects a block of coordinates, and is observable")
                    return made
    return None


def _regrouped(context: Context, sink: Sink, pair: tuple[Axis, Axis], bound: Polynomial) -> Sink | None:
    """The bound is E - B*g for a block number g."""
    lane, group = pair
    step = bound.coefficient(group)
    if step is None or not step.terms or lane.begin.terms or not _invariant(context, bound - step * atomic(group)):
        return None
    shift = -step * atomic(group)
    if not _within_block(context, with_axes(context.facts, sink.axes), lane, -step):
        return None
    if context.chosen(group.end) and group.begin == Polynomial():
        return with_count(context, sink, group, (-step, bound + shift))
    joint = context.arena.axis(lane.name, shift, minimum(lane.end + shift, bound + shift))
    context.local.update((joint,) if lane in context.local else ())
    axes = tuple(joint if axis is lane else axis for axis in sink.axes)
    made = replaced(context, sink, {lane: atomic(joint) - shift}, axes)
    return made if group not in _within(made, joint) else None


def ungroup(context: Context, sink: Sink) -> Sink | None:
    """Blocks whose number counts nowhere else: [B*g, min(B*g + B, E)) for every g in [0, G) is [0, min(B*G, E))."""
    for lane in sink.free:
        for group in sink.free:
            end = _of_all_blocks(context, lane, group)
            others = [axis for axis in sink.every_axis if axis is not lane]
            if end is None or occurs(group, others, sink.roots):
                continue
            joint = context.arena.axis(lane.name, number(0), end)
            context.local.update((joint,) if {lane, group} <= context.local else ())
            context.programs.update((joint,) if {lane, group} <= context.programs else ())
            context.ledger.add("proven", f"{group.name} and {lane.name}: the coordinates of every block")
            axes = tuple(joint if axis is lane else axis for axis in sink.axes if axis is not group)
            return replaced(context, sink, {lane: atomic(joint)}, axes)
    return None


def _of_all_blocks(context: Context, lane: Axis, group: Axis) -> Polynomial | None:
    """Where the last block ends."""
    size = lane.begin.coefficient(group)
    if size is None or lane.begin != size * atomic(group) or not context.facts.positive(size):
        return None
    if group.begin.terms or not context.invariant(size):
        return None
    last, end = lane.begin + size, lane.end.atom
    operands = end.operands if isinstance(end, Extremum) and end.kind == "minimum" else (lane.end,)
    others = [each for each in operands if each != last]
    if last not in operands or any(group in each.atoms() for each in others):
        return None
    return minimum(size * group.end, *others) if others else size * group.end


def _within(sink: Sink, lane: Axis) -> set[Atom]:
    """Atoms of coordinates; of the store's own only if the lane is one of them."""
    inside = (node for node in walk(*sink.roots) if node is not sink.offset)
    found = {atom for node in inside if node.operation == "index" for atom in node.attribute.atoms()}
    own = set(sink.offset.polynomial.atoms())
    return found | own if lane in own else found


def with_count(context: Context, sink: Sink, group: Axis, blocks: tuple[Polynomial, Polynomial]) -> Sink | None:
    """As many blocks as cover the coordinates: a launch has them all, and others would be empty."""
    size, extent = blocks
    end = ceiling_divide(extent, size)
    if group.end == end:
        return None
    context.ledger.add("assumed", f"{size * group.end!r} is at least {extent!r}: every launch covers all elements")
    context.facts = context.facts.assuming(size * group.end - extent)
    made = like(context, group, group.begin, end)
    axes = tuple(made if axis is group else axis for axis in sink.axes)
    return replaced(context, sink, {group: atomic(made)}, axes)


def _invariant(context: Context, polynomial: Polynomial) -> bool:
    return context.invariant(polynomial) and not context.mentions_blocks(polynomial)

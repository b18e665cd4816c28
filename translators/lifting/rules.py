"""The rules: each gives a sink that stores the same elements with fewer physical facts, or None.

    split     an axis that occurs through v // D and v % D alone becomes two axes
    chunk     a block number g and a lane l in [0, B) become one coordinate c = B*g + l
    restrict  a coordinate that is guarded by c < E ranges up to E
    pin       a coordinate that is guarded by c == E is E
    decode    a block number that is read by itself is c // B
    located   the first of the largest values of pairs with their coordinates is a position

Every rule proves its obligations from facts, or writes down what it assumes; nothing is assumed that another program,
iteration
or lane could falsify.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from intent import dtypes as d
from intent.records import replace
from translators.algebra.facts import Facts
from translators.algebra.polynomial import (
    Atom,
    Polynomial,
    Quotient,
    Remainder,
    Symbol,
    atomic,
    ceiling_divide,
    floor_divide,
    maximum,
    minimum,
    number,
)
from translators.lifting.context import Context, atoms_of, with_axes
from translators.lifting.decoded import divides, split_bound, undivide
from translators.lifting.groups import one_axis, rebase, regroup, ungroup
from translators.lifting.located import located
from translators.lifting.own_axes import restrict_own, truncate
from translators.lifting.padding import absent_lanes_do_not_count
from translators.lifting.reversal import flip
from translators.lifting.rewriting import (
    bound_by,
    conjunction,
    conjuncts,
    like,
    occurs,
    reductions,
    replaced,
    structured,
    where,
    with_axis,
    with_node,
)
from translators.lifting.segments import counted, segment, stored_segment
from translators.lifting.simplification import simplifier
from translators.lifting.sinks import Sink
from translators.lifting.wrapping import unwrap
from translators.tile.expression import POINTWISE, REDUCTIONS, Axis, Expression, Reduction, having
from translators.tile.substitution import Rebuilding


# -----------------------------------------------------------------------------------------------------------------
# split
def split(context: Context, sink: Sink) -> Sink | None:
    for axis in sink.free:
        for divisor in _divisors(axis, sink):
            made = _split(context, sink, axis, divisor)
            if made is not None:
                return made
    return None


def _divisors(axis: Axis, sink: Sink) -> list[Polynomial]:
    """What the axis is divided by, wherever it stands as itself."""
    found = [
        atom.denominator
        for atom in atoms_of(*sink.roots)
        if isinstance(atom, Quotient | Remainder) and atom.numerator.coefficient(axis) == number(1)
    ]
    distinct = dict.fromkeys(found)
    return sorted(distinct, key=lambda each: (-len(each.terms[-1][0]) if each.terms else 0, repr(each)))


def _split(context: Context, sink: Sink, axis: Axis, divisor: Polynomial) -> Sink | None:
    extent = axis.extent
    if axis.begin != Polynomial() or not context.invariant_but(divisor, sink.axes, axis):
        return None
    divides(context, divisor)
    lanes = divisor.constant is not None and axis not in context.programs
    if lanes and _has_stride(sink.offset.polynomial, axis):
        return None  # an axis of an array: elsewhere it may be decoded, the coordinate stays one
    whole = extent.divided_by(divisor)
    if whole is None:
        whole = context.whole_programs(extent, divisor)
    if whole is None and (not axis.name.startswith("program") or _by_itself(sink.offset.polynomial, axis)):
        return None  # rows of an array may be decoded without being whole: the coordinate stays one
    outer = context.arena.axis(axis.name, number(0), whole if whole is not None else ceiling_divide(extent, divisor))
    rest = divisor if whole is not None else minimum(divisor, extent - atomic(outer) * divisor)
    simple = simplifier(context, context.facts).within((outer,)).polynomial
    inner = context.arena.axis(f"{axis.name}_rest", number(0), simple(rest))
    outer_end = simple(outer.end)
    if outer_end == number(1):
        return None  # the rest would be the same axis again
    if outer_end != outer.end:
        renamed = context.arena.axis(axis.name, number(0), outer_end)
        inner = context.arena.axis(inner.name, number(0), inner.end.substitute({outer: atomic(renamed)}))
        outer = renamed
    if axis in context.programs:
        context.programs.update((outer, inner))
    mapping: dict[Atom, Polynomial] = {axis: atomic(outer) * divisor + atomic(inner)}
    position = sink.axes.index(axis)
    axes = (*sink.axes[:position], outer, inner, *sink.axes[position + 1 :])
    made = replaced(context, sink, mapping, axes)
    simpler = simplified(context, made)
    for each in [axis for axis in simpler.free if axis not in sink.axes]:
        simpler = _turned(context, simpler, each)
    axes = tuple(each for each in simpler.axes if each not in sink.axes)
    remaining = [
        atom
        for atom in atoms_of(*simpler.roots)
        if isinstance(atom, Quotient | Remainder) and atom.denominator == divisor
    ]
    if any(each in atom.numerator.atoms() for atom in remaining for each in (outer, inner, *axes)):
        return None
    if axis in context.local:
        context.local.update(simpler.axes)
    return simpler


def _turned(context: Context, sink: Sink, axis: Axis) -> Sink:
    """An axis of g points that counts only as (axis + c) % g: that takes each of its values once, whatever c is."""
    remainders = (atom for atom in atoms_of(*sink.roots) if isinstance(atom, Remainder))
    found = {
        each for each in remainders if each.denominator == axis.end and each.numerator.coefficient(axis) == number(1)
    }
    turned = found.pop() if len(found) == 1 else None
    if turned is None or axis.begin.terms:
        return sink
    shift = turned.numerator - atomic(axis)
    if not shift.terms or axis in shift.atoms() or not context.invariant_but(shift, sink.axes, axis):
        return sink
    fresh = like(context, axis, axis.begin, axis.end)
    axes = tuple(fresh if each is axis else each for each in sink.axes)
    made = replaced(context, sink, {turned: atomic(fresh)}, axes)
    if occurs(axis, made.every_axis, made.roots):
        return sink
    context.ledger.add("proven", f"({axis.name} + c) % g, for {axis.name} in [0, g), is each of [0, g) once")
    return made


def _has_stride(offset: Polynomial, axis: Axis) -> bool:
    """Whether elements are counted along the axis in steps of a number that is passed for it."""
    return any(axis in monomial and any(isinstance(atom, Symbol) for atom in monomial) for monomial, _ in offset.terms)


def _by_itself(offset: Polynomial, axis: Axis) -> bool:
    """Whether elements are counted along the whole axis, not along its parts alone."""
    return any(axis in monomial for monomial, _ in offset.terms)


def simplified(context: Context, sink: Sink) -> Sink:
    """Simpler expressions, and simpler ends of the axes."""
    simple = simplifier(context, context.facts).within(sink.every_axis)
    mapping: dict[Atom, Polynomial] = {}
    renamed: dict[Axis, Axis] = {}
    for axis in sink.every_axis:
        begin, end = (simple.polynomial(each.substitute(mapping)) for each in (axis.begin, axis.end))
        if end - begin == number(1) and axis in sink.free:
            mapping[axis] = begin  # the only point
        elif begin != axis.begin or end != axis.end:
            renamed[axis] = like(context, axis, begin, end)
            mapping[axis] = atomic(renamed[axis])
    if mapping:
        axes = tuple(renamed.get(axis, axis) for axis in sink.axes if axis in renamed or axis not in mapping)
        sink = sink.mapped(Rebuilding(context.arena, mapping).expression).with_axes(renamed)
        sink = replace(sink, axes=axes)
        simple = simplifier(context, context.facts).within(sink.every_axis)
    return _where_stored(context, simple.facts, sink.mapped(simple.expression))


def _where_stored(context: Context, facts: Facts, sink: Sink) -> Sink:
    """What is stored, and where, counts only where the mask holds."""
    if sink.mask.operation == "constant" or sink.recurrences:
        return sink
    if any(not isinstance(atom, Axis | Symbol) for atom in sink.offset.polynomial.atoms()):
        placed = simplifier(context, where(facts, sink.mask))
        sink = replace(sink, offset=placed.expression(sink.offset))
    held: dict[Expression, bool] = {}
    for condition in conjuncts(sink.mask):
        negated = condition.operation == "pointwise" and condition.attribute[0] == "not"
        held[condition.arguments[0] if negated else condition] = not negated
    held.update([(each, False) for each in _opposites(context, held)])
    for condition in conjuncts(sink.mask):  # one of sizes alone is kept: it tells an extent
        facts = where(facts, condition) if "load" in condition.operations else facts
    there = simplifier(context, facts, held)
    return replace(sink, value=there.expression(sink.value))


def _opposites(context: Context, held: Mapping[Expression, bool]) -> Iterator[Expression]:
    """The conditions that are false where those that are held true are."""
    pairs = {"equal": "not_equal", "not_equal": "equal"}
    for condition in (each for each, truth in held.items() if truth and each.operation == "pointwise"):
        other = pairs.get(condition.attribute[0])
        if other is not None:
            yield context.arena.make("pointwise", condition.dtype, condition.arguments, (other, False, False))


# -----------------------------------------------------------------------------------------------------------------
# chunk
def chunk(context: Context, sink: Sink) -> Sink | None:
    """A block number and a lane among the sink's own axes."""
    for block, lane in _pairs(sink.free):
        pair = (block, lane)
        made = one_axis(context, block, lane)
        if made is None:
            continue
        joint, mapping = made
        if block in Rebuilding(context.arena, mapping).expression(sink.offset).mentioned:
            continue
        rest = tuple(joint if axis is lane else axis for axis in sink.axes if axis is not block)
        changed = replaced(context, sink, mapping, rest)
        if not any(occurs(axis, changed.every_axis, changed.roots) for axis in pair):
            if block in context.local and lane in context.local:
                context.local.add(joint)
            if block in context.programs and lane in context.programs:
                context.programs.add(joint)
            context.ledger.add("proven", f"{lane.name} and {block.name}: one coordinate, in blocks of {lane.end!r}")
            return changed
    return None


def _pairs(axes: Sequence[Axis]) -> Iterator[tuple[Axis, Axis]]:
    return ((block, lane) for lane in reversed(axes) for block in axes if block is not lane)


def chunk_bound(context: Context, sink: Sink) -> Sink | None:
    """A block number and a lane that one reduction binds."""
    for node in structured(sink):
        for block, lane in _pairs(node.attribute.axes):
            made = one_axis(context, block, lane)
            if made is None:
                continue
            replacement = _chunked_node(context, node, (block, lane), *made)
            if replacement is not None:
                context.ledger.add("proven", f"{lane.name}: one coordinate of the reduction, in blocks of {lane.end!r}")
                return with_node(context, sink, node, replacement)
    return None


def _chunked_node(
    context: Context, node: Expression, pair: tuple[Axis, Axis], joint: Axis, mapping: dict[Atom, Polynomial]
) -> Expression | None:
    block, lane = pair
    reduction: Reduction = node.attribute
    rebuilding = Rebuilding(context.arena, mapping)
    arguments = tuple(map(rebuilding.expression, node.arguments))
    axes = tuple(joint if axis is lane else axis for axis in reduction.axes if axis is not block)
    if occurs(block, axes, arguments) or occurs(lane, axes, arguments):
        return None
    context.local.add(joint)
    return context.arena.make(node.operation, node.dtype, arguments, replace(reduction, axes=axes))


def decode(context: Context, sink: Sink) -> Sink | None:
    """A block number that a reduction reads by itself, where the last block has fewer lanes: it is c // B of the one
    coordinate c = B*g + l, of which every point is one pair.
    """
    for node in structured(sink):
        for block, lane in _pairs(node.attribute.axes):
            made = (
                one_axis(context, block, lane) if block in lane.end.atoms() and lane not in block.end.atoms() else None
            )
            if made is None:
                continue
            joint, mapping = made
            size = (atomic(joint) - mapping[lane]).divided_by(atomic(block))
            if size is None or block in size.atoms():
                continue
            number_of = floor_divide(atomic(joint), size)
            decoded: dict[Atom, Polynomial] = {block: number_of, lane: atomic(joint) - size * number_of}
            replacement = _chunked_node(context, node, (block, lane), joint, decoded)
            if replacement is not None:
                context.ledger.add("proven", f"{block.name} is the number of a block of {size!r} coordinates")
                return with_node(context, sink, node, replacement)
    return None


# --------------------------------------------------------------------------------------------------------------
# restrict
def restrict(context: Context, sink: Sink) -> Sink | None:
    """A free axis ranges over what the store's mask leaves of it."""
    for condition in conjuncts(sink.mask):
        for axis in sink.free:
            bound = bound_by(condition, axis)
            if bound is None or any(isinstance(atom, Axis | Expression) for atom in bound[1].atoms()):
                continue
            made = _restricted_axis(context, axis, *bound)
            if made is not None:
                axes = tuple(made if each is axis else each for each in sink.axes)
                return replaced(context, sink, {axis: atomic(made)}, axes)
    return None


def _restricted_axis(context: Context, axis: Axis, upper: bool, bound: Polynomial) -> Axis | None:
    """The axis up to (or from) `bound`; covering it is proven, or assumed of what a launch fixes, or made a minimum."""
    if not upper:
        begin = axis.begin if context.facts.less_equal(bound, axis.begin) else maximum(bound, axis.begin)
        if context.facts.less_equal(axis.begin, bound):
            begin = bound
        return None if begin == axis.begin else like(context, axis, begin, axis.end)
    if context.facts.less_equal(axis.end, bound):
        return None
    if context.facts.less_equal(bound, axis.end):
        context.ledger.add("proven", f"{axis.end!r} lanes cover {bound!r}")
        return like(context, axis, axis.begin, bound)
    if _covering(context, axis, bound):
        context.facts = context.facts.assuming(axis.end - bound)
        return like(context, axis, axis.begin, bound)
    return like(context, axis, axis.begin, minimum(axis.end, bound))


def pin(context: Context, sink: Sink) -> Sink | None:
    """An axis that stores at one of its points only, as the store's mask says, has only that point."""
    for condition in conjuncts(sink.mask):
        for axis in sink.free:
            point = _point(condition, axis)
            if point is None or not context.invariant_but(point, sink.axes, axis):
                continue
            facts = with_axes(context.facts, [each for each in sink.every_axis if each is not axis])
            if facts.less_equal(axis.begin, point) and facts.less(point, axis.end):
                rest = tuple(each for each in sink.axes if each is not axis)
                return replaced(context, sink, {axis: point}, rest)
    return None


def _point(condition: Expression, axis: Axis) -> Polynomial | None:
    """E, if the condition is axis == E."""
    if condition.operation != "pointwise" or condition.attribute[0] != "equal":
        return None
    left, right = condition.arguments
    if left.dtype != d.index or right.dtype != d.index:
        return None
    difference = left.polynomial - right.polynomial
    factor = difference.coefficient(axis)
    sign = None if factor is None else factor.constant
    return atomic(axis) - difference * sign if sign in (1, -1) else None


def _covering(context: Context, axis: Axis, bound: Polynomial) -> bool:
    """Whether one launch covers [0, bound) by choosing its grid or its block size: then no element is left out."""
    if not context.invariant(bound) or not context.invariant(axis.end) or context.mentions_blocks(bound):
        return False
    if not context.chosen(axis.end) or _is_a_tile(context, axis.end):
        return False
    context.ledger.add("assumed", f"{axis.end!r} is at least {bound!r}: every launch covers all elements")
    return True


def _is_a_tile(context: Context, end: Polynomial) -> bool:
    """Whether it is one of several blocks: then a launch does not choose it so as to cover everything."""
    names = {atom.name for atom in end.atoms() if isinstance(atom, Symbol)}
    return bool(names & context.tiling) and names <= context.blocks


def tiling(context: Context, sinks: Sequence[Sink]) -> frozenset[str]:
    """The blocks whose number, of programs or iterations, counts in a comparison: `part * BLOCK + lane < n`."""
    found: set[str] = set()
    roots = [root for sink in sinks for root in sink.roots]
    for node in having(COMPARED, *roots):
        if node.attribute[0] == "less" and node.arguments[0].dtype == d.index:
            for monomial, _ in (node.arguments[0].polynomial - node.arguments[1].polynomial).terms:
                if any(isinstance(atom, Axis) and atom not in context.local for atom in monomial):
                    found.update(atom.name for atom in monomial if isinstance(atom, Symbol))
    return frozenset(found & context.blocks)


def restrict_bound(context: Context, sink: Sink) -> Sink | None:
    """A reduction leaves out lanes that a mask excludes, if what they contribute is the reduction's identity."""
    facts = with_axes(context.facts, sink.every_axis)
    facts = facts if sink.recurrences else where(facts, sink.mask)
    for node in reductions(sink):
        for axis in node.attribute.axes:
            for condition in _conditions(node, axis):
                made = _restricted_node(context, node, axis, condition, facts)
                if made is not None:
                    return with_node(context, sink, node, made)
    return None


def _conditions(node: Expression, axis: Axis) -> list[Expression]:
    """The comparisons below a reduction that bound one of its axes; one that depends on an inner axis is none."""
    inner = {bound for each in having(REDUCTIONS, *node.arguments) for bound in each.attribute.axes}
    return [
        each
        for each in having(POINTWISE, *node.arguments)
        if bound_by(each, axis) is not None and not inner & {atom for atom in atoms_of(each) if isinstance(atom, Axis)}
    ]


def _has_elements(context: Context, axis: Axis, bound: tuple[bool, Polynomial]) -> bool:
    """A position is one of an element: there has to be one, of all lanes or of those that count."""
    upper, end = bound
    if not upper or axis.begin != Polynomial():
        return False
    if context.facts.positive(end):
        return True
    if not context.invariant(end):
        return False
    context.ledger.add("assumed", f"{end!r} is at least 1: a position is one of an element")
    context.facts = context.facts.assuming(end - 1)
    return True


def _restricted_node(
    context: Context, node: Expression, axis: Axis, condition: Expression, facts: Facts
) -> Expression | None:
    bound = bound_by(condition, axis)
    assert bound is not None
    later = node.attribute.axes[node.attribute.axes.index(axis) :]
    if set(later) & set(bound[1].atoms()):
        return None
    if not absent_lanes_do_not_count(context, node, condition, facts):
        return None
    if node.dtype == d.index and not _has_elements(context, axis, bound):
        return None
    made = _restricted_axis(context, axis, *bound)
    if made is None:
        return None
    return with_axis(context, node, axis, made)


def implied(context: Context, sink: Sink) -> Sink | None:
    """A bound that follows from another one of a store's mask says nothing."""
    bounds = {each: _difference(each) for each in conjuncts(sink.mask)}
    facts = with_axes(context.facts, sink.every_axis) if len(bounds) > 1 else context.facts
    for condition, weaker in bounds.items():
        for other, stronger in bounds.items():
            if condition is other or weaker is None or stronger is None or not _alike(weaker, stronger):
                continue
            if facts.less_equal(weaker, stronger):
                others = [each for each in bounds if each is not condition]
                return replace(sink, mask=conjunction(context.arena, others))
    return None


def _difference(condition: Expression) -> Polynomial | None:
    """What is negative where the condition holds."""
    if condition.operation != "pointwise" or condition.attribute[0] != "less":
        return None
    left, right = condition.arguments
    return left.polynomial - right.polynomial if left.dtype == d.index else None


def _alike(first: Polynomial, second: Polynomial) -> bool:
    """Whether most of one is in the other."""
    return len((second - first).terms) < max(len(first.terms), len(second.terms))


COMPARED = frozenset(("pointwise",))

RULES = (
    located, counted, pin, undivide, restrict, implied, split, split_bound, chunk, chunk_bound, restrict_bound,
    restrict_own, truncate, flip, rebase, segment, regroup, ungroup, stored_segment, decode, unwrap,
)  # fmt: skip
MOST_STEPS = 60


def normalised(context: Context, sink: Sink) -> Sink:
    """The rules, until none applies."""
    sink = simplified(context, sink)
    for _ in range(MOST_STEPS):
        made = next((found for rule in RULES if (found := rule(context, sink)) is not None), None)
        if made is None:
            break
        sink = simplified(context, made)
    return sink

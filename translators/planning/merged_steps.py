"""Depths of products in parts: several parts are one step of the loop over the product's depth.

    total = contract(x[m, g, k], w[n, g, k]; g in [0, G), k in [0, 32))
    total = contract(x[m, p // 32, p % 32], w[n, p // 32, p % 32]; p in [0, 32 G))

A contraction may be added up in any order. An ordered loop that only adds up products,

    total = 0; for g in range(G): total = total + contract(x[m, g, k], w[n, g, k]; k in [0, 32))

may not: its steps follow each other. There a product of tiles that begins with an accumulator adds to it in the order
of its depth, by instructions of at most STEP elements that each begin with the sum so far. So the product of several
steps does what their products do one after the other, to the last bit, where the depth of a step is a multiple of STEP.
(On NVIDIA GPUs an instruction takes 16 elements from a window whose length follows from the narrowest elements that
operands are computed from: 32 for bytes, and 64 for bytes that hold two elements, which steps of 32 would share.)
"""

from __future__ import annotations

from collections.abc import Set

from intent.records import dataclass
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Polynomial,
    Quotient,
    Remainder,
    atomic,
    floor_divide,
    number,
    remainder,
)
from translators.planning.pull import Pull
from translators.planning.ranges import known_at_launch
from translators.planning.sinks import Loop, LoopCarry
from translators.tile.accumulation import accumulated_product
from translators.tile.expression import Axis, Expression, LoopToken, Reduction, walk
from translators.tile.substitution import Rebuilding

STEP = 32  # matrix units take at most as many elements of 16 bits of the depth at a time
DEEP = 128  # from so deep steps on, tiles are no deeper than one
_PLAIN = frozenset({"constant", "parameter", "index", "load", "pointwise", "select", "cast", "bitcast"})


def merged_steps(pull: Pull, loop: Loop) -> list[Expression] | None:
    """What the carries of a loop are after it, along their own axes, as one product each; None if they are not."""
    if loop.exit is not None or loop.step != 1 or not loop.carries or loop.low is None or loop.high is None:
        return None
    if not known_at_launch(loop.low.polynomial) or not known_at_launch(loop.high.polynomial):
        return None
    products = [_product(loop, ordinal, carry) for ordinal, carry in enumerate(loop.carries)]
    found = [product for product in products if product is not None]
    axes: dict[Polynomial, Axis] = {}
    return [_merged(pull, loop, product, axes) for product in found] if len(found) == len(products) else None


def _product(loop: Loop, ordinal: int, carry: LoopCarry) -> Expression | None:
    """The product that the carry, 0 before the loop, grows by in each step, if steps may be merged."""
    grown = accumulated_product(carry.update, loop.token, ordinal, carry.axes)
    zero = carry.initial.operation == "constant" and carry.initial.attribute == 0
    if grown is None or grown[0].operation != "carry" or not zero:
        return None
    product = grown[1]
    depth = product.attribute.axes
    suitable = len(depth) == 1 and _is_short(depth[0]) and _is_matrix_product(product, set(carry.own))
    if not suitable or any(node.loops - loop.tokens - {loop.token} for node in walk(*product.arguments)):
        return None
    return product if _keeps_order(product, depth[0]) and all(map(_is_simple, walk(*product.arguments))) else None


def _keeps_order(product: Expression, depth: Axis) -> bool:
    """No instruction takes elements of two steps: whole windows fit into one."""
    loads = [node for node in walk(*product.arguments) if node.operation == "load"]
    narrow = [load.attribute for load in loads if load.dtype.bits < 16]
    linear = all(c.coefficient(depth) is not None for place in narrow for c in place.coordinates)
    return linear or not (depth.extent.constant or 0) % (2 * STEP)


def merged_depth(pull: Pull, product: Expression) -> Expression | None:
    """A contraction over a short axis and another one, as one over both; None if it is something else."""
    axes = product.attribute.axes
    short = [axis for axis in axes if _is_short(axis)]
    if len(axes) != 2 or not short:
        return None
    depth = short[-1]
    (outer,) = set(axes) - {depth}
    known = outer.slices is None and known_at_launch(outer.begin) and known_at_launch(outer.end)
    free = frozenset().union(*(operand.axes for operand in product.arguments)) - {outer, depth}
    if not known or not _is_matrix_product(product, free) or not all(map(_is_simple, walk(*product.arguments))):
        return None
    return _flattened(pull, product, outer, outer.begin, outer.extent, pull.depths.setdefault((outer, depth), {}))


def _is_short(axis: Axis) -> bool:
    extent = axis.extent.constant or 0
    return axis.begin == number(0) and axis.slices is None and STEP <= extent < DEEP and not extent & (extent - 1)


def _is_matrix_product(product: Expression, own: Set[Axis]) -> bool:
    """Of 16-bit elements, with rows and columns that are the carry's."""
    lhs, rhs = product.arguments
    sides = (lhs.axes - rhs.axes, rhs.axes - lhs.axes)
    return lhs.dtype.bits == 16 and product.dtype.name == "f32" and all(side & own for side in sides)


def _is_simple(node: Expression) -> bool:
    """An element of its own: no reduction, no promise nor place in the order of statements; where it is read, no data
    say.
    """
    if node.operation not in _PLAIN:
        return False
    if node.operation != "load":
        return True
    place = node.attribute
    atoms = {atom for coordinate in place.coordinates for atom in coordinate.atoms()}
    return not (place.pinned or place.within or place.assumed or any(isinstance(a, Expression) for a in atoms))


def _merged(pull: Pull, loop: Loop, product: Expression, axes: dict[Polynomial, Axis]) -> Expression:
    """The product along all steps; products of one depth share one of the `axes`, so that they share a loop."""
    assert loop.low is not None and loop.high is not None
    low, high = loop.low.polynomial, loop.high.polynomial
    return _flattened(pull, product, loop.token, low, high - low, axes)


def _flattened(
    pull: Pull, product: Expression, outer: Axis | LoopToken, low: Polynomial, count: Polynomial,
    axes: dict[Polynomial, Axis],
) -> Expression:  # fmt: skip
    """The product along its short depth for each of the `count` places of `outer`, which begin at `low`."""
    (depth,) = set(product.attribute.axes) - {outer}
    size = depth.extent
    if size not in axes:
        axes[size] = pull.arena.axis(depth.name, number(0), count * size)
        pull.steps[axes[size]] = size.constant or 0
    axis = axes[size]
    place: dict[Atom, Polynomial] = {
        outer: floor_divide(atomic(axis), size) + low,
        depth: remainder(atomic(axis), size),
    }
    rebuilding = _Places(pull.arena, place)
    arguments = tuple(map(rebuilding.expression, product.arguments))
    made = pull.arena.make("contract", product.dtype, arguments, Reduction(product.attribute.kind, (axis,)))
    for original, copy in rebuilding.done.items():
        pull.stand_for(copy, original)
    pull.stand_for(made, product)
    pull.names.setdefault(pull.index_value(place[outer]), outer.name)
    return made


@dataclass(slots=True)
class _Places(Rebuilding):
    """Knows what divisions of a remainder by a divisor of its own divisor are."""

    def opaque(self, atom: Quotient | Remainder | Extremum, operands: tuple[Polynomial, ...]) -> Polynomial:
        if not isinstance(atom, Extremum):
            top, bottom = operands
            inner, divisor = top.atom, bottom.constant or 0
            whole = inner.denominator.constant or 0 if isinstance(inner, Remainder) else 0
            if isinstance(inner, Remainder) and divisor > 0 and whole > 0 and not whole % divisor:
                if isinstance(atom, Remainder):
                    return remainder(inner.numerator, bottom)
                return remainder(floor_divide(inner.numerator, bottom), number(whole // divisor))
        return atom.with_operands(operands)

"""Lanes of matrix products: tiles of rows, columns and the contracted axis, of folds too, within the registers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from translators.algebra.polynomial import Polynomial, number, product, remainder
from translators.logical.types import View
from translators.planning.regions import Region
from translators.planning.sinks import Loop
from translators.tile.accumulation import accumulated_product
from translators.tile.expression import EXACT_PRODUCTS, Axis, Expression, Reduction, walk
from translators.tile.program import Role
from translators.triton_source.shared_loads import neighbours

DOT_ROWS, DOT_COLUMNS = 128, 128
DOT_RESIDENT, DOT_TERM = 16384, 8192  # elements of a product with a resident axis, or that is one term of a sum
DOT_WIDE = 256  # columns of a matrix product that has many of them
WIDE_TILES = 96  # and that leaves at least as many tiles: about one for each processor of a large GPU
MERGED_ROWS = 512  # the longest axis of rows that is merged with others: the last of its tiles may be far from full
COSTLY = frozenset({"tanh", "erf", "sigmoid", "log", "log2", "sin", "cos", "remainder"})  # functions of many operations
COPIED = 768  # so often an element must be multiplied for a copy of it in aligned rows to pay
ALIGNED = 16  # row lengths are multiples of this where wide accesses are possible
DOT_MINIMUM = 16
DOT_MINIMUM_OF_BYTES = 32  # along the contracted axis, where elements have eight bits
FEW_ROWS = {16: (32, 128), 64: (128, 64)}  # for so many rows of a product: columns and depth of its tiles
# The same where the other matrix is computed from less than a byte for each element.
FEW_ROWS_PACKED = {16: (32, 256), 64: (64, 128)}
# A fold with several products of 16-bit elements: for so many elements of state to a row, (rows, length of a slice).
# Every row's state is in registers twice, as carry and as summary; with eight warps nothing is spilled in the loop.
FOLD_TILES = {64: (128, 64), 128: (128, 64), 256: (64, 32), 512: (32, 32)}
DESCRIBED_STATE, DESCRIBED_SLICE = 128, 128  # slices that descriptors read: up to so much state, their length

Suitable = tuple[Polynomial, str, int]  # extents, a comparison, a number


def is_dot(node: Expression, region: Region) -> bool:
    """Rows, columns and one contracted axis of lanes, in a dtype that tl.dot multiplies exactly as the language
    says.
    """
    lhs, rhs = node.arguments
    scalar = region.scalar_only
    rows, columns = lhs.axes - rhs.axes - scalar, rhs.axes - lhs.axes - scalar
    if not (rows - set(node.attribute.axes)) or not (columns - set(node.attribute.axes)):
        return False
    return (lhs.dtype.name, node.dtype.name) in EXACT_PRODUCTS


def contracted_lane(node: Expression) -> Axis:
    """The contracted axis that tl.dot runs along: the longest; the others are loops of single coordinates."""
    reduction: Reduction = node.attribute
    return max(reduction.axes, key=length)


def least_lanes(axis: Axis, dots: Iterable[Expression]) -> int:
    """The shortest tile along the axis that tl.dot takes on every target, for all of these products."""
    bytes_along = any(node.arguments[0].dtype.bits == 8 and contracted_lane(node) == axis for node in dots)
    return DOT_MINIMUM_OF_BYTES if bytes_along else DOT_MINIMUM


def length(axis: Axis) -> tuple[int, int]:
    """Axes of unknown length come last, then the longest."""
    return (axis.extent.constant or 1 << 40, axis.serial)


def product_tiles(region: Region) -> int:
    """Tiles as large as a product that a program has at a time: one for each product, two where it is reduced."""
    terms = _terms(region)
    return sum(2 if node in terms else 1 for node in region.contractions if is_dot(node, region))


def _terms(region: Region) -> set[Expression]:
    """What is reduced, and everything in it."""
    return {below for node in region.nodes if node.operation == "reduce" for below in walk(*node.arguments)}


def _changed_first(region: Region) -> set[Expression]:
    """Products in the updates of carries that cannot begin from these."""
    found: set[Expression] = set()
    for loop in region.loops:
        for ordinal, carry in enumerate(loop.carries):
            for update in (carry.update, carry.whole_update):
                grown = accumulated_product(update, loop.token, ordinal, carry.axes)
                below = walk(update) if update is not None else ()
                found |= {node for node in below if node.operation == "contract" and (not grown or node != grown[1])}
    return found


def spans_product(region: Region, axis: Axis) -> bool:
    """The axis is rows or columns of a matrix product, so that a whole accumulator is as long."""
    return any(axis in node.axes and is_dot(node, region) for node in region.contractions)


def at_most(axis: Axis, size: int) -> int:
    extent = axis.extent.constant
    return size if extent is None else max(DOT_MINIMUM, min(size, 1 << max(extent - 1, 0).bit_length()))


# ------------------------------------------------------------------------------------------------------------- tiles
def dot_lanes(region: Region, dots: Sequence[Expression], roles: Mapping[Axis, Role]) -> dict[Axis, int | None]:
    lanes: dict[Axis, int] = {}
    scalar = region.scalar_only
    widest = max(node.arguments[0].dtype.bits for node in dots)
    small = len(dots) > 1 or widest >= 32
    depth = 16 if widest == 64 else 32 if small else 64
    side_lanes = 32 if widest == 64 and len(dots) > 1 else 64 if small else None
    for node in dots:
        lhs, rhs = node.arguments
        k = contracted_lane(node)
        sides = ((lhs.axes - rhs.axes, DOT_ROWS), (rhs.axes - lhs.axes, DOT_COLUMNS))
        for side, size in sides:
            # one axis of a side is lanes: the fastest of the author's tensors; the others are single coordinates
            axes = sorted(
                side - scalar - set(node.attribute.axes), key=lambda axis: (axis.parallel, -region.order[axis])
            )
            for axis in axes[:1]:
                lanes[axis] = max(lanes.get(axis, 0), at_most(axis, side_lanes or size))
        lanes[k] = max(lanes.get(k, 0), at_most(k, depth))
    return {axis: size for axis, size in lanes.items() if roles[axis] != "resident"}


def few_product_rows(
    region: Region, lanes: Mapping[Axis, int | None]
) -> Iterator[tuple[Axis, int, Mapping[Axis, int]]]:
    """Rows of a product that may be few, how few, and tiles for that: no larger than they are, and so narrow that there
    are programs enough all the same, since it is the other matrix that takes the time.
    """
    dots = [node for node in region.contractions if is_dot(node, region)]
    if len(dots) != 1 or dots[0].arguments[0].dtype.bits > 16 or fold_rows(region):
        return
    lhs, rhs = dots[0].arguments
    k = contracted_lane(dots[0])
    rows = [axis for axis in region.program if axis in lhs.axes - rhs.axes and (lanes[axis] or 0) >= min(FEW_ROWS)]
    columns = [axis for axis in region.program if axis in rhs.axes - lhs.axes and lanes[axis]]
    if len(rows) != 1 or len(columns) != 1 or rows[0].extent.constant is not None:
        return
    packed = _bits(rhs, k) < 8
    for most, (width, depth) in (FEW_ROWS_PACKED if packed else FEW_ROWS).items():
        slices = {k: at_most(k, depth)} if k.extent.constant is None and lanes[k] else {}
        width = min(width, lanes[columns[0]] or width)
        found = {rows[0]: most, columns[0]: at_most(columns[0], width), **slices}
        if most <= (lanes[rows[0]] or 0) and any(lanes[axis] != size for axis, size in found.items()):
            yield rows[0], most, found


def _bits(operand: Expression, axis: Axis) -> float:
    """How many bits are read for each element of an operand, but for what all elements along the axis share."""
    loads = (node for node in walk(operand) if node.operation == "load" and axis in node.axes)
    return sum(load.dtype.bits / max(neighbours(load.attribute.coordinates, axis), 1) for load in loads)


def wide_enough(dots: Sequence[Expression], lanes: Mapping[Axis, int | None]) -> dict[Axis, int]:
    """Axes on chip that are shorter than a product's least side: the lanes beyond them are guarded."""
    sides = {axis for node in dots for axis in {*node.axes, contracted_lane(node)}}
    least = {axis: least_lanes(axis, dots) for axis in sides}
    return {axis: size for axis, size in least.items() if 1 < (lanes[axis] or 1) < size}


def within_registers(
    region: Region, dots: Sequence[Expression], roles: Mapping[Axis, Role], lanes: Mapping[Axis, int | None]
) -> dict[Axis, int]:
    """Fewer lanes beside resident ones, and where a product is one term of a sum or is changed before a carry grows by
    it: all need a second tile like it. One that is changed has fewer rows, as one group of warps multiplies 64.
    """
    found: dict[Axis, int] = {}
    terms, changed = _terms(region), _changed_first(region)
    for node in dots:
        sizes = {axis: lanes[axis] or 1 for axis in node.axes}
        resident = [axis for axis in sizes if roles[axis] == "resident"]
        narrowed = [axis for axis in sizes if axis not in resident and sizes[axis] > DOT_MINIMUM]
        if narrowed and (resident or node in terms | changed):
            wide = node in changed - terms and not resident
            axis = (min if wide else max)(narrowed, key=lambda axis: region.order[axis])
            beside = math.prod(sizes.values()) // sizes[axis]
            found[axis] = min(sizes[axis], max(DOT_MINIMUM, (DOT_RESIDENT if resident else DOT_TERM) // beside))
    return found


def wide_columns(region: Region, lanes: Mapping[Axis, int | None]) -> tuple[Axis, tuple[Suitable, ...]] | None:
    """The columns of which a product takes DOT_WIDE, and for which sizes: each element read is then used more often.

    One program then fills a processor. Where operands are computed there are no registers for that, nor where a program
    walks along rows that it gathers. Rows that a program walks along, as those of a group are, give no more programs.
    Where a loop adds up products, as of the taps of a filter, all columns of the tiles have to be there.
    """
    reductions = [node for node in region.nodes if isinstance(node.attribute, Reduction)]
    if len(reductions) != 1 or not _is_plain_dot(reductions[0], region) or not _only_grow(region.loops):
        return None
    lhs, rhs = reductions[0].arguments
    rows = [axis for axis in lhs.axes & reductions[0].axes - rhs.axes if lanes[axis] == DOT_ROWS]
    columns = [axis for axis in region.program if lanes[axis] == DOT_COLUMNS and axis not in lhs.axes]
    if len(rows) != 1 or len(columns) != 1 or (rows[0] not in region.program and _gathers(lhs)):
        return None
    elements = product(axis.extent for axis in region.program)
    tile = DOT_WIDE * (DOT_ROWS if rows[0] in region.program else 1)
    wanted: list[Suitable] = [(columns[0].extent, ">=", 3 * DOT_WIDE), (elements, ">=", WIDE_TILES * tile)]
    if region.loops:
        wanted[0] = (remainder(columns[0].extent, number(DOT_WIDE)), "==", 0)
    rest = [each for each in _row_lengths((lhs, rhs)) if not (region.loops and each == columns[0].extent)]
    wanted += [(remainder(each, number(ALIGNED)), "==", 0) for each in rest]
    if any(have.constant is not None and not _COMPARED[how](have.constant, than) for have, how, than in wanted):
        return None
    return columns[0], tuple(each for each in dict.fromkeys(wanted) if each[0].constant is None)


def _only_grow(loops: Iterable[Loop]) -> bool:
    """The loops do nothing but add products to their carries, or let loops within them do so."""
    for loop in loops:
        for ordinal, carry in enumerate(loop.carries):
            within = carry.update is not None and carry.update.operation == "carried"
            if not within and accumulated_product(carry.update, loop.token, ordinal, carry.axes) is None:
                return False
    return not any(loop.slices or loop.live is not None for loop in loops)


def unsuitable_rows(extent: Polynomial) -> tuple[Suitable, ...] | None:
    """When an axis is too short for whole tiles of a product's rows; None if it never is."""
    wanted: tuple[Suitable, ...] = ((extent, "<=", MERGED_ROWS), (remainder(extent, number(DOT_ROWS)), "!=", 0))
    if any(have.constant is not None and not _COMPARED[how](have.constant, than) for have, how, than in wanted):
        return None
    return tuple(each for each in wanted if each[0].constant is None)


_COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def _gathers(operand: Expression) -> bool:
    """Whether data say where elements of the operand are."""
    loads = [node for node in walk(operand) if node.operation == "load"]
    atoms = (atom for load in loads for place in load.attribute.coordinates for atom in place.atoms())
    return any(isinstance(atom, Expression) for atom in atoms)


def _row_lengths(loads: Iterable[Expression]) -> Iterator[Polynomial]:
    """Elements from one row to the next of contiguous arrays."""
    for load in loads:
        yield from load.attribute.memory.shape[-1:]


def _is_plain_dot(node: Expression, region: Region) -> bool:
    """A product of 16-bit matrices that are in memory as they are."""
    plain = node.operation == "contract" and is_dot(node, region)
    return plain and all(
        operand.operation == "load" and operand.dtype.bits <= 16 and isinstance(operand.attribute.memory, View)
        for operand in node.arguments
    )


# ------------------------------------------------------------------------------------------------------------- folds
def fold_rows(region: Region) -> frozenset[Axis]:
    """The axis over the grid along which a fold with several products of 16-bit elements has its rows."""
    dots = [node for node in region.contractions if is_dot(node, region)]
    if len(dots) < 2 or any(node.arguments[0].dtype.bits != 16 for node in dots):
        return frozenset()
    sliced = any(loop.slices for loop in region.loops)
    found = {axis for node in dots for axis in node.axes if axis in region.program and not axis.parallel}
    found -= region.scalar_only
    return frozenset(found) if sliced and len(found) == 1 else frozenset()


def fold_lanes(region: Region, resident: Mapping[Axis, int | None]) -> dict[Axis, int | None]:
    """Rows and slices of a fold that carries a tile of rows, one resident axis wide."""
    programs = fold_rows(region)
    tiles = _carried_tiles(region, resident)
    if not programs or not tiles or any(len(tile) != 1 for tile in tiles):
        return {}
    sizes = [size for (size,) in tiles]
    rows, depth = _fold_tile(sum(sizes))
    if len(tiles) > 1:  # beside several accumulators there are several tiles of rows by a slice
        rows, depth = min(rows, 64), max(depth, _fold_tile(max(sizes))[1])
    slices = {axis for axis in region.axes if axis.slices is not None}
    wanted = [(axis, rows) for axis in programs] + [(axis, depth) for axis in slices]
    return {axis: at_most(axis, size) for axis, size in wanted}


def _fold_tile(state: int) -> tuple[int, int]:
    return next((sizes for most, sizes in FOLD_TILES.items() if state <= most), FOLD_TILES[max(FOLD_TILES)])


def accumulators(region: Region, lanes: Mapping[Axis, int | None]) -> int:
    """Tiles that a fold with products carries, beside its statistics of rows."""
    return len(_carried_tiles(region, lanes)) if fold_rows(region) else 0


def described_slices(region: Region, lanes: Mapping[Axis, int | None]) -> dict[Axis, int | None]:
    """Slices of a fold with two products and one accumulator, where descriptors read them: copies take no registers.

    Not where the tile between the products takes more of them: a second limit of the slices, a costly function.
    """
    if any(len(loop.limits.nonnegative) > 1 for loop in region.loops) or any(map(_is_costly, region.nodes)):
        return {}
    tiles = _carried_tiles(region, lanes)
    products = sum(is_dot(node, region) for node in region.contractions)
    if not fold_rows(region) or products != 2 or len(tiles) != 1 or len(tiles[0]) != 1 or tiles[0][0] > DESCRIBED_STATE:
        return {}
    return {axis: at_most(axis, DESCRIBED_SLICE) for axis in region.axes if axis.slices is not None}


def _is_costly(node: Expression) -> bool:
    return node.operation == "pointwise" and node.attribute[0] in COSTLY and len(node.axes) > 1


def _carried_tiles(region: Region, lanes: Mapping[Axis, int | None]) -> list[list[int]]:
    """Lanes of the tiles of rows that loops over slices carry, apart from the rows."""
    return [
        [lanes[axis] or 1 for axis in carry.own if axis not in region.program]
        for loop in region.loops
        if loop.slices
        for carry in loop.carries
        if len(carry.own) > 1
    ]

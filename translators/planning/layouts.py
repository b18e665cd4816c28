"""Tile sizes: which axes are lanes, how many, and which extents stay on chip.

One small table of rules; sizes are powers of two that never depend on an input size. A kernel whose rows are used more
than once comes in up to three resident sizes and a streamed form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set

from intent.records import dataclass, replace
from translators.algebra.polynomial import Polynomial, number, product
from translators.planning.extents import covering_power, region_facts
from translators.planning.product_layouts import (
    DOT_MINIMUM,
    DOT_WIDE,
    MERGED_ROWS,
    Suitable,
    contracted_lane,
    described_slices,
    dot_lanes,
    few_product_rows,
    fold_lanes,
    fold_rows,
    is_dot,
    least_lanes,
    length,
    spans_product,
    unsuitable_rows,
    wide_columns,
    wide_enough,
    within_registers,
)
from translators.planning.ranges import axes_of, known_at_launch
from translators.planning.regions import (
    Region,
    access_coordinates,
    axes_at,
    reads_neighbours,
    unit_stride_axes,
    widest_element,
)
from translators.planning.sinks import AxisConflict, MustStore, unsupported
from translators.planning.tile_limits import HELD_TILE, LARGEST_TILE, narrowed, tile_elements
from translators.tile.expression import Axis, Expression, LoopToken, Reduction, walk
from translators.tile.program import Role

RESIDENT_ROWS = (1024, 4096, 8192)  # columns of a row that one program keeps in registers
SHORT_RESIDENT = (16, 128)  # the same where lanes beside them read neighbouring elements of some array
RESIDENT_COLUMN = (128,)  # rows of a column that one program keeps: beside them lanes read neighbouring elements
RESIDENT_STATE = (32, 64, 128)  # extent of each axis of a loop-carried matrix state
RESIDENT_DOT = (64, 128, 256)  # extent of the resident axes of a loop with matrix products
RESIDENT_DEPTH = (64, 128)  # extent along which a product is summed again for each tile of a loop around it
RESIDENT_CARRY = (128, 1024, 8192, 16384)  # extent of the only resident axis of a loop-carried tile
TILE = 8192  # elements of the largest tile beside a resident axis
FIXED_TILE = HELD_TILE  # elements of the largest tile that fixed extents keep on chip
STATE_TILE = 2048  # the same beside a loop-carried axis: a state is there twice, before and after the iteration
SHORT_TILE = 2048  # the same beside such a row: programs enough, and few elements a thread
SLICED_TILE = 4096  # the same where the tile is a slice that is read, whose loads run ahead
SLICE_TILE = 16384  # elements of a tile that a slice of rows on chip makes
STREAMED_ROW = 8192  # lanes when the only lanes are a streamed axis
BUSY_ROW, BUSY_ROWS = 4096, 1024  # the same where a row is read once and there are so many: some for each processor
SECTION = (32, 128)  # the same where several axes are: rows, and columns that are neighbours in memory
SHORT = 512  # a fixed extent that is lanes beside others
POINTWISE = 4096  # bytes of the widest array that a pointwise tile touches: two vectors of 16 in each thread
FEW_NEIGHBOURS = (64, 128)  # rows of elements that do not fill such a tile: several of them
SQUARE = 64  # both axes of a tile read along one and written along the other
STENCIL = (4, 512)  # a tile that is read by its neighbours too: rows, and 4-byte elements of a row
COLUMNS = (32, 256)  # column sums: free lanes that read neighbouring elements, and streamed rows
GROUPED_COLUMNS = (512, 8)  # the same where another axis gives programs enough
SHORT_ROW = 512  # row sums: longest row of which a program takes several
SHORT_ROWS, LONG_ROWS = (16, 256), (1, 4096)  # row sums: rows of a tile, and streamed lanes that read neighbours
POINTS = 256  # lanes of scalar bodies in I.parallel
LEAST_SWAPS, MOST_SWAPS = 64, 1024  # lanes of one compare and swap: threads of a wave, and of a program
HISTOGRAM_BINS = (64, 256, 1024)  # bins that one program counts at a time
HISTOGRAM_VALUES = 4096  # values it counts at a time
PER_THREAD = 32  # elements of a tile for each thread
PER_THREAD_WAITING = 16  # where a program waits for each tile: more loads have to be under way
PER_THREAD_STENCIL = 8
SEVERAL_PARTIAL, PER_THREAD_SEVERAL = 3, 8  # from so many tiles of partial results on


@dataclass(frozen=True, slots=True)
class Layout:
    """Role of every axis of one region, and its lanes (None: one coordinate at a time)."""

    roles: Mapping[Axis, Role]
    lanes: Mapping[Axis, int | None]
    per_thread: int = PER_THREAD

    def exact(self, axis: Axis) -> bool:
        """Every lane is a coordinate, whatever the sizes."""
        block, extent = self.lanes[axis], axis.extent.constant
        return block is None or axis.whole or (extent is not None and extent % block == 0)


@dataclass(frozen=True, slots=True)
class Choice:
    """A layout for every region, used when `limits` (extent <= number) hold and the sizes are `suitable` (a function of
    extents, a comparison, a number); `label` tells variants apart. `large`: programs have nothing to do but tiles of a
    large product. `described`: tiles are read through descriptors, where the device and the arrays allow it. `dealt`:
    the streamed axis whose tiles go to `parts` programs in turn.
    """

    layouts: tuple[Layout, ...]
    limits: tuple[tuple[Polynomial, int], ...]
    label: str
    suitable: tuple[Suitable, ...] = ()
    large: bool = False
    described: bool = False
    dealt: Axis | None = None
    parts: int = 1


def choices(regions: Sequence[Region], relaxed: bool = False) -> tuple[Choice, ...]:
    """The variants of a kernel, best first; the last one has no limits unless a state must be resident. `relaxed`: sums
    may follow a maximum in one sweep.
    """
    rows = {axis for region in regions for axis in fold_rows(region) if _symbolic(axis)}
    found: list[Choice] = []
    for choice in _choices(regions, relaxed):
        found += [*_few_rows(choice, rows, regions), *_described(choice, regions), *_short(choice, regions), choice]
    return _that_fit(found, regions)


def _that_fit(found: Sequence[Choice], regions: Sequence[Region]) -> tuple[Choice, ...]:
    """Those whose tiles a program can hold, and the last one if it alone takes some sizes or no other is left."""
    fitting = [choice for choice in found if _largest(choice, regions) <= HELD_TILE]
    last = found[-1]
    if last in fitting or (fitting and last.limits):
        return tuple(fitting)
    if _largest(last, regions) > LARGEST_TILE:
        raise unsupported(f"a tile of {_largest(last, regions)} elements is not lowered yet", regions[0].sinks[0].span)
    return (*fitting, last)


def _largest(choice: Choice, regions: Sequence[Region]) -> int:
    sizes = zip(regions, choice.layouts, strict=True)
    return max((tile_elements(region, layout.lanes) for region, layout in sizes), default=1)


def merged_choices(regions: Sequence[Region], last: Axis) -> tuple[Choice, ...]:
    """The variants with several axes of a product's rows merged into one: for few points, or where tiles along the
    `last` of the axes would be much longer than it is.
    """
    found: list[Choice] = []
    suitable = unsuitable_rows(last.extent)
    for choice in choices(regions) if suitable is not None else ():
        label = f"merged_{choice.label}" if choice.label else "merged"
        more = () if choice.limits else suitable or ()
        found.append(replace(choice, label=label, suitable=(*more, *choice.suitable)))
    return tuple(found)


def summed_on_chip(region: Region, layout: Layout) -> set[Axis]:
    """The axes on chip that products within a loop over tiles are summed along, and that no accumulator has."""
    return {axis for axis in _depths(region) if layout.roles[axis] == "resident" and axis not in region.carried}


def takes_few(choice: Choice, last: Axis) -> bool:
    """The choice is for fewer rows along the axis than merged rows are taken for."""
    return any(extent == last.extent and most < MERGED_ROWS for extent, most in choice.limits)


def _short(choice: Choice, regions: Sequence[Region]) -> Iterator[Choice]:
    """The same for a product of few rows, and for neighbours that are too few to fill a tile of elements."""
    if len(regions) != 1 or choice.large or choice.limits or choice.suitable:
        return
    (region,), (layout,) = regions, choice.layouts
    for axis, most, lanes in (*few_product_rows(region, layout.lanes), *_short_neighbours(region, layout)):
        layouts = (replace(layout, lanes={**layout.lanes, **lanes}),)
        yield replace(choice, layouts=layouts, limits=((axis.extent, most),))


def _short_neighbours(region: Region, layout: Layout) -> Iterator[tuple[Axis, int, Mapping[Axis, int]]]:
    """Several rows of the author's tensors where they are short, as channels and elements of heads may be."""
    free, _, points = _candidates(region, layout.roles)
    lanes = [axis for axis, size in layout.lanes.items() if size]
    size = layout.lanes[lanes[0]] or 1 if lanes else 1
    beside = [*free[1:], *points]
    if beside and len(region.program) > 2 and lanes == free[:1] and _symbolic(lanes[0]):
        for few in (few for few in FEW_NEIGHBOURS if few < size):
            yield lanes[0], few, {lanes[0]: few, beside[0]: _fit(beside[0], size // few)}


def _few_rows(choice: Choice, rows: Set[Axis], regions: Sequence[Region]) -> Iterator[Choice]:
    """A fold for a handful of rows, such as the queries of one new token, does not compute a tile of a hundred."""
    if rows:
        dots = [node for region in regions for node in region.contractions if is_dot(node, region)]
        few = {axis: least_lanes(axis, dots) for axis in sorted(rows, key=lambda axis: axis.serial)}
        layouts = tuple(_with_lanes(each, few) for each in choice.layouts)
        limits = dict.fromkeys((axis.extent, size) for axis, size in few.items())
        yield replace(choice, layouts=layouts, limits=(*choice.limits, *limits))


def _with_lanes(layout: Layout, lanes: Mapping[Axis, int]) -> Layout:
    """Other lanes of those axes that the region has."""
    return replace(layout, lanes={axis: lanes.get(axis, size) for axis, size in layout.lanes.items()})


def _described(choice: Choice, regions: Sequence[Region]) -> Iterator[Choice]:
    """The same by descriptors: of large products and of folds, whose slices are longer then."""
    if len(regions) != 1:
        return
    (region,), (layout,) = regions, choice.layouts
    longer = described_slices(region, layout.lanes)
    if choice.large or longer:
        lanes = {**layout.lanes, **longer}
        label = f"{choice.label}_described" if choice.label else "described"
        suitable = tuple(each for each in choice.suitable if each[1] != "==")  # descriptors ask less of row lengths
        layouts = (replace(layout, lanes=lanes),)
        yield replace(choice, layouts=layouts, suitable=suitable, label=label, described=True)


def _choices(regions: Sequence[Region], relaxed: bool) -> tuple[Choice, ...]:
    required = {axis for region in regions for axis in region.carried if _unbounded(region, axis)}
    if required:
        dots = any(is_dot(node, region) for region in regions for node in region.contractions)
        sizes = RESIDENT_DOT if dots else RESIDENT_CARRY if len(required) == 1 else RESIDENT_STATE
        return tuple(_choice(regions, required, size, "state") for size in sizes)
    rows = _row_axes(regions)
    if not rows and any(_symbolic(axis) for region in regions for axis in region.bins):
        return _histogram_choices(regions)
    if not rows and (summed := _summed_rows(regions)):
        short = Choice(tuple(_layout(region, {}, rows=SHORT_ROWS) for region in regions), ((summed, SHORT_ROW),), "")
        return (short, _choice(regions, set(), 0, ""))
    if rows:
        beside = [_choice(regions, rows, size, "short", SHORT_TILE) for size in _short_sizes(regions, rows)]
        resident = [*beside, *(_choice(regions, rows, size, "resident") for size in _row_sizes(regions, rows))]
    else:
        depths = _repeated_depths(regions)
        resident = [_choice(regions, depths, size, "resident") for size in RESIDENT_DEPTH] if depths else []
    usual = _choice(regions, set(), 0, "streamed" if rows else "")
    if len(regions) == 1 and rows:
        busy = _busy_choice(regions[0], rows, usual) if relaxed else None
        return (*resident, usual) if busy is None else (*resident, busy, usual)
    wide = _wide_choice(regions[0], usual) if len(regions) == 1 else None
    return (*resident, usual) if wide is None else (wide, usual) if wide.suitable else (wide,)


def _row_sizes(regions: Sequence[Region], rows: set[Axis]) -> Sequence[int]:
    """Extents of a reused axis that stay on chip."""
    if any(axis in region.bins for region in regions for axis in rows):
        return [size for size in RESIDENT_ROWS if size <= HISTOGRAM_BINS[-1]]
    if any(spans_product(region, axis) for region in regions for axis in rows):
        return RESIDENT_DOT
    return RESIDENT_COLUMN if any(_runs_down(region, axis) for region in regions for axis in rows) else RESIDENT_ROWS


def _short_sizes(regions: Sequence[Region], rows: set[Axis]) -> Sequence[int]:
    """Extents of a reused axis so short that lanes beside it, where these read neighbours, make more of a tile."""
    sizes = _row_sizes(regions, rows)
    beside = sizes == RESIDENT_ROWS and all(_neighbours_beside(region, rows) for region in regions)
    return [size for size in SHORT_RESIDENT if size < sizes[0]] if beside else ()


def _neighbours_beside(region: Region, rows: set[Axis]) -> bool:
    """Some array has rows along the axes, and neighbours along an axis of the program."""
    free, _, _ = _candidates(region, _roles(region, {}))
    along = [place for place in access_coordinates(region) if rows & axes_of(place[:-1])]
    return any(place[-1].coefficient(axis) == number(1) for place in along for axis in free[:1])


def _repeated_depths(regions: Sequence[Region]) -> set[Axis]:
    """The axis that products of which each tile is reduced are summed along, where an operand is the same for all
    tiles: on chip it is read once.
    """
    found = {axis for region in regions for axis in _depths(region)}
    return found if len(found) == 1 else set()


def _depths(region: Region) -> set[Axis]:
    found: set[Axis] = set()
    results = {axis for node in region.contractions for axis in node.axes}
    for node in (node for node in region.contractions if is_dot(node, region)):
        tiles = {axis for axis in node.axes & region.bound if axis.slices is None and _unbounded(region, axis)}
        depth = contracted_lane(node)
        again = tiles and any(tiles.isdisjoint(operand.axes) for operand in node.arguments)
        if again and depth not in results and depth.slices is None and _unbounded(region, depth):
            found.add(depth)
    return found - region.scalar_only


def _summed_rows(regions: Sequence[Region]) -> Polynomial | None:
    """The extent of the rows that all regions only reduce, if it is one and the host knows it."""
    found: set[Polynomial] = set()
    for region in regions:
        if not any(is_dot(node, region) for node in region.contractions):
            free, streamed, _ = _candidates(region, _roles(region, {}))
            if free and streamed and _along_rows(region, free[0], streamed[0]):
                found |= {streamed[0].extent}
    extent = found.pop() if len(found) == 1 else None
    return extent if extent is not None and extent.constant is None and known_at_launch(extent) else None


def _histogram_choices(regions: Sequence[Region]) -> tuple[Choice, ...]:
    """A block of bins that is not much larger than their number; beyond the last, several blocks."""
    bins = sorted({axis for region in regions for axis in region.bins if _symbolic(axis)}, key=lambda axis: axis.serial)
    found: list[Choice] = []
    for size in HISTOGRAM_BINS:
        layouts = tuple(_layout(region, {}, size) for region in regions)
        limits = tuple(dict.fromkeys((axis.extent, size) for axis in bins)) if size != HISTOGRAM_BINS[-1] else ()
        found.append(Choice(layouts, limits, ""))
    return tuple(found)


def _choice(regions: Sequence[Region], resident: set[Axis], size: int, label: str, tile: int | None = None) -> Choice:
    """`tile`: elements of the largest tile beside resident axes, if it is not the usual number."""
    limits = dict.fromkeys((axis.extent, size) for axis in sorted(resident, key=lambda axis: axis.serial))
    layouts = tuple(_layout(region, dict.fromkeys(resident, size), tile=tile) for region in regions)
    return Choice(layouts, tuple(limits), label)


def _wide_choice(region: Region, usual: Choice) -> Choice | None:
    """More columns for one large product of 16-bit matrices."""
    (layout,) = usual.layouts
    wide = wide_columns(region, layout.lanes)
    if wide is None:
        return None
    columns, suitable = wide
    large = not region.loops and all(axis in region.program for node in region.contractions for axis in node.axes)
    return Choice((replace(layout, lanes={**layout.lanes, columns: DOT_WIDE}),), (), usual.label, suitable, large=large)


def _busy_choice(region: Region, rows: set[Axis], usual: Choice) -> Choice | None:
    """Short tiles of long rows that are read once, where there are many: other programs go on while one waits."""
    (layout,), (row,) = usual.layouts, rows
    lanes = [axis for axis, size in layout.lanes.items() if size]
    once = lanes == [row] and not any(row in sink.axes for sink in region.sinks) and _follows_maxima(region, row)
    many = product(axis.extent for axis in region.program)
    if not once or layout.lanes[row] != STREAMED_ROW or many.constant is not None or not known_at_launch(many):
        return None
    busy = replace(layout, lanes={**layout.lanes, row: BUSY_ROW}, per_thread=PER_THREAD)
    return Choice((busy,), (), usual.label, ((many, ">=", BUSY_ROWS),))


def _follows_maxima(region: Region, axis: Axis) -> bool:
    """What is reduced along the axis depends on no other result along it than maxima."""
    along = [node for node in region.nodes if _binds(node, axis)]
    inside = {inner for outer in along for inner in walk(*outer.arguments) if _binds(inner, axis)}
    return all(node.operation == "reduce" for node in along) and all(node.attribute.kind == "max" for node in inside)


def _row_axes(regions: Sequence[Region]) -> set[Axis]:
    """The axis whose elements a region needs more than once, if it is the only one and its extent is not fixed."""
    found = {axis for region in regions for axis in _reused(region) - region.scalar_only}
    symbolic = {axis for axis in found if any(_unbounded(region, axis) for region in regions if axis in region.axes)}
    return symbolic if len(symbolic) == 1 else set()


def _symbolic(axis: Axis) -> bool:
    """The host knows the extent, and the planner does not: a variant can have a limit for it."""
    return axis.extent.constant is None and known_at_launch(axis.extent)


def _unbounded(region: Region, axis: Axis) -> bool:
    """The host knows the extent, which may be large. Of a block `[b, min(b + 32, n))` the planner knows enough."""
    return _symbolic(axis) and covering_power(axis, region_facts(region), RESIDENT_CARRY[0]) is None


def _runs_down(region: Region, axis: Axis) -> bool:
    """More arrays hold neighbours along an axis of the program at one position of this axis than the other way."""
    along = [place[-1] for place in access_coordinates(region) if len(place) > 1 and axis in axes_of(place)]
    program = set(region.program) - region.scalar_only
    down = sum(bool(program & axes_of([last])) and axis not in axes_of([last]) for last in along)
    return down > sum(axis in axes_of([last]) for last in along)


def _reused(region: Region) -> set[Axis]:
    """Axes reduced over and used again: by a store, by another reduction that depends on the first, or by a scan."""
    found: set[Axis] = set()
    contracted = {axis for node in region.contractions for axis in node.attribute.axes}
    for axis in region.bound - contracted:
        if axis.slices is None and (any(axis in sink.axes for sink in region.sinks) or _chained(region, axis)):
            found.add(axis)
    return found


def _chained(region: Region, axis: Axis) -> bool:
    reductions = [node for node in region.nodes if _binds(node, axis)]
    return any(
        inner is not outer and _binds(inner, axis) and inner.attribute.kind != "combined"
        for outer in reductions
        for inner in walk(*outer.arguments)
    )


def _binds(node: Expression, axis: Axis) -> bool:
    return isinstance(node.attribute, Reduction) and axis in node.attribute.axes


# -------------------------------------------------------------------------------------------------------- one region
def _layout(
    region: Region,
    resident: Mapping[Axis, int],
    bins: int = HISTOGRAM_BINS[-1],
    rows: tuple[int, int] | None = None,
    tile: int | None = None,
) -> Layout:
    roles = _roles(region, resident)
    lanes: dict[Axis, int | None] = dict.fromkeys(region.axes)
    lanes.update(
        {axis: resident.get(axis) or _row_lanes(region, axis) for axis, role in roles.items() if role == "resident"}
    )
    dots = [node for node in region.contractions if is_dot(node, region)]
    per_thread = PER_THREAD
    if dots:
        lanes.update(dot_lanes(region, dots, roles))
        lanes.update(wide_enough(dots, lanes))
        sliced = any(loop.slices for loop in region.loops)
        lanes.update(fold_lanes(region, lanes) if sliced else within_registers(region, dots, roles, lanes))
    else:
        resident_lanes = math.prod(lanes[axis] or 1 for axis in lanes)
        stream_lanes, per_thread = _stream_lanes(region, roles, rows or LONG_ROWS)
        lanes.update(_shared_lanes(stream_lanes, resident_lanes, tile or _tile_budget(region)))
        lanes.update(_short_lanes(region, roles, lanes))
    if any(loop.slices for loop in region.loops):
        per_thread = PER_THREAD
    elif region.counts or _waits_for_loads(region):
        per_thread = min(per_thread, PER_THREAD_WAITING)
    lanes.update(_count_lanes(region, roles, bins))
    lanes.update(_swap_lanes(region, roles, lanes))
    if not region.counts and not region.swapped:
        lanes.update(narrowed(region, roles, lanes))
    streamed = [axis for axis, role in roles.items() if role == "streamed"]
    covered: dict[Axis, Role] = {axis: "resident" for axis in streamed if _covers(lanes[axis], axis)}
    roles, lanes = roles | covered, lanes | _slice_lanes(region, lanes)
    lanes.update(_lanes_of_carries(region, lanes))
    for twin, axis in region.twins.items():
        roles[twin], lanes[twin] = roles[axis], lanes[axis]
    return Layout(roles, lanes, per_thread)


def _lanes_of_carries(region: Region, lanes: Mapping[Axis, int | None]) -> dict[Axis, int | None]:
    """A carry is one tile, along whatever axes it is read: a product may want more lanes of one of them."""
    found = dict(lanes)
    pairs = region.renamed
    for _ in pairs:
        for own, axis in pairs:
            sizes = [size for size in (found[own], found[axis]) if size]
            if len(sizes) == 2:
                found[own] = found[axis] = max(sizes)
    return found


def _waits_for_loads(region: Region) -> bool:
    """An iteration of a loop of single coordinates reads something."""
    return any(node.operation == "load" and node.loops for node in region.nodes)


def _tile_budget(region: Region) -> int:
    """Elements of the largest tile beside resident axes."""
    if any(loop.slices for loop in region.loops):
        return SLICED_TILE
    return STATE_TILE if region.carried else TILE


def _covers(lanes: int | None, axis: Axis) -> bool:
    """One tile holds the whole axis: there is nothing to loop over."""
    extent = axis.extent.constant
    return lanes is not None and extent is not None and 0 < extent <= lanes


def _short_lanes(region: Region, roles: Mapping[Axis, Role], lanes: Mapping[Axis, int | None]) -> dict[Axis, int]:
    """More lanes for fixed extents that no loop needs to run along, as long as the tiles stay small."""
    found: dict[Axis, int] = {}
    scalar = region.scalar_only
    free = [axis for axis in region.program if not axis.parallel]
    for axis in region.axes:
        extent = axis.extent.constant
        if roles[axis] != "streamed" or axis in scalar or lanes[axis] or not extent or not 1 < extent <= SHORT:
            continue
        if not _worth_lanes(axis, free):
            continue
        beside = (axes for node in region.nodes if axis in (axes := set(axes_at(node))))
        widest = max((math.prod((found.get(a) or lanes[a] or 1) for a in axes) for axes in beside), default=1)
        power = 1 << (extent - 1).bit_length()
        if widest * power <= TILE:
            found[axis] = power
    return found


def _swap_lanes(region: Region, roles: Mapping[Axis, Role], lanes: Mapping[Axis, int | None]) -> dict[Axis, int | None]:
    """Of compare and swap: one axis, at least as long as a wave, so that every thread has lanes of its own."""
    found: dict[Axis, int | None] = {}
    for axes in region.swapped:
        several = sorted((axis for axis in axes if lanes[axis]), key=lambda axis: -region.order[axis])
        kept = [axis for axis in several if roles[axis] == "resident"]
        if len(kept) > 1 or any(not LEAST_SWAPS <= (lanes[axis] or 0) <= MOST_SWAPS for axis in kept):
            raise AxisConflict(kept[0].extent)
        several.sort(key=lambda axis: axis not in kept)
        found.update(dict.fromkeys(several[1:]))
        found.update({axis: found.get(axis, POINTS) for axis in several[:1] if axis not in kept})
    return found


def _count_lanes(region: Region, roles: Mapping[Axis, Role], most: int) -> dict[Axis, int | None]:
    """Of a histogram: as many bins as are counted at a time, and the longest axis of its values."""
    lanes: dict[Axis, int | None] = {}
    for node in region.counts:
        bins, axes = node.attribute.bins, node.attribute.axes
        if roles[bins] != "resident" and bins not in region.scalar_only:
            lanes[bins] = _fit(bins, most)
        streamed = [axis for axis in axes if roles[axis] != "resident" and axis not in region.scalar_only]
        lanes.update(dict.fromkeys(streamed))
        if streamed and len(streamed) == len(axes):
            longest = max(streamed, key=length)
            lanes[longest] = _fit(longest, HISTOGRAM_VALUES)
    return lanes


def _slice_lanes(region: Region, lanes: Mapping[Axis, int | None]) -> dict[Axis, int | None]:
    """All axes of one loop's slices are cut alike, in lanes, as are those of another loop along the same row.

    The latter as far as there is room beside the lanes that slices meet on chip.
    """
    sizes: dict[LoopToken, int] = {}
    least = _least_slice(region, lanes)
    single = {loop.token for loop in region.loops if loop.single}
    for axis in region.axes:
        if axis.slices is not None:
            alike = [
                lanes[other] or 0
                for other in region.axes
                if other.extent == axis.extent and other not in region.program
            ]
            longest = min(max(alike, default=0), max(_room(region, axis, lanes), lanes[axis] or 0))
            sizes[axis.slices] = 1 if axis.slices in single else max(sizes.get(axis.slices, least), longest)
    return {axis: sizes[axis.slices] for axis in region.axes if axis.slices is not None}


def _room(region: Region, axis: Axis, lanes: Mapping[Axis, int | None]) -> int:
    """The longest slice for which no tile has more than SLICE_TILE elements."""
    beside = [
        math.prod(lanes[other] or 1 for other in node.axes if other.slices is None and other not in region.program)
        for node in region.nodes
        if axis in node.axes
    ]
    return SLICE_TILE // max(beside, default=1)


def _least_slice(region: Region, lanes: Mapping[Axis, int | None]) -> int:
    """A product needs its minimum; a slice without one is as short as long rows on chip make it."""
    dots = [node for node in region.contractions if is_dot(node, region)]
    if dots:
        return max(least_lanes(axis, dots) for axis in region.axes)
    on_chip = [size or 1 for axis, size in lanes.items() if axis not in region.program and axis.slices is None]
    return max(1, min(DOT_MINIMUM, SLICE_TILE // max(on_chip, default=1)))


def _shared_lanes(lanes: Mapping[Axis, int | None], resident: int, tile: int) -> dict[Axis, int | None]:
    """Lanes beside resident ones: as many as the tile's budget leaves, none where a row fills it."""
    if resident < DOT_MINIMUM:
        return dict(lanes)
    room = tile // resident if resident <= 128 else 1
    return {axis: min(size, room) if size and min(size, room) > 1 else None for axis, size in lanes.items()}


def _roles(region: Region, resident: Mapping[Axis, int]) -> dict[Axis, Role]:
    roles: dict[Axis, Role] = {}
    scalar = region.scalar_only
    fixed = _fixed_rows(region)
    for axis in region.axes:
        if axis in region.program:
            roles[axis] = "program"
        elif axis.slices is not None:
            roles[axis] = "slice"
        elif axis in resident or axis in region.carried or axis in fixed:
            roles[axis] = "resident"
        else:
            roles[axis] = "streamed"
    too_large = _largest_tile(region, {axis for axis in region.carried if axis.extent.constant}) > FIXED_TILE
    for axis in region.carried:
        if axis in scalar:
            raise _in_memory(region, axis, "a carry's axis that bounds another axis is not lowered yet")
        if too_large and axis.extent.constant:
            raise _in_memory(region, axis, "a carry that does not fit on chip is not lowered yet")
    return roles


def _in_memory(region: Region, axis: Axis, message: str) -> Exception:
    """The carries along the axis have to be in memory; the message is for those that cannot be."""
    results = {carry.result for carry in region.carries_along(axis)}
    span = region.sinks[0].span
    if not results or None in results:
        return unsupported(message, span)
    return MustStore([result for result in results if result is not None], span)


def _fixed_rows(region: Region) -> set[Axis]:
    """The reused axes of fixed extents that stay on chip: as many as a tile holds, neighbours in memory first."""
    unit = unit_stride_axes(region)
    candidates = [
        axis for axis in region.axes
        if axis not in region.program and axis not in region.scalar_only and axis.slices is None
        and _fixed_row(region, axis)
    ]  # fmt: skip
    kept: set[Axis] = set()
    for axis in sorted(candidates, key=lambda axis: (-unit.get(axis, 0), -region.order[axis])):
        if _largest_tile(region, {*kept, axis}) <= FIXED_TILE:
            kept.add(axis)
    return kept


def _largest_tile(region: Region, resident: Set[Axis]) -> int:
    """Elements of the largest tile, if these axes are on chip and all others are single coordinates."""
    if not resident:
        return 1
    facts = region_facts(region)
    sizes = {axis: covering_power(axis, facts, 2 * (axis.extent.constant or RESIDENT_CARRY[-1])) for axis in resident}
    return max((math.prod(sizes.get(axis) or 1 for axis in node.axes) for node in region.nodes), default=1)


def _fixed_row(region: Region, axis: Axis) -> bool:
    """A reused axis stays on chip if its extent is fixed, or bounded although it varies from point to point."""
    if axis.extent.constant == 0 or _unbounded(region, axis) or axis not in _reused(region):
        return False
    most = HISTOGRAM_BINS[-1] if axis in region.bins else RESIDENT_ROWS[-1]
    most = RESIDENT_DOT[-1] if spans_product(region, axis) else most
    return covering_power(axis, region_facts(region), most) is not None


def _row_lanes(region: Region, axis: Axis) -> int:
    fixed = axis.extent.constant
    most = RESIDENT_CARRY[-1] if fixed is None else max(RESIDENT_CARRY[-1], 2 * fixed)
    size = covering_power(axis, region_facts(region), most)
    if size is None:
        raise _in_memory(region, axis, f"no bound of the extent of {axis.name} is known, which a carry needs")
    return size


def _stream_lanes(
    region: Region, roles: Mapping[Axis, Role], rows: tuple[int, int]
) -> tuple[dict[Axis, int | None], int]:
    """Lanes of axes that are not resident, and how many elements of such a tile one thread takes."""
    free, streamed, points = _candidates(region, roles)
    unit = unit_stride_axes(region)
    if free and streamed and _recomputed(region, free[0]):
        return {free[0]: _fit(free[0], SHORT), streamed[0]: _fit(streamed[0], SHORT)}, PER_THREAD
    if free and streamed:
        return _reduction_lanes(region, free[0], streamed[0], rows)
    if streamed:
        return _lanes_for_all(region, streamed), PER_THREAD_WAITING
    if len(free) > 1 and reads_neighbours(region, free[1]):
        columns = STENCIL[1] * 4 // widest_element(region, free[0])
        return {free[0]: _fit(free[0], columns), free[1]: _fit(free[1], STENCIL[0])}, PER_THREAD_STENCIL
    if len(free) > 1 and unit.get(free[1]):
        return {free[0]: _fit(free[0], SQUARE), free[1]: _fit(free[1], SQUARE)}, PER_THREAD_WAITING
    if free:
        lanes = POINTWISE // widest_element(region, free[0])
        short, beside = _fit(free[0], lanes), [*free[1:], *points]
        more: dict[Axis, int | None] = {axis: _fit(axis, lanes // short) for axis in beside[:1] if short < lanes}
        return {free[0]: short, **more}, PER_THREAD
    return {points[0]: _fit(points[0], POINTS)} if points else {}, PER_THREAD


def _lanes_for_all(region: Region, streamed: Sequence[Axis]) -> dict[Axis, int | None]:
    """Every effect and every reduction of one program has lanes along one of its axes at least."""
    chosen = [streamed[0]]
    works = [set(sink.axes) for sink in region.sinks]
    works += [set(axes_at(node)) for node in region.nodes if isinstance(node.attribute, Reduction)]
    for axes in works:
        if axes.isdisjoint(chosen):
            chosen += [axis for axis in streamed if axis in axes][:1]
    tiles = [axes for axes in (*works, *map(set, map(axes_at, region.nodes))) if len(axes.intersection(chosen)) > 1]
    together = set().union(*tiles)
    rows, columns = SECTION
    beside = {axis: columns if axis is streamed[0] else rows for axis in chosen if axis in together}
    return {axis: _fit(axis, beside.get(axis, STREAMED_ROW)) for axis in chosen}


def _candidates(region: Region, roles: Mapping[Axis, Role]) -> tuple[list[Axis], list[Axis], list[Axis]]:
    """Axes that may be lanes: free ones, streamed ones, parallel points; neighbours in memory come first."""
    scalar = region.scalar_only
    unit = unit_stride_axes(region)
    candidates = [
        axis for axis in region.axes if axis not in scalar and axis.extent.constant not in (0, 1) and not axis.whole
    ]
    free = [axis for axis in candidates if roles[axis] == "program" and not axis.parallel]
    points = [axis for axis in candidates if roles[axis] == "program" and axis.parallel]
    streamed = [axis for axis in candidates if roles[axis] in ("streamed", "slice") and _worth_lanes(axis, free)]
    free.sort(key=lambda axis: (-unit.get(axis, 0), -region.order[axis]))
    streamed.sort(key=lambda axis: (-unit.get(axis, 0), -region.order[axis]))
    points.sort(key=lambda axis: (-unit.get(axis, 0), -region.order[axis]))
    return free, streamed, points


def _recomputed(region: Region, axis: Axis) -> bool:
    """Some reduction does not vary with this axis, whose short fixed extent one tile can hold: each of several tiles
    would do it again.
    """
    extent = axis.extent.constant
    return (extent is not None and extent <= SHORT) and any(
        isinstance(node.attribute, Reduction) and axis not in node.axes for node in region.nodes
    )


def _worth_lanes(axis: Axis, free: Sequence[Axis]) -> bool:
    """A short fixed axis beside free lanes (filter taps) is a loop of single coordinates."""
    extent = axis.extent.constant
    return extent is None or extent > 32 or not free


def _reduction_lanes(
    region: Region, free: Axis, streamed: Axis, rows: tuple[int, int]
) -> tuple[dict[Axis, int | None], int]:
    if not _along_rows(region, free, streamed):
        count, lanes = GROUPED_COLUMNS if len(region.program) > 1 else COLUMNS
        return {free: _fit(free, count), streamed: _fit(streamed, lanes)}, PER_THREAD
    extent = streamed.extent.constant
    count, lanes = rows if extent is None else SHORT_ROWS if extent <= SHORT_ROW else LONG_ROWS
    per_thread = PER_THREAD if count == 1 else PER_THREAD_WAITING
    partial = sum(free in node.axes and _binds(node, streamed) for node in region.nodes)
    if partial >= SEVERAL_PARTIAL:
        per_thread = min(per_thread, PER_THREAD_SEVERAL)
    return {free: _fit(free, count), streamed: _fit(streamed, lanes)}, per_thread


def _along_rows(region: Region, free: Axis, streamed: Axis) -> bool:
    """More of what is read along the streamed axis has its neighbours there than along the free axis."""
    last = [place[-1] for place in access_coordinates(region) if streamed in axes_of(place)]
    along, across = (sum(each.coefficient(axis) == number(1) for each in last) for axis in (streamed, free))
    return along > across


def _fit(axis: Axis, size: int) -> int:
    """No more lanes than a fixed extent needs."""
    extent = axis.extent.constant
    return size if extent is None else min(size, 1 << max(extent - 1, 0).bit_length())

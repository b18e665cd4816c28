"""One kernel: demand, regions, layouts, schedules, device functions, launch description."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from intent.records import dataclass, field, replace
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Polynomial, atomic, product
from translators.diagnostics import Diagnostic, Rejected, Span
from translators.logical.program import Kernel, Program, Value
from translators.logical.types import Buffer
from translators.options import Options
from translators.planning.advice import advice
from translators.planning.ahead import under_way
from translators.planning.bounds import Bounds, bounded_numerators, normalising_exponentials
from translators.planning.coverage import coverage_notes, covered
from translators.planning.dealt_tiles import with_dealt_tiles
from translators.planning.decisions import FINDINGS, Decisions
from translators.planning.demand import Demand
from translators.planning.described_tiles import described_tiles, one_after_the_other
from translators.planning.extents import bounded_products, products_of_sizes, region_facts
from translators.planning.hazards import cells, joined
from translators.planning.layouts import POINTS, Choice, Layout, choices, merged_choices, summed_on_chip, takes_few
from translators.planning.merged_rows import several_rows, with_merged
from translators.planning.naming import Namer
from translators.planning.online import is_online
from translators.planning.padding import Padding
from translators.planning.product_layouts import COPIED, accumulators, is_dot, product_tiles
from translators.planning.program_coordinates import Decoding, prologue, tile_count
from translators.planning.ranges import known_at_launch
from translators.planning.region_operations import AlongSlices
from translators.planning.regions import Region, axes_at, form_regions
from translators.planning.schedule import Scheduler
from translators.planning.sinks import AxisConflict, MustHold, MustPin, MustStore, OutOfOrder, unsupported
from translators.planning.statements import made_by_statements
from translators.tile.expression import Axis, Expression, LoopToken, Place
from translators.tile.program import AxisForm, Check, Dealt, Describe, Section, TileFunction
from translators.triton_source.device_functions import with_dependencies
from translators.triton_source.expressions import Code, binary
from translators.triton_source.host_sizes import blocks_code, size_code
from translators.triton_source.launch import (
    OVERLAPS,
    TILES,
    Copies,
    KernelCode,
    Overlap,
    Requirement,
    Scratch,
    ScratchPointer,
    Tuning,
    Variant,
)
from translators.triton_source.names import LaunchNames, launch_names
from translators.triton_source.write import Written, write_function

BEYOND = "in_memory"  # label of the variant for sizes that nothing else takes


def plan_kernel(kernel: Kernel, program: Program, options: Options) -> KernelCode:
    """The device functions of one kernel and how they are launched."""
    names = launch_names(kernel)
    planning = _Planning(kernel, names, options.numerics == "relaxed_normalization")
    usual = planning.decided()
    demand, regions = usual.demand, usual.regions
    merged, beyond = planning.merged(usual), planning.beyond(usual)
    plans, unmerged = [*merged, *beyond], [usual, *beyond]
    variants = [variant for plan in plans for variant in plan.variants]
    helpers: dict[str, str] = {}
    for variant in variants:
        helpers.update(with_dependencies(variant.written.helpers))
    for variant in variants:
        helpers.update(variant.written.combines)
    notes = {name: note for variant in variants for name, note in _notes(variant, kernel).items()}
    whole = frozenset.intersection(*(covered(plan.demand.sinks) for plan in unmerged))
    notes |= _serial_notes(demand, regions) | _skip_notes(demand) | coverage_notes(demand.sinks, whole)
    notes |= _timing_notes(demand, regions, kernel) | advice(demand, regions)
    return KernelCode(
        kernel=kernel,
        variants=_last_unconditional([_variant(plan, planned, names) for plan in plans for planned in plan.variants]),
        helpers=helpers,
        requirements=tuple(_requirements(demand, variants, names)),
        overlap=max((_overlap(plan.demand, plan.regions) for plan in unmerged), key=OVERLAPS.index),
        covered=whole,
        stages=tuple(_stages(demand, program)),
        traffic=_traffic(kernel, regions),
        notes=tuple(notes.values()),
        promises=tuple(_promises(variants)),
        products=tuple(dict.fromkeys(_products(merged, names))),
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """Variants that share a demand, and so scratch memory."""

    demand: Demand
    regions: tuple[Region, ...]
    variants: list[_Planned]


def _products(plans: Iterable[_Plan], names: LaunchNames) -> Iterator[str]:
    return (size_code(each, names).text for plan in plans for each in products_of_sizes(plan.regions))


@dataclass(slots=True)
class _Planning:
    """Plans one kernel, again and again. `combines` has the combine functions of all plans, by name."""

    kernel: Kernel
    names: LaunchNames
    relaxed: bool
    combines: dict[str, str] = field(default_factory=dict)

    def decided(self) -> _Plan:
        """Plan until an attempt finds nothing more to decide; rows that have to stay on chip then have a limit.
        Whatever that does not lower goes from statement to statement, through scratch memory.
        """
        try:
            return self._every_form(Decisions())
        except Rejected:
            pass
        try:
            return self._every_form(Decisions(), on_chip=True)
        except Rejected as rejected:
            try:
                return self._every_form(self._by_statements())
            except Rejected:
                raise rejected from None

    def merged(self, usual: _Plan) -> tuple[_Plan, ...]:
        """The usual plan, after one with tiles of products across several axes, where the last of these is short."""
        axes = several_rows(usual.demand, usual.regions)
        if not axes:
            return (usual,)
        demand = with_merged(usual.demand, axes)
        with suppress(Rejected, *FINDINGS):
            regions = form_regions(demand)
            found = _Plan(demand, regions, self._written(demand, regions, merged_choices(regions, axes[-1])))
            rest = [each for each in usual.variants if not takes_few(each.choice, axes[-1])]
            if found.variants:
                always = not found.variants[-1].choice.limits and not found.variants[-1].choice.suitable
                return (found,) if always else (found, replace(usual, variants=rest))
        return (usual,)

    def beyond(self, usual: _Plan) -> tuple[_Plan, ...]:
        """For sizes beyond the limits of all variants: what these keep on chip is in scratch memory. Nothing if there
        are no such sizes, or no way without a limit.
        """
        limited = _limited(usual)
        if not limited:
            return ()
        stored = _carries_along(usual, limited)
        if stored:
            with suppress(Rejected):
                return (self._without_limits(Decisions(), stored),)
        with suppress(Rejected):
            return (self._without_limits(self._by_statements(), stored),)
        return ()

    def _without_limits(self, start: Decisions, stored: frozenset[Value]) -> _Plan:
        """More carries are stored until none of them is left on chip."""
        while True:
            found = self._every_form(replace(start, stored=stored), label=BEYOND)
            limited = _limited(found)
            if not limited:
                return found
            more = stored | _carries_along(found, limited)
            if more == stored:
                raise unsupported("a row has to stay on chip", self.kernel.span)
            stored = more

    def _by_statements(self) -> Decisions:
        return Decisions.holding(frozenset(made_by_statements(self.kernel.body)))

    def _every_form(self, decisions: Decisions, on_chip: bool = False, label: str | None = None) -> _Plan:
        """All variants, or the last one only, under the given label."""
        while True:
            demand = Demand(
                self.kernel, decisions.pinned, decisions.unshared, decisions.held, decisions.in_turn,
                decisions.stored, relaxed=self.relaxed,
            )  # fmt: skip
            regions: tuple[Region, ...] = ()
            try:
                demand.collect()
                for view in joined(self.kernel, demand.sinks, demand.read, demand.reads_after_writes):
                    if view not in demand.pinned:
                        raise MustPin(view)
                regions = form_regions(demand)
                tuple(_scratch(demand, self.names))
                return _Plan(demand, regions, self._write_variants(demand, regions, on_chip, label))
            except FINDINGS as found:
                decisions = decisions.after(found, _serial_points(demand, regions), self.kernel.span)
            except AlongSlices as found:
                decisions = decisions.after(MustHold([found.value], found.loop.span), set(), self.kernel.span)

    def _write_variants(
        self, demand: Demand, regions: Sequence[Region], on_chip: bool, label: str | None
    ) -> list[_Planned]:
        """All variants, or the last one only, under the given label."""
        wanted = tuple(with_dealt_tiles(demand, regions, choices(regions, demand.relaxed)))
        return self._written(demand, regions, wanted if label is None else [replace(wanted[-1], label=label)], on_chip)

    def _written(
        self, demand: Demand, regions: Sequence[Region], wanted: Sequence[Choice], on_chip: bool = False
    ) -> list[_Planned]:
        """Plan and print every variant. If rows may have to be on chip, one that cannot be streamed loses that form."""
        planned: list[_Planned] = []
        texts: dict[str, str] = {}
        for choice in wanted:
            _swapped_elements(regions, choice)
            alike = (earlier for earlier in planned if _same_structure(regions, earlier.choice, choice))
            resized = next((found for each in alike if (found := _resized(each, choice)) is not None), None)
            if resized is not None:
                planned.append(resized)
                continue
            try:
                found = _write_choice(demand, regions, choice, self.names, texts, self.combines)
                if not choice.described or _has_descriptors(found.function):
                    planned.append(found)
            except (Rejected, OutOfOrder, MustStore):
                if not choice.described and (not on_chip or not planned or choice.limits):
                    raise
        return planned


def _limited(plan: _Plan) -> frozenset[Polynomial]:
    """Extents that the last of the variants has a limit for."""
    return frozenset(extent for extent, _ in plan.variants[-1].choice.limits) if plan.variants else frozenset()


def _carries_along(plan: _Plan, extents: frozenset[Polynomial]) -> frozenset[Value]:
    """What a loop carries along an axis of such an extent."""
    axes = [(region, axis) for region in plan.regions for axis in region.axes if axis.extent in extents]
    carries = (carry.result for region, axis in axes for carry in region.carries_along(axis))
    return frozenset(result for result in carries if result is not None)


def _serial_points(demand: Demand, regions: Sequence[Region]) -> set[Value]:
    """Variables of parallel loops along which a program runs."""
    within = {axis for region in regions for axis in region.axes if axis not in region.program}
    return {variable for axis, variable in demand.points.items() if axis in within}


def _has_descriptors(function: TileFunction) -> bool:
    return any(isinstance(each, Describe) for section in function.sections for each in section.statements)


def _same_structure(regions: Sequence[Region], first: Choice, second: Choice) -> bool:
    """The choices differ in nothing but block sizes, which the text of a function does not show."""
    if (first.label, first.dealt) != (second.label, second.dealt):
        return False
    return all(
        one.roles == other.roles
        and all((one.lanes[axis] is None) == (other.lanes[axis] is None) for axis in one.lanes)
        and all(one.exact(axis) == other.exact(axis) for axis in one.lanes)
        and all(under_way(region, loop, one.lanes) == under_way(region, loop, other.lanes) for loop in region.loops)
        for region, one, other in zip(regions, first.layouts, second.layouts, strict=True)
    )


def _resized(planned: _Planned, choice: Choice) -> _Planned | None:
    """The same function with another choice's block sizes; None if axes that share a block now differ."""
    sizes: dict[str, int] = {}
    for section, layout in zip(planned.function.sections, choice.layouts, strict=True):
        for axis, form in section.forms.items():
            lanes = layout.lanes[axis]
            if form.block is not None and lanes is not None and sizes.setdefault(form.block, lanes) != lanes:
                return None
    for section in planned.function.sections:
        if section.dealt is not None:
            sizes[section.dealt.parts] = choice.parts
    blocks = tuple((name, sizes.get(name, size)) for name, size in planned.function.blocks)
    return replace(planned, choice=choice, function=replace(planned.function, blocks=blocks))


@dataclass(frozen=True, slots=True)
class _Planned:
    """One variant: its choice of layouts, its tile function and that function's text."""

    choice: Choice
    function: TileFunction
    written: Written
    bounds: tuple[Bounds, ...]


def _write_choice(
    demand: Demand,
    regions: Sequence[Region],
    choice: Choice,
    names: LaunchNames,
    texts: dict[str, str],
    combines: dict[str, str],
) -> _Planned:
    """Plan and print one variant; variants share a function where only their block sizes differ."""
    function, bounds = _plan_choice(demand, regions, choice, names)
    written = write_function(demand.kernel, names, function, combines)
    if texts.setdefault(function.name, written.text) != written.text:
        size = choice.limits[0][1] if choice.limits else len(texts)
        function = replace(function, name=f"{function.name}_{size}")
        written = write_function(demand.kernel, names, function, combines)
        texts[function.name] = written.text
    return _Planned(choice, function, written, bounds)


def _plan_choice(
    demand: Demand, regions: Sequence[Region], choice: Choice, names: LaunchNames
) -> tuple[TileFunction, tuple[Bounds, ...]]:
    namer = Namer(demand, _taken(names))
    blocks: dict[str, int] = {}
    sections: list[Section] = []
    bounds: list[Bounds] = []
    placed: dict[Axis, object] = {}
    for region, layout in zip(regions, choice.layouts, strict=True):
        places = _places(region, layout)
        namer.forget(axis for axis, place in places.items() if placed.get(axis, place) != place)
        placed.update(places)
        section, used = _section(demand, region, layout, namer, blocks, choice if len(regions) == 1 else None)
        sections.append(section)
        bounds.append(used)
    label = choice.label or "kernel"
    function = TileFunction(f"{demand.kernel.name}_{label}", tuple(blocks.items()), tuple(sections))
    return function, tuple(bounds)


def _places(region: Region, layout: Layout) -> dict[Axis, object]:
    """What decides the type of an axis' name where the name outlives the statement that gives it.

    Sections are branches, and Triton wants one type of a name in both: INDEX, of so many lanes, or the type that the
    bounds of a loop over single coordinates have, which is like no other. What a loop's body assigns ends with it.
    """
    return {
        axis: object() if layout.roles[axis] == "streamed" else layout.lanes[axis]
        for axis in region.axes
        if layout.roles[axis] in ("program", "resident")
        or (layout.roles[axis] == "streamed" and not layout.lanes[axis])
    }


def _taken(names: LaunchNames) -> set[str]:
    return {
        *names.sizes.values(), *names.pointers.values(), *names.strides.values(), "pid", "INDEX",
        *(name for parameter, name in names.parameters.items() if parameter not in names.pointers),
    }  # fmt: skip


def _section(
    demand: Demand, region: Region, layout: Layout, namer: Namer, blocks: dict[str, int], alone: Choice | None
) -> tuple[Section, Bounds]:
    """`alone`: the choice, if the region has all programs of the launch."""
    forms = _forms(region, layout, namer, blocks)
    facts = region_facts(region)
    padding = Padding(layout)
    bounds = Bounds(facts, demand, normalising_exponentials(region))
    nodes = (*region.nodes, *region.twin_nodes)
    checks = {node: found for node in nodes if (found := _checks(bounds, node, demand.spans.get(node)))}
    count = product(tile_count(axis, forms[axis], layout.lanes[axis]) for axis in region.program)
    described = alone is not None and alone.described
    tiles = described_tiles(region, layout, checks, once=alone.large) if alone is not None and described else {}
    named = {axis for node in tiles for axis in node.axes if axis in region.program}
    dealt = _deal(alone, forms, namer, blocks) if alone is not None else None
    decoded = prologue(region, layout, forms, facts, Decoding(namer, alone is not None, named, dealt))
    scheduler = Scheduler(demand, region, layout, namer, padding, bounds, forms, decoded, tiles, dealt=dealt)
    scheduler.by_halves = bool(tiles) and alone is not None and alone.large
    statements = (*decoded.statements, *scheduler.run())
    if scheduler.by_halves:
        statements = one_after_the_other(statements, count)
    section = Section(
        forms, region.order, padding.others, padding.selected, checks, bounds.nonpositive, decoded.facts,
        {memory: demand.shape(memory) for memory in demand.instances}, count, statements,
        demand.names, demand.spans, _coordinate_names(demand),
        bounded_numerators(region, demand).union(bounded_products(region)), layout.roles, region.program, dealt,
        demand.steps,
    )  # fmt: skip
    return section, bounds


def _deal(choice: Choice, forms: Mapping[Axis, AxisForm], namer: Namer, blocks: dict[str, int]) -> Dealt | None:
    """Names for which of how many programs takes a tile."""
    if choice.dealt is None:
        return None
    name = forms[choice.dealt].name
    parts = namer.fresh(f"PARTS_{name.upper()}")
    blocks[parts] = choice.parts
    return Dealt(choice.dealt, namer.fresh("part"), parts)


def _checks(bounds: Bounds, node: Expression, span: Span | None) -> tuple[Check, ...]:
    match node.operation:
        case "load":
            return bounds.load(node, span)
        case "atomic":
            return bounds.atomic(node, span)
        case _:
            return ()


def _forms(region: Region, layout: Layout, namer: Namer, blocks: dict[str, int]) -> dict[Axis, AxisForm]:
    forms: dict[Axis, AxisForm] = {}
    cut: dict[LoopToken | None, str] = {}  # the block size of one loop's slices, along whichever axis
    for axis in region.axes:
        name = namer.axis(axis)
        lanes = layout.lanes[axis]
        if lanes is None:
            forms[axis] = AxisForm(name, None, None)
            continue
        block = cut.get(axis.slices) or _block_name(name, lanes, namer, blocks)
        if axis.slices is not None:
            cut[axis.slices] = block
        blocks[block] = lanes
        first = namer.fresh(f"first_{name}") if axis in region.bins else None
        forms[axis] = AxisForm(name, block, None if layout.exact(axis) else namer.mask(axis), first)
    for twin, axis in region.twins.items():
        mask = None if layout.exact(twin) else namer.mask(twin)
        forms[twin] = AxisForm(namer.axis(twin), forms[axis].block, mask)
    return forms


def _coordinate_names(demand: Demand) -> dict[Polynomial, str]:
    """The author's names of coordinates that are computed from others."""
    return {node.attribute: name for node, name in demand.names.items() if node.operation == "index"}


def _block_name(axis: str, lanes: int, namer: Namer, blocks: dict[str, int]) -> str:
    """Regions share a block size of one name and value."""
    block = f"BLOCK_{axis.upper()}"
    if blocks.get(block) == lanes:
        return block
    return namer.fresh(block)


# --------------------------------------------------------------------------------------------------------------- launch
def _variant(plan: _Plan, planned: _Planned, names: LaunchNames) -> Variant:
    demand, regions, choice, written = plan.demand, plan.regions, planned.choice, planned.written
    constants = planned.function.blocks
    dots = sum(is_dot(node, region) for region in regions for node in region.contractions)
    swapped = _swapped_elements(regions, choice)
    products = sum(map(product_tiles, regions))
    warps = max((_warps(*each, products) for each in zip(regions, choice.layouts, strict=True)), default=4)
    return Variant(
        function=planned.function.name,
        source=written.text,
        arguments=written.arguments,
        constants=constants,
        grid=_processors(_grid(regions, choice, names), choice),
        condition=_condition(choice, names),
        cuda=Tuning(min(warps, max(swapped // 32, 1)) if swapped else warps, 2 if _leaves_room(regions, choice) else 3),
        hip=Tuning(max(swapped // 64, 1) if swapped else max(warps // 2, 1), 1 if dots > 1 else 2),
        wide_index=written.wide_index,
        rounded=demand.rounded,
        described=choice.described,
        beyond=choice.label == BEYOND,
        scratch=_passed(_scratch(demand, names), written),
        copies=_copies(regions, planned, names) if choice.described and choice.large else None,
        plan=_describe(regions, choice, planned) + ("; no fused multiply-add" if demand.rounded else ""),
        tiles=planned.function,
        origins=written.origins,
    )


def _passed(scratch: Iterable[Scratch], written: Written) -> tuple[Scratch, ...]:
    """What the function has parameters for, in their order."""
    by_name = {each.name: each for each in scratch}
    return tuple(by_name[each.name] for each in written.arguments if isinstance(each, ScratchPointer))


def _condition(choice: Choice, names: LaunchNames) -> str | None:
    """What the sizes must be for the choice; None if they may be anything."""
    parts = [f"{size_code(extent, names).text} <= {limit}" for extent, limit in choice.limits]
    parts += [f"{size_code(have, names).text} {how} {than}" for have, how, than in choice.suitable]
    parts = [TILES, *parts] if choice.described else parts
    return " and ".join(parts) or None


def _swapped_elements(regions: Sequence[Region], choice: Choice) -> int:
    """Lanes of the compare and swaps, of which Triton's HIP backend gives a thread one only; 0 if there are none."""
    found: dict[int, Axis] = {}
    for region, layout in zip(regions, choice.layouts, strict=True):
        for axis in (axis for axes in region.swapped for axis in axes):
            found.setdefault(layout.lanes[axis] or 1, axis)
    sizes = sorted(found.keys() - {1})
    if len(sizes) > 1:
        raise AxisConflict(found[next(size for size in sizes if size != POINTS)].extent)
    return sizes[0] if sizes else 0


def _warps(region: Region, layout: Layout, products: int) -> int:
    """For the largest tile of a program; where there are products, that of an accumulator."""
    elements = _tile_elements(region, layout)
    if products and accumulators(region, layout.lanes) > 1:
        return 4  # one group of them multiplies 64 rows
    if products:
        return 8 if elements >= (64 * 128 if products > 1 else 128 * 128) else 4
    return min(max(elements // (32 * layout.per_thread), 4), 16)


def _leaves_room(regions: Sequence[Region], choice: Choice) -> bool:
    """With one stage less a second program fits beside one that has several accumulators, or whole depths of operands,
    and all that they read.
    """
    pairs = list(zip(regions, choice.layouts, strict=True))
    several = any(accumulators(region, layout.lanes) > 1 for region, layout in pairs)
    return several or any(summed_on_chip(*pair) for pair in pairs)


def _tile_elements(region: Region, layout: Layout) -> int:
    """Elements of the largest tile, as its two longest axes make it; the values and the bins of a histogram are tiles
    of their own, and operands that are on chip beside accumulators are none.
    """
    apart = {*region.bins, *summed_on_chip(region, layout)}
    tiles = [[layout.lanes[axis] or 1 for axis in {*axes_at(node)} - apart] for node in region.nodes]
    tiles += [[layout.lanes[axis] or 1 for axis in sink.axes] for sink in region.sinks]
    return max((math.prod(sorted(sizes)[-2:]) for sizes in tiles), default=1)


def _grid(regions: Sequence[Region], choice: Choice, names: LaunchNames) -> str:
    total: Code | None = None
    for region, layout in zip(regions, choice.layouts, strict=True):
        count: Code | None = None
        for axis in region.program:
            factor = blocks_code(axis.extent, layout.lanes[axis], names, Facts().nonnegative(axis.extent))
            if factor.value != 1:
                count = factor if count is None else binary("*", count, factor)
        count = count or Code("1")
        count = binary("*", count, Code(str(choice.parts))) if choice.parts > 1 else count
        total = count if total is None else binary("+", total, count)
    return (total or Code("0")).text


def _copies(regions: Sequence[Region], planned: _Planned, names: LaunchNames) -> Copies:
    """Operands of a large product, if both have each of their elements multiplied often."""
    made = [each for each in planned.function.sections[0].statements if isinstance(each, Describe)]
    operands = dict.fromkeys(each.memory.name for each in made if not each.halves)
    wanted = [(extent.extent, ">=", COPIED) for region in regions for extent in region.program]
    parts = [f"{size_code(have, names).text} {how} {than}" for have, how, than in (*planned.choice.suitable, *wanted)]
    return Copies(tuple(operands), " and ".join(dict.fromkeys(parts)))


def _processors(grid: str, choice: Choice) -> str:
    """One program for each processor, if they go on with the next tile by themselves."""
    return f"min({grid}, {TILES})" if choice.described and choice.large else grid


def _last_unconditional(variants: list[Variant]) -> tuple[Variant, ...]:
    """The launcher's last choice has no condition: a requirement has been checked instead."""
    return (*variants[:-1], replace(variants[-1], condition=None)) if variants else ()


def _scratch(demand: Demand, names: LaunchNames) -> Iterator[Scratch]:
    """Device memory for the author's buffers: one instance per parallel point."""
    for memory in demand.instances:
        if isinstance(memory, Buffer):
            elements = demand.room(memory)
            if elements is None:
                message = (
                    f"how much memory '{memory.name}' needs is known in the kernel only, and the host allocates it"
                )
                help = "an extent of parameters alone, such as a symbol or a scalar, can be counted before the launch"
                raise unsupported(message, demand.allocated.get(memory, demand.kernel.span), help)
            yield Scratch(memory.name, memory.dtype, size_code(elements, names).text)


def _requirements(demand: Demand, planned: Sequence[_Planned], names: LaunchNames) -> Iterator[Requirement]:
    for left, right in demand.requirements:
        if not (known_at_launch(left) and known_at_launch(right)):
            raise unsupported("the host cannot check the element counts of a reshape", demand.kernel.span)
        text = f"{size_code(left, names).text} == {size_code(right, names).text}"
        yield Requirement(text, f"a reshape needs {text}")
    if planned:
        for extent, limit in planned[-1].choice.limits:
            text = f"{size_code(extent, names).text} <= {limit}"
            yield Requirement(text, f"what the kernel keeps on chip is limited: this module needs {text}")


def _overlap(demand: Demand, regions: Sequence[Region]) -> Overlap:
    if demand.reads_after_writes:
        return "refuse"
    pointwise = all(
        not region.bound
        and not region.loops
        and not region.ordered
        and all(_same_elements(region, node) for node in region.nodes)
        for region in regions
    )
    declared = any(view.alias is not None and view.direction != "In" for view in demand.kernel.views)
    if pointwise and len(regions) == 1 and not declared:
        return "same"
    return "snapshot" if any(view.direction == "In" for view in demand.kernel.views) else "refuse"


def _same_elements(region: Region, node: Expression) -> bool:
    return node.operation != "load" or all(node.attribute.coordinates == sink.coordinates for sink in region.sinks)


# --------------------------------------------------------------------------------------------------------- docstrings
def _stages(demand: Demand, program: Program) -> Iterator[str]:
    seen: set[int] = set()
    for sink in demand.sinks:
        line = sink.span.line
        if 0 < line <= len(program.lines) and line not in seen:
            seen.add(line)
            yield " ".join(text.strip() for text in program.lines[line - 1 : sink.span.end_line])


def _traffic(kernel: Kernel, regions: Sequence[Region]) -> str:
    read = dict.fromkeys(
        node.attribute.memory.name for region in regions for node in region.nodes if node.operation == "load"
    )
    written = dict.fromkeys(sink.memory.name for region in regions for sink in region.sinks)
    return f"reads {', '.join(read) or 'nothing'}; writes {', '.join(written)}"


def _describe(regions: Sequence[Region], choice: Choice, planned: _Planned) -> str:
    parts: list[str] = []
    for region, layout, section in zip(regions, choice.layouts, planned.function.sections, strict=True):
        programs = " x ".join(_axis_words(axis, layout, section) for axis in region.program) or "a single program"
        resident = [a for a in region.axes if layout.roles[a] == "resident"]
        streamed = [a for a in region.axes if layout.roles[a] == "streamed"]
        text = f"one program per {programs}" if region.program else programs
        if resident:
            text += "; on chip: " + ", ".join(section.forms[axis].name for axis in resident)
        if choice.parts > 1 and section.dealt is not None:
            text += f", and every {choice.parts}th tile of {section.forms[section.dealt.axis].name}"
        if streamed:
            text += "; streamed: " + ", ".join(_axis_words(axis, layout, section) for axis in streamed)
        parts.append(text)
    return " | ".join(parts)


def _axis_words(axis: Axis, layout: Layout, section: Section) -> str:
    lanes, name = layout.lanes[axis], section.forms[axis].name
    return name if lanes in (None, 1) else f"{lanes} {name}"


def _promises(variants: Sequence[_Planned]) -> Iterator[str]:
    """What the module takes its callers to have promised."""
    if any(is_online(section.statements) for planned in variants for section in planned.function.sections):
        yield "scores are finite: in long rows a maximum and the sums relative to it are taken in one sweep"


def _notes(planned: _Planned, kernel: Kernel) -> dict[str, Diagnostic]:
    found: dict[str, Diagnostic] = {}
    for bounds in planned.bounds:
        for name, span in bounds.unproven:
            message = f"an access of {name} is not proven in bounds: reads beyond it give 0, writes are dropped"
            found[name] = Diagnostic(
                "INT950",
                "note",
                message,
                span or kernel.span,
                f"I.assume_in_bounds(index, {name}, axis) removes the check",
            )
    return found


def _serial_notes(demand: Demand, regions: Sequence[Region]) -> dict[str, Diagnostic]:
    """Axes that stay within one program because another would read what it writes."""
    found: dict[str, Diagnostic] = {}
    for point, span in demand.turns.items():
        message = f"the points of {point} run in one program, one after another: others touch what their loops write"
        found[f"turn {point}"] = Diagnostic("INT953", "note", message, span)
    for region in regions:
        for axis, sink in region.exposed.items():
            name = sink.memory.name
            message = f"{name} is read where other points of {axis.name} write it: {axis.name} runs in one program"
            found[f"serial {name}"] = Diagnostic("INT953", "note", message, sink.span)
    return found


def _timing_notes(demand: Demand, regions: Sequence[Region], kernel: Kernel) -> dict[str, Diagnostic]:
    """Memory of which a value is used that depends on which of several points comes first."""
    nodes = [node for region in regions for node in region.nodes if node.operation == "atomic"]
    updated = {cells(node.attribute.place.memory) for node in nodes if node.attribute.action != "load"}
    updated |= {cells(sink.memory) for sink in demand.sinks if sink.action != "issued"}
    found: dict[str, Diagnostic] = {}
    for node in nodes:
        place = node.attribute.place
        if cells(place.memory) in updated and not all(_is_own(lane, place) for lane in node.attribute.lanes):
            name = place.memory.name
            message = f"a value of {name} is used that depends on the order of programs: two runs may differ"
            found[f"timing {name}"] = Diagnostic("INT957", "note", message, demand.spans.get(node, kernel.span))
    return found


def _is_own(lane: Axis, place: Place) -> bool:
    """No two points of the lane have the place in common."""
    shifts = [shift for each in place.coordinates for shift in (each - atomic(lane), each + atomic(lane))]
    return any(lane not in shift.atoms() for shift in shifts)


def _skip_notes(demand: Demand) -> dict[str, Diagnostic]:
    """Which elements region folds take for finite in the slices that they skip."""
    found: dict[str, Diagnostic] = {}
    for loop in demand.loops.values():
        if loop.limits.finite:
            axis, names = loop.slices[0].name, ", ".join(sorted(loop.limits.finite))
            message = f"slices of {axis} that cannot count are skipped: a NaN or infinity of {names} there goes unseen"
            found[f"skip {axis} {names}"] = Diagnostic("INT963", "note", message, loop.span)
    return found

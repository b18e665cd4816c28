"""One variant of a kernel on the page: its picture, how it is launched, its axes, and what one program does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.records import dataclass
from intentc.viewer.axes import AxisView, axis_views, chosen, shown
from intentc.viewer.example import Example, example, programs
from intentc.viewer.facts import variant_facts
from intentc.viewer.markup import Markup, element, joined
from intentc.viewer.pictures import Grid, grid_picture, strip
from intentc.viewer.sweeps import Sweep, flat, loads_of, shared_along, sweeps
from translators.algebra.polynomial import Atom, product
from translators.logical.types import View
from translators.tile.program import Named, Role, Section
from translators.triton_source.launch import TILES, KernelCode, Variant

ROLES: Mapping[Role, str] = {
    "program": "divided among programs",
    "resident": "on chip, all of it",
    "streamed": "streamed, one tile after the other",
    "slice": "slices of a region operation, in order",
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A variant, the section of it that is drawn, and what it is drawn for."""

    code: KernelCode
    variant: Variant
    sections: tuple[Section, ...]
    example: Example | None

    @property
    def blocks(self) -> dict[str, int]:
        return dict(self.variant.constants)


def variant_panel(code: KernelCode, position: int) -> Markup:
    """Everything about one variant but its text."""
    variant = code.variants[position]
    sections = variant.tiles.sections if variant.tiles is not None else ()
    drawn = Drawn(code, variant, sections, example(code.kernel, code.variants, position))
    pictures, before = [], 0
    for number, section in enumerate(sections):
        pictures.append(_picture(drawn, number, before))
        known = drawn.example.value(section.count, _blocks(drawn)) if drawn.example is not None else None
        before += known or 0
    if not sections:
        pictures.append(_unseen("The kernel has no effect: nothing is launched."))
    overview = element(
        "div", element("div", pictures), element("div", _launch(drawn), _facts(drawn)), class_="overview"
    )
    return joined(overview, [_axes(drawn, number) for number in range(len(sections))], _memory(drawn))


def condition_text(variant: Variant) -> str:
    """When a variant is launched, as a reader would say it."""
    text = variant.condition or "otherwise"
    signs = {">=": "≥", "<=": "≤", "==": "=", " * ": " · ", " and ": ", ", TILES: "on devices that copy tiles"}
    for old, new in signs.items():
        text = text.replace(old, new)
    return text.replace("triton.", "")


# -------------------------------------------------------------------------------------------------------------- picture
def _picture(drawn: Drawn, number: int, before: int) -> Markup:
    section = drawn.sections[number]
    views = axis_views(section, drawn.blocks, drawn.example)
    title = "Tiles and programs" if len(drawn.sections) == 1 else f"Tiles and programs, part {number + 1}"
    known = programs(section, drawn.blocks, drawn.example, before) if drawn.example is not None else None
    rows, columns = chosen([view for view in views if view.tiles is not None])
    if not known:
        return _unseen("Data decide how many tiles there are." if known is None else "There is nothing to do.", title)
    streams = [step for step in flat(sweeps(section)) if columns is not None and step.axis is columns.axis]
    grid = Grid(rows, columns, known, bool(streams) and all(step.backwards for step in streams))
    caption = element("figcaption", element("output", aria_live="polite"), _caption(drawn, number, views, grid))
    picture = grid_picture(grid)
    return element("figure", element("h3", title), element("div", picture, class_="wide"), caption, class_="block")


def _unseen(why: str, title: str = "Tiles and programs") -> Markup:
    return element("figure", element("h3", title), element("p", why, class_="quiet"), class_="block")


def _caption(drawn: Drawn, number: int, views: Sequence[AxisView], grid: Grid) -> str:
    assert drawn.example is not None
    sizes = ", ".join(f"{name} = {size}" for name, size in drawn.example.sizes.items())
    tiles = drawn.example.value(drawn.sections[number].count, _blocks(drawn)) or 0
    text = (f"Drawn for {sizes}: " if sizes else "Whatever the sizes: ") + _counted(
        min(drawn.example.programs, tiles), tiles
    )
    step = any(view is not None and view.role in ("streamed", "slice") for view in (grid.rows, grid.columns))
    shown_number = "the number of its program" if drawn.example.programs >= tiles else "its number in the order"
    text += f"A cell holds {shown_number}" + (" and the step in which it is taken. " if step else ". ")
    others = [view.name for view in views if view.role == "program" and view not in (grid.rows, grid.columns)]
    if others and any((view.tiles or 2) > 1 for view in views if view.name in others):
        text += f"There is one such picture for every {', '.join(others)}. "
    if any(view is not None and view.tail < 1 for view in (grid.rows, grid.columns)):
        text += "Hatched lanes are beyond the end: masked. "
    return text


def _counted(programs: int, tiles: int) -> str:
    if programs < tiles:
        return f"{programs} programs take {tiles} tiles in turn. "
    return f"{programs} programs. " if programs != 1 else "one program. "


def _blocks(drawn: Drawn) -> dict[Atom, int]:
    return {Named(name): size for name, size in drawn.variant.constants}


# --------------------------------------------------------------------------------------------------------------- launch
def _launch(drawn: Drawn) -> Markup:
    variant = drawn.variant
    rows = [
        ("When", condition_text(variant)),
        ("Programs", variant.grid.replace("triton.", "")),
        *([("Each", variant.plan)] if variant.plan else []),
        ("Block sizes", ", ".join(f"{name} = {size}" for name, size in variant.constants) or "none"),
        ("Warps", f"{variant.cuda.warps} on CUDA, {variant.hip.warps} on HIP"),
        ("Stages", f"{variant.cuda.stages} on CUDA, {variant.hip.stages} on HIP"),
        *(("Scratch", f"{s.name}: {s.elements.replace('triton.', '')} of {s.dtype.name}") for s in variant.scratch),
        ("Function", variant.function),
    ]
    return element("div", element("h3", "Launch"), definitions(rows), class_="block")


def definitions(rows: Sequence[tuple[str, str]]) -> Markup:
    return element("dl", [(element("dt", term), element("dd", text)) for term, text in rows])


# ----------------------------------------------------------------------------------------------------------------- axes
def _axes(drawn: Drawn, number: int) -> Markup | None:
    views = axis_views(drawn.sections[number], drawn.blocks, drawn.example)
    if not views:
        return None
    title = "Axes" if len(drawn.sections) == 1 else f"Axes, part {number + 1}"
    rows = [_axis(view) for view in views]
    return element(
        "div", element("h3", title), table(("Axis", "Domain", "Where", "Tile", "Guard", "Drawn"), rows), class_="block"
    )


def _axis(view: AxisView) -> list[Markup | str]:
    where = joined(element("span", class_=f"role {view.role}"), _where(view))
    tile = f"{view.block} = {view.lanes}" if view.block is not None else "one coordinate"
    guard = f"{view.name} < {shown(view.axis.end)}" if view.mask is not None else "none needed"
    return [
        view.name,
        element("code", view.range),
        where,
        element("code", tile),
        element("code", guard),
        strip(view),
    ]


def _where(view: AxisView) -> str:
    if view.role == "streamed" and view.block is None:
        return "in a loop, one coordinate at a time"
    return ROLES[view.role]


def table(heads: Sequence[str], rows: Sequence[Sequence[Markup | str]]) -> Markup:
    """A table whose cells stand below each other, each with its head, where there is no room."""
    head = element("tr", [element("th", each, scope="col") for each in heads])
    body = [
        element("tr", [element("td", element("span", cell), data_label=name or None)
                       for name, cell in zip(heads, row, strict=True)])
        for row in rows
    ]  # fmt: skip
    return element("table", element("thead", head), element("tbody", body), class_="stack")


# --------------------------------------------------------------------------------------------------------------- memory
def _memory(drawn: Drawn) -> Markup:
    steps: list[Markup] = []
    for number, section in enumerate(drawn.sections, 1):
        steps += [element("p", f"Part {number}", class_="quiet")] if len(drawn.sections) > 1 else []
        steps.append(_steps(sweeps(section)))
    steps = steps or [element("p", "Nothing.", class_="quiet")]
    loads: dict[str, int] = {}
    again: dict[str, list[str]] = {}
    for section in drawn.sections:
        for name, count in loads_of(section).items():
            loads[name] = loads.get(name, 0) + count
        for name, axes in shared_along(section).items():
            again[name] = [*again.get(name, []), *(section.forms[axis].name for axis in axes)]
    rows = [_array(drawn, view, loads, again) for view in drawn.code.kernel.views]
    heads = ("Array", "Size", "Passes", "Shared")
    left = element("div", element("h3", "What one program does"), steps, class_="block")
    right = element("div", element("h3", "Memory"), table(heads, rows), class_="block")
    return element("div", left, right, class_="columns")


def _array(
    drawn: Drawn, view: View, loads: Mapping[str, int], again: Mapping[str, Sequence[str]]
) -> list[Markup | str]:
    size = " · ".join([*map(repr, view.shape), f"{max(view.dtype.bits // 8, 1)} B"])
    known = drawn.example.value(product(view.shape), {}) if drawn.example is not None else None
    size += f" = {_bytes(known * max(view.dtype.bits // 8, 1))}" if known is not None else ""
    count = loads.get(view.name, 0)
    reads = {0: "", 1: "read once"}.get(count, f"read in {count} passes")
    writes = "written" if view.direction != "In" else ""
    sharers = list(dict.fromkeys(again.get(view.name, ())))
    others = f"programs along {', '.join(sharers)} read the same" if sharers else ""
    return [
        view.name,
        element("code", size),
        " and ".join(filter(None, (reads, writes))) or "not touched",
        others or "no",
    ]


def _bytes(count: int) -> str:
    """Rounded as a person would."""
    for unit in ("B", "kB", "MB"):
        if count < 10_000:
            return f"{count} {unit}"
        count = round(count / 1000)
    return f"{count} GB"


def _steps(steps: Sequence[Sweep]) -> Markup:
    return element("ol", [_step(step) for step in steps], class_="steps")


def _step(step: Sweep) -> Markup:
    inner = _steps(step.inner) if step.inner else None
    return element("li", _sentence(step), inner)


def _sentence(step: Sweep) -> str:
    parts = [f"reads {', '.join(step.reads)}"] if step.reads else []
    parts += [f"writes {', '.join(step.writes)}"] if step.writes else []
    doing = "; ".join(parts)
    if step.axis is None and step.loop is None:
        return doing
    head = f"for each {step.axis.name if step.axis is not None else step.loop}"
    if step.tile is not None and step.axis is not None:
        head = f"over tiles of {step.axis.name}"
        if step.bounds is not None and step.bounds != (step.axis.begin, step.axis.end):
            head += f" from {shown(step.bounds[0])} to {shown(step.bounds[1])}"
    head += ", backwards" if step.backwards else ""
    return f"{head}: {doing}" if doing else f"{head}:"


# ---------------------------------------------------------------------------------------------------------------- facts
def _facts(drawn: Drawn) -> Markup | None:
    facts = list(dict.fromkeys(variant_facts(drawn.variant)))
    if not facts:
        return None
    return element("div", element("h3", "Proven and checked"), fact_list(facts), class_="block")


def fact_list(facts: Sequence[str]) -> Markup:
    return element("ul", [element("li", fact) for fact in facts], class_="facts")

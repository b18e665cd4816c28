"""Pictures of a plan: the tile grid with the number of every program, and a strip of tiles for each axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.records import dataclass
from intentc.viewer.axes import AxisView
from intentc.viewer.example import Program
from intentc.viewer.markup import Child, Markup, element

HEIGHT, GAP = 34, 22  # of a cell, and where cells are left out
NARROWEST, WIDEST, SPAN = 76, 300, 540  # cells, and all of them together
LEFT, TOP = 96, 46
FEW_COLUMNS, FEW_ROWS = 7, 12  # more tiles than this are shown as the first ones and the last one
_STRIP = 168


@dataclass(frozen=True, slots=True)
class Grid:
    """The rows and columns of a picture; either may be None. Programs of other coordinates than the first ones along
    the remaining axes have the same picture with other numbers.
    """

    rows: AxisView | None
    columns: AxisView | None
    programs: Sequence[Program]
    backwards: bool = False


def shown_tiles(count: int, few: int) -> list[int | None]:
    """Numbers of the tiles to draw, at most `few`; None is a gap."""
    if count <= few:
        return list(range(count))
    return [*range(few - 2), None, count - 1]


def grid_picture(grid: Grid) -> Markup:
    """The grid, drawn for an example: masked lanes are hatched, every cell says which program owns it."""
    rows, columns = _tiles(grid.rows, FEW_ROWS), _tiles(grid.columns, FEW_COLUMNS)
    wide = min(max(SPAN // max(len(columns), 1), NARROWEST), WIDEST)
    xs, width = _places(columns, LEFT if grid.rows is not None else 8, wide)
    ys, height = _places(rows, TOP, HEIGHT)
    owners = _owners(grid)
    cells = [
        _cell(grid, (row, column), Box(xs[column], ys[row], wide), owners)
        for row in rows
        for column in columns
        if row is not None and column is not None
    ]
    labels = [*_labels(grid.columns, columns, xs, True), *_labels(grid.rows, rows, ys, False)]
    gaps = [_dots(xs[None] + GAP / 2, (TOP + height) / 2)] if None in columns else []
    gaps += [_dots((LEFT + width) / 2, ys[None] + GAP / 2)] if None in rows else []
    return element(
        "svg", labels, cells, gaps, viewbox=f"0 0 {width + 8} {height + 8}", class_="grid", role="group",
        aria_label="Tiles and the programs that own them", style=f"max-width:{width + 8}px",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Box:
    """Where a cell is drawn."""

    x: int
    y: int
    width: int


def _tiles(view: AxisView | None, few: int) -> list[int | None]:
    return shown_tiles(max(view.tiles or 1, 1), few) if view is not None else [0]


def _places(tiles: Sequence[int | None], start: int, size: int) -> tuple[dict[int | None, int], int]:
    places: dict[int | None, int] = {}
    for tile in tiles:
        places[tile] = start
        start += GAP if tile is None else size
    return places, start


def _owners(grid: Grid) -> dict[tuple[int, ...], Program]:
    """Programs by the tiles they own, those at the first coordinates of the axes that are not drawn."""
    found: dict[tuple[int, ...], Program] = {}
    drawn = [view for view in (grid.rows, grid.columns) if view is not None and view.role == "program"]
    for program in sorted(grid.programs, key=lambda each: _elsewhere(each, drawn)):
        key = tuple((program.firsts[view.axis] - (view.begin or 0)) // view.lanes for view in drawn)
        found.setdefault(key, program)
    return found


def _elsewhere(program: Program, drawn: Sequence[AxisView]) -> tuple[int, ...]:
    axes = {view.axis for view in drawn}
    return tuple(first for axis, first in program.firsts.items() if axis not in axes)


def _cell(grid: Grid, tile: tuple[int, int], box: Box, owners: Mapping[tuple[int, ...], Program]) -> Markup:
    views = (grid.rows, grid.columns)
    key = tuple(n for n, view in zip(tile, views, strict=True) if view is not None and view.role == "program")
    owner = owners.get(key)
    inside = next((view for view in views if view is not None and view.role != "program"), None)
    step = None if inside is None or inside.role == "resident" else _step(inside, tile[views.index(inside)], grid)
    who = f"program {owner.number}" if owner is not None else "a program"
    what = [_range(view, n) for view, n in zip(views, tile, strict=True) if view is not None]
    said = f"{who}: {', '.join(what)}" + (f"; step {step}" if step is not None else "")
    return element(
        "g", element("title", said), _drawn(views, tile, box),
        element("text", _shown(owner, step), x=box.x + box.width / 2, y=box.y + HEIGHT / 2 + 4),
        class_=f"cell {inside.role if inside is not None else 'program'}", data_program=owner.number if owner else "",
        data_row=tile[0],
        tabindex=0 if tile == (0, 0) else -1, role="img", aria_label=said,
    )  # fmt: skip


def _shown(owner: Program | None, step: int | None) -> str:
    number = str(owner.number) if owner is not None else "·"
    return number if step is None else f"{number} · {step}"


def _step(view: AxisView, tile: int, grid: Grid) -> int:
    return (view.tiles or 1) - tile if grid.backwards else tile + 1


def _range(view: AxisView, tile: int) -> str:
    first = (view.begin or 0) + tile * view.lanes
    if view.lanes == 1:
        return f"{view.name} {first}"
    last = first + view.lanes - 1
    end = (view.begin or 0) + (view.extent or view.lanes) - 1
    return f"{view.name} {first} to {min(last, end)}" + (f" ({last - end} lanes masked)" if last > end else "")


def _drawn(views: tuple[AxisView | None, AxisView | None], tile: tuple[int, int], box: Box) -> list[Markup]:
    """The cell, and over it what of it is beyond an end."""
    x, y, width, height = box.x + 1, box.y + 1, box.width - 2, HEIGHT - 2
    drawn = [element("rect", x=x, y=y, width=width, height=height, rx=2, class_="tile")]
    rows, columns = views
    if columns is not None and tile[1] == (columns.tiles or 1) - 1 and columns.tail < 1:
        left = round(width * columns.tail, 1)
        drawn += _masked((x + left, y, width - left, height))
    if rows is not None and tile[0] == (rows.tiles or 1) - 1 and rows.tail < 1:
        above = round(height * rows.tail, 1)
        drawn += _masked((x, y + above, width, height - above))
    return drawn


def _masked(place: tuple[float, float, float, float]) -> list[Markup]:
    """Paler, and hatched."""
    x, y, width, height = (round(each, 1) for each in place)
    pale = element("rect", x=x, y=y, width=width, height=height, class_="masked")
    return [pale, element("rect", x=x, y=y, width=width, height=height, class_="cut")]


def _labels(
    view: AxisView | None, tiles: Sequence[int | None], places: Mapping[int | None, int], across: bool
) -> list[Markup]:
    """The first coordinate of each tile, and the axis' name with an arrow."""
    if view is None:
        return []
    name = f"{view.name} →" if across else f"{view.name} ↓"
    at: dict[str, float | int] = {"x": min(places.values()), "y": 14} if across else {"x": 8, "y": TOP - 12}
    labels = [element("text", name, class_="axis-name", **at)]
    for tile in tiles:
        if tile is not None:
            first = str((view.begin or 0) + tile * view.lanes)
            where = {"x": places[tile] + 2, "y": TOP - 6} if across else {"x": LEFT - 8, "y": places[tile] + 21}
            labels.append(element("text", first, class_="tick" if across else "tick row", **where))
    return labels


def _dots(x: float, y: float) -> Markup:
    return element("text", "⋯", x=x, y=y, class_="gap")


def hatching() -> Markup:
    """The pattern that all pictures of a page fill masked lanes with."""
    line = element("path", d="M0 6 6 0", class_="hatch")
    pattern = element("pattern", line, id="hatch", width=6, height=6, patternUnits="userSpaceOnUse")
    return element("svg", element("defs", pattern), width=0, height=0, class_="patterns", aria_hidden="true")


def strip(view: AxisView) -> Markup:
    """One axis: its tiles side by side, the masked end of the last one hatched."""
    count = view.tiles
    children: list[Child] = []
    if not count:
        children.append(element("rect", x=0.5, y=0.5, width=_STRIP - 1, height=13, rx=2, class_="unknown"))
    tiles = shown_tiles(count, FEW_COLUMNS) if count else []
    size = (_STRIP - 12 * (None in tiles)) / max(len([each for each in tiles if each is not None]), 1)
    x = 0.0
    for tile in tiles:
        if tile is None:
            children.append(element("text", "⋯", x=round(x + 6, 1), y=11, class_="gap"))
            x += 12
            continue
        children.append(
            element("rect", x=round(x + 0.5, 1), y=0.5, width=round(size - 1, 1), height=13, rx=2, class_="tile")
        )
        if tile == (count or 1) - 1 and view.tail < 1:
            left = (size - 1) * view.tail
            children += _masked((x + 0.5 + left, 0.5, size - 1 - left, 13))
        x += size
    said = f"{count} tiles" if count else "a number of tiles that data decide"
    return element("svg", children, viewbox=f"0 0 {_STRIP} 14", class_=f"strip {view.role}", role="img",
                   aria_label=f"{view.name}: {said}")  # fmt: skip

"""The axes of one section as a reader sees them: name, role, tiles, guard, and sizes of an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.records import dataclass
from intentc.viewer.example import Example
from translators.algebra.polynomial import Atom, Polynomial, atomic
from translators.tile.expression import Axis, Expression
from translators.tile.program import Named, Role, Section


@dataclass(frozen=True, slots=True)
class AxisView:
    """`lanes` is 1 where a program takes one coordinate at a time. `begin` and `extent` are numbers of the example,
    None where data decide them.
    """

    axis: Axis
    name: str
    role: Role
    block: str | None
    lanes: int
    mask: str | None
    begin: int | None
    extent: int | None

    @property
    def range(self) -> str:
        return f"{shown(self.axis.begin)} … {shown(self.axis.end)}"

    @property
    def tiles(self) -> int | None:
        """How many tiles, or single coordinates, cover the axis in the example."""
        return None if self.extent is None else -(-self.extent // self.lanes)

    @property
    def tail(self) -> float:
        """The part of the last tile that are coordinates; 1 if the last tile is whole or nothing masks it."""
        rest = (self.extent or 0) % self.lanes
        return rest / self.lanes if rest else 1.0


def axis_views(section: Section, blocks: Mapping[str, int], example: Example | None) -> list[AxisView]:
    """Program axes first, then the others in the order of the plan; axes that stand for another one's tiles (whole
    slices) share its name, and are left out.
    """
    rest = [axis for axis in section.forms if axis not in section.program]
    found: list[AxisView] = []
    for axis in (*section.program, *rest):
        form = section.forms[axis]
        if axis in section.roles and not any(
            each.name == form.name and each.axis.whole != axis.whole for each in found
        ):
            known = _largest(section)
            begin = example.value(axis.begin, known) if example is not None else None
            extent = example.value(axis.extent, known) if example is not None else None
            lanes = blocks.get(form.block or "", 1)
            views = AxisView(axis, form.name, section.roles[axis], form.block, lanes, form.mask, begin, extent)
            found.append(views)
    return found


def _largest(section: Section) -> dict[Atom, int]:
    """Ranges that depend on coordinates of other axes are drawn for the first of these."""
    return {axis: 0 for axis in section.forms if axis.begin.constant == 0}


def shown(polynomial: Polynomial) -> str:
    """A bound as text; what is read from memory is only said to be data."""
    if any(isinstance(atom, Expression) for atom in polynomial.atoms()):
        return "data"
    return spelled(polynomial.rebuild(_named))


def spelled(polynomial: Polynomial) -> str:
    """As a formula."""
    text = repr(polynomial)
    for old, new in ((" + -1*", " − "), (" + -", " − "), ("*", " · "), ("//", " // ")):
        text = text.replace(old, new)
    return text


def _named(atom: Atom) -> Polynomial | None:
    name = getattr(atom, "name", None)
    return atomic(Named(name)) if isinstance(name, str) and not isinstance(atom, Named) else None


def chosen(views: Sequence[AxisView]) -> tuple[AxisView | None, AxisView | None]:
    """The two axes to draw as rows and columns of a picture: what programs divide first, then what is in turn."""
    program = [view for view in views if view.role == "program" and view.axis.extent.constant != 1]
    tiled = [view for view in program if view.lanes > 1]
    inner = [view for view in views if view.role != "program" and view.lanes > 1]
    inner.sort(key=lambda view: view.role == "resident")
    if len(tiled) > 1:
        return tiled[-2], tiled[-1]
    if program and inner:
        return (tiled or program[-1:])[0], inner[0]
    if len(program) > 1:
        last = (tiled or program)[-1]
        return next(view for view in reversed(program) if view is not last), last
    if program:
        return None, program[-1]
    return None, next(iter(inner or [view for view in views if view.role != "program"]), None)

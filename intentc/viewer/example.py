"""Sizes to draw a plan with, and the coordinates that each program starts at for them.

The numbers come from the plan itself: conditions and grids are the launcher's expressions, and coordinates are what the
statements at the head of the device function compute. So the order of program ids in a picture is that of the module.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace

from intent.records import dataclass
from translators.algebra.polynomial import Atom, Extremum, Polynomial, Quotient, Remainder, Symbol
from translators.logical.program import Kernel
from translators.tile.expression import Axis
from translators.tile.program import BindAxis, BindIndex, Named, ProgramLoop, Section, Statement
from translators.triton_source.launch import TILES, Variant
from translators.triton_source.names import launch_names

PROCESSORS = 132  # of the device in a picture, where a plan asks for their number
FIRST_PROGRAMS, LAST_PROGRAMS = 2500, 250  # those that a picture may need
MOST_CANDIDATES = 5000


@dataclass(frozen=True, slots=True)
class Example:
    """Sizes by symbol, scalars by name, and how many programs are launched for them."""

    sizes: Mapping[str, int]
    programs: int

    def value(self, polynomial: Polynomial, known: Mapping[Atom, int]) -> int | None:
        """The number a polynomial is; None if it depends on what only a run knows."""
        try:
            return self._value(polynomial, known)
        except (KeyError, ZeroDivisionError):
            return None

    def _value(self, polynomial: Polynomial, known: Mapping[Atom, int]) -> int:
        return sum(
            coefficient * math.prod(self._atom(atom, known) for atom in monomial)
            for monomial, coefficient in polynomial.terms
        )

    def _atom(self, atom: Atom, known: Mapping[Atom, int]) -> int:
        match atom:
            case Symbol(name):
                return self.sizes[name]
            case Quotient(numerator=top, denominator=bottom):
                return self._value(top, known) // self._value(bottom, known)
            case Remainder(numerator=top, denominator=bottom):
                return self._value(top, known) % self._value(bottom, known)
            case Extremum(kind=kind, operands=operands):
                values = [self._value(each, known) for each in operands]
                return min(values) if kind == "minimum" else max(values)
            case _:
                return known[atom]


def example(kernel: Kernel, variants: Sequence[Variant], position: int) -> Example | None:
    """Sizes for which this variant of the kernel is the one that is launched, with the last tiles cut where that is
    possible; None if there are none among those tried.
    """
    variant = variants[position]
    names = launch_names(kernel)
    conditions = [each.condition or "" for each in variants[: position + 1]]
    mentioned = set(re.findall(r"[A-Za-z_]\w*", " ".join([variant.grid, *conditions])))
    scalars = {names.parameters[each.name]: 4 for each in kernel.scalars if names.parameters[each.name] in mentioned}
    processors = PROCESSORS if variant.described else 0
    for sizes in _candidates(names.sizes, _wishes(variant), " and ".join(conditions)):
        known = {names.sizes[symbol]: size for symbol, size in sizes.items()} | scalars
        if _holds(variant.condition, known, processors) and not any(
            _holds(each.condition, known, processors) for each in variants[:position]
        ):
            return Example(sizes, _evaluated(variant.grid, known, processors))
    return None


def _wishes(variant: Variant) -> dict[str, int]:
    """For each symbol that is the whole extent of an axis, a size that shows how the axis is divided."""
    found: dict[str, int] = {}
    if variant.tiles is None:
        return found
    blocks = dict(variant.constants)
    for section in variant.tiles.sections:
        for axis, form in section.forms.items():
            atom = axis.extent.atom
            if isinstance(atom, Symbol):
                wish = _wish(section, axis, blocks.get(form.block or "", 1))
                found[atom.name] = max(found.get(atom.name, 0), wish)
    return found


def _wish(section: Section, axis: Axis, lanes: int) -> int:
    """A few points, less than one tile of what stays on chip, or some tiles and a part of one."""
    if lanes == 1:
        return 2 if axis in section.program and len(section.program) > 1 else 5
    cut = max(3 * lanes // 8, 1)
    return lanes - cut if section.roles.get(axis) == "resident" else 2 * lanes + cut


def _candidates(names: Mapping[str, str], wishes: Mapping[str, int], conditions: str) -> Iterator[dict[str, int]]:
    """The wished sizes first; those that conditions are about are tried on both sides of the numbers in them."""
    wished = {symbol: wishes.get(symbol, 5) for symbol in names}
    about = [symbol for symbol in names if re.search(rf"\b{re.escape(names[symbol])}\b", conditions)]
    limits = sorted({int(each) for each in re.findall(r"\b\d+\b", conditions)})
    choices = [_near(wished[symbol], limits) for symbol in about]
    ranks = list(itertools.islice(itertools.product(*(range(len(each)) for each in choices)), MOST_CANDIDATES))
    for rank in sorted(ranks, key=lambda each: (max(each, default=0), sum(each))):
        yield wished | {symbol: choices[n][each] for n, (symbol, each) in enumerate(zip(about, rank, strict=True))}


def _near(wish: int, limits: Sequence[int]) -> list[int]:
    """Sizes about as large as is wished, and then others."""
    sides = [
        size for limit in limits for size in (5 * limit // 8, limit + max(3 * limit // 8, 1)) if 0 < size < 100_000
    ]
    aligned = -(-wish // 128) * 128
    far = [each * factor for factor in (2, 4, 8) for each in (wish, aligned)]
    return list(dict.fromkeys([wish, *sorted(sides, key=lambda size: abs(size - wish))[:8], aligned, *far]))


def _holds(condition: str | None, sizes: Mapping[str, int], processors: int) -> bool:
    return not condition or bool(_evaluated(condition, sizes, processors))


def _evaluated(expression: str, sizes: Mapping[str, int], processors: int) -> int:
    """What the launcher's expression is: sizes, numbers and comparisons, as the planner printed them."""
    known = {"triton": SimpleNamespace(cdiv=lambda a, b: -(-a // b)), "min": min, "max": max, TILES: processors}
    return int(eval(expression, {"__builtins__": {}}, {**known, **sizes}))


# ------------------------------------------------------------------------------------------------------------- programs
@dataclass(frozen=True, slots=True)
class Program:
    """One program, or one of the tiles that programs take in turn: its number, the first coordinate on each axis."""

    number: int
    firsts: Mapping[Axis, int]


def programs(section: Section, blocks: Mapping[str, int], example: Example, before: int) -> list[Program] | None:
    """The programs of a section, after `before` ones of others: the first and the last if there are very many. None if
    data decide where they start.
    """
    known: dict[Atom, int] = {Named(name): size for name, size in blocks.items()}
    count = example.value(section.count, known)
    if count is None:
        return None
    found = []
    few = min(count, FIRST_PROGRAMS)
    for pid in itertools.chain(range(few), range(max(few, count - LAST_PROGRAMS), count)):
        firsts = _firsts(section, dict(known), example, pid)
        if firsts is None:
            return None
        found.append(Program(before + pid, firsts))
    return found


def _firsts(section: Section, known: dict[Atom, int], example: Example, pid: int) -> dict[Axis, int] | None:
    for name in ("pid", "tl.program_id(0)", "tl.program_id(0).to(INDEX)"):
        known[Named(name)] = pid
    scalars = {form.name: axis for axis, form in section.forms.items() if form.block is None}
    firsts: dict[Axis, int] = {}
    for statement in _flat(section.statements):
        match statement:
            case BindIndex(name=name, value=value):
                found = example.value(value, known)
                if found is None:
                    continue
                known[Named(name)] = found
                if name in scalars:
                    firsts[scalars[name]] = known[scalars[name]] = found
            case BindAxis(axis=axis, base=base, tile=tile):
                block = known.get(Named(section.forms[axis].block or ""))
                start, ordinal = example.value(base, known), example.value(tile, known)
                if block is not None and start is not None and ordinal is not None:
                    firsts[axis] = start + ordinal * block
    firsts |= {axis: 0 for axis in section.program if axis.extent.constant == 1}
    return firsts if all(axis in firsts for axis in section.program) else None


def _flat(statements: Sequence[Statement]) -> Iterator[Statement]:
    """The statements at the head of the function, up to its first loop over tiles."""
    for statement in statements:
        if isinstance(statement, ProgramLoop):
            yield from _flat(statement.body)
        else:
            yield statement

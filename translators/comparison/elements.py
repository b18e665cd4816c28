"""Loops of which each element goes its own way: a carry of many elements as a loop for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from intent.records import replace
from translators.comparison.binding import Open
from translators.comparison.systems import Loop, carry
from translators.comparison.terms import Term, walk

if TYPE_CHECKING:
    from translators.comparison.rules import Rules


def of_one_element(rules: Rules, loop: Loop, root: Term, positions: Sequence[Term]) -> tuple[Loop, tuple[Term, ...]]:
    """The loop for the elements at these positions of one of its carries, along every axis along which nothing passes
    from one element to another; and the positions along the axes that remain.

    Exact where the number of iterations is the same for all elements, as that of a `for` is.
    """
    kept = list(positions)
    axis = 0
    while loop.kind == "for" and axis < len(kept):
        places = _places(loop, root, axis)
        if places is None:
            axis += 1
        else:
            loop = _at(rules, loop, places, kept.pop(axis))
    return loop, tuple(kept)


def _places(loop: Loop, root: Term, axis: int) -> dict[Term, int] | None:
    """Which axis of each carry is that axis of the root; None if an element depends on others along it."""
    equations = dict(zip(loop.names, loop.equations, strict=True))
    places = {root: axis}
    apart: set[Term] = set()  # carries that have no such axis
    waiting = [root]
    while waiting:
        name = waiting.pop()
        variable = equations[name].variables[places[name]]
        for used in _carries(equations[name], equations):
            other, *at = used.operands
            hits = [place for place, position in enumerate(at) if variable.key in position.free]
            if not hits:
                apart.add(other)
                continue
            if other not in places:
                places[other] = hits[0]
                waiting.append(other)
            if hits != [places[other]] or not _is_own(equations[other], hits[0], at[hits[0]], variable):
                return None
        if any(variable.key in operand.free for each in equations[name].variables for operand in each.operands):
            return None
    return places if _are_apart(apart, places, equations) else None


def _is_own(equation: Open, place: int, position: Term, variable: Term) -> bool:
    """Whether the carry is read at the very element, of as many."""
    return position == variable and equation.variables[place].operands == variable.operands


def _are_apart(apart: set[Term], places: Mapping[Term, int], equations: Mapping[Term, Open]) -> bool:
    """Whether carries without the axis depend on none that has it."""
    found, waiting = set(apart), list(apart)
    while waiting:
        for used in _carries(equations[waiting.pop()], equations):
            if used.operands[0] not in found:
                found.add(used.operands[0])
                waiting.append(used.operands[0])
    return not found & places.keys()


def _carries(equation: Open, names: Mapping[Term, Open]) -> Iterator[Term]:
    return (term for term in walk(*equation.parts) if term.operation == "carry" and term.operands[0] in names)


def _at(rules: Rules, loop: Loop, places: Mapping[Term, int], position: Term) -> Loop:
    """The loop for one position along the axis that `places` tells."""
    equations = dict(zip(loop.names, loop.equations, strict=True))
    made: list[Open] = []
    for name, equation in equations.items():
        if name not in places:
            made.append(equation)
            continue
        variable = equation.variables[places[name]]
        mapping = {variable: position}
        for used in _carries(equation, equations):  # operands first, so that carries within positions are known
            other, *at = used.operands
            if other in places:
                rest = [rules.rebuilt(each, mapping) for place, each in enumerate(at) if place != places[other]]
                mapping[used] = carry(used.dtype, other, rest)
        variables = tuple(each for each in equation.variables if each != variable)
        parts = tuple(rules.rebuilt(part, mapping) for part in equation.parts)
        made.append(replace(equation, variables=variables, parts=parts))
    return replace(loop, equations=tuple(made))

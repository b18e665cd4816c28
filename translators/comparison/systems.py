"""Loops as systems of equations: what each carry begins as, and what one iteration makes of it.

    system(trip; equation...)      the first equation is the one that is asked for, the others are those it needs
    equation(extents; initial, update)          of one carry over its own coordinates
    carry(name; positions)                      the value of a carry at the start of an iteration

Carries that begin alike and change alike are one: the classes are refined until they are stable, as bisimilar states
of an automaton are found, and their digests give the order. Neither the author's order nor idle carries remain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from intent.dtypes import DType, index
from intent.records import dataclass, replace
from translators.comparison.binding import Open, close, opened
from translators.comparison.reductions import identity, reduction
from translators.comparison.terms import Term, raw, walk

if TYPE_CHECKING:
    from translators.comparison.rules import Rules


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop whose iteration and carries have names. `kind` is for, while or slices."""

    kind: str
    iteration: Term  # a variable; its extent is the number of iterations, or of what a region operation slices
    names: tuple[Term, ...]
    equations: tuple[Open, ...]


def name_of(serial: object) -> Term:
    return raw("name", index, (), (serial,))


def carry(dtype: DType, name: Term, positions: Sequence[Term]) -> Term:
    return raw("carry", dtype, (name, *positions))


def close_system(rules: Rules, loop: Loop, root: Term) -> Term:
    """The system of one carry of the loop."""
    classes = _classes(rules, loop)
    members: dict[str, Term] = {}
    for name in loop.names:
        members.setdefault(classes[name], name)
    needed = _needed(loop, classes, members, classes[root])
    order = [classes[root], *sorted(each for each in needed if each != classes[root])]
    base = 0
    while True:
        made = _numbered(rules, loop, classes, [members[each] for each in order], base + 1)
        inner = max(operand.height for operand in made.operands)
        if inner == base:
            return made
        base = inner


def _numbered(rules: Rules, loop: Loop, classes: Mapping[Term, str], chosen: Sequence[Term], height: int) -> Term:
    ranks = {classes[name]: rank for rank, name in enumerate(chosen)}
    iteration = rules.ranged(raw("bound", index, loop.iteration.operands, (height, loop.iteration.detail[1])))
    mapping = {loop.iteration: iteration}
    mapping |= {
        name: name_of(f"state {height} {ranks[classes[name]]}") for name in loop.names if classes[name] in ranks
    }
    equations = dict(zip(loop.names, loop.equations, strict=True))
    made = tuple(_closed(rules, equations[name], mapping) for name in chosen)
    return raw("system", index, (loop.iteration.operands[0], *made), (loop.kind, height))


def _closed(rules: Rules, equation: Open, mapping: Mapping[Term, Term]) -> Term:
    parts = tuple(rules.rebuilt(part, mapping) for part in equation.parts)
    variables = tuple(rules.rebuilt(each, mapping) for each in equation.variables)
    return close(rules, replace(equation, parts=parts, variables=variables))


def _classes(rules: Rules, loop: Loop) -> dict[Term, str]:
    """A digest for each carry; equal for carries that are always equal."""
    colours = dict.fromkeys(loop.names, "")
    iteration = raw("variable", index, loop.iteration.operands, ("iteration", loop.iteration.detail[1]))
    while True:
        mapping = {name: name_of(f"class {colour}") for name, colour in colours.items()}
        mapping[loop.iteration] = rules.ranged(iteration)
        made = {
            name: _closed(rules, equation, mapping).key
            for name, equation in zip(loop.names, loop.equations, strict=True)
        }
        if len(set(made.values())) == len(set(colours.values())):
            return made
        colours = made


def _needed(loop: Loop, classes: Mapping[Term, str], members: Mapping[str, Term], root: str) -> set[str]:
    equations = dict(zip(loop.names, loop.equations, strict=True))
    found = {root}
    waiting = [root]
    while waiting:
        equation = equations[members[waiting.pop()]]
        for term in walk(*equation.parts):
            wanted = classes.get(term)
            if wanted is not None and wanted not in found:
                found.add(wanted)
                waiting.append(wanted)
    return found


REDUCED = {"add": "sum", "maximum": "max", "or": "any", "and": "all"}


def as_reduction(rules: Rules, loop: Loop, name: Term, positions: Sequence[Term]) -> Term | None:
    """begin + the sum over all iterations, of a carry that only grows by what is added to it; and so for a maximum.

    Exact for integers and maxima; a sum of floats is then taken in another order.
    """
    equation = dict(zip(loop.names, loop.equations, strict=True))[name]
    begin, update = equation.parts
    if loop.kind != "for":
        return None
    step = _step(rules, update, carry(equation.dtype, name, equation.variables))
    if step is None or any(each in loop.names for each in walk(step[1])):
        return None
    function, grown = step
    if function == "add" and equation.dtype.is_float and not rules.relaxed:
        return None
    place = dict(zip(equation.variables, positions, strict=True))
    axis = rules.variable(loop.iteration.operands[0])
    body = rules.rebuilt(grown, {**place, loop.iteration: axis})
    total = reduction(rules, Open("reduce", equation.dtype, (axis,), (body,), (REDUCED[function], 0, 1)))
    start = rules.rebuilt(begin, place)
    if start == identity(REDUCED[function], equation.dtype):
        return total
    return rules.make("pointwise", equation.dtype, (start, total), (function, False, False))


def _step(rules: Rules, update: Term, old: Term) -> tuple[str, Term] | None:
    """(function, what the old value is combined with)."""
    if update.operation == "select":
        return _conditional_step(rules, update, old)
    if update.function not in REDUCED or old not in update.operands:
        return None
    rest = [each for each in update.operands if each != old]
    if len(rest) + 1 != len(update.operands):
        return None
    grown = rest[0] if len(rest) == 1 else rules.make("pointwise", update.dtype, tuple(rest), update.detail)
    return update.function, grown


def _conditional_step(rules: Rules, update: Term, old: Term) -> tuple[str, Term] | None:
    """An iteration that leaves the value alone adds the identity."""
    condition, true, false = update.operands
    if old not in (true, false):
        return None
    step = _step(rules, true if false == old else false, old)
    if step is None:
        return None
    nothing = identity(REDUCED[step[0]], update.dtype)
    chosen = (step[1], nothing) if false == old else (nothing, step[1])
    return step[0], rules.make("select", update.dtype, (condition, *chosen))


def system_opened(rules: Rules, term: Term, operands: Sequence[Term]) -> Loop:
    kind, height = term.detail
    old = next(
        (each for each in walk(*operands) if each.operation == "bound" and each.detail[0] == height),
        raw("bound", index, (operands[0],), (height, "ordered")),
    )
    iteration = rules.fresh(old, old.operands)
    names = tuple(name_of(rules.next_serial()) for _ in operands[1:])
    mapping = {old: iteration} | {name_of(f"state {height} {rank}"): name for rank, name in enumerate(names)}
    equations = tuple(opened(rules, rules.rebuilt(equation, mapping)) for equation in operands[1:])
    return Loop(str(kind), iteration, names, equations)


def system_rebound(rules: Rules, term: Term, operands: tuple[Term, ...]) -> Term:
    """A closed system some of whose parts have changed, other than by renaming its own variables."""
    kind, height = term.detail
    inner = max(operand.height for operand in operands)
    if len(operands) == 2 and inner == height - 1:  # type: ignore[operator]
        return raw("system", index, operands, (kind, height), term.span)
    loop = system_opened(rules, term, operands)
    return close_system(rules, loop, loop.names[0])

"""Effects in normal form: conditions on coordinates are ranges, coordinates used in parts are several, and what does
not depend on the order of the program is in an order of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from intent.dtypes import boolean
from intent.records import dataclass, replace
from translators.comparison.binding import Open, close
from translators.comparison.blocks import joined
from translators.comparison.canonical import Canonical, Scope
from translators.comparison.conditions import conjuncts, in_bounds, logical
from translators.comparison.points import independent
from translators.comparison.ranges import narrowed, split
from translators.comparison.rules import Rules
from translators.comparison.terms import Term, integer, truth
from translators.diagnostics import Span
from translators.logical.types import Memory
from translators.planning.sinks import Sink
from translators.tile.expression import Axis, LoopToken


@dataclass(frozen=True, slots=True)
class Effect:
    """memory[coordinates] = value (or an atomic update) at every point of `variables` where the condition holds.

    `loops` are the author's ordered loops around it, by identity; an ordered variable is the iteration of one.
    """

    memory: str
    action: str
    semantics: str
    variables: tuple[Term, ...]
    coordinates: tuple[Term, ...]
    extents: tuple[Term, ...]
    condition: Term
    value: Term
    loops: tuple[LoopToken, ...]
    span: Span

    @property
    def parts(self) -> tuple[Term, ...]:
        return (*self.coordinates, self.condition, self.value)

    def rebuilt(self, rules: Rules, mapping: dict[Term, Term], variables: tuple[Term, ...]) -> Effect:
        if not mapping:
            return self
        return replace(
            self,
            variables=variables,
            coordinates=tuple(rules.rebuilt(each, mapping) for each in self.coordinates),
            extents=tuple(rules.rebuilt(each, mapping) for each in self.extents),
            condition=rules.rebuilt(self.condition, mapping),
            value=rules.rebuilt(self.value, mapping),
        )


@dataclass(frozen=True, slots=True)
class Stored:
    """A closed effect, and where it stands in the source."""

    memory: str
    term: Term
    span: Span


def effects(canonical: Canonical) -> tuple[Stored, ...]:
    """All effects of a kernel: those to one memory in program order unless they cannot meet, memories by name.

    Where a statement reads what an earlier one wrote, everything keeps its order.
    """
    sinks = canonical.demand.sinks
    issued = any(sink.action == "issued" for sink in sinks)
    if canonical.demand.pinned or issued:
        points = {axis for sink in sinks for axis in sink.parallel}
        points -= set() if issued else independent(canonical.demand, points)
        return tuple(_closed(canonical.rules, [_effect(canonical, sink, points) for sink in sinks]))
    groups: dict[str, list[Effect]] = {}
    for sink in sinks:
        effect = _normal(canonical.rules, _effect(canonical, sink, ()))
        groups.setdefault(_group(canonical, sink.memory), []).append(effect)
    made: list[Stored] = []
    for group in groups.values():
        found = list(_closed(canonical.rules, _settled(canonical.rules, group)))
        apart = len(found) == 1 or _all_disjoint(group)
        made.extend(sorted(found, key=lambda stored: stored.term.key) if apart else found)
    return tuple(sorted(made, key=lambda stored: stored.memory))


def _group(canonical: Canonical, memory: Memory) -> str:
    """Views that share an allocation keep their order among each other."""
    alias = getattr(memory, "alias", None)
    return f"alias {alias}" if alias is not None else canonical.memory(memory)


def _effect(canonical: Canonical, sink: Sink, points: Collection[Axis]) -> Effect:
    """`points` are parallel axes whose points are no mere coordinates."""
    scope = canonical.inside(Scope())
    variables = list(_around(canonical, sink, scope, points))
    coordinates, extents = canonical.place(sink.memory, sink.coordinates, scope)
    condition = truth(True) if sink.predicate is None else canonical.term(sink.predicate, scope)
    value = canonical.term(sink.value, scope)
    tokens = tuple(loop.token for loop in sink.loops)
    memory = canonical.memory(sink.memory)
    return Effect(
        memory, sink.action, sink.semantics, tuple(variables), coordinates, extents, condition, value, tokens, sink.span
    )


def _around(canonical: Canonical, sink: Sink, scope: Scope, points: Collection[Axis]) -> Iterator[Term]:
    """Variables of everything around an effect, what others vary with first."""
    waiting = list(sink.loops)
    pending = [*sink.parallel]
    while waiting or pending:
        outer = [axis for axis in pending if not waiting or axis in waiting[0].parallel]
        yield from canonical.bind(outer, scope, points)
        pending = [axis for axis in pending if axis not in outer]
        if waiting:
            loop = waiting.pop(0)
            _, trip = canonical.trip(loop, scope)
            scope.loops[loop.token] = variable = canonical.rules.variable(trip, "ordered")
            yield variable
    yield from canonical.bind(sink.free, scope)


# --------------------------------------------------------------------------------------------------------------- rules
def _normal(rules: Rules, effect: Effect) -> Effect:
    """One effect by itself."""
    while True:
        simpler = _without_single(rules, _narrowed(rules, _joined(rules, _split(rules, _guarded(rules, effect)))))
        if simpler == effect:
            return effect
        effect = simpler


def _guarded(rules: Rules, effect: Effect) -> Effect:
    """A condition holds in all that it guards; one that keeps the access in bounds says nothing, and holds as well."""
    inside = in_bounds(effect.coordinates, effect.extents, rules.facts)
    condition = logical("and", [each for each in conjuncts(effect.condition) if each not in inside])
    within = logical("and", (condition, *sorted(inside, key=lambda each: each.key)))
    if within.truth is not None:
        return replace(effect, condition=condition)
    value = rules.under(effect.value, within, True)
    if condition.truth is not None:
        return replace(effect, condition=condition, value=value)
    coordinates = tuple(rules.under(each, condition, True) for each in effect.coordinates)
    return replace(effect, condition=condition, value=value, coordinates=coordinates)


def _narrowed(rules: Rules, effect: Effect) -> Effect:
    variables, mapping, rest = narrowed(rules, effect.variables, conjuncts(effect.condition))
    if not mapping:
        return effect
    return replace(effect, condition=logical("and", rest)).rebuilt(rules, mapping, variables)


def _split(rules: Rules, effect: Effect) -> Effect:
    variables, mapping = split(rules, effect.variables, effect.parts)
    return effect.rebuilt(rules, mapping, variables)


def _joined(rules: Rules, effect: Effect) -> Effect:
    variables, mapping = joined(rules, effect.variables, effect.parts)
    return effect.rebuilt(rules, mapping, variables)


def _without_single(rules: Rules, effect: Effect) -> Effect:
    """A coordinate of one value is 0."""
    single = {each: integer(0) for each in effect.variables if each.operands[0].polynomial.constant == 1}
    kept = tuple(rules.rebuilt(each, single) for each in effect.variables if each not in single)
    return effect.rebuilt(rules, single, kept)


def _settled(rules: Rules, group: Sequence[Effect]) -> list[Effect]:
    """The effects on one memory: a later one at the same elements replaces an earlier one."""
    made: list[Effect] = []
    for effect in group:
        merged = _merged(rules, made[-1], effect) if made else None
        if merged is None:
            made.append(effect)
        else:
            made[-1] = _normal(rules, merged)
    if len(made) == 1:
        made[0] = _normal(rules, _unordered(rules, made[0]))
    return made


def _merged(rules: Rules, first: Effect, second: Effect) -> Effect | None:
    """Both stores as one, if they go over the same elements, each of which belongs to one point."""
    if first.action != "store" or second.action != "store" or first.loops or second.loops:
        return None
    if not (_distinct(first) and _distinct(second)):
        return None
    mapping: dict[Term, Term] = {}
    for mine, other in zip(first.coordinates, second.coordinates, strict=True):
        if other in second.variables:
            mapping[other] = mine
        elif mine != other:
            return None
    if set(mapping.values()) != set(first.variables) or len(mapping) != len(second.variables):
        return None
    if any(rules.rebuilt(old.operands[0], mapping) != new.operands[0] for old, new in mapping.items()):
        return None
    condition, value = (rules.rebuilt(each, mapping) for each in (second.condition, second.value))
    either = logical("or", (first.condition, condition))
    return replace(first, condition=either, value=rules.make("select", value.dtype, (condition, value, first.value)))


def _distinct(effect: Effect) -> bool:
    """Every variable is a coordinate of its own, so that no two points meet."""
    return all(variable in effect.coordinates for variable in effect.variables)


def _unordered(rules: Rules, effect: Effect) -> Effect:
    """A loop whose iterations store at different elements may run in any order."""
    ordered = [each for each in effect.variables if each.detail[1] == "ordered"]
    own = {variable.key for variable in effect.variables}
    for variable in ordered:
        rest = [integer(each.polynomial - variable.polynomial) for each in effect.coordinates]
        if not any(not own & each.free for each in rest):
            return effect
    mapping: dict[Term, Term] = {}
    for variable in ordered:
        mapping[variable] = rules.variable(rules.rebuilt(variable.operands[0], mapping))
    variables = tuple(mapping.get(each) or rules.rebuilt(each, mapping) for each in effect.variables)
    return replace(effect.rebuilt(rules, mapping, variables), loops=())


def _all_disjoint(group: Sequence[Effect]) -> bool:
    """No two effects touch one element: some coordinate differs by a number."""
    for position, first in enumerate(group):
        for second in group[position + 1 :]:
            pairs = zip(first.coordinates, second.coordinates, strict=True)
            apart = [(one.polynomial - other.polynomial).constant for one, other in pairs]
            if not any(apart) or first.loops or second.loops:
                return False
    return True


# -------------------------------------------------------------------------------------------------------------- closing
def _closed(rules: Rules, group: Sequence[Effect]) -> Iterator[Stored]:
    """Closed effects; loops are numbered, so that it shows which effects share one."""
    numbers: dict[LoopToken, int] = {}
    for effect in group:
        path = tuple(numbers.setdefault(token, len(numbers)) for token in effect.loops)
        detail = (effect.memory, effect.action, effect.semantics, len(effect.coordinates), path)
        yield Stored(
            effect.memory,
            close(rules, Open("effect", boolean, effect.variables, effect.parts, detail, effect.span)),
            effect.span,
        )

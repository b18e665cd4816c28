"""What the statements of a group read, of memory and of each other, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from translators.lifting.rewriting import opposites
from translators.lifting.sinks import Residue
from translators.lifting.views import Viewed
from translators.logical.types import View
from translators.tile.expression import Expression, walk


def loads_of(viewed: Viewed) -> Iterator[Expression]:
    return (node for node in walk(*viewed.sink.roots) if node.operation == "load")


def read_before_stored(members: Sequence[Viewed]) -> list[Expression]:
    """Loads that a statement needs of what an earlier one stores, where both have one condition."""
    stored: set[View] = set()
    found: dict[Expression, None] = {}
    for viewed in members:
        found.update(dict.fromkeys(load for load in loads_of(viewed) if load.attribute.memory in stored))
        stored.add(viewed.memory)
    return list(found)


def check_conditions(members: Sequence[Viewed]) -> None:
    """What is stored is not loaded later under another condition, unless it is the opposite one for the same rows."""
    stored: dict[View, list[Viewed]] = {}
    for viewed in members:
        for load in loads_of(viewed):
            for earlier in stored.get(load.attribute.memory, ()):
                if earlier.sink.mask is not viewed.sink.mask and not _never_both(earlier, viewed, load):
                    raise Residue("an array that is loaded and stored under a condition")
        stored.setdefault(viewed.memory, []).append(viewed)


def _never_both(earlier: Viewed, later: Viewed, load: Expression) -> bool:
    """Whether conditions select the one or the other for rows that both keep to."""
    pairs = zip(earlier.coordinates, load.attribute.coordinates, strict=True)
    rows = {mine.atom for mine, other in pairs if mine == other}
    return any(axes <= rows for axes in opposites(earlier.sink.mask, later.sink.mask))


def uses(members: Sequence[Viewed]) -> tuple[Counter[Expression], set[Expression]]:
    """How often each node is an operand, over all of a group's statements; and which are coordinates alone."""
    roots = [root for viewed in members for root in (viewed.sink.value, viewed.sink.mask)]
    roots.extend({part: None for viewed in members for part in viewed.sink.carried})
    places = [load for viewed in members for load in places_read(viewed)]
    counts: Counter[Expression] = Counter((*roots, *places))
    numbers = set(roots)
    for node in walk(*roots, *places):
        counts.update(node.operands)
        numbers.update(node.arguments)
    return counts, {node for node in counts if node.operation == "load" and node not in numbers}


def places_read(viewed: Viewed) -> Iterator[Expression]:
    """What is read from memory to tell where to store."""
    for coordinate in viewed.coordinates:
        yield from dict.fromkeys(atom for atom in coordinate.atoms() if isinstance(atom, Expression))

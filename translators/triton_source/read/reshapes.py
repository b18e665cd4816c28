"""Coordinates of a tile under other lanes: what the numbers of lanes decide is simplified at once, so that reshapes of
reshapes stay as small as one.
"""

from __future__ import annotations

from typing import Final

from intent.records import dataclass, field
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Extremum, Opaque, Polynomial, Quotient, Remainder, Symbol, atomic, number
from translators.algebra.simplification import aligned_quotient, aligned_remainder
from translators.tile.substitution import Rebuilding
from translators.triton_source.read.values import Lanes, NotLifted, Shape

DEEPEST: Final = 6


@dataclass(slots=True)
class Reshaping(Rebuilding):
    """Substitutes lanes."""

    facts: Facts = field(default_factory=Facts)
    depths: dict[Polynomial, int] = field(default_factory=dict)  # of quotients within quotients

    def opaque(self, atom: Quotient | Remainder | Extremum, operands: tuple[Polynomial, ...]) -> Polynomial:
        match atom:
            case Quotient():
                made = aligned_quotient(self.facts, *operands)
            case Remainder():
                made = aligned_remainder(self.facts, *operands)
            case _:
                made = atom.with_operands(operands)
        if self._depth(made) > DEEPEST:
            raise NotLifted("reshapes of reshapes whose coordinates cannot be made simpler")
        return made

    def _depth(self, polynomial: Polynomial) -> int:
        found = self.depths.get(polynomial)
        if found is None:
            opaque = [atom for term, _ in polynomial.terms for atom in term if isinstance(atom, Opaque)]
            inside = (1 + self._depth(operand) for atom in opaque for operand in atom.operands)
            found = self.depths[polynomial] = max(inside, default=0)
        return found


def facts_of_lanes(lanes: Lanes, shape: Shape) -> Facts:
    """Each lane is within its dimension; the sizes of dimensions are positive."""
    facts = Facts()
    for lane, extent in zip(lanes.axes, shape, strict=False):
        for atom in extent.atoms():
            if isinstance(atom, Symbol):
                facts = facts.with_bounds(atom, low=1)
        facts = facts.with_bounds(lane, 0, extent - 1)
    return facts


def row_major(lanes: Lanes, old: Shape, new: Shape) -> dict[int, Polynomial]:
    """The coordinates in a tile of one shape of each element of the same tile in another."""
    facts = facts_of_lanes(lanes, new)
    flat = Polynomial()
    for lane, extent in zip(lanes.axes, new, strict=False):
        flat = flat * extent + (atomic(lane) if extent != 1 else 0)
    mapping: dict[int, Polynomial] = {}
    stride = number(1)
    for dimension in reversed(range(len(old))):
        whole = aligned_quotient(facts, flat, stride)
        mapping[dimension] = aligned_remainder(facts, whole, old[dimension]) if dimension else whole
        stride = stride * old[dimension]
    return mapping

"""Products over the coordinates up to one of the result (as under a causal mask), or from it on, as masked products of
matrices.

    sum over j in [begin, l + 1) of f(l, j)     is     sum over all j of (f(l, j) if l >= j else 0)
    sum over j in [l, end) of f(l, j)           is     sum over all j of (f(l, j) if l <= j else 0)

Where there are contractions, rows are rows of matrices, and such a range would make each row a loop of its own.
"""

from __future__ import annotations

from intent import dtypes as d
from intent.records import dataclass, replace
from translators.algebra.polynomial import Polynomial, atomic, number
from translators.lifting.neutral import neutral
from translators.lifting.views import Viewed
from translators.tile.expression import Arena, Axis, Expression
from translators.tile.substitution import Rebuilding, as_index, over


def masked(arena: Arena, viewed: Viewed) -> Viewed:
    if all("contract" not in root.operations for root in viewed.sink.roots):
        return viewed
    changing = Rebuilding(arena, {}, finish=_Masking(arena, frozenset(viewed.sink.axes)).node)
    return replace(viewed, sink=viewed.sink.mapped(changing.expression))


@dataclass(frozen=True, slots=True)
class _Masking:
    arena: Arena
    free: frozenset[Axis]

    def node(self, node: Expression) -> Expression | None:
        if node.operation not in ("reduce", "contract") or node.dtype == d.index:
            return None
        for axis in node.attribute.axes:
            whole = self._whole(axis)
            if whole is not None:
                return self._over(node, axis, *whole)
        return None

    def _whole(self, axis: Axis) -> tuple[Polynomial, Polynomial] | None:
        """The range that does not depend on the row, if this one ends at or after the row, or begins so."""
        for row in self.free:
            same = row.begin == axis.begin and not any(isinstance(atom, Axis) for atom in row.end.atoms())
            if same and axis.end - atomic(row) in (number(0), number(1)):
                return row.begin, row.end
            if axis.begin - atomic(row) in (number(0), number(1)) and row not in axis.end.atoms():
                return row.begin, axis.end
        return None

    def _over(self, node: Expression, axis: Axis, begin: Polynomial, end: Polynomial) -> Expression:
        wide = self.arena.axis(axis.name, begin, end)
        below = atomic(wide) - axis.end if begin == axis.begin else axis.begin - atomic(wide) - 1
        operands = (as_index(self.arena, below), as_index(self.arena, number(0)))
        inside = self.arena.make("pointwise", d.boolean, operands, ("less", False, False))
        moved = over(self.arena, node, axis, wide, atomic(wide))
        first, *rest = moved.arguments
        identity = neutral(self.arena, "sum" if node.operation == "contract" else node.attribute.kind, first)
        chosen = self.arena.make("select", first.dtype, (inside, first, identity))
        return self.arena.make(node.operation, node.dtype, (chosen, *rest), moved.attribute)

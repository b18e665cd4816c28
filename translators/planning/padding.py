"""What guarded lanes must hold so that a reduction does not see them.

For every reduction the guarded lanes of its operand must be the reduction's identity. Where the loads it depends on
can be given an `other` value that makes it so, they are; elsewhere the operand is selected explicitly. Nothing is
guessed: the value of the operand in a guarded lane is computed. A load with a condition of its own holds in such lanes
what it holds where the condition fails.
"""

from __future__ import annotations

import math

from intent.dtypes import DType
from intent.records import dataclass, field
from translators.planning.known_values import EXACT_FUNCTIONS, Number, identity, integer_function, lowest
from translators.planning.layouts import Layout
from translators.tile.expression import Axis, Expression, Reduction, walk


@dataclass(slots=True)
class Padding:
    """`others`: value of a load's guarded lanes. `selected`: axes whose guarded lanes an operand must be masked in."""

    layout: Layout
    others: dict[Expression, Number] = field(default_factory=dict)
    selected: dict[tuple[Expression, int], tuple[Axis, ...]] = field(default_factory=dict)

    def reduction(self, node: Expression) -> None:
        """Decide the guarded lanes of every operand of a reduce, contract or scan."""
        reduction: Reduction = node.attribute
        axes = [axis for axis in reduction.axes if not self.layout.exact(axis)]
        for ordinal, operand in enumerate(node.arguments):
            masked = tuple(axis for axis in axes if not self._harmless(node, operand, axis))
            self.selected[node, ordinal] = masked

    def _harmless(self, node: Expression, operand: Expression, axis: Axis) -> bool:
        wanted = 0 if node.operation == "contract" else identity(node.attribute.kind, operand.dtype)
        if wanted is None:  # a combine function: the accumulation itself selects
            return False
        if axis not in operand.axes:
            return False
        for candidate in dict.fromkeys((wanted, 0)):
            trial = dict(self.others)
            for load in walk(operand):
                if load.operation == "load" and axis in load.axes and not load.arguments:
                    trial.setdefault(load, _typed(candidate, load.dtype))
            if _same(_evaluate(operand, axis, trial), wanted):
                self.others = trial
                return True
        return False


def _typed(value: Number, dtype: DType) -> Number:
    if value == -math.inf:
        return lowest(dtype)
    return float(value) if dtype.is_float else int(value)


def _same(value: Number | None, wanted: Number) -> bool:
    return value is not None and value == wanted and not (isinstance(value, float) and math.isnan(value))


def _evaluate(node: Expression, axis: Axis, others: dict[Expression, Number]) -> Number | None:
    """The node's value in a guarded lane of `axis`, if it is known whatever the memory holds."""
    values: dict[Expression, Number | None] = {}
    for below in walk(node, stop=lambda inner: inner.operation in ("load", "reduce", "contract", "scan")):
        values[below] = _value(below, axis, others, values)
    return values[node]


def _value(
    node: Expression, axis: Axis, others: dict[Expression, Number], values: dict[Expression, Number | None]
) -> Number | None:
    match node.operation:
        case "constant":
            value: Number = node.attribute
            return value
        case "load" if axis not in node.axes:
            return None
        case "load" if node.arguments:
            fill = node.arguments[1]
            return fill.attribute if fill.operation == "constant" else None
        case "load":
            return others.get(node)
        case "cast":
            return _cast(values[node.arguments[0]], node.dtype)
        case "select":
            condition, true, false = (values[argument] for argument in node.arguments)
            if condition is not None:
                return true if condition else false
            return true if true is not None and true == false else None
        case "pointwise":
            known = [values[argument] for argument in node.arguments]
            if node.dtype.is_integer:
                return integer_function(node.attribute[0], known)
            function = EXACT_FUNCTIONS.get((node.attribute[0], len(known)))
            if function is None or not node.dtype.is_float or any(value is None for value in known):
                return None
            return function(*known)
        case _:
            return None


def _cast(value: Number | None, dtype: DType) -> Number | None:
    if value is None or not dtype.is_float:
        return value if value is not None and value == 0 else None
    return float(value)

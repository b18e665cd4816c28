"""Names in a device function: the author's where there is one, else what a colleague would write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from translators.planning.demand import Demand
from translators.tile.expression import Axis, Expression, LoopToken, Reduction, walk
from translators.triton_source.names import RESERVED

_KINDS = {"sum": "sum", "max": "max", "any": "any", "all": "all", "arg_max": "argmax", "generic": "total"}


@dataclass(slots=True)
class Namer:
    """Hands out names that are distinct while they are visible. Axis and loop names are for the whole function."""

    demand: Demand
    taken: set[str] = field(default_factory=set)
    _axes: dict[Axis, str] = field(default_factory=dict)
    _masks: dict[Axis, str] = field(default_factory=dict)
    _loops: dict[LoopToken, str] = field(default_factory=dict)

    def fresh(self, wish: str) -> str:
        candidate, count = wish, 1
        while candidate in self.taken or candidate in RESERVED:
            count += 1
            candidate = f"{wish}_{count}"
        self.taken.add(candidate)
        return candidate

    def release(self, names: Iterable[str]) -> None:
        """The names' scope is closed: a later, separate scope may use them again."""
        self.taken.difference_update(names)

    def axis(self, axis: Axis) -> str:
        if axis not in self._axes:
            self._axes[axis] = self.fresh(axis.name)
        return self._axes[axis]

    def mask(self, axis: Axis) -> str:
        """The guard of an axis' lanes."""
        if axis not in self._masks:
            self._masks[axis] = self.fresh(f"{self.axis(axis)}_mask")
        return self._masks[axis]

    def loop(self, token: LoopToken) -> str:
        if token not in self._loops:
            self._loops[token] = self.fresh(token.name)
        return self._loops[token]

    def wish(self, node: Expression) -> str:
        """The author's name of the node, or one that says what it is."""
        if node in self.demand.names:
            return self.demand.names[node]
        match node.operation:
            case "load":
                return str(node.attribute.memory.name)
            case "reduce" | "contract" | "scan":
                return self.reduction_name(node)
            case "random_bits":
                return "bits"
            case "pointwise" if node.dtype.kind == "bool":
                return "condition"
            case "cast":
                inner = self._operand_name(node.arguments[0])
                return f"{inner}_{node.dtype.name}" if inner else "converted"
            case _:
                return "term"

    def reduction_name(self, node: Expression) -> str:
        if node in self.demand.names:
            return self.demand.names[node]
        if node.operation == "contract":
            return "acc"
        attribute: Reduction = node.attribute
        operand = next((name for argument in node.arguments if (name := self._operand_name(argument))), "")
        kind = "prefix" if node.operation == "scan" else _KINDS.get(attribute.kind, "total")
        suffix = f"_{attribute.result}" if len(node.arguments) > 1 else ""
        return (
            f"{operand}_{kind}{suffix}"
            if operand
            else f"{kind}{suffix}"
            if kind not in RESERVED
            else f"row_{kind}{suffix}"
        )

    def result_name(self, node: Expression) -> str:
        base = self.reduction_name(node)
        return f"{base}_position" if node.attribute.kind == "arg_max" and node.attribute.result == 1 else base

    def _operand_name(self, node: Expression) -> str:
        """The nearest name at or below a node."""
        for below in reversed(list(walk(node, stop=lambda inner: inner in self.demand.names))):
            if below in self.demand.names:
                return self.demand.names[below]
            if below.operation == "load":
                return str(below.attribute.memory.name)
        return ""

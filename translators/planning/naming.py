"""Names in a device function: the author's where there is one, else what a colleague would write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager

from intent.records import dataclass, field
from translators.algebra.polynomial import Polynomial
from translators.logical.types import View
from translators.planning.demand import Demand
from translators.planning.descriptions import described, load_name, mean_of, short_description
from translators.tile.expression import Axis, Expression, LoopToken, Place, Reduction, walk
from translators.triton_source.names import RESERVED_LOCALS

_KINDS = {"sum": "sum", "max": "max", "any": "any", "all": "all", "generic": "total", "count": "count"}


@dataclass(slots=True)
class Namer:
    """Hands out names that are distinct while they are visible. Axis and loop names are for the whole function."""

    demand: Demand
    taken: set[str] = field(default_factory=set)
    _axes: dict[Axis, str] = field(default_factory=dict)
    _masks: dict[Axis, str] = field(default_factory=dict)
    _loops: dict[LoopToken, str] = field(default_factory=dict)
    _late: list[set[str]] = field(default_factory=list)  # of scopes whose names are released later than they close

    def fresh(self, wish: str, avoided: Set[str] = frozenset()) -> str:
        candidate, count = wish, 1
        while candidate in self.taken or candidate in avoided or candidate in RESERVED_LOCALS:
            count += 1
            candidate = f"{wish}_{count}"
        self.taken.add(candidate)
        return candidate

    def release(self, names: Iterable[str]) -> None:
        """The names' scope is closed: a later, separate scope may use them again."""
        if self._late:
            self._late[-1].update(names)
        else:
            self.taken.difference_update(names)

    @contextmanager
    def released_later(self) -> Iterator[set[str]]:
        """What is released meanwhile stays taken, for the caller to release."""
        self._late.append(set())
        try:
            yield self._late[-1]
        finally:
            self._late.pop()

    def retake(self, names: Iterable[str]) -> None:
        """Names of a closed scope that are visible after it."""
        self.taken.update(names)

    def axis(self, axis: Axis) -> str:
        if axis not in self._axes:
            self._axes[axis] = self.axis(self._guarded(axis)) if axis.whole else self.fresh(axis.name)
        return self._axes[axis]

    def _guarded(self, whole: Axis) -> Axis:
        """The axis that `whole` stands for in another loop."""
        loop = next(loop for loop in self.demand.loops.values() if whole in loop.whole_slices)
        return loop.slices[loop.whole_slices.index(whole)]

    def forget(self, axes: Iterable[Axis]) -> None:
        """These get other names from now on."""
        for axis in axes:
            self._axes.pop(axis, None)
            self._masks.pop(axis, None)

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
                return load_name(node)
            case "reduce" | "contract" | "scan":
                return self.reduction_name(node)
            case "atomic":
                return f"old_{node.attribute.place.memory.name}"
            case "random_bits":
                return "bits"
            case "cast" if node.arguments[0].operation == "load":
                return self.wish(node.arguments[0])
            case _:
                return self._stored_name(node) or mean_of(node, self._name_of) or described(node, self._name_of)

    def _stored_name(self, node: Expression) -> str:
        """What is only stored is named after where: `out`, or `new_y` where y has a value already."""
        for sink in self.demand.sinks:
            if sink.value is node and isinstance(sink.memory, View) and sink.memory.direction == "Out":
                return sink.memory.name
            if sink.value is node:
                return f"new_{sink.memory.name}"
        return ""

    def reduction_name(self, node: Expression) -> str:
        if node in self.demand.names:
            return self.demand.names[node]
        return "acc" if node.operation == "contract" else self._result_name(node, node.attribute.result)

    def accumulator_names(self, members: Sequence[Expression]) -> list[str]:
        """One for each operand of a streamed reduction, whose used results are `members`."""
        node = members[0]
        several = node.operation == "reduce" and node.attribute.kind in ("arg_max", "generic")
        if not several:
            return [self.reduction_name(node)]
        named = {member.attribute.result: self.reduction_name(member) for member in members}
        count = 2 if node.attribute.kind == "arg_max" else len(node.arguments)
        return [named.get(ordinal) or self._result_name(node, ordinal) for ordinal in range(count)]

    def _result_name(self, node: Expression, result: int) -> str:
        """What is reduced, and how."""
        reduction: Reduction = node.attribute
        operand = next((name for argument in node.arguments if (name := self._operand_name(argument))), "")
        kind = _KINDS.get(reduction.kind, "total")
        if node.operation == "scan":
            kind = "suffix" if reduction.reverse else "prefix"
        if reduction.kind == "arg_max":
            kind = "argmax" if result else "max"
        elif len(node.arguments) > 1 and reduction.kind == "generic":
            kind = f"{kind}_{result}"
        return f"{operand}_{kind}" if operand else kind if kind not in RESERVED_LOCALS else f"row_{kind}"

    def _name_of(self, node: Expression) -> str:
        """The name of a value that has one without being assigned to: the author's, a parameter's, a coordinate's."""
        if node in self.demand.names:
            return self.demand.names[node]
        match node.operation, node.attribute:
            case "load", Place(memory=memory):
                return str(memory.name)
            case "parameter", str() as name:
                return name
            case "index", Polynomial(atom=Axis(name=name) | LoopToken(name=name)):
                return name
            case "reduce" | "contract" | "scan", _:
                return self.reduction_name(node)
            case "cast", _:
                return self._name_of(node.arguments[0])
            case "carry" | "carried", (token, ordinal, *_):
                loop = next(loop for loop in self.demand.loops.values() if loop.token is token)
                return str(loop.carries[ordinal].name)
            case _:
                return ""

    def _operand_name(self, node: Expression) -> str:
        """A name for what is reduced: its own, a short description of it, or the nearest name below it."""
        found = self._name_of(node) or short_description(node, self._name_of)
        if found:
            return found
        for below in reversed(list(walk(node, stop=lambda inner: inner in self.demand.names))):
            if below in self.demand.names:
                return self.demand.names[below]
            if below.operation == "load":
                return str(below.attribute.memory.name)
        return ""

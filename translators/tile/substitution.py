"""Replacing coordinates and nodes within demand-DAG expressions; what results is simplified as it is rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from intent.dtypes import index
from intent.records import dataclass, field, replace
from translators.algebra.polynomial import Atom, Extremum, Opaque, Polynomial, Quotient, Remainder, atomic
from translators.tile.expression import Arena, Axis, Expression, Place, Reduction

Replace = Callable[[Expression], Expression | None]
Arguments = tuple[Expression, ...]


def nothing(expression: Expression) -> None:
    """Replaces no node."""


@dataclass(slots=True)
class Rebuilding:
    """Rebuilds expressions with `atoms` replaced in every polynomial, and with the nodes that `node` answers for.

    `finish` sees each rebuilt node and may give a simpler one. A bound axis whose range mentions a replaced atom
    becomes a new axis, so that ranges stay true, and so does one that what is put in mentions; one that is itself
    replaced by an axis is that axis.
    """

    arena: Arena
    atoms: Mapping[Atom, Polynomial]
    node: Replace = nothing
    finish: Replace = nothing
    done: dict[Expression, Expression] = field(default_factory=dict)
    polynomials: dict[Polynomial, Polynomial] = field(default_factory=dict)
    outside: Rebuilding | None = None  # does the same but for `renamed`
    renamed: frozenset[Atom] = frozenset()

    def expression(self, expression: Expression) -> Expression:
        if self.outside is not None and self.renamed.isdisjoint(expression.mentioned):
            return self.outside.expression(expression)
        found = self.done.get(expression)
        if found is None:
            found = self._made(expression)
            self.done[expression] = found
        return found

    def _made(self, expression: Expression) -> Expression:
        if self.node is nothing and self.finish is nothing and self.atoms.keys().isdisjoint(expression.mentioned):
            return expression
        replaced = self.node(expression)
        return replaced if replaced is not None else self._rebuilt(expression)

    def polynomial(self, polynomial: Polynomial) -> Polynomial:
        found = self.polynomials.get(polynomial)
        if found is None:
            found = self.polynomials[polynomial] = polynomial.rebuild(self._atom)
        return found

    def _atom(self, atom: Atom) -> Polynomial | None:
        if atom in self.atoms:
            return self.atoms[atom]
        if isinstance(atom, Expression):
            return self.expression(atom).polynomial
        if isinstance(atom, Opaque):  # what is inside one is inside others too, and is rebuilt once
            operands = tuple(map(self.polynomial, atom.operands))
            changed = any(made is not operand for made, operand in zip(operands, atom.operands, strict=True))
            return self.opaque(atom, operands) if changed else atomic(atom)
        return None

    def opaque(self, atom: Quotient | Remainder | Extremum, operands: tuple[Polynomial, ...]) -> Polynomial:
        return atom.with_operands(operands)

    def _rebuilt(self, expression: Expression) -> Expression:
        attribute, inside = self._attribute(expression.attribute, expression.arguments)
        arguments = tuple(inside.expression(argument) for argument in expression.arguments)
        if expression.operation == "index":
            made = as_index(self.arena, attribute)
        elif arguments == expression.arguments and attribute is expression.attribute:
            made = expression
        else:
            made = self.arena.make(expression.operation, expression.dtype, arguments, attribute)
        finished = self.finish(made)
        return made if finished is None else finished

    def _attribute(self, attribute: Any, arguments: Arguments) -> tuple[Any, Rebuilding]:  # noqa: ANN401 - each node has its own
        match attribute:
            case Polynomial():
                return self.polynomial(attribute), self
            case Place(coordinates=coordinates):
                made = tuple(map(self.polynomial, coordinates))
                return (attribute if made == coordinates else replace(attribute, coordinates=made)), self
            case Reduction(axes=axes):
                return self._binder(attribute, axes, arguments)
            case _:
                return attribute, self

    def _captures(self, axis: Axis, arguments: Arguments) -> bool:
        """Whether what is put in below the binder would mention its axis."""
        return any(
            atom in argument.mentioned and axis in value.atoms()
            for atom, value in self.atoms.items()
            if atom is not axis
            for argument in arguments
        )

    def _binder(
        self, reduction: Reduction, axes: tuple[Axis, ...], arguments: Arguments
    ) -> tuple[Reduction, Rebuilding]:
        renamed: dict[Atom, Polynomial] = {}
        bound: list[Axis] = []
        inside = self
        for axis in axes:  # the range of one may mention those before it
            given = self.atoms[axis].atom if axis in self.atoms else None
            if isinstance(given, Axis):
                bound.append(given)
                continue
            begin, end = inside.polynomial(axis.begin), inside.polynomial(axis.end)
            if begin == axis.begin and end == axis.end and not self._captures(axis, arguments):
                bound.append(axis)
            else:
                bound.append(self.arena.axis(axis.name, begin, end, axis.parallel))
                renamed[axis] = atomic(bound[-1])
                inside = self._inside(renamed)
        return (reduction if tuple(bound) == axes else replace(reduction, axes=tuple(bound))), inside

    def _inside(self, renamed: Mapping[Atom, Polynomial]) -> Rebuilding:
        return replace(
            self,
            atoms={**self.atoms, **renamed},
            done={},
            polynomials={},
            outside=self,
            renamed=frozenset(renamed),
        )


def over(
    arena: Arena,
    node: Expression,
    axis: Axis,
    made: Axis,
    place: Polynomial,
    renewed: Callable[[Axis, Polynomial, Polynomial], Axis] | None = None,
) -> Expression:
    """The reduction over `made` instead of one of its axes, which is at `place` then; ranges of the others follow."""
    mapping: dict[Atom, Polynomial] = {axis: place}
    axes: list[Axis] = []
    for each in node.attribute.axes:
        begin, end = map(Rebuilding(arena, mapping).polynomial, (each.begin, each.end))
        if each is not axis and (begin, end) != (each.begin, each.end):
            fresh = renewed(each, begin, end) if renewed is not None else arena.axis(each.name, begin, end)
            mapping[each] = atomic(fresh)
            each = fresh
        axes.append(made if each is axis else each)
    arguments = tuple(map(Rebuilding(arena, mapping).expression, node.arguments))
    return arena.make(node.operation, node.dtype, arguments, replace(node.attribute, axes=tuple(axes)))


def as_index(arena: Arena, polynomial: Polynomial) -> Expression:
    """The integer as a node."""
    atom = polynomial.atom
    if isinstance(atom, Expression) and atom.dtype == index:
        return atom
    return arena.make("index", index, (), polynomial)


def substitute(arena: Arena, expression: Expression, atoms: Mapping[Atom, Polynomial]) -> Expression:
    return Rebuilding(arena, atoms).expression(expression)

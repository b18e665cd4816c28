"""Expressions made simpler by what is known of their coordinates; their meaning stays the same.

Quotients, remainders and extrema that a fact decides disappear, as do comparisons, the selections and masks that hang
on them,
and reductions of reductions of one kind.
"""

from __future__ import annotations

from collections.abc import Mapping

from intent import dtypes as d
from intent.dtypes import DType
from intent.records import dataclass, field, replace
from translators.algebra.facts import Facts
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Polynomial,
    Quotient,
    Remainder,
    Symbol,
    atomic,
    floor_divide,
    maximum,
    minimum,
    number,
)
from translators.algebra.simplification import extremum, quotient, remaining, with_remainders
from translators.lifting.context import Context, with_axes
from translators.lifting.equations import equated
from translators.lifting.floors import floored, sign, without_zero
from translators.lifting.positions import with_positions
from translators.lifting.prefixes import alike, counted, joined, one_more, picked
from translators.tile.effects import Address
from translators.tile.expression import Arena, Axis, Expression, Reduction
from translators.tile.substitution import as_index


@dataclass(slots=True)
class Simplifier:
    """`assumed` gives the truth of conditions that are taken for decided.

    What does not mention an axis is the same within its range as outside, whatever else encloses it: each expression
    is made simpler once for each set of the ranges that it is within and mentions.
    """

    arena: Arena
    facts: Facts
    assumed: Mapping[Expression, bool] = field(default_factory=dict)
    done: dict[Expression, Expression] = field(default_factory=dict)
    polynomials: dict[Polynomial, Polynomial] = field(default_factory=dict)
    outside: Simplifier | None = None  # knows the same but for the ranges of `axes`
    axes: tuple[Axis, ...] = ()
    ranges: dict[tuple[Axis, ...], Simplifier] = field(default_factory=dict)  # of the outermost

    def expression(self, node: Expression) -> Expression:
        found = self.done.get(node)
        if found is None:
            mentioned = self._mentioned(node)
            found = self._simplified(node) if mentioned == self.axes else self._inside(mentioned).expression(node)
            self.done[node] = found
        return found

    def _mentioned(self, node: Expression) -> tuple[Axis, ...]:
        """The axes that the node mentions, and those that their ranges mention."""
        found: list[Axis] = []
        for axis in reversed(self.axes):
            tied = any(axis in bound.atoms() for each in found for bound in (each.begin, each.end))
            if tied or axis in node.mentioned:
                found.append(axis)
        return tuple(reversed(found))

    def _inside(self, axes: tuple[Axis, ...]) -> Simplifier:
        outermost = self.outside or self
        if not axes:
            return outermost
        if axes not in outermost.ranges:
            facts = with_axes(outermost.facts, axes)
            outermost.ranges[axes] = Simplifier(self.arena, facts, self.assumed, outside=outermost, axes=axes)
        return outermost.ranges[axes]

    def _simplified(self, node: Expression) -> Expression:
        if node in self.assumed:
            return self.boolean(self.assumed[node])
        match node.operation:
            case "index":
                return as_index(self.arena, self.polynomial(node.attribute))
            case "reduce" | "contract":
                return self._structured(node)
        arguments = tuple(map(self.expression, node.arguments))
        made = node if arguments == node.arguments else self.remade(node, arguments)
        return self._local(made)

    def remade(
        self, node: Expression, arguments: tuple[Expression, ...], attribute: Reduction | None = None
    ) -> Expression:
        return self.arena.make(node.operation, node.dtype, arguments, attribute or node.attribute)

    def boolean(self, value: bool) -> Expression:
        return self.arena.make("constant", d.boolean, (), value)

    # ------------------------------------------------------------------------------------------------------ structure
    def _structured(self, node: Expression) -> Expression:
        reduction: Reduction = node.attribute
        axes, renamed = self._ranges(reduction.axes)
        inside = self.within(axes)
        arguments = node.arguments
        if renamed:
            from translators.tile.substitution import Rebuilding

            rebuilding = Rebuilding(self.arena, renamed)
            arguments = tuple(map(rebuilding.expression, arguments))
        arguments = tuple(map(inside.expression, arguments))
        made = self.arena.make(node.operation, node.dtype, arguments, replace(reduction, axes=axes))
        return self._merged(self._without_idle_axes(made))

    def _without_idle_axes(self, node: Expression) -> Expression:
        """A sum of what does not vary is a product; a maximum of it is itself, if there is any."""
        for axis in node.attribute.axes if node.operation == "reduce" else ():
            others = tuple(each for each in node.attribute.axes if each is not axis)
            bounds = [axis, *others]
            tied = any(axis in (*each.begin.atoms(), *each.end.atoms()) for each in others)
            if axis in node.arguments[0].axes or tied or set(bounds) & set(axis.extent.atoms()):
                continue
            rest = (
                self.remade(node, node.arguments, replace(node.attribute, axes=others)) if others else node.arguments[0]
            )
            made = self._repeated(node.attribute.kind, rest, axis.extent)
            if made is not None:
                return made
        return node

    def _repeated(self, kind: str, value: Expression, count: Polynomial) -> Expression | None:
        """A reduction of `count` equal values."""
        if kind in ("max", "max_num", "min", "min_num", "any", "all") and self.facts.positive(count):
            return self._without_idle_axes(value)
        if kind != "sum" or not self.facts.nonnegative(count):
            return None
        times = self.arena.make("cast", value.dtype, (as_index(self.arena, count),))
        known = value.arguments[0] if value.operation == "cast" else value
        if known.operation == "constant" and known.attribute == 1:
            return times
        operands = (self._without_idle_axes(value), times)
        return self.arena.make("pointwise", value.dtype, operands, ("multiply", False, False))

    def _ranges(self, axes: tuple[Axis, ...]) -> tuple[tuple[Axis, ...], dict[Atom, Polynomial]]:
        """The axes with simpler ends, under new identities where an end changed."""
        made: list[Axis] = []
        renamed: dict[Atom, Polynomial] = {}
        for axis in axes:
            inside = self.within(tuple(made)) if made else self
            begin, end = (inside.polynomial(each.substitute(renamed)) for each in (axis.begin, axis.end))
            if begin == axis.begin and end == axis.end:
                made.append(axis)
            else:
                made.append(self.arena.axis(axis.name, begin, end))
                renamed[axis] = atomic(made[-1])
        return tuple(made), renamed

    def within(self, axes: tuple[Axis, ...]) -> Simplifier:
        return self._inside(tuple(dict.fromkeys((*self.axes, *axes))))

    def _merged(self, node: Expression) -> Expression:
        """A reduction of a reduction of the same kind is one over both axes."""
        if node.operation == "contract":
            return self._summed(node)
        if node.operation != "reduce" or node.dtype == d.index:
            return node
        if node.attribute.combine is not None:
            return self._combined(node)
        if len(node.arguments) != 1:
            return node
        inside = self.within(node.attribute.axes).facts
        found = picked(self.arena, inside, node) or counted(self.arena, self.facts, node)
        if found is not None:
            return found
        (inner,) = node.arguments
        if inner.dtype != node.dtype or inner.operation not in ("reduce", "contract"):
            return node
        if inner.attribute.kind != node.attribute.kind or inner.attribute.combine is not None:
            return node
        axes = node.attribute.axes + inner.attribute.axes
        return self.arena.make(inner.operation, node.dtype, inner.arguments, replace(inner.attribute, axes=axes))

    def _combined(self, node: Expression) -> Expression:
        """What a function combines of what it has combined is one reduction, if it takes the same elements together."""
        inner = node.arguments[0]
        if inner.operation != "reduce" or inner.attribute.combine is not node.attribute.combine:
            return node
        for position, each in enumerate(node.arguments):
            if each.operation != "reduce" or each.attribute.result != position:
                return node
            reduction = replace(each.attribute, result=inner.attribute.result)
            if not alike(self.arena, inner, self.arena.make("reduce", inner.dtype, each.arguments, reduction)):
                return node
        axes = node.attribute.axes + inner.attribute.axes
        return self.remade(node, inner.arguments, replace(node.attribute, axes=axes))

    def _summed(self, node: Expression) -> Expression:
        """A product with ones is a sum."""
        for ones, other in (node.arguments, node.arguments[::-1]):
            if ones.operation == "constant" and ones.attribute == 1 and other.dtype.bits <= node.dtype.bits:
                body = other if other.dtype == node.dtype else self.arena.make("cast", node.dtype, (other,))
                return self._merged(self.arena.make("reduce", node.dtype, (body,), replace(node.attribute, kind="sum")))
        return node

    # ---------------------------------------------------------------------------------------------------- single nodes
    def _local(self, node: Expression) -> Expression:
        match node.operation:
            case "pointwise":
                return self._pointwise(node)
            case "select":
                condition, true, false = node.arguments
                if condition.operation == "constant":
                    return true if condition.attribute else false
                return true if true is false else floored(self.arena, self.facts, node) or node
            case "load" if isinstance(node.attribute, Address):
                return self._load(node)
            case "cast":
                return self._cast(node)
            case _:
                return node

    def _load(self, node: Expression) -> Expression:
        offset, mask, other = node.arguments
        if mask.operation != "constant":
            return node
        if not mask.attribute:
            return other
        poison = self.arena.make("poison", node.dtype)
        return node if other is poison else self.remade(node, (offset, mask, poison))

    def _cast(self, node: Expression) -> Expression:
        (inner,) = node.arguments
        if inner.dtype == node.dtype:
            return inner
        if inner.operation == "cast" and inner.arguments[0].dtype == node.dtype and _is_wider(inner.dtype, node.dtype):
            return inner.arguments[0]
        atom = inner.attribute.atom if inner.operation == "index" else None
        return atom if isinstance(atom, Expression) and atom.dtype == node.dtype else node

    def _pointwise(self, node: Expression) -> Expression:
        function = node.attribute[0]
        match function, node.arguments:
            case "less" | "equal" | "not_equal", (left, right) if left.dtype == d.index:
                known = self._decided(function, left.polynomial - right.polynomial)
                signed = sign(self.facts, node) if known is None and function == "less" else None
                if signed is not None:
                    operands = (as_index(self.arena, signed), as_index(self.arena, number(0)))
                    return self._pointwise(self.remade(node, operands))
                return node if known is None else self.boolean(known)
            case "and" | "or", (left, right):
                made = self._logical(node, function == "or", left, right)
                if made is node and function == "and":
                    made = without_zero(node) or equated(self.arena, self.facts, node) or node
                return made if made is not node else joined(self.arena, self.facts, node) or node
            case "not", (inner,) if inner.operation == "constant":
                return self.boolean(not inner.attribute)
            case "not", (inner,) if inner.operation == "pointwise" and inner.attribute[0] == "not":
                return inner.arguments[0]
            case "not", (inner,):
                return self._negated_comparison(node, inner)
            case "truncated_divide", (left, right) if node.dtype == d.index:
                return self._truncated(node, left.polynomial, right.polynomial)
            case _:
                return joined(self.arena, self.facts, node) or one_more(self.arena, node) or node

    def _decided(self, function: str, difference: Polynomial) -> bool | None:
        if function == "less":
            if self.facts.positive(-difference) or all(map(self.facts.positive, _parts_of_minimum(-difference))):
                return True
            return False if self.facts.nonnegative(difference) else None
        if self.facts.equal(difference, 0):
            return function == "equal"
        if self.facts.positive(difference) or self.facts.positive(-difference):
            return function != "equal"
        return None

    def _negated_comparison(self, node: Expression, inner: Expression) -> Expression:
        """not (d < 0) is -d - 1 < 0, of integers; equality has its opposite for all numbers."""
        opposite = {"equal": "not_equal", "not_equal": "equal"}.get(inner.attribute[0] if inner.attribute else "")
        if inner.operation == "pointwise" and opposite is not None:
            return self.arena.make("pointwise", inner.dtype, inner.arguments, (opposite, False, False))
        if inner.operation != "pointwise" or inner.attribute[0] != "less" or inner.arguments[0].dtype != d.index:
            return node
        left, right = inner.arguments
        difference = right.polynomial - left.polynomial - 1
        arguments = (as_index(self.arena, difference), as_index(self.arena, number(0)))
        return self._pointwise(self.remade(inner, arguments))

    def _logical(self, node: Expression, absorbing: bool, left: Expression, right: Expression) -> Expression:
        for known, other in ((left, right), (right, left)):
            if known.operation == "constant" and node.dtype.kind == "bool":
                return known if known.attribute is absorbing else other
        return left if left is right else node

    def _truncated(self, node: Expression, left: Polynomial, right: Polynomial) -> Expression:
        if with_positions(self.facts, left).nonnegative(left) and self.facts.nonnegative(right):
            return as_index(self.arena, self.polynomial(floor_divide(left, right)))
        return node

    # ------------------------------------------------------------------------------------------------------ polynomials
    def polynomial(self, polynomial: Polynomial) -> Polynomial:
        found = self.polynomials.get(polynomial)
        if found is None:
            found = self.polynomials[polynomial] = with_remainders(self.facts, polynomial.rebuild(self._atom))
        return found

    def _atom(self, atom: Atom) -> Polynomial | None:
        match atom:
            case Expression():
                return _number(self.expression(atom))
            case Quotient(top, bottom):
                return quotient(self.facts, self.polynomial(top), self.polynomial(bottom))
            case Remainder(top, bottom):
                return remaining(self.facts, self.polynomial(top), self.polynomial(bottom))
            case Extremum(kind, operands):
                return extremum(self.facts, kind, tuple(map(self.polynomial, operands)))
            case _:
                return None


def simplifier(context: Context, facts: Facts, assumed: Mapping[Expression, bool] | None = None) -> Simplifier:
    """The one that knows this: what it made simpler for one rule it knows for the next."""
    key = (id(facts), frozenset((assumed or {}).items()))
    found = context.simplifiers.get(key)
    if not isinstance(found, Simplifier):
        found = context.simplifiers[key] = Simplifier(context.arena, facts, assumed or {})  # keeps its facts alive
    return found


def _number(node: Expression) -> Polynomial:
    """An integer as a coordinate, which is a number of whatever width: the larger and the lesser of two are exact."""
    while node.operation == "cast" and _widens(node):
        (node,) = node.arguments
    if node.operation == "constant" and node.dtype.is_integer:
        return number(node.attribute)
    if node.operation == "cast" and node.dtype == d.i32 and _is_size(node.arguments[0]):
        return node.arguments[0].polynomial
    if node.operation == "pointwise" and node.attribute[0] in ("maximum", "minimum") and node.dtype in (d.i32, d.i64):
        parts = map(_number, node.arguments)
        return maximum(*parts) if node.attribute[0] == "maximum" else minimum(*parts)
    return node.polynomial


def _is_size(node: Expression) -> bool:
    """Whether it is n or n - 1, of a number n that a launch gives in the type in which it is computed with."""
    if node.operation != "index" or node.polynomial.offset not in (0, -1):
        return False
    return isinstance((node.polynomial - node.polynomial.offset).atom, Symbol)


def _widens(node: Expression) -> bool:
    """A conversion of an integer that changes no value."""
    source, target = node.arguments[0].dtype, node.dtype
    if source == d.index and target == d.i64:
        return True
    if not (source.is_integer and target.is_integer):
        return False
    return source.bits < target.bits and (target.is_signed or not source.is_signed)


def _parts_of_minimum(polynomial: Polynomial) -> list[Polynomial]:
    """The polynomial for each part of a minimum that it adds: it is as large as the least of these."""
    for monomial, factor in polynomial.terms:
        least = monomial[0] if len(monomial) == factor == 1 else None
        if isinstance(least, Extremum) and least.kind == "minimum":
            rest = polynomial - atomic(least)
            return [rest + part for part in least.operands]
    return [polynomial]


def _is_wider(dtype: DType, than: DType) -> bool:
    """Whether conversion to this type and back changes no integer."""
    numbers = d.index not in (dtype, than) and dtype.is_integer and than.is_integer
    return numbers and dtype.bits >= than.bits

"""Coordinates as Intent expressions, and where they stand together in a subscript."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from intent import dtypes as d
from translators.algebra.polynomial import Extremum, Polynomial, Quotient, Remainder, Symbol, atomic, maximum, minimum
from translators.intent_source import write as w
from translators.intent_source.write import Text
from translators.lifting.loop_choice import axes_of
from translators.lifting.sinks import Residue
from translators.lifting.spelled import Axes, Spelled
from translators.tile.expression import Axis, Expression

if TYPE_CHECKING:
    from translators.lifting.spelling import Speller


def index(speller: Speller, polynomial: Polynomial) -> Spelled:
    """An integer of coordinates and sizes."""
    if polynomial in speller.extents:
        speller.used_sizes.setdefault(speller.extents[polynomial])
        return Spelled(Text(speller.extents[polynomial]))
    polynomial = _with_offset_inside(polynomial)
    if isinstance(polynomial.atom, Expression):
        return _atom(speller, polynomial.atom)
    axes = speller.sorted_axes({axis for axis in axes_of(polynomial) if axis not in speller.frame.loops})
    positive = [term for term in polynomial.terms if term[1] > 0]
    negative = [term for term in polynomial.terms if term[1] < 0]
    if not positive:
        first = None if not negative else _term(speller, negative[0][0], -negative[0][1], axes)
        made = w.literal(0) if first is None else w.unary("-", first)
        negative = negative[1:]
    else:
        ordered = sorted(positive, key=lambda term: -len(term[0]))
        made = _term(speller, *ordered[0], axes)
        for monomial, factor in ordered[1:]:
            made = w.binary("+", made, _term(speller, monomial, factor, axes))
    for monomial, factor in negative:
        made = w.binary("-", made, _term(speller, monomial, -factor, axes))
    return Spelled(made, axes)


def _with_offset_inside(polynomial: Polynomial) -> Polynomial:
    """max(x, 0) for x + max(0, -x)."""
    for monomial, factor in polynomial.terms:
        atom = monomial[0] if len(monomial) == 1 and factor == 1 else None
        if not isinstance(atom, Extremum):
            continue
        rest = polynomial - atomic(atom)
        moved = [each + rest for each in atom.operands]
        if rest.constant is None and any(each.constant is not None for each in moved):
            return maximum(*moved) if atom.kind == "maximum" else minimum(*moved)
    return polynomial


def _term(speller: Speller, monomial: tuple[object, ...], factor: int, axes: Axes) -> Text:
    factors = [speller.arranged(_atom(speller, atom), axes) for atom in monomial]
    if factor != 1 or not factors:
        factors.append(w.literal(factor))
    made = factors[0]
    for each in factors[1:]:
        made = w.binary("*", made, each)
    return made


def _atom(speller: Speller, atom: object) -> Spelled:
    match atom:
        case Symbol(name):
            speller.used_sizes.setdefault(name)
            return Spelled(Text(speller.sizes.get(name, name)))
        case Axis() if atom in speller.variables and atom in speller.frame.loops:
            return Spelled(Text(speller.variables[atom]))
        case Axis():
            return Spelled(w.call("I.indices", speller.domain(atom)), (atom,))
        case Quotient() | Remainder() | Extremum() if atomic(atom) in speller.extents:
            return index(speller, atomic(atom))
        case Quotient(top, bottom) | Remainder(top, bottom):
            texts, axes = _together(speller, (top, bottom))
            return Spelled(w.binary("//" if isinstance(atom, Quotient) else "%", *texts), axes)
        case Expression(dtype=dtype):
            spelled = speller.spell(atom)
            known = dtype == d.index or (atom in speller.positions and atom in speller.frame.spelled)
            return spelled if known else Spelled(w.call("I.cast", spelled.text, "I.index"), spelled.axes)
        case Extremum(kind, parts):
            texts, axes = _together(speller, parts)
            made = texts[0]
            for each in texts[1:]:
                made = w.call(f"I.{kind}", made, each)
            return Spelled(made, axes)
        case _:
            raise Residue(f"a coordinate that has no spelling: {atom!r}")


def _together(speller: Speller, parts: Sequence[Polynomial]) -> tuple[list[Text], Axes]:
    """Operands, aligned to the axes that any of them has."""
    spelled = [index(speller, each) for each in parts]
    axes = speller.sorted_axes({axis for each in spelled for axis in each.axes})
    return [speller.arranged(each, axes) for each in spelled], axes


def items(speller: Speller, name: str, coordinates: Sequence[Polynomial]) -> tuple[list[Text], Axes]:
    """The items of a subscript of an array, and the axes of what it selects.

    Tensors of integers that stand side by side select points together, so that they are aligned to all their axes;
    domains are axes of their own, unless another coordinate has theirs too.
    """
    spelled = [_item(speller, each) for each in coordinates]
    count = Counter(axis for each in spelled for axis in each.axes)
    tensors = [
        place
        for place, each in enumerate(spelled)
        if each.axes and (not _is_domain(speller, coordinates[place]) or any(count[axis] > 1 for axis in each.axes))
    ]
    if len(tensors) > 1:
        first, last = tensors[0], tensors[-1] + 1
        within = [index(speller, each) for each in coordinates[first:last]]
        joint = speller.sorted_axes({axis for each in within for axis in each.axes})
        together = [Spelled(speller.arranged(each, joint)) for each in within]
        spelled = [*spelled[:first], Spelled(together[0].text, joint), *together[1:], *spelled[last:]]
    axes = tuple(axis for each in spelled for axis in each.axes)
    if len(axes) != len(set(axes)):
        raise Residue(f"'{name}' has one axis in two coordinates")
    return [each.text for each in spelled], axes


def _is_domain(speller: Speller, coordinate: Polynomial) -> bool:
    return isinstance(coordinate.atom, Axis) and coordinate.atom not in speller.frame.loops


def _item(speller: Speller, coordinate: Polynomial) -> Spelled:
    atom = coordinate.atom
    if isinstance(atom, Axis) and _is_domain(speller, coordinate):
        return Spelled(Text(speller.domain(atom)), (atom,))
    return index(speller, coordinate)

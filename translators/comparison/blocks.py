"""Two coordinates that are only used as one, a place within a block and the block: j + B*k is one coordinate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from intent.dtypes import index
from translators.algebra.polynomial import Extremum, Polynomial, atomic, minimum
from translators.comparison.terms import Term, walk

if TYPE_CHECKING:
    from translators.comparison.rules import Rules

Mapping = dict[Term, Term]


def joined(rules: Rules, variables: tuple[Term, ...], parts: Sequence[Term]) -> tuple[tuple[Term, ...], Mapping]:
    """The variables with one in the place of two, and what the two are where only j + B*k is used; an empty mapping if
    there are no such two.

    j is in [0, min(B, X - B*k)), or all of [0, B), and k in [0, T): then j + B*k takes every value in
    [0, min(B*T, X)) once.
    """
    plain = [each for each in variables if each.detail[1] == "axis" and len(each.operands) == 1]
    for inner, outer, size in _candidates(plain, parts):
        if outer.operands[0].free & {each.key for each in plain}:
            continue
        ends = _ends(rules, inner, outer, size)
        if ends is None:
            continue
        extent = minimum(_extent(outer) * size, *ends)
        whole = rules.variable(rules.polynomial(extent))
        mapping = {inner: rules.polynomial(atomic(whole) - atomic(outer) * size)}
        rest = [each for each in variables if each not in (inner, outer)]
        kept = tuple(rules.rebuilt(each, mapping) for each in rest)
        if not any(outer.key in rules.rebuilt(each, mapping).free for each in (*parts, *kept)):
            return (*kept, whole), mapping
    return variables, {}


def _extent(variable: Term) -> Polynomial:
    return variable.operands[0].polynomial


def _candidates(variables: Sequence[Term], parts: Sequence[Term]) -> Iterator[tuple[Term, Term, Polynomial]]:
    """(j, k, B) of coordinates in which j + B*k may be all that is used, by the factors of both."""
    found: dict[tuple[Term, Term, Polynomial], None] = {}
    for term in walk(*parts):
        if term.operation != "integer" or term.dtype != index:
            continue
        factors = [(each, term.polynomial.coefficient(each)) for each in variables if each.key in term.free]
        for inner, small in factors:
            for outer, large in factors:
                size = large.divided_by(small) if small is not None and large is not None and small.terms else None
                if inner != outer and size is not None and (size.constant or 0) > 1:
                    found.setdefault((inner, outer, size))
    return iter(found)


def _ends(rules: Rules, inner: Term, outer: Term, size: Polynomial) -> tuple[Polynomial, ...] | None:
    """Where j + B*k ends, other than by the number of blocks; None if blocks are not full up to there."""
    full = False
    ends: list[Polynomial] = []
    for operand in _least(_extent(inner)):
        end = rules.polynomial(operand + atomic(outer) * size).polynomial
        if rules.polynomial(operand).polynomial == size:
            full = True
        elif any(outer == atom or (isinstance(atom, Term) and outer.key in atom.free) for atom in end.atoms()):
            return None
        else:
            ends.append(end)
    return tuple(ends) if full else None


def _least(extent: Polynomial) -> list[Polynomial]:
    """Those of which the extent is the least."""
    for monomial, factor in extent.terms:
        if factor == 1 and len(monomial) == 1 and isinstance(monomial[0], Extremum) and monomial[0].kind == "minimum":
            rest = extent - atomic(monomial[0])
            return [each + rest for each in monomial[0].operands]
    return [extent]

"""Terms of the canonical form: expressions that are equal exactly when they are written the same.

    integer(polynomial)                  coordinates and sizes; the polynomial's atoms are terms and symbols
    constant | scalar(name) | <function>(operands) | select | cast | bitcast | random_bits
    load(memory; coordinates, guard, fill)          one element of memory
    reduce(kind; extents, bodies) | scan(kind; extent, bodies, position)
    system(...), equation(...)           a loop: what its carries begin as and become
    carried | during(rank; system, ...)  a carry after its loop, or in one of its iterations
    variable(serial; extent)             a coordinate of an axis in scope, counted from 0
    bound(height; extent)                the same once its binder is closed (see `binding`)

A term's `key` is a digest of all that it consists of but its place in the source: terms with equal keys are one.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Final, TypeAlias

from intent.dtypes import DType, boolean, index
from intent.records import dataclass, replace
from translators.algebra.polynomial import Polynomial, atomic, number, polynomial_key
from translators.diagnostics import Span

Detail: TypeAlias = tuple[object, ...]  # strings, numbers, polynomials
BINDERS: Final = ("reduce", "scan", "equation", "system", "effect")


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One node. `height` is that of the tallest binder within, 0 if there is none; `free` the variables in it."""

    operation: str
    dtype: DType
    operands: tuple[Term, ...]
    detail: Detail
    key: str
    height: int
    free: frozenset[str]
    span: Span | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def sort_key(self) -> tuple[object, ...]:
        return ("term", self.key)

    @property
    def polynomial(self) -> Polynomial:
        """This integer as a polynomial: its own, or itself as an atom."""
        if self.operation == "integer":
            (polynomial,) = self.detail
            assert isinstance(polynomial, Polynomial)
            return polynomial
        return atomic(self)

    @property
    def truth(self) -> bool | None:
        """The value of a condition that is constant, else None."""
        return bool(self.detail[0]) if self.operation == "constant" else None

    @property
    def function(self) -> str:
        """What a pointwise node computes; empty for any other."""
        return str(self.detail[0]) if self.operation == "pointwise" else ""

    def at(self, span: Span | None) -> Term:
        return self if self.span is not None or span is None else replace(self, span=span)

    def __repr__(self) -> str:
        from translators.comparison.show import text

        return text(self)


def raw(
    operation: str, dtype: DType, operands: tuple[Term, ...] = (), detail: Detail = (), span: Span | None = None
) -> Term:
    """A node as it is given; `Rules.make` simplifies. The last detail of a binder is its height."""
    said = [operation, dtype.name, *(operand.key for operand in operands), "|", *map(_said, detail)]
    key = blake2b("\0".join(said).encode(), digest_size=12).hexdigest()
    height = max((operand.height for operand in operands), default=0)
    if operation in BINDERS:
        own = detail[-1]
        assert isinstance(own, int)
        height = own
    free = frozenset().union(*(operand.free for operand in operands))
    return Term(
        operation, dtype, operands, detail, key, height, free | {key} if operation == "variable" else free, span
    )


def _said(detail: object) -> str:
    if isinstance(detail, Polynomial):
        return repr(polynomial_key(detail))
    return f"{type(detail).__name__} {detail!r}"  # True is not 1, and 0.0 is not -0.0


def integer(polynomial: Polynomial | int, span: Span | None = None) -> Term:
    """A coordinate or size."""
    if isinstance(polynomial, int):
        polynomial = number(polynomial)
    atom = polynomial.atom
    if isinstance(atom, Term) and atom.dtype == index:
        return atom
    atoms = tuple(each for each in polynomial.atoms() if isinstance(each, Term))
    return raw("integer", index, atoms, (polynomial,), span)


def constant(dtype: DType, value: bool | int | float) -> Term:
    """A literal, as a Python value of the dtype's kind."""
    if dtype == index:
        return integer(int(value))
    if dtype.is_float:
        return raw("constant", dtype, (), (float(value),))
    return raw("constant", dtype, (), (bool(value) if dtype == boolean else int(value),))


def truth(value: bool) -> Term:
    return constant(boolean, value)


def pointwise(function: str, dtype: DType, *operands: Term, permissions: Detail = (False, False)) -> Term:
    """As it is given: not simplified."""
    return raw("pointwise", dtype, operands, (function, *permissions))


def walk(*roots: Term) -> Iterator[Term]:
    """Every term once, operands first."""
    done: set[str] = set()
    stack: list[tuple[Term, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        term, expanded = stack.pop()
        if term.key in done:
            continue
        if expanded:
            done.add(term.key)
            yield term
        else:
            stack.append((term, True))
            stack.extend((operand, False) for operand in term.operands if operand.key not in done)


def contains(term: Term, wanted: Term) -> bool:
    return any(each == wanted for each in walk(term))

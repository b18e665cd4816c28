"""Integer polynomials in normal form: extents, coordinates, offsets.

Everything integral that the compiler must compare, prove or print is a `Polynomial` over *atoms*: symbols (sizes), loop
variables, axes, runtime integers, and the opaque operations a polynomial cannot express (floor division, remainder,
minimum, maximum). Two expressions over the same values are equal exactly when their normal forms are. Integers here do
not wrap: only `index` arithmetic and sizes become polynomials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import ClassVar, Protocol, runtime_checkable

from intent.records import dataclass, field


@runtime_checkable
class Atom(Protocol):
    """An indivisible integer. Hashable; `sort_key` gives a deterministic order among all atoms of a program."""

    @property
    def sort_key(self) -> tuple[object, ...]: ...

    def __hash__(self) -> int: ...


class Symbol:
    """A named nonnegative size, such as the extent ``M`` of an annotation. There is one object of each name."""

    __slots__ = ("name", "sort_key")
    __match_args__ = ("name",)
    name: str
    sort_key: tuple[object, ...]
    _made: ClassVar[dict[str, Symbol]] = {}

    def __new__(cls, name: str) -> Symbol:
        found = cls._made.get(name)
        if found is None:
            found = cls._made[name] = super().__new__(cls)
            object.__setattr__(found, "name", name)
            object.__setattr__(found, "sort_key", ("a symbol", name))
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a symbol's {name} does not change")

    def __reduce__(self) -> tuple[object, ...]:
        return Symbol, (self.name,)

    def __repr__(self) -> str:
        return self.name


Monomial = tuple[Atom, ...]  # sorted, repeated atoms are powers; () is the constant term


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of integer multiples of monomials, sorted, without zero coefficients."""

    terms: tuple[tuple[Monomial, int], ...] = ()
    _hash: int = field(default=0, init=False, compare=False, repr=False)  # 0 until it is asked for
    _atoms: tuple[Atom, ...] | None = field(default=None, init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        return self._hash or _remembered(self, hash(self.terms))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Polynomial) and hash(self) == hash(other) and self.terms == other.terms
        )

    def __reduce__(self) -> tuple[object, ...]:
        return Polynomial, (self.terms,)  # hashes differ between processes

    def __add__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            other = number(other)
        added = other.terms
        if not added:
            return self
        if not self.terms:
            return other
        total = dict(self.terms)
        for monomial, coefficient in added:
            total[monomial] = total.get(monomial, 0) + coefficient
        if len(total) == len(self.terms):  # no new monomial: the order stays
            return Polynomial(tuple([term for term in total.items() if term[1]]))
        return _normal(total)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple([(monomial, -coefficient) for monomial, coefficient in self.terms]))

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            return self + -other
        subtracted = other.terms
        if not subtracted:
            return self
        if not self.terms:
            return -other
        total = dict(self.terms)
        for monomial, coefficient in subtracted:
            total[monomial] = total.get(monomial, 0) - coefficient
        if len(total) == len(self.terms):  # no new monomial: the order stays
            return Polynomial(tuple([term for term in total.items() if term[1]]))
        return _normal(total)

    def __rsub__(self, other: Polynomial | int) -> Polynomial:
        return as_polynomial(other) - self

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        factor = other if isinstance(other, int) else other.constant
        if factor is not None:
            return self._scaled(factor)
        total: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in as_polynomial(other).terms:
                monomial = tuple(sorted(left + right, key=_atom_key))
                total[monomial] = total.get(monomial, 0) + a * b
        return _normal(total)

    __rmul__ = __mul__

    def _scaled(self, factor: int) -> Polynomial:
        if factor == 1:
            return self
        return Polynomial(tuple((monomial, a * factor) for monomial, a in self.terms) if factor else ())

    @property
    def constant(self) -> int | None:
        """The value if this is a number, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    @property
    def offset(self) -> int:
        """The constant term."""
        return next((coefficient for monomial, coefficient in self.terms if monomial == ()), 0)

    @property
    def atom(self) -> Atom | None:
        """The atom if this is exactly one atom, else None."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            return self.terms[0][0][0]
        return None

    def atoms(self) -> Iterator[Atom]:
        """Every atom once, in order, including those inside opaque atoms."""
        if self._atoms is None:
            nested = (inner for monomial, _ in self.terms for atom in monomial for inner in _nested(atom))
            object.__setattr__(self, "_atoms", tuple(dict.fromkeys(nested)))
        return iter(self._atoms or ())

    def coefficient(self, atom: Atom) -> Polynomial | None:
        """c where this is c*atom + rest, with `atom` in neither c nor rest; None if `atom` occurs otherwise."""
        linear: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms:
            count = monomial.count(atom)
            if count == 1:
                rest = tuple(other for other in monomial if other != atom)
                linear[rest] = linear.get(rest, 0) + coefficient
            if count > 1 or any(atom in _nested_strictly(other) for other in monomial):
                return None
        return _normal(linear)

    def substitute(self, mapping: Mapping[Atom, Polynomial]) -> Polynomial:
        """Replace atoms, also inside opaque atoms, which are simplified again."""
        return self.rebuild(lambda atom: mapping.get(atom))

    def rebuild(self, replace: Callable[[Atom], Polynomial | None]) -> Polynomial:
        """Like `substitute`, with a function that answers None for the atoms it leaves alone."""
        kept: list[tuple[Monomial, int]] = []
        changed = Polynomial()
        for term in self.terms:
            monomial, coefficient = term
            factors = [_rebuilt_atom(atom, replace) for atom in monomial]
            if any(factor is not None for factor in factors):
                made = (each or atomic(atom) for atom, each in zip(monomial, factors, strict=True))
                changed = changed + product(made) * coefficient
            else:
                kept.append(term)
        return self if len(kept) == len(self.terms) else Polynomial(tuple(kept)) + changed

    def divided_by(self, divisor: Polynomial) -> Polynomial | None:
        """The exact quotient when every term is a multiple of a single-term `divisor`, else None."""
        if len(divisor.terms) != 1:
            return None
        monomial, scale = divisor.terms[0]
        quotient: dict[Monomial, int] = {}
        for term, coefficient in self.terms:
            rest = _without(term, monomial)
            if rest is None or coefficient % scale:
                return None
            quotient[rest] = quotient.get(rest, 0) + coefficient // scale
        return _normal(quotient)

    def __repr__(self) -> str:
        if not self.terms:
            return "0"
        return " + ".join(_show_term(monomial, coefficient) for monomial, coefficient in self.terms)


@dataclass(frozen=True, slots=True)
class Quotient:
    """Floor division of two polynomials that no rule simplified."""

    numerator: Polynomial
    denominator: Polynomial
    _hash: int = field(default=0, init=False, compare=False, repr=False)
    _key: tuple[object, ...] = field(default=(), init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        return self._hash or _remembered(self, hash((self.numerator, self.denominator)))

    def __reduce__(self) -> tuple[object, ...]:
        return Quotient, (self.numerator, self.denominator)

    @property
    def sort_key(self) -> tuple[object, ...]:
        if not self._key:
            object.__setattr__(
                self, "_key", ("quotient", polynomial_key(self.numerator), polynomial_key(self.denominator))
            )
        return self._key

    @property
    def operands(self) -> tuple[Polynomial, ...]:
        return (self.numerator, self.denominator)

    def with_operands(self, operands: tuple[Polynomial, ...]) -> Polynomial:
        return floor_divide(*operands)

    def __repr__(self) -> str:
        return f"({self.numerator})//({self.denominator})"


@dataclass(frozen=True, slots=True)
class Remainder:
    """Remainder of floor division: numerator - denominator * (numerator // denominator)."""

    numerator: Polynomial
    denominator: Polynomial
    _hash: int = field(default=0, init=False, compare=False, repr=False)
    _key: tuple[object, ...] = field(default=(), init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        return self._hash or _remembered(self, hash((self.numerator, self.denominator)))

    def __reduce__(self) -> tuple[object, ...]:
        return Remainder, (self.numerator, self.denominator)

    @property
    def sort_key(self) -> tuple[object, ...]:
        if not self._key:
            object.__setattr__(
                self, "_key", ("remainder", polynomial_key(self.numerator), polynomial_key(self.denominator))
            )
        return self._key

    @property
    def operands(self) -> tuple[Polynomial, ...]:
        return (self.numerator, self.denominator)

    def with_operands(self, operands: tuple[Polynomial, ...]) -> Polynomial:
        return remainder(*operands)

    def __repr__(self) -> str:
        return f"({self.numerator})%({self.denominator})"


@dataclass(frozen=True, slots=True)
class Extremum:
    """The minimum or maximum of at least two polynomials, sorted and distinct."""

    kind: str  # "minimum" or "maximum"
    operands: tuple[Polynomial, ...]
    _hash: int = field(default=0, init=False, compare=False, repr=False)
    _key: tuple[object, ...] = field(default=(), init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        return self._hash or _remembered(self, hash((self.kind, self.operands)))

    def __reduce__(self) -> tuple[object, ...]:
        return Extremum, (self.kind, self.operands)

    @property
    def sort_key(self) -> tuple[object, ...]:
        if not self._key:
            object.__setattr__(
                self, "_key", ("extremum", self.kind, tuple(polynomial_key(operand) for operand in self.operands))
            )
        return self._key

    def with_operands(self, operands: tuple[Polynomial, ...]) -> Polynomial:
        return minimum(*operands) if self.kind == "minimum" else maximum(*operands)

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(repr, self.operands))})"


Opaque = (Quotient, Remainder, Extremum)


def _remembered(record: Polynomial | Quotient | Remainder | Extremum, value: int) -> int:
    """Expressions are nested deeply, and asked for their hash at every step of a proof."""
    object.__setattr__(record, "_hash", value or 1)
    return record._hash


def number(value: int) -> Polynomial:
    return Polynomial((((), value),)) if value else Polynomial()


def atomic(atom: Atom) -> Polynomial:
    return Polynomial((((atom,), 1),))


def symbol(name: str) -> Polynomial:
    return atomic(Symbol(name))


def as_polynomial(value: Polynomial | int) -> Polynomial:
    return value if isinstance(value, Polynomial) else number(value)


def floor_divide(numerator: Polynomial, denominator: Polynomial) -> Polynomial:
    """numerator // denominator, rounding down; the denominator is not zero (else the program is illegal)."""
    top, bottom = numerator.constant, denominator.constant
    if bottom == 1 or top == 0:
        return numerator
    if top is not None and bottom:
        return number(top // bottom)
    exact = numerator.divided_by(denominator)
    if exact is not None:
        return exact
    if bottom:  # (a*d + r) // d = a + r // d for any integer a
        whole, rest = _split_multiples(numerator, bottom)
        if whole.terms:
            return whole + floor_divide(rest, denominator)
        inner = numerator.atom
        if bottom > 0 and isinstance(inner, Quotient) and (inner.denominator.constant or 0) > 0:
            return floor_divide(inner.numerator, inner.denominator * bottom)
    return atomic(Quotient(numerator, denominator))


def remainder(numerator: Polynomial, denominator: Polynomial) -> Polynomial:
    """numerator % denominator with the sign of the denominator."""
    top, bottom = numerator.constant, denominator.constant
    if bottom == 1 or top == 0:
        return number(0)
    if top is not None and bottom:
        return number(top % bottom)
    if numerator.divided_by(denominator) is not None:
        return number(0)
    if bottom:
        whole, rest = _split_multiples(numerator, bottom)
        if whole.terms:
            return remainder(rest, denominator)
    return atomic(Remainder(numerator, denominator))


def recombined(value: Polynomial) -> Polynomial:
    """The same with c*(n % d) + c*d*(n // d) written as c*n."""
    for monomial, coefficient in value.terms:
        atom = monomial[0] if len(monomial) == 1 else None
        if isinstance(atom, Remainder):
            whole = atomic(atom) + floor_divide(atom.numerator, atom.denominator) * atom.denominator
            rest = value - whole * coefficient
            if len(rest.terms) < len(value.terms) - 1:
                return recombined(rest + atom.numerator * coefficient)
    return value


def ceiling_divide(numerator: Polynomial, denominator: Polynomial) -> Polynomial:
    return floor_divide(numerator + denominator - 1, denominator)


def minimum(*operands: Polynomial) -> Polynomial:
    return _extremum("minimum", operands, min)


def maximum(*operands: Polynomial) -> Polynomial:
    return _extremum("maximum", operands, max)


def product(factors: Iterable[Polynomial]) -> Polynomial:
    return reduce(lambda a, b: a * b, factors, number(1))


def without_factor(terms: Sequence[tuple[Monomial, int]], atom: Atom) -> Polynomial:
    """The sum of these terms, all of which are multiples of the atom, divided by it."""
    quotients: list[tuple[Monomial, int]] = []
    for monomial, coefficient in terms:
        place = monomial.index(atom)
        quotients.append((monomial[:place] + monomial[place + 1 :], coefficient))
    if len(quotients) > 1:
        quotients.sort(key=_term_key)
    return Polynomial(tuple(quotients))


def polynomial_key(polynomial: Polynomial) -> tuple[object, ...]:
    return tuple((tuple(_atom_key(atom) for atom in monomial), c) for monomial, c in polynomial.terms)


def _extremum(kind: str, operands: Iterable[Polynomial], fold: Callable[..., int]) -> Polynomial:
    """Flatten, drop what another operand differs from only by a constant, and keep the rest sorted."""
    flat: list[Polynomial] = []
    for operand in operands:
        atom = operand.atom
        flat.extend(atom.operands if isinstance(atom, Extremum) and atom.kind == kind else (operand,))
    kept: dict[Polynomial, int] = {}  # the polynomial without its constant term -> the best constant term
    for operand in flat:
        shape = operand - operand.offset
        kept[shape] = fold(kept[shape], operand.offset) if shape in kept else operand.offset
    distinct = sorted((shape + offset for shape, offset in kept.items()), key=polynomial_key)
    return distinct[0] if len(distinct) == 1 else atomic(Extremum(kind, tuple(distinct)))


def _split_multiples(polynomial: Polynomial, divisor: int) -> tuple[Polynomial, Polynomial]:
    """(whole, rest) with polynomial = whole*divisor + rest and rest keeping no multiple of `divisor`."""
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in polynomial.terms:
        whole[monomial], rest[monomial] = divmod(coefficient, divisor)
    return _normal(whole), _normal(rest)


def _rebuilt_atom(atom: Atom, replace: Callable[[Atom], Polynomial | None]) -> Polynomial | None:
    """None if it stays as it is."""
    replacement = replace(atom)
    if replacement is not None:
        return None if replacement.atom is atom else replacement
    if isinstance(atom, Opaque):
        operands = tuple(operand.rebuild(replace) for operand in atom.operands)
        if any(made is not operand for made, operand in zip(operands, atom.operands, strict=True)):
            return atom.with_operands(operands)
    return None


def _nested(atom: Atom) -> Iterator[Atom]:
    yield atom
    yield from _nested_strictly(atom)


def _nested_strictly(atom: Atom) -> Iterator[Atom]:
    if isinstance(atom, Opaque):
        for operand in atom.operands:
            yield from operand.atoms()


def _normal(terms: Mapping[Monomial, int]) -> Polynomial:
    kept = [term for term in terms.items() if term[1]]
    if len(kept) > 1:
        kept.sort(key=_term_key)
    return Polynomial(tuple(kept))


def _term_key(term: tuple[Monomial, int]) -> tuple[object, ...]:
    return (len(term[0]), *[atom.sort_key for atom in term[0]])


def _without(monomial: Monomial, factor: Monomial) -> Monomial | None:
    rest = list(monomial)
    for atom in factor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _atom_key(atom: Atom) -> tuple[object, ...]:
    return atom.sort_key


def _show_term(monomial: Monomial, coefficient: int) -> str:
    factors = [repr(atom) for atom in monomial]
    if coefficient != 1 or not factors:
        factors.insert(0, str(coefficient))
    return "*".join(factors)

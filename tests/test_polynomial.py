"""The index algebra against brute force: normal forms, substitution and division agree with evaluation at points."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hypothesis import assume, given
from hypothesis import strategies as st

from translators.algebra.facts import Facts
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Polynomial,
    Quotient,
    Remainder,
    Symbol,
    atomic,
    ceiling_divide,
    floor_divide,
    maximum,
    minimum,
    number,
    remainder,
    symbol,
)
from translators.algebra.simplification import extremum, quotient, with_remainders

NAMES = ("a", "b", "c")
Point = Mapping[str, int]


def value(polynomial: Polynomial, point: Point) -> int:
    total = 0
    for monomial, coefficient in polynomial.terms:
        for atom in monomial:
            coefficient *= value_of_atom(atom, point)
        total += coefficient
    return total


def value_of_atom(atom: Atom, point: Point) -> int:
    match atom:
        case Symbol(name):
            return point[name]
        case Quotient(numerator, denominator):
            return value(numerator, point) // value(denominator, point)
        case Remainder(numerator, denominator):
            return value(numerator, point) % value(denominator, point)
        case Extremum(kind, operands):
            return (min if kind == "minimum" else max)(value(operand, point) for operand in operands)
    raise AssertionError(atom)


# Expressions as trees that Python and the algebra evaluate side by side.
Tree = int | str | tuple[str, "Tree", "Tree"]
BUILD: dict[str, Callable[[Polynomial, Polynomial], Polynomial]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "//": floor_divide,
    "%": remainder,
    "min": minimum,
    "max": maximum,
}
COMPUTE: dict[str, Callable[[int, int], int]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "min": min,
    "max": max,
}

points = st.fixed_dictionaries({name: st.integers(-9, 9) for name in NAMES})
leaves = st.one_of(st.integers(-6, 6), st.sampled_from(NAMES))
ring_trees = st.recursive(leaves, lambda inner: st.tuples(st.sampled_from(["+", "-", "*"]), inner, inner), max_leaves=8)
trees = st.recursive(leaves, lambda inner: st.tuples(st.sampled_from(sorted(BUILD)), inner, inner), max_leaves=7)


def build(tree: Tree) -> Polynomial:
    if isinstance(tree, int):
        return number(tree)
    if isinstance(tree, str):
        return symbol(tree)
    operator, lhs, rhs = tree
    return BUILD[operator](build(lhs), build(rhs))


def compute(tree: Tree, point: Point) -> int:
    """Raises ZeroDivisionError where the program would be illegal."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return point[tree]
    operator, lhs, rhs = tree
    return COMPUTE[operator](compute(lhs, point), compute(rhs, point))


def legal(tree: Tree, point: Point) -> int:
    try:
        return compute(tree, point)
    except ZeroDivisionError:
        assume(False)
        raise


# --------------------------------------------------------------------------------------------------------------- values
@given(trees, points)
def test_building_keeps_the_value(tree: Tree, point: Point) -> None:
    expected = legal(tree, point)
    assert value(build(tree), point) == expected


@given(ring_trees, ring_trees)
def test_equal_ring_expressions_have_equal_normal_forms(lhs: Tree, rhs: Tree) -> None:
    difference = build(lhs) - build(rhs)
    grid = [{"a": a, "b": b, "c": c} for a in range(-9, 10, 2) for b in range(-9, 10, 3) for c in range(-8, 10, 4)]
    agree = all(compute(lhs, point) == compute(rhs, point) for point in grid)
    if build(lhs) == build(rhs):
        assert agree and not difference.terms
    elif max((len(monomial) for monomial, _ in difference.terms), default=0) < 5:
        assert not agree  # a nonzero polynomial of degree below 5 cannot vanish on the whole grid


@given(ring_trees, ring_trees, ring_trees)
def test_ring_laws(x: Tree, y: Tree, z: Tree) -> None:
    p, q, r = build(x), build(y), build(z)
    assert p + q == q + p
    assert p * (q + r) == p * q + p * r
    assert (p - q) + q == p
    assert hash(p * q) == hash(q * p)


@given(
    st.lists(st.one_of(st.integers(-6, 6), st.sampled_from(NAMES)), min_size=1, max_size=4), st.permutations(range(4))
)
def test_extrema_do_not_depend_on_operand_order(operands: list[Tree], order: list[int]) -> None:
    built = [build(operand) + position % 2 for position, operand in enumerate(operands)]
    shuffled = [built[position] for position in order if position < len(built)]
    assert minimum(*built) == minimum(*shuffled)
    assert maximum(*built) == maximum(*shuffled)


@given(trees, st.dictionaries(st.sampled_from(NAMES), trees), points)
def test_substitution_is_evaluation_at_the_substituted_point(
    tree: Tree, mapping: dict[str, Tree], point: Point
) -> None:
    inner = {name: legal(mapping[name], point) if name in mapping else point[name] for name in NAMES}
    expected = legal(tree, inner)
    replaced = build(tree).substitute({Symbol(name): build(target) for name, target in mapping.items()})
    assert value(replaced, point) == expected


@given(trees, st.sampled_from(NAMES), points)
def test_coefficient_splits_linearly(tree: Tree, name: str, point: Point) -> None:
    legal(tree, point)
    polynomial, atom = build(tree), Symbol(name)
    coefficient = polynomial.coefficient(atom)
    if coefficient is None:
        assert atom in polynomial.atoms()
        return
    rest = polynomial - coefficient * atomic(atom)
    assert atom not in coefficient.atoms() and atom not in rest.atoms()
    assert value(coefficient, point) * point[name] + value(rest, point) == value(polynomial, point)


@given(ring_trees, st.one_of(st.integers(-6, 6), st.sampled_from(NAMES), st.just(("*", "a", 3))))
def test_exact_division(tree: Tree, divisor: Tree) -> None:
    p, d = build(tree), build(divisor)
    quotient = p.divided_by(d)
    if quotient is not None:
        assert quotient * d == p
    if d.terms:
        assert (p * d).divided_by(d) == p


@given(trees, st.integers(-5, 5).filter(bool), points)
def test_division_identity(tree: Tree, divisor: int, point: Point) -> None:
    legal(tree, point)
    p, d = build(tree), number(divisor)
    assert value(floor_divide(p, d) * d + remainder(p, d), point) == value(p, point)
    assert value(ceiling_divide(p, number(abs(divisor))), point) == -(-value(p, point) // abs(divisor))


def test_simplifications() -> None:
    a, b = symbol("a"), symbol("b")
    assert floor_divide(4 * a * b + 8 * b, 4 * b) == a + 2
    assert floor_divide(6 * a + 7, number(3)) == 2 * a + 2
    assert remainder(6 * a + b + 7, number(3)) == remainder(b + 1, number(3))
    assert remainder(a * b, b) == number(0)
    assert maximum(a + 3, a, b) == maximum(b, a + 3)
    assert minimum(minimum(a, b), a - 1) == minimum(a - 1, b)
    assert floor_divide(a, number(1)) == a and remainder(a, number(1)) == number(0)
    assert (a - a).constant == 0 and (a + 1).constant is None and (a + 1).offset == 1


def test_a_bound_within_a_quotient() -> None:
    """max(0, a - k) + c divided by d is a - k + c divided by d only if both are 0 wherever a < k."""
    a = symbol("a")
    for k in range(6):
        for c in range(6):
            for d in range(1, 6):
                made = quotient(Facts(), maximum(number(0), a - k) + c, number(d))
                for at in range(12):
                    assert value(made, {"a": at}) == (max(0, at - k) + c) // d
    assert quotient(Facts(), maximum(number(0), a - 2) + 3, number(4)) == floor_divide(a + 1, number(4))


def test_a_remainder_and_its_quotients_are_the_whole() -> None:
    n, whole = symbol("n"), floor_divide(symbol("n") + 63, number(64)) * 64
    assert with_remainders(Facts(), whole + remainder(n + 63, number(64))) == n + 63
    assert with_remainders(Facts(), n + 63 - whole) == remainder(n + 63, number(64))
    apart = whole + remainder(n + 62, number(64))
    assert with_remainders(Facts(), apart) == apart


def test_a_minimum_rounded_up_to_blocks_is_no_bound() -> None:
    a, b, size = symbol("a"), symbol("b"), symbol("size")
    facts = Facts().with_bounds(Symbol("size"), 1)

    def rounded(count: Polynomial) -> Polynomial:
        return floor_divide(count + size - 1, size) * size

    assert extremum(facts, "minimum", (a, b, rounded(minimum(a, b)))) == minimum(a, b)
    for other in (rounded(minimum(a, b) - 1), rounded(minimum(a, symbol("c")))):
        assert extremum(facts, "minimum", (a, b, other)) == minimum(a, b, other)

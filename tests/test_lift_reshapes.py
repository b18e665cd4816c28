"""Coordinates of reshapes of reshapes: simplified by the numbers of lanes, exactly, and so that they stay small."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentc.lift_verification import verify
from tests.test_lift_functions import HEAD, one
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Symbol, atomic, number, symbol
from translators.algebra.simplification import aligned_quotient, aligned_remainder
from translators.lifting.files import lift_text
from translators.lifting.simplification import Simplifier
from translators.tile.expression import Expression

PAIRS = (Path(__file__).parent / "lift" / "pairs.py").read_text()
DIGITS = st.integers(1, 5)
FACTORS = st.integers(-12, 12)


@given(DIGITS, DIGITS, FACTORS, FACTORS, st.integers(-3, 3), st.sampled_from([-6, -4, -1, 1, 2, 3, 4, 6, 12]))
def test_digits_are_taken_apart_exactly(a: int, b: int, first: int, second: int, third: int, bottom: int) -> None:
    i, j = Symbol("i"), Symbol("j")
    facts = Facts().with_bounds(i, 0, a - 1).with_bounds(j, 0, b - 1)
    top = atomic(i) * first + atomic(j) * second + third
    whole = aligned_quotient(facts, top, number(bottom))
    rest = aligned_remainder(facts, top, number(bottom))
    for x in range(a):
        for y in range(b):
            point = {i: number(x), j: number(y)}
            value = first * x + second * y + third
            assert whole.substitute(point).constant == value // bottom
            assert rest.substitute(point).constant == value % bottom


def test_digits_of_sizes_are_taken_apart() -> None:
    i, j, a, b = (Symbol(name) for name in "ijab")
    facts = Facts().with_bounds(a, low=1).with_bounds(b, low=1)
    facts = facts.with_bounds(i, 0, atomic(a) - 1).with_bounds(j, 0, atomic(b) - 1)
    flat = atomic(i) * atomic(b) + atomic(j)
    assert aligned_quotient(facts, flat, atomic(b)) == atomic(i)
    assert aligned_remainder(facts, flat, atomic(b)) == atomic(j)
    assert aligned_quotient(facts, flat, atomic(a) * atomic(b)) == number(0)
    unknown = Facts().with_bounds(j, 0, atomic(b) - 1)  # b may be negative
    assert aligned_quotient(unknown, flat, symbol("c") * atomic(b)) != aligned_quotient(facts, number(0), atomic(b))


ANY_LANES = (
    PAIRS.replace("(y_ptr, x_ptr):", "(y_ptr, x_ptr, B: tl.constexpr):")
    .replace("* 16 + tl.arange(0, 16)", "* B + tl.arange(0, B)")
    .replace("(x, 16, 1 << (3 - stage))", "(x, B, 1 << (2 - stage))")
    .replace("tl.static_range(4)", "tl.static_range(3)")
)


@pytest.mark.parametrize("text", [PAIRS, ANY_LANES], ids=["16 lanes", "B lanes"])
def test_butterflies(text: str) -> None:
    kernel = one(text, kernel="butterflies_kernel")
    found = verify(text, "pairs.py", kernel, calls=3)
    assert found.holds, (str(found), kernel.source)


TURNED = """
@triton.jit
def kernel(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * A * B + tl.arange(0, A * B)
    x = tl.load(x_ptr + i)
    for _ in tl.static_range(40):
        x = tl.reshape(tl.trans(tl.reshape(x, (A, B))), (A * B,))
    tl.store(y_ptr + i, x)
"""


def test_reshapes_without_a_simpler_form_are_refused() -> None:
    (kernel,) = lift_text(HEAD + TURNED, "k.py").kernels
    assert kernel.source is None and "reshapes of reshapes" in (kernel.reason or ""), kernel.reason


NORMALISED = """
@triton.jit
def kernel(x_ptr, y_ptr):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)[:, None] * 4 + tl.arange(0, 4)[None, :]
    x = tl.load(x_ptr + i)
    for _ in tl.static_range(10):
        x = x / tl.sum(x, 1, keep_dims=True)
        x = x / tl.sum(x, 0, keep_dims=True)
    tl.store(y_ptr + i, x)
"""


def test_reductions_within_reductions_are_simplified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sets of ranges enclose them: what a range does not bear on is the same outside it."""
    seen: list[Expression] = []
    simplified = Simplifier._simplified

    def counting(self: Simplifier, node: Expression) -> Expression:
        seen.append(node)
        return simplified(self, node)

    monkeypatch.setattr(Simplifier, "_simplified", counting)
    lift_text(HEAD + NORMALISED, "k.py")
    assert len(seen) < 60 * len(set(seen))
    assert len(seen) < 20_000

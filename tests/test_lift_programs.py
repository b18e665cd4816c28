"""Program ids that kernels take apart, blocks that may be empty, and how much a lift may take: run side by side."""

from __future__ import annotations

import textwrap

import pytest

from intentc.lift_verification import verify
from translators.algebra.effort import OF_A_QUESTION
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Symbol, ceiling_divide, symbol
from translators.lifting import lift
from translators.lifting.files import lift_text
from translators.lifting.lift import Lifted

HEAD = """import triton
import triton.language as tl

"""

GROUPED_HEADS = """
    @triton.jit
    def scale(k_ptr, v_ptr, y_ptr, T, H: tl.constexpr, HV: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
        i_t, i_bh = tl.program_id(0), tl.program_id(1)
        i_b, i_h = i_bh // HV, i_bh % HV
        t = i_t * B + tl.arange(0, B)[:, None]
        d = tl.arange(0, D)[None, :]
        k = tl.load(k_ptr + ((i_b * T + t) * H + i_h // (HV // H)) * D + d, mask=t < T, other=0.0)
        v = tl.load(v_ptr + ((i_b * T + t) * HV + i_h) * D + d, mask=t < T, other=0.0)
        tl.store(y_ptr + ((i_b * T + t) * HV + i_h) * D + d, k * v, mask=t < T)
"""

NESTED = """
    @triton.jit
    def nested(x_ptr, y_ptr, K, V, H, BK: tl.constexpr, BV: tl.constexpr):
        pid = tl.program_id(0)
        i_k, rest = pid % tl.cdiv(K, BK), pid // tl.cdiv(K, BK)
        i_v, i_nh = rest % tl.cdiv(V, BV), rest // tl.cdiv(V, BV)
        i_n, i_h = i_nh // H, i_nh % H
        k = i_k * BK + tl.arange(0, BK)[:, None]
        v = i_v * BV + tl.arange(0, BV)[None, :]
        at = ((i_n * H + i_h) * K + k) * V + v
        inside = (k < K) & (v < V)
        tl.store(y_ptr + at, tl.load(x_ptr + at, mask=inside) + 1.0, mask=inside)
"""

SWIZZLED = """
    @triton.jit
    def swizzled(x_ptr, y_ptr, M, N, stride_m, BM: tl.constexpr, BN: tl.constexpr, G: tl.constexpr):
        p_m, p_n = tl.program_id(0), tl.program_id(1)
        p_m, p_n = tl.swizzle2d(p_m, p_n, tl.cdiv(M, BM), tl.cdiv(N, BN), G)
        m = p_m * BM + tl.arange(0, BM)[:, None]
        n = p_n * BN + tl.arange(0, BN)[None, :]
        inside = (m < M) & (n < N)
        tl.store(y_ptr + m * stride_m + n, tl.load(x_ptr + m * stride_m + n, mask=inside), mask=inside)

    def call(x, y):
        M, N = x.shape
        grid = lambda meta: (triton.cdiv(M, meta["BM"]), triton.cdiv(N, meta["BN"]))
        swizzled[grid](x, y, M, N, x.stride(0), BM=16, BN=16, G=2)
"""

BLOCK_SUMS = """
    @triton.jit
    def block_sums(x_ptr, y_ptr, n_cols, n_rows, row_stride, B: tl.constexpr):
        row, block = tl.program_id(0), tl.program_id(1)
        i = block * B + tl.arange(0, B)
        x = tl.load(x_ptr + row * row_stride + i, mask=i < n_cols, other=-float("inf"))
        largest = tl.max(x, 0)
        tl.store(y_ptr + block * n_rows + row, tl.log(tl.sum(tl.exp(x - largest), 0)) + largest)
"""

BACKWARDS = """
    @triton.jit
    def backwards(x_ptr, y_ptr, T, D: tl.constexpr, B: tl.constexpr):
        p = tl.program_id(0)
        d = tl.arange(0, D)
        for i in range(tl.minimum(B, T - p * B) - 1, -1, -1):
            at = (p * B + i) * D + d
            tl.store(y_ptr + at, tl.load(x_ptr + at) * 2.0)

    def call(x, y):
        T, D = x.shape
        backwards[(triton.cdiv(T, 16),)](x, y, T, D, B=16)
"""

UNROLLED = """
    @triton.jit
    def unrolled(x_ptr, y_ptr):
        total = 0.0
        for i in tl.static_range(60):
            for j in tl.static_range(60):
                for k in tl.static_range(60):
                    total = total * tl.load(x_ptr + i * j + k) + i
        tl.store(y_ptr, total)
"""


def lifted(text: str) -> tuple[str, Lifted]:
    source = HEAD + textwrap.dedent(text)
    (kernel,) = lift_text(source, "k.py").kernels
    return source, kernel


TEXTS = {
    "grouped heads": GROUPED_HEADS,
    "nested": NESTED,
    "swizzled": SWIZZLED,
    "block sums": BLOCK_SUMS,
    "backwards": BACKWARDS,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_stores_the_same(text: str) -> None:
    source, kernel = lifted(text)
    assert kernel.source is not None, kernel.reason
    result = verify(source, "k.py", kernel, calls=3)
    assert result.holds, str(result)


def test_programs_are_products_of_all_that_takes_them_apart() -> None:
    _, kernel = lifted(NESTED)
    assert kernel.correspondence is not None
    (count, *_) = kernel.correspondence.grid
    needed = {symbol("K"), symbol("V"), symbol("BK"), symbol("BV")}
    assert needed <= {symbol(atom.name) for atom in count.atoms() if isinstance(atom, Symbol)}


def test_a_maximum_of_nothing_is_no_sum_of_nothing() -> None:
    """A program beyond the last column stores NaN; the lifted kernel would not: no launch that was meant has one."""
    _, kernel = lifted(BLOCK_SUMS)
    assert any("no program has only lanes that a mask leaves out" in note.text for note in kernel.notes)
    assert kernel.correspondence is not None
    assert any(fact.atoms() for fact in kernel.correspondence.facts)


def test_a_lift_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lift, "MOST_EFFORT", 40)
    _, kernel = lifted(NESTED)
    assert kernel.source is None
    assert "more steps than are tried" in (kernel.reason or "")


def test_static_ranges_are_unrolled_to_a_bound() -> None:
    _, kernel = lifted(UNROLLED)
    assert kernel.source is None
    assert "static ranges with too many steps in all" in (kernel.reason or "")


def test_facts_that_know_the_same_share_their_proofs() -> None:
    n, b, i = symbol("n"), symbol("b"), Symbol("i")
    facts = Facts().with_bounds(Symbol("b"), low=1)
    question = b * ceiling_divide(n, b) - n
    assert facts.nonnegative(question)
    first = facts.effort.spent
    assert first > 2 * OF_A_QUESTION
    for more in (facts.with_bounds(i, 0, n), facts.with_bounds(Symbol("j"), 0, n)):
        assert more.nonnegative(question)
    assert facts.effort.spent - first == 2 * OF_A_QUESTION
    assert facts.with_bounds(i, 0, n) is facts.with_bounds(i, 0, n)


def test_what_more_is_known_counts() -> None:
    n, m = symbol("n"), symbol("m")
    facts = Facts()
    assert not facts.less_equal(m, n)
    assert facts.assuming(n - m).less_equal(m, n)
    assert facts.with_bounds(Symbol("m"), 0, n).less_equal(m, n)
    assert not facts.less_equal(m, n)

"""Tiles that programs share out in other ways, and elements whose types only their use tells: run side by side."""

from __future__ import annotations

import textwrap

import pytest

from intentc.lift_verification import verify
from translators.algebra.polynomial import ceiling_divide, number, symbol
from translators.lifting.files import lift_text
from translators.lifting.lift import Lifted

HEAD = """import triton
import triton.language as tl

"""

TURNED = """
    @triton.jit
    def turned(x_ptr, y_ptr, M, N, stride_m, BM: tl.constexpr, BN: tl.constexpr, G: tl.constexpr):
        pid = tl.program_id(0)
        blocks_m, blocks_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
        group = pid // (G * blocks_n)
        size = min(blocks_m - group * G, G)
        m = (group * G + {row}) * BM + tl.arange(0, BM)[:, None]
        n = (pid % (G * blocks_n)) // size * BN + tl.arange(0, BN)[None, :]
        inside = (m < M) & (n < N)
        tl.store(y_ptr + m * stride_m + n, tl.load(x_ptr + m * stride_m + n, mask=inside) + {also}, mask=inside)

    def call(x, y):
        M, N = x.shape
        grid = lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)
        turned[grid](x, y, M, N, x.stride(0), BM=16, BN=16, G=2)
"""

WHOLE_TILES = """
    @triton.jit
    def tiled(x_ptr, y_ptr, M, N, B: tl.constexpr):
        m, n = tl.program_id(0), tl.program_id(1) * B + tl.arange(0, B)
        tl.store(y_ptr + m * N + n, tl.load(x_ptr + m * N + n) * 2.0)

    def call(x, y):
        M, N = x.shape
        tiled[(M, triton.cdiv(N, 16))](x, y, M, N, B=16)
"""

ROWS_IN_ORDER = """
    @triton.jit
    def in_order(x_ptr, y_ptr, M, N, B: tl.constexpr):
        n = tl.program_id(0) * B + tl.arange(0, B)
        for m in range(M):
            tl.store(y_ptr + m * N + n, tl.load(x_ptr + m * N + n) * 2.0)

    def call(x, y):
        M, N = x.shape
        in_order[(triton.cdiv(N, 16),)](x, y, M, N, B=16)
"""

UNDEFINED_LANES = """
    @triton.jit
    def spread(x_ptr, y_ptr, N, B: tl.constexpr):
        row = tl.program_id(0)
        total = tl.zeros((B,), dtype=tl.float32)
        for start in range(0, N, B):
            n = start + tl.arange(0, B)
            x = tl.load(x_ptr + row * N + n, mask=n < N)
            total += (x - 0.5) * (x - 0.5)
        tl.store(y_ptr + row, tl.sum(total, 0))
"""

SPLIT_BY_ONE = """
    @triton.jit
    def halves(x_ptr, y_ptr, N, SPLIT_K: tl.constexpr, B: tl.constexpr):
        n = tl.program_id(0) * B + tl.arange(0, B)
        x = tl.load(x_ptr + tl.program_id(1) * N + n, mask=n < N)
        if SPLIT_K == 1:
            tl.store(y_ptr + n, x, mask=n < N)
        else:
            tl.atomic_add(y_ptr + n, x, mask=n < N)

    def call(x, y, N):
        grid = lambda meta: (triton.cdiv(N, meta["B"]), meta["SPLIT_K"])
        halves[grid](x, y, N)
"""

WORDS = """
    @triton.jit
    def words(y_ptr, n, seed, offset, B: tl.constexpr):
        seed, offset = seed.to(tl.int64), offset.to(tl.int64)
        low = (offset & 0xFFFFFFFF).to(tl.uint32)
        high = ((offset >> 32) & 0xFFFFFFFF).to(tl.uint32)
        i = tl.program_id(0) * B + tl.arange(0, B)
        low += i
        zero = low * 0
        a, b, c, d = tl.philox(seed, low, high, zero, {last})
        tl.store(y_ptr + i, (a ^ b + c).to(tl.int32, bitcast=True) & 0xFFFF, mask=i < n)
"""

WORDS_OF_DATA = """
    @triton.jit
    def words(x_ptr, y_ptr, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        low = tl.load(x_ptr + i, mask=i < n, other=0).to(tl.uint32)
        a, b, c, d = tl.philox(7, low - 2, low + 5, low * 0, 0)
        tl.store(y_ptr + i, (a ^ d).to(tl.int32, bitcast=True) & 0xFFFF, mask=i < n)
"""

LOW_BITS = """
    @triton.jit
    def low_bits(y_ptr, n, shift, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(y_ptr + i, ((i - shift) & 7) * 100 + (i & 6) * 10 + ((i >> 1) & 1), mask=i < n)
"""

INTEGER_PRODUCT = """
    @triton.jit
    def product(a_ptr, b_ptr, y_ptr, M, N, K, B: tl.constexpr):
        m = tl.program_id(0) * B + tl.arange(0, B)[:, None]
        n = tl.program_id(1) * B + tl.arange(0, B)[None, :]
        total = tl.zeros((B, B), dtype=tl.int32)
        for start in range(0, K, B):
            k = start + tl.arange(0, B)
            a = tl.load(a_ptr + m * K + k[None, :], mask=(m < M) & (k < K)[None, :], other=0)
            b = tl.load(b_ptr + k[:, None] * N + n, mask=(n < N) & (k < K)[:, None], other=0)
            total += tl.dot(a, b)
        tl.store(y_ptr + m * N + n, total, mask=(m < M) & (n < N))
"""

HALF_PRODUCT = """
    @triton.jit
    def product(a_ptr, b_ptr, y_ptr, M, N, B: tl.constexpr, K: tl.constexpr):
        m = tl.program_id(0) * B + tl.arange(0, B)[:, None]
        n, k = tl.arange(0, B)[None, :], tl.arange(0, K)
        a = (tl.load(a_ptr + m * K + k[None, :], mask=m < M, other=0) * 0.5).to(tl.float16)
        b = tl.load(b_ptr + k[:, None] * N + n, mask=n < N, other=0)
        tl.store(y_ptr + m * N + n, tl.dot(a, b), mask=(m < M) & (n < N))
"""

TOGETHER = """
    @triton.jit
    def together(x_ptr, y_ptr, H: tl.constexpr):
        p = tl.program_id(0)
        a, b = tl.broadcast(tl.arange(0, H // 2)[:, None], tl.arange(H // 2, H)[None, :])
        one = tl.load(x_ptr + p * H + tl.arange(0, H // 2))
        other = tl.load(x_ptr + p * H + tl.arange(H // 2, H))
        tl.static_print(f"{H=}")
        scale = H**-0.5
        tl.store(y_ptr + p * H + tl.arange(0, H // 2), (one + other) * scale + tl.sum(a + b, 1))
"""

HALVES_IN_PLACE = """
    @triton.jit
    def halves(x_ptr, w_ptr, stride_m, stride_h, H, D: tl.constexpr, B: tl.constexpr):
        row = tl.program_id(0)
        i = tl.arange(0, B)
        half = D // 2
        w = tl.load(w_ptr + i, mask=i < half, other=0.0)
        for h in range(H):
            one = x_ptr + row * stride_m + h * stride_h + i
            a = tl.load(one, mask=i < half, other=0.0)
            b = tl.load(one + {apart}, mask=i < half, other=0.0)
            tl.store(one, a * w - b, mask=i < half)
            tl.store(one + {apart}, b * w + a, mask=i < half)
"""

PAIRS_IN_PLACE = """
    @triton.jit
    def pairs(x_ptr, stride_m, stride_d, M, D: tl.constexpr, B: tl.constexpr):
        m = tl.program_id(0) * B + tl.arange(0, B)[:, None]
        d = tl.arange(0, D // 2)[None, :]
        even = x_ptr + m * stride_m + 2 * d * stride_d
        odd = x_ptr + m * stride_m + (2 * d + {more}) * stride_d
        a, b = tl.load(even, mask=m < M, other=0.0), tl.load(odd, mask=m < M, other=0.0)
        tl.store(even, a - b, mask=m < M)
        tl.store(odd, a + b, mask=m < M)
"""

FIRST_OF_GROUP = """
    @triton.jit
    def first(x_ptr, y_ptr, H, G: tl.constexpr, D: tl.constexpr):
        head = tl.program_id(0)
        d = tl.arange(0, D)
        if head % G {which}:
            tl.store(y_ptr + head // G * D + d, tl.load(x_ptr + head * D + d))

    def call(x, y, H, D):
        first[(H,)](x, y, H, G=4, D=D)
"""

CHOSEN = """
    def one_block(args):
        return args["B"] >= args["N"]

    @triton.heuristics({{"ONE": {rule}}})
    @triton.jit
    def rows(x_ptr, y_ptr, N, B: tl.constexpr, ONE: tl.constexpr):
        p, lane = tl.program_id(0), tl.arange(0, B)
        if ONE:
            tl.store(y_ptr + p, tl.sum(tl.load(x_ptr + p * N + lane, mask=lane < N, other=0.0), 0))
        else:
            m = tl.full([B], value=float("-inf"), dtype=tl.float32)
            z = tl.zeros([B], dtype=tl.float32)
            for start in range(0, N, B):
                x = tl.load(x_ptr + p * N + start + lane, mask=start + lane < N, other=-float("inf"))
                new = tl.maximum(m, x)
                z = z * tl.exp(m - new) + tl.exp(x - new)
                m = new
            largest = tl.max(m, 0)
            tl.store(y_ptr + p, tl.sum(z * tl.exp(m - largest), 0))
"""

FAR_PLACES = """
    @triton.jit
    def nearest(x_ptr, y_ptr, L, N, scale, B: tl.constexpr):
        p, i = tl.program_id(1), tl.program_id(0) * B + tl.arange(0, B)
        at = tl.minimum(tl.math.floor(i.to(tl.float32) * scale).to(tl.int32), L - 1)
        tl.store(y_ptr + p * N + i, tl.load(x_ptr + p * (L * 900) + at, mask=i < N), mask=i < N)

    def call(x, y, L, N, scale):
        nearest[(triton.cdiv(N, 16), 12)](x, y, L, N, scale, B=16)
"""

PARTS = """
    @triton.jit
    def parts(y_ptr, n, seed, B: tl.constexpr):
        first = tl.program_id(0) * B * 2 + tl.arange(0, B)
        a, b, _, _ = tl.rand4x(seed, tl.program_id(0) * B + tl.arange(0, B))
        tl.store(y_ptr + first, a, mask=first < n)
        tl.store(y_ptr + first + B, b, mask=first + B < n)
"""

TWO_NAMES = """
    @triton.jit
    def twice(x):
        return x * 2.0

    double = twice

    @triton.jit
    def kernel(x_ptr, y_ptr, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(y_ptr + i, double(tl.load(x_ptr + i, mask=i < n)), mask=i < n)
"""

BLOCKS_OF_ONE = """
    @triton.jit
    def scales(x_ptr, y_ptr, N, stride, BM: tl.constexpr, B: tl.constexpr):
        row = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
        n = tl.arange(0, B)[None, :]
        largest = tl.max(tl.load(x_ptr + row * N + n, mask=n < N, other=0.0), 1)
        tl.store(y_ptr + tl.program_id(0) * BM * stride + tl.arange(0, BM), largest)

    def call(x, y):
        M, N = x.shape
        BM = {rows}
        scales[(M // BM,)](x, y, N, y.stride(0), BM=BM, B=triton.next_power_of_2(N))
"""

COUNTED_BY_ONES = """
    @triton.jit
    def doubled(x_ptr, y_ptr, N, B: tl.constexpr):
        pid = tl.program_id(0)
        tiles = tl.cdiv(N, B)
        n = pid % tiles * B + tl.arange(0, B)
        row = pid // tiles
        tl.store(y_ptr + row * N + n, 2.0 * tl.load(x_ptr + row * N + n, mask=n < N), mask=n < N)

    def call(x, y):
        M, N = x.shape
        doubled[(M * N,)](x, y, N, B={block})
"""

BLOCKS_UNDER_ONE_MASK = """
    @triton.jit
    def kernel(x_ptr, z_ptr, y_ptr, n, sx, sz, sy):
        pid = tl.program_id(0)
        i = pid * 16 + tl.arange(0, 16)
        x = tl.load(x_ptr + i * sx, mask=i < n, other=0.0)
        z = tl.load(z_ptr + i * sz, mask=i < n, other=0.0)
        tl.store(y_ptr + i * sy, (x + z) * pid, mask=i < n)
"""

CAUSAL = """
    @triton.jit
    def causal(x_ptr, v_ptr, y_ptr, n, t, sx, sv, sy):
        pid = tl.program_id(0)
        i = pid * 16 + tl.arange(0, 16)
        total = tl.zeros((16,), tl.float32)
        for first in range(0, tl.minimum(t, pid * 16 + 16), 16):
            j = first + tl.arange(0, 16)
            v = tl.load(v_ptr + j * sv, mask=j < t, other=0.0)
            total += tl.sum(tl.where(j[None, :] <= i[:, None], v[None, :], 0.0), 1)
        x = tl.load(x_ptr + i * sx, mask=i < n, other=0.0)
        tl.store(y_ptr + i * sy, x * total, mask=i < n)
"""


def lifted(text: str) -> tuple[str, Lifted]:
    source = HEAD + textwrap.dedent(text)
    (kernel,) = lift_text(source, "k.py").kernels
    return source, kernel


TEXTS = {
    "turned": TURNED.format(row="pid % size", also="1.0"),
    "whole tiles": WHOLE_TILES,
    "undefined lanes": UNDEFINED_LANES,
    "one split": SPLIT_BY_ONE,
    "words": WORDS.format(last="zero"),
    "words of data": WORDS_OF_DATA,
    "low bits": LOW_BITS,
    "an integer product": INTEGER_PRODUCT,
    "a product of halves": HALF_PRODUCT,
    "together": TOGETHER,
    "a flag that sizes choose": CHOSEN.format(rule='lambda args: args["B"] >= args["N"]'),
    "places that are computed": FAR_PLACES,
    "a number of programs that no array tells": PARTS,
    "a function by two names": TWO_NAMES,
    "blocks of one": BLOCKS_OF_ONE.format(rows=1),
    "as many programs as blocks of one": COUNTED_BY_ONES.format(block=1),
    "blocks under one mask": BLOCKS_UNDER_ONE_MASK,
    "what comes before": CAUSAL,
    "halves in place": HALVES_IN_PLACE.format(apart="half"),
    "pairs in place": PAIRS_IN_PLACE.format(more=1),
    "the first of a group": FIRST_OF_GROUP.format(which="== 0"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_stores_the_same(text: str) -> None:
    source, kernel = lifted(text)
    assert kernel.source is not None, kernel.reason
    result = verify(source, "k.py", kernel, calls=3)
    assert result.holds, str(result)


REFUSED = {
    "a turn by another size": TURNED.format(row="pid % (size + 1)", also="1.0"),
    "a turn that is seen": TURNED.format(row="pid % size", also="pid"),
    "rows that one program stores one after the other": ROWS_IN_ORDER,
    "halves that overlap": HALVES_IN_PLACE.format(apart="half - 1"),
    "pairs that overlap": PAIRS_IN_PLACE.format(more=2),
    "all but the first of a group": FIRST_OF_GROUP.format(which="> 0"),
    "blocks of two that are stored apart": BLOCKS_OF_ONE.format(rows=2),
    "a third word of a counter": WORDS.format(last="low"),
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_is_refused(text: str) -> None:
    _, kernel = lifted(text)
    assert kernel.source is None


def test_blocks_of_one_are_no_groups() -> None:
    """Where the host has counted programs by a block of one, no other block makes the same program."""
    _, one = lifted(COUNTED_BY_ONES.format(block=1))
    assert one.status == "lifted"
    assert one.source is not None
    assert not any("Constexpr" in annotation for _, annotation in one.source.parameters)
    _, two = lifted(COUNTED_BY_ONES.format(block=2))
    assert two.status != "lifted"


@pytest.mark.parametrize(
    ("text", "extents"), [(BLOCKS_UNDER_ONE_MASK, ("n", "n", "n")), (CAUSAL, ("n", "t", "n"))], ids=["blocks", "causal"]
)
def test_extents_are_the_sizes_that_masks_say(text: str, extents: tuple[str, ...]) -> None:
    """A store's mask holds for all that is read for it; an array's own mask comes before those of others."""
    _, kernel = lifted(text)
    assert kernel.source is not None
    shapes = [annotation for _, annotation in kernel.source.parameters if annotation.startswith(("I.In", "I.Out"))]
    assert len(shapes) == len(extents)
    assert all(f'("{extent}",)' in shape for shape, extent in zip(shapes, extents, strict=True)), shapes


def test_what_a_launch_has_to_meet_is_drawn() -> None:
    n = symbol("N")
    for text, b in ((WHOLE_TILES, number(16)), (UNDEFINED_LANES, symbol("B"))):
        _, kernel = lifted(text)
        assert kernel.correspondence is not None
        assert n - b * ceiling_divide(n, b) in kernel.correspondence.facts
        assert any(note.basis == "assumed" for note in kernel.notes)


def test_flags_that_decorators_choose_say_what_sizes_are() -> None:
    n, b = symbol("N"), symbol("B")
    for rule, known in (
        ('lambda args: args["B"] >= args["N"]', n - b - 1),
        ("one_block", n - b - 1),
        ('lambda args: not args["N"] > args["B"]', n - b - 1),
        ('lambda args: args["B"] >= args["N"] and args["N"] > 2', None),
        ("other", None),
    ):
        _, kernel = lifted(CHOSEN.format(rule=rule))
        assert kernel.correspondence is not None
        facts = [each for each in kernel.correspondence.facts if each.terms and each != number(0)]
        assert facts == ([] if known is None else [known])


def test_elements_have_the_type_that_their_use_asks_for() -> None:
    _, integers = lifted(INTEGER_PRODUCT)
    _, halves = lifted(HALF_PRODUCT)
    for kernel, pointer, name in ((integers, "a_ptr", "i8"), (integers, "b_ptr", "i8"), (halves, "b_ptr", "f16")):
        assert kernel.correspondence is not None
        (dtype,) = (each.dtype for each in kernel.correspondence.arrays if each.pointer == pointer)
        assert dtype.name == name

"""Slices of a region fold that cannot change its result are skipped, and whole ones have no guards.

Every program is compared with the reference, whose slices know nothing of either.
"""

from __future__ import annotations

import re
from textwrap import dedent

import numpy as np
import pytest
from program_runs import agree, compiled, device_text

pytestmark = pytest.mark.gpu

MERGE = """
    @intent.fn
    def merge(lhs, rhs):
        largest = I.maximum(lhs.largest, rhs.largest)
        shift = I.select(largest == -I.inf, 0.0, largest)
        left = I.exp(lhs.largest - shift)
        right = I.exp(rhs.largest - shift)
        return I.record(
            largest=largest,
            mass=lhs.mass * left + rhs.mass * right,
            moment=lhs.moment * left[:, None] + rhs.moment * right[:, None],
        )

    @intent.fn
    def summarize(k, v, key, q, query, length, width):
        scores = I.matmul(q, k, transpose_rhs=True, acc_dtype=I.f32)
        allowed = {allowed}
        scores = I.mask(scores, allowed, -I.inf)
        largest = I.reduce.max(scores, axis=1)
        shift = I.select(largest == -I.inf, 0.0, largest)
        weights = I.exp(scores - shift[:, None])
        return I.record(
            largest=largest,
            mass=I.reduce.sum(weights, axis=1),
            moment=I.matmul(weights, v, acc_dtype=I.f32),
        )

    @intent.kernel
    def attention(
        q: I.In[I.f32, ("B", "S", 16)], k: I.In[I.f32, ("B", "T", 16)], v: I.In[I.f32, ("B", "T", 16)],
        lengths: I.In[I.i32, ("B",)], width: I.i32, out: I.Out[I.f32, ("B", "S", 16)],
    ):
        B, S, D = q.shape
        T = k.shape[1]
        queries, keys = I.domain(0, S), I.domain(0, T)
        for b in I.parallel(I.domain(0, B)):
            found = I.region_fold(
                source=(k[b, keys, :], v[b, keys, :], I.indices(keys)),
                axis=0,
                summarize=summarize,
                combine=merge,
                identity=I.record(
                    largest=I.full((S,), -I.inf, dtype=I.f32),
                    mass=I.full((S,), 0.0, dtype=I.f32),
                    moment=I.full((S, D), 0.0, dtype=I.f32),
                ),
                operands=(q[b, queries, :], I.indices(queries), I.cast(lengths[b], I.index), I.cast(width, I.index)),
            )
            out[b, queries, :] = found.moment / I.select(found.mass == 0.0, 1.0, found.mass)[:, None]
    """
CAUSAL = "key[None, :] <= query[:, None]"
WINDOW = f"({CAUSAL}) & (key[None, :] > query[:, None] - width)"
LENGTH = "key[None, :] < length"
CAUSAL_LENGTH = f"I.reshape({LENGTH}, (1, key.shape[0])) & ({CAUSAL})"
BLOCKS = "key[None, :] // 24 == query[:, None] // 24"
AHEAD = "not (query[:, None] >= key[None, :])"
UNEQUAL = "not (key[None, :] // 24 != query[:, None] // 24)"
EITHER = f"({CAUSAL}) | (key[None, :] < 4)"
ALLOWED = {
    "causal": CAUSAL, "window": WINDOW, "length": LENGTH, "causal and length": CAUSAL_LENGTH, "blocks": BLOCKS,
    "ahead": AHEAD, "not different": UNEQUAL, "either": EITHER,
}  # fmt: skip
LOOP = re.compile(r"for start_keys in range\((.*), BLOCK_KEYS\)")


def program(allowed: str) -> str:
    return dedent(MERGE).replace("{allowed}", allowed)


def arguments(queries: int, keys: int, batch: int = 2, width: int = 20) -> dict[str, object]:
    generator = np.random.default_rng(queries + keys)
    q, k, v = (generator.standard_normal((batch, n, 16)).astype(np.float32) for n in (queries, keys, keys))
    lengths = np.array([keys // 3, keys, 0][:batch], np.int32)
    return {"q": q, "k": k, "v": v, "lengths": lengths, "width": width, "out": np.zeros_like(q)}


def ranges(allowed: str) -> list[str]:
    """The loops over keys, as what their ranges say."""
    return LOOP.findall(device_text(program(allowed), small=True))


@pytest.mark.parametrize("allowed", ALLOWED)
@pytest.mark.parametrize(("queries", "keys"), [(70, 70), (40, 100), (100, 37), (16, 64), (1, 50), (3, 1)])
def test_what_is_skipped_would_not_have_changed_anything(allowed: str, queries: int, keys: int) -> None:
    agree(program(ALLOWED[allowed]), arguments(queries, keys), tolerance=1e-5)


@pytest.mark.parametrize("width", [-3, 0, 1, 16, 1000])
def test_windows_of_any_width(width: int) -> None:
    agree(program(WINDOW), arguments(70, 70, width=width), tolerance=1e-5)


@pytest.mark.parametrize("allowed", ["causal", "window", "either"])
@pytest.mark.parametrize(("queries", "keys"), [(0, 5), (5, 0)])
def test_nothing_to_fold(allowed: str, queries: int, keys: int) -> None:
    agree(program(ALLOWED[allowed]), arguments(queries, keys), tolerance=1e-5)


def test_causal_attention_stops_at_the_diagonal() -> None:
    assert ranges(CAUSAL) == ["0, whole_end", "whole_end, keys_end"]
    text = device_text(program(CAUSAL), small=True)
    assert "keys_end = tl.minimum(T, BLOCK_QUERIES + first_queries)" in text
    whole, edge = text.split("for start_keys in range")[1:]
    assert "tl.where(keys" not in whole and "queries" not in whole.split("tl.dot")[1]
    assert "queries[:, None]" in edge


def test_a_window_has_two_edges() -> None:
    assert ranges(WINDOW) == [
        "keys_begin, tl.minimum(keys_end, whole_begin)",
        "whole_begin, whole_end",
        "tl.maximum(whole_begin, whole_end), keys_end",
    ]


def test_conditions_may_say_what_does_not_count() -> None:
    first, *others = ranges(AHEAD)
    assert first == "(first_queries + 1) // BLOCK_KEYS * BLOCK_KEYS, tl.minimum(T, whole_begin)"
    assert others == ["whole_begin, whole_end", "tl.maximum(whole_begin, whole_end), T"]
    assert len(ranges(UNEQUAL)) == len(ranges(BLOCKS)) == 3
    text = program(CAUSAL).replace("I.mask(scores, allowed, -I.inf)", "I.select(allowed, -I.inf, scores)")
    assert "first_queries" in device_text(text, small=True)
    agree(text, arguments(70, 90), tolerance=1e-5)


def test_an_alternative_is_no_bound() -> None:
    assert ranges(EITHER) == ["0, whole_end", "whole_end, T"]


def test_a_runtime_length_bounds_the_loop() -> None:
    assert "lengths_b" in device_text(program(LENGTH), small=True) or "length" in device_text(program(LENGTH))
    assert ranges(LENGTH) == ["0, whole_end", "whole_end, keys_end"]


def test_a_slice_that_adds_weight_is_not_skipped() -> None:
    """Masked scores of -1 instead of -inf: every key counts."""
    text = program(CAUSAL).replace("allowed, -I.inf)", "allowed, -1.0)")
    assert LOOP.findall(device_text(text, small=True)) == ["0, whole_end", "whole_end, T"]
    agree(text, arguments(70, 70), tolerance=1e-5)


def test_infinity_minus_infinity_is_not_skipped() -> None:
    """exp(-inf - -inf) is a NaN in slices without a key: they are evaluated."""
    text = program(CAUSAL).replace("scores - shift[:, None]", "scores - largest[:, None]")
    assert LOOP.findall(device_text(text, small=True)) == ["0, whole_end", "whole_end, T"]


def test_a_note_says_what_is_taken_for_finite() -> None:
    notes = [each for each in compiled(program(CAUSAL)).diagnostics if each.code == "INT963"]
    assert len(notes) == 1 and "v" in notes[0].message.split()
    assert not [each for each in compiled(program(EITHER)).diagnostics if each.code == "INT963"]


SUMS = """
    @intent.fn
    def add(lhs, rhs):
        return lhs + rhs

    @intent.fn
    def partial(v, at, row):
        return I.reduce.sum(I.mask(v[None, :], at[None, :] {comparison} row[:, None], 0.0), axis=1)

    @intent.kernel
    def sums(x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("M",)]):
        n, rows = I.domain(0, x.shape[0]), I.domain(0, out.shape[0])
        M = out.shape[0]
        out[rows] = I.region_fold(
            source=(x[n], I.indices(n)), axis=0, summarize=partial, combine=add,
            identity=I.full((M,), 0.0, dtype=I.f32), operands=(I.indices(rows),),
        )
    """


@pytest.mark.parametrize("comparison", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize(("columns", "rows"), [(70, 70), (100, 33), (20, 100)])
def test_sums_over_a_part(comparison: str, columns: int, rows: int) -> None:
    """What is selected away may be a NaN: it never reaches the sum, in skipped slices or others."""
    x = np.arange(columns, dtype=np.float32)
    x[-1] = np.nan
    agree(SUMS.replace("{comparison}", comparison), {"x": x, "out": np.zeros(rows, np.float32)})
    text = device_text(dedent(SUMS).replace("{comparison}", comparison), small=True)
    assert ("first_rows" in text) == (comparison != "!=")
    assert not [
        each for each in compiled(SUMS.replace("{comparison}", comparison)).diagnostics if each.code == "INT963"
    ]


REDUCTION = """
    @intent.kernel
    def k(
        x: I.In[I.f32, ("M", "N")], lengths: I.In[I.i32, ("M",)], width: I.i32,
        o: I.Out[I.f32, ("M",)], p: I.Out[I.f32, ("M",)], t: I.Out[I.bool, ("M",)],
    ):
        M, N = x.shape
        n = I.domain(0, N)
        at = I.indices(n)
        for r in I.parallel(I.domain(0, M)):
            length, w = I.cast(lengths[r], I.index), I.cast(width, I.index)
            counts = {counts}
            o[r] = I.reduce.sum(I.mask(x[r, n], counts, 0.0), axis=0)
            p[r] = I.reduce.max(I.select(counts, x[r, n], -I.inf), axis=0)
            t[r] = I.reduce.any(counts & (x[r, n] > 2.0), axis=0)
    """
COUNTS = {
    "prefix": ("at <= r", "tl.minimum"), "suffix": ("at > r * 2", "BLOCK_N * BLOCK_N"),
    "length": ("at < length", "lengths"), "window": ("(at >= length) & (at < length + w)", "width"),
    "group": ("at // 8 == r", "8"), "either": ("(at < 3) | (at > r + 5)", ""), "all": ("at >= 0", ""),
}  # fmt: skip


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize(("rows", "columns"), [(5, 70), (40, 33), (1, 1), (3, 0)])
def test_tiles_that_do_not_count_are_not_read(counts: str, rows: int, columns: int) -> None:
    """Elements that do not count are NaN: the result never has one, whichever tile they stand in."""
    condition, bound = COUNTS[counts]
    text = dedent(REDUCTION).replace("{counts}", condition)
    generator = np.random.default_rng(rows)
    lengths = generator.integers(0, columns + 1, rows).astype(np.int32)
    at, r, width = np.arange(columns)[None, :], np.arange(rows)[:, None], 9
    names = {"at": at, "r": r, "length": lengths[:, None], "w": width}
    x = generator.integers(-4, 5, (rows, columns)).astype(np.float32)
    x = np.where(eval(condition, names), x, np.float32("nan"))
    found = [np.zeros(rows, dtype) for dtype in (np.float32, np.float32, np.bool_)]
    result = agree(text, {"x": x, "lengths": lengths, "width": width, **dict(zip("opt", found, strict=True))})
    assert not np.isnan(result["o"]).any()
    loops = re.findall(r"for start_n in range\((.*)\)", device_text(text, small=True))
    assert all((loop == "0, N, BLOCK_N") == (not bound) for loop in loops)


def test_reductions_in_one_loop_share_what_counts() -> None:
    """A sum over all elements beside one over some: the loop visits all."""
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("M", "N")], o: I.Out[I.f32, ("M",)], p: I.Out[I.f32, ("M",)]):
        n = I.domain(0, x.shape[1])
        for r in I.parallel(I.domain(0, x.shape[0])):
            v = x[r, n]
            o[r] = I.reduce.sum(I.mask(v, I.indices(n) <= r, 0.0), axis=0)
            p[r] = I.reduce.sum(v, axis=0)
    """
    x = np.arange(5 * 40, dtype=np.float32).reshape(5, 40)
    agree(text, {"x": x, "o": np.zeros(5, np.float32), "p": np.zeros(5, np.float32)})


PRODUCT = """
    @intent.kernel
    def k(
        a: I.In[I.{dtype}, ("M", "K")], b: I.In[I.{dtype}, ("K", "N")], length: I.i32,
        y: I.Out[I.{sum}, ("M", "N")],
    ):
        rows, columns, depth = I.domain(0, a.shape[0]), I.domain(0, b.shape[1]), I.domain(0, a.shape[1])
        row, at, n = I.indices(rows)[:, None], I.indices(depth), I.cast(length, I.index)
        lhs = I.mask(a[rows, depth], {left}, {zero})
        rhs = {right}
        y[rows, columns] = I.matmul(lhs, rhs, acc_dtype=I.{sum})
    """
PRODUCTS = {
    "integers": ("i8", "at[None, :] <= row", "b[depth, columns]", True),
    "both": ("f16", "at[None, :] < n", "I.mask(b[depth, columns], at[:, None] < n, 0.0)", True),
    "one of them": ("f16", "at[None, :] <= row", "b[depth, columns]", False),
    "different parts": ("f16", "at[None, :] < n", "I.mask(b[depth, columns], at[:, None] < n + 1, 0.0)", True),
}


@pytest.mark.parametrize("case", PRODUCTS)
@pytest.mark.parametrize("size", [(40, 20, 70), (17, 33, 20), (1, 1, 1), (5, 5, 0)])
@pytest.mark.parametrize("length", [-3, 0, 18, 1000])
def test_tiles_of_a_product_that_change_nothing(case: str, size: tuple[int, int, int], length: int) -> None:
    """Only where each product there is of two zeros, or of integers: else a NaN, here in the second, would be lost."""
    dtype, left, right, skipped = PRODUCTS[case]
    names = {"dtype": dtype, "sum": "i32" if dtype == "i8" else "f32", "zero": "0" if dtype == "i8" else "0.0"}
    text = dedent(PRODUCT).format(left=left, right=right, **names)
    rows, columns, depth = size
    generator = np.random.default_rng(rows)
    kind = np.int8 if dtype == "i8" else np.float16
    a, b = (generator.integers(-4, 5, shape).astype(kind) for shape in ((rows, depth), (depth, columns)))
    if dtype == "f16":
        b[max(length, 0) + 1 :] = np.nan
    y = np.zeros((rows, columns), np.int32 if dtype == "i8" else np.float32)
    result = agree(text, {"a": a, "b": b, "length": length, "y": y})["y"]
    assert np.isnan(result).any() == (case == "one of them" and max(length, 0) + 1 < depth)
    (loop,) = re.findall(r"for start_depth in range\((.*), BLOCK_DEPTH\)", device_text(text, small=True))
    assert (loop != "0, K") == skipped

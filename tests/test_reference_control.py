"""Control flow, structured operations and contractions on the reference, with values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from reference_programs import CHECKED, f32, i32, kernel, of, only, outputs

from translators.logical.reference import IllegalInput, Options, evaluate

NAN = float("nan")


# -------------------------------------------------------------------------------------------------------------- control
def test_carries_step_together() -> None:
    text = """
    @intent.kernel
    def fibonacci(n: I.index, y: I.Out[I.i64, (2,)]):
        a = I.cast(0, I.i64)
        b = I.cast(1, I.i64)
        for _ in range(n):
            a, b = b, a + b
        y[0] = a
        y[1] = b
    """
    assert only(text, n=10) == [55, 89]
    assert only(text, n=0) == [0, 1]
    assert only(text, n=-3) == [0, 1]


def test_while_break_and_continue() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, (2,)]):
        total = I.cast(0, I.i32)
        i = I.cast(0, I.index)
        while True:
            if i >= x.shape[0]:
                break
            v = x[i]
            i = i + 1
            if v < 0:
                continue
            if v == 99:
                break
            total = total + v
        y[0] = total
        y[1] = I.cast(i, I.i32)
    """
    assert only(text, x=i32(1, -5, 2, 99, 7)) == [3, 4]
    assert only(text, x=i32(1, -5, 2)) == [3, 3]
    assert only(text, x=i32()) == [0, 0]


def test_early_return_and_scalar_if() -> None:
    text = """
    @intent.kernel
    def k(stop: I.bool, y: I.InOut[I.f32, (2,)]):
        y[0] = 1.0
        if stop:
            return
        y[1] = 2.0
    """
    for stop, expected in ((True, [1, 0]), (False, [1, 2])):
        y = f32(0, 0)
        evaluate(kernel(text), {"stop": stop, "y": y}, CHECKED)
        assert y.tolist() == expected


def test_the_untaken_side_does_not_read() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], i: I.index, y: I.Out[I.f32, ()]):
        inside = i < x.shape[0] and x[i] > 0.0
        y[()] = x[i] if inside else -1.0
    """
    assert only(text, x=f32(3, -4), i=0) == 3
    assert only(text, x=f32(3, -4), i=1) == -1
    assert only(text, x=f32(3, -4), i=2) == -1


def test_continue_in_parallel_skips_the_point() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.i32, ("M", "N")], y: I.InOut[I.i32, ("M", "N")]):
        M, N = x.shape
        for r, c in I.parallel((I.domain(0, M), I.domain(0, N))):
            if x[r, c] < 0:
                continue
            y[r, c] = x[r, c] * 2
    """
    for permute in (None, np.random.default_rng(3)):
        y = np.zeros((2, 2), np.int32)
        evaluate(kernel(text), {"x": np.asarray([[1, -1], [-2, 5]], np.int32), "y": y}, Options(permute=permute))
        assert y.tolist() == [[2, 0], [0, 10]]


def test_many_points_take_well_under_a_second() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        for i in I.parallel(I.domain(0, x.shape[0])):
            v = x[i] * 2.0 + 1.0
            if v > 3.0:
                v = v - 1.0
            y[i] = v
    """
    from time import perf_counter

    program, x = kernel(text), np.linspace(0, 2, 1000, dtype=np.float32)
    begin = perf_counter()
    y = np.empty_like(x)
    evaluate(program, {"x": x, "y": y})
    assert perf_counter() - begin < 1.0
    assert y[0] == 1 and y[-1] == 4


def test_constexpr_parameters() -> None:
    text = """
    @intent.kernel
    def k(y: I.Out[I.i32, ()], TWICE: I.Constexpr[bool], P: I.Constexpr[int] = 3):
        if TWICE:
            y[()] = P * 2
        else:
            y[()] = P
    """
    y = np.zeros((), np.int32)
    evaluate(kernel(text, {"TWICE": True}), {"y": y}, CHECKED)
    assert y == 6


# ----------------------------------------------------------------------------------------------------------- reductions
REDUCTIONS = """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], total: I.Out[I.f32, ("M",)], top: I.Out[I.f32, ("M",)],
      at: I.Out[I.index, ("M",)], all: I.Out[I.f32, ()]):
    v = x[:, :]
    total[:] = I.reduce.sum(v, axis=1)
    top[:], at[:] = I.arg_reduce.max(v, axis=1)
    all[()] = I.reduce.max(v, axis=(0, 1))
"""


def test_reductions_and_ties() -> None:
    got = outputs(REDUCTIONS, x=np.asarray([[1, 3, 3], [-1, -2, -1]], np.float32))
    assert got["total"].tolist() == [7, -4]
    assert got["top"].tolist() == [3, -1]
    assert got["at"].tolist() == [1, 0]
    assert got["all"] == 3


def test_the_first_nan_wins() -> None:
    got = outputs(REDUCTIONS, x=np.asarray([[1, NAN, NAN], [5, 6, 7]], np.float32))
    assert np.isnan(got["top"][0]) and got["at"].tolist() == [1, 2]
    assert np.isnan(got["all"])


def test_empty_reductions_give_the_identity() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("M", "N")], j: I.In[I.i16, ("N",)], s: I.Out[I.f32, ("M",)], m: I.Out[I.f32, ("M",)],
          w: I.Out[I.i32, ()], t: I.Out[I.i16, ()], a: I.Out[I.bool, ()], b: I.Out[I.bool, ()]):
        s[:] = I.reduce.sum(x[:, :], axis=1)
        m[:] = I.reduce.max(x[:, :], axis=1)
        w[()] = I.reduce.sum(j[:], axis=0)
        t[()] = I.reduce.max(j[:], axis=0)
        a[()] = I.reduce.any(j[:] > 0, axis=0)
        b[()] = I.reduce.all(j[:] > 0, axis=0)
    """
    got = outputs(text, x=np.zeros((2, 0), np.float32), j=np.zeros(0, np.int16))
    assert {name: array.tolist() for name, array in got.items()} == {
        "s": [0, 0], "m": [-np.inf, -np.inf], "w": 0, "t": -(2**15), "a": False, "b": True,
    }  # fmt: skip


def test_sums_widen_and_round_once() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.i8, ("N",)], h: I.In[I.f32, ("K",)], y: I.Out[I.i32, ()], z: I.Out[I.f32, ()]):
        y[()] = I.reduce.sum(x[:], axis=0)
        z[()] = I.reduce.sum(h[:], axis=0)
    """
    got = outputs(text, x=np.full(3, 127, np.int8), h=f32(2.0**24, 1, 1, -(2.0**24)))
    assert got["y"] == 381
    assert got["z"] == 2


def test_generic_reduction_of_a_record() -> None:
    text = """
    @intent.fn
    def combine(a, b, scale):
        return I.record(total=a.total + b.total * scale, low=I.minimum(a.low, b.low))

    @intent.kernel
    def k(x: I.In[I.f32, ("M", "N")], s: I.f32, total: I.Out[I.f32, ("N",)], low: I.Out[I.f32, ("N",)]):
        v = x[:, :]
        r = I.reduce(I.record(total=v, low=v), axis=0, identity=I.record(total=0.0, low=I.inf),
                     combine=combine, combine_operands=(s,))
        total[:] = r.total
        low[:] = r.low
    """
    got = outputs(text, x=np.asarray([[1, 5], [2, -6], [3, 7]], np.float32), s=2.0)
    assert got["total"].tolist() == [12, 12]
    assert got["low"].tolist() == [1, -6]


# ---------------------------------------------------------------------------------------------------------------- scans
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", [1, 3, 7]),
        (", inclusive=False", [0, 1, 3]),
        (", reverse=True", [7, 6, 4]),
        (", inclusive=False, reverse=True", [6, 4, 0]),
    ],
)
def test_cumsum(options: str, expected: list[int]) -> None:
    text = f"""
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        y[:] = I.cumsum(x[:], axis=0{options})
    """
    assert only(text, x=f32(1, 2, 4)) == expected


def test_cummax_propagates_nan() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
        y[:, :] = I.cummax(x[:, :], axis=1)
    """
    assert only(text, x=np.asarray([[1, 3, 2], [-5, -7, -4]], np.float32)) == [[1, 3, 3], [-5, -5, -4]]
    got = np.asarray(only(text, x=np.asarray([[1, NAN, 2]], np.float32)))
    assert np.isnan(got[0]).tolist() == [False, True, True]


def test_generic_scan_keeps_its_order() -> None:
    text = """
    @intent.fn
    def compose(first, then):
        return I.record(a=first.a * then.a, b=first.b * then.a + then.b)

    @intent.kernel
    def k(a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        r = I.scan(I.record(a=a[:], b=b[:]), axis=0, identity=I.record(a=1.0, b=0.0), combine=compose, inclusive=True)
        y[:] = r.b
    """
    assert only(text, a=f32(2, 3, 0.5), b=f32(1, 1, 1)) == [1, 4, 3]


# --------------------------------------------------------------------------------------------------- region operations
FOLD = """
@intent.fn
def summarize(v, at, weight):
    return I.record(total=I.reduce.sum(v * weight, axis=0), last=I.reduce.max(I.cast(at, I.f32), axis=0))

@intent.fn
def merge(lhs, rhs):
    return I.record(total=lhs.total + rhs.total, last=I.maximum(lhs.last, rhs.last))

@intent.kernel
def k(x: I.In[I.f32, ("N",)], total: I.Out[I.f32, ()], last: I.Out[I.f32, ()]):
    n = I.domain(0, x.shape[0])
    r = I.region_fold(source=(x[n], I.indices(n)), axis=0, summarize=summarize, combine=merge,
                      identity=I.record(total=I.cast(0.0, I.f32), last=I.cast(-1.0, I.f32)),
                      operands=(I.cast(2.0, I.f32),))
    total[()] = r.total
    last[()] = r.last
"""


@pytest.mark.parametrize("length", [None, 1, 2, 3, 100])
def test_slice_boundaries_of_a_region_fold_are_unobservable(length: int | None) -> None:
    got = outputs(FOLD, Options(slice_length=length, verify_types=True), x=f32(1, 2, 3, 4, 5))
    assert got["total"] == 30 and got["last"] == 4


def test_an_empty_region_fold_is_the_identity() -> None:
    got = outputs(FOLD, x=f32())
    assert got["total"] == 0 and got["last"] == -1


SCAN = """
@intent.fn
def summarize(v):
    return I.reduce.sum(v, axis=0)

@intent.fn
def merge(lhs, rhs):
    return lhs + rhs

@intent.fn
def advance(summary, state):
    return state + summary

@intent.fn
def emit(v, state):
    return state + I.cumsum(v, axis=0)

@intent.kernel
def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], end: I.Out[I.f32, ()]):
    n = I.domain(0, x.shape[0])
    out, state = I.region_scan(source=x[n], axis=0, summarize=summarize, combine=merge, identity=I.cast(0.0, I.f32),
                               initial_state=I.cast(10.0, I.f32), apply=advance, emit=emit)
    y[n] = out
    end[()] = state
"""


@pytest.mark.parametrize("length", [None, 1, 2, 100])
def test_region_scan(length: int | None) -> None:
    got = outputs(SCAN, Options(slice_length=length, verify_types=True), x=f32(1, 2, 4, 8, 16))
    assert got["y"].tolist() == [11, 13, 17, 25, 41] and got["end"] == 41
    empty = outputs(SCAN, Options(slice_length=length), x=f32())
    assert empty["y"].tolist() == [] and empty["end"] == 10


# --------------------------------------------------------------------------------------------------------- contractions
def test_matmul_broadcasts_batch_axes() -> None:
    text = """
    @intent.kernel
    def k(a: I.In[I.f32, ("B", 1, "M", "K")], b: I.In[I.f32, ("H", "K", "N")], o: I.Out[I.f32, ("B", "H", "M", "N")]):
        o[:, :, :, :] = I.matmul(a[:, :, :, :], b[:, :, :], acc_dtype=I.f32)
    """
    generator = np.random.default_rng(0)
    a = generator.integers(-4, 5, (2, 1, 3, 4)).astype(np.float32)
    b = generator.integers(-4, 5, (5, 4, 2)).astype(np.float32)
    assert only(text, a=a, b=b) == (a @ b).tolist()


def test_empty_contraction_is_zero_and_integers_wrap() -> None:
    text = """
    @intent.kernel
    def k(a: I.In[I.i8, ("M", "K")], b: I.In[I.i8, ("N", "K")], o: I.Out[I.i32, ("M", "N")]):
        o[:, :] = I.matmul(a[:, :], b[:, :], transpose_rhs=True, acc_dtype=I.i32)
    """
    empty = np.zeros((2, 0), np.int8)
    assert only(text, a=empty, b=empty) == [[0, 0], [0, 0]]
    assert only(text, a=np.full((1, 2), -128, np.int8), b=np.full((1, 2), -128, np.int8)) == [[32768]]


def test_dot_matvec_outer_and_two_reduction_pairs() -> None:
    text = """
    @intent.kernel
    def k(a: I.In[I.f32, ("M", "K")], x: I.In[I.f32, ("K",)], d: I.Out[I.f32, ()], v: I.Out[I.f32, ("M",)],
          o: I.Out[I.f32, ("K", "K")], full: I.Out[I.f32, ()]):
        d[()] = I.dot(x[:], x[:], acc_dtype=I.f32)
        v[:] = I.matvec(a[:, :], x[:], acc_dtype=I.f32)
        o[:, :] = I.outer(x[:], x[:])
        full[()] = I.contract(a[:, :], a[:, :], reduce=((0, 0), (1, 1)), acc_dtype=I.f32)
    """
    got = outputs(text, a=np.asarray([[1, 2], [3, 4]], np.float32), x=f32(1, -1))
    assert got["d"] == 2 and got["v"].tolist() == [-1, -1]
    assert got["o"].tolist() == [[1, -1], [-1, 1]] and got["full"] == 30


def test_f16_products_accumulate_in_f32() -> None:
    text = """
    @intent.kernel
    def k(a: I.In[I.f16, ("K",)], b: I.In[I.f16, ("K",)], d: I.Out[I.f32, ()]):
        d[()] = I.dot(a[:], b[:], acc_dtype=I.f32)
    """
    assert only(text, a=of("f16", [60000.0, 1.0]), b=of("f16", [2.0, 1.0])) == 120001.0


# ----------------------------------------------------------------------------------------------- histogram, random bits
def test_histogram() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.i32, ("N",)], h: I.Out[I.i32, ("B",)]):
        v = x[:]
        h[:] = I.histogram(v, bins=h.shape[0], valid=v >= 0, count_dtype=I.i32)
    """
    assert only(text, x=i32(1, 0, 1, -5, 3), extents={"B": 4}) == [1, 2, 0, 1]
    with pytest.raises(IllegalInput, match="outside its 4 bins"):
        only(text, x=i32(4), extents={"B": 4})


def test_random_bits_are_philox() -> None:
    text = """
    @intent.kernel
    def k(seed: I.u64, y: I.Out[I.u32, ("N",)], u: I.Out[I.f32, ("N",)]):
        n = I.domain(0, y.shape[0])
        y[n] = I.random.bits(seed, I.indices(n))
        u[n] = I.random.uniform(seed, I.indices(n), dtype=I.f32)
    """
    zero = outputs(text, seed=0, extents={"N": 5})
    # The published known-answer vector of Philox4x32-10 for a zero counter and a zero key.
    assert zero["y"].tolist()[:4] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert zero["u"][0] == np.float32((0x6627E8D5 >> 8) * 2.0**-24)
    other = outputs(text, seed=2**40 + 7, extents={"N": 5})["y"].tolist()
    assert other != zero["y"].tolist()


# -------------------------------------------------------------------------------------------------- shapes and selects
def test_shape_operations() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("M", 4)], y: I.Out[I.f32, ("M", 4)], z: I.Out[I.f32, (2, 3)]):
        pairs = I.reshape(x[:, :], (x.shape[0], 2, 2))
        y[:, :] = I.reshape(I.join(-pairs[:, :, 1], pairs[:, :, 0]), (x.shape[0], 4))
        z[:, :] = I.full((2, 3), fill=1.5, dtype=I.f32) + I.zeros((3,), I.f32)
    """
    got = outputs(text, x=np.asarray([[1, 2, 3, 4]], np.float32))
    assert got["y"].tolist() == [[-2, 1, -4, 3]]
    assert got["z"].tolist() == [[1.5] * 3] * 2


def test_select_and_mask() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.bf16, ("N",)], y: I.Out[I.bf16, ("N",)], z: I.Out[I.bf16, ("N",)]):
        v = x[:]
        y[:] = I.select(v > 0.0, v, -v)
        z[:] = I.mask(v, v > 0.0, 7.0)
    """
    got = outputs(text, x=of("bf16", [1.5, -2.0]))
    assert got["y"].astype(float).tolist() == [1.5, 2.0]
    assert got["z"].astype(float).tolist() == [1.5, 7.0]


def test_illegal_arithmetic_names_its_statement() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
        y[:] = 10 // x[:]
    """
    assert only(text, x=i32(3, -3)) == [3, -4]
    with pytest.raises(IllegalInput, match=r"test\.py:\d+:\d+: integer division by zero"):
        only(text, x=i32(1, 0))

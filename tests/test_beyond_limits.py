"""What has to stay on chip has limits; beyond them it is in scratch memory, and as right as below.

The limits are made small here: sizes at them, one above, and far above, of the programs and of the samples that have
one.
"""

from __future__ import annotations

from pathlib import Path

import generated_modules
import numpy as np
import pytest
import sample_files
from device_compilation import problems
from program_runs import agree, compiled
from sample_files import Case, Sample

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")]

RECORD = """
@intent.fn
def combine(a, b):
    largest = I.reduce.max(I.maximum(a.row, b.row), axis=0)
    return I.record(row=I.maximum(a.row, b.row), most=I.maximum(I.maximum(a.most, b.most), largest))

"""
SUMS = """
@intent.fn
def summarize(x):
    return I.reduce.sum(x, axis=0)


@intent.fn
def combine(a, b):
    return a + b

"""
# title -> text, the extent with a limit
PROGRAMS = {
    "a row that a loop reduces": ("""
@intent.kernel
def k(x: I.In[I.i32, ("T", "N")], o: I.Out[I.i32, ("N",)]):
    T, N = x.shape
    n = I.domain(0, N)
    s = I.zeros((N,), I.i32)
    for t in range(T):
        s = s + x[t, n] - I.reduce.max(s, axis=0)
    o[n] = s
""", 8),
    "a row that every point reduces": ("""
@intent.kernel
def k(x: I.In[I.i32, ("R", "T", "N")], o: I.Out[I.i32, ("R", "N")], last: I.Out[I.i32, ("R",)]):
    R, T, N = x.shape
    n = I.domain(0, N)
    for r in I.parallel(I.domain(0, R)):
        s = x[r, 0, n]
        best = I.cast(0, I.i32)
        for t in range(1, T):
            best = I.maximum(best, I.reduce.max(s, axis=0))
            s = s + x[r, t, n] * best
        o[r, n] = s
        last[r] = best
""", 8),
    "two that exchange": ("""
@intent.kernel
def k(x: I.In[I.i32, ("T", "N")], o: I.Out[I.i32, ("N",)], p: I.Out[I.i32, ("N",)]):
    T, N = x.shape
    n = I.domain(0, N)
    a = x[0, n]
    b = x[0, n] * 2
    for t in range(T):
        a, b = b + x[t, n], a - I.reduce.max(b, axis=0)
    o[n] = a
    p[n] = b
""", 8),
    "a matrix that an iteration mixes": ("""
@intent.kernel
def k(x: I.In[I.i32, ("T", "N", "M")], o: I.Out[I.i32, ("N", "M")]):
    T, N, M = x.shape
    n, m = I.domain(0, N), I.domain(0, M)
    s = I.zeros((N, M), I.i32)
    for t in range(T):
        s = s + x[t, n, m] - I.reduce.max(s, axis=0)[None, :] - I.reduce.max(s, axis=1)[:, None]
    o[n, m] = s
""", 4),
    "reversed, and left early": ("""
@intent.kernel
def k(x: I.In[I.i32, ("T", "N")], o: I.Out[I.i32, ("N",)], steps: I.Out[I.i32, ()]):
    T, N = x.shape
    n = I.domain(0, N)
    s = x[0, n]
    count = I.cast(0, I.i32)
    for t in range(T):
        if I.reduce.max(s, axis=0) > 40:
            break
        s = s[N - 1 - I.indices(n)] + x[t, n]
        count = count + 1
    o[n] = s
    steps[()] = count
""", 8),
    "while": ("""
@intent.kernel
def k(x: I.In[I.i32, ("T", "N")], o: I.Out[I.i32, ("N",)]):
    T, N = x.shape
    n = I.domain(0, N)
    s = I.abs(x[0, n])
    t = I.cast(0, I.index)
    while t < T and I.reduce.max(s, axis=0) < 30:
        s = s + I.abs(x[t, n]) + 1
        t = t + 1
    o[n] = s
""", 8),
    "a reduction in order": (RECORD + """
@intent.kernel
def k(x: I.In[I.i32, ("T", "N")], o: I.Out[I.i32, ("N",)], most: I.Out[I.i32, ("N",)]):
    T, N = x.shape
    low = I.full((N,), -99, I.i32)
    found = I.reduce(
        I.record(row=x[:, :], most=x[:, :]), axis=0, identity=I.record(row=low, most=low), combine=combine
    )
    o[:] = found.row
    most[:] = found.most
""", 8),
    "an exclusive scan in order": (RECORD + """
@intent.kernel
def k(x: I.In[I.i32, ("R", "T", "N")], o: I.Out[I.i32, ("R", "T", "N")], most: I.Out[I.i32, ("R", "T", "N")]):
    R, T, N = x.shape
    low = I.full((N,), -99, I.i32)
    for r in I.parallel(I.domain(0, R)):
        found = I.scan(
            I.record(row=x[r, :, :], most=x[r, :, :]), axis=0, identity=I.record(row=low, most=low), combine=combine,
            inclusive=False, reverse=True,
        )
        o[r, :, :] = found.row
        most[r, :, :] = found.most
""", 8),
    "a fold whose state is reduced": (SUMS + """
@intent.kernel
def k(x: I.In[I.i32, ("R", "T", "N")], o: I.Out[I.i32, ("R", "N")]):
    R, T, N = x.shape
    t, n = I.domain(0, T), I.domain(0, N)
    for r in I.parallel(I.domain(0, R)):
        s = I.region_fold(x[r, t, n], axis=0, summarize=summarize, combine=combine, identity=I.zeros((N,), I.i32))
        o[r, n] = s - I.reduce.max(s, axis=0)
""", 8),
    "a fold under a condition": (SUMS + """
@intent.kernel
def k(x: I.In[I.i32, ("R", "T", "N")], o: I.InOut[I.i32, ("R", "N")]):
    R, T, N = x.shape
    t, n = I.domain(0, T), I.domain(0, N)
    for r in I.parallel(I.domain(0, R)):
        if o[r, 0] > 0:
            s = I.region_fold(x[r, t, n], axis=0, summarize=summarize, combine=combine, identity=I.zeros((N,), I.i32))
            o[r, n] = s - I.reduce.max(s, axis=0)
""", 8),
    "a fold in a loop": (SUMS + """
@intent.kernel
def k(x: I.In[I.i32, ("R", "T", "N")], o: I.Out[I.i32, ("N",)]):
    R, T, N = x.shape
    t, n = I.domain(0, T), I.domain(0, N)
    total = I.zeros((N,), I.i32)
    for r in range(R):
        s = I.region_fold(x[r, t, n], axis=0, summarize=summarize, combine=combine, identity=I.zeros((N,), I.i32))
        total = total + s[N - 1 - I.indices(n)] - I.reduce.max(total, axis=0)
    o[n] = total
""", 8),
    "a fold with two states": ("""
@intent.fn
def summarize(x):
    return I.record(total=I.reduce.sum(x, axis=0), most=I.reduce.max(x, axis=0))


@intent.fn
def combine(a, b):
    return I.record(total=a.total + b.total, most=I.maximum(a.most, b.most))


@intent.kernel
def k(x: I.In[I.i32, ("T", "N")], o: I.Out[I.i32, ("N",)]):
    T, N = x.shape
    t, n = I.domain(0, T), I.domain(0, N)
    found = I.region_fold(
        x[t, n], axis=0, summarize=summarize, combine=combine,
        identity=I.record(total=I.zeros((N,), I.i32), most=I.full((N,), -99, I.i32)),
    )
    o[n] = found.total[N - 1 - I.indices(n)] - found.most * I.reduce.max(found.most, axis=0)
""", 8),
    "a fold by products": ("""
@intent.fn
def summarize(x, v, w):
    scores = I.matmul(w, x, transpose_rhs=True, acc_dtype=I.f32)
    return I.record(most=I.reduce.max(scores, axis=1), total=I.matmul(I.cast(scores, I.f16), v, acc_dtype=I.f32))


@intent.fn
def combine(a, b):
    return I.record(most=I.maximum(a.most, b.most), total=a.total + b.total)


@intent.kernel
def k(
    w: I.In[I.f16, ("R", "N")], x: I.In[I.f16, ("T", "N")], v: I.In[I.f16, ("T", "N")], o: I.Out[I.f32, ("R", "N")],
):
    R, N = w.shape
    t = I.domain(0, x.shape[0])
    found = I.region_fold(
        (x[t, :], v[t, :]), axis=0, summarize=summarize, combine=combine, operands=(w[:, :],),
        identity=I.record(most=I.full((R,), -1e30, I.f32), total=I.zeros((R, N), I.f32)),
    )
    o[:, :] = found.total - found.most[:, None]
""", 16),
    "a scan of slices": (SUMS + """
@intent.fn
def emit(x, state):
    total = I.cumsum(x, axis=0) + state[None, :]
    return total - I.reduce.max(total, axis=1)[:, None]


@intent.kernel
def k(x: I.In[I.i32, ("T", "N")], o: I.Out[I.i32, ("T", "N")], last: I.Out[I.i32, ("N",)]):
    T, N = x.shape
    t, n = I.domain(0, T), I.domain(0, N)
    zero = I.zeros((N,), I.i32)
    out, state = I.region_scan(
        x[t, n], axis=0, summarize=summarize, combine=combine, identity=zero, apply=combine, emit=emit,
        initial_state=zero,
    )
    o[t, n] = out
    last[n] = state
""", 8),
    "a scan of single elements": (SUMS + """
@intent.fn
def emit(x, state):
    total = I.cumsum(x, axis=0) - x[0][None, :] + (state + x[0])[None, :]
    return total - I.reduce.max(total, axis=1)[:, None]


@intent.kernel
def k(x: I.In[I.i32, ("R", "T", "N")], o: I.Out[I.i32, ("R", "T", "N")], last: I.Out[I.i32, ("R", "N")]):
    R, T, N = x.shape
    t, n = I.domain(0, T), I.domain(0, N)
    zero = I.zeros((N,), I.i32)
    for r in I.parallel(I.domain(0, R)):
        out, state = I.region_scan(
            x[r, t, n], axis=0, summarize=summarize, combine=combine, identity=zero, apply=combine, emit=emit,
            initial_state=zero,
        )
        o[r, t, n] = out
        last[r, n] = state
""", 8),
}  # fmt: skip

FIXED_EXTENTS = {title: text.replace('"N"', "70") for title, (text, _) in PROGRAMS.items()} | {
    "a row used along both axes": """
@intent.kernel
def k(x: I.In[I.i32, (12, 20)], o: I.Out[I.i32, (12, 20)]):
    v = x[:, :] * x[:, :]
    o[:, :] = v - I.reduce.sum(v, axis=1)[:, None] * I.reduce.max(v, axis=0)[None, :] + I.reduce.sum(v, axis=(0, 1))
""",
    "a matrix multiplied again and again": """
@intent.kernel
def k(x: I.In[I.i32, (20, 20)], o: I.Out[I.i32, (20, 20)]):
    s = x[:, :]
    for _ in range(3):
        s = I.matmul(s, x[:, :], acc_dtype=I.i32) // 4
    o[:, :] = s
""",
}


def _arguments(text: str, extent: int) -> dict[str, object]:
    generator = np.random.default_rng(extent)
    found = compiled(text).program
    assert found is not None
    sizes = {"R": 3, "T": 5, "N": extent, "M": 3 if extent > 4 else extent}
    shapes = {
        view.name: tuple(sizes[repr(each)] if each.constant is None else each.constant for each in view.shape)
        for view in found.kernels[-1].views
    }
    dtypes = {view.name: np.dtype(view.dtype.element) for view in found.kernels[-1].views}
    return {name: generator.integers(-3, 9, shape).astype(dtypes[name]) for name, shape in shapes.items()}


@pytest.mark.parametrize("over", [0, 1, 30])
@pytest.mark.parametrize("title", PROGRAMS)
def test_programs(title: str, over: int) -> None:
    text, limit = PROGRAMS[title]
    (*_, last) = compiled(text, small=True, limits=True).codes[-1].variants
    assert last.beyond and last.scratch
    agree(text, _arguments(text, limit + over), limits=True)


@pytest.mark.parametrize("title", PROGRAMS)
def test_usual_limits(title: str) -> None:
    text, _ = PROGRAMS[title]
    code = compiled(text).codes[-1]
    assert not code.requirements
    first, *_, last = code.variants
    assert len(last.scratch) > len(first.scratch)
    agree(text, _arguments(text, 1), small=False)


@pytest.mark.parametrize("title", FIXED_EXTENTS)
def test_fixed_extents(title: str) -> None:
    """What is too large for a tile is in scratch memory, or computed again: there is no other variant."""
    text = FIXED_EXTENTS[title]
    code = compiled(text, small=True, limits=True).codes[-1]
    assert not code.requirements
    assert all(size <= 64 for variant in code.variants for _, size in variant.constants)
    agree(text, _arguments(text, 70), limits=True)


def test_large_fixed_extents_compile(tmp_path: Path) -> None:
    """Triton has no tile of more than a million elements."""
    texts = [text.replace("70", "70000").replace("20", "2048") for text in FIXED_EXTENTS.values()]
    assert problems(texts, tmp_path, ("cuda:90",)) == []


def test_programs_compile(tmp_path: Path) -> None:
    texts = [text for text, _ in PROGRAMS.values()]
    assert problems(texts, tmp_path, ("cuda:90", "cuda:80", "hip:gfx942")) == []


LIMITED = [
    pytest.param(sample, case, id=name)
    for name, sample, case in sample_files.every_case(sample_files.samples())
    if sample.path.stem in (
        "attention_backward", "delta_rule", "flash_attention", "gated_delta_chunks", "gated_delta_rule",
        "grouped_decode", "grouped_query_attention", "latent_decode", "layer_norm_backward", "linear_attention",
        "paged_decode", "split_decode", "top_k", "varlen_attention",
    )
]  # fmt: skip


@pytest.mark.parametrize(("sample", "case"), LIMITED)
def test_samples(sample: Sample, case: Case) -> None:
    values = sample_files.arguments(sample, case)
    wanted = generated_modules.by_reference(sample, case, values)
    with generated_modules.permuted_programs():
        found = generated_modules.by_module(sample, case, values, pattern=0x5A, small=True, limits=True)
    assert not sample_files.differences(sample, found, wanted)

"""Rows of a product along several axes: one tile has points of all of them, where the last axis is short."""

from __future__ import annotations

from pathlib import Path

import generated_modules
import numpy as np
import pytest
import sample_files
from sample_files import Case, Sample

from translators.pipeline import compile_text
from translators.planning import product_layouts
from translators.triton_source.launch import Variant

HEAD = """import intent
import intent.language as I

"""
# Parallel points and rows of a tensor.
LINEAR = (
    HEAD
    + """@intent.kernel
def k(x: I.In[I.f16, ("B", "T", "K")], w: I.In[I.f16, ("K", "N")], o: I.Out[I.f32, ("B", "T", "N")]):
    B, T, K = x.shape
    t = I.domain(0, T)
    for b in I.parallel(I.domain(0, B)):
        o[b, t, :] = I.matmul(x[b, t, :], w[:, :], acc_dtype=I.f32) + I.cast(b, I.f32)

def reference(x, w):
    import numpy as np
    return x.astype(np.float32) @ w.astype(np.float32) + np.arange(len(x), dtype=np.float32)[:, None, None]
"""
)
# Filters come before the points, which are the columns of the product.
FILTERS_FIRST = (
    HEAD
    + """@intent.kernel
def k(x: I.In[I.f16, ("B", "C", "H", "W")], w: I.In[I.f16, ("F", "C")], o: I.Out[I.f32, ("B", "F", "H", "W")]):
    B, C, H, W = x.shape
    for b, y in I.parallel((I.domain(0, B), I.domain(0, H))):
        o[b, :, y, :] = I.matmul(w[:, :], x[b, :, y, :], acc_dtype=I.f32)

def reference(x, w, o=None):
    import numpy as np
    return np.einsum("fc,bcyx->bfyx", w.astype(np.float32), x.astype(np.float32))
"""
)
# A carry grows by products of shifted rows.
SHIFTED = (
    HEAD
    + """@intent.kernel
def k(x: I.In[I.f16, ("B", "T", "K")], w: I.In[I.f16, (3, "K", "N")], o: I.Out[I.f32, ("B", "T", "N")]):
    B, T, K = x.shape
    N = w.shape[2]
    t = I.domain(0, T)
    for b in I.parallel(I.domain(0, B)):
        total = I.full((T, N), 1.0, dtype=I.f32)
        for s in range(3):
            at = I.indices(t) + s - 1
            here = (at >= 0) & (at < T)
            rows = I.gather(x, (b, at, I.domain(0, K)), valid=here[:, None])
            total = total + I.matmul(rows, w[s, :, :], acc_dtype=I.f32)
        o[b, t, :] = total

def reference(x, w):
    import numpy as np
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2]), np.float32)
    padded[:, 1:-1] = x
    return 1 + sum(padded[:, s : s + x.shape[1]] @ w[s].astype(np.float32) for s in range(3))
"""
)
KERNELS = {"linear": LINEAR, "filters_first": FILTERS_FIRST, "shifted": SHIFTED}
CASES: dict[str, tuple[Case, ...]] = {
    "linear": (
        {"B": 3, "T": 7, "K": 18, "N": 5}, {"B": 5, "T": 33, "K": 16, "N": 33}, {"B": 1, "T": 2, "K": 1, "N": 1},
        {"B": 2, "T": 1, "K": 3, "N": 2}, {"B": 0, "T": 9, "K": 4, "N": 3}, {"B": 2, "T": 129, "K": 5, "N": 3},
        {"B": 2, "T": 513, "K": 5, "N": 3},
    ),
    "filters_first": (
        {"B": 2, "C": 17, "H": 3, "W": 5, "F": 19}, {"B": 1, "C": 3, "H": 11, "W": 13, "F": 2},
        {"B": 2, "C": 1, "H": 1, "W": 1, "F": 1}, {"B": 1, "C": 2, "H": 0, "W": 3, "F": 2},
    ),
    "shifted": (
        {"B": 3, "T": 7, "K": 18, "N": 5}, {"B": 4, "T": 33, "K": 16, "N": 17}, {"B": 1, "T": 1, "K": 1, "N": 1},
        {"B": 3, "T": 0, "K": 4, "N": 3}, {"B": 3, "T": 4, "K": 0, "N": 3},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    folder, found = tmp_path_factory.mktemp("merged_rows"), {}
    for name, text in KERNELS.items():
        path = folder / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        (found[name],) = sample_files.kernels_of(path)
    return found


def variants(text: str) -> tuple[Variant, ...]:
    compiled = compile_text(text, "k.py")
    assert compiled.source is not None, compiled.diagnostics
    return compiled.codes[0].variants


@pytest.mark.parametrize(("name", "case"), [(name, case) for name, cases in CASES.items() for case in cases])
@pytest.mark.parametrize("small", [False, True])
def test_merged_rows_agree_with_the_reference(samples: dict[str, Sample], name: str, case: Case, small: bool) -> None:
    """Small tiles in another order of programs, outputs poisoned with another pattern."""
    sample = samples[name]
    values = sample_files.arguments(sample, case)
    wanted = sample_files.expected(sample, case, values)
    if small:
        with generated_modules.permuted_programs():
            actual = generated_modules.by_module(sample, case, values, 0x3C, small=True)
    else:
        actual = generated_modules.by_module(sample, case, values)
    assert not sample_files.differences(sample, actual, wanted)


@pytest.mark.parametrize("name", KERNELS)
def test_inputs_of_other_strides_and_special_values(samples: dict[str, Sample], name: str) -> None:
    sample, case = samples[name], CASES[name][0]
    values = sample_files.arguments(sample, case)
    strided = {name: sample_files.strided(np.asarray(value)) for name, value in values.items()}
    for changed in (strided, sample_files.with_specials(sample, values)):
        wanted = generated_modules.by_reference(sample, case, changed)
        for run in (generated_modules.by_module, generated_modules.by_device_arm):
            assert not sample_files.differences(sample, run(sample, case, changed), wanted), run.__name__


def test_which_sizes_have_merged_rows() -> None:
    """Wide tiles apart: few points, then an axis too short for whole tiles, then each axis for itself."""
    found = [(each.function, each.condition) for each in variants(LINEAR) if "N >=" not in str(each.condition)]
    assert found == [
        ("k_merged", "B * T <= 16"), ("k_merged", "B * T <= 64"), ("k_merged", "T <= 512 and T % 128 != 0"),
        ("k_kernel", None),
    ]  # fmt: skip


@pytest.mark.parametrize(("length", "functions"), [(56, ["k_merged"]), (128, ["k_kernel"]), (1000, ["k_kernel"])])
def test_fixed_lengths_decide_early(length: int, functions: list[str]) -> None:
    text = SHIFTED.replace('"T"', str(length))
    assert list(dict.fromkeys(each.function for each in variants(text))) == functions


def test_rows_that_a_factor_is_shared_by_are_not_merged() -> None:
    """exp(d[b, k]) would be computed for every row instead of once for each b."""
    shared = "x[b, t, :] * I.cast(I.exp(d[b, :]), I.f16)[None, :]"
    text = LINEAR.replace("x[b, t, :]", shared).replace("k(x:", 'k(d: I.In[I.f32, ("B", "K")], x:')
    assert all(each.function == "k_kernel" for each in variants(text))


def test_a_matrix_of_each_point_keeps_points_apart() -> None:
    text = LINEAR.replace("w[:, :]", "w[b, :, :]").replace('("K", "N")', '("B", "K", "N")')
    assert all(each.function == "k_kernel" for each in variants(text))


def test_axes_that_may_have_fewer_points_than_none_are_not_merged() -> None:
    """Where T is 0 there would be -1 rows, and of -1 times -1 rows there would be one."""
    text = LINEAR.replace("I.domain(0, T)", "I.domain(1, T)")
    assert all(each.function == "k_kernel" for each in variants(text))


def test_loops_that_add_up_products_have_wide_tiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As few tiles as they are worth it for, so that it is quick."""
    monkeypatch.setattr(product_layouts, "WIDE_TILES", 1)
    path = tmp_path / "wide.py"
    path.write_text(SHIFTED, encoding="utf-8")
    (sample,) = sample_files.kernels_of(path)
    case = {"B": 3, "T": 50, "K": 16, "N": 256}
    values = sample_files.arguments(sample, case)
    wanted = sample_files.expected(sample, case, values)
    assert not sample_files.differences(sample, generated_modules.by_module(sample, case, values), wanted)
    wide, *others = generated_modules.compilation(path).codes[0].variants
    assert wide.condition == "T <= 512 and T % 128 != 0 and N % 256 == 0 and B * N * T >= 32768 and K % 16 == 0"
    assert [size for _, size in wide.constants[:2]] == [128, 256] and others[2].source == wide.source

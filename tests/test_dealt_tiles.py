"""Rows of groups whose lengths data decide: which tiles are dealt out to several programs, and that none is lost."""

from __future__ import annotations

from pathlib import Path

import generated_modules
import numpy as np
import pytest
import sample_files

from translators.pipeline import compile_text
from translators.triton_source.launch import Variant

SAMPLES = Path(__file__).resolve().parents[1] / "samples"

KERNEL = """import intent
import intent.language as I

@intent.kernel
def k(
    x: I.In[I.f16, ("R", "K")], w: I.In[I.f16, ("G", "K", "N")], offsets: I.In[I.i32, ("P",)],
    y: I.{direction}[I.f32, ("R", "N")], s: I.InOut[I.f32, ("G", "N")],
):
    rows = I.ragged(I.domain(0, w.shape[0]), I.domain(0, x.shape[0]), offsets)
    for g in I.parallel(rows.outer):
        m = rows[g]
        product = I.matmul(x[m, :], w[g, :, :], acc_dtype=I.f32)
        {body}
"""


def variants(body: str, direction: str = "Out") -> tuple[Variant, ...]:
    compiled = compile_text(KERNEL.format(body=body, direction=direction), "k.py")
    assert compiled.source is not None, compiled.diagnostics
    return compiled.codes[0].variants


def parts(found: tuple[Variant, ...]) -> list[int]:
    return [size for each in found for name, size in each.constants if name.startswith("PARTS")]


@pytest.mark.parametrize("body", ["y[m, :] = product", "y[m, :] = I.maximum(product, 0.0) * 2.0"])
def test_tiles_of_long_groups_are_dealt_out(body: str) -> None:
    found = [each for each in variants(body) if dict(each.constants)["BLOCK_N"] == 128]
    assert parts(tuple(found)) == [8, 1]
    assert [each.condition for each in found] == ["R >= 512", None]
    assert found[0].grid == f"{found[1].grid} * 8"
    assert found[0].source == found[1].source


@pytest.mark.parametrize(
    "body",
    [
        "s[g, :] = I.reduce.sum(product, axis=0)",  # a program needs every tile
        "y[m, :] = product - I.reduce.max(product, axis=0)",
        "y[m, :] = I.cumsum(product, axis=0)",
    ],
)
def test_tiles_that_are_needed_together_are_not(body: str) -> None:
    assert not parts(variants(body))


def test_rows_that_read_what_others_write_are_not() -> None:
    assert not parts(variants("y[m, :] = product + y[0, 0]", direction="InOut"))


def test_rows_without_a_product_are_not() -> None:
    assert not parts(variants("y[m, :] = I.cast(x[m, 0], I.f32)[:, None]"))


CUTS = [[0, 200], [0, 16], [0, 0], [100, 117], [200, 200]]


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
def test_no_row_of_a_group_is_lost(cuts: list[int]) -> None:
    sample = next(sample_files.kernels_of(SAMPLES / "grouped_gemm.py"))
    case = {"R": 200, "K": 19, "N": 37, "G": 3, "P": 4}
    values = sample_files.arguments(sample, case) | {"offsets": np.array([0, *cuts, 200], dtype=np.int32)}
    wanted = generated_modules.by_reference(sample, case, values)
    with generated_modules.permuted_programs():
        actual = generated_modules.by_module(sample, case, values, small=True)
    assert not sample_files.differences(sample, actual, wanted)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
def test_queries_of_sequences_are_dealt_out() -> None:
    sample = next(sample_files.kernels_of(SAMPLES / "varlen_attention.py"))
    case = sample_files.cases(sample)[0] | {"N": 520, "B": 2, "B1": 3, "H": 1, "D": 16}
    values = sample_files.arguments(sample, case) | {"offsets": np.array([0, 470, 520], dtype=np.int32)}
    wanted = generated_modules.by_reference(sample, case, values)
    with generated_modules.permuted_programs():
        actual = generated_modules.by_module(sample, case, values)
    assert not sample_files.differences(sample, actual, wanted)

"""Variants for short extents: a depth on chip, rows beside which lanes read neighbours, neighbours that are few."""

from __future__ import annotations

import generated_modules
import pytest
import sample_files
from sample_files import Case, Sample

from translators.triton_source.launch import Variant

SAMPLES = {sample.kernel: sample for sample in sample_files.samples()}
SCAN = {"B": 1, "C": 1, "L": 66, "H": 2, "P": 5}
MERGED = {"B": 1, "H": 2}
PASSED = {"B": 1, "C": 3, "L": 2, "H": 2}
CASES: tuple[tuple[str, Case], ...] = (
    *(("chunk_scan", {**SCAN, "N": n}) for n in (0, 1, 64, 65, 129)),
    *(("merge_parts", {**MERGED, "G": g, "D": d}) for g, d in ((1, 130), (16, 1), (17, 33), (129, 3), (0, 3), (3, 0))),
    *(("state_passing", {**PASSED, "N": n, "P": p}) for n, p in ((1, 17), (64, 1), (65, 9), (129, 2))),
    ("state_passing", {**PASSED, "C": 0, "N": 5, "P": 3}),
)


def variants(kernel: str) -> tuple[Variant, ...]:
    compiled = generated_modules.compilation(SAMPLES[kernel].path)
    return next(code.variants for code in compiled.codes if code.kernel.name == kernel)


def agrees(sample: Sample, case: Case, small: bool) -> None:
    values = sample_files.arguments(sample, case)
    wanted = generated_modules.by_reference(sample, case, values)
    with generated_modules.permuted_programs():
        actual = generated_modules.by_module(sample, case, values, 0x3C, small)
    assert not sample_files.differences(sample, actual, wanted)


@pytest.mark.parametrize(("kernel", "case"), CASES, ids=lambda each: str(each).replace(" ", ""))
def test_extents_on_both_sides_of_a_limit(kernel: str, case: Case) -> None:
    agrees(SAMPLES[kernel], case, small=False)


@pytest.mark.parametrize(("kernel", "case"), CASES[1:-1:3], ids=lambda each: str(each).replace(" ", ""))
def test_small_tiles(kernel: str, case: Case) -> None:
    agrees(SAMPLES[kernel], case, small=True)


def test_a_short_depth_within_a_loop_is_read_once() -> None:
    """Whole depths of operands leave room for a second program with one stage less."""
    found = variants("chunk_scan")
    assert [each.condition for each in found] == ["N <= 64", "N <= 128", None]
    assert [dict(each.constants)["BLOCK_N"] for each in found] == [64, 128, 32]
    assert [(each.cuda.warps, each.cuda.stages) for each in found] == [(4, 2), (4, 2), (4, 3)]
    assert found[0].source == found[1].source
    assert found[0].source.count("readout_ptr,") == 1 and "start_n" not in found[0].source
    assert found[2].source.count("for start_n in") == 2


def test_short_rows_have_lanes_beside_them() -> None:
    found = [(each.condition, dict(each.constants)) for each in variants("merge_parts")][:3]
    assert [(condition, sizes["BLOCK_G"], sizes.get("BLOCK_D")) for condition, sizes in found] == [
        ("G <= 16", 16, 128), ("G <= 128", 128, 16), ("G <= 1024", 1024, None),
    ]  # fmt: skip


def test_few_neighbours_have_points_beside_them() -> None:
    found = [(each.condition, dict(each.constants)) for each in variants("state_passing")]
    assert [(condition, sizes["BLOCK_N"], sizes.get("BLOCK_P")) for condition, sizes in found] == [
        ("N <= 64", 64, 16), ("N <= 128", 128, 8), (None, 1024, None),
    ]  # fmt: skip


def test_rows_that_lie_along_memory_stay_one_to_a_program() -> None:
    assert "BLOCK_ROW" not in dict(variants("softmax")[0].constants)

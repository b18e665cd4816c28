"""Contractions of every form under `tests/contractions/`: NumPy statement, reference evaluator and generated module."""

from __future__ import annotations

from pathlib import Path

import generated_modules
import numpy as np
import pytest
import sample_files
from sample_files import Case, Sample

from translators.logical.reference import IllegalInput

FOLDER = Path(__file__).parent / "contractions"
KERNELS = sample_files.samples(FOLDER)
EXACT = {"one_record", "quantized_in_place"}  # every rounding is prescribed
EVERY_CASE = [pytest.param(sample, case, id=name) for name, sample, case in sample_files.every_case(KERNELS)]
FIRST_CASES = [pytest.param(sample, sample_files.cases(sample)[0], id=sample.kernel) for sample in KERNELS]

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")]


def assert_alike(sample: Sample, actual: sample_files.Arrays, wanted: sample_files.Arrays) -> None:
    assert not sample_files.differences(sample, actual, wanted)
    if sample.kernel in EXACT:
        assert all(np.array_equal(actual[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize(("sample", "case"), EVERY_CASE)
def test_reference_agrees_with_the_statement(sample: Sample, case: Case) -> None:
    values = sample_files.arguments(sample, case)
    wanted = sample_files.expected(sample, case, values)
    assert_alike(sample, generated_modules.by_reference(sample, case, values), wanted)


@pytest.mark.parametrize(("sample", "case"), EVERY_CASE)
def test_module_agrees_with_the_reference(sample: Sample, case: Case) -> None:
    values = sample_files.arguments(sample, case)
    wanted = generated_modules.by_reference(sample, case, values)
    assert_alike(sample, generated_modules.by_module(sample, case, values), wanted)


@pytest.mark.parametrize(("sample", "case"), FIRST_CASES)
def test_small_tiles_in_another_order(sample: Sample, case: Case) -> None:
    values = sample_files.arguments(sample, case)
    wanted = generated_modules.by_reference(sample, case, values)
    with generated_modules.permuted_programs():
        actual = generated_modules.by_module(sample, case, values, pattern=0x3C, small=True)
    assert_alike(sample, actual, wanted)


@pytest.mark.parametrize(("sample", "case"), FIRST_CASES)
def test_inputs_of_other_strides(sample: Sample, case: Case) -> None:
    values = sample_files.arguments(sample, case)
    arrays = {view.name for view in sample.views}
    values = {name: sample_files.strided(np.asarray(v)) if name in arrays else v for name, v in values.items()}
    wanted = generated_modules.by_reference(sample, case, values)
    assert_alike(sample, generated_modules.by_device_arm(sample, case, values), wanted)


def test_rows_of_a_product_that_are_too_long_to_stay_on_chip() -> None:
    sample, case = kernel_named("normalised_product"), {"M": 3, "K": 5, "N": 270}
    values = sample_files.arguments(sample, case | {"B": 1})
    wanted = generated_modules.by_reference(sample, case, values)
    assert_alike(sample, generated_modules.by_module(sample, case, values), wanted)


# --------------------------------------------------------------------------------------------------------------- codes
def kernel_named(kernel: str) -> Sample:
    return next(sample for sample in KERNELS if sample.kernel == kernel)


def every_way(sample: Sample, case: Case, values: dict[str, object]) -> np.ndarray:
    """The output as statement, reference and module agree on it."""
    values = {each.name: values[each.name] for each in sample.runtime_parameters if each.name in values}
    wanted = sample_files.expected(sample, case, values)
    reference = generated_modules.by_reference(sample, case, values)
    assert_alike(sample, reference, wanted)
    assert_alike(sample, generated_modules.by_module(sample, case, values), reference)
    return next(iter(reference.values()))


CODES = np.arange(256, dtype=np.uint8)


def one_hot(rows: int, columns: int, position: int, code: int) -> np.ndarray:
    array = np.zeros((rows, 1, columns), np.uint8)
    array[:, :, position] = code
    return array


def test_every_e4m3_code() -> None:
    """Each code times one; +-NaN spoil their own row only."""
    ones, powers = one_hot(1, 32, 5, 0x38).transpose(1, 2, 0).copy(), np.full((256, 1), 127, np.uint8)
    a = one_hot(256, 32, 5, 0)
    a[:, 0, 5] = CODES
    values = {"a": a, "sa": powers, "b": ones, "sb": np.array([[127]], np.uint8)}
    found = every_way(kernel_named("bytes_of_e4m3"), {"M": 256, "G": 1, "N": 1}, values)[:, 0]
    assert np.flatnonzero(np.isnan(found)).tolist() == [0x7F, 0xFF]
    assert found[0x7E] == 448 and found[0xFE] == -448 and found[1] == 2.0**-9 and found[0x38] == 1


def test_every_e2m1_code_low_and_high() -> None:
    a = np.zeros((32, 1, 16), np.uint8)
    a[:16, 0, 3], a[16:, 0, 3] = CODES[:16], CODES[:16] << 4
    ones = np.zeros((1, 16, 1), np.uint8)
    ones[0, 3] = 0x22
    scales = {"se": np.full((32, 1), 128, np.uint8), "sf": np.array([[126]], np.uint8)}
    found = every_way(kernel_named("e2m1_by_e2m1"), {"M": 32, "G": 1, "N": 1}, {"e": a, "f": ones} | scales)[:, 0]
    values = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    assert found.tolist() == [*values, *(-value for value in values)] * 2


def test_every_e8m0_code() -> None:
    """The scale 2**(code - 127) times one, down to the subnormal 2**-127; code 255 is NaN."""
    sample, case = kernel_named("bytes_of_e4m3"), {"M": 256, "G": 1, "N": 1}
    ones = one_hot(256, 32, 31, 0x38)
    values = {"a": ones, "sa": CODES[:, None].copy(), "b": ones[:1].transpose(1, 2, 0).copy()}
    found = every_way(sample, case, values | {"sb": np.array([[127]], np.uint8)})[:, 0]
    assert np.isnan(found[255])
    assert np.array_equal(found[:255], np.ldexp(np.float32(1), np.arange(255) - 127))


def test_scales_whose_product_overflows_are_illegal() -> None:
    sample, case = kernel_named("bytes_of_e4m3"), {"M": 1, "G": 1, "N": 1}
    ones = one_hot(1, 32, 0, 0x38)
    values = {"a": ones, "sa": np.array([[254]], np.uint8), "b": ones.transpose(1, 2, 0).copy()}
    with pytest.raises(IllegalInput, match="two scales"):
        generated_modules.by_reference(sample, case, values | {"sb": np.array([[254]], np.uint8)})


# ------------------------------------------------------------------------------------------------------------- records
def test_ties_and_extremes_of_a_record() -> None:
    """The negative one of two equal extremes counts; halves go to even integers."""
    record = np.zeros(256, np.float32)
    record[:6] = [127, -127, 0.5, 1.5, 2.5, -3.5]
    found = every_way(kernel_named("one_record"), {}, {"rec": record})
    assert found[:4].view(np.float32)[0] == 1.0
    assert found[4:10].view(np.int8).tolist() == [127, -127, 0, 2, 2, -4]
    assert found[260:262].view(np.int16)[0] == 0


@pytest.mark.parametrize("value", [0.0, -0.0, 3.0, -1e-30, 3e38])
def test_records_of_one_value(value: float) -> None:
    found = every_way(kernel_named("one_record"), {}, {"rec": np.full(256, value, np.float32)})
    assert set(found[4:260].view(np.int8).tolist()) == {-127 if value else 0}


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e-38])
def test_records_out_of_range_are_illegal(value: float) -> None:
    with pytest.raises(IllegalInput):
        generated_modules.by_reference(kernel_named("one_record"), {}, {"rec": np.full(256, value, np.float32)})


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 1), (0, 4), (-1, 2)])
def test_metadata_out_of_range_are_illegal(first: int, second: int) -> None:
    sample, case = kernel_named("two_of_four"), {"M": 1, "N": 1}
    values = sample_files.arguments(sample, case | {"G": 1, "T": 1, "S": 1, "B": 1})
    values |= {"p": np.full((1, 8), first), "q": np.full((1, 8), second)}
    with pytest.raises(IllegalInput, match=r"metadata|follow"):
        generated_modules.by_reference(sample, case, values)


def test_compressed_extents_are_checked_before_the_launch() -> None:
    sample = kernel_named("two_of_four_of_any_extent")
    case = {"M": 1, "N": 1, "S": 4, "T": 3, "K": 12}
    values = sample_files.arguments(sample, case | {"G": 1, "B": 1})
    with pytest.raises(ValueError, match="reshape"):
        generated_modules.by_module(sample, case, values)


def test_products_of_records_are_rounded_before_they_are_added() -> None:
    for kernel, fused in (("one_record", False), ("quantized_in_place", False), ("two_of_four", True)):
        source = generated_modules.compilation(kernel_named(kernel).path).source
        assert source is not None
        launcher = source[source.index(f"def _launch_{kernel}(") :].split("\ndef ")[0]
        assert ('"enable_fp_fusion": False' not in launcher) is fused, kernel

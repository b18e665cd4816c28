"""Generated modules, in Triton's CPU interpreter, agree with the reference evaluator.

Every case of every sample, as it is compiled and with tiles so small that several are needed, the latter with programs
run in another order and outputs poisoned with another pattern. For the first case also inputs of other strides, and NaN
and infinities among the inputs.
"""

from __future__ import annotations

from operator import attrgetter

import generated_modules
import numpy as np
import pytest
import sample_files
import workload_files
from not_lowered_yet import NOT_LOWERED_YET
from sample_files import Case, Sample

KERNELS = sample_files.samples() + workload_files.workloads()
LOWERED = [sample for sample in KERNELS if sample.identity not in NOT_LOWERED_YET]
NOT_LOWERED = [sample for sample in KERNELS if sample.identity in NOT_LOWERED_YET]
EVERY_CASE = [pytest.param(sample, case, id=name) for name, sample, case in sample_files.every_case(LOWERED)]

IDENTITY = attrgetter("identity")

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")


def test_gaps_are_reported_as_unsupported() -> None:
    for sample in NOT_LOWERED:
        found = generated_modules.compilation(sample.path, generated_modules.bindings(sample, {}))
        codes = {each.code for each in found.diagnostics if each.severity == "unsupported"}
        assert found.source is None, sample.identity
        assert NOT_LOWERED_YET[sample.identity].code in codes, sample.identity


def test_gaps_name_samples() -> None:
    assert set(NOT_LOWERED_YET) <= {sample.identity for sample in KERNELS}


@pytest.mark.parametrize(("sample", "case"), EVERY_CASE)
def test_module_agrees_with_the_reference(sample: Sample, case: Case) -> None:
    values = sample_files.arguments(sample, case)
    wanted = generated_modules.by_reference(sample, case, values)
    assert not sample_files.differences(sample, generated_modules.by_module(sample, case, values), wanted)


EMPTY = [
    pytest.param(sample, case, id=name)
    for name, sample, case in sample_files.every_case(LOWERED)
    if sample_files.case_kind(sample, case) == "zero"
]


@pytest.mark.parametrize(("sample", "case"), EMPTY)
def test_device_arm_of_empty_tensors(sample: Sample, case: Case) -> None:
    values = sample_files.arguments(sample, case)
    wanted = generated_modules.by_reference(sample, case, values)
    actual = generated_modules.by_device_arm(sample, case, values, small=True)
    assert not sample_files.differences(sample, actual, wanted)


@pytest.mark.parametrize("sample", LOWERED, ids=IDENTITY)
def test_inputs_of_other_strides(sample: Sample) -> None:
    case = sample_files.cases(sample)[0]
    values = sample_files.arguments(sample, case)
    arrays = {view.name for view in sample.views}
    values = {name: sample_files.strided(np.asarray(v)) if name in arrays else v for name, v in values.items()}
    wanted = generated_modules.by_reference(sample, case, values)
    for run in (generated_modules.by_module, generated_modules.by_device_arm):
        assert not sample_files.differences(sample, run(sample, case, values, small=True), wanted), run.__name__


@pytest.mark.parametrize("sample", LOWERED, ids=IDENTITY)
def test_special_values(sample: Sample) -> None:
    case = sample_files.cases(sample)[0]
    values = sample_files.with_specials(sample, sample_files.arguments(sample, case))
    wanted = generated_modules.by_reference(sample, case, values)
    for small in (False, True):
        actual = generated_modules.by_module(sample, case, values, small=small)
        assert not sample_files.differences(sample, actual, wanted), f"small tiles: {small}"


@pytest.mark.parametrize(("sample", "case"), EVERY_CASE)
def test_small_tiles_in_another_order_and_another_poison(sample: Sample, case: Case) -> None:
    values = sample_files.arguments(sample, case)
    wanted = generated_modules.by_reference(sample, case, values)
    with generated_modules.permuted_programs():
        actual = generated_modules.by_module(sample, case, values, pattern=0x5A, small=True)
    assert not sample_files.differences(sample, actual, wanted)


def test_small_tiles_are_small() -> None:
    names = {name for table in generated_modules.SIZE_TABLES for name in vars(table)}
    assert set(generated_modules.SMALL_TILES) <= names, "the planner's tables of sizes have other names now"
    softmax = next(sample for sample in LOWERED if sample.identity == "softmax")
    usual, small = (generated_modules.compilation(softmax.path, (), small).codes[0] for small in (False, True))
    assert max(size for variant in small.variants for _, size in variant.constants) <= 16
    assert min(size for variant in usual.variants for _, size in variant.constants) > 16

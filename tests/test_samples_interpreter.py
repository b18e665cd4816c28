"""Generated modules, in Triton's CPU interpreter, agree with the reference evaluator.

Every case of every sample; and for its first case also inputs of other strides, NaN and infinities among the inputs,
the programs run in another order, and outputs poisoned with another pattern.
"""

from __future__ import annotations

from contextlib import nullcontext
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


@pytest.mark.parametrize("sample", NOT_LOWERED, ids=IDENTITY)
def test_gap_is_reported_as_unsupported(sample: Sample) -> None:
    gap = NOT_LOWERED_YET[sample.identity]
    found = generated_modules.compilation(sample.path, generated_modules.bindings(sample, {}))
    assert found.source is None
    assert gap.code in {each.code for each in found.diagnostics if each.severity == "unsupported"}


def test_gaps_name_samples() -> None:
    assert set(NOT_LOWERED_YET) <= {sample.identity for sample in KERNELS}


@pytest.mark.parametrize(("sample", "case"), EVERY_CASE)
def test_module_agrees_with_the_reference(sample: Sample, case: Case) -> None:
    _compare(sample, case, sample_files.arguments(sample, case))


@pytest.mark.parametrize("sample", LOWERED, ids=IDENTITY)
def test_inputs_of_other_strides(sample: Sample) -> None:
    case = sample_files.cases(sample)[0]
    values = sample_files.arguments(sample, case)
    arrays = {view.name for view in sample.views}
    values = {name: sample_files.strided(np.asarray(v)) if name in arrays else v for name, v in values.items()}
    wanted = generated_modules.by_reference(sample, case, values)
    for run in (generated_modules.by_module, generated_modules.by_device_arm):
        assert not sample_files.differences(sample, run(sample, case, values), wanted), run.__name__


@pytest.mark.parametrize("sample", [each for each in LOWERED if not sample_files.finite_only(each)], ids=IDENTITY)
def test_special_values(sample: Sample) -> None:
    case = sample_files.cases(sample)[0]
    _compare(sample, case, sample_files.with_specials(sample, sample_files.arguments(sample, case)))


@pytest.mark.parametrize("sample", LOWERED, ids=IDENTITY)
def test_programs_in_another_order_and_another_poison(sample: Sample) -> None:
    _compare(sample, sample_files.cases(sample)[0], sample_files.arguments(sample, sample_files.cases(sample)[0]), True)


def _compare(sample: Sample, case: Case, values: dict[str, object], permuted: bool = False) -> None:
    wanted = generated_modules.by_reference(sample, case, values)
    with generated_modules.permuted_programs() if permuted else nullcontext():
        actual = generated_modules.by_module(sample, case, values, pattern=0x5A if permuted else 0xA5)
    assert not sample_files.differences(sample, actual, wanted)

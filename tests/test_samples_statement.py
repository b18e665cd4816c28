"""The NumPy statement of every sample runs on every case and gives arrays of the declared dtypes and shapes."""

from __future__ import annotations

import numpy as np
import pytest
import sample_files
import workload_files
from sample_files import Case, Sample

KERNELS = sample_files.samples() + workload_files.workloads()
EVERY_CASE = [pytest.param(sample, case, id=name) for name, sample, case in sample_files.every_case(KERNELS)]


@pytest.mark.parametrize(("sample", "case"), EVERY_CASE)
def test_statement_gives_the_declared_outputs(sample: Sample, case: Case) -> None:
    values = sample_files.arguments(sample, case)
    with np.errstate(divide="ignore", invalid="ignore"):
        results = sample_files.expected(sample, case, values)
    for view in sample.outputs:
        assert results[view.name].shape == view.sizes(case), view.name
        assert results[view.name].dtype == view.numpy_dtype, view.name


def test_there_are_enough_samples() -> None:
    files = {sample.path for sample in sample_files.samples()}
    assert len(files) >= 34


@pytest.mark.parametrize("sample", KERNELS, ids=lambda sample: sample.identity)
def test_every_sample_has_a_tail_a_one_and_a_zero_case(sample: Sample) -> None:
    kinds = {sample_files.case_kind(sample, case) for case in sample_files.cases(sample)}
    assert "tail" in kinds
    assert "zero" in kinds

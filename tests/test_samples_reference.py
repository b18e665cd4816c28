"""Every sample reads without a diagnostic, and the reference evaluator agrees with its NumPy statement."""

from __future__ import annotations

from operator import attrgetter

import generated_modules
import numpy as np
import pytest
import sample_files
import workload_files
from sample_files import Case, Sample

from translators.intent_source.read import read_program

KERNELS = sample_files.samples() + workload_files.workloads()
EVERY_CASE = [pytest.param(sample, case, id=name) for name, sample, case in sample_files.every_case(KERNELS)]


@pytest.mark.parametrize("path", sorted({sample.path for sample in KERNELS}), ids=lambda path: path.stem)
def test_sample_reads_without_a_complaint(path: sample_files.Path) -> None:
    diagnostics = read_program(path.read_text(encoding="utf-8"), path.name, {}).diagnostics
    assert not [each for each in diagnostics if each.severity != "note"]


@pytest.mark.parametrize(("sample", "case"), EVERY_CASE)
def test_reference_agrees_with_the_statement(sample: Sample, case: Case) -> None:
    values = sample_files.arguments(sample, case)
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = sample_files.expected(sample, case, values)
    assert not sample_files.differences(sample, generated_modules.by_reference(sample, case, values), wanted)


# NumPy sorts NaN to the end, pivots, or refuses, where the kernel's own comparisons decide.
NAN_IS_NUMPYS_OWN = frozenset({"bitonic_sort", "cholesky", "top_k", "triangular_solve"})


@pytest.mark.parametrize(
    "sample",
    [each for each in KERNELS if each.identity not in NAN_IS_NUMPYS_OWN],
    ids=attrgetter("identity"),
)
def test_reference_agrees_with_the_statement_on_special_values(sample: Sample) -> None:
    case = sample_files.cases(sample)[0]
    values = sample_files.with_specials(sample, sample_files.arguments(sample, case))
    with np.errstate(all="ignore"):
        wanted = sample_files.expected(sample, case, values)
    assert not sample_files.differences(sample, generated_modules.by_reference(sample, case, values), wanted)

"""The programs of NPBench: the NumPy statement, the reference evaluator and the generated module agree.

`make npbench` also runs what is marked as long: every case, small tiles in another order, the device arm, and the
suite's size S on the reference evaluator.
"""

from __future__ import annotations

import ast
from operator import attrgetter

import npbench_files
import npbench_page
import pytest
from npbench_files import Case, Program

PROGRAMS = npbench_files.programs()
EVERY_CASE = [
    pytest.param(program, case, id=f"{program.name}-{place}", marks=pytest.mark.long if place or program.slow else ())
    for program in PROGRAMS
    for place, case in enumerate(program.cases)
]
every_program = pytest.mark.parametrize("program", PROGRAMS, ids=attrgetter("name"))

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")


@pytest.mark.parametrize(("program", "case"), EVERY_CASE)
def test_module_and_reference_agree_with_the_statement(program: Program, case: Case) -> None:
    values = npbench_files.arguments(program, case)
    wanted = npbench_files.by_statement(program, values)
    actual = npbench_files.by_reference(program, values)
    assert not npbench_files.differences(program, actual, wanted), "reference"
    actual = npbench_files.by_module(program, values, small=program.slow)
    assert not npbench_files.differences(program, actual, wanted), "module"


@pytest.mark.long
@every_program
def test_small_tiles_in_another_order_and_on_tensors(program: Program) -> None:
    values = npbench_files.arguments(program, program.cases[0])
    wanted = npbench_files.by_statement(program, values)
    for device in (False, True):
        actual = npbench_files.by_module(program, values, small=True, permuted=True, device=device)
        assert not npbench_files.differences(program, actual, wanted), device


@pytest.mark.long
@every_program
def test_reference_agrees_at_the_size_of_the_suite(program: Program) -> None:
    values = npbench_files.arguments(program, program.reduced)
    wanted = npbench_files.by_statement(program, values)
    assert not npbench_files.differences(program, npbench_files.by_reference(program, values), wanted)


@every_program
def test_sizes(program: Program) -> None:
    assert program.module.SIZES.keys() == {"S", "M"}
    assert all(case.keys() >= program.module.SIZES["S"].keys() for case in (*program.cases, program.reduced))
    assert ast.get_docstring(ast.parse(program.path.read_text(encoding="utf-8")))


def test_the_page_is_current() -> None:
    assert npbench_page.PAGE.read_text(encoding="utf-8") == npbench_page.page(), "run `python -m tests.npbench_page`"

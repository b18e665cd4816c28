"""Every code of the catalogue has a program that gives it, and a golden of what the command line prints."""

from __future__ import annotations

import pytest
from faulty_programs import BODIES, PAGE, SIGNATURES, TEXTS, given_elsewhere, page, programs

from translators.diagnostic_codes import CODES
from translators.pipeline import compile_text

# What follows from the fault in the same program.
COMPANIONS = {"INT952": {"INT950"}, "INT953": {"INT950"}}


def test_every_code_has_a_program() -> None:
    assert sorted(CODES) == sorted([*BODIES, *SIGNATURES, *TEXTS, *given_elsewhere()])
    assert all(code == found.code for code, found in given_elsewhere().items())


@pytest.mark.parametrize("code", programs())
def test_a_program_gives_its_code(code: str) -> None:
    found = compile_text(programs()[code], "kernels.py")
    given = {each.code for each in found.diagnostics}
    severities = {each.severity for each in found.diagnostics if each.code == code}
    assert given - COMPANIONS.get(code, set()) == {code}
    assert severities == {"error" if code < "INT900" else "unsupported" if code < "INT950" else "note"}
    assert (found.source is None) == (code < "INT950")


def test_what_is_printed_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make golden`"

"""Diagnostics as text and as data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intentc import formats, render
from translators.diagnostics import NOWHERE, Diagnostic, Fix, Span

TEXT = "import intent\n\ty = x * größe\n\u4f60\u597d = bad\n"


def _sources(text: str = TEXT) -> render.Sources:
    sources = render.Sources()
    sources.add("k.py", text)
    return sources


def _diagnostic(span: Span, **parts: object) -> Diagnostic:
    return Diagnostic("INT101", "error", "there is no 'größe'", span, **parts)  # type: ignore[arg-type]


def test_caret_stands_under_the_span() -> None:
    text = render.full(_diagnostic(Span("k.py", 2, 10, 2, 15)), _sources())
    assert text.split("\n") == [
        "error[INT101]: there is no 'größe'",
        " --> k.py:2:10",
        "  |",
        "2 |     y = x * größe",
        "  |             ^^^^^",
    ]


def test_wide_letters_take_two_columns() -> None:
    text = render.full(_diagnostic(Span("k.py", 3, 6, 3, 9)), _sources())
    assert text.split("\n")[-1] == "  |        ^^^"


def test_help_and_fix() -> None:
    span = Span("k.py", 2, 10, 2, 15)
    text = render.full(_diagnostic(span, help="one\ntwo", fix=Fix(span, "size")), _sources())
    assert text.split("\n")[-3:] == ["  = help: one", "          two", "  = fix: write size"]


def test_long_lines_are_cut_around_the_caret() -> None:
    line = "a" * 500 + "BAD" + "b" * 500
    text = render.full(_diagnostic(Span("k.py", 1, 501, 1, 504)), _sources(line)).split("\n")
    shown, caret = text[3], text[4]
    assert len(shown) < 180
    assert shown[caret.index("^") : caret.rindex("^") + 1] == "BAD"


def test_a_span_over_several_lines_marks_the_first() -> None:
    text = render.full(_diagnostic(Span("k.py", 1, 8, 3, 2)), _sources())
    assert text.split("\n")[-1] == "  |        ^^^^^^"


def test_control_characters_do_not_reach_the_terminal() -> None:
    text = render.full(_diagnostic(Span("k.py", 1, 1, 1, 2)), _sources("x\033[31m = 1"))
    assert "\033" not in text


def test_places_without_a_line() -> None:
    assert render.full(_diagnostic(NOWHERE), _sources()) == "error[INT101]: there is no 'größe'"
    assert "-->" in render.full(_diagnostic(Span("gone.py", 3, 1, 3, 2)), _sources())
    assert render.concise(_diagnostic(NOWHERE)) == "error[INT101] there is no 'größe'"


def test_another_file_is_read_when_needed(tmp_path: Path) -> None:
    other = tmp_path / "helpers.py"
    other.write_text("first\nsecond\n", encoding="utf-8")
    text = render.full(_diagnostic(Span(str(other), 2, 1, 2, 7)), render.Sources())
    assert "2 | second" in text


def test_concise() -> None:
    assert render.concise(_diagnostic(Span("k.py", 2, 10, 2, 15))) == "k.py:2:10: error[INT101] there is no 'größe'"


def test_summary() -> None:
    diagnostics = [Diagnostic("INT950", "note", "", NOWHERE)] * 2 + [_diagnostic(NOWHERE)]
    assert render.summary(diagnostics) == "1 error, 2 notes"


def test_github_escapes() -> None:
    diagnostic = Diagnostic("INT101", "unsupported", "50% of\nit", Span("a,b:c.py", 2, 1, 2, 3))
    assert formats.github(diagnostic) == (
        "::error file=a%2Cb%3Ac.py,line=2,col=1,endLine=2,title=INT101::50%25 of%0Ait"
    )


@pytest.mark.parametrize("severity", ["error", "unsupported", "note"])
def test_sarif(severity: str) -> None:
    diagnostic = Diagnostic("INT401", severity, "no", Span("k.py", 2, 1, 2, 3), "help")  # type: ignore[arg-type]
    log = json.loads(formats.sarif([diagnostic]))
    run = log["runs"][0]
    assert run["results"][0]["level"] == ("note" if severity == "note" else "error")
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
    assert run["tool"]["driver"]["rules"][0]["id"] == "INT401"

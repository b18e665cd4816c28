"""Diagnostics as data: JSON, SARIF 2.1.0, and the annotations of GitHub's workflow log."""

from __future__ import annotations

import json
from collections.abc import Sequence

from intentc import __version__
from translators.diagnostics import Diagnostic, Span

_LEVELS = {"error": "error", "unsupported": "error", "note": "note"}
_ANNOTATIONS = {"error": "error", "unsupported": "error", "note": "notice"}


def as_data(diagnostic: Diagnostic) -> dict[str, object]:
    """A diagnostic as JSON data; absent parts are null."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "span": _span(diagnostic.span),
        "fix": diagnostic.fix and {"span": _span(diagnostic.fix.span), "replacement": diagnostic.fix.replacement},
    }


def _span(span: Span) -> dict[str, object]:
    return {
        "path": span.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def github(diagnostic: Diagnostic) -> str:
    """One workflow command. A value may hold neither commas nor line ends, so they are percent-encoded."""
    span = diagnostic.span
    place = {
        "file": span.path,
        "line": span.line,
        "col": span.column,
        "endLine": span.end_line,
        "title": diagnostic.code,
    }
    properties = ",".join(f"{name}={_encoded(str(value), ':,')}" for name, value in place.items() if value)
    message = diagnostic.message + (f"\nhelp: {diagnostic.help}" if diagnostic.help else "")
    return f"::{_ANNOTATIONS[diagnostic.severity]} {properties}::{_encoded(message)}"


def _encoded(text: str, also: str = "") -> str:
    for letter in "%\r\n" + also:
        text = text.replace(letter, f"%{ord(letter):02X}")
    return text


def sarif(diagnostics: Sequence[Diagnostic]) -> str:
    """A SARIF log with one run; its rules are those of the catalogue that the diagnostics use."""
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    driver = {"name": "intentc", "version": __version__, "rules": [_sarif_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": list(map(_sarif_result, diagnostics)),
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2)


def _sarif_rule(code: str) -> dict[str, object]:
    from translators.diagnostic_codes import CODES

    rule = CODES.get(code)
    if rule is None:
        return {"id": code}
    return {
        "id": code,
        "name": rule.title,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.rule},
    }


def _sarif_result(diagnostic: Diagnostic) -> dict[str, object]:
    span = diagnostic.span
    location: dict[str, object] = {"artifactLocation": {"uri": span.path}}
    if span.line:
        location["region"] = {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": span.end_column,
        }
    text = diagnostic.message + (f"\n{diagnostic.help}" if diagnostic.help else "")
    return {
        "ruleId": diagnostic.code,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
    }

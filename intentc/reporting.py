"""Where diagnostics go in each output format: text to standard error, data to standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence

from typing_extensions import assert_never

from intentc import formats, render
from intentc.inputs import Input
from intentc.settings import OutputFormat
from translators.diagnostics import Diagnostic


def report(diagnostics: Sequence[Diagnostic], inputs: Iterable[Input], output_format: OutputFormat) -> None:
    """Print diagnostics in any format."""
    match output_format:
        case "json":
            print(json.dumps([formats.as_data(diagnostic) for diagnostic in diagnostics], indent=2))
        case "sarif":
            print(formats.sarif(diagnostics))
        case "full" | "concise" | "github":
            report_text(diagnostics, inputs, output_format)
        case _:
            assert_never(output_format)


def report_text(diagnostics: Sequence[Diagnostic], inputs: Iterable[Input], output_format: OutputFormat) -> None:
    """Print diagnostics as text; a no-op for the formats that are data."""
    match output_format:
        case "full":
            _report_full(diagnostics, inputs)
        case "concise":
            _say_all(map(render.concise, diagnostics))
        case "github":
            _say_all(map(formats.github, diagnostics))
        case "json" | "sarif":
            pass
        case _:
            assert_never(output_format)


def _report_full(diagnostics: Sequence[Diagnostic], inputs: Iterable[Input]) -> None:
    sources = render.Sources()
    for each in inputs:
        sources.add(each.path, each.text)
    colour = render.colourful(sys.stderr)
    for diagnostic in diagnostics:
        render.say(render.full(diagnostic, sources, colour) + "\n")
    if diagnostics:
        render.say(render.summary(diagnostics))


def _say_all(lines: Iterable[str]) -> None:
    for line in lines:
        render.say(line)

"""`intentc check`: diagnostics only."""

from __future__ import annotations

from typing import Annotated

import typer

from intentc import settings
from intentc.inputs import read_inputs
from intentc.reporting import report
from translators.pipeline import check_text, compile_text, rejects


def check_command(
    files: settings.Files,
    constexpr: settings.Constexprs = None,
    target: settings.Targets = None,
    numerics: settings.NumericsMode = None,
    syntax_only: Annotated[bool, typer.Option("--no-plan", help="Check the language's rules only.")] = False,
    output_format: settings.Format = "full",
    stdin_filename: settings.StdinFilename = "stdin.py",
) -> None:
    """Report what is wrong in Intent kernels; write nothing.

    The exit status is 1 if any file would be rejected. Notes alone are no rejection.
    """
    options = settings.make_options(constexpr, target, numerics)
    inputs, diagnostics = read_inputs(files, stdin_filename)
    examine = check_text if syntax_only else compile_text
    for each in inputs:
        diagnostics.extend(examine(each.text, each.path, options).diagnostics)
    report(diagnostics, inputs, output_format)
    if rejects(diagnostics):
        raise typer.Exit(1)

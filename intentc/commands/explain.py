"""`intentc explain`: a diagnostic code's rule with examples, or what the compiler makes of a file."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from intentc.lookup.codes import named, text_of
from translators.diagnostic_codes import CODES


def explain_command(
    subject: Annotated[str | None, typer.Argument(metavar="[CODE|FILE]", help="INT###, or a kernel file.")] = None,
    constexpr: Annotated[
        list[str] | None, typer.Option("--constexpr", metavar="[KERNEL.]NAME=VALUE", help="As for compile.")
    ] = None,
) -> None:
    """Explain a diagnostic code, or a file's plan.

    Without an argument, list every code.
    """
    if subject is None:
        for rule in CODES.values():
            print(f"{rule.code}  {rule.title}")
    elif re.fullmatch(r"INT\d+", subject.upper()):
        print(text_of(named(subject)))
    else:
        _explain_file(subject, constexpr)


def _explain_file(path: str, constexpr: list[str] | None) -> None:
    from intentc.inputs import read_inputs
    from intentc.listing import described
    from intentc.reporting import report
    from intentc.settings import make_options
    from translators.pipeline import compile_text, rejects

    inputs, diagnostics = read_inputs([path], "stdin.py")
    options = make_options(constexpr, None, None)
    for each in inputs:
        compilation = compile_text(each.text, each.path, options)
        diagnostics.extend(compilation.diagnostics)
        for code in compilation.codes:
            print(described(code))
    report(diagnostics, inputs, "full")
    if rejects(diagnostics):
        raise typer.Exit(1)

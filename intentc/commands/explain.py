"""`intentc explain`: a diagnostic code's rule with examples, or what the compiler makes of a file."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from intentc.failure import UsageError
from translators.diagnostic_codes import CODES, Rule


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
        print(_described(subject.upper()))
    else:
        _explain_file(subject, constexpr)


def _described(code: str) -> str:
    rule = CODES.get(code)
    if rule is None:
        raise UsageError(f"there is no code {code}; `intentc explain` lists them")
    return text_of(rule)


def text_of(rule: Rule) -> str:
    """The entry as `intentc explain CODE` prints it."""
    wrong, right = (text.replace("\n", "\n    ") for text in (rule.wrong, rule.right))
    return f"{rule.code}: {rule.title}\n\n{rule.rule}\n\nWrong:\n    {wrong}\n\nRight:\n    {right}"


def _explain_file(path: str, constexpr: list[str] | None) -> None:
    from intentc.inputs import read_inputs
    from intentc.listing import logical, plan
    from intentc.reporting import report
    from intentc.settings import make_options
    from translators.pipeline import compile_text, rejects

    inputs, diagnostics = read_inputs([path], "stdin.py")
    options = make_options(constexpr, None, None)
    for each in inputs:
        compilation = compile_text(each.text, each.path, options)
        diagnostics.extend(compilation.diagnostics)
        for code in compilation.codes:
            print("\n".join([*logical(code), "", *list(plan(code))[1:], ""]))
    report(diagnostics, inputs, "full")
    if rejects(diagnostics):
        raise typer.Exit(1)

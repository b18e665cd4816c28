"""`intentc explain`: a diagnostic code's rule with examples, or what the compiler makes of a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from intentc.failure import UsageError
from intentc.lookup.codes import named, text_of
from translators.diagnostic_codes import CODES

if TYPE_CHECKING:
    from intentc.inputs import Input
    from translators.options import Options
    from translators.pipeline import Compilation


def explain_command(
    subject: Annotated[str | None, typer.Argument(metavar="[CODE|FILE]", help="INT###, or a kernel file.")] = None,
    constexpr: Annotated[
        list[str] | None, typer.Option("--constexpr", metavar="[KERNEL.]NAME=VALUE", help="As for compile.")
    ] = None,
    numerics: Annotated[
        Literal["source", "relaxed_normalization"] | None, typer.Option("--numerics", help="As for compile.")
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="OUT.html", help="Draw the plan of a file, as one page by itself.")
    ] = None,
) -> None:
    """Explain a diagnostic code, or a file's plan.

    Without an argument, list every code.
    """
    if html is not None and (subject is None or re.fullmatch(r"INT\d+", subject.upper())):
        raise UsageError("--html draws the plan of a file")
    if subject is None:
        for rule in CODES.values():
            print(f"{rule.code}  {rule.title}")
    elif re.fullmatch(r"INT\d+", subject.upper()):
        print(text_of(named(subject)))
    else:
        from intentc.settings import make_options

        _explain_file(subject, make_options(constexpr, None, numerics), html)


def _explain_file(path: str, options: Options, html: str | None) -> None:
    from intentc.inputs import read_inputs
    from intentc.listing import described
    from intentc.reporting import report
    from translators.pipeline import compile_text, rejects

    inputs, diagnostics = read_inputs([path], "stdin.py")
    for each in inputs:
        compilation = compile_text(each.text, each.path, options)
        diagnostics.extend(compilation.diagnostics)
        if html is not None:
            _draw(compilation, each, html)
            continue
        for code in compilation.codes:
            print(described(code))
    report(diagnostics, inputs, "full")
    if rejects(diagnostics):
        raise typer.Exit(1)


def _draw(compilation: Compilation, source: Input, path: str) -> None:
    """Write the page, unless a kernel is rejected."""
    from intentc.outputs import Output, page_path, write_all
    from intentc.viewer import plan_page
    from translators.pipeline import rejects

    if not rejects(compilation.diagnostics):
        destination = page_path(path, [source.path])
        write_all([Output(destination, plan_page(compilation, source.path, source.text))])

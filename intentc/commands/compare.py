"""`intentc compare`: whether two kernels, each in Intent or Triton, are one program."""

from __future__ import annotations

from typing import Annotated

import typer

from intentc import settings
from intentc.comparison import compare_files, named, status
from intentc.comparison_report import as_json, as_text


def compare_command(
    first: Annotated[str, typer.Argument(metavar="FILE[:KERNEL]", help="An Intent or Triton file.")],
    second: Annotated[str, typer.Argument(metavar="FILE[:KERNEL]", help="The file to compare with.")],
    run: Annotated[
        bool, typer.Option("--run", help="Also run both on random inputs under Triton's interpreter.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    constexpr: settings.Constexprs = None,
) -> None:
    """Tell whether two kernels are one program.

    Names, tiles and steps do not count. The exit status is 0 if they are (also if only a permitted reassociation makes
    them so), 1 if they differ, and 4 if it cannot be told.
    """
    results = compare_files(named(first), named(second), settings.parse_constexprs(constexpr or ()), run)
    if json:
        print(as_json(results))
    else:
        for result in results:
            print(as_text(result))
    raise typer.Exit(status(results))

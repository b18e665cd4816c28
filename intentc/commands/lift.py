"""`intentc lift`: Triton kernels in, Intent source and a report of what was explained out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from intent.dtypes import BY_NAME, DType
from intentc import settings
from intentc.failure import UsageError
from intentc.lift_files import FileLift, Request, Sources, lift_all, read_sources
from intentc.outputs import Output, destinations, page_path, write_all
from intentc.render import say
from intentc.reporting import report
from translators.lifting.files import Wanted

ReportFormat = Literal["text", "json"]


def lift_command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Files of Triton kernels, or directories of them; - reads standard input."
        ),
    ],
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="The Intent file, or a directory of them.")
    ] = None,
    kernel: Annotated[str | None, typer.Option("--kernel", help="Lift this kernel only.")] = None,
    report_format: Annotated[
        ReportFormat | None, typer.Option("--report", help="Print a report; as JSON it is all of standard output.")
    ] = None,
    constexpr: settings.Constexprs = None,
    dtype: Annotated[
        list[str] | None, typer.Option("--dtype", metavar="NAME=DTYPE", help="Type of a parameter (repeatable).")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Run originals and lifted kernels side by side under Triton's interpreter.")
    ] = False,
    against: Annotated[
        str | None, typer.Option("--against", metavar="FILE[:KERNEL]", help="Compare with an Intent or Triton program.")
    ] = None,
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="OUT.html", help="Show each kernel and its lift, as one page by itself."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail if any kernel is not lifted.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, metavar="N", help="Files lifted at a time; one per core if not given."),
    ] = None,
    stdin_filename: settings.StdinFilename = "stdin.py",
) -> None:
    """Lift Triton kernels to Intent source.

    What cannot be proven is not lifted, and is reported with the reason. One file is printed unless -o names an output;
    of several files, and of directories, -o DIRECTORY gets the Intent files, and --report one report for each kernel.
    The exit status is 1 if nothing is lifted, and with --against that of the comparison otherwise.
    """
    sources = read_sources(files, stdin_filename)
    _check_usage(sources, against, html)
    paths = _paths(sources, output, report_format)
    page = page_path(html, [*files, *(each for each in paths if each is not None)]) if html is not None else None
    wanted = Wanted(kernel, settings.parse_constexprs(constexpr or ()), _dtypes(dtype or ()))
    lifts = lift_all(sources.inputs, Request(wanted, verify, page is not None), jobs or os.cpu_count() or 1)
    diagnostics = [*sources.diagnostics, *(found for each in lifts for found in each.diagnostics)]
    if diagnostics:
        report(diagnostics, list(sources.inputs), "full")
        raise typer.Exit(1)
    _deliver(sources, lifts, paths, report_format)
    if page is not None:
        write_all([Output(page, lifts[0].page)])
    if _fails(lifts, strict) or not all(each.holds for each in lifts):
        raise typer.Exit(1)
    if against is not None:
        _compare(files[0], kernel, against, wanted.constants)


def _check_usage(sources: Sources, against: str | None, html: str | None) -> None:
    if sources.many and (against is not None or html is not None):
        raise UsageError(f"{'--html' if against is None else '--against'} takes one file")


def _paths(sources: Sources, output: str | None, report_format: ReportFormat | None) -> list[Path | None]:
    """Where the Intent files go; nowhere if a report is all that is asked for."""
    if sources.diagnostics or (output is None and report_format is not None and sources.many):
        return []
    if sources.many and output is None:
        raise UsageError("several inputs need an output directory: -o DIRECTORY, or a report: --report text")
    return destinations(sources.inputs, output, sources.places if sources.many else None)


def _compare(file: str, kernel: str | None, against: str, constants: Mapping[str, object]) -> None:
    from intentc import comparison_report
    from intentc.comparison import NamedKernel, compare_files, named, status

    results = compare_files(NamedKernel(file, kernel), named(against), constants, run=False)
    for result in results:
        say(comparison_report.as_text(result))
    if status(results):
        raise typer.Exit(status(results))


def _dtypes(arguments: Sequence[str]) -> dict[str, DType]:
    made: dict[str, DType] = {}
    for argument in arguments:
        name, equals, dtype = argument.partition("=")
        if not equals or dtype not in BY_NAME:
            raise UsageError(f"--dtype takes NAME=DTYPE with a dtype such as f16, not {argument!r}")
        made[name] = BY_NAME[dtype]
    return made


def _deliver(
    sources: Sources, lifts: Sequence[FileLift], paths: Sequence[Path | None], report_format: ReportFormat | None
) -> None:
    """Of several files, those without kernels are passed by."""
    shown = [each for each in lifts if each.lifted or not sources.many]
    outputs = [(path, each.source) for path, each in zip(paths, lifts, strict=False) if each.source is not None]
    write_all(Output(path, text) for path, text in outputs if path is not None or report_format != "json")
    if report_format == "json":
        data = [each.data for each in shown]
        print(json.dumps({"files": data} if sources.many else data[0], indent=2))
    elif report_format == "text":
        for each in shown:
            say(f"{each.data['path']}:\n{each.text}" if sources.many else each.text)
    else:
        for line in (line for each in shown for line in each.said):
            say(line)


def _fails(lifts: Sequence[FileLift], strict: bool) -> bool:
    done = [kernel for each in lifts for kernel in each.lifted]
    return not any(done) or (strict and not all(done))

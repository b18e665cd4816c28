"""`intentc lift`: Triton kernels in, Intent source and a report of what was explained out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from intent.dtypes import BY_NAME, DType
from intentc import lift_report, settings
from intentc.failure import UsageError
from intentc.inputs import read_inputs
from intentc.lift_check import checked
from intentc.outputs import Output, destinations, page_path, write_all
from intentc.render import say
from intentc.reporting import report
from translators.lifting.files import LiftedFile, Wanted, lift_text

if TYPE_CHECKING:
    from intentc.lift_verification import Verification

Verified = Mapping[str, "Verification"]
ReportFormat = Literal["text", "json"]


def lift_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of Triton kernels; - reads standard input.")],
    output: Annotated[str | None, typer.Option("-o", "--output", help="The Intent file.")] = None,
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
    stdin_filename: settings.StdinFilename = "stdin.py",
) -> None:
    """Lift Triton kernels to Intent source.

    What cannot be proven is not lifted, and is reported with the reason. The exit status is 1 if nothing is lifted, and
    with --against that of the comparison otherwise.
    """
    inputs, diagnostics = read_inputs([file], stdin_filename)
    (path,) = destinations(inputs, output) if inputs else (None,)
    page = page_path(html, [file, *([] if path is None else [path])]) if html is not None else None
    wanted = Wanted(kernel, settings.parse_constexprs(constexpr or ()), _dtypes(dtype or ()))
    lifted = [checked(lift_text(each.text, each.path, wanted), wanted) for each in inputs]
    diagnostics.extend(found for each in lifted for found in each.diagnostics)
    if diagnostics:
        report(diagnostics, inputs, "full")
        raise typer.Exit(1)
    verified = _verified(inputs[0].text, lifted[0]) if verify else {}
    lifted[0] = _merged(inputs[0].text, lifted[0], wanted)
    _deliver(lifted[0], Output(path, lifted[0].source or ""), report_format, verified)
    if page is not None:
        _show(lifted[0], inputs[0].text, page, verified)
    if _fails(lifted[0], strict) or not all(each.holds for each in verified.values()):
        raise typer.Exit(1)
    if against is not None:
        _compare(file, kernel, against, wanted.constants)


def _merged(text: str, lifted: LiftedFile, wanted: Wanted) -> LiftedFile:
    """With each program once: variants of one, such as resident and streamed, are one kernel."""
    if lifted.source is None:
        return lifted
    from translators.comparison.variants import merged

    return merged(text, lifted, wanted.constants)


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


def _verified(text: str, lifted: LiftedFile) -> Verified:
    from intentc.lift_verification import verify

    return {each.name: verify(text, lifted.path, each) for each in lifted.kernels if each.source is not None}


def _deliver(lifted: LiftedFile, output: Output, report_format: ReportFormat | None, verified: Verified) -> None:
    if output.path is not None or report_format != "json":
        write_all([output] if lifted.source else [])
    if report_format == "json":
        print(lift_report.as_json(lifted, verified))
    elif report_format == "text":
        say(lift_report.as_text(lifted, verified))
    else:
        _mention_residue(lifted)
        for name, found in verified.items():
            say(f"{lifted.path}: '{name}' {found}")


def _mention_residue(lifted: LiftedFile) -> None:
    for kernel in lifted.kernels:
        if kernel.source is None:
            say(f"{lifted.path}:{kernel.line}: '{kernel.name}' is not lifted: {kernel.reason}")


def _show(lifted: LiftedFile, text: str, page: Path, verified: Verified) -> None:
    from intentc.viewer import lift_page

    write_all([Output(page, lift_page(lifted, text, verified))])


def _fails(lifted: LiftedFile, strict: bool) -> bool:
    done = [kernel.source is not None for kernel in lifted.kernels]
    return not any(done) or (strict and not all(done))

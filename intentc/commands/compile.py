"""`intentc compile`: Intent files in, Triton modules out."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Final

import typer

from intent.records import dataclass, replace
from intentc import formats, settings
from intentc.failure import UsageError
from intentc.inputs import Input, read_inputs
from intentc.listing import listing
from intentc.outputs import Output, destinations, difference, page_path, write_all
from intentc.render import say
from intentc.reporting import report, report_text
from intentc.settings import OutputFormat
from translators.diagnostics import Diagnostic
from translators.options import Arm, Options
from translators.pipeline import Compilation, compile_text, rejects

EMITTED: Final = ("triton", "logical", "plan", "notes")


@dataclass(frozen=True, slots=True)
class Request:
    """What is done with the compiled text."""

    output: str | None
    check: bool
    diff: bool
    emit: tuple[str, ...]
    output_format: OutputFormat


def compile_command(
    files: settings.Files,
    output: Annotated[str | None, typer.Option("-o", "--output", help="The module, or a directory of modules.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if an output would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; print what would change.")] = False,
    constexpr: settings.Constexprs = None,
    arm: Annotated[Arm | None, typer.Option("--arm", help="Host functions (NumPy), device functions, or both.")] = None,
    host_runtime: Annotated[
        str | None,
        typer.Option(
            "--host-runtime",
            metavar="FILE",
            help="Write what moves NumPy arrays to FILE, once; the modules import it by its name.",
        ),
    ] = None,
    target: settings.Targets = None,
    aot: Annotated[
        bool, typer.Option("--aot", help="Also compile ahead of time for every target; no GPU needed.")
    ] = False,
    numerics: settings.NumericsMode = None,
    emit: Annotated[
        str, typer.Option("--emit", metavar="KIND,...", help=f"What to print: {', '.join(EMITTED)}.")
    ] = "triton",
    output_format: settings.Format = "full",
    stdin_filename: settings.StdinFilename = "stdin.py",
) -> None:
    """Compile Intent kernels to a Triton module.

    One file is printed unless -o names an output; several files need -o DIRECTORY. Nothing is written if any of them is
    rejected. Every module is complete in itself unless --host-runtime names a file that they share; keep that beside
    them, or elsewhere on Python's path.
    """
    request = Request(output, check, diff, _parse_emit(emit), output_format)
    options = settings.make_options(constexpr, target, numerics, arm)
    if (check or diff) and output is None:
        raise UsageError("--check and --diff compare with a file: name it with -o")
    inputs, unreadable = read_inputs(files, stdin_filename)
    paths = destinations(inputs, output)
    if host_runtime is not None:
        others: list[str | Path] = [each.path for each in inputs]
        others += [path for path in paths if path is not None]
        options = replace(options, host_runtime=_module_name(page_path(host_runtime, others), options))
    compilations = [compile_text(each.text, each.path, options) for each in inputs]
    diagnostics = [*unreadable, *(found for each in compilations for found in each.diagnostics)]
    if rejects(diagnostics):
        report(diagnostics, inputs, output_format)
        raise typer.Exit(1)
    outputs = [Output(path, _text(each, request)) for path, each in zip(paths, compilations, strict=True)]
    if host_runtime is not None:
        from translators.triton_source.module import write_host_runtime  # what reads programs does without it

        outputs.append(Output(Path(host_runtime), write_host_runtime()))
    if aot:
        _compile_ahead_of_time(compilations, options)
    _deliver(outputs, inputs, diagnostics, request)


def _module_name(path: Path, options: Options) -> str:
    """By which the file is imported from the modules beside it."""
    name = path.stem
    if options.arm == "device":
        raise UsageError("--host-runtime is for modules with functions of NumPy arrays, not for --arm device")
    taken = name in sys.stdlib_module_names or name in ("numpy", "torch", "triton")
    if path.suffix != ".py" or not name.isidentifier() or iskeyword(name) or taken:
        raise UsageError(f"--host-runtime takes a file that modules can import, such as host_runtime.py, not {path}")
    return name


def _parse_emit(text: str) -> tuple[str, ...]:
    kinds = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [kind for kind in kinds if kind not in EMITTED]
    if unknown or not kinds:
        raise UsageError(f"--emit takes {', '.join(EMITTED)}, not {text!r}")
    return kinds


def _text(compilation: Compilation, request: Request) -> str:
    """The module alone, or the listings asked for."""
    assert compilation.source is not None
    if request.emit == ("triton",):
        return compilation.source
    return "\n".join(listing(compilation, kind) for kind in request.emit)


def _deliver(
    outputs: Sequence[Output], inputs: Sequence[Input], diagnostics: Sequence[Diagnostic], request: Request
) -> None:
    if request.check or request.diff:
        _compare(outputs, request.diff)
        if request.check and any(each.existing() != each.text for each in outputs):
            raise typer.Exit(1)
    elif request.output_format in ("json", "sarif"):
        _deliver_data(outputs, diagnostics, request)
    else:
        write_all(outputs)
        _mention_notes(diagnostics, inputs, request)


def _compare(outputs: Sequence[Output], diff: bool) -> None:
    for each in outputs:
        if each.existing() != each.text:
            say(f"would write {each.path}")
            if diff:
                print(difference(each), end="")


def _deliver_data(outputs: Sequence[Output], diagnostics: Sequence[Diagnostic], request: Request) -> None:
    """Standard output then holds one document: diagnostics, and the modules that are not written to files."""
    write_all([each for each in outputs if each.path is not None])
    if request.output_format == "sarif":
        print(formats.sarif(diagnostics))
        return
    modules = [{"path": each.path and str(each.path), "source": None if each.path else each.text} for each in outputs]
    print(json.dumps({"modules": modules, "diagnostics": list(map(formats.as_data, diagnostics))}, indent=2))


def _mention_notes(diagnostics: Sequence[Diagnostic], inputs: Sequence[Input], request: Request) -> None:
    """Advice is shown in full by `check` and `explain`; here it is one line, unless the format is made for tools."""
    if request.output_format == "github":
        report_text(diagnostics, inputs, request.output_format)
    elif diagnostics and request.output is not None:
        count = f"{len(diagnostics)} note{'s' if len(diagnostics) > 1 else ''}"
        say(f"{count}; `intentc explain {' '.join(each.path for each in inputs)}` shows them")


def _compile_ahead_of_time(compilations: Sequence[Compilation], options: Options) -> None:
    """Compile every variant for every target with the installed Triton; a variant over a limit is a rejection."""
    from intentc.ahead_of_time import verify_ahead_of_time

    failures = [line for each in compilations for line in verify_ahead_of_time(each, options.targets)]
    if failures:
        raise typer.Exit(1)

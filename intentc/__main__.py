"""Entry point: finds the command that is asked for, imports only that one, and gives every outcome an exit status.

0 done; 1 the input was rejected, drifted under --check, or differs; 2 usage, configuration, input or output; 3 a bug
of the compiler; 4 a comparison could not tell.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Final, NamedTuple

import typer

from intentc import __version__


class Entry(NamedTuple):
    """Where a command's function is, and the line `intentc --help` has for it.

    No record of `intent`, in whose place another package may be imported: `intentc doctor` must run even then.
    """

    module: str
    function: str
    summary: str


COMMANDS: Final = {
    "compile": Entry("intentc.commands.compile", "compile_command", "Compile Intent kernels to a Triton module."),
    "check": Entry("intentc.commands.check", "check_command", "Report what is wrong in Intent kernels; write nothing."),
    "run": Entry(
        "intentc.commands.run", "run_command", "Run a kernel once on random inputs and compare with the reference."
    ),
    "verify": Entry(
        "intentc.commands.verify", "verify_command", "Compare a kernel with its reference over many shapes."
    ),
    "bench": Entry("intentc.commands.bench", "bench_command", "Measure a kernel on the GPU, and what bounds it."),
    "lift": Entry("intentc.commands.lift", "lift_command", "Lift Triton kernels to Intent source."),
    "compare": Entry("intentc.commands.compare", "compare_command", "Tell whether two kernels are one program."),
    "explain": Entry("intentc.commands.explain", "explain_command", "Explain a diagnostic code, or a file's plan."),
    "api": Entry("intentc.commands.api", "api_command", "Show a name of the language or the host interface."),
    "search": Entry("intentc.commands.search", "search_command", "Search names, diagnostics and pages."),
    "read": Entry("intentc.commands.read", "read_command", "Print a page of the documentation."),
    "mcp": Entry("intentc.commands.mcp", "mcp_command", "Serve look-up and the compiler to models over MCP."),
    "lsp": Entry("intentc.commands.lsp", "lsp_command", "Serve editors over the Language Server Protocol."),
    "doctor": Entry("intentc.commands.doctor", "doctor_command", "Examine the installation."),
}


def main() -> None:
    """Run the command line and exit."""
    # A command is short and what it builds only grows: looking for garbage in it would take a tenth of the time.
    gc.set_threshold(1_000_000)
    arguments = sys.argv[1:]
    try:
        application(_wanted(arguments))(prog_name="intentc")
    except BrokenPipeError:
        # The reader of our output went away; keep the interpreter from complaining while it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        from intentc.failure import report_failure

        sys.exit(report_failure(error, arguments))
    finally:
        gc.freeze()  # nor is there a point in looking for garbage on the way out


def application(wanted: Sequence[str]) -> typer.Typer:
    """The command line, in which only the commands in `wanted` can run and the others merely have their help line."""
    app = typer.Typer(
        name="intentc",
        help="Compile Intent kernels to standalone Triton modules.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name, entry in COMMANDS.items():
        function = _load(entry) if name in wanted else _placeholder
        app.command(name, help=None if name in wanted else entry.summary)(function)
    return app


def _wanted(arguments: Sequence[str]) -> Sequence[str]:
    """The command named on the command line; all of them when a shell asks for completions."""
    if "_INTENTC_COMPLETE" in os.environ:
        return tuple(COMMANDS)
    return [argument for argument in arguments if not argument.startswith("-")][:1]


def _load(entry: Entry) -> Callable[..., None]:
    function: Callable[..., None] = getattr(import_module(entry.module), entry.function)
    return function


def _placeholder() -> None:
    """Stands for a command that is listed but not invoked."""


def _print_version(asked: bool) -> None:
    if asked:
        print(f"intentc {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Compile Intent kernels to standalone Triton modules."""


if __name__ == "__main__":
    main()

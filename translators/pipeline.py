"""The compiler as plain functions: text in, a module's text and diagnostics out. No files, no device, no printing.

Nothing here imports torch, triton or numpy, and nothing executes the author's file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from intent.records import dataclass
from translators.diagnostics import Diagnostic, InternalError, Rejected, Span
from translators.intent_source.read import read_program
from translators.logical.checks import check
from translators.logical.program import Kernel, Program
from translators.options import DEFAULT, Arm, Options
from translators.triton_source.launch import KernelCode

if TYPE_CHECKING:
    from translators.triton_source.module_names import KernelNames


@dataclass(frozen=True, slots=True)
class Checked:
    """What reading gives; `program` is None if there are errors."""

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Compilation:
    """`source` is the generated module, None if anything was rejected; `codes` has each kernel that was planned."""

    source: str | None
    program: Program | None
    codes: tuple[KernelCode, ...]
    diagnostics: tuple[Diagnostic, ...]
    arm: Arm = "both"

    @property
    def names(self) -> list[KernelNames]:
        """What the module calls everything of each kernel, in the order of `codes`."""
        from translators.triton_source.module_names import module_names

        return module_names(self.codes, self.arm, self.program.host if self.program is not None else None)


def check_text(text: str, path: str, options: Options = DEFAULT, only: str | None = None) -> Checked:
    """Read a file, or `only` one kernel of it, and check every rule of the language, without planning."""
    result = read_program(text, path, options.constexprs, only, options.alone)
    kernels = result.program.kernels if result.program else ()
    diagnostics = in_order((*result.diagnostics, *(found for kernel in kernels for found in check(kernel))))
    return Checked(None if rejects(diagnostics) else result.program, diagnostics)


def compile_text(text: str, path: str, options: Options = DEFAULT, only: str | None = None) -> Compilation:
    """Compile all kernels of a file, or `only` one, into one module; diagnostics and module mention `path`."""
    checked = check_text(text, path, options, only)
    if checked.program is None:
        return Compilation(None, None, (), checked.diagnostics)
    from translators.triton_source.module import write_module  # checking alone does without the later stages
    from translators.triton_source.module_options import ModuleOptions

    codes, found = _plan_all(checked.program, options)
    diagnostics = in_order((*checked.diagnostics, *found, *_host_words(checked.program, options)))
    if rejects(diagnostics):
        return Compilation(None, checked.program, codes, diagnostics)
    source = write_module(checked.program, codes, ModuleOptions(options.arm, options.host_runtime, options.targets))
    _check_functions(codes)
    return Compilation(source, checked.program, codes, diagnostics, options.arm)


def rejects(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of them prevents compilation."""
    return any(diagnostic.severity != "note" for diagnostic in diagnostics)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By place in the text, each once."""
    distinct = dict.fromkeys(diagnostics)
    return tuple(sorted(distinct, key=lambda each: (each.span.path, each.span.line, each.span.column, each.code)))


def _plan_all(program: Program, options: Options) -> tuple[tuple[KernelCode, ...], tuple[Diagnostic, ...]]:
    """Plan every kernel, so that one kernel's rejection does not hide another's."""
    from translators.planning import plan

    codes: list[KernelCode] = []
    diagnostics: list[Diagnostic] = []
    for kernel in program.kernels:
        try:
            code = plan(kernel, program, options)
        except Rejected as rejected:
            diagnostics.append(rejected.diagnostic)
        except RecursionError:
            diagnostics.append(_too_long(kernel))
        else:
            codes.append(code)
            diagnostics.extend(code.notes)
    return tuple(codes), tuple(diagnostics)


def _too_long(kernel: Kernel) -> Diagnostic:
    """Planning walks from a value to what it is made of; thousands of steps in a row are more than that can follow."""
    message = f"'{kernel.name}' computes a value through a chain of operations that is too long to plan"
    return Diagnostic("INT900", "unsupported", message, kernel.span, "store a value in between, or use a loop")


def _check_functions(codes: Iterable[KernelCode]) -> None:
    """Every device function is at least Python; anything else is a bug of ours that must not reach a file.

    What surrounds them in the module is the same text for all kernels.
    """
    for text in dict.fromkeys(variant.source for code in codes for variant in code.variants):
        try:
            compile(text, "device function", "exec", dont_inherit=True)  # three times as quick as ast.parse
        except SyntaxError as error:
            raise InternalError(f"a device function is not valid Python: line {error.lineno}: {error.msg}") from error


def _host_words(program: Program, options: Options) -> Iterator[Diagnostic]:
    """Modules of device functions are refused by some of their callers for words that move arrays to the host."""
    if program.host is None or options.arm != "device":
        return
    from translators.triton_source.module_docstring import HOST_WORDS

    for definition in program.host.definitions:
        text = "".join(piece for piece in definition.text if isinstance(piece, str))
        for word in [word for word in HOST_WORDS if word in text]:
            line = next((number for number, line in enumerate(program.lines, 1) if word in line), 1)
            message = f"'{definition.names[0]}' contains {word}, which a module of device functions must not"
            span = Span(program.path, line, 1, line, len(program.lines[line - 1]) + 1)
            yield Diagnostic("INT902", "unsupported", message, span, "leave the array on the device, or use --arm both")

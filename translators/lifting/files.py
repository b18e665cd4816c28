"""A file of Triton kernels to a file of Intent kernels, as plain functions: text in, text and a report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.dtypes import DType
from intent.records import dataclass, field, replace
from translators.diagnostics import Diagnostic, Span
from translators.intent_source.write import write_file
from translators.lifting.launches import launches
from translators.lifting.lift import Lifted, lift_file
from translators.triton_source.read.source import Package, read_file


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: one kernel or all, values of compile-time parameters, types of parameters.

    `alone`: the text is all there is, no file is looked for beside it.
    """

    kernel: str | None = None
    constants: Mapping[str, object] = field(default_factory=dict)
    dtypes: Mapping[str, DType] = field(default_factory=dict)
    alone: bool = False


@dataclass(frozen=True, slots=True)
class LiftedFile:
    """`source` is None if no kernel is lifted."""

    path: str
    kernels: tuple[Lifted, ...]
    source: str | None
    diagnostics: tuple[Diagnostic, ...] = ()


ALL = Wanted()


def lift_text(text: str, path: str, wanted: Wanted = ALL, package: Package | None = None) -> LiftedFile:
    """`package`: the files that other lifts have read already."""
    try:
        file = read_file(text, path, package or Package(alone=wanted.alone))
    except (SyntaxError, ValueError) as error:
        return LiftedFile(path, (), None, (_syntax(error, path),))
    kernels = lift_file(file, launches(file, wanted.constants, wanted.dtypes), wanted.kernel)
    return LiftedFile(path, kernels, source_of(kernels, path))


def source_of(kernels: Sequence[Lifted], path: str) -> str | None:
    """The Intent file of what is lifted."""
    sources = [kernel.source for kernel in kernels if kernel.source is not None and kernel.variant_of is None]
    name = path.rpartition("/")[2]
    return write_file(sources, f"Lifted from {name}.") if sources else None


def without(lifted: LiftedFile, name: str, reason: str) -> LiftedFile:
    """One kernel less: what was written for it turned out not to stand."""
    kernels = tuple(
        Lifted(each.name, each.line, "unsupported", reason=reason) if each.name == name else each
        for each in lifted.kernels
    )
    return replace(lifted, kernels=kernels, source=source_of(kernels, lifted.path))


def _syntax(error: SyntaxError | ValueError, path: str) -> Diagnostic:
    line, column = (error.lineno or 1, error.offset or 1) if isinstance(error, SyntaxError) else (1, 1)
    span = Span(path, line, column, line, column + 1)
    return Diagnostic("INT001", "error", f"the file is not Python: {error}", span)

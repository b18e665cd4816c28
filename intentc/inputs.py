"""Reading input files: `-` is standard input, everything else a path."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from intent.records import dataclass
from intentc.failure import UsageError
from translators.diagnostics import Diagnostic, Rejected, Span

STANDARD_INPUT: Final = "-"
LARGEST: Final = 8 * 2**20  # bytes; ten times the longest kernel file anyone has shown us, and quick to reject


@dataclass(frozen=True, slots=True)
class Input:
    """A kernel file: `path` as the user wrote it, or the name given for standard input."""

    path: str
    text: str

    @property
    def stem(self) -> str:
        return Path(self.path).stem


def read_inputs(arguments: Sequence[str], stdin_filename: str) -> tuple[list[Input], list[Diagnostic]]:
    """Every file's text, and a diagnostic for each that holds no text. UsageError if one cannot be read at all."""
    if list(arguments).count(STANDARD_INPUT) > 1:
        raise UsageError("standard input (-) can be read once only")
    inputs: list[Input] = []
    diagnostics: list[Diagnostic] = []
    for argument in arguments:
        try:
            inputs.append(_read(argument, stdin_filename))
        except Rejected as rejected:
            diagnostics.append(rejected.diagnostic)
    return inputs, diagnostics


def _read(argument: str, stdin_filename: str) -> Input:
    if argument == STANDARD_INPUT:
        return Input(stdin_filename, decoded(sys.stdin.buffer.read(LARGEST + 1), stdin_filename))
    try:
        with Path(argument).open("rb") as file:
            content = file.read(LARGEST + 1)
    except IsADirectoryError:
        raise UsageError(f"{argument} is a directory; name its files, such as {Path(argument) / '*.py'}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {_shortened(argument)}: {reason(error)}") from None
    return Input(argument, decoded(content, argument))


def decoded(content: bytes, path: str) -> str:
    """The text of a file; raises Rejected if it is too large to be one, or not UTF-8."""
    if len(content) > LARGEST:
        message = f"the file is larger than {LARGEST // 2**20} MiB, which no kernel file is"
        raise Rejected(Diagnostic("INT005", "error", message, Span(path, 1, 1, 1, 2)))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = f"byte 0x{content[error.start]:02x} is not part of UTF-8 text"
        help = "save the file as UTF-8"
        raise Rejected(
            Diagnostic("INT002", "error", message, Span(path, line, column, line, column + 1), help)
        ) from None


def _shortened(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"


def reason(error: OSError | ValueError) -> str:
    """The operating system's words for a failure, without its numbers."""
    strerror = getattr(error, "strerror", None)
    return str(strerror or error).lower()

"""From the printed statements of a device function to its text: needless names go, repeated expressions get one,
long accesses are split, and what is still too long is folded.
"""

from __future__ import annotations

from collections.abc import Sequence

from translators.triton_source.copies import without_copies
from translators.triton_source.layout import INDENT, WIDTH, fold
from translators.triton_source.lines import Line, parsed
from translators.triton_source.loaded_values import converted_at_load
from translators.triton_source.long_lines import shortened
from translators.triton_source.repetition import without_repetition
from translators.triton_source.reused_names import with_names_reused
from translators.triton_source.single_use import without_single_uses
from translators.triton_source.telling_names import Vocabulary


def finished(lines: Sequence[Line], vocabulary: Vocabulary) -> list[str]:
    """The text of the statements, line by line."""
    vocabulary.taken |= {name for line in lines for name in _names(line)}
    plain = without_single_uses(converted_at_load(without_copies(lines)), vocabulary)
    named = without_single_uses(shortened(without_repetition(plain, vocabulary), vocabulary), vocabulary)
    return [text for line in with_names_reused(named) for text in _laid_out(line)]


def _names(line: Line) -> set[str]:
    statement = parsed(line.text)
    return {*statement.assigned, *(name for part in statement.parts for name in part.names)}


def _laid_out(line: Line) -> list[str]:
    """A comment that points to the author's line stands only where there is room for it."""
    indent = INDENT * line.level
    commented = f"{line.text}  # {line.comment}"
    if line.comment and len(indent) + len(commented) <= WIDTH:
        return [indent + commented]
    return fold(indent, line.text)

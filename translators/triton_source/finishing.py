"""From the printed statements of a device function to its text: needless names go, repeated expressions get one,
long accesses are split, and what is still too long is folded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from translators.printing.layout import INDENT, WIDTH, fold
from translators.triton_source.copies import without_copies
from translators.triton_source.lines import Line, Origins, is_accumulator, parsed
from translators.triton_source.loaded_values import converted_at_load
from translators.triton_source.long_lines import shortened
from translators.triton_source.repetition import without_repetition
from translators.triton_source.reused_names import with_blanks_apart, with_names_reused
from translators.triton_source.single_use import without_single_uses
from translators.triton_source.source_order import in_source_order
from translators.triton_source.telling_names import Vocabulary


def finished(lines: Sequence[Line], vocabulary: Vocabulary) -> list[tuple[str, Origins]]:
    """The text of the statements, line by line, and where each line comes from."""
    vocabulary.taken |= {name for line in lines for name in _names(line)}
    plain = without_single_uses(converted_at_load(without_copies(lines)), vocabulary)
    named = without_single_uses(shortened(without_repetition(plain, vocabulary), vocabulary), vocabulary)
    ordered = in_source_order(with_blanks_apart(with_names_reused(named)))
    phases = set(_phases(ordered))
    found: list[tuple[str, Origins]] = []
    for number, line in enumerate(ordered):
        found += [("", frozenset())] * (number in phases)
        found += [(text, line.origins) for text in _laid_out(line)]
    return found


def _phases(lines: Sequence[Line]) -> Iterator[int]:
    """Where a new pass over the data begins: at the accumulators of a loop that is not the only one."""
    loops = [n for n, line in enumerate(lines) if line.level == 1 and parsed(line.text).kind in ("for", "while")]
    for loop in loops if len(loops) > 1 else ():
        while loop > 0 and lines[loop - 1].level == 1 and is_accumulator(lines[loop - 1]):
            loop -= 1
        if loop > 0:
            yield loop


def _names(line: Line) -> set[str]:
    statement = parsed(line.text)
    return {*statement.assigned, *(name for part in statement.parts for name in part.names)}


def _laid_out(line: Line) -> list[str]:
    """A comment without room beside its statement stands above it, but for a place in the source, which is left out."""
    indent = INDENT * line.level
    commented = f"{line.text}  # {line.comment}"
    if line.comment and len(indent) + len(commented) <= WIDTH:
        return [indent + commented]
    above = [f"{indent}# {line.comment[0].upper()}{line.comment[1:]}."] if " " in line.comment else []
    return [*above, *fold(indent, line.text)]

"""The catalogue of diagnostics: one entry for every rule of the language that a program can break.

Codes are stable. They are numbered by the sections of the language page: 0 the file, 1 definitions and parameters,
2 literals and dtypes, 3 domains, 4 tensors and shapes, 5 indexing and memory, 6 reductions and scans, 7 contractions,
8 control flow, 900 legal but unsupported, 950 notes. `diagnostic_codes.txt` holds the entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from intent.records import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """`title` is the short name; `wrong` breaks the rule and `right` is the same intent written well."""

    code: str
    title: str
    rule: str
    wrong: str
    right: str


def _entries() -> Iterator[list[str]]:
    catalogue = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for paragraph in catalogue.strip().split("\n\n"):
        if not paragraph.startswith("#"):
            yield paragraph.split("\n")


def _rule(lines: list[str]) -> Rule:
    code, _, title = lines[0].partition(" ")
    rule = " ".join(line[2:] for line in lines if line.startswith("  "))
    wrong, right = ("\n".join(line[2:] for line in lines if line.startswith(mark)) for mark in ("- ", "+ "))
    return Rule(code, title, rule, wrong, right)


CODES: Final[Mapping[str, Rule]] = {rule.code: rule for rule in map(_rule, _entries())}

"""Writes docs/language/intrinsics.md from the table of intrinsics: `python -m tests.intrinsics_page`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from intent.intrinsics import INTRINSICS, Intrinsic

PAGE = Path(__file__).parent.parent / "docs" / "language" / "intrinsics.md"

SECTIONS = {
    4: ("Domains and coordinates", "domains.md"),
    5: ("Tensors", "tensors.md"),
    6: ("Memory", "memory.md"),
    7: ("Reductions and scans", "reductions.md"),
    8: ("Contractions", "contractions.md"),
    10: ("Random numbers", "numerics.md"),
}

INTRODUCTION = """# Intrinsics

Every function of `intent.language`, generated from the table that the compiler reads (`intent/intrinsics.py`).
Parameters after `*` are given by name.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    for number, (title, where) in SECTIONS.items():
        rows = [_row(each) for each in INTRINSICS.values() if each.section == number]
        yield f"## [{title}]({where})\n\n| call | result | |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _row(intrinsic: Intrinsic) -> str:
    return f"| `{intrinsic.signature}` | {intrinsic.result} | {intrinsic.doc} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""Writes docs/diagnostics.md from the catalogue: `python -m tests.diagnostics_page`."""

from __future__ import annotations

from pathlib import Path

from translators.diagnostic_codes import CODES, Rule

PAGE = Path(__file__).parent.parent / "docs" / "diagnostics.md"

FAMILIES = {
    "0": "The file",
    "1": "Definitions and parameters",
    "2": "Literals, dtypes, casts",
    "3": "Domains and coordinates",
    "4": "Tensors and shapes",
    "5": "Indexing and memory",
    "6": "Reductions, scans, regions",
    "7": "Contractions",
    "8": "Control flow",
    "9": "Limits and notes",
}

INTRODUCTION = """# Diagnostics

Every rule of the language that a program can break has a stable code. This page is generated from
`translators/diagnostic_codes.txt`; `intentc explain INT401` prints an entry.

INT900 marks legal programs that the compiler cannot handle yet. Codes from INT950 on are notes: advice that never keeps
a program from compiling.
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    family = ""
    for rule in CODES.values():
        if rule.code[3] != family:
            family = rule.code[3]
            parts.append(f"## {FAMILIES[family]}\n")
        parts.append(_entry(rule))
    return "\n".join(parts)


def _entry(rule: Rule) -> str:
    examples = [f"    # {label}\n" + _indented(text) for label, text in (("wrong", rule.wrong), ("right", rule.right))]
    return f"### {rule.code}: {rule.title}\n\n{rule.rule}\n\n" + "\n\n".join(examples) + "\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""`samples/README.md`: the order in which to read the samples. Run by `make golden`.

The page's own sections and order are kept; what is rewritten is the sentence beside each name, from the sample's
docstring. Names of samples that are gone are dropped, new ones are put into the last section.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
PAGE = SAMPLES / "README.md"
ENTRY = re.compile(r"- \[(\w+)\]")


def listed(text: str) -> list[str]:
    """The samples that the page names, in its order."""
    return [found[1] for line in text.splitlines() if (found := ENTRY.match(line))]


def updated(text: str) -> str:
    present = {path.stem for path in SAMPLES.glob("*.py")}
    lines = list(_kept(text, present))
    new = [_entry(stem) for stem in sorted(present - set(listed(text)))]
    if new and not ENTRY.match(lines[-1]):
        lines.append("")
    lines += new
    return "\n".join(lines) + "\n"


def _kept(text: str, present: set[str]) -> Iterator[str]:
    for line in text.rstrip("\n").splitlines():
        found = ENTRY.match(line)
        if found is None:
            yield line
        elif found[1] in present:
            yield _entry(found[1])


def _entry(stem: str) -> str:
    """The name and the docstring's first paragraph."""
    docstring = ast.get_docstring(ast.parse((SAMPLES / f"{stem}.py").read_text(encoding="utf-8"))) or ""
    return f"- [{stem}]({stem}.py): {' '.join(docstring.partition(chr(10) * 2)[0].split())}"


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

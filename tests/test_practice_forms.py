"""Every form that published kernels use reads without a diagnostic: one small program each, under `tests/forms/`.

A file holds several programs, separated by `# --- title` lines; each gets the two imports before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from translators.intent_source.read import read_program
from translators.logical.checks import check

FORMS = Path(__file__).parent / "forms"
CONSTEXPRS = {"TOP": 3, "SCALE": 0.5, "CAUSAL": True, "MODE": "A"}
HEADER = "import intent\nimport intent.language as I\n"


def _programs() -> Iterator[tuple[str, str]]:
    for path in sorted(FORMS.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("# --- ")[1:]:
            title, _, text = part.partition("\n")
            yield f"{path.stem}: {title.strip()}", text


PROGRAMS = dict(_programs())


@pytest.mark.parametrize("title", PROGRAMS)
def test_form_reads(title: str) -> None:
    text = PROGRAMS[title]
    bound = {name: value for name, value in CONSTEXPRS.items() if f"{name}: I.Constexpr" in text}
    found = read_program(HEADER + text, "form.py", bound)
    errors = [diagnostic for diagnostic in found.diagnostics if diagnostic.severity != "note"]
    assert not errors, "\n".join(f"{error.span.line}: {error.message}; {error.help}" for error in errors)
    assert found.program is not None and found.program.kernels
    for kernel in found.program.kernels:
        assert not [diagnostic for diagnostic in check(kernel) if diagnostic.severity != "note"]


def test_titles_are_unique() -> None:
    assert len(PROGRAMS) == len(list(_programs())) > 60

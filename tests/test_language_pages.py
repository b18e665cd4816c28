"""The pages under docs/language/: examples compile or are rejected as they say, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from intrinsics_page import PAGE, page

from intent.intrinsics import INTRINSICS
from translators.pipeline import compile_text

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "language").glob("*.md"))
HEADER = "import intent\nimport intent.language as I\n\n\n"
EXAMPLES = [
    pytest.param(text, id=f"{path.stem}-{number}")
    for path in PAGES
    for number, text in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL))
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_compile_or_are_rejected_as_they_say(text: str) -> None:
    compilation = compile_text(HEADER + text, "example.py")
    found = [each.code for each in compilation.diagnostics if each.severity != "note"]
    expected = re.match(r"# (INT\d{3})\n", text)
    assert found == ([expected.group(1)] if expected else [])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_lead_to_files(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert all((path.parent / link).exists() for link in links), links


def test_the_page_of_intrinsics_is_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.intrinsics_page`"


def test_every_intrinsic_is_on_the_page() -> None:
    assert page().count("\n| `I.") == len(INTRINSICS)

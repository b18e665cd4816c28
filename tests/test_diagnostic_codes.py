"""The catalogue of diagnostics is complete, well formed, and printed in the documentation."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from diagnostics_page import PAGE, page

from translators.diagnostic_codes import CODES, Rule

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("rule", CODES.values(), ids=list(CODES))
def test_entry_is_complete(rule: Rule) -> None:
    assert re.fullmatch(r"INT\d{3}", rule.code)
    assert rule.title and rule.wrong and rule.right
    assert rule.rule.endswith((".", "…"))
    assert not rule.title.endswith(".")


def test_codes_are_in_order() -> None:
    assert list(CODES) == sorted(CODES)


def test_right_examples_are_python() -> None:
    for rule in CODES.values():
        if rule.code < "INT100" or rule.code in ("INT113", "INT115") or rule.code >= "INT900":
            continue
        try:
            ast.parse(_completed(rule.right.replace("(...)", "()").replace(", ...)", ")")))
        except SyntaxError as error:
            pytest.fail(f"{rule.code}: {error}: {rule.right}")


def _completed(example: str) -> str:
    """Examples leave out what is around them: a function for `return`, a loop for `break`."""
    return "def around():\n for _ in ():\n" + "\n".join(f"  {line}" for line in example.split("\n"))


def test_every_code_in_use_is_in_the_catalogue() -> None:
    used: set[str] = set()
    for path in (ROOT / "translators").rglob("*.py"):
        used.update(re.findall(r"\bINT\d{3}\b", path.read_text(encoding="utf-8")))
    assert used <= set(CODES)


def test_every_code_in_the_catalogue_is_in_use() -> None:
    used = {
        code
        for package in ("intent", "intentc", "translators")
        for path in (ROOT / package).rglob("*.py")
        for code in re.findall(r"\bINT\d{3}\b", path.read_text(encoding="utf-8"))
    }
    assert set(CODES) <= used


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.diagnostics_page`"

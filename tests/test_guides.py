"""The guides: every command that they show prints what they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from guides import PAGES, rewritten


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_commands_print_what_is_shown(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert rewritten(page) == page, "run `python -m tests.guides` and read the difference"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_lead_to_files(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert all((path.parent / link).exists() for link in links), links

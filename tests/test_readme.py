"""The README tells the truth: its example compiles to what it shows, its targets and commands exist."""

from __future__ import annotations

import re

from readme_example import README, updated

from intentc.__main__ import COMMANDS

TEXT = README.read_text(encoding="utf-8")
MAKEFILE = (README.parent / "Makefile").read_text(encoding="utf-8")


def test_the_example_is_current() -> None:
    assert updated() == TEXT, "run `python -m tests.readme_example`"


def test_commands_exist() -> None:
    assert set(re.findall(r"`intentc (\w+)", TEXT)) == set(COMMANDS)


def test_make_targets_exist() -> None:
    for target in re.findall(r"\bmake (\w+)", TEXT):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)


def test_links_exist() -> None:
    for path in re.findall(r"`((?:docs|samples|golden)/[\w./]*)`", TEXT):
        assert (README.parent / path).exists(), path

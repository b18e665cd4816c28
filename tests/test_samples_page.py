"""`samples/README.md` names every sample once, with what its docstring says."""

from __future__ import annotations

import re

from samples_page import PAGE, SAMPLES, listed, updated

TEXT = PAGE.read_text(encoding="utf-8")


def test_every_sample_is_listed_once() -> None:
    assert sorted(listed(TEXT)) == sorted(path.stem for path in SAMPLES.glob("*.py"))


def test_the_page_is_current() -> None:
    assert updated(TEXT) == TEXT, "run `python -m tests.samples_page`"


def test_every_section_says_what_it_shows() -> None:
    for section in TEXT.split("\n## ")[1:]:
        heading, _, rest = section.partition("\n\n")
        assert rest and not rest.startswith("- "), heading


def test_workloads_name_samples() -> None:
    rows = re.findall(r"^\| .* \| (.*) \|$", TEXT.partition("## By workload")[2].partition("\n## ")[0], re.MULTILINE)
    named = [name for row in rows[1:] for name in row.split(", ")]
    assert len(named) == len(set(named)) and len(named) > 80
    assert set(named) <= set(listed(TEXT))

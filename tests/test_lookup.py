"""`intentc api`, `search` and `read`: every name and page is found, and what is said of intrinsics is what holds."""

from __future__ import annotations

import json
import time

import pytest
from command_line import intentc
from lookup_data import content

from intent.intrinsics import INTRINSICS
from intentc.lookup.entries import DATA, entries, text_of
from intentc.lookup.pages import pages
from intentc.lookup.search import search
from translators.diagnostic_codes import CODES
from translators.pipeline import compile_text

LONGEST_SEARCH = 0.02  # seconds


def test_every_intrinsic_has_an_entry() -> None:
    for path, intrinsic in INTRINSICS.items():
        entry = entries()[f"I.{path}"]
        assert (entry.declaration, entry.summary, entry.result) == (
            intrinsic.signature, intrinsic.doc, intrinsic.result
        )  # fmt: skip
        assert entry.page in pages()
        assert f"I.{path}(" in entry.example
        assert all(code in CODES for code in (entry.rejected or {}).values())


def test_data_are_those_of_the_conformance_suite() -> None:
    assert DATA.read_text(encoding="utf-8") == content(), "run `python -m tests.lookup_data`"


def test_examples_compile() -> None:
    for name, entry in entries().items():
        if entry.example:
            found = compile_text(entry.example, f"{name}.py")
            assert not [each for each in found.diagnostics if each.severity != "note"], name


def test_host_names_have_declaration_and_text() -> None:
    names = ("intent.compile", "intent.Artifact.run", "intent.targets.TritonTarget", "intent.CompileOptions")
    for name in names:
        assert entries()[name].summary and entries()[name].declaration.startswith(name)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("reduce sum", "I.reduce.sum"), ("scater unique", "I.scatter_unique"), ("INT402", "INT402"),
        ("atomic add", "I.atomic.add"), ("broadcasting", "language/tensors#broadcasting"),
        ("subregoins", "language/domains#subregions"), ("torch operator", "host-api#as-a-pytorch-operator"),
        ("histogram", "I.histogram"), ("ragged rows", "language/domains#ragged-rows"),
    ],
)  # fmt: skip
def test_search_finds(query: str, first: str) -> None:
    assert search(query, 3)[0].document.identity == first


def test_search_is_fast() -> None:
    search("warm")
    for query in ("subregoin", "scatter with several index tensors", "accumulater dtype of a contraction", "x"):
        best = min(_seconds(query) for _ in range(5))
        assert best < LONGEST_SEARCH, (query, best)


def _seconds(query: str) -> float:
    begin = time.perf_counter()
    search(query)
    return time.perf_counter() - begin


def test_nothing_is_found_for_nonsense() -> None:
    assert search("qqqqqqq") == []
    assert search("") == []
    assert intentc("search", "qqqqqqq").status == 1


def test_commands_print_text_and_data() -> None:
    shown = intentc("api", "reduce.sum")
    assert shown.status == 0 and shown.output.strip() == text_of(entries()["I.reduce.sum"])
    assert json.loads(intentc("api", "I.exp", "--output-format", "json").output)["rejected"]["i8"] in CODES
    hits = json.loads(intentc("search", "prefix", "sums", "--output-format", "json").output)
    assert {"kind", "id", "title", "score"} == set(hits[0])
    section = json.loads(intentc("read", "language/memory#gathers", "--output-format", "json").output)
    assert section["title"] == "Gathers" and "I.gather(" in section["text"]
    assert "language/memory" in intentc("read").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("api", "redcue.sum"), "did you mean reduce.sum"),
        (("api", "zzzz"), "`intentc search zzzz` may find it"),
        (("read", "language/memroy"), "did you mean language/memory"),
        (("read", "language/memory#gather"), "did you mean gathers"),
    ],
)
def test_what_is_unknown_is_answered_with_what_is_like_it(arguments: tuple[str, ...], message: str) -> None:
    result = intentc(*arguments)
    assert result.status == 2
    assert message in result.errors


def test_every_section_can_be_read() -> None:
    for page in pages().values():
        assert len({section.identity for section in page.sections}) == len(page.sections), page.identity

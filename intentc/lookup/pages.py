"""The pages of the documentation and their sections, from the package or, in a checkout, from docs/."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from intent.records import dataclass
from intentc.failure import UsageError

_PACKAGED: Final = Path(__file__).resolve().parents[1] / "pages"
_CHECKOUT: Final = Path(__file__).resolve().parents[2] / "docs"
_HEADING: Final = re.compile(r"^(#{1,3}) (.+)$")
_LEFT_OUT: Final = frozenset({"conformance", "lift-corpus", "round-trips", "samples", "diagnostics", "index"})
"""Tables of results, and what `intentc explain` prints."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what follows it up to the next one; `identity` is `page#heading`, or the page's for its first."""

    identity: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    identity: str
    title: str
    text: str
    sections: tuple[Section, ...]


@cache
def pages() -> Mapping[str, Page]:
    """Every page by its identity: its path below the folder, without the ending."""
    folder = _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT
    found = {}
    for path in sorted(folder.rglob("*.md")):
        identity = path.relative_to(folder).with_suffix("").as_posix().removesuffix("/README")
        if identity not in _LEFT_OUT:
            found[identity] = _page(identity, path.read_text(encoding="utf-8"))
    return found


def found(identity: str) -> tuple[str, str]:
    """Title and text; UsageError names what there is instead."""
    name, mark, section = identity.partition("#")
    page = pages().get(name)
    if page is None:
        raise UsageError(f"there is no page {name}{_hint(name, list(pages()))}")
    if not mark:
        return page.title, page.text
    by_anchor = {each.identity.partition("#")[2]: each for each in page.sections[1:]}
    if section not in by_anchor:
        raise UsageError(f"{name} has no section {section}{_hint(section, list(by_anchor))}")
    return by_anchor[section].title, by_anchor[section].text


def _hint(name: str, known: list[str]) -> str:
    like = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    return f"; did you mean {' or '.join(like)}?" if like else f"; there are {', '.join(known)}"


def anchor(title: str) -> str:
    """The heading as links name it: `Ragged rows` is `ragged-rows`."""
    return re.sub(r"[^\w\- ]", "", _plain(title).lower()).replace(" ", "-")


def _plain(title: str) -> str:
    """Without links and marks."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", title)


def _page(identity: str, text: str) -> Page:
    parts: list[tuple[str, list[str]]] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        heading = None if fenced else _HEADING.match(line)
        if heading:
            parts.append((heading[2], [line]))
        elif parts:
            parts[-1][1].append(line)
    sections = tuple(
        Section(f"{identity}#{anchor(title)}" if number else identity, _plain(title), "\n".join(lines).strip() + "\n")
        for number, (title, lines) in enumerate(parts)
    )
    return Page(identity, sections[0].title if sections else identity, text, sections)

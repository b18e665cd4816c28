"""What all pages have in common: the document around them, panes of code side by side, notes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from intentc.viewer.code import Listing, listing
from intentc.viewer.markup import Child, Markup, element, joined

_HERE = Path(__file__).parent


def document(title: str, summary: str, entries: Sequence[tuple[str, str]], body: Child) -> str:
    """A whole page. `entries` are the ids and names of its parts, listed at the top if there are several."""
    links = element("ul", [element("li", element("a", name, href=f"#{target}")) for target, name in entries])
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(_asset("style.css"))),
    )
    top = element(
        "header", element("h1", title), element("p", summary, class_="quiet"),
        element("nav", links, aria_label="Kernels") if len(entries) > 1 else None,
    )  # fmt: skip
    foot = element("footer", "Made by intentc. Hover over a line, or focus it, to see what it corresponds to; "
                   "the arrow keys go up and down and to the other side.")  # fmt: skip
    script = element("script", Markup(_asset("script.js")))
    page = element("html", head, element("body", top, element("main", body), foot, script), lang="en")
    return f"<!doctype html>\n{page}\n"


def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def pane(title: str, shown: Listing, about: str, kind: str = "") -> Markup:
    """A listing that scrolls within its own frame; `about` tells those of one title apart."""
    label = f"{title} ({about})"
    inside = element("div", listing(shown, label), class_="scroll", tabindex=-1)
    return element("section", element("h3", title), inside, class_=f"pane {kind}".strip(), aria_label=label)


def line_link(target: str, number: int) -> Markup:
    return element("a", str(number), href=f"#{target}", aria_label=f"line {number}")


def listed(items: Sequence[Child], kind: str = "facts") -> Markup:
    return element("ul", [element("li", joined(item)) for item in items], class_=kind)

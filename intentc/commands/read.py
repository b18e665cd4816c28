"""`intentc read`: a page of the documentation, or a section of one."""

from __future__ import annotations

import difflib
import json
from typing import Annotated

import typer

from intentc import settings
from intentc.failure import UsageError
from intentc.lookup.pages import pages


def read_command(
    identity: Annotated[
        str | None, typer.Argument(metavar="[ID[#SECTION]]", help="Such as language/memory#gathers.")
    ] = None,
    output_format: settings.DataFormat = "text",
) -> None:
    """Print a page of the documentation.

    Or a section of it.

    Without an argument, list every page.
    """
    if identity is None:
        listed = {page.identity: page.title for page in pages().values()}
        print(json.dumps(listed, indent=2) if output_format == "json" else _list(listed))
        return
    title, text = found(identity)
    if output_format == "json":
        print(json.dumps({"id": identity, "title": title, "text": text}, indent=2))
    else:
        print(text, end="")


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


def _list(listed: dict[str, str]) -> str:
    width = max(map(len, listed))
    return "\n".join(f"{identity:<{width}}  {title}" for identity, title in listed.items())

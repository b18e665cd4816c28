"""`intentc read`: a page of the documentation, or a section of one."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from intentc import settings
from intentc.lookup.pages import found, pages


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


def _list(listed: dict[str, str]) -> str:
    width = max(map(len, listed))
    return "\n".join(f"{identity:<{width}}  {title}" for identity, title in listed.items())

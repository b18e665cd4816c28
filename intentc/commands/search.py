"""`intentc search`: what the documentation has on some words."""

from __future__ import annotations

import json
from typing import Annotated, Final

import typer

from intentc import settings
from intentc.lookup.search import Kind, search

SHOWN_BY: Final[dict[Kind, str]] = {"api": "intentc api", "diagnostic": "intentc explain", "page": "intentc read"}


def search_command(
    query: Annotated[list[str], typer.Argument(metavar="WORD...", help="What to look for.")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="The most results.")] = 10,
    output_format: settings.DataFormat = "text",
) -> None:
    """Search names, diagnostics and pages.

    Misspelt words are forgiven. The exit status is 1 if nothing is found.
    """
    hits = search(" ".join(query), limit)
    if output_format == "json":
        print(json.dumps([hit.as_data() for hit in hits], indent=2))
    else:
        width = max((len(_command(hit.document.kind, hit.document.identity)) for hit in hits), default=0)
        for hit in hits:
            print(f"{_command(hit.document.kind, hit.document.identity):<{width}}  {hit.document.title}")
    if not hits:
        raise typer.Exit(1)


def _command(kind: Kind, identity: str) -> str:
    return f"{SHOWN_BY[kind]} {identity}"

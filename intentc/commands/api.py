"""`intentc api`: one name of the language or the host interface."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from intentc import settings
from intentc.lookup.entries import named, text_of


def api_command(
    name: Annotated[str, typer.Argument(help="A name, such as I.reduce.sum or intent.compile.")],
    output_format: settings.DataFormat = "text",
) -> None:
    """Show a name of the language or the host interface.

    Its call, result, dtypes, errors and an example."""
    entry = named(name)
    if output_format == "json":
        print(json.dumps(entry.as_data(), indent=2))
    else:
        print(text_of(entry))

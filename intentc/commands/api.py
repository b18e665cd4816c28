"""`intentc api`: one name of the language or the host interface."""

from __future__ import annotations

import difflib
import json
from typing import Annotated

import typer

from intentc import settings
from intentc.failure import UsageError
from intentc.lookup.entries import Entry, entries


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


def named(name: str) -> Entry:
    """The entry of a name with or without `I.` or `intent.`; UsageError names those like it."""
    known = entries()
    for full in (name, f"I.{name}", f"intent.{name}"):
        if full in known:
            return known[full]
    like = difflib.get_close_matches(name, [*known, *(each.partition(".")[2] for each in known)], n=3, cutoff=0.6)
    hint = f"; did you mean {' or '.join(dict.fromkeys(like))}?" if like else f"; `intentc search {name}` may find it"
    raise UsageError(f"there is no {name}{hint}")


def text_of(entry: Entry) -> str:
    """The entry as `intentc api` prints it."""
    parts = [entry.declaration, "", entry.summary, ""]
    parts += [f"gives     {entry.result}"] if entry.result else []
    parts += [f"dtypes    {' '.join(entry.dtypes)}"] if entry.dtypes else []
    codes: dict[str, list[str]] = {}
    for dtype, code in (entry.rejected or {}).items():
        codes.setdefault(code, []).append(dtype)
    parts += [f"rejected  {' '.join(dtypes)}: {code}" for code, dtypes in codes.items()]
    parts += [f"page      intentc read {entry.page}"]
    if entry.example:
        body = entry.example.partition("import intent.language as I\n")[2].strip()
        parts += ["", body]
    return "\n".join(parts)

"""`intentc doctor`: what is installed, what is missing, what is in the way, and how to mend it.

Nothing of the compiler is imported here, since a foreign package of the same name may be what is wrong.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from intentc.environment import findings


def doctor_command(
    output_format: Annotated[
        Literal["text", "json"], typer.Option("--output-format", help="How it is printed.")
    ] = "text",
) -> None:
    """Examine the installation.

    And say how to mend it. The exit status is 2 if something that is installed cannot work; what only some commands
    need is merely reported as missing.
    """
    found = list(findings())
    if output_format == "json":
        print(json.dumps([each._asdict() for each in found], indent=2))
    else:
        width = max(len(each.subject) for each in found)
        for each, following in zip(found, [*found[1:], None], strict=True):
            print(f"{each.state:<8}{each.subject:<{width}}  {each.text}")
            if each.mend and (following is None or following.mend != each.mend):
                print(f"{'':<8}{'':<{width}}  -> {each.mend}")
    if any(each.state == "wrong" for each in found):
        raise typer.Exit(2)

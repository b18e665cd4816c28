"""`intentc mcp`: look-up and the compiler as tools for models."""

from __future__ import annotations

import gc
import sys
from typing import Annotated

import typer

from intentc.render import say


def mcp_command(
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, max=10.0, help="Seconds that one call may take.")
    ] = 10.0,
) -> None:
    """Serve look-up and the compiler to models over MCP.

    On standard input and output. Programs are passed as text; nothing is read from disk, written to it, or executed.
    """
    if sys.stdin.isatty():
        say("waiting for an MCP client on standard input: name `intentc mcp` as the command of a server in your client")
    from intentc.serving.mcp_server import make_server

    gc.set_threshold(700)  # unlike other commands, this one lives long
    make_server(timeout).run("stdio")

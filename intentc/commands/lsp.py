"""`intentc lsp`: diagnostics, hovers, definitions and quick fixes for editors."""

from __future__ import annotations

import gc
import sys

from intentc.render import say


def lsp_command() -> None:
    """Serve editors over the Language Server Protocol.

    On standard input and output: diagnostics while typing, what names mean, where they are defined, quick fixes.
    """
    if sys.stdin.isatty():
        say("waiting for an editor on standard input: name `intentc lsp` as the command of a language server in yours")
    from intentc.serving.language_server import make_server

    gc.set_threshold(700)  # unlike other commands, this one lives long
    make_server().start_io()

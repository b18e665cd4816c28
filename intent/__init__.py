"""The Intent language for authors and hosts: `@intent.kernel`, `@intent.fn`, and the host interface.

Importing this module is cheap; whatever compiles or runs kernels is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from intent.definitions import fn, kernel

if TYPE_CHECKING:
    from intent import language, targets
    from intent.host import (
        Artifact,
        CompileError,
        CompileOptions,
        Context,
        PreparedCall,
        UnsupportedError,
        build,
        compile,
        generate,
    )

__all__ = [
    "Artifact",
    "CompileError",
    "CompileOptions",
    "Context",
    "PreparedCall",
    "UnsupportedError",
    "build",
    "compile",
    "fn",
    "generate",
    "kernel",
    "language",
    "targets",
]

_MODULES = frozenset({"language", "targets"})
_HOST = frozenset(__all__) - _MODULES - {"fn", "kernel"}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"intent.{name}")
    if name in _HOST:
        found: object = getattr(import_module("intent.host"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'intent' has no attribute '{name}'")

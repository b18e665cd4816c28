"""The Intent language for authors and hosts: `@intent.kernel`, `@intent.fn`, and the host interface.

Importing this module is cheap; whatever compiles or runs kernels is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from intent.definitions import fn, kernel

__all__ = ["fn", "kernel", "language", "targets"]

_HOST = frozenset({"CompileOptions", "UnsupportedError", "build", "compile", "generate"})
_MODULES = frozenset({"language", "targets"})


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"intent.{name}")
    if name in _HOST:
        if find_spec("intent.host") is None:
            raise AttributeError(f"intent.{name} is not available yet: compile with `intentc compile FILE`")
        return getattr(import_module("intent.host"), name)
    raise AttributeError(f"module 'intent' has no attribute '{name}'")

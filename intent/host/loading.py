"""Generated modules as modules: executed from text that was verified, never from a file that someone may have changed.

Triton, debuggers and tracebacks ask `linecache` for the text of a function; it is given the very text that runs.
"""

from __future__ import annotations

import linecache
from functools import lru_cache
from types import ModuleType

from intent.host.cache import digest
from intent.host.interpreter import repair_interpreter


@lru_cache(maxsize=256)
def load_module(source: str, stem: str) -> ModuleType:
    """The module of this text; the same object for the same text, so that no kernel is compiled twice in a process."""
    name = f"{stem}_{digest(source)[:12]}"
    file = f"<generated {name}.py>"
    # Without a time of modification, linecache does not look for the file to see whether it changed.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = ModuleType(name)
    module.__file__ = file
    exec(compile(source, file, "exec", dont_inherit=True), vars(module))
    repair_interpreter()
    return module

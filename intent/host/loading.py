"""Generated modules as modules: executed from text that was verified, never from a file that someone may have changed.

Triton, debuggers and tracebacks ask `linecache` for the text of a function; it is given the very text that runs.
"""

from __future__ import annotations

import linecache
import threading
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any

from intent.host.cache import digest
from intent.host.interpreter import repair_interpreter
from intent.records import dataclass


@dataclass(frozen=True, slots=True)
class Recorded:
    """A launch as a module made it: device function, number of programs, arguments as Triton got them, options."""

    kernel: Any
    programs: int
    arguments: tuple[Any, ...]
    options: dict[str, Any]


class LoadedModule:
    """A generated module whose launches can be recorded. Every thread records its own."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self._start: Callable[..., Callable[..., None]] = vars(module)["_start"]
        self._passed: Callable[[object], object] = vars(module).get(
            "_passed", _unchanged
        )  # the bits of a float8 tensor
        self._local = threading.local()
        vars(module)["_start"] = self._started  # the module's launchers look the name up in every call

    def function(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(self.module, name)
        return function

    def recorded(self, name: str, arguments: tuple[object, ...]) -> list[Recorded]:
        """Call a public function of the module; the launches that it made."""
        launches: list[Recorded] = []
        vars(self.module)["_REPEATS"] = {}  # or the module itself would repeat a launch
        self._local.launches = launches
        try:
            self.function(name)(*arguments)
        finally:
            self._local.launches = None
        return launches

    def _started(
        self, kernel: object, programs: int, arguments: tuple[object, ...], options: dict[str, object]
    ) -> Callable[..., None]:
        """Stands in for the module's own function of this place."""
        start = self._start(kernel, programs, arguments, options)
        launches = getattr(self._local, "launches", None)
        if launches is not None:
            launches.append(Recorded(kernel, programs, tuple(map(self._passed, arguments)), options))
        return start


def _unchanged(argument: object) -> object:
    return argument


@lru_cache(maxsize=256)
def load_module(source: str, stem: str) -> LoadedModule:
    """The module of this text; the same object for the same text, so that no kernel is compiled twice in a process."""
    name = f"{stem}_{digest(source)[:12]}"
    file = f"<generated {name}.py>"
    # Without a time of modification, linecache does not look for the file to see whether it changed.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = ModuleType(name)
    module.__file__ = file
    exec(compile(source, file, "exec", dont_inherit=True), vars(module))
    repair_interpreter()
    return LoadedModule(module)

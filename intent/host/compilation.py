"""From a kernel of an imported file to its translation: the file is read again as text, never executed again.

The translation of a whole file is what the command line writes for it. Where the file cannot be translated as a whole,
because of another kernel's mistake or unbound constexprs, the kernel gets a module of its own.
"""

from __future__ import annotations

import enum
import importlib.util
import linecache
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from intent.definitions import Definition
from intent.host.cache import MOST_ENTRIES, digest, user_cache
from intent.host.errors import CompileError, failure
from intent.host.translation import Translation, from_json, to_json
from intent.records import dataclass
from translators.diagnostics import Diagnostic, Span
from translators.options import NUMERICS, TARGETS, Numerics, Options

if TYPE_CHECKING:
    from translators.logical.program import Kernel

Constant = bool | int | float | str


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Permissions beyond what the source says. `numerics` is "source" or "relaxed_normalization"."""

    numerics: Numerics = "source"

    def __post_init__(self) -> None:
        if self.numerics not in NUMERICS:
            raise ValueError(f"numerics is one of {', '.join(NUMERICS)}, not {self.numerics!r}")


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that a translation depends on, imported files aside."""

    path: str
    text: str
    kernel: str
    constexprs: tuple[tuple[str, Constant], ...] = ()
    numerics: Numerics = "source"
    targets: tuple[str, ...] = TARGETS

    @property
    def options(self) -> Options:
        return Options(dict(self.constexprs), self.numerics, self.targets)

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def key(self, only: str | None) -> str:
        """The name of the translation of the whole file, or of `only` one kernel."""
        constexprs = repr([(name, type(value).__name__, value) for name, value in self.constexprs])
        choices = (constexprs, self.numerics, ",".join(self.targets), only or "")
        return digest(str(Path(self.path).absolute()), self.text, *choices, versions())


def make_request(
    kernel: object, constexprs: Mapping[str, object] | None, options: CompileOptions | None, architecture: str | None
) -> Request:
    """What is asked for; TypeError or ValueError if it is no kernel, or one without a file."""
    definition = _definition(kernel)
    if architecture is not None and architecture not in TARGETS:
        raise ValueError(f"the architecture is one of {', '.join(TARGETS)}, not {architecture!r}")
    return Request(
        path=definition.path,
        text=_text(definition),
        kernel=definition.__name__,
        constexprs=tuple(sorted((name, _constant(name, value)) for name, value in (constexprs or {}).items())),
        numerics=(options or CompileOptions()).numerics,
        targets=TARGETS if architecture is None else (architecture,),
    )


def _definition(kernel: object) -> Definition:
    if not isinstance(kernel, Definition):
        raise TypeError(f"a function decorated with @intent.kernel is expected, not {kernel!r}")
    if kernel.role != "kernel":
        raise TypeError(f"'{kernel.__name__}' is an @intent.fn: it is compiled with the kernels that call it")
    if "<locals>" in kernel.__qualname__:
        message = (
            "is defined inside a function; the compiler reads files, and in them kernels of the module's top level"
        )
        raise ValueError(f"kernel '{kernel.__name__}' {message}")
    return kernel


def _text(definition: Definition) -> str:
    """The text of the file now; notebooks and consoles keep theirs in `linecache`."""
    path = Path(definition.path)
    if path.is_file():
        return path.read_bytes().decode("utf-8")
    lines = linecache.getlines(definition.path)
    if not lines:
        raise ValueError(f"kernel '{definition.__name__}' has no source file: {definition.path} cannot be read")
    return "".join(lines)


def _constant(name: str, value: object) -> Constant:
    match value:
        case enum.Enum():
            return f"{type(value).__name__}.{value.name}"
        case bool() | int() | float() | str():
            return value
        case _ if getattr(value, "shape", None) == ():  # a number of NumPy
            return _constant(name, value.item())  # type: ignore[attr-defined]
        case _:
            raise TypeError(f"the constexpr '{name}' must be a bool, int, float or I.Enum, not {value!r}")


@cache
def versions() -> str:
    """The compiler that would translate, by its own text, and the Python that would run the module."""
    roots = [Path(__file__).parents[1], *_folders("translators")]
    files = sorted(path for root in roots for path in root.rglob("*") if path.suffix in (".py", ".txt"))
    return digest(sys.version, *(content for path in files for content in (path.name, path.read_bytes())))


def _folders(package: str) -> list[Path]:
    specification = importlib.util.find_spec(package)
    return [Path(place) for place in (specification and specification.submodule_search_locations) or ()]


# --------------------------------------------------------------------------------------------------------- translation
def translate(request: Request) -> Translation:
    """The translation that holds the kernel, from memory, from disk, or made now; CompileError or UnsupportedError."""
    found = _remembered(request, None) or _remembered(request, request.kernel)
    if found is None:
        found = _translate(request)
    _check_constexprs(request, found)
    return found


def check(request: Request) -> tuple[Kernel, tuple[Diagnostic, ...]]:
    """The kernel as a logical program, which is all that the reference target needs, and notes about it."""
    from translators.pipeline import check_text

    checked = check_text(request.text, request.path, request.options, request.kernel)
    if checked.program is None:
        raise failure(checked.diagnostics, request.lines)
    return checked.program.kernels[0], checked.diagnostics


def _translate(request: Request) -> Translation:
    """Translate the file, else the kernel alone; whatever is wrong with the kernel itself is raised."""
    from intent.host.describe import describe  # loads the compiler
    from translators.pipeline import compile_text

    only = None
    compilation = compile_text(request.text, request.path, request.options)
    if compilation.source is None or request.kernel not in [code.kernel.name for code in compilation.codes]:
        only = request.kernel
        compilation = compile_text(request.text, request.path, request.options, only)
    if compilation.source is None:
        raise failure(compilation.diagnostics, request.lines)
    return _remember(request.key(only), describe(compilation))


def _check_constexprs(request: Request, translation: Translation) -> None:
    """A name that only another kernel of the file declares was meant for this one."""
    declared = {name for name, _ in translation.kernels[request.kernel].interface.constants}
    for name, _ in request.constexprs:
        if "." not in name and name not in declared:
            message = f"kernel '{request.kernel}' has no constexpr parameter '{name}'"
            raise CompileError(message, (Diagnostic("INT115", "error", message, Span(request.path, 1, 1, 1, 2)),))


# -------------------------------------------------------------------------------------------------------------- memory
@cache
def _memory() -> dict[str, Translation]:
    """What this process has used, by name; a copy of a small part of the disk cache."""
    return {}


def _remembered(request: Request, only: str | None) -> Translation | None:
    name = request.key(only)
    found = _memory().get(name)
    if found is None:
        text = user_cache().load(name)
        found = from_json(text) if text is not None else None
    if found is None or not _unchanged(found) or request.kernel not in found.kernels:
        return None
    _memory()[name] = found
    return found


def _remember(name: str, translation: Translation) -> Translation:
    if len(_memory()) >= MOST_ENTRIES:
        _memory().clear()
    _memory()[name] = translation
    user_cache().store(name, to_json(translation))
    return translation


def _unchanged(translation: Translation) -> bool:
    return all(file_digest(path) == known for path, known in translation.imported.items())


def file_digest(path: str) -> str | None:
    """None for a file that does not exist."""
    try:
        return digest(Path(path).read_bytes())
    except OSError:
        return None

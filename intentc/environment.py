"""What is installed here, what is missing, what is in the way, and how each is mended.

Nothing of the compiler is imported, since a foreign package of the same name may be what is wrong; nor is any package
that is examined, since importing is what may fail.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Final, Literal, NamedTuple

from intentc import __version__

State = Literal["ok", "missing", "wrong"]
Version = tuple[int, ...]


class Finding(NamedTuple):
    """One thing that was looked at. `missing` is what only some commands need; `wrong` is what keeps something that is
    installed from working. `mend` is what to do about either."""

    subject: str
    state: State
    text: str
    mend: str = ""


class Range(NamedTuple):
    """The versions that are meant: from `first` up to `before`, and the extra that installs them."""

    first: str
    before: str = ""
    extra: str = ""


NEEDED: Final[Mapping[str, Range]] = {
    "libcst": Range("1.5"), "rich": Range("13"), "typer": Range("0.19"), "typing_extensions": Range("4.6"),
}  # fmt: skip
FOR_RUNNING: Final[Mapping[str, Range]] = {
    "numpy": Range("1.26", extra="gpu"), "torch": Range("2.9", extra="gpu"),
    "triton": Range("3.5.1", "3.10", "gpu"), "ml_dtypes": Range("0.4", extra="gpu"),
}  # fmt: skip
FOR_CLIENTS: Final[Mapping[str, Range]] = {"mcp": Range("2", "3", "mcp"), "pygls": Range("2", "3", "lsp")}
COMMANDS_OF: Final = {"gpu": "run, verify, bench, and calls from Python", "mcp": "intentc mcp", "lsp": "intentc lsp"}

_OURS: Final = Path(__file__).resolve().parents[1]
_PACKAGES: Final = ("intent", "translators", "intentc")


def findings() -> Iterator[Finding]:
    """Everything, in the order in which it is worth mending."""
    yield from _python()
    yield from _own_packages()
    for name, meant in NEEDED.items():
        yield _package(name, meant, "the command line needs it")
    yield from conflicts()
    for name, meant in {**FOR_RUNNING, **FOR_CLIENTS}.items():
        yield _package(name, meant, f"needed for {COMMANDS_OF[meant.extra]}")
    yield from _machine()


# -------------------------------------------------------------------------------------------------------------- Python
def _python() -> Iterator[Finding]:
    supported = sys.version_info >= (3, 10)
    mend = "" if supported else "install Python 3.10 or later and make an environment with it"
    yield Finding("python", "ok" if supported else "wrong", f"{platform.python_version()}, {sys.executable}", mend)
    found, scripts = shutil.which("intentc"), sysconfig.get_path("scripts")
    if found is None:
        mend = f"add {scripts} to PATH, or write `{Path(sys.executable).name} -m intentc`"
        yield Finding("intentc", "missing", f"{__version__}; no `intentc` on PATH", mend)
    elif Path(found).resolve().parent != Path(scripts).resolve():
        text = f"{__version__}; the `intentc` on PATH is another environment's, {found}"
        yield Finding("intentc", "missing", text, f"write `{Path(sys.executable).name} -m intentc`, or mend PATH")
    else:
        yield Finding("intentc", "ok", f"{__version__}, {found}")


# ------------------------------------------------------------------------------------------------------------ packages
def _package(name: str, meant: Range, purpose: str) -> Finding:
    """One package by the version of its distribution."""
    found = version_of(name)
    within = f"{meant.first} or later" + (f", before {meant.before}" if meant.before else "")
    wanted = f">={meant.first}" + (f",<{meant.before}" if meant.before else "")
    mend = f"pip install 'intentc[{meant.extra}]'" if meant.extra else f"pip install '{name}{wanted}'"
    if found is None:
        return Finding(name, "missing" if meant.extra else "wrong", f"not installed; {purpose}", mend)
    if _number(found) < _number(meant.first):
        return Finding(name, "wrong", f"{found} is too old: {within} is meant", f"pip install '{name}{wanted}'")
    if meant.before and _number(found) >= _number(meant.before):
        return Finding(name, "wrong", f"{found} is too new: {within} is meant", f"pip install '{name}{wanted}'")
    return Finding(name, "ok", found)


def version_of(distribution: str) -> str | None:
    """The installed version; None if there is none."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _number(version: str) -> Version:
    """`2.13.0+cpu` as (2, 13, 0)."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def conflicts() -> Iterator[Finding]:
    """Versions that are each well but do not work together."""
    triton, numpy = version_of("triton"), version_of("numpy")
    if triton and numpy and _number(triton) < (3, 7) and _number(numpy) >= (2, 4):
        text = f"the interpreter of Triton {triton} fails in loops with NumPy {numpy}"
        yield Finding("triton and numpy", "wrong", text, "pip install 'numpy<2.4', or 'triton>=3.7'")
    torch = version_of("torch")
    if torch and "+cpu" in torch and _driver() is not None:
        text = f"{torch} is built without GPUs, and this machine has one"
        yield Finding("torch and GPU", "wrong", text, "install PyTorch's build for this GPU instead")


# ----------------------------------------------------------------------------------------------------- our own packages
def _own_packages() -> Iterator[Finding]:
    """PyPI has unrelated packages with our packages' names; whichever comes first on the path is imported, and one that
    is installed into the same folder overwrites files."""
    for name in _PACKAGES:
        found, others = _origin(name), _also_installing(name)
        if found != _OURS / name:
            yield Finding(f"package {name}", "wrong", f"{found or 'nothing'} is imported instead of {_OURS / name}",
                          _out_of_the_way(name, found, others))  # fmt: skip
        elif others:
            text = f"{found} also has files of {', '.join(others)}, which is another package of that name"
            reinstall = "pip install --force-reinstall --no-deps intentc"
            yield Finding(f"package {name}", "wrong", text, f"pip uninstall {' '.join(others)}; {reinstall}")
        else:
            yield Finding(f"package {name}", "ok", str(found))


def _origin(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).resolve().parent


def _also_installing(package: str) -> list[str]:
    """Distributions other than ours that install a package of this name."""
    found = set()
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name and name != "intentc" and _installs(distribution, package):
            found.add(name)
    return sorted(found)


def _installs(distribution: metadata.Distribution, package: str) -> bool:
    top_level = distribution.read_text("top_level.txt")
    if top_level is not None:
        return package in top_level.split()
    return re.search(rf"^{package}/", distribution.read_text("RECORD") or "", re.MULTILINE) is not None


def _out_of_the_way(name: str, found: Path | None, others: list[str]) -> str:
    if found is None:
        return "pip install --force-reinstall --no-deps intentc"
    if found.parent == Path.cwd().resolve():
        return f"the folder {found.name} here comes first: work in another folder, or rename it"
    if others:
        return f"pip uninstall {' '.join(others)}, or install intentc in an environment of its own"
    return f"take {found.parent} off PYTHONPATH, or install intentc in an environment of its own"


# ------------------------------------------------------------------------------------------------------------- machine
def _driver() -> str | None:
    return next((path for path in ("/dev/nvidiactl", "/dev/kfd") if Path(path).exists()), None)


def _machine() -> Iterator[Finding]:
    driver = _driver()
    if driver is None:
        yield Finding("GPU", "missing", "none found; compiling needs none",
                      "run modules on the CPU: `intentc run FILE --cpu`, or TRITON_INTERPRET=1")  # fmt: skip
    else:
        yield Finding("GPU", "ok", driver)
        yield from _launching()
    interpret = os.environ.get("TRITON_INTERPRET", "0")
    if interpret == "1" and driver is not None:
        text = "TRITON_INTERPRET=1: modules run on the CPU, though there is a GPU"
        yield Finding("interpreter", "ok", text, "unset TRITON_INTERPRET to use the GPU")
    else:
        yield Finding("interpreter", "ok", "on: TRITON_INTERPRET=1" if interpret == "1" else "off")


def _launching() -> Iterator[Finding]:
    """What Triton compiles its launchers with."""
    compiler = os.environ.get("CC") or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    yield Finding("C compiler", "ok" if compiler else "wrong", compiler or "none found; Triton launches with one",
                  "" if compiler else "install gcc or clang, or name one in CC")  # fmt: skip
    header = Path(sysconfig.get_path("include")) / "Python.h"
    yield Finding("Python.h", "ok" if header.exists() else "wrong", str(header),
                  "" if header.exists() else "install Python's headers, such as the package python3-dev")  # fmt: skip

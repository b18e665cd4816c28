"""`intentc doctor`: what is installed, what is missing, and which package is in the way.

Nothing of the compiler is imported here, since a foreign package of the same name may be what is wrong.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final, Literal

import typer

from intent.records import dataclass
from intentc import __version__

State = Literal["ok", "missing", "wrong"]
_NEEDED: Final = ("libcst", "typer", "rich")
_FOR_RUNNING: Final = ("numpy", "torch", "triton", "ml_dtypes")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. Only a `wrong` finding keeps the compiler from working."""

    subject: str
    state: State
    text: str


def doctor_command() -> None:
    """Examine the installation.

    The exit status is 2 if something keeps the compiler from working; what only running needs is reported as missing.
    """
    findings = [*_packages(), *_own_packages(), *_machine()]
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        print(f"{finding.state:<8}{finding.subject:<{width}}  {finding.text}")
    if any(finding.state == "wrong" for finding in findings):
        raise typer.Exit(2)


def _packages() -> Iterator[Finding]:
    yield Finding("intentc", "ok", __version__)
    supported = sys.version_info >= (3, 10)
    yield Finding("python", "ok" if supported else "wrong", f"{platform.python_version()} (3.10 or later is needed)")
    for name in _NEEDED:
        version = _version(name)
        yield Finding(name, "ok" if version else "wrong", version or f"not installed: pip install {name}")
    for name in _FOR_RUNNING:
        version = _version(name)
        yield Finding(
            name, "ok" if version else "missing", version or "needed to run modules: pip install 'intentc[gpu]'"
        )


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _own_packages() -> Iterator[Finding]:
    """PyPI has unrelated packages with our packages' names; whichever comes first on the path is imported."""
    ours = Path(__file__).resolve().parents[2]
    for name in ("intent", "translators"):
        found = _origin(name)
        if found == ours / name:
            yield Finding(f"package {name}", "ok", str(found))
        else:
            text = (
                f"{found or 'not found'} is imported instead of {ours / name}; uninstall it or use another environment"
            )
            yield Finding(f"package {name}", "wrong", text)


def _origin(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).resolve().parent


def _machine() -> Iterator[Finding]:
    compiler = os.environ.get("CC") or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    yield Finding("C compiler", "ok" if compiler else "missing", compiler or "Triton needs one to launch kernels")
    driver = next((path for path in ("/dev/nvidiactl", "/dev/kfd") if Path(path).exists()), None)
    without = "none found; modules run on the CPU under TRITON_INTERPRET=1 (`intentc run --cpu`)"
    yield Finding("GPU", "ok" if driver else "missing", driver or without)
    interpret = os.environ.get("TRITON_INTERPRET")
    yield Finding("interpreter", "ok", f"TRITON_INTERPRET={interpret}" if interpret else "off")

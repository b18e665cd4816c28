"""What happens when something other than the author's program is wrong: usage errors, and bugs of the compiler."""

from __future__ import annotations

import platform
import shlex
import shutil
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from intentc import __version__

EXTRA_OF: Final[Mapping[str, str]] = {
    "numpy": "gpu", "torch": "gpu", "triton": "gpu", "ml_dtypes": "gpu", "mcp": "mcp", "mcp_types": "mcp",
    "pygls": "lsp", "lsprotocol": "lsp",
}  # fmt: skip
"""Which extra installs a package that only some commands need."""


class UsageError(Exception):
    """A mistake outside the program text: a missing file, an unwritable output, an unsuitable option. Exit status 2."""


def report_failure(error: Exception, arguments: Sequence[str]) -> int:
    """Print what went wrong and give the exit status: 2 for usage errors, 3 for bugs of the compiler."""
    if isinstance(error, UsageError):
        print(f"intentc: {error}", file=sys.stderr)
        return 2
    if isinstance(error, ImportError) and (hint := _shadowed(error)):
        print(f"intentc: {hint}", file=sys.stderr)
        return 2
    if conflict := _conflict():
        print(f"intentc: {_first_line(error)}\nThis environment is known not to work: {conflict}", file=sys.stderr)
        return 2
    print(f"intentc: internal error: {_first_line(error)}", file=sys.stderr)
    print(
        "This is a bug of intentc, not a mistake in your program. Please report it with this bundle:", file=sys.stderr
    )
    print(f"  {_write_bundle(error, arguments)}", file=sys.stderr)
    return 3


def _shadowed(error: ImportError) -> str | None:
    """A message if the import failed because another package took one of our names, or a requirement is missing."""
    name = (error.name or "").partition(".")[0]
    if name in ("intent", "translators") and not _is_ours(name):
        return f"another package named '{name}' is imported in place of intentc's own; run `intentc doctor`"
    if isinstance(error, ModuleNotFoundError) and name in EXTRA_OF:
        return f"this command needs {name}, which is not installed: pip install 'intentc[{EXTRA_OF[name]}]'"
    return None


def _conflict() -> str | None:
    """What is known not to work of the packages that modules run with, and how it is mended."""
    if "triton" not in sys.modules:
        return None
    from intentc.environment import conflicts

    return next((f"{each.text}: {each.mend}" for each in conflicts()), None)


def _is_ours(package: str) -> bool:
    path = getattr(sys.modules.get(package), "__file__", None)
    return path is not None and Path(path).resolve().parent.parent == Path(__file__).resolve().parent.parent


def _first_line(error: Exception) -> str:
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _write_bundle(error: Exception, arguments: Sequence[str]) -> Path:
    """A directory with the command, versions, traceback and input files: enough to see the failure again."""
    directory = Path(tempfile.mkdtemp(prefix="intentc-bug-"))
    versions = f"intentc {__version__}, Python {platform.python_version()}, {platform.platform()}"
    (directory / "command.txt").write_text(f"intentc {shlex.join(arguments)}\n{versions}\n", encoding="utf-8")
    (directory / "traceback.txt").write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    for argument in arguments:
        path = Path(argument)
        if path.suffix == ".py" and path.is_file():
            shutil.copyfile(path, directory / path.name)
    return directory

"""What a process that answers for others may do: use so much memory, and read the files of its own packages.

Nothing that is asked for needs more. This is the second line of defence, behind readers that look for no file.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Final

MEMORY: Final = 2**30  # bytes
_PROJECT: Final = Path(__file__).resolve().parents[2]
_FORBIDDEN: Final = (
    "ctypes.", "ftplib.", "http.", "os.", "pty.", "shutil.", "smtplib.", "socket.", "sqlite3.", "subprocess.",
    "tempfile.", "urllib.", "webbrowser.",
)  # fmt: skip
_HARMLESS: Final = frozenset({"os.listdir", "os.scandir"})  # how the import system finds modules


def limit_memory(most: int = MEMORY) -> None:
    """Let allocations fail that would bring the process above `most` bytes, where the system can (not on Windows)."""
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


# Opened while files may be. What getrusage calls the peak of a process includes that of the one which started it.
_STATUS_FILE: Final = Path("/proc/self/status")
_STATUS: Final = _STATUS_FILE.open(encoding="ascii") if _STATUS_FILE.exists() else None


def memory_used() -> int:
    """The most that the process has held so far, in bytes; 0 where the system does not say."""
    if _STATUS is not None:
        _STATUS.seek(0)
        return next((int(line.split()[1]) * 1024 for line in _STATUS if line.startswith("VmHWM:")), 0)
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def confine() -> None:
    """From now on this process opens files of Python's library, of installed packages and of this project for reading,
    and no others; it starts no process, opens no connection, and changes nothing on disk. Violations raise
    PermissionError. There is no way back.
    """
    roots = tuple(f"{each.resolve()}{os.sep}" for each in _readable())

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            _check_open(arguments, roots)
        elif event.startswith(_FORBIDDEN) and event not in _HARMLESS:
            raise PermissionError(f"{event} is not allowed here")

    sys.addaudithook(watch)


def _readable() -> list[Path]:
    library = sysconfig.get_paths()
    folders = [Path(library[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [_PROJECT / name for name in ("intent", "translators", "intentc", "docs")]
    return folders + ([Path(sys.pycache_prefix)] if sys.pycache_prefix else [])


def _check_open(arguments: tuple[object, ...], roots: tuple[str, ...]) -> None:
    path, mode, flags = arguments
    writing = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    inside = isinstance(path, int) or (
        isinstance(path, str | bytes) and os.path.realpath(os.fsdecode(path)).startswith(roots)
    )
    if writing or not inside:
        raise PermissionError(f"opening {path!r} with mode {mode!r} is not allowed here")

"""The disk cache of translations: one authenticated file for each, named by a digest of all that it was made from.

Nothing that another user or program put there is ever used: the folder must be private to this user, and every entry
carries a code computed with a key that only this user can read. The folder is opened once for each use, and everything
is done in what was opened: whoever can exchange the folder itself, or put a link in its place, gains nothing. Entries
are written beside their name and renamed, so that concurrent processes see whole entries only. The cache is a
convenience: without a usable folder, or a system that can tell whose it is, nothing is kept.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from intent.records import dataclass

MOST_ENTRIES: Final = 512
MOST_BYTES: Final = 64 * 2**20
_KEY: Final = "key"
_KEY_BYTES: Final = 32
_ENTRY: Final = ".json"
_WRITING: Final = ".writing-"
_LONGEST_WRITE: Final = 3600  # seconds; what has not been renamed by then never will be
_CODE_LENGTH: Final = 64  # hexadecimal digits of SHA-256


@dataclass(frozen=True, slots=True)
class DiskCache:
    """Texts by name in a private folder. A text that was not written through such a cache by this user is not found."""

    folder: Path

    def load(self, name: str) -> str | None:
        """The text stored under the name; None if there is none that can be trusted."""
        with suppress(OSError), _opened(self.folder) as folder:
            key = _key(folder)
            content = _read(folder, name + _ENTRY)
            code, text = content[:_CODE_LENGTH], content[_CODE_LENGTH:]
            if hmac.compare_digest(code, _code(key, name, text)):
                with suppress(OSError):
                    os.utime(name + _ENTRY, dir_fd=folder)  # what is used stays longest
                return text.decode("utf-8")
        return None

    def store(self, name: str, text: str) -> None:
        """Keep the text; nothing happens where the folder cannot be used."""
        content = text.encode("utf-8")
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _opened(self.folder) as folder:
                _create_key(folder)
                _write(folder, name + _ENTRY, _code(_key(folder), name, content) + content)
                _prune(folder)

    def entries(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{_ENTRY}"))

    def clear(self) -> None:
        for path in self.entries():
            path.unlink(missing_ok=True)


def user_cache() -> DiskCache:
    """The cache at its usual place: $XDG_CACHE_HOME/intentc, or ~/.cache/intentc."""
    root = os.environ.get("XDG_CACHE_HOME")
    return DiskCache((Path(root) if root else _home() / ".cache") / "intentc")


def _home() -> Path:
    """A process without a home has no cache: its folder cannot be made in a place that is no folder."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull)


def digest(*parts: str | bytes) -> str:
    """SHA-256 of the parts in order; lengths are included, so that no two lists of parts have the same text."""
    whole = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(len(content).to_bytes(8, "little"))
        whole.update(content)
    return whole.hexdigest()


# --------------------------------------------------------------------------------------------------------- authenticity
@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """The folder as a descriptor; OSError if it is a link, or not this user's alone."""
    if not hasattr(os, "getuid") or os.open not in os.supports_dir_fd:
        raise NotADirectoryError(f"{path}: this system does not say whose a folder is")
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _check_private(folder, 0o022)
        yield folder
    finally:
        os.close(folder)


def _check_private(file: int, forbidden: int) -> None:
    """PermissionError unless this user owns what is open, and nobody else has one of the forbidden permissions."""
    status = os.fstat(file)
    if status.st_uid != os.getuid() or status.st_mode & forbidden:
        raise PermissionError("it is not this user's alone")


def _key(folder: int) -> bytes:
    """The secret that entries are authenticated with; OSError if there is none, or others could know it."""
    key = _read(folder, _KEY, forbidden=0o077)
    if len(key) != _KEY_BYTES:
        raise PermissionError("the key is not one of ours")
    return key


def _create_key(folder: int) -> None:
    """A key if there is none yet; whichever of several processes comes first wins."""
    with suppress(FileNotFoundError):
        if os.stat(_KEY, dir_fd=folder, follow_symlinks=False).st_size == _KEY_BYTES:
            return
        os.unlink(_KEY, dir_fd=folder)  # what a crash of the machine left of one
    temporary = _temporary(folder, secrets.token_bytes(_KEY_BYTES))
    try:
        with suppress(FileExistsError):
            os.link(temporary, _KEY, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.unlink(temporary, dir_fd=folder)


def _code(key: bytes, name: str, content: bytes) -> bytes:
    """Binds the content to its name, so that one entry cannot stand in for another."""
    return hmac.new(key, f"{name}\n".encode() + content, hashlib.sha256).hexdigest().encode("ascii")


# ---------------------------------------------------------------------------------------------------------------- files
def _read(folder: int, name: str, forbidden: int = 0) -> bytes:
    """The content of a plain file of the folder that is this user's; what is no file is not waited for."""
    number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(number, "rb") as file:
        _check_private(number, forbidden)
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise PermissionError(f"{name} is no file")
        return file.read()


def _write(folder: int, name: str, content: bytes) -> None:
    temporary = _temporary(folder, content)
    try:
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(temporary, dir_fd=folder)
        raise


def _temporary(folder: int, content: bytes) -> str:
    """A new file of the folder that only this user can read; its name."""
    name = _WRITING + secrets.token_hex(8)
    number = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
    except OSError:  # no room
        os.unlink(name, dir_fd=folder)
        raise
    return name


def _prune(folder: int) -> None:
    """Drop what was used longest ago until a quarter of the room is free, if there is too much."""
    states = dict(_states(folder))
    for name, status in states.items():
        if name.startswith(_WRITING) and status.st_mtime < time.time() - _LONGEST_WRITE:
            _remove(folder, name)
    entries = {name: status for name, status in states.items() if name.endswith(_ENTRY)}
    count, total = len(entries), sum(status.st_size for status in entries.values())
    if count <= MOST_ENTRIES and total <= MOST_BYTES:
        return
    for name in sorted(entries, key=lambda each: entries[each].st_mtime):
        if count <= MOST_ENTRIES * 3 // 4 and total <= MOST_BYTES * 3 // 4:
            break
        _remove(folder, name)
        count, total = count - 1, total - entries[name].st_size


def _states(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    """What is in the folder; another process may remove some meanwhile."""
    for name in os.listdir(folder):
        with suppress(OSError):
            yield name, os.stat(name, dir_fd=folder, follow_symlinks=False)


def _remove(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)

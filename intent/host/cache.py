"""The disk cache of translations: one authenticated file for each, named by a digest of all that it was made from.

Nothing that another user or program put there is ever used: the folder must be private to this user, and every entry
carries a code computed with a key that only this user can read. Entries are written beside their name and renamed, so
that concurrent processes see whole entries only. The cache is a convenience: without a usable folder nothing is kept.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from intent.records import dataclass

MOST_ENTRIES: Final = 512
MOST_BYTES: Final = 64 * 2**20
_KEY: Final = "key"
_KEY_BYTES: Final = 32
_WRITING: Final = ".writing-"
_LONGEST_WRITE: Final = 3600  # seconds; what has not been renamed by then never will be
_CODE_LENGTH: Final = 64  # hexadecimal digits of SHA-256


@dataclass(frozen=True, slots=True)
class DiskCache:
    """Texts by name in a private folder. A text that was not written through such a cache by this user is not found."""

    folder: Path

    def load(self, name: str) -> str | None:
        """The text stored under the name; None if there is none that can be trusted."""
        key = self._key(create=False)
        if key is None:
            return None
        path = self._path(name)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        code, text = content[:_CODE_LENGTH], content[_CODE_LENGTH:]
        if not hmac.compare_digest(code, _code(key, name, text)):
            return None
        with suppress(OSError):
            os.utime(path)  # what is used stays longest
        return text.decode("utf-8")

    def store(self, name: str, text: str) -> None:
        """Keep the text; nothing happens where the folder cannot be used."""
        key = self._key(create=True)
        if key is None:
            return
        content = text.encode("utf-8")
        with suppress(OSError):
            _write(self._path(name), _code(key, name, content) + content)
            self._prune()

    def entries(self) -> list[Path]:
        return sorted(self.folder.glob("*.json"))

    def clear(self) -> None:
        for path in self.entries():
            path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _prune(self) -> None:
        """Drop what was used longest ago until a quarter of the room is free, if there is too much."""
        for abandoned in self.folder.glob(f"{_WRITING}*"):
            if abandoned.stat().st_mtime < time.time() - _LONGEST_WRITE:
                abandoned.unlink(missing_ok=True)
        sizes = dict(_sizes(self.entries()))
        count, total = len(sizes), sum(size for _, size in sizes.values())
        if count <= MOST_ENTRIES and total <= MOST_BYTES:
            return
        for path in sorted(sizes, key=lambda each: sizes[each][0]):
            if count <= MOST_ENTRIES * 3 // 4 and total <= MOST_BYTES * 3 // 4:
                break
            path.unlink(missing_ok=True)
            count, total = count - 1, total - sizes[path][1]

    # ----------------------------------------------------------------------------------------------------- authenticity
    def _key(self, create: bool) -> bytes | None:
        """The secret that entries are authenticated with; None if the folder or the secret is not this user's alone."""
        try:
            if create:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self.folder / _KEY
            if not _private(self.folder):
                return None
            if create and not path.exists():
                _create(path, secrets.token_bytes(_KEY_BYTES))
            key = path.read_bytes()
            return key if _private(path) and len(key) == _KEY_BYTES else None
        except OSError:
            return None


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


def _code(key: bytes, name: str, content: bytes) -> bytes:
    """Binds the content to its name, so that one entry cannot stand in for another."""
    return hmac.new(key, f"{name}\n".encode() + content, hashlib.sha256).hexdigest().encode("ascii")


def _private(path: Path) -> bool:
    """Owned by this user and writable by nobody else; a key must not be readable either."""
    if not hasattr(os, "getuid"):
        return True
    status = path.stat()
    forbidden = 0o022 if stat.S_ISDIR(status.st_mode) else 0o077
    return status.st_uid == os.getuid() and not status.st_mode & forbidden


def _create(path: Path, content: bytes) -> None:
    """Write a file that does not exist yet; whichever of several processes comes first wins."""
    temporary = _temporary(path.parent, content)
    try:
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    temporary = _temporary(path.parent, content)
    try:
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _temporary(folder: Path, content: bytes) -> Path:
    """A new file that only this user can read."""
    number, name = tempfile.mkstemp(dir=folder, prefix=_WRITING)
    with os.fdopen(number, "wb") as file:
        file.write(content)
    return Path(name)


def _sizes(paths: list[Path]) -> Iterator[tuple[Path, tuple[float, int]]]:
    """When each was last used, and its size; another process may have removed some."""
    for path in paths:
        with suppress(OSError):
            status = path.stat()
            yield path, (status.st_mtime, status.st_size)

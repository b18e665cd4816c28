"""Writing output files: where each goes, atomically, and never two in one place."""

from __future__ import annotations

import contextlib
import difflib
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from intent.records import dataclass
from intentc.failure import UsageError
from intentc.inputs import STANDARD_INPUT, Input, reason


@dataclass(frozen=True, slots=True)
class Output:
    """Text to be written; `path` None is standard output."""

    path: Path | None
    text: str

    def existing(self) -> str | None:
        """What the file holds now; None if it does not exist or is not text."""
        assert self.path is not None
        try:
            return self.path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            return None


def destinations(
    inputs: Sequence[Input], output: str | None, places: Sequence[Path] | None = None
) -> list[Path | None]:
    """The output path of each input; `places` are those below an output directory, which there is in any case if they
    are given. UsageError if several inputs have no directory, or two have the same path.
    """
    if output is None or output == STANDARD_INPUT:
        if len(inputs) > 1 or places is not None:
            raise UsageError("several inputs need an output directory: -o DIRECTORY")
        return [None for _ in inputs]
    directory = Path(output)
    if places is not None:
        paths = [directory / each for each in places]
    elif len(inputs) == 1 and not directory.is_dir() and not output.endswith(os.sep):
        paths = [directory]
    else:
        paths = [directory / f"{each.stem}.py" for each in inputs]
    _check_distinct(inputs, paths)
    return list(paths)


def _check_distinct(inputs: Sequence[Input], paths: Sequence[Path]) -> None:
    claimed: dict[Path, str] = {}
    sources = {Path(each.path).resolve() for each in inputs}
    for each, path in zip(inputs, paths, strict=True):
        if path.resolve() in sources:
            raise UsageError(f"writing {path} would overwrite an input")
        if path in claimed:
            raise UsageError(f"{claimed[path]} and {each.path} would both be written to {path}")
        claimed[path] = each.path


def page_path(path: str, others: Iterable[str | Path]) -> Path:
    """Where a page goes. UsageError if that is an input, or another output."""
    made = Path(path)
    if any(made.resolve() == Path(other).resolve() for other in others):
        raise UsageError(f"writing {path} would overwrite a file of this command")
    return made


def write_all(outputs: Iterable[Output]) -> None:
    """Write every file whose text has changed; standard output as it is."""
    for output in outputs:
        if output.path is None:
            print(output.text, end="", flush=True)
        elif output.existing() != output.text:
            _write(output.path, output.text)


def _write(path: Path, text: str) -> None:
    """Write beside the file and rename, so that a reader sees the old text or the new, never a part."""
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8", newline="\n")  # a device or a pipe cannot be replaced
        else:
            _replace(target, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {reason(error)}") from None


def _replace(target: Path, text: str) -> None:
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(0, "permission denied")
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(temporary).chmod(_mode(target))
        Path(temporary).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def difference(output: Output) -> str:
    """A unified diff from the file as it is to the file as it would be; empty if they agree."""
    before = (output.existing() or "").splitlines(keepends=True)
    lines = difflib.unified_diff(before, output.text.splitlines(keepends=True), str(output.path), str(output.path))
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)

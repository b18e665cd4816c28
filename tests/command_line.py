"""Runs the command line for tests: in a process of its own, as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from intent.records import dataclass

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Outcome:
    status: int
    output: str
    errors: str

    def assert_clean(self) -> None:
        """Whatever happened, the user saw no traceback and no report of a bug."""
        assert "Traceback" not in self.errors + self.output, self.errors
        assert self.status != 3, self.errors


def intentc(
    *arguments: str | Path, stdin: bytes = b"", directory: Path | None = None, path: Sequence[Path] = (ROOT,)
) -> Outcome:
    """`intentc ARGUMENTS` with the checkout's packages first on the path."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "NO_COLOR": "1", "COLUMNS": "100"}
    result = subprocess.run(
        [sys.executable, "-m", "intentc", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=directory,
        env=environment,
        timeout=120,
        check=False,
    )
    return Outcome(result.returncode, result.stdout.decode(), result.stderr.decode())


def python(code: str, path: Sequence[Path] = (ROOT,)) -> str:
    """The output of Python code in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout

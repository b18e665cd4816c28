"""Compilation ahead of time in a process of its own, for callers that have triton's interpreter in theirs."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import sample_files

Measurements = list[dict[str, object]] | str  # or what went wrong

PATIENCE = 300.0  # seconds for one file


class Child:
    """Compiles kernel files on request; started again if a file brings it down or takes too long."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def measurements(self, path: Path, targets: Sequence[str], everything: bool = False) -> Measurements:
        """The measurements of the file's variants, or what went wrong."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps([str(path), targets, everything]) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        line = process.stdout.readline() if ready else ""
        if not line:
            self.end()
            return "the compiling process ended" if ready else f"no answer within {PATIENCE:.0f} seconds"
        reply: Measurements = json.loads(line)
        return reply

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("ahead_of_time_child.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment | {"PYTHONPATH": str(sample_files.ROOT)},
            )
        return self._process

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

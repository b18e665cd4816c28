"""Compiling the same files in two processes gives the same bytes, whatever the order of hashes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import sample_files

SCRIPT = """
import sys
from pathlib import Path
from translators.pipeline import compile_text
for name in sys.argv[1:]:
    found = compile_text(Path(name).read_text(encoding="utf-8"), Path(name).name)
    print(name, found.source, [(each.code, each.message, each.help) for each in found.diagnostics])
"""


def _digest(seed: str, files: list[Path]) -> str:
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(sample_files.ROOT)}
    command = [sys.executable, "-c", SCRIPT, *map(str, files)]
    text = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert len(text) > 1000
    return hashlib.sha256(text.encode()).hexdigest()


def test_two_processes_write_the_same_bytes() -> None:
    files = sorted({sample.path for sample in sample_files.samples()})
    assert _digest("1", files) == _digest("2", files)

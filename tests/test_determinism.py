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


LIFTING = """
import random, sys
from pathlib import Path
from translators.algebra.polynomial import Symbol
from translators.lifting.correspondence import draw
from translators.lifting.files import lift_text
from translators.tile.expression import Axis, Expression, LoopToken
salt = int(sys.argv[1])
for kind in (Axis, Expression, LoopToken):  # which hash by where they lie in memory
    kind.__hash__ = lambda self: hash((salt, self.serial))
Symbol.__hash__ = lambda self: hash((salt, self.name))
for name in sys.argv[2:]:
    made = lift_text(Path(name).read_text(encoding="utf-8"), Path(name).name)
    print(name, made.source)
    for kernel in made.kernels:
        print(kernel.name, kernel.status, kernel.reason, kernel.notes, kernel.groups, kernel.physical)
        generator = random.Random(1)
        for _ in range(3 if kernel.correspondence else 0):
            print(draw(kernel.correspondence, generator))
"""


def test_lifts_and_what_verifies_them_do_not_depend_on_hashes() -> None:
    folder = sample_files.ROOT / "tests" / "lift"
    files = [folder / f"{name}.py" for name in ("chunks", "matrices", "ragged", "windows", "rows", "states")]
    texts = []
    for salt in ("1", "2", "3"):
        environment = os.environ | {"PYTHONHASHSEED": salt, "PYTHONPATH": str(sample_files.ROOT)}
        command = [sys.executable, "-c", LIFTING, salt, *map(str, files)]
        texts.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(texts[0]) > 5000
    assert texts[0] == texts[1] == texts[2]

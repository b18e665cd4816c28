"""Start-up is a feature: measured as ratios within one run, with compiled bytecode, medians of interleaved runs."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import ROOT

RUNS = 7
EMPTY_APP = "import typer; app = typer.Typer(); app.command('a')(lambda: None); app.command('b')(lambda: None); app()"
IMPORTS = ["-c", "import typer, libcst"]


def _medians(commands: Sequence[Sequence[str]], cache: Path) -> list[float]:
    """Seconds for each command. A first round, which is not counted, writes the bytecode."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(cache), "COLUMNS": "100"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    times: list[list[float]] = [[] for _ in commands]
    for round_number in range(RUNS + 1):
        for command, measured in zip(commands, times, strict=True):
            start = time.perf_counter()
            result = subprocess.run([sys.executable, *command], capture_output=True, env=environment, check=False)
            if round_number:
                measured.append(time.perf_counter() - start)
            assert result.returncode == 0, result.stderr.decode()
    return [statistics.median(each) for each in times]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bytecode")


def test_help(cache: Path) -> None:
    empty, ours = _medians([["-c", EMPTY_APP, "--help"], ["-m", "intentc", "--help"]], cache)
    assert ours <= 1.3 * empty


def test_compiling_one_file(cache: Path, tmp_path: Path) -> None:
    arguments = ["compile", str(ROOT / "samples" / "softmax.py"), "-o", str(tmp_path / "out.py")]
    imports, ours = _medians([IMPORTS, ["-m", "intentc", *arguments]], cache)
    assert ours <= 1.5 * imports


def test_compiling_the_workloads(cache: Path, tmp_path: Path) -> None:
    files = sorted(map(str, (ROOT / "benchmarks" / "workloads").glob("*.py")))
    imports, ours = _medians([IMPORTS, ["-m", "intentc", "compile", *files, "-o", str(tmp_path / "out")]], cache)
    assert ours <= 3 * imports

"""Start-up is a feature: measured as ratios of processor time, with compiled bytecode, medians of interleaved runs."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import ROOT

from translators.pipeline import compile_text

WORKLOADS = ROOT / "benchmarks" / "workloads"
RUNS = 7
EMPTY_APP = "import typer; app = typer.Typer(); app.command('a')(lambda: None); app.command('b')(lambda: None); app()"
IMPORTS = ["-c", "import typer, libcst"]


def _processor_seconds() -> float:
    """Of the processes that have ended: unlike the clock, hardly disturbed by what else the machine does."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _medians(commands: Sequence[Sequence[str]], cache: Path) -> list[float]:
    """Seconds for each command. A first round, which is not counted, writes the bytecode."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(cache), "COLUMNS": "100"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    times: list[list[float]] = [[] for _ in commands]
    for round_number in range(RUNS + 1):
        for command, measured in zip(commands, times, strict=True):
            start = _processor_seconds()
            result = subprocess.run([sys.executable, *command], capture_output=True, env=environment, check=False)
            if round_number:
                measured.append(_processor_seconds() - start)
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


# A server until it has answered the first message of a client, which then goes: seconds beyond what `mcp` imports.
MCP_SERVER = """
import sys, time, mcp.server.mcpserver
imported = time.process_time()
from intentc.__main__ import main
sys.argv = ["intentc", "mcp"]
try:
    main()
finally:
    print(time.process_time() - imported)
"""
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
    "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}  # fmt: skip
MOST_BEYOND_IMPORTS = 0.5


def test_an_mcp_server_is_ready_soon_after_its_imports() -> None:
    command = [sys.executable, "-c", MCP_SERVER]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    measured = []
    for _ in range(3):
        hello = json.dumps(HELLO) + "\n"
        result = subprocess.run(command, input=hello, capture_output=True, text=True, env=environment, check=True)
        answered, seconds = result.stdout.splitlines()
        assert json.loads(answered)["result"]["serverInfo"]["name"] == "intentc"
        measured.append(float(seconds))
    assert min(measured) <= MOST_BEYOND_IMPORTS, measured


def test_compiling_the_workloads(cache: Path, tmp_path: Path) -> None:
    files = [
        str(path) for path in sorted(WORKLOADS.glob("*.py")) if compile_text(path.read_text("utf-8"), path.name).source
    ]
    assert len(files) > 12
    imports, ours = _medians([IMPORTS, ["-m", "intentc", "compile", *files, "-o", str(tmp_path / "out")]], cache)
    # a tenth of the time goes to the functions for sizes beyond what fits on chip, which attention has too, and more
    # to those for few rows
    assert ours <= 3.3 * imports

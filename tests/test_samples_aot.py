"""One variant of every kernel compiles ahead of time for an NVIDIA and an AMD target, within limits, unspilled."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sample_files
import workload_files
from not_lowered_yet import NOT_LOWERED_YET

TARGETS = ("cuda:90", "hip:gfx942")
PATIENCE = 120.0  # seconds for one file
KERNELS = sample_files.samples() + workload_files.workloads()
GAPS = {sample.path for sample in KERNELS if sample.identity in NOT_LOWERED_YET}
FILES = sorted({sample.path for sample in KERNELS} - GAPS)


@pytest.fixture(scope="module")
def child() -> Iterator[subprocess.Popen[str]]:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["PYTHONPATH"] = str(sample_files.ROOT)
    script = Path(__file__).with_name("ahead_of_time_child.py")
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_compiles_ahead_of_time(path: Path, child: subprocess.Popen[str]) -> None:
    reply = _ask(child, path)
    assert isinstance(reply, list), reply
    assert {each["target"] for each in reply} == set(TARGETS)
    for measurement in reply:
        assert measurement["problem"] is None, measurement["text"]
        assert not measurement["spills"], measurement["text"]


def _ask(child: subprocess.Popen[str], path: Path) -> object:
    assert child.stdin is not None and child.stdout is not None
    assert child.poll() is None, "the compiling process ended"
    child.stdin.write(json.dumps([str(path), TARGETS]) + "\n")
    child.stdin.flush()
    ready, _, _ = select.select([child.stdout], [], [], PATIENCE)
    if not ready:
        child.kill()
        pytest.fail(f"no answer within {PATIENCE:.0f} seconds")
    return json.loads(child.stdout.readline())

"""One variant of every kernel compiles ahead of time for an NVIDIA and an AMD target, within limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sample_files
import workload_files
from ahead_of_time import Child
from not_lowered_yet import NOT_LOWERED_YET

TARGETS = ("cuda:90", "hip:gfx942")
LARGEST_SPILL = 64  # to memory: bytes on CUDA, registers on AMD; what does not show beside the traffic of a tile
KERNELS = sample_files.samples() + workload_files.workloads()
GAPS = {sample.path for sample in KERNELS if sample.identity in NOT_LOWERED_YET}
FILES = sorted({sample.path for sample in KERNELS} - GAPS)


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    process = Child()
    yield process
    process.end()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_compiles_ahead_of_time(path: Path, child: Child) -> None:
    reply = child.measurements(path, TARGETS)
    assert isinstance(reply, list), reply
    assert {each["target"] for each in reply} == set(TARGETS)
    for measurement in reply:
        assert measurement["problem"] is None, measurement["text"]
        assert int(str(measurement["to_memory"] or 0)) <= LARGEST_SPILL, measurement["text"]

"""The assembly of the benchmark's kernels is no worse than what is kept; what counts as worse."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys

import pytest
import triton
from sample_files import ROOT

from benchmarks.guard import KEPT, accesses, compared
from benchmarks.measure import ROWS

PTX = """
    @%p1 ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];
    @%p1 ld.global.L1::evict_last.L2::cache_hint.v2.b64 { %rd3, %rd4 }, [ %rd1 + 0 ], %rd9;
    ld.global.b16 %rs1, [%rd2];
    @%p2 st.global.v2.b32 [ %rd5 + 0 ], { %r5, %r6 };
    cp.async.cg.shared.global [ %r7 + 0 ], [ %rd6 + 0 ], 0x10, %r8;
    cp.async.ca.shared.global [ %r7 + 0 ], [ %rd6 + 0 ], 0x4, %r8;
    ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r9];
"""


def kept() -> dict:
    found: dict = json.loads(KEPT.read_text(encoding="utf-8"))
    return {name: figures for name, figures in found.items() if name != "triton"}


def test_kernels_are_no_worse_than_kept() -> None:
    if json.loads(KEPT.read_text(encoding="utf-8"))["triton"] != triton.__version__:
        pytest.skip("the figures are of another Triton version")
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, "-m", "benchmarks.guard"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    message = "run `make guard` if this is as it should be, and read the difference"
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{message}"


def test_every_kernel_of_the_benchmark_is_kept() -> None:
    assert set(kept()) == {kernel for row in ROWS for peer in row.peers for kernel in peer.kernels}


def test_accesses_are_counted_by_width() -> None:
    assert accesses(PTX) == {"loads": {"2": 1, "16": 2}, "copies": {"4": 1, "16": 1}, "stores": {"8": 1}}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"spills": 100}, "softmax_f16: spills 0 -> 100"),
        ({"registers": 128}, "softmax_f16: registers 48 -> 128"),
        ({"shared": 4096}, "softmax_f16: shared 32 -> 4096"),
        ({"loads": {"4": 16}}, "softmax_f16: narrower loads: {'16': 4} -> {'4': 16}"),
        ({"stores": {"8": 2, "16": 3}}, "softmax_f16: narrower stores"),
        ({"loads": {"16": 12}}, "softmax_f16: more accesses of global memory: 8 -> 16"),
    ],
)
def test_what_is_worse(change: dict, complaint: str) -> None:
    before = {"variant": "resident", "registers": 48, "spills": 0, "shared": 32, "loads": {"16": 4}, "copies": {}}
    before["stores"] = {"16": 4}
    complaints = list(compared({"softmax_f16": before}, {"softmax_f16": copy.deepcopy(before) | change}))
    assert complaints and complaints[0].startswith(complaint)


def test_what_is_better_or_new() -> None:
    before = kept()
    better = {name: figures | {"registers": figures["registers"] - 8, "spills": 8} for name, figures in before.items()}
    assert list(compared(before, better)) == []
    assert list(compared({}, {"softmax_f16": before["softmax_f16"]})) == ["softmax_f16: not kept yet"]

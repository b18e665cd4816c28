"""`benchmarks.npbench` without a device: what is checked, timed and kept, resumed runs, and the table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sample_files import ROOT

from benchmarks import npbench_table, performance_page

# Of NumPy's functions, what the statement of `atax` needs; everything is a NumPy array, made anew.
CUPY = """
import numpy
from numpy import *
asarray = numpy.array
"""


@pytest.fixture
def cupy(tmp_path: Path) -> Path:
    (tmp_path / "cupy.py").write_text(CUPY, encoding="utf-8")
    return tmp_path


def run(folder: Path, *options: str) -> tuple[dict, str]:
    command = [sys.executable, "-m", "benchmarks.npbench", "--workers", "1", "--output", str(folder / "np.json")]
    path = os.pathsep.join([str(folder), str(ROOT)])
    more = {"TRITON_INTERPRET": "1", "PYTHONPATH": path}
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, cwd=ROOT, env=os.environ | more, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "np.json").read_text(encoding="utf-8")), done.stdout


def test_programs_are_checked_and_timed(cupy: Path) -> None:
    report, printed = run(cupy, "--only", "atax", "go_fast")
    assert report["programs"].keys() == {"atax", "go_fast"}
    for found in report["programs"].values():
        assert found["checked"] == "M" and not found["wrong"]
        assert all(found[way] > 0 for way in npbench_table.WAYS), found
    assert report["programs"]["atax"]["notes"]
    assert npbench_table.table(report) in printed


def test_a_run_goes_on_with_what_was_kept(cupy: Path) -> None:
    kept = {"checked": "M", "wrong": [], "statement": 1.0, "notes": [], **dict.fromkeys(npbench_table.WAYS, 7.0)}
    begun = {name: value for name, value in kept.items() if name not in npbench_table.WAYS} | {"statement": None}
    (cupy / "np.json").write_text(json.dumps({"programs": {"mvt": kept, "atax": begun}}), encoding="utf-8")
    report, _ = run(cupy, "--resume", "--only", "mvt", "atax")
    assert report["programs"]["mvt"] == kept
    assert report["programs"]["atax"]["device"] > 0
    assert report["programs"]["atax"]["numpy"] is None  # it took too long when it was checked
    assert report["programs"]["atax"]["numpy_reason"] == "more than 5 s"


def test_a_statement_that_computes_something_else_with_cupy_has_no_time(cupy: Path) -> None:
    (cupy / "cupy.py").write_text(CUPY + "def tanh(x): return 2 * numpy.tanh(x)\n", encoding="utf-8")
    report, _ = run(cupy, "--only", "go_fast")
    found = report["programs"]["go_fast"]
    assert found["cupy"] is None and found["cupy_reason"].startswith("ArithmeticError: array")
    assert found["host"] > 0


def figures(**more: object) -> dict[str, object]:
    return {
        "checked": "M",
        "wrong": [],
        "notes": ["alone"],
        "bytes": 5e6,
        "numpy": 8.0,
        "cupy": 2.0,
        "host": 4.0,
        "device": 1.0,
        **more,
    }


def test_the_table() -> None:
    programs = {
        "fast": figures(),
        "late": figures(numpy=1.0, cupy=0.5),
        "long": figures(checked="reduced", numpy=None, numpy_reason="more than 5 s", cupy=None,
                        cupy_reason="TypeError: a|b"),
        "wrong": figures(wrong=["device arm: array 0: error 1"]),
    }  # fmt: skip
    lines = npbench_table.table({"programs": programs}).splitlines()
    assert lines[2:6] == [
        "| fast | 8 | 2 | 4 | 1 | 2x | 2x |",
        "| late | 1 | 0.5 | 4 | 1 | 0.25x | 0.5x |",
        "| long * | more than 5 s | TypeError | 4 | 1 |  |  |",
        "| wrong | wrong: device arm: array 0: error 1 | | | | | |",
    ]
    assert "slower in 1: late" in lines[7] and "of 2 programs" in lines[7]
    assert "2 of 4 programs agree" in lines[9] and lines[9].endswith("Wrong: wrong.")
    assert list(npbench_table.losses({"programs": programs})) == [
        ("late, 25% of NumPy and 50% of CuPy", "alone; 5 MB of arrays move to the device, where the program takes 1 ms")
    ]


def test_the_page() -> None:
    programs = {"late": figures(numpy=1.0), "odd": figures(cupy=None, cupy_reason="TypeError: no")}
    machine = {"device": "a GPU", "torch": "1", "triton": "2", "numpy": "3"}
    text = performance_page._npbench({"machine": machine, "longest": 5.0, "programs": programs})
    assert "with one a GPU (torch 1, triton 2, NumPy 3)" in text and "| late | 1 | 2 | 4 | 1 | 0.25x | 2x |" in text
    assert "\n- `late, 25% of NumPy`: alone; 5 MB of arrays move to the device, where the program takes 1 ms.\n" in text
    assert text.endswith("\n- `odd`: TypeError: no\n")

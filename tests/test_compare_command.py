"""`intentc compare`, `intentc lift --against`: pairs of files, exit statuses, reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOFTMAX = "samples/softmax.py"
MODULE = "golden/softmax/module.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "intentc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)


@pytest.mark.parametrize("pair", [(SOFTMAX, MODULE), (MODULE, SOFTMAX), (SOFTMAX, SOFTMAX), (MODULE, MODULE)])
def test_same(pair: tuple[str, str]) -> None:
    done = run("compare", *pair)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": same" in done.stdout


def test_different(tmp_path: Path) -> None:
    text = (ROOT / MODULE).read_text().replace("tl.exp(v - v_max)", "tl.exp(v + v_max)")
    changed = tmp_path / "changed.py"
    changed.write_text(text)
    done = run("compare", SOFTMAX, f"{changed}:softmax_resident")
    assert done.returncode == 1
    assert "differs   operation" in done.stdout
    assert "samples/softmax.py:17" in done.stdout  # the line of both sides
    assert "lifted from" in done.stdout


def test_could_not_tell(tmp_path: Path) -> None:
    path = tmp_path / "spin.py"
    path.write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(p):\n"
        "    while True:\n        tl.store(p, 1.0)\n"
    )
    done = run("compare", SOFTMAX, str(path), "--json")
    assert done.returncode == 4
    (result,) = json.loads(done.stdout)
    assert result["answer"] == "could not tell" and "not lifted" in result["reason"]


def test_usage(tmp_path: Path) -> None:
    assert run("compare", SOFTMAX, f"{MODULE}:nothing").returncode == 2
    assert run("compare", SOFTMAX, str(tmp_path / "missing.py")).returncode == 2
    assert run("compare", SOFTMAX, "tests/lift/rows.py").returncode == 2  # several kernels


def test_json_and_run() -> None:
    done = run("compare", SOFTMAX, f"{MODULE}:softmax_streamed", "--json", "--run")
    (result,) = json.loads(done.stdout)
    assert result["answer"] == "same" and result["arrays"] == [["x", "x"], ["out", "out"]]
    assert result["run"] == {"calls": 5, "agreed": 5}


def test_run_refutes(tmp_path: Path) -> None:
    changed = tmp_path / "changed.py"
    changed.write_text((ROOT / MODULE).read_text().replace("tl.exp(v - v_max)", "tl.exp(v - v_max) * 2.0 + 1.0"))
    done = run("compare", f"{MODULE}:softmax_resident", f"{changed}:softmax_resident", "--run")
    assert done.returncode == 1 and "agreed on 0 of 5" in done.stdout


def test_lift_against() -> None:
    arguments = ("lift", MODULE, "--kernel", "softmax_resident", "--against")
    assert run(*arguments, SOFTMAX).returncode == 0
    assert run(*arguments, "samples/rms_norm.py").returncode == 1

"""`intentc bench` without a GPU: what it says, and that everything it would measure can be done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import ROOT, intentc

from intentc.judgement import Judgement, large_sizes, traffic
from translators.options import Options
from translators.pipeline import compile_text

SAMPLES = ROOT / "samples"
FIELDS = {
    "kernel", "sizes", "device", "unit", "whole call", "up", "launch", "kernel time", "down", "floor", "bytes",
    "copy rate", "NumPy statement", "first call",
}  # fmt: skip


def test_without_a_gpu_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    outcome = intentc("bench", str(SAMPLES / "softmax.py"))
    assert outcome.status == 2 and not outcome.output
    assert "no GPU was found" in outcome.errors and "compile --aot" in outcome.errors


def test_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    outcome = intentc("bench", f"{SAMPLES / 'add_rms_norm.py'}:add_rms_norm", "--shape", "M=3,N=20", "--json")
    assert outcome.status == 0, outcome.errors
    (found,) = json.loads(outcome.output)["kernels"]
    assert set(found) == FIELDS and found["sizes"] == {"M": 3, "N": 20}
    assert set(found["up"]) == {"x", "residual", "weight"} and set(found["down"]) == {"residual", "out"}
    assert found["bytes"] == 2 * (3 * 20 + 2 * 3 * 20 + 20 + 3 * 20)
    assert all(time > 0 for time in [*found["up"].values(), *found["down"].values(), found["launch"], found["floor"]])
    assert found["whole call"] > 0 and "interpreter" in found["device"]


def test_wrong_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    softmax = str(SAMPLES / "softmax.py")
    assert "there is no kernel other" in intentc("bench", f"{softmax}:other").errors
    outcome = intentc("bench", softmax, "--shape", "Q=4")
    assert outcome.status == 2 and "no array has the size Q" in outcome.errors


def test_sizes_and_traffic() -> None:
    path = SAMPLES / "softmax.py"
    (code,) = compile_text(Path(path).read_text(encoding="utf-8"), str(path), Options()).codes
    assert large_sizes(code.kernel.views, ["M", "N"]) == {"M": 4096, "N": 4096}
    assert traffic(code, {"M": 3, "N": 5}) == 3 * 5 * sum(view.dtype.bytes for view in code.kernel.views)


def test_shares_of_the_call() -> None:
    judgement = Judgement(
        kernel="scale", sizes={"N": 8}, device="a GPU", first_call=900.0, whole=10.0, up={"x": 4.0}, launch=0.01,
        device_time=2.0, down={"out": 3.5}, bytes=4_000_000, copy_rate=4e9, statement=25.0,
    )  # fmt: skip
    assert judgement.floor == 1.0
    text = judgement.lines()
    assert text[0] == "scale(N=8) on a GPU"
    assert any("x to the device" in line and line.endswith("40%") for line in text)
    assert any("the kernel, of its floor" in line and line.endswith("50%") for line in text)
    assert any("NumPy statement" in line and "25.0000 ms" in line for line in text)

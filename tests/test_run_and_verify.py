"""`intentc run` and `intentc verify`: outputs, exit statuses, mistakes of the user."""

from __future__ import annotations

from pathlib import Path

import command_line
import pytest

from intentc import trials
from intentc.commands import run, verify
from intentc.differential import Difference

SAXPY = command_line.ROOT / "samples" / "saxpy.py"
SPMV = command_line.ROOT / "samples" / "spmv.py"


def test_run_reports_each_output() -> None:
    found = command_line.intentc("run", f"{SAXPY}:saxpy", "--cpu", "--shape", "N=100", "--scalar", "a=3")
    found.assert_clean()
    assert found.status == 0
    assert found.output.startswith("saxpy(N=100)\n  y: max abs ") and "agrees" in found.output


def test_verify_sweeps_sizes_layouts_and_orders() -> None:
    found = command_line.intentc("verify", SAXPY, "--cpu")
    found.assert_clean()
    assert found.status == 0
    for title in ("N=0) contiguous", "N=1) contiguous", "strided", "with NaN and infinities", "in another order"):
        assert title in found.output


def test_inputs_that_a_file_calls_finite_are(tmp_path: Path) -> None:
    path = tmp_path / "truncated.py"
    text = """import intent
import intent.language as I

FINITE = ["x"]


@intent.kernel
def truncated(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    z[:] = y[:] + I.cast(I.cast(x[:], I.i32), I.f32)
"""
    path.write_text(text, encoding="utf-8")
    found = command_line.intentc("verify", path, "--cpu", "--shape", "N=400")
    found.assert_clean()
    assert found.status == 0 and "with NaN and infinities: agrees" in found.output, found
    path.write_text(text.replace("FINITE", "OTHER"), encoding="utf-8")
    assert "with NaN and infinities: agrees" not in command_line.intentc("verify", path, "--cpu").output


def test_sizes_that_depend_on_each_other_are_found() -> None:
    found = command_line.intentc("run", SPMV, "--cpu")
    found.assert_clean()
    assert found.status == 0, found.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((f"{SAXPY}:other",), "there is no kernel other; the file has saxpy"),
        ((SAXPY, "--shape", "Q=3"), "no array has the size Q; the sizes are N"),
        ((SAXPY, "--shape", "N=-1"), "N must be a nonnegative integer"),
        ((SAXPY, "--shape", "N"), "--shape takes NAME=VALUE"),
        ((SAXPY, "--scalar", "b=1"), "there is no scalar b"),
        ((SAXPY, "--scalar", "a=true"), "a is a f32, which True is not"),
        (("missing.py",), "cannot read missing.py"),
    ],
)
def test_mistakes_are_usage_errors(arguments: tuple[str | Path, ...], message: str) -> None:
    found = command_line.intentc("run", *arguments, "--cpu")
    found.assert_clean()
    assert found.status == 2 and message in found.errors, found


def test_a_rejected_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import intent\n\n\n@intent.kernel\ndef broken(x):\n    pass\n", encoding="utf-8")
    found = command_line.intentc("run", path, "--cpu")
    found.assert_clean()
    assert found.status == 1 and "broken.py:5" in found.errors


@pytest.mark.parametrize("command", [run.run_command, verify.verify_command])
def test_a_difference_is_status_one(
    command: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import typer

    monkeypatch.setattr(trials, "differences", lambda *_: [Difference("y", 1.0, 1.0, 0.5)])
    assert callable(command)
    with pytest.raises(typer.Exit) as left:
        command(str(SAXPY), cpu=True)
    assert left.value.exit_code == 1
    assert "y: max abs 1, max rel 1 (allowed 0.5) DIFFERS" in capsys.readouterr().out

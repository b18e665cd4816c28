"""What `intentc doctor` makes of a machine with a GPU, which the one that runs the tests need not have."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from intentc import environment
from intentc.environment import Finding, findings
from intentc.failure import report_failure


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_driver", lambda: "/dev/nvidiactl")


def _found() -> dict[str, Finding]:
    return {each.subject: each for each in findings()}


@pytest.mark.usefixtures("with_gpu")
def test_launching_needs_a_compiler_and_headers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(environment.sysconfig, "get_path", lambda name: str(tmp_path))
    found = _found()
    assert (found["C compiler"].state, found["Python.h"].state) == ("wrong", "wrong")
    assert "gcc" in found["C compiler"].mend and "python3-dev" in found["Python.h"].mend
    (tmp_path / "Python.h").touch()
    monkeypatch.setenv("CC", "/opt/cc")
    assert _found()["C compiler"] == Finding("C compiler", "ok", "/opt/cc")
    assert _found()["Python.h"].state == "ok"


def test_without_a_gpu_nothing_is_said_of_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_driver", lambda: None)
    found = _found()
    assert found["GPU"].state == "missing" and "--cpu" in found["GPU"].mend
    assert "C compiler" not in found


@pytest.mark.usefixtures("with_gpu")
def test_a_build_of_torch_without_gpus_is_wrong_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "version_of", lambda name: {"torch": "2.13.0+cpu"}.get(name, "99"))
    assert _found()["torch and GPU"].state == "wrong"
    monkeypatch.setattr(environment, "version_of", lambda name: {"torch": "2.13.0+cu129"}.get(name, "99"))
    assert "torch and GPU" not in _found()


@pytest.mark.usefixtures("with_gpu")
def test_the_interpreter_beside_a_gpu_is_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert "unset TRITON_INTERPRET" in _found()["interpreter"].mend
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    assert _found()["interpreter"].mend == ""


def test_no_command_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = _found()["intentc"]
    assert found.state == "missing" and "-m intentc" in found.mend
    (tmp_path / "intentc").touch(mode=0o755)
    assert "another environment's" in _found()["intentc"].text
    monkeypatch.setattr(environment.sysconfig, "get_path", lambda name: str(tmp_path))
    assert _found()["intentc"] == Finding("intentc", "ok", f"{environment.__version__}, {tmp_path / 'intentc'}")


def test_what_a_conflict_breaks_is_no_bug_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "version_of", {"triton": "3.6.0", "numpy": "2.4.1"}.get)
    monkeypatch.setitem(sys.modules, "triton", sys)
    error = TypeError("only 0-dimensional arrays can be converted to Python scalars")
    assert report_failure(error, ["run", "x.py"]) == 2
    said = capsys.readouterr().err
    assert "only 0-dimensional" in said and "numpy<2.4" in said and "bug of intentc" not in said
    monkeypatch.delitem(sys.modules, "triton")
    assert report_failure(error, []) == 3  # where modules are not run, it has nothing to do with it

"""What the user sees when something other than the program is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentc.failure import UsageError, report_failure


@pytest.fixture(autouse=True)
def temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_usage_errors_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_failure(UsageError("cannot read it"), []) == 2
    assert capsys.readouterr().err == "intentc: cannot read it\n"


def test_a_bug_leaves_a_bundle_and_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("text", encoding="utf-8")
    try:
        raise ZeroDivisionError("oh")
    except ZeroDivisionError as error:
        assert report_failure(error, ["compile", str(source), "--arm", "host arm"]) == 3
    errors = capsys.readouterr().err
    assert "internal error: ZeroDivisionError: oh" in errors
    assert "Traceback" not in errors
    bundle = Path(errors.rstrip().rpartition("\n")[2].strip())
    assert (bundle / "kernel.py").read_text(encoding="utf-8") == "text"
    assert "--arm 'host arm'" in (bundle / "command.txt").read_text(encoding="utf-8")
    assert "Traceback" in (bundle / "traceback.txt").read_text(encoding="utf-8")


def test_a_missing_requirement_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_failure(ModuleNotFoundError("no", name="torch"), []) == 2
    assert "needs torch" in capsys.readouterr().err

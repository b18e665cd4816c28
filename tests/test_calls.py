"""Processes that answer for a server: what a call may not do ends it with a message, and the next call is answered."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import ROOT

from intentc.serving.calls import CallFailed, Calls

Answered = tuple[list[str], dict[str, object]]


def _ask(
    *requests: tuple[str, dict[str, object]], confined: bool = False, seconds: float = 20.0
) -> list[Answered | str]:
    """What comes of each request, one after the other; the message where there is no answer."""

    async def ask() -> list[Answered | str]:
        calls = Calls("faulty_answers", confined, seconds)
        found: list[Answered | str] = []
        for name, arguments in requests:
            try:
                found.append(await calls.call(name, arguments))
            except CallFailed as failed:
                found.append(str(failed))
        await calls.close()
        return found

    return asyncio.run(ask())


def test_a_process_is_used_again() -> None:
    first, printed, second = _ask(("process", {}), ("print", {}), ("process", {}))
    assert first == second
    assert printed == (["answered"], {})


def test_what_goes_wrong_is_told_and_the_next_call_is_answered() -> None:
    found = _ask(("allocate", {}), ("talk", {}), ("die", {}), ("refuse", {}), ("fail", {}), ("print", {}))
    memory, long, ended, refused, bug, answered = map(str, found)
    assert memory == "this needs more memory than the 1 GiB that a call may use"
    assert "longer than the 2097152 characters" in long
    assert ended.startswith("the process that answers came to an end: this is a bug of intentc")
    assert refused == "there is no such thing"
    assert bug.startswith("internal error: KeyError: 'a bug'; this is a bug of intentc")
    assert "answered" in answered


@pytest.mark.parametrize("name", ["sleep", "compute"])
def test_a_call_that_takes_too_long_is_ended(name: str) -> None:
    late, answered = _ask((name, {}), ("print", {}), seconds=0.5)
    assert late == "this takes longer than the 0.5 s that a call may take"
    assert answered == (["answered"], {})


def test_a_process_that_used_much_memory_is_replaced() -> None:
    first, second = _ask(("hold", {}), ("process", {}))
    assert first != second


def test_files_of_the_folder_that_a_server_runs_in_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "asyncio", "intent", "intentc", "translators", "typing_extensions"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert _ask(("print", {})) == [(["answered"], {})]
    assert not (tmp_path / "run").exists()


def test_a_process_that_does_not_start_is_told() -> None:
    async def ask() -> None:
        await Calls("there_is_no_such_module", False).call("process", {})

    with pytest.raises(CallFailed, match="does not start"):
        asyncio.run(ask())


def test_calls_at_the_same_time() -> None:
    async def ask() -> list[Answered]:
        calls = Calls("faulty_answers", False)
        found = await asyncio.gather(*(calls.call("process", {}) for _ in range(6)))
        await calls.close()
        return found

    assert len({str(found) for found in asyncio.run(ask())}) <= 2


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "secret.py"
    path.write_text("secret", encoding="utf-8")
    yield path
    assert path.read_text(encoding="utf-8") == "secret"
    assert list(tmp_path.iterdir()) == [path]


def test_a_confined_process_touches_no_files(secret: Path) -> None:
    of_file = [(name, {"path": str(secret)}) for name in ("read", "write", "append", "remove", "rename")]
    new = [(name, {"path": str(secret.with_name("new"))}) for name in ("write", "folder")]
    link = [("read", {"path": f"{ROOT}/intentc/../tests/command_line.py"})]
    other = [(name, {}) for name in ("run", "shell", "connect")]
    requests = [*of_file, *new, *link, *other]
    for request, found in zip(requests, _ask(*requests, confined=True), strict=True):
        assert isinstance(found, str) and "PermissionError" in found, (request, found)


def test_the_same_is_possible_where_a_process_is_not_confined(tmp_path: Path) -> None:
    path = tmp_path / "file"
    arguments: dict[str, object] = {"path": str(path)}
    assert _ask(("write", arguments), ("read", arguments), ("remove", arguments)) == [(["done"], {})] * 3


EVERY_ANSWER = """
import sys
from pathlib import Path
from intentc.serving import answers
from intentc.serving.confinement import confine, limit_memory

texts = [path.read_text() for path in map(Path, sys.argv[1:])]
answers.prepare()
limit_memory()
confine()
for text in texts:
    compiled = answers.answer("compile", {"program": text, "constexpr": {}, "numerics": "source", "arm": "both",
        "filename": "k.py"})
    module = compiled.data["module"]
    for name in ("check", "explain"):
        extra = {"numerics": "source"} if name == "check" else {"code": None}
        answers.answer(name, {"program": text, "constexpr": {}, "filename": "k.py", **extra})
    answers.answer("lift", {"program": module, "kernel": None, "constexpr": {}, "dtypes": {}, "filename": "k.py"})
    compared = answers.answer("compare", {"programs": [text, module], "kernels": [None, None], "constexpr": {},
        "filenames": ["a.py", "b.py"]})
    print(compared.data["results"][0]["answer"])
for page in answers.answer("read", {"page": None}).data["pages"]:
    answers.answer("read", {"page": page})
answers.answer("search", {"query": "a scan over ragged rows", "limit": 5})
answers.answer("api", {"name": "intent.compile"})
answers.answer("explain", {"code": "INT401", "program": None, "constexpr": {}, "filename": "k.py"})
"""


def test_no_answer_needs_what_a_confined_process_may_not_do() -> None:
    samples = [str(ROOT / "samples" / f"{name}.py") for name in ("softmax", "layer_norm", "saxpy", "cumsum")]
    command = [sys.executable, "-c", EVERY_ANSWER, *samples]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split("\n") == ["same"] * 4 + [""]


def test_a_server_that_holds_much_memory_keeps_its_processes() -> None:
    """On Linux a process inherits the peak that getrusage reports from the one that started it."""
    held = bytearray(600 << 20)
    first, second = _ask(("process", {}), ("process", {}))
    assert first == second and len(held) > 0

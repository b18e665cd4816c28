"""Every command that a page shows does what it says; see `shown_commands.py` for those that run in another form."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from shown_commands import FILES, PAGES, REJECTED, ROOT, SAID, TRIED, Shown, shown, words_run

_OTHERS = shutil.ignore_patterns("build", ".git", ".venv", "__pycache__", ".pytest_cache", ".ruff_cache")
_KEPT = ("docs", "golden", "samples", "benchmarks", "README.md")
_DONE: set[str] = set()  # many pages show the same


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shown") / "checkout"
    shutil.copytree(ROOT, folder, ignore=_OTHERS)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_that_are_shown_work(path: Path, checkout: Path) -> None:
    """What they write over is what was there."""
    commands = [command for command in shown(path) if command.text not in _DONE]
    before = {"build", *(each.name for each in checkout.iterdir())}
    for command in commands:
        done = _run(command, checkout)
        _DONE.add(command.text)
        wanted = 1 if command.begins(REJECTED) else 0
        assert done.returncode == wanted, f"{command.text}\n{done.args}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        if command.begins(["make demo"]) and command.in_block:
            ending = re.search(r"`make demo` ends with\n\n((?:    .*\n)+)", path.read_text(encoding="utf-8"))
            assert ending and done.stdout.endswith(re.sub("^    ", "", ending[1], flags=re.MULTILINE))
    for made in [each for each in checkout.iterdir() if each.name not in before]:
        shutil.rmtree(made) if made.is_dir() else made.unlink()
    if commands:
        assert dict(_texts(ROOT)) == dict(_texts(checkout)), "a command changed a file"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_say_what_their_commands_need(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for command in shown(path):
        if command.needs and (command.in_block or command.needs == "GPU"):
            assert re.search(SAID[command.needs], text), f"{command.text} needs a {command.needs}"


def test_no_page_is_without_look() -> None:
    """The pages are found, and the commands in them."""
    found = {path.relative_to(ROOT).as_posix(): [command.text for command in shown(path)] for path in PAGES}
    assert sum(len(commands) for commands in found.values()) > 80
    assert len(found["CONTRIBUTING.md"]) == 6 and len(found["docs/performance.md"]) == 16, found
    assert "intentc read [ID[#SECTION]]" in found["docs/commands.md"]


def _texts(folder: Path) -> Iterator[tuple[str, bytes]]:
    for top in _KEPT:
        for path in [folder / top] if (folder / top).is_file() else sorted((folder / top).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(folder).as_posix(), path.read_bytes()


def _run(command: Shown, checkout: Path) -> subprocess.CompletedProcess[str]:
    program, *words = words_run(command)
    if program == "make":
        # The environment is there: that of these tests.
        words = [f"VENV={sys.prefix}", "-o", f"{sys.prefix}/.ready", "CPU=--cpu", *words]
        started = ["make", *words]
    elif Path(program).name == "intentc":
        started = [sys.executable, "-m", "intentc", *words]
    else:
        started = [sys.executable if Path(program).name in ("python", "python3") else program, *words]
    dropped = ("TRITON_INTERPRET", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"PYTHONPATH": str(checkout), "NO_COLOR": "1", "COLUMNS": "120", "CUDA_VISIBLE_DEVICES": ""}
    if command.begins(TRIED):
        environment["TRITON_INTERPRET"] = "1"
    return subprocess.run(
        started, cwd=checkout, env=environment, input="", capture_output=True, text=True, timeout=300, check=False
    )

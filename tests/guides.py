"""Runs the commands of docs/guides/ and docs/zh/, and writes what they print into the pages: `python -m tests.guides`.

A block of Python that begins with a file's name is saved under it. Every line of a `console` block that begins with `$`
is run in the folder of these files, and what follows is its output. The other blocks of Python are one program, which
is run in the end, in Triton's interpreter.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [path for folder in ("guides", "zh") for path in sorted((ROOT / "docs" / folder).glob("*.md"))]
_BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)
_NAMED = re.compile(r"# (\w+\.py)\n")


def rewritten(page: str) -> str:
    """The page with the output that its commands give now."""
    with tempfile.TemporaryDirectory() as folder:
        made = _BLOCK.sub(lambda match: _block(match, Path(folder)), page)
        program = "\n".join(text for kind, text in _BLOCK.findall(made) if kind == "python" and not _NAMED.match(text))
        if program:
            _run([sys.executable, "-c", program], Path(folder), {"TRITON_INTERPRET": "1"}).check_returncode()
        return made


def _block(match: re.Match[str], folder: Path) -> str:
    kind, text = match.groups()
    if kind == "console":
        commands = [line for line in text.splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(_shown(command, folder) for command in commands) + "```"
    named = _NAMED.match(text)
    if named:
        (folder / named[1]).write_text(text[named.end() :], encoding="utf-8")
    return match[0]


def _shown(command: str, folder: Path) -> str:
    return f"{command}\n{output(command[2:], folder)}"


def output(command: str, folder: Path) -> str:
    """What the command prints, to both streams."""
    words = shlex.split(command)
    if words[0] == "intentc":
        words[:1] = [sys.executable, "-m", "intentc"]
    done = _run(words, folder, {})
    return done.stdout + done.stderr


def _run(words: Sequence[str], folder: Path, more: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "120", "CUDA_VISIBLE_DEVICES": ""}
    environment |= more
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")

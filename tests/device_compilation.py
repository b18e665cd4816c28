"""Kernels written in a test, compiled ahead of time: Triton's types are stricter than its interpreter."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ahead_of_time import Child
from program_runs import HEADER


def problems(texts: Iterable[str], folder: Path, targets: tuple[str, ...] = ("cuda:90",)) -> list[str]:
    """What goes wrong when the programs are compiled, one line each."""
    found: list[str] = []
    child = Child()
    for number, text in enumerate(texts):
        file = folder / f"program_{number}.py"
        file.write_text(HEADER + text, encoding="utf-8")
        reply = child.measurements(file, targets)
        if isinstance(reply, str):
            found.append(f"{number}: {reply}")
        else:
            found += [f"{number}: {each['text']}" for each in reply if each["problem"] is not None]
    child.end()
    return found

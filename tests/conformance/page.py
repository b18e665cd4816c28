"""`docs/conformance.md`: the matrix of outcomes, and what can be asked of a page without running anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
import triton

from conformance.rows import EVERYTHING, Row
from conformance.running import COLUMNS, TARGETS, Outcomes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"

INTRODUCTION = """\
# Conformance

Written by `make conformance`; nobody edits it. Every intrinsic of the language, every operator and some rules, in every
kind of dtype: a small program (`tests/conformance/`). Its reference is held against a NumPy or SciPy statement, and its
generated module, in Triton's CPU interpreter, against the reference, in six shapes:

| | |
|---|---|
| tail | sizes that no block divides |
| zero | each size zero in turn |
| one | all sizes one |
| large | several tiles of the usual sizes; the other shapes run with tiles of a few elements |
| strided | inputs and outputs with the strides of a transposed array, every other element of the last axis |
| broadcast | inputs whose first axis has stride zero |

A seventh column tells whether the module compiles ahead of time for """

LEGEND = """. A cell is `ok`; `-` where the program has no such
shape; `gpu` where Triton's interpreter lacks the operation, so that only a GPU can run it (`python -m tests.conformance
--gpu` runs every row there); `unsupported INT###` where the program is legal and not lowered (the reasons are at the
end); or the code with which a program that is not legal is rejected.
"""


def page(results: Mapping[Row, Outcomes]) -> str:
    """One line per subject and set of dtypes with the same outcomes."""
    text = INTRODUCTION + ", ".join(f"`{target}`" for target in TARGETS) + LEGEND + "\n"
    text += f"| subject | dtypes | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 2)}\n"
    reasons: dict[str, None] = {}
    for subject, dtypes, found in _grouped(results):
        cells = [cell(found[column], reasons) for column in COLUMNS]
        text += f"| {_code(subject)} | {' '.join(dtypes)} | {' | '.join(cells)} |\n"
    if reasons:
        text += "\n## Not lowered\n\n" + "".join(f"- {reason}\n" for reason in sorted(reasons))
    return text


def summary(results: Mapping[Row, Outcomes]) -> dict[str, object]:
    """How many cells say what, on which machine, and every cell that fails."""
    cells = [(f"{row.identity} {column}", cell) for row, found in results.items() for column, cell in found.items()]
    return {
        "machine": {
            "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU",
            **{package.__name__: package.__version__ for package in (torch, triton, np)},
        },
        "rows": len(results),
        "cells": Counter(cell for _, cell in cells if not cell.startswith("FAIL")),
        "failed": {where: cell for where, cell in cells if cell.startswith("FAIL")},
    }


def _grouped(results: Mapping[Row, Outcomes]) -> Iterator[tuple[str, Sequence[str], Outcomes]]:
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for row, found in results.items():
        groups.setdefault((row.subject, tuple(found[column] for column in COLUMNS)), []).append(row.dtype)
    subjects = list(dict.fromkeys(subject for subject, _ in groups))
    for (subject, outcomes), dtypes in sorted(groups.items(), key=lambda item: subjects.index(item[0][0])):
        yield subject, sorted(dtypes, key=EVERYTHING.index), dict(zip(COLUMNS, outcomes, strict=True))


def cell(outcome: str, reasons: dict[str, None]) -> str:
    """An outcome as the page shows it; the reason why something is not lowered goes to `reasons`."""
    if outcome.startswith("unsupported "):
        reasons[outcome.removeprefix("unsupported ")] = None
        return outcome.partition(":")[0]
    return outcome.replace("|", "\\|").replace("\n", " ")


def _code(subject: str) -> str:
    return f"`{subject}`".replace("|", "\\|")


def cells(text: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """The cells of a page by subject and dtype."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for line in text.splitlines():
        parts = [part.strip() for part in line.replace("\\|", "¦").split("|")[1:-1]]
        if len(parts) == len(COLUMNS) + 2 and parts[0].startswith("`"):
            subject = parts[0].strip("`").replace("¦", "|")
            found |= {(subject, dtype): tuple(parts[2:]) for dtype in parts[1].split()}
    return found

"""docs/mutants.md, from the record of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HEAD = """# Mutants

One change in a Triton kernel at a time, of a kind that means something (a constant, bound, mask, stride, axis, dtype
or operator) or of one that means nothing (names, tile sizes, the order of commutative operands, hints). Each mutant is
compared with its original (`intentc compare`), and both run on random inputs of five shapes under Triton's
interpreter. A `same` for a pair whose outputs differ would be wrong; a meaningful change may leave outputs equal (a
mask that is never needed). This page is generated: `python -m tests.lift.mutation.measure`.

{mutants} mutants of {kernels} kernels, {ladder} of them of the ladder of public kernels; **wrong: {wrong}**; kernels
not judged yet: {left}.
"""
COLUMNS = (
    "same, outputs equal", "same, outputs differ", "different, outputs differ", "different, outputs equal",
    "could not tell, outputs differ", "could not tell, outputs equal",
)  # fmt: skip


def page(record: Mapping[str, Any]) -> str:
    ladder = record.get("ladder", {})
    head = HEAD.format(
        mutants=record["mutants"],
        kernels=len(record["kernels"]),
        ladder=ladder.get("mutants", 0),
        wrong=record["wrong"],
        left=record["left"],
    )
    kinds, rungs = _table("kind of change", record["kinds"]), _table("rung", ladder.get("rungs", {}))
    return f"{head}\n## By kind of change\n\n{kinds}\n## By rung of the ladder\n\n{rungs}"


def _table(what: str, rows: Mapping[str, Mapping[str, int]]) -> str:
    head = f"| {what} | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}\n"
    return head + "".join(
        f"| {name} | {' | '.join(str(counts.get(column, 0)) for column in COLUMNS)} |\n"
        for name, counts in rows.items()
    )

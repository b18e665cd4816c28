"""Writes intentc/lookup/intrinsics.json from the programs of the conformance suite: `python -m tests.lookup_data`."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from conformance.rows import Row  # noqa: E402
from conformance.table import rows  # noqa: E402

from intent.intrinsics import INTRINSICS  # noqa: E402
from intentc.lookup.entries import DATA  # noqa: E402
from translators.intent_source.read import read_program  # noqa: E402


def content() -> str:
    """The whole file."""
    warnings.simplefilter("ignore")
    found = {path: _known([row for row in rows() if row.subject == path]) for path in INTRINSICS}
    return json.dumps(found, indent=1) + "\n"


def _known(programs: list[Row]) -> dict[str, object]:
    legal = [row for row in programs if row.legal]
    example = next((row for row in legal if row.dtype == "f32"), legal[0])
    return {
        "dtypes": list(dict.fromkeys(row.dtype for row in legal)),
        "rejected": {row.dtype: _code(row) for row in programs if not row.legal},
        "example": example.text,
    }


def _code(row: Row) -> str:
    return next(each.code for each in read_program(row.text, "k.py").diagnostics if each.severity == "error")


if __name__ == "__main__":
    DATA.write_text(content(), encoding="utf-8")

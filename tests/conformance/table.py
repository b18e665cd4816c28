"""All rows, in the order of the page."""

from __future__ import annotations

from functools import cache

from conformance import contractions, memory, pointwise, structured, tensors
from conformance.rows import Row


@cache
def rows() -> tuple[Row, ...]:
    parts = (tensors.rows(), pointwise.rows(), memory.rows(), structured.rows(), contractions.rows())
    return tuple(row for part in parts for row in part)


def subjects() -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.subject for row in rows()))

"""Rows judged by several processes that start afresh; a row is told to another process by its place in the table."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterable, Iterator

from ahead_of_time import Child

from conformance import running, table

_child: list[Child | None] = []


def judged(chosen: Iterable[int], workers: int, gpu: bool) -> Iterator[tuple[int, dict[str, str]]]:
    """The cells of each chosen row, as they become known."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, initializer=_start, initargs=(gpu,)) as pool:
        for ordinal, cells in pool.imap_unordered(_judge, chosen):
            print(".", end="", flush=True, file=sys.stderr)
            yield ordinal, cells
    print(file=sys.stderr)


def _start(gpu: bool) -> None:
    _child.append(None if gpu else Child())


def _judge(ordinal: int) -> tuple[int, dict[str, str]]:
    found = running.outcomes(table.rows()[ordinal], _child[0])
    return ordinal, {column: found.get(column, "-") for column in running.COLUMNS}

"""`make conformance`: judge every row, print the matrix, rewrite `docs/conformance.md`.

    python -m tests.conformance [--workers N] [--only TEXT] [--gpu]

With --only, nothing is written. With --gpu the shapes run on this machine's GPU instead of the interpreter, nothing is
compiled for other targets and nothing is written. The exit status is 1 if a cell says FAIL.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="rows whose subject and dtype contain this text")
    parser.add_argument("--gpu", action="store_true", help="run on the GPU")
    options = parser.parse_args()
    if not options.gpu:
        os.environ["TRITON_INTERPRET"] = "1"
    from conformance import page, table

    chosen = [ordinal for ordinal, row in enumerate(table.rows()) if options.only in row.identity]
    found = dict(_judged(chosen, options.workers, options.gpu))
    results = {table.rows()[ordinal]: found[ordinal] for ordinal in chosen}
    text = page.page(results)
    print(text[text.index("| subject") :])
    if not options.only and not options.gpu:
        page.PAGE.write_text(text, encoding="utf-8")
    failed = [row.identity for row, cells in results.items() if any(cell.startswith("FAIL") for cell in cells.values())]
    print(f"{len(results)} rows, {len(failed)} failed", *failed, sep="\n")
    return 1 if failed else 0


def _judged(chosen: Iterable[int], workers: int, gpu: bool) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows in processes that start afresh: a row cannot be told to another process but by its place."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, initializer=_start, initargs=(gpu,)) as pool:
        for ordinal, cells in pool.imap_unordered(_judge, chosen):
            print(".", end="", flush=True, file=sys.stderr)
            yield ordinal, cells
    print(file=sys.stderr)


_child: list[object] = []


def _start(gpu: bool) -> None:
    from ahead_of_time import Child

    _child.append(None if gpu else Child())


def _judge(ordinal: int) -> tuple[int, dict[str, str]]:
    from conformance import running, table

    found = dict(running.outcomes(table.rows()[ordinal], _child[0]))
    return ordinal, {column: found.get(column, "-") for column in running.COLUMNS}


if __name__ == "__main__":
    sys.exit(main())

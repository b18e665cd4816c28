"""`make conformance`: judge every row, print the matrix, rewrite `docs/conformance.md`.

    python -m tests.conformance [--workers N] [--only TEXT] [--gpu [--record FILE]]

With --only, nothing is written. With --gpu the shapes run on this machine's GPU instead of the interpreter, with tiles
of the usual sizes; nothing is compiled for other targets and the page stays: --record writes a summary. The exit
status is 1 if a cell says FAIL.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="rows whose subject and dtype contain this text")
    parser.add_argument("--gpu", action="store_true", help="run on the GPU")
    parser.add_argument("--record", type=Path, help="with --gpu: where to write the machine and the counts")
    options = parser.parse_args()
    if not options.gpu:
        os.environ["TRITON_INTERPRET"] = "1"
    from conformance import page, processes, table

    chosen = [ordinal for ordinal, row in enumerate(table.rows()) if options.only in row.identity]
    found = dict(processes.judged(chosen, options.workers, options.gpu))
    results = {table.rows()[ordinal]: found[ordinal] for ordinal in chosen}
    text = page.page(results)
    print(text[text.index("| subject") :])
    if not options.only and not options.gpu:
        page.PAGE.write_text(text, encoding="utf-8")
    if options.record:
        options.record.write_text(json.dumps(page.summary(results), indent=1) + "\n", encoding="utf-8")
    failed = [row.identity for row, cells in results.items() if any(cell.startswith("FAIL") for cell in cells.values())]
    print(f"{len(results)} rows, {len(failed)} failed", *failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""`make fuzz`: new random programs for a given time. Keeps a cumulative record, and reduces what fails.

Seeds count up from where the last run stopped. A failure is written, reduced, to `build/fuzz/`; once understood, it
moves to `tests/random_faults/`, where it stays tested.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
os.environ["TRITON_INTERPRET"] = "1"

RECORD = HERE / "fuzz_record.json"
FOUND = HERE.parent / "build" / "fuzz"
BATCH = 20
FIRST_SEED = 1_000_000

Result = tuple[int, str, str | None]  # seed, what came of it, the reduced program if it failed
Record = dict[str, Any]


def run_seed(seed: int) -> tuple[str, str | None]:
    """("agrees" or "unsupported" or what failed, the reduced program if it failed)."""
    from generators import random_program
    from program_reduction import reduced
    from random_comparison import compare, failure

    warnings.simplefilter("ignore")
    program = random_program(Random(seed))
    kind = failure(program)
    if kind is None:
        return "unsupported" if compare(program, runs=0).unsupported else "agrees", None
    return kind, reduced(program, lambda smaller: failure(smaller) == kind).text


def generator_version() -> str:
    """Seeds mean the same programs only while these files do not change."""
    text = b"".join(
        (HERE / name).read_bytes() for name in ("generators.py", "random_expressions.py", "random_stages.py")
    )
    return hashlib.sha256(text).hexdigest()[:12]


def read_record() -> Record:
    if RECORD.exists():
        record: Record = json.loads(RECORD.read_text(encoding="utf-8"))
        return record
    return {"programs": 0, "unsupported": 0, "failures": 0, "runs": []}


def run(seconds: float, workers: int) -> int:
    """Batches of consecutive seeds until the time is over; the number of failures."""
    before = read_record()
    first = max((each["first_seed"] + each["programs"] for each in before["runs"]), default=FIRST_SEED)
    results: list[Result] = []
    end = time.monotonic() + seconds
    with ProcessPoolExecutor(workers, max_tasks_per_child=200) as pool:
        while time.monotonic() < end:
            seeds = range(first + len(results), first + len(results) + BATCH)
            for seed, (kind, text) in zip(seeds, pool.map(run_seed, seeds), strict=True):
                results.append((seed, kind, text))
                _report(seed, kind, text)
            record = _with_run(before, first, results)  # after every batch, so that an interrupted run counts
            RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    failures = sum(text is not None for _, _, text in results)
    print(f"{len(results)} programs, {failures} failures; {before['programs'] + len(results)} programs in all")
    return failures


def _report(seed: int, kind: str, text: str | None) -> None:
    if text is not None:
        FOUND.mkdir(parents=True, exist_ok=True)
        (FOUND / f"seed_{seed}.py").write_text(f"# {kind}\n{text}", encoding="utf-8")
        print(f"seed {seed}: {kind} (build/fuzz/seed_{seed}.py)", flush=True)


def _with_run(before: Record, first: int, results: list[Result]) -> Record:
    """The record as it was, with this run added."""
    unsupported = sum(kind == "unsupported" for _, kind, _ in results)
    failing = [seed for seed, _, text in results if text is not None]
    added = {"generator": generator_version(), "first_seed": first, "programs": len(results)}
    added |= {"unsupported": unsupported, "failing_seeds": failing}
    return {
        "programs": before["programs"] + len(results),
        "unsupported": before["unsupported"] + unsupported,
        "failures": before["failures"] + len(failing),
        "runs": [*before["runs"], added],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    return 1 if run(arguments.seconds, arguments.workers) else 0


if __name__ == "__main__":
    sys.exit(main())

"""`make fuzz`: new random programs for a given time on every core. Keeps a cumulative record, and reduces what fails.

Each worker takes seeds from a range of its own, in processes whose time and memory are bounded; ranges start after all
those of earlier runs. A failure is written, reduced, to `build/fuzz/`; once understood, it moves to
`tests/random_faults/`, where it stays tested.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from fuzz_worker import generator_version  # noqa: E402

from intent.records import dataclass  # noqa: E402

RECORD = HERE / "fuzz_record.json"
FOUND = HERE.parent / "build" / "fuzz"
FIRST_SEED = 1_000_000
RANGE = 100_000  # seeds of one worker in one run
SEEDS_PER_PROCESS = 200
LIMITS = {"start": 120.0, "compare": 240.0, "reduce": 400.0}  # seconds of silence after which a process is ended
GRACE = 60.0  # seconds that a process may go on after the run's time is over, to finish what it reduces
# The workers share the cores, and no process takes hold of a GPU that is not to run programs.
ALONE = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
INTERPRETED = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
ON_GPU = {"TRITON_INTERPRET": "0"}

Record = dict[str, Any]
Command = Callable[[int, int], list[str]]  # what runs seeds: the first and their number


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one seed. `kind` and `text` are the failure and its program; `unsupported` the gap that it met."""

    seed: int
    unsupported: str | None = None
    kind: str | None = None
    text: str | None = None


# ------------------------------------------------------------------------------------------------------------ processes
def worker_command(first: int, count: int) -> list[str]:
    return [sys.executable, str(HERE / "fuzz_worker.py"), str(first), str(count)]


def results_of_range(first: int, programs: int, end: float, command: Command = worker_command) -> Iterator[Result]:
    """Seeds from `first` on, until `programs` are done or the time `end` has come."""
    seed, last = first, first + programs
    while seed < last and time.monotonic() < end:
        for result in _results_of_process(seed, min(SEEDS_PER_PROCESS, last - seed), end, command):
            yield result
            seed = result.seed + 1


def _results_of_process(first: int, count: int, end: float, command: Command) -> Iterator[Result]:
    """One process's results, until it is done, falls silent, dies, or the time is over."""
    process = subprocess.Popen(
        command(first, count), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ | ALONE
    )
    try:
        yield from _results_of_lines(process, _lines(process), first, count, end)
    finally:
        process.kill()
        process.wait()


def _lines(process: subprocess.Popen[str]) -> queue.Queue[str | None]:
    """The process's lines as they come; None is the end."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def _results_of_lines(
    process: subprocess.Popen[str], lines: queue.Queue[str | None], first: int, count: int, end: float
) -> Iterator[Result]:
    seed, doing = first, {"phase": "start"}
    while seed < first + count:
        try:
            line = lines.get(timeout=max(0.0, min(LIMITS[doing["phase"]], end + GRACE - time.monotonic())))
        except queue.Empty:
            if time.monotonic() < end + GRACE:
                yield _ended(seed, doing, f"no answer for {LIMITS[doing['phase']]:.0f} s")
            elif "kind" in doing:
                yield _ended(seed, doing, "")
            return
        if line is None:
            yield _ended(seed, doing, f"the process ended with status {process.wait()}")
            return
        doing = json.loads(line)
        if doing.get("phase") == "another process":
            return
        if "phase" not in doing:
            yield Result(**doing)
            seed, doing = seed + 1, {"phase": "start"}
            if time.monotonic() > end:
                return


def _ended(seed: int, doing: dict[str, str], why: str) -> Result:
    """The result of a seed whose process did not give one: a failure found but not reduced, or the end itself."""
    if "kind" in doing:
        return Result(seed, None, doing["kind"], doing["text"])
    return Result(seed, None, f"{why} ({doing['phase']})", program_text(seed))


def program_text(seed: int) -> str:
    from random import Random

    from generators import random_program

    return random_program(Random(seed)).text


# --------------------------------------------------------------------------------------------------------------- record
def read_record(path: Path = RECORD) -> Record:
    if path.exists():
        record: Record = json.loads(path.read_text(encoding="utf-8"))
        return record
    return {"programs": 0, "unsupported": 0, "failures": 0, "runs": []}


def next_seed(record: Record) -> int:
    """The first seed after all ranges, at the start of a range."""
    ends = [_end(each) for run in record["runs"] for each in run["seeds"]]
    return -(-max(ends, default=FIRST_SEED) // RANGE) * RANGE


def _end(seeds: str) -> int:
    first, _, count = seeds.partition("+")
    return int(first) + int(count)


def with_run(before: Record, results: Iterable[Result], generator: str) -> Record:
    """The record as it was, with this run added: the same results give the same record, in whatever order they came."""
    ordered = sorted(results, key=lambda result: result.seed)
    counts = Counter(result.seed // RANGE * RANGE for result in ordered)
    gaps = Counter(gap_kind(result.unsupported) for result in ordered if result.unsupported)
    failing = [result.seed for result in ordered if result.kind]
    added = {
        "generator": generator,
        **({"device": "GPU"} if os.environ.get("TRITON_INTERPRET") == "0" else {}),
        "seeds": [f"{first}+{count}" for first, count in sorted(counts.items())],
        "unsupported": dict(sorted(gaps.items())),
        "unsupported_seeds": [result.seed for result in ordered if result.unsupported],
        "failing_seeds": failing,
    }
    return {
        "programs": before["programs"] + len(ordered),
        "unsupported": before["unsupported"] + sum(gaps.values()),
        "failures": before["failures"] + len(failing),
        "runs": [*before["runs"], added],
    }


def gap_kind(message: str) -> str:
    """The diagnostic without the program's own names and numbers."""
    code, _, text = message.partition(" ")
    return f"{code} {re.sub(r'`[^`]*`', '`_`', text)}"


# ------------------------------------------------------------------------------------------------------------------ run
def run(seconds: float, workers: int, programs: int = RANGE, record_path: Path = RECORD) -> int:
    """Each worker's range until the time is over or `programs` are done; the number of failures."""
    before, generator = read_record(record_path), generator_version()
    first, end = next_seed(before), time.monotonic() + seconds
    results: list[Result] = []
    lock = threading.Lock()

    def work(worker: int) -> None:
        for result in results_of_range(first + worker * RANGE, programs, end):
            with lock:
                results.append(result)
                _report(result)
                if len(results) % 100 == 0:  # so that an interrupted run counts
                    _write(record_path, with_run(before, results, generator))

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))
    record = with_run(before, results, generator)
    _write(record_path, record)
    failures = record["failures"] - before["failures"]
    for gap, count in record["runs"][-1]["unsupported"].items():
        print(f"unsupported, {count} times: {gap}")
    print(f"{len(results)} programs, {failures} failures; {record['programs']} programs in all")
    return int(failures)


def _write(path: Path, record: Record) -> None:
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _report(result: Result) -> None:
    if result.kind is not None:
        FOUND.mkdir(parents=True, exist_ok=True)
        (FOUND / f"seed_{result.seed}.py").write_text(f"# {result.kind}\n{result.text}", encoding="utf-8")
        print(f"seed {result.seed}: {result.kind} (build/fuzz/seed_{result.seed}.py)", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--programs", type=int, default=RANGE, help="the most that one worker runs")
    parser.add_argument("--gpu", action="store_true", help="run the programs on a GPU instead of the interpreter")
    arguments = parser.parse_args()
    os.environ.update(ON_GPU if arguments.gpu else INTERPRETED)
    return 1 if run(arguments.seconds, arguments.workers, arguments.programs) else 0


if __name__ == "__main__":
    sys.exit(main())

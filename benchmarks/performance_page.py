"""Writes docs/performance.md from the figures that are kept under benchmarks/results; none is typed by hand.

python -m benchmarks.performance_page
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import npbench_table  # noqa: E402
from benchmarks.misses import FIRST_CALLS, REASONS, SHARE  # noqa: E402
from benchmarks.report import KINDS, fastest_other, fastest_own, table  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
KERNELS, HOST, PAGE = RESULTS / "bench-h200.json", RESULTS / "call-overhead-h200.json", ROOT / "docs" / "performance.md"
FAMILIES, FIRST = RESULTS / "families-h200.json", RESULTS / "first-calls-h200.json"
NPBENCH = RESULTS / "npbench-h200.json"
HOST_CALLS, HOST_DESIGNS = RESULTS / "host-calls-h200.json", RESULTS / "host-designs-h200.json"

MEANING = {
    "eager": "torch's operators, one after the other",
    "compiled": "what torch.compile makes of them",
    "library": "cuBLAS or cuDNN, called through torch",
    "expert": "kernels written by hand in Triton, tuned over a few configurations (`benchmarks/expert_kernels.py`)",
    "generated": "the module that `intentc compile` writes, through its device functions",
    "relaxed": "the same with `--numerics relaxed_normalization`",
}

INTRODUCTION = """# Performance

*This page is written by `python -m benchmarks.performance_page` from `benchmarks/results`.*

Times are in milliseconds; less is better. The floor is what a row cannot be faster than: its bytes, each input read
once and each output written once, at the rate of the fastest copy, or its operations at the rate of the fastest matrix
product of the run, whichever takes longer. Reads alone can beat the rate of copies by a few percent, and the fastest
product is one that the power limit has not yet slowed. The goal is the best that any implementation has been measured
to take on this device. The last columns hold floor, goal, and the fastest other implementation of the same run against
the generated module: 100% would be as fast.
"""

OTHERS = """## Other families of kernels

Samples beside kernels written by hand (`benchmarks/expert_families.py`) and libraries, in a run of their own.
"""

METHOD = """## Method

- Every result is compared with a float64 reference before it is timed, outputs poisoned before. Which elements dropout
  drops, counts, and positions of maxima must be exact.
- Memory-bound rows are replays of a CUDA graph that runs over several sets of arrays, at least four times the L2 cache,
  so that nothing is found in it and no host time counts. The figure is the median of the replays.
- Matrix products are limited by power, and how long the device rests between them matters: the table shows the median
  of Triton's `do_bench` for those above 0.1 ms. The JSON has both figures for every matrix row.
- Where a row has two organisations, one kernel or two, the faster one counts; the JSON has both.
- Kernels written by hand and torch.compile are tuned or compiled before they are timed.

## Reproduce

On a machine with the compiler, then on one with a GPU, which needs torch, triton and numpy only:

```sh
python -m benchmarks.generate build/bench
python -m benchmarks.run --modules build/bench --output bench.json --compile
python -m benchmarks.run --modules build/bench --output families.json --families
python -m benchmarks.first_call --modules build/bench --output first.json
python -m benchmarks.call_overhead --modules build/bench --output overhead.json
python -m benchmarks.host_calls --modules build/bench --output host.json
python -m benchmarks.host_calls --modules build/bench --output designs.json --designs
python -m benchmarks.npbench --output npbench.json
```

`--only NAME` measures some rows, `--quick` repeats less, `--small` tries everything on a CPU. `make bench-device` makes
the modules and measures the rows and the host time of calls, `make bench-host` the calls with NumPy arrays, and
`make bench-npbench` the programs of NPBench. `intentc bench FILE[:KERNEL]` judges a kernel of your own.

Without a GPU, `python -m benchmarks.guard` compares what the assembly of these kernels needs (registers, spills, shared
memory, number and width of memory accesses) with `benchmarks/results/assembly-cuda90.json`; `make guard` rewrites it.
"""


def page() -> str:
    kernels = json.loads(KERNELS.read_text(encoding="utf-8"))
    host = json.loads(HOST.read_text(encoding="utf-8"))
    calls, designs = (json.loads(path.read_text(encoding="utf-8")) for path in (HOST_CALLS, HOST_DESIGNS))
    families, first = (json.loads(path.read_text(encoding="utf-8")) for path in (FAMILIES, FIRST))
    parts = [INTRODUCTION, _kinds(kernels), table(kernels) + "\n", OTHERS, table(families) + "\n"]
    parts += [_misses(kernels, families), METHOD, _first(first), _host(host), _calls(calls, designs)]
    parts += [_npbench(json.loads(NPBENCH.read_text(encoding="utf-8")))] if NPBENCH.exists() else []
    return "\n".join(parts)


def _kinds(report: Mapping[str, Any]) -> str:
    found = {peer["peer"].split(" ")[0] for row in report["rows"] for peer in row["peers"]}
    return "\n".join(f"- {kind}: {MEANING[kind]}" for kind in KINDS if kind in found) + "\n"


def _misses(*reports: Mapping[str, Any]) -> str:
    """The rows that another implementation is faster in, by more than a little, and why."""
    lines = ["## Rows in which another implementation is faster by more than a twentieth", ""]
    for row in (row for report in reports for row in report["rows"]):
        best, own = fastest_other(row), fastest_own(row)
        if best is not None and own is not None and best < SHARE * own:
            lines += [f"- `{row['name']}`, {100 * best / own:.0f}% of the fastest other. {REASONS[row['name']]}"]
    return "\n".join(line for each in lines for line in _folded(each)) + "\n"


def _folded(line: str) -> list[str]:
    return textwrap.wrap(line, 118, subsequent_indent="  " if line.startswith("- ") else "") or [""]


def _first(report: Mapping[str, Any]) -> str:
    """First calls in processes that find nothing compiled."""
    rows = [row for row in report["rows"] if "first" in row]
    slow = [f"`{row['row']}` {row['first']:.1f} s" for row in rows if row["first"] >= report["limit"]]
    more = [f"`{row['row']}`" for row in rows if row["compiled again"]]
    longest = max(rows, key=lambda row: float(row["first"]))
    lines = [
        "## First calls",
        "",
        "A fresh process with an empty cache imports a module, compiles its kernels and runs them; torch and "
        f"the device are there before. Of {len(rows)} rows the slowest, `{longest['row']}`, takes "
        f"{longest['first']:.2f} s. "
        f"{'Over' if slow else 'None is over'} {report['limit']:.0f} s{': ' + ', '.join(slow) if slow else ''}. "
        f"Other sizes of the same plan compile {'again in ' + ', '.join(more) if more else 'nothing'}.",
        "",
        *(f"- `{row['row']}`: {FIRST_CALLS[row['row']]}" for row in rows if row["first"] >= report["limit"]),
    ]
    return "\n".join(line for each in lines for line in _folded(each)) + "\n"


def _host(figures: Mapping[str, Any]) -> str:
    """A table for each kernel."""
    machine = figures["machine"]
    lines = [
        "## Host time of a call",
        "",
        f"Microseconds, with one {machine['device']} (torch {machine['torch']}, triton {machine['triton']}).",
        "A bare launch is Triton's compiled kernel with its arguments ready, the least that any caller can do.",
    ]
    for title, calls in figures.items():
        if isinstance(calls, dict) and title != "machine":
            lines += ["", f"| {title} | us |", "| --- | ---: |"]
            lines += [f"| {name} | {_microseconds(value):.2f} |" for name, value in calls.items()]
    return "\n".join(lines) + "\n"


def _microseconds(value: float | Mapping[str, float]) -> float:
    return value if isinstance(value, int | float) else value["total"]


WHOLE_CALLS = """## Calls with NumPy arrays

Milliseconds of wall time of a whole call, arrays of NumPy in and out, with one {device} and {cores} cores (torch
{torch}, triton {triton}). All pinned is the same call when every array already lies in pinned memory, which arrays of
NumPy do not. Arrays pass through slots of pinned memory part by part. These figures were taken when modules had
{slots}; the second table, a run of its own, compares choices. Modules now have 2 slots of
32 MB in each direction. Each result is dropped before the next call, and the memory of large results that are gone is
used again: a caller who keeps every result waits for new pages besides, as the second table's first row does.
"""
WAYS = {
    "the module": "module",
    "the module, into an array it is given": "into a given array",
    "CuPy": "CuPy",
    "torch, pageable memory": "torch",
    "torch, all arrays pinned": "all pinned",
}


def _calls(calls: Mapping[str, Any], designs: Mapping[str, Any]) -> str:
    """Whole calls, and below what else the transfers could be: a column for each row that was measured."""
    slots = f"{calls['slots']['in each direction']} slots of {calls['slots']['bytes'] >> 20} MB in each direction"
    lines = [WHOLE_CALLS.format(slots=slots, **calls["machine"])]
    lines += [f"| call | goal | {' | '.join(WAYS.values())} |", f"| --- | ---: |{' ---: |' * len(WAYS)}"]
    for row in calls["rows"]:
        times = " | ".join(_time(row["ways"].get(name)) for name in WAYS)
        lines.append(f"| {row['row']} | {row['goal']} | {times} |")
    rows = [row for row in designs["rows"] if len(row["ways"]) > len(WAYS)]
    lines += ["", f"| design | {' | '.join(row['row'] for row in rows)} |", f"| --- |{' ---: |' * len(rows)}"]
    for name in dict.fromkeys(name for row in rows for name in row["ways"] if name == "the module" or name not in WAYS):
        lines.append(f"| {name} | {' | '.join(_time(row['ways'].get(name)) for row in rows)} |")
    return "\n".join(lines) + "\n"


def _time(figures: Mapping[str, Any] | None) -> str:
    """Three digits; nothing where a way does not apply or failed."""
    return f"{figures['median']:.3g}" if figures and "median" in figures else ""


PROGRAMS = """## The programs of NPBench

Milliseconds at the suite's size M, with one {device} (torch {torch}, triton {triton}, NumPy {numpy}): the NumPy
statement of each program, the same with CuPy's arrays on the device, a whole call of the generated module with arrays
of NumPy, and the program with its tensors on the device. The last columns are how many times faster a whole call is
than NumPy, and the program on the device than CuPy. Statements that take more than {longest:g} s are given up.
"""


def _npbench(report: Mapping[str, Any]) -> str:
    """The table, and what the compiler says of the programs that lose."""
    lines = [PROGRAMS.format(longest=report["longest"], **report["machine"]), npbench_table.table(report), ""]
    lost = [f"- `{name}`: {notes}." for name, notes in npbench_table.losses(report)]
    if lost:
        lines += [
            "What the compiler says of programs that are slower:",
            "",
            *(part for each in lost for part in _folded(each)),
        ]
    without = {
        name: found["cupy_reason"]
        for name, found in sorted(report["programs"].items())
        if not found.get("cupy") and not found.get("cupy_reason", "more").startswith("more")
    }
    if without:
        lines += ["", "Statements that do not run unchanged with CuPy:", ""]
        lines += [part for name, reason in without.items() for part in _folded(f"- `{name}`: {reason}")]
    return "\n".join(lines) + "\n"


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

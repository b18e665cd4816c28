"""From the lines of a run to its report, and from a report to a table in Markdown. Needs nothing but Python.

The floor of a row is the larger of two times: its bytes at the rate of the fastest copy, its operations at the rate of
the fastest matrix product of the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Report = Mapping[str, Any]
KINDS = ("eager", "compiled", "library", "expert", "generated", "relaxed")
OWN = ("generated", "relaxed")


def assembled(machine: Mapping[str, str], lines: Sequence[Mapping[str, Any]], seconds: float) -> dict[str, Any]:
    """Machine, rates, and the rows with their floors, goals and implementations."""
    from benchmarks.measure import ROWS  # needs torch

    copy, matrix = _rates(lines)
    rows = []
    for row in ROWS:
        own = [line for line in lines if line["row"] == row.name]
        if own:
            size = next((line for line in own if "bytes" in line), {"bytes": 0, "operations": 0})
            floor = max(size["bytes"] / copy, size["operations"] / matrix) * 1e3 if copy and matrix else None
            peers = [{key: line[key] for key in line if key not in _OF_THE_ROW} for line in own]
            facts = {"name": row.name, "shape": row.shape, "method": row.method, "goal": row.goal, "floor": floor}
            rows.append(facts | {key: size[key] for key in ("bytes", "operations")} | {"peers": peers})
    return {
        "machine": dict(machine),
        "seconds": seconds,
        "unit": "ms",
        "copy_rate": copy,
        "matrix_rate": matrix,
        "rows": rows,
    }


_OF_THE_ROW = ("row", "bytes", "operations", "device_lost")


def _rates(lines: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    limits = next((line for line in lines if line["row"] == "limits" and "copy_rate" in line), None)
    if limits is None:
        return 0.0, 0.0
    products = [
        line["operations"] / line[method] * 1e3
        for line in lines
        for method in ("graph", "do_bench")
        if line.get("operations") and line.get("status") == "right" and line.get(method)
    ]
    return limits["copy_rate"], max([limits["matrix_rate"], *products])


# ---------------------------------------------------------------------------------------------------------------- table
def table(report: Report) -> str:
    """A row for each workload: floor, time to reach, the best of each kind of implementation, what they are."""
    machine = report["machine"]
    kinds = [kind for kind in KINDS if any(_of_kind(row, kind) for row in report["rows"])]
    versions = f"torch {machine['torch']}, triton {machine['triton']}, python {machine['python']}"
    rates = f"copies {report['copy_rate'] / 1e9:.0f} GB/s, matrix products {report['matrix_rate'] / 1e12:.0f} TFLOP/s"
    lines = [
        f"{machine['device']}; {versions}; {rates}.",
        "",
        f"| row | sizes | floor | goal | {' | '.join(kinds)} | of floor | of goal | of best |",
        f"| --- | --- | {' | '.join(['---:'] * (len(kinds) + 5))} |",
    ]
    return "\n".join([*lines, *(_line(row, kinds) for row in report["rows"])])


def _line(row: Mapping[str, Any], kinds: Sequence[str]) -> str:
    best = {kind: _best(row, kind) for kind in (*kinds, "generated")}
    own = best["generated"]
    cells = [
        row["name"],
        row["shape"],
        _ms(row["floor"]),
        _ms(row["goal"]),
        *(_cell(row, best, kind) for kind in kinds),
        _percent(row["floor"], own),
        _percent(row["goal"], own),
        _percent(fastest_other(row), own),
    ]
    return f"| {' | '.join(cells)} |"


def fastest_other(row: Mapping[str, Any]) -> float | None:
    """The least time of all implementations that are not generated."""
    times = [_best(row, kind) for kind in KINDS if kind not in OWN]
    return min((time for time in times if time is not None), default=None)


def fastest_own(row: Mapping[str, Any]) -> float | None:
    times = [_best(row, kind) for kind in OWN]
    return min((time for time in times if time is not None), default=None)


def _best(row: Mapping[str, Any], kind: str) -> float | None:
    """The least time of the implementations of a kind, by the row's method if it has it."""
    times = [milliseconds(row, peer) for peer in _of_kind(row, kind)]
    return min((time for time in times if time is not None), default=None)


def _of_kind(row: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    return [peer for peer in row["peers"] if peer["peer"].split(" ")[0] == kind]


def milliseconds(row: Mapping[str, Any], peer: Mapping[str, Any]) -> float | None:
    """What counts of a peer's figures."""
    found: float | None = peer.get(row["method"], peer.get("graph", peer.get("do_bench")))
    return found if peer["status"] == "right" else None


def _cell(row: Mapping[str, Any], best: Mapping[str, float | None], kind: str) -> str:
    if best[kind] is not None:
        return _ms(best[kind])
    own = [peer["status"] for peer in _of_kind(row, kind)]
    return own[0].split(":")[0][:30] if own else ""


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _percent(least: float | None, value: float | None) -> str:
    return "" if not least or not value else f"{100 * least / value:.0f}%"

"""From the figures of `benchmarks.npbench` to a table in Markdown, and what the compiler says of what does not win.

Needs nothing but Python.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from typing import Any

Report = Mapping[str, Any]
WAYS = ("numpy", "cupy", "host", "device")


def table(report: Report) -> str:
    """A row for each program: the time of every way, and how many times faster than the others the module is."""
    lines = [
        "| program | NumPy | CuPy | whole call | on the device | of NumPy | of CuPy |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [_line(name, found) for name, found in sorted(report["programs"].items())]
    return "\n".join([*lines, "", *summary(report)])


def _line(name: str, found: Mapping[str, Any]) -> str:
    if found["wrong"]:
        return f"| {name} | wrong: {_plain(found['wrong'][0])} |{' |' * 5}"
    times = [_time(found, way) for way in WAYS]
    mark = "" if found["checked"] == "M" else " *"
    ratios = [_ratio(_speed_up(found, "numpy", "host")), _ratio(_speed_up(found, "cupy", "device"))]
    return f"| {name}{mark} | {' | '.join([*times, *ratios])} |"


def _time(found: Mapping[str, Any], way: str) -> str:
    """Three digits; what prevented it if there is no figure."""
    value = found.get(way)
    if value is not None:
        return f"{value:.3g}" if value < 1000 else f"{value:.0f}"
    reason = found.get(f"{way}_reason", "not measured")
    return _plain(reason if reason.startswith(("more", "not")) else reason.partition(":")[0])


def _plain(text: str) -> str:
    return " ".join(text.replace("|", " ").split())[:60]


def _speed_up(found: Mapping[str, Any], other: str, own: str) -> float | None:
    """How many times faster; None without both figures, or if the module is wrong."""
    return found[other] / found[own] if found.get(other) and found.get(own) and not found["wrong"] else None


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}x"


def summary(report: Report) -> list[str]:
    """Geometric means over the programs that have both figures, and which programs do not win."""
    programs = report["programs"]
    lines = []
    for title, other, own in (
        ("Whole calls against NumPy", "numpy", "host"), ("On the device against CuPy", "cupy", "device"),
    ):  # fmt: skip
        pairs = ((name, _speed_up(found, other, own)) for name, found in sorted(programs.items()))
        known = {name: ratio for name, ratio in pairs if ratio is not None}
        if known:
            slower = [name for name, ratio in known.items() if ratio < 1]
            mean = statistics.geometric_mean(known.values())
            lines.append(
                f"{title}: {mean:.3g} times as fast in the geometric mean of {len(known)} programs; "
                f"slower in {len(slower)}{': ' + ', '.join(slower) if slower else ''}."
            )
    checked = sum(found["checked"] == "M" and not found["wrong"] for found in programs.values())
    wrong = [name for name, found in sorted(programs.items()) if found["wrong"]]
    lines.append(
        f"{checked} of {len(programs)} programs agree with their statements at size M; those with * at a smaller size, "
        f"as the statement takes too long. Wrong: {', '.join(wrong) or 'none'}."
    )
    return lines


def losses(report: Report) -> Iterator[tuple[str, str]]:
    """Programs whose whole call is slower than NumPy, or which CuPy beats on the device, and what the compiler said."""
    for name, found in sorted(report["programs"].items()):
        ratios = {
            "NumPy": _speed_up(found, "numpy", "host"),
            "CuPy": _speed_up(found, "cupy", "device"),
        }
        slower = [f"{100 * ratio:.0f}% of {other}" for other, ratio in ratios.items() if ratio and ratio < 1]
        if slower:
            reasons = [*found["notes"]]
            if ratios["NumPy"] and ratios["NumPy"] < 1 and found["host"] > 2 * found["device"]:
                size, own = found["bytes"] / 1e6, found["device"]
                reasons.append(f"{size:,.0f} MB of arrays move to the device, where the program takes {own:.3g} ms")
            yield f"{name}, {' and '.join(slower)}", "; ".join(reasons) or "it has no note on this"

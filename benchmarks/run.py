"""Measures the generated modules beside torch, the vendor's library and kernels written by hand. Needs a GPU.

    python -m benchmarks.generate build/bench            on any machine with the compiler
    python -m benchmarks.run --modules build/bench --output bench.json [--families] [--only NAME] [--quick]

The second step needs torch, triton and numpy only. Every result is checked against a float64 reference before it is
timed. One process measures all rows; if an implementation brings it down or hangs, that is recorded and a new one goes
on with the next. With --small, arrays are small and on the CPU (TRITON_INTERPRET=1): a trial of everything but timing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from benchmarks import cases, families
from benchmarks.measure import peers
from benchmarks.report import assembled, table

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 100.0  # seconds for one implementation, compilation and tuning included
Pair = tuple[str, str]


def main() -> int:
    options = _options()
    started = time.monotonic()
    wanted: list[Pair] = [("limits", "")]
    for row in families.ROWS if options.families else cases.ROWS:
        if any(text in row.name for text in options.only.split(",")):
            names = peers(row, options.small, options.compile)
            wanted += [(row.name, name) for name in names if name.split()[0] in options.peers.split(",")]
    lines: list[dict[str, Any]] = []
    for line in _measured(wanted, options, started):
        lines.append(line)
        _tell(line)
        report = assembled(_machine(options.small), lines, round(time.monotonic() - started, 1))
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(table(report))
    return 0 if all(line.get("status", "right") == "right" for line in lines) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "bench.json")
    parser.add_argument("--families", action="store_true", help="the rows of the second table")
    parser.add_argument("--only", default="", help="only rows whose name contains one of these texts")
    parser.add_argument(
        "--peers", default="generated,relaxed,eager,compiled,library,expert", help="separated by commas"
    )
    parser.add_argument("--compile", action="store_true", help="torch.compile as well, which takes its time")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--small", action="store_true", help="small arrays on the CPU, as a trial")
    parser.add_argument("--seconds", type=float, default=480.0, help="rows not begun by then are left out")
    return parser.parse_args()


def _measured(wanted: Sequence[Pair], options: argparse.Namespace, started: float) -> Iterator[dict[str, Any]]:
    """One line for each pair, in order."""
    left = list(wanted)
    while left:
        child = Child(left, options)
        try:
            while left:
                seconds = options.seconds - (time.monotonic() - started)
                line = child.line(min(PATIENCE, seconds))
                row, peer = left.pop(0)
                yield line or {"row": row, "peer": peer, "status": "not run" if seconds <= 0 else "ended or hung"}
                if line is None or line.get("device_lost"):
                    break
        finally:
            child.end()
        if time.monotonic() - started > options.seconds:
            yield from ({"row": row, "peer": peer, "status": "not run"} for row, peer in left)
            return


class Child:
    """The process that measures; its lines are read with a time limit."""

    def __init__(self, pairs: Sequence[Pair], options: argparse.Namespace) -> None:
        flags = [f"--{name}" for name in ("quick", "small") if getattr(options, name)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.measure", str(options.modules.resolve()), *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | ({"TRITON_INTERPRET": "1"} if options.small else {}),
        )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(pairs))
        self._process.stdin.close()
        self._lines: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                self._lines.put(line)
        self._lines.put("")

    def line(self, seconds: float) -> dict[str, Any] | None:
        """None if the process has ended or says nothing for so long."""
        try:
            line = self._lines.get(timeout=max(seconds, 0.01))
        except Empty:
            return None
        found: dict[str, Any] | None = json.loads(line) if line else None
        return found

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def _tell(line: dict[str, Any]) -> None:
    """Progress, one line for each implementation."""
    times = [f"{key} {line[key]:.4f} ms" for key in ("graph", "do_bench") if key in line]
    status = line.get("status", "")
    print(line["row"], line.get("peer", ""), status, *times, f"({line.get('seconds', 0)} s)", flush=True)


def _machine(small: bool) -> dict[str, str]:
    import numpy as np
    import torch
    import triton

    return {
        "device": "CPU" if small else torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    sys.exit(main())

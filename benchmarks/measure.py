"""Checks and times the benchmark's implementations in this process; `benchmarks.run` starts it.

    python -m benchmarks.measure MODULES [--quick] [--small]

Reads a JSON array of [row, implementation] pairs from standard input and prints one JSON line for each of them. If the
device is lost to an error, the process ends after the line that tells of it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from benchmarks import cases, families
from benchmarks.rows import Data, Peer, Row, Source, compiled
from benchmarks.timing import Clock, DeviceClock, WallClock, copy_rate, matrix_rate

ROWS = (*cases.ROWS, *families.ROWS)
# The relative 2-norm of an error that rounding to the dtype, and a reassociated sum before it, explain.
TOLERANCE = {torch.float16: 1e-3, torch.bfloat16: 6e-3, torch.float32: 3e-6, torch.float64: 1e-14}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--small", action="store_true", help="small arrays on the CPU, as a trial")
    options = parser.parse_args()
    clock: Clock = DeviceClock(5, 30) if options.quick else DeviceClock()
    trial = Trial(options.modules, WallClock() if options.small else clock, options.small)
    rows = {row.name: row for row in ROWS}
    for name, peer in json.loads(sys.stdin.read()):
        found = limits(trial) if name == "limits" else trial.measured(rows[name], peer)
        print(json.dumps(found), flush=True)
        if found.get("device_lost"):
            return 3
    return 0


def peers(row: Row, small: bool, with_compiled: bool) -> list[str]:
    """The names of a row's implementations, as far as they can be measured."""
    names = [peer.name for peer in row.peers if peer.in_interpreter or not small]
    improvable = any(peer.source is not None for peer in row.peers)
    return [*names, "compiled"] if improvable and with_compiled else names


def limits(trial: Trial) -> dict[str, Any]:
    """What the device can do at best, apart from the rows."""
    small = trial.small
    return {
        "row": "limits",
        "copy_rate": copy_rate(trial.clock, 1 << (10 if small else 28)),
        "matrix_rate": matrix_rate(trial.clock, 64 if small else 8192),
    }


@dataclass(slots=True)
class Trial:
    """Keeps the buffers and the reference of the row that is being measured."""

    modules: Path
    clock: Clock
    small: bool
    _row: Row | None = None
    _sets: Sequence[Data] = ()
    _kept: Sequence[torch.Tensor] = ()  # what the first set's updated arrays held
    _wanted: Sequence[torch.Tensor] | None = None

    def measured(self, row: Row, name: str) -> dict[str, Any]:
        """What is to be reported of one implementation, whatever happens."""
        started = time.monotonic()
        found: dict[str, Any] = {"row": row.name, "peer": name, "status": "right"}
        try:
            self._prepare(row)
            found |= {"bytes": row.traffic(self._sets[0]), "operations": row.operations(self._sizes(row))}
            found |= self._figures(row, _peer(row, name))
        except Exception as problem:
            found["status"] = f"{type(problem).__name__}: {problem}"[:1000]
        found["seconds"] = round(time.monotonic() - started, 2)
        found["device_lost"] = not _works(self.clock)
        return found

    def _sizes(self, row: Row) -> dict[str, int]:
        return dict(row.small if self.small else row.sizes)

    def _prepare(self, row: Row) -> None:
        if self._row is row:
            return
        self._row, self._sets, self._kept, self._wanted = None, (), (), None
        if self.clock.device == "cuda":
            torch.cuda.empty_cache()
        source = Source(self.clock.device)
        first = row.data(self._sizes(row), source)
        # In turn they use four times the cache.
        count = max(2, -(-4 * self.clock.cache_bytes() // row.traffic(first)))
        self._sets = [first, *(row.data(self._sizes(row), source) for _ in range(min(count, 16) - 1))]
        self._kept = tuple(each.clone() for each in first.updated)
        self._row = row

    def _figures(self, row: Row, peer: Peer) -> dict[str, Any]:
        module = self._module(row, peer)
        error, right = self._checked(row, peer, module)
        found: dict[str, Any] = {"error": error}
        if not right:
            return found | {"status": "wrong"}
        calls = [lambda data=data: peer.call(module, data) for data in self._sets]
        for call in calls:
            call()
        if peer.graph:
            found["graph"] = self.clock.graph(calls)
        if row.operations(self._sizes(row)) or not peer.graph:
            found["do_bench"] = self.clock.do_bench(calls[0])
        return found

    def _module(self, row: Row, peer: Peer) -> ModuleType:
        """Other peers do not depend on the generated module, and must not fail with it."""
        if peer.kind == "generated":
            return load(self.modules / f"{row.workload}.py")
        return load(self.modules / "relaxed" / f"{row.workload}.py") if peer.kind == "relaxed" else ModuleType("none")

    def _checked(self, row: Row, peer: Peer, module: ModuleType) -> tuple[float, bool]:
        """The error on the first set of buffers, outputs poisoned before; whether it is small enough."""
        data, workload = self._sets[0], load(row.file)
        for updated, kept in zip(data.updated, self._kept, strict=True):
            updated.copy_(kept)
        if self._wanted is None and row.check is None:
            self._wanted = _sequence(row.reference(workload, data.inputs))
        for output in data.outputs:
            output.fill_(float("nan") if output.is_floating_point() else -1)
        returned = peer.call(module, data)
        results = _sequence((*data.updated, *data.outputs) if returned is None else returned)
        if row.check is not None:
            error = row.check(workload, data, results, peer.kind in ("generated", "relaxed"))
        else:
            assert self._wanted is not None
            error = max(distance(found, wanted) for found, wanted in zip(results, self._wanted, strict=True))
        return error, error <= max(TOLERANCE.get(each.dtype, 0.0) for each in results)


def _peer(row: Row, name: str) -> Peer:
    if name == "compiled":
        return compiled(next(peer for peer in row.peers if peer.source is not None))
    return next(peer for peer in row.peers if peer.name == name)


def _sequence(results: object) -> Sequence[torch.Tensor]:
    return results if isinstance(results, tuple | list) else (results,)  # type: ignore[return-value]


def distance(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """The 2-norm of the difference relative to that of what is wanted; infinite unless shapes agree, or with NaN."""
    if found.shape != wanted.shape:
        return float("inf")
    a, b = found.double(), wanted.double()
    error = float((a - b).norm() / b.norm().clamp(min=1e-300))
    return error if error == error else float("inf")


@cache
def load(path: Path) -> ModuleType:
    """A Python file as a module; the same one for the same file."""
    name = f"benchmarked_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _works(clock: Clock) -> bool:
    """Whether the device still answers: after an illegal access it does not."""
    try:
        if clock.device == "cuda":
            torch.cuda.synchronize()
    except Exception:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())

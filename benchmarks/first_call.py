"""How long the first call of every generated module takes in a fresh process that finds nothing compiled. Needs a GPU.

    python -m benchmarks.first_call --modules build/bench --output first.json [--only NAME] [--workers N]

Counted is what a module adds: its import, the compilation of its kernels, and the call, until the device has finished.
Torch, Triton and the device are there before, the data as well. Then other sizes that the same plan serves are called:
compiled kernels are counted by what appears in Triton's cache, which must be nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

LIMIT = 2.0  # seconds


def main() -> int:
    options = _options()
    if options.row:
        print(json.dumps(measured(options.row, options.modules, options.small)))
        return 0
    from benchmarks.measure import ROWS

    names = [row.name for row in ROWS if any(text in row.name for text in options.only.split(","))]
    with ThreadPoolExecutor(options.workers) as pool:
        lines = list(pool.map(lambda name: _in_a_fresh_process(name, options), names))
    report = {"machine": _machine(options.small), "unit": "s", "limit": LIMIT, "rows": lines}
    options.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(table(report))
    return 0 if all(line.get("first", LIMIT) < LIMIT and line.get("compiled again") == 0 for line in lines) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "first.json")
    parser.add_argument("--only", default="", help="only rows whose name contains one of these texts")
    parser.add_argument("--workers", type=int, default=1, help="processes at a time")
    parser.add_argument("--small", action="store_true", help="small arrays on the CPU, as a trial")
    parser.add_argument("--row", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_a_fresh_process(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """The figures of one row; an empty cache of its own."""
    flags = ["--modules", str(options.modules.resolve()), "--row", name, *(["--small"] if options.small else [])]
    with tempfile.TemporaryDirectory() as folder:
        more = {"TRITON_CACHE_DIR": folder} | ({"TRITON_INTERPRET": "1"} if options.small else {})
        command = [sys.executable, "-m", "benchmarks.first_call", *flags]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ | more, check=False)
    last = done.stdout.strip().splitlines()[-1:] or [""]
    found: dict[str, Any] = json.loads(last[0]) if last[0].startswith("{") else {"problem": done.stderr[-300:]}
    return {"row": name} | found


# ---------------------------------------------------------------------------------------------------------- one process
def measured(name: str, modules: Path, small: bool) -> dict[str, Any]:
    """Seconds of the first call and of one with other sizes, and how many kernels each compiled."""
    import torch

    from benchmarks.measure import ROWS, load
    from benchmarks.rows import Source

    row = next(row for row in ROWS if row.name == name)
    peer = next(peer for peer in row.peers if peer.kind == "generated")
    device = "cpu" if small else "cuda"
    sizes = dict(row.small if small else row.sizes)
    first, second = (row.data(each, Source(device)) for each in (sizes, other_sizes(sizes)))

    def call(data: Any) -> float:  # noqa: ANN401
        start = time.perf_counter()
        peer.call(load(modules / f"{row.workload}.py"), data)
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start

    if device == "cuda":
        torch.cuda.synchronize()
    found = {"first": call(first), "compiled": _kernels()}
    return found | {"other sizes": call(second), "compiled again": _kernels() - found["compiled"], "again": call(first)}


def other_sizes(sizes: Mapping[str, int]) -> dict[str, int]:
    """About seven eighths of the first size that is not small, of the same remainder by 16: near enough for plans that
    depend on how many tiles there are.
    """
    name = next((name for name, size in sizes.items() if size >= 32), next(iter(sizes)))
    size = sizes[name]
    return {**sizes, name: 7 * size // 128 * 16 + size % 16 if size >= 32 else size}


def _kernels() -> int:
    cache = Path(os.environ["TRITON_CACHE_DIR"])
    return len(list(cache.rglob("*.cubin"))) + len(list(cache.rglob("*.hsaco")))


# -------------------------------------------------------------------------------------------------------------- report
def table(report: Mapping[str, Any]) -> str:
    """In Markdown."""
    lines = [
        "| row | first call | kernels compiled | other sizes | compiled again | again |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for line in report["rows"]:
        if "first" in line:
            seconds = [f"{line[key]:.3f}" for key in ("first", "other sizes", "again")]
            cells = [seconds[0], str(line["compiled"]), seconds[1], str(line["compiled again"]), seconds[2]]
        else:
            cells = [line["problem"].replace("\n", " ")[-60:].replace("|", " "), "", "", "", ""]
        lines.append(f"| {line['row']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _machine(small: bool) -> dict[str, str]:
    import platform

    import torch
    import triton

    device = "CPU" if small else torch.cuda.get_device_name()
    return {
        "device": device,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    sys.exit(main())

"""What the assembly of the benchmark's kernels needs, compared with a file that is kept: regressions without a GPU.

    python -m benchmarks.guard            the kernels that are worse than kept; exit status 1 if there are any
    python -m benchmarks.guard --write    keep what is found now

For every kernel of a row, the variant that the row's sizes choose is compiled for cuda:90 with aligned arrays. Counted
are registers of a thread, bytes of spills and shared memory, and the instructions of the text that read and write
global memory, by their width in bytes (`copies` go to shared memory). The figures are those of one Triton version.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.measure import ROWS  # noqa: E402
from benchmarks.rows import Row  # noqa: E402
from intentc.ahead_of_time import Job, assembled, jobs, nvidia_figures  # noqa: E402
from intentc.differential import load_module  # noqa: E402
from translators.options import Options  # noqa: E402
from translators.pipeline import Compilation, compile_text  # noqa: E402
from translators.triton_source.launch import TILES  # noqa: E402

KEPT = ROOT / "benchmarks" / "results" / "assembly-cuda90.json"
TARGET = "cuda:90"
Figures = dict[str, Any]

_ACCESS = re.compile(r"\b(ld|st)\.global(?:\.[A-Za-z]\w*(?:::\w+)*)*?(?:\.v(\d))?\.[bfsu](\d+)\b")
_COPY = re.compile(r"\bcp\.async\.c[ag]\.shared\.global[\w.:]* \[[^]]*\], \[[^]]*\], (0x[0-9a-f]+|\d+)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"rewrite {KEPT.relative_to(ROOT)}")
    parser.add_argument("--only", default="", help="only kernels whose name contains this text")
    options = parser.parse_args()
    found = dict(measured(options.only))
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    if options.write:
        _write({**kept, **found} if options.only else found)
        return 0
    complaints = list(compared(kept, found))
    print("\n".join(complaints) or f"{len(found)} kernels are no worse than kept")
    return 1 if complaints else 0


def _write(found: Mapping[str, Figures]) -> None:
    """One kernel a line."""
    import triton

    rows = {"triton": triton.__version__, **dict(sorted(found.items()))}
    lines = [f" {json.dumps(name)}: {json.dumps(figures)}" for name, figures in rows.items()]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


# ------------------------------------------------------------------------------------------------------------ measuring
def measured(only: str) -> Iterator[tuple[str, Figures]]:
    """Every kernel once, at the sizes of the first row that has it."""
    seen: set[str] = set()
    for row in ROWS:
        wanted = [kernel for peer in row.peers for kernel in peer.kernels if only in kernel]
        for kernel in dict.fromkeys(wanted):
            if kernel not in seen:
                seen.add(kernel)
                yield kernel, figures_of(row, kernel)


def figures_of(row: Row, kernel: str) -> Figures:
    compilation = compile_text(row.file.read_text(encoding="utf-8"), row.file.name, Options())
    assert compilation.source is not None, row.workload
    job = _job(compilation, kernel, row.sizes)
    compiled, log = assembled(getattr(load_module(compilation.source), job.function), job)
    registers, spills = nvidia_figures(log)
    return {
        "variant": job.title.removeprefix(f"{TARGET} "),
        "registers": registers,
        "spills": spills,
        "shared": compiled.metadata.shared,
        **accesses(compiled.asm["ptx"]),
    }


def _job(compilation: Compilation, kernel: str, sizes: Mapping[str, int]) -> Job:
    """That of the variant which is launched for the sizes."""
    import triton

    known = {"triton": triton, TILES: 132, **sizes}
    variants = [(code.kernel.name, variant) for code in compilation.codes for variant in code.variants]
    return next(
        job
        for job, (name, variant) in zip(jobs(compilation, [TARGET], ("aligned",)), variants, strict=True)
        if name == kernel and (variant.condition is None or eval(variant.condition, known))
    )


def accesses(ptx: str) -> dict[str, dict[str, int]]:
    """Instructions on global memory, by width in bytes."""
    found: dict[str, Counter[str]] = {"loads": Counter(), "copies": Counter(), "stores": Counter()}
    for kind, vector, bits in _ACCESS.findall(ptx):
        found["loads" if kind == "ld" else "stores"][str(int(vector or 1) * int(bits) // 8)] += 1
    for width in _COPY.findall(ptx):
        found["copies"][str(int(width, 0))] += 1
    return {kind: dict(sorted(counts.items(), key=lambda item: int(item[0]))) for kind, counts in found.items()}


# ------------------------------------------------------------------------------------------------------------ comparing
def compared(kept: Mapping[str, Figures], found: Mapping[str, Figures]) -> Iterator[str]:
    """What is worse than before by more than a compiler's whim."""
    for kernel, figures in found.items():
        if kernel not in kept:
            yield f"{kernel}: not kept yet"
            continue
        before = kept[kernel]
        for name, slack in (("registers", 4), ("spills", 16), ("shared", 256)):
            if figures[name] > before[name] * 1.1 + slack:
                yield f"{kernel}: {name} {before[name]} -> {figures[name]} ({figures['variant']})"
        for kind in ("loads", "copies", "stores"):
            if _mean_width(figures[kind]) < _mean_width(before[kind]):
                yield f"{kernel}: narrower {kind}: {before[kind]} -> {figures[kind]} ({figures['variant']})"
        if _accesses(figures) > 1.25 * _accesses(before) and figures["variant"] == before["variant"]:
            yield f"{kernel}: more accesses of global memory: {_accesses(before)} -> {_accesses(figures)}"


def _mean_width(counts: Mapping[str, int]) -> float:
    """The mean width: a vector that falls apart lowers it, whatever its size was."""
    total = sum(counts.values())
    return round(sum(int(width) * count for width, count in counts.items()) / total, 1) if total else float("inf")


def _accesses(figures: Figures) -> int:
    return sum(sum(figures[kind].values()) for kind in ("loads", "copies", "stores"))


if __name__ == "__main__":
    sys.exit(main())

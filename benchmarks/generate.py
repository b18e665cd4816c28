"""Compiles the workloads into a folder for `benchmarks.run`, which needs neither the compiler nor its dependencies.

    python -m benchmarks.generate [FOLDER]        default: build/bench

The samples that are measured are with them. Modules compiled with --numerics relaxed_normalization are in `relaxed`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from translators.options import Options  # noqa: E402
from translators.pipeline import compile_text  # noqa: E402

WORKLOADS = ROOT / "benchmarks" / "workloads"
MEASURED_SAMPLES = (
    "adamw", "attention_backward", "conv2d", "fp8_gemm", "gated_delta_rule", "grouped_gemm", "int4_gemm",
    "mamba_chunks", "max_pool", "paged_decode", "rope", "split_decode", "top_k",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "bench")
    folder: Path = parser.parse_args().folder
    shutil.rmtree(folder, ignore_errors=True)
    files = [*sorted(WORKLOADS.glob("*.py")), *(ROOT / "samples" / f"{name}.py" for name in MEASURED_SAMPLES)]
    failures = [path.stem for path in files if not write(path, folder)]
    print(f"{len(list(folder.glob('*.py')))} modules in {folder}; failed: {', '.join(failures) or 'none'}")
    return 1 if failures else 0


def write(path: Path, folder: Path) -> bool:
    """Whether the workload could be compiled."""
    text = path.read_text(encoding="utf-8")
    for options, place in ((Options(), folder), (Options(numerics="relaxed_normalization"), folder / "relaxed")):
        source = compile_text(text, path.name, options).source
        if source is None:
            return False
        place.mkdir(parents=True, exist_ok=True)
        (place / path.name).write_text(source, encoding="utf-8")
    return True


if __name__ == "__main__":
    sys.exit(main())

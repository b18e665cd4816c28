"""Compiles the workloads into a folder for `benchmarks.run`, which needs neither the compiler nor its dependencies.

python -m benchmarks.generate [FOLDER]        default: build/bench
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "bench")
    folder: Path = parser.parse_args().folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    failures = [name for name in (write(path, folder) for path in sorted(WORKLOADS.glob("*.py"))) if name]
    print(f"{len(list(folder.iterdir()))} modules in {folder}; failed: {', '.join(failures) or 'none'}")
    return 1 if failures else 0


def write(path: Path, folder: Path) -> str | None:
    """The workload's name if it cannot be compiled."""
    compiled = compile_text(path.read_text(encoding="utf-8"), path.name, Options())
    if compiled.source is None:
        return path.stem
    (folder / path.name).write_text(compiled.source, encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main())

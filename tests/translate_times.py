"""How long each sample takes to translate, in milliseconds of processor time: `make times`.

The best of three translations in one process, reading included, imports not. The exit status is 1 if one takes longer
than LIMIT.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from translators.pipeline import compile_text

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
LIMIT = 300.0
REPETITIONS = 3


def milliseconds(path: Path) -> float:
    text = path.read_text(encoding="utf-8")
    best = float("inf")
    for _ in range(REPETITIONS):
        begin = process_time()
        compile_text(text, path.name)
        best = min(best, (process_time() - begin) * 1000)
    return best


def main() -> int:
    times = {path.stem: milliseconds(path) for path in sorted(SAMPLES.glob("*.py"))}
    for stem, time in sorted(times.items(), key=lambda item: -item[1]):
        print(f"{time:7.1f} ms  {stem}{'  above the limit' if time > LIMIT else ''}")
    print(f"{sum(times.values()):7.1f} ms  all {len(times)}")
    return 1 if max(times.values()) > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())

"""A process without the interpreter that compiles kernel files ahead of time, one a line of its input.

Input: a kernel file's path, the targets, and whether all variants are wanted or the first of each kernel, as a JSON
array. Output: one JSON line with the measurements, or what went wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from intent import records
from intentc.ahead_of_time import measure
from translators.pipeline import Compilation, compile_text


def main() -> None:
    replies = sys.stdout
    sys.stdout = sys.stderr  # the assembler's log must not mix with the replies
    for line in sys.stdin:
        path, targets, everything = json.loads(line)
        try:
            compilation = compile_text(Path(path).read_text(encoding="utf-8"), Path(path).name)
            chosen = compilation if everything else _first_variants(compilation)
            reply: object = [_plain(measurement) for measurement in measure(chosen, targets)]
        except Exception as problem:
            reply = f"{type(problem).__name__}: {problem}"
        print(json.dumps(reply), file=replies, flush=True)


def _first_variants(compilation: Compilation) -> Compilation:
    codes = tuple(records.replace(code, variants=code.variants[:1]) for code in compilation.codes)
    return records.replace(compilation, codes=codes)


def _plain(measurement: object) -> dict[str, object]:
    assert records.is_dataclass(measurement) and not isinstance(measurement, type)
    return records.asdict(measurement) | {"text": str(measurement)}


if __name__ == "__main__":
    main()

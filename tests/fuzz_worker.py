"""One process of `make fuzz`: runs consecutive seeds and reports each as a line of JSON.

A report of a `phase` comes before what may take long or end the process, so that whoever reads it knows what did.
Modules run in the interpreter, or on a GPU where TRITON_INTERPRET is 0. There nothing is reduced, and a failure ends
the process, since what comes after a fault of a GPU is not worth anything.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import sys
import warnings
from pathlib import Path
from random import Random
from typing import TextIO

HERE = Path(__file__).resolve().parent
LARGEST_MEMORY = 6 << 30  # bytes of data of one process


def generator_version() -> str:
    """Seeds mean the same programs only while these files do not change."""
    files = [HERE / "generators.py", *sorted(HERE.glob("random_*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def on_gpu() -> bool:
    return os.environ.get("TRITON_INTERPRET") == "0"


def run_seeds(first: int, count: int, reports: TextIO) -> None:
    from generators import random_program
    from program_reduction import reduced
    from random_comparison import TOO_LONG, failure, outcome

    def report(**values: object) -> None:
        print(json.dumps(values), file=reports, flush=True)

    report(phase="start")
    for seed in range(first, first + count):
        report(phase="compare", seed=seed)
        program = random_program(Random(seed))
        kind, unsupported = outcome(program)
        if kind is None:
            report(seed=seed, unsupported=unsupported)
            continue
        if on_gpu():
            report(seed=seed, kind=kind, text=program.text)
            report(phase="another process")
            return
        if kind == TOO_LONG or program.entry != "k":  # only kernels are reduced
            report(seed=seed, kind=kind, text=program.text)
            continue
        report(phase="reduce", seed=seed, kind=kind, text=program.text)
        smaller = reduced(program, lambda each, kind=kind: failure(each) == kind)  # type: ignore[misc]
        report(seed=seed, kind=kind, text=smaller.text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    arguments = parser.parse_args()
    os.environ.setdefault("TRITON_INTERPRET", "1")
    warnings.simplefilter("ignore")
    if not on_gpu():  # a driver reserves more
        resource.setrlimit(resource.RLIMIT_DATA, (LARGEST_MEMORY, LARGEST_MEMORY))
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    reports, sys.stdout = sys.stdout, sys.stderr  # programs that print must not break the protocol
    run_seeds(arguments.first, arguments.count, reports)


if __name__ == "__main__":
    main()

"""Verification of a lift: the original and the recompiled kernel side by side on random shapes, in a child process.

The user's code runs only there, under Triton's interpreter, with a bound on time and memory. Only the kernel, its
device functions and constants are taken along: no host code, no autotuning.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from intent.records import asdict, dataclass
from intentc.lift_slices import sliced
from translators.lifting.correspondence import CallSizes, Correspondence, draw
from translators.lifting.files import source_of
from translators.lifting.lift import Lifted
from translators.options import Options
from translators.pipeline import compile_text
from translators.triton_source.read.source import read_file

CALLS: Final = 5
SECONDS: Final = 120


@dataclass(frozen=True, slots=True)
class Verification:
    """On how many random shapes both kernels agreed; `reason` says why they could not be compared."""

    calls: int
    agreed: int
    reason: str | None = None

    @property
    def holds(self) -> bool:
        return self.reason is None and self.calls > 0 and self.agreed == self.calls

    def __str__(self) -> str:
        if self.reason is not None:
            return f"not verified: {self.reason}"
        return f"agreed on {self.agreed} of {self.calls} random shapes under the interpreter"


def verify(text: str, path: str, kernel: Lifted, calls: int = CALLS) -> Verification:
    """Compare one lifted kernel with its original."""
    correspondence = kernel.correspondence
    if correspondence is None or kernel.source is None:
        return Verification(0, 0, "it is not lifted")
    drawn = _drawn(correspondence, calls)
    if not drawn:
        return Verification(0, 0, "no sizes meet what the lift assumes")
    source = source_of((kernel,), path)
    assert source is not None
    groups = {name: drawn[0].numbers[name] for name in correspondence.groups}
    module = compile_text(source, path, Options(constexprs=groups)).source
    if module is None:
        return Verification(0, 0, "the lifted kernel does not compile")
    file = read_file(text, path)
    return _run(sliced(file, kernel.name), module, kernel, drawn)


def _drawn(correspondence: Correspondence, calls: int) -> list[CallSizes]:
    """Random calls; the size of a kept group is a constant of the lifted kernel, so it is the same in all of them."""
    generator = random.Random(1)
    found: list[CallSizes] = []
    for _ in range(8 * calls):
        call = draw(correspondence, generator)
        if call is None or len(found) == calls:
            break
        same = all(call.numbers[name] == found[0].numbers[name] for name in correspondence.groups) if found else True
        found.extend((call,) if same else ())
    return found


def _run(original: Mapping[str, str], module: str, kernel: Lifted, calls: Sequence[CallSizes]) -> Verification:
    with tempfile.TemporaryDirectory() as directory:
        for name, text in {**original, "lifted": module}.items():
            Path(directory, f"{name}.py").write_text(text, encoding="utf-8")
        shutil.copy(Path(__file__).parent / "lift_shims.py", directory)
        request = _request(kernel, {"directory": directory, "original": next(iter(original))}, calls)
        command = [sys.executable, str(Path(__file__).parent / "lift_runner.py")]
        environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        try:
            done = subprocess.run(
                command, input=json.dumps(request), capture_output=True, text=True, timeout=SECONDS, env=environment
            )
        except subprocess.TimeoutExpired:
            return Verification(len(calls), 0, f"it took longer than {SECONDS} seconds")
    if done.returncode != 0:
        return Verification(len(calls), 0, (done.stderr.strip().splitlines() or ["the process failed"])[-1])
    results = json.loads(done.stdout)
    failed = next((each for each in results if each["failed"]), None)
    if failed is not None:
        return Verification(len(calls), 0, f"the {failed['failed']} does not run: {failed['why']}")
    return Verification(len(calls), sum(bool(each["equal"]) for each in results))


def _request(kernel: Lifted, paths: dict[str, str], calls: Sequence[CallSizes]) -> dict[str, Any]:
    correspondence = kernel.correspondence
    assert correspondence is not None and kernel.source is not None
    arrays = [
        {"pointer": each.pointer, "name": each.name, "dtype": each.dtype.name, "written": each.written}
        for each in correspondence.arrays
    ]
    return {
        **paths,
        "kernel": kernel.name,
        "lifted": kernel.source.name,
        "arrays": arrays,
        "order": list(correspondence.order),
        "unused": list(correspondence.unused),
        "calls": list(map(asdict, calls)),
    }

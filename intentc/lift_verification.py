"""Verification of a lift: the original and the recompiled kernel side by side on random shapes, in a child process.

The user's code runs only there, under Triton's interpreter, with a bound on time and memory. Only the kernel, its
device functions and constants are taken along: no host code, no autotuning.
"""

from __future__ import annotations

import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from intent.records import dataclass, replace
from intentc.lift_slices import sliced
from translators.lifting.correspondence import SMALL_INTEGER, CallSizes, Correspondence, draw
from translators.lifting.files import source_of
from translators.lifting.lift import Lifted
from translators.options import Options
from translators.pipeline import compile_text
from translators.triton_source.read.source import TritonFile, read_file

CALLS: Final = 5
SECONDS: Final = 120
NOTHING_STORED: Final = "no call stored anything"
LARGER_INTEGER: Final = 64
SOME_INTEGERS: Final = 3  # those in arrays are below it, at least


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


Execute = Callable[[dict[str, Any]], str]


class NotRun(Exception):
    """The process that compares gave no results; the message says why."""


def in_a_process(request: dict[str, Any]) -> str:
    """The results of a request to `lift_runner`, as JSON."""
    command = [sys.executable, str(Path(__file__).parent / "lift_runner.py")]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            command, input=json.dumps(request), capture_output=True, text=True, timeout=SECONDS, env=environment
        )
    except subprocess.TimeoutExpired:
        raise NotRun(f"it took longer than {SECONDS} seconds") from None
    if done.returncode != 0:
        raise NotRun((done.stderr.strip().splitlines() or ["the process failed"])[-1])
    return done.stdout


def verify(text: str, path: str, kernel: Lifted, calls: int = CALLS, execute: Execute = in_a_process) -> Verification:
    """Compare one lifted kernel with its original, on other sizes and with zeros if no call stored anything."""
    found = _verified(text, path, kernel, calls, execute, SMALL_INTEGER)
    if found.reason == NOTHING_STORED:
        found = _verified(text, path, kernel, calls, execute, LARGER_INTEGER)
    return found


def _verified(text: str, path: str, kernel: Lifted, calls: int, execute: Execute, largest: int) -> Verification:
    correspondence = kernel.correspondence
    if correspondence is None or kernel.source is None:
        return Verification(0, 0, "it is not lifted")
    drawn = _drawn(correspondence, calls, largest)
    if not drawn:
        return Verification(0, 0, "no sizes meet what the lift assumes")
    source = source_of((kernel,), path)
    assert source is not None
    groups = {name: drawn[0].numbers[name] for name in correspondence.groups}
    module = compile_text(source, path, Options(constexprs=groups)).source
    if module is None:
        return Verification(0, 0, "the lifted kernel does not compile")
    original = write_kernel(read_file(text, path), kernel)
    lifted = Written(
        {"lifted": module},
        "lifted",
        _device_function(module),
        _names(kernel),
        _order(kernel),
        "lifted kernel",
    )
    calls_of = [
        {
            "arrays": c.arrays,
            "limit": c.limit,
            "segments": c.segments,
            "zeros": largest == LARGER_INTEGER,
            "sides": [_numbers(c), _numbers(c)],
        }
        for c in drawn
    ]
    return run_sides((original, lifted), _arrays(kernel), calls_of, execute)


def _device_function(module: str) -> str:
    """What a generated module calls its kernel: another name than the author's where that means something else."""
    tables = (node for node in ast.parse(module).body if isinstance(node, ast.Assign))
    exported = next(node.value for node in tables if ast.unparse(node.targets[0]) == "__all__")
    names: list[str] = ast.literal_eval(exported)
    return next(name for name in names if name.endswith("_device_out"))


def _names(kernel: Lifted) -> tuple[str, ...]:
    assert kernel.correspondence is not None
    return tuple(each.name for each in kernel.correspondence.arrays)


def _order(kernel: Lifted) -> tuple[str, ...]:
    assert kernel.correspondence is not None
    return kernel.correspondence.order


def _numbers(call: CallSizes) -> dict[str, object]:
    return {"grid": call.grid, "numbers": dict(call.numbers)}


def _arrays(kernel: Lifted) -> list[dict[str, object]]:
    assert kernel.correspondence is not None
    return [
        {
            "name": each.name,
            "dtype": each.dtype.name,
            "written": each.written,
            "ascending": each.ascending,
            "counted": each.counted,
            "lengths_of": each.lengths_of,
            "part_of": each.part_of,
            "fraction": each.fraction,
        }
        for each in kernel.correspondence.arrays
    ]


def _drawn(correspondence: Correspondence, calls: int, largest: int) -> list[CallSizes]:
    """Random calls; the size of a kept group is a constant of the lifted kernel, so it is the same in all of them.

    Where integers are large because nothing was stored, those in arrays are not all 0 either.
    """
    generator = random.Random(1)
    limit = SOME_INTEGERS if largest == LARGER_INTEGER else 1
    found: list[CallSizes] = []
    for _ in range(calls):
        call = draw(correspondence, generator, largest=largest, limit=limit)
        if call is None:
            break
        found.append(call)
        given = {name: call.numbers[name] for name in correspondence.groups}
        correspondence = replace(
            correspondence,
            constants={**correspondence.constants, **given},
            fixed=correspondence.fixed | given.keys(),
        )
    return found


# ------------------------------------------------------------------------------------------------------------- running
@dataclass(frozen=True, slots=True)
class Written:
    """A side as files: module texts by name, the one that is called, and what it calls the arrays.

    `order` is that of a function's parameters; None for a Triton kernel, which is launched with names.
    """

    texts: Mapping[str, str]
    module: str
    name: str
    names: tuple[str, ...]
    order: tuple[str, ...] | None
    label: str
    unused: tuple[str, ...] = ()


def write_kernel(file: TritonFile, kernel: Lifted) -> Written:
    """A Triton kernel with what it needs of its file."""
    correspondence = kernel.correspondence
    assert correspondence is not None
    texts = sliced(file, kernel.name)
    pointers = tuple(each.pointer for each in correspondence.arrays)
    return Written(texts, next(iter(texts)), kernel.name, pointers, None, "original", correspondence.unused)


def run_sides(
    sides: tuple[Written, Written],
    arrays: Sequence[Mapping[str, object]],
    calls: Sequence[Mapping[str, object]],
    execute: Execute = in_a_process,
) -> Verification:
    """Both sides on the same memory, in a process of their own."""
    with tempfile.TemporaryDirectory() as directory:
        said = [_side(each, Path(directory, str(number))) for number, each in enumerate(sides)]
        try:
            results = json.loads(execute({"sides": said, "arrays": arrays, "calls": calls}))
        except NotRun as found:
            return Verification(len(calls), 0, str(found))
    failed = next((each for each in results if each["failed"]), None)
    if failed is not None:
        return Verification(len(calls), 0, f"the {failed['failed']} does not run: {failed['why']}")
    if not any(each["stored"] for each in results):
        return Verification(len(calls), 0, NOTHING_STORED)
    return Verification(len(calls), sum(bool(each["equal"]) for each in results))


def _side(side: Written, directory: Path) -> dict[str, object]:
    directory.mkdir()
    for name, text in side.texts.items():
        (directory / f"{name}.py").write_text(text, encoding="utf-8")
    shutil.copy(Path(__file__).parent / "lift_shims.py", directory)
    return {
        "directory": str(directory),
        "module": side.module,
        "name": side.name,
        "label": side.label,
        "names": side.names,
        "order": side.order,
        "unused": side.unused,
    }

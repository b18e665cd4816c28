"""The programs of samples/npbench at the suite's size M: NumPy, CuPy, and the generated modules on a GPU.

    python -m benchmarks.npbench [--output FILE] [--workers N] [--only NAME ...]        needs a GPU, torch and triton

First every program is checked: what its module leaves in NumPy arrays and in tensors against the NumPy statement, in
several processes, which also fill Triton's cache. Then one process times it, milliseconds of wall time, medians:

- `numpy`: the statement, with arrays in memory
- `cupy`: the statement with CuPy in NumPy's place, arrays on the device
- `host`: a whole call of the module, NumPy arrays in and out
- `device`: the same program with its tensors on the device

Programs work in place as they are written: every call goes on with what the call before it left. A statement is given
up after some seconds; its time is then a lower bound. With TRITON_INTERPRET=1 all this is a trial at small sizes.
"""

from __future__ import annotations

import argparse
import builtins
import json
import multiprocessing
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import npbench_files  # noqa: E402
import numpy as np  # noqa: E402
import sample_files  # noqa: E402
import torch  # noqa: E402
import triton  # noqa: E402
from npbench_files import Arguments, Case, Program, Results  # noqa: E402

TRIAL: Final = os.environ.get("TRITON_INTERPRET") == "1"
SECONDS_TO_CHECK: Final = 60  # of the statement, while several processes check
SECONDS_TO_TIME: Final = 5  # of any statement
SECONDS_OF_CALLS: Final = 0.5
Figures = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="a file for the figures, as JSON")
    parser.add_argument("--workers", type=int, default=4, help="processes that check")
    parser.add_argument("--only", nargs="*", default=[], help="names of programs")
    options = parser.parse_args()
    names = [each.name for each in npbench_files.programs() if not options.only or each.name in options.only]
    report = {"machine": _machine(), "size": "M", "unit": "ms", "programs": {name: {} for name in names}}
    context = multiprocessing.get_context("spawn")
    with context.Pool(options.workers) as pool:
        for name, found in pool.imap_unordered(checked, names):
            report["programs"][name] |= found
            print(name, found, flush=True)
            _keep(report, options.output)
    for name in names:
        report["programs"][name] |= timed(name)
        print(name, report["programs"][name], flush=True)
        _keep(report, options.output)


def _keep(report: Mapping[str, Any], path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _machine() -> dict[str, str]:
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return {"device": device, "torch": torch.__version__, "triton": triton.__version__, "numpy": np.__version__}


def _program(name: str) -> tuple[Program, Case]:
    program = next(each for each in npbench_files.programs() if each.name == name)
    return program, program.cases[0] if TRIAL else program.module.SIZES["M"]


# ------------------------------------------------------------------------------------------------------------- checking
def checked(name: str) -> tuple[str, Figures]:
    """Whether both arms agree with the statement at size M; at a small size if the statement takes too long."""
    program, case = _program(name)
    try:
        values = npbench_files.arguments(program, case)
        try:
            with _no_longer_than(SECONDS_TO_CHECK):
                wanted = npbench_files.by_statement(program, values)
            at = "M"
        except TimeoutError:
            values = npbench_files.arguments(program, program.reduced)
            wanted, at = npbench_files.by_statement(program, values), "reduced"
        arms = {arm: npbench_files.by_module(program, values, device=arm == "device") for arm in ("host", "device")}
        wrong = [f"{arm} arm: {line}" for arm in arms for line in npbench_files.differences(program, arms[arm], wanted)]
        if wrong:
            wrong = _beyond_rounding(program, values, arms, wanted) and wrong
    except Exception as problem:
        return name, {"checked": None, "wrong": [f"{type(problem).__name__}: {problem}"]}
    return name, {"checked": at, "wrong": wrong}


def _beyond_rounding(program: Program, values: Arguments, arms: Mapping[str, Results], wanted: Results) -> bool:
    """Whether an arm is further from the statement than the statement from itself when every input moves by a rounding.

    Orbits that part exponentially, and systems of a large condition, have no digits beyond that.
    """
    rng = np.random.default_rng(1)
    moved = npbench_files.by_statement(program, {name: _rounded(value, rng) for name, value in values.items()})
    return any(
        sample_files.error(mine, right) > sample_files.error(other, right)
        for arm in arms.values()
        for mine, other, right in zip(arm, moved, wanted, strict=True)
        if npbench_files.wrong(program, mine, right)
    )


def _rounded(value: object, rng: np.random.Generator) -> object:
    """The float or array of floats, each element one unit in the last place away, or where it was."""
    if isinstance(value, float):
        return float(np.nextafter(value, np.inf))
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    return np.where(rng.random(value.shape) < 0.5, value, np.nextafter(value, value.dtype.type(np.inf)))


@contextmanager
def _no_longer_than(seconds: float) -> Iterator[None]:
    """Raises TimeoutError once Python has control again after so long."""
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _out_of_time(signum: int, frame: FrameType | None) -> None:
    raise TimeoutError


# --------------------------------------------------------------------------------------------------------------- timing
def timed(name: str) -> Figures:
    """Milliseconds of each way to run the program; None where it does not run, with the reason beside it."""
    program, case = _program(name)
    values = npbench_files.arguments(program, case)
    ways: dict[str, Callable[[], Callable[[], object]]] = {
        "device": lambda: _module(program, values, device=True),
        "host": lambda: _module(program, values, device=False),
        "cupy": lambda: _with_cupy(program, values),
        "numpy": lambda: _statement(program, values),
    }
    found: Figures = {}
    for way, prepare in ways.items():
        try:
            found[way] = _milliseconds(prepare())
        except TimeoutError:
            found[way], found[f"{way}_reason"] = None, f"more than {SECONDS_TO_TIME} s"
        except Exception as problem:
            found[way], found[f"{way}_reason"] = None, f"{type(problem).__name__}: {problem}"[:200]
    return found


def _milliseconds(call: Callable[[], object]) -> float:
    """Median wall time of a call after the first, which compiles; a slow call is its own only sample."""
    with _no_longer_than(SECONDS_TO_TIME):
        first = _elapsed(call)
    if first > SECONDS_TO_TIME / 4:
        return first * 1e3
    with _no_longer_than(2 * SECONDS_TO_TIME):
        samples = [_elapsed(call)]
        while sum(samples) < SECONDS_OF_CALLS or len(samples) < 3:
            samples.append(_elapsed(call))
    return statistics.median(samples) * 1e3


def _elapsed(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def _module(program: Program, values: Arguments, device: bool) -> Callable[[], object]:
    run = npbench_files.entry(program, device)
    arguments = npbench_files.copied(values, npbench_files.on_device if device else np.array)
    return lambda: run(*arguments)


def _statement(program: Program, values: Arguments) -> Callable[[], object]:
    arguments = npbench_files.copied(values, np.array)

    def call() -> object:
        with np.errstate(all="ignore"):
            return program.module.reference(*arguments)

    return call


def _with_cupy(program: Program, values: Arguments) -> Callable[[], object]:
    """The statement, and whatever it calls of its file, where `import numpy` gives CuPy."""
    import cupy

    def imported(name: str, *others: object) -> object:
        return cupy if name == "numpy" else builtins.__import__(name, *others)  # type: ignore[arg-type]

    names: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": imported}}
    for name, value in vars(program.module).items():
        if isinstance(value, FunctionType) and value.__module__ == program.module.__name__:
            value = FunctionType(value.__code__, names, name, value.__defaults__, value.__closure__)
        names.setdefault(name, cupy if value is np else value)
    arguments = npbench_files.copied(values, cupy.asarray)
    return lambda: names["reference"](*arguments)


if __name__ == "__main__":
    main()

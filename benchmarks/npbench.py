"""The programs of samples/npbench at the suite's size M: NumPy, CuPy, and the generated modules on a GPU.

    python -m benchmarks.npbench [--output FILE] [--workers N] [--longest SECONDS] [--resume] [--only NAME ...]

Needs a GPU, torch and triton. First every program is checked: what its module leaves in NumPy arrays and in tensors
against the NumPy statement, in several processes, which also fill Triton's cache. Then one process times it,
milliseconds of wall time, medians:

- `device`: the program with its tensors on the device
- `host`: a whole call of the module, NumPy arrays in and out
- `cupy`: the statement with CuPy in NumPy's place, arrays on the device; its first result must be the module's
- `numpy`: the statement, with arrays in memory

Programs work in place as they are written: every call goes on with what the call before it left. A statement is given
up after some seconds; its time is then a lower bound. Figures are written after every program, so that a run that was
cut off leaves what it had, and `--resume` goes on from there. With TRITON_INTERPRET=1 all this is a trial at small
sizes.
"""

from __future__ import annotations

import argparse
import builtins
import json
import math
import multiprocessing
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import generated_modules  # noqa: E402
import npbench_files  # noqa: E402
import numpy as np  # noqa: E402
import sample_files  # noqa: E402
import torch  # noqa: E402
import triton  # noqa: E402
from npbench_files import Arguments, Case, Program, Results  # noqa: E402

from benchmarks import npbench_table  # noqa: E402

TRIAL: Final = os.environ.get("TRITON_INTERPRET") == "1"
CHECKING: Final = 4  # times as long as timing it, a statement may take while several processes check
THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # of NumPy, read when it is imported
SECONDS_OF_CALLS: Final = 0.2
MOVES: Final = 8
ADVICE: Final = ("INT953", "INT954", "INT955", "INT956", "INT958", "INT959")
NEED: Final = ("device", "host", "cupy", "numpy")
Figures = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="a file for the figures, as JSON; the table is printed")
    parser.add_argument("--workers", type=int, default=min(8, len(os.sched_getaffinity(0))), help="that check")
    parser.add_argument("--longest", type=float, default=5.0, help="seconds that a statement may take (default: 5)")
    parser.add_argument("--resume", action="store_true", help="go on with the figures that the file has")
    parser.add_argument("--only", nargs="*", default=[], help="names of programs")
    options = parser.parse_args()
    names = [each.name for each in npbench_files.programs() if not options.only or each.name in options.only]
    report = {"machine": _machine(), "size": "M", "unit": "ms", "longest": options.longest, "programs": {}}
    if options.resume and options.output.exists():
        report["programs"] = json.loads(options.output.read_text(encoding="utf-8"))["programs"]
    figures: dict[str, Figures] = report["programs"]
    for name, found in _checked_side_by_side([each for each in names if each not in figures], options):
        figures[name] = found
        _keep(report, options.output, name)
    for name in sorted(names, key=lambda name: figures[name]["statement"] or math.inf):  # the longest last
        if not figures[name].keys() >= set(NEED):
            figures[name] |= timed(name, options.longest, figures[name]["statement"])
            _keep(report, options.output, name)
    print(npbench_table.table(report))
    return 1 if any(found["wrong"] for found in figures.values()) else 0


def _checked_side_by_side(names: Sequence[str], options: argparse.Namespace) -> Iterator[tuple[str, Figures]]:
    """As they are done; NumPy has few threads in each process, which it finds out when it is imported."""
    share = str(max(1, len(os.sched_getaffinity(0)) // options.workers))
    usual = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, share))
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        for name, value in usual.items():
            os.environ.pop(name)
            os.environ.update({} if value is None else {name: value})
        yield from pool.imap_unordered(partial(checked, longest=CHECKING * options.longest), names)


def _keep(report: Mapping[str, Any], path: Path | None, name: str) -> None:
    print(name, report["programs"][name], flush=True)
    if path is not None:
        path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _machine() -> dict[str, str]:
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return {"device": device, "torch": torch.__version__, "triton": triton.__version__, "numpy": np.__version__}


def _program(name: str) -> tuple[Program, Case]:
    program = next(each for each in npbench_files.programs() if each.name == name)
    return program, program.cases[0] if TRIAL else program.module.SIZES["M"]


# ------------------------------------------------------------------------------------------------------------- checking
def checked(name: str, longest: float) -> tuple[str, Figures]:
    """Whether both arms agree with the statement at size M; at a small size if the statement takes too long.

    `statement` is the seconds that it took beside other processes, None if it was given up.
    """
    program, case = _program(name)
    found: Figures = {"checked": None, "wrong": [], "statement": None, "notes": notes(program)}
    try:
        values, begin = npbench_files.arguments(program, case), time.perf_counter()
        try:
            with _no_longer_than(longest):
                wanted = npbench_files.by_statement(program, values)
            at, found["statement"] = "M", time.perf_counter() - begin
        except TimeoutError:
            values = npbench_files.arguments(program, program.reduced)
            wanted, at = npbench_files.by_statement(program, values), "reduced"
        arms = {arm: npbench_files.by_module(program, values, device=arm == "device") for arm in ("host", "device")}
        wrong = [f"{arm} arm: {line}" for arm in arms for line in npbench_files.differences(program, arms[arm], wanted)]
        if wrong:
            wrong = _beyond_rounding(program, values, arms, wanted) and wrong
    except Exception as problem:
        return name, {**found, "wrong": [f"{type(problem).__name__}: {problem}"[:300]]}
    return name, {**found, "checked": at, "wrong": wrong or []}


def notes(program: Program) -> list[str]:
    """What the compiler has to say of why the program cannot be fast."""
    found = generated_modules.compilation(program.path).diagnostics
    return list(dict.fromkeys(each.message for each in found if each.code in ADVICE))


def _beyond_rounding(program: Program, values: Arguments, arms: Mapping[str, Results], wanted: Results) -> bool:
    """Whether an arm is further from the statement than the statement ever is from itself when every input moves by a
    rounding.

    Orbits that part exponentially, and systems of a large condition, have no digits beyond that; how many they have is
    seen after a few moves only.
    """
    rng = np.random.default_rng(1)
    errors = {
        place: max(sample_files.error(arm[place], right) for arm in arms.values())
        for place, right in enumerate(wanted)
        if any(npbench_files.wrong(program, arm[place], right) for arm in arms.values())
    }
    for _ in range(MOVES):
        moved = npbench_files.by_statement(program, {name: _rounded(value, rng) for name, value in values.items()})
        errors = {place: own for place, own in errors.items() if own > sample_files.error(moved[place], wanted[place])}
        if not errors:
            return False
    return True


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
def timed(name: str, longest: float, statement: float | None) -> Figures:
    """Milliseconds of each way to run the program; None where it does not run, with the reason beside it."""
    program, case = _program(name)
    values = npbench_files.arguments(program, case)
    ways: dict[str, Callable[[], Callable[[], object]]] = {
        "device": lambda: _module(program, values, device=True),
        "host": lambda: _module(program, values, device=False),
        "cupy": lambda: _with_cupy(program, values, longest),
        "numpy": lambda: _statement(program, values),
    }
    found: Figures = {"bytes": sum(value.nbytes for value in values.values() if isinstance(value, np.ndarray))}
    for way, prepare in ways.items():
        try:
            if way == "numpy" and statement is None:
                raise TimeoutError
            found[way] = _milliseconds(prepare, longest)
        except TimeoutError:
            found[way], found[f"{way}_reason"] = None, f"more than {longest:g} s"
        except Exception as problem:
            found[way], found[f"{way}_reason"] = None, f"{type(problem).__name__}: {problem}"[:200]
    return found


def _milliseconds(prepare: Callable[[], Callable[[], object]], longest: float) -> float:
    """Median wall time of a call; a slow call is its own only sample."""
    call = prepare()
    with _no_longer_than(longest):
        first = _elapsed(call)
    if first > longest / 4:
        return first * 1e3
    samples: list[float] = []
    with _no_longer_than(2 * longest):
        while sum(samples) < SECONDS_OF_CALLS or len(samples) < 3:
            try:
                samples.append(_elapsed(call))
            except np.linalg.LinAlgError:  # what the call before has left has no such decomposition
                call = prepare()
    return statistics.median(samples) * 1e3


def _elapsed(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def _module(program: Program, values: Arguments, device: bool) -> Callable[[], object]:
    """After a call that loads what was compiled, and compiles what was not."""
    run = npbench_files.entry(program, device)
    arguments = npbench_files.copied(values, npbench_files.on_device if device else np.array)
    run(*arguments)
    return lambda: run(*arguments)


def _statement(program: Program, values: Arguments) -> Callable[[], object]:
    arguments = npbench_files.copied(values, np.array)

    def call() -> object:
        with np.errstate(all="ignore"):
            return program.module.reference(*arguments)

    return call


def _with_cupy(program: Program, values: Arguments, longest: float) -> Callable[[], object]:
    """The statement, and whatever it calls of its file, where `import numpy` gives CuPy; if it computes the same."""
    import cupy

    def imported(name: str, *others: object) -> object:
        return cupy if name == "numpy" else builtins.__import__(name, *others)  # type: ignore[arg-type]

    names: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": imported}}
    for name, value in vars(program.module).items():
        if isinstance(value, FunctionType) and value.__module__ == program.module.__name__:
            value = FunctionType(value.__code__, names, name, value.__defaults__, value.__closure__)
        names.setdefault(name, cupy if value is np else value)
    with _no_longer_than(longest):
        found = npbench_files.results(names["reference"], values, cupy.asarray)
    wanted = npbench_files.by_module(program, values, device=True)
    wrong = npbench_files.differences(program, found, wanted)
    if wrong and _beyond_rounding(program, values, {"CuPy": found}, wanted):
        raise ArithmeticError(wrong[0])
    arguments = npbench_files.copied(values, cupy.asarray)
    return lambda: names["reference"](*arguments)


if __name__ == "__main__":
    sys.exit(main())

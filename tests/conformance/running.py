"""Judges one row: the reference against the row's statement, the generated module against the reference."""

from __future__ import annotations

import tempfile
import traceback
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import generated_modules
import numpy as np
import sample_files
from ahead_of_time import Child
from sample_files import Case, Sample
from triton.runtime.errors import InterpreterError

from conformance.rows import SHAPES, Row
from intent.host.interpreter import interpreted
from translators.logical.reference_execution import NotEvaluated
from translators.pipeline import Compilation

TARGETS = ("cuda:90", "cuda:80", "hip:gfx942")
COLUMNS = (*SHAPES, "AOT")
GPU_ONLY = "gpu"
INTERPRETER_LACKS = "Unsupported data type"  # what the interpreter says of atomic updates that it has no code for

Outcomes = Mapping[str, str]


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="conformance_"))


def sample_of(row: Row) -> Sample:
    """The row as a kernel file of its own."""
    name = "".join(each if each.isalnum() else f"_{ord(each)}_" for each in row.identity)
    path = _folder() / f"{name}.py"
    path.write_text(row.text, encoding="utf-8")
    (sample,) = sample_files.kernels_of(path)
    vars(sample.module).update(reference=row.statement, inputs=row.inputs)
    if row.tolerance is not None:
        vars(sample.module).update(TOLERANCE=row.tolerance)
    return sample


def outcomes(row: Row, child: Child | None = None) -> Outcomes:
    """What each column of the row says: "ok", a reason why not supported or legal, or what is wrong ("FAIL ...")."""
    try:
        sample = sample_of(row)
    except Exception as problem:
        return dict.fromkeys(COLUMNS, f"FAIL {type(problem).__name__}: {problem}")
    compiled = generated_modules.compilation(sample.path)
    verdict = _verdict(row, compiled)
    if verdict:
        return dict.fromkeys(COLUMNS, verdict)
    found = {shape: _shape(sample, row, shape) for shape in SHAPES}
    return found if child is None else {**found, "AOT": _ahead_of_time(sample, child)}


def _verdict(row: Row, compiled: Compilation) -> str:
    """Why nothing can run; empty if it can."""
    found = {each.severity: each for each in reversed(compiled.diagnostics) if each.severity != "note"}
    if "error" in found:
        error = found["error"]
        return f"FAIL {error.code} {error.message}" if row.legal else error.code
    if "unsupported" in found:
        gap = found["unsupported"]
        return f"unsupported {gap.code}: {gap.message}"
    return "" if row.legal else "FAIL accepted, though it is not legal"


def _shape(sample: Sample, row: Row, shape: str) -> str:
    if shape not in row.sizes:
        return "-"
    problems = {problem: None for case in row.sizes[shape] for problem in _case(row, sample, case, shape)}
    beyond = problems.pop(GPU_ONLY, "") is None
    return f"FAIL {next(iter(problems))}" if problems else GPU_ONLY if beyond else "ok"


def _case(row: Row, sample: Sample, case: Case, shape: str) -> Iterator[str]:
    values = _laid_out(sample, sample_files.arguments(sample, case), shape)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = sample_files.expected(sample, case, values)
            stated = generated_modules.by_reference(sample, case, values)
            yield from (f"reference, {case}: {line}" for line in sample_files.differences(sample, stated, wanted))
            run = generated_modules.by_device_arm if shape in ("strided", "broadcast") else generated_modules.by_module
            small = interpreted() and (row.small or shape != "large")
            actual = run(sample, case, values, small=small)
            yield from (f"module, {case}: {line}" for line in sample_files.differences(sample, actual, stated))
    except NotEvaluated as problem:
        yield f"reference, {case}: {problem}"
    except Exception as problem:
        if isinstance(problem, InterpreterError) and INTERPRETER_LACKS in str(problem):
            yield GPU_ONLY
            return
        at = traceback.extract_tb(problem.__traceback__)[-1]
        yield f"{case}: {type(problem).__name__}: {problem} ({Path(at.filename).name}:{at.lineno})"


def _laid_out(sample: Sample, values: Mapping[str, object], shape: str) -> dict[str, object]:
    views = {view.name: view for view in sample.views}
    arrays = {name: value for name, value in values.items() if name in views}
    if shape == "strided":
        return {**values, **{name: sample_files.strided(np.asarray(value)) for name, value in arrays.items()}}
    if shape == "broadcast":
        return {**values, **{name: _repeated(np.asarray(v)) for name, v in arrays.items() if _repeats(views[name])}}
    return dict(values)


def _repeats(view: sample_files.View) -> bool:
    """Written arrays have no overlapping elements; positions, which may not repeat, are integers with a name."""
    return view.direction == "In" and view.name in ("x", "y", "r", "c")


def _repeated(array: np.ndarray) -> np.ndarray:
    return np.broadcast_to(array[:1], array.shape) if array.ndim and array.size else array


def _ahead_of_time(sample: Sample, child: Child) -> str:
    reply = child.measurements(sample.path, TARGETS)
    if isinstance(reply, str):
        return f"FAIL {reply}"
    problems = [str(each["text"]) for each in reply if each["problem"] is not None]
    missing = set(TARGETS) - {str(each["target"]) for each in reply}
    if missing:
        problems.append(f"no answer for {sorted(missing)}")
    return f"FAIL {problems[0]}" if problems else "ok"

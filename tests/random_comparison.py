"""Compiling a random program, running the generated module in the interpreter, and comparing it with the reference."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
from generators import TOLERANCE, RandomProgram
from random_expressions import View

from translators.logical.program import Program
from translators.logical.reference import Options, evaluate
from translators.pipeline import compile_text


class Disagreement(AssertionError):
    """The generated module and the reference differ; the message holds the program."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`unsupported` is the code and message of the gap, if the program cannot be lowered yet."""

    unsupported: str | None = None


def compare(program: RandomProgram, runs: int = 3) -> Outcome:
    """Run on several sizes, the first of them all ones or with an empty axis now and then."""
    compiled = compile_text(program.text, "random_program.py")
    problems = [each for each in compiled.diagnostics if each.severity != "note"]
    errors = [each for each in problems if each.severity == "error"]
    if errors:
        raise Disagreement(f"the reader rejects a legal program: {errors[0]}\n\n{program.text}")
    if problems:
        return Outcome(f"{problems[0].code} {problems[0].message}")
    assert compiled.source is not None and compiled.program is not None
    generator = np.random.default_rng(program.seed)
    with tempfile.TemporaryDirectory() as folder:
        module = _imported(compiled.source, Path(folder))
        for _ in range(runs):
            _run_once(program, compiled.program, module, program.random_sizes(generator))
    return Outcome()


def _imported(source: str, folder: Path) -> ModuleType:
    """Triton reads the kernels' text from the file, so that executing the text alone would not do."""
    path = folder / "generated_random_program.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run_once(program: RandomProgram, logical: Program, module: ModuleType, sizes: Mapping[str, int]) -> None:
    wanted, found = program.arguments(sizes), program.arguments(sizes)
    evaluate(logical.kernels[0], wanted, Options(verify_types=True))
    try:
        with np.errstate(all="ignore"):
            module.k_out(*found.values())
    except Exception as error:
        raise Disagreement(f"{type(error).__name__}: {error}\nat {sizes}\n\n{program.text}") from error
    for view in program.views:
        fault = difference(view, np.asarray(found[view.name]), np.asarray(wanted[view.name]))
        if fault:
            raise Disagreement(f"{view.name} at {sizes}: {fault}\n\n{program.text}")


def difference(view: View, found: np.ndarray, wanted: np.ndarray) -> str | None:
    """What differs, or None. NaN equals NaN; floats of inexact functions get a tolerance."""
    if found.dtype.kind in "biu":
        equal = found == wanted
    else:
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        tolerance = TOLERANCE.get(view.dtype, 0.0) if view.inexact else 0.0
        with np.errstate(invalid="ignore"):
            close = (a == b) | (np.abs(a - b) <= tolerance * (1.0 + np.abs(b)))
        equal = close | (np.isnan(a) & np.isnan(b))
    if bool(np.all(equal)):
        return None
    where = tuple(int(i) for i in np.argwhere(~np.asarray(equal))[0])
    return f"{np.count_nonzero(~np.asarray(equal))} of {equal.size} differ; at {where} {found[where]!r}, not {wanted[where]!r}"

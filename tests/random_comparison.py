"""Compiling a random program, running the generated module, and comparing it with the reference.

The module runs in the interpreter, or on a GPU where TRITON_INTERPRET is 0.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import re
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType, ModuleType

import numpy as np
from device_arrays import on_device
from generated_modules import permuted_programs, small_tiles
from generators import TOLERANCE, RandomProgram
from random_expressions import Term, View
from sample_files import strided
from triton.runtime import interpreter

import intent
from intent.dtypes import BY_NAME
from intent.host.interpreter import interpreted, repair_interpreter
from intent.records import dataclass
from intent.targets import ReferenceTarget
from intentc import lift_interpreter
from translators.intent_source.read import read_program
from translators.logical import reference, types
from translators.logical.program import Program
from translators.logical.reference import evaluate
from translators.logical.reference_numerics import carrier
from translators.options import Options
from translators.pipeline import compile_text

if interpreted():
    # The interpreter checks every operation for overflow by default, which takes a third of its time.
    interpreter.interpreter_builder.options = dataclasses.replace(
        interpreter.interpreter_builder.options, sanitize_overflow=False
    )
    lift_interpreter.install()  # nor does it combine one pair of numbers after the other


TOO_LONG = "takes too long"
SLOWEST_PROGRAM = 60  # seconds of the processor
ENOUGH = 1.0  # seconds after which two runs of a program do


@dataclass(frozen=True, slots=True)
class Way:
    """How a module is called: arrays of other strides, programs of a launch in reverse order, on tensors."""

    strided: bool = False
    permuted: bool = False
    tensors: bool = False


WAYS = (Way(), Way(strided=True, permuted=True), Way(permuted=True), Way(tensors=True, strided=True))


class Disagreement(AssertionError):
    """The generated module and the reference differ; the message holds the program."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`unsupported` is the code and message of the gap, if the program cannot be lowered yet."""

    unsupported: str | None = None


def compare(program: RandomProgram, runs: int = 3) -> Outcome:
    """Compile, and run on `runs` random choices of sizes, which include 0 and 1."""
    run_once = _run_composition if program.entry != "k" else _run_once
    with small_tiles() if program.seed % 2 else nullcontext():
        compiled = compile_text(program.text, "random_program.py", _options(program))
    problems = [each for each in compiled.diagnostics if each.severity != "note"]
    errors = [each for each in problems if each.severity == "error"]
    if errors:
        raise Disagreement(f"{errors[0].code} rejects a legal program: {errors[0].message}\n\n{program.text}")
    if problems:
        return Outcome(f"{problems[0].code} {problems[0].message}")
    assert compiled.source is not None and compiled.program is not None
    generator = np.random.default_rng(program.seed)
    with tempfile.TemporaryDirectory() as folder:
        module = _imported(compiled.source, Path(folder)) if runs else None
        begin = time.process_time()
        for number in range(runs):
            if number > 1 and time.process_time() - begin > ENOUGH:
                break
            sizes = program.random_sizes(generator)
            run_once(program, compiled.program, module, sizes, WAYS[number % len(WAYS)])
    return Outcome()


def _options(program: RandomProgram) -> Options:
    given = {name: value for name, value in program.constexprs.items() if name in program.text}
    return Options(constexprs=given, numerics="relaxed_normalization" if program.relaxed else "source")


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    """Of the processor's time: reducing a program may make a loop endless. Only the main thread can be interrupted."""

    def expired(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGPROF, expired)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def failure(program: RandomProgram) -> str | None:
    """The kind of failure, without the names and numbers that reducing changes; None if all is well."""
    return outcome(program)[0]


def outcome(program: RandomProgram) -> tuple[str | None, str | None]:
    """The kind of failure, and the gap that the program met, if any."""
    try:
        with _time_limit(SLOWEST_PROGRAM):
            return None, compare(program).unsupported
    except TimeoutError:
        return TOO_LONG, None
    except Disagreement as error:
        first = str(error).partition("\n")[0]
        kind = "values differ" if " differ; at " in first else re.sub(r"\b\d+|'\w*'", "_", first)[:70]
        return kind, None
    except Exception as error:  # any crash of the compiler is a failure to be reduced
        return f"{type(error).__name__} while compiling", None


def program_of_text(text: str, seed: int = 0) -> RandomProgram:
    """A program written or reduced by hand: one kernel `k`; index tables are named `at...`."""
    result = read_program(text, "random_program.py")
    assert result.program is not None and result.program.kernels, result.diagnostics
    kernel = result.program.kernels[0]
    scalars = tuple(Term(scalar.name, scalar.dtype.name) for scalar in kernel.scalars)
    return RandomProgram(text, tuple(map(_view_of, kernel.views)), scalars, seed)


def _view_of(view: types.View) -> View:
    shape = tuple(repr(extent) for extent in view.shape)
    return View(view.name, view.dtype.name, shape, view.direction, bound=4, alias=view.alias or "")


def _imported(source: str, folder: Path) -> ModuleType:
    """Triton reads the kernels' text from the file, so that executing the text alone would not do."""
    path = folder / "generated_random_program.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    repair_interpreter()
    return module


def _run_once(
    program: RandomProgram, logical: Program, module: ModuleType | None, sizes: Mapping[str, int], way: Way
) -> None:
    wanted, found = program.arguments(sizes), program.arguments(sizes)
    evaluate(logical.kernels[0], wanted, reference.Options(verify_types=True))
    if way.strided:
        rows = {id(found[view.name]) for view in program.views if "strides" in view.promise(program.text)}
        # views of one array stay views of one
        copies = {id(value): _strided(value, id(value) in rows) for value in found.values()}
        found = {name: copies[id(value)] for name, value in found.items()}
    try:
        with np.errstate(all="ignore"), permuted_programs() if way.permuted else nullcontext():
            _call(module, found, way)
    except Exception as error:
        if _timed_out(error):
            raise TimeoutError(str(error)) from error
        raise Disagreement(f"{type(error).__name__}: {error}\nat {dict(sizes)}, {way}\n\n{program.text}") from error
    for view in program.views:
        fault = difference(view, np.asarray(found[view.name]), np.asarray(wanted[view.name]))
        if fault and _is_written(program, logical, view, sizes):
            raise Disagreement(f"{view.name} at {dict(sizes)}, {way}: {fault}\n\n{program.text}")


def _run_composition(
    program: RandomProgram, logical: Program, module: ModuleType | None, sizes: Mapping[str, int], way: Way
) -> None:
    """The host function of the module against the same function of the file, by the reference."""
    del logical
    wanted, found = program.arguments(sizes), program.arguments(sizes)
    expected = _by_reference(program, wanted)
    if way.strided:
        found = {name: _strided(value, False) for name, value in found.items()}
    try:
        with np.errstate(all="ignore"), permuted_programs() if way.permuted else nullcontext():
            if way.tensors:
                with on_device(found) as tensors:
                    made = getattr(module, "f_device")(**tensors)  # noqa: B009 - the module is generated
            else:
                made = getattr(module, "f")(*found.values())  # noqa: B009
    except Exception as error:
        if _timed_out(error):
            raise TimeoutError(str(error)) from error
        raise Disagreement(f"{type(error).__name__}: {error}\nat {dict(sizes)}, {way}\n\n{program.text}") from error
    made = [_decoded(view, array) for view, array in zip(program.results, _arrays(made), strict=True)]
    pairs = list(zip(program.results, made, expected, strict=True))
    pairs += [(view, np.asarray(found[view.name]), np.asarray(wanted[view.name])) for view in program.views]
    for view, array, right in pairs:
        if fault := difference(view, array, right):
            raise Disagreement(f"{view.name} at {dict(sizes)}, {way}: {fault}\n\n{program.text}")


def _by_reference(program: RandomProgram, arguments: Mapping[str, object]) -> list[np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random_composition.py"
        path.write_text(program.text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        file = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(file)
        with np.errstate(all="ignore"):
            return _arrays(intent.build(file.build, target=ReferenceTarget())(**_on_tensors(arguments)))


def _on_tensors(arguments: Mapping[str, object]) -> dict[str, object]:
    from torch_arrays import to_torch

    return {name: to_torch(each) if isinstance(each, np.ndarray) else each for name, each in arguments.items()}


def _decoded(view: View, array: np.ndarray) -> np.ndarray:
    """What NumPy has no dtype for comes back as its bits."""
    return array if array.dtype.itemsize > 2 or view.dtype[0] in "iu" else array.view(carrier(BY_NAME[view.dtype]))


def _arrays(results: object) -> list[np.ndarray]:
    from torch_arrays import to_numpy

    made = () if results is None else results if isinstance(results, tuple) else (results,)
    return [np.asarray(each) if isinstance(each, np.ndarray | np.generic) else to_numpy(each) for each in made]


def _timed_out(error: BaseException | None) -> bool:
    """The interpreter wraps what interrupts it."""
    return error is not None and (
        isinstance(error, TimeoutError) or "TimeoutError" in str(error) or _timed_out(error.__cause__)
    )


def _call(module: ModuleType | None, arguments: Mapping[str, object], way: Way) -> None:
    if not way.tensors:
        getattr(module, "k_out")(*arguments.values())  # noqa: B009 - the module is generated
        return
    with on_device(arguments) as tensors:
        getattr(module, "k_device_out")(**tensors)  # noqa: B009


def _strided(value: object, rows: bool) -> object:
    """In memory of other strides; only the last axis keeps its stride if the annotation fixes that of `rows`."""
    if not isinstance(value, np.ndarray) or not value.size or 0 in value.strides:
        return value
    if not rows:
        return strided(value)
    wider = np.zeros((*value.shape[:-1], value.shape[-1] + 3), value.dtype)
    wider[..., : value.shape[-1]] = value
    return wider[..., : value.shape[-1]]


def _is_written(program: RandomProgram, logical: Program, view: View, sizes: Mapping[str, int]) -> bool:
    """Whether the program writes every element: reducing may lose a store, and then the rest may hold anything."""
    values = []
    for pattern in (0x20, 0x41):
        arguments = program.arguments(sizes, pattern)
        evaluate(logical.kernels[0], arguments)
        values.append(np.asarray(arguments[view.name]).tobytes())
    return values[0] == values[1]


def difference(view: View, found: np.ndarray, wanted: np.ndarray) -> str | None:
    """What differs, or None. NaN equals NaN; floats of inexact functions get a tolerance."""
    if found.dtype.kind in "biu":
        equal = found == wanted
    else:
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        # a fused multiply-add, which the interpreter has not, rounds once less
        inexact = view.inexact or not interpreted()
        tolerance = TOLERANCE.get(view.dtype, 0.0) if inexact else 0.0
        with np.errstate(invalid="ignore"):
            close = (a == b) | (np.abs(a - b) <= tolerance * (1.0 + np.abs(b)))
        equal = close | (np.isnan(a) & np.isnan(b))
    if bool(np.all(equal)):
        return None
    where = tuple(int(i) for i in np.argwhere(~np.asarray(equal))[0])
    count = np.count_nonzero(~np.asarray(equal))
    return f"{count} of {equal.size} differ; at {where} {found[where]!r}, not {wanted[where]!r}"

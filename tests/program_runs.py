"""Kernels written in a test: compiled, run in the interpreter, and compared with the reference evaluator."""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import numpy as np
from generated_modules import permuted_programs, rejections, small_tiles

from intent.host.interpreter import repair_interpreter
from translators.logical.reference import evaluate
from translators.logical.types import View
from translators.options import DEFAULT, Options
from translators.pipeline import Compilation, compile_text

HEADER = "import intent\nimport intent.language as I\n\n\n"
PATTERNS = (0xA5, 0x5A)


@cache
def _compiled(text: str, numerics: str, small: bool, limits: bool) -> Compilation:
    with small_tiles(limits) if small else nullcontext():
        return compile_text(text, "test.py", Options(numerics=numerics))  # type: ignore[arg-type]


def compiled(text: str, options: Options = DEFAULT, small: bool = False, limits: bool = False) -> Compilation:
    """The text, which gets the two import lines; with tiles of a few elements if they are to be `small`, and with
    little room on chip if its `limits` are to be small too.
    """
    return _compiled(HEADER + dedent(text), options.numerics, small, limits)


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="program_runs_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _imported(source: str) -> ModuleType:
    name = f"run_{hashlib.sha1(source.encode()).hexdigest()}"
    file = _folder() / f"{name}.py"
    file.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    repair_interpreter()
    return module


def module(text: str, options: Options = DEFAULT, small: bool = False, limits: bool = False) -> ModuleType:
    """The generated module, imported."""
    found = compiled(text, options, small, limits)
    assert found.source is not None, rejections(found)
    return _imported(found.source)


def device_text(text: str, options: Options = DEFAULT, small: bool = False) -> str:
    """The device functions of the last kernel, each once."""
    found = compiled(text, options, small)
    assert found.source is not None, rejections(found)
    return "\n\n".join(dict.fromkeys(variant.source for variant in found.codes[-1].variants))


def agree(
    text: str, arguments: Mapping[str, object], options: Options = DEFAULT, small: bool = True, tolerance: float = 0.0,
    limits: bool = False,
) -> dict[str, np.ndarray]:  # fmt: skip
    """The last kernel gives what the reference does, whatever its outputs held and in both orders of its programs.

    `arguments` holds every parameter, `Out` arrays too. Elements may differ by `tolerance` times the root mean square.
    Returns what the reference gives.
    """
    found = compiled(text, options, small, limits)
    assert found.program is not None, rejections(found)
    kernel = found.program.kernels[-1]
    wanted = _copied(arguments)
    evaluate(kernel, wanted)  # type: ignore[arg-type]
    run = getattr(module(text, options, small, limits), f"{kernel.name}_out")
    written = [view for view in kernel.views if view.direction != "In"]
    for pattern, order in zip(PATTERNS, (nullcontext, permuted_programs), strict=True):
        given = _copied(arguments)
        for view in kernel.views:
            if view.direction == "Out":
                _poison(given[view.name], pattern)
        with order():
            run(*given.values())
        for view in written:
            _compare(view, given[view.name], wanted[view.name], tolerance)
    return {view.name: np.asarray(wanted[view.name]) for view in written}


def _copied(arguments: Mapping[str, object]) -> dict[str, object]:
    return {name: value.copy("K") if isinstance(value, np.ndarray) else value for name, value in arguments.items()}


def _poison(array: object, pattern: int) -> None:
    assert isinstance(array, np.ndarray)
    filled = np.frombuffer(bytes([pattern]) * array.dtype.itemsize, array.dtype)[0]
    array[...] = filled if array.dtype != np.bool_ else pattern == PATTERNS[0]


def _comparable(array: np.ndarray) -> np.ndarray:
    """NumPy takes a NaN of the narrow floats for unequal to itself."""
    return (
        array.astype(np.float32)
        if array.dtype.kind == "V" or (array.dtype.itemsize < 4 and array.dtype.kind == "f")
        else array
    )


def _compare(view: View, given: object, wanted: object, tolerance: float) -> None:
    left, right = (_comparable(np.asarray(array)) for array in (given, wanted))
    if not tolerance:
        np.testing.assert_array_equal(left, right, err_msg=view.name)
        return
    finite = right[np.isfinite(right)].astype(np.float64)
    scale = float(np.sqrt(np.mean(finite**2))) if finite.size else 1.0
    np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance * scale, err_msg=view.name)

"""Generated modules for tests: kernel files compiled once for each set of constexprs, written out and imported."""

from __future__ import annotations

import atexit
import importlib.util
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from enum import Enum
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import cast

import numpy as np
import sample_files
from device_arrays import on_device
from sample_files import Arrays, Case, Sample
from triton.runtime import interpreter

from intent.host.interpreter import interpreted, repair_interpreter
from translators.intent_source.read import read_program
from translators.logical.program import Kernel
from translators.logical.reference import Argument, evaluate
from translators.options import Options
from translators.pipeline import Compilation, compile_text
from translators.planning import layouts, product_layouts

Bindings = tuple[tuple[str, object], ...]


def bindings(sample: Sample, case: Case) -> Bindings:
    """The case's constexprs in the form a compilation takes them: enum members by name."""
    values = sample_files.constexprs(sample, case)
    return tuple((name, value.name if isinstance(value, Enum) else value) for name, value in sorted(values.items()))


@cache
def compilation(path: Path, bound: Bindings = (), small: bool = False, limits: bool = False) -> Compilation:
    """The file compiled; with tiles of a few elements if they are to be `small`, and with little room on chip if its
    `limits` are to be small too.
    """
    text = path.read_text(encoding="utf-8")
    with small_tiles(limits) if small else nullcontext():
        return compile_text(text, path.name, Options(constexprs=dict(bound)))


SIZE_TABLES = (layouts, product_layouts)
# The planner's tables of sizes, shrunk so that small arrays already need several tiles and long rows are streamed.
SMALL_TILES: Mapping[str, object] = {
    "RESIDENT_ROWS": (16,), "STREAMED_ROW": 8, "POINTWISE": 64, "SQUARE": 16, "POINTS": 8, "TILE": 64,
    "COLUMNS": (16, 8), "GROUPED_COLUMNS": (16, 4), "SHORT_ROW": 8, "SHORT_ROWS": (4, 8), "LONG_ROWS": (1, 8),
    "STENCIL": (4, 8), "SECTION": (4, 8), "DOT_ROWS": 16, "DOT_COLUMNS": 16,
    "HISTOGRAM_BINS": (4, 8, 16), "HISTOGRAM_VALUES": 8,
    "FEW_NEIGHBOURS": (8,), "FEW_ROWS": {16: (16, 32)}, "SHORT_RESIDENT": (8,), "SHORT_TILE": 32,
    "RESIDENT_DEPTH": (16,),
}  # fmt: skip


# The same for what must stay on chip: beyond these, it is in scratch memory.
SMALL_LIMITS: Mapping[str, object] = {
    "RESIDENT_CARRY": (2, 8), "RESIDENT_STATE": (2, 4), "RESIDENT_DOT": (16,), "FIXED_TILE": 64,
}  # fmt: skip


@contextmanager
def small_tiles(limits: bool = False) -> Iterator[None]:
    """Compile with the small sizes, and with the small `limits` if they are wanted."""
    sizes = {**SMALL_TILES, **SMALL_LIMITS} if limits else SMALL_TILES
    usual = [(vars(table), name, vars(table)[name]) for table in SIZE_TABLES for name in sizes.keys() & vars(table)]
    try:
        for table, name, _ in usual:
            table[name] = sizes[name]
        yield
    finally:
        for table, name, value in usual:
            table[name] = value


def rejections(compiled: Compilation) -> list[str]:
    """What prevented the compilation, one line each."""
    return [
        f"{each.span.line}:{each.span.column}: {each.severity}[{each.code}] {each.message}"
        for each in compiled.diagnostics
        if each.severity != "note"
    ]


@cache
def logical_kernel(path: Path, name: str, bound: Bindings = ()) -> Kernel:
    result = read_program(path.read_text(encoding="utf-8"), path.name, dict(bound))
    problems = [each for each in result.diagnostics if each.severity == "error"]
    assert not problems, problems
    assert result.program is not None
    return next(kernel for kernel in result.program.kernels if kernel.name == name)


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="generated_modules_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def module(path: Path, bound: Bindings = (), small: bool = False, limits: bool = False) -> ModuleType:
    """The generated module, imported; triton reads its kernels' source from the file."""
    compiled = compilation(path, bound, small, limits)
    assert compiled.source is not None, rejections(compiled)
    suffix = "_".join(str(value) for _, value in bound)
    name = f"generated_{path.parent.name}_{path.stem}_{suffix}_{'small' if small else ''}_{'limits' if limits else ''}"
    file = _folder() / f"{name}.py"
    file.write_text(compiled.source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    repair_interpreter()
    return loaded


def by_reference(sample: Sample, case: Case, values: Mapping[str, object]) -> Arrays:
    """What the reference evaluator gives: every Out and InOut view by name."""
    kernel = logical_kernel(sample.path, sample.kernel, bindings(sample, case))
    arguments = _arguments(sample, case, values, pattern=0x5A)
    evaluate(kernel, cast(dict[str, Argument], arguments))
    return {view.name: np.asarray(arguments[view.name]) for view in sample.outputs}


def by_module(
    sample: Sample, case: Case, values: Mapping[str, object], pattern: int = 0xA5, small: bool = False,
    limits: bool = False,
) -> Arrays:  # fmt: skip
    """What the generated module's host arm writes into poisoned outputs."""
    generated = module(sample.path, bindings(sample, case), small, limits)
    arguments = _arguments(sample, case, values, pattern)
    getattr(generated, f"{sample.kernel}_out")(*arguments.values())
    return {view.name: np.asarray(arguments[view.name]) for view in sample.outputs}


def by_device_arm(sample: Sample, case: Case, values: Mapping[str, object], small: bool = False) -> Arrays:
    """What the generated module's device arm writes, given tensors with the strides of the arrays.

    The device is the GPU unless Triton interprets.
    """
    generated = module(sample.path, bindings(sample, case), small)
    arguments = _arguments(sample, case, values, pattern=0xA5)
    with on_device(arguments) as tensors:
        getattr(generated, f"{sample.kernel}_device_out")(*tensors.values())
    return {view.name: np.asarray(arguments[view.name]) for view in sample.outputs}


def _arguments(sample: Sample, case: Case, values: Mapping[str, object], pattern: int) -> dict[str, object]:
    """All runtime arguments in declaration order: inputs as given, InOut copied with their strides, Out poisoned."""
    arguments: dict[str, object] = {}
    for parameter in sample.runtime_parameters:
        if isinstance(parameter, sample_files.View) and parameter.direction == "Out":
            arguments[parameter.name] = sample_files.poisoned(parameter, case, pattern)
        else:
            arguments[parameter.name] = _copied(values[parameter.name])
    return arguments


def _copied(value: object) -> object:
    if not isinstance(value, np.ndarray):
        return value
    return sample_files.strided(value) if value.size and not value.flags.c_contiguous else value.copy()


@contextmanager
def permuted_programs() -> Iterator[None]:
    """The interpreter runs the programs of each launch backwards: a result must not depend on their order.

    A GPU has its own order, which stays.
    """
    if not interpreted():
        yield
        return
    original = interpreter.interpreter_builder.set_grid_idx

    def set_grid_index(x: int, y: int, z: int) -> None:
        dimensions = interpreter.interpreter_builder.grid_dim
        original(*(extent - 1 - position for extent, position in zip(dimensions, (x, y, z), strict=True)))

    interpreter.interpreter_builder.set_grid_idx = set_grid_index
    try:
        yield
    finally:
        del interpreter.interpreter_builder.set_grid_idx

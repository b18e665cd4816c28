"""The kernels under `samples/`: found by importing the files, with cases and inputs derived from their signatures.

`docs/samples.md` states the convention a sample file follows. Nothing here knows a sample by name.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import ml_dtypes
import numpy as np

from intent.annotations import ConstexprAnnotation, ViewAnnotation
from intent.definitions import Definition
from intent.dtypes import DType
from intent.records import dataclass

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "samples"

Case = Mapping[str, object]  # sizes by symbol; values of runtime scalars and constexprs by name
Arrays = dict[str, np.ndarray]

NUMPY_DTYPES: Mapping[str, np.dtype] = {
    "bool": np.dtype(np.bool_), "index": np.dtype(np.int64),
    "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32), "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8), "u16": np.dtype(np.uint16), "u32": np.dtype(np.uint32), "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn), "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
}  # fmt: skip

# Sizes of a kernel's symbols, in order of appearance, when the file lists no CASES: not a multiple of any block, then
# powers of two that the interpreter gets through quickly.
TAILS = (5, 37, 19, 11, 7, 3)
MULTIPLES = (4, 32, 16, 16, 8, 4)

# The same for a real GPU: the first that keeps a case within LARGEST_CASE elements.
BROAD = ((131, 517, 259, 67, 37), (29, 130, 61, 37, 17), (5, 67, 131, 3, 37))
LONG = (50_021, 20_011, 2003)
LARGEST_CASE = 200_000

# Relative to the element plus the root mean square of the expected array.
TOLERANCES: Mapping[str, float] = {
    "f64": 1e-10,
    "f32": 2e-5,
    "f16": 2e-3,
    "bf16": 1.6e-2,
    "f8e4m3fn": 0.13,
    "f8e5m2": 0.26,
}


@dataclass(frozen=True, slots=True)
class View:
    name: str
    direction: str
    dtype: DType
    shape: tuple[int | str, ...]

    @property
    def is_input(self) -> bool:
        return self.direction != "Out"

    @property
    def is_output(self) -> bool:
        return self.direction != "In"

    @property
    def numpy_dtype(self) -> np.dtype:
        return NUMPY_DTYPES[self.dtype.name]

    def sizes(self, case: Case) -> tuple[int, ...]:
        return tuple(extent if isinstance(extent, int) else int(str(case[extent])) for extent in self.shape)


@dataclass(frozen=True, slots=True)
class ScalarParameter:
    name: str
    dtype: DType


@dataclass(frozen=True, slots=True)
class ConstexprParameter:
    name: str
    default: object


Parameter = View | ScalarParameter | ConstexprParameter


@dataclass(frozen=True, slots=True)
class Sample:
    """One kernel of a kernel file."""

    path: Path
    module: ModuleType | SimpleNamespace
    kernel: str
    parameters: tuple[Parameter, ...]
    collection: str = "sample"

    @property
    def stem(self) -> str:
        return self.path.stem

    @property
    def identity(self) -> str:
        name = self.stem if self.kernel == self.stem else f"{self.stem}.{self.kernel}"
        return name if self.collection == "sample" else f"{self.collection}:{name}"

    @property
    def views(self) -> tuple[View, ...]:
        return tuple(parameter for parameter in self.parameters if isinstance(parameter, View))

    @property
    def outputs(self) -> tuple[View, ...]:
        return tuple(view for view in self.views if view.is_output)

    @property
    def symbols(self) -> tuple[str, ...]:
        extents = (extent for view in self.views for extent in view.shape if isinstance(extent, str))
        return tuple(dict.fromkeys(extents))

    @property
    def constexprs(self) -> tuple[ConstexprParameter, ...]:
        return tuple(parameter for parameter in self.parameters if isinstance(parameter, ConstexprParameter))

    @property
    def runtime_parameters(self) -> tuple[View | ScalarParameter, ...]:
        return tuple(parameter for parameter in self.parameters if not isinstance(parameter, ConstexprParameter))


# ------------------------------------------------------------------------------------------------------------ discovery
@cache
def samples(folder: Path = SAMPLES) -> tuple[Sample, ...]:
    """Every kernel of every file of the folder, in order of file name, then of appearance."""
    return tuple(sample for path in sorted(folder.glob("*.py")) for sample in kernels_of(path))


def kernels_of(path: Path) -> Iterator[Sample]:
    """The kernels of one file, in order of appearance."""
    module = load(path)
    for name, definition in vars(module).items():
        if isinstance(definition, Definition) and definition.role == "kernel":
            yield Sample(path, module, name, tuple(_parameters(definition)))


@cache
def load(path: Path) -> ModuleType:
    """A kernel file as an ordinary Python module."""
    spec = importlib.util.spec_from_file_location(f"kernel_file_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _parameters(definition: Definition) -> Iterator[Parameter]:
    for name, parameter in inspect.signature(definition.__wrapped__).parameters.items():
        annotation = parameter.annotation
        if isinstance(annotation, ViewAnnotation):
            yield View(name, annotation.direction, annotation.dtype, annotation.shape)
        elif isinstance(annotation, ConstexprAnnotation):
            yield ConstexprParameter(name, None if parameter.default is inspect.Parameter.empty else parameter.default)
        else:
            assert isinstance(annotation, DType), f"{name}: {annotation!r}"
            yield ScalarParameter(name, annotation)


# ---------------------------------------------------------------------------------------------------------------- cases
def cases(sample: Sample) -> tuple[Case, ...]:
    """The file's CASES that give every symbol of this kernel, or tails, multiples, ones, and each size zero in turn."""
    listed: Sequence[Case] | None = getattr(sample.module, "CASES", None)
    if listed is None:
        return tuple(_default_cases(sample.symbols))
    return tuple(case for case in listed if all(symbol in case for symbol in sample.symbols))


def _default_cases(symbols: tuple[str, ...]) -> Iterator[Case]:
    first = 1 if len(symbols) == 1 else 0  # a kernel of one size gets the larger one
    tails = dict(zip(symbols, TAILS[first:], strict=False))
    yield tails
    yield dict(zip(symbols, MULTIPLES[first:], strict=False))
    yield dict.fromkeys(symbols, 1)
    for symbol in symbols:
        yield tails | {symbol: 0}


def large_cases(sample: Sample) -> tuple[Case, ...]:
    """Cases of several tiles for a real GPU: the file's LARGE, or odd sizes and an axis too long for one tile."""
    listed: Sequence[Case] | None = getattr(sample.module, "LARGE", None)
    if listed is not None:
        return tuple(case for case in listed if all(symbol in case for symbol in sample.symbols))
    if hasattr(sample.module, "CASES"):
        return ()
    fitting = [case for case in _broad_cases(sample.symbols) if _elements(sample, case) <= LARGEST_CASE]
    long = [case for case in _long_cases(sample.symbols) if _elements(sample, case) <= LARGEST_CASE]
    return (*fitting[:1], *long[:1])


def _broad_cases(symbols: tuple[str, ...]) -> Iterator[Case]:
    return (dict(zip(symbols, sizes, strict=False)) for sizes in BROAD if len(symbols) > 1)


def _long_cases(symbols: tuple[str, ...]) -> Iterator[Case]:
    """The only axis, or the second one, too long for one tile of the other."""
    return (dict.fromkeys(symbols, 3) | {symbols[:2][-1]: length} for length in LONG)


def _elements(sample: Sample, case: Case) -> int:
    return sum(math.prod(view.sizes(case)) for view in sample.views)


def case_identity(case: Case) -> str:
    return "-".join(f"{name}{getattr(value, 'name', value)}" for name, value in case.items()) or "static"


def case_kind(sample: Sample, case: Case) -> str:
    """ "zero", "one" or "tail": what the sizes exercise."""
    sizes = [case[symbol] for symbol in sample.symbols]
    if 0 in sizes:
        return "zero"
    return "one" if sizes and all(size == 1 for size in sizes) else "tail"


def every_case(kernels: Iterable[Sample]) -> Iterator[tuple[str, Sample, Case]]:
    for sample in kernels:
        for case in cases(sample):
            yield f"{sample.identity}[{case_identity(case)}]", sample, case


# --------------------------------------------------------------------------------------------------------------- inputs
def arguments(sample: Sample, case: Case, seed: int = 0) -> dict[str, object]:
    """Values of the In and InOut views and of the runtime scalars, by name, in declaration order."""
    rng = np.random.default_rng([seed, *sample.identity.encode()])
    inputs: Callable[..., Mapping[str, np.ndarray]] = getattr(sample.module, "inputs", lambda rng, case: {})
    special = inputs(rng, case)
    values: dict[str, object] = {}
    for parameter in sample.runtime_parameters:
        if isinstance(parameter, ScalarParameter):
            values[parameter.name] = _scalar(parameter, {**case, **special}, rng)
        elif parameter.is_input:
            given = special.get(parameter.name)
            values[parameter.name] = (
                _random(parameter, case, rng) if given is None else _checked(parameter, case, given)
            )
    return values


def _checked(view: View, case: Case, given: np.ndarray) -> np.ndarray:
    assert given.shape == view.sizes(case), f"inputs: {view.name} has shape {given.shape}, not {view.sizes(case)}"
    return given.astype(view.numpy_dtype)


def _random(view: View, case: Case, rng: np.random.Generator) -> np.ndarray:
    shape = view.sizes(case)
    if view.dtype.is_float:
        return rng.standard_normal(shape).astype(view.numpy_dtype)
    if view.dtype.kind == "bool":
        return rng.random(shape) < 0.5
    if view.dtype.is_signed:
        return rng.integers(-100, 100, shape).astype(view.numpy_dtype)
    return rng.integers(0, 2**view.dtype.bits, shape, dtype=view.numpy_dtype)


def _scalar(parameter: ScalarParameter, given: Mapping[str, object], rng: np.random.Generator) -> object:
    if parameter.name in given:
        return NUMPY_DTYPES[parameter.dtype.name].type(given[parameter.name])
    if parameter.dtype.is_float:
        return NUMPY_DTYPES[parameter.dtype.name].type(rng.uniform(0.25, 0.75))
    return NUMPY_DTYPES[parameter.dtype.name].type(rng.integers(1, 4))


def constexprs(sample: Sample, case: Case) -> dict[str, object]:
    """The constexpr values a case compiles for."""
    return {parameter.name: case.get(parameter.name, parameter.default) for parameter in sample.constexprs}


def poisoned(view: View, case: Case, pattern: int = 0xA5) -> np.ndarray:
    """An output whose bytes all hold the pattern (a bool holds False or True by its lowest bit)."""
    shape = view.sizes(case)
    if view.dtype.kind == "bool":
        return np.full(shape, bool(pattern & 1))
    buffer = np.full(int(np.prod(shape)) * view.numpy_dtype.itemsize, pattern, dtype=np.uint8)
    return buffer.view(view.numpy_dtype).reshape(shape)


def strided(array: np.ndarray) -> np.ndarray:
    """The same elements in memory of other strides: the axes in reverse order, every other element of the last."""
    if array.ndim == 0:
        return array
    parent = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype, order="F")
    view = parent[..., ::2]
    view[...] = array
    return view


def with_specials(sample: Sample, values: Mapping[str, object], seed: int = 0) -> dict[str, object]:
    """The arguments with a few NaN and infinities among the elements of the float inputs."""
    rng = np.random.default_rng(seed)
    floats = {view.name for view in sample.views if view.is_input and view.dtype.is_float and view.dtype.bits > 8}
    floats -= set(getattr(sample.module, "FINITE", ()))
    return {name: _sprinkle(value, rng) if name in floats else value for name, value in values.items()}


def _sprinkle(value: object, rng: np.random.Generator) -> np.ndarray:
    array = np.array(value)
    for special in (np.nan, np.inf, -np.inf):
        array[rng.random(array.shape) < 0.02] = special
    return array


# ------------------------------------------------------------------------------------------------------------- expected
def expected(sample: Sample, case: Case, values: Mapping[str, object]) -> Arrays:
    """What the file's NumPy statement gives: every Out and InOut view by name."""
    statement = getattr(sample.module, f"{sample.kernel}_reference", None) or sample.module.reference
    copies = [np.array(value) if isinstance(value, np.ndarray) else value for value in values.values()]
    keywords = {"case": case} if "case" in inspect.signature(statement).parameters else {}
    results = statement(*copies, **keywords)
    results = results if isinstance(results, tuple) else (results,)
    assert len(results) == len(sample.outputs), f"{sample.identity}: the statement returns {len(results)} results"
    return {view.name: np.asarray(result) for view, result in zip(sample.outputs, results, strict=True)}


def tolerance(sample: Sample, view: View) -> float:
    """The largest error allowed, relative to the element plus the root mean square; 0 for integers and bool."""
    return float(getattr(sample.module, "TOLERANCE", TOLERANCES[view.dtype.name])) if view.dtype.is_float else 0.0


def error(actual: np.ndarray, wanted: np.ndarray) -> float:
    """The largest error relative to the element plus the root mean square; infinite where NaN or infinity differ."""
    assert actual.shape == wanted.shape, f"shape {actual.shape}, not {wanted.shape}"
    assert actual.dtype == wanted.dtype, f"dtype {actual.dtype}, not {wanted.dtype}"
    if actual.dtype.kind in "biu":
        return 0.0 if np.array_equal(actual, wanted) else float("inf")
    a, b = actual.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    scale = np.abs(b[finite]) + np.sqrt(np.mean(b[finite] ** 2))
    difference = np.abs(a[finite] - b[finite])
    return float(np.max(np.where(difference == 0, 0.0, difference / np.where(scale == 0, 1.0, scale))))


def differences(sample: Sample, actual: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> list[str]:
    """One line per output that is wrong."""
    lines = []
    for view in sample.outputs:
        found = error(actual[view.name], wanted[view.name])
        if found > tolerance(sample, view):
            lines.append(f"{view.name}: error {found:.3g}, allowed {tolerance(sample, view):.3g}")
    return lines

"""A generated module against the reference evaluator: run both on the same arguments and compare every output.

Tolerance. Integers and bools must be equal. Floats agree if NaN and infinities stand at the same places and, everywhere
else, |module - reference| <= allowed * (|reference| + root mean square of the reference), with

    allowed = 4 eps(output dtype), if that has 16 bits or less, + 64 eps(f32, or f64 if all floats are) sqrt(terms)

where `terms` is the longest reduction or ordered loop: what rounding each operation, and summing in another order, can
explain. One result within half an ulp of a tie may round the other way in the two, hence the first part.
"""

from __future__ import annotations

import atexit
import importlib.util
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

import ml_dtypes
import numpy as np

from intent.host.interpreter import repair_interpreter
from intent.records import dataclass
from intentc.index_roles import all_nodes
from intentc.kernel_inputs import Arguments, Sizes, poisoned
from translators.algebra.polynomial import Atom, Polynomial, Symbol, number
from translators.logical.program import Contract, For, Kernel, Reduce, RegionFold, RegionScan, Scan
from translators.logical.reference import evaluate
from translators.logical.reference_numerics import Array, carrier
from translators.logical.types import Tensor, View

Outputs = dict[str, Array]


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one output of the module is from the reference."""

    output: str
    largest_absolute: float
    largest_relative: float
    allowed: float

    @property
    def agrees(self) -> bool:
        return self.largest_relative <= self.allowed

    def __str__(self) -> str:
        verdict = "agrees" if self.agrees else "DIFFERS"
        return (
            f"{self.output}: max abs {self.largest_absolute:.3g}, max rel {self.largest_relative:.3g} "
            f"(allowed {self.allowed:.3g}) {verdict}"
        )


# ---------------------------------------------------------------------------------------------------------- both sides
def differences(
    kernel: Kernel, module_out: Callable[..., None], arguments: Arguments, sizes: Sizes, byte: int = 0xA5
) -> list[Difference]:
    """Compare what the module's host function `module_out` writes with the reference, output by output.

    Elements of an Out array that the kernel does not write are unspecified, and count for nothing.
    """
    wanted = by_reference(kernel, arguments, sizes, byte)
    actual = by_module(kernel, module_out, arguments, sizes, byte)
    found = [compare(kernel, view, actual[view.name], wanted[view.name], sizes) for view in _written(kernel)]
    if all(difference.agrees for difference in found):
        return found
    other = by_reference(kernel, arguments, sizes, byte ^ 0xFF)
    for view in _written(kernel):
        unwritten = _bits(wanted[view.name]) != _bits(other[view.name])
        actual[view.name] = np.where(unwritten, wanted[view.name], actual[view.name])
    return [compare(kernel, view, actual[view.name], wanted[view.name], sizes) for view in _written(kernel)]


def _bits(array: Array) -> Array:
    """Elements as integers, of which a NaN equals itself."""
    bits: Array = np.ascontiguousarray(array).view(f"u{array.itemsize}").reshape(array.shape)
    return bits


def by_reference(kernel: Kernel, arguments: Arguments, sizes: Sizes, byte: int = 0xA5) -> Outputs:
    """Every Out and InOut array after the reference evaluator ran on copies; an element left alone keeps the byte."""
    complete = _complete(kernel, arguments, sizes, byte)
    evaluate(kernel, complete)
    return {view.name: np.asarray(complete[view.name]) for view in _written(kernel)}


def by_module(
    kernel: Kernel, module_out: Callable[..., None], arguments: Arguments, sizes: Sizes, byte: int = 0xA5
) -> Outputs:
    """Every Out and InOut array after the module's function ran on copies; outputs begin as a pattern of bytes."""
    complete = _complete(kernel, arguments, sizes, byte)
    module_out(*complete.values())
    return {view.name: np.asarray(complete[view.name]) for view in _written(kernel)}


def _complete(kernel: Kernel, arguments: Arguments, sizes: Sizes, byte: int) -> Arguments:
    """All parameters in declaration order; written arrays are copies with the strides of the original."""
    complete: Arguments = {}
    for parameter in kernel.parameters:
        if isinstance(parameter, View) and parameter.direction == "Out":
            complete[parameter.name] = poisoned(parameter, sizes, byte)
        elif isinstance(parameter, View) and parameter.direction == "InOut":
            complete[parameter.name] = _copy(np.asarray(arguments[parameter.name]))
        else:
            complete[parameter.name] = arguments[parameter.name]
    return complete


def _copy(array: Array) -> Array:
    """With the same strides, if every axis has a positive one."""
    order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    copy: Array = array.transpose(order).copy()
    back: Array = copy.transpose(sorted(range(array.ndim), key=order.__getitem__))
    return back


def _written(kernel: Kernel) -> list[View]:
    return [view for view in kernel.views if view.writable]


# ---------------------------------------------------------------------------------------------------------- comparison
def compare(kernel: Kernel, view: View, actual: Array, wanted: Array, sizes: Sizes) -> Difference:
    """See the module's docstring for what is allowed."""
    if not view.dtype.is_float:
        wrong = actual != wanted
        largest = (
            float(np.max(np.abs(actual.astype(object) - wanted.astype(object)), initial=0)) if wrong.any() else 0.0
        )
        return Difference(view.name, largest, math.inf if wrong.any() else 0.0, 0.0)
    absolute, relative = _errors(actual.astype(np.float64), wanted.astype(np.float64))
    return Difference(view.name, absolute, relative, allowed(kernel, view, sizes))


def _errors(actual: Array, wanted: Array) -> tuple[float, float]:
    """The largest absolute error, and the largest relative to the element plus the root mean square."""
    finite = np.isfinite(wanted)
    if not np.array_equal(actual[~finite], wanted[~finite], equal_nan=True) or not np.isfinite(actual[finite]).all():
        return math.inf, math.inf
    a, b = actual[finite].astype(np.float64), wanted[finite].astype(np.float64)
    if not b.size:
        return 0.0, 0.0
    difference = np.abs(a - b)
    with np.errstate(over="ignore"):
        scale = np.abs(b) + np.sqrt(np.mean(b * b))
    relative = np.where(difference == 0, 0.0, difference / np.where(scale == 0, 1.0, scale))
    return float(difference.max()), float(relative.max())


def allowed(kernel: Kernel, view: View, sizes: Sizes) -> float:
    """The relative error that rounding explains."""
    floats = [each.dtype for each in kernel.views if each.dtype.is_float]
    computed = np.finfo(np.float64 if all(dtype.bits == 64 for dtype in floats) else np.float32).eps
    rounding = 4 * float(ml_dtypes.finfo(carrier(view.dtype)).eps) if view.dtype.bits <= 16 else 0.0
    return rounding + 64 * float(computed) * math.sqrt(longest_reduction(kernel, sizes))


def longest_reduction(kernel: Kernel, sizes: Sizes) -> int:
    """The largest number of terms that one element of the result depends on through one reduction or loop."""
    known: dict[Atom, Polynomial] = {Symbol(name): number(size) for name, size in sizes.items()}
    most = max([1, *sizes.values()])
    lengths = (_length(node, known, most) for kind in _REDUCING for node in all_nodes(kernel.body, kind))
    return max([1, *lengths])


_REDUCING: tuple[type[object], ...] = (Reduce, Scan, Contract, RegionFold, RegionScan, For)


def _length(node: object, known: Mapping[Atom, Polynomial], most: int) -> int:
    """The product of the reduced extents; `most` stands for one that depends on data."""
    extents = [extent.substitute(known).constant for extent in _reduced(node)]
    return math.prod(most if extent is None else max(extent, 1) for extent in extents)


def _reduced(node: object) -> list[Polynomial]:
    match node:
        case Reduce(arguments=(argument, *_), axes=axes):
            return [argument.shape[axis] for axis in axes]
        case Scan(arguments=(argument, *_), axis=axis):
            return [argument.shape[axis]]
        case RegionFold(sources=(source, *_), axis=axis) | RegionScan(sources=(source, *_), axis=axis):
            return [source.shape[axis]]
        case Contract(lhs=lhs, lhs_labels=labels, result_labels=kept) if isinstance(lhs.type, Tensor):
            return [extent for extent, label in zip(lhs.shape, labels, strict=True) if label not in kept]
        case For(domain=domain):
            return [domain.extent]
        case _:
            return []


# ------------------------------------------------------------------------------------------------------------- modules
def load_module(source: str, name: str = "generated") -> ModuleType:
    """Import a generated module's text; triton reads the source of its kernels from the file."""
    folder = Path(tempfile.mkdtemp(dir=_folder()))
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    repair_interpreter()
    return module


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="intentc-modules-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def permuted_programs() -> Iterator[None]:
    """The interpreter runs the programs of every launch in another order; no result may depend on it."""
    from triton.runtime import interpreter

    builder = interpreter.interpreter_builder
    original = builder.set_grid_idx

    def set_grid_index(x: int, y: int, z: int) -> None:
        original(*map(_permuted, builder.grid_dim, (x, y, z)))

    builder.set_grid_idx = set_grid_index
    try:
        yield
    finally:
        del builder.set_grid_idx


def _permuted(extent: int, position: int) -> int:
    """A bijection of range(extent): backwards, in steps prime to the extent."""
    step = next(step for step in range(extent * 5 // 8 + 1, extent + 2) if math.gcd(step, extent) == 1)
    return extent - 1 - position * step % extent

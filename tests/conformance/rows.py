"""What a row of the table is: a program, a NumPy statement that knows nothing of this project, inputs and sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from sample_files import NUMPY_DTYPES, Case

Arrays = Mapping[str, np.ndarray]
Inputs = Callable[[np.random.Generator, Case], Arrays]
Statement = Callable[..., object]

FLOATS = ("f64", "f32", "f16", "bf16", "f8e4m3fn", "f8e5m2")
SIGNED = ("i8", "i32", "i64")
UNSIGNED = ("u8", "u64")
INTEGERS = (*SIGNED, *UNSIGNED)
NUMBERS = (*FLOATS, *INTEGERS, "index")
EVERYTHING = (*FLOATS, *INTEGERS, "bool", "index")
"""The kinds of dtype: every float, and integers of one byte and of the widths that lanes and addresses have."""

KINDS = ("f64", "f32", "bf16", "f8e5m2", "i8", "u64", "bool", "index")
"""One of each kind, for subjects that only move elements."""

SHAPES = ("tail", "zero", "one", "large", "strided", "broadcast")
"""Sizes that no block divides; a size of zero; all ones; several blocks; strides that are not those of a new array
(inputs and outputs); strides of zero (inputs).
"""

Sizes = Mapping[str, tuple[Case, ...]]


def sizes(symbols: str, tail: str, large: str, zero: str = "") -> Sizes:
    """Sizes by shape from lists: `sizes("M N", "3 37", "2 2500")`. Each size in turn is zero, or those of `zero`."""
    names = symbols.split()
    usual = _case(names, tail)
    empty = [dict(usual) | {name: 0} for name in (zero.split() or names)]
    return {
        "tail": (usual,),
        "zero": tuple(empty),
        "one": (dict.fromkeys(names, 1),),
        "large": (_case(names, large),),
        "strided": (usual,),
        "broadcast": (usual,),
    }


def _case(names: list[str], numbers: str) -> dict[str, int]:
    return dict(zip(names, map(int, numbers.split()), strict=True))


MATRIX = sizes("M N", "3 37", "2 2500")
VECTOR = sizes("N", "37", "2500")


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One subject in one dtype. An illegal row's program must be rejected by every check of the language."""

    subject: str  # the path of an intrinsic, or the name of a rule
    dtype: str
    text: str
    statement: Statement = lambda: ()
    inputs: Inputs = lambda rng, case: {}
    sizes: Sizes = field(default_factory=lambda: MATRIX)
    legal: bool = True
    tolerance: float | None = None
    small: bool = False  # small tiles in every shape: the interpreter combines large ones one element at a time

    @property
    def identity(self) -> str:
        return f"{self.subject} {self.dtype}"


# ------------------------------------------------------------------------------------------------------------ programs
HEADER = "import intent\nimport intent.language as I\n\n"


def program(parameters: str, body: str, helpers: str = "") -> str:
    """The text of a kernel `k`; `body` is indented by four spaces."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    return f"{HEADER}{helpers}{chr(10) if helpers else ''}@intent.kernel\ndef k({parameters}):\n{lines}\n"


def view(name: str, dtype: str, shape: str, direction: str = "In") -> str:
    """`view("x", "f32", "M N")`: numbers are fixed extents."""
    extents = "".join(f"{each}, " if each.isdigit() else f'"{each}", ' for each in shape.split())
    return f"{name}: I.{direction}[I.{dtype}, ({extents.rstrip() if extents else ''})]"


# ---------------------------------------------------------------------------------------------------------- statements
def is_float(array: object) -> bool:
    return isinstance(array, (np.ndarray, np.generic)) and array.dtype.kind not in "biu"


def wide(value: object) -> object:
    """Narrow floats as f64, so that a statement rounds once."""
    return np.asarray(value).astype(np.float64) if is_float(value) else value


def in_f64(function: Statement, *results: str) -> Statement:
    """The function of arrays in double precision, each result rounded to its dtype; integers stay as they are."""

    def statement(*arguments: object, **keywords: object) -> object:
        with np.errstate(all="ignore"):
            found = function(*map(wide, arguments), **keywords)
        parts = found if isinstance(found, tuple) else (found,)
        with np.errstate(all="ignore"):
            return tuple(np.asarray(part).astype(NUMPY_DTYPES[name]) for part, name in zip(parts, results, strict=True))

    return statement


# -------------------------------------------------------------------------------------------------------------- inputs
def numbers(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], low: float, high: float) -> np.ndarray:
    """Random elements of the dtype between two numbers; bool is any."""
    carrier = NUMPY_DTYPES[dtype]
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in FLOATS:
        return rng.uniform(low, high, shape).astype(carrier)
    first = int(max(low, 0 if dtype in UNSIGNED else -100))
    return rng.integers(first, max(int(high), first + 2), shape).astype(carrier)


def operands(dtype: str, shapes: Mapping[str, str], low: float = -4.0, high: float = 4.0) -> Inputs:
    """Inputs by name, all of one dtype: `operands("f32", {"x": "M N"})`."""

    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        return {name: numbers(rng, dtype, extents(shape, case), low, high) for name, shape in shapes.items()}

    return inputs


def extents(shape: str, case: Case) -> tuple[int, ...]:
    return tuple(int(each) if each.isdigit() else int(str(case[each])) for each in shape.split())


def widened(dtype: str) -> str:
    """The dtype in which a sum of this one is taken."""
    narrow = {"i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}
    if dtype in ("f16", "bf16", "f8e4m3fn", "f8e5m2"):
        return "f32"
    return narrow.get(dtype, dtype)


def for_each(dtypes: Iterable[str], legal: Iterable[str], make: Callable[[str], Row]) -> Iterator[Row]:
    """A row per dtype; those that are not legal must be rejected."""
    allowed = set(legal)
    for dtype in dtypes:
        row = make(dtype)
        yield row if dtype in allowed else Row(row.subject, dtype, row.text, legal=False)

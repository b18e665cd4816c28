"""Parameter annotations as values: what `I.In[I.f32, ("M", "N")]` is when a kernel file is imported as ordinary Python.

Only cheap checks are made here; the compiler reads the file's text and never these objects.
"""

from __future__ import annotations

import enum
from typing import Literal

from intent.dtypes import BY_NAME, DType
from intent.records import dataclass

Extent = int | str
Stride = int | str | None


@dataclass(frozen=True, slots=True)
class Constraints:
    """Promises about a view: element strides, membership in an allocation, or freedom from overlap."""

    strides: tuple[Stride, ...] | None = None
    alias: str | None = None
    noalias: bool = False


@dataclass(frozen=True, slots=True)
class ViewAnnotation:
    """`I.In[dtype, shape, constraints]` and its `Out` and `InOut` forms."""

    direction: str
    dtype: DType
    shape: tuple[Extent, ...]
    constraints: Constraints = Constraints()


@dataclass(frozen=True, slots=True)
class ConstexprAnnotation:
    """`I.Constexpr[type]`: bound when the kernel is compiled, absent from every call."""

    value_type: type


@dataclass(frozen=True, slots=True)
class ViewForm:
    """`I.In`, `I.Out` or `I.InOut` before its subscript."""

    direction: Literal["In", "Out", "InOut"]

    def __getitem__(self, arguments: object) -> ViewAnnotation:
        if not isinstance(arguments, tuple) or len(arguments) not in (2, 3):
            raise TypeError(f'I.{self.direction} takes a dtype and a shape: I.{self.direction}[I.f32, ("M", "N")]')
        dtype, shape = arguments[0], arguments[1]
        if not isinstance(dtype, DType):
            raise TypeError(f"the first argument of I.{self.direction} is a dtype such as I.f32, not {dtype!r}")
        if not isinstance(shape, tuple):
            raise TypeError(f"the shape in I.{self.direction} is a tuple such as ('M', 4) or (), not {shape!r}")
        constraints = arguments[2] if len(arguments) == 3 else Constraints()
        if not isinstance(constraints, Constraints):
            raise TypeError(f"the third argument of I.{self.direction} is I.constraints(...), not {constraints!r}")
        return ViewAnnotation(self.direction, dtype, shape, constraints)

    def __call__(self, *_: object, **__: object) -> object:
        raise TypeError(f'I.{self.direction} is an annotation: write x: I.{self.direction}[I.f32, ("M", "N")]')


@dataclass(frozen=True, slots=True)
class ConstexprForm:
    """`I.Constexpr` before its subscript."""

    def __getitem__(self, value_type: object) -> ConstexprAnnotation:
        if isinstance(value_type, DType):
            raise TypeError(f"I.Constexpr takes a Python type (int, float, bool or an I.Enum), not {value_type!r}")
        if not isinstance(value_type, type):
            raise TypeError(f"I.Constexpr takes int, float, bool or an I.Enum, not {value_type!r}")
        return ConstexprAnnotation(value_type)


class Enum(enum.Enum):
    """Base class of compile-time choices: `class Mode(I.Enum): CAUSAL = 0`, annotated `mode: I.Constexpr[Mode]`."""


def constraints(
    *, strides: tuple[Stride, ...] | None = None, alias: str | None = None, noalias: bool = False
) -> Constraints:
    """Promises about a view, as the third argument of its annotation."""
    if alias is not None and noalias:
        raise ValueError("alias and noalias contradict each other: a view cannot share and not share its allocation")
    return Constraints(strides, alias, noalias)


_OTHER_SPELLINGS = {
    "float16": "f16", "half": "f16", "float32": "f32", "float": "f32", "float64": "f64", "double": "f64",
    "bfloat16": "bf16", "int8": "i8", "int16": "i16", "int32": "i32", "int": "i32", "int64": "i64", "long": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "boolean": "bool", "bool_": "bool",
    "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2",
}  # fmt: skip


def canonical_dtype_name(spelling: str) -> str | None:
    """The canonical name behind a Torch, NumPy or Triton spelling (`torch.float32` -> `f32`); None if there is none."""
    last = spelling.rpartition(".")[2].lower()
    return last if last in BY_NAME else _OTHER_SPELLINGS.get(last)


def dtype(name: str) -> DType:
    """The dtype token with this canonical name: `dtype("f32")` is `I.f32`."""
    if isinstance(name, str) and name in BY_NAME:
        return BY_NAME[name]
    meant = canonical_dtype_name(str(name))
    hint = f'write I.dtype("{meant}")' if meant else f"the dtypes are {', '.join(BY_NAME)}"
    error = ValueError if isinstance(name, str) else TypeError
    raise error(f"I.dtype: {name!r} is no dtype of the language; {hint}")

"""What a caller must know of a compiled kernel: its parameters, and how the generated module names things.

Plain data that travels through the disk cache, so that a cached kernel runs without loading the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final, Literal

from intent.records import dataclass

Kind = Literal["In", "Out", "InOut", "scalar"]
Extent = int | str

# NumPy has no such types: arrays of these dtypes may travel as integers of the same width.
CARRIERS: Final[Mapping[str, str]] = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A runtime parameter. `dtype` is the language's name (`f32`), `element` the arrays' (`float32`).

    `shape` holds numbers and symbols. `strides`, in elements, holds numbers, symbols, and None for a free one; it is
    empty if all are free.
    """

    name: str
    kind: Kind
    dtype: str
    element: str
    shape: tuple[Extent, ...] = ()
    strides: tuple[int | str | None, ...] = ()
    alias: str | None = None
    noalias: bool = False

    @property
    def is_view(self) -> bool:
        return self.kind != "scalar"

    @property
    def writable(self) -> bool:
        return self.kind in ("Out", "InOut")

    def __str__(self) -> str:
        if not self.is_view:
            return f"{self.name}: {self.dtype}"
        return f"{self.name}: {self.kind}[{self.dtype}, ({', '.join(map(str, self.shape))})]"


@dataclass(frozen=True)
class Interface:
    """A kernel's name, its runtime parameters in declaration order, and the constexprs it was compiled for.

    Without slots, so that what every call asks for is worked out once.
    """

    name: str
    parameters: tuple[Parameter, ...]
    constants: tuple[tuple[str, bool | int | float | str], ...] = ()

    @cached_property
    def inputs(self) -> tuple[Parameter, ...]:
        """What `run` takes: everything but `Out`."""
        return tuple(parameter for parameter in self.parameters if parameter.kind != "Out")

    @cached_property
    def outputs(self) -> tuple[Parameter, ...]:
        """What `run` returns."""
        return tuple(parameter for parameter in self.parameters if parameter.kind == "Out")

    @cached_property
    def output_symbols(self) -> tuple[str, ...]:
        """Extents that only an `Out` has: `run` and `prepare` take them as keywords."""
        known = {extent for parameter in self.inputs for extent in parameter.shape}
        return tuple(
            dict.fromkeys(
                extent
                for parameter in self.outputs
                for extent in parameter.shape
                if isinstance(extent, str) and extent not in known
            )
        )

    @cached_property
    def size_keywords(self) -> dict[str, str]:
        """The keyword for each of these extents; one that is also a parameter's name gives way."""
        taken = {parameter.name for parameter in self.parameters}
        return {symbol: f"{symbol}_2" if symbol in taken else symbol for symbol in self.output_symbols}

    def __str__(self) -> str:
        constants = "".join(f"; {name} = {value}" for name, value in self.constants)
        return f"{self.name}({', '.join(map(str, self.parameters))}{constants})"


@dataclass(frozen=True, slots=True)
class ModuleFunctions:
    """Names in the generated module: the four public functions, and their keywords for the symbols of extents."""

    host: str
    host_out: str
    device: str
    device_out: str
    sizes: Mapping[str, str]

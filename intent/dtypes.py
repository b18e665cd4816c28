"""The scalar types of the language. Imports nothing, so that every layer may use them."""

from __future__ import annotations

from typing import Literal

from intent.records import dataclass

Kind = Literal["bool", "index", "signed", "unsigned", "float"]


@dataclass(frozen=True, slots=True)
class DType:
    """A scalar type: its canonical name (``f32``), kind, and width in bits.

    ``index`` is a signed 64-bit logical coordinate; it never mixes with ``i64`` without a cast.
    ``bool`` has a width of 8: it is stored as one byte.
    """

    name: str
    kind: Kind
    bits: int

    def __repr__(self) -> str:
        return f"I.{self.name}"

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Signed, unsigned, or index; not bool."""
        return self.kind in ("signed", "unsigned", "index")

    @property
    def is_signed(self) -> bool:
        return self.kind in ("signed", "index")

    @property
    def element(self) -> str:
        """What NumPy and torch call the elements of arrays of this type."""
        return _ELEMENTS.get(self.name) or f"{_FAMILIES[self.kind]}{self.bits}"

    @property
    def bytes(self) -> int:
        return self.bits // 8


_FAMILIES = {"index": "int", "signed": "int", "unsigned": "uint", "float": "float"}
_ELEMENTS = {"bool": "bool", "bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}

boolean = DType("bool", "bool", 8)
index = DType("index", "index", 64)
i8, i16, i32, i64 = (DType(f"i{bits}", "signed", bits) for bits in (8, 16, 32, 64))
u8, u16, u32, u64 = (DType(f"u{bits}", "unsigned", bits) for bits in (8, 16, 32, 64))
f16, f32, f64 = (DType(f"f{bits}", "float", bits) for bits in (16, 32, 64))
bf16 = DType("bf16", "float", 16)
f8e4m3fn = DType("f8e4m3fn", "float", 8)
f8e5m2 = DType("f8e5m2", "float", 8)

ALL: tuple[DType, ...] = (
    boolean, index, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, f8e4m3fn, f8e5m2,
)  # fmt: skip
BY_NAME: dict[str, DType] = {dtype.name: dtype for dtype in ALL}

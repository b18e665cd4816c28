"""Constants, casts and bit reinterpretations in Triton."""

from __future__ import annotations

import math
import struct

from intent.dtypes import DType, bf16, f8e4m3fn, f8e5m2, f16, f32, f64, i8, i32
from translators.printing.python_text import ATOM, UNARY
from translators.triton_source.expressions import Code, Emitted, binary, call, method

TRITON_NAME = {
    "bool": "tl.int1", "index": "tl.int64", "i8": "tl.int8", "i16": "tl.int16", "i32": "tl.int32", "i64": "tl.int64",
    "u8": "tl.uint8", "u16": "tl.uint16", "u32": "tl.uint32", "u64": "tl.uint64", "f16": "tl.float16",
    "bf16": "tl.bfloat16", "f32": "tl.float32", "f64": "tl.float64", "f8e4m3fn": "tl.uint8",
    "f8e5m2": "tl.uint8",
}  # fmt: skip
"""How each dtype is written. `index` lanes may also be tl.int32 where the planner proves that they fit. A float of
eight bits is the byte of its bits: not every target has such types, and none reduces or scans them."""

_FROM_FLOAT8 = {f8e4m3fn: "_from_float8e4m3fn", f8e5m2: "_from_float8e5m2"}
_TO_NARROW = {bf16: "_to_bfloat16", f8e4m3fn: "_to_float8e4m3fn", f8e5m2: "_to_float8e5m2"}
_SMALLEST_NORMAL_F32 = 2.0**-126
_LARGEST_F32 = 2.0**128 - 2.0**104


# ------------------------------------------------------------------------------------------------------------ constants
def constant(value: bool | int | float, dtype: DType) -> Code:
    """A scalar constant as a literal, rounded to the dtype. `beside`, `as_argument` and `typed` make it an operand."""
    if dtype.kind == "bool":
        return _literal(bool(value))
    if dtype.is_integer:
        return _literal(int(value))
    rounded = _rounded(float(value), dtype)
    return _literal(rounded, _shortest_f32(rounded) if dtype == f32 else "")


def _shortest_f32(value: float) -> str:
    """The shortest decimal that rounds to a float32 value: 0.044715 for 0.044714998453855515.

    It stays among the numbers that Triton makes a float32 of: no larger than the largest, no smaller than a normal one.
    """
    decimals = (float(f"{value:.{count}g}") for count in range(1, 10))
    return next((repr(each) for each in decimals if _same_f32(each, value)), repr(value))


def _same_f32(decimal: float, value: float) -> bool:
    is_normal = _SMALLEST_NORMAL_F32 <= abs(decimal) <= _LARGEST_F32
    return _packed(decimal, "f") == value and (is_normal or decimal == value)


def _literal(value: bool | int | float, spelling: str = "") -> Code:
    """Infinity and NaN have no literal and are spelled as in hand-written kernels."""
    text = (spelling or repr(value)).replace("e+", "e")
    if isinstance(value, float) and not math.isfinite(value):
        text = f'{"-" if value < 0 else ""}float("{"nan" if math.isnan(value) else "inf"}")'
    return Code(text, UNARY if text.startswith("-") else ATOM, value)


def _rounded(value: float, dtype: DType) -> float:
    """The nearest value of the dtype, ties to even."""
    if dtype in _FROM_FLOAT8 and math.isfinite(value):
        code = _float8_bits(value, dtype)
        return math.copysign(_float8_value(code & 0x7F, dtype), value)
    if dtype == f16:
        return _packed(value, "e")
    if dtype not in (f32, bf16):
        return value
    single = _packed(value, "f")
    if dtype == f32 or not math.isfinite(single):
        return single
    bits: int = struct.unpack("<I", struct.pack("<f", single))[0]
    return float(struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0])


def _packed(value: float, code: str) -> float:
    try:
        return float(struct.unpack(f"<{code}", struct.pack(f"<{code}", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _is_negative_zero(code: Code) -> bool:
    return code.value is not None and code.value == 0 and math.copysign(1.0, code.value) < 0


def _lacks_constants(dtype: DType) -> bool:
    """Types of which the CPU interpreter, or Triton itself, makes no constant from a Python number."""
    return dtype == bf16 or dtype in _FROM_FLOAT8


def typed(code: Code, dtype: DType) -> Code:
    """A literal as a 0-d value of the dtype; any other code unchanged."""
    if code.value is None:
        return code
    name = TRITON_NAME[dtype.name]
    if _is_negative_zero(code) or dtype in _FROM_FLOAT8:  # Triton builds every constant zero as +0.0
        pattern = _float8_bits(code.value, dtype) if dtype in _FROM_FLOAT8 else 1 << (dtype.bits - 1)
        return reinterpreted(Code(f"tl.full((), {pattern:#x}, tl.uint{dtype.bits})"), f"tl.uint{dtype.bits}", name)
    if _lacks_constants(dtype):
        return method(Code(f"tl.full((), {code.text}, tl.float32)"), "to", name)
    return Code(f"tl.full((), {code.text}, {name})")


def filled(value: bool | int | float, dtype: DType, shape: str) -> Code:
    """A tile of one constant."""
    code, name = constant(value, dtype), TRITON_NAME[dtype.name]
    if _is_negative_zero(code) or dtype in _FROM_FLOAT8:
        return call("tl.broadcast_to", typed(code, dtype), Code(shape))
    made_in = "tl.float32" if _lacks_constants(dtype) else name
    tile = (
        call("tl.zeros", Code(shape), Code(made_in))
        if value == 0
        else call("tl.full", Code(shape), code, Code(made_in))
    )
    return method(tile, "to", name) if _lacks_constants(dtype) else tile


def passed_as(dtype: DType) -> DType:
    """The type in which a scalar is passed: launches have no floats of eight bits, and refuse a negative int8."""
    if dtype == i8:
        return i32
    return f32 if dtype in _FROM_FLOAT8 else dtype


def scalar_parameter(code: Code, dtype: DType) -> Emitted:
    """A scalar parameter as a value of its dtype, whatever the CPU interpreter passes for it."""
    if dtype.kind == "bool":
        return Emitted(binary("!=", code, Code("0")))
    if not dtype.is_float:
        return Emitted(to(code, dtype))
    if _lacks_constants(dtype):
        return narrow(Code(f"tl.full((), {code.text}, tl.float32)"), dtype)
    return Emitted(Code(f"tl.full((), {code.text}, {TRITON_NAME[dtype.name]})"))


def _float8_bits(value: float, dtype: DType) -> int:
    """The code of the nearest value, ties to the even code. Both types order their finite codes by value."""
    sign = 0x80 if math.copysign(1.0, value) < 0 else 0
    if math.isnan(value):
        return 0x7F
    largest = 0x7E if dtype == f8e4m3fn else 0x7C  # e5m2 rounds to infinity, one step above its last finite code
    if math.isinf(value):
        return sign | largest
    return sign | min(range(largest + 1), key=lambda code: (abs(_float8_step(code, dtype) - abs(value)), code & 1))


def _float8_value(code: int, dtype: DType) -> float:
    return math.inf if dtype == f8e5m2 and code == 0x7C else _float8_step(code, dtype)


def _float8_step(code: int, dtype: DType) -> float:
    """The value of a code as if infinity were one step more."""
    bits, bias = (3, 7) if dtype == f8e4m3fn else (2, 15)
    exponent, fraction = code >> bits, code & ((1 << bits) - 1)
    significand = fraction + (1 << bits if exponent else 0)
    return math.ldexp(significand, max(exponent, 1) - bias - bits)


def beside(code: Code, dtype: DType) -> Code:
    """A literal next to an operand of the dtype in an operator: Triton gives it that dtype, exactly."""
    return typed(code, dtype) if _is_negative_zero(code) or _lacks_constants(dtype) else code


def alone(code: Code, dtype: DType) -> Code:
    """A literal with nothing beside it that has the dtype: Triton makes it int32 or float32 if it fits, else wider."""
    if code.value is None or dtype.kind == "bool" or (dtype in (i32, f32) and not _misread(code, dtype)):
        return code
    return typed(code, dtype)


def as_argument(code: Code, dtype: DType) -> Code:
    """A literal as an argument of a function next to one that has the dtype. It is read as if alone and then promoted,
    which leaves float64 values that float32 holds as they are."""
    return code if dtype == f64 and not _misread(code, dtype) else alone(code, dtype)


def as_access(code: Code, dtype: DType) -> Code:
    """A literal that a load gives to masked lanes, or that is stored: either converts it to the type of the memory."""
    value = code.value
    if value is None:
        return code
    if dtype in _FROM_FLOAT8:
        pattern = _float8_bits(value, dtype)
        return Code(f"{pattern:#x}" if pattern else "0")
    if isinstance(value, float) and _misread(code, f64):
        return typed(code, dtype)
    return code if isinstance(value, float) or -(1 << 31) <= value < 1 << 31 else typed(code, dtype)


def _misread(code: Code, dtype: DType) -> bool:
    """Whether Triton, making a bare literal of this i32, f32 or f64 value, would change its value or widen it."""
    value = code.value
    if not isinstance(value, float) or not math.isfinite(value):
        return False
    subnormal = abs(value) < _SMALLEST_NORMAL_F32 and value != 0
    return _is_negative_zero(code) or subnormal or (dtype == f64 and _packed(value, "f") != value)


# ---------------------------------------------------------------------------------------------------------------- casts
def to(code: Code, dtype: DType) -> Code:
    return method(code, "to", TRITON_NAME[dtype.name])


def widen(code: Code, source: DType) -> Emitted:
    """A float narrower than 32 bits in float32, exactly; a wider one unchanged."""
    if code.value is not None or source.bits >= 32:
        return Emitted(code)
    if source in _FROM_FLOAT8:
        name = _FROM_FLOAT8[source]
        return Emitted(to(call(name, code), f32), frozenset({name}))
    return Emitted(to(code, f32))


def narrow(code: Code, target: DType, exact: bool = False) -> Emitted:
    """A float32 value rounded to the target. `exact`: the target has the value, so that nothing is rounded."""
    if target == f32:
        return Emitted(code)
    if target in _TO_NARROW and not (exact and target == bf16):
        name = _TO_NARROW[target]
        return Emitted(call(name, code), frozenset({name}))
    return Emitted(to(code, target))


def cast(code: Code, source: DType, target: DType) -> Emitted:
    """Numeric conversion (language.md section 3)."""
    if source == target:
        return Emitted(code)
    code = typed(code, source)
    if target.kind == "bool":
        return _to_bool(code, source)
    if target.is_float:
        return _float_to_float(code, source, target) if source.is_float else _integer_to_float(code, source, target)
    operand = widen(code, source) if source in _FROM_FLOAT8 else Emitted(code)
    return Emitted(to(operand.code, target), operand.helpers)


def _to_bool(code: Code, source: DType) -> Emitted:
    operand = widen(code, source) if source.is_float and source.bits < 32 else Emitted(code)
    return Emitted(binary("!=", operand.code, _literal(0.0 if source.is_float else 0)), operand.helpers)


def _float_to_float(code: Code, source: DType, target: DType) -> Emitted:
    if source == f64:
        return _from_float64(code, target)
    if target == f64 and source not in _FROM_FLOAT8:
        return Emitted(to(code, target))
    if source in _FROM_FLOAT8 and target == f16:
        name = _FROM_FLOAT8[source]
        return Emitted(call(name, code), frozenset({name}))
    wide = widen(code, source)
    result = Emitted(to(wide.code, f64)) if target == f64 else narrow(wide.code, target, exact=source.bits == 8)
    return Emitted(result.code, wide.helpers | result.helpers)


def _from_float64(code: Code, target: DType) -> Emitted:
    if target in (f32, f16, f64):  # one instruction, one rounding
        return Emitted(code if target == f64 else to(code, target))
    result = narrow(call("_round_to_odd", code), target)
    return Emitted(result.code, result.helpers | {"_round_to_odd"})


def _integer_to_float(code: Code, source: DType, target: DType) -> Emitted:
    """Float32 holds every integer that f16 and the f8 types can, but rounds some that bf16 can tell apart."""
    if target in (f32, f64) or (target == f16 and source.bits <= 16 and source.kind != "bool"):
        return Emitted(to(code, target))
    if target != bf16 or source.bits <= 16:
        return narrow(to(code, f32), target)
    if source.bits == 32:
        return _from_float64(to(code, f64), target)
    result = _from_float64(call("_integer_to_float64", code), target)
    return Emitted(result.code, result.helpers | {"_integer_to_float64"})


def bitcast(code: Code, source: DType, target: DType) -> Emitted:
    """The same bits as another type of the same width."""
    if source == target:
        return Emitted(code)
    return Emitted(reinterpreted(typed(code, source), TRITON_NAME[source.name], TRITON_NAME[target.name]))


def reinterpreted(code: Code, source: str, target: str) -> Code:
    """The same bits as another of Triton's types, which may be the same one for two of the language's."""
    return code if source == target else method(code, "to", target, "bitcast=True")

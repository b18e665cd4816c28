"""Conversions: which of them lose nothing, and what two in a row amount to."""

from __future__ import annotations

import math
import struct

from intent.dtypes import DType, boolean, i64, index
from translators.algebra.polynomial import maximum, minimum, number, product
from translators.comparison.conditions import negated
from translators.comparison.terms import Term, constant, integer, pointwise, raw

SIGNIFICANT = {"f8e4m3fn": 4, "f8e5m2": 3, "f16": 11, "bf16": 8, "f32": 24, "f64": 53}  # bits of a significand
EXPONENT = {"f8e4m3fn": 4, "f8e5m2": 5, "f16": 5, "bf16": 8, "f32": 8, "f64": 11}  # bits of an exponent
FORMATS = {"f16": "e", "f32": "f", "f64": "d"}


def cast(operand: Term, target: DType) -> Term:
    source = operand.dtype
    if source == target:
        return operand
    known = _literal(operand, target)
    if known is not None:
        return known
    if operand.operation == "cast":
        merged = _merged(operand.operands[0], source, target)
        if merged is not None:
            return merged
    if source.is_float and target == index:  # a coordinate has 64 bits
        return _coordinate(cast(operand, i64))
    if source == i64 and target == index:
        return _coordinate(operand)
    if operand.operation == "select" and operand.operands[2].operation == "constant" and target != index:
        condition, true, false = operand.operands
        return raw("select", target, (condition, cast(true, target), cast(false, target)))
    if target == boolean:
        return _nonzero(operand)
    made = raw("cast", target, (operand,))
    return integer(made.polynomial) if target == index else made


def narrowed(function: str, dtype: DType, left: Term, right: Term) -> tuple[DType, Term, Term] | None:
    """Operands in the type that both were extended from, where an operation on bits commutes with the extension."""
    source = next((each.operands[0].dtype for each in (left, right) if each.operation == "cast"), None)
    if (
        source is None
        or not (_is_whole(source) and _is_whole(dtype) and exact(source, dtype))
        or index in (source, dtype)
    ):
        return None
    first, second = (_before_extension(each, source, function == "and") for each in (left, right))
    if function == "shift_right":
        count = right.detail[0] if right.operation == "constant" else None
        second = constant(source, count) if isinstance(count, int) and 0 <= count < source.bits else None
    return (source, first, second) if first is not None and second is not None else None


def _before_extension(operand: Term, source: DType, masking: bool) -> Term | None:
    """What was extended. Of a mask for what is never negative, the bits that the narrower type has are enough."""
    if operand.operation == "cast":
        return operand.operands[0] if operand.operands[0].dtype == source else None
    value = operand.detail[0] if operand.operation == "constant" else None
    if not isinstance(value, int):
        return None
    low = wrapped(source, value)
    return constant(source, low) if low == value or (masking and not source.is_signed) else None


def _coordinate(operand: Term) -> Term:
    """Arithmetic of i64 as that of coordinates: both have 64 bits."""
    match operand.function, operand.operands:
        case "add", terms:
            return integer(sum((cast(term, index).polynomial for term in terms), number(0)))
        case "multiply", terms:
            return integer(product(cast(term, index).polynomial for term in terms))
        case "negative", (term,):
            return integer(-cast(term, index).polynomial)
        case "maximum" | "minimum" as function, terms:
            choose = maximum if function == "maximum" else minimum
            return integer(choose(*(cast(term, index).polynomial for term in terms)))
        case "", (extent, body) if operand.operation == "reduce" and operand.detail[:3] == ("sum", 0, 1):
            made = raw("reduce", index, (extent, cast(body, index)), operand.detail)
            return integer(made.polynomial)
        case _:
            pass
    if operand.operation == "select":
        condition, true, false = operand.operands
        return raw("select", index, (condition, cast(true, index), cast(false, index)))
    return raw("cast", index, (operand,))


def _merged(inner: Term, middle: DType, target: DType) -> Term | None:
    """One conversion for two, if the first loses nothing, or the second only takes back what the first added."""
    if exact(inner.dtype, middle):
        return cast(inner, target)
    if middle != boolean and _is_whole(inner.dtype) and _is_whole(middle) and _is_whole(target):
        return cast(inner, target) if target.bits <= middle.bits else None  # modulo a power of two
    return None


def _nonzero(operand: Term) -> Term:
    if operand.dtype == index:
        return negated(pointwise("equal", boolean, *_ordered(operand, integer(0))))
    return negated(pointwise("equal", boolean, *_ordered(operand, constant(operand.dtype, 0))))


def _ordered(left: Term, right: Term) -> tuple[Term, Term]:
    if left.dtype == index:
        return left, right
    return (left, right) if left.key <= right.key else (right, left)


def exact(source: DType, target: DType) -> bool:
    """Every value of the source is one of the target."""
    if source == target:
        return True
    if source == boolean:
        return True
    if source.is_float:
        wider = target.is_float and SIGNIFICANT[target.name] >= SIGNIFICANT[source.name]
        return wider and EXPONENT[target.name] >= EXPONENT[source.name]
    if target.is_float:
        return source.bits - source.is_signed <= SIGNIFICANT[target.name] and target.name not in ("f16", "f8e4m3fn")
    if target == boolean:
        return False
    if source.is_signed == target.is_signed:
        return source.bits <= target.bits
    return not source.is_signed and source.bits < target.bits


def _is_whole(dtype: DType) -> bool:
    return dtype.is_integer


def _literal(operand: Term, target: DType) -> Term | None:
    """The constant converted; None if it is no constant, or Python has not got the type."""
    value = operand.polynomial.constant if operand.dtype == index else None
    if operand.operation == "constant":
        (value,) = operand.detail  # type: ignore[assignment]
    if value is None:
        return None
    if target.is_float:
        rounded_value = rounded(target, float(value))
        return constant(target, rounded_value) if rounded_value is not None else None
    if isinstance(value, float) and not (math.isfinite(value) and abs(value) < 2**31):
        return None
    if target == boolean:
        return constant(boolean, value != 0)
    return constant(target, wrapped(target, int(value)))


def wrapped(dtype: DType, value: int) -> int:
    """Modulo the width of the type."""
    low = value % (1 << dtype.bits)
    return low - (1 << dtype.bits) if dtype.is_signed and low >> (dtype.bits - 1) else low


def rounded(dtype: DType, value: float) -> float | None:
    """The nearest value of the type; None for a type that Python cannot round to."""
    if not math.isfinite(value):
        return value
    if dtype.name == "bf16":
        return _bfloat16(value)
    form = FORMATS.get(dtype.name)
    if form is None:
        return None
    try:
        (made,) = struct.unpack(form, struct.pack(form, value))
    except OverflowError:
        return math.copysign(math.inf, value)
    assert isinstance(made, float)
    return made


def _bfloat16(value: float) -> float | None:
    """Exact where f32 is exact; a value that f32 rounds first may be rounded twice, so it is left alone."""
    try:
        (bits,) = struct.unpack("I", struct.pack("f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    (single,) = struct.unpack("f", struct.pack("I", bits))
    if single != value:
        return None
    (made,) = struct.unpack("f", struct.pack("I", (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000))
    assert isinstance(made, float)
    return made

"""How each pointwise function of the language is spelled in Triton.

In come operands as text; out goes text plus the names of the device functions it calls (`device_functions.HELPERS`).
The spelling is right on CUDA, on HIP and in the CPU interpreter: half and quarter types are computed in float32 and
rounded after each operation, float32 keeps subnormals, integer division rounds down.
"""

from __future__ import annotations

from collections.abc import Sequence

from intent.dtypes import DType, f16, f32, f64
from intent.records import dataclass
from translators.triton_source.conversions import alone, as_argument, beside, constant, narrow, to, typed, widen
from translators.triton_source.expressions import Code, Emitted, binary, call, unary

_OPERATOR = {
    "add": "+", "subtract": "-", "multiply": "*", "and": "&", "or": "|", "xor": "^", "shift_left": "<<",
    "shift_right": ">>", "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">",
    "greater_equal": ">=",
}  # fmt: skip
# Functions whose result is an operand or exactly representable whenever the operands are: narrowing rounds nothing.
_EXACT = frozenset({"negative", "abs", "floor", "maximum", "minimum", "maximum_num", "minimum_num"})

# Of float16 operands float32 has enough bits for these results that rounding twice is rounding once.
_ROUNDED_ONCE = frozenset({"add", "subtract", "multiply"})

# Where no plain tl function meets the bounds: the device function. In float64, tl functions lower to accurate routines.
_SINGLE = {
    "exp": "_exp", "exp2": "_exp2", "log": "tl.log", "log1p": "_log1p", "sin": "_sin", "cos": "tl.cos", "asin": "_asin",
    "erf": "_erf", "erfc": "_erfc", "rsqrt": "_rsqrt", "sqrt": "tl.sqrt_rn", "sigmoid": "_sigmoid", "tanh": "_tanh",
    "floor": "_floor", "abs": "tl.abs",
}  # fmt: skip
_DOUBLE = {
    "exp": "tl.exp", "exp2": "tl.exp2", "log": "tl.log", "log1p": "_log1p", "lgamma": "_lgamma", "sin": "tl.sin",
    "cos": "tl.cos", "asin": "_asin_double", "erf": "tl.erf", "erfc": "_erfc_double", "i0": "_i0", "sqrt": "tl.sqrt",
    "sigmoid": "_sigmoid_double", "tanh": "_tanh_double", "floor": "tl.floor", "abs": "tl.abs",
    "power": "_power_double",
}  # fmt: skip
# Rare functions whose float32 form is a float64 routine.
_SINGLE_THROUGH_DOUBLE = {"lgamma": "_lgamma", "i0": "_i0", "power": "_power"}
# Results that are rounded to 16 or 8 bits hide errors of a few float32 ulps.
_NARROW = {"exp": "tl.exp", "sigmoid": "_sigmoid_fast", "tanh": "_tanh_fast"}
# Float16 is far from the subnormals of float32, which these flush.
_HALF = _NARROW | {"exp2": "tl.exp2", "sin": "tl.sin", "erf": "tl.erf", "rsqrt": "tl.rsqrt", "floor": "tl.floor"}


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the author allows or the planner has proven.

    `approximate`, `flush_to_zero`: as the author wrote. `nonnegative`: all integer operands are >= 0. `nonpositive`: a
    float argument is <= 0 and the result feeds a normalisation. `fusible`: an operand is a product, which an
    instruction could add to the other without rounding it.
    """

    approximate: bool = False
    flush_to_zero: bool = False
    nonnegative: bool = False
    nonpositive: bool = False
    fusible: bool = False


NOTHING_SPECIAL = Permissions()


def pointwise(
    function: str,
    dtype: DType,
    result: DType,
    arguments: Sequence[Code],
    permissions: Permissions = NOTHING_SPECIAL,
) -> Emitted:
    """`function` of operands of type `dtype`: tiles, 0-d values or literals."""
    if not dtype.is_float:
        return _integer(function, dtype, arguments, permissions)
    if dtype in (f32, f64):
        return _float(function, dtype, arguments, permissions)
    return _through_float32(function, dtype, result, arguments, permissions)


def select(condition: Code, true: Code, false: Code, dtype: DType) -> Code:
    """`true` where the condition holds, else `false`; both sides have the dtype."""
    if true.value is not None and false.value is not None:
        return call("tl.where", condition, alone(true, dtype), alone(false, dtype))
    return call("tl.where", condition, beside(true, dtype), beside(false, dtype))


def _emit(function: str, *arguments: Code) -> Emitted:
    """A call of a tl function or of a device function, which is then noted."""
    return Emitted(call(function, *arguments), frozenset({function}) if function.startswith("_") else frozenset())


def _operator(symbol: str, dtype: DType, arguments: Sequence[Code]) -> Emitted:
    left, right = (beside(argument, dtype) for argument in arguments)
    if left.value is not None and right.value is not None:
        left = typed(left, dtype)
    return Emitted(binary(symbol, left, right))


def _maximum(function: str, dtype: DType, arguments: Sequence[Code]) -> Emitted:
    """maximum, minimum and their _num forms: tl.maximum leaves open what happens to NaN."""
    operands = [as_argument(argument, dtype) for argument in arguments]
    name = function.removesuffix("_num")
    if function.endswith("_num") and dtype.is_float:
        return _emit(f"_{name}_number", *operands)
    if dtype.is_float:
        return _emit(f"_{name}", *operands)
    return Emitted(call(f"tl.{name}", *operands))


# ------------------------------------------------------------------------------------------------------------- integers
def _integer(function: str, dtype: DType, arguments: Sequence[Code], permissions: Permissions) -> Emitted:
    if dtype.kind == "bool" and function in ("equal", "not_equal") and len(_literals(arguments)) == 1:
        return Emitted(_compared_with_truth(function, arguments))
    if function in _OPERATOR:
        return _operator(_OPERATOR[function], dtype, arguments)
    match function:
        case "floor_divide" | "remainder":
            return _divide_integers(function, dtype, arguments, permissions)
        case "power":
            return _integer_power(dtype, arguments)
        case "maximum" | "minimum" | "maximum_num" | "minimum_num":
            return _extreme_of_integers(function, dtype, arguments)
        case "negative":
            return Emitted(unary("-", typed(arguments[0], dtype)))
        case "abs":
            return Emitted(call("tl.abs", typed(arguments[0], dtype)) if dtype.is_signed else arguments[0])
        case "not" | "invert":
            return Emitted(_invert(dtype, typed(arguments[0], dtype)))
    raise ValueError(f"no integer function {function}")


def _literals(arguments: Sequence[Code]) -> list[Code]:
    return [argument for argument in arguments if argument.value is not None]


def _compared_with_truth(function: str, arguments: Sequence[Code]) -> Code:
    """`x == True` is x."""
    (literal,) = _literals(arguments)
    condition = next(argument for argument in arguments if argument.value is None)
    keeps = bool(literal.value) == (function == "equal")
    return condition if keeps else binary("^", condition, Code("True", value=True))


def _extreme_of_integers(function: str, dtype: DType, arguments: Sequence[Code]) -> Emitted:
    if dtype.kind == "bool":
        return _operator("|" if function.startswith("maximum") else "&", dtype, arguments)
    return _maximum(function, dtype, arguments)


def _divide_integers(function: str, dtype: DType, arguments: Sequence[Code], permissions: Permissions) -> Emitted:
    """Triton's signed // and % truncate; the language rounds down. Without negative operands they agree."""
    if permissions.nonnegative or not dtype.is_signed:
        return _operator("//" if function == "floor_divide" else "%", dtype, arguments)
    name = "_floor_divide" if function == "floor_divide" else "_floor_remainder"
    return _emit(name, *(typed(argument, dtype) for argument in arguments))


def _integer_power(dtype: DType, arguments: Sequence[Code]) -> Emitted:
    base, exponent = (typed(arguments[0], dtype), arguments[1])
    if exponent.value == 2 and base.text.isidentifier():
        return Emitted(binary("*", base, base))
    return _emit("_integer_power", base, typed(exponent, dtype))


def _invert(dtype: DType, operand: Code) -> Code:
    if dtype.kind == "unsigned":  # ~ of an unsigned value fails in the CPU interpreter
        return binary("^", operand, constant((1 << dtype.bits) - 1, dtype))
    return unary("~", operand)


# --------------------------------------------------------------------------------------------------------------- floats
def _float(function: str, dtype: DType, arguments: Sequence[Code], permissions: Permissions) -> Emitted:
    if function in _OPERATOR:
        return _operator(_OPERATOR[function], dtype, arguments)
    match function:
        case "divide":
            return _divide(dtype, arguments, permissions)
        case "negative":  # unary minus subtracts from 0.0 and loses the sign of zero
            return Emitted(binary("*", typed(arguments[0], dtype), constant(-1.0, dtype)))
        case "maximum" | "minimum" | "maximum_num" | "minimum_num":
            return _maximum(function, dtype, arguments)
        case "floor_divide":
            return _emit("_floor" if dtype == f32 else "tl.floor", _divide(dtype, arguments, permissions).code)
        case "power" if arguments[1].value == 2.0 and arguments[0].text.isidentifier():
            return Emitted(binary("*", arguments[0], arguments[0]))
        case "rsqrt" if dtype == f64:
            return Emitted(binary("/", constant(1.0, dtype), call("tl.sqrt", typed(arguments[0], dtype))))
    operands = [typed(argument, dtype) for argument in arguments]
    if dtype == f64:
        return _emit(_DOUBLE[function], *operands)
    if function in _SINGLE_THROUGH_DOUBLE:
        wide = _emit(_SINGLE_THROUGH_DOUBLE[function], *(to(operand, f64) for operand in operands))
        return Emitted(to(wide.code, f32), wide.helpers)
    return _emit(_single(function, permissions), *operands)


def _single(function: str, permissions: Permissions) -> str:
    """The float32 routine, or a fast one that the permissions allow."""
    if function == "exp" and permissions.nonpositive:
        return "tl.exp"
    if function == "exp2" and (permissions.nonpositive or (permissions.approximate and permissions.flush_to_zero)):
        return "tl.exp2"
    if function == "tanh" and permissions.approximate:
        return "_tanh_fast"
    return _SINGLE[function]


def _divide(dtype: DType, arguments: Sequence[Code], permissions: Permissions) -> Emitted:
    """`/` is exact in float64; in float32 it is the two-ulp division on CUDA."""
    if dtype == f64 or permissions.approximate:
        return _operator("/", dtype, arguments)
    return _emit("tl.div_rn", *(as_argument(argument, dtype) for argument in arguments))


def half_quotient(dividend: Code, divisor: Code) -> Emitted:
    """A float32 quotient that is rounded to float16 next, of many dividends and one divisor."""
    return _emit("_half_quotient", dividend, divisor)


# ----------------------------------------------------------------------------------------------- half and quarter types
def _through_float32(
    function: str, dtype: DType, result: DType, arguments: Sequence[Code], permissions: Permissions
) -> Emitted:
    """Compute in float32, round once. Of float16 that is what its own sums, differences and products are."""
    if dtype == f16 and function in _ROUNDED_ONCE and not permissions.fusible:
        return _operator(_OPERATOR[function], dtype, arguments)
    operands = [widen(argument, dtype) for argument in arguments]
    codes = [operand.code for operand in operands]
    fast = (_HALF if dtype == f16 else _NARROW).get(function)
    computed = _emit(fast, typed(codes[0], f32)) if fast else _float(function, f32, codes, permissions)
    helpers = computed.helpers.union(*(operand.helpers for operand in operands))
    if result.kind == "bool":
        return Emitted(computed.code, helpers)
    rounded = narrow(computed.code, dtype, exact=function in _EXACT)
    return Emitted(rounded.code, helpers | rounded.helpers)

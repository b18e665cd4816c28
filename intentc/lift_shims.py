"""What Triton's interpreter lacks, for running original kernels: casts of plain numbers, and the device library.

Imported only within the process that runs a verification, beside a sliced kernel.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime.interpreter import TensorHandle


def to(value: Any, *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401 - whatever a kernel has
    """`value.to(...)`, also of a plain number."""
    return _tensor(value).to(*arguments, **keywords)


def value(known: Any) -> Any:  # noqa: ANN401
    """`known.value`: what is known when a kernel is compiled is a plain value here."""
    return getattr(known, "value", known)


def both(left: Any, right: Callable[[], Any]) -> Any:  # noqa: ANN401
    """`left and right`, lane by lane if either is a tensor."""
    if isinstance(left, tl.tensor):
        return left.logical_and(_tensor(right()))
    if not left:
        return left
    return right()


def either(left: Any, right: Callable[[], Any]) -> Any:  # noqa: ANN401
    """`left or right`, lane by lane if either is a tensor."""
    if isinstance(left, tl.tensor):
        return left.logical_or(_tensor(right()))
    return left or right()


def power(left: Any, right: Any) -> Any:  # noqa: ANN401
    """`left ** right`, lane by lane if either is a tensor."""
    if isinstance(left, tl.tensor) or isinstance(right, tl.tensor):
        return globals()["pow"](left, right)
    return left**right


def negation(operand: Any) -> Any:  # noqa: ANN401
    """`not operand`, lane by lane if it is a tensor."""
    return operand == 0 if isinstance(operand, tl.tensor) else not operand


def histogram(input: Any, num_bins: Any, mask: Any = None) -> Any:  # noqa: ANN401 - Triton's names
    """Values outside the bins, of which Triton says nothing, count nowhere; its interpreter counts the one that is next
    to the last bin in that.
    """
    values, bins = _tensor(input), value(num_bins)
    within = (values >= 0) & (values < bins)
    return tl.histogram(values, bins, within if mask is None else within & mask)


def _tensor(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, tl.constexpr):
        value = value.value
    if isinstance(value, bool | int | float):
        dtype, kind = (tl.float32, np.float32) if isinstance(value, float) else (tl.int32, np.int32)
        return tl.tensor(TensorHandle(np.array([value], dtype=kind), dtype), dtype)
    return value


def _elementwise(function: Callable[..., Any], result: tl.dtype | None = None) -> Callable[..., Any]:
    def shim(*operands: Any) -> Any:  # noqa: ANN401
        tensors = [_tensor(each) for each in operands]
        dtype = result or builtins.max(tensors, key=lambda each: each.dtype.primitive_bitwidth).dtype
        arrays = [each.handle.data for each in tensors]
        arrays = [each.astype(np.float64) if each.dtype.kind == "f" else each for each in arrays]
        with np.errstate(all="ignore"):
            made = np.asarray(function(*arrays))
        kept = made.astype(
            np.bool_ if dtype == tl.int1 else tensors[0].handle.data.dtype if result is None else np.int32
        )
        shape = builtins.max((each.shape for each in tensors), key=len)
        block = tl.block_type(dtype, list(shape)) if len(shape) else dtype
        return tl.tensor(TensorHandle(kept, dtype), block)

    return shim


_FLOATS: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(10.0, x), "expm1": np.expm1, "log": np.log,
    "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "pow": np.power, "fmod": np.fmod, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint, "abs": np.abs, "fabs": np.abs, "hypot": np.hypot,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "erf": np.vectorize(math.erf, otypes=[float]),
    "erfc": np.vectorize(math.erfc, otypes=[float]), "lgamma": np.vectorize(math.lgamma, otypes=[float]),
    "copysign": np.copysign, "div_rn": np.divide, "fdividef": np.divide, "fma": lambda x, y, z: x * y + z,
    "fast_expf": np.exp, "fast_exp2f": np.exp2, "fast_logf": np.log, "fast_log2f": np.log2, "fast_sinf": np.sin,
    "fast_cosf": np.cos, "fast_tanf": np.tan, "fast_tanhf": np.tanh, "fast_powf": np.power, "fast_dividef": np.divide,
    "sqrt_rn": np.sqrt, "max": np.fmax, "min": np.fmin, "fmax": np.fmax, "fmin": np.fmin,
}  # fmt: skip
_TRUTHS: dict[str, Callable[..., Any]] = {
    "isnan": np.isnan, "isinf": np.isinf, "isfinited": np.isfinite, "finitef": np.isfinite, "signbit": np.signbit,
}  # fmt: skip
globals().update({name: _elementwise(function) for name, function in _FLOATS.items()})
globals().update({name: _elementwise(function, tl.int1) for name, function in _TRUTHS.items()})
globals()["llrint"] = lambda x: _elementwise(np.rint)(x).to(tl.int64)

# mypy: ignore-errors
"""Elementary functions to the accuracy of the language, on every target and in the CPU interpreter.

tests/derive_coefficients.py derives the coefficients and states the error of each polynomial.
"""

import os

import triton
import triton.language as tl

_INTERPRETED = tl.constexpr(os.getenv("TRITON_INTERPRET") == "1")


@triton.jit
def _maximum(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _minimum(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _maximum_number(a, b):
    # A NaN on one side is ignored.
    return tl.where(a != a, b, tl.where(b != b, a, tl.maximum(a, b)))


@triton.jit
def _minimum_number(a, b):
    # A NaN on one side is ignored.
    return tl.where(a != a, b, tl.where(b != b, a, tl.minimum(a, b)))


@triton.jit
def _floor(x):
    # tl.floor takes a negative subnormal for zero.
    return tl.where((x < 0.0) & (x > -1.0), -1.0, tl.floor(x))


@triton.jit
def _half_quotient(x, y):
    # x / y for rounding to float16, where many x have one y: as tl.div_rn rounds it wherever float16 can tell. From
    # x * (1 / y), what is left of x is known without error, and its quotient corrects the first. Both operands are
    # scaled so that nothing overflows or loses bits on the way. The CPU interpreter rounds the product in tl.fma.
    if _INTERPRETED:
        result = tl.div_rn(x, y)
    else:
        scale = tl.where(tl.abs(y) > 1.152921504606847e18, 8.673617379884035e-19, 1.0)
        scale = tl.where(tl.abs(y) < 8.673617379884035e-19, 7.922816251426434e28, scale)
        divisor = y * scale
        inverse = tl.div_rn(1.0, divisor)
        quotient = x * scale * inverse
        rest = tl.fma(-divisor, quotient, x * scale)
        within = (tl.abs(quotient) > 7.450580596923828e-09) & (tl.abs(quotient) < 131072.0)
        result = tl.where(within, tl.fma(rest, inverse, quotient), quotient)
    return result


@triton.jit
def _rsqrt(x):
    # tl.rsqrt takes a subnormal for zero: scale it up by 2**24, and the result by 2**12.
    subnormal = tl.abs(x) < 1.1754943508222875e-38
    return tl.rsqrt(tl.where(subnormal, x * 16777216.0, x)) * tl.where(subnormal, 4096.0, 1.0)


@triton.jit
def _exp2(x):
    # tl.exp2 flushes subnormal results: compute them 2**64 times as large.
    small = x < -126.0
    return tl.exp2(tl.where(small, x + 64.0, x)) * tl.where(small, 5.421010862427522e-20, 1.0)


@triton.jit
def _exp(x):
    # tl.exp loses digits for large |x|, because it rounds x * log2(e) to float32. Here exp(x) = 2**n * exp(r) with
    # r = x - n * ln(2); ln(2) is in two parts, the first short enough for an exact product.
    small = x < -86.0
    x = tl.maximum(tl.minimum(x, 89.0, propagate_nan=tl.PropagateNan.ALL), -105.0, propagate_nan=tl.PropagateNan.ALL)
    shifted = x * 1.4426950408889634 + 12582912.0  # adding 1.5 * 2**23 rounds to an integer
    n = shifted - 12582912.0
    r = (x - n * 0.693359375) + n * 2.1219444005469058e-4
    p = 0.00139269186 * r + 0.0083637666
    p = p * r + 0.0416665487
    p = p * r + 0.166665733
    p = p * r + 0.5
    p = 2.0 + 2.0 * (r + r * r * p)
    # 2**(n - 1), since 2**n may be out of range; where that is too small, 2**(n + 63)
    exponent = (shifted.to(tl.int32, bitcast=True) << 23) + tl.where(small, 190 << 23, 126 << 23)
    return p * exponent.to(tl.float32, bitcast=True) * tl.where(small, 5.421010862427522e-20, 1.0)


@triton.jit
def _sigmoid(x):
    # e = exp(-abs(x)) as in _exp, with tl.exp2 for the polynomial: 4 units in the last place are allowed here.
    y = tl.maximum(-tl.abs(x), -105.0, propagate_nan=tl.PropagateNan.ALL)
    shifted = y * 1.4426950408889634 + 12582912.0
    n = shifted - 12582912.0
    r = (y - n * 0.693359375) + n * 2.1219444005469058e-4
    exponent = (shifted.to(tl.int32, bitcast=True) << 23) + (191 << 23)
    e = tl.exp2(r * 1.4426950408889634) * exponent.to(tl.float32, bitcast=True) * 5.421010862427522e-20
    return tl.where(x < 0.0, e, 1.0) / (1.0 + e)


@triton.jit
def _sigmoid_fast(x):
    e = tl.exp(-tl.abs(x))
    return tl.where(x < 0.0, e, 1.0) / (1.0 + e)


@triton.jit
def _sigmoid_double(x):
    e = tl.exp(-tl.abs(x))
    return tl.where(x < 0.0, e, 1.0) / (1.0 + e)


@triton.jit
def _tanh(x):
    # A polynomial up to 1, where 1 - 2 / (exp(2 * x) + 1) would cancel; beyond, the quotient is so small that the
    # errors of tl.exp2 and of `/` (two units in the last place each) do not matter.
    magnitude = tl.abs(x)
    s = x * x
    p = -0.000420695491 * s + 0.0025104594
    p = p * s - 0.00821892172
    p = p * s + 0.0216601156
    p = p * s - 0.0539347902
    p = p * s + 0.133331284
    p = p * s - 0.333333313
    rest = 2.0 / (tl.exp2(2.8853900817779268 * magnitude) + 1.0)
    # A product, which keeps the sign of zero.
    return tl.where(magnitude < 1.0, x * (1.0 + s * p), tl.where(x < 0.0, rest - 1.0, 1.0 - rest))


@triton.jit
def _tanh_fast(x):
    # Relative error below 2**-17.
    magnitude = tl.abs(x)
    s = x * x
    rest = 2.0 / (tl.exp(2.0 * magnitude) + 1.0)
    near_zero = x * (1.0 - s * (0.3333333333333333 - s * 0.13333333333333333))  # keeps the sign of zero
    return tl.where(magnitude < 0.2, near_zero, tl.where(x < 0.0, rest - 1.0, 1.0 - rest))


@triton.jit
def _tanh_double(x):
    # A polynomial near zero, where 1 - 2 / (exp(2 * x) + 1) would cancel.
    magnitude = tl.abs(x)
    s = x * x
    p = 6.485163482793113e-06 * s - 3.12011014257974e-05
    p = p * s + 9.257116129556769e-05
    p = p * s - 0.0002375906496055562
    p = p * s + 0.0005896606577757043
    p = p * s - 0.0014557754120478055
    p = p * s + 0.0035921217511549622
    p = p * s - 0.008863235103240878
    p = p * s + 0.021869488519008305
    p = p * s - 0.05396825396789699
    p = p * s + 0.13333333333333042
    p = p * s - 0.3333333333333333
    rest = 2.0 / (tl.exp(2.0 * magnitude) + 1.0)
    near_zero = tl.where(x == 0.0, x, x + x * s * p)  # the sum alone would lose the sign of zero
    return tl.where(magnitude < 0.625, near_zero, tl.where(x < 0.0, rest - 1.0, 1.0 - rest))


@triton.jit
def _log1p(x):
    # log(1 + x) = log(u) + lost / u, where u is 1 + x rounded and `lost` is what the rounding lost; for tiny x the
    # series, since the two terms would cancel.
    u = 1.0 + x
    lost = tl.where(x < 1.0, x - (u - 1.0), 1.0 - (u - x))
    regular = (u > 0.0) & (u < float("inf"))
    correction = tl.where(regular, lost / tl.where(regular, u, 1.0), 0.0)
    series = x - x * x * (0.5 - x * 0.3333333333333333)
    return tl.where(tl.abs(x) < 7.62939453125e-06, series, tl.log(u) + correction)


@triton.jit
def _sin(x):
    # tl.sin flushes subnormals; sin(x) rounds to x long before.
    return tl.where(tl.abs(x) < 0.000244140625, x, tl.sin(x))


@triton.jit
def _asin(x):
    # A polynomial up to 1/2; beyond, asin(x) = pi/2 - 2 * asin(sqrt((1 - x) / 2)).
    outer = tl.abs(x) > 0.5
    s = tl.where(outer, 0.5 - 0.5 * tl.abs(x), x * x)
    root = tl.where(outer, tl.sqrt_rn(s), x)
    p = 0.0336908475 * s + 0.0171492379
    p = p * s + 0.0311006624
    p = p * s + 0.0445994027
    p = p * s + 0.0750009418
    p = p * s + 0.166666657
    value = root + root * s * p
    complement = 1.5707963267948966 - 2.0 * value
    return tl.where(outer, tl.where(x < 0.0, complement * -1.0, complement), value)


@triton.jit
def _asin_double(x):
    # A polynomial up to 1/2; beyond, asin(x) = pi/2 - 2 * asin(sqrt((1 - x) / 2)).
    outer = tl.abs(x) > 0.5
    s = tl.where(outer, 0.5 - 0.5 * tl.abs(x), x * x)
    root = tl.where(outer, tl.sqrt(s), x)
    p = 0.02961201126495512 * s - 0.01924167174674304
    p = p * s + 0.019554513336123378
    p = p * s + 0.0030448799094556773
    p = p * s + 0.009319560794767446
    p = p * s + 0.009621842970100282
    p = p * s + 0.011566459612121669
    p = p * s + 0.01396378001220357
    p = p * s + 0.017352816540325496
    p = p * s + 0.02237215744350722
    p = p * s + 0.03038194447553234
    p = p * s + 0.044642857142551895
    p = p * s + 0.07500000000000118
    p = p * s + 0.16666666666666666
    value = root + root * s * p
    complement = 1.5707963267948966 - (2.0 * value - 6.123233995736766e-17)
    return tl.where(outer, tl.where(x < 0.0, complement * -1.0, complement), value)

# mypy: ignore-errors
"""Powers of floats. In float64 the logarithm has twice the digits: its error grows with the exponent of the result."""

import triton
import triton.language as tl

from translators.triton_source.device.conversion import _INTERPRETED


@triton.jit
def _power(x, y):
    # In float64, accurate enough for a float32 result.
    x, y = tl.broadcast(x, y)
    return _power_cases(x, y, tl.exp(y * tl.log(tl.abs(x))))


@triton.jit
def _power_cases(x, y, magnitude):
    # The sign and the special cases of IEEE 754 pow.
    magnitude = tl.where((y == 0.0) | (tl.abs(x) == 1.0), 1.0, magnitude)
    whole = tl.floor(y) == y
    odd = whole & (tl.floor(0.5 * y) * 2.0 != y)
    negative = (x.to(tl.int64, bitcast=True) < 0) & (x == x)
    signed = tl.where(negative & odd, magnitude * -1.0, magnitude)
    undefined = (x < 0.0) & (x > -float("inf")) & (tl.abs(y) < float("inf")) & (whole == 0)
    missing = ((x != x) & (y != 0.0)) | ((y != y) & (x != 1.0))
    return tl.where(undefined | missing, float("nan"), signed)


@triton.jit
def _product_error(a, b, product):
    # a * b - product, exactly. The CPU interpreter rounds the product in tl.fma; there, halves of 26 bits have exact
    # products.
    if _INTERPRETED:
        a_high = (a.to(tl.int64, bitcast=True) & -0x8000000).to(tl.float64, bitcast=True)
        b_high = (b.to(tl.int64, bitcast=True) & -0x8000000).to(tl.float64, bitcast=True)
        a_low, b_low = a - a_high, b - b_high
        error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    else:
        error = tl.fma(a, b, -product)
    return error


@triton.jit
def _sum_error(a, b, total):
    # a + b - total, exactly.
    part = total - a
    return (a - (total - part)) + (b - part)


@triton.jit
def _power_double(x, y):
    # exp(y * log(x)) in float64, the logarithm and the product as sums of two. x = 2**n * m with m in
    # [1/sqrt(2), sqrt(2)); log(m) = 2 * atanh(s) with s = (m - 1) / (m + 1).
    x, y = tl.broadcast(x, y)
    base = tl.abs(x)
    tiny = base < 2.2250738585072014e-308
    bits = tl.where(tiny, base * 18014398509481984.0, base).to(tl.int64, bitcast=True)
    steps = (bits - 0x3FE6A09E667F3BCD) >> 52
    m = (bits - (steps << 52)).to(tl.float64, bitcast=True)
    n = steps.to(tl.float64) - tl.where(tiny, 54.0, 0.0)
    below = m - 1.0
    above = m + 1.0
    s = below / above
    s_low = (-_product_error(s, above, below) - s * _sum_error(m, 1.0, above)) / above
    # 2 * s + 2/3 * s**3, and from s**5 on what float64 can hold beside these.
    z = s * s
    z_low = _product_error(s, s, z) + 2.0 * s * s_low
    cube = s * z
    cube_low = _product_error(s, z, cube) + s * z_low + s_low * z
    ratio = tl.zeros_like(cube) + 0.6666666666666666
    third = cube * ratio
    third_low = _product_error(cube, ratio, third) + cube * 3.700743415417188e-17 + cube_low * ratio
    series = 0.08 * z + 0.08695652173913043
    series = series * z + 0.09523809523809523
    series = series * z + 0.10526315789473684
    series = series * z + 0.11764705882352941
    series = series * z + 0.13333333333333333
    series = series * z + 0.15384615384615385
    series = series * z + 0.18181818181818182
    series = series * z + 0.2222222222222222
    series = series * z + 0.2857142857142857
    series = series * z + 0.4
    # n * log(2) + log(m); the first part of log(2) is short, so that its products are exact.
    whole = n * 0.6931471805598903
    first = whole + 2.0 * s
    high = first + third
    low = _sum_error(whole, 2.0 * s, first) + _sum_error(first, third, high)
    low += third_low + cube * z * series + 2.0 * s_low + n * 5.497923018708371e-14
    logarithm = high + low
    low = _sum_error(high, low, logarithm)
    y_near = tl.minimum(tl.maximum(y, -1.1805916207174113e21), 1.1805916207174113e21)
    exponent = y_near * logarithm
    exponent_low = _product_error(y_near, logarithm, exponent) + y_near * low
    magnitude = tl.exp(exponent)
    magnitude = tl.where(magnitude < float("inf"), magnitude + magnitude * exponent_low, magnitude)
    extreme = (base == 0.0) | (base == float("inf"))
    limit = tl.where((base == 0.0) == (y > 0.0), 0.0, float("inf"))
    return _power_cases(x, y, tl.where(extreme, limit, magnitude))

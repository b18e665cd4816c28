# mypy: ignore-errors
"""Error, gamma and Bessel functions to the accuracy of the language, on every target and in the CPU interpreter.

tests/derive_coefficients.py derives the coefficients and states the error of each polynomial. lgamma and i0 are
computed in float64 for float32 too.
"""

import triton
import triton.language as tl

from translators.triton_source.device.elementary import _exp


@triton.jit
def _erf(x):
    # tl.erf flushes subnormals; the first term of the series is enough there.
    return tl.where(tl.abs(x) < 0.0001, x * 1.1283791670955126, tl.erf(x))


@triton.jit
def _erfc(x):
    # 1 - erf(x) up to 3/4; beyond, (1 + 2 * a) * exp(a**2) * erfc(a) is a polynomial in (a - 4) / (a + 4).
    a = tl.maximum(x, 0.5, propagate_nan=tl.PropagateNan.ALL)
    a = tl.minimum(a, 11.0, propagate_nan=tl.PropagateNan.ALL)
    t = tl.div_rn(a - 4.0, a + 4.0)
    p = 9.82197307e-05 * t - 0.000227949437
    p = p * t - 0.000682160666
    p = p * t + 0.00504461862
    p = p * t - 0.0162468888
    p = p * t + 0.0371658728
    p = p * t - 0.0663146451
    p = p * t + 0.0937326401
    p = p * t - 0.101041421
    p = p * t + 0.0680970997
    p = p * t + 0.0153797837
    p = p * t - 0.139621124
    p = p * t + 1.23299515
    head = (a.to(tl.int32, bitcast=True) & -4096).to(tl.float32, bitcast=True)  # 12 bits: its square is exact
    tail = _exp(-head * head) * tl.div_rn(_exp((head - a) * (head + a)) * p, 1.0 + 2.0 * a)
    return tl.where(x < 0.75, 1.0 - tl.erf(x), tail)


@triton.jit
def _erfc_double(x):
    # 1 - erf(x) up to 3/4; beyond, (1 + 2 * a) * exp(a**2) * erfc(a) is a polynomial in (a - 4) / (a + 4).
    a = tl.maximum(x, 0.5, propagate_nan=tl.PropagateNan.ALL)
    a = tl.minimum(a, 28.0, propagate_nan=tl.PropagateNan.ALL)
    t = (a - 4.0) / (a + 4.0)
    p = 3.423859965510215e-09 * t - 9.752941425191856e-09
    p = p * t - 2.3077567273656325e-08
    p = p * t + 1.035858830368138e-07
    p = p * t + 8.187721285705339e-08
    p = p * t - 8.19955161179478e-07
    p = p * t + 2.8808334782720643e-07
    p = p * t + 5.706822301859325e-06
    p = p * t - 1.1219239450968377e-05
    p = p * t - 2.4398198695781975e-05
    p = p * t + 0.0001506208125905374
    p = p * t - 0.00019925692900828166
    p = p * t - 0.0007577731198845029
    p = p * t + 0.0050319700130714105
    p = p * t - 0.016197734077877748
    p = p * t + 0.03716751553423657
    p = p * t - 0.06633036581087434
    p = p * t + 0.09373283499851863
    p = p * t - 0.10103906603634742
    p = p * t + 0.06809705425468858
    p = p * t + 0.01537965210262021
    p = p * t - 0.1396211168405625
    p = p * t + 1.2329951186255526
    head = a.to(tl.float32).to(tl.float64)  # 24 bits: its square is exact
    tail = tl.exp(-head * head) * (tl.exp((head - a) * (head + a)) * p / (1.0 + 2.0 * a))
    return tl.where(x < 0.75, 1.0 - tl.erf(x), tail)


@triton.jit
def _lgamma_slope(z):
    # log(gamma(2 + z)) / z for -3/4 <= z <= 1/2.
    p = -1.0998252606187326e-08 * z - 1.1555545222787355e-08
    p = p * z - 7.995899597250956e-10
    p = p * z + 2.952960616562811e-08
    p = p * z - 1.81062087371478e-08
    p = p * z + 3.74973005802158e-08
    p = p * z - 1.053938959626937e-07
    p = p * z + 2.1504547762178742e-07
    p = p * z - 4.4715874760919424e-07
    p = p * z + 9.54654605005328e-07
    p = p * z - 2.039716059056738e-06
    p = p * z + 4.374906583660434e-06
    p = p * z - 9.43941347505539e-06
    p = p * z + 2.0507212517524156e-05
    p = p * z - 4.492624386630184e-05
    p = p * z + 9.945751254098106e-05
    p = p * z - 0.0002231547580287092
    p = p * z + 0.0005096695247632334
    p = p * z - 0.0011927539117181768
    p = p * z + 0.002890510330740841
    p = p * z - 0.007385551028673713
    p = p * z + 0.020580808427784557
    p = p * z - 0.0673523010531981
    p = p * z + 0.3224670334241132
    return p * z + 0.42278433509846713


@triton.jit
def _lgamma_large(x):
    # Stirling's formula, for x >= 8.
    w = 1.0 / (x * x)
    p = 0.005065905360156132 * w - 0.001890382993887715
    p = p * w + 0.0008414700852503147
    p = p * w - 0.0005952365845057049
    p = p * w + 0.0007936507897524059
    p = p * w - 0.002777777777773988
    p = p * w + 0.08333333333333333
    return (x - 0.5) * (tl.log(x) - 1.0) + (0.4189385332046728 + p / x)


@triton.jit
def _lgamma_positive(x):
    # Recurrence to an argument near 2: gamma(x + 1) = x * gamma(x).
    argument = x
    product = x * 0.0 + 1.0
    for _ in tl.static_range(6):
        above = argument >= 2.5
        argument = tl.where(above, argument - 1.0, argument)
        product = tl.where(above, product * argument, product)
    z = tl.where(x < 0.5, x, tl.where(x < 1.25, x - 1.0, argument - 2.0))
    factor = tl.where(x < 0.5, x * (1.0 + x), tl.where(x < 1.25, x, product))
    logarithm = tl.log(factor)
    near = z * _lgamma_slope(z) + tl.where(x < 1.25, 0.0 - logarithm, logarithm)
    return tl.where(x < 8.0, near, _lgamma_large(tl.maximum(x, 8.0, propagate_nan=tl.PropagateNan.ALL)))


@triton.jit
def _lgamma(x):
    # For x < 0: gamma(x) * gamma(-x) = -pi / (x * sin(pi * x)).
    magnitude = tl.abs(x)
    positive = _lgamma_positive(magnitude)
    fraction = magnitude - tl.floor(magnitude)
    sine = tl.sin(3.141592653589793 * tl.minimum(fraction, 1.0 - fraction))
    reflected = tl.log(3.141592653589793 / (magnitude * sine)) - positive
    result = tl.where(x < -1e-17, reflected, positive)  # nearer to zero, both are -log(-x)
    infinite = (magnitude == float("inf")) | ((x < 0.0) & (fraction == 0.0))
    return tl.where(infinite, float("inf"), result)


@triton.jit
def _i0(x):
    # A polynomial in x**2 up to 8; beyond, exp(-a) * sqrt(a) * i0(a) is one in 1 / a.
    s = 0.25 * x * x
    p = 2.4686319924276563e-37 * s + 6.112811430028756e-35
    p = p * s + 2.4715297329258704e-32
    p = p * s + 7.893515909914513e-30
    p = p * s + 2.2846048370807588e-27
    p = p * s + 5.847862325546756e-25
    p = p * s + 1.3157807457925712e-22
    p = p * s + 2.5789288113265985e-20
    p = p * s + 4.358389830176386e-18
    p = p * s + 6.276081345083664e-16
    p = p * s + 7.594058428152455e-14
    p = p * s + 7.59405842812553e-12
    p = p * s + 6.1511873267826e-10
    p = p * s + 3.9367598891408404e-08
    p = p * s + 1.9290123456790124e-06
    p = p * s + 6.944444444444444e-05
    p = p * s + 0.001736111111111111
    p = p * s + 0.027777777777777776
    p = p * s + 0.25
    p = p * s + 1.0
    p = p * s + 1.0
    small = p
    a = tl.maximum(tl.abs(x), 8.0, propagate_nan=tl.PropagateNan.ALL)
    a = tl.minimum(a, 1000.0, propagate_nan=tl.PropagateNan.ALL)
    t = 16.0 / a - 1.0
    p = 1.0881994785468934e-10 * t + 3.525321019700796e-11
    p = p * t - 7.473844621887592e-10
    p = p * t - 2.748111637276033e-10
    p = p * t + 2.3981927228949238e-09
    p = p * t + 1.0924527246468664e-09
    p = p * t - 4.8482509221176966e-09
    p = p * t - 3.11851456121224e-09
    p = p * t + 6.789790403895736e-09
    p = p * t + 7.323310735122893e-09
    p = p * t - 5.162517880939013e-09
    p = p * t - 1.331979859201994e-08
    p = p * t - 6.805980075129678e-09
    p = p * t + 7.532386417555123e-09
    p = p * t + 2.155681110989874e-08
    p = p * t + 3.932926571091252e-08
    p = p * t + 8.872154618944625e-08
    p = p * t + 2.9735956581528157e-07
    p = p * t + 1.4838475863096976e-06
    p = p * t + 1.1143033802583682e-05
    p = p * t + 0.00013621607439187193
    p = p * t + 0.0033605519836677235
    p = p * t + 0.4021765094450081
    root = tl.exp(0.5 * a)  # exp(a) alone would overflow too early
    return tl.where(tl.abs(x) < 8.0, small, root * (p / tl.sqrt(a)) * root)

"""Derives the polynomial coefficients in translators/triton_source/device, and prints the error of each fit.

Each polynomial interpolates its function, in 60-digit arithmetic, at the Chebyshev nodes of the interval; that is
within a small factor of the best uniform approximation. The coefficients are then rounded to the working precision, and
the error printed is that of the rounded polynomial, relative to the final result of the routine.
Run: python tests/derive_coefficients.py
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy
from mpmath import mp, mpf

from intent.records import dataclass

mp.dps = 60
Function = Callable[[mpf], mpf]


@dataclass(frozen=True)
class Fit:
    """`weight(x) * error` is the relative error that the routine's result inherits."""

    name: str
    function: Function
    low: mpf
    high: mpf
    degree: int
    weight: Function
    single: bool


def removable(function: Function, limit: mpf) -> Function:
    """The function with its limit where cancellation leaves no digits."""
    return lambda x: limit if abs(x) < mpf(10) ** -18 else function(x)


def interpolate(fit: Fit) -> list[float]:
    count = fit.degree + 1
    middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
    nodes = [middle + half * mpmath.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    matrix = mpmath.matrix([[x**power for power in range(count)] for x in nodes])
    solution = mpmath.lu_solve(matrix, mpmath.matrix([fit.function(x) for x in nodes]))
    return [float(numpy.float32(float(c))) if fit.single else float(c) for c in solution]


def largest_error(fit: Fit, coefficients: list[float], points: int = 1001) -> mpf:
    exact = [mpf(c) for c in reversed(coefficients)]
    grid = (fit.low + (fit.high - fit.low) * k / (points - 1) for k in range(points))
    return max(abs(mpmath.polyval(exact, x) - fit.function(x)) * fit.weight(x) for x in grid)


def exp_remainder(r: mpf) -> mpf:
    """(exp(r) - 1 - r) / r**2"""
    return (mpmath.expm1(r) - r) / r**2


def tanh_remainder(s: mpf) -> mpf:
    """(tanh(x) / x - 1) / x**2 as a function of s = x**2"""
    x = mpmath.sqrt(s)
    return (mpmath.tanh(x) / x - 1) / s


def asin_remainder(s: mpf) -> mpf:
    """(asin(x) / x - 1) / x**2 as a function of s = x**2"""
    x = mpmath.sqrt(s)
    return (mpmath.asin(x) / x - 1) / s


def lgamma_slope(z: mpf) -> mpf:
    """log(gamma(2 + z)) / z"""
    return mpmath.loggamma(2 + z) / z


def stirling_remainder(w: mpf) -> mpf:
    """x * (log(gamma(x)) - (x - 1/2) * log(x) + x - log(2 * pi) / 2) as a function of w = 1 / x**2"""
    x = 1 / mpmath.sqrt(w)
    return x * (mpmath.loggamma(x) - (x - mpf(1) / 2) * mpmath.log(x) + x - mpmath.log(2 * mp.pi) / 2)


def scaled_erfc(t: mpf) -> mpf:
    """(1 + 2 * x) * exp(x**2) * erfc(x), where t = (x - 4) / (x + 4)"""
    if t == 1:
        return 2 / mpmath.sqrt(mp.pi)
    x = 4 * (1 + t) / (1 - t)
    if x < 1000:
        return (1 + 2 * x) * mpmath.exp(x * x) * mpmath.erfc(x)
    return (1 + 2 * x) / (x * mpmath.sqrt(mp.pi)) * (1 - 1 / (2 * x**2) + 3 / (4 * x**4) - 15 / (8 * x**6))


def bessel_small(s: mpf) -> mpf:
    """i0(x) as a function of s = x**2 / 4 (|x| <= 8)"""
    return mpmath.besseli(0, 2 * mpmath.sqrt(s))


def bessel_large(t: mpf) -> mpf:
    """exp(-x) * sqrt(x) * i0(x), where t = 16 / x - 1 (x >= 8)"""
    if t == -1:
        return 1 / mpmath.sqrt(2 * mp.pi)
    x = 16 / (t + 1)
    return mpmath.exp(-x) * mpmath.sqrt(x) * mpmath.besseli(0, x)


def one(_: mpf) -> mpf:
    return mpf(1)


ERFC_LOW = (mpf("0.5") - 4) / (mpf("0.5") + 4)
FITS = [
    Fit("exp f32", removable(exp_remainder, mpf(1) / 2), mpf("-0.35"), mpf("0.35"), 4, lambda r: r**2, True),
    Fit("tanh f32", removable(tanh_remainder, -mpf(1) / 3), mpf(0), mpf(1), 6, lambda s: s, True),
    Fit("tanh f64", removable(tanh_remainder, -mpf(1) / 3), mpf(0), mpf("0.625") ** 2, 11, lambda s: s, False),
    Fit("asin f32", removable(asin_remainder, mpf(1) / 6), mpf(0), mpf("0.25"), 5, lambda s: s, True),
    Fit("asin f64", removable(asin_remainder, mpf(1) / 6), mpf(0), mpf("0.25"), 13, lambda s: s, False),
    Fit("lgamma f64", removable(lgamma_slope, 1 - mp.euler), mpf("-0.75"), mpf("0.5"), 24, lambda z: 2, False),
    Fit(
        "stirling f64", removable(stirling_remainder, mpf(1) / 12), mpf(0), mpf(1) / 64, 6, lambda w: mpf(1) / 60, False
    ),
    Fit("erfc f32", scaled_erfc, ERFC_LOW, mpf(1), 12, one, True),
    Fit("erfc f64", scaled_erfc, ERFC_LOW, mpf(1), 22, one, False),
    Fit("i0 small f64", bessel_small, mpf(0), mpf(16), 20, lambda s: 1 / bessel_small(s), False),
    Fit("i0 large f64", bessel_large, mpf(-1), mpf(1), 22, lambda t: mpf("2.6"), False),
]


def main() -> None:
    for fit in FITS:
        coefficients = interpolate(fit)
        print(f"{fit.name}: relative error {mpmath.nstr(largest_error(fit, coefficients), 3)}, highest power first")
        for coefficient in reversed(coefficients):
            print(f"    {coefficient:.9g}" if fit.single else f"    {coefficient!r}")


if __name__ == "__main__":
    main()

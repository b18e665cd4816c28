"""Alternating directions on a unit square: a step solves tridiagonal systems along all columns, then along all rows.

A line is eliminated forwards and substituted backwards; its coefficients p and q stay with the line.
"""

import intent
import intent.language as I

SIZES = {"S": {"TSTEPS": 5, "N": 100}, "M": {"TSTEPS": 20, "N": 200}}
CASES = [{"TSTEPS": 2, "N": 7}, {"TSTEPS": 1, "N": 16}, {"TSTEPS": 1, "N": 3}]
REDUCED = {"TSTEPS": 2, "N": 20}


@intent.kernel
def columns(a: I.f64, b: I.f64, d: I.f64, u: I.In[I.f64, ("N", "N")], v: I.InOut[I.f64, ("N", "N")]):
    N, _ = u.shape
    for i in I.parallel(I.domain(1, N - 1)):
        p = I.buffer((N,), I.f64)
        q = I.buffer((N,), I.f64)
        p[0] = 0.0
        q[0] = 1.0
        for j in range(1, N - 1):
            right = (1.0 + 2.0 * d) * u[j, i] - d * (u[j, i - 1] + u[j, i + 1])
            pivot = a * p[j - 1] + b
            p[j] = -a / pivot
            q[j] = (right - a * q[j - 1]) / pivot
        v[0, i] = 1.0
        v[N - 1, i] = 1.0
        x = I.cast(1.0, I.f64)
        for back in range(2, N):
            x = p[N - back] * x + q[N - back]
            v[N - back, i] = x


@intent.kernel
def rows(a: I.f64, d: I.f64, e: I.f64, v: I.In[I.f64, ("N", "N")], u: I.InOut[I.f64, ("N", "N")]):
    N, _ = u.shape
    for i in I.parallel(I.domain(1, N - 1)):
        p = I.buffer((N,), I.f64)
        q = I.buffer((N,), I.f64)
        p[0] = 0.0
        q[0] = 1.0
        for j in range(1, N - 1):
            right = (1.0 + 2.0 * a) * v[i, j] - a * (v[i - 1, j] + v[i + 1, j])
            pivot = d * p[j - 1] + e
            p[j] = -d / pivot
            q[j] = (right - d * q[j - 1]) / pivot
        u[i, 0] = 1.0
        u[i, N - 1] = 1.0
        x = I.cast(1.0, I.f64)
        for back in range(2, N):
            x = p[N - back] * x + q[N - back]
            u[i, N - back] = x


@intent.kernel
def clear(v: I.Out[I.f64, ("N", "N")]):
    v[:, :] = 0.0


def build(context):
    start = context.compile("clear", clear)
    first = context.compile("columns", columns)
    second = context.compile("rows", rows)

    def adi(steps, u):
        count = u.shape[0]
        once = 2.0 * count * count / steps
        twice = 1.0 * count * count / steps
        a, b = -once / 2.0, 1.0 + once
        d, e = -twice / 2.0, 1.0 + twice
        v = context.empty((count, count), I.f64)
        start(v)
        for _ in range(steps):
            first(a, b, d, u, v)
            second(a, d, e, v, u)

    return adi


def inputs(rng, case):
    return {"steps": case["TSTEPS"], "u": rng.random((case["N"], case["N"]))}


def reference(steps, u):
    import numpy as np

    n = len(u)
    inside = slice(1, n - 1)
    once, twice = 2.0 * n * n / steps, 1.0 * n * n / steps
    a, b, d, e = -once / 2, 1 + once, -twice / 2, 1 + twice
    v = np.zeros_like(u)

    def solve(low, middle, right):
        """Solutions of tridiagonal systems, one for each row of right; both ends are one."""
        p, q, x = np.zeros_like(right), np.ones_like(right), np.ones_like(right)
        for j in range(1, n - 1):
            pivot = low * p[:, j - 1] + middle
            p[:, j] = -low / pivot
            q[:, j] = (right[:, j] - low * q[:, j - 1]) / pivot
        for j in reversed(range(1, n - 1)):
            x[:, j] = p[:, j] * x[:, j + 1] + q[:, j]
        return x

    for _ in range(steps):
        right = -d * u[:, :-2] + (1 + 2 * d) * u[:, inside] - d * u[:, 2:]
        v[:, inside] = solve(a, b, right.T).T
        right = -a * v[:-2] + (1 + 2 * a) * v[inside] - a * v[2:]
        u[inside] = solve(d, e, right)

"""Moments of a matrix polynomial's inverse along a contour: P0 = sum of X(z) and P1 = sum of z X(z), T(z) X = Y.

T(z) is the sum over n of z**(slabs / 2 - n) H[n]; points within the unit circle count as minus. All systems are
eliminated side by side with pivots (Gauss and Jordan), T and Y as one matrix. If Y is square, X is the inverse of T.
A last axis of two holds the real and the imaginary part.
"""

import intent
import intent.language as I

SIZES = {
    "S": {"NR": 50, "NM": 150, "slab_per_bc": 2, "num_int_pts": 32},
    "M": {"NR": 200, "NM": 400, "slab_per_bc": 2, "num_int_pts": 32},
}
CASES = [
    {"NR": 3, "NM": 5, "slab_per_bc": 2, "num_int_pts": 3},
    {"NR": 4, "NM": 4, "slab_per_bc": 2, "num_int_pts": 2},
    {"NR": 1, "NM": 2, "slab_per_bc": 2, "num_int_pts": 1},
]
REDUCED = {"NR": 6, "NM": 10, "slab_per_bc": 2, "num_int_pts": 4}
SLOW = True
TOLERANCE = 1e-8


@intent.kernel
def assemble(
    hamiltonian: I.In[I.f64, ("S", "NR", "NR", 2)],
    powers: I.In[I.f64, ("P", "S", 2)],
    y: I.In[I.f64, ("NR", "NM", 2)],
    invert: I.bool,
    system: I.Out[I.f64, ("P", "NR", "W", 2)],
):
    """[T | Y], or [T | 1]."""
    P, NR, W, _ = system.shape
    S, _, _, _ = hamiltonian.shape
    for p, i, j in I.parallel((I.domain(0, P), I.domain(0, NR), I.domain(0, W))):
        real = I.cast(0.0, I.f64)
        imaginary = I.cast(0.0, I.f64)
        if j < NR:
            for n in range(S):
                a, b = powers[p, n, 0], powers[p, n, 1]
                c, d = hamiltonian[n, i, j, 0], hamiltonian[n, i, j, 1]
                real += a * c - b * d
                imaginary += a * d + b * c
        elif invert:
            real = I.cast(i == j - NR, I.f64)
        else:
            real = y[i, j - NR, 0]
            imaginary = y[i, j - NR, 1]
        system[p, i, j, 0] = real
        system[p, i, j, 1] = imaginary


@intent.kernel
def choose(
    k: I.index,
    system: I.In[I.f64, ("P", "NR", "W", 2)],
    place: I.Out[I.i64, ("P",)],
    pivot: I.Out[I.f64, ("P", 2)],
):
    """The row from k on whose element in column k is largest."""
    P, NR, _, _ = system.shape
    rows = I.domain(k, NR)
    for p in I.parallel(I.domain(0, P)):
        a = system[p, rows, k, 0]
        b = system[p, rows, k, 1]
        _, found = I.arg_reduce.max(a * a + b * b, axis=0)
        place[p] = I.cast(found + k, I.i64)
        pivot[p, 0] = system[p, found + k, k, 0]
        pivot[p, 1] = system[p, found + k, k, 1]


@intent.kernel
def exchange(
    k: I.index,
    place: I.In[I.i64, ("P",)],
    pivot: I.In[I.f64, ("P", 2)],
    system: I.InOut[I.f64, ("P", "NR", "W", 2)],
    row: I.InOut[I.f64, ("P", "W", 2)],
):
    """The pivot's row, divided, goes to `row`; row k takes its place."""
    P, _, W, _ = system.shape
    for p, j in I.parallel((I.domain(0, P), I.domain(k, W))):
        at = I.cast(place[p], I.index)
        a, b = system[p, at, j, 0], system[p, at, j, 1]
        c, d = pivot[p, 0], pivot[p, 1]
        size = c * c + d * d
        row[p, j, 0] = (a * c + b * d) / size
        row[p, j, 1] = (b * c - a * d) / size
        system[p, at, j, 0] = system[p, k, j, 0]
        system[p, at, j, 1] = system[p, k, j, 1]


@intent.kernel
def eliminate(
    k: I.index,
    row: I.In[I.f64, ("P", "W", 2)],
    system: I.InOut[I.f64, ("P", "NR", "W", 2)],
):
    """Column k of all rows but k becomes zero, which is not written: nobody reads it again."""
    P, NR, W, _ = system.shape
    for p, i, j in I.parallel((I.domain(0, P), I.domain(0, NR), I.domain(k + 1, W))):
        a, b = system[p, i, k, 0], system[p, i, k, 1]
        c, d = row[p, j, 0], row[p, j, 1]
        x, y = system[p, i, j, 0], system[p, i, j, 1]
        system[p, i, j, 0] = c if i == k else x - (a * c - b * d)
        system[p, i, j, 1] = d if i == k else y - (a * d + b * c)


@intent.kernel
def moments(
    system: I.In[I.f64, ("P", "NR", "W", 2)],
    points: I.In[I.f64, ("P", 2)],
    p0: I.Out[I.f64, ("NR", "NM", 2)],
    p1: I.Out[I.f64, ("NR", "NM", 2)],
):
    P, NR, _, _ = system.shape
    NM = p0.shape[1]
    for i, j in I.parallel((I.domain(0, NR), I.domain(0, NM))):
        x0 = I.cast(0.0, I.f64)
        y0 = I.cast(0.0, I.f64)
        x1 = I.cast(0.0, I.f64)
        y1 = I.cast(0.0, I.f64)
        for p in range(P):
            a, b = points[p, 0], points[p, 1]
            sign = I.cast(I.select(a * a + b * b < 1.0, -1.0, 1.0), I.f64)
            x, y = sign * system[p, i, NR + j, 0], sign * system[p, i, NR + j, 1]
            x0 += x
            y0 += y
            x1 += a * x - b * y
            y1 += a * y + b * x
        p0[i, j, 0] = x0
        p0[i, j, 1] = y0
        p1[i, j, 0] = x1
        p1[i, j, 1] = y1


def build(context):
    start = context.compile("assemble", assemble)
    search = context.compile("choose", choose)
    swap = context.compile("exchange", exchange)
    step = context.compile("eliminate", eliminate)
    finish = context.compile("moments", moments)

    def contour_integral(nr, nm, hamiltonian, points, powers, y):
        count = points.shape[0]
        system = context.empty((count, nr, nr + nm, 2), I.f64)
        row = context.empty((count, nr + nm, 2), I.f64)
        place = context.empty((count,), I.i64)
        pivot = context.empty((count, 2), I.f64)
        start(hamiltonian, powers, y, nr == nm, system)
        for k in range(nr):
            search(k, system, place, pivot)
            swap(k, place, pivot, system, row)
            step(k, row, system)
        p0 = context.empty((nr, nm, 2), I.f64)
        p1 = context.empty((nr, nm, 2), I.f64)
        finish(system, points, p0, p1)
        return p0, p1

    return contour_integral


def inputs(rng, case):
    import numpy as np

    NR, NM, slabs = case["NR"], case["NM"], case["slab_per_bc"]
    z = rng.standard_normal((case["num_int_pts"], 2)) @ [1, 1j]
    powers = z[:, None] ** (slabs / 2 - np.arange(slabs + 1))
    return {
        "nr": NR,
        "nm": NM,
        "hamiltonian": rng.standard_normal((slabs + 1, NR, NR, 2)),
        "points": np.stack([z.real, z.imag], axis=1),
        "powers": np.stack([powers.real, powers.imag], axis=2),
        "y": rng.standard_normal((NR, NM, 2)),
    }


def reference(nr, nm, hamiltonian, points, powers, y):
    import numpy as np

    def pairs(x):
        return np.stack([x.real, x.imag], axis=-1)

    hamiltonian, z, powers, y = (x[..., 0] + 1j * x[..., 1] for x in (hamiltonian, points, powers, y))
    systems = np.einsum("pn,nij->pij", powers, hamiltonian)
    found = np.linalg.inv(systems) if nr == nm else np.linalg.solve(systems, np.broadcast_to(y, (len(z), nr, nm)))
    found = np.where(np.abs(z)[:, None, None] < 1, -found, found)
    return pairs(found.sum(axis=0)), pairs(np.einsum("p,pij->ij", z, found))

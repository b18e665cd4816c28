"""Flow of a viscous fluid along a channel that is periodic in x, driven by a force, until it changes no more.

The host looks at the change after every step; the number of steps is the result.
"""

import intent
import intent.language as I

SIZES = {
    "S": {"ny": 61, "nx": 61, "nit": 5, "rho": 1.0, "nu": 0.1, "F": 1.0},
    "M": {"ny": 121, "nx": 121, "nit": 10, "rho": 1.0, "nu": 0.1, "F": 1.0},
}
CASES = [
    {"ny": 4, "nx": 5, "nit": 2, "rho": 1.0, "nu": 2.5, "F": 1.0, "dt": 0.05, "noise": 0.1},
    {"ny": 3, "nx": 4, "nit": 1, "rho": 1.0, "nu": 0.1, "F": 1.0, "dt": 2.0, "noise": 0.0},
]
REDUCED = {"ny": 5, "nx": 7, "nit": 2, "rho": 1.0, "nu": 2.0, "F": 1.0, "dt": 0.04, "noise": 0.1}
TOLERANCE = 1e-9
SMALLEST_CHANGE = 0.001


@intent.kernel
def source(
    rho: I.f64,
    dt: I.f64,
    dx: I.f64,
    dy: I.f64,
    u: I.In[I.f64, ("NY", "NX")],
    v: I.In[I.f64, ("NY", "NX")],
    b: I.InOut[I.f64, ("NY", "NX")],
):
    NY, NX = u.shape
    for i, j in I.parallel((I.domain(1, NY - 1), I.domain(0, NX))):
        east, west = (j + 1) % NX, (j + NX - 1) % NX
        du_dx = (u[i, east] - u[i, west]) / (2.0 * dx)
        du_dy = (u[i + 1, j] - u[i - 1, j]) / (2.0 * dy)
        dv_dx = (v[i, east] - v[i, west]) / (2.0 * dx)
        dv_dy = (v[i + 1, j] - v[i - 1, j]) / (2.0 * dy)
        b[i, j] = rho * ((du_dx + dv_dy) / dt - du_dx * du_dx - 2.0 * du_dy * dv_dx - dv_dy * dv_dy)


@intent.kernel
def relax(
    dx: I.f64,
    dy: I.f64,
    p: I.In[I.f64, ("NY", "NX")],
    b: I.In[I.f64, ("NY", "NX")],
    out: I.Out[I.f64, ("NY", "NX")],
):
    NY, NX = p.shape
    xx, yy = dx * dx, dy * dy
    for row, j in I.parallel((I.domain(0, NY), I.domain(0, NX))):
        i = I.minimum(I.maximum(row, 1), NY - 2)
        east, west = (j + 1) % NX, (j + NX - 1) % NX
        beside = (p[i, east] + p[i, west]) * yy + (p[i + 1, j] + p[i - 1, j]) * xx
        out[row, j] = (beside - xx * yy * b[i, j]) / (2.0 * (xx + yy))


@intent.kernel
def advance(
    rho: I.f64,
    nu: I.f64,
    force: I.f64,
    dt: I.f64,
    dx: I.f64,
    dy: I.f64,
    p: I.In[I.f64, ("NY", "NX")],
    u: I.In[I.f64, ("NY", "NX")],
    v: I.In[I.f64, ("NY", "NX")],
    new_u: I.Out[I.f64, ("NY", "NX")],
    new_v: I.Out[I.f64, ("NY", "NX")],
):
    NY, NX = p.shape
    for i, j in I.parallel((I.domain(0, NY), I.domain(0, NX))):
        if i == 0 or i == NY - 1:
            new_u[i, j] = 0.0
            new_v[i, j] = 0.0
        else:
            east, west = (j + 1) % NX, (j + NX - 1) % NX
            a, b = u[i, j], v[i, j]
            spread_u = (u[i, east] - 2.0 * a + u[i, west]) / (dx * dx) + (u[i + 1, j] - 2.0 * a + u[i - 1, j]) / (
                dy * dy
            )
            spread_v = (v[i, east] - 2.0 * b + v[i, west]) / (dx * dx) + (v[i + 1, j] - 2.0 * b + v[i - 1, j]) / (
                dy * dy
            )
            carried_u = a * (a - u[i, west]) / dx + b * (a - u[i - 1, j]) / dy
            carried_v = a * (b - v[i, west]) / dx + b * (b - v[i - 1, j]) / dy
            push_u = (p[i, east] - p[i, west]) / (2.0 * rho * dx)
            push_v = (p[i + 1, j] - p[i - 1, j]) / (2.0 * rho * dy)
            new_u[i, j] = a + dt * (nu * spread_u - carried_u - push_u + force)
            new_v[i, j] = b + dt * (nu * spread_v - carried_v - push_v)


@intent.kernel
def total(u: I.In[I.f64, ("NY", "NX")], out: I.Out[I.f64, ()]):
    out[()] = I.reduce.sum(u[:, :], axis=(0, 1))


@intent.kernel
def copy(x: I.In[I.f64, ("NY", "NX")], out: I.Out[I.f64, ("NY", "NX")]):
    out[:, :] = x[:, :]


@intent.kernel
def clear(x: I.Out[I.f64, ("NY", "NX")]):
    x[:, :] = 0.0


def build(context):
    right_side = context.compile("source", source)
    pressure = context.compile("relax", relax)
    velocity = context.compile("advance", advance)
    add = context.compile("total", total)
    into = context.compile("copy", copy)
    start = context.compile("clear", clear)

    def channel_flow(nit, u, v, dt, dx, dy, p, rho, nu, force):
        b = context.empty(u.shape, I.f64)
        start(b)
        now_u, now_v, now_p = u, v, p
        before = add.run(now_u).item()
        change, steps = 1.0, 0
        while change > SMALLEST_CHANGE:
            right_side(rho, dt, dx, dy, now_u, now_v, b)
            for _ in range(nit):
                now_p = pressure.run(dx, dy, now_p, b)
            now_u, now_v = velocity.run(rho, nu, force, dt, dx, dy, now_p, now_u, now_v)
            after = add.run(now_u).item()
            change, before = (after - before) / after, after
            steps += 1
        into(now_u, u)
        into(now_v, v)
        into(now_p, p)
        return steps

    return channel_flow


def inputs(rng, case):
    import numpy as np

    ny, nx = case["ny"], case["nx"]
    noise = case.get("noise", 0.0) * rng.standard_normal((3, ny, nx))  # the suite begins at rest
    fields = {"u": noise[0], "v": noise[1], "p": np.ones((ny, nx)) + noise[2]}
    dt = case.get("dt", 0.1 / ((nx - 1) * (ny - 1)))
    return {**fields, "dt": dt, "dx": 2.0 / (nx - 1), "dy": 2.0 / (ny - 1), "force": case["F"]}


def reference(nit, u, v, dt, dx, dy, p, rho, nu, force):
    import numpy as np

    inner, up, down = slice(1, -1), slice(2, None), slice(None, -2)
    b = np.zeros_like(p)
    change, steps = 1.0, 0

    def east(x):
        return np.roll(x, -1, axis=1)[inner]

    def west(x):
        return np.roll(x, 1, axis=1)[inner]

    while change > SMALLEST_CHANGE:
        ux, vx = (east(u) - west(u)) / (2 * dx), (east(v) - west(v)) / (2 * dx)
        uy, vy = (u[up] - u[down]) / (2 * dy), (v[up] - v[down]) / (2 * dy)
        b[inner] = rho * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)
        for _ in range(nit):
            q = p.copy()
            p[inner] = (east(q) + west(q)) * dy**2 + (q[up] + q[down]) * dx**2 - dx**2 * dy**2 * b[inner]
            p[inner] /= 2 * (dx**2 + dy**2)
            p[0], p[-1] = p[1], p[-2]
        s, t = u.copy(), v.copy()
        push_u, push_v = (east(p) - west(p)) / (2 * rho * dx), (p[up] - p[down]) / (2 * rho * dy)
        for new, old, push in ((u, s, push_u - force), (v, t, push_v)):
            spread = (east(old) - 2 * old[inner] + west(old)) / dx**2 + (old[up] - 2 * old[inner] + old[down]) / dy**2
            carried = s[inner] * (old[inner] - west(old)) / dx + t[inner] * (old[inner] - old[down]) / dy
            new[inner] = old[inner] + dt * (nu * spread - carried - push)
            new[0] = new[-1] = 0
        change = (u.sum() - s.sum()) / u.sum()
        steps += 1
    return steps

"""Flow of a viscous fluid in a cavity whose lid moves: pressure by Poisson's equation, velocity by Navier and Stokes.

A border point of the pressure takes the new value of the nearest inner point, but for the lid's zero: one kernel
computes both.
"""

import intent
import intent.language as I

SIZES = {
    "S": {"ny": 61, "nx": 61, "nt": 25, "nit": 5, "rho": 1.0, "nu": 0.1},
    "M": {"ny": 121, "nx": 121, "nt": 50, "nit": 10, "rho": 1.0, "nu": 0.1},
}
CASES = [
    {"ny": 6, "nx": 7, "nt": 2, "nit": 1, "rho": 1.0, "nu": 0.1},
    {"ny": 8, "nx": 8, "nt": 2, "nit": 2, "rho": 1.0, "nu": 0.1},
    {"ny": 3, "nx": 3, "nt": 1, "nit": 1, "rho": 1.0, "nu": 0.1},
]
REDUCED = {"ny": 13, "nx": 11, "nt": 3, "nit": 2, "rho": 1.0, "nu": 0.1}


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
    rows, columns = I.domain(1, u.shape[0] - 1), I.domain(1, u.shape[1] - 1)
    i, j = I.indices(rows), I.indices(columns)
    du_dx = (u[rows, j + 1] - u[rows, j - 1]) / (2.0 * dx)
    du_dy = (u[i + 1, columns] - u[i - 1, columns]) / (2.0 * dy)
    dv_dx = (v[rows, j + 1] - v[rows, j - 1]) / (2.0 * dx)
    dv_dy = (v[i + 1, columns] - v[i - 1, columns]) / (2.0 * dy)
    b[rows, columns] = rho * ((du_dx + dv_dy) / dt - du_dx * du_dx - 2.0 * du_dy * dv_dx - dv_dy * dv_dy)


@intent.kernel
def relax(
    dx: I.f64,
    dy: I.f64,
    p: I.In[I.f64, ("NY", "NX")],
    b: I.In[I.f64, ("NY", "NX")],
    out: I.Out[I.f64, ("NY", "NX")],
):
    NY, NX = p.shape
    rows, columns = I.domain(0, NY), I.domain(0, NX)
    i = I.minimum(I.maximum(I.indices(rows), 1), NY - 2)[:, None]
    j = I.minimum(I.maximum(I.indices(columns), 1), NX - 2)
    xx, yy = dx * dx, dy * dy
    beside = (p[i, j + 1] + p[i, j - 1]) * yy + (p[i + 1, j] + p[i - 1, j]) * xx
    inner = (beside - xx * yy * b[i, j]) / (2.0 * (xx + yy))
    out[rows, columns] = I.select(I.indices(rows)[:, None] == NY - 1, 0.0, inner)


@intent.kernel
def advance(
    rho: I.f64,
    nu: I.f64,
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
        if i == 0 or i == NY - 1 or j == 0 or j == NX - 1:
            new_u[i, j] = 1.0 if i == NY - 1 else 0.0
            new_v[i, j] = 0.0
        else:
            a, b = u[i, j], v[i, j]
            spread_u = (u[i, j + 1] - 2.0 * a + u[i, j - 1]) / (dx * dx) + (u[i + 1, j] - 2.0 * a + u[i - 1, j]) / (
                dy * dy
            )
            spread_v = (v[i, j + 1] - 2.0 * b + v[i, j - 1]) / (dx * dx) + (v[i + 1, j] - 2.0 * b + v[i - 1, j]) / (
                dy * dy
            )
            carried_u = a * (a - u[i, j - 1]) / dx + b * (a - u[i - 1, j]) / dy
            carried_v = a * (b - v[i, j - 1]) / dx + b * (b - v[i - 1, j]) / dy
            push_u = (p[i, j + 1] - p[i, j - 1]) / (2.0 * rho * dx)
            push_v = (p[i + 1, j] - p[i - 1, j]) / (2.0 * rho * dy)
            new_u[i, j] = a + dt * (nu * spread_u - carried_u - push_u)
            new_v[i, j] = b + dt * (nu * spread_v - carried_v - push_v)


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
    into = context.compile("copy", copy)
    start = context.compile("clear", clear)

    def cavity_flow(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
        b = context.empty((ny, nx), I.f64)
        start(b)
        now_u, now_v, now_p = u, v, p
        for _ in range(nt):
            right_side(rho, dt, dx, dy, now_u, now_v, b)
            for _ in range(nit):
                now_p = pressure.run(dx, dy, now_p, b)
            now_u, now_v = velocity.run(rho, nu, dt, dx, dy, now_p, now_u, now_v)
        into(now_u, u)
        into(now_v, v)
        into(now_p, p)

    return cavity_flow


def inputs(rng, case):
    import numpy as np

    ny, nx = case["ny"], case["nx"]
    fields = {name: np.zeros((ny, nx)) for name in ("u", "v", "p")}
    return {**fields, "dt": 0.1 / ((nx - 1) * (ny - 1)), "dx": 2.0 / (nx - 1), "dy": 2.0 / (ny - 1)}


def reference(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    import numpy as np

    inner, up, down = (slice(1, -1), slice(1, -1)), (slice(2, None), slice(1, -1)), (slice(None, -2), slice(1, -1))
    right, left = (slice(1, -1), slice(2, None)), (slice(1, -1), slice(None, -2))
    b = np.zeros_like(p)
    for _ in range(nt):
        ux, vx = (u[right] - u[left]) / (2 * dx), (v[right] - v[left]) / (2 * dx)
        uy, vy = (u[up] - u[down]) / (2 * dy), (v[up] - v[down]) / (2 * dy)
        b[inner] = rho * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)
        for _ in range(nit):
            q = p.copy()
            p[inner] = (q[right] + q[left]) * dy**2 + (q[up] + q[down]) * dx**2 - dx**2 * dy**2 * b[inner]
            p[inner] /= 2 * (dx**2 + dy**2)
            p[:, -1] = p[:, -2]
            p[0] = p[1]
            p[:, 0] = p[:, 1]
            p[-1] = 0
        s, t = u.copy(), v.copy()
        for new, old, push in (
            (u, s, (p[right] - p[left]) / (2 * rho * dx)),
            (v, t, (p[up] - p[down]) / (2 * rho * dy)),
        ):
            spread = (old[right] - 2 * old[inner] + old[left]) / dx**2 + (old[up] - 2 * old[inner] + old[down]) / dy**2
            carried = s[inner] * (old[inner] - old[left]) / dx + t[inner] * (old[inner] - old[down]) / dy
            new[inner] = old[inner] + dt * (nu * spread - carried - push)
            new[0] = new[-1] = new[:, 0] = new[:, -1] = 0
        u[-1] = 1

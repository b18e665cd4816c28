"""Horizontal diffusion of a weather model: the divergence of limited fluxes of a Laplacian, all in one pass."""

import intent
import intent.language as I

SIZES = {"S": {"I": 64, "J": 64, "K": 60}, "M": {"I": 128, "J": 128, "K": 160}}
CASES = [{"I": 3, "J": 2, "K": 5}, {"I": 4, "J": 4, "K": 8}, {"I": 1, "J": 1, "K": 1}]
REDUCED = {"I": 64, "J": 64, "K": 20}


@intent.fn
def laplacian(x, i, j, k):
    return 4.0 * x[i, j, k] - (x[i + 1, j, k] + x[i - 1, j, k] + x[i, j + 1, k] + x[i, j - 1, k])


@intent.fn
def limited(flux, difference):
    """No flux up the gradient."""
    return I.select(flux * difference > 0.0, 0.0, flux)


@intent.fn
def flux_i(x, i, j, k):
    return limited(laplacian(x, i + 1, j, k) - laplacian(x, i, j, k), x[i + 1, j, k] - x[i, j, k])


@intent.fn
def flux_j(x, i, j, k):
    return limited(laplacian(x, i, j + 1, k) - laplacian(x, i, j, k), x[i, j + 1, k] - x[i, j, k])


@intent.kernel
def diffuse(
    x: I.In[I.f64, ("I_plus_4", "J_plus_4", "K")],
    out: I.Out[I.f64, ("I", "J", "K")],
    coefficient: I.In[I.f64, ("I", "J", "K")],
):
    rows, columns, levels = I.domain(0, out.shape[0]), I.domain(0, out.shape[1]), I.domain(0, out.shape[2])
    i = I.indices(rows)[:, None, None] + 2
    j = I.indices(columns)[:, None] + 2
    k = I.indices(levels)
    divergence = flux_i(x, i, j, k) - flux_i(x, i - 1, j, k) + flux_j(x, i, j, k) - flux_j(x, i, j - 1, k)
    out[rows, columns, levels] = x[i, j, k] - coefficient[rows, columns, levels] * divergence


def build(context):
    once = context.compile("diffuse", diffuse)

    def hdiff(x, out, coefficient):
        once(x, out, coefficient)

    return hdiff


def inputs(rng, case):
    import numpy as np

    sizes = case["I"], case["J"], case["K"]
    x = rng.random((sizes[0] + 4, sizes[1] + 4, sizes[2]))
    return {"x": x, "out": np.zeros(sizes), "coefficient": rng.random(sizes)}


def reference(x, out, coefficient):
    import numpy as np

    inside = x[1:-1, 1:-1]
    laplacian = 4 * inside - (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
    flux = np.diff(laplacian[:, 1:-1], axis=0)
    flux_i = np.where(flux * np.diff(x[1:-1, 2:-2], axis=0) > 0, 0, flux)
    flux = np.diff(laplacian[1:-1], axis=1)
    flux_j = np.where(flux * np.diff(x[2:-2, 1:-1], axis=1) > 0, 0, flux)
    out[:] = x[2:-2, 2:-2] - coefficient * (np.diff(flux_i, axis=0) + np.diff(flux_j, axis=1))

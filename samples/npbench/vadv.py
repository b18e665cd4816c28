"""Vertical advection of a weather model: a tridiagonal system along every column of air, solved for a new tendency."""

import intent
import intent.language as I

SIZES = {"S": {"I": 60, "J": 60, "K": 40}, "M": {"I": 112, "J": 112, "K": 80}}
CASES = [{"I": 3, "J": 2, "K": 5}, {"I": 4, "J": 8, "K": 4}, {"I": 1, "J": 1, "K": 2}]
REDUCED = {"I": 10, "J": 12, "K": 20}


@intent.kernel
def vadv(
    tendency: I.InOut[I.f64, ("I", "J", "K")],
    u: I.In[I.f64, ("I", "J", "K")],
    wind: I.In[I.f64, ("I_plus_1", "J", "K")],
    position: I.In[I.f64, ("I", "J", "K")],
    slow: I.In[I.f64, ("I", "J", "K")],
    rate: I.f64,
):
    rows, columns, K = u.shape
    for i, j in I.parallel((I.domain(0, rows), I.domain(0, columns))):
        ratio = I.buffer((K,), I.f64)
        right = I.buffer((K,), I.f64)
        ratio_below = I.cast(0.0, I.f64)
        right_below = I.cast(0.0, I.f64)
        for k in range(K):
            lower = I.cast(0.0, I.f64)
            upper = I.cast(0.0, I.f64)
            correction = I.cast(0.0, I.f64)
            if k > 0:
                lower = -0.125 * (wind[i + 1, j, k] + wind[i, j, k])
                correction -= lower * (u[i, j, k - 1] - u[i, j, k])
            if k < K - 1:
                upper = 0.125 * (wind[i + 1, j, k + 1] + wind[i, j, k + 1])
                correction -= upper * (u[i, j, k + 1] - u[i, j, k])
            known = rate * position[i, j, k] + slow[i, j, k] + tendency[i, j, k] + correction
            pivot = rate - lower - upper - ratio_below * lower
            ratio_below = upper / pivot
            right_below = (known - right_below * lower) / pivot
            ratio[k] = ratio_below
            right[k] = right_below
        x = I.cast(0.0, I.f64)
        for back in range(1, K + 1):
            x = right[K - back] - ratio[K - back] * x
            tendency[i, j, K - back] = rate * (x - position[i, j, K - back])


def inputs(rng, case):
    sizes = case["I"], case["J"], case["K"]
    tendency, u, position, slow = rng.random((4, *sizes))
    wind = rng.random((sizes[0] + 1, *sizes[1:]))
    return {"tendency": tendency, "u": u, "wind": wind, "position": position, "slow": slow, "rate": 3.0 / 20.0}


def reference(tendency, u, wind, position, slow, rate):
    import numpy as np

    K = u.shape[2]
    ratio, right = np.zeros_like(u), np.zeros_like(u)
    for k in range(K):
        lower = -0.125 * (wind[1:, :, k] + wind[:-1, :, k]) if k > 0 else np.zeros(u.shape[:2])
        upper = 0.125 * (wind[1:, :, k + 1] + wind[:-1, :, k + 1]) if k < K - 1 else np.zeros(u.shape[:2])
        known = rate * position[:, :, k] + slow[:, :, k] + tendency[:, :, k]
        known -= lower * (u[:, :, k - 1] - u[:, :, k])
        known -= upper * (u[:, :, min(k + 1, K - 1)] - u[:, :, k])
        pivot = rate - lower - upper - ratio[:, :, k - 1] * lower
        ratio[:, :, k] = upper / pivot
        right[:, :, k] = (known - right[:, :, k - 1] * lower) / pivot
    x = np.zeros(u.shape[:2])
    for k in reversed(range(K)):
        x = right[:, :, k] - ratio[:, :, k] * x
        tendency[:, :, k] = rate * (x - position[:, :, k])

"""Deriche's recursive smoothing of an image: along both axes the sum of a forward and a backward filter."""

import intent
import intent.language as I

SIZES = {"S": {"W": 400, "H": 200}, "M": {"W": 1500, "H": 1000}}
CASES = [{"W": 7, "H": 5}, {"W": 4, "H": 16}, {"W": 1, "H": 1}]
REDUCED = {"W": 60, "H": 40}


@intent.kernel
def along_rows(
    x: I.In[I.f64, ("W", "H")],
    a1: I.f64,
    a2: I.f64,
    a3: I.f64,
    a4: I.f64,
    b1: I.f64,
    b2: I.f64,
    out: I.Out[I.f64, ("W", "H")],
):
    W, H = x.shape
    for i in I.parallel(I.domain(0, W)):
        x1 = I.cast(0.0, I.f64)
        y1 = I.cast(0.0, I.f64)
        y2 = I.cast(0.0, I.f64)
        for j in range(H):
            now = x[i, j]
            y1, y2 = a1 * now + a2 * x1 + b1 * y1 + b2 * y2, y1
            x1 = now
            out[i, j] = y1
        x1 = I.cast(0.0, I.f64)
        x2 = I.cast(0.0, I.f64)
        y1 = I.cast(0.0, I.f64)
        y2 = I.cast(0.0, I.f64)
        for back in range(H):
            j = H - 1 - back
            y1, y2 = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2, y1
            x1, x2 = x[i, j], x1
            out[i, j] += y1


@intent.kernel
def along_columns(
    x: I.In[I.f64, ("W", "H")],
    a1: I.f64,
    a2: I.f64,
    a3: I.f64,
    a4: I.f64,
    b1: I.f64,
    b2: I.f64,
    out: I.Out[I.f64, ("W", "H")],
):
    W, H = x.shape
    for j in I.parallel(I.domain(0, H)):
        x1 = I.cast(0.0, I.f64)
        y1 = I.cast(0.0, I.f64)
        y2 = I.cast(0.0, I.f64)
        for i in range(W):
            now = x[i, j]
            y1, y2 = a1 * now + a2 * x1 + b1 * y1 + b2 * y2, y1
            x1 = now
            out[i, j] = y1
        x1 = I.cast(0.0, I.f64)
        x2 = I.cast(0.0, I.f64)
        y1 = I.cast(0.0, I.f64)
        y2 = I.cast(0.0, I.f64)
        for back in range(W):
            i = W - 1 - back
            y1, y2 = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2, y1
            x1, x2 = x[i, j], x1
            out[i, j] += y1


def coefficients(alpha):
    import math

    decay = math.exp(-alpha)
    k = (1.0 - decay) * (1.0 - decay) / (1.0 + alpha * decay - math.exp(2.0 * alpha))
    return k, k * decay * (alpha - 1.0), k * decay * (alpha + 1.0), -k * decay * decay, 2.0**-alpha, -decay * decay


def build(context):
    first = context.compile("along_rows", along_rows)
    second = context.compile("along_columns", along_columns)

    def deriche(alpha, image):
        a1, a2, a3, a4, b1, b2 = coefficients(alpha)
        return second.run(first.run(image, a1, a2, a3, a4, b1, b2), a1, a2, a3, a4, b1, b2)

    return deriche


def inputs(rng, case):
    return {"alpha": 0.25, "image": rng.random((case["W"], case["H"]))}


def reference(alpha, image):
    import numpy as np

    a1, a2, a3, a4, b1, b2 = coefficients(alpha)

    def filtered(x):
        """Along the last axis."""
        length = x.shape[1]
        padded = np.pad(x, ((0, 0), (2, 2)))
        forwards, backwards = np.zeros_like(padded), np.zeros_like(padded)
        for j in range(2, length + 2):
            before = b1 * forwards[:, j - 1] + b2 * forwards[:, j - 2]
            forwards[:, j] = a1 * padded[:, j] + a2 * padded[:, j - 1] + before
        for j in reversed(range(2, length + 2)):
            after = b1 * backwards[:, j + 1] + b2 * backwards[:, j + 2]
            backwards[:, j] = a3 * padded[:, j + 1] + a4 * padded[:, j + 2] + after
        return (forwards + backwards)[:, 2:-2]

    return filtered(filtered(image).T).T.copy()

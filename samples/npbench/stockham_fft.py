"""Fourier transform of R**K complex numbers by Stockham's stages, which need no reordering; pairs of reals.

Before a stage x[q, j, p] is the transform, at frequency p of m, of every (N / m)-th number from number q * J + j on.
R of these make one of m * R numbers: out[j, s, p] = sum over q of exp(-2 pi i q (p + m s) / (m R)) * x[q, j, p].
"""

import intent
import intent.language as I

SIZES = {"S": {"R": 2, "K": 15}, "M": {"R": 2, "K": 18}}
CASES = [{"R": 3, "K": 3}, {"R": 2, "K": 5}, {"R": 2, "K": 1}]
TWO_PI = 6.283185307179586


@intent.kernel
def stage(x: I.In[I.f64, ("R", "J", "M", 2)], out: I.Out[I.f64, ("J", "R", "M", 2)]):
    R, J, M, _ = x.shape
    lines, parts, frequencies = I.domain(0, J), I.domain(0, R), I.domain(0, M)
    frequency = I.indices(frequencies)[None, :] + M * I.indices(parts)[:, None]
    real = I.zeros((lines, parts, frequencies), I.f64)
    imaginary = I.zeros((lines, parts, frequencies), I.f64)
    for q in range(R):
        turn = I.cast(q * frequency % (M * R), I.f64) * (-TWO_PI) / I.cast(M * R, I.f64)
        cosine = I.cos(turn)
        sine = I.sin(turn)
        a = x[q, lines, frequencies, 0][:, None, :]
        b = x[q, lines, frequencies, 1][:, None, :]
        real = real + (cosine * a - sine * b)
        imaginary = imaginary + (cosine * b + sine * a)
    out[lines, parts, frequencies, 0] = real
    out[lines, parts, frequencies, 1] = imaginary


def build(context):
    step = context.compile("stage", stage)

    def stockham_fft(count, radix, stages, x, y):
        for done in range(stages - 1):
            length = radix**done
            x = step.run(x.reshape(radix, count // (radix * length), length, 2))
        length = count // radix
        step(x.reshape(radix, 1, length, 2), y.reshape(1, radix, length, 2))

    return stockham_fft


def inputs(rng, case):
    import numpy as np

    count = case["R"] ** case["K"]
    values = {"x": rng.random((count, 2)), "y": np.zeros((count, 2))}
    return {"count": count, "radix": case["R"], "stages": case["K"], **values}


def reference(count, radix, stages, x, y):
    import numpy as np

    found = np.fft.fft(x[:, 0] + 1j * x[:, 1])
    y[:, 0], y[:, 1] = found.real, found.imag

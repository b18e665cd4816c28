"""One butterfly of the Walsh-Hadamard transform: positions that differ in one bit become their sum and difference."""

import intent
import intent.language as I

WIDTH = 64

CASES = [
    {"M": 5, "stride": 8},
    {"M": 4, "stride": 1},
    {"M": 1, "stride": 32},
    {"M": 0, "stride": 4},
]
LARGE = [{"M": 517, "stride": 16}]


@intent.kernel
def hadamard_step(
    x: I.In[I.f32, ("M", WIDTH)],
    stride: I.index,
    out: I.Out[I.f32, ("M", WIDTH)],
):
    columns = I.domain(0, WIDTH)
    i = I.indices(columns)
    partner = i ^ stride
    I.assume_in_bounds(partner, x, axis=1)
    for row in I.parallel(I.domain(0, x.shape[0])):
        mine = x[row, columns]
        other = x[row, partner]
        out[row, columns] = I.select((i & stride) == 0, mine + other, other - mine)


def reference(x, stride):
    import numpy as np

    i = np.arange(WIDTH)
    other = x[:, i ^ int(stride)]
    return np.where((i & int(stride)) == 0, x + other, other - x)

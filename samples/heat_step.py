"""One explicit step of the heat equation on the interior of a grid; the boundary of `after` is the caller's."""

import intent
import intent.language as I

CASES = [
    {"M": 7, "N": 37},
    {"M": 18, "N": 18},
    {"M": 3, "N": 3},
    {"M": 2, "N": 5},
    {"M": 1, "N": 1},
    {"M": 0, "N": 4},
]
LARGE = [{"M": 301, "N": 517}]


@intent.kernel
def heat_step(
    before: I.In[I.f32, ("M", "N")],
    rate: I.f32,
    after: I.InOut[I.f32, ("M", "N")],
):
    M, N = before.shape
    rows = I.domain(1, M - 1)
    columns = I.domain(1, N - 1)
    i = I.indices(rows)
    j = I.indices(columns)
    u = before[rows, columns]
    neighbours = before[i - 1, columns] + before[i + 1, columns] + before[rows, j - 1] + before[rows, j + 1]
    after[rows, columns] = u + rate * (neighbours - 4.0 * u)


def reference(before, rate, after):
    result = after.copy()
    if min(before.shape) > 2:
        u = before[1:-1, 1:-1]
        neighbours = before[:-2, 1:-1] + before[2:, 1:-1] + before[1:-1, :-2] + before[1:-1, 2:]
        result[1:-1, 1:-1] = u + rate * (neighbours - 4 * u)
    return result

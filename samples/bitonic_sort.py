"""Sort every row of WIDTH elements in ascending order with a bitonic network held in registers."""

import intent
import intent.language as I

WIDTH = 32


@intent.kernel
def bitonic_sort(
    x: I.In[I.f32, ("M", WIDTH)],
    out: I.Out[I.f32, ("M", WIDTH)],
):
    columns = I.domain(0, WIDTH)
    i = I.indices(columns)
    for row in I.parallel(I.domain(0, x.shape[0])):
        v = x[row, columns]
        run = I.cast(2, I.index)
        while run <= WIDTH:
            stride = run // 2
            while stride > 0:
                other = v[i ^ stride]
                ascending = (i & run) == 0
                lower = (i & stride) == 0
                v = I.select(ascending == lower, I.minimum(v, other), I.maximum(v, other))
                stride = stride // 2
            run = run * 2
        out[row, columns] = v


def reference(x):
    import numpy as np

    return np.sort(x, axis=1)

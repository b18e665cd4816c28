"""Row t of x goes to row position[t] of out; position is a permutation, so no two rows meet."""

import intent
import intent.language as I


@intent.kernel
def permute_rows(
    x: I.In[I.f32, ("T", "D")],
    position: I.In[I.i64, ("T",)],
    out: I.Out[I.f32, ("T", "D")],
):
    T, D = x.shape
    d = I.domain(0, D)
    for t in I.parallel(I.domain(0, T)):
        I.scatter_unique(out, (I.cast(position[t], I.index), d), x[t, d])


def inputs(rng, case):
    return {"position": rng.permutation(case["T"])}


def reference(x, position):
    import numpy as np

    out = np.empty_like(x)
    out[position] = x
    return out

"""log(sum(exp(x))) of every row, shifted by the row's maximum so that no exponential overflows."""

import intent
import intent.language as I


@intent.kernel
def logsumexp(x: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        v = x[row, columns]
        largest = I.reduce.max(v, axis=0)
        # A row of -inf only has no finite shift; its result is -inf, as is that of an empty row.
        shift = largest if largest > -I.inf else 0.0
        out[row] = shift + I.log(I.reduce.sum(I.exp(v - shift), axis=0))


def reference(x):
    import numpy as np

    return np.logaddexp.reduce(x.astype(np.float64), axis=1, initial=-np.inf).astype(np.float32)

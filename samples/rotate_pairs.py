"""Every pair (a, b) of neighbouring elements becomes (-b, a): the quarter turn of interleaved rotary embeddings."""

import intent
import intent.language as I

HEAD = 64


@intent.kernel
def rotate_pairs(
    x: I.In[I.f32, ("M", HEAD)],
    out: I.Out[I.f32, ("M", HEAD)],
):
    for row in I.parallel(I.domain(0, x.shape[0])):
        pairs = I.reshape(x[row, :], (HEAD // 2, 2))
        out[row, :] = I.reshape(I.join(-pairs[:, 1], pairs[:, 0]), (HEAD,))


def reference(x):
    import numpy as np

    return np.stack([-x[:, 1::2], x[:, 0::2]], axis=2).reshape(x.shape)

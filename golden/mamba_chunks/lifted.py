"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def chunk_state(
    x: I.In[I.f16, ("B", "C", "L", "H", "P")],
    entry: I.In[I.f16, ("B", "C", "L", "N")],
    decay: I.In[I.f32, ("B", "H", "C", "L")],
    states: I.Out[I.f32, ("B", "C", "H", "P", "N")],
):
    B, C, L, H, P = x.shape
    N = entry.shape[3]
    l = I.domain(0, L)
    h = I.domain(0, H)
    p = I.domain(0, P)
    n = I.domain(0, N)
    for b in I.parallel(I.domain(0, B)):
        for c in I.parallel(I.domain(0, C)):
            states[b, c, h, p, n] = I.contract(
                I.cast(
                    I.cast(x[b, c, l, h, p], I.f32)
                    * I.exp(
                        I.gather(decay, (b, h, c, L - 1), valid=0 < L, fill=0.0)
                        - I.transpose(decay[b, h, c, l], (1, 0)),
                    )[:, :, None],
                    I.f16,
                ),
                entry[b, c, l, n],
                reduce=((0, 0),),
                acc_dtype=I.f32,
            )


@intent.kernel
def state_passing(
    states: I.In[I.f32, ("B", "C", "H", "P", "N")],
    decay: I.In[I.f32, ("B", "H", "C", "L")],
    before: I.Out[I.f32, ("B", "C", "H", "P", "N")],
    last: I.Out[I.f32, ("B", "H", "P", "N")],
):
    B, C, H, P, N = states.shape
    L = decay.shape[3]
    n = I.domain(0, N)
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for p in I.parallel(I.domain(0, P)):
                state = I.zeros((N,), I.f32)
                for c in range(C):
                    before[b, c, h, p, n] = state
                    state = (
                        state * I.exp(I.gather(decay, (b, h, c, L - 1), valid=0 < L, fill=0.0)) + states[b, c, h, p, n]
                    )
                last[b, h, p, n] = state


@intent.kernel
def chunk_scan(
    x: I.In[I.f16, ("B", "C", "L", "H", "P")],
    entry: I.In[I.f16, ("B", "C", "L", "N")],
    readout: I.In[I.f16, ("B", "C", "L", "N")],
    decay: I.In[I.f32, ("B", "H", "C", "L")],
    before: I.In[I.f32, ("B", "C", "H", "P", "N")],
    out: I.Out[I.f16, ("B", "C", "L", "H", "P")],
):
    B, C, L, H, P = x.shape
    N = entry.shape[3]
    l = I.domain(0, L)
    n = I.domain(0, N)
    l_2 = I.domain(0, L)
    p = I.domain(0, P)
    for b in I.parallel(I.domain(0, B)):
        for c in I.parallel(I.domain(0, C)):
            for h in I.parallel(I.domain(0, H)):
                decay_values = decay[b, h, c, l]
                readout_values = readout[b, c, l, n]
                product = I.matmul(readout_values, entry[b, c, l_2, n], acc_dtype=I.f32, transpose_rhs=True)
                product_2 = I.matmul(
                    I.select(
                        I.indices(l_2) <= I.indices(l)[:, None],
                        I.cast(product * I.exp(decay_values[:, None] - decay[b, h, c, l_2]), I.f16),
                        0.0,
                    ),
                    x[b, c, l_2, h, p],
                    acc_dtype=I.f32,
                )
                product_3 = I.matmul(
                    readout_values, I.cast(before[b, c, h, p, n], I.f16), acc_dtype=I.f32, transpose_rhs=True
                )
                out[b, c, l, h, p] = I.cast(product_3 * I.exp(decay_values)[:, None] + product_2, I.f16)

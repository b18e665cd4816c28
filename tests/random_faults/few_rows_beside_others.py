# A fold has a variant for few rows, which changed the lanes of axes that the kernel's other regions do not have.
import intent
import intent.language as I


@intent.fn
def helper1(keys, values, at, q, row, causal):
    scores = I.matmul(q, keys, transpose_rhs=True, acc_dtype=I.f32)
    if causal:
        scores = I.mask(scores, at[None, :] <= row[:, None], 0.0)
    scores = I.cast(I.maximum(I.minimum(scores, 4.0), -4.0), I.f16)
    return I.matmul(scores, values, acc_dtype=I.f32)


@intent.kernel
def k(
    x0: I.In[I.f32, ("K",)],
    x1: I.In[I.f32, ("D",)],
    x2: I.In[I.f16, ("D", "M")],
    x3: I.In[I.f16, ("K", "D")],
    x4: I.In[I.f32, ("K", "N")],
    off7_M: I.In[I.i32, ("F",)],
    x8: I.In[I.f16, ("M", "N")],
    x9: I.In[I.f16, ("M", 8)],
    z10: I.InOut[I.f32, ("F", "N", 8)],
    x15: I.In[I.f32, ("M",)],
    x17: I.In[I.f32, (), I.constraints(noalias=True)],
    y18: I.Out[I.f32, ("M", "N")],
    y21: I.Out[I.f32, ("M",)],
):
    K = x0.shape[0]
    k = I.domain(0, K)
    D = x1.shape[0]
    d = I.domain(0, D)
    M = x2.shape[1]
    m = I.domain(0, M)
    N = x4.shape[1]
    n = I.domain(0, N)
    F = off7_M.shape[0]
    v2 = I.region_fold(
        source=(x3[k, d], I.cast(x4[k, n], I.f16), I.indices(k)),
        axis=0,
        summarize=helper1,
        combine=I.add,
        identity=I.zeros((M, N), I.f32),
        operands=(I.transpose(x2[d, :], (1, 0)), m, False),
    )
    rows10 = I.ragged(outer=I.domain(0, F - 1), members=m, offsets=off7_M)
    for g11 in rows10.outer:
        part12 = rows10[g11]
        z10[g11, :, :] = I.matmul(x8[part12, n], x9[part12, :], transpose_lhs=True, acc_dtype=I.f32)
    y18[:, n] = (x17[()] / I.gather(x15, (m,), valid=I.indices(m) < M, fill=2.0))[:, None] + v2
    y21[m] = x17[()]

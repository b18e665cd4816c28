# The carry of a scan is stored, and read back, along axes of other names: all of them have the lanes of its product.
import intent
import intent.language as I

CONST8 = I.constraints(noalias=True)


@intent.fn
def helper1(a, b):
    return I.matmul(a, b, transpose_lhs=True, acc_dtype=I.f32)


@intent.fn
def helper2(a, b, state):
    return I.matmul(a, state, acc_dtype=I.f32)


@intent.fn
def helper3(summary, state):
    return state + summary


@intent.kernel
def k(
    x0: I.In[I.f32, ("M",)],
    x6: I.In[I.f32, ("K",)],
    x7: I.In[I.f32, ("K", "M")],
    x8: I.In[I.f32, ("K", 8)],
    y14: I.Out[I.f32, ("M", 8)],
    y17: I.Out[I.f32, ("M", 8)],
):
    M = x0.shape[0]
    m = I.domain(0, M)
    static8 = I.domain(0, 8)
    K = x6.shape[0]
    k = I.domain(0, K)
    _, v5 = I.region_scan(
        source=(x7[k, :], x8[k, :]),
        axis=0,
        summarize=helper1,
        combine=I.add,
        identity=I.zeros((M, 8), I.f32),
        initial_state=I.zeros((M, 8), I.f32),
        apply=helper3,
        emit=helper2,
    )
    y14[m, static8] = v5
    for p6, p7 in I.parallel((m, static8)):
        y17[p6, p7] = y14[p6, p7]

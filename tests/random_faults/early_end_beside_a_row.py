# What a loop with an early end counts is needed outside of the loop over a row that it runs within for another carry,
# which is in memory then.
import intent
import intent.language as I


@intent.fn
def doubled(v, stop):
    count = I.cast(0, I.i32)
    for j in range(3):
        if stop and j > 0:
            break
        v = v * 2
        count += 1
    return v, count


@intent.fn
def summarize(v, limit):
    return I.reduce.sum(I.mask(v, v >= limit, 0), axis=1)


@intent.fn
def combine(a, b):
    return a + b


@intent.kernel
def k(
    x0: I.In[I.u8, ("M", "N")],
    x1: I.In[I.bool, ()],
    x2: I.In[I.i32, ("M", "N")],
    y3: I.Out[I.i32, ("M",)],
    y4: I.Out[I.u8, ("M", "N")],
):
    M, N = x0.shape
    m, n = I.domain(0, M), I.domain(0, N)
    v, count = doubled(x0[m, n], x1[()])
    y3[m] = I.region_fold(
        source=x2[m, n], axis=1, summarize=summarize, combine=combine, identity=I.zeros((M,), I.i32), operands=(count,)
    )
    y4[m, n] = v

# What a region scan needs was written before, in a loop over single elements: the rows of its state stay within one
# program, and a loop with a store in it was not run again for each tile of them.
import intent
import intent.language as I


@intent.fn
def total(v, at, limit):
    return I.reduce.sum(I.mask(v, at < limit, 0), axis=1)


@intent.fn
def both(a, b):
    return a + b


@intent.fn
def prefixes(v, at, state, limit):
    return both(state[:, None, :], I.cumsum(I.mask(v, at < limit, 0), axis=1))


@intent.kernel
def k(
    x: I.In[I.i32, ("B", "M", "K", "N")],
    limits: I.Out[I.i32, ("B", "M", "N")],
    y: I.Out[I.i32, ("B", "M", "K", "N")],
):
    B, M, K, N = x.shape
    m, k, n = I.domain(0, M), I.domain(0, K), I.domain(0, N)
    for p in I.domain(0, B):
        for q in m:
            for r in n:
                limits[p, q, r] = 2
    for p in I.domain(0, B):
        sums, _ = I.region_scan(
            source=(x[p, m, k, n], I.cast(I.indices(k), I.i32)[None, :, None]),
            axis=1,
            summarize=total,
            combine=both,
            identity=0,
            initial_state=1,
            apply=both,
            emit=prefixes,
            operands=(limits[p, m, n][:, None, :],),
        )
        y[p, m, :, :] = sums

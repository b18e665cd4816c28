# The rows of a region scan's state stay within one program, which a buffer makes keep statement order.
import intent
import intent.language as I


@intent.fn
def total(v, at, limit):
    return I.record(total=I.reduce.sum(I.mask(v, at >= limit, 0), axis=1))


@intent.fn
def both(a, b):
    return I.record(total=a.total + b.total)


@intent.fn
def prefixes(v, at, state, limit):
    return state.total[:, None] + I.cumsum(I.mask(v, at >= limit, 0), axis=1)


@intent.kernel
def k(
    x: I.In[I.f32, ("M", "N")],
    at: I.In[I.i32, ("N",)],
    y: I.Out[I.i32, ("M", "N", "K")],
    z: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    K = y.shape[2]
    m, n, k = I.domain(0, M), I.domain(0, N), I.domain(0, K)
    for p in I.parallel(m):
        none = I.record(total=I.full((N,), 0, dtype=I.i32))
        sums, _ = I.region_scan(
            source=(I.full((N, K), 2, dtype=I.i32), I.cast(I.indices(k), I.i32)[None, :]), axis=1,
            summarize=total, combine=both, identity=none, initial_state=none, apply=both, emit=prefixes,
            operands=(I.cast(I.indices(n), I.i32)[:, None],),
        )  # fmt: skip
        y[p, n, k] = sums
        row = I.buffer((N,), I.f32, init=x[p, n] * x[p, I.cast(at[n], I.index) % N])
        for j in range(1, N):
            row[j] = -row[j - 1]
        z[p, :] = row[:]

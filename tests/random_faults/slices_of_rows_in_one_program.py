# A loop over slices with a store in it ran outside the loop over the rows of its state, where these are no lanes of the
# store's tile: the rows' loop comes first now.
import intent
import intent.language as I


@intent.fn
def summarize(v, at, limit):
    return I.reduce.sum(I.mask(v, at >= limit, 0), axis=2)


@intent.fn
def join(a, b):
    return a + b


@intent.fn
def emit(v, at, state, limit):
    return state[:, :, None] + I.cumsum(I.mask(v, at >= limit, 0), axis=2)


@intent.kernel
def k(
    x: I.In[I.f16, ("B", "M", "N", "K")],
    z: I.In[I.i32, ("B", "M", "N")],
    y: I.Out[I.i32, ("B", "M", "N", "K")],
    w: I.Out[I.bf16, ("B",)],
):
    B, M, N, K = x.shape
    b, m, n, k = I.domain(0, B), I.domain(0, M), I.domain(0, N), I.domain(0, K)
    for p in b:
        prefixes, _ = I.region_scan(
            source=(I.cast(x[p, m, n, k], I.i32), I.cast(I.indices(k), I.i32)[None, None, :]),
            axis=2,
            summarize=summarize,
            combine=join,
            identity=0,
            initial_state=0,
            apply=join,
            emit=emit,
            operands=(z[p, m, :][:, :, None],),
        )
        y[p, :, n, :] = prefixes
        w[p] = 1.0

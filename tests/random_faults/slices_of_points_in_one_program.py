# A loop over slices with a store in it ran outside the loop over its points, where a kernel runs as one program: the
# points' loop comes first now.
import intent
import intent.language as I


@intent.fn
def summarize(v, at, limit):
    return I.reduce.max(I.mask(v, at < limit, 0), axis=0)


@intent.fn
def larger(a, b):
    return I.maximum(a, b)


@intent.fn
def emit(v, at, state, limit):
    return larger(state[None, :], I.cummax(I.mask(v, at < limit, 0), axis=0))


@intent.kernel
def k(
    x: I.In[I.f64, (8, "M")],
    flag: I.In[I.bool, ()],
    z: I.In[I.i32, ("M", "K")],
    y: I.Out[I.f64, ("M", 8)],
    w: I.Out[I.i32, ("M", "K", 8)],
):
    M, K = z.shape
    m, k, eight = I.domain(0, M), I.domain(0, K), I.domain(0, 8)
    y[m, eight] = I.select(flag[()], 1.0, I.transpose(x[:, :], (1, 0)))
    for p in I.parallel(m):
        at = I.cast(I.indices(k), I.i32)
        nothing = I.full((1,), -2147483648, dtype=I.i32)
        prefixes, _ = I.region_scan(
            source=(I.select(flag[()], z[p, k], at)[:, None], at[:, None]),
            axis=0,
            summarize=summarize,
            combine=larger,
            identity=nothing,
            initial_state=nothing,
            apply=larger,
            emit=emit,
            operands=(I.cast(p, I.i32),),
        )
        w[p, k, eight] = prefixes

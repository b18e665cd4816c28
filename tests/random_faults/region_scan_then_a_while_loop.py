import intent
import intent.language as I


@intent.fn
def mix(a, b):
    return a ^ b


@intent.fn
def summarize(v, at, limit):
    v = I.mask(v, at != limit, 0)
    return I.record(mixed=I.reduce(v ^ at, axis=0, identity=0, combine=mix))


@intent.fn
def combine(a, b):
    return I.record(mixed=a.mixed ^ b.mixed)


@intent.fn
def differ(a, b):
    return a ^ b


@intent.fn
def emit(v, at, state, limit):
    v = I.mask(v, at != limit, 0)
    return differ(state.mixed, I.scan(v ^ at, axis=0, identity=0, combine=differ))


@intent.fn
def apply(b, a):
    return I.record(mixed=a.mixed ^ b.mixed)


@intent.kernel
def k(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    n = I.domain(0, N)
    for p in I.domain(0, M):
        mixed, _state = I.region_scan(
            source=(x[p, n], I.cast(I.indices(n), I.i32)), axis=0, summarize=summarize, combine=combine,
            identity=I.record(mixed=0), initial_state=I.record(mixed=0), apply=apply, emit=emit, operands=(7,),
        )  # fmt: skip
        t = I.cast(0, I.i32)
        while True:
            t = t + 1
            if t > 4:
                break
        y[p, :] = mixed >> t

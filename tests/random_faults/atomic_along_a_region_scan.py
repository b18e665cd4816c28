# An atomic update along an output of a region scan was not moved into the scan's loop, as a store is: a crash.
import intent
import intent.language as I


@intent.fn
def total(v):
    return I.reduce.sum(v, axis=0)


@intent.fn
def after(summary, state):
    return state + summary


@intent.fn
def emit(v, state):
    return (state + I.cumsum(v, axis=0)) & 7


@intent.kernel
def k(x: I.In[I.i32, ("M", "N")], z: I.InOut[I.i32, (8,)], y: I.InOut[I.i32, (8,)]):
    M = x.shape[0]
    nothing = I.cast(0, I.i32)
    for row in I.domain(0, M):
        places, _ = I.region_scan(
            source=x[row, :] & 3,
            axis=0,
            summarize=total,
            combine=I.add,
            identity=nothing,
            initial_state=nothing,
            apply=after,
            emit=emit,
        )
        I.atomic.xor(z, (places,), 5, order="relaxed")
        I.scatter_reduce(y, (places,), x[row, :], I.add)

import intent
import intent.language as I


@intent.fn
def helper(a, b, k):
    return a + b + k * a * b


@intent.kernel
def k(x: I.In[I.i32, ("N", "K")], z: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    N = z.shape[0]
    for p in I.parallel(I.domain(0, N)):
        c = z[p] ** 3
        d = z[p] & 5
        for _step in range(2):
            if z[p] > 0:
                c, d = d, c >> 2
        _unused = I.reduce(x[p, :] & 3, axis=0, identity=I.cast(0, I.i32), combine=helper, combine_operands=(c,))
        y[p] = 1

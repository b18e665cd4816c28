# The variants of a kernel met the combines in different orders and numbered them each in its own: names that said one
# combine in one variant said the other in the next. All variants of a kernel share the names now.
import intent
import intent.language as I


@intent.fn
def lowest(a, b):
    return I.record(total=a.total + b.total, low=I.minimum(a.low, b.low))


@intent.fn
def with_products(a, b, k):
    return a + b + k * a * b


@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], z: I.In[I.i32, ("M", "N")], s: I.In[I.i32, ()], y: I.Out[I.i32, ("M", "N")]):
    v = I.reduce(
        I.record(total=x[:, :], low=z[:, :]), axis=0, identity=I.record(total=0.0, low=2147483647), combine=lowest
    )
    w = I.reduce(z[:, :], axis=1, identity=I.cast(0, I.i32), combine=with_products, combine_operands=(s[()],))
    y[:, :] = I.select(v.low < z[:, :], 7, w[:, None])

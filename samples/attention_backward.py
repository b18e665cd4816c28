"""The three passes of causal attention's backward: row sums of dout * out, gradients of keys and values, of queries.

The forward pass kept L, the logarithm of every query's mass (base 2, in scaled scores): a weight is exp2(score - L).
"""

import intent
import intent.language as I

FINITE = ["q", "k", "v", "dout", "log_mass", "delta", "out"]
TOLERANCE = 6e-3
CASES = [
    {"B": 2, "S": 37, "D": 16},
    {"B": 1, "S": 70, "D": 8},
    {"B": 1, "S": 1, "D": 1},
    {"B": 1, "S": 0, "D": 4},
]
LARGE = [{"B": 3, "S": 517, "D": 64}]


@intent.fn
def add(lhs, rhs):
    return I.record(first=lhs.first + rhs.first, second=lhs.second + rhs.second)


@intent.fn
def add_one(lhs, rhs):
    return lhs + rhs


@intent.fn
def weights_of(q, k, query, key, log_mass, scale):
    scores = I.matmul(q, k, transpose_rhs=True, acc_dtype=I.f32) * scale
    weights = I.exp2(scores - log_mass[:, None], approximate=True, flush_to_zero=True)
    return I.mask(weights, key[None, :] <= query[:, None], 0.0)


@intent.fn
def of_keys(q, dout, log_mass, delta, query, k, v, key, scale):
    weights = weights_of(q, k, query, key, log_mass, scale)
    change = weights * (I.matmul(dout, v, transpose_rhs=True, acc_dtype=I.f32) - delta[:, None])
    return I.record(
        first=I.matmul(I.cast(change, I.f16), q, transpose_lhs=True, acc_dtype=I.f32),
        second=I.matmul(I.cast(weights, I.f16), dout, transpose_lhs=True, acc_dtype=I.f32),
    )


@intent.fn
def of_queries(k, v, key, q, dout, log_mass, delta, query, scale):
    weights = weights_of(q, k, query, key, log_mass, scale)
    change = weights * (I.matmul(dout, v, transpose_rhs=True, acc_dtype=I.f32) - delta[:, None])
    return I.matmul(I.cast(change, I.f16), k, acc_dtype=I.f32)


@intent.kernel
def attention_delta(
    dout: I.In[I.f16, ("B", "S", "D")],
    out: I.In[I.f16, ("B", "S", "D")],
    delta: I.Out[I.f32, ("B", "S")],
):
    delta[:, :] = I.reduce.sum(I.cast(dout[:, :, :], I.f32) * I.cast(out[:, :, :], I.f32), axis=2)


@intent.kernel
def attention_dk_dv(
    q: I.In[I.f16, ("B", "S", "D")],
    k: I.In[I.f16, ("B", "S", "D")],
    v: I.In[I.f16, ("B", "S", "D")],
    dout: I.In[I.f16, ("B", "S", "D")],
    log_mass: I.In[I.f32, ("B", "S")],
    delta: I.In[I.f32, ("B", "S")],
    scale: I.f32,
    dk: I.Out[I.f16, ("B", "S", "D")],
    dv: I.Out[I.f16, ("B", "S", "D")],
):
    B, S, D = q.shape
    queries = I.domain(0, S)
    keys = I.domain(0, S)
    for b in I.parallel(I.domain(0, B)):
        found = I.region_fold(
            source=(q[b, queries, :], dout[b, queries, :], log_mass[b, queries], delta[b, queries], I.indices(queries)),
            axis=0,
            summarize=of_keys,
            combine=add,
            identity=I.record(first=I.zeros((S, D), I.f32), second=I.zeros((S, D), I.f32)),
            operands=(k[b, keys, :], v[b, keys, :], I.indices(keys), scale * I.LOG2E),
        )
        dk[b, keys, :] = I.cast(found.first * scale, I.f16)
        dv[b, keys, :] = I.cast(found.second, I.f16)


@intent.kernel
def attention_dq(
    q: I.In[I.f16, ("B", "S", "D")],
    k: I.In[I.f16, ("B", "S", "D")],
    v: I.In[I.f16, ("B", "S", "D")],
    dout: I.In[I.f16, ("B", "S", "D")],
    log_mass: I.In[I.f32, ("B", "S")],
    delta: I.In[I.f32, ("B", "S")],
    scale: I.f32,
    dq: I.Out[I.f16, ("B", "S", "D")],
):
    B, S, D = q.shape
    queries = I.domain(0, S)
    keys = I.domain(0, S)
    for b in I.parallel(I.domain(0, B)):
        found = I.region_fold(
            source=(k[b, keys, :], v[b, keys, :], I.indices(keys)),
            axis=0,
            summarize=of_queries,
            combine=add_one,
            identity=I.zeros((S, D), I.f32),
            operands=(
                q[b, queries, :],
                dout[b, queries, :],
                log_mass[b, queries],
                delta[b, queries],
                I.indices(queries),
                scale * I.LOG2E,
            ),
        )
        dq[b, queries, :] = I.cast(found * scale, I.f16)


def inputs(rng, case):
    """With the mass that belongs to the scores: no weight exceeds 1."""
    import numpy as np

    shape = (case["B"], case["S"], case["D"])
    q, k = (rng.standard_normal(shape).astype(np.float16) for _ in range(2))
    scale = np.float32(case["D"] ** -0.5)
    mass = np.sum(np.exp2(_scores(q, k, scale)), axis=2)
    return {"q": q, "k": k, "scale": scale, "log_mass": np.log2(mass).astype(np.float32)}


def _scores(q, k, scale):
    import numpy as np

    scores = np.einsum("bsd,btd->bst", q.astype(np.float64), k.astype(np.float64)) * scale * np.log2(np.e)
    return np.where(np.tri(q.shape[1], dtype=bool), scores, -np.inf)


def _weights(q, k, log_mass, scale):
    import numpy as np

    return np.exp2(_scores(q, k, scale) - log_mass[:, :, None])


def attention_delta_reference(dout, out):
    import numpy as np

    return np.sum(dout.astype(np.float64) * out.astype(np.float64), axis=2).astype(np.float32)


def attention_dk_dv_reference(q, k, v, dout, log_mass, delta, scale):
    import numpy as np

    weights = _weights(q, k, log_mass, scale)
    change = np.einsum("bsd,btd->bst", dout.astype(np.float64), v.astype(np.float64)) - delta[:, :, None]
    dk = np.einsum("bst,bsd->btd", weights * change, q.astype(np.float64)) * scale
    dv = np.einsum("bst,bsd->btd", weights, dout.astype(np.float64))
    return dk.astype(np.float16), dv.astype(np.float16)


def attention_dq_reference(q, k, v, dout, log_mass, delta, scale):
    import numpy as np

    weights = _weights(q, k, log_mass, scale)
    change = np.einsum("bsd,btd->bst", dout.astype(np.float64), v.astype(np.float64)) - delta[:, :, None]
    return (np.einsum("bst,btd->bsd", weights * change, k.astype(np.float64)) * scale).astype(np.float16)

"""The gated delta rule in chunks of the sequence, products instead of steps, three launches:

    chunk_updates   what a chunk would write if nothing was held before, and what of it every held row takes back
    state_passing   the state before each chunk, what the chunk then really writes, and the state after the last
    chunk_outputs   the outputs: what was held before the chunk decays, what the chunk has written so far comes on top

Within a chunk, what is learned at a step answers to what was learned before it: the sum of `learned` and `a @ learned`
is strength * (value - held), with a below the diagonal alone, so that one forward substitution serves both right-hand
sides. `decay[b, h, c, l]` is the sum of the gates of chunk c up to and including position l. A sequence that ends
within a chunk is filled up with strength 0.
"""

import intent
import intent.language as I

L = 32
FINITE = ["query", "key", "value", "decay", "strength", "taken", "given", "before", "learned", "state"]
TOLERANCE = 6e-3
CASES = [
    {"B": 1, "C": 3, "H": 2, "D": 16, "E": 24},
    {"B": 2, "C": 1, "H": 1, "D": 5, "E": 3},
    {"B": 1, "C": 2, "H": 1, "D": 1, "E": 1},
    {"B": 1, "C": 0, "H": 1, "D": 4, "E": 4},
]
LARGE = [{"B": 2, "C": 5, "H": 3, "D": 64, "E": 128}]


@intent.kernel
def chunk_updates(
    key: I.In[I.f16, ("B", "C", L, "H", "D")],
    value: I.In[I.f16, ("B", "C", L, "H", "E")],
    decay: I.In[I.f32, ("B", "H", "C", L)],
    strength: I.In[I.f32, ("B", "H", "C", L)],
    taken: I.Out[I.f16, ("B", "H", "C", L, "D")],
    given: I.Out[I.f32, ("B", "H", "C", L, "E")],
):
    B, C, _, H, _ = key.shape
    steps = I.indices(I.domain(0, L))
    for b, h, c in I.parallel((I.domain(0, B), I.domain(0, H), I.domain(0, C))):
        k = key[b, c, :, h, :]
        total = decay[b, h, c, :]
        s = strength[b, h, c, :]
        overlap = I.matmul(k, k, transpose_rhs=True, acc_dtype=I.f32) * I.exp(total[:, None] - total[None, :])
        a = I.mask(overlap * s[:, None], steps[None, :] < steps[:, None], 0.0)
        inverse = I.cast(steps[None, :] == steps[:, None], I.f32)
        for t in range(L):
            rest = I.reduce.sum(I.select(steps[:, None] == t, a, 0.0), axis=0)
            row = I.cast(steps == t, I.f32) - I.vecmat(rest, inverse, acc_dtype=I.f32)
            inverse = I.select(steps[:, None] == t, row[None, :], inverse)
        solved = I.cast(inverse * s[None, :], I.f16)
        given[b, h, c, :, :] = I.matmul(solved, value[b, c, :, h, :], acc_dtype=I.f32)
        faded = I.cast(inverse * (s * I.exp(total))[None, :], I.f16)
        taken[b, h, c, :, :] = I.cast(I.matmul(faded, k, acc_dtype=I.f32), I.f16)


@intent.kernel
def state_passing(
    key: I.In[I.f16, ("B", "C", L, "H", "D")],
    decay: I.In[I.f32, ("B", "H", "C", L)],
    taken: I.In[I.f16, ("B", "H", "C", L, "D")],
    given: I.In[I.f32, ("B", "H", "C", L, "E")],
    before: I.Out[I.f16, ("B", "H", "C", "D", "E")],
    learned: I.Out[I.f16, ("B", "H", "C", L, "E")],
    state: I.InOut[I.f32, ("B", "H", "D", "E")],
):
    B, C, _, H, D = key.shape
    E = given.shape[4]
    d, e = I.domain(0, D), I.domain(0, E)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        held = state[b, h, d, e]
        for c in range(C):
            narrow = I.cast(held, I.f16)
            before[b, h, c, d, e] = narrow
            new = given[b, h, c, :, e] - I.matmul(taken[b, h, c, :, d], narrow, acc_dtype=I.f32)
            learned[b, h, c, :, e] = I.cast(new, I.f16)
            total = decay[b, h, c, :]
            last = decay[b, h, c, L - 1]
            faded = I.cast(new * I.exp(last - total)[:, None], I.f16)
            written = I.matmul(key[b, c, :, h, d], faded, transpose_lhs=True, acc_dtype=I.f32)
            held = held * I.exp(last) + written
        state[b, h, d, e] = held


@intent.kernel
def chunk_outputs(
    query: I.In[I.f16, ("B", "C", L, "H", "D")],
    key: I.In[I.f16, ("B", "C", L, "H", "D")],
    decay: I.In[I.f32, ("B", "H", "C", L)],
    before: I.In[I.f16, ("B", "H", "C", "D", "E")],
    learned: I.In[I.f16, ("B", "H", "C", L, "E")],
    out: I.Out[I.f16, ("B", "C", L, "H", "E")],
):
    B, C, _, H, _ = query.shape
    steps = I.indices(I.domain(0, L))
    for b, c, h in I.parallel((I.domain(0, B), I.domain(0, C), I.domain(0, H))):
        q = query[b, c, :, h, :]
        total = decay[b, h, c, :]
        through = I.matmul(q, before[b, h, c, :, :], acc_dtype=I.f32) * I.exp(total)[:, None]
        scores = I.matmul(q, key[b, c, :, h, :], transpose_rhs=True, acc_dtype=I.f32)
        scores = scores * I.exp(total[:, None] - total[None, :])
        scores = I.mask(scores, steps[None, :] <= steps[:, None], 0.0)
        within = I.matmul(I.cast(scores, I.f16), learned[b, h, c, :, :], acc_dtype=I.f32)
        out[b, c, :, h, :] = I.cast(through + within, I.f16)


def inputs(rng, case):
    import numpy as np

    keys = rng.standard_normal((case["B"], case["C"], L, case["H"], case["D"]))
    keys /= np.maximum(np.linalg.norm(keys, axis=4, keepdims=True), 1e-3)
    shape = (case["B"], case["H"], case["C"], L)
    return {
        "key": keys.astype(np.float16),
        "decay": np.cumsum(-0.2 * rng.random(shape), axis=3).astype(np.float32),
        "strength": rng.random(shape).astype(np.float32),
    }


def chunk_updates_reference(key, value, decay, strength):
    import numpy as np

    key, value = (np.moveaxis(each.astype(np.float64), 3, 1) for each in (key, value))
    total, strength = decay.astype(np.float64), strength.astype(np.float64)
    with np.errstate(over="ignore"):
        fading = np.tril(np.exp(total[..., :, None] - total[..., None, :]), -1)
    a = strength[..., None] * np.einsum("bhcld,bhcmd->bhclm", key, key) * fading
    inverse = np.linalg.inv(np.eye(L) + a)
    taken = inverse @ (key * (strength * np.exp(total))[..., None])
    return taken.astype(np.float16), (inverse @ (value * strength[..., None])).astype(np.float32)


def state_passing_reference(key, decay, taken, given, state):
    import numpy as np

    key = np.moveaxis(key.astype(np.float64), 3, 1)
    taken, given, held = (each.astype(np.float64) for each in (taken, given, state))
    before = np.zeros((*taken.shape[:3], *state.shape[2:]))
    learned = np.zeros(given.shape)
    for c in range(taken.shape[2]):
        before[:, :, c] = held
        learned[:, :, c] = given[:, :, c] - taken[:, :, c] @ held
        total = decay[:, :, c].astype(np.float64)
        rest = np.exp(total[..., -1:] - total)[..., None]
        held = held * np.exp(total[..., -1])[..., None, None] + np.swapaxes(key[:, :, c], 2, 3) @ (
            learned[:, :, c] * rest
        )
    return before.astype(np.float16), learned.astype(np.float16), held.astype(np.float32)


def chunk_outputs_reference(query, key, decay, before, learned):
    import numpy as np

    query, key = (np.moveaxis(each.astype(np.float64), 3, 1) for each in (query, key))
    total = decay.astype(np.float64)
    with np.errstate(over="ignore"):
        fading = np.tril(np.exp(total[..., :, None] - total[..., None, :]))
    scores = np.einsum("bhcld,bhcmd->bhclm", query, key) * fading
    out = (query @ before.astype(np.float64)) * np.exp(total)[..., None] + scores @ learned.astype(np.float64)
    return np.moveaxis(out, 1, 3).astype(np.float16)

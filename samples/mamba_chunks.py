"""A selective state space model (Mamba-2) in chunks of the sequence, three launches:

    chunk_state     what each chunk alone would leave in the state
    state_passing   the state before each chunk, and after the last
    chunk_scan      the outputs: what lies before the chunk through the state, what lies within through a product

`decay[b, h, c, l]` is the sum of the logarithms of the decays of chunk c up to and including position l.
"""

import intent
import intent.language as I

FINITE = ["x", "entry", "readout", "decay", "states", "before"]
TOLERANCE = 4e-3
CASES = [
    {"B": 1, "C": 3, "L": 21, "H": 2, "P": 16, "N": 16},
    {"B": 1, "C": 2, "L": 70, "H": 1, "P": 8, "N": 24},
    {"B": 1, "C": 1, "L": 1, "H": 1, "P": 1, "N": 1},
    {"B": 1, "C": 0, "L": 3, "H": 1, "P": 4, "N": 4},
]
LARGE = [{"B": 2, "C": 5, "L": 256, "H": 3, "P": 64, "N": 128}]


@intent.kernel
def chunk_state(
    x: I.In[I.f16, ("B", "C", "L", "H", "P")],
    entry: I.In[I.f16, ("B", "C", "L", "N")],
    decay: I.In[I.f32, ("B", "H", "C", "L")],
    states: I.Out[I.f32, ("B", "C", "H", "P", "N")],
):
    B, C, L, H, _ = x.shape
    inside = I.domain(0, L)
    for b, c, h in I.parallel((I.domain(0, B), I.domain(0, C), I.domain(0, H))):
        rest = I.exp(decay[b, h, c, L - 1] - decay[b, h, c, inside])
        weighted = I.cast(I.cast(x[b, c, inside, h, :], I.f32) * rest[:, None], I.f16)
        states[b, c, h, :, :] = I.matmul(weighted, entry[b, c, inside, :], transpose_lhs=True, acc_dtype=I.f32)


@intent.kernel
def state_passing(
    states: I.In[I.f32, ("B", "C", "H", "P", "N")],
    decay: I.In[I.f32, ("B", "H", "C", "L")],
    before: I.Out[I.f32, ("B", "C", "H", "P", "N")],
    last: I.Out[I.f32, ("B", "H", "P", "N")],
):
    B, C, H, P, N = states.shape
    L = decay.shape[3]
    for b, h, p in I.parallel((I.domain(0, B), I.domain(0, H), I.domain(0, P))):
        state = I.zeros((N,), I.f32)
        for c in range(C):
            before[b, c, h, p, :] = state
            state = state * I.exp(decay[b, h, c, L - 1]) + states[b, c, h, p, :]
        last[b, h, p, :] = state


@intent.kernel
def chunk_scan(
    x: I.In[I.f16, ("B", "C", "L", "H", "P")],
    entry: I.In[I.f16, ("B", "C", "L", "N")],
    readout: I.In[I.f16, ("B", "C", "L", "N")],
    decay: I.In[I.f32, ("B", "H", "C", "L")],
    before: I.In[I.f32, ("B", "C", "H", "P", "N")],
    out: I.Out[I.f16, ("B", "C", "L", "H", "P")],
):
    B, C, L, H, _ = x.shape
    rows = I.domain(0, L)
    columns = I.domain(0, L)
    for b, c, h in I.parallel((I.domain(0, B), I.domain(0, C), I.domain(0, H))):
        read = readout[b, c, rows, :]
        total = decay[b, h, c, rows]
        state = I.cast(before[b, c, h, :, :], I.f16)
        through = I.matmul(read, state, transpose_rhs=True, acc_dtype=I.f32) * I.exp(total)[:, None]
        scores = I.matmul(read, entry[b, c, columns, :], transpose_rhs=True, acc_dtype=I.f32)
        scores = scores * I.exp(total[:, None] - decay[b, h, c, columns][None, :])
        scores = I.mask(scores, I.indices(columns)[None, :] <= I.indices(rows)[:, None], 0.0)
        within = I.matmul(I.cast(scores, I.f16), x[b, c, columns, h, :], acc_dtype=I.f32)
        out[b, c, rows, h, :] = I.cast(through + within, I.f16)


def inputs(rng, case):
    import numpy as np

    steps = -0.3 * rng.random((case["B"], case["H"], case["C"], case["L"]))
    return {"decay": np.cumsum(steps, axis=3).astype(np.float32)}


def chunk_state_reference(x, entry, decay):
    import numpy as np

    rest = np.exp(decay[:, :, :, -1:] - decay)
    weighted = (x.astype(np.float32) * np.moveaxis(rest, 1, 3)[..., None]).astype(np.float16)
    return np.einsum("bclhp,bcln->bchpn", weighted.astype(np.float64), entry.astype(np.float64)).astype(np.float32)


def state_passing_reference(states, decay):
    import numpy as np

    before = np.zeros(states.shape)
    state = np.zeros((states.shape[0], *states.shape[2:]))
    for c in range(states.shape[1]):
        before[:, c] = state
        kept = np.exp(decay[:, :, c, -1].astype(np.float64))
        state = state * kept[:, :, None, None] + states[:, c]
    return before.astype(np.float32), state.astype(np.float32)


def chunk_scan_reference(x, entry, readout, decay, before):
    import numpy as np

    x, entry, readout = (each.astype(np.float64) for each in (x, entry, readout))
    total = np.moveaxis(decay.astype(np.float64), 1, 2)
    through = np.einsum("bcln,bchpn->bclhp", readout, before) * np.moveaxis(np.exp(total), 2, 3)[..., None]
    with np.errstate(over="ignore"):
        weights = np.exp(total[..., :, None] - total[..., None, :])
    scores = np.einsum("bcln,bcmn->bclm", readout, entry)[:, :, None] * weights
    scores = np.where(np.tri(x.shape[2], dtype=bool), scores, 0.0)
    return (through + np.einsum("bchlm,bcmhp->bclhp", scores, x)).astype(np.float16)

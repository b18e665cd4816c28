"""Hand-written Triton kernels for the benchmark workloads: what the generated ones are held against.

Written as an expert would for Hopper: descriptors and persistent tiles for matrix work, one pass over memory where a
row fits in registers, two kernels where one cannot fill the chip. Kernels are tuned over a few configurations; in the
interpreter, which cannot time anything, the first one is taken. Wrappers write the outputs they are given.
"""

import os

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

C = triton.Config
SMS = 132


def tuned(configurations, key, **options):
    """Tuning, where a device is there to tune for."""
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    return triton.autotune(configurations[:1] if interpreted else configurations, key=key, **options)


# ---------------------------------------------------------------- pointwise
@tuned(
    [C({"BLOCK": b}, num_warps=w) for b, w in [(1024, 4), (2048, 8), (4096, 8)]],
    key=["n"],
)
@triton.jit
def _pointwise_gelu(x, r, o, n, a, b, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    t = tl.load(x + i, mask=mask) * a + b
    g = 0.5 * t * (1.0 + tl.erf(t * 0.7071067811865476))
    tl.store(o + i, g + tl.load(r + i, mask=mask), mask=mask)


def pointwise_gelu(x, r, a, b, o):
    n = x.numel()
    _pointwise_gelu[lambda m: (triton.cdiv(n, m["BLOCK"]),)](x, r, o, n, a, b)


@tuned([C({"BLOCK": b}, num_warps=w) for b, w in [(1024, 4), (2048, 8), (4096, 8), (8192, 8)]], key=["n"])
@triton.jit
def _copy(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)


def copy(x, o):
    n = x.numel()
    _copy[lambda m: (triton.cdiv(n, m["BLOCK"]),)](x, o, n)


@tuned(
    [C({"BLOCK": b}, num_warps=w) for b, w in [(1024, 4), (2048, 4), (4096, 8)]],
    key=["n"],
)
@triton.jit
def _swiglu(g, u, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    gv = tl.load(g + i, mask=mask).to(tl.float32)
    uv = tl.load(u + i, mask=mask).to(tl.float32)
    tl.store(o + i, (gv / (1.0 + tl.exp(-gv)) * uv).to(tl.bfloat16), mask=mask)


def swiglu(g, u, o):
    n = g.numel()
    _swiglu[lambda m: (triton.cdiv(n, m["BLOCK"]),)](g, u, o, n)


@tuned(
    [C({"BLOCK": b}, num_warps=w) for b, w in [(256, 4), (512, 4), (1024, 4)]],
    key=["n"],
)
@triton.jit
def _dropout(x, o, n, p, seed, BLOCK: tl.constexpr):
    # One Philox call gives four words: use them for four neighbouring blocks.
    pid = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    u0, u1, u2, u3 = tl.rand4x(seed, pid * BLOCK + lane)
    base = pid * BLOCK * 4 + lane
    scale = 1.0 / (1.0 - p)
    for j in tl.static_range(4):
        u = u0 if j == 0 else (u1 if j == 1 else (u2 if j == 2 else u3))
        i = base + j * BLOCK
        v = tl.load(x + i, mask=i < n)
        tl.store(o + i, tl.where(u >= p, v * scale, 0.0), mask=i < n)


def dropout(x, p, seed, o):
    n = x.numel()
    _dropout[lambda m: (triton.cdiv(n, 4 * m["BLOCK"]),)](x, o, n, p, seed)


# ---------------------------------------------------------------- rows
@tuned([C({}, num_warps=w) for w in (4, 8, 16, 32)], key=["N"])
@triton.jit
def _softmax_row(x, o, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + c, mask=c < N, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    inv = 1.0 / tl.sum(e, 0)
    tl.store(o + row * N + c, (e * inv).to(o.dtype.element_ty), mask=c < N)


def softmax_row(x, o):
    M, N = x.shape
    _softmax_row[(M,)](x, o, N, BLOCK=triton.next_power_of_2(N))


@tuned([C({}, num_warps=w) for w in (8, 16)], key=["N"], reset_to_zero=["arrived"])
@triton.jit
def _softmax_coop(x, o, pm, ps, arrived, N, S: tl.constexpr, BLOCK: tl.constexpr):
    # S neighbouring programs hold one row in registers and wait for each other's statistics,
    # so the row is read once. Programs start in order, so the waited-for ones always run.
    row = (tl.program_id(0) // S).to(tl.int64)
    part = tl.program_id(0) % S
    i = part * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * N + i, mask=i < N, other=-float("inf"))
    m = tl.max(v, 0)
    e = tl.exp(v - m)
    tl.store(pm + row * S + part, m)
    tl.store(ps + row * S + part, tl.sum(e, 0))
    tl.debug_barrier()
    tl.atomic_add(arrived + row, 1, sem="release")
    while tl.atomic_add(arrived + row, 0, sem="acquire") < S:
        pass
    tl.debug_barrier()
    k = tl.arange(0, S)
    ms = tl.load(pm + row * S + k, cache_modifier=".cg")
    ss = tl.load(ps + row * S + k, cache_modifier=".cg")
    top = tl.max(ms, 0)
    scale = tl.exp(m - top) / tl.sum(ss * tl.exp(ms - top), 0)
    tl.store(o + row * N + i, e * scale, mask=i < N)
    tl.debug_barrier()
    if tl.atomic_add(arrived + row, 1, sem="relaxed") == 2 * S - 1:  # the last one out resets
        tl.store(arrived + row, 0)


def softmax_coop(x, o, pm, ps, arrived):
    M, N = x.shape
    S = pm.shape[1]
    _softmax_coop[(M * S,)](x, o, pm, ps, arrived, N, S=S, BLOCK=triton.next_power_of_2(triton.cdiv(N, S)))


@tuned([C({}, num_warps=w) for w in (2, 4, 8, 16)], key=["N"])
@triton.jit
def _layer_norm(x, w, b, o, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    mask = c < N
    v = tl.load(x + row * N + c, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / N
    d = tl.where(mask, v - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(d * d, 0) / N + eps)
    wv = tl.load(w + c, mask=mask, other=0.0).to(tl.float32)
    bv = tl.load(b + c, mask=mask, other=0.0).to(tl.float32)
    tl.store(o + row * N + c, (d * rstd * wv + bv).to(tl.float16), mask=mask)


def layer_norm(x, w, b, eps, o):
    M, N = x.shape
    _layer_norm[(M,)](x, w, b, o, N, eps, BLOCK=triton.next_power_of_2(N))


@tuned([C({}, num_warps=w) for w in (2, 4, 8, 16)], key=["N"])
@triton.jit
def _add_rms_norm(x, r, w, so, o, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    mask = c < N
    xv = tl.load(x + row * N + c, mask=mask, other=0.0).to(tl.float32)
    rv = tl.load(r + row * N + c, mask=mask, other=0.0).to(tl.float32)
    s = (xv + rv).to(tl.bfloat16)
    tl.store(so + row * N + c, s, mask=mask)
    v = s.to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, 0) / N + eps)
    wv = tl.load(w + c, mask=mask, other=0.0).to(tl.float32)
    tl.store(o + row * N + c, (v * scale * wv).to(tl.bfloat16), mask=mask)


def add_rms_norm(x, r, w, eps, so, o):
    M, N = x.shape
    _add_rms_norm[(M,)](x, r, w, so, o, N, eps, BLOCK=triton.next_power_of_2(N))


@tuned(
    [C({"BLOCK": b}, num_warps=w, num_stages=s) for b, w, s in [(8192, 8, 2), (16384, 16, 2), (16384, 8, 2)]],
    key=["V"],
)
@triton.jit
def _cross_entropy(x, t, o, V, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * V
    c = tl.arange(0, BLOCK)
    picked = tl.load(x + tl.load(t + row)).to(tl.float32)
    m = -float("inf")
    s = 0.0
    for start in range(0, V, BLOCK):
        v = tl.load(x + start + c, mask=start + c < V, other=-float("inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(v, 0))
        s = s * tl.exp(m - m_new) + tl.sum(tl.exp(v - m_new), 0)
        m = m_new
    tl.store(o + row, tl.log(s) + m - picked)


def cross_entropy(x, t, o):
    M, V = x.shape
    _cross_entropy[(M,)](x, t, o, V)


@tuned([C({}, num_warps=w) for w in (4, 8, 16, 32)], key=["N"])
@triton.jit
def _cumsum(x, o, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + c, mask=c < N, other=0.0)
    tl.store(o + row * N + c, tl.cumsum(v, 0), mask=c < N)


def cumsum(x, o):
    M, N = x.shape
    _cumsum[(M,)](x, o, N, BLOCK=triton.next_power_of_2(N))


@tuned(
    [C({"BLOCK": b}, num_warps=w, num_stages=s) for b, w, s in [(2048, 4, 3), (4096, 8, 3), (8192, 8, 2)]],
    key=["N"],
)
@triton.jit
def _argmax(x, o, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * N
    c = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    where = c
    for start in range(0, N, BLOCK):
        v = tl.load(x + start + c, mask=start + c < N, other=-float("inf"))
        better = v > best
        best = tl.where(better, v, best)
        where = tl.where(better, start + c, where)
    top = tl.max(best, 0)
    tl.store(o + row, tl.min(tl.where(best == top, where, 2147483647), 0).to(tl.int64))


def argmax(x, o):
    M, N = x.shape
    _argmax[(M,)](x, o, N)


# ---------------------------------------------------------------- reductions
@tuned(
    [
        C({"BM": bm, "BN": bn}, num_warps=w, num_stages=s)
        for bm, bn, w, s in [(32, 128, 4, 3), (16, 256, 4, 3), (16, 512, 8, 3)]
    ],
    key=["M", "N", "S"],
)
@triton.jit
def _column_sum_parts(x, p, M, N, S, BM: tl.constexpr, BN: tl.constexpr):
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    rows = tl.cdiv(M, S)
    first = tl.program_id(1) * rows
    last = tl.minimum(first + rows, M)
    r = tl.arange(0, BM)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(first, last, BM):
        i = start + r
        acc += tl.load(
            x + i[:, None].to(tl.int64) * N + c[None, :], mask=(i[:, None] < last) & (c[None, :] < N), other=0.0
        )
    tl.store(p + tl.program_id(1) * N + c, tl.sum(acc, 0), mask=c < N)


@triton.jit
def _column_sum_merge(p, o, N, S, SP: tl.constexpr, BN: tl.constexpr):
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, SP)
    v = tl.load(p + k[:, None] * N + c[None, :], mask=(k[:, None] < S) & (c[None, :] < N), other=0.0)
    tl.store(o + c, tl.sum(v, 0), mask=c < N)


def column_sum(x, o, parts):
    M, N = x.shape
    S = parts.shape[0]
    _column_sum_parts[lambda m: (triton.cdiv(N, m["BN"]), S)](x, parts, M, N, S)
    _column_sum_merge[(triton.cdiv(N, 64),)](parts, o, N, S, SP=triton.next_power_of_2(S), BN=64, num_warps=4)


@tuned(
    [C({"BLOCK": b}, num_warps=w, num_stages=s) for b, w, s in [(4096, 8, 3), (8192, 16, 3)]],
    key=["n"],
)
@triton.jit
def _sum_parts(x, p, n, G, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), tl.float32)
    c = tl.arange(0, BLOCK)
    for start in range(tl.program_id(0) * BLOCK, n, G * BLOCK):
        i = start + c
        acc += tl.load(x + i, mask=i < n, other=0.0)
    tl.store(p + tl.program_id(0), tl.sum(acc, 0))


@triton.jit
def _sum_merge(p, o, G, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    tl.store(o, tl.sum(tl.load(p + c, mask=c < G, other=0.0), 0))


def full_sum(x, o, parts):
    G = parts.numel()
    _sum_parts[(G,)](x, parts, x.numel(), G)
    _sum_merge[(1,)](parts, o, G, BLOCK=triton.next_power_of_2(G), num_warps=4)


@tuned(
    [C({"BLOCK": b}, num_warps=w, num_stages=s) for b, w, s in [(2048, 4, 3), (4096, 8, 3), (8192, 8, 2)]],
    key=["n"],
    reset_to_zero=["h"],
)
@triton.jit
def _histogram(x, h, n, G, BINS: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    acc = tl.zeros((BINS,), tl.int32)
    for start in range(tl.program_id(0) * BLOCK, n, G * BLOCK):
        i = start + c
        v = tl.load(x + i, mask=i < n, other=0)
        acc += tl.histogram(v, BINS, mask=i < n)
    tl.atomic_add(h + tl.arange(0, BINS), acc, sem="relaxed")


def histogram(x, h, groups=SMS * 4):
    h.zero_()
    _histogram[(groups,)](x, h, x.numel(), groups, BINS=256)


# ---------------------------------------------------------------- layout, gather, stencil
@tuned(
    [C({"BM": bm, "BN": bn}, num_warps=w) for bm, bn, w in [(32, 32, 4), (64, 64, 8), (128, 32, 4)]],
    key=["M", "N"],
)
@triton.jit
def _transpose(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    mask = (m[:, None] < M) & (n[None, :] < N)
    v = tl.load(x + m[:, None].to(tl.int64) * N + n[None, :], mask=mask)
    tl.store(o + n[:, None].to(tl.int64) * M + m[None, :], tl.trans(v), mask=(n[:, None] < N) & (m[None, :] < M))


def transpose(x, o):
    M, N = x.shape
    _transpose[lambda k: (triton.cdiv(N, k["BN"]), triton.cdiv(M, k["BM"]))](x, o, M, N)


@tuned([C({"ROWS": r}, num_warps=w) for r, w in [(1, 4), (1, 8), (2, 4)]], key=["D"])
@triton.jit
def _embedding(t, w, o, T, D, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    c = tl.arange(0, BLOCK)
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    token = tl.load(t + r, mask=r < T, other=0)
    mask = (r[:, None] < T) & (c[None, :] < D)
    v = tl.load(w + token[:, None] * D + c[None, :], mask=mask)
    tl.store(o + r[:, None].to(tl.int64) * D + c[None, :], v, mask=mask)


def embedding(t, w, o):
    T, D = t.numel(), w.shape[1]
    _embedding[lambda k: (triton.cdiv(T, k["ROWS"]),)](t, w, o, T, D, BLOCK=triton.next_power_of_2(D))


@tuned(
    [C({"BM": bm, "BN": bn}, num_warps=w) for bm, bn, w in [(1, 1024, 4), (4, 512, 4), (8, 512, 8)]],
    key=["M", "N"],
)
@triton.jit
def _jacobi2d(u, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(1) * BM + tl.arange(0, BM)[:, None]
    j = tl.program_id(0) * BN + tl.arange(0, BN)[None, :]
    here = (i < M) & (j < N)
    inner = (i > 0) & (i < M - 1) & (j > 0) & (j < N - 1)
    p = u + i.to(tl.int64) * N + j
    c = tl.load(p, mask=here)
    w = tl.load(p - 1, mask=inner)
    e = tl.load(p + 1, mask=inner)
    s = tl.load(p + N, mask=inner)
    n = tl.load(p - N, mask=inner)
    fifth = tl.full((), 0.2, o.dtype.element_ty)
    tl.store(o + i.to(tl.int64) * N + j, tl.where(inner, fifth * (c + w + e + s + n), c), mask=here)


def jacobi2d(u, o):
    M, N = u.shape
    _jacobi2d[lambda k: (triton.cdiv(N, k["BN"]), triton.cdiv(M, k["BM"]))](u, o, M, N)


# ---------------------------------------------------------------- matrix products
def _gemm_hook(args):
    bm, bn, bk = args["BM"], args["BN"], args["BK"]
    args["a"].block_shape = [bm, bk]
    args["b"].block_shape = [bk, bn]
    args["c"].block_shape = [bm, bn // 2 if args["SUB"] else bn]


def _gemm_configs():
    rows = [
        (128, 256, 64, 8, 3, True),
        (128, 256, 64, 8, 4, True),
        (256, 128, 64, 8, 3, True),
        (128, 128, 64, 4, 4, False),
    ]
    return [
        C({"BM": bm, "BN": bn, "BK": bk, "GROUP": 8, "SUB": sub}, num_warps=w, num_stages=s, pre_hook=_gemm_hook)
        for bm, bn, bk, w, s, sub in rows
    ]


@triton.jit
def _tile(tile, nm, nn, GROUP: tl.constexpr):
    per = GROUP * nn
    first = tile // per * GROUP
    size = tl.minimum(nm - first, GROUP)
    return first + tile % per % size, tile % per // size


@triton.jit
def _gelu_tanh(t):
    # 0.5 t (1 + tanh z) = t sigmoid(2 z)
    z = 1.5957691216057308 * (t + 0.044715 * t * t * t)
    return t / (1.0 + tl.exp(-z))


@triton.jit
def _gemm_body(
    a,
    b,
    c,
    bias,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    SUB: tl.constexpr,
    NUM_SMS: tl.constexpr,
    EPILOGUE: tl.constexpr,
):
    dt = c.dtype
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    kt = tl.cdiv(K, BK)
    for tile in tl.range(tl.program_id(0), nm * nn, NUM_SMS, flatten=True):
        pm, pn = _tile(tile, nm, nn, GROUP)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(kt):
            acc = tl.dot(a.load([pm * BM, k * BK]), b.load([k * BK, pn * BN]), acc)
        if EPILOGUE:
            n = pn * BN + tl.arange(0, BN)
            acc = _gelu_tanh(acc + tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :])
        if SUB:
            half = tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1))
            left, right = tl.split(half)
            c.store([pm * BM, pn * BN], left.to(dt))
            c.store([pm * BM, pn * BN + BN // 2], right.to(dt))
        else:
            c.store([pm * BM, pn * BN], acc.to(dt))


_gemm_tma = tuned(_gemm_configs(), key=["M", "N", "K", "EPILOGUE"])(_gemm_body)


def _gemm_launch(a, b, c, bias, epilogue):
    M, K = a.shape
    N = b.shape[1]
    dummy = [1, 1]
    da = TensorDescriptor(a, a.shape, a.stride(), dummy)
    db = TensorDescriptor(b, b.shape, b.stride(), dummy)
    dc = TensorDescriptor(c, c.shape, c.stride(), dummy)
    _gemm_tma[lambda m: (min(SMS, triton.cdiv(M, m["BM"]) * triton.cdiv(N, m["BN"])),)](
        da, db, dc, bias, M, N, K, NUM_SMS=SMS, EPILOGUE=epilogue
    )


def gemm_tma(a, b, c):
    _gemm_launch(a, b, c, a, False)


def gemm_bias_gelu_tma(x, w, bias, out):
    _gemm_launch(x, w, out, bias, True)


@triton.jit
def _pad_rows(a, o, K, KP, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    tl.store(o + row * KP + c, tl.load(a + row * K + c, mask=c < K, other=0.0), mask=c < KP)


def gemm_padded(a, b, c, ap):
    """Copy A into rows that TMA can address, then the TMA kernel; the copy is timed."""
    M, K = a.shape
    KP = ap.shape[1]
    _pad_rows[(M,)](a, ap, K, KP, BLOCK=triton.next_power_of_2(KP), num_warps=4)
    _gemm_launch(ap[:, :K], b, c, a, False)


def _bmm_hook(args):
    bm, bn, bk = args["BM"], args["BN"], args["BK"]
    args["a"].block_shape = [bm, bk]
    args["b"].block_shape = [bk, bn]
    args["c"].block_shape = [bm, bn]


@tuned(
    [
        C({"BM": bm, "BN": bn, "BK": bk}, num_warps=w, num_stages=s, pre_hook=_bmm_hook)
        for bm, bn, bk, w, s in [(128, 128, 64, 4, 3), (128, 128, 64, 8, 4), (128, 128, 128, 8, 3)]
    ],
    key=["M", "N", "K"],
)
@triton.jit
def _bmm_tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # Batches are stacked rows; M is a multiple of BM and K of BK, so no tile crosses a batch.
    batch = tl.program_id(1)
    pm = tl.program_id(0)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([batch * M + pm * BM, k]), b.load([batch * K + k, 0]), acc)
    c.store([batch * M + pm * BM, 0], acc.to(tl.float16))


def bmm_tma(a, b, c):
    B, M, K = a.shape
    N = b.shape[2]
    dummy = [1, 1]
    da = TensorDescriptor(a, [B * M, K], [K, 1], dummy)
    db = TensorDescriptor(b, [B * K, N], [N, 1], dummy)
    dc = TensorDescriptor(c, [B * M, N], [N, 1], dummy)
    _bmm_tma[lambda m: (M // m["BM"], B)](da, db, dc, M, N, K)


# ---------------------------------------------------------------- attention
# Warp specialisation (tl.range(..., warp_specialize=True)) was tried here and in the matrix products: on Triton 3.6 no
# such kernel finished.
def _attn_hook(args):
    bm, bn, d = args["BM"], args["BN"], args["D"]
    args["q"].block_shape = [bm, d]
    args["k"].block_shape = [bn, d]
    args["v"].block_shape = [bn, d]
    args["o"].block_shape = [bm, d]


@triton.jit
def _attn_span(acc, mass, m, q, k, v, base, lo, hi, rows, scale, BN: tl.constexpr, MASK: tl.constexpr):
    cols = tl.arange(0, BN)
    for start in tl.range(lo, hi, BN):
        start = tl.multiple_of(start, BN)
        s = tl.dot(q, k.load([base + start, 0]).T)
        if MASK:
            s = tl.where(rows[:, None] >= (start + cols)[None, :], s * scale, -1.0e6)
            m_new = tl.maximum(m, tl.max(s, 1))
            p = tl.math.exp2(s - m_new[:, None])
        else:
            m_new = tl.maximum(m, tl.max(s, 1) * scale)
            p = tl.math.exp2(s * scale - m_new[:, None])
        alpha = tl.math.exp2(m - m_new)
        mass = mass * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(tl.float16), v.load([base + start, 0]), acc)
        m = m_new
    return acc, mass, m


@tuned(
    [
        C({"BM": bm, "BN": bn}, num_warps=w, num_stages=s, pre_hook=_attn_hook)
        for bm, bn, w, s in [(128, 128, 8, 2), (128, 64, 8, 3), (128, 64, 4, 3)]
    ],
    key=["S", "CAUSAL"],
)
@triton.jit
def _attn(q, k, v, o, S, scale, D: tl.constexpr, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    # longest causal rows first
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    base = tl.program_id(1) * S
    rows = block * BM + tl.arange(0, BM)
    m = tl.full((BM,), -1.0e30, tl.float32)
    mass = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    qt = q.load([base + block * BM, 0])
    if CAUSAL:
        full = block * BM // BN * BN
        acc, mass, m = _attn_span(acc, mass, m, qt, k, v, base, 0, full, rows, scale, BN, False)
        acc, mass, m = _attn_span(acc, mass, m, qt, k, v, base, full, (block + 1) * BM, rows, scale, BN, True)
    else:
        acc, mass, m = _attn_span(acc, mass, m, qt, k, v, base, 0, S, rows, scale, BN, False)
    o.store([base + block * BM, 0], (acc / mass[:, None]).to(tl.float16))


def attention_tma(q, k, v, scale, o, causal):
    B, H, S, D = q.shape
    dummy = [1, 1]
    dq, dk, dv, do = (TensorDescriptor(t, [B * H * S, D], [D, 1], dummy) for t in (q, k, v, o))
    _attn[lambda m: (triton.cdiv(S, m["BM"]), B * H)](dq, dk, dv, do, S, scale * 1.4426950408889634, D=D, CAUSAL=causal)

"""Hand-written Triton kernels for the second table: other forms of attention, recurrences, small dtypes, and more.

Written and tuned as those of `expert_kernels`. Kernels add in whatever order is fastest.
"""

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from benchmarks.expert_kernels import C, _tile, tuned

LOG2E = 1.4426950408889634


# ---------------------------------------------------------------- attention backward
@triton.jit
def _delta(o, do, delta, D: tl.constexpr, BM: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    at = rows[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(delta + rows, tl.sum(tl.load(o + at).to(tl.float32) * tl.load(do + at).to(tl.float32), 1))


def _backward_hook(args):
    bm, bn, d = args["BM"], args["BN"], args["D"]
    for name, rows in (("q", bm), ("do", bm), ("dq", bm), ("k", bn), ("v", bn), ("dk", bn), ("dv", bn)):
        if name in args:
            args[name].block_shape = [rows, d]


@triton.jit
def _dkdv_span(
    dk, dv, kt, vt, q, do, lse, delta, base, lo, hi, cols, scale, BM: tl.constexpr, MASK: tl.constexpr
):  # fmt: skip
    for start in tl.range(lo, hi, BM):
        rows = start + tl.arange(0, BM)
        qt = q.load([base + start, 0])
        dot = do.load([base + start, 0])
        p = tl.math.exp2(tl.dot(kt, qt.T) * scale - tl.load(lse + base + rows)[None, :])
        if MASK:
            p = tl.where(rows[None, :] >= cols[:, None], p, 0.0)
        dv = tl.dot(p.to(tl.float16), dot, dv)
        ds = p * (tl.dot(vt, dot.T) - tl.load(delta + base + rows)[None, :])
        dk = tl.dot(ds.to(tl.float16), qt, dk)
    return dk, dv


_BACKWARD = [
    C({"BM": bm, "BN": bn}, num_warps=w, num_stages=s, pre_hook=_backward_hook)
    for bm, bn, w, s in [(64, 128, 8, 2), (64, 128, 8, 3), (32, 128, 4, 3), (64, 64, 4, 2), (128, 64, 8, 2)]
]


@tuned(_BACKWARD, key=["S"])
@triton.jit
def _dkdv(q, k, v, do, lse, delta, dk, dv, S, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    first = tl.program_id(0) * BN
    base = tl.program_id(1) * S
    cols = first + tl.arange(0, BN)
    kt = k.load([base + first, 0])
    vt = v.load([base + first, 0])
    gk = tl.zeros((BN, D), tl.float32)
    gv = tl.zeros((BN, D), tl.float32)
    begin = first // BM * BM
    middle = tl.minimum(tl.cdiv(first + BN, BM) * BM, S)
    s = scale * 1.4426950408889634
    gk, gv = _dkdv_span(gk, gv, kt, vt, q, do, lse, delta, base, begin, middle, cols, s, BM, True)
    gk, gv = _dkdv_span(gk, gv, kt, vt, q, do, lse, delta, base, middle, S, cols, s, BM, False)
    dk.store([base + first, 0], (gk * scale).to(tl.float16))
    dv.store([base + first, 0], gv.to(tl.float16))


@triton.jit
def _dq_span(dq, qt, dot, m, di, k, v, base, lo, hi, rows, scale, BN: tl.constexpr, MASK: tl.constexpr):
    for start in tl.range(lo, hi, BN):
        kt = k.load([base + start, 0])
        vt = v.load([base + start, 0])
        p = tl.math.exp2(tl.dot(qt, kt.T) * scale - m[:, None])
        if MASK:
            p = tl.where(rows[:, None] >= (start + tl.arange(0, BN))[None, :], p, 0.0)
        ds = p * (tl.dot(dot, vt.T) - di[:, None])
        dq = tl.dot(ds.to(tl.float16), kt, dq)
    return dq


_BACKWARD_Q = [
    C({"BM": bm, "BN": bn}, num_warps=w, num_stages=s, pre_hook=_backward_hook)
    for bm, bn, w, s in [(128, 64, 8, 2), (128, 64, 8, 3), (128, 32, 4, 3), (64, 64, 4, 2), (128, 128, 8, 2)]
]


@tuned(_BACKWARD_Q, key=["S"])
@triton.jit
def _dq(q, k, v, do, lse, delta, dq, S, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    first = block * BM
    base = tl.program_id(1) * S
    rows = first + tl.arange(0, BM)
    qt = q.load([base + first, 0])
    dot = do.load([base + first, 0])
    m = tl.load(lse + base + rows)
    di = tl.load(delta + base + rows)
    acc = tl.zeros((BM, D), tl.float32)
    s = scale * 1.4426950408889634
    full = first // BN * BN
    acc = _dq_span(acc, qt, dot, m, di, k, v, base, 0, full, rows, s, BN, False)
    acc = _dq_span(acc, qt, dot, m, di, k, v, base, full, first + BM, rows, s, BN, True)
    dq.store([base + first, 0], (acc * scale).to(tl.float16))


def attention_backward(q, k, v, do, lse, o, scale, delta, dq, dk, dv):
    """Causal; the rows are a multiple of 128."""
    B, S, D = q.shape
    _delta[(B * S // 16,)](o, do, delta, D=D, BM=16, num_warps=4)
    tq, tk, tv, tdo, tdq, tdk, tdv = (
        TensorDescriptor(t, [B * S, D], [D, 1], [1, 1]) for t in (q, k, v, do, dq, dk, dv)
    )
    _dkdv[lambda m: (triton.cdiv(S, m["BN"]), B)](tq, tk, tv, tdo, lse, delta, tdk, tdv, S, scale, D=D)
    _dq[lambda m: (triton.cdiv(S, m["BM"]), B)](tq, tk, tv, tdo, lse, delta, tdq, S, scale, D=D)


# ---------------------------------------------------------------- decoding
@tuned(
    [C({"BT": bt}, num_warps=w, num_stages=s) for bt, w, s in [(32, 4, 2), (32, 4, 3), (64, 8, 2), (16, 2, 3)]],
    key=["T"],
)
@triton.jit
def _attend_part(q, k, v, top, mass, moment, T, G, D: tl.constexpr, BT: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    g = tl.program_id(0)
    d = tl.arange(0, D)
    qv = tl.load(q + head * D + d) * 1.4426950408889634
    lo = g * T // G
    hi = (g + 1) * T // G
    m = -float("inf")
    total = 0.0
    acc = tl.zeros((D,), tl.float32)
    for start in tl.range(lo, hi, BT, num_stages=2):
        t = start + tl.arange(0, BT)
        at = (head * T + t)[:, None] * D + d[None, :]
        mask = (t < hi)[:, None]
        kt = tl.load(k + at, mask=mask, other=0.0)
        vt = tl.load(v + at, mask=mask, other=0.0)
        s = tl.where(t < hi, tl.sum(kt * qv[None, :], 1), -float("inf"))
        new = tl.maximum(m, tl.max(s, 0))
        p = tl.math.exp2(s - new)
        old = tl.math.exp2(m - new)
        total = total * old + tl.sum(p, 0)
        acc = acc * old + tl.sum(p[:, None] * vt, 0)
        m = new
    tl.store(top + head * G + g, m)
    tl.store(mass + head * G + g, total)
    tl.store(moment + (head * G + g) * D + d, acc)


@triton.jit
def _merge_part(top, mass, moment, o, G, D: tl.constexpr, GP: tl.constexpr):
    head = tl.program_id(0).to(tl.int64)
    d = tl.arange(0, D)
    g = tl.arange(0, GP)
    m = tl.load(top + head * G + g, mask=g < G, other=-float("inf"))
    w = tl.math.exp2(m - tl.max(m, 0))
    total = tl.sum(w * tl.load(mass + head * G + g, mask=g < G, other=0.0), 0)
    parts = tl.load(moment + (head * G + g)[:, None] * D + d[None, :], mask=(g < G)[:, None], other=0.0)
    tl.store(o + head * D + d, (tl.sum(parts * w[:, None], 0) / total).to(o.dtype.element_ty))


def split_decode(q, k, v, top, mass, moment, o):
    B, H, T, D = k.shape
    G = top.shape[2]
    _attend_part[(G, B * H)](q, k, v, top, mass, moment, T, G, D=D)
    _merge_part[(B * H,)](top, mass, moment, o, G, D=D, GP=triton.next_power_of_2(G), num_warps=2)


@tuned(
    [C({"BT": bt}, num_warps=w, num_stages=s) for bt, w, s in [(64, 4, 3), (128, 4, 2), (64, 4, 2), (32, 2, 4)]],
    key=["M"],
)
@triton.jit
def _paged_part(
    q, keys, values, pages, lengths, top, mass, moment, H, M, S, G: tl.constexpr, P: tl.constexpr, D: tl.constexpr,
    BT: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(2).to(tl.int64)
    h = tl.program_id(1)
    part = tl.program_id(0)
    d = tl.arange(0, D)
    g = tl.arange(0, 16)
    rows = (b * H + h) * G + g
    qt = tl.load(q + rows[:, None] * D + d[None, :], mask=(g < G)[:, None], other=0.0)
    length = tl.load(lengths + b)
    each = tl.cdiv(tl.cdiv(length, S), BT) * BT
    lo = part * each
    hi = tl.minimum(lo + each, length)
    m = tl.full((16,), -1.0e30, tl.float32)
    total = tl.zeros((16,), tl.float32)
    acc = tl.zeros((16, D), tl.float32)
    for start in tl.range(lo, hi, BT):
        t = start + tl.arange(0, BT)
        page = tl.load(pages + b * M + t // P, mask=t < hi, other=0).to(tl.int64)
        at = ((page * P + t % P) * H + h) * D
        kt = tl.load(keys + at[None, :] + d[:, None])
        s = tl.where((t < hi)[None, :], tl.dot(qt, kt) * 1.4426950408889634, -float("inf"))
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        old = tl.math.exp2(m - new)
        total = total * old + tl.sum(p, 1)
        vt = tl.load(values + at[:, None] + d[None, :])
        acc = tl.dot(p.to(tl.float16), vt, acc * old[:, None])
        m = new
    out = rows * S + part
    tl.store(top + out, m, mask=g < G)
    tl.store(mass + out, total, mask=g < G)
    tl.store(moment + out[:, None] * D + d[None, :], acc, mask=(g < G)[:, None])


def paged_decode(q, keys, values, pages, lengths, top, mass, moment, o):
    B, H, G, D = q.shape
    S = top.shape[3]
    P, M = keys.shape[1], pages.shape[1]
    _paged_part[(S, H, B)](q, keys, values, pages, lengths, top, mass, moment, H, M, S, G=G, P=P, D=D)
    _merge_part[(B * H * G,)](top, mass, moment, o, S, D=D, GP=triton.next_power_of_2(S), num_warps=2)


# ---------------------------------------------------------------- recurrences
@tuned(
    [C({"BE": be}, num_warps=w) for be, w in [(8, 1), (16, 1), (16, 2), (32, 4), (4, 1)]],
    key=["T"],
    restore_value=["state"],
)
@triton.jit
def _gated_delta(q, k, v, gate, strength, state, o, T, H, E, D: tl.constexpr, BE: tl.constexpr):
    b = (tl.program_id(1) // H).to(tl.int64)
    h = tl.program_id(1) % H
    d = tl.arange(0, D)
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    at = state + tl.program_id(1).to(tl.int64) * D * E + d[:, None] * E + e[None, :]
    held = tl.load(at)
    row = b * T * H + h
    for _ in range(T):
        kv = tl.load(k + row * D + d)
        qv = tl.load(q + row * D + d)
        vv = tl.load(v + row * E + e)
        held = held * tl.exp(tl.load(gate + row))
        new = tl.load(strength + row) * (vv - tl.sum(held * kv[:, None], 0))
        held += kv[:, None] * new[None, :]
        tl.store(o + row * E + e, tl.sum(held * qv[:, None], 0))
        row += H
    tl.store(at, held)


def gated_delta(q, k, v, gate, strength, state, o):
    B, T, H, D = q.shape
    E = v.shape[3]
    _gated_delta[lambda m: (E // m["BE"], B * H)](q, k, v, gate, strength, state, o, T, H, E, D=D)


@tuned([C({"BL": bl}, num_warps=w, num_stages=s) for bl, w, s in [(64, 4, 2), (64, 4, 3), (32, 4, 3)]], key=["H"])
@triton.jit
def _chunk_state(
    x, entry, decay, states, NC, H, L: tl.constexpr, P: tl.constexpr, N: tl.constexpr, BL: tl.constexpr
):  # fmt: skip
    h = tl.program_id(0)
    c = tl.program_id(1)
    b = tl.program_id(2).to(tl.int64)
    chunk = b * NC + c
    p = tl.arange(0, P)
    n = tl.arange(0, N)
    decay += ((b * H + h) * NC + c) * L
    last = tl.load(decay + L - 1)
    acc = tl.zeros((P, N), tl.float32)
    for start in range(0, L, BL):
        row = start + tl.arange(0, BL)
        weight = tl.exp(last - tl.load(decay + row))
        xt = tl.load(x + ((chunk * L + row)[None, :] * H + h) * P + p[:, None]).to(tl.float32)
        et = tl.load(entry + (chunk * L + row)[:, None] * N + n[None, :])
        acc = tl.dot((xt * weight[None, :]).to(tl.float16), et, acc)
    tl.store(states + ((chunk * H + h) * P + p[:, None]) * N + n[None, :], acc)


@tuned([C({"BLOCK": b}, num_warps=w) for b, w in [(256, 4), (512, 4), (1024, 4)]], key=["H"])
@triton.jit
def _state_passing(states, decay, before, last, NC, H, PN, L: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = tl.program_id(1)
    b = tl.program_id(2).to(tl.int64)
    state = tl.zeros((BLOCK,), tl.float32)
    for c in range(NC):
        at = ((b * NC + c) * H + h) * PN + i
        tl.store(before + at, state)
        state = state * tl.exp(tl.load(decay + ((b * H + h) * NC + c) * L + L - 1)) + tl.load(states + at)
    tl.store(last + (b * H + h) * PN + i, state)


@tuned(
    [C({"BM": bm, "BL": bl}, num_warps=w, num_stages=s) for bm, bl, w, s in
     [(64, 64, 4, 2), (128, 64, 8, 2), (64, 32, 4, 3), (128, 64, 4, 2)]],
    key=["H"],
)  # fmt: skip
@triton.jit
def _chunk_scan(
    x, entry, readout, decay, before, o, NC, H, L: tl.constexpr, P: tl.constexpr, N: tl.constexpr, BM: tl.constexpr,
    BL: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    h = tl.program_id(1)
    chunk = tl.program_id(2).to(tl.int64)
    p = tl.arange(0, P)
    n = tl.arange(0, N)
    decay += ((chunk // NC * H + h) * NC + chunk % NC) * L
    own = tl.load(decay + rows)
    read = tl.load(readout + (chunk * L + rows)[:, None] * N + n[None, :])
    state = tl.load(before + ((chunk * H + h) * P + p[None, :]) * N + n[:, None])
    acc = tl.dot(read, state.to(tl.float16)) * tl.exp(own)[:, None]
    for start in range(0, (tl.program_id(0) + 1) * BM, BL):
        cols = start + tl.arange(0, BL)
        s = tl.dot(read, tl.load(entry + (chunk * L + cols)[None, :] * N + n[:, None]))
        s *= tl.exp(tl.minimum(own[:, None] - tl.load(decay + cols)[None, :], 0.0))
        s = tl.where(cols[None, :] <= rows[:, None], s, 0.0).to(tl.float16)
        acc = tl.dot(s, tl.load(x + ((chunk * L + cols)[:, None] * H + h) * P + p[None, :]), acc)
    tl.store(o + ((chunk * L + rows)[:, None] * H + h) * P + p[None, :], acc.to(tl.float16))


def mamba_chunks(x, entry, readout, decay, states, before, last, o):
    B, NC, L, H, P = x.shape
    N = entry.shape[3]
    _chunk_state[(H, NC, B)](x, entry, decay, states, NC, H, L=L, P=P, N=N)
    _state_passing[lambda m: (P * N // m["BLOCK"], H, B)](states, decay, before, last, NC, H, P * N, L=L)
    _chunk_scan[lambda m: (triton.cdiv(L, m["BM"]), H, B * NC)](
        x, entry, readout, decay, before, o, NC, H, L=L, P=P, N=N
    )


# ---------------------------------------------------------------- products
def _grouped_hook(args):
    args["x"].block_shape = [args["BM"], args["BK"]]
    args["w"].block_shape = [args["BK"], args["BN"]]


@tuned(
    [C({"BM": bm, "BN": bn, "BK": bk}, num_warps=w, num_stages=s, pre_hook=_grouped_hook) for bm, bn, bk, w, s in
     [(128, 256, 64, 8, 3), (128, 128, 64, 8, 4), (128, 128, 64, 4, 4), (64, 256, 64, 8, 4)]],
    key=["R", "N", "K"],
)  # fmt: skip
@triton.jit
def _grouped(x, w, offsets, o, R, N, K, G, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # The tiles of rows of all groups are counted until the one that is this program's.
    tile = tl.program_id(0) // tl.cdiv(N, BN)
    pn = tl.program_id(0) % tl.cdiv(N, BN)
    group = 0
    lo = tl.load(offsets)
    hi = tl.load(offsets + 1)
    while (tile >= tl.cdiv(hi - lo, BM)) & (group < G):
        tile -= tl.cdiv(hi - lo, BM)
        group += 1
        lo = hi
        hi = tl.load(offsets + group + 1, mask=group < G, other=0)
    if group < G:
        first = lo + tile * BM
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(x.load([first, k]), w.load([group * K + k, pn * BN]), acc)
        m = first + tl.arange(0, BM)
        n = pn * BN + tl.arange(0, BN)
        mask = (m < hi)[:, None] & (n < N)[None, :]
        tl.store(o + m[:, None].to(tl.int64) * N + n[None, :], acc.to(tl.float16), mask=mask)


def grouped_gemm(x, w, offsets, o):
    """K is a multiple of 64."""
    R, K = x.shape
    G, _, N = w.shape
    dx = TensorDescriptor(x, [R, K], [K, 1], [1, 1])
    dw = TensorDescriptor(w, [G * K, N], [N, 1], [1, 1])
    _grouped[lambda m: ((triton.cdiv(R, m["BM"]) + G) * triton.cdiv(N, m["BN"]),)](dx, dw, offsets, o, R, N, K, G)


@tuned(
    [C({"BM": bm, "BN": bn, "BG": bg}, num_warps=w, num_stages=s) for bm, bn, bg, w, s in
     [(16, 32, 4, 4, 4), (16, 32, 8, 4, 3), (16, 64, 4, 4, 4), (64, 128, 2, 4, 3), (128, 128, 2, 8, 3),
      (128, 128, 4, 8, 2), (128, 256, 2, 8, 3)]],
    key=["M", "N", "G"],
)  # fmt: skip
@triton.jit
def _int4(x, packed, scale, zero, o, M, N, G, BM: tl.constexpr, BN: tl.constexpr, BG: tl.constexpr):
    pm, pn = _tile(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 8)
    m = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    k = tl.arange(0, BG * 32)
    byte = tl.arange(0, BG * 16)
    each = tl.arange(0, BG)
    acc = tl.zeros((BM, BN), tl.float32)
    for g in range(0, G, BG):
        at = n[:, None] * G + g + each[None, :]
        two = tl.load(packed + n[:, None] * (G * 16) + g * 16 + byte[None, :])
        s = tl.load(scale + at)
        z = tl.load(zero + at).to(tl.float16)
        w = tl.reshape(tl.join(two & 15, two >> 4), (BN, BG, 32)).to(tl.float16)
        w = tl.reshape((w - z[:, :, None]) * s[:, :, None], (BN, BG * 32))
        xt = tl.load(x + m[:, None] * (G * 32) + g * 32 + k[None, :], mask=(m < M)[:, None], other=0.0)
        acc = tl.dot(xt, w.T, acc)
    tl.store(o + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m < M)[:, None])


def int4_gemm(x, packed, scale, zero, o):
    """N is a multiple of 256, the groups are a multiple of 8."""
    M, G, _ = x.shape
    N = packed.shape[0]
    _int4[lambda c: (triton.cdiv(M, c["BM"]) * triton.cdiv(N, c["BN"]),)](x, packed, scale, zero, o, M, N, G)


@tuned(
    [C({"BM": bm, "BN": bn}, num_warps=w, num_stages=s) for bm, bn, w, s in
     [(128, 128, 8, 4), (128, 128, 4, 4), (128, 64, 4, 4), (64, 128, 4, 5)]],
    key=["M", "N", "G"],
)  # fmt: skip
@triton.jit
def _fp8(a, b, sa, sb, o, M, N, G, BM: tl.constexpr, BN: tl.constexpr):
    pm, pn = _tile(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 8)
    m = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    k = tl.arange(0, 32)
    acc = tl.zeros((BM, BN), tl.float32)
    for g in range(G):
        at = tl.load(a + m[:, None] * (G * 32) + g * 32 + k[None, :])
        bt = tl.load(b + n[None, :] * (G * 32) + g * 32 + k[:, None])
        acc += tl.dot(at, bt) * tl.load(sa + m * G + g)[:, None] * tl.load(sb + n * G + g)[None, :]
    tl.store(o + m[:, None] * N + n[None, :], acc.to(tl.bfloat16))


def fp8_gemm(a, b, sa, sb, o):
    """M and N are multiples of 128."""
    M, G, _ = a.shape
    N = b.shape[0]
    _fp8[lambda c: (triton.cdiv(M, c["BM"]) * triton.cdiv(N, c["BN"]),)](a, b, sa, sb, o, M, N, G)


# ---------------------------------------------------------------- images
@tuned(
    [C({"BM": bm, "BF": bf, "BC": bc}, num_warps=w, num_stages=s) for bm, bf, bc, w, s in
     [(128, 128, 64, 8, 3), (128, 128, 64, 4, 4), (128, 256, 64, 8, 3), (128, 64, 64, 4, 4)]],
    key=["B", "H", "W", "NC", "F"],
)  # fmt: skip
@triton.jit
def _conv(x, w, bias, o, B, H, W, NC, F, BM: tl.constexpr, BF: tl.constexpr, BC: tl.constexpr):
    # A product: pixels by (taps and channels) by filters.
    pm, pn = _tile(tl.program_id(0), tl.cdiv(B * H * W, BM), tl.cdiv(F, BF), 8)
    pixel = pm * BM + tl.arange(0, BM)
    f = pn * BF + tl.arange(0, BF)
    row = pixel // W % H
    col = pixel % W
    acc = tl.zeros((BM, BF), tl.float32)
    steps = tl.cdiv(NC, BC)
    for step in range(9 * steps):
        tap = step // steps
        c = step % steps * BC + tl.arange(0, BC)
        y = row + tap // 3 - 1
        z = col + tap % 3 - 1
        here = (pixel < B * H * W) & (y >= 0) & (y < H) & (z >= 0) & (z < W)
        at = (pixel + (tap // 3 - 1) * W + tap % 3 - 1) * NC
        xt = tl.load(x + at[:, None] + c[None, :], mask=here[:, None] & (c < NC)[None, :], other=0.0)
        wt = tl.load(w + (tap * NC + c)[:, None] * F + f[None, :], mask=(c < NC)[:, None] & (f < F)[None, :], other=0.0)
        acc = tl.dot(xt, wt, acc)
    acc += tl.load(bias + f, mask=f < F, other=0.0).to(tl.float32)[None, :]
    mask = (pixel < B * H * W)[:, None] & (f < F)[None, :]
    tl.store(o + pixel[:, None] * F + f[None, :], acc.to(tl.float16), mask=mask)


def conv2d(x, w, bias, o):
    B, H, W, NC = x.shape
    F = w.shape[3]
    _conv[lambda c: (triton.cdiv(B * H * W, c["BM"]) * triton.cdiv(F, c["BF"]),)](x, w, bias, o, B, H, W, NC, F)


@tuned([C({"BLOCK": b}, num_warps=w) for b, w in [(512, 4), (1024, 4), (2048, 8), (256, 2)]], key=["n"])
@triton.jit
def _max_pool(x, o, H, W, P, Q, NC, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = i % NC
    q = i // NC % Q
    p = i // (NC * Q) % P
    b = i // (NC * Q * P)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    for r in tl.static_range(3):
        for s in tl.static_range(3):
            y = 2 * p + r - 1
            z = 2 * q + s - 1
            here = (i < n) & (y >= 0) & (y < H) & (z >= 0) & (z < W)
            best = tl.maximum(
                best, tl.load(x + ((b * H + y) * W + z) * NC + c, mask=here, other=-float("inf")),
                propagate_nan=tl.PropagateNan.ALL,
            )  # fmt: skip
    tl.store(o + i, best, mask=i < n)


def max_pool(x, o):
    _, H, W, NC = x.shape
    _, P, Q, _ = o.shape
    _max_pool[lambda m: (triton.cdiv(o.numel(), m["BLOCK"]),)](x, o, H, W, P, Q, NC, o.numel())


# ---------------------------------------------------------------- element by element, rows
@tuned([C({"BR": r}, num_warps=w) for r, w in [(32, 4), (64, 4), (128, 8), (16, 2)]], key=["H"], restore_value=["x"])
@triton.jit
def _rope(x, cosine, sine, R, H, HALF: tl.constexpr, BR: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BR + tl.arange(0, BR)
    p = tl.arange(0, HALF)
    mask = (row < R)[:, None]
    c = tl.load(cosine + (row // H)[:, None] * HALF + p[None, :], mask=mask)
    s = tl.load(sine + (row // H)[:, None] * HALF + p[None, :], mask=mask)
    at = x + row[:, None] * (2 * HALF) + p[None, :]
    a = tl.load(at, mask=mask).to(tl.float32)
    b = tl.load(at + HALF, mask=mask).to(tl.float32)
    tl.store(at, (a * c - b * s).to(tl.float16), mask=mask)
    tl.store(at + HALF, (b * c + a * s).to(tl.float16), mask=mask)


def rope(x, cosine, sine):
    T, H, D = x.shape
    _rope[lambda m: (triton.cdiv(T * H, m["BR"]),)](x, cosine, sine, T * H, H, HALF=D // 2)


@tuned(
    [C({"BLOCK": b}, num_warps=w) for b, w in [(512, 4), (1024, 4), (1024, 8), (2048, 8)]],
    key=["n"],
    restore_value=["p", "m", "v"],
)
@triton.jit
def _adamw(p, g, m, v, lr, beta1, beta2, eps, decay, c1, c2, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    gv = tl.load(g + i, mask=mask)
    mv = beta1 * tl.load(m + i, mask=mask) + (1 - beta1) * gv
    vv = beta2 * tl.load(v + i, mask=mask) + (1 - beta2) * gv * gv
    pv = tl.load(p + i, mask=mask)
    step = mv / c1 / (tl.sqrt(vv / c2) + eps)
    tl.store(m + i, mv, mask=mask)
    tl.store(v + i, vv, mask=mask)
    tl.store(p + i, pv - lr * (step + decay * pv), mask=mask)


def adamw(p, g, m, v, lr, beta1, beta2, eps, decay, c1, c2):
    n = p.numel()
    _adamw[lambda k: (triton.cdiv(n, k["BLOCK"]),)](p, g, m, v, lr, beta1, beta2, eps, decay, c1, c2, n)


@tuned([C({}, num_warps=w) for w in (4, 8, 16)], key=["N"])
@triton.jit
def _top_k(x, values, places, N, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + c, mask=c < N, other=-float("inf"))
    for k in tl.static_range(K):
        top = tl.max(v, 0)
        place = tl.min(tl.where(v == top, c, 2147483647), 0)
        tl.store(values + row * K + k, top)
        tl.store(places + row * K + k, place.to(tl.int64))
        v = tl.where(c == place, -float("inf"), v)


def top_k(x, values, places):
    M, N = x.shape
    _top_k[(M,)](x, values, places, N, K=values.shape[1], BLOCK=triton.next_power_of_2(N))

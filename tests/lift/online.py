"""Running maxima with rescaled sums: log-sum-exp, softmax in one and two passes, cross entropy, attention."""

import torch
import triton
import triton.language as tl


@triton.jit
def logsumexp_kernel(x_ptr, out_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    largest = float("-inf")
    mass = 0.0
    for start in range(0, n_cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + columns, mask=columns < n_cols, other=float("-inf"))
        new_largest = tl.maximum(largest, tl.max(x))
        mass = mass * tl.exp(largest - new_largest) + tl.sum(tl.exp(x - new_largest))
        largest = new_largest
    tl.store(out_ptr + row, largest + tl.log(mass))


def logsumexp(x):
    n_rows, n_cols = x.shape
    out = torch.empty((n_rows,), dtype=torch.float32)
    logsumexp_kernel[(n_rows,)](x, out, x.stride(0), n_cols, BLOCK=1024)
    return out


@triton.jit
def lane_softmax_kernel(y_ptr, x_ptr, M, N, TILE: tl.constexpr):
    row = tl.program_id(0)
    peak = tl.full((TILE,), float("-inf"), tl.float32)
    total = tl.zeros((TILE,), tl.float32)
    for start in range(0, N, TILE):
        n = start + tl.arange(0, TILE)
        x = tl.load(x_ptr + row * N + n, mask=n < N, other=float("-inf"))
        new_peak = tl.maximum(peak, x)
        empty = new_peak == float("-inf")
        total = tl.where(empty, total, total * tl.exp(peak - new_peak) + tl.exp(x - new_peak))
        peak = new_peak
    row_peak = tl.max(peak, 0)
    row_total = tl.sum(total * tl.exp(peak - row_peak), 0)
    for start in range(0, N, TILE):
        n = start + tl.arange(0, TILE)
        x = tl.load(x_ptr + row * N + n, mask=n < N, other=float("-inf"))
        tl.store(y_ptr + row * N + n, tl.exp(x - row_peak) / row_total, mask=n < N)


def lane_softmax(y, x):
    M, N = x.shape
    lane_softmax_kernel[(M,)](y, x, M, N, TILE=512)


@triton.jit
def nll_kernel(logits_ptr, targets_ptr, loss_ptr, stride, n_classes, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    target = tl.load(targets_ptr + row)
    logits_ptr += row * stride
    m = float("-inf")
    d = 0.0
    for i in range(0, n_classes, BLOCK):
        offsets = i + tl.arange(0, BLOCK)
        block = tl.load(logits_ptr + offsets, mask=offsets < n_classes, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(block))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(block - m_new))
        m = m_new
    chosen = tl.load(logits_ptr + target).to(tl.float32)
    tl.store(loss_ptr + row, m + tl.log(d) - chosen)


def nll(logits, targets):
    n_rows, n_classes = logits.shape
    loss = torch.empty((n_rows,), dtype=torch.float32)
    nll_kernel[(n_rows,)](logits, targets, loss, logits.stride(0), n_classes, BLOCK=2048)
    return loss


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, scale, H, L, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    head = tl.program_id(1)
    base = head * L * D
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + base + rows[:, None] * D + d[None, :], mask=rows[:, None] < L, other=0.0)
    m = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    mass = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start in range(0, L, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + columns[:, None] * D + d[None, :], mask=columns[:, None] < L, other=0.0)
        v = tl.load(v_ptr + base + columns[:, None] * D + d[None, :], mask=columns[:, None] < L, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(columns[None, :] < L, scores, float("-inf"))
        m_new = tl.maximum(m, tl.max(scores, 1))
        p = tl.exp(scores - m_new[:, None])
        shrink = tl.exp(m - m_new)
        mass = mass * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m = m_new
    acc = acc / mass[:, None]
    tl.store(o_ptr + base + rows[:, None] * D + d[None, :], acc, mask=rows[:, None] < L)
    tl.store(lse_ptr + head * L + rows, m + tl.log(mass), mask=rows < L)


def attention(q, k, v, scale):
    H, L, D = q.shape
    o = torch.empty_like(q)
    lse = torch.empty((H, L), dtype=torch.float32)
    attention_kernel[(triton.cdiv(L, 64), H)](q, k, v, o, lse, scale, H, L, D, BLOCK_M=64, BLOCK_N=32)
    return o, lse


@triton.jit
def causal_attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, H, L, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    head = tl.program_id(1)
    base = head * L * D
    block = tl.program_id(0)
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + base + rows[:, None] * D + d[None, :], mask=rows[:, None] < L, other=0.0)
    m = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    mass = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start in range(0, (block + 1) * BLOCK_M, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + columns[:, None] * D + d[None, :], mask=columns[:, None] < L, other=0.0)
        v = tl.load(v_ptr + base + columns[:, None] * D + d[None, :], mask=columns[:, None] < L, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where((columns[None, :] < L) & (rows[:, None] >= columns[None, :]), scores, float("-inf"))
        m_new = tl.maximum(m, tl.max(scores, 1))
        p = tl.exp(scores - m_new[:, None])
        shrink = tl.exp(m - m_new)
        mass = mass * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None] + tl.dot(p, v, input_precision="ieee")
        m = m_new
    tl.store(o_ptr + base + rows[:, None] * D + d[None, :], acc / mass[:, None], mask=rows[:, None] < L)


def causal_attention(q, k, v, scale):
    H, L, D = q.shape
    o = torch.empty_like(q)
    causal_attention_kernel[(triton.cdiv(L, 64), H)](q, k, v, o, scale, H, L, D, BLOCK_M=64, BLOCK_N=32)
    return o

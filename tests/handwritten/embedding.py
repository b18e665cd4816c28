"""out[t, :] = table[tokens[t], :] + positions[t, :], bf16, written by hand."""

import triton
import triton.language as tl


@triton.jit
def embedding_kernel(
    tokens_ptr,
    table_ptr,
    positions_ptr,
    out_ptr,
    D,
    stride_tokens,
    stride_table_v,
    stride_table_d,
    stride_positions_t,
    stride_positions_d,
    stride_out_t,
    stride_out_d,
    BLOCK: tl.constexpr,
):
    blocks = tl.cdiv(D, BLOCK)
    t = (tl.program_id(0) // blocks).to(tl.int64)
    d = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    mask = d < D
    token = tl.load(tokens_ptr + t * stride_tokens)
    row = tl.load(table_ptr + token * stride_table_v + d * stride_table_d, mask=mask).to(tl.float32)
    position = tl.load(positions_ptr + t * stride_positions_t + d * stride_positions_d, mask=mask).to(tl.float32)
    tl.store(out_ptr + t * stride_out_t + d * stride_out_d, (row + position).to(tl.bfloat16), mask=mask)


def embedding(tokens, table, positions, out):
    T, D = out.shape
    strides = (*tokens.stride(), *table.stride(), *positions.stride(), *out.stride())
    embedding_kernel[(T * triton.cdiv(D, 32),)](tokens, table, positions, out, D, *strides, BLOCK=32)

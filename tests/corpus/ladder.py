"""Kernels in order of difficulty: what one lift after the other should reach."""

from __future__ import annotations

from typing import Final

from intent.records import dataclass

LIGER, GEMS, FLA = "liger_kernel/ops/", "flag_gems/", "fla/ops/"


@dataclass(frozen=True, slots=True)
class Rung:
    """A kernel of a file; no name is every kernel of the file."""

    number: int
    file: str
    kernel: str
    what: str


def _rung(number: int, file: str, kernel: str, what: str) -> Rung:
    return Rung(number, f"{file}.py", kernel, what)


LADDER: Final = (
    _rung(1, f"{GEMS}ops/softshrink", "softshrink_kernel", "pointwise"),
    _rung(2, f"{LIGER}relu_squared", "_relu_squared_backward_kernel", "rows, pointwise"),
    _rung(3, f"{LIGER}swiglu", "_swiglu_forward_kernel", "a helper function"),
    _rung(4, f"{LIGER}geglu", "_geglu_tanh_backward_kernel", "in place, several results"),
    _rung(5, f"{GEMS}fused/swiglu", "swiglu_kernel", "two halves of a row"),
    _rung(6, f"{GEMS}ops/tril", "_tril_kernel", "coordinates as conditions"),
    _rung(7, f"{GEMS}ops/pixel_unshuffle", "pixel_unshuffle_kernel", "coordinates taken apart by // and %"),
    _rung(8, f"{LIGER}rope", "_triton_rope", "rotated halves, in place"),
    _rung(9, f"{LIGER}softmax", "_softmax_single_block_forward_kernel", "resident rows"),
    _rung(10, f"{LIGER}rms_norm", "_rms_norm_forward_kernel", "modes as compile-time values"),
    _rung(11, f"{LIGER}layer_norm", "_layer_norm_forward_kernel", "several statistics of a row"),
    _rung(12, f"{GEMS}ops/groupnorm", "group_norm_kernel", "groups of channels"),
    _rung(13, f"{GEMS}ops/var_mean", "var_mean_kernel_1", "a summary per block"),
    _rung(13, f"{GEMS}ops/var_mean", "var_mean_kernel_2", "several results of one reduction"),
    _rung(14, f"{GEMS}ops/sum", "sum_dim_kernel_inner", "looped rows"),
    _rung(15, f"{LIGER}kl_div", "_kldiv_kernel_forward", "stores in a loop"),
    _rung(16, f"{LIGER}softmax", "_softmax_multi_block_forward_kernel", "online softmax"),
    _rung(17, f"{LIGER}layer_norm", "_layer_norm_backward_kernel", "rows per program, a logical group"),
    _rung(18, f"{GEMS}ops/mv", "mv_kernel", "matrix times vector"),
    _rung(19, f"{GEMS}ops/addmm", "addmm_kernel", "matrix product with an addend"),
    _rung(20, f"{GEMS}ops/bmm", "bmm_kernel", "batched product, swizzled"),
    _rung(21, "sageattention/quant_per_block", "quant_per_block_int8_kernel", "scales per block"),
    _rung(22, f"{LIGER}experimental/embedding", "embedding_forward_kernel", "gather"),
    _rung(23, f"{LIGER}experimental/embedding", "embedding_backward_kernel", "atomic sums"),
    _rung(24, f"{GEMS}ops/conv2d", "conv2d_forward_kernel", "convolution as a product"),
    _rung(25, f"{FLA}utils/cumsum", "chunk_local_cumsum_scalar_kernel", "prefix sums within chunks"),
    _rung(26, f"{FLA}hgrn/chunk", "chunk_hgrn_fwd_kernel_h", "a linear recurrence"),
    _rung(27, "conch/kernels/vllm/reshape_and_cache", "_reshape_and_cache_kernel", "scatter by slots"),
    _rung(28, f"{LIGER}cross_entropy", "liger_cross_entropy_kernel", "online log-sum-exp, early return"),
    _rung(29, f"{GEMS}ops/attention", "_attn_fwd", "attention"),
    _rung(30, "sageattention/attn_qk_int8_per_block_causal", "_attn_fwd", "quantised attention"),
    _rung(31, f"{LIGER}fused_moe_kernels", "_moe_router_histogram_kernel", "histogram"),
    _rung(32, "moe_ops/grouped_gemm_ops", "gmm_forward_kernel", "products of ragged groups"),
    _rung(33, f"{FLA}common/chunk_h", "chunk_fwd_kernel_h", "chunked state"),
    _rung(34, f"{GEMS}ops/topk", "topk_stage2_kernel", "sorting network"),
)  # fmt: skip

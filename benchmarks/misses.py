"""Why a generated module is slower than the fastest other implementation of its row, where it is by more than a
twentieth, and why first calls take long. `benchmarks.performance_page` prints them with the figures.
"""

from __future__ import annotations

SHARE = 0.95  # of the speed of the fastest other implementation

REASONS = {
    "softmax_f32": "The formula says maximum first, then a sum of exponentials, then quotients: three sweeps over "
    "rows that together are larger than the cache, the second backwards. With relaxed normalization two sweeps "
    "are left. The expert that is fastest holds a row in the registers of several programs that wait for each "
    "other.",
    "cross_entropy": "As written, the maximum and the sum are two sweeps, the second backwards. With relaxed "
    "normalization there is one.",
    "gemm_odd": "Rows that are not aligned are copied into rows that are, within the call; of the copies and the "
    "product, it is not measured which costs what the expert does not pay.",
    "gemm_bias_gelu": "Warps that only copy, as cuBLAS has, are not to be had: `warp_specialize` hung in every "
    "kernel that was tried with this Triton. The expert in Triton is between the two.",
    "batched_gemm": "Each product has few tiles, so that filling and draining the pipeline counts. Five other "
    "choices of tile, warps and stages were not faster.",
    "attention_full": "The expert in Triton is slower than the generated module; the library, which is not "
    "written in Triton, is faster than both.",
    "attention_causal": "As `attention_full`.",
    "histogram": "Other tiles and numbers of warps were slower; with two stages 0.239 ms. What is left is not "
    "explained.",
    "layer_norm": "The same loads and stores as the expert; other numbers of warps were slower.",
    "paged_decode": "The sample has one program for a sequence and a group of heads, which walks through all of "
    "its pages; the expert has four and adds up their results. Slices of 128 with 4 warps took 0.156 ms, with 8 warps "
    "0.254; slices of 64 or 32 with other stages were not faster.",
    "mamba_chunks": "Tiles above the diagonal are computed, since the program multiplies their zeros with "
    "what may not be finite; the expert leaves them out, which saved 0.04 ms here.",
    "grouped_gemm": "The rows of a group are dealt out to eight programs, which go through them tile by tile; "
    "groups of unequal sizes still leave processors waiting at the end.",
    "int4_gemm_16": "Eight groups are a step of the loop. Halves of bytes are put in order by comparing the "
    "lane's number; joined by tl.interleave the same kernel took 0.041 ms, but adds up in another order, which "
    "modules do not do yet, although a contraction over groups and elements permits it.",
    "int4_gemm_4096": "As `int4_gemm_16`: joined by tl.interleave it took 1.66 ms. The fastest way for many "
    "rows is to decode the weights once, into memory, and leave the rest to cuBLAS.",
    "fp8_gemm": "Products are formed exactly, in f16, from elements that the device converts. With f16 in "
    "memory beforehand it took 0.79 ms. The expert multiplies f8, of which the device does not promise sums of "
    "f32; the fastest way is to scale and round both matrices in memory and leave the rest to cuBLAS.",
    "top_k": "The expert pays no heed to NaN. Lanes beyond a row are set to -inf in each of the four rounds: without "
    "that 0.176 ms; value and place in two reductions besides 0.146, and without regard to NaN 0.121. Integer keys "
    "in the order of the values were not faster.",
}

# Why a first call takes more than two seconds. Processor time of Triton 3.6 for compute capability 9.0, per kernel.
FIRST_CALLS = {
    "gemm_bias_gelu": "One kernel. A thread has 128 elements of a tile, and the error function is inlined for each: "
    "2.1 s of processor time, a third in the assembler; the same product without it takes 0.8 s.",
    "attention_backward": "Three kernels, each compiled when it is called: 0.1, 1.4 and 0.8 s of processor time, and "
    "a launcher in C for each.",
    "mamba_chunks": "Three kernels, each compiled when it is called: 0.5, 0.15 and 0.6 s of processor time, "
    "and a launcher in C for each.",
}

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
    "split_decode": "The parts take what the expert's whole call takes. Adding them up is a second launch in "
    "which every element of the result has a program of 1024 lanes for 16 parts: 0.015 ms, of which 0.008 would "
    "be saved by as many lanes as parts.",
    "paged_decode": "The sample has one program for a sequence and a group of heads, which walks through all of "
    "its pages; the expert has four and adds up their results.",
    "mamba_chunks": "The depth of the inner product is a size of the call, so that it is a loop of its own, in "
    "which the rows are read once more for every tile of columns: without that loop 0.21 ms. Tiles above the "
    "diagonal are computed, since the program multiplies their zeros with what may not be finite; the expert "
    "leaves them out.",
    "grouped_gemm": "One program walks through all rows of a group for its columns: groups of unequal sizes leave "
    "processors waiting at the end. The run had tiles of 128 columns; with 256, which modules have since, such a "
    "kernel took 0.69 ms, and 0.53 ms with the rows of a group dealt out to eight programs.",
    "int4_gemm_16": "A step of the loop is one group of 32 weights, so that little is under way at a time, and "
    "scales are single elements; unrolled and with fewer warps it took 0.10 ms. The expert takes several groups "
    "in one step.",
    "int4_gemm_4096": "As `int4_gemm_16`: products of depth 32; with 4 warps 2.3 ms. The fastest way for many "
    "rows is to decode the weights once, into memory, and leave the rest to cuBLAS.",
    "fp8_gemm": "Products are formed exactly, in f16, from elements that are decoded in integer arithmetic, since "
    "not all targets know the type; with the device's own conversion and tiles of 64 x 128 it took 0.94 ms. The "
    "expert multiplies f8, of which the device does not promise sums of f32; the fastest way is to scale and "
    "round both matrices in memory and leave the rest to cuBLAS.",
    "conv2d": "A tile is part of one row of pixels, of which there are 56 here for 64 lanes. Tiles of 128 pixels "
    "across rows, with 256 filters, took 0.23 to 0.25 ms, as cuDNN does.",
    "top_k": "Value and place found in two reductions, as by the expert, took 0.24 ms; the expert pays no heed to "
    "NaN. What is left is not explained.",
}

# Why a first call takes more than two seconds. Processor time of Triton 3.6 for compute capability 9.0, per kernel.
FIRST_CALLS = {
    "gemm_bias_gelu": "One kernel. A thread has 128 elements of a tile, and the error function is inlined for each: "
    "2.1 s of processor time, a third in the assembler; the same product without it takes 0.8 s.",
    "attention_backward": "Three kernels, each compiled when it is called: 0.1, 1.4 and 0.8 s of processor time, and "
    "a launcher in C for each.",
    "mamba_chunks": "Three kernels, each compiled when it is called: 0.5, 0.15 and 0.6 s of processor time, and a "
    "launcher in C for each.",
}

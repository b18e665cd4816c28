"""The benchmark's rows.

The time to reach is the best that any implementation, those here and other compilers among them, has been measured to
take by the row's method on one H200.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import torch
import torch.nn.functional as F

from benchmarks import expert_kernels as expert
from benchmarks.rows import Data, Peer, Row, Sizes, Source, by_hand, eager, generated, generated_pair, library, relaxed

f16, bf16, f32, f64, i32, i64 = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32, torch.int64,
)  # fmt: skip
SCALE = 128**-0.5
RATE, SEED = 0.1, 1234


# ------------------------------------------------------------------------------------------------------------ pointwise
def _pointwise_gelu(sizes: Sizes, source: Source) -> Data:
    n = sizes["N"]
    return Data((source.normal(n), source.normal(n), 1.5, -0.25), (source.empty(n),))


def _gelu_residual(x: torch.Tensor, residual: torch.Tensor, a: float, b: float) -> torch.Tensor:
    return F.gelu(x * a + b) + residual


def _swiglu(sizes: Sizes, source: Source) -> Data:
    shape = sizes["M"], sizes["N"]
    return Data(
        (source.normal(*shape, dtype=bf16), source.normal(*shape, dtype=bf16)), (source.empty(*shape, dtype=bf16),)
    )


def _dropout(sizes: Sizes, source: Source) -> Data:
    return Data((source.normal(sizes["N"]), RATE, SEED), (source.empty(sizes["N"]),))


def _dropout_error(workload: ModuleType, data: Data, results: Sequence[torch.Tensor], strict: bool) -> float:
    """Which elements are dropped is compared on slices; others have random numbers of their own: how many they drop."""
    x, (out,) = data.inputs[0], results
    slices = [slice(start, start + (1 << 18)) for start in range(0, x.numel(), max(1 << 18, x.numel() // 4))]
    wanted = torch.cat([workload.reference(x[each], RATE, SEED, each.start) for each in slices])
    found = torch.cat([out[each] for each in slices])
    dropped = float((out == 0).double().mean())
    likely = abs(dropped - RATE) < 6 * (RATE * (1 - RATE) / x.numel()) ** 0.5
    if not (torch.equal(found == 0, wanted == 0) if strict else likely):
        return float("inf")
    return _distance(out, torch.where(out == 0, 0.0, x.double() / (1 - RATE)))


def _distance(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((found.double() - wanted).norm() / wanted.norm())


# ----------------------------------------------------------------------------------------------------------------- rows
def _square(dtype: torch.dtype, result: torch.dtype | None = None) -> Callable[[Sizes, Source], Data]:
    def data(sizes: Sizes, source: Source) -> Data:
        shape = sizes["M"], sizes["N"]
        return Data((source.normal(*shape, dtype=dtype),), (source.empty(*shape, dtype=result or dtype),))

    return data


def _cooperative(sizes: Sizes, source: Source) -> Data:
    """A row is divided among S programs, which tell each other their statistics."""
    plain, shape = _square(f32)(sizes, source), (sizes["M"], sizes["S"])
    arrived = torch.zeros(sizes["M"], dtype=i32, device=source.device)
    return Data(plain.inputs, plain.outputs, (source.empty(*shape), source.empty(*shape), arrived))


def _layer_norm(sizes: Sizes, source: Source) -> Data:
    m, n = sizes["M"], sizes["N"]
    arrays = source.normal(m, n, dtype=f16), source.normal(n, dtype=f16), source.normal(n, dtype=f16)
    return Data((*arrays, 1e-5), (source.empty(m, n, dtype=f16),))


def _add_rms_norm(sizes: Sizes, source: Source) -> Data:
    m, n = sizes["M"], sizes["N"]
    arrays = source.normal(m, n, dtype=bf16), source.normal(m, n, dtype=bf16), source.normal(n, dtype=bf16)
    return Data((*arrays, 1e-6), (source.empty(m, n, dtype=bf16), source.empty(m, n, dtype=bf16)))


def _norm_of_sum(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, ...]:
    summed = x + residual
    return summed, F.rms_norm(summed, weight.shape, weight, eps)


def _cross_entropy(sizes: Sizes, source: Source) -> Data:
    m, v = sizes["M"], sizes["V"]
    return Data((source.normal(m, v, dtype=bf16), source.below(v, m)), (source.empty(m),))


def _argmax(sizes: Sizes, source: Source) -> Data:
    return Data((source.normal(sizes["M"], sizes["N"]),), (source.empty(sizes["M"], dtype=i64),))


def _argmax_error(workload: ModuleType, data: Data, results: Sequence[torch.Tensor], strict: bool) -> float:
    """The number of wrong rows. Among equal elements the language wants the first; libraries take any."""
    x, (place,) = data.inputs[0], results
    if int(place.min()) < 0 or int(place.max()) >= x.shape[1]:
        return float("inf")
    largest = x == x.amax(dim=1, keepdim=True)
    first = torch.where(largest, torch.arange(x.shape[1], device=x.device), x.shape[1]).amin(dim=1)
    right = place == first if strict else largest.gather(1, place[:, None])[:, 0]
    return float((~right).sum())


# ----------------------------------------------------------------------------------------- reductions, layout, stencils
def _column_sum(sizes: Sizes, source: Source) -> Data:
    n = sizes["N"]
    return Data((source.normal(sizes["M"], n),), (source.empty(n),), (source.empty(sizes["G"], n),))


def _full_sum(sizes: Sizes, source: Source) -> Data:
    return Data((source.uniform(sizes["N"]),), (source.empty(),), (source.empty(sizes["G"]),))


def _histogram(sizes: Sizes, source: Source) -> Data:
    values = source.below(256, sizes["N"], dtype=i32)
    return Data((values,), (source.empty(256, dtype=i32),), (source.empty(sizes["G"], 256, dtype=i32),))


def _transpose(sizes: Sizes, source: Source) -> Data:
    return Data((source.normal(sizes["M"], sizes["N"]),), (source.empty(sizes["N"], sizes["M"]),))


def _embedding(sizes: Sizes, source: Source) -> Data:
    t, v, d = sizes["T"], sizes["V"], sizes["D"]
    return Data((source.below(v, t), source.normal(v, d, dtype=bf16)), (source.empty(t, d, dtype=bf16),))


def _unread_rows(data: Data) -> int:
    tokens, table = data.inputs
    return int((table.shape[0] - tokens.unique().numel()) * table[0].nbytes)


def _jacobi(u: torch.Tensor) -> torch.Tensor:
    out = u.clone()
    out[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1] + u[:-2, 1:-1])
    return out


# ------------------------------------------------------------------------------------------------------ matrix products
def _gemm(sizes: Sizes, source: Source) -> Data:
    m, n, k = sizes["M"], sizes["N"], sizes["K"]
    padded = source.empty(m, -(-k // 16) * 16, dtype=f16)
    return Data(
        (source.normal(m, k, dtype=f16), source.normal(k, n, dtype=f16)), (source.empty(m, n, dtype=f16),), (padded,)
    )


def _gemm_operations(sizes: Sizes) -> int:
    return 2 * sizes["M"] * sizes["N"] * sizes["K"] * sizes.get("B", 1)


def _matmul(data: Data) -> None:
    torch.matmul(*data.inputs, out=data.outputs[0])


def _gemm_bias_gelu(sizes: Sizes, source: Source) -> Data:
    m, n, k = sizes["M"], sizes["N"], sizes["K"]
    bias = source.normal(n, dtype=bf16)
    w = source.normal(k, n, dtype=bf16) * k**-0.5
    return Data((source.normal(m, k, dtype=bf16), w, bias), (source.empty(m, n, dtype=bf16),))


def _bias_gelu(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.gelu(torch.addmm(bias, x, w), approximate="tanh")


def _bias_gelu_library(data: Data) -> object:
    x, w, bias = data.inputs
    return torch._addmm_activation(bias, x, w, use_gelu=True)


def _batched_gemm(sizes: Sizes, source: Source) -> Data:
    b, m, n, k = (sizes[name] for name in "BMNK")
    return Data(
        (source.normal(b, m, k, dtype=f16), source.normal(b, k, n, dtype=f16)), (source.empty(b, m, n, dtype=f16),)
    )


def _attention(sizes: Sizes, source: Source) -> Data:
    shape = sizes["B"], sizes["H"], sizes["S"], sizes["D"]
    arrays = (source.normal(*shape, dtype=f16) for _ in range(3))
    return Data((*arrays, sizes["D"] ** -0.5), (source.empty(*shape, dtype=f16),))


def _attention_row(name: str, causal: bool, goal: float) -> Row:
    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)

    def cudnn(data: Data) -> torch.Tensor:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return attend(*data.inputs)

    def reference(workload: ModuleType, inputs: tuple[Any, ...]) -> torch.Tensor:
        result: torch.Tensor = workload.reference(*inputs, causal)
        return result

    return Row(
        name=name, workload="attention", shape=f"B4 H32 S4096 D128 f16{', causal' if causal else ''}",
        sizes={"B": 4, "H": 32, "S": 4096, "T": 4096, "D": 128}, small={"B": 1, "H": 1, "S": 128, "D": 128},
        data=_attention, reference=reference, goal=goal, method="do_bench",
        operations=lambda s: 4 * s["B"] * s["H"] * s["S"] ** 2 * s["D"] // (2 if causal else 1),
        peers=(
            generated(name),
            Peer("eager", lambda module, data: attend(*data.inputs)),
            library("cuDNN", cudnn, in_interpreter=False),
            by_hand(lambda d: expert.attention_tma(*d.inputs, *d.outputs, causal)),
        ),
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------- table
ROWS: tuple[Row, ...] = (
    Row(
        name="pointwise_gelu", workload="pointwise_gelu", shape="N=2^26 f32", goal=0.1841,
        sizes={"N": 1 << 26}, small={"N": 5001}, data=_pointwise_gelu,
        peers=(
            generated("pointwise_gelu"), eager(_gelu_residual),
            by_hand(lambda d: expert.pointwise_gelu(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="softmax_f16", workload="softmax", shape="[4096, 8192] f16", goal=0.0341,
        sizes={"M": 4096, "N": 8192}, small={"M": 3, "N": 130}, data=_square(f16),
        peers=(
            generated("softmax_f16"), relaxed("softmax_f16"), eager(lambda x: torch.softmax(x, 1)),
            by_hand(lambda d: expert.softmax_row(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="softmax_f32", workload="softmax", shape="[256, 131072] f32", goal=0.0811,
        sizes={"M": 256, "N": 131072, "S": 4}, small={"M": 2, "N": 8210, "S": 1}, data=_cooperative,
        peers=(
            generated("softmax_f32"), relaxed("softmax_f32"), eager(lambda x: torch.softmax(x, 1)),
            by_hand(lambda d: expert.softmax_coop(*d.inputs, *d.outputs, *d.scratch)),
        ),
    ),
    Row(
        name="layer_norm", workload="layer_norm", shape="[8192, 4096] f16", goal=0.0353,
        sizes={"M": 8192, "N": 4096}, small={"M": 5, "N": 515}, data=_layer_norm,
        peers=(
            generated("layer_norm"),
            eager(lambda x, weight, bias, eps: F.layer_norm(x, weight.shape, weight, bias, eps)),
            by_hand(lambda d: expert.layer_norm(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="add_rms_norm", workload="add_rms_norm", shape="[8192, 4096] bf16, writes both", goal=0.0664,
        sizes={"M": 8192, "N": 4096}, small={"M": 5, "N": 515}, data=_add_rms_norm,
        peers=(
            generated("add_rms_norm"), eager(_norm_of_sum),
            by_hand(lambda d: expert.add_rms_norm(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="swiglu", workload="swiglu", shape="[8192, 14336] bf16", goal=0.1620,
        sizes={"M": 8192, "N": 14336}, small={"M": 5, "N": 515}, data=_swiglu,
        peers=(
            generated("swiglu"), eager(lambda gate, up: F.silu(gate) * up),
            by_hand(lambda d: expert.swiglu(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="cross_entropy", workload="cross_entropy", shape="[4096, 128256] bf16 -> f32", goal=0.2705,
        sizes={"M": 4096, "V": 128256}, small={"M": 2, "V": 9001}, data=_cross_entropy,
        peers=(
            generated("cross_entropy"), relaxed("cross_entropy"),
            eager(
                lambda logits, target: F.cross_entropy(logits, target, reduction="none"),
                lambda logits, target: F.cross_entropy(logits.float(), target, reduction="none"),
            ),
            by_hand(lambda d: expert.cross_entropy(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="gemm_4096", workload="gemm", shape="4096^3 f16", goal=0.1896, method="do_bench",
        sizes={"M": 4096, "N": 4096, "K": 4096}, small={"M": 128, "N": 256, "K": 64}, data=_gemm,
        operations=_gemm_operations,
        peers=(
            generated("gemm"), library("cuBLAS", _matmul), by_hand(lambda d: expert.gemm_tma(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="gemm_8192", workload="gemm", shape="8192^3 f16", goal=1.6200, method="do_bench",
        sizes={"M": 8192, "N": 8192, "K": 8192}, small={"M": 256, "N": 256, "K": 128}, data=_gemm,
        operations=_gemm_operations,
        peers=(
            generated("gemm"), library("cuBLAS", _matmul), by_hand(lambda d: expert.gemm_tma(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="gemm_odd", workload="gemm", shape="4097x1000x3333 (MxNxK) f16", goal=0.0648,
        sizes={"M": 4097, "N": 1000, "K": 3333}, small={"M": 33, "N": 72, "K": 77}, data=_gemm,
        operations=_gemm_operations,
        peers=(
            generated("gemm"), library("cuBLAS", _matmul),
            by_hand(lambda d: expert.gemm_padded(*d.inputs, *d.outputs, *d.scratch)),
        ),
    ),
    Row(
        name="gemm_bias_gelu", workload="gemm_bias_gelu", shape="8192x8192x4096 (MxNxK) bf16", goal=0.7587,
        method="do_bench",
        sizes={"M": 8192, "N": 8192, "K": 4096}, small={"M": 128, "N": 256, "K": 64}, data=_gemm_bias_gelu,
        operations=_gemm_operations,
        peers=(
            generated("gemm_bias_gelu"), eager(_bias_gelu), library("cuBLASLt epilogue", _bias_gelu_library, False),
            by_hand(lambda d: expert.gemm_bias_gelu_tma(*d.inputs, *d.outputs), in_interpreter=False),
        ),
    ),
    _attention_row("attention_full", False, 1.8573),
    _attention_row("attention_causal", True, 0.9504),
    Row(
        name="column_sum", workload="column_sum", shape="[16384, 8192] f32", goal=0.1232,
        sizes={"M": 16384, "N": 8192, "G": 64}, small={"M": 37, "N": 35, "G": 4}, data=_column_sum,
        peers=(
            generated("column_sum"), generated_pair("column_sum_groups", "column_sum"),
            eager(lambda x: x.sum(dim=0)), by_hand(lambda d: expert.column_sum(*d.inputs, *d.outputs, *d.scratch)),
        ),
    ),
    Row(
        name="cumsum", workload="cumsum", shape="[4096, 8192] f32", goal=0.0664,
        sizes={"M": 4096, "N": 8192}, small={"M": 5, "N": 515}, data=_square(f32),
        peers=(
            generated("cumsum"), eager(lambda x: x.cumsum(dim=1)),
            by_hand(lambda d: expert.cumsum(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="transpose", workload="transpose", shape="[8192, 8192] f32", goal=0.1340,
        sizes={"M": 8192, "N": 8192}, small={"M": 37, "N": 70}, data=_transpose,
        peers=(
            generated("transpose"), eager(lambda x: x.t().contiguous()),
            by_hand(lambda d: expert.transpose(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="embedding", workload="embedding", shape="32768 tokens of 128256, 4096 bf16", goal=0.1344,
        sizes={"T": 32768, "V": 128256, "D": 4096}, small={"T": 37, "V": 20, "D": 70}, data=_embedding,
        unread=_unread_rows,
        peers=(
            generated("embedding"), eager(lambda tokens, table: F.embedding(tokens, table)),
            by_hand(lambda d: expert.embedding(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="argmax", workload="argmax", shape="[8192, 32768] f32 -> i64", goal=0.2377,
        sizes={"M": 8192, "N": 32768}, small={"M": 5, "N": 130}, data=_argmax, check=_argmax_error,
        peers=(
            generated("argmax"), eager(lambda x: x.argmax(dim=1)),
            by_hand(lambda d: expert.argmax(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="histogram", workload="histogram", shape="2^26 i32, 256 bins", goal=0.2181,
        sizes={"N": 1 << 26, "G": 1024, "B": 256}, small={"N": 5001, "G": 4}, data=_histogram,
        peers=(
            generated_pair("histogram_groups", "histogram_merge"),
            eager(lambda values: torch.bincount(values, minlength=256), graph=False),
            by_hand(lambda d: expert.histogram(*d.inputs, *d.outputs)),
        ),
    ),
    *(
        Row(
            name=f"jacobi2d_{name}", workload="jacobi2d", shape=f"[8192, 8192] {name}", goal=goal,
            sizes={"M": 8192, "N": 8192}, small={"M": 37, "N": 70}, data=_square(dtype),
            peers=(
                generated(f"jacobi2d_{name}"), eager(_jacobi),
                by_hand(lambda d: expert.jacobi2d(*d.inputs, *d.outputs)),
            ),
        )
        for name, dtype, goal in (("f32", f32, 0.1640), ("f64", f64, 0.2646))
    ),
    Row(
        name="batched_gemm", workload="batched_gemm", shape="[64, 1024, 1024]x[64, 1024, 128] f16", goal=0.0461,
        sizes={"B": 64, "M": 1024, "N": 128, "K": 1024}, small={"B": 2, "M": 128, "N": 128, "K": 128},
        data=_batched_gemm, operations=_gemm_operations,
        peers=(
            generated("batched_gemm"), library("cuBLAS", _matmul),
            by_hand(lambda d: expert.bmm_tma(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="dropout", workload="dropout", shape="N=2^26 f32, p=0.1", goal=0.1309,
        sizes={"N": 1 << 26}, small={"N": 8192}, data=_dropout, check=_dropout_error,
        peers=(
            generated("dropout"), eager(lambda x, p, seed: F.dropout(x, p)),
            by_hand(lambda d: expert.dropout(*d.inputs, *d.outputs)),
        ),
    ),
    Row(
        name="full_sum", workload="full_sum", shape="2^27 f32", goal=0.1219,
        sizes={"N": 1 << 27, "G": 4096}, small={"N": 5001, "G": 4}, data=_full_sum,
        peers=(
            generated_pair("sum_groups", "sum_partials"), eager(lambda x: x.sum()),
            by_hand(lambda d: expert.full_sum(*d.inputs, *d.outputs, *d.scratch)),
        ),
    ),
)  # fmt: skip

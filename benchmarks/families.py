"""The rows of the second table: families of kernels beside those of `cases`, generated from the samples.

References are float64. Arrays that a kernel updates are part of its inputs and named in `Data.updated`; those that one
kernel of several hands to the next are scratch.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks import expert_families as expert
from benchmarks.rows import Data, Peer, Row, Sizes, Source, by_hand, eager, generated, library

f16, bf16, f32, f64, i32, i64, u8, f8 = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8,
    torch.float8_e4m3fn,
)  # fmt: skip
LOG2E = 1.4426950408889634
Tensors = tuple[torch.Tensor, ...]


def _rows(name: str, **facts: Any) -> Row:  # noqa: ANN401
    """A row of a sample; its reference is a function of the inputs."""
    function = facts.pop("reference")
    return Row(name=name, folder="samples", goal=None, reference=lambda module, inputs: function(*inputs), **facts)


def _sequence(kernels: Sequence[str], call: Callable[[ModuleType, Data], object]) -> Peer:
    return Peer("generated", call, f"in {len(kernels)} kernels", kernels=tuple(kernels))


# --------------------------------------------------------------------------------------------------- attention backward
def _attention_backward(sizes: Sizes, source: Source) -> Data:
    """Forward results come with the inputs: the logarithms of the masses, and the outputs."""
    shape = sizes["B"], sizes["S"], sizes["D"]
    q, k, v, do = (source.normal(*shape, dtype=f16) for _ in range(4))
    scale = sizes["D"] ** -0.5
    out, lse = torch.empty_like(q), source.empty(*shape[:2])
    below = torch.ones(shape[1], shape[1], dtype=torch.bool, device=q.device).tril()
    for b in range(shape[0]):
        scores = (q[b].float() @ k[b].float().t() * (scale * LOG2E)).masked_fill_(~below, float("-inf"))
        lse[b] = torch.logsumexp(scores * (1 / LOG2E), 1) * LOG2E
        out[b] = torch.exp2(scores - lse[b][:, None]).half() @ v[b]
    results = tuple(source.empty(*shape, dtype=f16) for _ in range(3))
    return Data((q, k, v, do, lse, out, scale), results, (source.empty(*shape[:2]), {}))


def _attention_gradients(q, k, v, do, lse, out, scale) -> Tensors:  # type: ignore[no-untyped-def]
    found = [torch.empty(q.shape, dtype=f64, device=q.device) for _ in range(3)]
    below = torch.ones(q.shape[1], q.shape[1], dtype=torch.bool, device=q.device).tril()
    for b in range(q.shape[0]):
        each = [t[b].double() for t in (q, k, v, do)]
        weights = torch.softmax((each[0] @ each[1].t() * scale).masked_fill(~below, float("-inf")), 1)
        change = each[3] @ each[2].t()
        change = weights * (change - (weights * change).sum(1, keepdim=True))
        found[0][b], found[1][b], found[2][b] = (
            change @ each[1] * scale,
            change.t() @ each[0] * scale,
            weights.t() @ each[3],
        )
    return tuple(found)


def _attention_backward_kernels(module: ModuleType, data: Data) -> None:
    q, k, v, do, lse, out, scale = data.inputs
    dq, dk, dv = data.outputs
    delta = data.scratch[0]
    module.attention_delta_device_out(do, out, delta)
    module.attention_dk_dv_device_out(q, k, v, do, lse, delta, scale, dk, dv)
    module.attention_dq_device_out(q, k, v, do, lse, delta, scale, dq)


def _flash_backward(data: Data) -> Tensors:
    q, k, v, do = (t[None] for t in data.inputs[:4])
    scale, kept = data.inputs[6], data.scratch[1]
    if "flash" not in kept:
        kept["flash"] = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, True, False, scale=scale)
    out, lse, cq, ck, mq, mk, seed, offset, _ = kept["flash"]
    found = torch.ops.aten._scaled_dot_product_flash_attention_backward(
        do, q, k, v, out, lse, cq, ck, mq, mk, 0.0, True, seed, offset, scale=scale
    )
    return tuple(each[0] for each in found)


def _cudnn_backward(data: Data) -> Tensors:
    """Through autograd: the operator itself takes no missing bias from Python."""
    kept = data.scratch[1]
    if "cudnn" not in kept:
        q, k, v = (t[None].detach().requires_grad_() for t in data.inputs[:3])
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            kept["cudnn"] = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=data.inputs[6]), (q, k, v)
    out, operands = kept["cudnn"]
    found = torch.autograd.grad(out, operands, data.inputs[3][None], retain_graph=True)
    return tuple(each[0] for each in found)


# ------------------------------------------------------------------------------------------------------------- decoding
def _split_decode(sizes: Sizes, source: Source) -> Data:
    b, h, t, d, g = (sizes[name] for name in "BHTDG")
    inputs = source.normal(b, h, d) * d**-0.5, source.normal(b, h, t, d), source.normal(b, h, t, d)
    parts = source.empty(b, h, g), source.empty(b, h, g), source.empty(b, h, g, d)
    return Data(inputs, (source.empty(b, h, d),), parts)


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    weights = torch.softmax((k.double() * q.double()[:, :, None]).sum(3), 2)
    return (weights[..., None] * v.double()).sum(2)


def _split_decode_kernels(module: ModuleType, data: Data) -> None:
    module.attend_parts_device_out(*data.inputs, *data.scratch)
    module.merge_parts_device_out(*data.scratch, *data.outputs)


def _paged_decode(sizes: Sizes, source: Source) -> Data:
    """Every page once, in any order, so that all sequences are full."""
    b, h, g, m, d = (sizes[name] for name in "BHGMD")
    q = source.normal(b, h, g, d, dtype=f16) * d**-0.5
    caches = tuple(source.normal(b * m, 16, h, d, dtype=f16) for _ in range(2))
    pages = source.below(1 << 30, b * m).argsort().to(i32).view(b, m)
    lengths = torch.full((b,), 16 * m, dtype=i32, device=q.device)
    parts = tuple(source.empty(*shape) for shape in ((b, h, g, 4), (b, h, g, 4), (b, h, g, 4, d)))
    return Data((q, *caches, pages, lengths), (torch.empty_like(q),), parts)


def _gathered(q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, pages: torch.Tensor) -> torch.Tensor:
    b, h, _, d = q.shape
    k, v = (each[pages.long()].view(b, -1, h, d).transpose(1, 2) for each in (keys, values))
    return F.scaled_dot_product_attention(q, k, v, scale=1.0)


def _paged_reference(q, keys, values, pages, lengths) -> torch.Tensor:  # type: ignore[no-untyped-def]
    found = torch.empty(q.shape, dtype=f64, device=q.device)
    for b in range(q.shape[0]):
        found[b] = _gathered(*(each.double() for each in (q[b : b + 1], keys, values)), pages[b : b + 1])[0]
    return found


# ---------------------------------------------------------------------------------------------------------- recurrences
def _gated_delta(sizes: Sizes, source: Source) -> Data:
    b, t, h, d, e = (sizes[name] for name in "BTHDE")
    key = F.normalize(source.normal(b, t, h, d), dim=3)
    gates = -0.1 * source.uniform(b, t, h), source.uniform(b, t, h)
    state = source.normal(b, h, d, e)
    inputs = source.normal(b, t, h, d), key, source.normal(b, t, h, e), *gates, state
    return Data(inputs, (source.empty(b, t, h, e),), updated=(state,))


def _gated_delta_reference(query, key, value, gate, strength, state) -> Tensors:  # type: ignore[no-untyped-def]
    query, key, value, gate, strength, held = (x.double() for x in (query, key, value, gate, strength, state))
    out = torch.empty_like(value)
    for t in range(query.shape[1]):
        held = held * gate[:, t].exp()[..., None, None]
        learned = strength[:, t, :, None] * (value[:, t] - torch.einsum("bhd,bhde->bhe", key[:, t], held))
        held = held + key[:, t, :, :, None] * learned[:, :, None, :]
        out[:, t] = torch.einsum("bhd,bhde->bhe", query[:, t], held)
    return held, out


def _mamba(sizes: Sizes, source: Source) -> Data:
    b, c, length, h, p, n = (sizes[name] for name in "BCLHPN")
    decay = torch.cumsum(-0.3 * source.uniform(b, h, c, length), 3)
    inputs = source.normal(b, c, length, h, p, dtype=f16), *(source.normal(b, c, length, n, dtype=f16) for _ in "io")
    outputs = source.empty(b, h, p, n), source.empty(b, c, length, h, p, dtype=f16)
    return Data((*inputs, decay), outputs, tuple(source.empty(b, c, h, p, n) for _ in range(2)))


def _mamba_reference(x, entry, readout, decay) -> Tensors:  # type: ignore[no-untyped-def]
    x, entry, readout, total = (each.double() for each in (x, entry, readout, decay.movedim(1, 2)))
    state = torch.zeros(x.shape[0], x.shape[3], x.shape[4], entry.shape[3], dtype=f64, device=x.device)
    out = torch.empty(x.shape, dtype=f64, device=x.device)
    below = torch.ones(x.shape[2], x.shape[2], dtype=torch.bool, device=x.device).tril()
    for c in range(x.shape[1]):
        own = total[:, c]  # [B, H, L]
        out[:, c] = torch.einsum("bln,bhpn,bhl->blhp", readout[:, c], state, own.exp())
        weights = (own[..., :, None] - own[..., None, :]).masked_fill(~below, float("-inf")).exp()
        scores = weights * (readout[:, c] @ entry[:, c].mT)[:, None]
        out[:, c] += torch.einsum("bhlm,bmhp->blhp", scores, x[:, c])
        rest = (own[..., -1:] - own).exp()
        state = state * own[..., -1:].exp()[..., None] + torch.einsum("blhp,bhl,bln->bhpn", x[:, c], rest, entry[:, c])
    return state, out


def _mamba_kernels(module: ModuleType, data: Data) -> None:
    (x, entry, readout, decay), (last, out), (states, before) = data.inputs, data.outputs, data.scratch
    module.chunk_state_device_out(x, entry, decay, states)
    module.state_passing_device_out(states, decay, before, last)
    module.chunk_scan_device_out(x, entry, readout, decay, before, out)


def _mamba_by_hand(data: Data) -> None:
    expert.mamba_chunks(*data.inputs, *data.scratch, *data.outputs)


# ------------------------------------------------------------------------------------------------------------- products
def _grouped(sizes: Sizes, source: Source) -> Data:
    """Groups of unequal sizes; the library has this product for bf16."""
    r, k, n, g = (sizes[name] for name in "RKNG")
    x, weight = source.normal(r, k, dtype=f16), source.normal(g, k, n, dtype=f16) * k**-0.5
    shares = (1 + source.uniform(g)).cumsum(0)
    ends = (shares * (r / float(shares[-1]))).round().to(i32)
    ends[-1] = r
    offsets = torch.cat([torch.zeros(1, dtype=i32, device=x.device), ends])
    return Data((x, weight, offsets), (source.empty(r, n, dtype=f16),), (x.to(bf16), weight.to(bf16), ends))


def _grouped_reference(x: torch.Tensor, weight: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    cuts = offsets.tolist()
    parts = [x[a:b].double() @ weight[g].double() for g, (a, b) in enumerate(itertools.pairwise(cuts))]
    return torch.cat(parts)


def _grouped_library(data: Data) -> torch.Tensor:
    x, weight, ends = data.scratch
    return torch._grouped_mm(x, weight, offs=ends)


def _int4(sizes: Sizes, source: Source) -> Data:
    m, n, g = (sizes[name] for name in "MNG")
    packed, zero = source.below(256, n, g, 16, dtype=u8), source.below(16, n, g, dtype=u8)
    scale = (0.01 + 0.09 * source.uniform(n, g)).to(f16)
    return Data((source.normal(m, g, 32, dtype=f16), packed, scale, zero), (source.empty(m, n, dtype=f16),))


def _decoded(packed: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor) -> torch.Tensor:
    quanta = torch.stack([packed & 15, packed >> 4], 3).flatten(2).to(f16)
    return ((quanta - zero.to(f16)[..., None]) * scale[..., None]).flatten(1)


def _int4_row(name: str, rows: int) -> Row:
    return _rows(
        name, workload="int4_gemm", shape=f"{rows}x8192x8192 (MxNxK), groups of 32", data=_int4,
        sizes={"M": rows, "N": 8192, "G": 256}, small={"M": 5, "N": 256, "G": 8},
        operations=lambda s: 2 * s["M"] * s["N"] * s["G"] * 32,
        reference=lambda x, *weights: x.flatten(1).double() @ _decoded(*weights).double().t(),
        peers=(
            generated("int4_gemm"), eager(lambda x, *weights: x.flatten(1) @ _decoded(*weights).t()),
            by_hand(lambda d: expert.int4_gemm(*d.inputs, *d.outputs)),
        ),
    )  # fmt: skip


def _fp8(sizes: Sizes, source: Source) -> Data:
    m, n, g = (sizes[name] for name in "MNG")
    values = tuple(source.normal(rows, g, 32).to(f8) for rows in (m, n))
    scales = tuple(0.5 + source.uniform(rows, g) for rows in (m, n))
    return Data((*values, *scales), (source.empty(m, n, dtype=bf16),))


def _scaled(values: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return (values.to(dtype) * scales[..., None].to(dtype)).flatten(1)


def _conv2d(sizes: Sizes, source: Source) -> Data:
    b, h, w, c, f = (sizes[name] for name in "BHWCF")
    weight = source.normal(3, 3, c, f, dtype=f16) * (9 * c) ** -0.5
    # The library's layout of the same weights: filters first, channels last.
    kept = weight.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    inputs = source.normal(b, h, w, c, dtype=f16), weight, source.normal(f, dtype=f16)
    return Data(inputs, (source.empty(b, h, w, f, dtype=f16),), (kept,))


def _conv2d_reference(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    height, width = x.shape[1:3]
    found = bias.double().expand(*x.shape[:3], -1).clone()
    padded = F.pad(x, (0, 0, 1, 1, 1, 1))
    for b in range(len(x)):
        for r in range(3):
            for s in range(3):
                found[b] += padded[b, r : r + height, s : s + width].double() @ w[r, s].double()
    return found


def _cudnn_conv(data: Data) -> torch.Tensor:
    x, _, bias = data.inputs
    return F.conv2d(x.permute(0, 3, 1, 2), data.scratch[0], bias, padding=1).permute(0, 2, 3, 1)


# ------------------------------------------------------------------------------------------------------------ the rest
def _max_pool(sizes: Sizes, source: Source) -> Data:
    b, h, w, p, q, c = (sizes[name] for name in "BHWPQC")
    return Data((source.normal(b, h, w, c),), (source.empty(b, p, q, c),))


def _pooled(x: torch.Tensor) -> torch.Tensor:
    return F.max_pool2d(x.permute(0, 3, 1, 2), 3, 2, 1).permute(0, 2, 3, 1)


def _rope(sizes: Sizes, source: Source) -> Data:
    t, h = sizes["T"], sizes["H"]
    angle = source.normal(t, 32)
    x = source.normal(t, h, 64, dtype=f16)
    return Data((x, angle.cos(), angle.sin()), (), updated=(x,))


def _rotated(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    (a, b), c, s = x.chunk(2, dim=2), cosine[:, None], sine[:, None]
    return torch.cat([a * c - b * s, b * c + a * s], 2).to(x.dtype)


def _adamw(sizes: Sizes, source: Source) -> Data:
    n = sizes["N"]
    p, g, m, v = source.normal(n), source.normal(n), source.normal(n), source.uniform(n)
    step = torch.full((), 10.0, device=p.device)
    scalars = 1e-3, 0.9, 0.999, 1e-8, 0.01, 1 - 0.9**10, 1 - 0.999**10
    return Data((p, g, m, v, *scalars), (), (step,), updated=(p, m, v))


def _adamw_reference(p, g, m, v, rate, beta1, beta2, epsilon, decay, c1, c2) -> Tensors:  # type: ignore[no-untyped-def]
    p, g, m, v = (each.double() for each in (p, g, m, v))
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    return p - rate * (m / c1 / ((v / c2).sqrt() + epsilon) + decay * p), m, v


def _fused_adamw(data: Data) -> None:
    p, g, m, v, rate, beta1, beta2, epsilon, decay = data.inputs[:9]
    torch._fused_adamw_(
        [p], [g], [m], [v], [], [data.scratch[0]], lr=rate, beta1=beta1, beta2=beta2, weight_decay=decay, eps=epsilon,
        amsgrad=False, maximize=False,
    )  # fmt: skip


def _top_k(sizes: Sizes, source: Source) -> Data:
    m, n = sizes["M"], sizes["N"]
    return Data((source.normal(m, n),), (source.empty(m, 4), source.empty(m, 4, dtype=i64)))


def _top_k_error(workload: ModuleType, data: Data, results: Sequence[torch.Tensor], strict: bool) -> float:
    """The number of wrong elements: values in order, and places where they are found."""
    x, (values, places) = data.inputs[0], results
    if int(places.min()) < 0 or int(places.max()) >= x.shape[1]:
        return float("inf")
    order = x.sort(dim=1, descending=True, stable=True)
    right = (values == order.values[:, :4]) & (x.gather(1, places) == values)
    if strict:
        right &= places == order.indices[:, :4]
    return float((~right).sum())


# ---------------------------------------------------------------------------------------------------------------- table
ROWS: tuple[Row, ...] = (
    _rows(
        "attention_backward", workload="attention_backward", shape="B*H 64 S4096 D128 f16, causal", method="do_bench",
        sizes={"B": 64, "S": 4096, "D": 128}, small={"B": 1, "S": 128, "D": 16}, data=_attention_backward,
        reference=_attention_gradients, operations=lambda s: 5 * s["B"] * s["S"] ** 2 * s["D"],
        peers=(
            _sequence(("attention_delta", "attention_dk_dv", "attention_dq"), _attention_backward_kernels),
            library("FlashAttention", _flash_backward, False), library("cuDNN", _cudnn_backward, False),
            by_hand(lambda d: expert.attention_backward(*d.inputs, d.scratch[0], *d.outputs)),
        ),
    ),
    _rows(
        "split_decode", workload="split_decode", shape="B2 H32 T8192 D128 f32, 16 parts", data=_split_decode,
        sizes={"B": 2, "H": 32, "T": 8192, "D": 128, "G": 16}, small={"B": 1, "H": 2, "T": 77, "D": 16, "G": 4},
        reference=_attend,
        peers=(
            _sequence(("attend_parts", "merge_parts"), _split_decode_kernels),
            eager(lambda q, k, v: F.scaled_dot_product_attention(q[:, :, None], k, v, scale=1.0)[:, :, 0]),
            by_hand(lambda d: expert.split_decode(*d.inputs, *d.scratch, *d.outputs)),
        ),
    ),
    _rows(
        "paged_decode", workload="paged_decode", shape="B32 H8 G4 D128 f16, 256 pages of 16", data=_paged_decode,
        sizes={"B": 32, "H": 8, "G": 4, "M": 256, "D": 128, "F": 8192},
        small={"B": 2, "H": 2, "G": 3, "M": 9, "D": 16, "F": 18},
        reference=_paged_reference,
        peers=(
            generated("paged_decode"), eager(lambda q, keys, values, pages, lengths: _gathered(q, keys, values, pages)),
            by_hand(lambda d: expert.paged_decode(*d.inputs, *d.scratch, *d.outputs)),
        ),
    ),
    _rows(
        "gated_delta_rule", workload="gated_delta_rule", shape="B2 T1024 H16 D128 E128 f32", data=_gated_delta,
        sizes={"B": 2, "T": 1024, "H": 16, "D": 128, "E": 128}, small={"B": 1, "T": 5, "H": 2, "D": 16, "E": 32},
        reference=_gated_delta_reference,
        peers=(generated("gated_delta_rule"), by_hand(lambda d: expert.gated_delta(*d.inputs, *d.outputs))),
    ),
    _rows(
        "mamba_chunks", workload="mamba_chunks", shape="B2 C16 L256 H32 P64 N128 f16", data=_mamba,
        sizes={"B": 2, "C": 16, "L": 256, "H": 32, "P": 64, "N": 128},
        small={"B": 1, "C": 3, "L": 128, "H": 2, "P": 16, "N": 64},
        reference=_mamba_reference,
        peers=(
            _sequence(("chunk_state", "state_passing", "chunk_scan"), _mamba_kernels), by_hand(_mamba_by_hand),
        ),
    ),
    _rows(
        "grouped_gemm", workload="grouped_gemm", shape="16384 rows, 16 groups of 2048x4096 f16", method="do_bench",
        sizes={"R": 16384, "K": 2048, "N": 4096, "G": 16, "P": 17}, small={"R": 70, "K": 64, "N": 40, "G": 3, "P": 4},
        data=_grouped, reference=_grouped_reference, operations=lambda s: 2 * s["R"] * s["K"] * s["N"],
        peers=(
            generated("grouped_gemm"), library("torch._grouped_mm, bf16", _grouped_library, False),
            by_hand(lambda d: expert.grouped_gemm(*d.inputs, *d.outputs)),
        ),
    ),
    _int4_row("int4_gemm_16", 16),
    _int4_row("int4_gemm_4096", 4096),
    _rows(
        "fp8_gemm", workload="fp8_gemm", shape="4096^3 f8e4m3fn, scales per 32", data=_fp8, method="do_bench",
        sizes={"M": 4096, "N": 4096, "G": 128}, small={"M": 128, "N": 256, "G": 3},
        operations=lambda s: 2 * s["M"] * s["N"] * s["G"] * 32,
        reference=lambda a, b, sa, sb: _scaled(a, sa, f64) @ _scaled(b, sb, f64).t(),
        peers=(
            generated("fp8_gemm"), eager(lambda a, b, sa, sb: _scaled(a, sa, bf16) @ _scaled(b, sb, bf16).t()),
            by_hand(lambda d: expert.fp8_gemm(*d.inputs, *d.outputs)),
        ),
    ),
    _rows(
        "conv2d", workload="conv2d", shape="B32 56x56 C256 F256 f16, 3x3", data=_conv2d, method="do_bench",
        sizes={"B": 32, "H": 56, "W": 56, "C": 256, "F": 256}, small={"B": 2, "H": 5, "W": 9, "C": 19, "F": 33},
        operations=lambda s: 18 * s["B"] * s["H"] * s["W"] * s["C"] * s["F"], reference=_conv2d_reference,
        peers=(
            generated("conv2d"), library("cuDNN", _cudnn_conv),
            by_hand(lambda d: expert.conv2d(*d.inputs, *d.outputs)),
        ),
    ),
    _rows(
        "max_pool", workload="max_pool", shape="B32 112x112 C64 f32, 3x3 by 2", data=_max_pool,
        sizes={"B": 32, "H": 112, "W": 112, "P": 56, "Q": 56, "C": 64},
        small={"B": 2, "H": 9, "W": 7, "P": 5, "Q": 4, "C": 19},
        reference=lambda x: _pooled(x.double()),
        peers=(generated("max_pool"), eager(_pooled), by_hand(lambda d: expert.max_pool(*d.inputs, *d.outputs))),
    ),
    _rows(
        "rope", workload="rope", shape="T32768 H32 D64 f16, in place", data=_rope, sizes={"T": 32768, "H": 32},
        small={"T": 5, "H": 3},
        reference=lambda x, cosine, sine: _rotated(x.double(), cosine.double(), sine.double()),
        peers=(
            generated("rope"), eager(_rotated), by_hand(lambda d: expert.rope(*d.inputs)),
        ),
    ),
    _rows(
        "adamw", workload="adamw", shape="N=2^26 f32, in place", data=_adamw, sizes={"N": 1 << 26}, small={"N": 1001},
        reference=_adamw_reference,
        peers=(
            generated("adamw"), library("torch._fused_adamw_", _fused_adamw),
            by_hand(lambda d: expert.adamw(*d.inputs)),
        ),
    ),
    _rows(
        "top_k", workload="top_k", shape="[8192, 8192] f32, 4 of each row", data=_top_k, check=_top_k_error,
        sizes={"M": 8192, "N": 8192}, small={"M": 5, "N": 130}, reference=lambda x: torch.topk(x, 4),
        peers=(
            generated("top_k"), eager(lambda x: tuple(torch.topk(x, 4))),
            by_hand(lambda d: expert.top_k(*d.inputs, *d.outputs)),
        ),
    ),
)  # fmt: skip

"""Scaled, sparse and quantized contractions, with statements that decode every format bit by bit."""

import intent
import intent.language as I

CASES = [
    {"M": 5, "G": 3, "N": 17, "S": 6, "T": 3, "K": 12, "B": 2},
    {"M": 33, "G": 1, "N": 19, "S": 18, "T": 9, "K": 36, "B": 1},
    {"M": 1, "G": 1, "N": 1, "S": 2, "T": 1, "K": 4, "B": 1},
    {"M": 2, "G": 0, "N": 3, "S": 0, "T": 0, "K": 0, "B": 1},
    {"M": 0, "G": 2, "N": 0, "S": 2, "T": 1, "K": 4, "B": 0},
]


@intent.kernel
def bytes_of_e4m3(
    a: I.In[I.u8, ("M", "G", 32)], sa: I.In[I.u8, ("M", "G")],
    b: I.In[I.u8, ("G", 32, "N")], sb: I.In[I.u8, ("G", "N")], o: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    o[:, :] = I.scaled_contract(
        a[:, :, :], sa[:, :], b[:, :, :], I.transpose(sb[:, :], (1, 0)), lhs_format=I.e4m3, rhs_format=I.e4m3,
        lhs_group_size=32, rhs_group_size=32, reduce=((1, 0), (2, 1)), acc_dtype=I.f32,
    )  # fmt: skip


@intent.kernel
def f32_scales(
    c: I.In[I.f8e4m3fn, ("M", "G", 16)], sc: I.In[I.f32, ("M", "G")],
    d: I.In[I.f8e4m3fn, ("G", 16, "N")], sd: I.In[I.f32, ("N", "G")], o: I.Out[I.f64, ("M", "N")],
):  # fmt: skip
    m = I.domain(0, c.shape[0])
    n = I.domain(0, d.shape[2])
    o[m, n] = I.scaled_matmul(
        c[m, :, :], sc[m, :], d[:, :, n], sd[n, :], lhs_format=I.e4m3, rhs_format=I.e4m3, group_size=16,
        acc_dtype=I.f64,
    )  # fmt: skip


@intent.kernel
def e2m1_by_e2m1(
    e: I.In[I.u8, ("M", "G", 16)], se: I.In[I.u8, ("M", "G")],
    f: I.In[I.u8, ("G", 16, "N")], sf: I.In[I.u8, ("N", "G")], o: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    o[:, :] = I.scaled_matmul(
        e[:, :, :], se[:, :], f[:, :, :], sf[:, :], lhs_format=I.e2m1, rhs_format=I.e2m1, group_size=32,
        acc_dtype=I.f32,
    )  # fmt: skip


@intent.kernel
def e2m1_by_e4m3(
    e: I.In[I.u8, ("M", "G", 16)], se: I.In[I.u8, ("M", "G")], b: I.In[I.u8, ("G", 32, "N")],
    sf: I.In[I.u8, ("N", "G")], bias: I.In[I.f32, ("N",)], o: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    product = I.scaled_matmul(
        e[:, :, :], se[:, :], b[:, :, :], sf[:, :], lhs_format=I.e2m1, rhs_format=I.e4m3, group_size=32,
        acc_dtype=I.f32,
    )  # fmt: skip
    o[:, :] = product * 0.5 + bias[:]


@intent.kernel
def two_of_four(
    kept: I.In[I.f16, ("M", 16)], p: I.In[I.index, ("M", 8)], q: I.In[I.index, ("M", 8)],
    x: I.In[I.f16, (32, "N")], o: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    o[:, :] = I.sparse_contract(
        kept[:, :], I.record(second=q[:, :], first=p[:, :]), x[:, :],
        format=I.sparse.two_of_four(compression_axis=1, logical_extent=32), reduce=((1, 0),), acc_dtype=I.f32,
    )  # fmt: skip


@intent.kernel
def two_of_four_of_any_extent(
    w: I.In[I.i8, ("M", "S")], packed: I.In[I.u8, ("M", "T")], z: I.In[I.i8, ("K", "N")], o: I.Out[I.i32, ("M", "N")]
):
    places = packed[:, :]
    metadata = I.record(first=I.cast(places & 3, I.index), second=I.cast(places >> 2, I.index))
    o[:, :] = I.sparse_contract_2to4(w[:, :], metadata, z[:, :], acc_dtype=I.i32)


@intent.kernel
def one_of_two_along_the_first_axis(
    v: I.In[I.bf16, ("S", "B", "M")], at: I.In[I.i32, ("S", "B", "M")], y: I.In[I.bf16, ("B", "N", "K")],
    o: I.Out[I.f32, ("B", "M", "N")],
):  # fmt: skip
    o[:, :, :] = I.sparse_contract(
        v[:, :, :], I.cast(at[:, :, :], I.index), y[:, :, :],
        format=I.sparse.one_of_two(compression_axis=0, logical_extent=y.shape[2]), reduce=((0, 2),),
        batch=((1, 0),), acc_dtype=I.f32,
    )  # fmt: skip


@intent.kernel
def one_record(rec: I.In[I.f32, (256,)], o: I.Out[I.u8, (292,)]):
    o[:] = I.quantize(rec[:])


@intent.kernel
def quantized_in_place(weights: I.In[I.u8, ("B", "G", 144)], values: I.In[I.f32, ("G", 256)], o: I.Out[I.f32, ("B",)]):
    records = I.quantize(values[:, :], format=I.quant.q8_k)
    for n in I.parallel(I.domain(0, weights.shape[0])):
        o[n] = I.quantized_dot(weights[n, :, :], records) * 2.0


# ---------------------------------------------------------------------------------------------------------- statements
def float_of(code, exponent_bits, fraction_bits):
    """Sign, exponent and fraction by hand; the code with all ones but the sign is NaN where there are 8 bits."""
    import numpy as np

    code = code.astype(np.int64)
    magnitude = code & ((1 << (exponent_bits + fraction_bits)) - 1)
    exponent, fraction = magnitude >> fraction_bits, magnitude & ((1 << fraction_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    normal = (1 + fraction / 2.0**fraction_bits) * 2.0 ** (exponent - bias)
    value = np.where(exponent == 0, fraction / 2.0**fraction_bits * 2.0 ** (1 - bias), normal)
    value = np.where((exponent_bits == 4) & (magnitude == 0x7F), np.nan, value)
    return np.where(code >> (exponent_bits + fraction_bits), -value, value)


def e4m3(code):
    return float_of(code, 4, 3)


def e2m1(code, axis):
    import numpy as np

    pairs = np.stack([float_of(code & 15, 2, 1), float_of(code >> 4, 2, 1)], axis + 1)
    shape = list(code.shape)
    return pairs.reshape([*shape[:axis], 2 * shape[axis], *shape[axis + 1 :]])


def e8m0(code):
    import numpy as np

    return np.where(code == 255, np.nan, 2.0 ** (code.astype(np.float64) - 127))


def scaled(lhs, lhs_scale, rhs, rhs_scale, dtype="float32"):
    import numpy as np

    return np.einsum("mgc,mg,gcn,ng->mn", lhs, lhs_scale, rhs, rhs_scale).astype(dtype)


def bytes_of_e4m3_reference(a, sa, b, sb):
    return scaled(e4m3(a), e8m0(sa), e4m3(b), e8m0(sb.T))


def f32_scales_reference(c, sc, d, sd):
    import numpy as np

    return scaled(e4m3(c.view(np.uint8)), sc.astype("f8"), e4m3(d.view(np.uint8)), sd.astype("f8"), "float64")


def e2m1_by_e2m1_reference(e, se, f, sf):
    return scaled(e2m1(e, 2), e8m0(se), e2m1(f, 1), e8m0(sf))


def e2m1_by_e4m3_reference(e, se, b, sf, bias):
    return scaled(e2m1(e, 2), e8m0(se), e4m3(b), e8m0(sf)) * bias.dtype.type(0.5) + bias


def spread(kept, places, group):
    """The kept elements of [M, groups * len(places)] at their places."""
    import numpy as np

    whole = np.zeros((kept.shape[0], places[0].shape[1], group))
    for ordinal, place in enumerate(places):
        for m in range(kept.shape[0]):
            for g in range(place.shape[1]):
                whole[m, g, place[m, g]] = kept[m, g * len(places) + ordinal]
    return whole.reshape(kept.shape[0], group * places[0].shape[1])


def two_of_four_reference(kept, p, q, x):
    return (spread(kept, (p, q), 4) @ x.astype("f8")).astype("f4")


def two_of_four_of_any_extent_reference(w, packed, z):
    return (spread(w, (packed & 3, packed >> 2), 4) @ z.astype("f8")).astype("i4")


def one_of_two_along_the_first_axis_reference(v, at, y):
    import numpy as np

    batches = [spread(v[:, b].T, (at[:, b].T,), 2) @ y[b].astype("f8").T for b in range(v.shape[1])]
    return np.array(batches, np.float32).reshape(v.shape[1], v.shape[2], y.shape[1])


def quantized(values):
    """Scales, elements and sums of one record after the other."""
    import numpy as np

    fields = []
    for row in values:
        extreme = row[np.argmax(np.abs(row))] if row.max() != -row.min() else row.min()
        inverse = np.float32(-127) / extreme if extreme else np.float32(0)
        elements = [int(np.rint(value * inverse)) for value in row]
        scale = np.float32(1) / inverse if extreme else np.float32(0)
        fields.append((scale, np.array(elements), [sum(elements[i : i + 16]) for i in range(0, 256, 16)]))
    return fields


def one_record_reference(rec):
    import struct

    import numpy as np

    ((scale, elements, sums),) = quantized(rec[None])
    return np.frombuffer(struct.pack("<f256b16h", scale, *elements, *sums), np.uint8)


def quantized_in_place_reference(weights, values):
    import struct

    import numpy as np

    result = np.zeros(len(weights), np.float32)
    for n, row in enumerate(weights):
        for record, (factor, elements, sums) in zip(row, quantized(values), strict=True):
            d, dmin = (np.float32(x) for x in struct.unpack("<ee", record[:4].tobytes()))
            a = [int(x) for x in record]
            scale = [a[4 + i] & 63 for i in range(4)]
            scale += [(a[12 + t] & 15) | (a[4 + t] >> 6) << 4 for t in range(4)]
            minimum = [a[8 + i] & 63 for i in range(4)]
            minimum += [(a[12 + t] >> 4) | (a[8 + t] >> 6) << 4 for t in range(4)]
            q = [a[16 + 32 * (i // 64) + i % 32] >> (0 if i % 64 < 32 else 4) & 15 for i in range(256)]
            total = sum(scale[i // 32] * q[i] * int(elements[i]) for i in range(256))
            offset = sum(minimum[j // 2] * sums[j] for j in range(16))
            result[n] += factor * (d * np.float32(total) - dmin * np.float32(offset))
    return result * np.float32(2)


# --------------------------------------------------------------------------------------------------------------- inputs
def inputs(rng, case):
    import numpy as np

    m, g, n, b = (case[name] for name in "MGNB")
    finite = np.array([code for code in range(256) if code & 127 != 127])
    pairs = np.array([(first, second) for second in range(4) for first in range(second)])
    fixed = rng.choice(pairs, (m, 8))
    free = rng.choice(pairs, (m, case["T"]))
    weights = rng.integers(0, 256, (b, g, 144), dtype=np.uint8)
    weights[..., :4] = rng.normal(size=(b, g, 2)).astype(np.float16).view(np.uint8)
    values = rng.normal(size=(g, 256))
    values[:1, ::3] = 0.0
    return {
        "a": rng.choice(finite, (m, g, 32)), "b": rng.choice(finite, (g, 32, n)),
        "sa": rng.integers(100, 155, (m, g)), "sb": rng.integers(100, 155, (g, n)),
        "se": rng.integers(100, 155, (m, g)), "sf": rng.integers(100, 155, (n, g)),
        "p": fixed[..., 0], "q": fixed[..., 1], "packed": free[..., 0] + 4 * free[..., 1],
        "at": rng.integers(0, 2, (case["S"], b, m)), "weights": weights, "values": values,
    }  # fmt: skip

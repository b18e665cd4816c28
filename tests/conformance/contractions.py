"""Rows of contractions: products of vectors and matrices, scaled, sparse and quantized ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sample_files import NUMPY_DTYPES, Case

from conformance.rows import (
    EVERYTHING,
    FLOATS,
    NUMBERS,
    Arrays,
    Row,
    Statement,
    extents,
    for_each,
    in_f64,
    operands,
    program,
    sizes,
    view,
    widened,
)

PRODUCT = sizes("M K N", "5 37 19", "70 130 40")
LINE = sizes("K", "37", "2500")

# Intrinsic: shapes of the operands, of the result, the call, and the statement in subscripts of einsum.
PRODUCTS: dict[str, tuple[str, str, str, str, str]] = {
    "dot": ("K", "K", "", "I.dot(x[:], y[:], acc_dtype=ACC)", "k,k->"),
    "matvec": ("M K", "K", "M", "I.matvec(x[:, :], y[:], acc_dtype=ACC)", "mk,k->m"),
    "vecmat": ("K", "K N", "N", "I.vecmat(x[:], y[:, :], acc_dtype=ACC)", "k,kn->n"),
    "matmul": ("M K", "K N", "M N", "I.matmul(x[:, :], y[:, :], acc_dtype=ACC)", "mk,kn->mn"),
    "matmul, transposed": (
        "K M", "N K", "M N",
        "I.matmul(x[:, :], y[:, :], acc_dtype=ACC, transpose_lhs=True, transpose_rhs=True)", "km,nk->mn",
    ),
    "matmul, batched": ("3 M K", "K N", "3 M N", "I.matmul(x[:, :, :], y[:, :], acc_dtype=ACC)", "bmk,kn->bmn"),
    "contract": (
        "M K 2", "2 N K", "M N", "I.contract(x[:, :, :], y[:, :, :], reduce=((1, 2), (2, 0)), acc_dtype=ACC)",
        "mkl,lnk->mn",
    ),
    "contract, batched": (
        "3 M K", "3 N K", "3 M N",
        "I.contract(x[:, :, :], y[:, :, :], reduce=((2, 2),), batch=((0, 0),), acc_dtype=ACC)", "bmk,bnk->bmn",
    ),
}  # fmt: skip


def rows() -> Iterator[Row]:
    for subject in PRODUCTS:
        yield from for_each(EVERYTHING, NUMBERS, lambda dtype, s=subject: _product(s, dtype))
    yield from for_each(EVERYTHING, ("u8",), _scaled_contract)
    yield from for_each(EVERYTHING, ("u8",), _scaled_matmul)
    floats = ("f16", "bf16", "f32", "f64")
    for subject, pattern in (
        ("sparse_contract", "two_of_four"),
        ("sparse.two_of_four", "two_of_four"),
        ("sparse.one_of_two", "one_of_two"),
        ("sparse_matmul", "two_of_four"),
        ("sparse_contract_2to4", "two_of_four"),
    ):
        for dtype in floats:
            yield _sparse(subject, pattern, dtype)
    yield from for_each(EVERYTHING, ("f32",), _quantize)
    yield from for_each(EVERYTHING, ("u8",), _quantized_dot)


def _product(subject: str, dtype: str) -> Row:
    lhs, rhs, result, call, subscripts = PRODUCTS[subject]
    acc = "i32" if dtype == "i8" else widened(dtype)
    target = f"o[{', '.join(':' for _ in result.split())}]" if result else "o[()]"
    parameters = f"{view('x', dtype, lhs)}, {view('y', dtype, rhs)}, {view('o', acc, result, 'Out')}"
    text = program(parameters, f"{target} = {call.replace('ACC', f'I.{acc}')}")

    def statement(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        carrier = np.float64 if acc in FLOATS else NUMPY_DTYPES[acc]
        return np.einsum(subscripts, x.astype(carrier), y.astype(carrier))

    inputs = operands(dtype, {"x": lhs, "y": rhs}, -2, 2)
    where = LINE if subject == "dot" else _used(PRODUCT, {*lhs.split(), *rhs.split()})
    return Row(subject, dtype, text, in_f64(statement, acc), inputs, where)


def _used(usual: object, symbols: set[str]) -> dict[str, tuple[Case, ...]]:
    """The sizes without the symbols that a program does not have."""
    return {
        shape: tuple({name: size for name, size in case.items() if name in symbols} for case in cases)
        for shape, cases in dict(usual).items()  # type: ignore[call-overload]
    }


# --------------------------------------------------------------------------------------------------------- scaled
def _scaled_contract(dtype: str) -> Row:
    shapes = {"x": "M G 32", "sx": "M G", "y": "G 32 N", "sy": "N G"}
    call = (
        "I.scaled_contract(x[:, :, :], sx[:, :], y[:, :, :], sy[:, :], lhs_format=I.e4m3, rhs_format=I.e4m3, "
        "lhs_group_size=32, rhs_group_size=32, reduce=((1, 0), (2, 1)), acc_dtype=I.f32)"
    )

    def statement(x: np.ndarray, sx: np.ndarray, y: np.ndarray, sy: np.ndarray) -> np.ndarray:
        left = decoded_e4m3(x) * decoded_e8m0(sx)[:, :, None]
        right = decoded_e4m3(y) * decoded_e8m0(sy).T[:, None, :]
        return np.einsum("mgc,gcn->mn", left, right).astype(np.float32)

    return _scaled("scaled_contract", dtype, shapes, call, statement)


def _scaled_matmul(dtype: str) -> Row:
    shapes = {"x": "M G 16", "sx": "M G", "y": "G 16 N", "sy": "N G"}
    call = (
        "I.scaled_matmul(x[:, :, :], sx[:, :], y[:, :, :], sy[:, :], lhs_format=I.e2m1, rhs_format=I.e2m1, "
        "group_size=32, acc_dtype=I.f32)"
    )

    def statement(x: np.ndarray, sx: np.ndarray, y: np.ndarray, sy: np.ndarray) -> np.ndarray:
        left = _e2m1_pairs(x, 2) * decoded_e8m0(sx)[:, :, None]
        right = _e2m1_pairs(y, 1) * decoded_e8m0(sy).T[:, None, :]
        return np.einsum("mgc,gcn->mn", left, right).astype(np.float32)

    return _scaled("scaled_matmul", dtype, shapes, call, statement)


def _e2m1_pairs(codes: np.ndarray, axis: int) -> np.ndarray:
    """Two numbers of four bits a byte, the low one first: a sign, two bits of exponent with bias 1, one of mantissa."""
    magnitudes = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
    halves = np.stack([codes & 15, codes >> 4], axis=axis + 1)
    values = np.where(halves & 8, -1.0, 1.0) * magnitudes[halves & 7]
    shape = list(codes.shape)
    shape[axis] *= 2
    return values.reshape(shape)


def _scaled(subject: str, dtype: str, shapes: dict[str, str], call: str, statement: Statement) -> Row:
    parameters = [view(name, dtype, shape) for name, shape in shapes.items()]
    text = program(", ".join([*parameters, view("o", "f32", "M N", "Out")]), f"o[:, :] = {call}")

    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        found = {name: rng.integers(0, 0x78, extents(shape, case)) for name, shape in shapes.items()}
        scales = {name: rng.integers(120, 134, extents(shapes[name], case)) for name in ("sx", "sy")}
        return {name: array.astype(NUMPY_DTYPES[dtype]) for name, array in {**found, **scales}.items()}

    return Row(subject, dtype, text, statement, inputs, sizes("M G N", "5 3 19", "40 4 40"))


def decoded_e4m3(codes: np.ndarray) -> np.ndarray:
    """One sign bit, four of the exponent with bias 7, three of the mantissa; the lowest exponent is subnormal."""
    exponent, mantissa = (codes.astype(int) >> 3) & 15, codes.astype(int) & 7
    value = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))
    return np.where(codes & 0x80, -value, value)


def decoded_e8m0(codes: np.ndarray) -> np.ndarray:
    return 2.0 ** (codes.astype(float) - 127)


# --------------------------------------------------------------------------------------------------------- sparse
LOGICAL = 64


def _sparse(subject: str, pattern: str, dtype: str) -> Row:
    acc = widened(dtype)
    kept = LOGICAL // 2
    groups = LOGICAL // (4 if pattern == "two_of_four" else 2)
    stated = f"I.sparse.{pattern}(compression_axis=1, logical_extent={LOGICAL})"
    metadata = "I.record(first=p[:, :], second=q[:, :])" if pattern == "two_of_four" else "p[:, :]"
    call = {
        "sparse_matmul": f"I.sparse_matmul(x[:, :], {metadata}, y[:, :], format={stated}, acc_dtype=I.{acc})",
        "sparse_contract_2to4": f"I.sparse_contract_2to4(x[:, :], {metadata}, y[:, :], acc_dtype=I.{acc})",
    }.get(
        subject,
        f"I.sparse_contract(x[:, :], {metadata}, y[:, :], format={stated}, reduce=((1, 0),), acc_dtype=I.{acc})",
    )
    parameters = [view("x", dtype, f"M {kept}"), view("p", "index", f"M {groups}"), view("q", "index", f"M {groups}")]
    parameters += [view("y", dtype, f"{LOGICAL} N"), view("o", acc, "M N", "Out")]

    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        values = operands(dtype, {"x": f"M {kept}", "y": f"{LOGICAL} N"}, -2, 2)(rng, case)
        (rows,) = extents("M", case)
        if pattern == "one_of_two":
            first = rng.integers(0, 2, (rows, groups))
            return {**values, "p": first, "q": first}
        pairs = np.array([(a, b) for a in range(4) for b in range(a + 1, 4)])[rng.integers(0, 6, (rows, groups))]
        return {**values, "p": pairs[:, :, 0], "q": pairs[:, :, 1]}

    def statement(x: np.ndarray, p: np.ndarray, q: np.ndarray, y: np.ndarray) -> np.ndarray:
        dense = np.zeros((len(x), LOGICAL))
        row = np.arange(len(x))[:, None]
        each = LOGICAL // groups
        base = each * np.arange(groups)
        if pattern == "one_of_two":
            dense[row, base + p] = x
        else:
            dense[row, base + p], dense[row, base + q] = x[:, ::2], x[:, 1::2]
        return dense @ y

    text = program(", ".join(parameters), f"o[:, :] = {call}")
    return Row(subject, dtype, text, in_f64(statement, acc), inputs, sizes("M N", "5 19", "40 40"))


# ------------------------------------------------------------------------------------------------------ quantized
def _quantize(dtype: str) -> Row:
    """A record of 292 bytes: the f32 scale, 256 signed bytes, and 16 sums of 16 of them as i16."""
    text = program(
        f"{view('x', dtype, 'M 256')}, {view('o', 'u8', 'M 292', 'Out')}",
        "o[:, :] = I.quantize(x[:, :], format=I.quant.q8_k)",
    )
    where = sizes("M", "5", "40")
    return Row("quantize", dtype, text, lambda x: q8_k(x), operands(dtype, {"x": "M 256"}), where)


def q8_k(x: np.ndarray) -> np.ndarray:
    """The public block format: the largest element in magnitude becomes -127 quanta (GGML, `block_q8_K`)."""
    records = np.zeros((len(x), 292), np.uint8)
    for record, row in zip(records, x.astype(np.float32), strict=True):
        largest = row[np.argmax(np.abs(row))]
        if largest == 0:
            continue
        inverse = np.float32(-127.0) / largest
        quanta = np.minimum(np.rint(inverse * row), 127).astype(np.int8)
        record[:4] = np.array([np.float32(1.0) / inverse], np.float32).view(np.uint8)
        record[4:260] = quanta.view(np.uint8)
        record[260:] = quanta.reshape(16, 16).sum(axis=1, dtype=np.int16).view(np.uint8)
    return records


def _quantized_dot(dtype: str) -> Row:
    text = program(
        f"{view('x', dtype, '144')}, {view('y', dtype, '292')}, {view('o', 'f32', '1', 'Out')}",
        "o[0] = I.quantized_dot(x[:], y[:], lhs_format=I.quant.q4_k, rhs_format=I.quant.q8_k, acc_dtype=I.f32)",
    )

    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        record = rng.integers(0, 256, 144).astype(np.uint8)
        record[:4] = np.array([0.01, 0.02], np.float16).view(np.uint8)
        return {"x": record.astype(NUMPY_DTYPES[dtype]), "y": q8_k(rng.standard_normal((1, 256)))[0]}

    def statement(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.array([np.dot(q4_k(x), np.frombuffer(y[4:260].tobytes(), np.int8) * _float(y))], np.float32)

    fixed: tuple[Case, ...] = ({},)
    return Row("quantized_dot", dtype, text, statement, inputs, dict.fromkeys(("tail", "strided"), fixed))


def _float(record: np.ndarray) -> np.ndarray:
    return np.frombuffer(record[:4].tobytes(), np.float32)[0].astype(np.float64)


def q4_k(record: np.ndarray) -> np.ndarray:
    """The 256 numbers of a record of 144 bytes: eight blocks of 32 quanta with scales and minima of six bits each."""
    scale, minimum = np.frombuffer(record[:4].tobytes(), np.float16).astype(np.float64)
    packed = record[4:16].astype(int)
    scales, minima = np.empty(8), np.empty(8)
    for block in range(8):
        if block < 4:
            scales[block], minima[block] = packed[block] & 63, packed[block + 4] & 63
        else:
            scales[block] = packed[block + 4] & 15 | (packed[block - 4] >> 6) << 4
            minima[block] = packed[block + 4] >> 4 | (packed[block] >> 6) << 4
    pairs = record[16:].reshape(4, 32)
    quanta = np.stack([pairs & 15, pairs >> 4], axis=1).reshape(8, 32)
    return np.asarray(scale * scales[:, None] * quanta - minimum * minima[:, None]).reshape(-1)

"""Reductions, scans, region operations, contractions, random numbers, special contractions."""

from __future__ import annotations

import math

import pytest
from rules_support import Bench, dtypes, extent, lit, rejected, tup, view

from translators.intent_source.read import rules
from translators.intent_source.read.operands import Format, IntrinsicName, Operand, Product
from translators.logical.program import ArgReduce, Contract, Intrinsic, Reduce, RegionFold, RegionScan, Scan, Value
from translators.logical.types import Scalar, Tensor

ADD = IntrinsicName("add")
MAXIMUM = IntrinsicName("maximum")


@pytest.fixture
def bench() -> Bench:
    return Bench()


def record(**fields: Operand) -> Product:
    return Product(tuple(fields.values()), tuple(fields))


# ---------------------------------------------------------------------------------------------------------- reductions
def test_axes(bench: Bench) -> None:
    value = bench.tensor(dtypes.f32, "A", "B", "C")
    assert bench.value("reduce.sum", value, axis=lit(-1)).shape == (extent("A"), extent("B"))
    assert bench.value("reduce.max", value, axis=tup(lit(0), lit(2))).shape == (extent("B"),)
    assert bench.value("reduce.sum", value, axis=tup(lit(0), lit(1), lit(2))).type == Scalar(dtypes.f32)


@pytest.mark.parametrize(
    ("dtype", "wide"),
    [
        (dtypes.i8, dtypes.i32),
        (dtypes.u16, dtypes.u32),
        (dtypes.bf16, dtypes.f32),
        (dtypes.f8e5m2, dtypes.f32),
        (dtypes.f64, dtypes.f64),
        (dtypes.index, dtypes.index),
    ],
)
def test_sums_widen(bench: Bench, dtype: dtypes.DType, wide: dtypes.DType) -> None:
    value = bench.tensor(dtype, "N")
    assert bench.value("reduce.sum", value, axis=lit(0)).dtype == wide
    assert bench.value("cumsum", value, axis=lit(0)).dtype == wide
    assert bench.value("reduce.max", value, axis=lit(0)).dtype == dtype


def test_wrong_reductions(bench: Bench) -> None:
    value = bench.tensor(dtypes.f32, "M", "N")
    with rejected("INT302", "axis=1"):
        bench.call("reduce.sum", value, axis=bench.domain("N"))
    with rejected("INT407"):
        bench.call("reduce.sum", value, axis=lit(2))
    with rejected("INT407", "twice"):
        bench.call("reduce.sum", value, axis=tup(lit(0), lit(-2)))
    with rejected("INT601"):
        bench.call("reduce.sum", value, axis=tup())
    with rejected("INT601"):
        bench.call("reduce.sum", value, axis=bench.scalar(dtypes.i32))
    with rejected("INT415"):
        bench.call("reduce.sum", bench.scalar(dtypes.f32), axis=lit(0))
    with rejected("INT605", "v != 0"):
        bench.call("reduce.any", value, axis=lit(0))
    with rejected("INT605"):
        bench.call("reduce.sum", bench.tensor(dtypes.boolean, "N"), axis=lit(0))
    with rejected("INT606"):
        bench.call("reduce.sum", value, axis=lit(0), acc_dtype=dtypes.i32)
    with rejected("INT606"):
        bench.call("reduce.sum", value, axis=lit(0), acc_dtype=dtypes.f16)


def test_arg_reduction(bench: Bench) -> None:
    found = bench.call("arg_reduce.max", bench.tensor(dtypes.f16, "M", "N"), axis=lit(1))
    assert isinstance(found, Product)
    values, positions = found.items
    assert isinstance(values, Value) and isinstance(positions, Value) and isinstance(values.origin, ArgReduce)
    assert (values.dtype, positions.type) == (dtypes.f16, Tensor(dtypes.index, (extent("M"),)))
    with rejected("INT601"):
        bench.call("arg_reduce.max", bench.tensor(dtypes.f16, "M", "N"), axis=tup(lit(0), lit(1)))


def test_generic_forms_that_are_builtins(bench: Bench) -> None:
    value = bench.tensor(dtypes.f32, "N")
    total = bench.value("reduce", value, axis=lit(0), identity=lit(0), combine=ADD)
    assert isinstance(total.origin, Reduce) and total.origin.kind == "sum"
    largest = bench.value("scan", value, axis=lit(0), identity=lit(-math.inf), combine=MAXIMUM)
    assert isinstance(largest.origin, Scan) and largest.origin.kind == "max"


def test_generic_reduction(bench: Bench) -> None:
    def merge(a: Product, b: Product, scale: Operand, exact: Operand) -> Operand:
        assert exact == lit(True)
        total = rules.binary(bench.builder, "add", a.items[0], b.items[0])
        return record(n=total, m=rules.binary(bench.builder, "multiply", b.items[1], scale))

    source = record(n=bench.tensor(dtypes.i32, "M", "N"), m=bench.tensor(dtypes.f32, "M", "N"))
    found = bench.call(
        "reduce", source, axis=lit(1), identity=record(n=lit(0), m=lit(1.0)), combine=bench.helper(merge),
        combine_operands=tup(bench.scalar(dtypes.f32), lit(True)),
    )  # fmt: skip
    assert isinstance(found, Product) and found.names == ("n", "m")
    first = found.items[0]
    assert isinstance(first, Value) and isinstance(first.origin, Reduce) and first.shape == (extent("M"),)
    op = first.origin
    assert op.combine is not None and len(op.combine.parameters) == 5 and len(op.captures) == 1
    assert [identity.type for identity in op.identities] == [Scalar(dtypes.i32), Scalar(dtypes.f32)]


def test_wrong_generic_reductions(bench: Bench) -> None:
    def compares(a: Operand, b: Operand) -> Operand:
        return rules.compare(bench.builder, "less", a, b)

    value = bench.tensor(dtypes.f32, "M", "N")
    with rejected("INT603", "bool"):
        bench.call("reduce", value, axis=lit(1), identity=lit(0.0), combine=bench.helper(compares))
    with rejected("INT602"):
        bench.call("reduce", tup(value, value), axis=lit(1), identity=lit(0.0), combine=ADD)
    with rejected("INT602", "f16"):
        bench.call("reduce", value, axis=lit(1), identity=bench.scalar(dtypes.f16), combine=ADD)
    with rejected("INT602"):
        bench.call("reduce", value, axis=lit(1), identity=bench.tensor(dtypes.f32, "N"), combine=ADD)
    with rejected("INT604"):
        bench.call("reduce", value, axis=lit(1), identity=lit(0.0), combine=lit(1))
    with rejected("INT607"):
        other = bench.tensor(dtypes.f32, "M", "K")
        bench.call("reduce", tup(value, other), axis=lit(1), identity=tup(lit(0.0), lit(0.0)), combine=ADD)


def test_record_scan_of_several_ranks(bench: Bench) -> None:
    def compose(a: Product, b: Product) -> Operand:
        return Product(
            tuple(rules.binary(bench.builder, "multiply", x, y) for x, y in zip(a.items, b.items, strict=True))
        )

    source = tup(bench.tensor(dtypes.f32, "S"), bench.tensor(dtypes.f32, "S", "D"))
    found = bench.call("scan", source, axis=lit(0), identity=tup(lit(1.0), lit(0.0)), combine=bench.helper(compose))
    assert isinstance(found, Product)
    assert [item.shape for item in found.items if isinstance(item, Value)] == [item.shape for item in source.items]  # type: ignore[union-attr]


def test_histogram(bench: Bench) -> None:
    values = bench.tensor(dtypes.i32, "N")
    found = bench.value("histogram", values, bins=lit(256), valid=lit(True), count_dtype=dtypes.i32)
    assert found.type == Tensor(dtypes.i32, (extent(256),))
    for wrong in (
        {"values": bench.tensor(dtypes.f32, "N")},
        {"valid": bench.tensor(dtypes.i32, "N")},
        {"count_dtype": dtypes.f32},
        {"valid": bench.tensor(dtypes.boolean, "M")},
    ):
        arguments = {"values": values, "bins": lit(8), "valid": lit(True), "count_dtype": dtypes.i32} | wrong
        with rejected("INT610"):
            bench.call("histogram", **arguments)


# ------------------------------------------------------------------------------------------------------------- regions
def total(bench: Bench):  # type: ignore[no-untyped-def]
    def summarize(part: Operand, *operands: Operand) -> Operand:
        return bench.call("reduce.sum", part, axis=lit(0))

    return bench.helper(summarize)


def test_region_fold(bench: Bench) -> None:
    value = bench.tensor(dtypes.f32, "N", "D")
    zero = bench.value("zeros", tup(bench.builder.size(extent("D"))), dtypes.f32)
    found = bench.value(
        "region_fold", source=value, axis=lit(0), summarize=total(bench), combine=ADD, identity=zero,
        operands=tup(bench.scalar(dtypes.f32), lit(True)),
    )  # fmt: skip
    assert isinstance(found.origin, RegionFold) and found.type == zero.type
    op = found.origin
    assert len(op.operands) == 1 and len(op.summarize.parameters) == 2
    assert op.summarize.parameters[0].shape == (op.slice_extent, extent("D"))


def test_scalar_identity_fills_the_summary(bench: Bench) -> None:
    value = bench.tensor(dtypes.f32, "N", "D")
    found = bench.value("region_fold", value, axis=lit(0), summarize=total(bench), combine=ADD, identity=lit(0.0))
    assert found.type == Tensor(dtypes.f32, (extent("D"),))


def test_wrong_region_folds(bench: Bench) -> None:
    def same(part: Operand) -> Operand:
        return part

    value = bench.tensor(dtypes.f32, "N")
    with rejected("INT608"):
        bench.call("region_fold", value, lit(0), total(bench), ADD, identity=tup(lit(0.0), lit(0.0)))
    with rejected("INT608", "f64"):
        bench.call("region_fold", value, lit(0), total(bench), ADD, identity=bench.scalar(dtypes.f64))
    with rejected("INT609", "slice"):
        bench.call("region_fold", value, lit(0), bench.helper(same), ADD, identity=lit(0.0))
    with rejected("INT607"):
        bench.call("region_fold", tup(value, bench.tensor(dtypes.f32, "M")), lit(0), total(bench), ADD, lit(0.0))
    with rejected("INT604"):
        bench.call("region_fold", value, lit(0), lit(1), ADD, identity=lit(0.0))


def test_region_scan(bench: Bench) -> None:
    def emit(part: Operand, state: Operand) -> Operand:
        return record(y=rules.binary(bench.builder, "add", part, state))

    value = bench.tensor(dtypes.f32, "N")
    found = bench.call(
        "region_scan", source=value, axis=lit(0), summarize=total(bench), combine=ADD, identity=lit(0.0),
        initial_state=lit(0.0), apply=ADD, emit=bench.helper(emit),
    )  # fmt: skip
    assert isinstance(found, Product)
    outputs, state = found.items
    assert isinstance(state, Value) and isinstance(state.origin, RegionScan) and state.type == Scalar(dtypes.f32)
    assert isinstance(outputs, Product) and isinstance(outputs.items[0], Value)
    assert outputs.items[0].shape == (extent("N"),)


def test_emitted_values_belong_to_the_slice(bench: Bench) -> None:
    def emit(part: Operand, state: Operand) -> Operand:
        return state

    with rejected("INT608", "axis 0"):
        bench.call(
            "region_scan", bench.tensor(dtypes.f32, "N"), lit(0), total(bench), ADD, lit(0.0), lit(0.0), ADD,
            bench.helper(emit),
        )  # fmt: skip


# -------------------------------------------------------------------------------------------------------- contractions
@pytest.mark.parametrize(
    ("path", "lhs", "rhs", "result"),
    [
        ("dot", ("K",), ("K",), ()),
        ("matvec", ("B", "M", "K"), ("K",), ("B", "M")),
        ("vecmat", ("K",), ("K", "N"), ("N",)),
        ("matmul", ("M", "K"), ("K", "N"), ("M", "N")),
        ("matmul", ("B", 1, "M", "K"), ("H", "K", "N"), ("B", "H", "M", "N")),
        ("outer", ("M",), ("N",), ("M", "N")),
    ],
)
def test_products(bench: Bench, path: str, lhs: tuple[str, ...], rhs: tuple[str, ...], result: tuple[str, ...]) -> None:
    keywords = {} if path == "outer" else {"acc_dtype": dtypes.f32}
    found = bench.value(path, bench.tensor(dtypes.f16, *lhs), bench.tensor(dtypes.f16, *rhs), **keywords)
    assert not found.is_scalar and found.shape == tuple(map(extent, result))
    assert found.dtype == (dtypes.f16 if path == "outer" else dtypes.f32)


def test_transposed_products(bench: Bench) -> None:
    a, b = bench.tensor(dtypes.f16, "K", "M"), bench.tensor(dtypes.f16, "N", "K")
    found = bench.value("matmul", a, b, acc_dtype=dtypes.f32, transpose_lhs=lit(True), transpose_rhs=lit(True))
    assert found.shape == (extent("M"), extent("N"))
    assert isinstance(found.origin, Contract) and found.origin.lhs_labels == (1, 0)


def test_contract(bench: Bench) -> None:
    a, b = bench.tensor(dtypes.f16, "B", "M", "K"), bench.tensor(dtypes.f16, "N", "K", "B")
    found = bench.value(
        "contract", a, b, reduce=tup(tup(lit(2), lit(-2))), batch=tup(tup(lit(0), lit(2))), acc_dtype=dtypes.f32
    )
    assert found.shape == (extent("B"), extent("M"), extent("N"))


def test_wrong_contractions(bench: Bench) -> None:
    a, b = bench.tensor(dtypes.f16, "M", "K"), bench.tensor(dtypes.f16, "N", "K")
    with rejected("INT703", "transpose_rhs=True"):
        bench.call("matmul", a, b, acc_dtype=dtypes.f32)
    with rejected("INT703"):
        bench.call("contract", a, b, reduce=tup(tup(lit(0), lit(0))), acc_dtype=dtypes.f32)
    with rejected("INT701", "I.matvec"):
        bench.call("dot", a, b, acc_dtype=dtypes.f32)
    with rejected("INT702"):
        bench.call("matmul", a, bench.tensor(dtypes.f32, "K", "N"), acc_dtype=dtypes.f32)
    with rejected("INT705"):
        bench.call("matmul", a, bench.tensor(dtypes.f16, "K", "N"), acc_dtype=dtypes.i32)
    with rejected("INT704", "reduce=((1, 0),)"):
        bench.call("contract", a, b, reduce=tup(lit(1), lit(1)), acc_dtype=dtypes.f32)
    with rejected("INT704", "twice"):
        bench.call("contract", a, b, reduce=tup(tup(lit(1), lit(1)), tup(lit(1), lit(0))), acc_dtype=dtypes.f32)
    with rejected("INT704", "axis 5"):
        bench.call("contract", a, b, reduce=tup(tup(lit(5), lit(1))), acc_dtype=dtypes.f32)
    with rejected("INT409"):
        bench.call("outer", a, b)
    with rejected("INT120", "acc_dtype"):
        bench.call("matmul", a, b)


# ---------------------------------------------------------------------------------------------------------- randomness
def test_random(bench: Bench) -> None:
    seed, counter = bench.scalar(dtypes.u64), bench.value("indices", bench.domain("N"))
    assert bench.value("random.bits", seed, counter).type == Tensor(dtypes.u32, (extent("N"),))
    assert bench.value("random.uniform", seed, counter).dtype == dtypes.f32
    assert bench.value("random.uniform", lit(7), bench.scalar(dtypes.index)).type == Scalar(dtypes.f32)
    with rejected("INT214", "I.u64"):
        bench.call("random.bits", bench.scalar(dtypes.i32), counter)
    with rejected("INT214", "I.index"):
        bench.call("random.bits", seed, bench.tensor(dtypes.i64, "N"))
    with rejected("INT214"):
        bench.call("random.uniform", seed, counter, dtype=dtypes.f16)


# ------------------------------------------------------------------------------------------------------------- encoded
def scaled(bench: Bench, **changed: object) -> Value:
    lhs, rhs = bench.tensor(dtypes.u8, "M", "G", 32), bench.tensor(dtypes.f8e4m3fn, "G", 32, "N")
    arguments = {
        "lhs": lhs, "lhs_scale": bench.tensor(dtypes.u8, "M", "G"), "rhs": rhs,
        "rhs_scale": bench.tensor(dtypes.f32, "N", "G"), "lhs_format": Format("e4m3"), "rhs_format": Format("e4m3"),
        "group_size": lit(32), "acc_dtype": dtypes.f32,
    }  # fmt: skip
    path = "scaled_contract" if "reduce" in changed else "scaled_matmul"
    if path == "scaled_contract":
        size = arguments.pop("group_size")
        arguments |= {"lhs_group_size": size, "rhs_group_size": size}
    return bench.value(path, **(arguments | changed))


def test_scaled(bench: Bench) -> None:
    found = scaled(bench)
    assert isinstance(found.origin, Intrinsic) and found.type == Tensor(dtypes.f32, (extent("M"), extent("N")))
    pairs = tup(tup(lit(1), lit(0)), tup(lit(2), lit(-2)))
    assert scaled(bench, reduce=pairs, acc_dtype=dtypes.f64).dtype == dtypes.f64
    assert scaled(bench, lhs=bench.tensor(dtypes.u8, "M", "G", 16), lhs_format=Format("e2m1")).dtype == dtypes.f32


@pytest.mark.parametrize(
    ("code", "word", "changed"),
    [
        ("INT706", "I.e2m1, I.e4m3", {"lhs_format": dtypes.f8e4m3fn}),
        ("INT706", "held in u8", {"lhs_format": Format("e2m1"), "lhs": (dtypes.f8e4m3fn, "M", "G", 16)}),
        ("INT706", "a group of 32", {"lhs_format": Format("e2m1")}),
        ("INT706", "a group of 64", {"group_size": lit(64)}),
        ("INT706", "positive", {"group_size": lit(0)}),
        ("INT706", "e8m0", {"lhs_scale": (dtypes.f16, "M", "G")}),
        ("INT706", "[N, G]", {"rhs_scale": (dtypes.u8, "G", "N")}),
        ("INT706", "[M, G, C]", {"lhs": (dtypes.u8, "M", 32)}),
        ("INT703", "groups", {"lhs": (dtypes.u8, "M", "H", 32), "lhs_scale": (dtypes.u8, "M", "H")}),
        ("INT705", "f32 or f64", {"acc_dtype": dtypes.f16}),
        ("INT704", "write reduce", {"reduce": tup(tup(lit(2), lit(1)))}),
        ("INT704", "no batch", {"reduce": tup(tup(lit(2), lit(1))), "batch": tup(tup(lit(1), lit(0)))}),
    ],
)
def test_scaled_schema(bench: Bench, code: str, word: str, changed: dict[str, object]) -> None:
    given = {name: bench.tensor(*each) if isinstance(each, tuple) else each for name, each in changed.items()}
    with rejected(code, word):
        scaled(bench, **given)


def test_sparse(bench: Bench) -> None:
    kept, dense = bench.tensor(dtypes.f16, "M", 32), bench.tensor(dtypes.f16, 64, "N")
    at = bench.tensor(dtypes.index, "M", 16)
    found = bench.value("sparse_contract_2to4", kept, record(first=at, second=at), dense, dtypes.f32)
    assert found.shape == (extent("M"), extent("N"))
    format = bench.call("sparse.one_of_two", compression_axis=lit(-1), logical_extent=lit(64))
    place = bench.tensor(dtypes.index, "M", 32)
    assert bench.value("sparse_matmul", kept, place, dense, format=format, acc_dtype=dtypes.f32).dtype == dtypes.f32
    swapped = record(second=at, first=place)
    with rejected("INT706", "[M, 16], not [M, 32]"):
        bench.call("sparse_contract_2to4", kept, swapped, dense, dtypes.f32)


def test_sparse_schema(bench: Bench) -> None:
    kept, dense = bench.tensor(dtypes.f16, "M", 32), bench.tensor(dtypes.f16, 64, "N")
    at = bench.tensor(dtypes.index, "M", 16)
    with rejected("INT706", "record"):
        bench.call("sparse_contract_2to4", kept, tup(at, at), dense, dtypes.f32)
    with rejected("INT706", "I.cast(..., I.index)"):
        whole = bench.tensor(dtypes.i32, "M", 16)
        bench.call("sparse_contract_2to4", kept, record(first=whole, second=whole), dense, dtypes.f32)
    with rejected("INT706", "no multiple of 4"):
        dense = bench.tensor(dtypes.f16, 66, "N")
        bench.call("sparse_contract_2to4", kept, record(first=at, second=at), dense, dtypes.f32)
    with rejected("INT702", "f32"):
        dense = bench.tensor(dtypes.f32, 64, "N")
        bench.call("sparse_contract_2to4", kept, record(first=at, second=at), dense, dtypes.f32)


def test_compressed_extents_that_the_host_compares(bench: Bench) -> None:
    kept, dense = bench.tensor(dtypes.f16, "M", "H"), bench.tensor(dtypes.f16, "K", "N")
    at = bench.tensor(dtypes.index, "M", "Q")
    bench.call("sparse_contract_2to4", kept, record(first=at, second=at), dense, dtypes.f32)
    assert {each.code for each in bench.builder.diagnostics} == {"INT961"}


def test_quantized(bench: Bench) -> None:
    records = bench.value("quantize", bench.tensor(dtypes.f32, "M", 256))
    assert records.type == Tensor(dtypes.u8, (extent("M"), extent(292)))
    weights = bench.tensor(dtypes.u8, "M", 144)
    assert bench.value("quantized_dot", weights, records).type == Tensor(dtypes.f32, ())
    one = bench.tensor(dtypes.u8, 144)
    assert bench.value("quantized_dot", one, bench.tensor(dtypes.u8, 292)).type == Tensor(dtypes.f32, ())


def test_quantized_schema(bench: Bench) -> None:
    weights, records = bench.tensor(dtypes.u8, "M", 144), bench.tensor(dtypes.u8, "M", 292)
    with rejected("INT706", "I.cast(..., I.f32)"):
        bench.call("quantize", bench.tensor(dtypes.f16, "M", 256))
    with rejected("INT706", "256 elements"):
        bench.call("quantize", bench.tensor(dtypes.f32, "M", 512))
    with rejected("INT706", "I.quant.q8_k"):
        bench.call("quantize", bench.tensor(dtypes.f32, 256), format=Format("e4m3"))
    with rejected("INT706", "u8"):
        bench.call("quantized_dot", bench.tensor(dtypes.f32, "M", 144), records)
    with rejected("INT706", "[G, 292]"):
        bench.call("quantized_dot", weights, weights)
    with rejected("INT703", "one by one"):
        bench.call("quantized_dot", weights, bench.tensor(dtypes.u8, "N", 292))
    with rejected("INT705", "f32"):
        bench.call("quantized_dot", weights, records, acc_dtype=dtypes.f64)


def test_storage_is_no_operand(bench: Bench) -> None:
    with rejected("INT510"):
        bench.call("reduce.sum", view("x", dtypes.f32, "N"), axis=lit(0))

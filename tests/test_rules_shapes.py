"""Broadcasting, shape arguments, reshape, transpose, join, products, attributes."""

from __future__ import annotations

import pytest
from rules_support import ELLIPSIS, NONE, Bench, Text, dtypes, extent, lit, rejected, tup, view

from translators.intent_source.read import rules
from translators.intent_source.read.operands import Literal, Product, ShapeOf, Slice
from translators.logical.program import Full, Reshape, Value
from translators.logical.types import Scalar, Tensor


@pytest.fixture
def bench() -> Bench:
    return Bench()


def shape(*extents: int | str) -> tuple[object, ...]:
    return tuple(map(extent, extents))


# -------------------------------------------------------------------------------------------------------- broadcasting
@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        (("N",), ("M", "N"), ("M", "N")),
        (("M", 1), ("M", "N"), ("M", "N")),
        (("M", 1), (1, "N"), ("M", "N")),
        ((1,), (0,), (0,)),
        ((), ("N",), ("N",)),
    ],
)
def test_broadcast(bench: Bench, left: tuple[str, ...], right: tuple[str, ...], result: tuple[str, ...]) -> None:
    value = bench.value("add", bench.tensor(dtypes.f32, *left), bench.tensor(dtypes.f32, *right))
    assert value.type == Tensor(dtypes.f32, shape(*result))


def test_scalar_and_rank_zero(bench: Bench) -> None:
    assert bench.value("add", bench.scalar(dtypes.f32), lit(1.0)).type == Scalar(dtypes.f32)
    assert bench.value("add", bench.scalar(dtypes.f32), bench.tensor(dtypes.f32)).type == Tensor(dtypes.f32, ())


def test_misalignment(bench: Bench) -> None:
    with rejected("INT401", "[M] and [M, N]", "I.reshape(v, (v.shape[0], 1))"):
        bench.call("add", bench.tensor(dtypes.f32, "M"), bench.tensor(dtypes.f32, "M", "N"))
    with rejected("INT402", "M and N are different extents"):
        bench.call("add", bench.tensor(dtypes.f32, "M"), bench.tensor(dtypes.f32, "N"))
    with rejected("INT402", "never equals a number"):
        bench.call("add", bench.tensor(dtypes.f32, "M"), bench.tensor(dtypes.f32, 4))
    with rejected("INT401"):
        bench.call("add", bench.tensor(dtypes.f32, 3), bench.tensor(dtypes.f32, 4))


# ------------------------------------------------------------------------------------------------------------- shapes
def test_shape_arguments(bench: Bench) -> None:
    region = bench.domain("M")
    value = bench.value("zeros", tup(region, Text("N"), lit(3), bench.builder.size(extent("K"))), dtypes.bf16)
    assert value.type == Tensor(dtypes.bf16, shape("M", "N", 3, "K"))
    assert bench.value("full", tup(), bench.scalar(dtypes.f32), dtypes.f32).type == Tensor(dtypes.f32, ())
    assert isinstance(value.origin, Full)


def test_wrong_shape_arguments(bench: Bench) -> None:
    with rejected("INT411", "-2"):
        bench.call("zeros", tup(lit(-2)), dtypes.f32)
    with rejected("INT202", "I.index"):
        bench.call("zeros", tup(bench.scalar(dtypes.i64)), dtypes.f32)
    with rejected("INT411"):
        bench.call("zeros", view("x", dtypes.f32, "N"), dtypes.f32)
    bench.builder.symbols = frozenset({"M"})
    with rejected("INT411", "'K'", "M"):
        bench.call("zeros", tup(Text("K")), dtypes.f32)


def test_full_takes_the_declared_dtype(bench: Bench) -> None:
    with rejected("INT201"):
        bench.call("full", tup(lit(2)), bench.scalar(dtypes.f16), dtypes.f32)
    with rejected("INT409"):
        bench.call("full", tup(lit(2)), bench.tensor(dtypes.f32, 2), dtypes.f32)


def test_reshape(bench: Bench) -> None:
    value = bench.tensor(dtypes.f32, "M", 8)
    assert bench.value("reshape", value, tup(Text("M"), lit(2), lit(4))).shape == shape("M", 2, 4)
    assert bench.value("reshape", value, tup(lit(-1), lit(4))).shape[0] == extent("M") * 2
    assert bench.value("reshape", value, tup(lit(2), ELLIPSIS)).shape[1] == extent("M") * 4
    assert bench.value("reshape", value, tup(Text("M"), lit(8))) is value


def test_wrong_reshape(bench: Bench) -> None:
    with rejected("INT403", "[8]", "[3]"):
        bench.call("reshape", bench.tensor(dtypes.f32, 8), tup(lit(3)))
    with rejected("INT412"):
        bench.call("reshape", bench.tensor(dtypes.f32, 8), tup(lit(-1), ELLIPSIS))
    with rejected("INT415", "I.full"):
        bench.call("reshape", bench.scalar(dtypes.f32), tup(lit(1)))


def test_reshape_that_the_host_checks(bench: Bench) -> None:
    value = bench.value("reshape", bench.tensor(dtypes.f32, "M", "N"), tup(Text("K")))
    assert isinstance(value.origin, Reshape)
    assert [(note.code, note.severity) for note in bench.builder.diagnostics] == [("INT961", "note")]


def test_reshape_of_a_runtime_count(bench: Bench) -> None:
    region = bench.domain(bench.scalar(dtypes.index))
    value = bench.value("full", tup(region), lit(0.0), dtypes.f32)
    with rejected("INT403"):
        bench.call("reshape", value, tup(Text("M")))


def test_transpose(bench: Bench) -> None:
    value = bench.tensor(dtypes.f32, "A", "B", "C")
    assert bench.value("transpose", value).shape == shape("C", "B", "A")
    assert bench.value("transpose", value, tup(lit(1), lit(0), lit(2))).shape == shape("B", "A", "C")
    with rejected("INT405", "3 axes"):
        bench.call("transpose", value, tup(lit(0), lit(0), lit(1)))
    with rejected("INT407"):
        bench.call("transpose", value, tup(lit(0), lit(1), lit(3)))


def test_join(bench: Bench) -> None:
    value = bench.tensor(dtypes.f32, "N")
    assert bench.value("join", value, value).shape == shape("N", 2)
    with rejected("INT406"):
        bench.call("join", value, bench.tensor(dtypes.f32, "M"))


# ------------------------------------------------------------------------------------------------------------ products
def test_components(bench: Bench) -> None:
    pair = tup(lit(1), lit(2))
    assert rules.subscript(bench.builder, pair, (lit(-1),)) == Literal(2)
    assert rules.subscript(bench.builder, pair, (Slice(lit(1), None, None),)) == Product((Literal(2),))
    with rejected("INT413", "2 components"):
        rules.subscript(bench.builder, pair, (lit(2),))
    with rejected("INT413", "compile-time"):
        rules.subscript(bench.builder, pair, (bench.scalar(dtypes.index),))


def test_records(bench: Bench) -> None:
    record = bench.call("record", total=lit(1), count=lit(2))
    assert rules.attribute(bench.builder, record, "total") == Literal(1)
    with rejected("INT413", "did you mean `.count`"):
        rules.attribute(bench.builder, record, "cuont")
    with rejected("INT120"):
        bench.call("record", lit(1))


def test_attributes(bench: Bench) -> None:
    found = rules.attribute(bench.builder, view("x", dtypes.f32, "M", 4), "shape")
    assert isinstance(found, ShapeOf) and len(found.extents) == 2
    assert rules.subscript(bench.builder, found, (lit(-1),)) is found.extents[1]
    with rejected("INT404", "scalar"):
        rules.attribute(bench.builder, bench.scalar(dtypes.f32), "shape")
    with rejected("INT404", "domain"):
        rules.attribute(bench.builder, bench.domain("M"), "shape")
    with rejected("INT102", "I.transpose"):
        rules.attribute(bench.builder, bench.tensor(dtypes.f32, "M", "N"), "T")


def test_flatten_and_rebuild() -> None:
    nested = tup(lit(1), Product((lit(2), tup(lit(3))), ("a", "b")))
    leaves = rules.flatten(nested)
    assert leaves == (lit(1), lit(2), lit(3))
    assert rules.rebuild(nested, leaves) == nested


def test_unify(bench: Bench) -> None:
    value = bench.scalar(dtypes.f32)
    left, right = rules.unify(bench.builder, tup(value, lit(1)), tup(lit(0.0), lit(2)), "both")
    assert left[0] is value and right[0].dtype == dtypes.f32 and left[1].dtype == dtypes.i64
    left, right = rules.unify(bench.builder, lit(1), lit(0.5), "both")
    assert left[0].dtype == right[0].dtype == dtypes.f64


@pytest.mark.parametrize("case", ["dtype", "rank", "shape", "nesting"])
def test_unify_rejects(bench: Bench, case: str) -> None:
    value = bench.tensor(dtypes.f32, "N")
    other = {
        "dtype": bench.tensor(dtypes.f16, "N"),
        "rank": bench.scalar(dtypes.f32),
        "shape": bench.tensor(dtypes.f32, "M"),
        "nesting": tup(value, value),
    }[case]
    with rejected("INT808", "the carry"):
        rules.unify(bench.builder, value, other, "the carry")


def test_values_only(bench: Bench) -> None:
    assert isinstance(rules.as_value(bench.builder, lit(1)), Value)
    with rejected("INT414"):
        rules.as_value(bench.builder, NONE)

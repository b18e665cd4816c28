"""Literals, operators, casts, conditions, selections: each rule once right and once wrong."""

from __future__ import annotations

import math

import pytest
from rules_support import ALL, NONE, Bench, Text, dtypes, lit, rejected, tup, view

from translators.intent_source.read import rules
from translators.intent_source.read.operands import EnumMember, Literal, Operand
from translators.logical.program import Cast, Constant, Pointwise, Select, Value
from translators.logical.types import Scalar


@pytest.fixture
def bench() -> Bench:
    return Bench()


def binary(bench: Bench, operator: str, lhs: Operand, rhs: Operand) -> Value:
    result = rules.binary(bench.builder, operator, lhs, rhs)
    assert isinstance(result, Value)
    return result


def constant(value: Value) -> bool | int | float:
    assert isinstance(value.origin, Constant)
    return value.origin.value


# ------------------------------------------------------------------------------------------------------------ literals
@pytest.mark.parametrize(("value", "name"), [(True, "bool"), (3, "i64"), (1.5, "f64")])
def test_literal_without_context(bench: Bench, value: bool | int | float, name: str) -> None:
    assert rules.as_value(bench.builder, lit(value)).dtype.name == name


def test_literal_takes_the_other_operands_dtype(bench: Bench) -> None:
    half = bench.tensor(dtypes.f16, "N")
    assert binary(bench, "multiply", half, lit(2.0)).dtype == dtypes.f16
    assert binary(bench, "multiply", lit(2), half).dtype == dtypes.f16
    assert binary(bench, "add", bench.scalar(dtypes.index), lit(1)).dtype == dtypes.index


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (0.1, dtypes.f32, 0.10000000149011612),
        (0.1, dtypes.bf16, 0.10009765625),
        (0.1, dtypes.f16, 0.0999755859375),
        (464.0, dtypes.f8e4m3fn, 448.0),
        (2.0**-150, dtypes.f32, 0.0),
        (math.inf, dtypes.f16, math.inf),
        (3, dtypes.f32, 3.0),
    ],
)
def test_literal_is_rounded_to_nearest(bench: Bench, value: float, dtype: dtypes.DType, expected: float) -> None:
    assert constant(rules.as_value(bench.builder, lit(value), dtype)) == expected


def test_literal_out_of_range(bench: Bench) -> None:
    with rejected("INT203", "300 does not fit u8"):
        binary(bench, "add", bench.scalar(dtypes.u8), lit(300))
    with rejected("INT203", "beyond the range of f16"):
        rules.as_value(bench.builder, lit(70000.0), dtypes.f16)
    with rejected("INT203", "no infinity"):
        rules.as_value(bench.builder, lit(math.inf), dtypes.f8e4m3fn)
    with rejected("INT203"):
        rules.as_value(bench.builder, lit(2**63))


def test_float_literal_never_becomes_an_integer(bench: Bench) -> None:
    with rejected("INT204", "0.5", "index"):
        binary(bench, "add", bench.scalar(dtypes.index), lit(0.5))
    with rejected("INT204", "True or False"):
        rules.as_value(bench.builder, lit(1), dtypes.boolean)
    with rejected("INT204"):
        rules.as_value(bench.builder, lit(True), dtypes.f32)


# ----------------------------------------------------------------------------------------------------------- operators
def test_two_literals_fold(bench: Bench) -> None:
    assert rules.binary(bench.builder, "floor_divide", lit(-7), lit(2)) == Literal(-4)
    assert rules.binary(bench.builder, "divide", lit(1), lit(4)) == Literal(0.25)
    assert rules.binary(bench.builder, "xor", lit(6), lit(3)) == Literal(5)
    assert rules.unary(bench.builder, "invert", lit(0)) == Literal(-1)
    assert bench.call("maximum", lit(3), lit(5)) == Literal(5)
    assert not bench.builder.statements


def test_folding_errors(bench: Bench) -> None:
    with rejected("INT211"):
        rules.binary(bench.builder, "floor_divide", lit(1), lit(0))
    with rejected("INT211"):
        rules.binary(bench.builder, "power", lit(2), lit(10**9))
    with rejected("INT211"):
        rules.binary(bench.builder, "power", lit(-1.5), lit(0.5))
    with rejected("INT205"):
        rules.binary(bench.builder, "and", lit(1.5), lit(1))


def test_dtypes_never_mix(bench: Bench) -> None:
    with rejected("INT201", "f16 and f32", "I.cast(..., I.f32)"):
        binary(bench, "multiply", bench.scalar(dtypes.f16), bench.scalar(dtypes.f32))
    with rejected("INT202", "i64 and index", "I.cast(..., I.index)"):
        rules.compare(bench.builder, "less", bench.scalar(dtypes.i64), bench.builder.size(_m()))


def _m():  # type: ignore[no-untyped-def]
    from rules_support import extent

    return extent("M")


@pytest.mark.parametrize("operator", ["divide"])
def test_division_is_for_floats(bench: Bench, operator: str) -> None:
    assert binary(bench, operator, bench.scalar(dtypes.f32), lit(2)).type == Scalar(dtypes.f32)
    with rejected("INT205", "`//`"):
        binary(bench, operator, bench.scalar(dtypes.i32), lit(2))


@pytest.mark.parametrize("operator", ["floor_divide", "remainder", "shift_left", "shift_right", "and", "or", "xor"])
def test_integer_operators(bench: Bench, operator: str) -> None:
    assert binary(bench, operator, bench.scalar(dtypes.i32), lit(2)).dtype == dtypes.i32
    with rejected("INT205"):
        binary(bench, operator, bench.scalar(dtypes.f32), lit(2.0))


def test_floor_division_of_floats_is_spelled_out(bench: Bench) -> None:
    v = bench.scalar(dtypes.f32)
    with rejected("INT205", "I.floor(a / b)"):
        binary(bench, "floor_divide", v, v)
    with rejected("INT205", "a - I.floor(a / b) * b"):
        binary(bench, "remainder", v, v)


def test_bool_arithmetic_needs_a_cast(bench: Bench) -> None:
    flags = bench.tensor(dtypes.boolean, "N")
    assert binary(bench, "and", flags, flags).dtype == dtypes.boolean
    with rejected("INT205", "I.cast"):
        binary(bench, "add", flags, flags)
    with rejected("INT205"):
        rules.unary(bench.builder, "negative", flags)


def test_shift_amount(bench: Bench) -> None:
    with rejected("INT212", "width is 8"):
        binary(bench, "shift_left", bench.scalar(dtypes.u8), lit(8))


def test_power(bench: Bench) -> None:
    assert binary(bench, "power", bench.scalar(dtypes.f32), bench.scalar(dtypes.f32)).dtype == dtypes.f32


def test_unary(bench: Bench) -> None:
    flags = bench.tensor(dtypes.boolean, "N")
    assert isinstance(_origin(rules.unary(bench.builder, "invert", flags)), Pointwise)
    assert _origin(rules.unary(bench.builder, "invert", flags)).function == "not"
    assert _origin(rules.unary(bench.builder, "invert", bench.scalar(dtypes.u8))).function == "invert"
    with rejected("INT205"):
        rules.unary(bench.builder, "invert", bench.scalar(dtypes.f32))
    with rejected("INT208", "n == 0"):
        rules.unary(bench.builder, "not", bench.scalar(dtypes.i32))


def _origin(operand: Operand) -> Pointwise:
    assert isinstance(operand, Value) and isinstance(operand.origin, Pointwise)
    return operand.origin


def test_index_arithmetic_that_comes_to_a_number_is_that_number(bench: Bench) -> None:
    size = bench.builder.size(_m())
    assert constant(binary(bench, "subtract", binary(bench, "add", size, lit(3)), size)) == 3


def test_long_chains_stay_cheap(bench: Bench) -> None:
    value: Operand = bench.scalar(dtypes.index)
    for _ in range(2000):
        value = rules.binary(bench.builder, "multiply", value, value)
    for _ in range(2000):
        value = rules.binary(bench.builder, "add", value, value)
    assert isinstance(value, Value)


# --------------------------------------------------------------------------------------------------------- comparisons
def test_comparison_gives_bool(bench: Bench) -> None:
    result = rules.compare(bench.builder, "less", bench.tensor(dtypes.f32, "N"), lit(0.0))
    assert isinstance(result, Value) and result.dtype == dtypes.boolean and len(result.shape) == 1
    with rejected("INT205"):
        rules.compare(bench.builder, "less", bench.scalar(dtypes.boolean), bench.scalar(dtypes.boolean))


def test_static_comparisons(bench: Bench) -> None:
    red, green = EnumMember("Colour", "RED", 0), EnumMember("Colour", "GREEN", 1)
    assert rules.compare(bench.builder, "equal", red, red) == Literal(True)
    assert rules.compare(bench.builder, "not_equal", red, green) == Literal(True)
    assert rules.compare(bench.builder, "equal", Text("a"), Text("b")) == Literal(False)
    assert rules.compare(bench.builder, "less", lit(1), lit(2)) == Literal(True)
    with rejected("INT205"):
        rules.compare(bench.builder, "less", red, green)


def test_logical(bench: Bench) -> None:
    flags = bench.tensor(dtypes.boolean, "N")
    result = rules.logical(bench.builder, "and", flags, flags)
    assert isinstance(result, Value) and result.dtype == dtypes.boolean
    assert rules.logical(bench.builder, "or", lit(0), lit(5)) == Literal(5)
    with rejected("INT208"):
        rules.logical(bench.builder, "or", bench.tensor(dtypes.i32, "N"), bench.tensor(dtypes.i32, "N"))


def test_conditions(bench: Bench) -> None:
    flag = bench.scalar(dtypes.boolean)
    assert rules.as_condition(bench.builder, flag) is flag
    assert rules.as_condition(bench.builder, lit(0)) is False
    with rejected("INT208", "n != 0"):
        rules.as_condition(bench.builder, bench.scalar(dtypes.i32))
    with rejected("INT801", "I.select"):
        rules.as_condition(bench.builder, bench.tensor(dtypes.boolean, "N"))
    with rejected("INT408", "t[()]"):
        rules.as_condition(bench.builder, bench.tensor(dtypes.boolean))


# ---------------------------------------------------------------------------------------------------------- selections
def test_select(bench: Bench) -> None:
    condition = bench.tensor(dtypes.boolean, "N")
    value = bench.value("select", condition, bench.tensor(dtypes.f32, "N"), lit(0.0))
    assert isinstance(value.origin, Select) and value.dtype == dtypes.f32
    assert bench.value("select", condition, lit(1.0), lit(-1.0)).dtype == dtypes.f64
    assert bench.value("select", condition, lit(1), lit(0.5)).dtype == dtypes.f64
    with rejected("INT208"):
        bench.call("select", bench.tensor(dtypes.i32, "N"), lit(1.0), lit(0.0))
    with rejected("INT201"):
        bench.call("select", condition, bench.tensor(dtypes.f32, "N"), bench.tensor(dtypes.f16, "N"))


def test_mask(bench: Bench) -> None:
    value = bench.value("mask", bench.tensor(dtypes.f16, "N"), bench.tensor(dtypes.boolean, "N"), fill=lit(0))
    assert value.dtype == dtypes.f16
    with rejected("INT201"):
        bench.call("mask", bench.tensor(dtypes.f16, "N"), bench.tensor(dtypes.boolean, "N"), bench.scalar(dtypes.f32))


# --------------------------------------------------------------------------------------------------------------- casts
@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (-1, dtypes.u32, 2**32 - 1),
        (300, dtypes.u8, 44),
        (1.75, dtypes.i32, 1),
        (-1.75, dtypes.i32, -1),
        (1e6, dtypes.f16, math.inf),
        (0, dtypes.boolean, False),
        (True, dtypes.f32, 1.0),
        (2**64 - 1, dtypes.u64, 2**64 - 1),
    ],
)
def test_cast_of_a_literal(bench: Bench, value: float, dtype: dtypes.DType, expected: float) -> None:
    found = bench.value("cast", lit(value), dtype)
    assert (constant(found), found.dtype) == (expected, dtype)


def test_cast_without_a_value(bench: Bench) -> None:
    with rejected("INT211"):
        bench.call("cast", lit(math.inf), dtypes.i32)
    with rejected("INT203"):
        bench.call("cast", lit(1000.0), dtypes.f8e4m3fn)
    with rejected("INT213", "I.f32"):
        bench.call("cast", bench.scalar(dtypes.f32), Text("f32"))
    with rejected("INT301", "I.indices"):
        bench.call("cast", bench.domain("M"), dtypes.f32)


def test_cast_of_a_value(bench: Bench) -> None:
    value = bench.tensor(dtypes.f16, "N")
    assert isinstance(bench.value("cast", value, dtypes.f32).origin, Cast)
    assert bench.value("cast", value, dtypes.f16) is value


def test_bitcast(bench: Bench) -> None:
    assert bench.value("bitcast", bench.tensor(dtypes.f32, "N"), dtypes.i32).dtype == dtypes.i32
    with rejected("INT207", "f32 and i64"):
        bench.call("bitcast", bench.scalar(dtypes.f32), dtypes.i64)


# ----------------------------------------------------------------------------------------------------------- functions
@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "exp2",
        "log",
        "log1p",
        "lgamma",
        "sin",
        "asin",
        "cos",
        "floor",
        "erf",
        "erfc",
        "i0",
        "rsqrt",
        "sqrt",
        "sigmoid",
        "tanh",
    ],
)
def test_float_functions(bench: Bench, name: str) -> None:
    assert bench.value(name, bench.tensor(dtypes.bf16, "N")).dtype == dtypes.bf16
    with rejected("INT214", "I.cast"):
        bench.call(name, bench.scalar(dtypes.i32))


def test_abs_takes_integers(bench: Bench) -> None:
    assert bench.value("abs", bench.scalar(dtypes.i32)).dtype == dtypes.i32


def test_approximation(bench: Bench) -> None:
    value = bench.value("exp2", bench.scalar(dtypes.f32), approximate=lit(True), flush_to_zero=lit(True))
    assert isinstance(value.origin, Pointwise) and value.origin.approximate and value.origin.flush_to_zero
    assert bench.value("fdiv", bench.scalar(dtypes.f32), lit(2.0), approximate=lit(True)).dtype == dtypes.f32
    with rejected("INT209", "f64"):
        bench.call("tanh", bench.scalar(dtypes.f64), approximate=lit(True))
    with rejected("INT209", "approximate=True"):
        bench.call("exp2", bench.scalar(dtypes.f32), flush_to_zero=lit(True))
    with rejected("INT117"):
        bench.call("exp2", bench.scalar(dtypes.f32), approximate=bench.scalar(dtypes.boolean))


def test_calls(bench: Bench) -> None:
    with rejected("INT102", "did you mean I.sigmoid"):
        bench.call("sigmoyd", bench.scalar(dtypes.f32))
    with rejected("INT120", "keepdim", "I.reshape"):
        bench.call("reduce.sum", bench.tensor(dtypes.f32, "N"), axis=lit(0), keepdim=lit(True))
    with rejected("INT120"):
        bench.call("exp")


def test_what_is_no_value(bench: Bench) -> None:
    with rejected("INT510", "x[:, :]"):
        bench.call("exp", view("x", dtypes.f32, "M", "N"))
    with rejected("INT301", "I.indices"):
        binary(bench, "add", bench.domain("M"), lit(1))
    with rejected("INT414"):
        binary(bench, "add", tup(lit(1), lit(2)), bench.scalar(dtypes.f32))
    with rejected("INT414"):
        bench.call("exp", NONE)
    with rejected("INT414"):
        bench.call("exp", ALL)


def test_nested_divisions_stay_cheap(bench: Bench) -> None:
    value: Operand = bench.scalar(dtypes.index)
    for _ in range(1000):
        value = rules.binary(bench.builder, "floor_divide", bench.call("minimum", value, lit(7)), lit(2))
    assert isinstance(value, Value)


def test_every_code_is_in_the_catalogue() -> None:
    from translators.diagnostic_codes import CODES
    from translators.intent_source.read.rules import codes

    assert {code for name, code in vars(codes).items() if name.isupper()} <= set(CODES)


def test_every_intrinsic_has_a_rule() -> None:
    from intent.intrinsics import INTRINSICS
    from translators.intent_source.read.rules.call import RULES

    assert set(RULES) == set(INTRINSICS)

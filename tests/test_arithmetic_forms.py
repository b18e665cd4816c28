"""Literals as operands, parentheses and permissions, run in the CPU interpreter."""

from __future__ import annotations

import ast
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from device_kernels import Case, load, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_arithmetic import assert_close, assert_same, values

from intent.dtypes import (
    ALL,
    DType,
    bf16,
    boolean,
    f8e4m3fn,
    f8e5m2,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u32,
)
from translators.logical import reference_numerics
from translators.logical.reference_numerics import carrier
from translators.logical.reference_pointwise import pointwise as reference
from translators.triton_source.arithmetic import Permissions, pointwise, select
from translators.triton_source.conversions import bitcast, constant
from translators.triton_source.expressions import Code, Emitted, binary, call, method, unary

X, Y = Code("x"), Code("y")
FLOAT_LITERALS = (0.1, -0.0, 1e-40, 3.0, -2.5, 0.0, math.inf, math.nan)


def literals(dtype: DType) -> tuple[float | int | bool, ...]:
    if dtype.kind == "bool":
        return (True, False)
    if dtype.is_float:
        absent = {f8e4m3fn: math.inf, bf16: 1e-40}.get(dtype)  # the interpreter has no subnormals of bfloat16
        return tuple(value for value in FLOAT_LITERALS if value != absent)
    extremes = (int(reference_numerics.lowest(dtype)), int(reference_numerics.highest(dtype)))
    return (*extremes, 1, 3, 100)


def one(case: Case, folder: Path, *operands: np.ndarray) -> np.ndarray:
    return run(load([case], folder), case, operands)


# ------------------------------------------------------------------------------------------------------------- literals
def functions_with_literals(dtype: DType) -> tuple[str, ...]:
    if dtype.kind == "bool":
        return ("maximum", "and", "equal")
    if dtype in (f8e4m3fn, f8e5m2):
        return ("maximum", "less")
    return ("maximum", "less", "add", "multiply", *(() if dtype.is_float else ("and",)))


@pytest.mark.parametrize("dtype", ALL, ids=lambda dtype: dtype.name)
def test_literal_operands_have_the_type_of_the_other(dtype: DType, tmp_path: Path) -> None:
    choices = list(itertools.product(functions_with_literals(dtype), literals(dtype), (True, False)))
    cases = []
    for number, (function, value, left) in enumerate(choices):
        operands = (constant(value, dtype), X) if left else (X, constant(value, dtype))
        result = boolean if function in ("less", "equal") else dtype
        cases.append(Case(f"case{number}", pointwise(function, dtype, result, operands), (dtype,), result))
    module = load(cases, tmp_path)
    x = values(dtype)
    for case, (function, value, left) in zip(cases, choices, strict=True):
        literal = np.full(x.shape, np.asarray(value).astype(carrier(dtype)))
        with np.errstate(all="ignore"):
            expected = reference(function, (literal, x) if left else (x, literal), dtype)
        found = run(module, case, [x])
        if function == "maximum" and dtype.is_float:
            assert_close(found, expected, 0, x)
        else:
            assert_same(found, expected, x)


@pytest.mark.parametrize("dtype", ALL, ids=lambda dtype: dtype.name)
def test_select_and_constants(dtype: DType, tmp_path: Path) -> None:
    cases = []
    for number, value in enumerate(literals(dtype)):
        literal = constant(value, dtype)
        condition = binary("==", X, Code("0"))
        cases.append(Case(f"mixed{number}", Emitted(select(condition, literal, Y, dtype)), (i32, dtype), dtype))
        cases.append(
            Case(f"both{number}", Emitted(select(condition, literal, constant(1, dtype), dtype)), (i32, dtype), dtype)
        )
    module = load(cases, tmp_path)
    y = values(dtype)
    x = np.arange(y.size, dtype=np.int32) % 2
    for number, value in enumerate(literals(dtype)):
        literal = np.asarray(value).astype(carrier(dtype))
        one_value = np.asarray(1).astype(carrier(dtype))
        assert_same(run(module, cases[2 * number], [x, y]), np.where(x == 0, literal, y), y)
        assert_same(run(module, cases[2 * number + 1], [x, y]), np.where(x == 0, literal, one_value), y)


def test_bitcast_keeps_the_bits(tmp_path: Path) -> None:
    pairs = [(f32, u32), (u32, f32), (f64, i64), (f16, i16), (bf16, i16), (f8e5m2, u8), (i8, f8e4m3fn)]
    cases = [Case(f"{a.name}_as_{b.name}", bitcast(X, a, b), (a,), b) for a, b in pairs]
    module = load(cases, tmp_path)
    for case in cases:
        x = values(case.operands[0])
        assert_same(run(module, case, [x]), x.view(carrier(case.result)), x)


def test_nonnegative_division_is_plain() -> None:
    permissions = Permissions(nonnegative=True)
    assert pointwise("floor_divide", i32, i32, (X, Code("4", value=4)), permissions) == Emitted(Code("x // 4", 11))
    assert pointwise("floor_divide", u32, u32, (X, Y)).code.text == "x // y"
    assert pointwise("floor_divide", i32, i32, (X, Y)).helpers == {"_floor_divide"}


def test_floor_division_by_a_literal(tmp_path: Path) -> None:
    cases = [
        Case(f"{function}{number}", pointwise(function, i32, i32, operands), (i32,), i32)
        for function in ("floor_divide", "remainder")
        for number, operands in enumerate([(X, constant(7, i32)), (X, constant(-7, i32)), (constant(100, i32), X)])
    ]
    module = load(cases, tmp_path)
    x = np.array([value for value in range(-50, 51) if value], np.int32)
    for case, (function, operands) in zip(
        cases, itertools.product((np.floor_divide, np.remainder), ((x, 7), (x, -7), (100, x))), strict=True
    ):
        assert_same(run(module, case, [x]), function(*operands).astype(np.int32), x)


@pytest.mark.parametrize("function", ["exp2", "tanh", "divide"])
def test_approximate_forms(function: str, tmp_path: Path) -> None:
    operands = (X, Y) if function == "divide" else (X,)
    permissions = Permissions(approximate=True, flush_to_zero=True)
    case = Case("approximate", pointwise(function, f32, f32, operands, permissions), (f32,) * len(operands), f32)
    x = np.linspace(-20, 20, 4001, dtype=np.float32)
    given_operands = [x, np.flip(x) + np.float32(30)][: len(operands)]
    found = one(case, tmp_path, *given_operands)
    expected = reference(function, tuple(given_operands), f32)
    assert np.all(np.abs(found - expected) <= 2.0**-11 * np.abs(expected))


# ---------------------------------------------------------------------------------------------------------- parentheses
def expressions() -> st.SearchStrategy[tuple[Code, object]]:
    """Code together with the value Python gives when every operation is evaluated as it was built."""
    leaves = st.sampled_from([(Code("a"), 5), (Code("b"), -3), (Code("7", value=7), 7), (Code("-2", 12, -2), -2)])

    def extend(children: st.SearchStrategy[tuple[Code, object]]) -> st.SearchStrategy[tuple[Code, object]]:
        symbols = st.sampled_from(["+", "-", "*", "&", "|", "^", "==", "<", ">="])
        joined = st.tuples(symbols, children, children).map(
            lambda parts: (binary(parts[0], parts[1][0], parts[2][0]), _apply(parts[0], parts[1][1], parts[2][1]))
        )
        negated = children.map(lambda child: (unary("-", child[0]), -child[1]))  # type: ignore[operator]
        inverted = children.map(lambda child: (unary("~", child[0]), ~int(child[1])))  # type: ignore[call-overload]
        called = children.map(lambda child: (call("abs", child[0]), abs(child[1])))  # type: ignore[arg-type]
        measured = children.map(lambda child: (method(child[0], "__int__"), int(child[1])))  # type: ignore[call-overload]
        return joined | negated | inverted | called | measured

    return st.recursive(leaves, extend, max_leaves=12)


def _apply(symbol: str, left: object, right: object) -> object:
    return eval(f"left {symbol} right", {"left": left, "right": right})


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(expressions())
def test_text_means_what_was_built(built: tuple[Code, object]) -> None:
    code, value = built
    ast.parse(code.text, mode="eval")
    assert int(eval(code.text, {"a": 5, "b": -3})) == int(value)  # type: ignore[call-overload]

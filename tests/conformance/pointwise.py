"""Rows of operators and pointwise intrinsics: unary and binary functions, choices, conversions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.special
from sample_files import NUMPY_DTYPES, Case

from conformance.rows import (
    EVERYTHING,
    FLOATS,
    INTEGERS,
    MATRIX,
    NUMBERS,
    SIGNED,
    Arrays,
    Row,
    Statement,
    extents,
    for_each,
    in_f64,
    operands,
    program,
    view,
)

# Intrinsic: its statement, and the range of operands.
UNARY: dict[str, tuple[Statement, float, float]] = {
    "exp": (np.exp, -4, 4),
    "log": (np.log, 0.1, 50),
    "log1p": (np.log1p, -0.9, 50),
    "lgamma": (scipy.special.gammaln, 0.1, 20),
    "sin": (np.sin, -9, 9),
    "asin": (np.arcsin, -1, 1),
    "cos": (np.cos, -9, 9),
    "floor": (np.floor, -9, 9),
    "erf": (scipy.special.erf, -3, 3),
    "erfc": (scipy.special.erfc, -3, 3),
    "i0": (scipy.special.i0, -4, 4),
    "rsqrt": (lambda x: 1.0 / np.sqrt(x), 0.1, 50),
    "sqrt": (np.sqrt, 0, 50),
    "sigmoid": (scipy.special.expit, -9, 9),
    "exp2": (np.exp2, -6, 6),
    "tanh": (np.tanh, -3, 3),
}
APPROXIMATE = {
    "exp2": ("I.exp2(v, approximate=True, flush_to_zero=True)", np.exp2, 1e-6),
    "tanh": ("I.tanh(v, approximate=True)", np.tanh, 2.0**-10),
    "fdiv": ("I.fdiv(v, w, approximate=True)", np.divide, 1e-6),
}
BINARY: dict[str, tuple[str, Statement, tuple[str, ...], float, float]] = {
    "add": ("I.add(v, w)", np.add, NUMBERS, -4, 4),
    "fdiv": ("I.fdiv(v, w)", np.divide, FLOATS, 0.5, 4),
    "maximum": ("I.maximum(v, w)", np.maximum, NUMBERS, -4, 4),
    "minimum": ("I.minimum(v, w)", np.minimum, NUMBERS, -4, 4),
    "maximum_num": ("I.maximum_num(v, w)", np.fmax, NUMBERS, -4, 4),
    "minimum_num": ("I.minimum_num(v, w)", np.fmin, NUMBERS, -4, 4),
    "operator +": ("v + w", np.add, NUMBERS, -4, 4),
    "operator -": ("v - w", np.subtract, NUMBERS, -4, 4),
    "operator *": ("v * w", np.multiply, NUMBERS, -4, 4),
    "operator /": ("v / w", np.divide, FLOATS, 0.5, 4),
    "operator //": ("v // w", np.floor_divide, (*INTEGERS, "index"), 1, 50),
    "operator %": ("v % w", np.remainder, (*INTEGERS, "index"), 1, 50),
    "operator **": ("v ** w", np.power, NUMBERS, 0.5, 3),
    "operator &": ("v & w", np.bitwise_and, (*INTEGERS, "index", "bool"), -100, 100),
    "operator |": ("v | w", np.bitwise_or, (*INTEGERS, "index", "bool"), -100, 100),
    "operator ^": ("v ^ w", np.bitwise_xor, (*INTEGERS, "index", "bool"), -100, 100),
    "operator <<": ("v << w", np.left_shift, (*INTEGERS, "index"), 0, 7),
    "operator >>": ("v >> w", np.right_shift, (*INTEGERS, "index"), 0, 7),
}
COMPARISONS = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


def rows() -> Iterator[Row]:
    yield from _unary()
    yield from _approximate()
    yield from _binary()
    yield from _comparisons()
    yield from _logical()
    yield from _choices()
    yield from _conversions()


def _unary() -> Iterator[Row]:
    for name, (function, low, high) in UNARY.items():
        yield from for_each(
            EVERYTHING, FLOATS, lambda dtype, n=name, f=function, a=low, b=high: _one(n, dtype, f"I.{n}(v)", f, a, b)
        )
    yield from for_each(EVERYTHING, NUMBERS, lambda dtype: _one("abs", dtype, "I.abs(v)", np.abs, -100, 100))
    yield from for_each(EVERYTHING, NUMBERS, lambda dtype: _one("operator -x", dtype, "-v", np.negative, -100, 100))
    yield from for_each(
        EVERYTHING,
        (*INTEGERS, "index", "bool"),
        lambda dtype: _one("operator ~", dtype, "~v", np.invert, -100, 100),
    )


def _one(subject: str, dtype: str, expression: str, function: Statement, low: float, high: float) -> Row:
    text = program(
        f"{view('x', dtype, 'M N')}, {view('o', dtype, 'M N', 'Out')}", f"v = x[:, :]\no[:, :] = {expression}"
    )
    return Row(subject, dtype, text, in_f64(function, dtype), operands(dtype, {"x": "M N"}, low, high))


def _approximate() -> Iterator[Row]:
    for name, (expression, function, tolerance) in APPROXIMATE.items():
        for dtype in EVERYTHING:
            text = program(
                f"{view('x', dtype, 'M N')}, {view('y', dtype, 'M N')}, {view('o', dtype, 'M N', 'Out')}",
                f"v = x[:, :]\nw = y[:, :]\no[:, :] = {expression}",
            )
            arity = 2 if name == "fdiv" else 1
            statement = in_f64(lambda *given, f=function, n=arity: f(*given[:n]), dtype)
            inputs = operands(dtype, {"x": "M N", "y": "M N"}, 0.5, 4)
            yield Row(f"{name}, approximate", dtype, text, statement, inputs, legal=dtype == "f32", tolerance=tolerance)


def _binary() -> Iterator[Row]:
    for name, (expression, function, legal, low, high) in BINARY.items():
        yield from for_each(
            EVERYTHING, legal, lambda t, n=name, e=expression, f=function, a=low, b=high: _two(n, t, e, f, a, b)
        )


def _two(
    subject: str, dtype: str, expression: str, function: Statement, low: float, high: float, result: str = ""
) -> Row:
    """(M, N) with (M, N), with a row, and with a literal extent of one: the three ways extents are broadcast."""
    result = result or dtype
    text = program(
        f"{view('x', dtype, 'M N')}, {view('y', dtype, 'M N')}, {view('r', dtype, 'N')}, {view('c', dtype, 'M 1')}, "
        + ", ".join(view(name, result, "M N", "Out") for name in "opq"),
        "v = x[:, :]\nw = y[:, :]\n"
        f"o[:, :] = {expression}\n"
        f"w = r[:]\np[:, :] = {expression}\n"
        f"w = c[:, :]\nq[:, :] = {expression}",
    )
    statement = in_f64(lambda x, y, r, c: (function(x, y), function(x, r), function(x, c)), *(result,) * 3)
    inputs = operands(dtype, {"x": "M N", "y": "M N", "r": "N", "c": "M 1"}, low, high)
    return Row(subject, dtype, text, statement, inputs)


def _comparisons() -> Iterator[Row]:
    for symbol, function in COMPARISONS.items():
        legal = EVERYTHING if symbol in ("==", "!=") else NUMBERS
        yield from for_each(
            EVERYTHING,
            legal,
            lambda t, s=symbol, f=function: _two(f"operator {s}", t, f"v {s} w", f, -3, 3, "bool"),
        )


def _logical() -> Iterator[Row]:
    for name, function in (("and", np.logical_and), ("or", np.logical_or)):
        yield from for_each(
            EVERYTHING, ("bool",), lambda t, n=name, f=function: _two(f"operator {n}", t, f"v {n} w", f, 0, 1)
        )
    yield from for_each(EVERYTHING, ("bool",), lambda t: _one("operator not", t, "not v", np.logical_not, 0, 1))


def _choices() -> Iterator[Row]:
    for subject, expression in (
        ("select", "I.select(g[:, :], v, y[:])"),
        ("mask", "I.mask(v, g[:, :], r[0])"),
        ("conditional expression", "v if g[0, 0] else I.select(g[:, :] | True, y[:], v)"),
    ):
        for dtype in EVERYTHING:
            yield _choice(subject, dtype, expression)


def _choice(subject: str, dtype: str, expression: str) -> Row:
    shapes = {"x": "M N", "y": "N", "r": "1"}
    parameters = [view(name, dtype, shape) for name, shape in shapes.items()]
    parameters += [view("g", "bool", "M N"), view("o", dtype, "M N", "Out")]
    text = program(", ".join(parameters), f"v = x[:, :]\no[:, :] = {expression}")

    def statement(x: np.ndarray, y: np.ndarray, r: np.ndarray, g: np.ndarray) -> object:
        if subject == "conditional expression":
            return x if g[0, 0] else np.broadcast_to(y[None, :], x.shape)
        return np.where(g, x, y if subject == "select" else r[0])

    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        return {**operands(dtype, shapes)(rng, case), "g": rng.random(extents("M N", case)) < 0.5}

    # A scalar condition needs its element.
    where = MATRIX if subject != "conditional expression" else {**MATRIX, "zero": ({"M": 3, "N": 1},)}
    return Row(subject, dtype, text, statement, inputs, where)


def _conversions() -> Iterator[Row]:
    targets = ("f32", "f16", "i32", "u8", "bool", "f8e5m2", "index")
    for dtype in EVERYTHING:
        outputs = [view(f"o_{target}", target, "M N", "Out") for target in targets]
        body = "\n".join(f"o_{target}[:, :] = I.cast(x[:, :], I.{target})" for target in targets)
        text = program(", ".join([view("x", dtype, "M N"), *outputs]), body)
        yield Row("cast", dtype, text, in_f64(lambda x: (x,) * 7, *targets), operands(dtype, {"x": "M N"}, 0, 100))
    partners = {
        "f64": "u64", "f32": "i32", "f16": "u16", "bf16": "i16", "f8e4m3fn": "u8", "f8e5m2": "i8", "i8": "u8",
        "i32": "f32", "i64": "f64", "u8": "f8e5m2", "u64": "i64", "index": "u64", "bool": "u8",
    }  # fmt: skip
    yield from for_each(EVERYTHING, (*FLOATS, *INTEGERS, "index"), lambda dtype: _bitcast(dtype, partners[dtype]))


def _bitcast(dtype: str, partner: str) -> Row:
    text = program(
        f"{view('x', dtype, 'M N')}, {view('o', partner, 'M N', 'Out')}", f"o[:, :] = I.bitcast(x[:, :], I.{partner})"
    )
    low = -100 if dtype in (*SIGNED, *FLOATS) else 0
    return Row(
        "bitcast",
        dtype,
        text,
        lambda x: np.ascontiguousarray(x).view(NUMPY_DTYPES[partner]),
        operands(dtype, {"x": "M N"}, low, 100),
    )

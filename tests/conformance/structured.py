"""Rows of reductions, scans, region operations and histograms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sample_files import NUMPY_DTYPES, Case

from conformance.rows import (
    EVERYTHING,
    FLOATS,
    INTEGERS,
    KINDS,
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

RANGES = sizes("M N", "3 37", "2 4200")
SHORT = sizes("M N", "3 37", "2 300")
FORMS = ("", ", reverse=True", ", inclusive=False")
LARGER = "@intent.fn\ndef larger(a, b):\n    return I.maximum(a, b)\n"
FOLD = """@intent.fn
def total(part):
    return I.reduce.sum(part, axis=0)

@intent.fn
def merge(a, b):
    return a + b

@intent.fn
def prefixes(part, before):
    return before + I.cumsum(part, axis=0)
"""


def rows() -> Iterator[Row]:
    yield from for_each(EVERYTHING, NUMBERS, _sum)
    yield from for_each(EVERYTHING, NUMBERS, _max)
    for name, function in (("any", np.any), ("all", np.all)):
        yield from for_each(EVERYTHING, ("bool",), lambda t, n=name, f=function: _truth(n, t, f))
    yield from for_each(EVERYTHING, NUMBERS, _arg_max)
    yield from for_each(EVERYTHING, NUMBERS, _generic)
    for form in FORMS:
        for make in (_scan, _cumsum, _cummax):
            yield from for_each(KINDS if form else EVERYTHING, NUMBERS, lambda t, m=make, f=form: m(t, f))
    yield from for_each(EVERYTHING, NUMBERS, _fold)
    yield from for_each(EVERYTHING, NUMBERS, _region_scan)
    yield from for_each(EVERYTHING, (*INTEGERS, "index"), _histogram)


def _reduced(subject: str, dtype: str, result: str, expression: str, function: Statement, helpers: str = "") -> Row:
    """Along rows, along columns, and over everything."""
    outputs = [view("o", result, "M", "Out"), view("p", result, "N", "Out"), view("q", result, "", "Out")]
    body = "v = x[:, :]\n" + "\n".join(
        f"{target} = {expression.replace('AXIS', axis)}"
        for target, axis in (("o[:]", "1"), ("p[:]", "0"), ("q[()]", "(0, 1)"))
    )
    text = program(", ".join([view("x", dtype, "M N"), *outputs]), body, helpers)
    statement = in_f64(lambda x: tuple(function(x, axis) for axis in (1, 0, (0, 1))), *(result,) * 3)
    where, slow = (RANGES, False) if subject == "reduce.sum" else (SHORT, True)
    return Row(subject, dtype, text, statement, operands(dtype, {"x": "M N"}), where, small=slow)


def _sum(dtype: str) -> Row:
    result = widened(dtype)
    return _reduced("reduce.sum", dtype, result, "I.reduce.sum(v, axis=AXIS)", lambda x, axis: _total(x, axis, result))


def _total(x: np.ndarray, axis: object, result: str) -> np.ndarray:
    return np.sum(x, axis=axis, dtype=np.float64 if result in FLOATS else NUMPY_DTYPES[result])  # type: ignore[call-overload,no-any-return]


def lowest(dtype: str) -> object:
    """What the largest of nothing is."""
    if dtype in FLOATS:
        return -448.0 if dtype == "f8e4m3fn" else -np.inf
    return False if dtype == "bool" else np.iinfo(NUMPY_DTYPES[dtype]).min


def _max(dtype: str) -> Row:
    return _reduced("reduce.max", dtype, dtype, "I.reduce.max(v, axis=AXIS)", lambda x, axis: _largest(x, axis, dtype))


def _largest(x: np.ndarray, axis: object, dtype: str) -> np.ndarray:
    return np.max(x, axis=axis, initial=lowest(dtype))  # type: ignore[call-overload,no-any-return]


def _truth(name: str, dtype: str, function: Statement) -> Row:
    return _reduced(f"reduce.{name}", dtype, "bool", f"I.reduce.{name}(v, axis=AXIS)", lambda x, a: function(x, axis=a))


def _arg_max(dtype: str) -> Row:
    outputs = f"{view('o', dtype, 'M', 'Out')}, {view('p', 'index', 'M', 'Out')}"
    text = program(f"{view('x', dtype, 'M N')}, {outputs}", "o[:], p[:] = I.arg_reduce.max(x[:, :], axis=1)")

    def statement(x: np.ndarray) -> object:
        if x.shape[1] == 0:
            return np.full(len(x), lowest(dtype)), np.zeros(len(x), np.int64)
        return np.max(x, axis=1), np.argmax(x, axis=1)

    inputs = operands(dtype, {"x": "M N"})
    return Row("arg_reduce.max", dtype, text, in_f64(statement, dtype, "index"), inputs, SHORT, small=True)


def _generic(dtype: str) -> Row:
    """The largest of the elements and one more, by a combine of the author's."""
    one = f"I.cast(1, I.{dtype})"
    expression = f"I.reduce(v, axis=AXIS, identity={one}, combine=larger)"
    return _reduced("reduce", dtype, dtype, expression, lambda x, axis: np.max(x, axis=axis, initial=1), LARGER)


def _scanned(subject: str, dtype: str, result: str, call: str, form: str, accumulate: Statement, first: object) -> Row:
    """Along rows; `first` is what stands before the first element where an element itself does not count."""
    helpers = LARGER if "larger" in call else ""
    parameters = f"{view('x', dtype, 'M N')}, {view('o', result, 'M N', 'Out')}"
    text = program(parameters, f"o[:, :] = {call.replace('FORM', form)}", helpers)

    def statement(x: np.ndarray) -> np.ndarray:
        if form == FORMS[1]:
            return np.asarray(accumulate(x[:, ::-1]))[:, ::-1]
        forward = np.asarray(accumulate(x))
        if form == "":
            return forward
        return np.concatenate([np.full((len(x), 1), first, forward.dtype), forward], axis=1)[:, : x.shape[1]]

    inputs = operands(dtype, {"x": "M N"})
    return Row(subject + form, dtype, text, in_f64(statement, result), inputs, SHORT, small=True)


def _cumsum(dtype: str, form: str) -> Row:
    result = widened(dtype)
    carrier = np.float64 if result in FLOATS else NUMPY_DTYPES[result]
    call = "I.cumsum(x[:, :], axis=1FORM)"
    return _scanned("cumsum", dtype, result, call, form, lambda v: np.cumsum(v, axis=1, dtype=carrier), 0)


def _cummax(dtype: str, form: str) -> Row:
    call = "I.cummax(x[:, :], axis=1FORM)"
    return _scanned("cummax", dtype, dtype, call, form, lambda v: np.maximum.accumulate(v, axis=1), lowest(dtype))


def _scan(dtype: str, form: str) -> Row:
    first = "-448.0" if dtype == "f8e4m3fn" else "-I.inf" if dtype in FLOATS else str(lowest(dtype))
    call = f"I.scan(x[:, :], axis=1, identity=I.cast({first}, I.{dtype}), combine=largerFORM)"
    return _scanned("scan", dtype, dtype, call, form, lambda v: np.maximum.accumulate(v, axis=1), lowest(dtype))


def _fold(dtype: str) -> Row:
    result = widened(dtype)
    text = program(
        f"{view('x', dtype, 'M N')}, {view('o', result, 'N', 'Out')}",
        "o[:] = I.region_fold(source=x[:, :], axis=0, summarize=total, combine=merge, "
        f"identity=I.zeros((x.shape[1],), I.{result}))",
        FOLD,
    )
    statement = in_f64(lambda x: _total(x, 0, result), result)
    inputs = operands(dtype, {"x": "M N"})
    return Row("region_fold", dtype, text, statement, inputs, sizes("M N", "37 5", "300 20"))


def _region_scan(dtype: str) -> Row:
    result = widened(dtype)
    outputs = f"{view('o', result, 'M N', 'Out')}, {view('p', result, 'N', 'Out')}"
    text = program(
        f"{view('x', dtype, 'M N')}, {outputs}",
        f"zero = I.zeros((x.shape[1],), I.{result})\n"
        "o[:, :], p[:] = I.region_scan(source=x[:, :], axis=0, summarize=total, combine=merge, identity=zero, "
        "initial_state=zero, apply=merge, emit=prefixes)",
        FOLD,
    )
    carrier = np.float64 if result in FLOATS else NUMPY_DTYPES[result]
    statement = in_f64(lambda x: (np.cumsum(x, axis=0, dtype=carrier), _total(x, 0, result)), result, result)
    inputs = operands(dtype, {"x": "M N"})
    return Row("region_scan", dtype, text, statement, inputs, sizes("M N", "37 5", "150 10"))


def _histogram(dtype: str) -> Row:
    text = program(
        f"{view('x', dtype, 'N')}, {view('o', 'i32', 'B', 'Out')}",
        "v = x[:]\no[:] = I.histogram(v, bins=o.shape[0], valid=(v >= 0) & (v < I.cast(o.shape[0], I.i32)), "
        "count_dtype=I.i32)"
        if dtype == "i32"
        else "v = x[:]\nj = I.cast(v, I.index)\n"
        "o[:] = I.histogram(v, bins=o.shape[0], valid=(j >= 0) & (j < o.shape[0]), count_dtype=I.i32)",
    )

    def statement(x: np.ndarray, case: Case) -> np.ndarray:
        (bins,) = extents("B", case)
        return np.array([np.sum(x.astype(np.int64) == each) for each in range(bins)], dtype=np.int32)

    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        values = rng.integers(0 if dtype.startswith("u") else -2, 12, extents("N", case))
        return {"x": values.astype(NUMPY_DTYPES[dtype])}

    return Row("histogram", dtype, text, statement, inputs, sizes("N B", "37 10", "3000 10"))

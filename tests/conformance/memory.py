"""Rows of reads and writes: indexing, gathers, scatters, buffers, atomics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sample_files import Case

from conformance.rows import (
    EVERYTHING,
    INTEGERS,
    KINDS,
    NUMBERS,
    Arrays,
    Inputs,
    Row,
    Statement,
    extents,
    for_each,
    in_f64,
    operands,
    program,
    sizes,
    view,
)

COPIES: dict[str, str] = {
    "indexing": "m = I.domain(0, x.shape[0])\no[m, :] = x[m, :]",
    "store": "I.store(o, (slice(None), slice(None)), x[:, :])",
    "mutable_load": "o[:, :] = x[:, :]\nv = I.mutable_load(o, (slice(None), slice(None)))\no[:, :] = v",
    "buffer": (
        "for i in I.parallel(I.domain(0, x.shape[0])):\n"
        "    kept = I.buffer((x.shape[1],), I.{dtype}, init=x[i, :])\n"
        "    for j in range(x.shape[1]):\n        o[i, j] = kept[x.shape[1] - 1 - j]"
    ),
}
# Action: the NumPy statement of the memory afterwards, for operands that meet at destinations.
ATOMIC_UPDATES: dict[str, tuple[np.ufunc, tuple[str, ...]]] = {
    "atomic.add": (np.add, NUMBERS),
    "atomic.max": (np.maximum, NUMBERS),
    "atomic.min": (np.minimum, NUMBERS),
    "atomic.and_": (np.bitwise_and, (*INTEGERS, "index", "bool")),
    "atomic.or_": (np.bitwise_or, (*INTEGERS, "index", "bool")),
    "atomic.xor": (np.bitwise_xor, (*INTEGERS, "index", "bool")),
}


def rows() -> Iterator[Row]:
    for subject, body in COPIES.items():
        for dtype in KINDS:
            yield _copy(subject, dtype, body.replace("{dtype}", dtype))
    for dtype in KINDS:
        yield _gather(dtype)
        yield _scatter_unique(dtype)
    yield from for_each(EVERYTHING, NUMBERS, _scatter_reduce)
    for subject, (function, legal) in ATOMIC_UPDATES.items():
        yield from for_each(EVERYTHING, legal, lambda dtype, s=subject, f=function: _atomic_update(s, dtype, f))
    for dtype in EVERYTHING:
        yield from _atomic_accesses(dtype)


def _copy(subject: str, dtype: str, body: str) -> Row:
    text = program(f"{view('x', dtype, 'M N')}, {view('o', dtype, 'M N', 'Out')}", body)
    statement: Statement = (lambda x: x[:, ::-1]) if subject == "buffer" else (lambda x: x)
    return Row(subject, dtype, text, statement, operands(dtype, {"x": "M N"}), sizes("M N", "3 37", "2 1100"))


def _positions(dtype: str, shape: str, below: str) -> Inputs:
    """x of the shape, and positions `at` [K] on its first axis, some of them outside."""

    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        (limit,) = extents(below, case)
        at = rng.integers(-1, limit + 1, extents("K", case))
        return {**operands(dtype, {"x": shape})(rng, case), "at": at}

    return inputs


GATHERED = sizes("M N K", "4 37 7", "5 600 9", zero="N K")


def _gather(dtype: str) -> Row:
    body = (
        "j = I.cast(at[:], I.index)\nn = I.domain(0, x.shape[1])\n"
        "inside = (j >= 0) & (j < x.shape[0])\n"
        "o[:, n] = I.gather(x, (j, n), valid=inside[:, None])"
    )
    text = program(f"{view('x', dtype, 'M N')}, {view('at', 'i32', 'K')}, {view('o', dtype, 'K N', 'Out')}", body)

    def statement(x: np.ndarray, at: np.ndarray) -> np.ndarray:
        inside = (at >= 0) & (at < len(x))
        return np.where(inside[:, None], x[np.where(inside, at, 0)], np.zeros((), x.dtype))

    return Row("gather", dtype, text, statement, _positions(dtype, "M N", "M"), GATHERED)


def _scatter_unique(dtype: str) -> Row:
    body = "n = I.domain(0, x.shape[1])\nfor i in I.parallel(I.domain(0, x.shape[0])):\n"
    body += "    I.scatter_unique(o, (at[i], n), x[i, n])"
    text = program(f"{view('x', dtype, 'M N')}, {view('at', 'index', 'M')}, {view('o', dtype, 'M N', 'Out')}", body)

    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        return {**operands(dtype, {"x": "M N"})(rng, case), "at": rng.permutation(int(str(case["M"])))}

    return Row("scatter_unique", dtype, text, lambda x, at: x[np.argsort(at)], inputs)


def _scatter_reduce(dtype: str) -> Row:
    body = "n = I.domain(0, x.shape[1])\nfor i in I.parallel(I.domain(0, x.shape[0])):\n"
    body += "    I.scatter_reduce(o, (at[i], n), x[i, n], combine=I.add)"
    parameters = f"{view('x', dtype, 'K N')}, {view('at', 'index', 'K')}, {view('o', dtype, 'M N', 'InOut')}"

    def statement(x: np.ndarray, at: np.ndarray, o: np.ndarray) -> np.ndarray:
        total = o.copy()
        np.add.at(total, at, x)
        return total

    return Row("scatter_reduce", dtype, program(parameters, body), in_f64(statement, dtype), _meeting(dtype), GATHERED)


def _meeting(dtype: str) -> Inputs:
    """x [K, N] whose sums no order rounds: steps of a quarter, or -1, 0 and 1 where a few bits hold a sum; destinations
    `at` below M.
    """
    largest, steps = (1, 1) if dtype.startswith("f8") else (2, 4)

    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        found = dict(operands(dtype, {"x": "K N", "o": "M N"}, -largest, largest)(rng, case))
        if found["x"].dtype.kind not in "biu":
            rounded = {name: np.round(value.astype(np.float64) * steps) / steps for name, value in found.items()}
            found = {name: rounded[name].astype(value.dtype) for name, value in found.items()}
        return {**found, "at": rng.integers(0, int(str(case["M"])), extents("K", case))}

    return inputs


def _atomic_update(subject: str, dtype: str, function: np.ufunc) -> Row:
    body = "n = I.domain(0, x.shape[1])\nfor i in I.parallel(I.domain(0, x.shape[0])):\n"
    body += f'    I.{subject}(o, (at[i], n), x[i, n], order="relaxed")'
    parameters = f"{view('x', dtype, 'K N')}, {view('at', 'index', 'K')}, {view('o', dtype, 'M N', 'InOut')}"

    def statement(x: np.ndarray, at: np.ndarray, o: np.ndarray) -> np.ndarray:
        total = o.copy()
        function.at(total, at, x)
        return total

    return Row(subject, dtype, program(parameters, body), in_f64(statement, dtype), _meeting(dtype), GATHERED)


def _atomic_accesses(dtype: str) -> Iterator[Row]:
    """Every point has an element of its own, so that the old value is known."""
    programs: dict[str, tuple[str, Statement]] = {
        "atomic.load": ('o[i, j] = I.atomic.load(x, (i, j), order="acquire")', lambda x, y, o: (x, x)),
        "atomic.store": (
            'o[i, j] = x[i, j]\n    I.atomic.store(x, (i, j), y[i, j], order="release")', lambda x, y, o: (y, x),
        ),
        "atomic.exchange": (
            'o[i, j] = I.atomic.exchange(x, (i, j), y[i, j], order="acq_rel")', lambda x, y, o: (y, x),
        ),
        "atomic.compare_exchange": (
            'r = I.atomic.compare_exchange(x, (i, j), y[i, j], y[0, 0], order="relaxed")\n    o[i, j] = r.old_value',
            lambda x, y, o: (np.where(x == y, y[:1, :1], x), x),
        ),
    }  # fmt: skip
    for subject, (statements, statement) in programs.items():
        domains = "(I.domain(0, x.shape[0]), I.domain(0, x.shape[1]))"
        parameters = [view("x", dtype, "M N", "InOut"), view("y", dtype, "M N"), view("o", dtype, "M N", "Out")]
        text = program(", ".join(parameters), f"for i, j in I.parallel({domains}):\n    {statements}")

        def inputs(rng: np.random.Generator, case: Case) -> Arrays:
            both = dict(operands(dtype, {"x": "M N", "y": "M N"})(rng, case))
            both["y"] = np.where(rng.random(both["x"].shape) < 0.5, both["x"], both["y"])
            return both

        yield Row(subject, dtype, text, lambda x, y, f=statement: f(x, y, None), inputs, sizes("M N", "3 37", "2 600"))

"""Rows of domains, tensor values and random numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sample_files import Case

from conformance.rows import (
    EVERYTHING,
    FLOATS,
    KINDS,
    MATRIX,
    NUMBERS,
    Arrays,
    Row,
    Statement,
    extents,
    for_each,
    in_f64,
    numbers,
    operands,
    program,
    sizes,
    view,
)

X = {"x": "M N"}


def rows() -> Iterator[Row]:
    yield from _domains()
    yield from _ragged()
    yield from _values()
    yield from _products()
    yield from _random()


def _mapped(subject: str, dtype: str, body: str, statement: Statement, helpers: str = "") -> Row:
    """A program from x[M, N] to o[M, N] of one dtype that moves elements or adds small numbers."""
    text = program(f"{view('x', dtype, 'M N')}, {view('o', dtype, 'M N', 'Out')}", body, helpers)
    return Row(subject, dtype, text, statement, operands(dtype, X))


DOMAINS: dict[str, tuple[str, Statement]] = {
    "domain": (
        "m = I.domain(0, x.shape[0])\nodd = I.domain(1, x.shape[1], 2)\neven = I.domain(0, x.shape[1], 2)\n"
        "o[m, odd] = x[m, odd]\no[m, even] = x[m, even]",
        lambda x: x,
    ),
    "parallel": (
        "for i, j in I.parallel((I.domain(0, x.shape[0]), I.domain(0, x.shape[1]))):\n    o[i, j] = x[i, j]",
        lambda x: x,
    ),
    "indices": (
        "m = I.domain(0, x.shape[0])\nn = I.domain(0, x.shape[1])\no[m, n] = x[m, x.shape[1] - 1 - I.indices(n)]",
        lambda x: x[:, ::-1],
    ),
    "end": (
        "m = I.domain(0, x.shape[0])\nn = I.domain(0, x.shape[1])\n"
        "first = n[: x.shape[1] // 2]\nrest = n[I.end(first) :]\n"
        "o[m, first] = x[m, first]\no[m, rest] = x[m, I.end(rest) - 1 - I.indices(rest) + I.end(first)]",
        lambda x: np.concatenate([x[:, : x.shape[1] // 2], x[:, x.shape[1] // 2 :][:, ::-1]], axis=1),
    ),
}


def _domains() -> Iterator[Row]:
    for subject, (body, statement) in DOMAINS.items():
        for dtype in KINDS:
            yield _mapped(subject, dtype, body, statement)
    for dtype in KINDS:
        yield _assumed(dtype)


def _assumed(dtype: str) -> Row:
    body = (
        "n = I.domain(0, x.shape[1])\n"
        "for i in I.parallel(I.domain(0, o.shape[0])):\n"
        "    j = at[i]\n    I.assume_in_bounds(j, x, axis=0)\n    o[i, n] = x[j, n]"
    )
    text = program(f"{view('x', dtype, 'M N')}, {view('at', 'i32', 'K')}, {view('o', dtype, 'K N', 'Out')}", body)

    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        return {**operands(dtype, X)(rng, case), "at": rng.integers(0, int(str(case["M"])), extents("K", case))}

    where = sizes("M N K", "3 37 5", "4 2500 3", zero="N K")
    return Row("assume_in_bounds", dtype, text, lambda x, at: x[at], inputs, where)


def _ragged() -> Iterator[Row]:
    """Row g of the ragged domain: the members offsets[g] to offsets[g + 1], those of an odd row by their mapping."""
    for dtype in KINDS:
        for subject, value in (("ragged", "x[seg, d]"), ("members", "x[I.members(rows[g]), d]")):
            body = (
                "groups = I.domain(0, offsets.shape[0] - 1)\nd = I.domain(0, x.shape[1])\n"
                "rows = I.ragged(groups, I.domain(0, x.shape[0]), offsets, indices=map)\n"
                f"for g in I.parallel(groups):\n    seg = rows[g]\n    o[seg, d] = {value}"
            )
            parameters = [view("x", dtype, "R D"), view("offsets", "i32", "P"), view("map", "i32", "R")]
            text = program(", ".join([*parameters, view("o", dtype, "R D", "Out")]), body)
            statement = (lambda x, o, m: x) if subject == "ragged" else (lambda x, o, m: x[m])
            where = {**sizes("R D P", "23 19 5", "300 40 9", zero="R D"), "one": ({"R": 1, "D": 1, "P": 2},)}
            yield Row(subject, dtype, text, statement, _ragged_inputs(dtype), where)


def _ragged_inputs(dtype: str):  # type: ignore[no-untyped-def]
    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        members, ends = extents("R P", case)
        cuts = np.sort(rng.integers(0, members + 1, max(ends - 2, 0)))
        offsets = np.array([0, *cuts, members][:ends])
        offsets[-1] = members if ends > 1 else 0
        return {**operands(dtype, {"x": "R D"})(rng, case), "offsets": offsets, "map": rng.permutation(members)}

    return inputs


VALUES: dict[str, tuple[str, Statement]] = {
    "reshape": (
        "v = I.reshape(x[:, :], (x.shape[0] * x.shape[1],))\no[:, :] = I.reshape(v, x.shape)",
        lambda x: x,
    ),
    "transpose": ("v = I.transpose(x[:, :])\no[:, :] = I.transpose(v, (1, 0))", lambda x: x),
    "record": (
        "r = I.record(a=x[:, :], at=I.record(b=x[0:1, :]))\no[:, :] = I.select(r.a == r.at.b, r.at.b, r.a)",
        lambda x: x,
    ),
}


def _values() -> Iterator[Row]:
    for subject, (body, statement) in VALUES.items():
        for dtype in KINDS:
            row = _mapped(subject, dtype, body, statement)
            # The first row of an array must exist for the record to hold it.
            where = {**MATRIX, "zero": ({"M": 3, "N": 0},)} if subject == "record" else MATRIX
            yield Row(subject, dtype, row.text, statement, row.inputs, where)
    for dtype in KINDS:
        fill = "True" if dtype == "bool" else "3"
        literal = fill if dtype not in FLOATS else "1.5"
        yield _filled("full", dtype, f"o[:, :] = I.full(o.shape, {literal}, I.{dtype})", float(eval(literal)))
        yield _filled("zeros", dtype, f"o[:, :] = I.zeros(o.shape, I.{dtype})", 0.0)
        text = program(
            f"{view('x', dtype, 'M N')}, {view('y', dtype, 'M N')}, {view('o', dtype, 'M N 2', 'Out')}",
            "o[:, :, :] = I.join(x[:, :], y[:, :])",
        )
        both = operands(dtype, {"x": "M N", "y": "M N"})
        yield Row("join", dtype, text, lambda x, y: np.stack([x, y], axis=2), both)


def _filled(subject: str, dtype: str, body: str, value: float) -> Row:
    text = program(f"{view('x', dtype, 'M N')}, {view('o', dtype, 'M N', 'Out')}", body)
    return Row(subject, dtype, text, lambda x: np.full(x.shape, value).astype(x.dtype), operands(dtype, X))


def _products() -> Iterator[Row]:
    yield from for_each(EVERYTHING, NUMBERS, _outer)


def _outer(dtype: str) -> Row:
    text = program(
        f"{view('x', dtype, 'M')}, {view('y', dtype, 'N')}, {view('o', dtype, 'M N', 'Out')}",
        "o[:, :] = I.outer(x[:], y[:])",
    )
    return Row("outer", dtype, text, in_f64(np.outer, dtype), operands(dtype, {"x": "M", "y": "N"}))


# ------------------------------------------------------------------------------------------------------- random numbers
def philox(seed: int, counters: np.ndarray) -> np.ndarray:
    """Philox4x32-10: word `counter % 4` of the block `counter // 4`, keyed by the halves of the seed."""
    results = np.empty(counters.shape, np.uint32)
    for place, counter in np.ndenumerate(counters):
        block, word = divmod(int(counter), 4)
        words = [block & 0xFFFFFFFF, block >> 32, 0, 0]
        keys = [seed & 0xFFFFFFFF, seed >> 32]
        for _ in range(10):
            first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
            words = [
                second >> 32 ^ words[1] ^ keys[0],
                second & 0xFFFFFFFF,
                first >> 32 ^ words[3] ^ keys[1],
                first & 0xFFFFFFFF,
            ]
            keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
        results[place] = words[word]
    return results


SEED = 0x1234_5678_9ABC_DEF0


def _random() -> Iterator[Row]:
    for dtype in EVERYTHING:
        legal = dtype in ("u64", "index")
        parameters = f"{view('x', dtype, 'N')}, {view('o', 'u32', 'N', 'Out')}"
        body = f"seed = I.cast({SEED}, I.u64)\no[:] = I.random.bits(seed, x[:])"
        where = sizes("N", "37", "1100")
        yield Row(
            "random.bits", dtype, program(parameters, body), lambda x: philox(SEED, x), _counters(dtype), where, legal
        )
    for dtype in EVERYTHING:
        parameters = f"{view('x', 'u64', 'N')}, {view('o', dtype, 'N', 'Out')}"
        body = f"seed = I.cast({SEED}, I.u64)\no[:] = I.random.uniform(seed, x[:], dtype=I.{dtype})"
        statement = in_f64(lambda x: (philox(SEED, x) >> 8) * 2.0**-24, dtype)
        text = program(parameters, body)
        yield Row("random.uniform", dtype, text, statement, _counters("u64"), where, dtype in ("f32", "f64"))


def _counters(dtype: str):  # type: ignore[no-untyped-def]
    def inputs(rng: np.random.Generator, case: Case) -> Arrays:
        near = rng.integers(0, 1000, extents("N", case))
        far = rng.integers(0, 2**62, extents("N", case)) if dtype in ("u64", "index") else near
        return {"x": np.where(near % 2, near, far).astype(numbers(rng, dtype, (0,), 0, 1).dtype)}

    return inputs

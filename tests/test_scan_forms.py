"""Scans of rows longer than any tile: in both directions, of scans, of records, and whatever consumes them.

Tiles are small, so that a row of some dozens of elements already takes several.
"""

from __future__ import annotations

from textwrap import dedent, indent

import numpy as np
import pytest
from program_runs import agree, compiled, device_text

pytestmark = pytest.mark.gpu

ROW = 'x: I.In[I.f32, ("M", "N")]'
OUT = 'o: I.Out[I.f32, ("M", "N")]'
EACH = 'o: I.Out[I.f32, ("M",)]'
GATES = 'g: I.In[I.f32, ("M", "N")]'
COMPOSE = """
@intent.fn
def compose(lhs, rhs):
    return I.record(g=lhs.g * rhs.g, s=lhs.s * rhs.g + rhs.s)

@intent.fn
def times(lhs, rhs):
    return lhs * rhs
"""
RECORD = "I.scan(I.record(g=g[r, n], s=x[r, n]), axis=0, identity=I.record(g=1.0, s=0.0), combine=compose, {how})"
PRODUCT = "I.scan(x[r, n], axis=0, identity=1.0, combine=times, {how})"
FORWARD, BACKWARD = "inclusive=True", "inclusive=True, reverse=True"

# title -> parameters after x, body of the loop over rows
FORMS = {
    "two stores": (f'{OUT}, p: I.Out[I.f32, ("M", "N")]', """
        o[r, n] = I.cumsum(x[r, n], axis=0)
        p[r, n] = I.cumsum(x[r, n], axis=0, reverse=True)"""),
    "one store": (OUT, "o[r, n] = I.cumsum(x[r, n], axis=0) + I.cumsum(x[r, n], axis=0, reverse=True)"),
    "backward of forward": (OUT, "o[r, n] = I.cumsum(I.cumsum(x[r, n], axis=0), axis=0, reverse=True)"),
    "forward of backward": (OUT, "o[r, n] = I.cummax(I.cumsum(x[r, n], axis=0, reverse=True), axis=0)"),
    "three deep": (OUT, "o[r, n] = I.cummax(I.cumsum(I.cummax(x[r, n], axis=0), axis=0, reverse=True), axis=0)"),
    "forward of forward": (OUT, "o[r, n] = I.cumsum(I.cumsum(x[r, n], axis=0), axis=0)"),
    "exclusive": (OUT, """
        a = I.cumsum(x[r, n], axis=0, inclusive=False)
        o[r, n] = a + I.cumsum(x[r, n], axis=0, inclusive=False, reverse=True)"""),
    "exclusive of exclusive": (OUT, """
        a = I.cummax(x[r, n], axis=0, inclusive=False, reverse=True)
        o[r, n] = I.cummax(a, axis=0, inclusive=False)"""),
    "reduced": (EACH, """
        o[r] = I.reduce.max(I.cumsum(x[r, n], axis=0) * I.cumsum(x[r, n], axis=0, reverse=True), axis=0)"""),
    "reduced and stored": (f'{OUT}, p: I.Out[I.f32, ("M",)]', """
        s = I.cumsum(x[r, n], axis=0, reverse=True)
        o[r, n] = s
        p[r] = I.reduce.max(s, axis=0)"""),
    "by its last": (OUT, """
        s = I.cumsum(x[r, n], axis=0)
        o[r, n] = s - s[N - 1]"""),
    "at a position": (f'j: I.In[I.i32, ("M",)], {EACH}', """
        s = I.cumsum(x[r, n], axis=0)
        o[r] = s[I.cast(j[r], I.index)]"""),
    "at every position": (OUT, """
        s = I.cumsum(x[r, n], axis=0)
        for c in range(N):
            o[r, c] = s[N - 1 - c]"""),
    "at gathered positions": (f'q: I.In[I.i32, ("M", "N")], {OUT}', """
        s = I.cumsum(x[r, n], axis=0, reverse=True)
        o[r, n] = s[I.cast(q[r, n], I.index)]"""),
    "record": (f"{GATES}, {OUT}", f"o[r, n] = {RECORD.format(how=FORWARD)}.s"),
    "record backward": (f"{GATES}, {OUT}", f"o[r, n] = {RECORD.format(how=BACKWARD)}.s"),
    "record exclusive": (f"{GATES}, {OUT}", f"o[r, n] = {RECORD.format(how='inclusive=False')}.s"),
    "record both ways": (f"{GATES}, {OUT}", f"""
        a = {RECORD.format(how=FORWARD)}
        b = {RECORD.format(how=BACKWARD)}
        o[r, n] = a.s * b.g + b.s"""),
    "combine both ways": (OUT, f"o[r, n] = {PRODUCT.format(how=FORWARD)} + {PRODUCT.format(how=BACKWARD)}"),
}  # fmt: skip
SIZES = [(3, 37), (2, 64), (1, 1), (0, 5), (3, 0)]


def program(title: str) -> str:
    parameters, body = FORMS[title]
    lines = indent(dedent(body).strip(), " " * 8)
    head = f"@intent.kernel\ndef k({ROW}, {parameters}):\n    M, N = x.shape\n    n = I.domain(0, N)\n"
    return f"{COMPOSE}\n{head}    for r in I.parallel(I.domain(0, M)):\n{lines}\n"


def arguments(title: str, rows: int, columns: int) -> dict[str, object]:
    """Whole numbers, and signs for what is multiplied: sums and products are exact."""
    generator = np.random.default_rng(rows * 100 + columns)
    signs = "combine" in title
    x = generator.integers(-3, 4, (rows, columns)) if not signs else generator.choice([-1, 1], (rows, columns))
    found: dict[str, object] = {"x": x.astype(np.float32)}
    parameters = FORMS[title][0]
    if "g:" in parameters:
        found["g"] = generator.choice([-1, 0, 1], (rows, columns)).astype(np.float32)
    if "j:" in parameters:
        found["j"] = generator.integers(0, max(columns, 1), rows).astype(np.int32)
    if "q:" in parameters:
        found["q"] = generator.integers(0, max(columns, 1), (rows, columns)).astype(np.int32)
    found["o"] = np.zeros((rows, columns) if OUT in parameters else rows, np.float32)
    if "p:" in parameters:
        found["p"] = np.zeros((rows, columns) if "two" in title else rows, np.float32)
    return found


@pytest.mark.parametrize(("rows", "columns"), SIZES)
@pytest.mark.parametrize("title", FORMS)
def test_scans_of_long_rows(title: str, rows: int, columns: int) -> None:
    if columns == 0 and title in ("by its last", "at a position"):
        pytest.skip("an empty row has no such element")
    agree(program(title), arguments(title, rows, columns))


@pytest.mark.parametrize("title", FORMS)
def test_rows_may_be_of_any_length(title: str) -> None:
    """The last variant has no limit."""
    code = compiled(program(title)).codes[-1]
    assert not code.requirements


def test_each_direction_has_its_own_loop() -> None:
    """Stores of scans in different directions are sweeps one after the other, each over every tile once."""
    last = device_text(program("two stores"), small=True).split("def ")[-1]
    assert [line.strip() for line in last.splitlines() if line.strip().startswith("for ")] == [
        "for start_n in range(0, N, BLOCK_N):",
        "for back in range(tl.cdiv(N, BLOCK_N)):",
    ]


@pytest.mark.parametrize("title", ["one store", "record both ways"])
def test_not_a_number_spreads_as_in_the_reference(title: str) -> None:
    given = arguments(title, 2, 37)
    x = given["x"]
    assert isinstance(x, np.ndarray)
    x[0, 20], x[1, 30] = np.nan, np.inf
    agree(program(title), given)


COLUMNS = """
    @intent.kernel
    def k(x: I.In[I.i64, ("M", "N")], o: I.Out[I.i64, ("M", "N")], p: I.Out[I.i64, ("M", "N")]):
        o[:, :] = I.cumsum(x[:, :], axis=0) * I.cumsum(x[:, :], axis=0, reverse=True)
        p[:, :] = I.cumsum(I.cumsum(x[:, :], axis=0, reverse=True), axis=1)
    """


@pytest.mark.parametrize(("rows", "columns"), [(37, 19), (16, 16), (1, 1), (0, 3), (3, 0)])
def test_scans_down_columns(rows: int, columns: int) -> None:
    x = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns) % 7 - 3
    agree(COLUMNS, {"x": x, "o": np.zeros_like(x), "p": np.zeros_like(x)})


RETENTION = """
    @intent.fn
    def step(lhs, rhs):
        return I.record(a=lhs.a * rhs.a, m=lhs.m * rhs.a + rhs.m)

    @intent.kernel
    def k(q: I.In[I.f32, ("S", "D")], v: I.In[I.f32, ("S", "E")], d: I.f32, o: I.Out[I.f32, ("S", "E")]):
        S, D = q.shape
        E = v.shape[1]
        found = I.scan(
            I.record(a=I.full((S,), fill=d, dtype=I.f32), m=q[:, :][:, :, None] * v[:, :][:, None, :]),
            axis=0,
            identity=I.record(a=1.0, m=I.zeros((D, E), I.f32)),
            combine=step,
            inclusive=True,
            reverse={reverse},
        )
        o[:, :] = I.reduce.sum(q[:, :][:, :, None] * found.m, axis=1)
    """


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("length", "width", "columns"), [(21, 5, 3), (16, 4, 4), (1, 1, 1), (0, 2, 2)])
def test_a_matrix_component(reverse: bool, length: int, width: int, columns: int) -> None:
    generator = np.random.default_rng(length)
    q = generator.integers(-2, 3, (length, width)).astype(np.float32)
    v = generator.integers(-2, 3, (length, columns)).astype(np.float32)
    text = RETENTION.replace("{reverse}", str(reverse))
    agree(text, {"q": q, "v": v, "d": 0.5, "o": np.zeros_like(v)}, tolerance=1e-6)


IN_PLACE = """
    @intent.kernel
    def k(x: I.InOut[I.i64, ("M", "N")]):
        x[:, :] = {value}
    """
BOTH_AXES = {
    "a table of sums": "I.cumsum(I.cumsum(x[:, :], axis=0), axis=1)",
    "across, from the end": "I.cummax(I.cumsum(x[:, :], axis=1, reverse=True), axis=0)",
    "three, in turn": "I.cummax(I.cumsum(I.cumsum(x[:, :], axis=0), axis=1, reverse=True), axis=0, reverse=True)",
    "both ways, and across": "I.cumsum(x[:, :], axis=0) + I.cummax(I.cumsum(x[:, :], axis=0, reverse=True), axis=1)",
    "less the largest prefix": "I.cummax(x[:, :], axis=0) - I.reduce.max(I.cumsum(x[:, :], axis=0), axis=1)[:, None]",
    "of what is less the row's largest": """(
            I.cumsum(x[:, :] - I.reduce.max(x[:, :], axis=1)[:, None], axis=0) + I.cumsum(
                I.cumsum(x[:, :], axis=1) - I.reduce.max(I.cumsum(x[:, :], axis=1, inclusive=False), axis=1)[:, None],
                axis=0,
            ))""",
    "within the memory that is rewritten": "I.cumsum(x[:, :], axis=0) + I.cumsum(x[:, :], axis=0, reverse=True)",
}  # fmt: skip


@pytest.mark.parametrize(("rows", "columns"), [(11, 6), (1, 1), (20, 3), (0, 3), (3, 0)])
@pytest.mark.parametrize("title", BOTH_AXES)
def test_in_place_along_both_axes(title: str, rows: int, columns: int) -> None:
    """No scan reads what the store has already overwritten."""
    if columns == 0 and "largest" in title:
        pytest.skip("an empty row has no largest element")
    x = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns) * 5 % 7 - 3
    agree(IN_PLACE.replace("{value}", BOTH_AXES[title]), {"x": x})


def test_both_ways_of_what_a_scatter_rewrites() -> None:
    text = """
    @intent.kernel
    def k(x: I.InOut[I.f32, ("N",)], idx: I.In[I.i32, ("N",)]):
        N = x.shape[0]
        s = I.cumsum(x[:], axis=0)
        t = I.cumsum(x[:], axis=0, reverse=True)
        I.scatter_unique(x, (idx[:],), s + t)
        u = I.cumsum(x[:], axis=0)
        x[:] = u + I.cumsum(x[:], axis=0, reverse=True)
    """
    for size in (19, 1, 0):
        idx = np.random.default_rng(size).permutation(size).astype(np.int32)
        agree(text, {"x": np.arange(size, dtype=np.float32) % 3, "idx": idx})


def test_a_scan_down_columns_goes_inside_their_tiles() -> None:
    """Prefixes down columns that are scanned along rows next are kept, and not found again for every row."""
    loops = [
        line.strip() for line in device_text(IN_PLACE.replace("{value}", BOTH_AXES["a table of sums"])).splitlines()
    ]
    assert [line for line in loops if line.startswith("for ")] == [
        "for start_n in range(0, N, BLOCK_N):",
        "for m in range(tl.cast(M, INDEX)):",
        "for m in range(tl.cast(M, INDEX)):",
        "for start_n in range(0, N, BLOCK_N):",
    ]

"""The passes over printed statements change how a function reads and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from printed_programs import Generator, lines, run, text

from intent.records import replace
from translators.triton_source import (
    copies,
    loaded_values,
    long_lines,
    repetition,
    reused_names,
    single_use,
    source_order,
)
from translators.triton_source.finishing import finished
from translators.triton_source.lines import Line, Origins
from translators.triton_source.telling_names import Vocabulary

POINTERS = {"x_ptr": "x", "y_ptr": "y"}
Pass = Callable[[Sequence[Line]], list[Line]]


def _vocabulary(author: str = "", **meanings: str) -> Vocabulary:
    strides = {"stride_x_row": ("x", "row"), "stride_x_1": ("x", "1")}
    taken = {*POINTERS, *strides}
    return Vocabulary(frozenset(author.split()), meanings, frozenset(("BLOCK_N",)), dict(POINTERS), strides, taken)


def _named(program: str, **meanings: str) -> str:
    given = lines(program)
    vocabulary = _vocabulary(**meanings)
    vocabulary.taken |= {"a", "b", "c", "row", "n"}
    return text(repetition.without_repetition(given, vocabulary))


# ---------------------------------------------------------------------------------------------------------- repetition
def test_pointers_of_a_load_and_a_store() -> None:
    given = """
    lanes = tl.arange(0, BLOCK_N)
    y = tl.load(y_ptr + lanes * stride_y)
    tl.store(y_ptr + lanes * stride_y, y + 1.0)
    """
    assert _named(given) == text(
        lines("""
    lanes = tl.arange(0, BLOCK_N)
    y_ptrs = y_ptr + lanes * stride_y
    y = tl.load(y_ptrs)
    tl.store(y_ptrs, y + 1.0)
    """)
    )


UNCHANGED = {
    "rebound between": "u = a * b + c\na = u\nv = a * b + c",
    "rebound in a loop": "u = a * b + c\nfor i in range(n):\n    v = a * b + c\n    a = v",
    "the next iteration": "for i in range(n):\n    u = a * b + c\n    a = u\n    v = a * b + c",
    "of different loops": "for i in range(n):\n    u = i * b + c\nfor i in range(n):\n    v = i * b + c",
    "after a loop": "for i in range(n):\n    u = a * b + c\n    a = u\nv = a * b + c",
    "a while's test": "while a * b + c > n:\n    a = a * b + c",
    "arms of an if": "if n > 0:\n    u = a * b + c\nelse:\n    u = a * b + c",
    "joined arms": "if n > 0:\n    a = 1\nu = a * b + c\nif n > 1:\n    a = 2\nv = a * b + c",
    "loads": "for i in range(n):\n    u = tl.load(b) + tl.load(a)\n    v = tl.load(b) + tl.load(a)",
    "random bits": "u = _philox(a, b + c)\nv = _philox(a, b + c)",
    "tiles of one value": "u = tl.zeros((BLOCK_N, n), a)\nv = tl.zeros((BLOCK_N, n), a)",
    "constants": "u = BLOCK_N * 2 + 1\nv = BLOCK_N * 2 + 1",
    "with two indices": "f(a[:, None] + b - 1)\ng(a[None, :] + b - 1)",
    "small ones": "u = a * b\nv = a * b",
    "a division in loops": "for i in range(n):\n    u = a // b + c\nfor j in range(n):\n    v = a // b + c",
}


@pytest.mark.parametrize("program", UNCHANGED.values(), ids=UNCHANGED)
def test_no_name_where_none_is_right(program: str) -> None:
    assert _named(program) == program


NAMED = {
    "the value has a name": (
        "u = a * b + c\nfor i in range(n):\n    v = u + (a * b + c)",
        "u = a * b + c\nfor i in range(n):\n    v = u + u",
    ),
    "the name is rebound": (
        "u = a * b + c\nu = u * 2\nv = a * b + c",
        "total = a * b + c\nu = total\nu = u * 2\nv = total",
    ),
    "in one iteration": (
        "for i in range(n):\n    u = i * b + c\n    v = i * b + c",
        "for i in range(n):\n    u = i * b + c\n    v = u",
    ),
    "two loops": (
        "for i in range(n):\n    f(x_ptr + row * a + i)\nfor i in range(n):\n    g(x_ptr + row * a + i)",
        "x_row = x_ptr + row * a\nfor i in range(n):\n    f(x_row + i)\nfor i in range(n):\n    g(x_row + i)",
    ),
    "in one arm": (
        "if n > 0:\n    u = f(a * b + c)\n    v = g(a * b + c)\nelse:\n    v = f(a * b + c)",
        "if n > 0:\n    total = a * b + c\n    u = f(total)\n    v = g(total)\nelse:\n    v = f(a * b + c)",
    ),
    "before an if": (
        "u = f(a * b + c)\nif n > 0:\n    v = g(a * b + c)",
        "total = a * b + c\nu = f(total)\nif n > 0:\n    v = g(total)",
    ),
    "largest first": (
        "u = f(a * b + c - 1)\nv = f(a * b + c - 1) + (a * b + c)",
        "total = a * b + c\nu = f(total - 1)\nv = u + total",
    ),
    "a division that follows anyway": (
        "for i in range(n):\n    u = f(a // b + c)\nv = g(a // b + c)",
        "total = a // b + c\nfor i in range(n):\n    u = f(total)\nv = g(total)",
    ),
    "masks": (
        "u = tl.load(x_ptr + a, mask=b & c)\ntl.store(x_ptr + a, u, mask=b & c)",
        "mask = b & c\nu = tl.load(x_ptr + a, mask=mask)\ntl.store(x_ptr + a, u, mask=mask)",
    ),
    "over a tile's lanes": (
        "f(a + b - 1)\ntl.load(x_ptr + (a[:, None] + b - 1) * c)\ntl.load(x_ptr + (a[None, :] + b - 1) * c)",
        "difference = a + b - 1\nf(difference)\n"
        "tl.load(x_ptr + difference[:, None] * c)\ntl.load(x_ptr + difference[None, :] * c)",
    ),
    "with one index": (
        "f((a[:, None] + b - 1) * c)\ng((a[:, None] + b - 1) * n)",
        "difference = a[:, None] + b - 1\nf(difference * c)\ng(difference * n)",
    ),
    "constants with a type": (
        "f(tl.full((), 0.5, tl.float32).to(tl.bfloat16))\ng(tl.full((), 0.5, tl.float32).to(tl.bfloat16))",
        "half = tl.full((), 0.5, tl.float32).to(tl.bfloat16)\nf(half)\ng(half)",
    ),
    "coordinates": (
        "u = tl.load(x_ptr + (a + b - 1) * stride_x_row, mask=a + b - 1 < n)",
        "x_row = a + b - 1\nu = tl.load(x_ptr + x_row * stride_x_row, mask=x_row < n)",
    ),
}


@pytest.mark.parametrize(("program", "wanted"), NAMED.values(), ids=NAMED)
def test_repeated_expressions_get_a_name(program: str, wanted: str) -> None:
    assert _named(program) == wanted


def test_the_authors_name_comes_first() -> None:
    vocabulary = _vocabulary()
    vocabulary.meanings = {"a * b + c": "middle"}
    named = repetition.without_repetition(lines("u = f(a * b + c)\nv = g(a * b + c)"), vocabulary)
    assert text(named) == "middle = a * b + c\nu = f(middle)\nv = g(middle)"


# -------------------------------------------------------------------------------------------------------------- copies
COPIES = {
    "handed on at the end": (
        "for i in range(n):\n    new = a * b\n    f(new)\n    a = new",
        "for i in range(n):\n    a = a * b\n    f(a)",
    ),
    "still needed": (
        "for i in range(n):\n    new = a * b\n    f(a)\n    a = new",
        "for i in range(n):\n    new = a * b\n    f(a)\n    a = new",
    ),
    "an inner loop's carry": (
        "for i in range(n):\n    inner = a\n    for j in range(n):\n        inner = inner + j\n    a = inner",
        "for i in range(n):\n    for j in range(n):\n        a = a + j",
    ),
    "an inner loop's carry beside its source": (
        "for i in range(n):\n    inner = a\n    for j in range(n):\n        inner = inner + a\n    a = inner",
        "for i in range(n):\n    inner = a\n    for j in range(n):\n        inner = inner + a\n    a = inner",
    ),
    "a value needed no more": (
        "for i in range(n):\n    a = f(i)\n    b = a\n    for j in range(n):\n        b = b + j\n    g(b)",
        "for i in range(n):\n    a = f(i)\n    for j in range(n):\n        a = a + j\n    g(a)",
    ),
    "a value from before the loop": (
        "a = f(n)\nfor i in range(n):\n    b = a\n    for j in range(n):\n        b = b + j\n    g(b)",
        "a = f(n)\nfor i in range(n):\n    b = a\n    for j in range(n):\n        b = b + j\n    g(b)",
    ),
    "arguments by keyword": (
        "other = f(a)\na = other\ntl.load(x_ptr, other=a)",
        "a = f(a)\ntl.load(x_ptr, other=a)",
    ),
    "swapped": ("t = a\na = b\nb = t", "t = a\na = b\nb = t"),
}


@pytest.mark.parametrize(("program", "wanted"), COPIES.values(), ids=COPIES)
def test_copies(program: str, wanted: str) -> None:
    assert text(copies.without_copies(lines(program))) == wanted


# --------------------------------------------------------------------------------------------------------- single uses
SINGLE = {
    "a mask": ("m = a < b\ntl.store(x_ptr, c, mask=m)", "tl.store(x_ptr, c, mask=a < b)"),
    "a mask with an index": (
        "m = a < b\ntl.store(x_ptr, c, mask=m[:, None] & d)",
        "tl.store(x_ptr, c, mask=(a[:, None] < b) & d)",
    ),
    "a product in a power of brackets": ("t = a + b\nf(t * c)", "f((a + b) * c)"),
    "a difference on the right": ("t = a - b\nf(c - t)", "f(c - (a - b))"),
    "a method's receiver": ("t = a + b\nf(t.to(tl.float32))", "f((a + b).to(tl.float32))"),
    "a negated negation": ("t = -a\nf(-t)", "f(-(-a))"),
    "two uses": ("t = a + b\nf(t * t)", "t = a + b\nf(t * t)"),
    "rebound": ("t = a + b\na = f(1)\nf(t * a * a)", "t = a + b\na = f(1)\nf(t * a * a)"),
    "in a loop": ("t = a + b\nfor i in range(n):\n    f(t, i)", "t = a + b\nfor i in range(n):\n    f(t, i)"),
    "a range": ("t = a + b\nfor i in range(t):\n    f(i)", "for i in range(a + b):\n    f(i)"),
    "a while's test": ("t = a + b\nwhile t > n:\n    n = n + 1", "t = a + b\nwhile t > n:\n    n = n + 1"),
    "not used": ("t = a + b\nf(a)", "f(a)"),
    "a load": ("t = tl.load(x_ptr)\nc += t", "c += tl.load(x_ptr)"),
    "a load before a store": (
        "t = tl.load(x_ptr)\ntl.store(x_ptr, 1)\nc += t",
        "t = tl.load(x_ptr)\ntl.store(x_ptr, 1)\nc += t",
    ),
    "a load deep inside": ("t = tl.load(x_ptr)\nf(g(t + 1) * b)", "t = tl.load(x_ptr)\nf(g(t + 1) * b)"),
    "a sum that is stored": ("t = tl.sum(a, axis=0)\ntl.store(x_ptr, t)", "tl.store(x_ptr, tl.sum(a, axis=0))"),
    "a carry": ("t = a\nfor i in range(n):\n    t = t + i\nf(t)", "t = a\nfor i in range(n):\n    t = t + i\nf(t)"),
    "a loop's variable": ("for i in range(n):\n    f(a)", "for _ in range(n):\n    f(a)"),
    "a volatile load": ("t = tl.load(x_ptr, volatile=True)\nf(a)", "t = tl.load(x_ptr, volatile=True)\nf(a)"),
    "the author's": ("kept = a + b\nf(kept)", "kept = a + b\nf(kept)"),
}


@pytest.mark.parametrize(("program", "wanted"), SINGLE.values(), ids=SINGLE)
def test_single_uses(program: str, wanted: str) -> None:
    assert text(single_use.without_single_uses(lines(program), _vocabulary("kept"))) == wanted


# -------------------------------------------------------------------------------------------------------- names again
REUSED = {
    "loops side by side": (
        "for i in range(n):\n    m = i\n    f(m)\nfor i in range(n):\n    m_2 = i\n    f(m_2)",
        "for i in range(n):\n    m = i\n    f(m)\nfor i in range(n):\n    m = i\n    f(m)",
    ),
    "after a loop": (
        "for i in range(n):\n    m = i\n    f(m)\nm_2 = n\nf(m_2)",
        "for i in range(n):\n    m = i\n    f(m)\nm = n\nf(m)",
    ),
    "loops inside each other": (
        "for i in range(n):\n    m = i\n    for j in range(n):\n        m_2 = j\n        f(m_2)\n    f(m)",
        "for i in range(n):\n    m = i\n    for j in range(n):\n        m_2 = j\n        f(m_2)\n    f(m)",
    ),
    "before a loop": (
        "m_2 = n\nf(m_2)\nfor i in range(n):\n    m = i\n    f(m)",
        "m_2 = n\nf(m_2)\nfor i in range(n):\n    m = i\n    f(m)",
    ),
    "carried": (
        "for i in range(n):\n    m = i\n    f(m)\nm_2 = 0\nfor i in range(n):\n    m_2 = m_2 + i\nf(m_2)",
        "for i in range(n):\n    m = i\n    f(m)\nm_2 = 0\nfor i in range(n):\n    m_2 = m_2 + i\nf(m_2)",
    ),
    "a parameter": ("for i in range(n):\n    m_2 = i\n    f(m_2, m)", "for i in range(n):\n    m_2 = i\n    f(m_2, m)"),
}


@pytest.mark.parametrize(("program", "wanted"), REUSED.values(), ids=REUSED)
def test_names_reused(program: str, wanted: str) -> None:
    assert text(reused_names.with_names_reused(lines(program))) == wanted


# -------------------------------------------------------------------------------------------------------- source order
def test_source_order() -> None:
    given = [
        Line(0, "m = n < 4"),
        Line(0, "c = a * b", place=7),
        Line(0, "acc = tl.zeros((4,), tl.float32)"),
        Line(0, "x_ptrs = x_ptr + n"),
        Line(0, "x = tl.load(x_ptrs)", place=3),
        Line(0, "d = c + 1", place=2),
        Line(0, "e = n + 1", place=5),
        Line(0, "y = tl.load(x_ptr + d)", place=1),
        Line(0, "tl.store(x_ptrs, x + y)", place=1),
        Line(0, "f = n", place=9),
    ]
    assert text(source_order.in_source_order(given)) == text(
        lines("""
    m = n < 4
    x_ptrs = x_ptr + n
    x = tl.load(x_ptrs)
    e = n + 1
    c = a * b
    d = c + 1
    y = tl.load(x_ptr + d)
    acc = tl.zeros((4,), tl.float32)
    tl.store(x_ptrs, x + y)
    f = n
    """)
    ).replace("    ", "")


# ------------------------------------------------------------------------------------------------- loads, long lines
def test_conversions_move_to_the_load() -> None:
    given = "x = tl.load(x_ptr)\nf(x.to(tl.float32), x[:, None].to(tl.float32))"
    wanted = "x = tl.load(x_ptr).to(tl.float32)\nf(x, x[:, None])"
    assert text(loaded_values.converted_at_load(lines(given))) == wanted


@pytest.mark.parametrize("use", ["f(x.to(tl.float32), x)", "f(x.to(tl.float32), x.to(tl.int32))", "f(x)"])
def test_different_conversions_stay(use: str) -> None:
    given = f"x = tl.load(x_ptr)\n{use}"
    assert text(loaded_values.converted_at_load(lines(given))) == given


def test_a_long_load_names_its_mask() -> None:
    pointers = "x_ptr + " + " + ".join(f"a * stride_x_{i}" for i in range(4))
    given = f"y = tl.load({pointers}, mask=(a < b) & (c < n), other=0.0)"
    short = long_lines.shortened(lines(given), _vocabulary())
    assert text(short) == "x_mask = (a < b) & (c < n)\n" + given.replace("(a < b) & (c < n)", "x_mask")


def test_a_long_store_names_what_it_must() -> None:
    pointers = "x_ptr + " + " + ".join(f"row * stride_x_{i}" for i in range(5))
    short = long_lines.shortened(lines(f"tl.store({pointers}, {'a * b + ' * 5}c, mask=a < b)"), _vocabulary())
    assert text(short) == (
        f"x_ptrs = {pointers}\nx = {'a * b + ' * 5}c\nx_mask = a < b\ntl.store(x_ptrs, x, mask=x_mask)"
    )


def test_a_line_that_nothing_shortens_stays() -> None:
    given = f"tl.store(x_ptr, {'a' * 130})"
    assert text(long_lines.shortened(lines(given), _vocabulary())) == given


# ---------------------------------------------------------------------------------------------------------- properties
PASSES: dict[str, Pass] = {
    "repetition": lambda program: repetition.without_repetition(program, _random_vocabulary(program)),
    "copies": copies.without_copies,
    "single uses": lambda program: single_use.without_single_uses(program, _random_vocabulary(program)),
    "loads": loaded_values.converted_at_load,
    "names again": reused_names.with_names_reused,
    "source order": lambda program: source_order.in_source_order(_placed(program)),
    "all": lambda program: lines(_text_of(finished(_placed(program), _random_vocabulary(program)))),
}


def _text_of(laid_out: Sequence[tuple[str, Origins]]) -> str:
    return "\n".join(text for text, _ in laid_out)


def _placed(program: Sequence[Line]) -> list[Line]:
    """Every third line from a line of the author's, in another order."""
    return [replace(line, place=0 if n % 3 else 1 + n * 7 % 11) for n, line in enumerate(program)]


def _random_vocabulary(program: Sequence[Line]) -> Vocabulary:
    vocabulary = _vocabulary()
    vocabulary.taken |= {name for line in program for name in re.findall(r"\w+", line.text)}
    return vocabulary


@pytest.mark.parametrize("name", PASSES)
def test_random_programs_do_the_same(name: str) -> None:
    changed = 0
    for seed in range(400):
        program = Generator(seed).program()
        result = PASSES[name](program)
        assert run(result) == run(program), f"seed {seed}\n{text(program)}\n---\n{text(result)}"
        changed += result != program
    assert changed >= (50 if name not in ("loads", "names again") else 0)


def test_a_line_comes_from_all_that_it_is_made_of() -> None:
    """A value that moves into the line that uses it brings its origins."""
    load, double, store = (frozenset({("k.py", number)}) for number in (1, 2, 3))
    program = [
        Line(1, "loaded = tl.load(x_ptr + i)", origins=load),
        Line(1, "doubled = loaded * 2", origins=double),
        Line(1, "tl.store(y_ptr + i, doubled)", origins=store),
    ]
    assert finished(program, _vocabulary()) == [
        ("    doubled = tl.load(x_ptr + i) * 2", load | double),
        ("    tl.store(y_ptr + i, doubled)", store),
    ]

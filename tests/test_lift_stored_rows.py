"""Rows that programs or iterations store, whose distance is computed: when their elements are different ones."""

from __future__ import annotations

import textwrap

import pytest

from intentc.lift_verification import verify
from translators.lifting.files import lift_text
from translators.lifting.lift import Lifted

HEAD = """import triton
import triton.language as tl

"""

ROWS_OF_PROGRAMS = """
    @triton.jit
    def block_sums(x_ptr, y_ptr, N, S: tl.constexpr, B: tl.constexpr):
        row, block = tl.program_id(0), tl.program_id(1)
        i = block * B + tl.arange(0, B)
        total = tl.sum(tl.load(x_ptr + row * N + i, mask=i < N, other=0.0))
        tl.store(y_ptr + row * tl.cdiv(N, S) + block, total)
"""

EVERY_SO_OFTEN = """
    @triton.jit
    def states(x_ptr, y_ptr, T, D: tl.constexpr, B: tl.constexpr, S: tl.constexpr):
        row, d = tl.program_id(0), tl.arange(0, D)
        state = tl.zeros([D], dtype=tl.float32)
        for t in range(0, tl.cdiv(T, B)):
            if t % (S // B) == 0:
                tl.store(y_ptr + (row * tl.cdiv(T, S) + t // (S // B)) * D + d, state)
            i = t * B + tl.arange(0, B)
            x = tl.load(x_ptr + (row * T + i[:, None]) * D + d[None, :], mask=i[:, None] < T, other=0.0)
            state += tl.sum(x, 0)
"""


def lifted(text: str) -> Lifted:
    (kernel,) = lift_text(HEAD + textwrap.dedent(text), "rows.py").kernels
    return kernel


@pytest.mark.parametrize("text", [ROWS_OF_PROGRAMS, EVERY_SO_OFTEN], ids=["programs", "rounds"])
def test_rows_of_programs_are_apart(text: str) -> None:
    kernel = lifted(text)
    assert kernel.source is not None, kernel.reason
    assert any("programs store no elements of each other" in note.text for note in kernel.notes)
    found = verify(HEAD + textwrap.dedent(text), "rows.py", kernel, 3)
    assert found.holds, str(found)


IN_ORDER = (
    ROWS_OF_PROGRAMS.replace("row, block = tl.program_id(0), tl.program_id(1)", "block = tl.program_id(0)")
    .replace(
        """
        i = block""",
        """
        for row in range(0, S):
          i = block""",
    )
    .replace("        total", "          total")
    .replace("        tl.store", "          tl.store")
)


@pytest.mark.parametrize(
    "text",
    [
        IN_ORDER,  # the iterations of one program store in order: a later one wins where rows overlap
        EVERY_SO_OFTEN.replace("if t % (S // B) == 0:", "if t % (S // B) < 2:"),  # two rounds store one row
        EVERY_SO_OFTEN.replace("if t % (S // B) == 0:", "if t % (S // B) == d_of(t):").replace("d_of(t)", "t // 7"),
    ],
    ids=["in order", "twice", "varying"],
)
def test_rows_that_one_program_stores_again_are_refused(text: str) -> None:
    kernel = lifted(text)
    assert kernel.source is None
    assert "may overlap" in (kernel.reason or "") or "may meet" in (kernel.reason or "")


FOLLOWING = """
    @triton.jit
    def following(x, out, T, S: tl.constexpr):
        row = tl.program_id(0)
        total = 0.0
        for i in range(0, tl.cdiv(T, S){iterations}):
            total += tl.load(x + row * T + i)
            tl.store(out + row * tl.cdiv(T, S) + {place}, total)
"""


@pytest.mark.parametrize("iterations, place", [("", "i"), (" - 1", "i"), (" - 1", "i + 1")])
def test_a_loop_stays_within_its_rows(iterations: str, place: str) -> None:
    text = FOLLOWING.format(iterations=iterations, place=place)
    kernel = lifted(text)
    assert kernel.source is not None, kernel.reason
    found = verify(HEAD + textwrap.dedent(text), "rows.py", kernel, 3)
    assert found.holds, str(found)


@pytest.mark.parametrize(
    "iterations, place",
    [
        (" - 1", "i + 2"),  # the last place is the next row's first, which the next program does not store
        ("", "i + 1"),
        (" + 1", "i"),  # whatever the sizes are, two programs store one element
        ("", "2 * i"),  # rows that overlap in what they leave out
    ],
)
def test_rows_that_no_launch_keeps_apart_are_refused(iterations: str, place: str) -> None:
    kernel = lifted(FOLLOWING.format(iterations=iterations, place=place))
    assert kernel.source is None
    assert "may overlap" in (kernel.reason or "")


ROW_OF_A_PROGRAM = """
    @triton.jit
    def rows(x_ptr, y_ptr, z_ptr, R, ROWS: tl.constexpr, B: tl.constexpr):
        lanes = tl.arange(0, B)
        row = tl.program_id(0)
        x = tl.load(x_ptr + row * B + lanes)
        tl.store(z_ptr + row * R + lanes, x, mask=lanes < R)
        tl.store(y_ptr + row * R + lanes, x)

    def launch(x, y, z, R):
        rows[(triton.cdiv(x.shape[0], 4),)](x, y, z, R, ROWS=4, B=triton.next_power_of_2(R))
"""


def test_a_block_that_a_program_stores_is_a_row() -> None:
    kernel = lifted(ROW_OF_A_PROGRAM)
    assert kernel.source is not None, kernel.reason
    assert any(note.text == "B is at most R: programs store no elements of each other" for note in kernel.notes)


def test_a_block_that_iterations_store_may_be_longer_than_a_row() -> None:
    """One program stores its rows in order, so that the end of a long block is stored again, without a race."""
    text = ROW_OF_A_PROGRAM.replace(
        "row = tl.program_id(0)", "first = tl.program_id(0) * ROWS\n        for i in range(ROWS):"
    )
    before, inside = text.split("for i in range(ROWS):")
    body, launch = inside.split("\n\n", 1)
    text = (
        before
        + "for i in range(ROWS):\n            row = first + i"
        + body.replace("\n    ", "\n        ")
        + "\n\n"
        + launch
    )
    kernel = lifted(text)
    assert kernel.source is None
    assert "stored rows of 'y_ptr' may overlap" in (kernel.reason or "")

"""Lifting of loops whose iterations read what earlier ones stored: they stay in order."""

from __future__ import annotations

import textwrap

import pytest

from intentc.lift_verification import verify
from tests.test_lift_reading import HEADER
from tests.test_lift_recurrences import lines_of
from translators.lifting.files import lift_text
from translators.lifting.lift import Lifted

COLUMNS = """
@triton.jit
def kernel(x_ptr, y_ptr, n, m, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
{body}


def call(x, y):
    n, m = x.shape
    kernel[(triton.cdiv(m, 16),)](x, y, n, m, BLOCK=16)
"""
SOLVED = """
for i in range(n):
    rest = tl.load(x_ptr + i * m + c, mask=c < m)
    for k in range({last}):
        rest -= tl.load(y_ptr + i * m + k) * tl.load(x_ptr + k * m + {column}, mask=c < m)
    tl.store(x_ptr + i * m + c, rest, mask=c < m)
"""
MOVED = """
for i in range(n - 1):
    v = tl.load(x_ptr + {source} * m + c, mask=c < m)
    tl.store(x_ptr + {target} * m + c, v, mask=c < m)
"""
TWICE = """
for i in range(1, n):
    v = tl.load(x_ptr + i * m + c, mask=c < m)
    tl.store(x_ptr + i * m + c, v + 1.0, mask=c < m)
    tl.debug_barrier()
    w = tl.load(x_ptr + {row} * m + c, mask=c < m)
    tl.store(y_ptr + i * m + c, w, mask=c < m)
"""


def source_of(body: str) -> str:
    return HEADER + COLUMNS.format(body=textwrap.indent(textwrap.dedent(body).strip("\n"), "    "))


def lifted(body: str) -> Lifted:
    (made,) = lift_text(source_of(body), "kernel.py").kernels
    return made


READS = {
    "what earlier iterations stored": (
        SOLVED.format(last="i", column="c"),
        [
            "for i in range(n):",
            "members = I.domain(0, i)",
            "x_values = x[members, m_domain]",
            "x_values_2 = x[i, m_domain]",
            "x_sum = I.reduce.sum(-(y[i, members][:, None] * x_values), axis=0)",
            "x[i, m_domain] = x_values_2 + x_sum",
        ],
    ),
    "what the next iteration stores": (
        MOVED.format(source="(i + 1)", target="i"),
        ["for i in range(I.maximum(0, n - 1)):", "x_values = x[i + 1, m_domain]", "x[i, m_domain] = x_values"],
    ),
    "what the last iteration stored": (
        MOVED.format(source="i", target="(i + 1)"),
        ["for i in range(I.maximum(0, n - 1)):", "x_values = x[i, m_domain]", "x[i + 1, m_domain] = x_values"],
    ),
}


@pytest.mark.parametrize("case", READS.values(), ids=READS)
def test_iterations_stay_in_order(case: tuple[str, list[str]]) -> None:
    body, lines = case
    made = lifted(body)
    assert made.source is not None, made.reason
    assert lines_of(made)[-len(lines) :] == lines
    found = verify(source_of(body), "kernel.py", made, calls=3)
    assert found.holds, str(found)


REFUSED = {
    "columns that other programs store": SOLVED.format(last="i", column="c + 1"),
    "columns of the next block": SOLVED.format(last="i", column="c + BLOCK"),
    "what was stored before in the same iteration": TWICE.format(row="i"),
    "what the iteration before stored, after a store": TWICE.format(row="(i - 1)"),
    "a value that is stored once for all iterations": """
        for i in range(n):
            v = tl.load(x_ptr + c, mask=c < m)
            tl.store(x_ptr + c, v * 2.0, mask=c < m)
            tl.store(y_ptr + i * m + c, v, mask=c < m)
    """,
    "a row that a loop within stores": """
        for i in range(1, n):
            for k in range(i):
                v = tl.load(x_ptr + k * m + c, mask=c < m)
                tl.store(x_ptr + (k + 1) * m + c, v, mask=c < m)
    """,
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_what_no_order_of_iterations_explains_is_refused(body: str) -> None:
    made = lifted(body)
    assert made.source is None, made.source


def test_programs_are_told_by_quotient_and_remainder() -> None:
    """Every load of a program comes before its stores, and its number is made of two coordinates."""
    text = HEADER + textwrap.dedent(
        """
        @triton.jit
        def kernel(x_ptr, y_ptr, n, m, sx, BLOCK: tl.constexpr):
            blocks = tl.cdiv(m, BLOCK)
            row, c = tl.program_id(0) // blocks, tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
            total = tl.zeros((BLOCK,), tl.float32)
            for k in range(3):
                total += tl.load(x_ptr + {row} * sx + c * 3 + k, mask=c < m)
            tl.store(x_ptr + row * sx + c * 3, total, mask=c < m)


        def call(x, y):
            n, m = x.shape[0], x.shape[1] // 3
            kernel[(n * triton.cdiv(m, 16),)](x, y, n, m, x.stride(0), BLOCK=16)
        """
    )
    (made,) = lift_text(text.format(row="row"), "kernel.py").kernels
    assert made.source is not None, made.reason
    for row in ("(row // 2)", "(n - 1 - row)"):
        (other,) = lift_text(text.format(row=row), "kernel.py").kernels
        assert other.source is None


STATE = f"""{HEADER}
@triton.jit
def kernel(x_ptr, s_ptr, y_ptr, T, D, E, sb, sd, BLOCK: tl.constexpr):
    b, e = tl.program_id(0) // E, tl.program_id(0) % E
    d = tl.arange(0, BLOCK)
    places = s_ptr + b * sb + d * sd + e
    held = tl.load(places, mask=d < D, other=0.0)
    for t in range(T):
        x = tl.load(x_ptr + (b * T + t) * D + d, mask=d < D, other=0.0)
        held = held * 0.5 + x * tl.sum(x * held, axis=0)
        tl.store(y_ptr + (b * T + t) * E + e, tl.sum(x * held, axis=0))
    tl.store(places, held, mask=d < D)


def call(x, s, y):
    B, T, D = x.shape
    E = y.shape[2]
    kernel[(B * E,)](x, s, y, T, D, E, s.stride(0), s.stride(1), BLOCK=triton.next_power_of_2(D))
"""


def test_a_state_that_is_read_as_a_whole_is_stored_as_a_whole() -> None:
    """Other programs have other columns, which quotient and remainder of their number tell."""
    (made,) = lift_text(STATE, "kernel.py").kernels
    assert made.source is not None, made.reason
    assert lines_of(made)[-1].strip().startswith("s[") and "= held" in lines_of(made)[-1]
    found = verify(STATE, "kernel.py", made, calls=3)
    assert found.holds, str(found)
    (other,) = lift_text(STATE.replace("% E\n", "% E // 2\n"), "kernel.py").kernels
    assert other.source is None

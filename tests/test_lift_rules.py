"""Rules of lifting: a lifted kernel stores what the original stores, with memory as a random function."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.test_lift_reading import CORPUS, HEADER, body
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Symbol
from translators.intent_source.write import write_file
from translators.lifting.atomics import collected
from translators.lifting.carries import close
from translators.lifting.context import Context, atoms_of
from translators.lifting.evaluation import Evaluator, agree, stored_by_effects, stored_by_sinks
from translators.lifting.files import lift_text
from translators.lifting.rules import normalised
from translators.lifting.sinks import Ledger, Sink
from translators.pipeline import check_text
from translators.triton_source.read.kernels import Known, ReadKernel, read_kernel
from translators.triton_source.read.source import read_file

BLOCKS = frozenset(
    (
        *("BLOCK", "BLOCK_SIZE", "B", "ROWS", "BLOCK_M", "BLOCK_N", "BLOCK_K"),
        *("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "TILE", "D", "CHUNK", "BLOCK_V"),
    )
)
SIZES = {
    **dict.fromkeys(BLOCKS, 4), "n": 7, "m": 3, "M": 3, "N": 4, "K": 6, "numel": 8, "n_elements": 7, "n_cols": 3,
    "stride": 5, "row_stride": 11, "half": 4, "programs_0": 2, "programs_1": 1, "programs_2": 2,
    "stride_am": 11, "stride_ak": 1, "stride_bk": 7, "stride_bn": 1,
    "stride_cm": 13, "stride_cn": 2, "stride_xm": 9, "stride_xn": 2, "stride_om": 7, "stride_on": 1, "stride_x0": 9,
    "stride_x1": 2, "stride_y0": 7, "stride_y1": 1, "rows": 2, "cols": 4, "input_row_stride": 6, "output_row_stride": 5,
    "n_ids": 5, "dim": 4, "parts": 3, "n_classes": 6, "count": 7, "W": 2, "R": 2,
    "TILE": 4, "H": 2, "L": 5, "D": 4, "T": 5, "CHUNK": 4,
    "BLOCK_V": 4, "DK": 3, "DV": 3, "ignored": 3, "stride_page": 13, "stride_row": 5,
    "HV": 4, "channels": 6, "groups": 2, "stride_n": 29, "stride_c": 4, "seed": 5,
    "n_rows": 5, "x_stride": 6, "y_stride": 7,
}  # fmt: skip


def normal_form(kernel: ReadKernel) -> tuple[list[Sink], Context]:
    facts = Facts()
    for name in BLOCKS:
        facts = facts.with_bounds(Symbol(name), low=1)
    context = Context(kernel.arena, facts, Ledger(), BLOCKS)
    sinks = [collected(kernel.arena, context.ledger, sink) for sink in close(kernel.arena, kernel.effects)]
    return [normalised(context, sink) for sink in sinks], context


def same(kernel: ReadKernel, **sizes: int) -> bool:
    evaluator = Evaluator(integers={"ids_ptr": 3})
    sinks, context = normal_form(kernel)
    given = {**SIZES, **sizes}
    for name, (divisor, count) in context.wholes.items():  # launches have whole groups of programs
        point: dict[Atom, int] = {Symbol(size): value for size, value in given.items()}
        given |= {repr(count): 2, name: 2 * evaluator.polynomial(divisor, point)}
    return agree(stored_by_effects(kernel.effects, given, evaluator), stored_by_sinks(sinks, given, evaluator))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_normal_form_stores_the_same(path: Path) -> None:
    file = read_file(path.read_text(), path.name)
    for function in file.kernels:
        kernel = read_kernel(file, function, Known())
        assert same(kernel, programs_1=3), function.name


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_corpus_is_lifted(path: Path) -> None:
    lifted = lift_text(path.read_text(), path.name)
    for kernel in lifted.kernels:
        assert kernel.source is not None, kernel.reason
        text = write_file([kernel.source], "A test.")
        assert not kernel.groups or kernel.status == "lifted with groups"
        if not kernel.groups:
            assert check_text(text, "lifted.py").program is not None, text


def physical(kernel: ReadKernel) -> set[str]:
    """Block sizes and program counts that the normal form still mentions."""
    sinks, _ = normal_form(kernel)
    atoms = atoms_of(*(root for sink in sinks for root in sink.roots))
    atoms |= {atom for sink in sinks for axis in sink.axes for atom in axis.end.atoms()}
    return {atom.name for atom in atoms if isinstance(atom, Symbol) and atom.name in {*BLOCKS, "programs_0"}}


VANISH = {
    "blocks of programs": """
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
    """,
    "one resident row": """
        i = tl.arange(0, BLOCK)
        v = tl.load(x_ptr + i, mask=i < n, other=0.0)
        tl.store(y_ptr + i, v / tl.sum(v, 0), mask=i < n)
    """,
    "a loop of stores": """
        for start in range(0, n, BLOCK):
            i = start + tl.arange(0, BLOCK)
            tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)
    """,
}


@pytest.mark.parametrize("lines", VANISH.values(), ids=VANISH)
def test_physical_facts_vanish(lines: str) -> None:
    kernel = body(lines)
    sizes = {"n": 4} if "for" not in lines and "program" not in lines else {}
    assert same(kernel, **sizes)
    assert physical(kernel) <= {"programs_0"}


STAY = {
    "padding that counts: (x - mean) squared of masked lanes": """
        i = tl.arange(0, BLOCK)
        v = tl.load(x_ptr + i, mask=i < n, other=0.0)
        d = v - tl.sum(v, 0) / n
        tl.store(y_ptr, tl.sum(d * d, 0))
    """,
    "a maximum over zero padding": """
        i = tl.arange(0, BLOCK)
        tl.store(y_ptr, tl.max(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))
    """,
    "a dropped tail": """
        s = 0.0
        for k in range(n // BLOCK):
            s += tl.sum(tl.load(x_ptr + k * BLOCK + tl.arange(0, BLOCK)), 0)
        tl.store(y_ptr, s)
    """,
    "a block maximum is no maximum": """
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x_ptr + i, mask=i < n, other=-float("inf"))
        tl.store(y_ptr + i, v - tl.max(v, 0), mask=i < n)
    """,
    "a lane that is a number": """
        i = tl.arange(0, BLOCK)
        p = tl.program_id(0)
        tl.store(y_ptr + p * BLOCK + i, tl.load(x_ptr + p * BLOCK + i) * i)
    """,
    "a step that is not the block": """
        s = 0.0
        for start in range(0, n, 3):
            i = start + tl.arange(0, BLOCK)
            s += tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0)
        tl.store(y_ptr, s)
    """,
}


@pytest.mark.parametrize("lines", STAY.values(), ids=STAY)
def test_physical_facts_that_count_stay(lines: str) -> None:
    kernel = body(lines)
    resident = "in range" not in lines and "program_id" not in lines
    assert all(same(kernel, n=n) for n in ((1, 3, 4) if resident else (3, 7, 8)))
    assert physical(kernel)


REFUSED = {
    "a race that order hides": "i = tl.program_id(0)\ntl.store(x_ptr + i, tl.load(x_ptr + i + 1))",
    "different programs store different values": "tl.store(y_ptr, tl.load(x_ptr + tl.program_id(0)))",
    "overlapping stores": """
        i = tl.program_id(0) * 3 + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(x_ptr + i))
    """,
    "two stores that alternate in a loop": """
        for k in range(n):
            tl.store(y_ptr + k, 1.0)
            tl.store(y_ptr + k + 1, 2.0)
    """,
    "a store that needs an iteration": """
        for k in range(n):
            tl.store(y_ptr, 1.0)
    """,
    "rows that overlap": """
        i = tl.arange(0, BLOCK)
        tl.store(y_ptr + tl.program_id(0) * n + i, 1.0, mask=i <= n)
    """,
    "a load of another program's row": """
        i = tl.arange(0, BLOCK)
        p = tl.program_id(0)
        tl.store(x_ptr + p * n + i, tl.load(x_ptr + p * n + n + i, mask=i < n), mask=i < n)
    """,
    "a sum over what every program stores": """
        i = tl.arange(0, BLOCK)
        tl.store(x_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))
    """,
    "conditions that tell lanes, and not programs": """
        i = tl.arange(0, BLOCK)
        p = tl.program_id(0) * n
        v = tl.load(x_ptr + p + i + 3, mask=i < 5)
        tl.store(x_ptr + p + i, 1.0, mask=i >= 5)
        tl.store(y_ptr + p + i, v, mask=i < 5)
    """,
    "a load after the store, by other lanes": """
        i = tl.arange(0, BLOCK)
        p = tl.program_id(0) * n
        tl.store(x_ptr + p + i, 1.0, mask=i >= 5)
        tl.store(y_ptr + p + i, tl.load(x_ptr + p + i + 3, mask=i < 5), mask=i < 5)
    """,
    "a load after the store": """
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(x_ptr + i))
        tl.store(x_ptr + i, tl.load(y_ptr + i))
    """,
}


@pytest.mark.parametrize("lines", REFUSED.values(), ids=REFUSED)
def test_what_is_not_one_program_is_refused(lines: str) -> None:
    heading = f"{HEADER}@triton.jit\ndef kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\n"
    (kernel,) = lift_text(heading + textwrap.indent(textwrap.dedent(lines), "    "), "kernel.py").kernels
    assert kernel.status == "unsupported" and kernel.reason

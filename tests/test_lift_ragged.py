"""Lifting of rows that memory places: pages, segments that are stored, and groups padded to a block."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from intentc.lift_verification import verify
from tests.test_lift_reading import HEADER
from tests.test_lift_recurrences import kernel_of, lines_of
from translators.lifting.files import lift_text
from translators.lifting.lift import Lifted

TEXT = (Path(__file__).parent / "lift" / "ragged.py").read_text()
READS = {
    "paged_rows_kernel": [
        "for m in I.parallel(I.domain(0, M)):",
        "ids_value = I.cast(ids[m], I.index)",
        "if 0 <= ids_value:",
        "pages[ids_value // rows, ids_value % rows, n] = x[m, n]",
    ],
    "scaled_segments_kernel": [
        "for r in I.parallel(I.domain(0, R)):",
        "members = I.domain(I.cast(ids[r], I.index), I.cast(ids[r + 1], I.index))",
        "y[members, n] = x[members, n] * scale[r, n]",
    ],
    "centred_groups_kernel": [
        "members = I.domain(dim * count_2, I.minimum(N, dim * count_2 + dim))",
        "x_values = x[m, members, n]",
        "x_sum = I.reduce.sum(x_values, axis=(0, 1))",
        "y[m, members, n] = x_values - x_sum / I.cast(N * dim, I.f32)",
    ],
}
RESTS_ON = {
    "paged_rows_kernel": "elements of ids that select what is stored are all different",
    "scaled_segments_kernel": "segments are parts of M rows, which every launch covers",
    "centred_groups_kernel": "BLOCK is at most dim: programs store no elements of each other",
}


@pytest.mark.parametrize("kernel", READS)
def test_memory_places_rows(kernel: str) -> None:
    made = kernel_of("ragged", kernel)
    assert made.status == "lifted" and lines_of(made)[-len(READS[kernel]) :] == READS[kernel]
    assert RESTS_ON[kernel] in {note.text for note in made.notes if note.basis == "assumed"}


@pytest.mark.parametrize("kernel", READS)
def test_rows_are_stored_as_the_original_stores_them(kernel: str) -> None:
    found = verify(TEXT, "ragged.py", kernel_of("ragged", kernel), calls=3)
    assert found.holds, str(found)


SEGMENTS = """
@triton.jit
def kernel(x_ptr, y_ptr, offsets_ptr, n, BLOCK: tl.constexpr):
    begin = tl.load(offsets_ptr + tl.program_id(1))
    end = tl.load(offsets_ptr + tl.program_id(1) + 1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + {store}, tl.load(x_ptr + {load}, mask={mask}), mask={mask})


def call(x, y, offsets):
    kernel[({blocks}, offsets.shape[0] - 1)](x, y, offsets, x.shape[0], BLOCK=16)
"""
WHOLE = {"store": "begin + i", "load": "begin + i", "mask": "i < end - begin", "blocks": "triton.cdiv(x.shape[0], 16)"}
REFUSED = {
    "one block of every segment": {"blocks": "1"},
    "as many blocks as there are segments": {"blocks": "offsets.shape[0]"},
    "segments stored over each other": {"store": "i"},
    "segments stored where they end": {"store": "end + i"},
}


def lift_segments(**changed: str) -> str | None:
    text = HEADER + textwrap.dedent(SEGMENTS.format(**{**WHOLE, **changed}))
    (kernel,) = lift_text(text, "kernel.py").kernels
    return None if kernel.source is None else kernel.source.body[-1].strip()


def test_segments_that_are_covered_are_domains() -> None:
    assert lift_segments() == "y[members] = x[members]"


@pytest.mark.parametrize("changed", REFUSED.values(), ids=REFUSED)
def test_segments_that_may_be_cut_or_meet_are_refused(changed: dict[str, str]) -> None:
    assert lift_segments(**changed) is None


LOOPED = """
@triton.jit
def kernel(x_ptr, y_ptr, offsets_ptr, n, BLOCK: tl.constexpr):
    group = tl.program_id(0)
    begin = tl.load(offsets_ptr + {begin})
    end = tl.load(offsets_ptr + {end})
    for start in range({first}, {last}, BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = {mask}
        tl.store(y_ptr + {store}, tl.load(x_ptr + i, mask=inside) + 1.0, mask=inside)


def call(x, y, offsets):
    kernel[(offsets.shape[0] - 1,)](x, y, offsets, x.shape[0], BLOCK=16)
"""
COVERED = {"begin": "group", "end": "group + 1", "first": "begin", "last": "end", "mask": "i < end", "store": "i"}
UNCOVERED = {
    "segments up to the end of the group after the next": {"end": "group + 2"},
    "segments that end where the one before began": {"end": "group - 1"},
    "segments up to one place": {"end": "0"},
    "segments from one place": {"begin": "0"},
    "one element more than up to the next segment": {"last": "end + 1", "mask": "i <= end"},
    "lanes beyond the segment": {"mask": "i < n"},
    "segments stored over each other": {"store": "i - begin"},
    "every other block": {"last": "end", "mask": "(i < end) & (start % 32 == 0)"},
}


def test_a_loop_over_a_segment_is_a_domain() -> None:
    text = HEADER + textwrap.dedent(LOOPED.format(**COVERED))
    (made,) = lift_text(text, "kernel.py").kernels
    assert lines_of(made)[-2:] == [
        "members = I.domain(I.cast(offsets[group], I.index), I.cast(offsets[group + 1], I.index))",
        "y[members] = x[members] + 1.0",
    ]
    assert "segments do not overlap: their stores would meet" in {note.text for note in made.notes}
    found = verify(text, "kernel.py", made, calls=3)
    assert found.holds, str(found)


@pytest.mark.parametrize("changed", UNCOVERED.values(), ids=UNCOVERED)
def test_loops_over_segments_that_meet_or_have_gaps_are_refused(changed: dict[str, str]) -> None:
    (made,) = lift_text(HEADER + textwrap.dedent(LOOPED.format(**{**COVERED, **changed})), "kernel.py").kernels
    assert made.source is None, made.source


ONE_BY_ONE = """
@triton.jit
def kernel(x_ptr, y_ptr, offsets_ptr, n):
    group = tl.program_id(0)
    begin = tl.load(offsets_ptr + group)
    end = tl.load(offsets_ptr + group + 1)
    for i in range(begin, end{more}):
        tl.store(y_ptr + i, tl.load(x_ptr + i) + 1.0)


def call(x, y, offsets):
    kernel[(offsets.shape[0] - 1,)](x, y, offsets, x.shape[0])
"""


def test_a_loop_over_the_elements_of_a_segment() -> None:
    text = HEADER + textwrap.dedent(ONE_BY_ONE.format(more=""))
    (made,) = lift_text(text, "kernel.py").kernels
    assert lines_of(made)[-2:] == [
        "members = I.domain(I.cast(offsets[group], I.index), I.cast(offsets[group + 1], I.index))",
        "y[members] = x[members] + 1.0",
    ]
    found = verify(text, "kernel.py", made, calls=3)
    assert found.holds, str(found)


def test_a_loop_beyond_a_segment_is_refused() -> None:
    (made,) = lift_text(HEADER + textwrap.dedent(ONE_BY_ONE.format(more=" + 1")), "kernel.py").kernels
    assert made.source is None


GROUPS = """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    place = tl.program_id(0) * n + i
    tl.store(y_ptr + place, tl.load(x_ptr + place))


def call(x, y):
    kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK={block})
"""


@pytest.mark.parametrize(("block", "row"), [("triton.next_power_of_2(x.shape[1])", "n"), ("128", "BLOCK")])
def test_blocks_of_programs_are_rows_only_if_they_hold_one(block: str, row: str) -> None:
    (kernel,) = lift_text(HEADER + textwrap.dedent(GROUPS.format(block=block)), "kernel.py").kernels
    assert kernel.source is not None and f'("M", "{row}")' in dict(kernel.source.parameters)["y"]


CENTRED = f"""{HEADER}
@triton.jit
def centred_rows_kernel(x, ids_ptr, loss, stride, n_cols, ignored, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    chosen = tl.load(ids_ptr + row)
    if chosen == ignored:
        for start in range(0, n_cols, BLOCK):
            c = start + tl.arange(0, BLOCK)
            tl.store(x + row * stride + c, 0.0, mask=c < n_cols)
        return
    before = tl.load(x + row * stride + chosen)
    total = 0.0
    for start in range(0, n_cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x + row * stride + c, mask=c < n_cols, other=0.0), 0)
    for start in range(0, n_cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + c, mask=c < n_cols, other=0.0)
        tl.store(x + row * stride + c, v - total, mask=c < n_cols)
    tl.store(x + row * stride + chosen, before * 2.0)
    tl.store(loss + row, total - before)
"""


def test_an_array_is_read_before_it_is_stored_under_a_condition() -> None:
    (made,) = lift_text(CENTRED, "kernel.py").kernels
    assert lines_of(made)[-9:] == [
        "if ids_value == ignored:",
        "x[m, cols] = 0.0",
        "if ids_value != ignored:",
        "x_value = x[m, ids_value]",
        "x_values = x[m, cols]",
        "x_sum = I.reduce.sum(x_values, axis=0)",
        "x[m, cols] = x_values - x_sum",
        "x[m, ids_value] = x_value * 2.0",
        "loss[m] = x_sum - x_value",
    ]
    found = verify(CENTRED, "kernel.py", made, calls=3)
    assert found.holds, str(found)


COUNTS = HEADER + textwrap.dedent(
    """
    @triton.jit
    def kernel(x_ptr, counts_ptr, T, E: tl.constexpr, tiles, TILE: tl.constexpr, BLOCK: tl.constexpr):
        tile = tl.program_id(0)
        e = tl.arange(0, BLOCK)
        tl.store(counts_ptr + e * tiles + tile, tl.zeros([BLOCK], tl.int32), mask=e < E)
        t = tile * TILE + tl.arange(0, TILE)
        chosen = tl.load(x_ptr + t, mask=t < T, other=0)
        tl.atomic_add(counts_ptr + chosen * {stride} + tile, tl.full([TILE], 1, tl.int32), mask=t < T)
    """
)
CALLS = """
import torch
import triton
from kernels import kernel


def call(x, E, tile):
    tiles = {tiles}
    counts = torch.empty((E, tiles), dtype=torch.int32)
    kernel[(tiles,)](x, counts, x.shape[0], E, tiles, TILE=tile, BLOCK=triton.next_power_of_2(E))
"""


def lift_counts(folder: Path, stride: str, calls: str | None) -> Lifted:
    (folder / "kernels.py").write_text(COUNTS.format(stride=stride))
    if calls is not None:
        (folder / "calls.py").write_text(calls)
    (made,) = lift_text((folder / "kernels.py").read_text(), str(folder / "kernels.py")).kernels
    return made


@pytest.mark.parametrize("tiles", ["triton.cdiv(x.shape[0], tile)", "tiles_of(x) if tile else 1"])
def test_a_program_counts_in_what_it_stored(tmp_path: Path, tiles: str) -> None:
    made = lift_counts(tmp_path, "tiles", CALLS.format(tiles=tiles))
    assert lines_of(made)[-4:] == [
        "for tile in I.parallel(I.domain(0, tiles)):",
        "members = I.domain(TILE * tile, I.minimum(T, TILE * tile + TILE))",
        "counts[e, tile] = 0",
        "I.scatter_reduce(counts, (I.cast(x[members], I.index), tile), 1, I.add)",
    ]
    found = verify((tmp_path / "kernels.py").read_text(), str(tmp_path / "kernels.py"), made, calls=2)
    assert found.holds, str(found)


def test_programs_that_may_count_for_each_other_are_refused(tmp_path: Path) -> None:
    assert lift_counts(tmp_path, "(tiles + 1)", CALLS.format(tiles="triton.cdiv(x.shape[0], tile)")).source is None
    assert (
        lift_counts(tmp_path, "tiles", CALLS.format(tiles="tile").replace("(tiles,)]", "(tiles + 1,)]")).source is None
    )


def test_without_a_launch_nothing_keeps_programs_apart(tmp_path: Path) -> None:
    assert lift_counts(tmp_path, "tiles", None).source is None

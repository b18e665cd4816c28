"""Loops that run until a condition fails become `while` loops of single points, where that is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from round_trips import round_trip

from intent import dtypes as d
from intentc.lift_verification import verify
from tests.test_lift_functions import one
from translators.lifting.files import Wanted, lift_text

LOOPS = (Path(__file__).parent / "lift" / "conditional_loops.py").read_text()
GOLDEN = Path(__file__).parents[1] / "golden"
HALVINGS = "x = tl.where(active, x * 0.5, x)"


@pytest.mark.parametrize("name", ["halvings_kernel", "counted_lanes_kernel", "places_kernel", "whole_kernel"])
def test_points_have_their_own_ends(name: str) -> None:
    kernel = one(LOOPS, kernel=name, dtypes={"y_ptr": d.i64} if name == "places_kernel" else {})
    assert kernel.status == "lifted" and kernel.source is not None
    body = "\n".join(kernel.source.body)
    assert "while " in body and "active" not in body
    found = verify(LOOPS, "conditional_loops.py", kernel, calls=2)
    assert found.holds, (str(found), kernel.source)


def test_a_state_that_addresses_memory_is_a_coordinate() -> None:
    kernel = one(LOOPS, kernel="places_kernel", dtypes={"y_ptr": d.i64})
    assert kernel.source is not None
    body = "\n".join(kernel.source.body)
    assert "low = I.cast(0, I.index)" in body and "I.cast(low, I.i64)" in body


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (HALVINGS, "x = x * 0.5", "goes on at lanes that have come to their end"),
        (HALVINGS, "x = tl.where(x > 0.125, x * 0.5, x)", "goes on at lanes that have come to their end"),
        (HALVINGS, "x = tl.where(active, x - tl.max(x, axis=0), x)", "another lane"),
        (HALVINGS, "x = tl.where(active, x * 0.5, x)\n        tl.store(y_ptr + i, x, mask=inside)", "how often"),
        (
            "count + 1, count)\n        active = inside & (x > 0.25)",
            "count + 1, count)\n        active = x > 0.5",
            "no func",
        ),
        ("    active = inside & (x > 0.25)\n    while", "    active = inside\n    while", "no function"),
        ("count = tl.where(active, count + 1, count)", "count = count + 1", "'count' goes on"),
        (
            "tl.max(active.to(tl.int32), axis=0) != 0",
            "tl.min(active.to(tl.int32), axis=0) != 0",
            "does not vary along it",
        ),
        (
            "tl.max(active.to(tl.int32), axis=0) != 0",
            "tl.sum(active.to(tl.int32), axis=0) > 1",
            "does not vary along it",
        ),
    ],
)
def test_other_loops_are_refused(old: str, new: str, reason: str) -> None:
    assert LOOPS.count(old) >= 1
    text = LOOPS.replace(old, new, 1)
    (kernel,) = lift_text(text, "k.py", Wanted(kernel="halvings_kernel")).kernels
    assert kernel.source is None, kernel.source
    assert any(each in str(kernel.reason) for each in reason.split("|")), kernel.reason


@pytest.mark.parametrize(
    ("stem", "old", "new"),
    [
        ("mandelbrot", "x * x + y * y <= 4.0", "x * x + y * y < 4.0"),
        ("mandelbrot", "count < limit", "count <= limit"),
        ("mandelbrot", "tl.where(active, count + 1, count)", "tl.where(active, count + 2, count)"),
        ("searchsorted", "middle + 1", "middle + 2"),
        ("searchsorted", "edges <= v", "edges < v"),
        ("searchsorted", "low < high", "low + 1 < high"),
    ],
)
def test_other_ends_are_other_programs(stem: str, old: str, new: str) -> None:
    module = (GOLDEN / stem / "module.py").read_text()
    assert old in module
    trip = round_trip(stem, module.replace(old, new))
    assert trip is not None and not trip.answer.startswith("same"), trip
    assert trip.answer == "different" or "no function" in trip.reason


WAITING = """import triton
import triton.language as tl


@triton.jit
def wait(flag_ptr, out_ptr):
    {loop}
    tl.store(out_ptr + tl.program_id(0), 1.0)
"""


@pytest.mark.parametrize(
    "loop",
    [
        "while tl.load(flag_ptr, volatile=True) == 0:\n        pass",
        "while tl.load(flag_ptr) == 0:\n        pass",
        "flag = tl.load(flag_ptr)\n    while flag == 0:\n        flag = tl.load(flag_ptr, volatile=True)",
        "while tl.atomic_cas(flag_ptr, 0, 1) == 1:\n        pass",
    ],
)
def test_waiting_for_other_programs_is_no_loop_that_may_go(loop: str) -> None:
    (kernel,) = lift_text(WAITING.format(loop=loop), "k.py", Wanted()).kernels
    assert kernel.source is None, kernel.source
    assert "the statement 'while" in str(kernel.reason), kernel.reason

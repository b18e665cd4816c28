"""Launches where arguments that can be left out are left out: what the host code computes then, and nothing else."""

from __future__ import annotations

import pytest

from intentc.lift_verification import verify
from translators.lifting.launches import launches
from translators.lifting.lift import Launch, Lifted, lift_kernel
from translators.triton_source.read.source import read_file

TEXT = """
import triton
import triton.language as tl


@triton.heuristics({{"RAGGED": lambda args: args["offsets"] is not None}})
@triton.jit
def kernel(x, y, offsets, T, RAGGED: tl.constexpr, B: tl.constexpr):
    chunk = tl.program_id(0)
    begin = 0
    if RAGGED:
        begin = tl.load(offsets + chunk)
    at = chunk * B + tl.arange(0, B)
    tl.store({stored}, tl.load(x + begin + at, mask=at < T), mask=at < T)


def run(x, y, {parameter}, chunks=None, B=64):
    R, S, T = *x.shape[:2], x.shape[-1]
    NT = triton.cdiv(T, B) if {condition} else len(chunks)

    def grid(meta):
        return (NT,)

    kernel[grid](x, y, {parameter_name}, T, B=B)
"""
ABSENT = {"parameter": "offsets=None", "parameter_name": "offsets", "condition": "offsets is None"}
STORED = "y + at"


def read(stored: str = STORED, **changes: str) -> tuple[str, Launch, Lifted]:
    text = TEXT.format(stored=stored, **{**ABSENT, **changes})
    file = read_file(text, "absence.py")
    launch = launches(file)["kernel"]
    return text, launch, lift_kernel(file, file.kernels[0], launch)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"parameter": "offsets: 'torch.Tensor' | None"},
        {"parameter": "offsets: Optional[int]"},
        {"condition": "not (offsets is not None)"},
        {"condition": "offsets is None and chunks is None"},
    ],
)
def test_the_grid_of_a_launch_without_them(changes: dict[str, str]) -> None:
    text, launch, kernel = read(**changes)
    assert repr(launch.grid) == "((-1 + B + T)//(B),)"
    assert launch.known.constants["RAGGED"] is False
    assert "offsets" in launch.absent
    assert kernel.status == "lifted", kernel.reason
    assert any(note.basis == "host" and "offsets is None" in note.text for note in kernel.notes)
    found = verify(text, "absence.py", kernel, 3)
    assert found.holds, str(found)


@pytest.mark.parametrize(
    "changes",
    [
        {"parameter": "offsets"},
        {"parameter": "offsets=0", "parameter_name": "offsets"},
        {"condition": "offsets is not None"},
        {"condition": "offsets is None or T > 4"},
        {"condition": "T > 4 and offsets is None"},
    ],
)
def test_a_condition_that_is_not_decided_says_nothing_of_the_grid(changes: dict[str, str]) -> None:
    _, launch, _ = read(**changes)
    expected = "((-1 + B + T)//(B),)" if "or" in changes.get("condition", "") else "(M,)"
    assert repr(launch.grid) == expected


def test_a_flag_of_an_argument_that_is_always_given_stays_open() -> None:
    _, launch, _ = read(parameter="offsets")
    assert "RAGGED" not in launch.known.constants
    assert launch.absent == ()


def test_a_kernel_that_needs_the_argument_is_lifted_for_launches_with_it() -> None:
    text = TEXT.format(stored=STORED, **ABSENT).replace("    tl.store(", "    if RAGGED:\n        tl.store(")
    file = read_file(text, "absence.py")
    launch = launches(file)["kernel"]
    kernel = lift_kernel(file, file.kernels[0], launch)
    assert launch.otherwise is not None
    assert launch.otherwise.absent == ()
    assert kernel.source is not None, kernel.reason
    assert any(note.text.startswith("RAGGED is True") for note in kernel.notes)
    assert not any("is None in the launch" in note.text for note in kernel.notes)

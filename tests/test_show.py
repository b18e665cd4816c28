"""Logical programs as text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.reading import in_kernel, read, shown
from translators.intent_source.read import read_program
from translators.logical.show import show, show_kernel

SAMPLES = sorted((Path(__file__).parent.parent / "samples").glob("*.py"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_value_is_defined_before_it_is_used(path: Path) -> None:
    program = read_program(path.read_text(encoding="utf-8"), str(path)).program
    assert program is not None
    for text in show(program).split("\nkernel "):
        defined: set[str] = set()
        for line in text.splitlines()[1:]:
            before, equals, after = line.partition(" = ")
            introduced = set(re.findall(r"(%[\w.]+):", line)) | set(re.findall(r"(?:for|parallel) (.*) in ", line))
            introduced |= set(
                re.findall(r"%[\w.]+", " ".join(re.findall(r"(?:for|parallel|giving) (.*?)(?: in |$)", line)))
            )
            if re.match(r"\s*(?:summarize|combine|apply)\(", line):
                introduced |= set(re.findall(r"%[\w.]+", line))  # a slice's length comes with the slices
            used = set(re.findall(r"%[\w.]+", after if equals and ":" in before else line)) - introduced
            assert used <= defined, line
            defined |= introduced


def test_a_kernel_in_full() -> None:
    kernel = read(in_kernel("total: I.f32 = 0.0\nfor i in range(n2(n)):\n    total += x[i]\no[0] = total") + N2)
    assert show_kernel(kernel) == EXPECTED


N2 = "\n@intent.fn\ndef n2(n):\n    return I.cast(n, I.index)\n"
EXPECTED = """\
kernel kernel(x: In f32[N], n: i32, o: InOut f32[N])
    %n: i32 = parameter n
    %total: f32 = 0.0
    %1: index = cast %n
    %2: index = 0
    for %i in [%2:%1] carrying (%total.3: f32 = %total)
        %4: f32 = read x[%i]
        %total.5: f32 = add %total.3, %4
      next (%total.5)
      giving %total.6
    %7: index = 0
    o[%7] = %total.6
"""


def test_effects() -> None:
    body = """
    b = I.buffer((4,), I.f32, init=0.0)
    b[1] = x[0]
    I.assume_in_bounds(n, x, axis=0)
    old = I.atomic.add(o, index=(0,), value=b[1], order="relaxed")
    I.scatter_reduce(o, index=(1,), value=old, combine=I.add)
    """
    text = shown(in_kernel(body))
    for part in ("buffer b#: f32[4] = ", "b#[", "assume %n in bounds of x axis 0", "= atomic add o[", "scatter add o["):
        assert part in text, text

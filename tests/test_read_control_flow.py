"""Random control flow, read and run on the reference, against the same text run by Python itself.

The programs are scalar: nested `if`, `for`, `while` with `break`, `continue` and `return` anywhere, in kernels and in
helpers, so that every way of leaving a block meets every other.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from tests.reference_programs import CHECKED, HEADER
from translators.intent_source.read import read_program
from translators.logical.reference import run

NAMES = ("a", "b", "c")
PROGRAMS = 40  # in each of the test's cases


class Writer:
    """Writes one program; `text` is Intent, and Python when the decorators and annotations are stripped."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0

    def program(self) -> str:
        helper = ["@intent.fn", "def helper(x, a, b):", "    c = a", *self.block(1, 3, "helper"), "    return c"]
        kernel = [
            "@intent.kernel",
            'def kernel(x: I.In[I.i64, ("N",)], o: I.InOut[I.i64, ("M",)]):',
            "    a = x[0]",
            "    b = x[1]",
            "    c = x[2]",
            *self.block(1, 4, "kernel"),
            *(f"    o[{position}] = o[{position}] + {name}" for position, name in enumerate(NAMES)),
        ]
        return "\n".join([*helper, "", "", *kernel, ""])

    def block(self, depth: int, size: int, place: str, loop: bool = False) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, size)):
            lines += self.statement(depth, place, loop)
        return [
            "    " * depth + line if line.strip() and not line.startswith("    " * depth) else line for line in lines
        ]

    def statement(self, depth: int, place: str, loop: bool) -> Iterator[str]:
        indent, choice = "    " * depth, self.random.random()
        if depth > 4 or choice < 0.35:
            yield indent + self.simple(place)
        elif choice < 0.65:
            yield f"{indent}if {self.condition()}:"
            yield from self.block(depth + 1, 3, place, loop)
            if self.random.random() < 0.5:
                yield f"{indent}else:"
                yield from self.block(depth + 1, 3, place, loop)
        elif choice < 0.75:
            yield from self.loop(depth, place)
        elif loop and choice < 0.9:
            yield indent + self.random.choice(("break", "continue"))
        elif choice < 0.95:
            yield indent + ("return" if place == "kernel" else f"return {self.expression()}")
        else:
            yield indent + self.simple(place)

    def loop(self, depth: int, place: str) -> Iterator[str]:
        indent = "    " * depth
        self.loops += 1
        if self.random.random() < 0.6:
            yield f"{indent}for i{self.loops} in range({self.random.randint(0, 4)}):"
            yield f"{indent}    a = a + x[i{self.loops}]"
        else:
            yield f"{indent}t{self.loops} = x[{self.random.randrange(3)}] & 3"
            yield f"{indent}while {self.random.choice((f't{self.loops} > 0', 'True'))}:"
            yield f"{indent}    t{self.loops} = t{self.loops} - 1"
            yield f"{indent}    if t{self.loops} < -2:"
            yield f"{indent}        break"
        yield from self.block(depth + 1, 3, place, True)

    def simple(self, place: str) -> str:
        name = self.random.choice(NAMES)
        if place == "kernel" and self.random.random() < 0.3:
            return f"o[{self.random.randrange(4)}] += {name}"
        if place == "kernel" and self.random.random() < 0.3:
            return f"{name} = helper(x, {self.random.choice(NAMES)}, {self.random.choice(NAMES)})"
        return f"{name} = {self.expression()}"

    def expression(self) -> str:
        first, second = self.random.choice(NAMES), self.random.choice((*NAMES, "3", "-1", "7"))
        text = f"({first} {self.random.choice(('+', '-', '^', '&'))} {second}) & 1023"
        return f"{text} if {self.condition()} else {second} + 0 * {first}" if self.random.random() < 0.2 else text

    def condition(self) -> str:
        first, second = self.random.choice(NAMES), self.random.choice((*NAMES, "3", "500"))
        text = f"{first} {self.random.choice(('<', '>=', '!='))} {second}"
        if self.random.random() < 0.3:
            return f"{text} {self.random.choice(('and', 'or'))} not x[{self.random.randrange(4)}] > {first}"
        return text


def by_python(text: str, x: np.ndarray, o: np.ndarray) -> np.ndarray:
    same = SimpleNamespace(kernel=lambda function: function, fn=lambda function: function)
    views = {
        name: {(dtype, shape): None for dtype in ("i64",) for shape in (("N",), ("M",))} for name in ("In", "InOut")
    }
    scope: dict[str, object] = {"intent": same, "I": SimpleNamespace(i64="i64", **views)}
    exec(text, scope)
    memory = [int(value) for value in o]
    scope["kernel"]([int(value) for value in x], memory)  # type: ignore[operator]
    return np.array(memory)


@pytest.mark.parametrize("case", range(12))
def test_agrees_with_python(case: int) -> None:
    for seed in range(case * PROGRAMS, (case + 1) * PROGRAMS):
        text = Writer(seed).program()
        result = read_program(HEADER + text, "test.py")
        assert not [each for each in result.diagnostics if each.severity == "error"], (text, result.diagnostics)
        assert result.program is not None
        x, o = np.array([seed % 7, 5, seed % 11, 2, 9], np.int64), np.zeros(4, np.int64)
        expected = by_python(text, x, o.copy())
        run(result.program.kernels[0], {"x": x, "o": o}, None, CHECKED)
        assert np.array_equal(o, expected), text

"""Long statements are folded as the formatter folds them: random ones, compared with ruff itself."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from translators.printing.layout import WIDTH, fold

NAMES = ("x", "mask", "columns_mask", "start_columns", "stride_output_rows", "accumulator", "value_pointers", "b", "n")
OPERATORS = {"+": 5, "-": 5, "*": 6, "//": 6, "&": 3, "|": 2, "<": 1, ">=": 1, "and": 0}
FUNCTIONS = ("tl.where", "tl.load", "_maximum", "tl.sum", "f")
ATOM = 9


class Expressions:
    """Random expressions with only the brackets they need, and their precedence."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def any(self, depth: int) -> str:
        return self._any(depth)[0]

    def _any(self, depth: int) -> tuple[str, int]:
        if depth == 0 or self.random.random() < 0.15:
            return self.random.choice(NAMES), ATOM
        kinds = [self._operation] * 4 + [self._call] * 3 + [self._conversion, self._index, self._tuple, self._negated]
        return self.random.choice(kinds)(depth - 1)

    def _operation(self, depth: int) -> tuple[str, int]:
        operator, precedence = self.random.choice(list(OPERATORS.items()))
        (left, loose), (right, tight) = self._any(depth), self._any(depth)
        chained = precedence == loose == 1
        left = f"({left})" if loose < precedence or chained else left
        right = f"({right})" if tight <= precedence else right
        return f"{left} {operator} {right}", precedence

    def _call(self, depth: int) -> tuple[str, int]:
        arguments = [self.any(depth) for _ in range(self.random.randint(0, 4))]
        arguments += [f"mask={self.any(depth)}"] if self.random.random() < 0.5 else []
        return f"{self.random.choice(FUNCTIONS)}({', '.join(arguments)})", ATOM

    def _conversion(self, depth: int) -> tuple[str, int]:
        return f"{self._atom(depth)}.to({self.random.choice(['tl.float32', 'tl.int32, bitcast=True'])})", ATOM

    def _index(self, depth: int) -> tuple[str, int]:
        if self.random.random() < 0.5:
            return f"{self._atom(depth)}[:, None]", ATOM
        indices = [self.any(depth) for _ in range(self.random.randint(1, 3))]
        return f"{self._atom(depth)}[{', '.join(indices)}]", ATOM

    def _tuple(self, depth: int) -> tuple[str, int]:
        elements = [self.any(depth) for _ in range(self.random.randint(0, 3))]
        return f"({', '.join(elements)}{',' * (len(elements) == 1)})", ATOM

    def _negated(self, depth: int) -> tuple[str, int]:
        return f"-{self._atom(depth)}", 7

    def _atom(self, depth: int) -> str:
        text, precedence = self._any(depth)
        return text if precedence == ATOM else f"({text})"

    def statement(self) -> str:
        value = self.any(self.random.randint(3, 5))
        store = f"tl.store({self.any(3)}, {value}, mask={self.any(2)})"
        both = f"return {self.any(3)}, {value}"
        return self.random.choice([f"x = {value}", f"x = {value}", f"x, n = {value}", f"x += {value}", store, both])


def test_as_the_formatter_does(tmp_path: Path) -> None:
    generator = Expressions(seed=7)
    statements = [text for _ in range(4000) if 90 < len(text := generator.statement()) < 400]
    functions = ["\n".join([f"def f_{n}():", *fold("    ", text)]) for n, text in enumerate(statements)]
    file = tmp_path / "folded.py"
    file.write_text("\n\n\n".join(functions) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", str(WIDTH), "--diff", file]
    layout = subprocess.run(command, capture_output=True, text=True)
    assert len(statements) > 300
    assert layout.returncode == 0, layout.stdout[:4000]


def test_headers() -> None:
    test = " & ".join(f"condition_{n}" for n in range(12))
    assert fold("    ", f"while {test}:") == [
        "    while (",
        *(f"        {'& ' * (n > 0)}condition_{n}" for n in range(12)),
        "    ):",
    ]


def test_names_beyond_ascii() -> None:
    statement = f"größe = tl.where({'ä' * 50}, {'ö' * 50}, 0.0)"
    assert fold("", statement) == ["größe = tl.where(", f"    {'ä' * 50}, {'ö' * 50}, 0.0", ")"]

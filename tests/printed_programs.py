"""Small programs in the form that the writer prints, and an execution of them that records what happens to memory."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from intent.records import dataclass, field
from translators.triton_source.lines import Line

NAMES = ("a", "b", "c", "d", "state", "new_state", "a_2")
PARAMETERS = {"x_ptr": 100, "y_ptr": 200, "stride_x": 3, "n": 4}


def lines(text: str) -> list[Line]:
    """Lines from indented text."""
    stripped = [line for line in text.splitlines() if line.strip()]
    return [Line((len(line) - len(line.lstrip())) // 4, line.strip()) for line in stripped]


def text(program: Sequence[Line]) -> str:
    return "\n".join("    " * line.level + line.text for line in program)


@dataclass(slots=True)
class Memory:
    """Stands for `tl`: what is loaded depends on what was stored; every store and barrier is recorded."""

    cells: dict[int, int] = field(default_factory=dict)
    trace: list[tuple[object, ...]] = field(default_factory=list)

    def load(self, pointer: int, mask: bool = True, other: int = 0) -> int:
        return self.cells.get(pointer, pointer * 7 % 31) if mask else other

    def store(self, pointer: int, value: int, mask: bool = True) -> None:
        if mask:
            self.cells[pointer] = value
        self.trace.append((pointer, value, mask))

    def debug_barrier(self) -> None:
        self.trace.append(("barrier",))


def run(program: Sequence[Line]) -> list[tuple[object, ...]]:
    """The stores and barriers of an execution."""
    memory = Memory()
    scope: dict[str, object] = {**PARAMETERS, "tl": memory, **dict.fromkeys(NAMES, 1)}
    exec(compile(text(program), "program", "exec"), scope)
    return memory.trace


class Generator:
    """Random programs of a few names, so that they are rebound, copied and repeated often."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.counters = 0

    def program(self) -> list[Line]:
        return [*self.block(0, 6), *(Line(0, f"tl.store({90 + i}, {name})") for i, name in enumerate(NAMES))]

    def block(self, level: int, size: int) -> list[Line]:
        return [line for _ in range(self.random.randint(2, size)) for line in self.statement(level)]

    def statement(self, level: int) -> Iterator[Line]:
        kind = self.random.choice(["assign"] * 6 + ["copy"] * 3 + ["load", "store", "barrier", "for", "while", "if"])
        if level >= 2 and kind in ("for", "while", "if"):
            kind = "assign"
        name = self.random.choice(NAMES)
        match kind:
            case "assign":
                yield Line(level, f"{name} {self.random.choice(['=', '=', '=', '+='])} {self.expression(3)}")
            case "copy":
                yield Line(level, f"{name} = {self.random.choice(NAMES)}")
            case "load":
                yield Line(level, f"{name} = tl.load({self.pointer()}, mask={self.condition()}, other=5)")
            case "store":
                yield Line(level, f"tl.store({self.pointer()}, {self.expression(2)}, mask={self.condition()})")
            case "barrier":
                yield Line(level, "tl.debug_barrier()")
            case _:
                yield from self.compound(kind, level)

    def compound(self, kind: str, level: int) -> Iterator[Line]:
        self.counters += 1
        counter = f"i_{self.counters}"
        body = self.block(level + 1, 4)
        match kind:
            case "for":
                yield Line(level, f"for {counter} in range({self.random.choice(['n', '2', '0', 'a % 3'])}):")
                yield from body
            case "while":
                yield Line(level, f"{counter} = 0")
                yield Line(level, f"while ({counter} < 3) & ({self.condition()} | True):")
                yield from body
                yield Line(level + 1, f"{counter} = {counter} + 1")
            case _:
                yield Line(level, f"if {self.condition()}:")
                yield from body
                if self.random.random() < 0.6:
                    yield Line(level, "else:")
                    yield from self.block(level + 1, 3)

    def pointer(self) -> str:
        base = self.random.choice(["x_ptr", "y_ptr"])
        return f"{base} + {self.random.choice(NAMES)} % 5 * stride_x + {self.random.choice(NAMES)} % 3"

    def condition(self) -> str:
        left, right = self.random.choices(NAMES, k=2)
        return self.random.choice([f"{left} % 7 < {right} % 9", f"({left} % 3 >= 1) & ({right} % 5 < 4)"])

    def expression(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice([*NAMES, "n", "2", "1"])
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        return f"({left} {self.random.choice(['+', '*', '-', '&'])} {right}) % 97"

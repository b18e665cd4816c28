"""Intent source as text: expressions with the parentheses they need, and the layout of a kernel's file.

What to say is not decided here; whoever has a program hands over its parts in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from intent.records import dataclass, replace
from translators.printing.layout import INDENT, fold
from translators.printing.python_text import ATOM, BINARY, COMPARISON, NOT, POWER, SUM, UNARY


@dataclass(frozen=True, slots=True)
class Text:
    """An expression and how tightly its outermost operator binds."""

    text: str
    binding: int = ATOM

    def within(self, binding: int) -> str:
        """The text as an operand of an operator that binds this tightly."""
        return self.text if self.binding >= binding else f"({self.text})"

    def __str__(self) -> str:
        return self.text


def binary(operator: str, left: Text, right: Text) -> Text:
    """left operator right; comparisons do not chain, powers group from the right, everything else from the left."""
    binding = BINARY[operator]
    if operator == "**":
        return Text(f"{left.within(POWER + 1)}**{right.within(POWER + 1)}", POWER)
    first = left.within(binding + (binding == COMPARISON))
    return Text(f"{first} {operator} {right.within(binding + 1)}", binding)


def unary(operator: str, operand: Text) -> Text:
    if operator == "not ":
        return Text(f"not {operand.within(NOT)}", NOT)
    return Text(f"{operator}{operand.within(UNARY)}", UNARY)


def call(function: str, *arguments: Text | str) -> Text:
    return Text(f"{function}({', '.join(map(str, arguments))})")


def subscript(value: Text, *items: Text | str) -> Text:
    return Text(f"{value.within(ATOM)}[{', '.join(map(str, items)) or '()'}]")


def literal(value: bool | int | float) -> Text:
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return Text("I.inf") if value > 0 else Text("-I.inf", UNARY)
    if isinstance(value, float) and value != value:
        return Text("I.inf - I.inf", SUM)
    text = repr(value)
    return Text(text, UNARY if text.startswith("-") else ATOM)


def as_tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


# -----------------------------------------------------------------------------------------------------------------
# files
@dataclass(frozen=True, slots=True)
class SourceFunction:
    """A helper: its parameters, and the lines of its body."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceKernel:
    """A kernel: `parameters` as (name, annotation), and the lines of its body, indented among themselves.

    `functions` are the helpers that it needs.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    body: tuple[str, ...]
    docstring: str | None = None
    functions: tuple[SourceFunction, ...] = ()


def write_file(kernels: Sequence[SourceKernel], docstring: str) -> str:
    head = [f'"""{docstring}"""', "", "import intent", "import intent.language as I"]
    parts = ["\n".join(head)]
    written: dict[str, SourceFunction] = {}
    for each in kernels:
        kernel = _with_other_names(each, written)
        parts.extend(write_function(function) for function in kernel.functions if function.name not in written)
        parts.append(write_kernel(kernel))
        written.update({function.name: function for function in kernel.functions})
    return "\n\n\n".join(parts) + "\n"


def _with_other_names(kernel: SourceKernel, written: Mapping[str, SourceFunction]) -> SourceKernel:
    """Helpers that are called like different ones of other kernels get names of their own."""
    for function in kernel.functions:
        if written.get(function.name, function) != function:
            taken = (*written, "\n".join(kernel.body))
            numbered = (f"{function.name}_{number}" for number in count(2))
            name = next(each for each in numbered if not any(each in text for text in taken))
            body = tuple(re.sub(rf"\b{function.name}\b", name, line) for line in kernel.body)
            functions = tuple(replace(each, name=name) if each is function else each for each in kernel.functions)
            kernel = replace(kernel, body=body, functions=functions)
    return kernel


def write_function(function: SourceFunction) -> str:
    lines = ["@intent.fn", f"def {function.name}({', '.join(function.parameters)}):"]
    lines.extend(_folded(function.body))
    return "\n".join(lines)


def write_kernel(kernel: SourceKernel) -> str:
    lines = ["@intent.kernel", f"def {kernel.name}("]
    lines.extend(f"    {name}: {annotation}," for name, annotation in kernel.parameters)
    lines.append("):")
    if kernel.docstring:
        lines.append(f'    """{kernel.docstring}"""')
    lines.extend(_folded(kernel.body))
    return "\n".join(lines)


def _folded(statements: Sequence[str]) -> Iterator[str]:
    """Lines of a body, whose statements bring their own indentation; long ones are broken as a formatter does."""
    for statement in statements:
        text = statement.lstrip()
        indent = INDENT + statement[: len(statement) - len(text)]
        yield from fold(indent, text) if text and not text.startswith("#") else [(indent + text).rstrip()]

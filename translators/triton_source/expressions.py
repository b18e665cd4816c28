"""Fragments of Python text with their precedence: the one place that decides where parentheses go.

Comparisons bind looser than `&` and `|` in Python, and method calls tighter than unary minus; a missing parenthesis is
a silent wrong index, so nothing else in the compiler joins two fragments by hand.
"""

from __future__ import annotations

from intent.records import dataclass
from translators.printing.python_text import ATOM, BINARY, COMPARISON, NOT, UNARY

_UNARY_PRECEDENCE = {"-": UNARY, "~": UNARY, "not": NOT}


@dataclass(frozen=True, slots=True)
class Code:
    """A Python expression. `value` is set for literals, whose spelling depends on where they stand."""

    text: str
    precedence: int = ATOM
    value: bool | int | float | None = None


@dataclass(frozen=True, slots=True)
class Emitted:
    """An expression and the device functions it calls, by name."""

    code: Code
    helpers: frozenset[str] = frozenset()


def parenthesised(code: Code, minimum: int) -> str:
    """The text, in parentheses if it binds looser than `minimum`."""
    return code.text if code.precedence >= minimum else f"({code.text})"


def binary(operator: str, left: Code, right: Code) -> Code:
    """`left operator right`. Grouping is kept as built: floating-point sums and products do not reassociate."""
    precedence = BINARY[operator]
    loosest = precedence + 1 if precedence == COMPARISON else precedence  # a < b < c would chain
    return Code(f"{parenthesised(left, loosest)} {operator} {parenthesised(right, precedence + 1)}", precedence)


def unary(operator: str, operand: Code) -> Code:
    precedence = _UNARY_PRECEDENCE[operator]
    space = " " if operator == "not" else ""
    is_negated = operator == operand.text[0] == "-"  # `--x` looks like a decrement
    return Code(f"{operator}{space}{parenthesised(operand, ATOM if is_negated else precedence)}", precedence)


def call(function: str, *arguments: Code, **keywords: str) -> Code:
    """`function(arguments, keyword=text)`."""
    named = [f"{name}={text}" for name, text in keywords.items()]
    return Code(f"{function}({', '.join([argument.text for argument in arguments] + named)})")


def method(receiver: Code, name: str, *arguments: str) -> Code:
    """`receiver.name(arguments)`; a number needs parentheses before the dot as well."""
    needs_brackets = receiver.value is not None or receiver.precedence < ATOM
    subject = f"({receiver.text})" if needs_brackets else receiver.text
    return Code(f"{subject}.{name}({', '.join(arguments)})")

"""Breaking long statements into lines, as the formatter `ruff format --line-length 120` leaves them.

Works on the text of one statement that `write` printed: a call breaks at its arguments, an operator expression at its
loosest operators, inside brackets that are already there or, for a right-hand side, in brackets of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

WIDTH = 120
INDENT = "    "
_LEVELS: tuple[tuple[str, ...], ...] = (
    (" or ",),
    (" and ",),
    (" == ", " != ", " < ", " <= ", " > ", " >= "),
    (" | ",),
    (" ^ ",),
    (" & ",),
    (" << ", " >> "),
    (" + ", " - "),
    (" * ", " / ", " // ", " % "),
)


def fold(indent: str, statement: str) -> list[str]:
    """The statement's lines at an indentation."""
    if len(indent) + len(statement) <= WIDTH:
        return [indent + statement]
    prefix, expression, suffix = _parts(statement)
    elements = _arguments(expression)
    if len(elements) > 1:
        inside = [line for element in elements for line in _argument(indent + INDENT, element)]
        return [f"{indent}{prefix}(", *inside, f"{indent}){suffix}"]
    if _operators(expression) is not None:
        inner = indent + INDENT
        return [f"{indent}{prefix}(", *_operand_lines(inner, expression), f"{indent}){suffix}"]
    return _bracketed(indent, prefix, expression, suffix)


def _parts(statement: str) -> tuple[str, str, str]:
    """(`name = `, expression, `:` or nothing)."""
    for mark in (" = ", " += ", " -= ", " //= "):
        position = _find(statement, mark)
        if position >= 0:
            return statement[: position + len(mark)], statement[position + len(mark) :], ""
    for word in ("return ", "while ", "if "):
        if statement.startswith(word):
            end = ":" if statement.endswith(":") else ""
            return word, statement[len(word) : len(statement) - len(end)], end
    if statement.startswith("for "):
        position = statement.index(" in ") + 4
        return statement[:position], statement[position:-1], ":"
    return "", statement, ""


def _operand_lines(indent: str, expression: str) -> list[str]:
    """An operator expression inside brackets: on one line, else one operand a line."""
    if len(indent) + len(expression) <= WIDTH:
        return [indent + expression]
    level = _operators(expression)
    if level is None:
        return _bracketed(indent, "", expression, "")
    lines: list[str] = []
    for operator, operand in _split(expression, level):
        lines += _nested(indent, operator, operand)
    return lines


def _nested(indent: str, operator: str, operand: str) -> list[str]:
    """One operand after its operator; a looser operand cannot occur, a tighter one stays on the line."""
    if len(indent) + len(operator) + len(operand) <= WIDTH or "(" not in operand:
        return [f"{indent}{operator}{operand}"]
    return _bracketed(indent, operator, operand, "")


def _bracketed(indent: str, prefix: str, expression: str, suffix: str) -> list[str]:
    """Break inside the longest bracket pair at the top of the expression."""
    pairs = list(_pairs(expression))
    if not pairs:
        return [f"{indent}{prefix}{expression}{suffix}"]
    first, last = pairs[-1]
    if len(indent) + len(prefix) + first + 1 > WIDTH:  # what stands before the last pair has to break itself
        first, last = max(pairs, key=lambda pair: pair[1] - pair[0])
    inside, inner = expression[first + 1 : last], indent + INDENT
    is_call = first > 0 and (expression[first - 1].isalnum() or expression[first - 1] in "_)]")
    head, tail = f"{indent}{prefix}{expression[: first + 1]}", f"{indent}{expression[last:]}{suffix}"
    if not is_call and len(_arguments(inside)) == 1:
        return [head, *_operand_lines(inner, inside), tail]
    if len(inner) + len(inside) <= WIDTH:
        return [head, inner + inside, tail]
    lines = [line for argument in _arguments(inside) for line in _argument(inner, argument)]
    return [head, *lines, tail]


def _argument(indent: str, argument: str) -> list[str]:
    """One argument on lines of its own, with the comma that the formatter puts after it."""
    if len(indent) + len(argument) < WIDTH:
        return [f"{indent}{argument},"]
    name, value = "", argument
    position = argument.find("=")
    if position > 0 and argument[:position].isidentifier() and argument[position + 1 : position + 2] != "=":
        name, value = argument[: position + 1], argument[position + 1 :]
    if _operators(value) is None:
        lines = _bracketed(indent, name, value, "")
    else:
        lines = _operand_lines(indent, value)
        lines[0] = indent + name + lines[0].lstrip()
    return [*lines[:-1], f"{lines[-1]},"]


def _operators(expression: str) -> tuple[str, ...] | None:
    """The loosest operators at the top of the expression, or None if there are none."""
    return next((level for level in _LEVELS if any(_find(expression, mark) >= 0 for mark in level)), None)


def _find(text: str, mark: str) -> int:
    """Position of `mark` outside brackets and quotes, or -1."""
    return next((position for position in _outside(text) if text.startswith(mark, position)), -1)


def _outside(text: str) -> Iterator[int]:
    depth, quote = 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0:
            yield position


def _split(expression: str, level: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(operator with its space, operand) for every operand at a level."""
    begin, operator = 0, ""
    for position in _outside(expression):
        mark = next((mark for mark in level if expression.startswith(mark, position)), None)
        if mark is not None:
            yield operator, expression[begin:position]
            begin, operator = position + len(mark), mark.lstrip()
    yield operator, expression[begin:]


def _pairs(text: str) -> Iterator[tuple[int, int]]:
    depth, start, quote = 0, 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            start = position if depth == 0 else start
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0 and position - start > 1 and text[start] == "(":
                yield start, position


def _arguments(text: str) -> list[str]:
    parts, begin = [], 0
    for position in _outside(text):
        if text[position] == ",":
            parts.append(text[begin:position].strip())
            begin = position + 1
    return [*parts, text[begin:].strip()]

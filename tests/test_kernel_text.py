"""The measures of readability themselves."""

from __future__ import annotations

import ast

import kernel_text
import pytest


def _function(body: str) -> ast.FunctionDef:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    node = ast.parse(f"def kernel(x, y, n):\n{lines}").body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        ("x", 1),
        ("tl.float32", 1),
        ("x + y", 3),
        ("m[:, None] < M", 3),
        ("x.to(tl.float32)", 3),
        ("tl.cdiv(N, BLOCK)", 3),
        ("m * BLOCK + tl.arange(0, BLOCK)", 7),
        ("x[i]", 3),
        ("-1", 1),
    ],
)
def test_size_of_an_expression(expression: str, count: int) -> None:
    assert kernel_text.nodes(ast.parse(expression, mode="eval").body) == count


@pytest.mark.parametrize(
    ("body", "repeated"),
    [
        ("a = x * y + n\nb = x * y + n", ["x * y + n"]),
        ("a = x * y + n\nx = a\nb = x * y + n", []),
        ("a = x * y\nb = x * y", []),
        ("for i in range(n):\n    a = i * y + n\nfor i in range(n):\n    b = i * y + n", []),
        ("a = x * y + n\nfor i in range(n):\n    b = x * y + n", ["x * y + n"]),
        ("for i in range(n):\n    b = i * y + n\n    c = i * y + n", ["i * y + n"]),
        ("if n:\n    a = x * y + n\nelse:\n    a = x * y + n", []),
        ("a = tl.zeros((n, 4), x)\nb = tl.zeros((n, 4), x)", []),
    ],
)
def test_repeated_expressions(body: str, repeated: list[str]) -> None:
    assert kernel_text.repeated_expressions(_function(body)) == repeated


def test_lines_of_code() -> None:
    text = (
        '@triton.jit\ndef kernel(x):\n    """A line."""\n    # why\n\n    y = (\n        x\n    )\n    return y  # it\n'
    )
    assert kernel_text.code_lines(text, kernel_text.device_functions(text)) == 5


def test_unused_parameters() -> None:
    assert kernel_text.unused_parameters(_function("return x + n")) == {"y"}

"""Python expressions as text: how tightly their operators bind, where they stand, and the brackets around them."""

from __future__ import annotations

import ast

# Python's operator classes, loosest first.
CONDITIONAL, OR, AND, NOT, COMPARISON, BITWISE_OR, BITWISE_XOR, BITWISE_AND, SHIFT, SUM, PRODUCT, UNARY, POWER, ATOM = (
    range(1, 15)
)

BINARY = {
    "or": OR, "and": AND, "==": COMPARISON, "!=": COMPARISON, "<": COMPARISON, "<=": COMPARISON, ">": COMPARISON,
    ">=": COMPARISON, "|": BITWISE_OR, "^": BITWISE_XOR, "&": BITWISE_AND, "<<": SHIFT, ">>": SHIFT, "+": SUM, "-": SUM,
    "*": PRODUCT, "/": PRODUCT, "//": PRODUCT, "%": PRODUCT, "**": POWER,
}  # fmt: skip
_OPERATOR_PRECEDENCE: dict[type[ast.operator], int] = {
    ast.Add: SUM, ast.Sub: SUM, ast.Mult: PRODUCT, ast.Div: PRODUCT, ast.FloorDiv: PRODUCT, ast.Mod: PRODUCT,
    ast.BitOr: BITWISE_OR, ast.BitXor: BITWISE_XOR, ast.BitAnd: BITWISE_AND, ast.LShift: SHIFT, ast.RShift: SHIFT,
    ast.Pow: POWER,
}  # fmt: skip


def syntax(text: str) -> ast.stmt:
    """The statement on a line, or the compound one that begins there; its columns count characters."""
    tree = ast.parse(f"{text} pass" if text.endswith(":") else text).body[0]
    if not text.isascii():
        _count_characters(tree, text.encode())
    return tree


def _count_characters(tree: ast.stmt, encoded: bytes) -> None:
    """`ast` counts columns in bytes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            node.col_offset = len(encoded[: node.col_offset].decode())
            node.end_col_offset = len(encoded[: node.end_col_offset].decode())


def precedence(node: ast.expr) -> int:
    """How tightly the outermost operator of an expression binds."""
    match node:
        case ast.BinOp(op=operator):
            return _OPERATOR_PRECEDENCE[type(operator)]
        case ast.UnaryOp(op=ast.Not()):
            return NOT
        case ast.UnaryOp():
            return UNARY
        case ast.Compare():
            return COMPARISON
        case ast.BoolOp(op=operation):
            return AND if isinstance(operation, ast.And) else OR
        case ast.IfExp():
            return CONDITIONAL
        case _:
            return ATOM


def grouping(text: str, node: ast.expr) -> bool:
    """Whether brackets stand around an expression that do nothing but group it."""
    before, end = node.col_offset - 1, node.end_col_offset or 0
    return before >= 0 and text[before] == "(" and text[end : end + 1] == ")" and _groups(text, before)


def _groups(text: str, bracket: int) -> bool:
    """Whether a bracket groups an operand: that of a call follows a name, an index or another call."""
    return bracket == 0 or not (text[bracket - 1].isalnum() or text[bracket - 1] in "_)]")

"""What a reader of a Triton kernel sees, measured: lines, names never used, expressions written twice."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator

# Each of these makes or fetches something of its own, so writing it twice is no repetition.
FRESH = frozenset({"load", "store", "zeros", "full", "program_id", "range"})
LARGEST_REPEATED = 3


def device_functions(text: str) -> list[ast.FunctionDef]:
    """The functions decorated with `@triton.jit`, in order."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return [function for function in functions if any(map(_is_jit, function.decorator_list))]


def _is_jit(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).split("(")[0] in ("triton.jit", "jit")


def code_lines(text: str, functions: Iterable[ast.FunctionDef]) -> int:
    """Lines of the functions that hold code: neither blank nor only a comment or docstring; decorators left out."""
    with_code = _lines_with_code(text)
    return sum(
        len(with_code & set(range(function.lineno, (function.end_lineno or 0) + 1))) - _docstring_lines(function)
        for function in functions
    )


def statements(functions: Iterable[ast.FunctionDef]) -> int:
    """Lines if every signature and every statement took one, whatever the layout; decorators left out."""
    return sum(len(ast.unparse(each).splitlines()) - len(each.decorator_list) for each in functions)


def _lines_with_code(text: str) -> set[int]:
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {line for token in tokens if token.type not in silent for line in range(token.start[0], token.end[0] + 1)}


def _docstring_lines(function: ast.FunctionDef) -> int:
    first = function.body[0]
    if ast.get_docstring(function) is None or first.end_lineno is None:
        return 0
    return first.end_lineno - first.lineno + 1


def unused_parameters(function: ast.FunctionDef) -> set[str]:
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return {argument.arg for argument in function.args.args} - used


# ------------------------------------------------------------------------------------------------- repeated expressions
def repeated_expressions(function: ast.FunctionDef) -> list[str]:
    """Expressions of more than three nodes that were computed before and could have been named.

    An expression is available after it was written until one of its names is assigned again; a loop's body starts
    without what the loop assigns, and branches do not give expressions to what follows them.
    """
    found: list[str] = []
    _walk_block(function.body, {}, found)
    return found


Available = dict[str, frozenset[str]]  # text of an expression -> the names in it


def _walk_block(statements: list[ast.stmt], available: Available, found: list[str]) -> None:
    for statement in statements:
        nested = [block for block in _blocks(statement) if block]
        if isinstance(statement, (ast.For, ast.While)):
            _forget(available, _assigned(statement))
        for expression in _direct_expressions(statement):
            _visit(expression, available, found)
        for block in nested:
            _walk_block(block, dict(available), found)
        _forget(available, _assigned(statement))


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    return [getattr(statement, name, []) for name in ("body", "orelse")]


def _direct_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions a statement evaluates itself, without the names it assigns."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), ast.Store):
            yield child


def _assigned(statement: ast.stmt) -> frozenset[str]:
    return frozenset(
        node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def _forget(available: Available, names: frozenset[str]) -> None:
    for text in [text for text, used in available.items() if used & names]:
        del available[text]


def _visit(expression: ast.expr, available: Available, found: list[str]) -> None:
    if nodes(expression) > LARGEST_REPEATED and not _is_fresh(expression):
        text = ast.unparse(expression)
        if text in available:
            found.append(text)
            return  # its parts are repeated with it
        available[text] = frozenset(node.id for node in ast.walk(expression) if isinstance(node, ast.Name))
    for child in ast.iter_child_nodes(expression):
        if isinstance(child, ast.expr):
            _visit(child, available, found)
        elif isinstance(child, ast.keyword):
            _visit(child.value, available, found)


def _is_fresh(expression: ast.expr) -> bool:
    if isinstance(expression, (ast.Tuple, ast.Slice)):
        return True
    match expression:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in FRESH or name.startswith("atomic_")
        case _:
            return False


def nodes(expression: ast.AST) -> int:
    """Size of an expression as read: `tl.float32`, a literal and `m[:, None]` count one, as does a function's name."""
    match expression:
        case ast.Name() | ast.Constant():
            return 1
        case ast.UnaryOp(operand=operand) if nodes(operand) == 1 and not isinstance(operand, ast.Name):
            return 1
        case ast.Call(func=ast.Name(id="float")):
            return 1
        case ast.Attribute(value=ast.Name()):
            return 1
        case ast.Subscript(value=ast.Name()) if _only_adds_axes(expression.slice):
            return 1
        case ast.Call(func=ast.Attribute(value=receiver), args=arguments, keywords=keywords):
            is_module = isinstance(receiver, ast.Name) and receiver.id in ("tl", "libdevice")
            own = 1 if is_module else 1 + nodes(receiver)
            return own + sum(map(nodes, arguments)) + sum(nodes(keyword.value) for keyword in keywords)
        case _:
            return 1 + sum(nodes(child) for child in ast.iter_child_nodes(expression) if isinstance(child, ast.expr))


def _only_adds_axes(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is None) for part in parts)

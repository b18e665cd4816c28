"""Code that is not compiled, such as the untaken branch of a compile-time `if`: its names must still exist."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from translators.diagnostics import Diagnostic, Rejected
from translators.intent_source.read import codes
from translators.intent_source.read.liveness import bound
from translators.intent_source.read.names import module_name
from translators.intent_source.read.scope import suggestion
from translators.intent_source.read.walker import Walker
from translators.syntax_tree import descendants


def check_names(walker: Walker, statements: Sequence[ast.stmt]) -> None:
    """Report names in the statements that nothing defines."""
    own = bound(statements)
    for statement in statements:
        _check(walker, statement, own)


def check_expression(walker: Walker, node: ast.expr) -> None:
    _check(walker, node, frozenset())


def _check(walker: Walker, root: ast.AST, own: frozenset[str]) -> None:
    for node in descendants(root):
        if isinstance(node, ast.Name) and not _exists(walker, node, own):
            message, known = f"nothing here is named '{node.id}'", walker.known()
            span, fix = walker.scope.source.span(node), walker.scope.respelling(node, node.id, known)
            walker.report(Diagnostic(codes.UNKNOWN_NAME, "error", message, span, suggestion(node.id, known), fix))


def _exists(walker: Walker, node: ast.Name, own: frozenset[str]) -> bool:
    if node.id in own or node.id in walker.frame.own:
        return True
    try:
        return module_name(walker.scope, node.id, node) is not None
    except Rejected as rejected:  # an import that fails
        walker.report(rejected.diagnostic)
        return True

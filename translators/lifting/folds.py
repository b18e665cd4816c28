"""Loops that combine one element after the other by the function by which what they leave is combined too.

    a', b' = f(a, b, x(k), y(k)) where c(k), else a, b        a, b = f over all k of (x, y) where c, else the first a, b

if the first a, b are f's identity.
"""

from __future__ import annotations

from collections.abc import Sequence

from translators.tile.expression import Combine, Expression


def elements(
    combine: Combine, updates: Sequence[Expression], olds: Sequence[Expression]
) -> tuple[tuple[Expression, ...], Expression | None] | None:
    """(what the carries are combined with, the condition under which they are) if that is what all updates do."""
    condition: Expression | None = None
    if all(each.operation == "select" and each.arguments[2] is old for each, old in zip(updates, olds, strict=True)):
        condition = updates[0].arguments[0]
        if any(each.arguments[0] is not condition for each in updates):
            return None
        updates = [each.arguments[1] for each in updates]
    found: dict[int, Expression] = {}
    if not all(_is(result, each, olds, found) for result, each in zip(combine.results, updates, strict=True)):
        return None
    if len(found) != combine.arity:
        return None
    return tuple(found[position] for position in range(combine.arity)), condition


def _is(pattern: Expression, node: Expression, olds: Sequence[Expression], found: dict[int, Expression]) -> bool:
    """Whether the node is the pattern of the old values and of what is found for the others."""
    if pattern.operation == "argument":
        position = pattern.attribute - len(olds)
        return node is olds[pattern.attribute] if position < 0 else found.setdefault(position, node) is node
    if pattern is node:
        return True
    if (pattern.operation, pattern.dtype, pattern.attribute) != (node.operation, node.dtype, node.attribute):
        return False
    if len(pattern.arguments) != len(node.arguments) or pattern.operation == "index":
        return False
    return all(_is(part, each, olds, found) for part, each in zip(pattern.arguments, node.arguments, strict=True))


def is_count(node: Expression) -> bool:
    """Whether it is at least 1, or an element of an array."""
    if node.operation == "cast":
        (node,) = node.arguments
    return node.operation == "load" or (node.operation == "constant" and node.attribute >= 1)

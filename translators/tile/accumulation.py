"""Carries that grow by a matrix product, which may start from them."""

from __future__ import annotations

from collections.abc import Sequence

from translators.tile.expression import Axis, Expression, LoopToken


def accumulated_product(
    update: Expression | None, token: LoopToken, ordinal: int, axes: Sequence[Axis]
) -> tuple[Expression, Expression] | None:
    """What the carry is before, and the contraction, in `carry + contraction` or `carry * factor + contraction`, the
    update of that very carry."""
    if update is None or update.operation != "pointwise" or update.attribute[0] != "add":
        return None
    for before, product in (update.arguments, update.arguments[::-1]):
        scaled = before.operation == "pointwise" and before.attribute[0] == "multiply"
        candidates = before.arguments if scaled else (before,)
        own = any(each.operation == "carry" and each.attribute == (token, ordinal, tuple(axes)) for each in candidates)
        if own and product.operation == "contract" and product.dtype == before.dtype == update.dtype:
            return before, product
    return None

"""Carries that grow by a matrix product, which may start from them."""

from __future__ import annotations

from collections.abc import Sequence

from translators.tile.expression import Axis, Expression, LoopToken


def accumulated_product(
    update: Expression | None, token: LoopToken, ordinal: int, axes: Sequence[Axis]
) -> Expression | None:
    """The contraction in `carry + contraction`, the update of that very carry."""
    if update is None or update.operation != "pointwise" or update.attribute[0] != "add":
        return None
    for carry, product in (update.arguments, update.arguments[::-1]):
        own = carry.operation == "carry" and carry.attribute == (token, ordinal, tuple(axes))
        if own and product.operation == "contract" and product.dtype == update.dtype:
            return product
    return None

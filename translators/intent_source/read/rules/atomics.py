"""Atomic loads, stores and updates."""

from __future__ import annotations

from typing import Final

from intent import dtypes
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Operand, Product
from translators.intent_source.read.rules import codes, indexing
from translators.intent_source.read.rules.literals import text
from translators.intent_source.read.rules.memory import (
    NOTHING,
    index_items,
    no_effect_in_pure,
    stored_value,
    writable,
)
from translators.logical.program import AtomicResult, AtomicUpdate, Relation
from translators.logical.types import Memory, Scalar, Tensor, Type

_ORDERS: Final = ("relaxed", "acquire", "release", "acq_rel")
_ALLOWED: Final = {"load": ("relaxed", "acquire"), "store": ("relaxed", "release")}


def update(
    builder: Builder, action: str, target: Operand, index: Operand, values: tuple[Operand, ...], order: Operand
) -> Operand:
    """One of load, store, exchange, add, max, min, and, or, xor, compare_exchange."""
    what = f"I.atomic.{action}"
    memory = writable(builder, target, what, codes.WRITE_TO_VALUE)
    no_effect_in_pure(builder, what)
    _check_dtype(builder, action, memory)
    found = indexing.relation(builder, memory.shape, index_items(index), written=True)
    arguments = tuple(stored_value(builder, memory, found, value) for value in values)
    results = tuple(
        builder.value(AtomicResult(), type, position)
        for position, type in enumerate(_result_types(action, memory, found))
    )
    chosen = _order(builder, action, order)
    builder.statement(AtomicUpdate(action, memory, found, arguments, chosen, results, builder.span))
    if action == "compare_exchange":
        return Product(results, ("old_value", "success"))
    return results[0] if results else NOTHING


def _result_types(action: str, memory: Memory, found: Relation) -> tuple[Type, ...]:
    if action == "store":
        return ()
    old = indexing.result_type(found, memory.dtype)
    if action != "compare_exchange":
        return (old,)
    return old, Tensor(dtypes.boolean, old.shape) if isinstance(old, Tensor) else Scalar(dtypes.boolean)


def _check_dtype(builder: Builder, action: str, memory: Memory) -> None:
    dtype = memory.dtype
    bitwise, arithmetic = action in ("and", "or", "xor"), action in ("add", "max", "min")
    if (bitwise and dtype.is_float) or (arithmetic and dtype.kind == "bool"):
        takes = "integers or bools" if bitwise else "numbers"
        builder.reject(
            codes.DTYPE_NOT_ACCEPTED, f"I.atomic.{action} takes {takes}, and `{memory.name}` is {dtype.name}"
        )


def _order(builder: Builder, action: str, order: Operand) -> str:
    chosen = text(builder, order, "order")
    allowed = _ALLOWED.get(action, _ORDERS)
    if chosen not in allowed:
        words = ", ".join(f'"{word}"' for word in allowed)
        builder.reject(codes.ORDER, f'I.atomic.{action} has no order "{chosen}"', f"the orders are {words}", at="order")
    return chosen

"""Atomic updates whose result nobody uses: in any order they give the same, so they are reductions.

    out[j] += f(i, j)  by every program and lane (i, j)      is      out[j] = out[j] + sum over i of f(i, j)

Axes that the place does not vary with are reduced; a condition that varies with them leaves out what is not added. A
place that is read from memory stays an update of every point: several may meet in one element.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from intent import dtypes as d
from intent.records import replace
from translators.algebra.polynomial import Polynomial, atomic, number
from translators.lifting.neutral import neutral
from translators.lifting.rewriting import conjunction, conjuncts
from translators.lifting.sinks import Ledger, Residue, Sink
from translators.tile.effects import Address
from translators.tile.expression import Arena, Axis, Expression, Reduction, walk

# What an atomic does -> (function of two numbers, reduction of many).
COMBINED: Final = {
    "add": ("add", "sum"), "max": ("maximum", "max"), "min": ("minimum", "min"), "and": ("and", None),
    "or": ("or", None), "xor": ("xor", None),
}  # fmt: skip


def collected(arena: Arena, ledger: Ledger, sink: Sink) -> Sink:
    """The sink as a plain store if the places are told apart by its remaining axes, else as an update of each point."""
    if sink.combine is None:
        return sink
    if sink.recurrences or sink.combine not in COMBINED:
        raise Residue("an atomic update that depends on the order", sink.line)
    function, kind = COMBINED[sink.combine]
    loose = tuple(axis for axis in sink.axes if axis not in sink.offset.axes)
    value, mask = sink.value, sink.mask
    if loose:
        if kind is None:
            raise Residue(f"an atomic '{sink.combine}' by several programs or lanes", sink.line)
        inside, mask = _divided(arena, mask, loose)
        value = value if inside is None else _where(arena, inside, value, neutral(arena, kind, value))
        value = _over(arena, kind, value, loose)
    ledger.add("proven", f"atomic updates of {sink.pointer} are taken together: nothing reads their results")
    ledger.numerics.setdefault("atomic updates come in any order, and round one by one")
    axes = tuple(axis for axis in sink.axes if axis not in loose)
    made = replace(sink, value=value, mask=mask, axes=axes)
    if "load" in sink.offset.operations:
        return made
    offset, true, poison = sink.offset, arena.make("constant", d.boolean, (), True), arena.make("poison", value.dtype)
    before = arena.make("load", value.dtype, (offset, true, poison), Address(sink.pointer, 0))
    return replace(
        made, value=arena.make("pointwise", value.dtype, (before, value), (function, False, False)), combine=None
    )


def _over(arena: Arena, kind: str, value: Expression, axes: tuple[Axis, ...]) -> Expression:
    """The reduction over these axes; a factor that they share is multiplied with the sum, if that is one of a sum."""
    if kind == "sum" and value.operation == "pointwise" and value.attribute[0] == "multiply":
        for part, factor in (value.arguments, value.arguments[::-1]):
            if part.operation in ("reduce", "contract") and not factor.axes & set(axes):
                operands = (_over(arena, kind, part, axes), factor)
                return arena.make("pointwise", value.dtype, operands, value.attribute)
    return arena.make("reduce", value.dtype, (value,), Reduction(kind, axes))


def _divided(arena: Arena, mask: Expression, loose: tuple[Axis, ...]) -> tuple[Expression | None, Expression]:
    """(conditions that vary with these axes, the others)."""
    inside = [each for each in conjuncts(mask) if each.axes & set(loose)]
    outside = [each for each in conjuncts(mask) if not each.axes & set(loose)]
    rest = conjunction(arena, outside) if outside else arena.make("constant", d.boolean, (), True)
    return (conjunction(arena, inside) if inside else None), rest


def _where(arena: Arena, condition: Expression, value: Expression, other: Expression) -> Expression:
    return arena.make("select", value.dtype, (condition, value, other))


def check_alone(sinks: tuple[Sink, ...], updated: frozenset[str], counts: Mapping[Axis, Polynomial]) -> None:
    """An array that is updated by atomics is touched in no other way, but for what a program stores there before it
    updates elements of its own. `counts` are the numbers of programs.
    """
    for pointer in updated:
        mine = [sink for sink in sinks if sink.pointer == pointer]
        updates = [sink for sink in mine if sink.combine is not None]
        loads = {id(sink) for sink in sinks for node in walk(*sink.roots) if _is_load(node, pointer)}
        if len(updates) == 1 and not loads and all(_prepares(sink, updates[0], counts) for sink in mine):
            continue
        if len(mine) > 1 or loads - {id(mine[0])}:
            raise Residue(f"'{pointer}' is updated by atomics, and touched otherwise too", mine[-1].line)


def _prepares(store: Sink, update: Sink, counts: Mapping[Axis, Polynomial]) -> bool:
    """Whether the store comes before the update, and both touch elements of their own program only."""
    if store is update:
        return True
    scattered = "load" in update.offset.operations
    return scattered and store.clock < update.clock and all(_own_columns(each, counts) for each in (store, update))


def _own_columns(sink: Sink, counts: Mapping[Axis, Polynomial]) -> bool:
    """Whether program p of P touches elements p, P + p, 2*P + p, and so on only."""
    if len(counts) != 1 or sink.recurrences:
        return False
    ((program, count),) = counts.items()
    offset = sink.offset.polynomial
    rest = offset - atomic(program)
    alone = offset.coefficient(program) == number(1) and program not in rest.atoms()
    return alone and all(Polynomial((term,)).divided_by(count) is not None for term in rest.terms)


def _is_load(node: Expression, pointer: str) -> bool:
    return node.operation == "load" and node.attribute.pointer == pointer

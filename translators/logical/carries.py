"""Which carries of loops matter: what is never changed is no carry, and what nothing depends on is none either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from translators.logical import program as lp
from translators.logical.program import Block, Carry, Value
from translators.logical.uses import mentioned


def is_unchanged(carry: Carry) -> bool:
    """Every iteration hands on what it was given."""
    return _same(carry.update, carry.inside)


def _same(update: Value, inside: Value) -> bool:
    if isinstance(update.origin, lp.Merge):
        return _same(update.origin.true, inside) and _same(update.origin.false, inside)
    return update is inside


def live_values(body: Block) -> set[Value]:
    """What effects, conditions and the bounds of loops depend on."""
    carries: dict[Value, Carry] = {}
    return _closure(list(_needed(body, carries)), carries)


def made_of(value: Value) -> set[Value]:
    """The value and all that it is computed from, in the same round of a loop."""
    return _closure([value], {})


def _closure(pending: list[Value], carries: Mapping[Value, Carry]) -> set[Value]:
    found: set[Value] = set()
    while pending:
        value = pending.pop()
        if value in found:
            continue
        found.add(value)
        if value in carries:
            pending += (carries[value].initial, carries[value].update)
        pending += mentioned(value.origin)
        pending += mentioned(value.shape)
    return found


def _needed(block: Block, carries: dict[Value, Carry]) -> Iterator[Value]:
    for statement in block.statements:
        match statement:
            case lp.Let() | lp.AssumeInBounds():
                pass
            case lp.If(condition=condition, then=then, orelse=orelse):
                yield condition
                yield from _needed(then, carries)
                yield from _needed(orelse, carries)
            case lp.Parallel(domains=domains, body=body):
                yield from mentioned(domains)
                yield from _needed(body, carries)
            case lp.For() | lp.While():
                yield from _needed_by_loop(statement, carries)
            case _:
                yield from mentioned(statement)


def _needed_by_loop(loop: lp.For | lp.While, carries: dict[Value, Carry]) -> Iterator[Value]:
    for carry in loop.carries:
        carries[carry.inside] = carries[carry.result] = carry
    if loop.exit is not None:
        yield loop.carries[loop.exit].update
    if isinstance(loop, lp.While):
        yield loop.condition
        yield from _needed(loop.test, carries)
    else:
        yield from mentioned(loop.domain)
    yield from _needed(loop.body, carries)

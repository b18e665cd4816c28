"""Helpers of region operations that look at places within a slice, or at how long it is.

Along an axis a slice's elements are known by their coordinates in the whole source: what does not ask where the slice
begins needs no more. A helper that does, as for `v[0]` or `v.shape[0]`, gets slices of single elements, whose place is
0 and whose length is 1. That is as good as any other choice, since nothing may depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from translators.algebra.polynomial import Polynomial
from translators.logical import program as lp
from translators.logical.program import Block, Value
from translators.logical.uses import mentioned


def looks_at_places(op: lp.RegionFold | lp.RegionScan) -> bool:
    """Whether a helper that sees slices needs more than their elements."""
    helpers = (op.summarize,) if isinstance(op, lp.RegionFold) else (op.summarize, op.emit)
    return any(_looks(helper, op.slice_extent) for helper in helpers)


def _looks(helper: lp.Lambda, slice_extent: Polynomial) -> bool:
    operations = list(_operations(helper.body))
    used = {value for op, _ in operations for value in _operands(op)} | set(helper.results)
    positions = {value for op, results in operations for value in _positions(op, results, slice_extent)}
    if positions.intersection(helper.results):
        return True
    return any(
        _at_a_place(op, positions, slice_extent) or (_says_where(op, slice_extent) and not used.isdisjoint(results))
        for op, results in operations
    )


def _operations(block: Block) -> Iterator[tuple[object, tuple[Value, ...]]]:
    """What the block computes, at any depth, with the results; other statements have none."""
    for statement in block.statements:
        match statement:
            case lp.Let(op=op, results=results):
                yield op, results
            case lp.If(then=then, orelse=orelse):
                yield statement.condition, ()
                yield from _operations(then)
                yield from _operations(orelse)
            case lp.For(body=body):
                yield (statement.domain, statement.carries), ()
                yield from _operations(body)
            case lp.While(test=test, body=body):
                yield (statement.condition, statement.carries), ()
                yield from _operations(test)
                yield from _operations(body)
            case _:
                yield statement, ()


def _operands(op: object) -> Iterator[Value]:
    """What the operation uses; the bounds of a `:` go without saying."""
    if isinstance(op, lp.Pick):
        items = tuple(item for item in op.relation.items if not isinstance(item, lp.Along))
        yield from mentioned((op.argument, items, op.valid, op.fill))
    else:
        yield from mentioned(op)


def _positions(op: object, results: tuple[Value, ...], slice_extent: Polynomial) -> Iterator[Value]:
    """Places of largest elements in a slice: each serves to pick what else is there, as its coordinate does."""
    if isinstance(op, lp.ArgReduce) and op.argument.shape[op.axis] == slice_extent:
        yield from (result for result in results if result.position == 1)


def _says_where(op: object, slice_extent: Polynomial) -> bool:
    """A number that depends on where a slice begins or ends."""
    match op:
        case lp.Size(extent=extent):
            return _mentions(extent, slice_extent)
        case lp.Indices(domain=domain):
            return any(_mentions(each, slice_extent) for each in (domain.begin_polynomial, domain.end_polynomial))
        case lp.Reshape(argument=argument):
            return any(extent != slice_extent and _mentions(extent, slice_extent) for extent in argument.shape)
        case _:
            return False


def _at_a_place(op: object, positions: set[Value], slice_extent: Polynomial) -> bool:
    """Elements are picked by numbers other than the places of largest ones, or these serve for anything else."""
    if not isinstance(op, lp.Pick):
        return not positions.isdisjoint(mentioned(op))
    items = [item for item in op.relation.items if not isinstance(item, lp.NewAxis)]
    for item, extent in zip(items, op.argument.shape, strict=True):
        along = extent == slice_extent
        match item:
            case lp.Along(domain=domain):
                if along and domain.extent != slice_extent:
                    return True
            case lp.At(index=index) | lp.Gathered(index=index):
                if along != (index in positions):
                    return True
            case _:
                return True
    return False


def _mentions(extent: Polynomial, slice_extent: Polynomial) -> bool:
    return not set(slice_extent.atoms()).isdisjoint(extent.atoms())

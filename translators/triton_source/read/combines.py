"""Reductions by a function of elements: what the function computes of its arguments decides what they mean.

A function of several tiles falls into the parts that do not read each other; a part of one tile may be a reduction that
has a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from intent import dtypes as d
from translators.tile.expression import Combine, Expression, walk
from translators.triton_source.read.execution import Execution
from translators.triton_source.read.expressions import call
from translators.triton_source.read.values import Function, NotLifted, Tile, Value

Arguments = Mapping[str, Value]
_NAMED: Final = {
    "add": "sum", "maximum": "max", "maximum_num": "max_num", "minimum": "min", "minimum_num": "min_num",
    "and": "all", "or": "any", "multiply": "product",
}  # fmt: skip
_SCALAR: Final = frozenset({"argument", "constant", "pointwise", "select", "cast", "bitcast", "index"})


def reduce_by_function(execution: Execution, given: Arguments) -> Value:
    """`tl.reduce`."""
    from translators.triton_source.read.builtins import reduce_tile, reduce_tiles

    combine, inputs = given["combine_fn"], given["input"]
    if not isinstance(combine, Function):
        raise NotLifted("a reduction by something that is no function")
    ops = execution.operations
    tiles = tuple(map(ops.tile, inputs if isinstance(inputs, tuple) else (inputs,)))
    axis, kept = given.get("axis"), bool(given.get("keep_dims"))
    results = combined(execution, combine, tiles)
    made: dict[int, Tile] = {}
    for part in _parts(results):
        kind = _named(results[part[0]], tiles[part[0]]) if len(part) == 1 else None
        if kind is not None:
            made[part[0]] = reduce_tile(execution, kind, tiles[part[0]], axis, kept)
            continue
        function = _function(execution, combine, results, part)
        parts = reduce_tiles(execution, function, [tiles[each] for each in part], axis, kept)
        made.update(zip(part, parts, strict=True))
    return tuple(made[each] for each in range(len(tiles))) if isinstance(inputs, tuple) else made[0]


def combined_kind(execution: Execution, combine: Function, tile: Tile) -> str:
    """The reduction with a name that a function of two numbers means."""
    (result,) = combined(execution, combine, (tile,))
    kind = _named(result, tile)
    if kind is None:
        raise NotLifted(f"a reduction by '{combine.name}'")
    return kind


def combined(execution: Execution, combine: Function, tiles: Sequence[Tile]) -> tuple[Expression, ...]:
    """The results of the function for two elements of these tiles: `argument` nodes, first those of the one."""
    dtypes = [tile.dtype for tile in tiles] * 2
    arguments = [execution.arena.make("argument", dtype, (), ordinal) for ordinal, dtype in enumerate(dtypes)]
    made = call(execution, combine, [Tile(each.dtype, (), each) for each in arguments], {})
    results = made if isinstance(made, tuple) else (made,)
    ops = execution.operations
    tiled = [ops.tile(each) for each in results]
    if [tile.dtype for tile in tiled] != dtypes[: len(tiles)] or any(tile.shape for tile in tiled):
        raise NotLifted(f"'{combine.name}' does not give what it takes")
    values = tuple(map(ops.data, tiled))
    if any(node.operation not in _SCALAR for node in walk(*values)):
        raise NotLifted(f"'{combine.name}' computes with more than its arguments")
    return values


def _named(result: Expression, tile: Tile) -> str | None:
    if result.operation != "pointwise" or {each.operation for each in result.arguments} != {"argument"}:
        return None
    kind = _NAMED.get(result.attribute[0])
    if len(set(result.arguments)) != 2 or (kind in ("any", "all") and tile.dtype != d.boolean):
        return None
    return kind


def _parts(results: Sequence[Expression]) -> Iterator[tuple[int, ...]]:
    """Positions of results that read each other's arguments."""
    arity = len(results)
    parts = [{position} for position in range(arity)]
    for position, result in enumerate(results):
        read = {node.attribute % arity for node in walk(result) if node.operation == "argument"} | {position}
        joined = [part for part in parts if part & read]
        parts = [part for part in parts if not part & read] + [set().union(*joined)]
    yield from (tuple(sorted(part)) for part in parts)


def _function(execution: Execution, combine: Function, results: Sequence[Expression], part: Sequence[int]) -> Combine:
    """The function of some of the components alone."""
    arity = len(results)
    kept = [*part, *(arity + each for each in part)]
    places = {old: new for new, old in enumerate(kept)}
    renamed = _renamed(execution, places)
    names = [each.arg for each in (*combine.node.args.posonlyargs, *combine.node.args.args)]
    return Combine(
        combine.name,
        len(part),
        tuple(renamed(results[each]) for each in part),
        (),
        parameters=tuple(names[each] for each in kept),
    )


def _renamed(execution: Execution, places: Mapping[int, int]) -> Callable[[Expression], Expression]:
    from translators.tile.substitution import Rebuilding

    def renamed(node: Expression) -> Expression | None:
        if node.operation != "argument":
            return None
        return execution.arena.make("argument", node.dtype, (), places[node.attribute])

    return Rebuilding(execution.arena, {}, renamed).expression

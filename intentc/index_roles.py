"""Which inputs of a kernel hold coordinates: random values for them must be legal ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeVar

from intent.records import fields, is_dataclass
from translators.logical.program import (
    At,
    Carry,
    CarryIn,
    CarryOut,
    Gathered,
    Kernel,
    Read,
    Scatter,
    Select,
    Value,
    Write,
)
from translators.logical.types import Domain, View

Role = Literal["index", "bound", "destination"]
Node = TypeVar("Node")


def index_roles(kernel: Kernel) -> dict[str, Role]:
    """Views whose elements become an index, a bound of a domain, or the destination of a write."""
    carries = {carry.inside: carry for carry in all_nodes(kernel.body, Carry)}
    carries |= {carry.result: carry for carry in carries.values()}
    roles: dict[str, Role] = {}
    indices = [item.index for item in all_nodes(kernel.body, At)]
    indices += [item.index for item in all_nodes(kernel.body, Gathered)]
    for index in indices:
        roles |= dict.fromkeys(_views_behind(index, carries), "index")
    for domain in all_nodes(kernel.body, Domain):
        roles |= dict.fromkeys(_views_behind(domain.begin, carries), "bound")
        roles |= dict.fromkeys(_views_behind(domain.end, carries), "bound")
    relations = [write.relation for write in all_nodes(kernel.body, Write)]
    relations += [scatter.relation for scatter in all_nodes(kernel.body, Scatter)]
    for item in (item for relation in relations for item in relation.items):
        if isinstance(item, At | Gathered):
            roles |= dict.fromkeys(_views_behind(item.index, carries), "destination")
    return roles


def depends_on_data(kernel: Kernel) -> bool:
    """Whether an index comes from the contents of an array."""
    return bool(index_roles(kernel))


def all_nodes(root: object, kind: type[Node]) -> Iterator[Node]:
    """Every node of the kind in a block, including those inside other nodes; values are not followed."""
    pending, seen = [root], set[int]()
    while pending:
        node = pending.pop()
        if id(node) in seen or isinstance(node, Value):
            continue
        seen.add(id(node))
        if isinstance(node, kind):
            yield node
        pending += _parts(node)


def _views_behind(value: Value, carries: dict[Value, Carry]) -> Iterator[str]:
    """Names of the views that were read to compute the value."""
    seen: set[Value] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current in seen or current.dtype.kind == "bool":
            continue
        seen.add(current)
        if isinstance(current.origin, Read):
            if isinstance(current.origin.memory, View):
                yield current.origin.memory.name
        else:
            pending += _operands(current, carries)


def _operands(value: Value, carries: dict[Value, Carry]) -> list[Value]:
    match value.origin:
        case CarryIn() | CarryOut():
            carry = carries.get(value)
            return [carry.initial, carry.update] if carry else []
        case Select(true=true, false=false):
            return [true, false]
        case origin:
            return [part for part in _parts(origin) if isinstance(part, Value)]


def _parts(node: object) -> Iterator[object]:
    """The direct parts of a node, with tuples flattened."""
    if is_dataclass(node):
        for field in fields(node):
            part = getattr(node, field.name)
            yield from part if isinstance(part, tuple) else (part,)

"""Which values of a program are used."""

from __future__ import annotations

from collections.abc import Iterator

from intent.records import fields, is_dataclass
from translators.logical.program import AtomicUpdate, Block, Let, Value

_ATTRIBUTES: dict[type, tuple[str, ...]] = {}  # of each class that was met


def used_values(block: Block) -> set[Value]:
    """Every value that some statement, at any depth, takes as an operand."""
    found: set[Value] = set()
    for statement in block.statements:
        results = statement.results if isinstance(statement, Let | AtomicUpdate) else ()
        found.update(value for value in mentioned(statement) if value not in results)
    return found


def mentioned(node: object) -> Iterator[Value]:
    """Values inside a statement, an operation or a relation; nested blocks included, origins of values not."""
    if isinstance(node, Value):
        yield node
    elif isinstance(node, tuple):
        for element in node:
            if isinstance(element, Value):
                yield element
            else:
                yield from mentioned(element)
    elif isinstance(node, Block):
        yield from used_values(node)
    else:
        for name in _attributes(node):
            inside = getattr(node, name)
            if isinstance(inside, Value):
                yield inside
            else:
                yield from mentioned(inside)


def _attributes(node: object) -> tuple[str, ...]:
    """What a record is made of; nothing for what is none."""
    found = _ATTRIBUTES.get(node.__class__)
    if found is None:
        found = tuple(entry.name for entry in fields(node)) if is_dataclass(node) else ()
        _ATTRIBUTES[node.__class__] = found
    return found

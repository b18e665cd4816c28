"""Which values of a program are used."""

from __future__ import annotations

from collections.abc import Iterator

from intent.records import fields, is_dataclass
from translators.logical.program import AtomicUpdate, Block, Let, Value


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
            yield from mentioned(element)
    elif isinstance(node, Block):
        yield from used_values(node)
    elif is_dataclass(node):
        for entry in fields(node):
            yield from mentioned(getattr(node, entry.name))

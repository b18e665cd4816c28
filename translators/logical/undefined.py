"""Reads of an `Out` view that no earlier statement can have written."""

from __future__ import annotations

from collections.abc import Iterator

from intent.records import dataclass
from translators.diagnostics import Diagnostic, Span
from translators.logical.program import (
    AtomicUpdate,
    Block,
    For,
    If,
    Kernel,
    Let,
    Parallel,
    Read,
    Scatter,
    Statement,
    While,
    Write,
)
from translators.logical.types import Memory, View

Names = frozenset[str]


def undefined_reads(kernel: Kernel) -> list[Diagnostic]:
    search = _Search([])
    search.block(kernel.body, frozenset(), frozenset())
    return search.found


@dataclass(frozen=True, slots=True)
class _Search:
    found: list[Diagnostic]

    def block(self, block: Block, written: Names, later: Names) -> Names:
        """Check a block that runs after `written` may have been written; gives what may be written after it.

        `later` is what the iterations of the loops around write: an earlier iteration may have done so, unless the read
        comes first in each of them.
        """
        for statement in block.statements:
            self._reads(statement, written)
            written = written | self._inside(statement, written, later) | _own_writes(statement)
        return written

    def _inside(self, statement: Statement, written: Names, later: Names) -> Names:
        match statement:
            case If(then=then, orelse=orelse):
                return self.block(then, written | later, later) | self.block(orelse, written | later, later)
            case For(body=body) | Parallel(body=body):
                return self.block(body, written | later, later | _writes(body))
            case While(test=test, body=body):
                after_test = self.block(test, written, later)
                return self.block(body, after_test | later, later | _writes(body))
            case _:
                return frozenset()

    def _reads(self, statement: Statement, written: Names) -> None:
        for memory, span in _accesses(statement):
            if isinstance(memory, View) and memory.direction == "Out" and _key(memory) not in written:
                self.found.append(_undefined(memory, span))


def _undefined(view: View, span: Span) -> Diagnostic:
    message = f"`{view.name}` is an Out view and is read before anything is written to it"
    help = f"declare it `{view.name}: I.InOut[...]` if its contents matter, or write it first"
    return Diagnostic("INT508", "error", message, span, help)


def _accesses(statement: Statement) -> Iterator[tuple[Memory, Span]]:
    """The memory whose contents a statement itself looks at."""
    match statement:
        case Let(op=Read(memory=memory), span=span):
            yield memory, span
        case Scatter(memory=memory, combine=combine, span=span) if combine is not None:
            yield memory, span
        case AtomicUpdate(memory=memory, action=action, span=span) if action != "store":
            yield memory, span
        case _:
            pass


def _own_writes(statement: Statement) -> Names:
    match statement:
        case Write(memory=memory) | Scatter(memory=memory) | AtomicUpdate(memory=memory):
            return frozenset({_key(memory)})
        case _:
            return frozenset()


def _writes(block: Block) -> Names:
    """Everything that a block may write."""
    return frozenset().union(*(_all_writes(statement) for statement in block.statements))


def _all_writes(statement: Statement) -> Names:
    match statement:
        case If(then=then, orelse=orelse):
            return _writes(then) | _writes(orelse)
        case While(test=test, body=body):
            return _writes(test) | _writes(body)
        case For(body=body) | Parallel(body=body):
            return _writes(body)
        case _:
            return _own_writes(statement)


def _key(memory: Memory) -> str:
    """Views of one alias group share their elements."""
    if isinstance(memory, View) and memory.alias is not None:
        return f"alias {memory.alias}"
    return memory.name if isinstance(memory, View) else f"buffer {memory.serial}"

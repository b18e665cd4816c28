"""What a value varies with: the loop variables, carries and changing reads that it is computed from."""

from __future__ import annotations

from collections.abc import Iterator

from intent.records import dataclass, field, fields
from translators.logical.program import (
    Along,
    At,
    AtomicUpdate,
    Block,
    For,
    Gathered,
    If,
    IndexItem,
    Lambda,
    Let,
    Merge,
    Op,
    Parallel,
    Read,
    Relation,
    Statement,
    Value,
    While,
)
from translators.logical.types import Buffer, Domain, View

Causes = frozenset[Value]
_NOTHING: Causes = frozenset()


@dataclass(slots=True)
class Variation:
    """Filled in one walk over a kernel; `of` then answers for every value defined in it."""

    causes: dict[Value, Causes] = field(default_factory=dict)

    def of(self, value: Value) -> Causes:
        return self.causes.get(value, _NOTHING)

    def of_domain(self, domain: Domain) -> Causes:
        return self.of(domain.begin) | self.of(domain.end)

    def of_item(self, item: IndexItem) -> Causes:
        match item:
            case At(index=index) | Gathered(index=index):
                return self.of(index)
            case Along(domain=domain):
                return self.of_domain(domain)
            case _:
                return _NOTHING

    # ------------------------------------------------------------------------------------------------------------ walk
    def block(self, block: Block) -> None:
        for statement in block.statements:
            self._statement(statement)

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Let(op=op, results=results):
                self._define(results, op)
            case AtomicUpdate(results=results):
                self.causes.update({result: frozenset({result}) for result in results})
            case If(then=then, orelse=orelse, merges=merges):
                self.block(then)
                self.block(orelse)
                self._merge(merges)
            case Parallel(variables=variables, body=body):
                self.causes.update({variable: frozenset({variable}) for variable in variables})
                self.block(body)
            case For() | While():
                self._loop(statement)
            case _:
                pass

    def _define(self, results: tuple[Value, ...], op: Op) -> None:
        found = _NOTHING.union(*(self.of(value) for value in operands(op)))
        for result in results:
            changing = isinstance(op, Read) and op.memory.writable
            self.causes[result] = found | {result} if changing else found

    def _merge(self, merges: tuple[Value, ...]) -> None:
        for merge in merges:
            assert isinstance(merge.origin, Merge)
            origin = merge.origin
            self.causes[merge] = self.of(origin.condition) | self.of(origin.true) | self.of(origin.false)

    def _loop(self, loop: For | While) -> None:
        """A carry is a cause of its own, next to what it starts from; its result is whatever its updates vary with."""
        if isinstance(loop, For):
            self.causes[loop.variable] = frozenset({loop.variable}) | self.of_domain(loop.domain)
        for carry in loop.carries:
            self.causes[carry.inside] = self.of(carry.initial) | {carry.inside}
        if isinstance(loop, While):
            self.block(loop.test)
        self.block(loop.body)
        updates = _NOTHING.union(*(self.of(carry.update) for carry in loop.carries))
        for carry in loop.carries:
            self.causes[carry.result] = self.of(carry.initial) | updates | {carry.result}


def operands(op: Op) -> Iterator[Value]:
    """The values that an operation is computed from, those of its domains and of its helpers' bodies included."""
    for part in fields(op):
        yield from _values(getattr(op, part.name))


def _values(part: object) -> Iterator[Value]:
    match part:
        case Value():
            yield part
        case tuple():
            for item in part:
                yield from _values(item)
        case Relation(items=items):
            yield from _values(items)
        case At(index=index) | Gathered(index=index):
            yield index
        case Along(domain=domain) | (Domain() as domain):
            yield from (domain.begin, domain.end)
        case Lambda(body=Block(statements=statements)):
            for statement in statements:
                if isinstance(statement, Let):
                    yield from operands(statement.op)
        case View() | Buffer():
            pass
        case _:
            pass

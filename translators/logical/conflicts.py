"""Conflicting writes of parallel points: proven apart, proven to conflict, or left as a note.

Two points of a parallel loop are apart when the index relation fixes the loop's variables: equal addresses force equal
variables. An axis whose index is c*v + (what is already fixed) fixes v; so does a mixed radix like i*N + j, j below N.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from intent.records import dataclass
from translators.algebra.polynomial import Polynomial, number
from translators.diagnostics import Diagnostic
from translators.logical.coordinates import polynomial
from translators.logical.program import (
    Allocate,
    Along,
    At,
    Block,
    For,
    Gathered,
    If,
    IndexItem,
    Indices,
    Kernel,
    LoopVariable,
    Parallel,
    Pick,
    Pointwise,
    Relation,
    Reshape,
    Value,
    While,
    Write,
)
from translators.logical.types import Buffer, Domain
from translators.logical.variation import Causes, Variation


def conflicts(kernel: Kernel) -> list[Diagnostic]:
    parallels = list(_parallels(kernel.body))
    variation = Variation()
    if parallels:
        variation.block(kernel.body)
    found: list[Diagnostic] = []
    for parallel in parallels:
        points = _Points(parallel, variation)
        for write in _writes(parallel.body):
            diagnostic = points.judge(write)
            if diagnostic is not None and all(diagnostic.span != other.span for other in found):
                found.append(diagnostic)
    known = {diagnostic.span for diagnostic in found}
    repeated = (_repeated(write) for write in _writes(kernel.body) if not _apart_within(write))
    return found + [diagnostic for diagnostic in dict.fromkeys(repeated) if diagnostic.span not in known]


@dataclass(frozen=True, slots=True)
class _Conditional:
    """A write with the conditions and loops between it and its parallel loop."""

    write: Write
    conditions: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class _Points:
    """The points of one parallel loop."""

    parallel: Parallel
    variation: Variation

    def judge(self, conditional: _Conditional) -> Diagnostic | None:
        write = conditional.write
        variables = [variable for variable in self.parallel.variables if not _single(variable)]
        if isinstance(write.memory, Buffer) and write.memory in _allocated(self.parallel.body):
            return None
        free = self._unfixed(write.relation.items)
        unfixed = [variable for variable in variables if variable in free]
        if not unfixed:
            return None
        if self._must_conflict(conditional, unfixed):
            return _conflict(write)
        return _unproven(write)

    def _must_conflict(self, conditional: _Conditional, unfixed: list[Value]) -> bool:
        """Every point writes the same elements, with a value of its own."""
        write = conditional.write
        for variable in unfixed:
            touched = self._causes(write.relation.items) | self._causes_of(conditional.conditions)
            if variable not in touched and variable in self.variation.of(write.value):
                return True
        return False

    def _causes(self, items: Iterable[IndexItem]) -> Causes:
        return frozenset().union(*(self.variation.of_item(item) for item in items))

    def _causes_of(self, values: Iterable[Value]) -> Causes:
        return frozenset().union(*(self.variation.of(value) for value in values))

    def _unfixed(self, items: tuple[IndexItem, ...]) -> set[Value]:
        """What is defined inside the loop and not determined by the address."""
        free = set(self._causes(items)) | set(self.parallel.variables)
        free = {cause for cause in free if cause.serial >= self.parallel.variables[0].serial}
        progress = True
        while progress:
            fixed = {cause for item in items for cause in self._fixed_by(item, free)}
            progress = bool(fixed & free)
            free -= fixed
        return free

    def _fixed_by(self, item: IndexItem, free: set[Value]) -> Iterator[Value]:
        """The free causes that equal positions on this axis force to be equal."""
        match item:
            case At(index=index):
                start, span = polynomial(index), number(1)
            case Along(domain=domain) if domain.step == 1:
                start, span = domain.begin_polynomial, domain.extent
            case _:
                return
        varying = [atom for atom in start.atoms() if isinstance(atom, Value) and self.variation.of(atom) & free]
        if all(atom in free for atom in varying) and not self._varies(span, free):
            yield from _digits(start, span, varying)

    def _varies(self, extent: Polynomial, free: set[Value]) -> bool:
        return any(isinstance(atom, Value) and self.variation.of(atom) & free for atom in extent.atoms())


def _digits(start: Polynomial, span: Polynomial, varying: list[Value]) -> list[Value]:
    """All of `varying` if they are the digits of a mixed radix above `span` consecutive positions, else none."""
    scales = {atom: start.coefficient(atom) for atom in varying}
    remaining = dict(sorted(scales.items(), key=lambda item: _constant_magnitude(item[1])))
    while remaining:
        digit = next((atom for atom, scale in remaining.items() if _at_least(scale, span)), None)
        if digit is None:
            return []
        scale = remaining.pop(digit)
        assert scale is not None
        if remaining and not isinstance(digit.origin, LoopVariable):
            return []
        if isinstance(digit.origin, LoopVariable):
            domain = digit.origin.domain
            span = _magnitude(scale) * (domain.end_polynomial - domain.begin_polynomial - 1) + span
    return varying


def _constant_magnitude(scale: Polynomial | None) -> float:
    """Digits with small numbers as scales come first."""
    return math.inf if scale is None or scale.constant is None else abs(scale.constant)


def _magnitude(scale: Polynomial) -> Polynomial:
    return -scale if scale.constant is not None and scale.constant < 0 else scale


def _at_least(scale: Polynomial | None, span: Polynomial) -> bool:
    if scale is None:
        return False
    if scale.constant is not None and span.constant is not None:
        return abs(scale.constant) >= span.constant
    surplus = (scale - span).constant
    return surplus is not None and surplus >= 0


# ----------------------------------------------------------------------------------------------------- within one write
def _apart_within(conditional: _Conditional) -> bool:
    """No two elements of one write have the same address."""
    relation = conditional.write.relation
    indices = [item.index for item in relation.items if isinstance(item, Gathered)]
    if not indices:
        return True
    covered = [False] * len(relation.joint_shape)
    for index in indices:
        if not _injective(index):
            continue
        offset = len(covered) - len(index.shape)
        for axis, extent in enumerate(index.shape):
            covered[offset + axis] |= extent.constant != 1
    return all(done or extent.constant == 1 for done, extent in zip(covered, relation.joint_shape, strict=True))


def _injective(index: Value) -> bool:
    """Whether the tensor is the coordinates of a domain, moved by a scalar."""
    while True:
        match index.origin:
            case Indices():
                return True
            case Reshape(argument=argument):
                index = argument
            case Pick(argument=argument, relation=Relation(items=items)) if not _chooses(items):
                index = argument
            case Pointwise(function="add" | "subtract", arguments=(argument, Value(is_scalar=True))):
                index = argument
            case Pointwise(function="add" | "subtract", arguments=(Value(is_scalar=True), argument)):
                index = argument
            case _:
                return False


def _chooses(items: tuple[IndexItem, ...]) -> bool:
    """Whether the items do more than slice axes and make new ones."""
    return any(isinstance(item, At | Gathered) for item in items)


# ----------------------------------------------------------------------------------------------------------- statements
def _parallels(block: Block) -> Iterator[Parallel]:
    for statement in block.statements:
        match statement:
            case Parallel(body=body):
                yield statement
                yield from _parallels(body)
            case If(then=then, orelse=orelse):
                yield from _parallels(then)
                yield from _parallels(orelse)
            case For(body=body) | While(body=body):
                yield from _parallels(body)
            case _:
                pass


def _writes(block: Block, conditions: tuple[Value, ...] = ()) -> Iterator[_Conditional]:
    """Every write of a block, with what decides whether it runs."""
    for statement in block.statements:
        match statement:
            case Write():
                yield _Conditional(statement, conditions)
            case If(condition=condition, then=then, orelse=orelse):
                yield from _writes(then, (*conditions, condition))
                yield from _writes(orelse, (*conditions, condition))
            case For(domain=domain, body=body):
                yield from _writes(body, (*conditions, domain.begin, domain.end))
            case Parallel(domains=domains, body=body):
                bounds = (edge for domain in domains for edge in (domain.begin, domain.end))
                yield from _writes(body, (*conditions, *bounds))
            case While(condition=condition, body=body):
                yield from _writes(body, (*conditions, condition))
            case _:
                pass


def _allocated(block: Block) -> set[Buffer]:
    found: set[Buffer] = set()
    for statement in block.statements:
        match statement:
            case Allocate(buffer=buffer):
                found.add(buffer)
            case If(then=then, orelse=orelse):
                found |= _allocated(then) | _allocated(orelse)
            case For(body=body) | While(body=body) | Parallel(body=body):
                found |= _allocated(body)
            case _:
                pass
    return found


def _single(variable: Value) -> bool:
    """Whether the loop has at most one point along this variable."""
    assert isinstance(variable.origin, LoopVariable)
    domain: Domain = variable.origin.domain
    extent = domain.extent.constant
    return extent is not None and extent <= 1


# ---------------------------------------------------------------------------------------------------------- diagnostics
def _conflict(write: Write) -> Diagnostic:
    message = f"every point of the parallel loop writes the same elements of `{write.memory.name}`"
    help = "index it with the loop's variable, reduce the values first, or use I.atomic or an ordered loop"
    return Diagnostic("INT511", "error", message, write.span, help)


def _unproven(write: Write) -> Diagnostic:
    message = f"parallel points are not proven to write different elements of `{write.memory.name}`"
    return Diagnostic("INT952", "note", message, write.span, "I.scatter_unique states that they are different")


def _repeated(conditional: _Conditional) -> Diagnostic:
    write = conditional.write
    message = f"the indices are not proven to name different elements of `{write.memory.name}`"
    return Diagnostic("INT952", "note", message, write.span, "I.scatter_unique states that they are different")

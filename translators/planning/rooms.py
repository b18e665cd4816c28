"""How much room scratch memory takes: what the host knows extents to be at most, which data decide."""

from __future__ import annotations

from collections.abc import Iterator

from intent.records import dataclass, field
from translators.algebra.polynomial import Atom, Polynomial, atomic, maximum, number, product
from translators.diagnostics import Span
from translators.logical import program as lp
from translators.logical.program import Value
from translators.logical.types import Buffer, Domain, Memory, View
from translators.planning.ordered_folds import OrderedFolds
from translators.planning.ranges import known_at_launch
from translators.planning.sinks import Context, MustTakeInTurn
from translators.tile.expression import Axis, LoopToken


@dataclass(slots=True)
class Rooms(OrderedFolds):
    """A subregion is at most as long as what it is part of, and a domain as the view that it indexes, wherever a
    statement that names it is reached.
    """

    points: dict[Axis, Value] = field(default_factory=dict)  # the variables of parallel axes
    places: dict[Buffer, Context] = field(default_factory=dict)  # of scratch memory
    allocated: dict[Memory, Span] = field(default_factory=dict)  # where the author makes a buffer
    _longer: list[tuple[Domain, Polynomial, Context]] = field(default_factory=list)  # what domains do not exceed

    def note_subregions(self, statement: lp.Statement, context: Context) -> None:
        for domain in _domains(statement):
            if domain.parent is not None:
                self._longer.append((domain, domain.parent.extent, context))
        self._longer += [(domain, extent, context) for domain, extent in _indexing(statement)]

    def subregions(self) -> Iterator[tuple[Domain, Domain]]:
        """Each subregion that no condition decides on, and what it is part of."""
        for domain, _, context in self._longer:
            if domain.parent is not None and context.predicate is None:
                yield domain, domain.parent

    def room(self, memory: Buffer) -> Polynomial | None:
        """Number of elements that the host can count; None if it cannot.

        Raises MustTakeInTurn for parallel points that only data count: memory for one of them is enough then.
        """
        context = self.places[memory]
        uncounted = [axis for axis in context.parallel if self.most(axis.extent, context) is None]
        if uncounted:
            raise MustTakeInTurn((self.points[axis] for axis in uncounted), self.kernel.span)
        found = [self.most(extent, context) for extent in self.shape(memory)]
        return product(extent for extent in found if extent is not None) if None not in found else None

    def limited(self, memory: Buffer) -> Iterator[tuple[Polynomial, Polynomial]]:
        """Its lengths that data decide, each with what the host makes room for."""
        for extent in memory.shape:
            length = self.extent(extent)
            if not known_at_launch(length):
                most = self.most(length, self.places[memory])
                assert most is not None  # there is no room otherwise
                yield length, most

    def at_most(self, extent: Polynomial, context: Context) -> Polynomial:
        """The extent, or what the host knows it to be at most for all points and iterations around."""
        if known_at_launch(extent):
            return extent
        found = self.most(extent, context)
        if found is None:
            return extent
        self.rooms[extent] = found
        return found

    def most(self, extent: Polynomial, context: Context) -> Polynomial | None:
        if known_at_launch(extent):
            return extent
        for domain, longer, where in self._longer:
            if where.around(context) and self.extent(domain.extent) == extent:
                found = self.most(self.extent(longer), where)
                if found is not None:
                    return found
        for atom in extent.atoms():
            limits, factor = self._limits(atom), extent.coefficient(atom)
            if limits is not None and factor is not None and factor.constant is not None:
                most = limits[1] - 1 if factor.constant > 0 else limits[0]
                bound = self.most(extent + factor * (most - atomic(atom)), context)
                return None if bound is None else _not_negative(bound)
        return None

    def _limits(self, atom: Atom) -> tuple[Polynomial, Polynomial] | None:
        """Between which bounds a coordinate runs."""
        if isinstance(atom, Axis):
            return atom.begin, atom.end
        if not isinstance(atom, LoopToken):
            return None
        loop = next(loop for loop in self.loops.values() if loop.token is atom)
        return (loop.low.polynomial, loop.high.polynomial) if loop.low is not None and loop.high is not None else None


def _domains(statement: lp.Statement) -> Iterator[Domain]:
    match statement:
        case lp.Let(op=lp.Read(relation=relation)):
            yield from _along(relation)
        case lp.Let(op=lp.Indices(domain=domain)) | lp.For(domain=domain):
            yield domain
        case lp.Write(relation=relation) | lp.Scatter(relation=relation) | lp.AtomicUpdate(relation=relation):
            yield from _along(relation)
        case lp.Parallel(domains=domains):
            yield from domains
        case _:
            pass


def _indexing(statement: lp.Statement) -> Iterator[tuple[Domain, Polynomial]]:
    """Domains of which every coordinate is one of a view's axis, of the given extent."""
    match statement:
        case lp.Let(op=lp.Read(memory=View() as view, relation=relation, valid=None)):
            pass
        case lp.Write(memory=View() as view, relation=relation) | lp.Scatter(memory=View() as view, relation=relation):
            pass
        case _:
            return
    items = (item for item in relation.items if not isinstance(item, lp.NewAxis))
    for item, extent in zip(items, view.shape, strict=True):
        if isinstance(item, lp.Along):
            yield item.domain, extent


def _along(relation: lp.Relation) -> Iterator[Domain]:
    yield from (item.domain for item in relation.items if isinstance(item, lp.Along))


def _not_negative(bound: Polynomial) -> Polynomial:
    bound = bound - min(bound.offset, 0)
    return bound if all(term > 0 for _, term in bound.terms) else maximum(bound, number(0))

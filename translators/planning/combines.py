"""Combines of generic reductions and scans as functions of single elements, which is what Triton takes.

The element of one component that a reduction is asked for says which element of every other component its combine
needs. If that is one and the same of each, whatever the accumulators and elements hold, the combine is a function of
these; otherwise it mixes elements, and an ordered loop has to carry all of them (`ordered_folds.py`).

A device function has no captures: what the combine needs beside accumulators and elements (its operands, sizes,
positions) is carried along as further components, the same in every accumulator and element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from intent.records import dataclass, field
from translators.algebra.polynomial import Atom, Polynomial, Symbol, atomic, number
from translators.logical import program as lp
from translators.logical.program import Value
from translators.planning.sinks import Coordinates
from translators.tile.expression import Axis, Combine, Expression, LoopToken, Place, Reduction, walk
from translators.tile.substitution import Rebuilding

if TYPE_CHECKING:
    from translators.planning.pull import Pull

Folded = lp.Reduce | lp.Scan


class MixesElements(Exception):
    """A component's element depends on several elements of another."""


@dataclass(frozen=True, slots=True)
class Combination:
    """The components that the element wanted depends on, where their elements are, and the combine of these."""

    components: tuple[int, ...]
    places: tuple[Coordinates, ...]
    combine: Combine | None  # of a sum or a maximum none is needed


def element_combine(pull: Pull, op: Folded, wanted: int, at: Coordinates) -> Combination:
    """The combine for the element of component `wanted` at the coordinates that are not folded.

    Components of one shape are folded together where they can be, so that those wanted elsewhere are found at once.
    """
    try:
        return _Elements(pull, op).closed(wanted, at, alike=True)
    except MixesElements:
        return _Elements(pull, op).closed(wanted, at, alike=False)


def mixes_elements(pull: Pull, op: Folded) -> bool:
    """Whether some component has no such combine, decided at coordinates that have nothing in common."""
    requirements = len(pull.requirements)
    try:
        for wanted, argument in enumerate(op.arguments):
            axes = op.axes if isinstance(op, lp.Reduce) else (op.axis,)
            kept = [ordinal for ordinal in range(len(argument.shape)) if ordinal not in axes]
            element_combine(pull, op, wanted, tuple(_somewhere(pull, argument, ordinal) for ordinal in kept))
    except MixesElements:
        return True
    finally:
        del pull.requirements[requirements:]
    return False


def _somewhere(pull: Pull, value: Value, ordinal: int) -> Polynomial:
    run = pull.range_of(value, ordinal)
    axis = pull.arena.axis(run.name, run.begin, run.end)
    return atomic(axis) - axis.begin


@dataclass(slots=True)
class _Elements:
    """Follows one element of a combine's result to the elements it is made of."""

    pull: Pull
    op: Folded
    places: dict[int, Coordinates] = field(default_factory=dict)  # of the components that have been reached
    results: dict[int, Expression] = field(default_factory=dict)
    captures: dict[Expression, None] = field(default_factory=dict)
    _pending: list[int] = field(default_factory=list)

    def closed(self, wanted: int, at: Coordinates, alike: bool) -> Combination:
        self._reach(wanted, at)
        shape = self._kept(wanted)
        for ordinal in range(len(self.op.arguments)):
            if alike and self._kept(ordinal) == shape:
                self._reach(ordinal, at)
        with self.pull.anew():  # the same parameters stand for other elements next time
            while self._pending:
                ordinal = self._pending.pop()
                self.results[ordinal] = self._result(ordinal)
        return self._combination()

    def _kept(self, ordinal: int) -> tuple[Polynomial, ...]:
        axes = self.op.axes if isinstance(self.op, lp.Reduce) else (self.op.axis,)
        shape = self.op.arguments[ordinal].shape
        return tuple(extent for axis, extent in enumerate(shape) if axis not in axes)

    def _reach(self, ordinal: int, at: Coordinates) -> None:
        pairs = zip(self._kept(ordinal), at, strict=True)
        place = tuple(number(0) if extent.constant == 1 else position for extent, position in pairs)
        if self.places.setdefault(ordinal, place) != place:
            raise MixesElements
        if ordinal not in self.results and ordinal not in self._pending:
            self._pending.append(ordinal)

    def _result(self, ordinal: int) -> Expression:
        combine, count = self.op.combine, len(self.op.arguments)
        if combine is None:
            raise AssertionError("a generic reduction has a combine")
        for place, parameter in enumerate(combine.parameters[: 2 * count]):
            self.pull.parameters[parameter] = partial(self._argument, place, parameter)
        for parameter, capture in zip(combine.parameters[2 * count :], self.op.captures, strict=True):
            self.pull.parameters[parameter] = partial(self.pull.pull, capture)
        result, at = combine.results[ordinal], self.places[ordinal]
        return self.pull.pull(result, at[len(at) - len(result.shape) :])

    def _argument(self, place: int, parameter: Value, at: Coordinates) -> Expression:
        """The first half of the parameters are accumulators, the second elements."""
        self._reach(place % len(self.op.arguments), at)
        return self.pull.indexed(self.pull.arena.make("argument", parameter.dtype, (), place))

    # ------------------------------------------------------------------------------------------------ device function
    def _combination(self) -> Combination:
        components = tuple(sorted(self.places))
        self._collect_captures([self.results[ordinal] for ordinal in components])
        count, width = len(components), len(components) + len(self.captures)
        numbered = {each: self._made(each, count + at) for at, each in enumerate(self.captures)}
        for at, ordinal in enumerate(components):
            for side, place in ((0, ordinal), (1, ordinal + len(self.op.arguments))):
                dtype = self.op.arguments[ordinal].dtype
                argument = self.pull.arena.make("argument", dtype, (), place)
                numbered[argument] = self.pull.arena.make("argument", dtype, (), side * width + at)
        atoms: dict[Atom, Polynomial] = {
            atom: made.polynomial
            for each, made in numbered.items()
            if each.operation == "index" and (atom := each.polynomial.atom) is not None
        }
        rebuilding = Rebuilding(self.pull.arena, atoms, numbered.get)
        results = [rebuilding.expression(self.results[ordinal]) for ordinal in components]
        results += [self._made(each, count + at) for at, each in enumerate(self.captures)]
        identities = [self._identity(ordinal) for ordinal in components]
        places = tuple(self.places[ordinal] for ordinal in components)
        captures = tuple(self.captures)
        return Combination(
            components, places, Combine("combine", width, tuple(results), (*identities, *captures), captures)
        )

    def _made(self, capture: Expression, place: int) -> Expression:
        return self.pull.indexed(self.pull.arena.make("argument", capture.dtype, (), place))

    def _identity(self, ordinal: int) -> Expression:
        value = self.op.identities[ordinal]
        return self.pull.pull(value, self.places[ordinal] if value.shape else ())

    def _collect_captures(self, results: Sequence[Expression]) -> None:
        """The largest parts of the results that hold no argument, and are more than numbers."""
        given: dict[Expression, bool] = {}  # whether an argument is in it
        numbers: dict[Expression, bool] = {}
        for node in walk(*results):
            given[node] = node.operation == "argument" or any(given[operand] for operand in node.operands)
            numbers[node] = _is_number(node) and all(numbers[operand] for operand in node.operands)
            if given[node] and isinstance(node.attribute, Reduction | Place):
                raise MixesElements
        parts = [part for node in given if given[node] for part in _parts(self.pull, node)]
        for part in (*results, *parts):
            if not given.get(part, False) and not numbers.get(part, False):
                self.captures[part] = None


def _is_number(node: Expression) -> bool:
    if node.operation == "index":
        return node.polynomial.constant is not None
    return node.operation in ("constant", "pointwise", "select", "cast", "bitcast")


def _parts(pull: Pull, node: Expression) -> Iterator[Expression]:
    """The operands; of integer arithmetic, the values in it."""
    yield from node.arguments
    if node.operation == "index":
        for atom in node.polynomial.atoms():
            if isinstance(atom, Expression):
                yield atom
            elif isinstance(atom, Axis | LoopToken | Symbol):
                yield pull.index_value(atomic(atom))


def inserted(at: Sequence[Polynomial], folded: dict[int, Polynomial]) -> Coordinates:
    """Coordinates of a whole element: those along the folded axes, and the others in their order."""
    rest = iter(at)
    return tuple(folded[axis] if axis in folded else next(rest) for axis in range(len(at) + len(folded)))

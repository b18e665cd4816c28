"""What the rules share: the arena, what is known of sizes, and the ledger they write to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from intent.records import dataclass, field
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Extremum, Polynomial, Symbol, symbol
from translators.lifting.sinks import Ledger
from translators.tile.expression import REDUCTIONS, Arena, Axis, Combine, Expression, having


@dataclass(slots=True)
class Context:
    """`blocks` are the compile-time sizes of tiles, which a lifted program should not mention; `local` the axes whose
    points all belong to one program."""

    arena: Arena
    facts: Facts
    ledger: Ledger
    blocks: frozenset[str]
    local: set[Axis] = field(default_factory=set)
    programs: set[Axis] = field(default_factory=set)  # each point of them is another program
    segments: dict[Axis, Polynomial | None] = field(default_factory=dict)  # axes that memory bounds: of rows below this
    longest: set[Polynomial] = field(default_factory=set)  # no segment has more rows
    launched: tuple[Polynomial, ...] = ()  # not negative in a launch, as the host says
    arguments: frozenset[str] = frozenset()  # numbers that the host function is given and the kernel is not
    rows: set[Polynomial] = field(default_factory=set)  # lengths of rows that are blocks of programs
    counts: frozenset[str] = frozenset()  # sizes of the grid that nothing but the launch chooses
    identities: dict[Combine, tuple[bool | int | float, ...]] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)  # pointers to numbers of at least 1
    group_sizes: dict[Polynomial, Polynomial] = field(default_factory=dict)  # a name -> the quotient that it is
    wholes: dict[str, tuple[Polynomial, Polynomial]] = field(default_factory=dict)  # programs: (divisor, how often)
    loaded: frozenset[str] = frozenset()  # pointers to what is loaded anywhere
    tiling: frozenset[str] = frozenset()  # blocks of which several make up what masks count
    required: dict[Polynomial, None] = field(default_factory=dict)  # not negative in a launch that has a meaning
    simplifiers: dict[object, object] = field(default_factory=dict)  # by what they know

    def invariant(self, polynomial: Polynomial) -> bool:
        """Whether it is the same for every program, iteration and lane of a launch."""
        return not any(isinstance(atom, Axis | Expression) for atom in polynomial.atoms())

    def invariant_but(self, polynomial: Polynomial, axes: Iterable[Axis], axis: Axis) -> bool:
        """Whether it depends on nothing but sizes and the other axes of a sink."""
        others = set(axes) - {axis}
        return not any(isinstance(atom, Axis | Expression) and atom not in others for atom in polynomial.atoms())

    def chosen(self, polynomial: Polynomial) -> bool:
        """Whether a launch chooses it to fit: it is made of block sizes and numbers of programs alone."""
        names = {atom.name for atom in polynomial.atoms() if isinstance(atom, Symbol)}
        own = self.blocks | self.counts
        return bool(names) and all(name in own or name.startswith("programs_") for name in names)

    def whole_programs(self, extent: Polynomial, divisor: Polynomial) -> Polynomial | None:
        """How often a number of programs that nobody says is the divisor: a launch has no part of a group."""
        atom = extent.atom
        if not isinstance(atom, Symbol) or not atom.name.startswith("programs_"):
            return None
        known, count = self.wholes.setdefault(atom.name, (divisor, symbol(f"{atom.name}_1")))
        if known != divisor:
            return None
        self.ledger.add("assumed", f"the number of programs, {extent!r}, is a multiple of {divisor!r}")
        return count

    def mentions_blocks(self, polynomial: Polynomial) -> bool:
        return any(isinstance(atom, Symbol) and atom.name in self.blocks for atom in polynomial.atoms())


def with_axes(facts: Facts, axes: Iterable[Axis]) -> Facts:
    """Also know the ranges of these axes; one up to max(begin, E) has no point unless it ends at E."""
    for axis in axes:
        facts = facts.with_bounds(axis, axis.begin, axis.end - 1)
        longest = axis.end.atom
        if isinstance(longest, Extremum) and longest.kind == "maximum" and axis.begin in longest.operands:
            others = [each for each in longest.operands if each != axis.begin]
            facts = facts.with_bounds(axis, high_inclusive=others[0] - 1) if len(others) == 1 else facts
    return facts


def atoms_of(*roots: Expression) -> frozenset[Atom]:
    """Every atom of every coordinate and range below these expressions, and every axis that they bind."""
    return frozenset[Atom]().union(*(root.mentioned for root in roots))


def within_ranges(roots: Iterable[Expression]) -> Iterator[Expression]:
    """The expressions that bound the axes of reductions below these."""
    for node in having(REDUCTIONS, *roots):
        yield from in_bounds(node.attribute.axes)


def in_bounds(axes: Iterable[Axis]) -> Iterator[Expression]:
    """The expressions that bound these axes."""
    for axis in axes:
        bounds = (*axis.begin.atoms(), *axis.end.atoms())
        yield from (atom for atom in bounds if isinstance(atom, Expression))

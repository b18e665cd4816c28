"""Loads and stores of one array: what a lifted program reads must be what the original read.

An array that is only loaded, or only stored, keeps no order. If a kernel does both, the lifted program reads before it
stores; that is the same if no store of the original came between, from this program or another:

    own    the element is stored by the very lane that loaded it, later in the same iteration
    never  a program that loads stores nothing, by a condition, and other programs store elsewhere
    away   no program stores where another or the same one loads
    apart  every load of a program comes before all its stores, and other programs store elsewhere

Else, if other programs store elsewhere, iterations of one loop may stay in order: then the lifted program too reads
what earlier iterations stored, provided that the loads of an iteration come before its stores.
"""

from __future__ import annotations

from collections.abc import Sequence

from intent.records import dataclass, field, replace
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Polynomial, Symbol, atomic
from translators.lifting.context import in_bounds, with_axes, within_ranges
from translators.lifting.disjoint import Access, never_meet, within_rows
from translators.lifting.rewriting import opposites, where
from translators.lifting.sinks import Ledger, Recurrence, Residue, Sink
from translators.lifting.told import told
from translators.tile.effects import KernelEffects
from translators.tile.expression import LOADS, REDUCTIONS, Arena, Axis, Expression, LoopToken, dependences, having
from translators.tile.substitution import Rebuilding


@dataclass(slots=True)
class MemoryOrder:
    """Checks the sinks as the kernel has them, before any rule: programs and lanes are still told apart."""

    effects: KernelEffects
    arena: Arena
    facts: Facts
    ledger: Ledger
    blocks: frozenset[str]
    stored: dict[str, list[Sink]] = field(default_factory=dict)
    loops: dict[Sink, tuple[LoopToken, ...]] = field(default_factory=dict)
    ordered: dict[Sink, LoopToken] = field(default_factory=dict)  # sinks that are within a loop that stays in order

    def check(self, sinks: Sequence[Sink]) -> tuple[Sink, ...]:
        """The sinks, with loops that have to stay in order as recurrences."""
        self._check_stores(sinks)
        for sink in sinks:
            self.stored.setdefault(sink.pointer, []).append(sink)
        self.loops = {sink: store.loops for sink, store in zip(sinks, self.effects.stores, strict=True)}
        for sink in sinks:
            for load in having(LOADS, *sink.roots, *within_ranges(sink.roots), *in_bounds(sink.every_axis)):
                for store in self.stored.get(load.attribute.pointer, ()):
                    self._check(sink, load, store)
        return tuple(map(self._in_turn, sinks))

    def _check_stores(self, sinks: Sequence[Sink]) -> None:
        """Two stores of one loop alternate; as statements one after the other they do not, unless they never meet."""
        pairs = list(zip(self.effects.stores, sinks, strict=True))
        for position, (store, sink) in enumerate(pairs):
            for other, before in pairs[:position]:
                alternate = other.pointer == store.pointer and set(other.loops) & set(store.loops)
                if alternate and not self._elsewhere(_stored(before), _stored(sink), races=False):
                    raise Residue(f"'{store.pointer}' is stored twice in one loop", store.line)

    def _elsewhere(self, first: Access, second: Access, races: bool = True) -> bool:
        """Whether two accesses never meet; without `races`, those of different programs do not in any case."""
        same = () if races else self.effects.programs
        for one, other, rows in within_rows(first, second, self.blocks):
            if never_meet(self.arena, self.facts, one, other, same):
                for stride in rows:
                    self.ledger.add("assumed", f"rows that are {stride.name} apart do not overlap")
                return True
        return False

    def _check(self, sink: Sink, load: Expression, store: Sink) -> None:
        pointer, clock = load.attribute.pointer, load.attribute.clock
        programs = set(self.effects.programs)
        if any(axes <= programs for axes in opposites(load.arguments[1], store.mask)) and self._apart(load, store):
            return
        if clock >= store.clock and not self._same_loop(clock, store.clock):
            raise Residue(f"'{pointer}' is loaded after it was stored", sink.line)
        if clock < store.clock and _same_lane(sink, load, store):
            return
        offset, mask = load.arguments[:2]
        if self._elsewhere(Access(offset.polynomial, mask), _stored(store)):
            return
        if clock < self._first_moment(store) and (self._apart(load, store) or self._tells_all(sink, load, store)):
            return
        if not self._keep_order(sink, load, store):
            raise Residue(f"'{pointer}' is loaded where another program may have stored", sink.line)

    # -------------------------------------------------------------------------------------------------- loops in order
    def _told(self, sink: Sink, load: Expression, store: Sink) -> set[LoopToken] | None:
        """The loops around both of which different iterations may touch one element; None if programs may too."""
        updates = sink.combine or store.combine  # whose loops may be no axes any more
        shared = [] if updates else [token for token in self.loops[sink] if token in self.loops[store]]
        mine, theirs = self._iterations(sink), self._iterations(store)
        axes: dict[Atom, Polynomial] = {theirs[token]: atomic(mine[token]) for token in shared}
        mask = Rebuilding(self.arena, axes).expression(store.mask)
        accesses = (
            Access(load.arguments[0].polynomial, load.arguments[1]),
            Access(store.offset.polynomial.substitute(axes), mask),
        )
        programs = self.effects.programs
        same, strides = told(self.facts, *accesses, {*programs, *(mine[token] for token in shared)}, self.blocks)
        if not same.issuperset(programs):
            return None
        for stride in strides:
            self.ledger.add("assumed", f"rows of {store.pointer}, {stride.name} apart, do not overlap")
        return {token for token in shared if mine[token] not in same}

    def _tells_all(self, sink: Sink, load: Expression, store: Sink) -> bool:
        """Whether programs and iterations are told, and no other store of the program is in the same place."""
        others = [each for each in self.stored[store.pointer] if each is not store]
        alone = all(self._elsewhere(_stored(each), _stored(store), races=False) for each in others)
        return alone and self._told(sink, load, store) == set()

    def _iterations(self, sink: Sink) -> dict[LoopToken, Axis]:
        return dict(zip(self.loops[sink], sink.axes[len(self.effects.programs) :], strict=False))

    def _keep_order(self, sink: Sink, load: Expression, store: Sink) -> bool:
        """Whether it is enough that the iterations of one loop around both stay in order."""
        tokens = self._told(sink, load, store)
        if tokens is None or len(tokens) != 1:
            return False
        shared = set(self.loops[sink])
        inner = [each.begin for each in self.effects.loops if each.token in set(self.loops[store]) - shared]
        if load.attribute.clock >= min([store.clock, *inner]) or load not in tuple(having(LOADS, sink.value)):
            return False
        (token,) = tokens
        return all(self.ordered.setdefault(each, token) is token for each in (sink, store))

    def _in_turn(self, sink: Sink) -> Sink:
        token = self.ordered.get(sink)
        if token is None or any(each.token is token for each in sink.recurrences):
            return sink
        if sink.recurrences:
            raise Residue(f"'{sink.pointer}' is loaded and stored in a loop within a loop", sink.line)
        return replace(sink, recurrences=(Recurrence(token, self._iterations(sink)[token], ()),))

    def _same_loop(self, load: int, store: int) -> bool:
        return any(each.begin <= load < each.end and each.begin <= store < each.end for each in self.effects.loops)

    def _first_moment(self, store: Sink) -> int:
        """When the program begins to store: at the store, or at the start of the loops around it."""
        return min([store.clock, *(each.begin for each in self.effects.loops if each.begin <= store.clock < each.end)])

    # ------------------------------------------------------------------------------------------------ other programs
    def _apart(self, load: Expression, store: Sink) -> bool:
        """Whether different programs touch different elements: both are the same multiples of the program ids, plus
        what stays below."""
        programs = set(self.effects.programs)
        mine, near = _divided(load.arguments[0].polynomial, programs)
        theirs, far = _divided(store.offset.polynomial, programs)
        if mine != theirs or not programs <= set(mine.atoms()):
            return not programs
        return all(self._rows_apart(load, store, mine.coefficient(axis), (near, far)) for axis in self.effects.programs)

    def _rows_apart(
        self, load: Expression, store: Sink, stride: Polynomial | None, within: tuple[Polynomial, ...]
    ) -> bool:
        if stride is None:
            return False
        lanes = (axis for node in having(REDUCTIONS, load, *store.roots) for axis in node.attribute.axes)
        facts = with_axes(self.facts, dict.fromkeys([*store.axes, *load.axes, *lanes]))
        guarded = zip(within, (load.arguments[1], store.mask), strict=True)
        places = [(each, where(facts, mask)) for each, mask in guarded]
        if all(known.nonnegative(each) and known.less(each, stride) for each, known in places):
            return True
        if not isinstance(stride.atom, Symbol) or any(stride.atom in each.atoms() for each in within):
            return False  # else a launch can have rows that are long enough
        self.ledger.add("assumed", f"rows of {store.pointer}, {stride!r} apart, do not overlap")
        if any(_from_memory(atom) for each in within for atom in each.atoms()):
            self.ledger.add("assumed", f"elements that are coordinates of {store.pointer} are within its rows")
        return True


def _stored(sink: Sink) -> Access:
    return Access(sink.offset.polynomial, sink.mask)


def _from_memory(atom: Atom) -> bool:
    return isinstance(atom, Expression) and "load" in atom.operations


def _same_lane(sink: Sink, load: Expression, store: Sink) -> bool:
    """Whether each point of the sink loads what the same point of the store stores."""
    if len(sink.axes) != len(store.axes):
        return False
    mapping: dict[Atom, Polynomial] = {}
    for mine, other in zip(sink.axes, store.axes, strict=True):
        if (mine.begin, mine.end) != (other.begin.substitute(mapping), other.end.substitute(mapping)):
            return False
        mapping[other] = atomic(mine)
    return load.arguments[0].polynomial == store.offset.polynomial.substitute(mapping)


def _divided(offset: Polynomial, programs: set[Axis]) -> tuple[Polynomial, Polynomial]:
    """(terms that vary with the program, the others): also those that are read from memory, which tell no programs."""
    mine, others = Polynomial(), Polynomial()
    for term in offset.terms:
        single = Polynomial((term,))
        if any(programs & dependences(atom)[0] and not _from_memory(atom) for atom in single.atoms()):
            mine = mine + single
        else:
            others = others + single
    return mine, others

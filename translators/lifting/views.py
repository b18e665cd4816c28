"""Delinearisation: linear offsets become coordinates of ranked views.

The distinct multiples of coordinates in all accesses through one pointer are its strides. A stride that is a multiple
of the next one gives the extent of the next axis by their ratio, which every coordinate must respect; other extents are
what the accesses reach. Nothing is invented: a coordinate read from memory has an extent of its own, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import gcd

from intent.records import dataclass, field, replace
from translators.algebra.facts import Facts
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Monomial,
    Polynomial,
    Quotient,
    Remainder,
    Symbol,
    atomic,
    floor_divide,
    number,
)
from translators.lifting.context import Context, atoms_of, in_bounds, with_axes, within_ranges
from translators.lifting.injectivity import check_injective
from translators.lifting.names import Names
from translators.lifting.offsets import (
    Term,
    before_ends,
    belongs,
    beside_multiples,
    from_the_end,
    is_coordinate,
    terms,
    value_of,
)
from translators.lifting.rewriting import conjunction, conjuncts, like, where
from translators.lifting.sinks import Residue, Sink
from translators.lifting.stored_rows import begins_at_zero, can_hold
from translators.logical.types import Direction, View
from translators.tile.effects import Address, KernelParameter
from translators.tile.expression import LOADS, REDUCTIONS, Axis, Expression, Place, having
from translators.tile.substitution import Rebuilding


@dataclass(frozen=True, slots=True)
class Layout:
    """A pointer's strides, outermost first, and its view; a `flat` one has the offset as its only coordinate."""

    strides: tuple[Polynomial, ...]
    view: View
    flat: bool = False


@dataclass(frozen=True, slots=True)
class Viewed:
    """A sink whose loads and store go through views."""

    sink: Sink
    memory: View
    coordinates: tuple[Polynomial, ...]


Known = tuple[Polynomial, Facts]  # a coordinate, and what is known where it is used
Coordinates = tuple[tuple[Polynomial, ...], Facts]


@dataclass(slots=True)
class Delinearising:
    context: Context
    parameters: Mapping[str, KernelParameter]
    sinks: Sequence[Sink]
    names: Mapping[str, str]
    unused: Names
    layouts: dict[str, Layout] = field(default_factory=dict)
    extents: dict[Polynomial, str] = field(default_factory=dict)  # extents that are no size of the kernel, by name
    facts: Facts = field(default_factory=Facts)
    reached: dict[str, tuple[Polynomial, ...]] = field(default_factory=dict)  # what stays below an unknown extent
    sorted: set[str] = field(default_factory=set)  # arrays of offsets whose segments do not overlap
    lengths: dict[str, str] = field(default_factory=dict)  # arrays of lengths of segments -> of where those begin
    parts: dict[str, str] = field(default_factory=dict)  # arrays of what is not counted of lengths -> of lengths
    rows: dict[Polynomial, None] = field(default_factory=dict)  # not negative: stored rows do not overlap
    bounded: set[Polynomial] = field(default_factory=set)  # negative, as masks say

    def run(self) -> tuple[Viewed, ...]:
        self.facts = with_axes(self._dividing(self.context.facts), _axes(self.sinks))
        masks = {condition for _, _, mask in self._guarded_accesses() for condition in conjuncts(mask)}
        self.bounded = {
            each.arguments[0].polynomial - each.arguments[1].polynomial
            for each in masks
            if each.operation == "pointwise" and each.attribute[0] == "less"
        }
        for pointer in self._pointers():
            self.layouts[pointer] = self._layout(pointer)
        return tuple(map(self._viewed, self.sinks))

    def _dividing(self, facts: Facts) -> Facts:
        """No program divides by 0."""
        for atom in atoms_of(*(root for sink in self.sinks for root in sink.roots)):
            if isinstance(atom, Quotient | Remainder) and isinstance(atom.denominator.atom, Symbol):
                facts = facts.with_bounds(atom.denominator.atom, low=1)
        return facts

    def placing(self) -> set[str]:
        """The pointers to elements from which coordinates are computed."""
        atoms = (atom for _, offset in self._accesses() for atom in offset.atoms() if isinstance(atom, Expression))
        return {load.attribute.pointer for load in having(LOADS, *atoms)}

    def _pointers(self) -> list[str]:
        """In the order of the parameters."""
        used = {pointer for pointer, _ in self._accesses()}
        return [name for name in self.parameters if name in used]

    def _accesses(self) -> Iterator[tuple[str, Polynomial]]:
        return ((pointer, offset) for pointer, offset, _ in self._guarded_accesses())

    def _guarded_accesses(self) -> Iterator[tuple[str, Polynomial, Expression]]:
        """Pointer, offset, and the condition without which the element is not touched."""
        for sink in self.sinks:
            yield sink.pointer, sink.offset.polynomial, sink.mask
            stored = tuple(conjuncts(sink.mask)) if not sink.recurrences else ()
            for load in having(LOADS, *sink.roots, *within_ranges(sink.roots), *in_bounds(sink.every_axis)):
                mask = conjunction(self.context.arena, [*conjuncts(load.arguments[1]), *stored])
                yield load.attribute.pointer, load.arguments[0].polynomial, mask

    # ---------------------------------------------------------------------------------------------------------- layouts
    def _layout(self, pointer: str) -> Layout:
        accesses = list(dict.fromkeys(each[1:] for each in self._guarded_accesses() if each[0] == pointer))
        known = dict(self.extents)
        failed: Residue | None = None
        offsets = [offset for offset, _ in accesses]
        shifts = self._shifts(offsets)
        ends = frozenset(size for offset in offsets for size in before_ends(offset, shifts))
        every = dict.fromkeys(((ends,) if ends else ()) + (frozenset(), shifts))
        whole = self._guarded_whole(accesses)
        for kept, nested, joined in product(every, (True, False), (whole, {}) if whole else ({},)):
            try:
                return self._strided(pointer, accesses, kept, nested, joined)
            except Residue as found:
                failed = failed or found
                self.extents = dict(known)
        if failed is not None and self._stored(pointer):
            raise failed
        extent = self._unknown(offsets, pointer)
        return Layout((number(1),), View(self.names[pointer], self.parameters[pointer].dtype, (extent,), "In"), True)

    def _shifts(self, offsets: Sequence[Polynomial]) -> frozenset[Monomial]:
        """Products of sizes that are added to offsets, but multiply no coordinate: they may be no strides."""
        try:
            found = [term for offset in offsets for term in terms(offset)]
        except Residue:
            return frozenset()
        strides = {term.size for term in found if term.coordinate is not None}
        return frozenset(term.size for term in found if term.coordinate is None and term.size) - strides

    def _guarded_whole(self, accesses: Sequence[tuple[Polynomial, Expression]]) -> dict[Monomial, int]:
        """The strides whose multiples are blocks of one axis, and how many of them are one step along it: a mask keeps
        what is counted in steps below a size.
        """
        found: dict[Monomial, int] = {}
        for offset, mask in accesses:
            try:
                every = list(terms(offset))
            except Residue:
                return {}
            facts = where(self.facts, mask)
            for size in dict.fromkeys(term.size for term in every):
                mine = [term for term in every if term.size == size]
                step = gcd(*(term.factor for term in mine))
                total = sum((value_of(replace(term, factor=term.factor // step), 1) for term in mine), Polynomial())
                if len({abs(term.factor) for term in mine}) > 1 and any(
                    facts.less(total, bound) and not self.facts.less(total, bound) for bound in self._sizes()
                ):
                    found[size] = gcd(step, found.get(size, 0))
        return found

    def _strided(
        self,
        pointer: str,
        accesses: Sequence[tuple[Polynomial, Expression]],
        shifts: frozenset[Monomial],
        nested: bool,
        joined: Mapping[Monomial, int],
    ) -> Layout:
        """With an axis for each stride; `nested`: multiples of a stride stand beside it, whatever their degree.

        Of strides that are `joined`, only so many of them are an axis, and no multiples of that.
        """
        strides = self._strides([list(terms(offset)) for offset, _ in accesses])
        units = {size: Polynomial(((size, step),)) for size, step in joined.items()}
        strides = self._ordered(list(dict.fromkeys(units.get(each.terms[0][0], each) for each in strides)))
        strides = beside_multiples(strides) if nested else strides
        strides = [stride for stride in strides if stride.terms[0][0] not in shifts]
        strides = self._without_blocks(strides, [offset for offset, _ in accesses])
        places = [(self._coordinates(offset, strides), where(self.facts, mask)) for offset, mask in accesses]
        shape = tuple(self._extent(pointer, strides, places, axis) for axis in range(len(strides)))
        if self._stored(pointer):
            self._check_room(pointer, strides, shape)
        parameter = self.parameters[pointer]
        view = View(self.names[pointer], parameter.dtype, shape, self._direction(pointer))
        return Layout(tuple(strides), view)

    def _without_blocks(self, strides: list[Polynomial], offsets: Sequence[Polynomial]) -> list[Polynomial]:
        """Blocks of an axis are no axis of their own, unless every block is whole: then they are rows."""
        for position in range(len(strides) - 1):
            size = strides[position].divided_by(strides[position + 1])
            if size is None or not all(isinstance(atom, Symbol) for atom in size.atoms()):
                continue
            if not self.context.mentions_blocks(size):
                continue
            whole = position == 0 or strides[position - 1].divided_by(strides[position]) is not None
            lanes = [self._coordinates(offset, strides)[position + 1] for offset in offsets]
            if not whole or any(_is_clipped(each) for each in lanes) or not self._below(lanes, size):
                return self._without_blocks(strides[:position] + strides[position + 1 :], offsets)
        return strides

    def _below(self, coordinates: Sequence[Polynomial], size: Polynomial) -> bool:
        return all(self.facts.nonnegative(each) and self.facts.less(each, size) for each in coordinates)

    def _direction(self, pointer: str) -> Direction:
        loads = (load for sink in self.sinks for load in having(LOADS, *sink.roots))
        loaded = any(load.attribute.pointer == pointer for load in loads)
        stored = any(sink.pointer == pointer for sink in self.sinks)
        loaded = loaded or any(sink.combine and sink.pointer == pointer for sink in self.sinks)
        return "InOut" if loaded and stored else "Out" if stored else "In"

    def _strides(self, accesses: list[list[Term]]) -> list[Polynomial]:
        sizes: dict[Monomial, None] = {}
        for access in accesses:
            for term in access:
                if term.coordinate is not None or not from_the_end(term, access):
                    sizes.setdefault(term.size)
        return [stride for size in sizes for stride in self._multiples(size, accesses)]

    def _multiples(self, size: Monomial, accesses: list[list[Term]]) -> list[Polynomial]:
        """The strides that are numbers times one product of sizes."""
        unit = Polynomial(((size, 1),))
        chosen = [term for access in accesses for term in access if term.size == size]
        factors = {abs(term.factor) for term in chosen if term.coordinate is not None}
        constants = {term.factor for term in chosen if term.coordinate is None}
        if not factors:
            return [unit]
        if len(factors) == 1:
            (factor,) = factors
            if factor == 1:
                return [unit]
            if any(constant % factor for constant in constants):
                dense = any(not term.size for access in accesses for term in access)  # else every axis has its stride
                return [unit * factor, unit] if dense else [unit]
            return [unit * factor] if size else [unit]
        ordered = sorted(factors, reverse=True)
        chain = all(large % small == 0 for large, small in pairwise(ordered))
        separable = chain and all(self._separable(access, size, ordered) for access in accesses)
        return [unit * factor for factor in ordered] if separable else [unit]

    def _separable(self, access: list[Term], size: Monomial, factors: list[int]) -> bool:
        """Whether what stands beside each multiple stays below it."""
        for factor in factors[:-1]:
            rest = [term for term in access if term.size == size and abs(term.factor) < factor]
            total = sum((value_of(term, 1) for term in rest), Polynomial())
            if not (self.facts.nonnegative(total) and self.facts.less(total, factor)):
                return False
        return True

    def _ordered(self, strides: list[Polynomial]) -> list[Polynomial]:
        """Outermost first: by degree, blocks of an axis within it, in the order of the parameters, by size."""
        rank = {name: position for position, name in enumerate(self.parameters)}

        def key(stride: Polynomial) -> tuple[int, int, int, int]:
            monomial, factor = stride.terms[0]
            first = min((rank.get(atom.name, 0) for atom in monomial if isinstance(atom, Symbol)), default=0)
            blocks = sum(isinstance(atom, Symbol) and atom.name in self.context.blocks for atom in monomial)
            return -len(monomial), blocks, first, -factor

        return sorted(strides, key=key)

    def _coordinates(self, offset: Polynomial, strides: Sequence[Polynomial]) -> tuple[Polynomial, ...]:
        """The offset as one coordinate per stride."""
        everything = list(terms(offset))
        sizes = [stride.terms[0][0] for stride in strides]
        foreign = [term for term in everything if term.size not in sizes or from_the_end(term, everything)]
        rest = [term for term in everything if term not in foreign]
        made: list[Polynomial] = []
        for position, stride in enumerate(strides):
            monomial, factor = stride.terms[0]
            last = monomial not in sizes[position + 1 :]
            mine = [term for term in rest if term.size == monomial and (last or abs(term.factor) >= factor)]
            whole, left = self._whole(mine, factor)
            here = [term for term in foreign if last and factor == 1 and belongs(term, monomial, everything)]
            made.append(sum((value_of(term, 1, monomial) for term in here), whole))
            rest = [term for term in rest if term not in mine] + left
            foreign = [term for term in foreign if term not in here]
        if rest or foreign:
            raise Residue(f"an address that has no place in a view: {offset!r}")
        return tuple(made)

    def _whole(self, chosen: list[Term], factor: int) -> tuple[Polynomial, list[Term]]:
        total = Polynomial()
        left: list[Term] = []
        for term in chosen:
            count, remaining = divmod(term.factor, factor)
            if remaining and term.coordinate is not None:
                raise Residue("an address in steps that are no multiple of a stride")
            total = total + value_of(replace(term, factor=count), 1)
            if remaining:
                left.append(replace(term, factor=remaining))
        return total, left

    # ---------------------------------------------------------------------------------------------------------- extents
    def _extent(
        self, pointer: str, strides: Sequence[Polynomial], places: Sequence[Coordinates], axis: int
    ) -> Polynomial:
        coordinates = [(place[axis], facts) for place, facts in places]
        segmented = self._segmented(coordinates)
        if segmented is not None:
            if axis and self._stored(pointer):
                self._check_rows(pointer, strides, axis)
            (rows,) = segmented
            if rows is not None:
                return self._named(rows, pointer, axis)
            guarded = self._guarded(coordinates)
            if guarded is not None:
                return self._named(guarded, pointer, axis)
            return self._unknown([each for each, _ in coordinates], pointer)
        ratio = strides[axis - 1].divided_by(strides[axis]) if axis else None
        if ratio is not None and self._within(coordinates, ratio):
            return self._named(ratio, pointer, axis)
        constants = [each.constant for each, _ in coordinates if each.constant is not None]
        varying = [each for each in coordinates if each[0].constant is None]
        if ratio is not None and min(constants, default=0) >= 0 and self._within(varying, ratio):
            self._assume_elements(pointer, coordinates, ratio)
            return self._named(ratio, pointer, axis)
        if axis and self._stored(pointer):
            self._check_rows(pointer, strides, axis)
        direct = [each for each in coordinates if not _read_from_memory(each[0])]
        if direct and len(direct) < len(coordinates):
            self.context.ledger.add(
                "assumed", f"elements that are coordinates of {pointer} are within its other accesses"
            )
        elif not direct:
            guarded = self._guarded(coordinates)
            if guarded is None:
                name = self._fresh("V")
                self.reached[name] = tuple(each for each, _ in coordinates)
                return atomic(Symbol(name))
            return self._named(guarded, pointer, axis)
        masked = self._masked(direct)
        if masked is not None:
            return self._named(masked, pointer, axis)
        reached = self._reached(direct)
        if reached is not None:
            return self._named(reached, pointer, axis)
        if (
            ratio is not None
            or self._stored(pointer)
            or not all(facts.nonnegative(each) for each, facts in coordinates)
        ):
            raise Residue(f"the extent of '{pointer}' cannot be told from its accesses")
        return self._unknown([each for each, _ in coordinates], pointer)

    def _segmented(self, coordinates: Sequence[Known]) -> tuple[Polynomial | None] | None:
        """The number of rows (None if nothing says it), if all these coordinates are those of segments of them."""
        found = [self._rows(coordinate.atom) for coordinate, _ in coordinates]
        return found[0] if found and all(each == found[0] for each in found) else None

    def _rows(self, atom: Atom | None) -> tuple[Polynomial | None] | None:
        """What a segment is part of, for coordinates from where it begins up to its end, or to one of its rows."""
        segments = self.context.segments.items() if isinstance(atom, Axis) else ()
        for segment, rows in segments:
            assert isinstance(atom, Axis)
            if atom.begin == segment.begin and (
                atom.end == segment.end or self.facts.less_equal(atom.end, segment.end)
            ):
                return (rows,)
        return None

    def _unknown(self, coordinates: Sequence[Polynomial], pointer: str) -> Polynomial:
        """An extent by name, which the caller's array has; whatever is accessed is within it."""
        name = self._fresh("V")
        self.reached[name] = tuple(coordinates)
        self.context.ledger.add("assumed", f"accesses of {pointer} are within its extent {name}")
        return atomic(Symbol(name))

    def _assume_elements(self, pointer: str, coordinates: Sequence[Known], extent: Polynomial) -> None:
        """Elements that every launch reads are there."""
        largest = max(each.constant or 0 for each, _ in coordinates if each.constant is not None)
        self.context.ledger.add("assumed", f"{extent!r} is more than {largest}: element {largest} of {pointer} is read")
        self.context.facts = self.context.facts.assuming(extent - largest - 1)
        self.facts = self.facts.assuming(extent - largest - 1)

    def _guarded(self, coordinates: Sequence[Known]) -> Polynomial | None:
        """The size that coordinates stay below, if there is one: as their own axes say, else other axes, else masks."""
        plain = self._dividing(self.context.facts)
        own = [(each, with_axes(plain, [at for at in each.atoms() if isinstance(at, Axis)])) for each, _ in coordinates]
        ranges = [(each, self.facts) for each, _ in coordinates]
        sizes, ways = self._sizes(), (own, ranges, coordinates)
        return next((size for known in ways for size in sizes if self._within(known, size)), None)

    def _masked(self, coordinates: Sequence[Known]) -> Polynomial | None:
        """The size that only masks keep coordinates below."""
        for size in self._sizes():
            known = [self.facts.less(each, size) for each, _ in coordinates]
            said = (each - size in self.bounded for (each, _), less in zip(coordinates, known, strict=True) if not less)
            if not all(known) and all(said) and self._within(coordinates, size):
                return size
        return None

    def _sizes(self) -> list[Polynomial]:
        return [atomic(Symbol(name)) for name, each in self.parameters.items() if each.kind == "integer"]

    def _stored(self, pointer: str) -> bool:
        return any(sink.pointer == pointer for sink in self.sinks)

    def _check_room(self, pointer: str, strides: Sequence[Polynomial], shape: Sequence[Polynomial]) -> None:
        """Rows whose distance counts blocks have room for what is stored: proven, or so in all launches but races."""
        named: dict[Atom, Polynomial] = {Symbol(name): extent for extent, name in self.extents.items()}
        for axis, (stride, extent, inner) in enumerate(zip(strides, shape[1:], strides[1:], strict=False), 1):
            self.rows.setdefault(stride - extent * inner)
            room = stride - extent.substitute(named) * inner
            if not _counts_blocks(stride) or self.context.facts.nonnegative(room):
                continue
            stores = (sink.offset.polynomial for sink in self.sinks if sink.pointer == pointer)
            first = all(begins_at_zero(self._coordinates(offset, strides)[axis]) for offset in stores)
            if not first or not can_hold(self.context.facts, room, stride):
                raise Residue(f"stored rows of '{pointer}' may overlap: they are {stride!r} apart")
            text = f"rows of {pointer}, {stride!r} apart: programs store no elements of each other"
            self.context.ledger.add("assumed", text)

    def _check_rows(self, pointer: str, strides: Sequence[Polynomial], axis: int) -> None:
        """Rows that are stored must not overlap: a stride that is a size says nothing of that, one of its own is chosen
        so. Of rows that hold a number for each block, the launch chooses the blocks; one in which rows of different
        programs overlap is a race, whose outcome no program says.
        """
        stride = strides[axis - 1]
        sizes = {atom for each in _axes(self.sinks) for atom in each.end.atoms()}
        if isinstance(stride.atom, Symbol) and stride.atom not in sizes:
            self.context.ledger.add("assumed", f"rows of {pointer}, {stride!r} apart, do not overlap")
        elif not _counts_blocks(stride) or not all(
            self._is_program(sink, strides, axis - 1) for sink in self.sinks if sink.pointer == pointer
        ):
            raise Residue(f"stored rows of '{pointer}' may overlap: they are {stride!r} apart")

    def _is_program(self, sink: Sink, strides: Sequence[Polynomial], axis: int) -> bool:
        """Whether points of different rows are stored by different programs."""
        row = self._coordinates(sink.offset.polynomial, strides)[axis].atom
        return isinstance(row, Axis) and row in sink.free and row in self.context.programs and sink.combine is None

    def _within(self, coordinates: Sequence[Known], extent: Polynomial) -> bool:
        return all(facts.nonnegative(each) and facts.less(each, extent) for each, facts in coordinates)

    def _reached(self, coordinates: Sequence[Known]) -> Polynomial | None:
        """The extent that one of the coordinates goes up to, if that is enough for all of them."""
        ends = [(self._end(coordinate), coordinate) for coordinate, _ in coordinates]
        for end, own in ends:
            others = [each for each in coordinates if each[0] != own]
            mine = [facts for coordinate, facts in coordinates if coordinate == own]
            if end is None or any(map(is_coordinate, end.atoms())):
                continue  # what differs between coordinates is no extent
            if all(facts.nonnegative(own) for facts in mine) and self._within(others, end):
                block = _symbol(end) in self.context.blocks and not isinstance(own.atom, Remainder)
                guarded = self._guarded(coordinates) if block else None
                return end if guarded is None else guarded  # of a block, masks leave what there is
        return self._guarded(coordinates)

    def _end(self, coordinate: Polynomial) -> Polynomial | None:
        """One past the largest value of a coordinate, if it can be told from the ranges of its axes."""
        made = self._at_the_ends(coordinate, _last_if_any)
        if made is not None and self.facts.nonnegative(made + 1):
            return made + 1
        made = self._at_the_ends(coordinate, _last)
        if made is None:
            made = self._extreme(coordinate, True)
        return None if made is None else made + 1

    def _at_the_ends(self, coordinate: Polynomial, last: Callable[[Axis], Polynomial]) -> Polynomial | None:
        """The largest value of a coordinate that grows, or falls, with each of its axes."""
        made = coordinate
        for _ in range(8):
            axes = [atom for atom in made.atoms() if isinstance(atom, Axis)]
            if not axes:
                return made
            axis = axes[-1]
            factor = made.coefficient(axis)
            if factor is None:
                return None
            if self.facts.nonnegative(factor):
                made = made.substitute({axis: last(axis)})
            elif self.facts.nonnegative(-factor):
                made = made.substitute({axis: axis.begin})
            else:
                return None
        return None

    def _extreme(self, coordinate: Polynomial, largest: bool) -> Polynomial | None:
        """A bound of each term by itself."""
        total = Polynomial()
        for monomial, factor in coordinate.terms:
            varying = [atom for atom in monomial if is_coordinate(atom)]
            beside = Polynomial(((tuple(atom for atom in monomial if not is_coordinate(atom)), factor),))
            if len(varying) > 1 or (varying and not self.facts.nonnegative(beside if factor > 0 else -beside)):
                return None
            bound = self._extreme_atom(varying[0], largest == (factor > 0)) if varying else number(1)
            if bound is None:
                return None
            total = total + beside * bound
        return total

    def _extreme_atom(self, atom: Atom, largest: bool) -> Polynomial | None:
        match atom:
            case Axis():
                return self._extreme(atom.end - 1, True) if largest else self._extreme(atom.begin, False)
            case Quotient(top, bottom) if not any(map(is_coordinate, bottom.atoms())):
                bound = self._extreme(top, largest)
                return None if bound is None else floor_divide(bound, bottom)
            case Remainder(_, bottom) if not any(map(is_coordinate, bottom.atoms())):
                return bottom - 1 if largest else number(0)
            case _:
                return None

    def _named(self, extent: Polynomial, pointer: str, axis: int) -> Polynomial:
        """The extent as a number or a size that has a name."""
        if extent.constant is not None or isinstance(extent.atom, Symbol):
            return extent
        if extent not in self.extents:
            self.extents[extent] = self._fresh("MNKPQRS"[axis % 7])
        return atomic(Symbol(self.extents[extent]))

    def _fresh(self, wanted: str) -> str:
        return self.unused.fresh(wanted)

    # ----------------------------------------------------------------------------------------------------------- sinks
    def _viewed(self, sink: Sink) -> Viewed:
        rebuilding = Rebuilding(self.context.arena, {}, finish=self._load)
        renamed: dict[Atom, Polynomial] = {}
        for axis in sink.every_axis if any(True for _ in in_bounds(sink.every_axis)) else ():
            begin, end = rebuilding.polynomial(axis.begin), rebuilding.polynomial(axis.end)
            if (begin, end) != (axis.begin, axis.end):
                renamed[axis] = atomic(like(self.context, axis, begin, end))
        rebuilding = Rebuilding(self.context.arena, renamed, finish=self._load)
        made = sink.mapped(rebuilding.expression).with_axes(_axes_of(renamed))
        made = replace(made, axes=tuple(_axes_of(renamed).get(axis, axis) for axis in made.axes))
        offset = made.offset.polynomial
        layout = self.layouts[sink.pointer]
        coordinates = self._places(layout, offset)
        check_injective(self.context, self.facts, made, coordinates, self)
        return Viewed(made, layout.view, coordinates)

    def _load(self, node: Expression) -> Expression | None:
        if node.operation != "load" or not isinstance(node.attribute, Address):
            return None
        layout = self.layouts[node.attribute.pointer]
        offset, mask, other = node.arguments
        place = Place(layout.view, self._places(layout, offset.polynomial))
        arguments = () if mask.operation == "constant" and mask.attribute else (mask, other)
        return self.context.arena.make("load", node.dtype, arguments, place)

    def _places(self, layout: Layout, offset: Polynomial) -> tuple[Polynomial, ...]:
        return (offset,) if layout.flat else self._coordinates(offset, layout.strides)


def _last(axis: Axis) -> Polynomial:
    return axis.end - 1


def _last_if_any(axis: Axis) -> Polynomial:
    """The last point: an axis up to max(begin, E) has none unless it ends at E."""
    longest = axis.end.atom
    if not isinstance(longest, Extremum) or longest.kind != "maximum" or axis.begin not in longest.operands:
        return _last(axis)
    others = [each for each in longest.operands if each != axis.begin]
    return others[0] - 1 if len(others) == 1 else _last(axis)


def _counts_blocks(stride: Polynomial) -> bool:
    return any(isinstance(atom, Quotient) for monomial, _ in stride.terms for atom in monomial)


def _axes_of(renamed: Mapping[Atom, Polynomial]) -> dict[Axis, Axis]:
    return {old: new.atom for old, new in renamed.items() if isinstance(old, Axis) and isinstance(new.atom, Axis)}


def _is_clipped(coordinate: Polynomial) -> bool:
    """Whether an axis of it ends where the data do, and not where its block does."""
    axes = [atom for atom in coordinate.atoms() if isinstance(atom, Axis)]
    return any(isinstance(atom, Extremum) for axis in axes for atom in axis.end.atoms())


def _symbol(polynomial: Polynomial) -> str | None:
    return polynomial.atom.name if isinstance(polynomial.atom, Symbol) else None


def _read_from_memory(coordinate: Polynomial) -> bool:
    return any(isinstance(atom, Expression) for atom in coordinate.atoms())


def _axes(sinks: Sequence[Sink]) -> Iterator[Axis]:
    for sink in sinks:
        yield from sink.every_axis
        for node in having(REDUCTIONS, *sink.roots):
            yield from node.attribute.axes

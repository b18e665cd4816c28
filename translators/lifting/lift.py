"""One Triton kernel to one Intent kernel, with the ledger of what that rests on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from intent.dtypes import DType
from intent.records import dataclass, field, replace
from translators.algebra.effort import Effort, Exhausted
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Polynomial, Quotient, Symbol, number
from translators.intent_source.write import SourceKernel
from translators.lifting.atomics import check_alone, collected
from translators.lifting.carries import Closing
from translators.lifting.combines import settle
from translators.lifting.context import Context, atoms_of, in_bounds
from translators.lifting.correspondence import ArrayPlace, Correspondence, Work
from translators.lifting.equal_groups import equal_groups, in_given_sizes, whole_groups
from translators.lifting.heuristics import facts_of_flag
from translators.lifting.loop_choice import loop_axes
from translators.lifting.memory_order import MemoryOrder
from translators.lifting.names import Names, view_name
from translators.lifting.ordered_loops import dressed
from translators.lifting.pooling import Pool
from translators.lifting.rewriting import loaded_pointers, replaced
from translators.lifting.rows import substituted, whole_rows, whole_tiles
from translators.lifting.rules import normalised, simplified, tiling
from translators.lifting.scan_nodes import scanned_axes, with_scans
from translators.lifting.signature import Signature, named_sizes
from translators.lifting.sinks import Basis, Ledger, Note, Residue, SharedByPrograms, Sink
from translators.lifting.specialisation import MOST_ATTEMPTS, candidates
from translators.lifting.spelling import Speller
from translators.lifting.triangles import masked
from translators.lifting.views import Delinearising, Layout, Viewed
from translators.lifting.wrapped_places import with_wrapped_places
from translators.logical.types import View
from translators.tile.effects import KernelEffects, KernelParameter
from translators.tile.expression import REDUCTIONS, Arena, Expression, having
from translators.triton_source.read.execution import program_count
from translators.triton_source.read.kernels import Known, ReadKernel, default_of, is_constexpr, read_kernel
from translators.triton_source.read.sizes import tile_sizes
from translators.triton_source.read.source import TritonFile, triton_dtype
from translators.triton_source.read.values import Function, NeedsValue, NotLifted, Value

Status = Literal["lifted", "lifted with groups", "partial", "unsupported"]
INTEGER_TYPE = "int64"  # what is passed where a kernel takes the type of its coordinates
MOST_EFFORT: Final = 500_000  # for one kernel, over all its attempts: some seconds
TOO_MUCH: Final = "its proofs take more steps than are tried"
SIZE_NAMES = ("M", "R", "P", "G", "H", "Q")


@dataclass(frozen=True, slots=True)
class Launch:
    """What host code says of a kernel's launches: its grid, and the constants and types that it passes."""

    grid: tuple[Polynomial, ...] = ()
    known: Known = field(default_factory=Known)
    facts: tuple[Polynomial, ...] = ()  # not negative
    line: int = 0  # of the launch
    chosen: tuple[str, ...] = ()  # compile-time parameters whose value the lift chose
    counts: frozenset[str] = frozenset()  # sizes of the grid that nothing else is known of
    arguments: frozenset[str] = frozenset()  # numbers that the host function is given and the kernel is not
    absent: tuple[str, ...] = ()  # arguments of the host function that are None in this launch
    otherwise: Launch | None = None  # what is known of any launch
    single: tuple[Polynomial, ...] = ()  # numbers of blocks that are 1, or programs would store in one element
    strides: Mapping[str, Polynomial] = field(default_factory=dict)  # parameters that are strides of what is allocated
    dense: bool = False  # whether these strides are used: the kernel is lifted for no others

    def fixing(self, name: str, value: Value) -> Launch:
        """The launch with a compile-time parameter used by value, which the host says or which is chosen here."""
        known = self.known
        fixed = replace(known, constants={**known.constants, name: value}, fixed=known.fixed | {name})
        chosen = self.chosen if name in known.constants else (*self.chosen, name)
        if isinstance(value, bool) or not isinstance(value, int):
            return replace(self, known=fixed, chosen=chosen)
        atoms: dict[Atom, Polynomial] = {Symbol(name): number(value)}
        grid, facts = (tuple(each.substitute(atoms) for each in part) for part in (self.grid, self.facts))
        strides = {each: stride.substitute(atoms) for each, stride in self.strides.items()}
        return replace(self, known=fixed, chosen=chosen, grid=grid, facts=facts, strides=strides)

    def with_facts(self, facts: Iterable[Polynomial]) -> Launch:
        return replace(self, facts=tuple(dict.fromkeys((*self.facts, *facts))))


@dataclass(frozen=True, slots=True)
class ViewReport:
    """How a pointer became a view."""

    pointer: str
    view: View
    strides: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lifted:
    """`source` is None unless the kernel is lifted; `reason` and `line` say why it is not."""

    name: str
    line: int
    status: Status
    source: SourceKernel | None = None
    notes: tuple[Note, ...] = ()
    views: tuple[ViewReport, ...] = ()
    groups: tuple[str, ...] = ()
    physical: tuple[str, ...] = ()
    numerics: tuple[str, ...] = ()
    reason: str | None = None
    correspondence: Correspondence | None = None
    variant_of: str | None = None  # a kernel of the same file that is the same program


def lift_kernel(file: TritonFile, function: Function, launch: Launch | None = None) -> Lifted:
    """Never raises for what the kernel contains: what is not understood is reported."""
    specialising = _Specialising(file, function)
    made = specialising.lift(launch or Launch())
    if made.source is None and launch is not None and launch.otherwise is not None:
        other = specialising.lift(launch.otherwise)
        return made if other.source is None else other
    return made


@dataclass(slots=True)
class _Specialising:
    """Lifts a kernel for the first values of its compile-time flags for which that is possible."""

    file: TritonFile
    function: Function
    attempts: int = 0
    effort: Effort = field(default_factory=lambda: Effort(MOST_EFFORT))

    def lift(self, launch: Launch) -> Lifted:
        function = self.function
        try:
            read = read_kernel(self.file, function, launch.known, self.effort)
            made = self._lifted(read, launch)
        except NeedsValue as needed:
            return self._for_each(launch, needed)
        except (NotLifted, Residue) as found:
            reason = _located(found, function)
        except Exhausted:
            reason = f"line {function.node.lineno}: {TOO_MUCH}"
        except RecursionError:
            reason = "its expressions are nested too deeply"
        else:
            ones = self._with_blocks(launch, of_one=True) if made.status == "lifted with groups" else launch
            other = self.lift(ones) if ones is not launch and not self.effort.exhausted else made
            return other if other.status == "lifted" else made
        refused = Lifted(function.name, function.node.lineno, "unsupported", reason=reason)
        return self._as_allocated(launch) or self._as_launched(launch) or refused

    def _as_allocated(self, launch: Launch) -> Lifted | None:
        """The kernel for arrays that are laid out as the host allocates them."""
        if launch.dense or not launch.strides or self.effort.scarce:
            return None
        made = self.lift(replace(launch, dense=True))
        return made if made.source is not None else None

    def _as_launched(self, launch: Launch) -> Lifted | None:
        """The kernel for block sizes that the host passes: first those of one element, which are no blocks; then all,
        where proofs need their numbers."""
        for of_one in (True, False):
            fixed = self._with_blocks(launch, of_one)
            if fixed is not launch and not self.effort.scarce:
                made = self.lift(fixed)  # for the others too, if it comes to that
                return made if made.source is not None else None
        return None

    def _with_blocks(self, launch: Launch, of_one: bool) -> Launch:
        known, fixed = launch.known, launch
        for name in sorted(block_names(self.function) & known.constants.keys() - known.fixed):
            value = known.constants[name]
            if isinstance(value, int) and not isinstance(value, bool) and (value == 1 or not of_one):
                fixed = fixed.fixing(name, value)
        return fixed

    def _lifted(self, read: ReadKernel, launch: Launch) -> Lifted:
        """With running sums as scans; or, if that is no program, with the loops that they come from."""
        lifting = Lifting(self.function, read.effects, read.arena, launch)
        try:
            return lifting.run()
        except SharedByPrograms as found:
            if launch.single or self.effort.scarce:
                raise
            return self._lifted(read, replace(launch, single=found.counts))
        except Residue:
            if lifting.closing is None or not lifting.closing.prefixed:
                raise
            try:
                return Lifting(self.function, read.effects, read.arena, launch, prefixes=False).run()
            except Residue:
                pass  # the first reason tells more
            raise

    def _for_each(self, launch: Launch, needed: NeedsValue) -> Lifted:
        first: Lifted | None = None
        name, values = candidates(self.function, needed, launch.known)
        for value in values if name not in launch.known.fixed else ():
            self.attempts += 1
            if self.attempts > MOST_ATTEMPTS or self.effort.exhausted:
                break
            facts = facts_of_flag(self.function, name, value) if isinstance(value, bool) else ()
            made = self.lift(launch.fixing(name, value).with_facts(facts))
            if made.source is not None:
                return made
            first = first or made
        reason = _located(needed, self.function)
        return first or Lifted(self.function.name, self.function.node.lineno, "unsupported", reason=reason)


def block_names(function: Function) -> frozenset[str]:
    """The compile-time parameters."""
    arguments = function.node.args
    parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return frozenset(each.arg for each in parameters if is_constexpr(each))


def _located(found: NotLifted | Residue, function: Function) -> str:
    return f"line {found.line or function.node.lineno}: {found.reason}"


@dataclass(slots=True)
class Lifting:
    function: Function
    effects: KernelEffects
    arena: Arena
    launch: Launch
    prefixes: bool = True
    ledger: Ledger = field(default_factory=Ledger)
    names: Names = field(default_factory=Names)
    closing: Closing | None = None
    context: Context = field(init=False)

    def run(self) -> Lifted:
        self.context = self._context()
        sinks = self._normalised()
        settle(self.context, sinks)
        self._reserve()
        delinearising = Delinearising(self.context, self._parameters(), sinks, self._view_names(), self.names)
        dressing = [masked(self.context, dressed(self.arena, each)) for each in delinearising.run()]
        viewed = self._scanned(Pool(self.arena).viewed(dressing))
        speller = Speller(
            self.names, self._size_names(), dict(delinearising.extents), identities=self.context.identities
        )
        statements = speller.kernel(viewed)
        constants, layouts = self.launch.known.constants, delinearising.layouts
        source = Signature(self.effects, self._blocks(), constants, layouts, speller, self.ledger).kernel(statements)
        groups = self._groups(speller, layouts)
        return Lifted(
            self.effects.name,
            self.effects.line,
            "lifted with groups" if groups else "lifted",
            source,
            tuple(self.ledger),
            tuple(self._view_reports(layouts)),
            groups,
            tuple(sorted(self._blocks() - set(groups) - set(self.effects.integer_types))),
            self._numerics(sinks),
            correspondence=replace(
                self._correspondence(delinearising, source, groups, named_sizes(speller)), work=self._work(viewed)
            ),
        )

    def _work(self, viewed: Sequence[Viewed]) -> Work:
        trips = {record.token: record.trip for record in self.effects.loops}
        nests = [(record.token, *record.parents) for record in self.effects.loops]
        looped = {axis for each in viewed for axis in loop_axes(each)}
        axes = [
            (*loop_axes(each, looped), *(recurrence.axis for recurrence in each.sink.recurrences)) for each in viewed
        ]
        return Work(
            tuple(tuple(self._given(trips[token]) for token in nest if token in trips) for nest in nests),
            tuple(tuple(self._given(axis.extent) for axis in each) for each in axes),
            self._blocks() if self.launch.known.numbers else tile_sizes(self.effects),  # numbers have no names to find
        )

    def _scanned(self, viewed: tuple[Viewed, ...]) -> tuple[Viewed, ...]:
        """Prefixes as scans, unless an axis that is scanned has to be a loop."""
        made = with_scans(self.arena, viewed)
        looped = {axis for each in made for axis in loop_axes(each)}
        return viewed if looped & scanned_axes(made) else made

    # ----------------------------------------------------------------------------------------------------------- rules
    def _blocks(self) -> frozenset[str]:
        return block_names(self.function) - self._parameters().keys()

    def _context(self) -> Context:
        facts = Facts(effort=self.arena.effort)
        for name in sorted(self._blocks()):
            facts = facts.with_bounds(Symbol(name), low=1)
        for fact in self.launch.facts:
            facts = facts.assuming(fact)
        programs = set(self.effects.programs)
        local = {axis for store in self.effects.stores for axis in store.lanes} - programs
        blocks, counts = self._blocks(), self.launch.counts
        made = Context(self.arena, facts, self.ledger, blocks, local, programs, counts=counts)
        made.arguments, made.launched = self.launch.arguments, self.launch.facts
        return made

    def _normalised(self) -> list[Sink]:
        if not self.effects.stores:
            raise Residue("a kernel that stores nothing", self.effects.line)
        context = self.context
        if self.launch.grid:
            grid = ", ".join(map(repr, self.launch.grid))
            self.ledger.add("host", f"the launch in line {self.launch.line} has a grid of ({grid}) programs")
        for extent in self._idle_extents():
            self.ledger.add("assumed", f"{extent!r} is at least 1: a launch has programs")
        for fact in self.launch.facts:
            self.ledger.add("host", f"{fact!r} is not negative")
        for name in self.launch.absent:
            self.ledger.add("host", f"{name} is None in the launch in line {self.launch.line}")
        for name in sorted(self.launch.known.fixed):
            value = self.launch.known.constants[name]
            shown = value.name if isinstance(value, DType) else repr(value)
            basis: Basis = "assumed" if name in self.launch.chosen else "host"
            self.ledger.add(basis, f"{name} is {shown}; for another value it is another kernel")
        self.closing = Closing(self.arena, self.effects, self.ledger, self.prefixes)
        closed = self.closing.run()
        updated = frozenset(store.pointer for store in self.effects.stores if store.combine)
        counts = {axis: axis.end.substitute(self._counted()) for axis in self.effects.programs}
        check_alone(closed, updated, counts)
        closed = tuple(collected(self.arena, self.ledger, sink) for sink in closed)
        closed = self._with_single_blocks(self._in_groups(self._as_allocated(closed)))
        context.loaded = frozenset(loaded_pointers(closed))
        order = MemoryOrder(self.effects, self.arena, context.facts, self.ledger, context.blocks)
        closed = order.check(closed)
        context.tiling = tiling(context, closed)
        made = self._by_rules(closed)
        equal = whole_rows(context, made)
        if equal:
            made = self._by_rules([substituted(context, sink, equal) for sink in closed])
        return [whole_tiles(context, sink) for sink in made]

    def _as_allocated(self, closed: tuple[Sink, ...]) -> tuple[Sink, ...]:
        """With strides as products of sizes, if the host allocates the array and the launch is lifted for that."""
        strides = self.launch.strides if self.launch.dense else {}
        for name, stride in strides.items():
            self.ledger.add("host", f"{name} is {stride!r}, a stride of what line {self.launch.line} is given")
        atoms: dict[Atom, Polynomial] = {Symbol(name): stride for name, stride in strides.items()}
        return tuple(replaced(self.context, sink, atoms, sink.axes) for sink in closed) if atoms else closed

    def _in_groups(self, closed: tuple[Sink, ...]) -> tuple[Sink, ...]:
        """With sizes that fall into equal groups as products, in what the launch says too."""
        parameters = {each.arg for each in ast.walk(self.function.node) if isinstance(each, ast.arg)}
        taken = Names(self.names.taken | parameters | set(map(view_name, parameters)))
        groups = equal_groups(self.context, closed, taken)
        self.names.reserve(map(repr, self.context.group_sizes))
        if not groups:
            return closed
        grid, facts = (
            tuple(each.substitute(groups) for each in part) for part in (self.launch.grid, self.launch.facts)
        )
        self.launch = replace(self.launch, grid=grid, facts=facts)
        for fact in facts:
            self.context.facts = self.context.facts.assuming(fact)
        return tuple(replaced(self.context, sink, groups, sink.axes) for sink in closed)

    def _with_single_blocks(self, closed: tuple[Sink, ...]) -> tuple[Sink, ...]:
        """With 1 for the numbers of blocks that every launch but a race has one of."""
        counts: dict[Atom, Polynomial] = {}
        for count in (each.atom for each in self.launch.single):
            if isinstance(count, Quotient):
                counts[count] = number(1)
                self.context.facts = self.context.facts.assuming(2 * count.denominator - count.numerator - 1)
                self.context.facts = self.context.facts.assuming(count.numerator - count.denominator)
                self.ledger.add("assumed", f"{count!r} is 1: programs store no elements of each other")
        self.launch = replace(self.launch, grid=tuple(each.substitute(counts) for each in self.launch.grid))
        return tuple(replaced(self.context, sink, counts, sink.axes) for sink in closed) if counts else closed

    def _by_rules(self, closed: Sequence[Sink]) -> list[Sink]:
        context, made = self.context, list[Sink]()
        for sink in closed:
            context.local.update(set(sink.axes) - set(self.effects.programs))
            gridded = with_wrapped_places(context, self._with_grid(sink))
            try:
                made.append(_without_idle_axes(context, simplified(context, normalised(context, gridded))))
            except Residue as found:
                raise Residue(found.reason, found.line or sink.line) from None
            if _is_never(made[-1].mask):
                made.pop()
                context.ledger.add("proven", f"the store in line {sink.line} never happens")
        if not made:
            raise Residue("a kernel that stores nothing", self.effects.line)
        return made

    def _counted(self) -> dict[Atom, Polynomial]:
        """The numbers of programs, if the host code says them."""
        grid = self.launch.grid
        counts = (grid[axis] if axis < len(grid) else number(1) for axis in range(3))
        return {Symbol(f"programs_{axis}"): count for axis, count in enumerate(counts)} if grid else {}

    def _with_grid(self, sink: Sink) -> Sink:
        """The number of programs as the host has it."""
        atoms = self._counted()
        if not self.launch.grid:
            return sink
        for axis in sink.axes:
            if any(Symbol(f"programs_{each}") in axis.end.atoms() for each in range(len(self.launch.grid), 3)):
                raise Residue(f"the launch in line {self.launch.line} has no programs along an axis that is asked for")
        return replaced(self.context, sink, atoms, sink.axes)

    # ----------------------------------------------------------------------------------------------------------- names
    def _parameters(self) -> Mapping[str, KernelParameter]:
        return {each.name: each for each in self.effects.parameters}

    def _reserve(self) -> None:
        self.names.reserve(name for name, each in self._parameters().items() if each.kind != "pointer")
        self.names.reserve(self._blocks())
        sizes = (atom for each in (*self.launch.grid, *self.launch.facts) for atom in each.atoms())
        self.names.reserve(atom.name for atom in sizes if isinstance(atom, Symbol))

    def _view_names(self) -> dict[str, str]:
        pointers = [name for name, each in self._parameters().items() if each.kind == "pointer"]
        return {name: self.names.fresh(view_name(name)) for name in pointers}

    def _size_names(self) -> dict[str, str]:
        names = {}
        for size in (*(f"programs_{axis}" for axis in range(3)), *self._counts()):
            wanted = next((each for each in SIZE_NAMES if each not in self.names.taken), "programs")
            names[size] = wanted
            if Symbol(size) in self._remaining() or size in self._counts():
                self.names.reserve((wanted,))
        return names

    def _counts(self) -> tuple[str, ...]:
        """Numbers of groups of programs, where the grid is not known."""
        atoms = (count.atom for _, count in self.context.wholes.values())
        return tuple(atom.name for atom in atoms if isinstance(atom, Symbol))

    def _remaining(self) -> set[Atom]:
        return {atom for axis in self.effects.programs for atom in axis.end.atoms()}

    # ---------------------------------------------------------------------------------------------------------- report
    def _groups(self, speller: Speller, layouts: Mapping[str, Layout]) -> tuple[str, ...]:
        """Block sizes that the lifted kernel still mentions as such."""
        extents = {atom for layout in layouts.values() for extent in layout.view.shape for atom in extent.atoms()}
        sizes = {atom.name for atom in extents if isinstance(atom, Symbol)}
        return tuple(sorted(self._blocks() & set(speller.used_sizes) - sizes))

    def _view_reports(self, layouts: Mapping[str, Layout]) -> Iterator[ViewReport]:
        for pointer, layout in layouts.items():
            yield ViewReport(pointer, layout.view, tuple(map(repr, layout.strides)))

    def _correspondence(
        self, delinearising: Delinearising, source: SourceKernel, groups: tuple[str, ...], sizes: Mapping[str, str]
    ) -> Correspondence:
        arrays = tuple(
            ArrayPlace(
                pointer,
                layout.view.name,
                layout.view.dtype,
                layout.view.shape,
                layout.strides,
                layout.view.direction != "In",
                layout.view.name in delinearising.sorted,
                pointer in self.context.counted,
                delinearising.lengths.get(layout.view.name),
                delinearising.parts.get(layout.view.name),
                layout.view.dtype.is_float and pointer in delinearising.placing(),
            )
            for pointer, layout in delinearising.layouts.items()
        )
        layouts = delinearising.layouts
        scalars = [each for each in self.effects.parameters if each.kind != "pointer"]
        types = dict.fromkeys(self.effects.integer_types, f"tl.{INTEGER_TYPE}")
        named = {
            name: f"tl.{triton_dtype(v)}" for name, v in self.launch.known.constants.items() if isinstance(v, DType)
        }
        given = {**self._defaults(), **self.launch.known.constants, **named, **types}
        return Correspondence(
            arrays,
            tuple(each.name for each in scalars if each.kind == "integer"),
            tuple(each.name for each in scalars if each.kind == "float"),
            tuple(
                sorted(name for name in self._blocks() if not isinstance(given.get(name, 0), bool | float | str | None))
            ),
            tuple(name for name, annotation in source.parameters if not annotation.startswith("I.Constexpr")),
            groups,
            self._grid(),
            {
                **{repr(size): quotient for size, quotient in self.context.group_sizes.items()},
                **{repr(count): self._given(each) for count, each in self._products().items()},
                **{name: self._given(extent) for extent, name in delinearising.extents.items()},
                **(dict(self.launch.strides) if self.launch.dense else {}),
            },
            tuple(dict.fromkeys(map(self._given, self._facts()))),
            {name: value for name, value in given.items() if isinstance(value, bool | int | float | str | None)},
            tuple(each.name for each in self.effects.parameters if each.kind == "pointer" and each.name not in layouts),
            self.launch.known.fixed,
            delinearising.reached,
            tuple(map(self._given, delinearising.rows)),
            tuple(sorted(self.context.longest, key=repr)),
            {name: sizes[name] for name, _ in source.parameters if name in sizes and name not in self._parameters()},
        )

    def _facts(self) -> Iterator[Polynomial]:
        """Not negative in any launch that is lifted."""
        context = self.context
        assumed = filter(context.invariant, context.facts.assumed)
        yield from (*self.launch.facts, *assumed, *whole_groups(context), *context.required)
        yield from (extent - 1 for extent in self._idle_extents())

    def _idle_extents(self) -> list[Polynomial]:
        """Of grid axes that the kernel does not ask for: without a program along one of them, nothing is stored."""
        asked = {axis.name for axis in self.effects.programs}
        idle = (extent for axis, extent in enumerate(self.launch.grid) if f"program{axis}" not in asked)
        return [extent for extent in idle if extent.constant is None]

    def _given(self, polynomial: Polynomial) -> Polynomial:
        return in_given_sizes(self.context, polynomial)

    def _defaults(self) -> dict[str, Value]:
        """Defaults that are used by value: all but integers."""
        defaults = {name: default_of(self.function.node, name) for name in self._blocks()}
        return {name: value for name, value in defaults.items() if isinstance(value, bool | float | str | None)}

    def _grid(self) -> tuple[Polynomial, ...]:
        """As the host has it, else one count for each axis that the kernel asks for."""
        asked = [axis.end for axis in self.effects.programs]
        counts = tuple(each if each in asked else number(1) for each in map(program_count, range(3)))
        if self.launch.grid:  # along the other axes all programs do the same, so that there may be one
            pairs = zip(self.launch.grid, map(program_count, range(3)), strict=False)
            return tuple(self._given(each) if count in asked else number(1) for each, count in pairs)
        return tuple(self._given(each.substitute(self._products())) for each in counts)

    def _products(self) -> dict[Atom, Polynomial]:
        """Numbers of programs, as multiples of what their ids are divided by, one after the other."""
        products: dict[Atom, Polynomial] = {}
        for name, (divisor, count) in reversed(self.context.wholes.items()):
            products[Symbol(name)] = divisor * count.substitute(products)
        return products

    def _numerics(self, sinks: Sequence[Sink]) -> tuple[str, ...]:
        found = (node for sink in sinks for node in having(REDUCTIONS, *sink.roots))
        kinds = {node.attribute.kind for node in found if node.operation == "reduce"}
        order = ("sums may be taken in another order",) if "sum" in kinds else ()
        nan = ("a NaN: tl.max and tl.min pass over it, the reductions here give NaN",)
        return (*self.effects.remarks, *self.ledger.numerics, *order, *(nan if kinds & {"max_num", "min_num"} else ()))


def _without_idle_axes(context: Context, sink: Sink) -> Sink:
    """Programs that all store the same are one program; so are iterations, if there are any."""
    used = {recurrence.axis for recurrence in sink.recurrences} | atoms_of(*sink.roots)
    used |= {atom for axis in sink.every_axis for bound in (axis.begin, axis.end) for atom in bound.atoms()}
    used |= {axis for atom in in_bounds(sink.every_axis) for axis in atom.axes}
    for axis in sink.axes:
        if axis not in used and not axis.name.startswith("program") and not context.facts.positive(axis.extent):
            raise Residue("a store that happens only if a loop has an iteration", sink.line)
    return replace(sink, axes=tuple(axis for axis in sink.axes if axis in used))


def _is_never(mask: Expression) -> bool:
    return mask.operation == "constant" and not mask.attribute


def _only(axis: Atom) -> Polynomial:
    return Polynomial((((axis,), 1),))


def lift_file(file: TritonFile, launches: Mapping[str, Launch], only: str | None = None) -> tuple[Lifted, ...]:
    """Every kernel of the file, or the one that is named."""
    return tuple(
        lift_kernel(file, function, launches.get(function.name))
        for function in file.kernels
        if only is None or function.name == only
    )

"""Where the values of a tile program stand and what they are called.

A value is computed in the outermost scope that has all it varies with: what a loop does not change stands before
the loop; it gets a name if the author gave it one, if it is needed twice, or if the expression would grow too long.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from types import MappingProxyType

from intent.records import dataclass, field
from translators.logical.types import Memory
from translators.planning.bounds import Bounds
from translators.planning.demand import Demand
from translators.planning.hazards import apart, one_memory
from translators.planning.layouts import Layout
from translators.planning.naming import Namer
from translators.planning.padding import Padding
from translators.planning.product_layouts import contracted_lane, is_dot
from translators.planning.program_coordinates import Prologue
from translators.planning.regions import Region
from translators.planning.sinks import MustHold, MustPin, MustStore, OutOfOrder, Sink, loop_roots, roots
from translators.tile import program as tile
from translators.tile.accumulation import accumulated_product
from translators.tile.expression import Axis, Expression, LoopToken, Reduction, walk
from translators.tile.program import AxisForm, Statement

INLINE_COST = 8  # nodes of one printed expression, beyond which a part gets a name


@dataclass(slots=True, eq=False)
class Scope:
    """One nesting level under construction. Names and finished loops are visible in it and below."""

    statements: list[Statement] = field(default_factory=list)
    names: dict[Expression, str] = field(default_factory=dict)
    again: Mapping[Expression, str] = MappingProxyType({})  # names for what a while's test has computed, too
    visible: set[str] = field(default_factory=set)  # further names that stand in it: of the tests of its while loops
    axis: Axis | None = None  # the streamed axis this scope's loop runs along
    start: str = ""  # name of the first coordinate of its tile, or of a loop's slice
    reverse: bool = False  # its loop runs from the axis' end
    loop: LoopToken | None = None
    first: int = 0  # the statements that belong into this scope and those within it
    last: int | None = None
    finished: set[LoopToken] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)  # names that finished loops within it had
    swept: dict[Axis, tuple[bool, set[Memory]]] = field(
        default_factory=dict
    )  # which way loops last ran, what they read


@dataclass(slots=True)
class Placement:
    """The scopes under construction, innermost last, for one region under one layout."""

    demand: Demand
    region: Region
    layout: Layout
    namer: Namer
    padding: Padding
    checks: Bounds
    forms: Mapping[Axis, AxisForm]
    decoded: Prologue
    described: Mapping[Expression, tuple[int, int]] = field(default_factory=dict)  # loads by descriptors
    dealt: tile.Dealt | None = None
    scopes: list[Scope] = field(default_factory=lambda: [Scope()])
    uses: dict[Expression, int] = field(default_factory=dict)
    _stored: list[Sink] = field(default_factory=list)  # in statement order: what has been written so far
    # Products that carries grow by -> the updates, what these add the products to, and whose loop's they are.
    _accumulated: dict[Expression, tuple[Expression, Expression, LoopToken]] = field(default_factory=dict)
    _carries: dict[Expression, tuple[str, ...]] = field(default_factory=dict)  # of scans, from tile to tile
    _updates: dict[Expression, str] = field(default_factory=dict)  # new values of carries -> the carry's name

    def _streamed(self, axes: Iterable[Axis], needed: Iterable[Expression] = ()) -> tuple[Axis, ...]:
        """Those of the axes that need a loop not yet open, outermost first; innermost those of the scans in what is
        `needed`, whose carries would otherwise be wanted for all tiles of the loops inside, and those that a reduction
        does not vary with, which would do it again for each of their coordinates.
        """
        open_axes = {scope.axis for scope in self.scopes}
        wanted = {axis for axis in axes if self.layout.roles[axis] == "streamed" and axis not in open_axes}
        if len(wanted) < 2:
            return tuple(wanted)
        nodes = [node for node in walk(*needed, stop=self._met) if isinstance(node.attribute, Reduction)]
        scanned = {axis for node in nodes if node.operation == "scan" for axis in node.attribute.axes}
        again = {axis for node in nodes if self._may_be_earlier(node, wanted) for axis in wanted - node.axes}
        ranks = {axis: self._loop_rank(axis, axis in scanned, axis in again) for axis in wanted}
        return tuple(sorted(wanted, key=lambda axis: (*ranks[axis], self.region.order[axis])))

    def _may_be_earlier(self, node: Expression, loops: Set[Axis]) -> bool:
        """A reduction within some of the loops, of what no effect changes meanwhile."""
        return bool(node.axes & loops) and not any(
            below.operation == "load" and self._is_rewritten(below) for below in walk(*node.arguments)
        )

    def _reduced_along(self, node: Expression) -> tuple[Axis, ...]:
        """The axes of a reduction that need a loop not yet open, outermost first."""
        return self._streamed(node.attribute.axes, node.arguments)

    def _loop_rank(self, axis: Axis, scanned: bool, again: bool) -> tuple[bool, bool, bool, bool]:
        """Axes that bound others outside the others, then those that are not scanned, then those along which nothing is
        reduced again, single coordinates first.
        """
        bounds_others = any(axis in set(coordinate_axes(other)) for other in self.region.axes if other is not axis)
        return not bounds_others, scanned, again, self.layout.lanes[axis] is not None

    def _lanes(self, axes: Iterable[Axis]) -> tuple[Axis, ...]:
        """The axes that are tile dimensions, in tile order."""
        lanes = {axis for axis in axes if self.layout.lanes[axis] is not None}
        return tuple(sorted(lanes, key=lambda axis: self.region.order[axis]))

    def _name(self, node: Expression) -> str | None:
        return next((scope.names[node] for scope in reversed(self.scopes) if node in scope.names), None)

    def _met(self, node: Expression) -> bool:
        if node.operation == "carried":
            return any(node.attribute[0] in scope.finished for scope in self.scopes)
        return self._name(node) is not None

    def _count_uses(self) -> None:
        copied = self.region.copied  # a shared node is used once by both forms of an update
        for node in self.region.nodes:
            for operand in node.operands:
                if node not in copied or operand in copied:
                    self.uses[operand] = self.uses.get(operand, 0) + 1
        for sink in self.region.sinks:
            for root in roots(sink):
                self.uses[root] = self.uses.get(root, 0) + 1
        for loop in self.region.loops:
            for root in (*loop_roots(loop, whole=False), *(copied & set(loop_roots(loop)))):
                self.uses[root] = self.uses.get(root, 0) + 1
            for ordinal, carry in enumerate(loop.carries):
                for update in (carry.update, carry.whole_update):
                    found = accumulated_product(update, loop.token, ordinal, carry.axes)
                    if update is not None and found is not None and self._as_dot(found[1]):
                        self._accumulated[found[1]] = update, found[0], loop.token
                    self._updates.update(dict.fromkeys(_new_values(update, loop.live), carry.name))

    def _prepare(self, nodes: Iterable[Expression]) -> None:
        """Name what deserves a name below (and at) `nodes`, each in the outermost scope that has all it varies with."""
        roots = list(nodes)
        below = list(walk(*roots, stop=self._met))
        homes = self._homes(below)
        leaves = {node for node in below if homes[node] < len(self.scopes) - 1}
        hoisted = {
            operand
            for node in below
            if not self._met(node)
            for operand in node.operands
            if operand in leaves and homes[operand] < homes[node]
        } | {root for root in roots if root in leaves}
        costs: dict[Expression, int] = {}
        for node in below:
            costs[node] = 1 if self._met(node) else 1 + sum(costs.get(o, 1) for o in node.arguments)
            if not self._met(node) and self._deserves_name(node, costs[node], node in hoisted):
                self._assign(node, homes[node])
                costs[node] = 1

    def _homes(self, nodes: Sequence[Expression]) -> dict[Expression, int]:
        """The outermost scope in which each node can be computed."""
        homes: dict[Expression, int] = {}
        for node in nodes:
            if self._met(node):
                homes[node] = self._met_home(node)
            else:
                homes[node] = max((homes.get(o, 0) for o in node.operands), default=0)
                homes[node] = max(homes[node], self._own_home(node))
        return homes

    def _met_home(self, node: Expression) -> int:
        if node.operation == "carried":
            token = node.attribute[0]
            return next(level for level, scope in enumerate(self.scopes) if token in scope.finished)
        return next(level for level, scope in enumerate(self.scopes) if node in scope.names)

    def _own_home(self, node: Expression) -> int:
        """The innermost scope whose loop the node itself varies with."""
        level = 0
        for ordinal, scope in enumerate(self.scopes):
            if (scope.axis is not None and scope.axis in node.axes) or (
                scope.loop is not None and scope.loop in node.loops
            ):
                level = ordinal
        if node.operation == "atomic" or (node.operation == "load" and self._is_rewritten(node)):
            level = len(self.scopes) - 1
        return level

    def _is_rewritten(self, node: Expression) -> bool:
        return any(one_memory(sink, node.attribute) for sink in self.region.sinks)

    def _deserves_name(self, node: Expression, cost: int, hoisted: bool) -> bool:
        uses = self.uses.get(node, 0)
        if uses == 1 and node in self._updates and node.operation in ("pointwise", "select", "cast"):
            return cost > INLINE_COST and not any(map(self._is_accumulated, node.arguments))
        match node.operation:
            case "constant" | "parameter" | "index" | "carry" | "carried" | "argument":
                return False
            case "load":
                alone = uses > 1 or self._is_rewritten(node) or node in self.described
                return alone or not self._read_by_named_cast(node)
            case "contract" if self._is_accumulated(node):
                self.padding.reduction(node)
                return False
            case "reduce" | "contract" | "scan" | "random_bits" | "atomic":
                return True
            case "cast":
                return node in self.demand.names or uses > 1
            case _:
                return node in self.demand.names or uses > 1 or cost > INLINE_COST or (hoisted and cost > 1)

    def _is_accumulated(self, node: Expression) -> bool:
        """A product that starts from the carry it is added to; nothing else needs it, or their sum."""
        found = self._accumulated.get(node)
        return found is not None and self.uses.get(node, 0) == self.uses.get(found[0], 0) == 1

    def _grown(self, node: Expression) -> tuple[Expression, Expression] | None:
        """The sum that a streamed product is added up to in the body of its carry's loop, and what that sum begins
        with.
        """
        if not self._is_accumulated(node):
            return None
        update, before, token = self._accumulated[node]
        here = self.scopes[-1].loop == token and self._lanes(update.axes) == self._lanes(node.axes)
        return (update, before) if here and before.dtype == node.dtype else None

    def _as_dot(self, node: Expression) -> bool:
        return node.operation == "contract" and is_dot(node, self.region) and self._dot_shaped(node)

    def _dot_shaped(self, node: Expression) -> bool:
        lhs, rhs = node.arguments
        k = contracted_lane(node)
        return all(len(self._lanes(side.axes - {k})) == 1 for side in (lhs, rhs)) and self.layout.lanes[k] is not None

    def _read_by_named_cast(self, node: Expression) -> bool:
        """`v = tl.load(...).to(tl.float32)` reads better than two lines."""
        users = [user for user in self.region.nodes if node in user.arguments]
        return len(users) == 1 and users[0].operation == "cast" and self._deserves_name(users[0], 2, False)

    def _assign(self, node: Expression, home: int) -> None:
        if node.operation == "load":
            self._check_overwritten(node)
        self._check_open(node, home)
        if node in self.described:
            self._load_tile(node, home)
            return
        scope = self.scopes[home]
        wish = f"new_{self._updates[node]}" if node in self._updates else self.namer.wish(node)
        again = next((inner.again[node] for inner in self.scopes if node in inner.again), None)
        name = again or self._fresh(wish, home)
        order = self._lanes(node.axes)
        span = self.demand.spans.get(node)
        if node.operation in ("reduce", "contract", "scan"):
            self.padding.reduction(node)
        if node.operation == "scan" and self.layout.roles[node.attribute.axes[0]] == "streamed":
            self._scan_step(node, name, order)
            return
        members = self._siblings(node)
        if self._single(node):
            scope.statements.append(tile.Assign(name, node, order, span))
            scope.names[node] = name
            return
        results = self._named_results(node, name, members)
        scope.names.update({member: given for given, member in results})
        scope.statements.append(tile.AssignResults(results, order))

    def _fresh(self, wish: str, home: int) -> str:
        """A name for the scope at `home`, where loops that follow the assignment may be finished already."""
        return self.namer.fresh(wish, {name for scope in self.scopes[home + 1 :] for name in scope.closed})

    def _close(self, inner: Scope, others: Iterable[str] = ()) -> None:
        """A finished scope's names may be used again, but not by what is put before it."""
        names = {*inner.names.values(), *inner.visible, *others}
        self.namer.release(names)
        self.scopes[-1].closed |= names | inner.closed

    def _check_open(self, node: Expression, home: int) -> None:
        """Of an axis that a loop runs along there are coordinates within the loop only."""
        around = self.scopes[: home + 1]
        open_axes, open_loops = {scope.axis for scope in around}, {scope.loop for scope in around}
        for axis in node.axes:
            role = self.layout.roles[axis]
            if (role == "streamed" and axis not in open_axes) or (role == "slice" and axis.slices not in open_loops):
                message = "a value that is needed outside the loop along one of its axes is not lowered yet"
                carries = [carry for loop in self.region.loops for carry in loop.carries if axis in carry.own]
                results = [carry.result for carry in carries if carry.result is not None]
                if results:  # a loop has them beside what is needed: in memory, they leave it
                    raise MustStore(results, self.region.sinks[0].span)
                raise OutOfOrder(self.demand.spans.get(node, self.region.sinks[0].span), message)

    def _check_overwritten(self, node: Expression) -> None:
        """The value of the load stood there before a later store of the program, which has been issued already."""
        for sink in self._stored:
            if sink.order <= self.demand.issued[node]:
                continue
            if apart(sink, node.attribute, self._iteration()):
                continue
            if not node.attribute.pinned:
                raise MustPin(node.attribute.memory)
            raise MustHold(self.demand.readers.get(node, ()), sink.span)

    def _iteration(self) -> frozenset[LoopToken]:
        """The loops that are open here."""
        return frozenset(scope.loop for scope in self.scopes if scope.loop is not None)

    def _single(self, node: Expression) -> bool:
        """One value, by an operation that Triton spells as a call."""
        return node.operation not in ("reduce", "scan") or node.attribute.kind not in ("arg_max", "generic")

    def _siblings(self, node: Expression) -> list[Expression]:
        """The used results of the same reduction or scan."""
        if node.operation not in ("reduce", "scan"):
            return [node]
        key = results_key(node)
        alike = (
            other for other in self.region.nodes if other.operation == node.operation and results_key(other) == key
        )
        return list(alike) or [node]

    def _named_results(
        self, node: Expression, name: str, members: Sequence[Expression]
    ) -> tuple[tuple[str, Expression], ...]:
        """Names of all results of a reduction, one of which has its name already."""
        results: list[tuple[str, Expression]] = []
        for member in members:
            if member is node:
                results.append((name, member))
            else:
                results.append((self.namer.fresh(self.namer.reduction_name(member)), member))
        return tuple(results)

    @abstractmethod
    def _load_tile(self, node: Expression, home: int) -> None:
        """Read a tile through a descriptor."""

    @abstractmethod
    def _scan_step(self, node: Expression, name: str, order: tuple[Axis, ...]) -> None:
        """The prefix of the current tile of a streamed axis."""

    def _scan_level(self, node: Expression) -> int:
        axis = node.attribute.axes[0]
        return next(level for level, scope in enumerate(self.scopes) if scope.axis is axis)

    def _continue_scan(self, node: Expression, name: str, order: tuple[Axis, ...]) -> None:
        """The prefix of a tile, continued from the tiles before it: its carry starts before the loop over tiles."""
        level = self._scan_level(node)
        results = self._named_results(node, name, self._siblings(node))
        carries = tuple(
            self._fresh(f"{name}_carry" if len(node.arguments) == 1 else f"{name}_carry_{ordinal}", level - 1)
            for ordinal in range(len(node.arguments))
        )
        outer = tuple(other for other in order if other is not node.attribute.axes[0])
        self.scopes[level - 1].statements.append(tile.Start(carries, node, outer))
        self.scopes[level].statements.append(tile.ScanStep(results, carries, order, self.scopes[level].start))
        self.scopes[level].names.update({member: given for given, member in results})
        self._carries[node] = carries


def results_key(node: Expression) -> tuple[object, ...]:
    """Equal for the results of one reduction or scan."""
    reduction: Reduction = node.attribute
    combine = reduction.combine.results if reduction.combine is not None else None
    return (reduction.kind, reduction.axes, node.arguments, combine, reduction.reverse)


def coordinate_axes(axis: Axis) -> Iterator[Axis]:
    """Axes that the bounds of `axis` mention."""
    for bound in (axis.begin, axis.end):
        for atom in bound.atoms():
            if isinstance(atom, Axis):
                yield atom
            elif isinstance(atom, Expression):
                yield from atom.axes


def _new_values(update: Expression | None, live: Expression | None) -> Iterator[Expression]:
    """A carry's update and, where lanes that left keep their value, what the others take."""
    if update is not None:
        yield update
        if live is not None and update.operation == "select" and update.arguments[0] is live:
            yield update.arguments[1]

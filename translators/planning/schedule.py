"""From a region and a layout to tile statements.

There are no passes. A reduction over a streamed axis, and an author's ordered loop, is a *barrier*: its result exists
only after a loop. In each scope the scheduler emits what is ready: a store, an author's loop, or one loop over the
tiles of an axis with every reduction and store that is ready for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from intent.records import dataclass, field, replace
from translators.algebra.polynomial import Polynomial, atomic
from translators.diagnostics import Span
from translators.logical.types import Memory
from translators.planning.contrary_loops import ContraryScans
from translators.planning.goals import Advance, Fold, Goal, Store, Test
from translators.planning.hazards import Cells, apart, cells, crosses, identities, meet, one_memory
from translators.planning.online import exponentials, previous, rescaling
from translators.planning.placement import Scope, results_key
from translators.planning.ranges import known_at_launch
from translators.planning.sinks import (
    AxisConflict,
    Loop,
    MustHold,
    MustStore,
    MustTakeInTurn,
    OutOfOrder,
    Sink,
    coordinate_expressions,
    loop_roots,
    roots,
)
from translators.planning.snapshots import check_snapshots
from translators.tile import program as tile
from translators.tile.expression import Axis, Expression, LoopToken, Reduction, walk
from translators.tile.program import Statement


@dataclass(slots=True)
class Scheduler(ContraryScans):
    """Schedules one region under one layout."""

    _by_token: dict[LoopToken, Loop] = field(default_factory=dict)
    _touched: dict[Cells, bool] = field(default_factory=dict)  # since the last barrier: True if written

    def run(self) -> list[Statement]:
        self._by_token = {loop.token: loop for loop in self.region.loops}
        check_snapshots(self.demand, self.region, self.layout, self._is_barrier)
        self._count_uses()
        self._check_atomics()
        self._schedule([Store(sink, self._streamed(sink.axes, roots(sink))) for sink in self.region.sinks])
        return self.scopes[0].statements

    def _check_atomics(self) -> None:
        """An update happens once: along an axis that one program runs along, its old values are kept for what needs
        them.
        """
        for node in self.region.nodes:
            if node.operation == "atomic" and self._streamed(node.axes) and not self._only_kept(node):
                values = self.demand.readers[node]
                raise MustHold(values, self.demand.spans.get(node, self.region.sinks[0].span))

    def _only_kept(self, node: Expression) -> bool:
        """Nothing needs the update's old value, or only scratch memory that keeps it."""
        stated = [sink for sink in self.region.sinks if sink.value is node]
        return self.uses.get(node, 0) == len(stated) and len({sink.order for sink in stated}) == 1

    # --------------------------------------------------------------------------------------------------- questions

    def _is_barrier(self, node: Expression) -> bool:
        match node.operation, node.attribute:
            case "reduce" | "contract", Reduction(axes=axes):
                return any(self.layout.roles[axis] == "streamed" for axis in axes)
            case "carried", _:
                return True
            case _:
                return False

    def _here(self, node: Expression) -> bool:
        """The barrier can be computed in the current scope: all loops it varies with are open."""
        open_loops = {scope.loop for scope in self.scopes}
        if node.operation == "carried":
            return set(node.attribute[3]) <= open_loops and not self._streamed(node.axes)
        return not self._streamed(node.axes) and node.loops <= open_loops

    def _needs(self, nodes: Iterable[Expression]) -> dict[Expression, None]:
        """Barriers of the current scope that `nodes` wait for, including those that these wait for."""
        found: dict[Expression, None] = {}
        seen: set[Expression] = set()
        pending = list(nodes)
        while pending:
            fresh = [
                node for node in walk(*pending, stop=lambda node: self._met(node) or node in seen) if node not in seen
            ]
            pending = []
            for node in fresh:
                seen.add(node)
                if not self._is_barrier(node) or self._met(node):
                    continue
                if self._here(node):
                    found[node] = None
                if node.operation == "carried":
                    loop = self._by_token[node.attribute[0]]
                    pending.extend(self._loop_needs(loop))
        return found

    def _loop_needs(self, loop: Loop) -> Iterator[Expression]:
        yield from loop_roots(loop)
        for sink in self.region.sinks:
            if loop in sink.loops:
                yield from roots(sink)

    def _goal_roots(self, goal: Goal) -> list[Expression]:
        match goal:
            case Store(sink=sink):
                return list(roots(sink))
            case Fold(reduction=reduction):
                factor = [goal.factor] if goal.factor is not None else []
                return [*factor, *reduction.arguments, *self._axis_bounds(reduction.attribute.axes)]
            case Test(loop=Loop(live=Expression() as live)):
                return [live] if self._is_barrier(live) else list(live.operands)
            case Test():
                return []
            case Advance(loop=loop, whole=whole):
                return [update for carry in loop.carries if (update := carry.updated(whole)) is not None]

    def _roots_of(self, each: Expression | Goal) -> list[Expression]:
        return [each] if isinstance(each, Expression) else self._goal_roots(each)

    def _axis_bounds(self, axes: Iterable[Axis]) -> Iterator[Expression]:
        for axis in axes:
            yield from coordinate_expressions((axis.begin, axis.end))

    def _unopened(self, goal: Goal) -> Loop | None:
        """The outermost loop around a store that is not open yet, unless it runs for points whose own loop is not."""
        if not isinstance(goal, Store):
            return None
        open_loops = {scope.loop for scope in self.scopes}
        loop = next((loop for loop in goal.sink.loops if loop.token not in open_loops), None)
        if loop is None or self._streamed(loop.parallel):
            return None
        carried = {axis for carry in loop.carries for axis in carry.axes}
        return loop if carried.isdisjoint(self._streamed(goal.streamed)) else None

    # -------------------------------------------------------------------------------------------------- scheduling
    def _schedule(self, goals: list[Goal]) -> None:
        """Emit everything the goals need in the current scope, then the goals."""
        if self.region.ordered and self.scopes[-1].axis is None:
            self._in_order(goals)
            return
        pending = list(goals)
        while pending:
            done = self._plain(pending) or self._loops(pending)
            if not done:
                sinks = [goal.sink for goal in pending if isinstance(goal, Store)]
                span = sinks[0].span if sinks else self.region.sinks[0].span
                self._hold_overwritten(pending, span)
                raise OutOfOrder(span)
            pending = [goal for goal in pending if goal not in done[1]]

    def _hold_overwritten(self, pending: Sequence[Goal], span: Span) -> None:
        """What stores wait for that cannot be read before them is kept elsewhere."""
        written = frozenset[Cells]().union(*(identities(goal.sink) for goal in pending if isinstance(goal, Store)))
        needed = [node for goal in pending for node in walk(*self._goal_roots(goal), stop=self._met)]
        loads = [node for node in needed if node.operation == "load" and written & identities(node.attribute)]
        values = {value for node in loads for value in self.demand.readers.get(node, ())}
        if values - self.demand.held:
            raise MustHold(values, span)

    def _in_order(self, goals: Sequence[Goal]) -> None:
        """Statement order, where loads and stores of one memory must keep it."""
        first, last = self.scopes[-1].first, self.scopes[-1].last
        events = sorted(self._events(goals), key=lambda event: event[0])
        events = [event for event in events if first <= event[0] and (last is None or event[0] <= last)]
        groups = self._in_one_sweep(events)
        for _, event in events:
            match event:
                case Store():
                    if event in groups:
                        self._stores(groups[event], goals)
                case Loop() if self._streamed((*event.parallel, *(a for carry in event.carries for a in carry.axes))):
                    self._check_repeatable(event)  # each store that needs its results runs it for its own points
                case Loop():
                    self._satisfy(self._loop_heads(event), goals)
                    self._author_loop(event, goals)
                case Expression() if self._is_barrier(event):
                    self._about_to_load(self._inside(event))
                    self._satisfy([event], goals)
                case Expression():
                    self._satisfy([event], goals)  # its condition and its coordinates
                    self._synchronise(event.attribute.memory, writes=False)
                    self._prepare([event])
                    self._touched.setdefault(cells(event.attribute.memory), False)
        for goal in (goal for goal in goals if isinstance(goal, Advance | Test)):
            self._satisfy(self._goal_roots(goal), goals)
            self._prepare(self._goal_roots(goal))
        if any(isinstance(goal, Advance) for goal in goals):
            self._all_synchronised()

    def _in_one_sweep(self, events: Sequence[tuple[int, Store | Loop | Expression]]) -> dict[Store, list[Store]]:
        """What one loop does, by the store it begins with: the effects of one statement (an update, and the store that
        keeps its old values), and those of statements in a row that sweep over the same axes.
        """
        groups: list[list[Store]] = []
        in_a_row = False
        for order, event in events:
            if not isinstance(event, Store):
                in_a_row = False
            elif groups and (order == groups[-1][-1].sink.order or (in_a_row and self._can_join(groups[-1], event))):
                groups[-1].append(event)
            else:
                groups.append([event])
                in_a_row = True
        return {group[0]: group for group in groups}

    def _can_join(self, before: Sequence[Store], store: Store) -> bool:
        """A tile of one sweep can do all of it: nothing that is written is read at another point, or after that."""
        stores = [*before, store]
        if not store.streamed or any(each.streamed != store.streamed for each in before):
            return False
        if any((each.sink.action, each.sink.semantics) != ("store", "relaxed") for each in stores):
            return False
        if any(meet(each.sink, store.sink) for each in before):
            return False
        loads = [
            node
            for node in walk(*(root for each in stores for root in roots(each.sink)), stop=self._met)
            if node.operation == "load"
        ]
        return not any(
            one_memory(each.sink, load.attribute)
            and (crosses(each.sink, load) or self.demand.issued.get(load, -1) >= each.sink.order)
            for each in stores
            for load in loads
        )

    def _stores(self, stores: Sequence[Store], goals: Sequence[Goal]) -> None:
        """The effects of one sweep."""
        needed = [root for store in stores for root in self._goal_roots(store)]
        self._satisfy(needed, goals)
        self._about_to_load(needed)
        for store in stores:
            self._synchronise(store.sink.memory, writes=True)
        orders = {store.sink.semantics for store in stores}
        if orders & {"release", "acq_rel"}:  # for what all lanes have done
            self._all_synchronised()
        streamed = [store for store in stores if store.streamed]
        plain = [store for store in stores if not store.streamed]
        if streamed:
            self._stream([], streamed, streamed)
        if plain:
            self._plain(plain)
        self._touched.update({cells(store.sink.memory): True for store in stores})
        if orders & {"acquire", "acq_rel"}:
            self._all_synchronised()
        self._stored.extend(store.sink for store in stores)

    def _check_repeatable(self, loop: Loop) -> None:
        """A loop may run again, and later, if it neither writes nor reads what must be read at its own place. A region
        scan runs for each of its outputs.
        """
        inside = [sink for sink in self.region.sinks if loop in sink.loops]
        writes = any(not loop.slices or (sink.action, sink.semantics) != ("store", "relaxed") for sink in inside)
        reads = any(
            node.operation == "load" and node.attribute.pinned and loop.token in node.attribute.within
            for node in self.region.nodes
        )
        if writes or reads:
            points = {self.demand.points[axis] for axis in self._streamed(loop.parallel)}
            if points:
                raise MustTakeInTurn(points, loop.span)
            carries = {carry.result for carry in loop.carries if carry.result and self._streamed(carry.own)}
            if carries:
                raise MustStore(carries, loop.span)
            message = "an ordered loop with effects, for points that run within one program, is not lowered yet"
            raise OutOfOrder(loop.span, message)

    def _about_to_load(self, nodes: Sequence[Expression]) -> None:
        """Loads that a loop over tiles will issue: earlier stores must be visible to them, and later ones wait."""
        for node in walk(*nodes, stop=self._met):
            if node.operation == "load" and self._is_rewritten(node) and not self._met(node):
                self._synchronise(node.attribute.memory, writes=False)
                self._touched.setdefault(cells(node.attribute.memory), False)

    def _events(self, goals: Sequence[Goal]) -> Iterator[tuple[int, Store | Loop | Expression]]:
        """Stores, loops and pinned loads (or the streamed reductions over them) of the current scope, with their
        order.
        """
        here = self._iteration()
        yield from (
            (goal.sink.order, goal) for goal in goals if isinstance(goal, Store) and self._unopened(goal) is None
        )
        yield from ((loop.order, loop) for loop in self.region.loops if loop.tokens == here)
        for node in self.region.nodes:
            if node.operation == "load" and node.attribute.pinned and frozenset(node.attribute.within) == here:
                if not self._streamed(node.axes) and node.loops <= here:
                    yield self.demand.issued[node], node
            elif self._is_barrier(node) and node.operation != "carried" and self._here(node):
                orders = [
                    self.demand.issued[below]
                    for below in walk(*node.arguments)
                    if below.operation == "load"
                    and below.attribute.pinned
                    and frozenset(below.attribute.within) == here
                ]
                if any(orders):
                    yield max(orders), node

    def _loop_heads(self, loop: Loop) -> list[Expression]:
        heads = [limit for limit in (loop.low, loop.high) if limit is not None]
        return heads + [carry.initial for carry in loop.carries]

    def _satisfy(self, nodes: Sequence[Expression], goals: Sequence[Goal]) -> None:
        """Compute the streamed reductions that the nodes wait for."""
        while needed := self._needs(nodes):
            ready = [node for node in needed if node.operation != "carried" and not self._needs(self._inside(node))]
            if not ready:
                raise OutOfOrder(self._span())
            self._check_axes(ready)
            self._stream(ready, [], goals)

    def _span(self) -> Span:
        return self.region.sinks[0].span

    def _synchronise(self, memory: Memory, writes: bool) -> None:
        """A barrier between a store and a later access, and between a load and a later store, of one memory."""
        if self._touched.get(cells(memory)) or (writes and cells(memory) in self._touched):
            self._all_synchronised()

    def _all_synchronised(self) -> None:
        if self._touched:
            self._barrier()
            self._touched.clear()

    def _barrier(self) -> None:
        statements = self.scopes[-1].statements
        if not statements or not isinstance(statements[-1], tile.Barrier):
            statements.append(tile.Barrier())

    def _plain(self, pending: Sequence[Goal]) -> tuple[bool, set[Goal]] | None:
        """Goals that need no further loop; loads of a memory come before the stores to it."""
        ready = [
            goal
            for goal in pending
            if self._unopened(goal) is None
            and not (isinstance(goal, Store | Fold) and goal.streamed)
            and not self._needs(self._goal_roots(goal))
        ]
        ready = [goal for goal in ready if not self._held(goal, [other for other in pending if other not in ready])]
        if not ready:
            return None
        for goal in ready:
            self._prepare(self._goal_roots(goal))
        if any(isinstance(goal, Store) and self._read_elsewhere(goal.sink) for goal in ready):
            self._barrier()
        for goal in ready:
            self._emit(goal)
        return True, set(ready)

    def _read_elsewhere(self, sink: Sink) -> bool:
        """This program also loads elements of the memory other than the ones it stores: all loads come first."""
        return not self.region.ordered and any(
            node.operation == "load"
            and node.attribute.memory == sink.memory
            and node.attribute.coordinates != sink.coordinates
            for node in self.region.nodes
        )

    def _held(self, goal: Goal, others: Iterable[Goal]) -> bool:
        """A store waits while something later still loads what it overwrites, or an earlier store to it is not out."""
        return (
            isinstance(goal, Store)
            and any(
                isinstance(other, Store) and other.sink.order < goal.sink.order and not apart(other.sink, goal.sink)
                for other in others
            )
        ) or (
            isinstance(goal, Store)
            and any(
                node.operation == "load" and one_memory(node.attribute, goal.sink)
                for other in others
                for node in walk(*self._goal_roots(other), stop=self._met)
            )
        )

    def _emit(self, goal: Goal) -> None:
        statements = self.scopes[-1].statements
        match goal:
            case Store(sink=sink) if sink.action == "issued":
                pass  # naming its value was the update
            case Store(sink=sink):
                parts = (sink.memory, sink.coordinates, sink.value, sink.predicate, self.checks.store(sink))
                order = self._lanes(sink.axes)
                statements += self._stored_tile(tile.StoreTile(*parts, order, sink.span, sink.action, sink.semantics))
            case Fold(reduction=reduction, names=(name,), order=order) if goal.new_name:
                before = previous(self.demand.arena, reduction)
                statements.append(tile.Renew(name, goal.new_name, reduction, before, order))
                self.scopes[-1].names[reduction] = goal.new_name
            case Fold(reduction=reduction, names=names, order=order):
                backwards = any(s.reverse and s.axis in reduction.attribute.axes for s in self.scopes)
                statements.append(tile.Accumulate(names, reduction, order, goal.factor, backwards))
            case Advance() | Test():
                pass  # the loop's own statement moves the carries on, and has the condition

    def _loops(self, pending: Sequence[Goal]) -> tuple[bool, set[Goal]] | None:
        """Open the next loop: streamed reductions first, then the author's loops, then stores along a streamed axis."""
        needed: dict[Expression, None] = {}
        for goal in pending:
            if self._unopened(goal) is None:
                needed.update(self._needs(self._goal_roots(goal)))
        authors = {loop: None for goal in pending if (loop := self._unopened(goal)) is not None}
        authors.update({self._by_token[node.attribute[0]]: None for node in needed if node.operation == "carried"})
        for loop in authors:
            needed.update(self._needs(self._loop_needs(loop)))
        ready = [node for node in needed if node.operation != "carried" and not self._needs(self._inside(node))]
        self._check_axes(ready)
        followers = self._followers(needed, ready) if self.demand.relaxed else {}
        streams = self._stream_goals(pending)
        if ready or any(isinstance(goal, Fold) for goal in streams):
            return self._stream(ready, streams, pending, followers)
        for loop in sorted(authors, key=lambda loop: loop.order):
            if not self._needs(list(self._loop_needs(loop))):
                return self._author_loop(loop, pending)
        return self._stream([], streams, pending) if streams else None

    def _check_axes(self, reductions: Iterable[Expression]) -> None:
        """A reduction needs a loop of its own along each of its axes."""
        open_axes = {scope.axis for scope in self.scopes}
        for node in reductions:
            for axis in node.attribute.axes:
                if axis in open_axes:
                    raise AxisConflict(axis.extent, self.demand.results.get(node, ()))

    def _followers(
        self, needed: Iterable[Expression], ready: Sequence[Expression]
    ) -> dict[Expression, tuple[Expression, set[Expression]]]:
        """Sums that can follow maxima of the same sweep while these grow: what rescales each, and its maxima."""
        found: dict[Expression, tuple[Expression, set[Expression]]] = {}
        for node in needed:
            if node in ready or node.operation == "carried" or node.attribute.kind != "sum":
                continue
            along, maxima = self._reduced_along(node), set(self._needs(self._inside(node)))
            together = all(
                below in ready and below.attribute.kind == "max" and self._reduced_along(below) == along
                for below in maxima
            )
            factor = rescaling(self.demand.arena, node, maxima) if together and len(along) == 1 else None
            if factor is not None:
                found[node] = (factor, maxima)
        return found

    def _inside(self, node: Expression) -> list[Expression]:
        return [*node.arguments, *self._axis_bounds(node.attribute.axes)]

    def _stream_goals(self, pending: Iterable[Goal]) -> list[Store | Fold]:
        return [
            goal
            for goal in pending
            if isinstance(goal, Store | Fold)
            and goal.streamed
            and self._unopened(goal) is None
            and not self._needs(self._goal_roots(goal))
        ]

    def _stream(
        self,
        ready: Sequence[Expression],
        streams: Sequence[Store | Fold],
        pending: Sequence[Goal],
        followers: Mapping[Expression, tuple[Expression, set[Expression]]] = MappingProxyType({}),
    ) -> tuple[bool, set[Goal]] | None:
        """One loop over an axis, with every ready reduction and store that starts with it, and what can follow them."""
        firsts = [self._reduced_along(node)[0] for node in ready] + [goal.streamed[0] for goal in streams]
        axis = firsts[0]
        reductions = [node for node in ready if self._reduced_along(node)[0] is axis]
        goals = [goal for goal in streams if goal.streamed[0] is axis]
        others = [goal for goal in pending if goal not in goals]
        goals = [goal for goal in goals if not self._held(goal, others)]
        if not goals and not reductions:
            return None
        wanted = {each: self._direction(axis, self._roots_of(each)) for each in (*reductions, *goals)}
        reverse = next((direction for direction in wanted.values() if direction is not None), None)
        reductions = [node for node in reductions if wanted[node] in (reverse, None)]
        goals = [goal for goal in goals if wanted[goal] in (reverse, None)]
        followers = {node: parts for node, parts in followers.items() if self._reduced_along(node)[0] is axis}
        running = {node for _, maxima in followers.values() for node in maxima}
        grouped = self._group([*reductions, *followers])
        folds = [self._start_running(m[0]) if m[0] in running else self._start(m, m[0] in followers) for m in grouped]
        folds = [replace(f, factor=followers[f.reduction][0]) if f.reduction in followers else f for f in folds]
        for factor, _ in followers.values():
            self.demand.names.setdefault(factor, "rescale")
            self.checks.nonpositive |= exponentials(factor)
        self._prepare(self._axis_bounds((axis,)))
        low, high = (None, None) if reverse else self._worked_on(axis, goals, folds, followers)
        dealt = self.dealt if self.dealt is not None and self.dealt.axis is axis else None
        may_turn = reverse is None and low is None is high and not followers and dealt is None
        turned = self._turns(axis, [*goals, *folds], may_turn)
        reverse = bool(reverse or turned)
        start = self.namer.fresh(f"start_{self.namer.axis(axis)}") if self.layout.lanes[axis] else self.namer.axis(axis)
        inner = Scope(axis=axis, start=start, reverse=reverse)
        self.scopes.append(inner)
        if turned:
            inner.statements.append(tile.Remark("Backwards: what was read last is still in the cache."))
        self._open_axis(axis, start)
        narrowed: list[Goal] = [
            Store(g.sink, self._streamed(g.sink.axes, roots(g.sink))) for g in goals if isinstance(g, Store)
        ]
        narrowed += [replace(g, streamed=g.streamed[1:]) for g in [*goals, *folds] if isinstance(g, Fold)]
        self._schedule(narrowed)
        self.scopes.pop()
        moves = tuple((fold.names[0], fold.new_name) for fold in folds if fold.new_name)
        loop = tile.StreamLoop(axis, start, tuple(inner.statements), reverse, moves, low, high, dealt=dealt)
        waits = followers or all(fold.reduction.attribute.kind == "count" for fold in folds)
        self.scopes[-1].statements += self._whole_and_rest(loop) if waits and not goals else [loop]
        self._close(inner, [start] if self.layout.lanes[axis] else [])
        for fold, members in zip(folds, grouped, strict=True):
            self._finish(fold, members)
        return True, set(goals)

    def _turns(self, axis: Axis, goals: Sequence[Store | Fold], may: bool) -> bool:
        """Whether a sweep reads again what the one before it read last: the other way it finds that in the cache. Those
        of products stay as they are: other programs read the same matrices meanwhile; so do those of rows that are not
        all as long.
        """
        below = [root for goal in goals for root in self._goal_roots(goal)]
        below += [goal.reduction for goal in goals if isinstance(goal, Fold)]
        nodes = list(walk(*below, stop=self._met))
        loads = [node for node in nodes if node.operation == "load" and axis in node.axes]
        memories = {node.attribute.memory for node in loads}
        reverse, earlier = self.scopes[-1].swept.get(axis, (True, set()))
        kept = self.layout.lanes[axis] is not None and not any(map(self._is_rewritten, loads))
        kept = kept and all(node.operation != "contract" for node in nodes)
        turned = may and known_at_launch(axis.extent) and not reverse and kept and not memories.isdisjoint(earlier)
        self.scopes[-1].swept[axis] = turned, memories
        return turned

    def _worked_on(
        self, axis: Axis, goals: Sequence[Goal], folds: Sequence[Fold], followers: Mapping[Expression, object]
    ) -> tuple[Polynomial | None, Polynomial | None]:
        """Which tiles reductions need, in a loop that does nothing else."""
        reductions = [goal.reduction for goal in (*goals, *folds) if isinstance(goal, Fold)]
        scans = any(node.operation == "scan" and axis in node.axes for node in walk(*reductions, stop=self._met))
        if scans or followers or self.region.ordered or len(reductions) < len(goals) + len(folds):
            return None, None
        return self._tiles_that_matter(axis, reductions)

    def _open_axis(self, axis: Axis, start: str) -> None:
        if self.layout.lanes[axis] is None:
            return
        statements = self.scopes[-1].statements
        statements.append(tile.BindAxis(axis, atomic(tile.Named(start)), wide=True))
        if not self.layout.exact(axis):
            statements.append(tile.BindMask(axis))

    def _direction(self, axis: Axis, nodes: Iterable[Expression]) -> bool | None:
        """True if the scans along the axis run from its end, None if there are none; the last of several says."""
        scans = [
            node for node in walk(*nodes, stop=self._met) if node.operation == "scan" and axis in node.attribute.axes
        ]
        reverse: bool | None = scans[-1].attribute.reverse if scans else None
        return reverse

    def _group(self, reductions: Sequence[Expression]) -> list[list[Expression]]:
        """Results of one reduction (arg_max's two, a record's fields) share accumulators."""
        groups: dict[tuple[object, ...], list[Expression]] = {}
        for node in reductions:
            groups.setdefault((node.operation, *results_key(node)), []).append(node)
        return list(groups.values())

    def _start(self, members: Sequence[Expression], follows: bool = False) -> Fold:
        """Accumulators of lanes, which are reduced after the sweep. Those that follow maxima are not wider than these,
        which are reduced in each tile: then no element has to be rescaled. The author's combine meets single elements
        only, along axes that are on chip too."""
        node = members[0]
        streamed = self._reduced_along(node)
        narrow = self._as_dot(node) or node.attribute.kind == "count" or follows
        along = node.attribute.axes if node.attribute.kind == "generic" else streamed
        lanes = node.axes if narrow else node.axes | set(along)
        order = self._lanes(lanes)
        partial = "_partial" if set(order) & set(node.attribute.axes) else ""
        wishes = [f"{wish}{partial}" for wish in self.namer.accumulator_names(members)]
        names = tuple(self.namer.fresh(wish) for wish in wishes)
        self.padding.reduction(node)
        self._prepare(node.attribute.combine.identities if node.attribute.combine else ())
        grown = self._grown(node)
        if grown is not None:
            self._prepare(grown[1:])
        self.scopes[-1].statements.append(tile.Start(names, node, order, grown[1] if grown else None))
        return Fold(node, names, order, streamed)

    def _start_running(self, node: Expression) -> Fold:
        """A maximum of which the sweep needs the value so far: its accumulator has no lanes of the streamed axis."""
        order = self._lanes(node.axes)
        name = self.namer.fresh(self.namer.reduction_name(node))
        self.padding.reduction(node)
        self.scopes[-1].statements.append(tile.Start((name,), node, order))
        return Fold(node, (name,), order, self._reduced_along(node), self.namer.fresh(f"new_{name}"))

    def _finish(self, fold: Fold, members: Sequence[Expression]) -> None:
        """Name the results; a reduction without streamed lanes is its accumulator."""
        results: list[tuple[str, Expression]] = []
        lanes_left = set(fold.order) & set(fold.reduction.attribute.axes)
        for member in members:
            ordinal = member.attribute.result
            name = fold.names[ordinal] if not lanes_left else self.namer.fresh(self.namer.reduction_name(member))
            self.scopes[-1].names[member] = name
            results.append((name, member))
        grown = self._grown(fold.reduction)
        if grown is not None:
            self.scopes[-1].names[grown[0]] = fold.names[0]
            results.append((fold.names[0], grown[0]))
        self.scopes[-1].statements.append(tile.Finish(tuple(results), fold.names, fold.reduction, fold.order))

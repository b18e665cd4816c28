"""The author's ordered loops, and the slices of region operations, as loops of the tile program."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from intent.records import dataclass
from translators.planning.ahead import in_order, under_way
from translators.planning.described_tiles import DescribedTiles
from translators.planning.goals import Advance, Goal, Store, Test
from translators.planning.placement import Scope
from translators.planning.sinks import Loop, LoopCarry
from translators.tile import program as tile
from translators.tile.expression import Axis, Expression, walk
from translators.tile.program import Statement

REPEATED = frozenset({"pointwise", "select", "cast", "bitcast", "index"})  # computed again in a loop after its test
VALUED = (tile.Assign, tile.StoreTile)


@dataclass(slots=True)
class AuthorLoops(DescribedTiles):
    """Schedules the bodies of loops whose needs are met."""

    @abstractmethod
    def _schedule(self, goals: list[Goal]) -> None:
        """Emit everything the goals need in the current scope, then the goals."""

    @abstractmethod
    def _needs(self, nodes: Iterable[Expression]) -> dict[Expression, None]:
        """What `nodes` wait for in the current scope."""

    @abstractmethod
    def _open_axis(self, axis: Axis, start: str) -> None:
        """Bind the lanes of the axis' current tile."""

    @abstractmethod
    def _all_synchronised(self) -> None:
        """A barrier, if memory has been touched since the last."""

    def _author_loop(self, loop: Loop, pending: Sequence[Goal]) -> tuple[bool, set[Goal]]:
        self._prepare([carry.initial for carry in loop.carries])
        self._prepare([limit for limit in (loop.low, loop.high) if limit is not None])
        names = [self._carry_name(carry) for carry in loop.carries]
        goals = [goal for goal in pending if isinstance(goal, Store) and loop in goal.sink.loops]
        if self.region.ordered:
            self._all_synchronised()
        if loop.slices:
            self._slices(loop, names, goals)
        else:
            self._iterations(loop, names, goals)
        self.scopes[-1].finished.add(loop.token)
        return True, set(goals)

    def _iterations(self, loop: Loop, names: Sequence[str], goals: Sequence[Goal]) -> None:
        name = self.namer.loop(loop.token)
        tested = [goal for goal in goals if isinstance(goal, Store) and goal.sink.order <= loop.tested]
        with self.namer.released_later() as test_names:  # a test stands in front of its loop, and again in it
            test = self._test(loop, tested)
        active = self.namer.fresh("active") if loop.low is None and loop.live is not None else None
        shared = {node: name for node, name in test.names.items() if node.operation not in REPEATED}
        inner = Scope(names=dict(shared), again=test.names, loop=loop.token, first=loop.tested + 1)
        if loop.live is not None and active is not None:
            inner.names[loop.live] = active
        body_goals = [goal for goal in goals if goal not in tested]
        forms, body = self._body(loop, inner, names, [*body_goals, Advance(loop)])
        visible = test_names if active is None else {active, *test_names}
        self.namer.retake(visible)
        self.scopes[-1].visible |= visible
        order = self._lanes(loop.live.axes) if loop.live is not None else ()
        live = loop.live if loop.low is None else None
        self.scopes[-1].statements.append(tile.OrderedLoop(
            loop.token, name, loop.low, loop.high, loop.step, forms, body, live, active, order,
            tuple(test.statements), tuple(node for node in shared if node is not loop.live), span=loop.span,
            ahead=self._ahead(loop, forms, body),
        ))  # fmt: skip

    def _body(
        self, loop: Loop, inner: Scope, names: Sequence[str], goals: list[Goal], whole: bool = False
    ) -> tuple[tuple[tile.CarryForm, ...], tuple[Statement, ...]]:
        """The statements of one iteration, and how its carries move on."""
        self.scopes.append(inner)
        for axis in self._used(loop.whole_slices if whole else loop.slices):
            self._open_axis(axis, inner.start)
        self._schedule(goals)
        forms = tuple(self._carry_form(loop, ordinal, names[ordinal], whole) for ordinal in range(len(names)))
        self.scopes.pop()
        self._close(inner)
        late = (form.new_name for form in forms if form.new_name is not None)
        self._close(Scope(), (n for n in late if all(n not in scope.names.values() for scope in self.scopes)))
        return forms, tuple(inner.statements)

    def _slices(self, loop: Loop, names: Sequence[str], goals: Sequence[Goal]) -> None:
        """The slices of a region operation: those that matter, and the whole ones in a loop of their own."""
        start = self.namer.fresh(f"start_{self.namer.axis(loop.slices[0])}")
        for ordinal, piece in enumerate(self._pieces(loop)):
            low, high = (self.demand.index_value(limit) for limit in (piece.low, piece.high))
            inner = Scope(loop=loop.token, start=start)
            forms, body = self._body(loop, inner, names, [*goals, Advance(loop, piece.whole)], piece.whole)
            self.scopes[-1].statements.append(tile.OrderedLoop(
                loop.token, start, low, high, loop.step, forms, body, sliced=loop.slices[0], continued=ordinal > 0,
                span=loop.span, ahead=self._ahead(loop, forms, body),
            ))  # fmt: skip

    def _ahead(self, loop: Loop, forms: Sequence[tile.CarryForm], body: Sequence[Statement]) -> int:
        """How many iterations' loads are under way at a time, where Triton does not see to that by itself."""
        if self.region.ordered:
            return 0
        roots = [form.update for form in forms] + [each.value for each in body if isinstance(each, VALUED)]
        nodes = list(walk(*roots, stop=self._met))
        if any(node.operation in ("atomic", "scan") or self._as_dot(node) for node in nodes):
            return 0
        return under_way(self.region, loop, self.layout.lanes) if in_order(nodes, body) else 0

    def _used(self, axes: Iterable[Axis]) -> list[Axis]:
        return [axis for axis in axes if axis in self.layout.lanes]

    def _carry_name(self, carry: LoopCarry) -> str:
        """A named initial value that nothing else needs becomes the carry under its name."""
        given = self.scopes[-1].names.get(carry.initial)
        same_tile = self._lanes(carry.initial.axes) == self._lanes(carry.axes) and carry.initial.operation != "index"
        if given is not None and self.uses.get(carry.initial, 0) == 1 and same_tile:
            return given
        return self.namer.fresh(carry.name)

    def _test(self, loop: Loop, goals: Sequence[Goal]) -> Scope:
        """Statements that compute what a while's condition needs from the carries."""
        scope = Scope(loop=loop.token, last=loop.tested)
        if loop.low is None and loop.live is not None:
            self.scopes.append(scope)
            self._schedule([*goals, Test(loop)])
            self.scopes.pop()
            self._close(scope)
        return scope

    def _carry_form(self, loop: Loop, ordinal: int, name: str, whole: bool) -> tile.CarryForm:
        carry = loop.carries[ordinal]
        update = carry.updated(whole)
        if update is None:
            raise AssertionError("updates are pulled when the loop's body has been walked")
        read_later = any(
            node.operation == "carry" and node.attribute[:2] == (loop.token, ordinal)
            for other in loop.carries[ordinal + 1 :]
            if (later := other.updated(whole)) is not None
            for node in walk(later, stop=self._met)
        )
        new_name = (self._name(update) or self.namer.fresh(f"new_{name}")) if read_later else None
        return tile.CarryForm(name, carry.dtype, carry.axes, carry.initial, update, self._lanes(carry.axes), new_name)

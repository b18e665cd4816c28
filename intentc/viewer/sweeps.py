"""What one program does with memory, step by step: each loop over tiles is a sweep over what it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from intent.records import dataclass, field
from translators.algebra.polynomial import Polynomial
from translators.logical.types import Memory
from translators.tile import program as tile
from translators.tile.expression import Axis, Expression, dependences, walk
from translators.tile.program import Section, Statement


@dataclass(slots=True)
class Sweep:
    """A loop, or what comes before, between and after loops (`axis` and `loop` are None).

    `reads` and `writes` are the memory it touches; where it has loops inside, they are empty and `inner` has its steps.
    `tile` is the block size of a loop over tiles of `axis`, None if it takes one coordinate at a time.
    """

    axis: Axis | None = None
    loop: str | None = None
    tile: str | None = None
    backwards: bool = False
    bounds: tuple[Polynomial, Polynomial] | None = None
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    inner: list[Sweep] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.reads or self.writes or any(not each.empty for each in self.inner))


def sweeps(section: Section) -> list[Sweep]:
    """The steps of one program, in order, without those that touch no memory."""
    return _Walk(section).steps(section.statements, set())


def loads_of(section: Section) -> dict[str, int]:
    """How often each memory is gone through: a loop that goes on where the one before it ended is part of it."""
    found: dict[str, int] = {}
    ended: dict[tuple[str, Axis | None], Polynomial] = {}
    for step in flat(sweeps(section)):
        for name in step.reads:
            goes_on = step.bounds is not None and ended.get((name, step.axis)) == step.bounds[0]
            found[name] = found.get(name, 0) + (not goes_on)
            if step.bounds is not None:
                ended[name, step.axis] = step.bounds[1]
    return found


def flat(steps: Iterable[Sweep]) -> Iterator[Sweep]:
    for step in steps:
        yield step
        yield from flat(step.inner)


def shared_along(section: Section) -> dict[str, list[Axis]]:
    """The axes of the grid along which different programs read the same elements of a memory."""
    found: dict[str, list[Axis]] = {}
    for node in _loads(section.statements):
        seen = _varying(node.attribute.coordinates)
        others = [axis for axis in section.program if axis not in seen]
        name = node.attribute.memory.name
        found[name] = [axis for axis in found.get(name, others) if axis in others]
    return found


def _varying(coordinates: Iterable[Polynomial]) -> set[Axis]:
    """The axes that coordinates depend on, and those that the bounds of these depend on."""
    found: set[Axis] = set()
    waiting = list(coordinates)
    while waiting:
        for axis in {axis for atom in waiting.pop().atoms() for axis in dependences(atom)[0]} - found:
            found.add(axis)
            waiting += [axis.begin, axis.end]
    return found


def _loads(statements: Sequence[Statement]) -> Iterator[Expression]:
    yield from (node for node in walk(*_all_roots(statements)) if node.operation == "load")


def _all_roots(statements: Sequence[Statement]) -> Iterator[Expression]:
    for statement in statements:
        yield from _roots(statement)
        for body in _bodies(statement):
            yield from _all_roots(body)


def _bodies(statement: Statement) -> Iterator[Sequence[Statement]]:
    match statement:
        case tile.StreamLoop(body=body) | tile.ProgramLoop(body=body):
            yield body
        case tile.OrderedLoop(body=body, test=test):
            yield test
            yield body


def _roots(statement: Statement) -> Iterator[Expression]:
    """What a statement evaluates, without what is inside its loop."""
    match statement:
        case tile.Assign(value=value) | tile.LoadTile(value=value):
            yield value
        case tile.AssignResults(results=results) | tile.ScanStep(results=results):
            yield from (node for _, node in results)
        case tile.Accumulate(reduction=reduction, factor=factor):
            yield from reduction.arguments
            yield from () if factor is None else (factor,)
        case tile.Renew(reduction=reduction):
            yield from reduction.arguments
        case tile.StoreTile(value=value, predicate=predicate):
            yield value
            yield from () if predicate is None else (predicate,)
        case tile.StoreHalves(store=store):
            yield from _roots(store)
        case tile.OrderedLoop(carries=carries, low=low, high=high):
            yield from (carry.initial for carry in carries)
            yield from (each for each in (low, high) if each is not None)
        case _:
            pass


@dataclass(slots=True)
class _Walk:
    section: Section

    def steps(self, statements: Sequence[Statement], named: set[Expression]) -> list[Sweep]:
        """`named` are the nodes that earlier statements have computed."""
        found = [Sweep()]
        for statement in statements:
            match statement:
                case tile.ProgramLoop(body=body):
                    found += self.steps(body, named)
                case tile.StreamLoop() | tile.OrderedLoop():
                    self._touch(found[-1], statement, named)
                    found += [self._loop(statement, set(named)), Sweep()]
                case _:
                    self._touch(found[-1], statement, named)
        return [step for step in found if not step.empty]

    def _loop(self, statement: tile.StreamLoop | tile.OrderedLoop, named: set[Expression]) -> Sweep:
        axis = statement.axis if isinstance(statement, tile.StreamLoop) else statement.sliced
        sweep = Sweep(axis)
        if isinstance(statement, tile.OrderedLoop):
            sweep.loop = statement.token.name
            if axis is not None and statement.low is not None and statement.high is not None:
                sweep.bounds = (statement.low.polynomial, statement.high.polynomial)
            inner = [*self.steps(statement.test, named), *self.steps(statement.body, named)]
            updates = [carry.update for carry in statement.carries]
            self._read(sweep, [*updates, *([statement.live] if statement.live is not None else [])], named)
        else:
            low = statement.axis.begin if statement.low is None else statement.low
            high = statement.axis.end if statement.high is None else statement.high
            sweep.bounds, sweep.backwards = (low, high), statement.reverse
            inner = self.steps(statement.body, named)
        sweep.tile = self.section.forms[axis].block if axis is not None else None
        if any(step.axis is not None or step.loop is not None for step in inner):
            last = Sweep(reads=sweep.reads)
            sweep.reads, sweep.inner = [], [*inner, *([] if last.empty else [last])]
            return sweep
        for step in inner:
            sweep.reads += [name for name in step.reads if name not in sweep.reads]
            sweep.writes += [name for name in step.writes if name not in sweep.writes]
        return sweep

    def _touch(self, sweep: Sweep, statement: Statement, named: set[Expression]) -> None:
        self._read(sweep, list(_roots(statement)), named)
        match statement:
            case tile.Assign(value=value) | tile.LoadTile(value=value):
                named.add(value)
            case tile.AssignResults(results=results) | tile.ScanStep(results=results) | tile.Finish(results=results):
                named.update(node for _, node in results)
            case tile.StoreTile(memory=memory) | tile.StoreHalves(store=tile.StoreTile(memory=memory)):
                _add(sweep.writes, memory)
            case _:
                pass

    def _read(self, sweep: Sweep, roots: Sequence[Expression], named: set[Expression]) -> None:
        for node in walk(*roots, stop=lambda node: node in named):
            if node in named:
                continue
            if node.operation == "load":
                _add(sweep.reads, node.attribute.memory)
            elif node.operation == "atomic":
                _add(sweep.writes, node.attribute.place.memory)


def _add(names: list[str], memory: Memory) -> None:
    if memory.name not in names:
        names.append(memory.name)

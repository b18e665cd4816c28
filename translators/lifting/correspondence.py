"""How a lifted kernel is called where the original was: what each of the original's parameters is, in sizes of the
lifted one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from intent.dtypes import DType
from intent.records import dataclass, field
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Polynomial, Quotient, Symbol, atomic, number
from translators.lifting.evaluation import Evaluator
from translators.tile.expression import Axis, Expression, dependences, walk

LARGEST_SIZE = 40
SMALL_INTEGER = 8
FEW, MANY = 5, 2500  # of which the large size is longer than a block that is written as a number
BLOCK_SIZES = (16, 32)
SMALL_BLOCKS = (4, 8)  # where the usual ones make calls that take long
BLOCKS_OF_A_SIZE = 3  # at most, if blocks are small
SHARE_OF_MULTIPLES = 0.4
SHARE_OF_BLOCKS = 0.25  # of what counts no lanes: as many of something as there are lanes
MOST_ATTEMPTS = 400
MOST_PROGRAMS = 64
ENOUGH_PROGRAMS = 60  # of a call, times iterations: each takes milliseconds in the interpreter
ENOUGH_ELEMENTS = 2**12  # of an array: a program of the lifted kernel may have but one row of them
MOST_TO_CHOOSE_FROM = 50
OF_USUAL_BLOCKS = 15  # of those
MOST_ELEMENTS = 2**21
SOME_POINTS = 30
UNBOUNDED = 2**16  # of coordinates that nothing bounds
FLOATS = (0.25, 2.0)  # between which float parameters are drawn
STEPS = (1, 1, 2)  # from one element to the next, if that stride is free
GAPS = (0, 0, 3)  # elements between rows whose stride is free
MOST_COMPUTED = 4000  # of coordinates that are computed from elements of arrays


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """A pointer of the original as an array of the lifted kernel."""

    pointer: str
    name: str
    dtype: DType
    shape: tuple[Polynomial, ...]
    strides: tuple[Polynomial, ...]
    written: bool
    ascending: bool = False  # offsets of segments that do not overlap
    counted: bool = False  # numbers of at least 1
    lengths_of: str | None = None  # of segments that begin where this array says
    part_of: str | None = None  # not more than these lengths
    fraction: bool = False  # numbers from which coordinates are computed: between 0 and 1


@dataclass(frozen=True, slots=True)
class Work:
    """What a call takes. `trips` has the iterations of each loop of the original, and of the loops around it; `points`
    those that the lifted kernel goes through one by one, along each axis of each statement; `tiles` are the
    compile-time parameters that count lanes.
    """

    trips: tuple[tuple[Polynomial, ...], ...] = ()
    points: tuple[tuple[Polynomial, ...], ...] = ()
    tiles: frozenset[str] = frozenset()

    def steps(self, programs: int, values: Mapping[str, int]) -> int:
        """Of both kernels."""
        iterations = sum(_product(each, values) for each in self.trips)
        return programs * (1 + iterations) + sum(_product(each, values) for each in self.points)


def _product(counts: Iterable[Polynomial], values: Mapping[str, int]) -> int:
    """Those that are not known are some."""
    known = (_farthest(each, values) if _names((each,)) <= values.keys() else UNBOUNDED for each in counts)
    return math.prod(LARGEST_SIZE // 2 if each >= UNBOUNDED else max(each, 1) for each in known)


@dataclass(frozen=True, slots=True)
class Correspondence:
    """`integers`, `floats` and `blocks` are the original's other parameters; `order` those of the lifted kernel.

    `extents` defines sizes that the original has no name for, `facts` are not negative in any launch that was lifted,
    and `constants` are the compile-time values that were taken as given.
    """

    arrays: tuple[ArrayPlace, ...]
    integers: tuple[str, ...]
    floats: tuple[str, ...]
    blocks: tuple[str, ...]
    order: tuple[str, ...]
    groups: tuple[str, ...]
    grid: tuple[Polynomial, ...]
    extents: Mapping[str, Polynomial]
    facts: tuple[Polynomial, ...]
    constants: Mapping[str, bool | int | float | str | None]
    unused: tuple[str, ...] = ()  # pointers that are not touched
    fixed: frozenset[str] = frozenset()  # compile-time parameters that the lift is for one value of
    reached: Mapping[str, tuple[Polynomial, ...]] = field(default_factory=dict)  # coordinates below an unknown extent
    rows: tuple[Polynomial, ...] = ()  # not negative: rows that are stored do not overlap
    longest: tuple[Polynomial, ...] = ()  # no segment that memory bounds is longer
    counts: Mapping[str, str] = field(default_factory=dict)  # sizes that are parameters of the lifted kernel alone
    work: Work = field(default_factory=Work)


@dataclass(frozen=True, slots=True)
class CallSizes:
    """One way to call both kernels."""

    grid: tuple[int, ...]
    numbers: Mapping[str, bool | int | float | str | None]  # of the original's parameters that are no pointers
    arrays: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]  # shape and strides
    limit: int  # integers read from arrays are below it
    segments: tuple[int, int]  # so are those that say where segments begin, and how long they are


def draw(
    correspondence: Correspondence,
    generator: random.Random,
    large: bool = False,
    largest: int = SMALL_INTEGER,
    enough: int = ENOUGH_PROGRAMS,
    limit: int = 1,
) -> CallSizes | None:
    """Random sizes that meet every fact and take little time, one of them large if wanted; None if none were found.

    Integers that are no size of an array are `largest` at most. Where there are more than `enough` steps, or large
    arrays, the least of both is taken that some draws give, of small blocks too: of those where the limit of integers
    in arrays is `limit`, or as near to it as possible.
    """
    best: CallSizes | None = None
    found, least = 0, (0, 0.0)
    for attempt in range(MOST_ATTEMPTS):
        rare = best is None and attempt > MOST_ATTEMPTS // 4
        blocks = BLOCK_SIZES if large or found < OF_USUAL_BLOCKS else SMALL_BLOCKS
        try:
            values = _values(correspondence, generator, large, largest, rare, generator.choice(blocks))
        except ZeroDivisionError:  # sizes that the kernel divides by
            continue
        if values is None:
            continue
        made = _call(correspondence, values, generator)
        if min(made.grid, default=1) < 1:
            continue
        found += 1
        steps = correspondence.work.steps(math.prod(made.grid), values)
        cost = (max(limit - made.limit, 0), _cost(made, steps, enough))
        if best is None or cost < least:
            best, least = made, cost
        if least <= (0, 1) or found == MOST_TO_CHOOSE_FROM:
            break
    return best


def _cost(call: CallSizes, steps: int, enough: int) -> float:
    """How much more than enough it is."""
    elements = max((math.prod(shape) for shape, _ in call.arrays), default=0)
    return max(steps / enough, elements / ENOUGH_ELEMENTS)


def _names(polynomials: Iterable[Polynomial]) -> set[str]:
    return {atom.name for each in polynomials for atom in each.atoms() if isinstance(atom, Symbol)}


def _values(
    correspondence: Correspondence, generator: random.Random, large: bool, largest: int, rare: bool, block: int
) -> dict[str, int] | None:
    """`rare`: some sizes are multiples of a block, as few are that are just any numbers. What is known at compile time
    and counts no lanes is a small number mostly.
    """
    shapes = [extent for array in correspondence.arrays for extent in array.shape]
    strides = [stride for array in correspondence.arrays for stride in array.strides]
    sizes = _names(shapes) | _names(correspondence.extents.values()) | _names(correspondence.facts)
    sizes |= _names(correspondence.grid)
    free = sizes - set(correspondence.blocks) - correspondence.extents.keys()
    longest = FEW if large else LARGEST_SIZE if block in BLOCK_SIZES else BLOCKS_OF_A_SIZE * block
    values = {name: generator.randint(1, longest) for name in sorted(free)}
    if large and values:
        values[generator.choice(sorted(values))] = generator.randint(LARGEST_SIZE, MANY)
    for name in values if rare else ():
        values[name] = (
            block * max(values[name] // block, 1) if generator.random() < SHARE_OF_MULTIPLES else values[name]
        )
    for name in correspondence.blocks:
        given = correspondence.constants.get(name)
        if isinstance(given, int) and (name in correspondence.fixed or name not in sizes):
            values[name] = given
        else:
            counts_lanes = name in correspondence.work.tiles or generator.random() < SHARE_OF_BLOCKS
            values[name] = block if counts_lanes else generator.randint(1, FEW)
    _equate(correspondence.facts, values)
    if any(value_of(fact, values) < 0 for fact in _numbers_of(correspondence.facts, values)):
        _in_blocks(correspondence, values, free, generator)
    counted = sorted(name for name in free if name.startswith("programs_") and name not in _names(shapes))
    if not _enough_programs(correspondence, values, counted):
        return None
    for name, extent in correspondence.extents.items():
        values[name] = value_of(extent, values)
    values.update(dict.fromkeys(correspondence.reached, LARGEST_SIZE))  # until strides are known
    chosen = _names(strides) - values.keys()
    _choose_strides(correspondence, values, chosen, generator)
    for name in correspondence.integers:
        values.setdefault(name, generator.randint(1, largest))
    for name, coordinates in correspondence.reached.items():
        if any(_is_below(each, values, generator) for each in coordinates):
            return None
        values[name] = max(_farthest(each, values) for each in coordinates) + 1
    if any(values[name] > LARGEST_SIZE for name in correspondence.reached):  # rows are longer than strides suit
        _choose_strides(correspondence, values, chosen, generator)
        for name, coordinates in correspondence.reached.items():
            values[name] = max(values[name], *(_farthest(each, values) + 1 for each in coordinates))
    extents = [[value_of(extent, values) for extent in each.shape] for each in correspondence.arrays]
    if any(min(shape, default=0) < 0 or math.prod(shape) > MOST_ELEMENTS for shape in extents):
        return None
    return values if all(value_of(each, values) >= 0 for each in correspondence.rows) else None


def _numbers_of(facts: Iterable[Polynomial], values: Mapping[str, int]) -> Iterator[Polynomial]:
    """Those that can be told already."""
    return (fact for fact in facts if _names((fact,)) <= values.keys())


def _equate(facts: Sequence[Polynomial], values: dict[str, int]) -> None:
    """Of what is neither negative nor positive, one size follows from the others."""
    for fact in _numbers_of([each for each in facts if -each in facts], values):
        for name in sorted(_names((fact,))):
            factor = fact.coefficient(Symbol(name))
            if factor == number(-1):
                values[name] = max(value_of(fact + atomic(Symbol(name)), values), 0)
                break


def _in_blocks(
    correspondence: Correspondence, values: dict[str, int], free: Iterable[str], generator: random.Random
) -> None:
    """Sizes of facts that ask for whole blocks are some blocks long."""
    for fact in correspondence.facts:
        blocks = [atom.denominator for atom in fact.atoms() if isinstance(atom, Quotient)]
        sizes = sorted(_names((fact,)) & set(free))
        if len(sizes) == 1 and len(blocks) == 1 and _names(blocks) <= set(correspondence.blocks):
            values[sizes[0]] = value_of(blocks[0], values) * generator.randint(1, 2)


def value_of(polynomial: Polynomial, values: Mapping[str, int]) -> int:
    return Evaluator().polynomial(polynomial, {Symbol(name): value for name, value in values.items()})


def _farthest(coordinate: Polynomial, values: Mapping[str, int]) -> int:
    """Nothing that is read is farther: elements of arrays are below the largest size."""
    sizes: dict[Atom, Polynomial] = {Symbol(name): number(value) for name, value in values.items()}
    farthest = _reach(coordinate, sizes)[1]
    return UNBOUNDED if farthest == math.inf else min(max(math.floor(farthest), 0), MOST_ELEMENTS)


def _reach(coordinate: Polynomial, sizes: Mapping[Atom, Polynomial]) -> tuple[float, float]:
    """The least and the largest value of a coordinate, as far as bounds of its parts say."""
    facts = Facts()
    done: set[Atom] = set()
    remaining = [atom for atom in coordinate.atoms() if isinstance(atom, Axis | Expression)]
    while remaining:
        atom = remaining.pop()
        if atom in done:
            continue
        done.add(atom)
        if isinstance(atom, Axis):
            bounds = (atom.begin, atom.end)
            remaining.extend(each for bound in bounds for each in bound.atoms() if isinstance(each, Axis | Expression))
            facts = facts.with_bounds(atom, atom.begin.substitute(sizes), atom.end.substitute(sizes) - 1)
        elif isinstance(atom, Expression):
            low, high = _computed(atom, sizes)
            if math.isfinite(low) and math.isfinite(high):
                facts = facts.with_bounds(atom, math.floor(low), math.ceil(high))
    found = facts.bounds(coordinate.substitute(sizes))
    return -math.inf if found.low is None else found.low, math.inf if found.high is None else found.high


def _computed(node: Expression, sizes: Mapping[Atom, Polynomial]) -> tuple[float, float]:
    """The least and the largest value of what a coordinate is computed from; floats are those that are drawn."""
    match node.operation, node.arguments:
        case "constant", _ if math.isfinite(node.attribute):
            return node.attribute, node.attribute
        case "index", _:
            return _reach(node.attribute, sizes)
        case "load", _:
            return 0, LARGEST_SIZE - 1
        case "parameter", _ if node.dtype.is_float:
            return FLOATS
        case "cast", (inner,):
            return _computed(inner, sizes)
        case "select", (_, *parts):
            ends = [_computed(part, sizes) for part in parts]
            return min(low for low, _ in ends), max(high for _, high in ends)
        case "pointwise", parts if node.attribute[0] in _MONOTONE:
            ends = [_computed(part, sizes) for part in parts]
            corners = [_MONOTONE[node.attribute[0]](*corner) for corner in product(*ends)]
            known = all(math.isfinite(end) for pair in ends for end in pair)
            return (min(corners), max(corners)) if known else (-math.inf, math.inf)
        case _:
            return -MOST_COMPUTED, MOST_COMPUTED


# Functions whose extreme values are at ends of what they are given.
_MONOTONE: Final[Mapping[str, Callable[..., float]]] = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y, "minimum": min,
    "maximum": max, "minimum_num": min, "maximum_num": max, "floor": math.floor, "negative": lambda x: -x,
}  # fmt: skip
_COMPUTED = ("index", "pointwise", "select", "constant", "cast")


def _is_below(coordinate: Polynomial, values: Mapping[str, int], generator: random.Random) -> bool:
    """Whether something before an array is read, as far as some points show."""
    nodes = [node for atom in coordinate.atoms() if isinstance(atom, Expression) for node in walk(atom)]
    found = {each for atom in coordinate.atoms() for each in dependences(atom)[0]}
    axes = sorted(found, key=lambda axis: axis.serial)  # in this order numbers are drawn
    bounded = any(
        isinstance(atom, Expression) for axis in axes for end in (axis.begin, axis.end) for atom in end.atoms()
    )
    if bounded or any(node.operation not in _COMPUTED for node in nodes):
        return False  # elements of arrays are not known here
    sizes: dict[Atom, int] = {Symbol(name): value for name, value in values.items()}
    evaluator = Evaluator()

    def place(atom: Atom, point: dict[Atom, int]) -> None:
        if not isinstance(atom, Axis) or atom in point:
            return
        for inner in (*atom.begin.atoms(), *atom.end.atoms()):
            place(inner, point)
        low, high = evaluator.polynomial(atom.begin, point), evaluator.polynomial(atom.end, point)
        point[atom] = generator.choice((low, max(high - 1, low), generator.randint(low, max(high - 1, low))))

    for _ in range(SOME_POINTS):
        point = dict(sizes)
        for axis in axes:
            place(axis, point)
        if evaluator.polynomial(coordinate, point) < 0:
            return True
    return False


def _enough_programs(correspondence: Correspondence, values: dict[str, int], counted: Sequence[str]) -> bool:
    """Facts hold; a number of programs that nothing else needs is the smallest that makes them hold."""
    for count in range(1, MOST_PROGRAMS + 1):
        values.update(dict.fromkeys(counted, count))
        if all(value_of(fact, values) >= 0 for fact in correspondence.facts):
            return True
        if not counted:
            return False
    return False


def _choose_strides(
    correspondence: Correspondence, values: dict[str, int], names: set[str], generator: random.Random
) -> None:
    """Elements and rows follow each other with gaps; a stride of several arrays suits the largest."""
    wanted: dict[str, int] = {}
    for array in correspondence.arrays:
        running = generator.choice(STEPS)
        for extent, stride in reversed(list(zip(array.shape, array.strides, strict=True))):
            atom = stride.atom
            if isinstance(atom, Symbol) and atom.name in names:
                wanted[atom.name] = max(wanted.get(atom.name, 0), running)
                running = wanted[atom.name] * value_of(extent, values)
            elif _names((stride,)) <= values.keys() | wanted.keys():
                running = value_of(stride, {**values, **wanted}) * value_of(extent, values)
            else:
                continue
            running += generator.choice(GAPS)
    values.update(wanted)


def _call(correspondence: Correspondence, values: Mapping[str, int], generator: random.Random) -> CallSizes:
    arrays = tuple(
        (
            tuple(value_of(extent, values) for extent in array.shape),
            tuple(value_of(stride, values) for stride in array.strides),
        )
        for array in correspondence.arrays
    )
    numbers: dict[str, bool | int | float | str | None] = {name: values[name] for name in correspondence.integers}
    numbers.update({name: round(generator.uniform(*FLOATS), 3) for name in correspondence.floats})
    numbers.update({name: values[name] for name in correspondence.blocks})
    numbers.update({name: values[size] for name, size in correspondence.counts.items()})
    numbers.update({name: value for name, value in correspondence.constants.items() if name not in numbers})
    grid = tuple(value_of(extent, values) for extent in correspondence.grid)
    extents = [extent for shape, _ in arrays for extent in shape]
    limit = min([*extents, LARGEST_SIZE])
    longest = [value_of(each, values) + 1 for each in correspondence.longest]
    segments = (LARGEST_SIZE, min(*longest, LARGEST_SIZE)) if longest else (limit, limit)
    return CallSizes(grid, numbers, arrays, min(limit, *longest, limit), segments)

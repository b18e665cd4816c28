"""The tile program: what one launch does. A grid of programs, loops over tiles, loads, stores, dots, tile reductions.

    TileFunction = name, block sizes, Section*
    Section      = axes' forms, statements              run by its own range of program ids
    statement    = BindIndex | BindAxis | BindMask       coordinates of the program and their guards
                 | Assign(name, expression)              a named tile or scalar
                 | Describe | LoadTile                   a tensor descriptor, a tile that is read through one
                 | AssignResults(names, expressions)     the results of one reduction or scan
                 | Start | Accumulate | Finish           a reduction streamed over tiles
                 | Renew                                 a maximum that grows from tile to tile, where others need it
                 | ScanStep                              a prefix streamed over tiles
                 | StoreTile | StoreHalves
                 | StreamLoop | OrderedLoop              structure
                 | ProgramLoop                           one program does the work of several
                 | Barrier
                 | Remark                                 a comment for the reader

The right-hand sides are demand-DAG expressions: within a tile program, an axis stands for its current tile (its
*form*): one
scalar coordinate or a block of lanes. An expression that an earlier statement has named is printed as that name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from intent.dtypes import DType
from intent.records import dataclass, field
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Extremum, Polynomial, Quotient, Remainder, Symbol, number
from translators.diagnostics import Span
from translators.logical.types import Memory
from translators.tile.expression import Axis, Expression, LoopToken

ZERO = number(0)
Role = Literal["program", "resident", "streamed", "slice"]


@dataclass(frozen=True, slots=True)
class Named:
    """An integer the device function has a name for: a block size, the program id, a decoded coordinate."""

    name: str

    @property
    def sort_key(self) -> tuple[object, ...]:
        return ("named", self.name)

    def __repr__(self) -> str:
        return self.name


def of_sizes(value: Polynomial) -> bool:
    """Whether it is computed from sizes and block sizes alone, and so no wider than coordinates are."""
    return all(isinstance(atom, Symbol | Named | Quotient | Remainder | Extremum) for atom in value.atoms())


@dataclass(frozen=True, slots=True)
class Check:
    """A bounds check that no fact makes superfluous: left <= right, or left < right if `strict`."""

    left: Polynomial
    right: Polynomial
    strict: bool


@dataclass(frozen=True, slots=True)
class AxisForm:
    """How one axis appears in a program.

    `block` is the name of its block size, or None if the axis is one scalar coordinate at a time. `mask` is the name
    of the guard `coordinate < end`, or None where every lane is a coordinate (a proven fact). `first` is the name of
    the first lane's position, if something needs it.
    """

    name: str
    block: str | None
    mask: str | None
    first: str | None = None


@dataclass(frozen=True, slots=True)
class BindIndex:
    """name = polynomial, a scalar; `wide` starts 64-bit address arithmetic where the launch asks for it."""

    name: str
    value: Polynomial
    wide: bool = False


@dataclass(frozen=True, slots=True)
class BindAxis:
    """The axis' current tile: base + tile * block + lanes. `wide` as in BindIndex, for the lanes."""

    axis: Axis
    base: Polynomial
    tile: Polynomial = ZERO
    wide: bool = False


@dataclass(frozen=True, slots=True)
class BindMask:
    axis: Axis


@dataclass(frozen=True, slots=True)
class Assign:
    """name = expression, over its tile axes in `order`; `span` points back to the author's line."""

    name: str
    value: Expression
    order: tuple[Axis, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Describe:
    """name = a descriptor of two axes of a view, which stand at `positions`; tiles have the lanes of `axes`.

    `coordinates` are those of the other axes, and 0 at the two positions. Of `halves`, a tile has half the columns.
    """

    name: str
    memory: Memory
    coordinates: tuple[Polynomial, ...]
    positions: tuple[int, int]
    axes: tuple[Axis, Axis]
    halves: bool = False


@dataclass(frozen=True, slots=True)
class LoadTile:
    """name = the tile of a described view whose first coordinates are `firsts`, over `axes` as they lie in memory.

    Those that are `wide` may have 64 bits.
    """

    name: str
    value: Expression
    descriptor: str
    firsts: tuple[Polynomial, Polynomial]
    axes: tuple[Axis, Axis]
    wide: tuple[bool, bool]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Accumulators of a reduction (one per operand), at its identity, over `order` (its free and its streamed
    lanes). That of a matrix product may begin with what the product is to be added to.
    """

    names: tuple[str, ...]
    reduction: Expression
    order: tuple[Axis, ...]
    initial: Expression | None = None


@dataclass(frozen=True, slots=True)
class Accumulate:
    """Fold the current tile into the accumulators, which are first multiplied by `factor`, if there is one. In a loop
    that runs `backwards` the tile is before what they hold.
    """

    names: tuple[str, ...]
    reduction: Expression
    order: tuple[Axis, ...]
    factor: Expression | None = None
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class Renew:
    """new_name = the maximum `name` with the current tile taken in; the expression `previous` stands for `name`."""

    name: str
    new_name: str
    reduction: Expression
    previous: Expression
    order: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """Reduce the accumulators' lanes to the results; `results` names those that are used (None where not)."""

    results: tuple[tuple[str, Expression], ...]
    names: tuple[str, ...]
    reduction: Expression
    order: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class AssignResults:
    """The results of one reduction or scan of whole tiles that has several (those that are used)."""

    results: tuple[tuple[str, Expression], ...]
    order: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class ScanStep:
    """Prefixes within the tile, continued from `carries` (one per operand), which then move on to the tile's end.

    `start` names the first coordinate of the tile. Unless it `moves`, nothing continues from the tile; unless it is
    `used`, only the carries are.
    """

    results: tuple[tuple[str, Expression], ...]
    carries: tuple[str, ...]
    order: tuple[Axis, ...]
    start: str
    moves: bool = True
    used: bool = True


@dataclass(frozen=True, slots=True)
class StoreTile:
    """memory[coordinates] = value where the lanes' guards, the bounds checks and `predicate` hold."""

    memory: Memory
    coordinates: tuple[Polynomial, ...]
    value: Expression
    predicate: Expression | None
    checks: tuple[Check, ...]
    order: tuple[Axis, ...]
    span: Span
    action: str = "store"  # or the atomic update
    semantics: str = "relaxed"


@dataclass(frozen=True, slots=True)
class StoreHalves:
    """A store of a whole tile through a descriptor of halves of it: the left columns, then the right ones.

    `firsts` are the tile's first coordinates. `names` are for the halves side by side, the left and the right one.
    """

    store: StoreTile
    descriptor: str
    firsts: tuple[Polynomial, Polynomial]
    names: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Dealt:
    """The tiles of an axis go to `parts` programs in turn; this one is the program `part`. Both are names."""

    axis: Axis
    part: str
    parts: str


@dataclass(frozen=True, slots=True)
class StreamLoop:
    """for start in range(begin, end, block): the tiles of one axis, in order (from the last one if `reverse`).

    At the end of the body, each of `moves` is `name = new_name`. `low` and `high` replace the axis' own bounds. Lanes
    are guarded by the end of the axis, or by `guard`; not at all in a loop over `whole` tiles. Of tiles that are
    `dealt` the program takes its own.
    """

    axis: Axis
    start: str
    body: tuple[Statement, ...]
    reverse: bool = False
    moves: tuple[tuple[str, str], ...] = ()
    low: Polynomial | None = None
    high: Polynomial | None = None
    guard: Polynomial | None = None
    whole: bool = False
    dealt: Dealt | None = None


@dataclass(frozen=True, slots=True)
class CarryForm:
    """One carry of an OrderedLoop: its name, the tile order of `axes`, and whether its new value is computed before
    any other carry moves on (`new_name`)."""

    name: str
    dtype: DType
    axes: tuple[Axis, ...]
    initial: Expression
    update: Expression
    order: tuple[Axis, ...]
    new_name: str | None


@dataclass(frozen=True, slots=True)
class OrderedLoop:
    """An author's loop over [low, high) by `step`, or, if `live` is given, for as long as any lane is live, or over the
    slices of an axis (`sliced`), from `name` on in steps of its block.
    A `continued` loop goes on with the carries of an earlier one. Loads of `ahead` iterations are under way at a time,
    where that is not 0.

    `test` computes what `live` needs; it stands before the loop and again at the end of the body, which has what is
    `shared` from it. `active` names `live`.
    """

    token: LoopToken
    name: str
    low: Expression | None
    high: Expression | None
    step: int
    carries: tuple[CarryForm, ...]
    body: tuple[Statement, ...]
    live: Expression | None = None
    active: str | None = None
    active_order: tuple[Axis, ...] = ()
    test: tuple[Statement, ...] = ()
    shared: tuple[Expression, ...] = ()
    sliced: Axis | None = None
    continued: bool = False
    span: Span | None = None
    ahead: int = 0


@dataclass(frozen=True, slots=True)
class ProgramLoop:
    """The work of `count` programs, which those that run divide among them: `pid` is one after the other."""

    count: Polynomial
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """The statements of one region, run by the programs [first, first + count) of the grid.

    `forms` gives the form of every axis, `order` ranks tile dimensions. `padding` holds the value that a load's guarded
    lanes must have; `selected`, for a reduction and one of its operands, the axes whose guarded lanes must be set to
    the identity. `checks` are the bounds checks of loads; `nonpositive` exponentials have an argument <= 0 and are
    summed; `facts` is what is known about sizes and coordinates; `shapes` the extents of each buffer with those of the
    parallel points that have an instance each. `names` and `spans` are the author's names and places, for what gets a
    name; `coordinates` the names of what is computed from coordinates; `bounded` those that an access keeps below the
    number of elements of its array, and products of sizes that are no larger than an axis. `roles` says where each axis
    runs; `program` are those that the programs divide among them, the last one fastest. Products along an axis that has
    `steps` add up one step after the other.
    """

    forms: Mapping[Axis, AxisForm]
    order: Mapping[Axis, int]
    padding: Mapping[Expression, bool | int | float]
    selected: Mapping[tuple[Expression, int], tuple[Axis, ...]]
    checks: Mapping[Expression, tuple[Check, ...]]
    nonpositive: frozenset[Expression]
    facts: Facts
    shapes: Mapping[Memory, tuple[Polynomial, ...]]
    count: Polynomial
    statements: tuple[Statement, ...]
    names: Mapping[Expression, str] = field(default_factory=dict)
    spans: Mapping[Expression, Span] = field(default_factory=dict)
    coordinates: Mapping[Polynomial, str] = field(default_factory=dict)
    bounded: frozenset[Polynomial] = frozenset()
    roles: Mapping[Axis, Role] = field(default_factory=dict)
    program: tuple[Axis, ...] = ()
    dealt: Dealt | None = None
    steps: Mapping[Axis, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Barrier:
    """All lanes' earlier stores are visible to all lanes' later loads of this program."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A line that tells the reader why."""

    text: str


Statement = (
    BindIndex | BindAxis | BindMask | Assign | AssignResults | Describe | LoadTile | Start | Accumulate | Renew | Finish
    | ScanStep | StoreTile | StoreHalves | StreamLoop | OrderedLoop | ProgramLoop
    | Barrier | Remark
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TileFunction:
    """One device function: its block sizes and its sections (several where parts of a kernel share no programs)."""

    name: str
    blocks: tuple[tuple[str, int], ...]
    sections: tuple[Section, ...]

"""The logical program: what the author means. No tiles, no pointers, no masks.

    Kernel    = name, parameters (View | ScalarParameter | bound constexprs), body Block
    Block     = statement*
    statement = Let(op, results)                    a pure operation or a read; reads happen in statement order
              | Write(memory, relation, value)      also I.store
              | Scatter(memory, relation, value, combine | None)
              | AtomicUpdate(...)  | Allocate(buffer, init) | AssumeInBounds(...)
              | If | For | While | Parallel         structured, with explicit merges and carries
    op        = Constant | Size | Parameter | Pointwise | Select | Cast | Bitcast | Full | Reshape | Transpose | Join
              | Read | Pick | Indices | Reduce | ArgReduce | Scan | Contract | Histogram | RandomBits
              | RegionFold | RegionScan | Merge | Carried | LoopVariable | BlockParameter | AtomicResult | Intrinsic

Values are SSA: each has a type, the op that made it (`origin`) and a position among that op's results, so that a
consumer can walk from a value to its definition without a table. Tuples and records do not exist here: the reader
flattens them, and structured operations take and give several values. Named shorthands are normalised while reading
(matmul -> Contract, cumsum -> Scan, mask -> Select, `:` -> a full domain); `spelling` keeps the author's word for
printing. `break`, `continue` and early `return` are normalised too: a loop that can be left early has a bool carry
`exit` (True = leave after this iteration), and statements after a conditional exit sit in an If.
"""

from __future__ import annotations

from collections.abc import Mapping

from intent.dtypes import DType
from intent.records import dataclass, field
from translators.algebra.polynomial import Polynomial
from translators.diagnostics import Span
from translators.logical.composition import Host
from translators.logical.types import Buffer, Domain, Memory, Scalar, Type, View


# ------------------------------------------------------------------------------------------------------------- values
@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One SSA value. `serial` grows in definition order. The author's names are in `Kernel.names`."""

    type: Type
    origin: Op
    position: int
    serial: int
    span: Span

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def shape(self) -> tuple[Polynomial, ...]:
        return self.type.shape

    @property
    def is_scalar(self) -> bool:
        return isinstance(self.type, Scalar)

    @property
    def sort_key(self) -> tuple[object, ...]:
        """Values are atoms of the algebra: an index scalar the algebra cannot see through."""
        return ("value", self.serial)

    def __repr__(self) -> str:
        return f"%{self.serial}"


# ---------------------------------------------------------------------------------------------------- index relations
@dataclass(frozen=True, slots=True)
class At:
    """A scalar integer index: drops the axis."""

    index: Value


@dataclass(frozen=True, slots=True)
class Along:
    """A domain index: adds one axis; position p is coordinate begin + step*p."""

    domain: Domain


@dataclass(frozen=True, slots=True)
class Gathered:
    """An integer tensor index. All of a relation's tensor indices broadcast jointly; their joint axes stand where the
    first of them stands."""

    index: Value


@dataclass(frozen=True, slots=True)
class NewAxis:
    """`None`: a new axis of extent 1; consumes no axis of the source. Reads only."""


IndexItem = At | Along | Gathered | NewAxis


@dataclass(frozen=True, slots=True)
class Relation:
    """How the axes of an access map to coordinates of the memory or tensor it touches.

    Exactly one At, Along or Gathered per source axis, in source-axis order; `shape` is the shape of the access's
    result."""

    items: tuple[IndexItem, ...]
    shape: tuple[Polynomial, ...]
    joint_shape: tuple[Polynomial, ...] = ()


# --------------------------------------------------------------------------------------------------------- operations
@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A scalar literal, already converted to the result's dtype (Python bool, int or float)."""

    value: bool | int | float


@dataclass(frozen=True, slots=True, eq=False)
class Size:
    """An extent as an index scalar: a symbol or a product/difference the author wrote through `.shape`."""

    extent: Polynomial


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A runtime scalar parameter."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Pointwise:
    """An elementwise function of operands that broadcast from the right to the result's shape.

    `function` is one of POINTWISE. All operands have one dtype, except the shift amount rule: both operands share it
    too. An operand axis of extent 1 against another extent is read at 0.
    """

    function: str
    arguments: tuple[Value, ...]
    approximate: bool = False
    flush_to_zero: bool = False


# Binary: add subtract multiply divide floor_divide remainder power and or xor shift_left shift_right
#         equal not_equal less less_equal greater greater_equal maximum minimum maximum_num minimum_num
# Unary:  negative invert (bitwise) not (bool) and the float functions of language.md section 5
BINARY = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "and", "or", "xor",
    "shift_left", "shift_right", "maximum", "minimum", "maximum_num", "minimum_num",
)  # fmt: skip
COMPARISON = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
UNARY = (
    "negative", "invert", "not", "abs", "exp", "exp2", "log", "log1p", "lgamma", "sin", "asin", "cos", "floor", "erf",
    "erfc", "i0", "rsqrt", "sqrt", "sigmoid", "tanh",
)  # fmt: skip
POINTWISE = BINARY + COMPARISON + UNARY


@dataclass(frozen=True, slots=True, eq=False)
class Select:
    """condition ? true : false, elementwise with broadcasting; both sides are evaluated. (`a if c else b`, `and` and
    `or` on runtime scalars are If statements with one Merge, since only the side that is taken reads.)"""

    condition: Value
    true: Value
    false: Value


@dataclass(frozen=True, slots=True, eq=False)
class Cast:
    """Numeric conversion to the result's dtype (language.md section 3)."""

    argument: Value


@dataclass(frozen=True, slots=True, eq=False)
class Bitcast:
    argument: Value


@dataclass(frozen=True, slots=True, eq=False)
class Full:
    """A scalar repeated over the result's shape (possibly rank zero). Also an implicit broadcast of a scalar."""

    fill: Value


@dataclass(frozen=True, slots=True, eq=False)
class Reshape:
    """Row-major reinterpretation of a tensor's elements in the result's shape."""

    argument: Value


@dataclass(frozen=True, slots=True, eq=False)
class Broadcast:
    """A tensor repeated to the result's shape, aligned from the right."""

    argument: Value


@dataclass(frozen=True, slots=True, eq=False)
class Transpose:
    """Result axis i is the argument's axis permutation[i]."""

    argument: Value
    permutation: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """A new trailing axis of extent 2 holding lhs and rhs."""

    lhs: Value
    rhs: Value


@dataclass(frozen=True, slots=True, eq=False)
class Indices:
    """The coordinates of a domain as an index tensor."""

    domain: Domain


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """Elements of memory. Where `valid` is false, memory is not touched and `fill` is the value (0 if None).

    Scalar result if the relation has no axis (and the memory is not read as a tensor), tensor otherwise.
    `valid` and `fill` broadcast to the relation's shape.
    """

    memory: Memory
    relation: Relation
    valid: Value | None = None
    fill: Value | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """Elements of a tensor value, by the same index relation; positions are local, from 0."""

    argument: Value
    relation: Relation
    valid: Value | None = None
    fill: Value | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Lambda:
    """A pure helper applied inside a structured operation: parameters, straight-line or structured body, results."""

    parameters: tuple[Value, ...]
    body: Block
    results: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reduce:
    """Reduction over `axes` of n tensors of one shape to n values with these axes removed.

    `kind` is sum, max, any, all, or generic (then `combine` takes n accumulators, n elements and captures, and
    `identities` gives n values of the result's type or scalars). Arguments are already cast to the accumulation dtype.
    Associative and commutative: may be reordered, unless it is `ordered`: then a sum that takes the elements of its
    only axis one after the other. `max` propagates NaN. Empty -> identity.
    """

    kind: str
    arguments: tuple[Value, ...]
    axes: tuple[int, ...]
    combine: Lambda | None = None
    identities: tuple[Value, ...] = ()
    captures: tuple[Value, ...] = ()
    ordered: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ArgReduce:
    """(largest value, its lowest position within the axis); the first NaN wins. Two results."""

    argument: Value
    axis: int


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """Prefix of n tensors along one axis. `kind` is sum, max, or generic (fields as in Reduce). Order is kept."""

    kind: str
    arguments: tuple[Value, ...]
    axis: int
    inclusive: bool
    reverse: bool
    combine: Lambda | None = None
    identities: tuple[Value, ...] = ()
    captures: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Contract:
    """Sum of products over the labels that the result lacks (einsum with integer labels).

    `lhs_labels[i]` names axis i of lhs, and so on. A size-one axis may carry a label of larger extent (batch
    broadcasting): it is read at 0. Operands share one dtype; products and sums are in `accumulator` (also the result's
    dtype)."""

    lhs: Value
    rhs: Value
    lhs_labels: tuple[int, ...]
    rhs_labels: tuple[int, ...]
    result_labels: tuple[int, ...]
    accumulator: DType
    spelling: str = "contract"


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """counts[b] = number of positions where valid and values == b. Values are integers within [0, bins)."""

    values: Value
    valid: Value
    bins: Value


@dataclass(frozen=True, slots=True, eq=False)
class RandomBits:
    """Philox4x32-10 word counter % 4 of block counter // 4 (u32)."""

    seed: Value
    counter: Value


@dataclass(frozen=True, slots=True, eq=False)
class RegionFold:
    """List homomorphism over contiguous slices of `axis` of `sources`; summaries merged by `combine`.

    `summarize` takes the slices (their axis has the symbolic extent `slice_extent`), then `operands`; it gives n
    summaries of the types of `identities`. `combine` takes n + n summaries.
    """

    sources: tuple[Value, ...]
    axis: int
    slice_extent: Polynomial
    summarize: Lambda
    combine: Lambda
    identities: tuple[Value, ...]
    operands: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RegionScan:
    """`RegionFold` with outputs: for each slice emit(slice, incoming state, *operands); state' = apply(summary, state).

    Results: the emitted outputs, then the final state. `emit_results` counts the outputs.
    """

    sources: tuple[Value, ...]
    axis: int
    slice_extent: Polynomial
    summarize: Lambda
    combine: Lambda
    identities: tuple[Value, ...]
    apply: Lambda
    emit: Lambda
    initial_state: tuple[Value, ...]
    operands: tuple[Value, ...]
    emit_results: int


@dataclass(frozen=True, slots=True, eq=False)
class Intrinsic:
    """An operation on encoded operands: scaled and sparse contractions, quantized records.

    The reference computes it by its name, `arguments` and `attributes`. `body` says the same in ordinary operations,
    and gives `result`: that is what the planner lowers.
    """

    name: str
    arguments: tuple[Value, ...]
    attributes: tuple[tuple[str, object], ...]
    body: Block
    result: Value
    rounded: bool = False  # every product is rounded before it is added: no fused multiply-add


# ----- results of structured statements and block parameters: where a value comes from when no op computes it
@dataclass(frozen=True, slots=True, eq=False)
class Merge:
    """The value after an If: `true` if its condition held, else `false`."""

    condition: Value
    true: Value
    false: Value


@dataclass(frozen=True, slots=True, eq=False)
class LoopKey:
    """Identity of a For, While or Parallel statement."""

    serial: int


@dataclass(frozen=True, slots=True, eq=False)
class LoopVariable:
    """The coordinate of a For or Parallel; `ordinal` is the position among a Parallel's domains."""

    loop: LoopKey
    domain: Domain


@dataclass(frozen=True, slots=True, eq=False)
class CarryIn:
    """The value of carry `Value.position` at the start of an iteration."""

    loop: LoopKey


@dataclass(frozen=True, slots=True, eq=False)
class CarryOut:
    """The value of carry `Value.position` after the loop."""

    loop: LoopKey


@dataclass(frozen=True, slots=True, eq=False)
class BlockParameter:
    """A parameter of a Lambda."""


@dataclass(frozen=True, slots=True, eq=False)
class AtomicResult:
    """The old value (and for compare_exchange, at position 1, success) of an AtomicUpdate."""


Op = (
    Constant | Size | Parameter | Pointwise | Select | Cast | Bitcast | Full | Reshape | Broadcast | Transpose | Join
    | Indices | Read | Pick | Reduce | ArgReduce | Scan | Contract | Histogram | RandomBits | RegionFold | RegionScan
    | Intrinsic | Merge | LoopVariable | CarryIn | CarryOut | BlockParameter | AtomicResult
)  # fmt: skip


# --------------------------------------------------------------------------------------------------------- statements
@dataclass(frozen=True, slots=True, eq=False)
class Let:
    """Evaluate `op`, giving `results`."""

    op: Op
    results: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """memory[relation] = value; the value broadcasts to the relation's shape."""

    memory: Memory
    relation: Relation
    value: Value
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """Like Write, to destinations that the author declares distinct (`combine` None) or that combine.

    `combine` is add, maximum, minimum, and, or, xor.
    """

    memory: Memory
    relation: Relation
    value: Value
    combine: str | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class AtomicUpdate:
    """`action`: load store exchange add max min and or xor compare_exchange. `arguments` are the value operands
    (compare_exchange: expected, desired). Results: old value, then success for compare_exchange; () for store."""

    action: str
    memory: Memory
    relation: Relation
    arguments: tuple[Value, ...]
    order: str
    results: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Allocate:
    """A fresh buffer. `init` is a scalar, a tensor of its shape, or None (undefined contents)."""

    buffer: Buffer
    init: Value | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class AssumeInBounds:
    """The caller's promise that every element of `index` is a coordinate of axis `axis` of `memory`."""

    index: Value
    memory: Memory
    axis: int
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Carry:
    """One loop-carried value: `inside` (origin CarryIn) is `initial` in the first iteration and the previous `update`
    in the others; `result` (origin CarryOut) is its value after the loop. All four have one type."""

    initial: Value
    inside: Value
    update: Value
    result: Value


@dataclass(frozen=True, slots=True, eq=False)
class For:
    """Ordered loop over a domain. `exit` indexes the bool carry that ends the loop when it is True after an iteration
    (its initial value is False)."""

    key: LoopKey
    variable: Value
    domain: Domain
    carries: tuple[Carry, ...]
    body: Block
    span: Span
    exit: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class While:
    """Repeat `body` while `condition` (computed by block `test` from the carries' `inside` values) is true; `exit` as
    in For.
    """

    key: LoopKey
    carries: tuple[Carry, ...]
    test: Block
    condition: Value
    body: Block
    span: Span
    exit: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Parallel:
    """Unordered forall over the product of `domains`; `variables` are its coordinates (origin LoopVariable)."""

    key: LoopKey
    variables: tuple[Value, ...]
    domains: tuple[Domain, ...]
    body: Block
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class If:
    """Runtime conditional on a scalar. `merges` (origin Merge) are the names that both branches define."""

    condition: Value
    then: Block
    orelse: Block
    merges: tuple[Value, ...]
    span: Span


Statement = Let | Write | Scatter | AtomicUpdate | Allocate | AssumeInBounds | For | While | Parallel | If


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    statements: tuple[Statement, ...] = ()


# ------------------------------------------------------------------------------------------------------------ kernels
@dataclass(frozen=True, slots=True)
class ScalarParameter:
    name: str
    dtype: DType


@dataclass(frozen=True, slots=True)
class BoundConstant:
    """A constexpr parameter with the value it was compiled for."""

    name: str
    value: bool | int | float | str


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """One launch. `parameters` are the runtime parameters in declaration order."""

    name: str
    parameters: tuple[View | ScalarParameter, ...]
    constants: tuple[BoundConstant, ...]
    body: Block
    span: Span
    names: Mapping[Value, str] = field(default_factory=dict)  # the last name the author bound to each value
    docstring: str | None = None

    @property
    def views(self) -> tuple[View, ...]:
        return tuple(parameter for parameter in self.parameters if isinstance(parameter, View))

    @property
    def scalars(self) -> tuple[ScalarParameter, ...]:
        return tuple(parameter for parameter in self.parameters if isinstance(parameter, ScalarParameter))


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """One source file: its kernels in order. `docstring` is the module's; `lines` is its text, for comments that point
    back; `imported` has the files whose helpers and constants it uses, as they were read, by absolute path; `host` the
    functions that compose its kernels."""

    path: str
    kernels: tuple[Kernel, ...]
    docstring: str | None = None
    lines: tuple[str, ...] = ()
    imported: Mapping[str, bytes] = field(default_factory=dict)
    host: Host | None = None

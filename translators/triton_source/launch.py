"""What the planner hands to the writer of the generated module: device functions and how the host launches them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from intent.dtypes import DType
from intent.records import dataclass, field
from translators.diagnostics import Diagnostic
from translators.logical.program import Kernel

if TYPE_CHECKING:
    from translators.tile.program import TileFunction
    from translators.triton_source.lines import Origins


@dataclass(frozen=True, slots=True)
class Pointer:
    """A view's data pointer: parameter `<view>_ptr`."""

    view: str


@dataclass(frozen=True, slots=True)
class Size:
    """A symbolic extent, by symbol."""

    symbol: str


@dataclass(frozen=True, slots=True)
class Stride:
    """The stride, in elements, of one axis of a view."""

    view: str
    axis: int


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A runtime scalar parameter of the kernel."""

    name: str


@dataclass(frozen=True, slots=True)
class ScratchPointer:
    """Device memory the launcher allocates for an author's `I.buffer`."""

    name: str


Argument = Pointer | Size | Stride | ScalarArgument | ScratchPointer


@dataclass(frozen=True, slots=True)
class Tuning:
    """Launch parameters on one family of targets."""

    warps: int
    stages: int


TILES = "tile_processors"


@dataclass(frozen=True, slots=True)
class Copies:
    """Views that may be copied into aligned rows, so that descriptors can address them, where the condition holds."""

    views: tuple[str, ...]
    condition: str


@dataclass(frozen=True, slots=True)
class Scratch:
    """`elements` is a Python expression over size names."""

    name: str
    dtype: DType
    elements: str


@dataclass(frozen=True, slots=True)
class Variant:
    """One `@triton.jit` function and when it is launched.

    `source` is the function's whole text with its decorator left out. Its parameters are those of `arguments` in order
    (see `names.LaunchNames`), then `constants` as `tl.constexpr`, then, if `wide_index` is true, `INDEX: tl.constexpr`
    (tl.int64 when a view spans 2**31 elements or more, else tl.int32). `rounded`: no product may be fused with a sum.
    `grid` (number of programs) and `condition` are Python expressions over size names (`triton.cdiv` allowed). The
    first variant whose condition holds is launched; the last one's condition is None. `described`: it reads tiles
    through descriptors, for `TILES`, the number of processors that can, which is 0 if the arrays do not allow it.
    `beyond`: for sizes beyond the limits of all others, it keeps in scratch memory what they keep on chip.
    `tiles` is what `source` was printed from, with the block sizes of this variant, and `origins` has the author's
    lines that each line of `source` comes from: both are for showing the plan.
    """

    function: str
    source: str
    arguments: tuple[Argument, ...]
    constants: tuple[tuple[str, int], ...]
    grid: str
    condition: str | None
    cuda: Tuning
    hip: Tuning
    wide_index: bool = True
    rounded: bool = False
    described: bool = False
    beyond: bool = False
    scratch: tuple[Scratch, ...] = ()  # what the launcher allocates, in the order of the arguments
    copies: Copies | None = None
    plan: str = ""  # one line for the docstring: which rows stay on chip, what is streamed
    tiles: TileFunction | None = field(default=None, compare=False, repr=False)
    origins: tuple[Origins, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A fact of the sizes the kernel needs and the host checks: a Python expression and the ValueError's message."""

    expression: str
    message: str


Overlap = Literal["refuse", "snapshot", "same"]
OVERLAPS: Final = ("same", "snapshot", "refuse")  # what is permitted, least last


@dataclass(frozen=True, slots=True)
class KernelCode:
    """Everything about one kernel that the module's text needs.

    `overlap` says what the kernel does with a writable view whose memory overlaps another argument's: "same" - correct
    when the two are the very same elements (in place); "snapshot" - correct if the other argument is first copied;
    "refuse" - a ValueError that names the limit.
    `covered` names the outputs proven to be written in full. `stages` gives the logical program, one line per
    statement group; `traffic` the bytes moved against the array form; `promises` what callers are taken to have
    promised.
    `products` are ends of axes, as the launcher computes them, that may be large although the sizes that they are
    products of are not. `notes` is advice to the author.
    """

    kernel: Kernel
    variants: tuple[Variant, ...]
    helpers: Mapping[str, str]  # name -> text of a @triton.jit helper, decorator included
    requirements: tuple[Requirement, ...] = ()
    overlap: Overlap = "refuse"
    covered: frozenset[str] = frozenset()
    stages: tuple[str, ...] = ()
    traffic: str = ""
    promises: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    notes: tuple[Diagnostic, ...] = ()

    @property
    def scratch(self) -> tuple[Scratch, ...]:
        """That of all variants."""
        return tuple(dict.fromkeys(each for variant in self.variants for each in variant.scratch))

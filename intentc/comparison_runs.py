"""Two kernels side by side on random inputs, under Triton's interpreter: the numbers behind a comparison."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

from intent.records import dataclass
from intentc.lift_verification import Verification, Written, run_sides, write_kernel
from translators.algebra.polynomial import Symbol
from translators.comparison.interface import Mismatch, match
from translators.comparison.sides import Side
from translators.lifting.correspondence import CallSizes, Correspondence, draw, value_of
from translators.logical.types import View
from translators.options import Options
from translators.pipeline import compile_text
from translators.triton_source.read.source import read_file

CALLS: Final = 5
LARGEST: Final = 40
BLOCKS: Final = (16, 32, 64, 128, 256)


@dataclass(frozen=True, slots=True)
class Runs:
    """On how many random inputs the two agreed; `reason` says why they did not run."""

    calls: int
    agreed: int
    reason: str | None = None

    @property
    def disagrees(self) -> bool:
        return self.reason is None and self.agreed < self.calls

    def __str__(self) -> str:
        if self.reason is not None:
            return f"not run: {self.reason}"
        return f"agreed on {self.agreed} of {self.calls} random inputs under the interpreter"


class NotRun(Exception):
    """Why the two cannot run on the same inputs."""


def run_both(first: Side, second: Side, texts: Sequence[str], constants: Mapping[str, object]) -> Runs:
    """Run the two kernels, whose files are `texts`."""
    try:
        pairs = match(first, second).pairs
        found = _run(first, second, texts, constants, pairs)
    except Mismatch as error:
        return Runs(0, 0, error.reason)
    except NotRun as error:
        return Runs(0, 0, str(error))
    return Runs(found.calls, found.agreed, found.reason)


def _run(
    first: Side, second: Side, texts: Sequence[str], constants: Mapping[str, object], pairs: list[tuple[str, str]]
) -> Verification:
    views = {view.name: view for view in first.views}
    ordered = [views[one] for one, _ in pairs]
    written = tuple(
        _written(side, text, constants, names)
        for side, text, names in zip((first, second), texts, zip(*pairs, strict=True), strict=True)
    )
    others = {view.name: view for view in second.views}
    arrays = [
        {"name": one, "dtype": views[one].dtype.name, "written": views[one].writable or others[other].writable}
        for one, other in pairs
    ]
    calls = [_call(first, second, pairs, ordered, random.Random(seed)) for seed in range(CALLS)]
    return run_sides((written[0], written[1]), arrays, calls)


def _written(side: Side, text: str, constants: Mapping[str, object], names: Sequence[str]) -> Written:
    if side.origin is not None:
        made = write_kernel(read_file(text, side.path), side.origin.lifted)
        pointers = tuple(side.origin.pointers[name] for name in names)
        return Written(made.texts, made.module, made.name, pointers, None, f"kernel '{side.name}'", made.unused)
    module = compile_text(text, side.path, Options(constexprs=dict(constants)), side.name).source
    if module is None:
        raise NotRun(f"'{side.name}' is not compiled")
    order = tuple(each.name for each in side.kernel.parameters)
    return Written({"compiled": module}, "compiled", f"{side.name}_device_out", tuple(names), order, side.name)


# --------------------------------------------------------------------------------------------------------------- calls
def _call(
    first: Side, second: Side, pairs: list[tuple[str, str]], ordered: Sequence[View], generator: random.Random
) -> dict[str, object]:
    """Sizes and numbers that suit both sides."""
    lead, other = (first, second) if first.origin is not None or second.origin is None else (second, first)
    if lead.origin is None:
        return _intent_call(first, second, ordered, generator)
    drawn = draw(_correspondence(lead), generator)
    if drawn is None:
        raise NotRun("no sizes meet what the lift assumes")
    place = 0 if lead is first else 1
    shapes = dict(zip((each.name for each in _correspondence(lead).arrays), drawn.arrays, strict=True))
    numbers = {"grid": drawn.grid, "numbers": dict(drawn.numbers)}
    sides = [numbers, _others(lead, other, drawn)]
    arrays = [shapes[pair[place]] for pair in pairs]
    return {"arrays": arrays, "limit": drawn.limit, "sides": sides if place == 0 else sides[::-1]}


def _correspondence(side: Side) -> Correspondence:
    assert side.origin is not None and side.origin.lifted.correspondence is not None
    return side.origin.lifted.correspondence


def _others(lead: Side, other: Side, drawn: CallSizes) -> dict[str, object]:
    """The numbers of the other side: the same in their order; its own grid and block sizes."""
    if other.origin is None:
        names = _numbers(lead)
        used = [name for name in names if name in {each.name for each in lead.scalars}]
        if len(used) != len(other.scalars):
            raise NotRun("the numbers of the two kernels do not correspond")
        return {"grid": (), "numbers": {o.name: drawn.numbers[n] for o, n in zip(other.scalars, used, strict=True)}}
    ones, others = _numbers(lead), _numbers(other)
    if len(ones) != len(others):
        raise NotRun("the kernels take different numbers")
    given = {name: drawn.numbers[same] for name, same in zip(others, ones, strict=True)}
    return _launched(_correspondence(other), given, drawn, _correspondence(lead))


def _numbers(side: Side) -> list[str]:
    assert side.origin is not None
    pointers = {*side.origin.pointers.values(), *_correspondence(side).unused}
    return [name for name in side.origin.parameters if name not in pointers]


def _launched(
    correspondence: Correspondence, given: Mapping[str, object], drawn: CallSizes, lead: Correspondence
) -> dict[str, object]:
    """The first block size for which what the lift assumes holds."""
    values = {name: value for name, value in given.items() if isinstance(value, int)}
    for array, (shape, _) in zip(correspondence.arrays, drawn.arrays, strict=True):
        for extent, size in zip(array.shape, shape, strict=False):
            if isinstance(extent.atom, Symbol):
                values.setdefault(extent.atom.name, size)
    for block in BLOCKS:
        blocks = {name: correspondence.constants.get(name, block) for name in correspondence.blocks}
        known = {**values, **{name: value for name, value in blocks.items() if isinstance(value, int)}}
        facts = [value_of(fact, known) for fact in correspondence.facts if _named(fact, known)]
        if all(fact >= 0 for fact in facts):
            grid = tuple(value_of(extent, known) for extent in correspondence.grid if _named(extent, known))
            if len(grid) < len(correspondence.grid):
                grid = drawn.grid
            return {"grid": grid, "numbers": {**correspondence.constants, **given, **blocks}}
    raise NotRun("no block sizes meet what the lift assumes")


def _named(polynomial: object, known: Mapping[str, int]) -> bool:
    atoms = polynomial.atoms()  # type: ignore[attr-defined]
    return all(atom.name in known for atom in atoms if isinstance(atom, Symbol))


def _intent_call(first: Side, second: Side, ordered: Sequence[View], generator: random.Random) -> dict[str, object]:
    """Dense arrays of random sizes."""
    sizes: dict[str, int] = {}
    arrays = []
    for view in ordered:
        shape = []
        for extent in view.shape:
            name = repr(extent)
            known = extent.constant
            shape.append(known if known is not None else sizes.setdefault(name, generator.randint(1, LARGEST)))
        strides = [1] * len(shape)
        for axis in range(len(shape) - 2, -1, -1):
            strides[axis] = strides[axis + 1] * max(shape[axis + 1], 1)
        arrays.append((shape, strides))
    drawn = [_scalar(each.dtype.is_float, generator) for each in first.scalars]
    sides = [
        {"grid": (), "numbers": dict(zip((each.name for each in side.scalars), drawn, strict=True))}
        for side in (first, second)
    ]
    return {"arrays": arrays, "limit": min((size for shape, _ in arrays for size in shape), default=1), "sides": sides}


def _scalar(is_float: bool, generator: random.Random) -> int | float:
    return round(generator.uniform(0.25, 2.0), 3) if is_float else generator.randint(1, 8)

"""Variants of one program: kernels of a file that lift to the same become one Intent kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import takewhile

from intent.records import replace
from translators.comparison.sides import NoSide, Side, lifted_side
from translators.comparison.verdict import compare
from translators.lifting.files import LiftedFile, source_of
from translators.lifting.launches import launches
from translators.lifting.lift import Lifted
from translators.lifting.names import kernel_name
from translators.triton_source.read.source import Package, TritonFile, read_file

SUFFIX = "_kernel"


def merged(text: str, lifted: LiftedFile, constants: Mapping[str, object], alone: bool = False) -> LiftedFile:
    """The file with each program once, named by what the names of its variants have in common.

    `alone`: the text is all there is, no file is looked for beside it.
    """
    groups = _groups(read_file(text, lifted.path, Package(alone=alone)), lifted, constants)
    names = _names(groups)
    kernels: list[Lifted] = []
    for kernel in lifted.kernels:
        group = next((group for group in groups if kernel in group), [kernel])
        if kernel.source is not None:
            variant = group[0].name if kernel is not group[0] else None
            source = replace(kernel.source, name=names.get(group[0].name, kernel.source.name))
            kernel = replace(kernel, source=source, variant_of=variant)
        kernels.append(kernel)
    return replace(lifted, kernels=tuple(kernels), source=source_of(kernels, lifted.path))


def _groups(file: TritonFile, lifted: LiftedFile, constants: Mapping[str, object]) -> list[list[Lifted]]:
    groups: list[tuple[Side | None, list[Lifted]]] = []
    several = sum(kernel.source is not None for kernel in lifted.kernels) > 1
    known = launches(file, constants) if several else {}
    for kernel in lifted.kernels:
        if kernel.source is None:
            continue
        side = None
        if several:
            with suppress(NoSide):
                side = lifted_side(file, kernel, known.get(kernel.name), constants)
        alike = next((group for each, group in groups if side and each and _same(each, side)), None)
        if alike is None:
            groups.append((side, [kernel]))
        else:
            alike.append(kernel)
    return [group for _, group in groups]


def _same(first: Side, second: Side) -> bool:
    return len(first.views) == len(second.views) and compare(first, second).answer == "same"


def _names(groups: Sequence[Sequence[Lifted]]) -> dict[str, str]:
    """By the first variant: what all have in common, without a suffix that says that it is a kernel."""
    wanted = {group[0].name: _name([kernel.name for kernel in group]) for group in groups}
    chosen = list(wanted.values())
    return {name: each for name, each in wanted.items() if each.isidentifier() and chosen.count(each) == 1}


def _name(names: Sequence[str]) -> str:
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    shared = "".join(letters[0] for letters in alike).strip("_")
    made = shared.removesuffix(SUFFIX)
    return made if made and kernel_name(made) == made else shared

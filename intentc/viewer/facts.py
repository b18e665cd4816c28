"""What a plan has proven, and what it asks of its callers, as sentences."""

from __future__ import annotations

from collections.abc import Iterator

from intentc.viewer.axes import axis_views, shown
from translators.tile.program import Check, Section
from translators.triton_source.launch import KernelCode, Variant

_OVERLAP = {
    "same": "An output may be the very array of an input: every element is read before it is written.",
    "snapshot": "Where an output shares memory with an input, the call copies the input first.",
    "refuse": "A call in which an output shares memory with another argument is refused.",
}


def kernel_facts(code: KernelCode) -> Iterator[str]:
    """What holds for every variant."""
    outputs = [view.name for view in code.kernel.views if view.direction == "Out"]
    for name in outputs:
        if name in code.covered:
            yield f"Every element of {name} is written: its memory need not be filled before."
        else:
            yield f"It is not proven that every element of {name} is written."
    yield _OVERLAP[code.overlap]
    for requirement in code.requirements:
        yield f"The call checks that {requirement.expression}."
    for promise in code.promises:
        yield f"Taken for granted: {promise}."


def variant_facts(variant: Variant) -> Iterator[str]:
    """What holds for one variant."""
    sections = variant.tiles.sections if variant.tiles is not None else ()
    for section in sections:
        yield from _lanes(section, variant)
        yield from _padding(section)
        yield from _checks(section)
    if variant.wide_index:
        yield "Addresses have 64 bits where an array spans 2³¹ elements or more, else 32."
    if variant.described:
        yield "Tiles are read through tensor descriptors, on devices that copy tiles by themselves."
    if variant.rounded:
        yield "No product is fused with a sum: every product is rounded."
    if variant.beyond:
        yield "For sizes that no other variant takes: what they keep on chip is in scratch memory."


def _lanes(section: Section, variant: Variant) -> Iterator[str]:
    for view in axis_views(section, dict(variant.constants), None):
        if view.block is not None and view.mask is None:
            yield f"Every lane of {view.name} is a coordinate: nothing of it is masked."


def _padding(section: Section) -> Iterator[str]:
    """What masked lanes hold, where it matters."""
    for node, value in section.padding.items():
        if node.operation == "load":
            shown_value = {float("inf"): "∞", float("-inf"): "−∞"}.get(value, f"{value:g}" if value else "0")
            yield f"Masked lanes of {node.attribute.memory.name} hold {shown_value}: they change no result."


def _checks(section: Section) -> Iterator[str]:
    if not section.checks:
        yield "Every access is proven to be within its array: there are no bounds checks beside the masks."
    for node, checks in section.checks.items():
        place = node.attribute.place if node.operation == "atomic" else node.attribute
        yield f"An access of {place.memory.name} is checked at run time: {' and '.join(map(_check, checks))}."


def _check(check: Check) -> str:
    return f"{shown(check.left)} {'<' if check.strict else '≤'} {shown(check.right)}"

"""What an author could do better, as far as it follows from the plan alone: notes that keep nothing from compiling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from translators.algebra.polynomial import Polynomial, product
from translators.diagnostics import Diagnostic, Span
from translators.logical.types import View
from translators.planning.demand import Demand
from translators.planning.regions import Region
from translators.planning.sinks import Loop, Sink, coordinate_expressions, roots
from translators.tile.expression import Axis, Expression, LoopToken, Reduction, walk

FEW: Final = 32  # programs; every device that Triton has a backend for runs more at a time
LONG: Final = 256  # iterations or elements that are worth spreading
LEAVES: Final = frozenset({"constant", "parameter", "load"})


def advice(demand: Demand, regions: Sequence[Region]) -> dict[str, Diagnostic]:
    """At most one note of each code."""
    found = (*_fusion(regions), *_parallelism(demand, regions), *_ragged(demand, regions))
    return {f"advice {each.code}": each for each in reversed(found)}


def _note(code: str, message: str, span: Span, help: str) -> Diagnostic:
    return Diagnostic(code, "note", message, span, help)


# ------------------------------------------------------------------------------------------------------------- fusion
def _fusion(regions: Sequence[Region]) -> Iterator[Diagnostic]:
    """A kernel of one effect that is one array operation, or one matrix product, has nothing in common with others."""
    sinks = [sink for region in regions for sink in region.sinks]
    if len(sinks) != 1 or any(region.loops for region in regions):
        return
    (sink,) = sinks
    if sink.action != "store" or sink.predicate is not None:
        return
    name = sink.memory.name
    if _is_library_product(sink):
        message = f"{name} is a plain product of two arrays, which a library computes in one call"
        yield _note(
            "INT955", message, sink.span, "a kernel of one's own pays with an epilogue, or work on the operands"
        )
    elif _is_one_operation(sink):
        message = f"{name} is one array operation: the kernel moves as many bytes as that operation by itself"
        yield _note("INT954", message, sink.span, "what is computed before or after could be part of the kernel")


def _is_library_product(sink: Sink) -> bool:
    value = sink.value
    while value.operation == "cast":
        (value,) = value.arguments
    return value.operation == "contract" and all(map(_is_array, value.arguments)) and _covers(value.axes, sink)


def _is_array(node: Expression) -> bool:
    """A view, read at coordinates of its own whose ranges do not depend on others or on data."""
    if node.operation != "load" or node.arguments or not isinstance(node.attribute.memory, View):
        return False
    own = [coordinate.atom for coordinate in node.attribute.coordinates]
    return all(isinstance(each, Axis) and _is_fixed(each) for each in own) and len({*own}) == len(own)


def _is_fixed(axis: Axis) -> bool:
    return not any(isinstance(each, Axis | Expression | LoopToken) for each in axis.extent.atoms())


def _covers(axes: frozenset[Axis], sink: Sink) -> bool:
    """The result is what is stored: the same axes, each along one axis of the memory."""
    return axes == frozenset(sink.axes) and all(isinstance(each.atom, Axis) for each in sink.coordinates)


def _is_one_operation(sink: Sink) -> bool:
    nodes = [node for node in walk(*roots(sink)) if node.operation not in LEAVES]
    return (
        len(nodes) == 1
        and nodes[0] is sink.value
        and nodes[0].operation in ("pointwise", "cast")
        and any(each.operation == "load" for each in sink.value.arguments)
        and all(each.operation != "load" or _is_array(each) for each in sink.value.arguments)
    )


# -------------------------------------------------------------------------------------------------------- parallelism
def _parallelism(demand: Demand, regions: Sequence[Region]) -> Iterator[Diagnostic]:
    """Few programs, whatever the sizes are, for work of any length."""
    counts = [_programs(region) for region in regions]
    known = [count for count in counts if count is not None]
    if demand.turns or len(known) < len(counts) or sum(known) > FEW or any(region.exposed for region in regions):
        return
    count = sum(known)
    words = "one program" if count == 1 else f"at most {count} programs"
    for region in regions:
        serial = next((loop for loop in region.loops if _carries_far(loop)), None)
        if serial is not None:
            message = f"each iteration of this loop needs the one before it, and the rest is not spread: {words}"
            help = "independent rows or channels in an I.parallel around the loop would run at the same time"
            yield _note("INT956", message, serial.span, help)
            return
    for region in regions:
        if any(_is_long(axis.extent) for axis in region.axes if axis not in region.program):
            sink = region.sinks[0]
            message = f"{sink.memory.name} is computed by {words}, however much there is to do"
            help = "partial results of independent pieces, and a second kernel that combines them, use the whole device"
            yield _note("INT958", message, sink.span, help)
            return


def _programs(region: Region) -> int | None:
    """No more programs than this; None if that depends on the sizes."""
    return product(axis.extent for axis in region.program).constant


def _carries_far(loop: Loop) -> bool:
    if loop.low is None or loop.high is None or loop.exit is not None:
        return False
    return bool(loop.carries) and _is_long(loop.high.polynomial - loop.low.polynomial)


def _is_long(extent: Polynomial) -> bool:
    return extent.constant is None or extent.constant >= LONG


# -------------------------------------------------------------------------------------------------------- ragged work
def _ragged(demand: Demand, regions: Sequence[Region]) -> Iterator[Diagnostic]:
    """Ranges that go as far as memory says, for each program another way."""
    for region in regions:
        program = frozenset(region.program)
        for loop in region.loops:
            if loop.low is None or loop.high is None:
                continue
            if memory := _differs(loop.low.polynomial, loop.high.polynomial, program):
                yield _uneven(memory, loop.span)
        for axis in region.axes:
            if axis not in program and (memory := _differs(axis.begin, axis.end, program)):
                yield _uneven(memory, _span(demand, region, axis))


def _differs(begin: Polynomial, end: Polynomial, program: frozenset[Axis]) -> str | None:
    """The memory that says how long a range is for each program. What both limits are made of may cancel out."""
    first, last = ({*filter(_is_load, walk(*coordinate_expressions((limit,))))} for limit in (begin, end))
    names = [node.attribute.memory.name for node in first ^ last if node.axes & program]
    return min(names, default=None)


def _is_load(node: Expression) -> bool:
    return node.operation == "load"


def _span(demand: Demand, region: Region, axis: Axis) -> Span:
    """Of what runs along the axis."""
    for node in region.nodes:
        if isinstance(node.attribute, Reduction) and axis in node.attribute.axes and node in demand.spans:
            return demand.spans[node]
    return next((sink.span for sink in region.sinks if axis in sink.axes), region.sinks[0].span)


def _uneven(memory: str, span: Span) -> Diagnostic:
    message = f"how much a program does here is read from {memory} and differs: some programs finish before others"
    return _note("INT959", message, span, "groups that are sorted or split by length keep the programs equally busy")

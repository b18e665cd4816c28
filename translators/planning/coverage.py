"""Which outputs are written in full, by one effect or by several that share them out, and notes about the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from translators.algebra.polynomial import Atom, Opaque, Polynomial, Symbol, atomic, number
from translators.diagnostics import Diagnostic
from translators.logical.types import View
from translators.planning.sinks import Loop, Sink
from translators.tile.expression import Axis, LoopToken

Span: TypeAlias = tuple[Polynomial, Polynomial]  # from a coordinate up to another
Box: TypeAlias = tuple[Span, ...]  # one for each axis


def covered(sinks: Sequence[Sink]) -> frozenset[str]:
    """The names of the views of which every element is written, whatever the arguments are."""
    boxes: dict[View, list[Box]] = {}
    for sink in sinks:
        box = _box(sink)
        if box is not None and isinstance(sink.memory, View):
            boxes.setdefault(sink.memory, []).append(box)
    return frozenset(view.name for view, found in boxes.items() if _is_whole(found, view.shape))


def coverage_notes(sinks: Sequence[Sink], known: frozenset[str]) -> dict[str, Diagnostic]:
    """One for each output that may keep elements which are not written."""
    found: dict[str, Diagnostic] = {}
    for sink in sinks:
        view = sink.memory
        if isinstance(view, View) and view.direction == "Out" and view.name not in known:
            message = f"{view.name} is not proven to be written in full: what is not written is unspecified"
            help = f"as I.InOut, {view.name} would keep the caller's elements"
            found[f"coverage {view.name}"] = Diagnostic("INT951", "note", message, sink.span, help)
    return found


def _box(sink: Sink) -> Box | None:
    """What the effect writes for certain; None if it is no box that is known."""
    if sink.predicate is not None or sink.action != "store" or not all(map(_is_certain, sink.loops)):
        return None
    loops = {loop.token: loop for loop in sink.loops}
    used: list[Atom] = []
    spans = [_span(coordinate, loops, used) for coordinate in sink.coordinates]
    bounds = [bound for span in spans if span is not None for bound in span]
    sizes_only = all(isinstance(atom, (Symbol, *Opaque)) for bound in bounds for atom in bound.atoms())
    idle = [loop for loop in sink.loops if not loop.slices and loop.token not in used and not _runs(loop)]
    if None in spans or len(set(used)) < len(used) or not sizes_only or idle:
        return None
    return tuple(span for span in spans if span is not None)


def _is_certain(loop: Loop) -> bool:
    """Every iteration of its range happens."""
    return loop.live is None and loop.condition is None and loop.predicate is None


def _runs(loop: Loop) -> bool:
    """The range has an iteration."""
    if loop.low is None or loop.high is None:
        return False
    extent = (loop.high.polynomial - loop.low.polynomial).constant
    return extent is not None and extent > 0


def _span(coordinate: Polynomial, loops: dict[LoopToken, Loop], used: list[Atom]) -> Span | None:
    """The values that a coordinate takes: one, or those of an axis or loop, shifted."""
    moving = [atom for atom in coordinate.atoms() if isinstance(atom, Axis | LoopToken)]
    if not moving:
        return coordinate, coordinate + 1
    shift = coordinate - atomic(moving[0])
    if len(moving) > 1 or moving[0] in shift.atoms():
        return None
    used.append(moving[0])
    match moving[0]:
        case Axis(begin=begin, end=end):
            return begin + shift, end + shift
        case LoopToken() as token if token in loops:
            loop = loops[token]
            if loop.step == 1 and loop.low is not None and loop.high is not None:
                return loop.low.polynomial + shift, loop.high.polynomial + shift
    return None


def _is_whole(boxes: Sequence[Box], shape: Sequence[Polynomial], axis: int = 0) -> bool:
    """The boxes lie side by side along the axis, and those of one place fill the axes behind it."""
    if axis == len(shape):
        return bool(boxes)
    return _reaches(number(0), boxes, shape, axis)


def _reaches(begin: Polynomial, boxes: Sequence[Box], shape: Sequence[Polynomial], axis: int) -> bool:
    if begin == shape[axis]:
        return True
    here = [box for box in boxes if box[axis][0] == begin]
    further = [box for box in boxes if box[axis][0] != begin]
    return any(
        _is_whole([box for box in here if box[axis][1] == end], shape, axis + 1) and _reaches(end, further, shape, axis)
        for end in dict.fromkeys(box[axis][1] for box in here)
    )

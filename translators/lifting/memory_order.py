"""Loads and stores of one array: what a lifted program reads must be what the original read.

An array that is only loaded, or only stored, keeps no order. If a kernel does both, the lifted program reads a
snapshot before it
stores; that is the same only if no store of the original came between, from this program or another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from translators.lifting.sinks import Residue, Sink
from translators.tile.effects import KernelEffects
from translators.tile.expression import Expression, walk


def check_order(effects: KernelEffects, sinks: Sequence[Sink]) -> None:
    _check_stores(effects)
    stored: dict[str, list[Sink]] = {}
    for sink in sinks:
        stored.setdefault(sink.pointer, []).append(sink)
    for sink in sinks:
        for load in _loads(sink):
            if load.attribute.pointer in stored:
                _check(effects, sink, load, stored[load.attribute.pointer])


def _check_stores(effects: KernelEffects) -> None:
    """Two stores of one loop alternate; as statements one after the other they would not."""
    for position, store in enumerate(effects.stores):
        for other in effects.stores[:position]:
            if other.pointer == store.pointer and set(other.loops) & set(store.loops):
                raise Residue(f"'{store.pointer}' is stored twice in one loop", store.line)


def _loads(sink: Sink) -> Iterator[Expression]:
    return (node for node in walk(*sink.roots) if node.operation == "load")


def _check(effects: KernelEffects, sink: Sink, load: Expression, stores: Sequence[Sink]) -> None:
    pointer = load.attribute.pointer
    if len(stores) > 1 or stores[0] is not sink:
        raise Residue(f"'{pointer}' is loaded and stored in different statements", sink.line)
    clock = load.attribute.clock
    if clock >= sink.clock and not _same_loop(effects, clock, sink.clock):
        raise Residue(f"'{pointer}' is loaded after it was stored", sink.line)
    offset = load.arguments[0].polynomial
    if offset != sink.offset.polynomial:
        raise Residue(f"'{pointer}' is loaded where another program may have stored", sink.line)


def _same_loop(effects: KernelEffects, load: int, store: int) -> bool:
    return any(record.begin <= load < record.end and record.begin <= store < record.end for record in effects.loops)

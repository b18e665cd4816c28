"""What a program that goes from statement to statement keeps: values that mix elements, or come from memory."""

from __future__ import annotations

from collections.abc import Iterator

from translators.logical import program as lp
from translators.logical.carries import live_values
from translators.logical.program import Block, Value

_MADE = (lp.Read, lp.Reduce, lp.Scan, lp.Contract, lp.RegionFold, lp.RegionScan)


def made_by_statements(body: Block) -> Iterator[Value]:
    """Results of reads, reductions, scans, products and region operations on which anything depends."""
    live = live_values(body)
    for statement in _statements(body):
        match statement:
            case lp.Let(op=op, results=results) if isinstance(op, _MADE):
                yield from (result for result in results if result in live)


def _statements(block: Block) -> Iterator[lp.Statement]:
    for statement in block.statements:
        yield statement
        match statement:
            case lp.If(then=then, orelse=orelse):
                yield from _statements(then)
                yield from _statements(orelse)
            case lp.For(body=body) | lp.Parallel(body=body):
                yield from _statements(body)
            case lp.While(test=test, body=body):
                yield from _statements(test)
                yield from _statements(body)

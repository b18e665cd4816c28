"""What a comparison found, as text and as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from intentc.comparison import Compared
from translators.comparison.sides import Side


def as_text(result: Compared) -> str:
    return "\n".join(_lines(result))


def _lines(result: Compared) -> Iterator[str]:
    verdict = result.verdict
    reason = f": {verdict.reason}" if verdict.reason else ""
    yield f"{result.first_name} and {result.second_name}: {verdict.answer}{reason}"
    if verdict.difference is not None:
        yield f"    differs   {verdict.difference.kind}"
        yield from _half("first", result.first, verdict.difference.first, verdict.difference.first_line)
        yield from _half("second", result.second, verdict.difference.second, verdict.difference.second_line)
    renamed = [f"{one} is {other}" for one, other in verdict.pairs if one != other]
    if renamed:
        yield f"    arrays    {', '.join(renamed)}"
    for text in verdict.provisos:
        yield f"    provided  {text}"
    for text in verdict.numerics:
        yield f"    numerics  {text}"
    if result.runs is not None:
        yield f"    run       {result.runs}"


def _half(which: str, side: Side | None, said: str, line: int) -> Iterator[str]:
    yield f"    {which:9} {said}"
    if side is not None and line:
        place = f"{side.path}:{line}" if side.origin is None else f"lifted from {side.path}, line {line}"
        yield f"              {place}: {side.line(line)}"


def as_data(result: Compared) -> dict[str, object]:
    verdict = result.verdict
    difference = verdict.difference
    return {
        "first": result.first_name,
        "second": result.second_name,
        "answer": verdict.answer,
        "reason": verdict.reason,
        "difference": None
        if difference is None
        else {
            "kind": difference.kind,
            "first": difference.first,
            "second": difference.second,
            "first_line": difference.first_line,
            "second_line": difference.second_line,
        },
        "arrays": [list(pair) for pair in verdict.pairs],
        "provisos": list(verdict.provisos),
        "numerics": list(verdict.numerics),
        "run": None if result.runs is None else {"calls": result.runs.calls, "agreed": result.runs.agreed},
    }


def as_json(results: Sequence[Compared]) -> str:
    return json.dumps([as_data(result) for result in results], indent=2)

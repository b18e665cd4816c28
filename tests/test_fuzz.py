"""`tests/fuzz.py`: a process that dies or hangs costs one seed; a record does not depend on which worker is fast."""

from __future__ import annotations

import sys
import time

import fuzz
import pytest
from fuzz import Result, next_seed, results_of_range, with_run

EMPTY = {"programs": 0, "unsupported": 0, "failures": 0, "runs": []}


def _results(script: str, programs: int = 3) -> list[Result]:
    """What a process gives whose text is `script`; `first`, `count` and `say` are defined for it."""
    head = "import json, sys, time\nfirst, count = map(int, sys.argv[1:])\n"
    head += "def say(**values): print(json.dumps(values), flush=True)\n"
    return list(
        results_of_range(
            1_000_000,
            programs,
            time.monotonic() + 60,
            lambda first, count: [sys.executable, "-c", head + script, str(first), str(count)],
        )
    )


def test_every_seed_gives_a_result() -> None:
    results = _results("for seed in range(first, first + count): say(seed=seed, unsupported=None)")
    assert results == [Result(1_000_000), Result(1_000_001), Result(1_000_002)]


def test_a_process_that_dies_costs_one_seed() -> None:
    dies = "for seed in range(first, first + count):\n"
    dies += "    say(phase='compare', seed=seed)\n    if seed == 1000001: sys.exit(7)\n    say(seed=seed)"
    first, second, third = _results(dies)
    assert (first.kind, third.kind) == (None, None)
    assert second.kind == "the process ended with status 7 (compare)"
    assert second.text == fuzz.program_text(1_000_001)


def test_a_process_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fuzz.LIMITS, "compare", 0.5)
    (result,) = _results("say(phase='compare', seed=first)\ntime.sleep(60)", programs=1)
    assert result.kind == "no answer for 0 s (compare)"


def test_a_failure_whose_reduction_dies_is_kept() -> None:
    (result,) = _results("say(phase='reduce', seed=first, kind='values differ', text='as found')", programs=1)
    assert (result.kind, result.text) == ("values differ", "as found")


def test_the_order_of_results_does_not_matter() -> None:
    results = [
        Result(1_200_000, unsupported="INT601 `a` and `b` are not lowered"),
        Result(1_100_001, kind="values differ", text="..."),
        Result(1_100_000, unsupported="INT601 `x` and `y` are not lowered"),
    ]
    record = with_run(EMPTY, results, "generator")
    assert record == with_run(EMPTY, reversed(results), "generator")
    assert record["runs"][0]["seeds"] == ["1100000+2", "1200000+1"]
    assert record["runs"][0]["unsupported"] == {"INT601 `_` and `_` are not lowered": 2}
    assert record["runs"][0]["unsupported_seeds"] == [1_100_000, 1_200_000]
    assert record["runs"][0]["failing_seeds"] == [1_100_001]
    assert (record["programs"], record["unsupported"], record["failures"]) == (3, 2, 1)


def test_a_run_starts_after_all_ranges() -> None:
    record = with_run(EMPTY, [Result(1_200_000), Result(1_100_000)], "generator")
    assert next_seed(EMPTY) == 1_000_000
    assert next_seed(record) == 1_300_000

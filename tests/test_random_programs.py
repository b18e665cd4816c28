"""Random legal programs: the generated module in Triton's interpreter agrees with the reference, exactly.

What these programs and `make fuzz` found is under `tests/random_faults/`, reduced, and stays tested.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from generators import random_program
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from program_reduction import reduced
from random_comparison import Disagreement, compare, failure, outcome, program_of_text

from intent.intrinsics import INTRINSICS

GROUPS, EXAMPLES = 6, 50
LARGEST_UNSUPPORTED_SHARE = 0.15
FAULTS = sorted((Path(__file__).parent / "random_faults").glob("*.py"))

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")


def _group(number: int, unsupported: Counter[str]) -> Callable[[], None]:
    """One deterministic share of the examples. Failures are reduced by us: hypothesis only draws the seeds."""

    @seed(number)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=True))
    def agree(random: Random) -> None:
        program = random_program(random)
        kind, gap = outcome(program)
        if kind is not None:
            compare(reduced(program, lambda smaller: failure(smaller) == kind) if program.entry == "k" else program)
            raise Disagreement(kind)
        unsupported[gap or ""] += 1

    return agree


@pytest.mark.parametrize("number", range(GROUPS))
def test_module_agrees_with_the_reference(number: int) -> None:
    unsupported: Counter[str] = Counter()
    _group(number, unsupported)()
    lowered = unsupported.pop("")
    gaps = sum(unsupported.values())
    assert gaps <= LARGEST_UNSUPPORTED_SHARE * (lowered + gaps), unsupported


@pytest.mark.gpu
@pytest.mark.parametrize("path", FAULTS, ids=lambda path: path.stem)
def test_fault_stays_mended(path: Path) -> None:
    outcome = compare(program_of_text(path.read_text(encoding="utf-8")), runs=4)
    assert outcome.unsupported is None


def test_programs_reach_every_intrinsic() -> None:
    texts = "\n".join(random_program(Random(number)).text for number in range(3000))
    found = set(re.findall(r"\bI\.([a-z_0-9.]+)", texts))
    assert set(INTRINSICS) <= found

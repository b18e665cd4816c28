"""Random legal programs: the generated module in Triton's interpreter agrees with the reference, exactly.

What these programs and `make fuzz` found is under `tests/random_faults/`, reduced, and stays tested.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import pytest
from generators import RandomProgram, random_program
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


@cache
def _programs() -> tuple[RandomProgram, ...]:
    return tuple(random_program(Random(number)) for number in range(3000))


def test_programs_reach_every_intrinsic() -> None:
    texts = "\n".join(program.text for program in _programs())
    found = set(re.findall(r"\bI\.([a-z_0-9.]+)", texts))
    assert set(INTRINSICS) <= found


def test_programs_bind_no_name_of_a_parameter() -> None:
    """A view that is bound again would be another value: such a program is illegal."""
    for program in _programs():
        function = next(
            each for each in ast.walk(ast.parse(program.text)) if getattr(each, "name", "") == program.entry
        )
        bound = {
            each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        assert not bound & set(program.parameters(program.entry)), program.text

"""Programs that go from statement to statement through scratch memory: what nothing else lowers is right that way.

The plan is forced here on programs that have better ones; those that have no other are under `tests/random_faults/`.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from device_compilation import problems
from generators import random_program
from program_runs import compiled
from random_comparison import outcome

from translators.planning import kernels

SWEEP = """
@intent.kernel
def k(a: I.InOut[I.f32, ("M", "N")], c: I.Out[I.f32, ("N",)]):
    m, n = I.domain(0, a.shape[0]), I.domain(0, a.shape[1])
    a[m, n] = a[m, n] / I.reduce.sum(a[m, n], axis=1)[:, None]
    c[n] = I.reduce.sum(a[m, n], axis=0)
    a[m, n] = a[m, n] * c[n]
"""

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")]


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> None:
    def decided(planning: kernels._Planning) -> object:
        return planning._every_form(planning._by_statements())

    monkeypatch.setattr(kernels._Planning, "decided", decided)


@pytest.mark.parametrize("number", range(5_000_000, 5_000_016))
@pytest.mark.usefixtures("forced")
def test_it_agrees_with_the_reference(number: int) -> None:
    assert outcome(random_program(Random(number))) == (None, None)


def test_values_go_through_scratch_memory(request: pytest.FixtureRequest) -> None:
    usual = compiled(SWEEP).codes[0].scratch
    request.getfixturevalue("forced")
    kept = compiled(SWEEP + "\n").codes[0].scratch
    assert len(kept) > len(usual)


def test_what_has_no_other_plan_compiles_for_a_device(tmp_path: Path) -> None:
    folder = Path(__file__).parent / "random_faults"
    names = ("swaps_at_places_from_a_scan", "region_scan_then_a_while_loop")
    header = "import intent\nimport intent.language as I\n"
    texts = [(folder / f"{name}.py").read_text().removeprefix(header) for name in names]
    assert problems(texts, tmp_path) == []

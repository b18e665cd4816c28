"""tl.split, tl.join and tl.interleave."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentc.lift_verification import verify
from tests.test_lift_functions import HEAD, KERNEL, one
from translators.lifting.files import lift_text

PAIRS = (Path(__file__).parent / "lift" / "pairs.py").read_text()


@pytest.mark.parametrize("name", ["rotated_kernel", "swapped_kernel"])
def test_pairs(name: str) -> None:
    kernel = one(PAIRS, kernel=name)
    found = verify(PAIRS, "pairs.py", kernel, calls=3)
    assert found.holds, (str(found), kernel.source)


def test_what_has_not_two_lanes_is_no_pair() -> None:
    (kernel,) = lift_text(HEAD + KERNEL.format(value="tl.split(x)[0]"), "k.py").kernels
    assert kernel.source is None and "has not two lanes" in str(kernel.reason)

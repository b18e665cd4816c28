"""Sizes that fall into groups of one size are products; a size of tiles is not taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentc.lift_verification import verify
from tests.test_lift_functions import one

HEADS = (Path(__file__).parent / "lift" / "heads.py").read_text()


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("scores_kernel", {"q": '("P", "T", "H", "G", "D")', "k": '("P", "T", "H", "D")'}),
        ("grouped_kernel", {"x": '("M", "R", "G", "W")', "y": '("M", "R", "G", "W")'}),
    ],
)
def test_groups_have_an_axis(name: str, shapes: dict[str, str]) -> None:
    kernel = one(HEADS, kernel=name)
    assert kernel.status == "lifted" and kernel.source is not None
    annotations = dict(kernel.source.parameters)
    assert all(annotations[each].endswith(f", {shape}]") for each, shape in shapes.items())
    assert sum("groups are of one size" in note.text for note in kernel.notes) == 1
    found = verify(HEADS, "heads.py", kernel, calls=2)
    assert found.holds, (str(found), kernel.source)


def test_a_rest_of_tiles_is_left_out() -> None:
    kernel = one(HEADS, kernel="whole_tiles_kernel")
    assert not any("groups are of one size" in note.text for note in kernel.notes)
    assert verify(HEADS, "heads.py", kernel, calls=3).holds


def test_what_only_ends_at_a_quotient_may_leave_a_rest() -> None:
    text = HEADS.replace("for tile in range(n // BLOCK)", "for tile in range(n // parts)").replace(
        "y_ptr, n, BLOCK: tl.constexpr):\n    lane", "y_ptr, n, parts, BLOCK: tl.constexpr):\n    lane"
    )
    kernel = one(text, kernel="whole_tiles_kernel")
    assert not any("groups are of one size" in note.text for note in kernel.notes)
    assert verify(text, "heads.py", kernel, calls=3).holds

"""Loads of ordered loops run ahead where nothing can change what they read, and only where it pays."""

from __future__ import annotations

import numpy as np
import pytest
from program_runs import agree, device_text

pytestmark = pytest.mark.gpu

HEAD = """
@intent.kernel
def k(x: I.{access}[I.f32, ("T", "N")], {more}out: I.Out[I.f32, ("T", "N")]):
    c = I.domain(0, x.shape[1])
    state = I.zeros((x.shape[1],), I.f32)
    for t in range({high}):
        {body}
"""


def kernel(body: str, access: str = "In", more: str = "", high: str = "x.shape[0]") -> str:
    return HEAD.format(body=body, access=access, more=more, high=high)


STATE = "state = state * 0.5 + x[t, c]; out[t, c] = state"


def test_loads_of_a_recurrence_run_ahead() -> None:
    text = kernel(STATE)
    assert "num_stages=3" in device_text(text)
    x = np.random.default_rng(1).normal(size=(9, 21)).astype(np.float32)
    agree(text, {"x": x, "out": np.zeros_like(x)})


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_what_an_iteration_before_wrote_is_not_read_ahead(rows: int) -> None:
    body = "x[t, c] = x[I.maximum(t - 1, 0), c] + x[t, c]; out[t, c] = x[t, c]"
    text = kernel(body, access="InOut")
    assert "num_stages" not in device_text(text)
    x = np.random.default_rng(rows).normal(size=(rows, 7)).astype(np.float32)
    agree(text, {"x": x, "out": np.zeros_like(x)})


@pytest.mark.parametrize(
    "text",
    [
        kernel(STATE, high="4"),
        kernel(
            "state = state * 0.5 + x[I.cast(rows[t], I.index), c]; out[t, c] = state",
            more='rows: I.In[I.i32, ("T",)], ',
        ),
    ],
    ids=["few iterations", "places that are data"],
)
def test_where_it_does_not_pay(text: str) -> None:
    assert "num_stages" not in device_text(text)

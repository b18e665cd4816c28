"""Subregions of domains with a step: the coordinates of the source between the bounds, which need not be its own."""

from __future__ import annotations

import numpy as np
import pytest
from program_runs import agree, compiled

pytestmark = pytest.mark.gpu

HEAD = """
@intent.kernel
def k(x: I.In[I.f32, ("N",)], o: I.InOut[I.f32, ("N",)], a: I.i32, b: I.i32):
    N = x.shape[0]
    source = I.domain(1, N, 3)
    seg = source[I.cast(a, I.index):I.cast(b, I.index)]
"""
BODIES = {
    "read and written": "    o[seg] = x[seg] * 2.0",
    "reduced": "    o[0] = I.reduce.sum(x[seg] * I.cast(I.indices(seg), I.f32), axis=0)",
    "ordered": """    s = I.cast(1.0, I.f32)
    for i in seg:
        s = s * 0.5 + x[i]
    o[0] = s""",
    "parallel, of a subregion": """    for i in I.parallel(seg[:I.end(seg)]):
        o[i] = x[i] + I.cast(i, I.f32)""",
    "prefixes": "    o[seg] = I.cumsum(x[seg], axis=0)",
    "from a coordinate to the end": """    rest = source[I.cast(a, I.index):]
    o[rest] = x[rest] - 1.0""",
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(
    ("size", "begin", "end"),
    [(11, 4, 10), (11, 1, 11), (11, 2, 4), (11, 5, 5), (11, 3, 8), (2, 1, 2), (2, 2, 2), (300, 7, 299), (300, 3, 300)],
)
def test_agrees_with_the_reference(body: str, size: int, begin: int, end: int) -> None:
    x = np.arange(size, dtype=np.float32) % 7
    found = agree(
        HEAD + BODIES[body], {"x": x, "o": np.full(size, 9, np.float32), "a": begin, "b": end}, small=size < 99
    )
    if body == "read and written":
        inside = [at for at in range(1, size, 3) if begin <= at < end]
        wanted = np.full(size, 9, np.float32)
        wanted[inside] = 2 * x[inside]
        np.testing.assert_array_equal(found["o"], wanted)


def test_the_whole_source_has_its_extent() -> None:
    """Of bounds that are the source's own, no arithmetic is left."""
    text = HEAD.replace("I.cast(a, I.index):I.cast(b, I.index)", "1:N") + BODIES["read and written"]
    source = compiled(text).source
    assert source == compiled(text.replace("[1:N]", "[:]")).source

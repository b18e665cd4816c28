"""Axes that have one block size in one variant may have several in another, which is another function then."""

from __future__ import annotations

import numpy as np
import pytest
from generated_modules import small_tiles
from program_runs import agree

from translators.pipeline import compile_text

pytestmark = pytest.mark.gpu

TEXT = """
@intent.kernel
def k(
    x: I.In[I.f32, ("B", "M", "N")], y: I.In[I.i32, ("B", "M", "N")], o: I.Out[I.f32, ("B", "M", "N")],
    p: I.Out[I.i32, ("B", "M", "N")],
):
    v = x[:, :, :]
    e = v * 2.0 - I.reduce.max(v, axis=2)[:, :, None]
    o[:, :, :] = e + I.reduce.sum(e, axis=2)[:, :, None]
    w = y[:, :, :]
    p[:, :, :] = w - I.reduce.sum(w, axis=1)[:, None, :]
"""


@pytest.mark.parametrize("shape", [(2, 2, 17), (1, 5, 8), (3, 1, 1), (0, 2, 3), (2, 9, 33)])
def test_every_variant_has_the_blocks_that_its_programs_are_counted_by(shape: tuple[int, ...]) -> None:
    generator = np.random.default_rng(1)
    x = generator.integers(-3, 4, shape).astype(np.float32)
    agree(
        TEXT, {"x": x, "y": generator.integers(-9, 9, shape).astype(np.int32), "o": x.copy(), "p": x.astype(np.int32)}
    )


def test_the_case_occurs() -> None:
    with small_tiles():
        compiled = compile_text(f"import intent\nimport intent.language as I\n{TEXT}", "k.py")
    first, second = (dict(each.constants) for each in compiled.codes[0].variants)
    assert first["BLOCK_M"] > 1 and second["BLOCK_M"] == 1 and "BLOCK_M_2" in second.keys() - first.keys()

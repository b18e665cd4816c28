"""The statements of the gated delta rule in chunks, one after the other, say what the statement of its steps says."""

from __future__ import annotations

import numpy as np
from sample_files import SAMPLES, load


def test_chunks_are_the_steps() -> None:
    chunks, steps = load(SAMPLES / "gated_delta_chunks.py"), load(SAMPLES / "gated_delta_rule.py")
    rng = np.random.default_rng(3)
    b, c, h, d, e, length = 2, 3, 2, 8, 5, chunks.L
    query, key = rng.standard_normal((2, b, c, length, h, d))
    key /= np.linalg.norm(key, axis=-1, keepdims=True)
    value = rng.standard_normal((b, c, length, h, e))
    gate = -0.2 * rng.random((b, h, c, length))
    strength, state = rng.random(gate.shape), rng.standard_normal((b, h, d, e))
    query, key, value = (each.astype(np.float16) for each in (query, key, value))
    decay = np.cumsum(gate, axis=3)
    taken, given = chunks.chunk_updates_reference(key, value, decay, strength)
    before, learned, last = chunks.state_passing_reference(key, decay, taken, given, state)
    out = chunks.chunk_outputs_reference(query, key, decay, before, learned)

    def in_steps(array: np.ndarray) -> np.ndarray:
        return array.reshape(b, c * length, *array.shape[3:]).astype(np.float64)

    of_steps = [np.moveaxis(each.reshape(b, h, c * length), 1, 2) for each in (gate, strength)]
    held, wanted = steps.reference(in_steps(query), in_steps(key), in_steps(value), *of_steps, state)
    np.testing.assert_allclose(in_steps(out), wanted, atol=0.02)
    np.testing.assert_allclose(last, held, atol=0.02)

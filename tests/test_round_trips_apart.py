"""What a module lifts to is one program with its sample only: a program that is nearly the sample is another one."""

from __future__ import annotations

from functools import cache

import pytest
from round_trips import GOLDEN, SAMPLES, compared

from intentc.lift_check import checked
from translators.comparison.variants import merged
from translators.lifting.files import LiftedFile, Wanted, lift_text

NEARLY = {
    "argmax": [
        ("scores[b, p, c], axis=2", "-scores[b, p, c], axis=2"),
        ("I.cast(positions, I.i64)", "I.cast(positions + 1, I.i64)"),
        ("c = I.domain(0, C)", "c = I.domain(1, C)"),
    ],
    "conv2d": [
        ("y = i + r - 1", "y = i + r"),
        ("s - 1\n", "1 - s\n"),
        ("(y < H)", "(y < H - 1)"),
        ("TAPS = 3", "TAPS = 5"),
    ],
    "cross_entropy_backward": [
        ("logits[m, words] = 0.0", "logits[m, words] = 1.0"),
        ("== IGNORED", "!= IGNORED"),
        ("I.indices(words) == I.cast", "I.indices(words) + 1 == I.cast"),
    ],
    "drawdown": [("highest - p,", "p - highest,"), ("I.cummax(p, axis=0)", "I.cummax(p, axis=0, reverse=True)")],
    "histogram": [
        ("bins - 1), bins", "bins - 2), bins"),
        ("valid=inside", "valid=v >= low"),
        ("(v >= low)", "(v > low)"),
    ],
    "masked_softmax": [
        ("<= q + offset", "< q + offset"),
        ("<= q + offset", ">= q + offset"),
        ("I.reduce.max(v, axis=0)", "I.reduce.max(I.cast(scores[b, q, keys], I.f32) * scale, axis=0)"),
    ],
    "max_pool_indices": [("place // 2", "place % 2"), ("(1, 0, 2)", "(1, 2, 0)"), ("2 * Q)", "2 * Q + 1)")],
    "nucleus_sampling": [
        ("before < top", "before <= top"),
        ("I.cumsum(p, axis=0) - p", "I.cumsum(p, axis=0)"),
        ("V - 1)", "V)"),
        ("else -1", "else 0"),
    ],
    "rotate_pairs": [
        ("-pairs[:, 1], pairs[:, 0]", "pairs[:, 1], pairs[:, 0]"),
        ("-pairs[:, 1], pairs[:, 0]", "-pairs[:, 0], pairs[:, 1]"),
        ("HEAD = 64", "HEAD = 128"),
    ],
    "suffix_sum": [("inclusive=False", "inclusive=True"), ("reverse=True", "reverse=False")],
    "top_k": [
        ("-I.inf, v)", "0.0, v)"),
        ("== position", "== position + 1"),
        ("values[row, k]", "values[row, TOP - 1 - k]"),
    ],
}


@cache
def _lifted(stem: str) -> tuple[str, LiftedFile]:
    module = (GOLDEN / stem / "module.py").read_text(encoding="utf-8")
    return module, merged(module, checked(lift_text(module, "module.py"), Wanted()), {})


@pytest.mark.parametrize(
    ("stem", "old", "new"), [(stem, *pair) for stem, pairs in NEARLY.items() for pair in pairs], ids=str
)
def test_apart(stem: str, old: str, new: str) -> None:
    sample = (SAMPLES / f"{stem}.py").read_text(encoding="utf-8")
    assert old in sample
    answer, _ = compared(sample.replace(old, new), *_lifted(stem))
    assert answer == "different"

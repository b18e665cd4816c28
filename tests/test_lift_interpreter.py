"""Reductions and scans of whole tiles give what combining one number after the other gives; bf16 is what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

INTENTC = Path(__file__).resolve().parents[1] / "intentc"
CODE = """
import json, sys
import torch, triton, triton.language as tl
sys.path.insert(0, {folder!r})
import lift_interpreter
lift_interpreter.install()

@triton.jit
def first_largest(a, i, b, j):
    return tl.where(b > a, b, a), tl.where(b > a, j, i)

@triton.jit
def compose(a, b, c, d):
    return a * c, b * c + d

@triton.jit
def kernel(x, y, best, where, slopes, shifts, total, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :]
    v, w = tl.load(x + i), tl.load(y + i)
    a, p = tl.reduce((v, i), 1, first_largest)
    tl.store(best + tl.arange(0, 4), a)
    tl.store(where + tl.arange(0, 4), p)
    c, d = tl.associative_scan((v, w), AXIS, compose, reverse=REVERSE)
    tl.store(slopes + i, c)
    tl.store(shifts + i, d)
    e, f = tl.reduce((v, w), None, compose)
    tl.store(total + tl.arange(0, 2), tl.join(e, f))

x, y = (torch.tensor(each) for each in json.loads(sys.argv[1]))
made = []
for axis, reverse in ((0, False), (1, True)):
    outputs = [torch.zeros(4), torch.zeros(4, dtype=torch.int32), torch.zeros(64), torch.zeros(64), torch.zeros(2)]
    kernel[(1,)](x, y, *outputs, AXIS=axis, REVERSE=reverse)
    made.append([each.tolist() for each in outputs])
print(json.dumps(made))
"""


def composed(x: np.ndarray, y: np.ndarray, axis: int, reverse: bool) -> tuple[np.ndarray, np.ndarray]:
    slopes, shifts = (np.moveaxis(each.reshape(4, 16), axis, 0).astype(float) for each in (x, y))
    if reverse:
        slopes, shifts = slopes[::-1], shifts[::-1]
    slopes, shifts = slopes.copy(), shifts.copy()
    for row in range(1, len(slopes)):
        shifts[row] += shifts[row - 1] * slopes[row]
        slopes[row] *= slopes[row - 1]
    if reverse:
        slopes, shifts = slopes[::-1], shifts[::-1]
    return tuple(np.moveaxis(each, 0, axis).ravel() for each in (slopes, shifts))  # type: ignore[return-value]


def test_whole_tiles(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    x, y = generator.uniform(-1.5, 1.5, (2, 64)).astype(np.float32)
    x[3:6] = x[3]  # the first of equals
    script = tmp_path / "script.py"
    script.write_text(CODE.format(folder=str(INTENTC)))
    environment = {**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, str(script), json.dumps([x.tolist(), y.tolist()])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    for (axis, reverse), found in zip(((0, False), (1, True)), json.loads(done.stdout), strict=True):
        best, where, slopes, shifts, total = found
        assert where == [16 * row + int(x.reshape(4, 16)[row].argmax()) for row in range(4)]
        assert best == pytest.approx(x.reshape(4, 16).max(axis=1))
        wanted = composed(x, y, axis, reverse)
        assert slopes == pytest.approx(wanted[0], rel=1e-4, abs=1e-6)
        assert shifts == pytest.approx(wanted[1], rel=1e-4, abs=1e-6)
        slope, shift = 1.0, 0.0
        for a, b in zip(x, y, strict=True):
            slope, shift = slope * float(a), shift * float(a) + float(b)
        assert total == pytest.approx([slope, shift], rel=1e-4, abs=1e-6)


OF_BF16 = """
import json, sys
import torch, triton, triton.language as tl
sys.path.insert(0, {folder!r})
import lift_interpreter
lift_interpreter.install()

@triton.jit
def kernel(x, y, product, total, less, rounded, counted):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(product + i, tl.dot(a, b))
    tl.store(total + i, a + b * a)
    tl.store(less + i, a < b)
    tl.store(rounded + i, (a.to(tl.float32) * b.to(tl.float32)).to(tl.bfloat16))
    tl.store(counted + i, i.to(tl.bfloat16))

torch.manual_seed(0)
x, y = (torch.randn(16, 16, dtype=torch.bfloat16) for _ in range(2))
x[0, 0], x[0, 1], y[0, 2] = float("nan"), float("inf"), float("-inf")
product, total, rounded, counted = (torch.zeros(16, 16, dtype=d) for d in (torch.float32, *3 * [torch.bfloat16]))
less = torch.zeros(16, 16, dtype=torch.bool)
kernel[(1,)](x, y, product, total, less, rounded, counted)
a, b = x.float(), y.float()
same = lambda made, wanted, **how: torch.testing.assert_close(made, wanted, equal_nan=True, **how)
same(product, (x.double() @ y.double()).float(), rtol=1e-5, atol=1e-5)
same(total, (a + (b * a).bfloat16().float()).bfloat16(), rtol=0, atol=0)
same(less, a < b)
same(rounded, (a * b).bfloat16(), rtol=0, atol=0)
same(counted, torch.arange(256).reshape(16, 16).bfloat16(), rtol=0, atol=0)
"""


def test_numbers_of_bf16_are_no_integers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(OF_BF16.format(folder=str(INTENTC)))
    environment = {**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]

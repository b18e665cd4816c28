"""Scratch memory whose size data decide: the host allocates what the longest subregion can need."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from device_compilation import problems
from generated_modules import rejections
from program_runs import agree, compiled, module

pytestmark = pytest.mark.gpu

KERNEL = """
@intent.kernel
def k(off: I.In[I.i32, ("F",)], cnt: I.In[I.i32, (1,)], x: I.InOut[I.i32, ("N",)], m: I.InOut[I.i32, ("R", "N")],
      o: I.InOut[I.i32, ("R",)]):
    R, N = m.shape
    rows, n = I.domain(0, R), I.domain(0, N)
    groups = I.domain(0, off.shape[0] - 1)
{body}
"""
GUARD = 64  # elements after each scratch memory, and the byte that they are filled with
FILLED = 0x5A
MIRRORED = "I.end(seg) - 1 - (I.indices(seg) - I.cast(off[g], I.index))"
BODIES = {
    "a buffer of a segment": """
        for g in I.parallel(groups):
            seg = n[off[g]:off[g + 1]]
            part = I.buffer((seg,), I.i32, init=x[seg])
            for t in range(1, 3):
                x[seg] = part[:] * I.cast(t, I.i32) - I.reduce.max(part[:], axis=0)
    """,
    "elements of a buffer of a segment": """
        for g in I.parallel(groups):
            seg = n[off[g]:off[g + 1]]
            v = x[seg]
            part = I.buffer(v.shape, I.i32, init=v)
            for t in range(1, v.shape[0]):
                part[t] = part[t] + part[t - 1]
            x[seg] = part[:]
    """,
    "a buffer of points and two lengths": """
        for r in I.parallel(rows):
            for g in range(0, off.shape[0] - 1):
                seg = n[off[g]:off[g + 1]]
                part = I.buffer((2, seg), I.i32, init=m[r, seg] + I.zeros((2, 1), I.i32))
                for t in range(1, 3):
                    part[t % 2, :] = part[1, :] * I.cast(t, I.i32) - I.reduce.max(part[0, :], axis=0)
                m[r, seg] = part[0, :]
    """,
    "points that only data count": """
        for r in I.parallel(I.domain(0, I.cast(cnt[0], I.index))):
            part = I.buffer((4,), I.i32, init=0)
            for t in range(0, 3):
                part[t + 1] = part[t] + m[r, t % N]
            o[r] = part[3]
    """,
    "points of a segment": """
        for g in I.parallel(groups):
            for j in I.parallel(n[off[g]:off[g + 1]]):
                part = I.buffer((4,), I.i32, init=0)
                for t in range(0, 3):
                    part[t + 1] = part[t] + m[t % R, j]
                x[j] = part[3]
    """,
    "segments reversed in place": f"""
        for g in I.parallel(groups):
            seg = n[off[g]:off[g + 1]]
            x[seg] = x[{MIRRORED}]
    """,
    "a length that data decide": """
        c = I.cast(cnt[0], I.index)
        part = I.buffer((c,), I.i32, init=0)
        for t in range(0, c):
            part[t] = x[t] + I.cast(t, I.i32)
        x[n[:c]] = part[:]
    """,
    "lengths of a triangle": """
        for r in I.parallel(rows):
            for s in range(0, r + 1):
                part = I.buffer((s + 1,), I.i32, init=1)
                for t in range(0, s):
                    part[t + 1] = part[t] + m[r, t % N]
                o[r] = part[s]
    """,
    "sums of as many as the point says": """
        for r in I.parallel(rows):
            for j in I.parallel(I.domain(0, I.minimum(N, 5 - r))):
                m[r, j] = I.reduce.sum(x[I.domain(0, j)], axis=0)
    """,
    "a carry of a segment": f"""
        for g in I.parallel(groups):
            seg = n[off[g]:off[g + 1]]
            c = x[seg]
            for t in range(0, 3):
                x[seg] = x[{MIRRORED}] + c
                c = c + x[seg]
            x[seg] = c
    """,
    "parts of parts": """
        for g in I.parallel(groups):
            seg = n[off[g]:off[g + 1]]
            half = seg[:I.cast(off[g], I.index) + (I.end(seg) - I.cast(off[g], I.index)) // 2]
            part = I.buffer((half,), I.i32, init=x[half])
            x[half] = part[:] * 2 + I.reduce.sum(x[seg], axis=0)
    """,
}  # fmt: skip


def _text(name: str) -> str:
    return KERNEL.format(body="\n".join(line[4:] for line in BODIES[name].splitlines()))


@pytest.mark.parametrize("offsets", [(0, 4, 10, 12), (0, 0, 7), (3, 5, 5, 36, 40)])
@pytest.mark.parametrize("name", BODIES)
def test_rooms(name: str, offsets: tuple[int, ...]) -> None:
    random = np.random.default_rng(len(offsets))
    columns = offsets[-1] + (len(offsets) == 5)

    def numbers(*shape: int) -> np.ndarray:
        return random.integers(-9, 30, shape).astype(np.int32)

    arguments = {"off": np.array(offsets, np.int32), "cnt": np.array([2], np.int32)}
    agree(_text(name), {**arguments, "x": numbers(columns), "m": numbers(3, columns), "o": numbers(3)})


def test_they_compile(tmp_path: Path) -> None:
    assert problems(map(_text, BODIES), tmp_path) == []


def test_a_length_without_a_bound_has_no_room() -> None:
    """A subregion of it that may not be there says nothing: it would be too long where it is not."""
    body = """
    c = I.cast(cnt[0], I.index)
    part = I.buffer((c,), I.i32, init=0)
    for t in range(0, c):
        part[t] = I.cast(t, I.i32)
    if c < 3:
        x[n[:c]] = part[:]
    o[0] = part[0]
    """
    found = compiled(KERNEL.format(body=body))
    assert any("how much memory 'part' needs is known in the kernel only" in line for line in rejections(found))


@pytest.mark.parametrize("offsets", [(0, 30), (0, 7, 40), (3, 29, 5, 31)])
@pytest.mark.parametrize("name", [name for name in BODIES if "seg" in BODIES[name] or "n[off" in BODIES[name]])
def test_lengths_beyond_the_room_stay_within_it(
    name: str, offsets: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offsets that run out of the array are illegal: what they give is nobody's business, what they overwrite is."""
    made = module(_text(name), small=True)
    behind: list[torch.Tensor] = []

    def guarded(wanted: tuple[tuple[int, torch.dtype], ...], device: torch.device) -> tuple[torch.Tensor, ...]:
        found: list[torch.Tensor] = []
        for elements, dtype in wanted:
            size = dtype.itemsize
            whole = torch.full(((elements + GUARD) * size,), FILLED, dtype=torch.uint8, device=device)
            behind.append(whole[elements * size :])
            found.append(whole[: elements * size].view(dtype))
        return tuple(found)

    monkeypatch.setattr(made, "_scratch", guarded)
    for earlier in {"_REPEATS", "_PACKED"} & vars(made).keys():  # launches that allocate as they did before
        monkeypatch.setattr(made, earlier, {})
    x, m = np.arange(12, dtype=np.int32), np.ones((3, 12), np.int32)
    made.k(np.array(offsets, np.int32), np.array([2], np.int32), x, m, np.zeros(3, np.int32))
    assert behind, "the kernel has scratch memory"
    assert all(bool((each == FILLED).all()) for each in behind)

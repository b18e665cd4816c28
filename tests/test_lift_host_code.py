"""What host code says before and after its branches, what never happens, and conditions that leave a kernel."""

from __future__ import annotations

import random

import pytest

from intentc.lift_verification import verify
from translators.lifting.correspondence import draw
from translators.lifting.files import source_of
from translators.lifting.launches import launches
from translators.lifting.lift import Launch, Lifted, lift_kernel
from translators.triton_source.read.source import read_file

HEADER = "import triton\nimport triton.language as tl\n\n\n"


def lifted(text: str) -> Lifted:
    file = read_file(HEADER + text, "kernel.py")
    return lift_kernel(file, file.kernels[0], launches(file).get(file.kernels[0].name))


def source(text: str) -> str:
    kernel = lifted(text)
    made = source_of((kernel,), "kernel.py")
    assert made is not None, kernel.reason
    return made


ADDED = """
@triton.jit
def added(out, part, n, parts, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    if pid > 0:
        tl.store(out + i, tl.load(part + pid - 1), mask=i < n)


def host(out, part):
    n = out.numel()
    BLOCK = 1024
{before}    parts = triton.cdiv(n, BLOCK)
    added[(parts,)](out, part, n, parts, BLOCK)
"""


def test_what_one_branch_says_is_not_known_after_it() -> None:
    """`BLOCK >= n` holds in one branch only: the mask stays."""
    one = ADDED.format(before="    if n <= 4096:\n        BLOCK = triton.next_power_of_2(n)\n")
    assert "< n" in source(one)
    file = read_file(HEADER + one, "kernel.py")
    assert launches(file)["added"].facts == ()
    always = ADDED.format(before="    BLOCK = triton.next_power_of_2(n)\n")
    assert launches(read_file(HEADER + always, "kernel.py"))["added"].facts != ()


@pytest.mark.parametrize(
    ("statements", "known"),
    [
        ("if flag:\n        BLOCK = 64\n    else:\n        BLOCK = 64", 64),
        ("if flag:\n        BLOCK = 64\n    else:\n        BLOCK = 128", None),
        ("BLOCK = 64\n    if flag:\n        return out", 64),
        ("BLOCK = 64\n    BLOCK *= 2", None),
        ("BLOCK = 64\n    if flag:\n        BLOCK = 128\n        return out", 64),
    ],
)
def test_constants_after_branches(statements: str, known: int | None) -> None:
    text = f"""
@triton.jit
def kernel(out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 1.0, mask=i < n)


def host(out, n, flag):
    {statements}
    kernel[(triton.cdiv(n, BLOCK),)](out, n, BLOCK)
"""
    file = read_file(HEADER + text, "kernel.py")
    assert launches(file)["kernel"].known.constants.get("BLOCK") == known


def test_a_store_that_never_happens() -> None:
    """With one block, no program but the first has an element left."""
    never = ADDED.format(before="    BLOCK = triton.next_power_of_2(n)\n")
    assert lifted(never).reason == "line 7: a kernel that stores nothing"


LEAVES = """
@triton.jit
def kernel(x, keep, out, scale, n, SKIP: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x += pid * n
    out += pid * n
    if SKIP:
        if tl.load(keep + pid) == 0:
            tl.store(out + i, 0.0, mask=i < n)
            return
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0.0) * scale, mask=i < n)


def host(x, keep, out, scale):
    rows, n = x.shape
    kernel[(rows,)](x, keep, out, scale, n, SKIP=True, BLOCK=triton.next_power_of_2(n))
"""


def test_what_follows_a_compile_time_condition_with_a_return_within() -> None:
    """The other programs go on after the condition."""
    made = source(LEAVES)
    assert "* scale" in made
    assert "== 0" in made and "!= 0" in made


MOVED = """
@triton.jit
def kernel(x, more, out, factor: tl.float32, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    if factor != 0.0:
        more += pid * n
    value = tl.load(x + pid * n + i, mask=i < n)
    if factor != 0.0:
        value += factor * tl.load(more + i, mask=i < n)
    tl.store(out + pid * n + i, value, mask=i < n)


def host(x, more, out, factor):
    rows, n = x.shape
    kernel[(rows,)](x, more, out, factor, n, BLOCK=triton.next_power_of_2(n))
"""


def test_a_pointer_that_is_moved_where_it_is_used() -> None:
    kernel = lifted(MOVED)
    views = {each.pointer: len(each.view.shape) for each in kernel.views}
    assert views == {"x": 2, "more": 2, "out": 2}
    assert verify(HEADER + MOVED, "kernel.py", kernel, 2).holds


GATHERED = """
@triton.jit
def kernel(x, at, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(at + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + 3 * place + i, mask=i < n), mask=i < n)
"""


def test_sizes_of_arrays_that_are_read_by_elements_reach_what_is_read() -> None:
    kernel = lifted(GATHERED)
    assert kernel.correspondence is not None
    for seed in range(5):
        call = draw(kernel.correspondence, random.Random(seed))
        assert call is not None
        (length,), _ = call.arrays[0]
        assert length > 3 * (call.limit - 1)


BATCHES = """
@triton.jit
def kernel(x, out, n, BATCH: tl.constexpr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    b = tl.program_id(1) % BATCH
    total = tl.zeros((BLOCK,), tl.float32)
    for s in range(STEPS):
        total += tl.load(x + (b * STEPS + s) * n + i, mask=i < n, other=0)
    tl.store(out + b * n + i, total, mask=i < n)


def host(x, out, batch, steps, block):
    n = x.shape[-1]
    kernel[(triton.cdiv(n, block), batch)](x, out, n, batch, steps, block)
"""


def test_calls_that_verify_take_few_steps() -> None:
    """Of programs and iterations, whatever is known at compile time."""
    kernel = lifted(BATCHES)
    assert kernel.correspondence is not None
    assert kernel.correspondence.work.tiles & {"BATCH", "STEPS", "BLOCK"} == {"BLOCK"}
    for seed in range(8):
        call = draw(kernel.correspondence, random.Random(seed))
        assert call is not None
        programs, batches, steps = call.grid[0] * call.grid[1], call.numbers["BATCH"], call.numbers["STEPS"]
        assert isinstance(batches, int) and isinstance(steps, int)
        assert programs >= batches and programs * (1 + steps) <= 60
    assert verify(HEADER + BATCHES, "kernel.py", kernel, calls=3).holds


def test_blocks_that_were_read_as_numbers_are_blocks() -> None:
    text = """
@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


def host(x, out):
    n = x.shape[0]
    kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
"""
    kernel = lifted(text)
    assert kernel.correspondence is not None
    assert "BLOCK" in kernel.correspondence.work.tiles
    assert verify(HEADER + text, "kernel.py", kernel, calls=2).holds


def test_a_comparison_in_which_nothing_is_stored_is_none() -> None:
    text = """
@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=(i < n) & (i > 100000))
"""
    found = verify(HEADER + text, "kernel.py", lifted(text), 2)
    assert found.reason == "no call stored anything"


def test_programs_that_are_not_told_apart_are_one() -> None:
    """Along an axis of the grid that the kernel does not ask for, all programs store the same."""
    file = read_file(HEADER + LEAVES, "kernel.py")
    launch = launches(file)["kernel"]
    kernel = lift_kernel(file, file.kernels[0], Launch((*launch.grid, launch.grid[0]), launch.known, launch.facts))
    assert kernel.correspondence is not None
    assert [repr(each) for each in kernel.correspondence.grid[1:]] == ["1"]


NUMBERS = """
import torch

LARGEST = tl.constexpr(torch.finfo(torch.float32).max)
LOWEST = tl.constexpr(torch.iinfo(torch.int32).min)


def chosen():
    return tl.abs if os.environ.get("OTHER", "0") == "1" else tl.exp


function = chosen()


@tl.constexpr
def wide(dtype):
    if dtype.is_fp16():
        return tl.float32
    if dtype.is_int32() or dtype.is_int64():
        return tl.int64
    return dtype


@triton.jit
def kernel(x, out, given, N, K, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    value = function(tl.load(x + row * K + i, mask=i < K, other=LARGEST).to(wide(x.dtype.element_ty)))
    if given:
        value += tl.load(given + row)
    tl.store(out + row * K + i, value, mask=(i < K).logical_and(value < LARGEST))


def host(x, out, given, N):
    M = x.shape[0]
    K = x.numel() // M // N
    kernel[lambda meta: (M, triton.cdiv(K, meta["BLOCK"]))](x, out, given, N, K)
"""


def test_names_of_numbers_types_and_functions() -> None:
    """Limits of types, functions that are called while a kernel is compiled, arrays that are given, quotients that are
    passed."""
    made = source(NUMBERS)
    assert "I.exp(x[" in made and "given[" in made
    assert "3.4028234663852886e+38" in made
    assert verify(HEADER + "import os\n" + NUMBERS, "kernel.py", lifted(NUMBERS), 2).holds


HALVES = """
@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    lane = tl.arange(0, 2)
    inside = (i < n)[:, None] & (lane < 2)[None, :]
    both = tl.load(x + pid * 2 * n + i[:, None] * 2 + lane[None, :], mask=inside, other=0.0)
    real, imaginary = tl.split(both)
    turned = tl.join(-imaginary, real)
    tl.store(out + pid * 2 * n + i[:, None] * 2 + lane[None, :], turned, mask=inside)


def host(x, out):
    rows, n, _ = x.shape
    kernel[(rows,)](x, out, n, BLOCK=triton.next_power_of_2(n))
"""


def test_halves_of_a_tile() -> None:
    kernel = lifted(HALVES)
    assert verify(HEADER + HALVES, "kernel.py", kernel, 2).holds


NAMED = """
from triton.language.extra import libdevice

pow = libdevice.pow


@triton.jit
def kernel(self, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(self + i, mask=i < n)
    total = tl.float32(0.5)
    tl.store(out + i, pow(value, 2) + total, mask=i < n)
"""


def test_originals_that_run_under_names_of_python() -> None:
    """A parameter `self`, the file's own `pow`, and a type that is called."""
    found = verify(HEADER + NAMED, "kernel.py", lifted(NAMED), 2)
    assert found.holds, str(found)

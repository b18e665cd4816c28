"""A few mutants of Triton kernels: no `same` for kernels whose outputs differ; neutral changes are `same`."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.lift.mutation.measure import PAGE, RECORD, ROOT, judge
from tests.lift.mutation.mutants import NEUTRAL, mutants
from tests.lift.mutation.page import page

FEW = 6
ENOUGH = 300
KERNEL = """
def launch(x, out):
    kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=1024)


@triton.jit
def kernel(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    total = tl.load(x_ptr + row * stride + i, mask=i < n, other=0.0)
    for k in range(0, n, BLOCK):
        total += tl.load(x_ptr + row * stride + k).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(total, axis=0) / n)
"""


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("tests/lift/vector_add.py", "add_kernel"),
        ("tests/lift/pointwise.py", "swiglu_kernel"),
        ("golden/saxpy/module.py", "saxpy_kernel"),
    ],
)
def test_what_is_said_of_mutants(name: str, kernel: str) -> None:
    judged = judge(ROOT / name, kernel, FEW)
    assert len(judged) == FEW
    for each in judged:
        assert not each.wrong, (each.mutant.kind, each.mutant.what, each.mutant.line, each.outcome)
        if each.mutant.neutral:
            assert each.answer.startswith("same"), (each.mutant.kind, each.mutant.line, each.reason)


def test_every_kind_of_mutant_is_made() -> None:
    found = list(mutants(KERNEL, "kernel"))
    assert {each.kind for each in found} >= {"constant", "bound", "mask", "stride", "axis", "dtype", "operator"}
    assert {each.kind for each in found if each.neutral} == set(NEUTRAL)
    original = ast.unparse(ast.parse(KERNEL))
    assert all(each.text != original for each in found)


def test_record_of_all_mutants() -> None:
    """What `make mutants` last found: of a whole run, at least as many mutants of public kernels as are wanted."""
    record = json.loads(Path(RECORD).read_text())
    assert record["wrong"] == 0
    assert record["ladder"]["mutants"] >= (ENOUGH if record["left"] == 0 else 1)
    assert all(sum(counts.values()) > 0 for counts in record["kinds"].values()) or record["left"]
    assert PAGE.read_text(encoding="utf-8") == page(record)

"""The spellings of arithmetic compiled ahead of time for each target, and what the assembly does with subnormals."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
import triton
from device_kernels import Case, batch_text
from test_arithmetic import CASTS, POINTWISE
from test_reduction_forms import REDUCTIONS, SCANS

from intent.dtypes import bf16, f16, f32, f64, i8, i32, i64, u32, u64
from translators.logical.program import BINARY, COMPARISON, UNARY
from translators.triton_source.expressions import Code, Emitted
from translators.triton_source.reductions import arg_max_tile, random_bits, reduce_tile, scan_tile

SCRIPT = Path(__file__).with_name("compile_device_kernels.py")
TARGETS = ("cuda:90", "cuda:80", "hip:gfx942")
# In float32, calls of NVIDIA's library flush subnormal intermediate values; these functions have none that matter: log
# scales a subnormal argument first, cos of one is 1, sin, erf and floor treat tiny arguments apart, and what sigmoid
# asks of exp2 lies within half of zero.
# tanh takes exp2 of nothing negative, so that nothing is small enough to be flushed.
MAY_FLUSH = {
    "exp2", "log", "log1p", "lgamma", "sin", "cos", "erf", "erfc", "floor", "rsqrt", "sigmoid", "tanh", "i0", "power",
}  # fmt: skip
# Triton 3.5 compiles tl.sqrt_rn and tl.div_rn to these on CUDA: there, quotients and roots flush subnormals.
FLUSHED_BY_OLD_TRITON = {"sqrt.rn.ftz.f32", "div.rn.ftz.f32"} if triton.__version__.startswith("3.5.") else set()
MAY_APPROXIMATE = {"exp2", "rsqrt", "erf", "erfc", "lgamma", "sigmoid", "tanh", "i0", "power"}


def compiled(groups: dict[str, list[Case]], target: str, folder: Path) -> dict[str, dict[str, list[str]]]:
    path = folder / "kernels.py"
    path.write_text(batch_text(groups), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["TRITON_CACHE_DIR"] = str(folder / "cache")
    command = [sys.executable, str(SCRIPT), str(path), target]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr[-3000:]
    found: dict[str, dict[str, list[str]]] = json.loads(finished.stdout.splitlines()[-1])
    errors = {name: result["error"] for name, result in found.items() if "error" in result}
    assert not errors, errors
    return found


def groups_by_dtype() -> dict[str, list[Case]]:
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in [case for _, case in POINTWISE] + CASTS:
        groups[f"{'cast' if case in CASTS else 'arithmetic'}_of_{case.operands[0].name}"].append(case)
    for case in tile_cases():
        groups[f"tile_of_{case.operands[0].name}"].append(case)
    return groups


def tile_cases() -> list[Case]:
    """Reductions and scans of a tile of one axis, and random bits."""
    x, lanes = Code("x"), Code("lanes")
    cases = [Case("bits", random_bits(Code("7", value=7), x), (u64,), u32)]
    for kind, dtype in REDUCTIONS:
        cases.append(Case("reduce", reduce_tile(kind, dtype, x, 0), (dtype,), dtype))
    for (kind, dtype), reverse in itertools.product(SCANS, (False, True)):
        cases.append(Case("scan", scan_tile(kind, dtype, x, 0, reverse), (dtype,), dtype))
    for dtype in (f32, f64, f16, bf16, i8, i32, i64, u64):
        pair = arg_max_tile(dtype, x, lanes, 0)
        place = Emitted(Code(f"{pair.code.text}[1]"), pair.helpers)
        cases.append(Case("arg_max", place, (dtype,), i32))
    return cases


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_every_spelling_compiles(target: str, tmp_path: Path) -> None:
    compiled(groups_by_dtype(), target, tmp_path)


def test_single_precision_keeps_subnormals(tmp_path: Path) -> None:
    functions = (*UNARY, *BINARY, *COMPARISON)
    groups = {function: [case] for function, case in POINTWISE if case.operands[0] == f32 and function in functions}
    groups = {f"function_{name}": cases for name, cases in groups.items()}
    for name, result in compiled(groups, "cuda:90", tmp_path).items():
        function = name.removeprefix("function_")
        flushing = set(result["flushing"]) - FLUSHED_BY_OLD_TRITON
        assert function in MAY_FLUSH or not flushing, (function, flushing)
        assert function in MAY_APPROXIMATE or not result["approximate"], (function, result["approximate"])

"""`approximate=` and `flush_to_zero=` hold for the operation they are written on, and for no other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import triton
from program_runs import HEADER, agree, device_text
from sample_files import ROOT

# The same operation of the same operands, exactly and with each permission: no two may become one value.
KERNEL = """
@intent.kernel
def k(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], o: I.Out[I.f32, (8, "N")]):
    n = I.domain(0, x.shape[0])
    v = x[n]
    w = y[n]
    o[0, n] = I.exp2(v)
    o[1, n] = I.exp2(v, approximate=True)
    o[2, n] = I.exp2(v, approximate=True, flush_to_zero=True)
    o[3, n] = I.tanh(v)
    o[4, n] = I.tanh(v, approximate=True)
    o[5, n] = v / w
    o[6, n] = I.fdiv(v, w, approximate=True)
    o[7, n] = I.fdiv(v, w, approximate=True, flush_to_zero=True)
"""
SPELLINGS = ("_exp2(v)", "_exp2(v)", "tl.exp2(v)", "_tanh(v)", "_tanh_fast(v)", "tl.div_rn(v, w)", "v / w", "v / w")

# One kernel for each quotient, and one that has both. `scaled` has operations beside that nothing was permitted for.
QUOTIENTS = """
@intent.kernel
def exact(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], o: I.Out[I.f32, ("N",)]):
    o[:] = x[:] / y[:]


@intent.kernel
def approximate(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], o: I.Out[I.f32, ("N",)]):
    o[:] = I.fdiv(x[:], y[:], approximate=True)


@intent.kernel
def both(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], o: I.Out[I.f32, ("N",)]):
    o[:] = I.fdiv(x[:], y[:], approximate=True) - x[:] / y[:]


@intent.kernel
def scaled(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], o: I.Out[I.f32, ("N",)]):
    o[:] = I.exp2(x[:], approximate=True, flush_to_zero=True) * y[:] + I.sqrt(y[:])
"""
SCRIPT = """
import json, sys
from intentc.ahead_of_time import _imported, assembled, jobs
from translators.pipeline import compile_text

compilation = compile_text(open(sys.argv[1]).read(), "kernels.py")
namespace = _imported(compilation.source)
for job in jobs(compilation, ["cuda:90"], ["aligned"]):
    compiled, _ = assembled(namespace[job.function], job)
    print(json.dumps([job.kernel, compiled.asm["ptx"]]))
"""
INSTRUCTION = re.compile(r"\b((?:div|sqrt|ex2|mul|fma|add|sub)\.[a-z0-9.]*f32)\b")


def test_each_operation_is_what_was_written() -> None:
    stores = [line for line in device_text(KERNEL).splitlines() if "tl.store(" in line]
    assert len(stores) == len(SPELLINGS)
    for line, spelling in zip(stores, SPELLINGS, strict=True):
        assert f", {spelling}, mask=" in line, (line, spelling)


@pytest.mark.parametrize("size", [0, 1, 37])
def test_values(size: int) -> None:
    """Where nothing was permitted, the reference's values exactly; special values of all operations."""
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 2.0**-149, 1e38]
    x = np.resize(np.array([*special, 1.5, -2.25, 100.0, -140.0], np.float32), size)
    y = np.resize(np.array([3.0, -7.0, np.inf, 0.0, np.nan], np.float32), size)
    agree(KERNEL, {"x": x, "y": y, "o": np.empty((8, size), np.float32)}, tolerance=2.0**-11)
    found = agree(KERNEL.replace("approximate=True", "approximate=False").replace(", flush_to_zero=True", ""),
                  {"x": x, "y": y, "o": np.empty((8, size), np.float32)}, tolerance=1e-6)  # fmt: skip
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found["o"][5], x / y)


def test_instructions(tmp_path: Path) -> None:
    found = _instructions(tmp_path)
    elements = found["exact"].count("div.rn.f32")
    assert elements > 0 and found["exact"] == ["div.rn.f32"] * elements
    assert sorted(set(found["approximate"])) == ["div.full.f32"]
    assert found["both"].count("div.rn.f32") == found["both"].count("div.full.f32") == elements
    flushing = {each for each in found["scaled"] if ".ftz" in each}
    assert flushing <= {"ex2.approx.ftz.f32"}, "only what was written with flush_to_zero may flush"
    assert {each for each in found["scaled"] if each.startswith("sqrt")} == {"sqrt.rn.f32"}


def _instructions(folder: Path) -> dict[str, list[str]]:
    """Arithmetic of single precision in the assembly of every kernel's first variant."""
    file = folder / "kernels.py"
    file.write_text(HEADER + QUOTIENTS, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"PYTHONPATH": str(ROOT), "TRITON_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", SCRIPT, str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    kernels = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return {kernel: INSTRUCTION.findall(_without_old_flushes(text)) for kernel, text in kernels}


def _without_old_flushes(text: str) -> str:
    """Triton 3.5 compiles tl.sqrt_rn and tl.div_rn to instructions that flush, which is Triton's doing."""
    old = triton.__version__.startswith("3.5.")
    return text.replace("div.rn.ftz", "div.rn").replace("sqrt.rn.ftz", "sqrt.rn") if old else text

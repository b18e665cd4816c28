"""Compilation ahead of time: jobs, measurements of all targets, limits, and compilers that crash or hang."""

from __future__ import annotations

import hand_written_codes as written
import pytest

import intent.dtypes as dtypes
from intent.records import replace
from intentc import ahead_of_time
from intentc.ahead_of_time import Measurement, jobs, verify_ahead_of_time
from translators.pipeline import Compilation
from translators.triton_source.launch import KernelCode, Tuning
from translators.triton_source.module import write_module

TARGETS = ("cuda:90", "cuda:80", "hip:gfx942")

DOT = """
def dot_kernel(x_ptr, out_ptr, stride_x_0, stride_x_1, stride_out_0, stride_out_1, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, 1024, BLOCK):
        x = tl.load(x_ptr + rows[:, None] * stride_x_0 + (start + rows)[None, :] * stride_x_1)
        y = tl.load(x_ptr + rows[:, None] * stride_x_0 + (rows - start)[None, :] * stride_x_1)
        total = tl.dot(x, y, total)
    tl.store(out_ptr + rows[:, None] * stride_out_0 + rows[None, :] * stride_out_1, total)
"""


def compilation(*codes: KernelCode) -> Compilation:
    program = written.program(*codes)
    return Compilation(write_module(program, codes), program, codes, ())


def _large_dot() -> KernelCode:
    """Two float tiles of 128 by 128: more shared memory than AMD's 64 KiB."""
    views = (written.view("x", dtypes.f32, "128 1024"), written.view("out", dtypes.f32, "128 128", "Out"))
    arguments = (written.Pointer("x"), written.Pointer("out"), *written.strides("x", 2), *written.strides("out", 2))
    plan = written.variant(
        "dot_kernel", DOT, arguments, "1", constants=(("BLOCK", 128),), cuda=Tuning(8, 1), hip=Tuning(8, 2),
        wide_index=False,
    )  # fmt: skip
    return KernelCode(written.kernel("dot", *views), (plan,), {})


def test_jobs_describe_what_a_launch_tells_triton() -> None:
    code = replace(written.softmax(), variants=written.softmax().variants[:1])
    aligned, strided = jobs(compilation(code), ["cuda:90"])
    assert aligned.function == "softmax_resident"
    assert aligned.signature == {
        "x_ptr": "*fp32", "out_ptr": "*fp32", "N": "i32", "stride_x_m": "i32", "stride_x_n": "constexpr",
        "stride_out_m": "i32", "stride_out_n": "constexpr", "BLOCK_N": "constexpr", "INDEX": "constexpr",
    }  # fmt: skip
    assert aligned.divisible == ["x_ptr", "out_ptr", "N", "stride_x_m", "stride_out_m"]
    assert strided.divisible == [] and strided.signature["stride_x_n"] == "i32"
    assert list(aligned.signature) == list(strided.signature)


def test_amd_compiles_for_arrays_below_two_gigabytes() -> None:
    """There a launch says so of every such array, and loads and stores become buffer operations."""
    code = replace(written.softmax(), variants=written.softmax().variants[:1])
    amd, nvidia = (jobs(compilation(code), [target])[0] for target in ("hip:gfx942", "cuda:90"))
    assert ahead_of_time.attributes(amd)[(0,)] == [["tt.divisibility", 16], ["tt.pointer_range", 32]]
    assert ahead_of_time.attributes(nvidia)[(0,)] == [["tt.divisibility", 16]]


def test_every_variant_is_measured_on_every_target(capsys: pytest.CaptureFixture[str]) -> None:
    codes = [each() for each in written.ALL] + [written.scale("half", dtypes.bf16)]
    found = compilation(*codes)
    assert verify_ahead_of_time(found, TARGETS) == []
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(jobs(found, TARGETS)) == 3 * 2 * sum(len(code.variants) for code in codes)
    assert all("shared" in line and "registers" in line for line in lines)


def test_too_much_shared_memory_is_an_error() -> None:
    failures = verify_ahead_of_time(compilation(_large_dot()), TARGETS)
    assert len(failures) == 2 and all(line.startswith("hip:gfx942 dot_kernel") for line in failures), failures
    assert all("65536 is the limit" in line for line in failures)


def test_what_triton_refuses_is_reported() -> None:
    code = written.scale()
    source = code.variants[0].source.replace("x * factor", "x * undefined_name")
    failures = verify_ahead_of_time(
        compilation(replace(code, variants=(replace(code.variants[0], source=source),))), ["cuda:90"]
    )
    assert len(failures) == 2 and all("undefined_name" in line for line in failures)


def test_a_hanging_compiler_does_not_take_the_others_along(monkeypatch: pytest.MonkeyPatch) -> None:
    code = written.scale()
    found = compilation(code)
    slow = "import time\ntime.sleep(600)\n"
    monkeypatch.setattr(ahead_of_time, "TIME_LIMIT", 0.5)
    failures = verify_ahead_of_time(replace(found, source=slow + (found.source or "")), ["cuda:90"])
    assert len(failures) == 2 and all("no result within" in line for line in failures)


def test_a_crashing_compiler_does_not_take_the_others_along() -> None:
    found = compilation(written.scale())
    crash = "import os\nos._exit(7)\n"
    failures = verify_ahead_of_time(replace(found, source=crash + (found.source or "")), ["cuda:90"])
    assert len(failures) == 2 and all("the compiler crashed" in line for line in failures)


def test_figures_are_read_from_the_assemblers() -> None:
    log = "ptxas info : 8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\nptxas info : Used 40 registers"
    assert ahead_of_time.nvidia_figures(log) == (40, 16)
    assembly = ".vgpr_count:     72\n.vgpr_spill_count: 3\n.sgpr_count: 20\n.sgpr_spill_count: 2\n.agpr_count: 0"
    assert ahead_of_time._amd(assembly) == (72, 5, 3)
    assert "spills 5" in str(Measurement("k", "hip:gfx942", "title", spills=5))

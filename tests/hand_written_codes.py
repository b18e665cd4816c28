"""Kernel codes written by hand, as the planner would hand them to the writer of the generated module."""

from __future__ import annotations

from types import ModuleType

import intent.dtypes as dtypes
from intent.dtypes import DType
from intent.records import replace
from intentc.differential import load_module
from translators.algebra.polynomial import Polynomial, number, symbol
from translators.diagnostics import NOWHERE
from translators.logical.program import Block, Kernel, Program, ScalarParameter
from translators.logical.types import Direction, View
from translators.triton_source.launch import (
    Argument,
    KernelCode,
    Pointer,
    Requirement,
    ScalarArgument,
    Scratch,
    ScratchPointer,
    Size,
    Stride,
    Tuning,
    Variant,
)
from translators.triton_source.module import ModuleOptions, write_module
from translators.triton_source.module_options import Arm

SMALL = Tuning(warps=4, stages=3)
SMALL_HIP = Tuning(warps=2, stages=2)


def view(name: str, dtype: DType, shape: str, direction: Direction = "In", **constraints: object) -> View:
    """`shape` is a list of symbols and numbers: `"M 4"`."""
    return View(name, dtype, tuple(_extent(word) for word in shape.split()), direction, **constraints)  # type: ignore[arg-type]


def _extent(word: str) -> Polynomial:
    return number(int(word)) if word.isdigit() else symbol(word)


def kernel(name: str, *parameters: View | ScalarParameter) -> Kernel:
    return Kernel(name, parameters, (), Block(), NOWHERE)


def program(*codes: KernelCode, path: str = "example.py") -> Program:
    return Program(path, tuple(code.kernel for code in codes))


def variant(function: str, source: str, arguments: tuple[Argument, ...], grid: str, **fields: object) -> Variant:
    settings: dict[str, object] = {
        "constants": (),
        "condition": None,
        "cuda": SMALL,
        "hip": SMALL_HIP,
        "wide_index": True,
    }
    settings.update(fields)
    return Variant(function, source, arguments, grid=grid, **settings)  # type: ignore[arg-type]


def strides(name: str, rank: int) -> tuple[Stride, ...]:
    return tuple(Stride(name, axis) for axis in range(rank))


MAX_HELPER = """
@triton.jit
def _max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
"""

SOFTMAX_RESIDENT = """
def softmax_resident(
    x_ptr, out_ptr, N, stride_x_m, stride_x_n, stride_out_m, stride_out_n, BLOCK_N: tl.constexpr, INDEX: tl.constexpr
):
    row = tl.program_id(0).to(INDEX)
    columns = tl.arange(0, BLOCK_N).to(INDEX)
    in_row = columns < N
    v = tl.load(x_ptr + row * stride_x_m + columns * stride_x_n, mask=in_row, other=-float("inf"))
    e = tl.exp(v - tl.reduce(v, 0, _max))
    tl.store(out_ptr + row * stride_out_m + columns * stride_out_n, e / tl.sum(e, axis=0), mask=in_row)
"""

SOFTMAX_STREAMED = """
def softmax_streamed(
    x_ptr, out_ptr, N, stride_x_m, stride_x_n, stride_out_m, stride_out_n, BLOCK_N: tl.constexpr, INDEX: tl.constexpr
):
    row = tl.program_id(0).to(INDEX)
    lanes = tl.arange(0, BLOCK_N).to(INDEX)
    largest = tl.full((BLOCK_N,), -float("inf"), tl.float32)
    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        v = tl.load(x_ptr + row * stride_x_m + columns * stride_x_n, mask=columns < N, other=-float("inf"))
        largest = _max(largest, v)
    top = tl.reduce(largest, 0, _max)
    mass = tl.zeros((BLOCK_N,), tl.float32)
    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        v = tl.load(x_ptr + row * stride_x_m + columns * stride_x_n, mask=columns < N, other=-float("inf"))
        mass += tl.exp(v - top)
    total = tl.sum(mass, axis=0)
    for start in range(0, N, BLOCK_N):
        columns = start + lanes
        in_row = columns < N
        v = tl.load(x_ptr + row * stride_x_m + columns * stride_x_n, mask=in_row, other=-float("inf"))
        tl.store(out_ptr + row * stride_out_m + columns * stride_out_n, tl.exp(v - top) / total, mask=in_row)
"""


def softmax(name: str = "softmax") -> KernelCode:
    """Rows of up to 64 and 256 columns stay on chip, longer ones are streamed."""
    arguments = (Pointer("x"), Pointer("out"), Size("N"), *strides("x", 2), *strides("out", 2))
    resident = variant(
        f"{name}_resident", SOFTMAX_RESIDENT.replace("softmax_resident", f"{name}_resident"), arguments, "M",
        constants=(("BLOCK_N", 64),), condition="N <= 64", plan="rows of up to 256 columns stay on chip",
    )  # fmt: skip
    larger = replace(resident, constants=(("BLOCK_N", 256),), condition="N <= 256", cuda=Tuning(8, 3), hip=Tuning(4, 2))
    streamed = variant(
        f"{name}_streamed", SOFTMAX_STREAMED.replace("softmax_streamed", f"{name}_streamed"), arguments, "M",
        constants=(("BLOCK_N", 128),), plan="longer rows are streamed three times in blocks of 128",
    )  # fmt: skip
    return KernelCode(
        kernel(name, view("x", dtypes.f32, "M N"), view("out", dtypes.f32, "M N", "Out")),
        (resident, larger, streamed),
        {"_max": MAX_HELPER},
        overlap="same",
        covered=frozenset({"out"}),
        stages=("for row in rows (parallel):", "    v = x[row, columns]; out[row, columns] = softmax(v)"),
        traffic="x is read once and out written once; the array form makes five passes",
    )


def scale(name: str = "scale", dtype: DType = dtypes.f32) -> KernelCode:
    """out = x * factor, with a scalar parameter."""
    source = f"""
def {name}_kernel(
    x_ptr, out_ptr, N, stride_x_n, stride_out_n, factor: tl.float32, BLOCK_N: tl.constexpr, INDEX: tl.constexpr
):
    columns = tl.program_id(0).to(INDEX) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = columns < N
    x = tl.load(x_ptr + columns * stride_x_n, mask=mask).to(tl.float32)
    tl.store(out_ptr + columns * stride_out_n, (x * factor).to(out_ptr.dtype.element_ty), mask=mask)
"""
    arguments = (
        Pointer("x"), Pointer("out"), Size("N"), Stride("x", 0), Stride("out", 0), ScalarArgument("factor"),
    )  # fmt: skip
    parameters = (view("x", dtype, "N"), ScalarParameter("factor", dtypes.f32), view("out", dtype, "N", "Out"))
    plan = variant(f"{name}_kernel", source, arguments, "triton.cdiv(N, 128)", constants=(("BLOCK_N", 128),))
    return KernelCode(kernel(name, *parameters), (plan,), {}, overlap="same", covered=frozenset({"out"}))


def accumulate() -> KernelCode:
    """total += x, in place."""
    source = """
def accumulate_kernel(x_ptr, total_ptr, N, stride_x_n, stride_total_n, BLOCK_N: tl.constexpr, INDEX: tl.constexpr):
    columns = tl.program_id(0).to(INDEX) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = columns < N
    x = tl.load(x_ptr + columns * stride_x_n, mask=mask)
    total = tl.load(total_ptr + columns * stride_total_n, mask=mask)
    tl.store(total_ptr + columns * stride_total_n, total + x, mask=mask)
"""
    arguments = (Pointer("x"), Pointer("total"), Size("N"), Stride("x", 0), Stride("total", 0))
    parameters = (view("x", dtypes.i64, "N"), view("total", dtypes.i64, "N", "InOut"))
    plan = variant("accumulate_kernel", source, arguments, "triton.cdiv(N, 64)", constants=(("BLOCK_N", 64),))
    return KernelCode(kernel("accumulate", *parameters), (plan,), {}, overlap="refuse")


def total(overlap: str = "snapshot") -> KernelCode:
    """A rank-0 sum and its mean (two outputs), by one program."""
    source = """
def total_kernel(x_ptr, mass_ptr, count_ptr, N, stride_x_n, BLOCK_N: tl.constexpr):
    parts = tl.zeros((BLOCK_N,), tl.float32)
    for start in range(0, N, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        parts += tl.load(x_ptr + columns * stride_x_n, mask=columns < N, other=0.0)
    tl.store(mass_ptr, tl.sum(parts, axis=0))
    tl.store(count_ptr, N)
"""
    arguments = (Pointer("x"), Pointer("mass"), Pointer("count"), Size("N"), Stride("x", 0))
    parameters = (
        view("x", dtypes.f32, "N"),
        view("mass", dtypes.f32, "", "Out"),
        view("count", dtypes.index, "", "Out"),
    )
    plan = variant("total_kernel", source, arguments, "1", constants=(("BLOCK_N", 64),), wide_index=False)
    return KernelCode(
        kernel("total", *parameters),
        (plan,),
        {},
        overlap=overlap,
        covered=frozenset({"mass", "count"}),  # type: ignore[arg-type]
    )


def groups() -> KernelCode:
    """partial[g] = sum of x[g::G] through a scratch buffer: G is a size that only an output has."""
    source = """
def groups_kernel(x_ptr, partial_ptr, N, G, stride_x_n, stride_partial_g, work_ptr, INDEX: tl.constexpr):
    group = tl.program_id(0).to(INDEX)
    tl.store(work_ptr + group, 0.0)
    for position in range(group, N, G):
        value = tl.load(work_ptr + group) + tl.load(x_ptr + position * stride_x_n)
        tl.store(work_ptr + group, value)
    tl.store(partial_ptr + group * stride_partial_g, tl.load(work_ptr + group))
"""
    arguments = (
        Pointer("x"), Pointer("partial"), Size("N"), Size("G"), Stride("x", 0), Stride("partial", 0),
        ScratchPointer("work"),
    )  # fmt: skip
    parameters = (view("x", dtypes.f32, "N"), view("partial", dtypes.f32, "G", "Out"))
    return KernelCode(
        kernel("groups", *parameters),
        (replace(variant("groups_kernel", source, arguments, "G"), scratch=(Scratch("work", dtypes.f32, "G"),)),),
        {},
        requirements=(Requirement("N >= G", "there must be an element for each group"),),
        covered=frozenset({"partial"}),
    )


def module(*codes: KernelCode, arm: Arm = "both") -> ModuleType:
    """The imported module of these codes."""
    return load_module(write_module(program(*codes), codes, ModuleOptions(arm=arm)))


ALL = (softmax, scale, accumulate, total, groups)

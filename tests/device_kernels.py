"""Tiny Triton kernels around the compiler's spellings, to interpret on the CPU or to compile ahead of time."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy
import torch

from intent.dtypes import DType
from translators.triton_source.conversions import TRITON_NAME
from translators.triton_source.device_functions import with_dependencies
from translators.triton_source.expressions import Emitted

TORCH = {
    "bool": torch.bool, "index": torch.int64, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32,
    "i64": torch.int64, "u8": torch.uint8, "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64,
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "f8e4m3fn": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2,
}  # fmt: skip
SIGNATURE = {
    "bool": "i1", "index": "i64", "f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "f8e4m3fn": "fp8e4nv",
    "f8e5m2": "fp8e5",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One kernel: `emitted` computes a `result` from operands named x, y, z of types `operands`."""

    name: str
    emitted: Emitted
    operands: tuple[DType, ...]
    result: DType


def kernel_text(case: Case) -> str:
    names = "xyz"[: len(case.operands)]
    pointers = "".join(f"{name}_ptr, " for name in names)
    loads = "".join(f"    {name} = tl.load({name}_ptr + lanes)\n" for name in names)
    return (
        f"@triton.jit\ndef {case.name}({pointers}out_ptr, BLOCK: tl.constexpr):\n"
        f"    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n{loads}"
        f"    result = {case.emitted.code.text}\n"
        f"    tl.static_assert(result.dtype == {TRITON_NAME[case.result.name]})\n"
        f"    tl.store(out_ptr + lanes, result)\n"
    )


def module_text(cases: Sequence[Case]) -> str:
    used = with_dependencies(name for case in cases for name in case.emitted.helpers)
    parts = ["import os\n\nimport triton\nimport triton.language as tl\n", *used.values()]
    return "\n\n\n".join(parts + [kernel_text(case) for case in cases]) + "\n"


def load(cases: Sequence[Case], folder: Path) -> ModuleType:
    """The kernels as an imported module (Triton reads their source from the file)."""
    path = folder / "device_kernels_under_test.py"
    path.write_text(module_text(cases), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def tensor(values: numpy.ndarray, dtype: DType) -> torch.Tensor:
    """NumPy values (or raw bits, for the types NumPy lacks) as a torch tensor."""
    plain = torch.from_numpy(numpy.ascontiguousarray(values))
    return plain.view(TORCH[dtype.name]) if plain.dtype != TORCH[dtype.name] else plain


def run(module: ModuleType, case: Case, operands: Sequence[torch.Tensor]) -> torch.Tensor:
    """Runs in the interpreter (TRITON_INTERPRET=1 before triton was imported), one program for all elements."""
    count = operands[0].numel()
    block = 1 << max(count - 1, 0).bit_length()
    padded = [torch.cat([operand.view(-1), operand.view(-1)[:1].expand(block - count)]) for operand in operands]
    out = torch.zeros(block, dtype=TORCH[case.result.name])
    getattr(module, case.name)[(1,)](*padded, out, BLOCK=block)
    return out[:count]

"""Tiny Triton kernels around the compiler's spellings, to interpret on the CPU or to compile ahead of time."""

from __future__ import annotations

import importlib.util
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import numpy
import torch

from intent.dtypes import DType
from intent.records import dataclass
from translators.logical.reference_numerics import carrier
from translators.triton_source.conversions import TRITON_NAME
from translators.triton_source.device_functions import with_dependencies
from translators.triton_source.expressions import Emitted

TORCH = {
    "bool": torch.bool, "index": torch.int64, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32,
    "i64": torch.int64, "u8": torch.uint8, "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64,
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "f8e4m3fn": torch.uint8, "f8e5m2": torch.uint8,
}  # fmt: skip
SIGNATURE = {
    "bool": "i1", "index": "i64", "f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "f8e4m3fn": "u8",
    "f8e5m2": "u8",
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
    helpers = frozenset().union(*(case.emitted.helpers for case in cases))
    return with_prelude(helpers, [kernel_text(case) for case in cases])


def with_prelude(helpers: frozenset[str], texts: Sequence[str]) -> str:
    """Kernels after the imports and device functions they need."""
    parts = ["import os\n\nimport triton\nimport triton.language as tl", *with_dependencies(helpers).values(), *texts]
    return "\n\n\n".join(parts) + "\n"


def batch_text(groups: Mapping[str, Sequence[Case]]) -> str:
    """One kernel for each group of cases, whose operands agree; SIGNATURES has their types, for compilation."""
    helpers = frozenset().union(*(case.emitted.helpers for cases in groups.values() for case in cases))
    signatures = {name: _signature(cases) for name, cases in groups.items()}
    kernels = [_batch_kernel(name, cases) for name, cases in groups.items()]
    return with_prelude(helpers, [*kernels, f"SIGNATURES = {signatures!r}"])


def _batch_kernel(name: str, cases: Sequence[Case]) -> str:
    operands = "xyz"[: max(len(case.operands) for case in cases)]
    parameters = [f"{operand}_ptr" for operand in operands]
    parameters += [f"out{number}_ptr" for number, _ in enumerate(cases)]
    lines = [f"    {operand} = tl.load({operand}_ptr + lanes)" for operand in operands]
    for number, case in enumerate(cases):
        lines.append(f"    result{number} = {case.emitted.code.text}")
        lines.append(f"    tl.static_assert(result{number}.dtype == {TRITON_NAME[case.result.name]})")
        lines.append(f"    tl.store(out{number}_ptr + lanes, result{number})")
    header = (
        f"@triton.jit\ndef {name}({', '.join(parameters)}, BLOCK: tl.constexpr):\n    lanes = tl.arange(0, BLOCK)\n"
    )
    return header + "\n".join(lines)


def _signature(cases: Sequence[Case]) -> dict[str, str]:
    longest = max(cases, key=lambda case: len(case.operands)).operands
    types = {f"{name}_ptr": dtype for name, dtype in zip("xyz", longest, strict=False)}
    types |= {f"out{number}_ptr": case.result for number, case in enumerate(cases)}
    return {name: "*" + SIGNATURE.get(dtype.name, dtype.name) for name, dtype in types.items()}


def load(cases: Sequence[Case], folder: Path) -> ModuleType:
    """The kernels as an imported module (Triton reads their source from the file)."""
    return load_text(module_text(cases), folder)


def load_text(text: str, folder: Path) -> ModuleType:
    path = folder / f"kernels_{zlib.crc32(text.encode()):08x}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def tensor(values: numpy.ndarray, dtype: DType) -> torch.Tensor:
    """A NumPy array of the dtype's carrier as a torch tensor; both hold the same bits."""
    flat = numpy.ascontiguousarray(values).reshape(-1)
    if dtype.kind == "bool":
        return torch.from_numpy(flat)
    return torch.from_numpy(flat.view(f"int{dtype.bits}").copy()).view(TORCH[dtype.name])


def array(values: torch.Tensor, dtype: DType) -> numpy.ndarray:
    """The inverse of `tensor`."""
    if dtype.kind == "bool":
        return values.numpy()
    return values.view(getattr(torch, f"int{dtype.bits}")).numpy().view(carrier(dtype))


def run(module: ModuleType, case: Case, operands: Sequence[numpy.ndarray]) -> numpy.ndarray:
    """All elements in one program of the interpreter, which TRITON_INTERPRET=1 chose when triton was imported."""
    count = operands[0].size
    block = 1 << max(count - 1, 0).bit_length()
    padded = [numpy.concatenate([operand.reshape(-1), numpy.repeat(operand.reshape(-1)[:1], block - count)])
              for operand in operands]  # fmt: skip
    given = [tensor(operand, dtype) for operand, dtype in zip(padded, case.operands, strict=True)]
    out = torch.zeros(block, dtype=torch.uint8).repeat(case.result.bytes).view(TORCH[case.result.name])
    with numpy.errstate(all="ignore"):
        getattr(module, case.name)[(1,)](*given, out, BLOCK=block)
    return array(out[:count], case.result)

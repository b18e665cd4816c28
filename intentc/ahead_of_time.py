"""Compiles a generated module's kernels for every target with the installed Triton. Needs no GPU.

What comes out of the assembler is measured (registers, spills, shared memory, code size) and compared with the limits
of the target.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final, Protocol, cast

from translators.logical.types import View
from translators.pipeline import Compilation
from translators.triton_source.launch import (
    Argument,
    KernelCode,
    Pointer,
    ScalarArgument,
    ScratchPointer,
    Size,
    Stride,
    Variant,
)
from translators.triton_source.module_names import KernelNames, module_names

SHARED_MEMORY: Final[Mapping[str, int]] = {"cuda:90": 227 * 1024, "cuda:80": 163 * 1024, "hip:gfx942": 64 * 1024}
TRITON_TYPES: Final[Mapping[str, str]] = {
    "bool": "i1",
    "index": "i64",
    "f16": "fp16",
    "bf16": "bf16",
    "f32": "fp32",
    "f64": "fp64",
    "f8e4m3fn": "fp8e4nv",
    "f8e5m2": "fp8e5",
}


class DeviceFunction(Protocol):
    """What we use of Triton's jit functions."""

    arg_names: list[str]


class Metadata(Protocol):
    """What we use of a compiled kernel's metadata."""

    shared: int


class CompiledKernel(Protocol):
    """What we use of Triton's compiled kernels; `asm` has the text or bytes of each stage."""

    asm: Mapping[str, object]
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Specialisation:
    """One of the forms in which Triton meets a variant: `aligned` has contiguous rows and addresses divisible by 16."""

    aligned: bool
    wide: bool

    def __str__(self) -> str:
        return f"{'aligned' if self.aligned else 'general'}, {64 if self.wide else 32}-bit offsets"


COMMON: Final = Specialisation(aligned=True, wide=False)
WIDEST: Final = Specialisation(aligned=False, wide=True)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one compilation came to; `problem` is why it cannot be used, if it cannot."""

    function: str
    target: str
    specialisation: Specialisation
    shared: int = 0
    registers: int | None = None
    spills: int | None = None
    code_bytes: int = 0
    problem: str | None = None

    def __str__(self) -> str:
        head = f"{self.function} on {self.target} ({self.specialisation})"
        if self.problem:
            return f"{head}: {self.problem}"
        registers = "?" if self.registers is None else self.registers
        spills = "?" if self.spills is None else self.spills
        return f"{head}: {registers} registers, {spills} spills, {self.shared} B shared, {self.code_bytes} B code"


def measure(compilation: Compilation, targets: Sequence[str], arm: str = "both") -> Iterator[Measurement]:
    """Compile every variant of every kernel for every target, in its common and its widest form."""
    assert compilation.source is not None
    all_names = module_names(compilation.codes, arm)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory(prefix="intentc-aot-") as folder:
        module = _load(compilation.source, Path(folder))
        for code, names in zip(compilation.codes, all_names, strict=True):
            for variant in code.variants:
                for target in targets:
                    for specialisation in (COMMON, WIDEST) if variant.wide_index else (COMMON,):
                        yield _measure(module, (code, names, variant), target, specialisation)


def _load(source: str, folder: Path) -> ModuleType:
    """Import the module from a file, since Triton reads its kernels' text from there."""
    os.environ.pop("TRITON_INTERPRET", None)
    path = folder / "generated.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("intentc_generated", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _measure(
    module: ModuleType, kernel: tuple[KernelCode, KernelNames, Variant], target: str, specialisation: Specialisation
) -> Measurement:
    code, names, variant = kernel
    function = names.device_function(variant)
    try:
        compiled, log = _compile(getattr(module, function), code, variant, target, specialisation)
    except Exception as error:  # Triton's failures have no common type
        problem = f"does not compile: {type(error).__name__}: {str(error).strip().splitlines()[-1:]}"
        return Measurement(function, target, specialisation, problem=problem)
    registers, spills = _registers(compiled.asm, log)
    shared, limit = compiled.metadata.shared, SHARED_MEMORY[target]
    excess = f"needs {shared} B of shared memory; the target has {limit}" if shared > limit else None
    binary = compiled.asm.get("cubin") or compiled.asm.get("hsaco")
    size = len(binary) if isinstance(binary, bytes) else 0
    return Measurement(function, target, specialisation, shared, registers, spills, size, excess)


def _compile(
    function: DeviceFunction, code: KernelCode, variant: Variant, target: str, specialisation: Specialisation
) -> tuple[CompiledKernel, str]:
    """The compiled kernel and the assembler's log. A fresh cache, or there would be no log."""
    import triton
    from triton.compiler import ASTSource

    signature, constants, attributes = _signature(function.arg_names, code, variant, specialisation)
    source = ASTSource(function, signature, constants, attributes)
    tuning = variant.hip if target.startswith("hip") else variant.cuda
    options = {"num_warps": tuning.warps, "num_stages": tuning.stages}
    log = io.StringIO()
    with tempfile.TemporaryDirectory(prefix="intentc-cache-") as cache, triton.knobs.cache.scope():
        triton.knobs.cache.dir = cache
        with triton.knobs.nvidia.scope(), contextlib.redirect_stdout(log):
            triton.knobs.nvidia.dump_ptxas_log = True
            compiled = triton.compile(source, target=_gpu_target(target), options=options)
    return cast(CompiledKernel, compiled), log.getvalue()


def _gpu_target(target: str) -> object:
    from triton.backends.compiler import GPUTarget

    backend, _, architecture = target.partition(":")
    return GPUTarget("hip", architecture, 64) if backend == "hip" else GPUTarget("cuda", int(architecture), 32)


def _signature(
    names: Sequence[str], code: KernelCode, variant: Variant, specialisation: Specialisation
) -> tuple[dict[str, str], dict[tuple[int, ...], object], dict[tuple[int, ...], object]]:
    """Types by parameter name, constants by position, and the positions known to be divisible by 16."""
    import triton.language as tl

    signature: dict[str, str] = {}
    constants: dict[tuple[int, ...], object] = {}
    attributes: dict[tuple[int, ...], object] = {}
    views = {view.name: view for view in code.kernel.views}
    for position, argument in enumerate(variant.arguments):
        signature[names[position]] = _type(argument, code)
        if specialisation.aligned and _is_unit_stride(argument, views):
            signature[names[position]] = "constexpr"
            constants[(position,)] = 1
        elif specialisation.aligned and not isinstance(argument, ScalarArgument):
            attributes[(position,)] = [["tt.divisibility", 16]]
    fixed = dict(variant.constants) | (
        {"INDEX": tl.int64 if specialisation.wide else tl.int32} if variant.wide_index else {}
    )
    for name, value in fixed.items():
        signature[name] = "constexpr"
        constants[(names.index(name),)] = value
    return signature, constants, attributes


def _type(argument: Argument, code: KernelCode) -> str:
    match argument:
        case Pointer(name):
            return "*" + _triton_type(next(view for view in code.kernel.views if view.name == name).dtype.name)
        case ScratchPointer(name):
            return "*" + _triton_type(next(scratch for scratch in code.scratch if scratch.name == name).dtype.name)
        case ScalarArgument(name):
            return _triton_type(next(scalar for scalar in code.kernel.scalars if scalar.name == name).dtype.name)
        case Size() | Stride():
            return "i32"


def _triton_type(name: str) -> str:
    return TRITON_TYPES.get(name, name)


def _is_unit_stride(argument: Argument, views: Mapping[str, View]) -> bool:
    return isinstance(argument, Stride) and argument.axis == views[argument.view].rank - 1


def _registers(assembly: Mapping[str, object], log: str) -> tuple[int | None, int | None]:
    """Registers and spilled bytes from the CUDA assembler's log, or from the metadata in AMD's assembly."""
    text = str(assembly.get("amdgcn", ""))
    if text:
        return _number(r"\.vgpr_count:\s*(\d+)", text), _number(r"\.vgpr_spill_count:\s*(\d+)", text)
    return _number(r"Used (\d+) registers", log), _number(r"(\d+) bytes spill stores", log)


def _number(pattern: str, text: str) -> int | None:
    found = re.search(pattern, text)
    return int(found.group(1)) if found else None

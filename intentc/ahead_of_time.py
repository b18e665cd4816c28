"""Compile every variant of a module for every target with the installed Triton, without a GPU, and measure the result.

Triton reports shared memory; registers and spills are in the log of NVIDIA's assembler and in the metadata of AMD's
assembly text. A variant that exceeds the target's shared memory cannot be launched there, which is an error.

    measure(compilation, targets)               in this process, which must not have TRITON_INTERPRET set
    verify_ahead_of_time(compilation, targets)  in a process of its own, with a time limit; the lines of what failed
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Literal

from intent.dtypes import DType
from intent.records import asdict, dataclass, replace
from intentc.render import say
from translators.pipeline import Compilation
from translators.triton_source.conversions import passed_as
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
from translators.triton_source.module_kernels import row_sizes
from translators.triton_source.module_names import KernelNames

Form = Literal["aligned", "strided"]
FORMS: Final[tuple[Form, ...]] = ("aligned", "strided")
TIME_LIMIT: Final = 120.0  # seconds for one variant on one target
SHARED_MEMORY: Final[Mapping[str, int]] = {"cuda:90": 227 * 1024, "cuda:80": 163 * 1024, "hip:gfx942": 64 * 1024}

_TYPES: Final[Mapping[str, str]] = {
    "bool": "i1", "index": "i64", "f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "f8e4m3fn": "u8",
    "f8e5m2": "u8",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """One device function with what a launch would tell Triton about its arguments."""

    kernel: str
    function: str
    target: str
    form: str
    signature: Mapping[str, str]
    constants: Mapping[str, int]
    divisible: Sequence[str]  # parameters that are multiples of 16
    pointers: Sequence[str]
    warps: int
    stages: int
    fusion: bool = True  # of products with sums

    @property
    def title(self) -> str:
        blocks = " ".join(f"{name}={value}" for name, value in self.constants.items() if name.startswith("BLOCK"))
        return f"{self.target} {self.function} {blocks} {self.form}"


@dataclass(frozen=True, slots=True)
class Measurement:
    """`problem` says why the variant cannot be used on the target. Spills count registers on AMD, bytes on NVIDIA."""

    kernel: str
    target: str
    title: str
    shared: int = 0
    registers: int = 0
    spills: int = 0
    code_bytes: int = 0
    to_memory: int = 0  # of the spills: on AMD, scalar registers are kept in lanes of vector registers
    problem: str | None = None

    def __str__(self) -> str:
        if self.problem is not None:
            return f"{self.title}: {self.problem}"
        figures = f"shared {self.shared}, registers {self.registers}, spills {self.spills}, code {self.code_bytes}"
        return f"{self.title}: {figures}"


def measure(
    compilation: Compilation, targets: Iterable[str], forms: Sequence[Form] = ("aligned",)
) -> Iterator[Measurement]:
    """Compile the compilation's variants one after the other."""
    assert compilation.source is not None
    namespace = _imported(compilation.source)
    for job in jobs(compilation, targets, forms):
        yield _measured(namespace, job)


def verify_ahead_of_time(compilation: Compilation, targets: Iterable[str]) -> list[str]:
    """Print a line for each variant and target; the lines of those that failed."""
    failures = []
    for measurement in _measured_elsewhere(compilation, targets):
        line = str(measurement)
        say(line)
        if measurement.problem is not None:
            failures.append(line)
    return failures


# ---------------------------------------------------------------------------------------------------------------- jobs
def jobs(compilation: Compilation, targets: Iterable[str], forms: Sequence[Form] = FORMS) -> list[Job]:
    """Every variant in every form for every target."""
    pairs = list(zip(compilation.codes, compilation.names, strict=True))
    return [
        _job(code, each, variant, target, form)
        for target in targets
        for code, each in pairs
        for variant in code.variants
        for form in forms
    ]


def _job(code: KernelCode, names: KernelNames, variant: Variant, target: str, form: Form) -> Job:
    types = {names.launch.argument(each): _type(code, variant, each) for each in variant.arguments}
    constants: dict[str, int] = dict(variant.constants)
    divisible: list[str] = []
    if form == "aligned":
        innermost = {Stride(view.name, view.rank - 1) for view in code.kernel.views}
        constants = {names.launch.argument(each): 1 for each in variant.arguments if each in innermost} | constants
        aligned = (each for each in variant.arguments if each not in innermost and _is_aligned(code, each))
        divisible = [names.launch.argument(each) for each in aligned]
    constants |= {"INDEX": 32} if variant.wide_index else {}
    signature = types | dict.fromkeys(constants, "constexpr")
    pointers = [name for name, type_ in types.items() if type_.startswith("*")]
    tuning = variant.hip if target.startswith("hip") else variant.cuda
    function = names.device_function(variant)
    options = (tuning.warps, tuning.stages, not variant.rounded)
    return Job(code.kernel.name, function, target, form, signature, constants, divisible, pointers, *options)


def _type(code: KernelCode, variant: Variant, argument: Argument) -> str:
    match argument:
        case Pointer(view=name) | ScratchPointer(name=name):
            dtypes = {each.name: each.dtype for each in (*code.kernel.parameters, *variant.scratch)}
            return f"*{_triton_type(dtypes[name])}"
        case ScalarArgument(name=name):
            dtype = next(scalar.dtype for scalar in code.kernel.scalars if scalar.name == name)
            return _triton_type(passed_as(dtype))
        case Size() | Stride():
            return "i32"


def _triton_type(dtype: DType) -> str:
    return _TYPES.get(dtype.name, dtype.name)


def _is_aligned(code: KernelCode, argument: Argument) -> bool:
    match argument:
        case Pointer() | ScratchPointer() | Stride():
            return True
        case Size(symbol):
            return symbol in row_sizes(code)
        case ScalarArgument():
            return False


# ----------------------------------------------------------------------------------------------------------- compiling
def _imported(source: str) -> Mapping[str, object]:
    from intentc.differential import load_module

    return vars(load_module(source))


def _measured(namespace: Mapping[str, object], job: Job) -> Measurement:
    try:
        measurement = _compiled(namespace[job.function], job)
    except Exception as problem:  # whatever Triton raises is the finding
        return Measurement(job.kernel, job.target, job.title, problem=_first_line(problem))
    limit = SHARED_MEMORY[job.target]
    if measurement.shared > limit:
        return replace(measurement, problem=f"needs {measurement.shared} bytes of shared memory; {limit} is the limit")
    return measurement


def _compiled(function: object, job: Job) -> Measurement:
    kernel, log = assembled(function, job)
    if job.target.startswith("cuda"):
        registers, spills = nvidia_figures(log)
        code, to_memory = len(kernel.asm["cubin"]), spills
    else:
        registers, spills, to_memory = _amd(kernel.asm["amdgcn"])
        code = len(kernel.asm["hsaco"])
    return Measurement(job.kernel, job.target, job.title, kernel.metadata.shared, registers, spills, code, to_memory)


def assembled(function: object, job: Job) -> tuple[Any, str]:
    """What Triton compiles, with the text of every stage, and the log of NVIDIA's assembler."""
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget

    backend, architecture = job.target.split(":")
    target = GPUTarget(backend, int(architecture), 32) if backend == "cuda" else GPUTarget(backend, architecture, 64)
    constants = {name: tl.int32 if name == "INDEX" else value for name, value in job.constants.items()}
    source = triton.compiler.ASTSource(function, dict(job.signature), constants, attributes(job))
    log = io.StringIO()
    scopes = (triton.knobs.compilation.scope(), triton.knobs.nvidia.scope(), contextlib.redirect_stdout(log))
    with contextlib.ExitStack() as stack:
        for scope in (*scopes, _answering(target)):
            stack.enter_context(scope)
        triton.knobs.compilation.always_compile = True
        triton.knobs.nvidia.dump_ptxas_log = True
        options = {"num_warps": job.warps, "num_stages": job.stages, "enable_fp_fusion": job.fusion}
        kernel = triton.compile(source, target=target, options=options)
    return kernel, log.getvalue()


@contextlib.contextmanager
def _answering(target: object) -> Iterator[None]:
    """Device functions may ask what they are compiled for, which Triton takes to be the GPU that is present."""
    import triton.language as tl

    def current_target() -> object:
        return target

    usual = tl.target_info.current_target
    current_target.__dict__["__triton_builtin__"] = True  # as that of Triton itself is marked
    tl.target_info.current_target = current_target
    try:
        yield
    finally:
        tl.target_info.current_target = usual


def attributes(job: Job) -> dict[tuple[int], list[list[object]]]:
    """What a launch tells Triton about each parameter, by its place. On AMD, that an array has less than 2 GiB: memory
    is then accessed by other instructions.
    """
    found: dict[tuple[int], list[list[object]]] = {}
    for place, name in enumerate(job.signature):
        if name in job.divisible:
            found.setdefault((place,), []).append(["tt.divisibility", 16])
        if name in job.pointers and job.target.startswith("hip"):
            found.setdefault((place,), []).append(["tt.pointer_range", 32])
    return found


def nvidia_figures(log: str) -> tuple[int, int]:
    """Registers of a thread, and bytes stored and loaded by spills."""
    return _sum(r"Used (\d+) registers", log), _sum(r"(\d+) bytes spill (?:stores|loads)", log)


def _amd(assembly: str) -> tuple[int, int, int]:
    """Vector registers of a lane, accumulation registers included; spilled registers of both kinds; vector ones."""
    patterns = (r"\.vgpr_count:\s+(\d+)", r"\.[vs]gpr_spill_count:\s+(\d+)", r"\.vgpr_spill_count:\s+(\d+)")
    registers, spills, vectors = (_sum(pattern, assembly) for pattern in patterns)
    return registers, spills, vectors


def _sum(pattern: str, text: str) -> int:
    return sum(map(int, re.findall(pattern, text)))


def _first_line(problem: Exception) -> str:
    lines = [line for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[-1].strip()}" if lines else type(problem).__name__


# ----------------------------------------------------------------------------------------------------- another process
def _measured_elsewhere(compilation: Compilation, targets: Iterable[str]) -> Iterator[Measurement]:
    """Triton may crash or hang on a variant: then the process is started anew for the variants that follow."""
    pending = jobs(compilation, targets)
    while pending:
        with _child(compilation.source or "", pending) as output:
            while pending:
                ready, _, _ = select.select([output], [], [], TIME_LIMIT)
                line = output.readline() if ready else ""
                job = pending.pop(0)
                if not line:
                    problem = "the compiler crashed" if ready else f"no result within {TIME_LIMIT:.0f} seconds"
                    yield Measurement(job.kernel, job.target, job.title, problem=problem)
                    break
                yield Measurement(**json.loads(line))


@contextlib.contextmanager
def _child(source: str, pending: Sequence[Job]) -> Iterator[IO[str]]:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    paths = [str(Path(__file__).resolve().parent.parent), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    process = subprocess.Popen(
        [sys.executable, "-m", "intentc.ahead_of_time"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(json.dumps({"source": source, "jobs": [asdict(job) for job in pending]}))
        process.stdin.close()
        yield process.stdout
    finally:
        process.kill()
        process.wait()


def _main() -> None:
    """The other process: a source and its jobs on standard input, a measurement a line on standard output."""
    replies = sys.stdout
    sys.stdout = sys.stderr
    request = json.load(sys.stdin)
    namespace = _imported(request["source"])
    for job in request["jobs"]:
        print(json.dumps(asdict(_measured(namespace, Job(**job)))), file=replies, flush=True)


if __name__ == "__main__":
    _main()

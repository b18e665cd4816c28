"""What `golden/` holds: for every file of `samples/`, and a few below it, the module for default options and its plan.

A file that is not lowered yet has no golden. Nothing under `golden/` is edited by hand: `make golden` rewrites it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from sample_files import ROOT, SAMPLES

from translators.pipeline import Compilation, compile_text
from translators.triton_source.launch import KernelCode, Tuning, Variant

GOLDEN = ROOT / "golden"
# Of the programs under `samples/npbench/`: recurrences, a stencil of stencils, a tridiagonal system, complex numbers.
SHOWN = ("deriche", "gemm", "hdiff", "mandelbrot1", "vadv")


def golden_files() -> Mapping[Path, str]:
    """What `golden/` should hold: path below it -> text."""
    files: dict[Path, str] = {}
    for path in (*sorted(SAMPLES.glob("*.py")), *(SAMPLES / "npbench" / f"{name}.py" for name in SHOWN)):
        compiled = compile_text(path.read_text(encoding="utf-8"), path.name)
        if compiled.source is not None:
            folder = path.relative_to(SAMPLES).with_suffix("")
            files[folder / "module.py"] = compiled.source
            files[folder / "plan.txt"] = plan_text(compiled)
    return files


def plan_text(compiled: Compilation) -> str:
    """The plan of every kernel: its stages, traffic, and how each variant is launched."""
    return "\n".join(line for code in compiled.codes for line in _kernel_lines(code))


def _kernel_lines(code: KernelCode) -> Iterator[str]:
    yield f"kernel {code.kernel.name}"
    yield from (f"    {stage}" for stage in code.stages)
    if code.traffic:
        yield f"traffic  {code.traffic}"
    yield f"overlap  {code.overlap}"
    yield f"covered  {', '.join(sorted(code.covered)) or 'nothing proven'}"
    yield from (f"requires {requirement.expression}" for requirement in code.requirements)
    yield from (f"scratch  {each.name}: {each.elements} of {each.dtype.name}" for each in code.scratch)
    for variant in code.variants:
        yield from _variant_lines(variant)
    yield from (f"note     {note.code} line {note.span.line}: {note.message}" for note in code.notes)
    yield ""


def _variant_lines(variant: Variant) -> Iterator[str]:
    yield f"variant  {variant.function} if {variant.condition or 'otherwise'}"
    if variant.plan:
        yield f"    plan   {variant.plan}"
    yield f"    grid   {variant.grid}"
    yield f"    blocks {', '.join(f'{name}={size}' for name, size in variant.constants) or 'none'}"
    yield f"    cuda   {_tuning(variant.cuda)}"
    yield f"    hip    {_tuning(variant.hip)}"


def _tuning(tuning: Tuning) -> str:
    return f"{tuning.warps} warps, {tuning.stages} stages"


def present_files() -> Mapping[Path, str]:
    """What `golden/` holds now; `round_trips` looks after what the modules lift to."""
    files = (path for path in sorted(GOLDEN.rglob("*")) if path.name in ("module.py", "plan.txt"))
    return {path.relative_to(GOLDEN): path.read_text(encoding="utf-8") for path in files}


def put(path: Path, text: str | None) -> None:
    """Write a file below `golden/`, or remove it."""
    if text is None:
        (GOLDEN / path).unlink()
        return
    (GOLDEN / path).parent.mkdir(parents=True, exist_ok=True)
    (GOLDEN / path).write_text(text, encoding="utf-8")

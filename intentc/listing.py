"""A compilation as text for people: the logical program's stages, the plan of each kernel, the notes."""

from __future__ import annotations

from collections.abc import Iterator

from intentc import render
from translators.pipeline import Compilation
from translators.triton_source.launch import KernelCode, Variant


def listing(compilation: Compilation, kind: str) -> str:
    """One kind of `--emit`, ending in a line end."""
    match kind:
        case "triton":
            return compilation.source or ""
        case "logical":
            lines = [line for code in compilation.codes for line in logical(code)]
        case "plan":
            lines = [line for code in compilation.codes for line in plan(code)]
        case _:
            lines = [render.concise(diagnostic) for diagnostic in compilation.diagnostics]
    return "".join(f"{line}\n" for line in lines)


def described(code: KernelCode) -> str:
    """What the kernel means and how it is launched, as `intentc explain FILE` prints it."""
    return "\n".join([*logical(code), "", *list(plan(code))[1:], ""])


def logical(code: KernelCode) -> Iterator[str]:
    """What the kernel means, a line for each stage."""
    yield f"kernel {code.kernel.name}"
    for stage in code.stages:
        yield f"    {stage}"


def plan(code: KernelCode) -> Iterator[str]:
    """How the kernel is launched, variant by variant."""
    yield f"kernel {code.kernel.name}"
    for variant in code.variants:
        yield from _variant(variant)
    for scratch in code.scratch:
        yield f"    scratch {scratch.name}: {scratch.elements} elements of {scratch.dtype.name}"
    for requirement in code.requirements:
        yield f"    requires {requirement.expression}"
    if code.traffic:
        yield f"    {code.traffic}"


def _variant(variant: Variant) -> Iterator[str]:
    condition = f"when {variant.condition}" if variant.condition else "otherwise"
    yield f"    {variant.function} ({condition}): {variant.grid} programs"
    if variant.plan:
        yield f"        {variant.plan}"
    if variant.constants:
        yield f"        {', '.join(f'{name} = {value}' for name, value in variant.constants)}"
    cuda, hip = variant.cuda, variant.hip
    yield f"        cuda: {cuda.warps} warps, {cuda.stages} stages; hip: {hip.warps} warps, {hip.stages} stages"

"""Compiling kernels from Python, and calling them: `intent.compile`, `intent.generate`, `intent.build`.

`import intent` loads none of this; the first use of one of these names does.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import PurePath
from typing import Any

from intent.host.artifacts import Artifact, PreparedCall
from intent.host.compilation import CompileOptions, Request, check, make_request, translate
from intent.host.contexts import Context
from intent.host.errors import CompileError, UnsupportedError
from intent.host.interface import Interface, Parameter
from intent.host.interpreter import interpreted
from intent.host.translation import Translation
from intent.host.triton_execution import TritonExecution
from intent.records import dataclass
from intent.targets import ReferenceTarget, Target, TritonTarget
from translators.diagnostics import NOWHERE, Diagnostic

__all__ = [
    "Artifact",
    "CompileError",
    "CompileOptions",
    "Context",
    "Interface",
    "Parameter",
    "PreparedCall",
    "Program",
    "UnsupportedError",
    "build",
    "compile",
    "generate",
]


@dataclass(frozen=True)
class Program:
    """A kernel's translation as text. Nothing is loaded or executed."""

    request: Request

    @cached_property
    def translation(self) -> Translation:
        return translate(self.request)

    @property
    def source(self) -> str:
        """The generated module, equal to what the command line writes for the kernel's file."""
        return self.translation.source

    @property
    def ir(self) -> str:
        """The kernel's logical program."""
        return self.translation.kernels[self.request.kernel].ir

    @property
    def interface(self) -> Interface:
        return self.translation.kernels[self.request.kernel].interface


def compile(
    kernel: object,
    target: Target | None = None,
    constexprs: Mapping[str, object] | None = None,
    options: CompileOptions | None = None,
    compiler: object = None,
) -> Artifact:
    """Compile a kernel for a target: the GPU that is present, or else the reference, if none is given.

    Nothing is launched. CompileError if the kernel breaks the language; UnsupportedError if it is legal and the
    compiler cannot handle it yet. `compiler` is accepted for compatibility and has no effect.
    """
    chosen = target if target is not None else present_target()
    notes = () if compiler is None else (ignored_compiler(),)
    match chosen:
        case ReferenceTarget():
            return _reference_artifact(make_request(kernel, constexprs, options, None), chosen, notes)
        case TritonTarget():
            return _triton_artifact(make_request(kernel, constexprs, options, chosen.architecture), chosen, notes)
        case _:
            message = "the target is intent.targets.TritonTarget(...) or intent.targets.ReferenceTarget()"
            raise TypeError(f"{message}, not {chosen!r}")


def generate(
    kernel: object,
    target: Target | None = None,
    constexprs: Mapping[str, object] | None = None,
    options: CompileOptions | None = None,
) -> Program:
    """Translate a kernel; `.source` is the module and `.ir` the logical program. Never touches a device."""
    architecture = target.architecture if isinstance(target, TritonTarget) else None
    program = Program(make_request(kernel, constexprs, options, architecture))
    _ = program.translation  # what is wrong with the kernel is said now
    return program


def build(
    function: Callable[[Context], Callable[..., Any]],
    target: Target | None = None,
    options: CompileOptions | None = None,
) -> Callable[..., Any]:
    """Call a file's `build(context)` for a target; what it returns calls the kernels it compiled."""
    return function(Context(compile, target if target is not None else present_target(), options))


def present_target() -> Target:
    """A GPU, or Triton's interpreter if TRITON_INTERPRET=1; the reference where there is neither."""
    if any(importlib.util.find_spec(package) is None for package in ("torch", "triton")):
        return ReferenceTarget()
    if interpreted():
        return TritonTarget()
    import torch

    return TritonTarget() if torch.cuda.is_available() else ReferenceTarget()


def _triton_artifact(request: Request, target: TritonTarget, notes: tuple[Diagnostic, ...]) -> Artifact:
    program = Program(request)
    translation = program.translation
    kernel = translation.kernels[request.kernel]
    execution = TritonExecution(kernel, translation.source, PurePath(request.path).stem, target)
    return Artifact(kernel.interface, target, execution, program, (*translation.diagnostics, *notes))


def _reference_artifact(request: Request, target: ReferenceTarget, notes: tuple[Diagnostic, ...]) -> Artifact:
    from intent.host.describe import interface
    from intent.host.reference_execution import ReferenceExecution

    kernel, diagnostics = check(request)
    execution = ReferenceExecution(interface(kernel), kernel)
    return Artifact(execution.interface, target, execution, Program(request), (*diagnostics, *notes))


def ignored_compiler() -> Diagnostic:
    return Diagnostic("INT960", "note", "compiler= has no effect: there is one compiler", NOWHERE)

"""From the logical program to device functions: `plan` is the compiler's middle."""

from __future__ import annotations

from translators.logical.program import Kernel, Program
from translators.options import Options
from translators.planning.kernels import plan_kernel
from translators.triton_source.launch import KernelCode


def plan(kernel: Kernel, program: Program, options: Options) -> KernelCode:
    """Plan one kernel. Raises `diagnostics.Rejected` (severity unsupported) for a legal kernel we cannot lower yet."""
    return plan_kernel(kernel, program, options)


__all__ = ["plan"]

"""Checks of a whole kernel: undefined reads of `Out` views, and conflicting writes of parallel points.

A kernel comes in as it was read, diagnostics go out. What is provably wrong is an error; what cannot be proven either
way is a note. Rules that one expression alone can break belong to the reader.
"""

from __future__ import annotations

from translators.diagnostics import Diagnostic
from translators.logical.conflicts import conflicts
from translators.logical.program import Kernel
from translators.logical.undefined import undefined_reads

__all__ = ["check", "conflicts", "undefined_reads"]


def check(kernel: Kernel) -> list[Diagnostic]:
    """Every finding, in source order."""
    found = [*undefined_reads(kernel), *conflicts(kernel)]
    return sorted(found, key=lambda diagnostic: (diagnostic.span.line, diagnostic.span.column))

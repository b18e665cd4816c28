"""Kernels that are legal but not lowered yet: the one place that says so.

A kernel listed here must be rejected as `unsupported` with this code; a kernel that is not must compile. The day a
construct is lowered, its entry fails and is removed.
"""

from __future__ import annotations

from collections.abc import Mapping

from intent.records import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    code: str
    reason: str


NOT_LOWERED_YET: Mapping[str, Gap] = {}

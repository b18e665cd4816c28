"""Targets, chosen by the host: plain data that says where a kernel is to run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TritonTarget:
    """A GPU reached through Triton: its ordinal, and its architecture (`cuda:90`), which is the device's if None."""

    device: int = 0
    architecture: str | None = None


@dataclass(frozen=True, slots=True)
class ReferenceTarget:
    """The CPU, through the reference evaluator: every legal program, no speed."""


Target = TritonTarget | ReferenceTarget

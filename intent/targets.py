"""Targets, chosen by the host: plain data that says where a kernel is to run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TritonTarget:
    """A GPU reached through Triton.

    `device` is the ordinal that all arrays must be on; None takes the device that they are on, and the current one for
    NumPy arrays. `architecture` restricts the generated module to one of its targets, such as `cuda:90`.
    """

    device: int | None = None
    architecture: str | None = None


@dataclass(frozen=True, slots=True)
class ReferenceTarget:
    """The CPU, through the reference evaluator: every legal program, on any machine, without speed."""


Target = TritonTarget | ReferenceTarget

"""What the user chooses about the generated module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from intent.records import dataclass, field

Arm = Literal["host", "device", "both"]


@dataclass(frozen=True, slots=True)
class ModuleOptions:
    """`arm` selects the public functions: NumPy in and out, device arrays in and out, or both. `host_runtime` is the
    module that what moves NumPy arrays is imported from; None if the module has it itself.

    `statements` maps a kernel's name to the text of a NumPy function that the self-check compares with. The function
    takes the kernel's In and InOut arrays, then its scalars, each in declaration order; it writes the InOut arrays in
    place and returns the outputs as the host wrapper does.
    """

    arm: Arm = "both"
    host_runtime: str | None = None
    targets: tuple[str, ...] = ("cuda:90", "cuda:80", "hip:gfx942")
    statements: Mapping[str, str] = field(default_factory=dict)


DEFAULT: Final = ModuleOptions()

"""What a compilation is asked for. Plain data, so that every stage may read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from intent.records import dataclass, field

Numerics = Literal["source", "relaxed_normalization"]
Arm = Literal["host", "device", "both"]

NUMERICS: Final[tuple[Numerics, ...]] = ("source", "relaxed_normalization")
ARMS: Final[tuple[Arm, ...]] = ("host", "device", "both")
TARGETS: Final = ("cuda:90", "cuda:80", "hip:gfx942")


@dataclass(frozen=True, slots=True)
class Options:
    """`constexprs` maps NAME, or KERNEL.NAME for one kernel only, to a bool, int, float or enum member's name.

    `numerics` grants the permissions of the language page, section 8; `targets` are those the module must serve; `arm`
    says which of the host (NumPy) and device functions the module has; `host_runtime` names the module that it imports
    what moves NumPy arrays from, None if it has that itself; `alone` says that the text is all there is: no file is
    looked for beside it.
    """

    constexprs: Mapping[str, object] = field(default_factory=dict)
    numerics: Numerics = "source"
    targets: tuple[str, ...] = TARGETS
    arm: Arm = "both"
    host_runtime: str | None = None
    alone: bool = False


DEFAULT: Final = Options()

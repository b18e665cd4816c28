"""What a kernel file calls `I`: dtypes, annotations, constants and intrinsics.

Every public name is generated from `intent.dtypes`, `intent.annotations` and the table `intent.intrinsics.INTRINSICS`.
Intrinsics are only meaningful inside a kernel that the compiler reads; calling one from Python raises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from intent.annotations import ConstexprForm, Enum, ViewForm, constraints, dtype
from intent.dtypes import BY_NAME
from intent.intrinsics import FORMATS as FORMATS
from intent.intrinsics import INTRINSICS as INTRINSICS
from intent.intrinsics import NAMESPACES as NAMESPACES
from intent.intrinsics import REQUIRED as REQUIRED
from intent.intrinsics import Format as Format
from intent.intrinsics import Intrinsic as Intrinsic
from intent.intrinsics import Parameter as Parameter

ANNOTATIONS: Final[Mapping[str, object]] = {
    "In": ViewForm("In"),
    "Out": ViewForm("Out"),
    "InOut": ViewForm("InOut"),
    "Constexpr": ConstexprForm(),
}
CONSTANTS: Final[Mapping[str, float]] = {"inf": math.inf, "LOG2E": math.log2(math.e)}


class Name:
    """A public intrinsic or namespace: callable if `path` is a row of the table, with members if it is a namespace."""

    def __init__(self, path: str) -> None:
        self.__name__ = self.path = path
        intrinsic = INTRINSICS.get(path)
        self.__doc__ = f"{intrinsic.signature}\n\n{intrinsic.doc}\nResult: {intrinsic.result}." if intrinsic else None

    def __call__(self, *_: object, **__: object) -> NoReturn:
        if self.path not in INTRINSICS:
            raise TypeError(f"I.{self.path} is a namespace; it has {_members(self.path)}")
        raise RuntimeError(
            f"I.{self.path} was called outside a kernel: intrinsics only mean something inside a function decorated "
            "with @intent.kernel or @intent.fn, which the compiler reads and Python does not run"
        )

    def __getattr__(self, member: str) -> object:
        path = f"{self.path}.{member}"
        if path in INTRINSICS:
            return Name(path)
        if path in FORMATS:
            return FORMATS[path]
        known = f"; it has {_members(self.path)}" if self.path in NAMESPACES else ""
        raise AttributeError(f"I.{self.path} has no member '{member}'{known}")

    def __repr__(self) -> str:
        return f"I.{self.path}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Name) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)


def _members(namespace: str) -> str:
    return ", ".join(path for path in (*INTRINSICS, *FORMATS) if path.startswith(f"{namespace}."))


def _public() -> dict[str, object]:
    names: dict[str, object] = {path: Name(path) for path in (*INTRINSICS, *NAMESPACES) if "." not in path}
    names.update({path: token for path, token in FORMATS.items() if "." not in path})
    return names | dict(BY_NAME) | dict(ANNOTATIONS) | dict(CONSTANTS)


__all__ = [*_public(), "Enum", "constraints", "dtype"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - where type checkers find the generated names
    raise AttributeError(f"the Intent language has no I.{name}")


# Last, because it rebinds `bool` and `abs` in this module.
globals().update(_public())

"""What an expression is spelled as."""

from __future__ import annotations

from intent.dtypes import DType
from intent.records import dataclass
from translators.intent_source.write import Text
from translators.tile.expression import Axis

Axes = tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Spelled:
    """An expression's text and its tensor axes, in order; no axes is a scalar."""

    text: Text
    axes: Axes = ()


def dtype_text(dtype: DType) -> str:
    return f"I.{dtype.name}"

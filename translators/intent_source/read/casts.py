"""The cast that an operation of two dtypes lacks, where it is plain which operand has to have the other's dtype."""

from __future__ import annotations

import ast
from typing import Final

from intent import dtypes
from intent.dtypes import DType
from intent.records import replace
from translators.diagnostics import Fix, Rejected
from translators.intent_source.read import codes
from translators.intent_source.read.operands import Operand
from translators.intent_source.read.scope import ModuleScope
from translators.logical.program import Value

_MIXED: Final = (codes.DTYPES_DIFFER, codes.INDEX_MIXED)

Parts = tuple[ast.expr | None, ast.expr | None]


def with_cast(scope: ModuleScope, rejected: Rejected, parts: Parts, values: tuple[Operand, Operand]) -> Rejected:
    """The same rejection; with the edit that casts one operand, if its dtypes are mixed and only one can be meant.

    `parts` are the operands' expressions, None where one has none of its own.
    """
    found = rejected.diagnostic
    left, right = values
    if found.code not in _MIXED or not isinstance(left, Value) or not isinstance(right, Value):
        return rejected
    meant = _meant(left.dtype, right.dtype)
    part = parts[0] if right.dtype == meant else parts[1]
    text = None if part is None else scope.source.text(part)
    if meant is None or part is None or text is None:
        return rejected
    fix = Fix(scope.source.span(part), f"{scope.language}.cast({text}, {scope.language}.{meant.name})")
    return Rejected(replace(found, fix=fix))


def _meant(left: DType, right: DType) -> DType | None:
    """A float beside an integer, index beside another integer; of two floats or two integers, either may be meant."""
    if left.is_float and right.is_integer:
        return left
    if right.is_float and left.is_integer:
        return right
    if left.is_integer and right.is_integer and dtypes.index in (left, right):
        return dtypes.index
    return None

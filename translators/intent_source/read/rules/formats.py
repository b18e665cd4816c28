"""Formats of encoded operands, as compile-time arguments."""

from __future__ import annotations

from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Format, Operand
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe


def format_path(builder: Builder, operand: Operand, allowed: tuple[str, ...]) -> str:
    """The path of a format that is one of `allowed`."""
    if not isinstance(operand, Format) or operand.path not in allowed:
        known = ", ".join(f"I.{path}" for path in allowed)
        builder.reject(codes.FORMAT, f"{describe(builder, operand)} is not a format here", f"the formats are {known}")
    return operand.path

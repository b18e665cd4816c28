"""Attributes of operands: `.shape`, `.dtype`, record fields, `.outer` of a ragged domain."""

from __future__ import annotations

from difflib import get_close_matches
from typing import NoReturn

from intent.records import replace
from translators.diagnostics import Fix
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import (
    EnumClass,
    EnumMember,
    Literal,
    Operand,
    Product,
    Ragged,
    ShapeOf,
    Text,
    Token,
)
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe, listed
from translators.logical.program import Value
from translators.logical.types import Buffer, Domain, View


def attribute(builder: Builder, base: Operand, name: str) -> Operand:
    match base, name:
        case ((View() | Buffer() | Value(is_scalar=False)), "shape"):
            return ShapeOf(tuple(builder.size(extent) for extent in base.shape))
        case ((View() | Buffer() | Value()), "dtype"):
            return Token(base.dtype)
        case Product(names=names), _ if names is not None:
            return _field(builder, base, name)
        case Ragged(), "outer" | "members" | "offsets":
            return {"outer": base.outer, "members": base.members, "offsets": base.offsets}[name]
        case EnumClass(members=members), _ if name in members:
            return members[name]
        case EnumMember(value=value), "value":
            return Text(value) if isinstance(value, str) else Literal(value)
        case EnumMember(), "name":
            return Text(base.name)
        case _:
            _reject_attribute(builder, base, name)


def _field(builder: Builder, record: Product, name: str) -> Operand:
    found = record.field(name)
    if found is None:
        names = list(record.names or ())
        close = get_close_matches(name, names, 2)
        help = f"did you mean `.{close[0]}`?" if close else f"it has {listed(names)}"
        end = replace(builder.span, line=builder.span.end_line, column=builder.span.end_column - len(name))
        fix = Fix(end, close[0]) if len(close) == 1 else None
        builder.reject(codes.COMPONENT, f"the record has no field `{name}`", help, fix)
    return found


def _reject_attribute(builder: Builder, base: Operand, name: str) -> NoReturn:
    what = describe(builder, base)
    if name == "shape":
        help = "take the shape of the tensor or view it came from"
        if isinstance(base, Domain):
            help = "the number of coordinates is I.end(domain) minus its start; a shape may name the domain itself"
        builder.reject(codes.SCALAR_HAS_NO_SHAPE, f"{what} has no .shape", help)
    if name == "T":
        builder.reject(codes.UNKNOWN_INTRINSIC, f"{what} has no attribute `T`", "write I.transpose(v)")
    builder.reject(codes.UNKNOWN_INTRINSIC, f"{what} has no attribute `{name}`", _known(base))


def _known(base: Operand) -> str | None:
    match base:
        case View() | Buffer() | Value(is_scalar=False):
            return "it has .shape and .dtype; functions are called as I.name(v)"
        case EnumClass(members=members):
            return f"it has {listed(list(members))}"
        case ShapeOf() | Product():
            return "components are taken by position: t[0]"
        case _:
            return None

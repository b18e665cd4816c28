"""Operands, extents and shapes in the author's words, for messages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from translators.algebra.polynomial import Atom, Extremum, Monomial, Polynomial, Quotient, Remainder
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import (
    EnumClass,
    EnumMember,
    Format,
    Function,
    IntrinsicName,
    Keyword,
    Literal,
    Operand,
    Product,
    Ragged,
    RaggedRow,
    ShapeOf,
    Slice,
    Text,
    Token,
)
from translators.logical.program import Value
from translators.logical.types import Buffer, Domain, View


def describe(builder: Builder, operand: Operand) -> str:
    """The operand as a noun phrase: "an f32 tensor [M, N]"."""
    match operand:
        case Value():
            return describe_value(builder, operand)
        case Literal(value=value):
            return f"the literal {value}"
        case Text(value=text):
            return f"the string {text!r}"
        case Keyword(name=name):
            return f"`{name}`"
        case View(name=name) | Buffer(name=name):
            return f"the {'view' if isinstance(operand, View) else 'buffer'} `{name}`"
        case Domain(parent=parent):
            return "a domain" if parent is None else "a subregion of a domain"
        case Product(names=names):
            return "a tuple" if names is None else "a record"
        case _:
            return _describe_static(operand)


def _describe_static(operand: Operand) -> str:
    match operand:
        case Token(dtype=dtype):
            return f"the dtype {dtype!r}"
        case Function(name=name):
            return f"the helper `{name}`"
        case IntrinsicName(path=path) | Format(path=path):
            return f"I.{path}"
        case EnumMember(enum=enum, name=name):
            return f"{enum}.{name}"
        case EnumClass(name=name):
            return f"the enum {name}"
        case ShapeOf():
            return "a shape"
        case Slice():
            return "a slice"
        case Ragged():
            return "a ragged domain"
        case RaggedRow():
            return "a row of a ragged domain"
        case _:
            return "this"


def describe_value(builder: Builder, value: Value) -> str:
    name = value.dtype.name
    article = "an" if name[0] in "if" and name != "i8" else "a"
    if value.is_scalar:
        return f"{article} {name} scalar"
    if not value.shape:
        return f"{article} {name} rank-zero tensor"
    return f"{article} {name} tensor {show_shape(builder, value.shape)}"


def show_shape(builder: Builder, shape: Sequence[Polynomial]) -> str:
    return f"[{', '.join(show_extent(builder, extent) for extent in shape)}]"


def show_extent(builder: Builder, extent: Polynomial) -> str:
    """The extent as the author would write it; a runtime value shows under the name it was last bound to."""
    try:
        return _show_sum(builder, extent)
    except _Unnamed:
        return "a runtime length"


class _Unnamed(Exception):
    """The extent contains a value that the author has not given a name."""


def _show_sum(builder: Builder, extent: Polynomial) -> str:
    if not extent.terms:
        return "0"
    text = ""
    for monomial, coefficient in sorted(extent.terms, key=lambda term: term[1] < 0 or term[0] == ()):
        term = _show_term(builder, monomial, abs(coefficient))
        joint = " - " if coefficient < 0 else " + "
        text = text + joint + term if text else f"{'-' if coefficient < 0 else ''}{term}"
    return text


def _show_term(builder: Builder, monomial: Monomial, coefficient: int) -> str:
    factors = [_show_atom(builder, atom) for atom in monomial]
    if coefficient != 1 or not factors:
        factors.insert(0, str(coefficient))
    if len(factors) == 1:
        return factors[0]
    return "*".join(f"({factor})" if "/" in factor or "%" in factor else factor for factor in factors)


def _show_atom(builder: Builder, atom: Atom) -> str:
    match atom:
        case Quotient(numerator=numerator, denominator=denominator):
            return f"{_show_operand(builder, numerator)} // {_show_operand(builder, denominator)}"
        case Remainder(numerator=numerator, denominator=denominator):
            return f"{_show_operand(builder, numerator)} % {_show_operand(builder, denominator)}"
        case Extremum(kind=kind, operands=operands):
            shown = [_show_sum(builder, each) for each in sorted(operands, key=lambda each: each.constant is not None)]
            return reduce(lambda inner, outer: f"I.{kind}({inner}, {outer})", shown)
        case Value() if atom not in builder.names:
            raise _Unnamed
        case Value():
            return builder.names[atom]
        case _:
            return repr(atom)


def _show_operand(builder: Builder, operand: Polynomial) -> str:
    """In parentheses unless it is one name or number."""
    text = _show_sum(builder, operand)
    return text if text.isalnum() or text.isidentifier() else f"({text})"


def show_axes(count: int) -> str:
    """`1 axis`, `2 axes`."""
    return f"{count} {'axis' if count == 1 else 'axes'}"


def listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

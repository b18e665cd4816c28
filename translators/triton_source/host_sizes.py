"""Size expressions as the host's Python: grids, conditions, requirements."""

from __future__ import annotations

from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Polynomial,
    Quotient,
    Remainder,
    Symbol,
)
from translators.tile.expression import Expression
from translators.triton_source.expressions import Code, binary, call, unary
from translators.triton_source.names import LaunchNames


def size_code(value: Polynomial, names: LaunchNames) -> Code:
    """A polynomial over symbols and runtime scalars, as the launcher's locals."""
    constant = value.constant
    if constant is not None:
        return Code(str(constant), value=constant)
    total: Code | None = None
    for monomial, coefficient in sorted(value.terms, key=lambda term: (not term[0], term[1] < 0)):
        factors = [_atom(atom, names) for atom in monomial]
        if abs(coefficient) != 1 or not factors:
            factors.append(Code(str(abs(coefficient))))
        term = factors[0]
        for factor in factors[1:]:
            term = binary("*", term, factor)
        if total is None:
            total = term if coefficient > 0 else unary("-", term)
        else:
            total = binary("+" if coefficient > 0 else "-", total, term)
    assert total is not None
    return total


def blocks_code(extent: Polynomial, block: int | None, names: LaunchNames, nonnegative: bool) -> Code:
    """Number of tiles of an axis: its extent over the block, rounded up, and never negative."""
    if block is not None and extent.constant is not None:
        count = max(-(-extent.constant // block), 0)
        return Code(str(count), value=count)
    code = size_code(extent, names)
    if not nonnegative:
        code = call("max", code, Code("0"))
    return code if block in (None, 1) else call("triton.cdiv", code, Code(str(block)))


def _atom(atom: Atom, names: LaunchNames) -> Code:
    match atom:
        case Symbol(name=name):
            return Code(names.sizes[name])
        case Expression(operation="parameter", attribute=str() as name):
            return Code(names.parameters[name])
        case Quotient(numerator=top, denominator=bottom):
            return binary("//", size_code(top, names), size_code(bottom, names))
        case Remainder(numerator=top, denominator=bottom):
            return binary("%", size_code(top, names), size_code(bottom, names))
        case Extremum(kind=kind, operands=operands):
            return call("min" if kind == "minimum" else "max", *(size_code(operand, names) for operand in operands))
        case _:
            raise AssertionError(f"the host does not know {atom!r}")

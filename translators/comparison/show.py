"""Canonical terms as text, for reports: close to what an author would write, with i, j, k for coordinates."""

from __future__ import annotations

from translators.algebra.polynomial import Extremum, Polynomial, Quotient, Remainder, Symbol
from translators.comparison.terms import Term

INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "less": "<", "less_equal": "<=", "equal": "==",
    "and": "and", "or": "or", "xor": "^", "floor_divide": "//", "remainder": "%", "shift_left": "<<",
    "shift_right": ">>",
}  # fmt: skip
LETTERS = "ijklmnpqrst"
LONGEST = 160


def text(term: Term, depth: int = 12) -> str:
    """One line."""
    if depth == 0:
        return "…"
    inner = [text(operand, depth - 1) for operand in term.operands] if term.operation != "integer" else []
    match term.operation:
        case "integer":
            return polynomial(term.polynomial, depth)
        case "constant":
            return repr(term.detail[0])
        case "scalar" | "argument":
            return str(term.detail[0])
        case "bound" | "variable":
            return _coordinate(term)
        case "pointwise":
            return _pointwise(term.function, inner)
        case "load":
            return _load(term, inner)
        case "cast" | "bitcast":
            return f"{term.operation}({inner[0]}, {term.dtype.name})"
        case "reduce":
            return _reduce(term, inner)
        case "effect":
            return _effect(term, inner)
        case operation:
            return f"{operation}({', '.join(inner)})"


def short(term: Term) -> str:
    made = text(term)
    return made if len(made) <= LONGEST else f"{made[: LONGEST - 1]}…"


def _coordinate(term: Term) -> str:
    number = term.detail[0]
    return LETTERS[(number - 1) % len(LETTERS)] if isinstance(number, int) else str(number)


def _pointwise(function: str, inner: list[str]) -> str:
    if function in INFIX and len(inner) > 1:
        return f"({f' {INFIX[function]} '.join(inner)})"
    if function == "negative":
        return f"-{inner[0]}"
    return f"{function}({', '.join(inner)})"


def _load(term: Term, inner: list[str]) -> str:
    rank = term.detail[1]
    assert isinstance(rank, int)
    state = "" if term.detail[3] == "as given" else f" ({term.detail[3]})"
    return f"{term.detail[0]}[{', '.join(inner[:rank])}]{state}"


def _reduce(term: Term, inner: list[str]) -> str:
    count, height = term.detail[-2:]
    assert isinstance(count, int) and isinstance(height, int)
    names = [LETTERS[(height - count + position) % len(LETTERS)] for position in range(count)]
    ranges = ", ".join(f"{name} < {extent}" for name, extent in zip(names, inner[:count], strict=True))
    return f"{term.detail[0]}({', '.join(inner[count:])} for {ranges})"


def _effect(term: Term, inner: list[str]) -> str:
    count, height = term.detail[-2:]
    rank = term.detail[3]
    assert isinstance(count, int) and isinstance(height, int) and isinstance(rank, int)
    names = [LETTERS[(height - count + position) % len(LETTERS)] for position in range(count)]
    ranges = ", ".join(f"{name} < {extent}" for name, extent in zip(names, inner[:count], strict=True))
    *_, condition, value = inner
    where = f"{term.detail[0]}[{', '.join(inner[count : count + rank])}]"
    guard = f" if {condition}" if term.operands[-2].truth is None else ""
    action = "=" if term.detail[1] == "store" else f"<- {term.detail[1]}"
    return f"{where} {action} {value}{f' for {ranges}' if ranges else ''}{guard}"


def polynomial(value: Polynomial, depth: int = 12) -> str:
    parts = []
    for monomial, factor in value.terms:
        factors = [_atom(atom, depth - 1) for atom in monomial]
        if abs(factor) != 1 or not factors:
            factors.insert(0, str(abs(factor)))
        parts.append((factor < 0, "*".join(factors)))
    if not parts:
        return "0"
    parts.sort(key=lambda part: part[0])
    head = f"-{parts[0][1]}" if parts[0][0] else parts[0][1]
    return head + "".join(f" {'-' if negative else '+'} {said}" for negative, said in parts[1:])


def _atom(atom: object, depth: int) -> str:
    match atom:
        case Term():
            return text(atom, max(depth, 0))
        case Symbol(name):
            return name
        case Quotient(top, bottom):
            return f"(({polynomial(top, depth)}) // ({polynomial(bottom, depth)}))"
        case Remainder(top, bottom):
            return f"(({polynomial(top, depth)}) % ({polynomial(bottom, depth)}))"
        case Extremum(kind, operands):
            return f"{kind}({', '.join(polynomial(each, depth) for each in operands)})"
        case _:
            return str(atom)

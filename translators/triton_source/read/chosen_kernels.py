"""Names by which host code launches one kernel or another, and what conditions said where each of them was chosen."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

from intent.records import dataclass, replace
from translators.algebra.polynomial import Polynomial, Symbol
from translators.triton_source.read import conditions
from translators.triton_source.read.values import Function


@dataclass(frozen=True, slots=True)
class ChosenKernel:
    """`guards` are not negative where this kernel is launched by the name."""

    kernel: Function
    guards: conditions.Facts


Chosen = tuple[ChosenKernel, ...]


def chosen_kernels(
    value: ast.expr,
    kernel: Callable[[str], Function | None],
    known: Mapping[str, Chosen],
    number: conditions.Number,
    guards: conditions.Facts,
) -> Chosen:
    """The kernels that an expression may be; none if it may be anything else."""
    match value:
        case ast.Name(id=name) if name in known:
            return tuple(_under(each, guards) for each in known[name])
        case ast.Name(id=name):
            found = kernel(name)
            return () if found is None else (ChosenKernel(found, guards),)
        case ast.IfExp(test=test, body=true, orelse=false):
            holds, fails = conditions.known(test, number)
            first = chosen_kernels(true, kernel, known, number, guards + holds)
            second = chosen_kernels(false, kernel, known, number, guards + fails)
            return (*first, *second) if first and second else ()
        case _:
            return ()


def _under(chosen: ChosenKernel, guards: conditions.Facts) -> ChosenKernel:
    return replace(chosen, guards=tuple(dict.fromkeys((*chosen.guards, *guards))))


def merged(one: Mapping[str, Chosen], other: Mapping[str, Chosen]) -> dict[str, Chosen]:
    """After either of two ways: a name that only one of them gives a value is used after that one."""
    return {name: tuple(dict.fromkeys((*one.get(name, ()), *other.get(name, ())))) for name in {**one, **other}}


def numbers(guards: Iterable[Polynomial]) -> Iterator[tuple[str, int]]:
    """The sizes that these say are one number."""
    known = tuple(guards)
    for guard in known:
        size = (guard - guard.offset).atom
        if isinstance(size, Symbol) and -guard in known:
            yield size.name, -guard.offset

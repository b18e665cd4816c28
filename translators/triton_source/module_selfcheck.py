"""The self-check that `python module.py` runs: random inputs with tails, poisoned outputs, every case twice."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence, Set

from translators.logical.program import ScalarParameter
from translators.triton_source.launch import KernelCode
from translators.triton_source.module_kernels import symbols
from translators.triton_source.module_layout import collection, string
from translators.triton_source.module_names import KernelNames
from translators.triton_source.module_options import ModuleOptions
from translators.triton_source.module_runtime import select
from translators.triton_source.selfcheck_runtime import SELF_CHECK

# Odd sizes have tails, ones are the smallest case, multiples of 16 take the aligned form.
_WISHES = ((37, 5, 3, 2, 7), (1, 1, 1, 1, 1), (64, 16, 32, 16, 16))
_OTHERS = (37, 64, 16, 5, 130, 1)


def self_check(
    pairs: Sequence[tuple[KernelCode, KernelNames]], options: ModuleOptions, features: Set[str]
) -> list[str]:
    """The NumPy statements, the table of cases and the check; nothing if no size fits a kernel's requirements."""
    stated = [code.kernel.name for code, _ in pairs if code.kernel.name in options.statements]
    texts = [
        _statement(options.statements[code.kernel.name], names) for code, names in pairs if code.kernel.name in stated
    ]
    rows = [row for code, names in pairs for row in _rows(code, names, code.kernel.name in stated, bool(stated))]
    if not rows:
        return []
    cases = collection("_CASES = (", rows)
    return [*texts, cases, select(SELF_CHECK, {*features, *(["statement"] if stated else [])})]


def _statement(text: str, names: KernelNames) -> str:
    """The author's function under a name of its own."""
    found = re.search(r"^def (\w+)", text, re.MULTILINE)
    return re.sub(rf"\b{found.group(1)}\b(?=\()", names.statement, text).strip("\n") if found else text


def _rows(code: KernelCode, names: KernelNames, stated: bool, any_stated: bool) -> Iterator[str]:
    for sizes in cases(code, names):
        entries = [f"{string(name)}: {size}" for name, size in sizes.items()]
        statement = [names.statement if stated else "None"] if any_stated else []
        yield f"({', '.join([names.declaration, *statement, collection('{', entries, '}')])})"


def cases(code: KernelCode, names: KernelNames) -> list[dict[str, int]]:
    """Up to three assignments of sizes that meet the kernel's requirements."""
    sizes = [names.launch.sizes[symbol] for symbol in symbols(code)]
    wishes = (
        dict(zip(sizes, reversed(wish[: len(sizes)]), strict=True)) for wish in _WISHES if len(sizes) <= len(wish)
    )
    scalars = {names.launch.parameters[scalar.name]: _scalar(scalar) for scalar in code.kernel.scalars}
    found = [wish for wish in wishes if meets_requirements(code, {**scalars, **wish})]
    if len(found) < 2:
        others = (other for other in _others(sizes) if meets_requirements(code, {**scalars, **other}))
        found += itertools.islice(others, 2)
    return [case for place, case in enumerate(found) if case not in found[:place]]


def _others(sizes: Sequence[str]) -> Iterator[dict[str, int]]:
    combinations = itertools.islice(itertools.product(_OTHERS, repeat=len(sizes)), 2000)
    return (dict(zip(sizes, values, strict=True)) for values in combinations)


def _scalar(scalar: ScalarParameter) -> float | bool | int:
    """What the check passes for it."""
    return 0.75 if scalar.dtype.is_float else scalar.dtype.kind == "bool" or 1


def meets_requirements(code: KernelCode, values: Mapping[str, float]) -> bool:
    """Requirements are arithmetic over sizes and scalars that the planner printed."""
    known = {"__builtins__": {"min": min, "max": max, "abs": abs}, "triton": _Division}
    return all(bool(eval(fact.expression, known, dict(values))) for fact in code.requirements)


class _Division:
    """What requirements may use of triton's namespace."""

    @staticmethod
    def cdiv(numerator: int, denominator: int) -> int:
        return -(-numerator // denominator)

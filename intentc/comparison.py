"""The two sides of a comparison, kernel by kernel: which kernels of two files belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from intent.records import dataclass
from intentc.failure import UsageError
from intentc.inputs import read_inputs
from translators.comparison.sides import NoSide, Side, read_sides
from translators.comparison.verdict import Verdict, compare

if TYPE_CHECKING:
    from intentc.comparison_runs import Runs


@dataclass(frozen=True, slots=True)
class NamedKernel:
    """A file, and the kernel in it that is meant (None: all that it holds)."""

    path: str
    kernel: str | None


@dataclass(frozen=True, slots=True)
class Given:
    """What both sides are read with: values of compile-time parameters, and whether the texts stand alone."""

    constants: Mapping[str, object]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """Two kernels and what came of comparing them; a side is None if there is no program to compare."""

    verdict: Verdict
    first_name: str
    second_name: str
    first: Side | None = None
    second: Side | None = None
    runs: Runs | None = None


def named(argument: str) -> NamedKernel:
    """`FILE` or `FILE:KERNEL`."""
    path, colon, kernel = argument.rpartition(":")
    if colon and kernel.isidentifier() and not Path(argument).exists():
        return NamedKernel(path, kernel)
    return NamedKernel(argument, None)


def compare_files(
    first: NamedKernel, second: NamedKernel, constants: Mapping[str, object], run: bool
) -> list[Compared]:
    """One result for each pair of kernels. UsageError if it is not clear which kernels are meant."""
    return compare_texts(first, second, [_text(wanted) for wanted in (first, second)], Given(constants), run)


def compare_texts(
    first: NamedKernel, second: NamedKernel, texts: Sequence[str], given: Given, run: bool = False
) -> list[Compared]:
    """As `compare_files`, of two texts; the paths only name them."""
    try:
        ones, others = (
            _distinct(_sides(text, wanted, given)) for text, wanted in zip(texts, (first, second), strict=True)
        )
    except NoSide as found:
        verdict = Verdict("could not tell", found.reason)
        return [Compared(verdict, first.kernel or first.path, second.kernel or second.path)]
    return [_compared(pair, run, texts, given.constants) for pair in _pairs(ones, others, second)]


def _text(wanted: NamedKernel) -> str:
    inputs, diagnostics = read_inputs([wanted.path], "stdin.py")
    if diagnostics:
        raise UsageError(f"{wanted.path}: {diagnostics[0].message}")
    return inputs[0].text


def _sides(text: str, wanted: NamedKernel, given: Given) -> list[Side]:
    found = read_sides(text, wanted.path, wanted.kernel, given.constants, given.alone)
    if not found:
        said = f"no kernel '{wanted.kernel}'" if wanted.kernel is not None else "no kernel"
        raise UsageError(f"{wanted.path} has {said}")
    return found


def _distinct(sides: Sequence[Side]) -> list[Side]:
    """Without the variants of one program, such as one that keeps a row on chip and one that does not."""
    kept: list[Side] = []
    for side in sides:
        if side.origin is None or not any(compare(each, side).answer == "same" for each in kept):
            kept.append(side)
    return kept


def _pairs(ones: Sequence[Side], others: Sequence[Side], second: NamedKernel) -> list[tuple[Side, Side]]:
    """By name if the names are the same, else in order."""
    if len(ones) != len(others):
        raise UsageError(
            f"{len(ones)} kernels against {len(others)}: name those that are meant, as in {second.path}:NAME"
        )
    named = {side.name: side for side in others}
    if named.keys() == {side.name for side in ones}:
        return [(side, named[side.name]) for side in ones]
    return list(zip(ones, others, strict=True))


def _compared(pair: tuple[Side, Side], run: bool, texts: Sequence[str], constants: Mapping[str, object]) -> Compared:
    first, second = pair
    runs = None
    if run:
        from intentc.comparison_runs import run_both

        runs = run_both(first, second, texts, constants)
    return Compared(compare(first, second), first.name, second.name, first, second, runs)


def status(results: Sequence[Compared]) -> int:
    """The exit status of a comparison. Of several pairs of kernels: different before could not tell before same."""
    answers = {result.verdict.answer for result in results}
    if "different" in answers or any(result.runs is not None and result.runs.disagrees for result in results):
        return 1
    return 4 if "could not tell" in answers else 0

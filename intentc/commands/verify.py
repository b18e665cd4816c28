"""`intentc verify`: compare a kernel with its reference over shapes, layouts, special values and program orders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import typer

from intent.records import dataclass
from intentc import settings, trials
from intentc.differential import permuted_programs
from intentc.index_roles import depends_on_data
from intentc.kernel_inputs import Arguments, make_inputs, strided, sweep, with_specials
from intentc.trials import Trial
from translators.logical.program import Kernel
from translators.logical.reference import Argument
from translators.options import Options


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call to compare."""

    title: str
    sizes: Mapping[str, int]
    arguments: Arguments
    permuted: bool = False


def verify_command(
    target: trials.Target,
    cpu: trials.Cpu = False,
    shape: trials.Shapes = None,
    scalar: trials.Scalars = None,
    seed: trials.Seed = 0,
    constexpr: settings.Constexprs = None,
    numerics: settings.NumericsMode = None,
) -> None:
    """Compare a kernel with its reference over many shapes.

    Sizes with tails, multiples of 16, ones and zeros; arrays of other strides; NaN and infinities; and, in the
    interpreter, the programs of each launch in another order. --shape fixes a size in all of them. Arrays that the
    file's FINITE = ["x", ...] names hold neither NaN nor infinities.
    """
    options: Options = settings.make_options(constexpr, None, numerics, "both")
    found = trials.trials(target, options, cpu)
    sizes, scalars = trials.parse_shapes(shape or (), found), trials.parse_scalars(scalar or (), found)
    agrees = [_verify(each, attempt) for each in found for attempt in attempts(each, sizes, scalars, seed)]
    if not all(agrees):
        raise typer.Exit(1)


def _verify(trial: Trial, attempt: Attempt) -> bool:
    around: AbstractContextManager[None] = permuted_programs() if attempt.permuted else nullcontext()
    try:
        outcome = trial.compare(attempt.arguments, attempt.sizes, around)
    except ValueError as refused:  # sizes that the kernel's plan does not serve
        outcome = str(refused)
    sizes = ", ".join(f"{name}={size}" for name, size in attempt.sizes.items())
    if isinstance(outcome, str):
        print(f"{trial.kernel.name}({sizes}) {attempt.title}: skipped, {outcome}")
        return True
    wrong = [str(difference) for difference in outcome if not difference.agrees]
    print(f"{trial.kernel.name}({sizes}) {attempt.title}: {'; '.join(wrong) or 'agrees'}")
    return not wrong


def attempts(
    trial: Trial, given: Mapping[str, int], scalars: Mapping[str, bool | int | float], seed: int
) -> Iterator[Attempt]:
    """The calls to compare, simplest first."""
    kernel, sizes = trial.kernel, trial.sizes(given, scalars, seed)
    for each in _sweep(kernel, sizes, given):
        yield Attempt("contiguous", each, make_inputs(kernel, each, seed, scalars))
    inputs = make_inputs(kernel, sizes, seed, scalars)
    yield Attempt("strided", sizes, {name: _strided(value) for name, value in inputs.items()})
    if not depends_on_data(kernel):
        yield Attempt("with NaN and infinities", sizes, with_specials(kernel, inputs, seed, trial.finite))
    if os.environ.get("TRITON_INTERPRET") == "1":
        yield Attempt("programs in another order", sizes, inputs, permuted=True)


def _sweep(kernel: Kernel, first: dict[str, int], given: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """The sweep with some sizes fixed, each combination once."""
    seen: list[dict[str, int]] = []
    for sizes in sweep(kernel, first):
        fixed = sizes | {name: given[name] for name in sizes if name in given}
        if fixed not in seen:
            seen.append(fixed)
            yield fixed


def _strided(value: Argument) -> Argument:
    return strided(value) if isinstance(value, np.ndarray) else value

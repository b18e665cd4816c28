"""`intentc run`: call each kernel of a file once on random inputs and compare with the reference."""

from __future__ import annotations

from collections.abc import Mapping

import typer

from intentc import settings, trials
from intentc.kernel_inputs import make_inputs
from intentc.trials import Trial


def run_command(
    target: trials.Target,
    cpu: trials.Cpu = False,
    shape: trials.Shapes = None,
    scalar: trials.Scalars = None,
    seed: trials.Seed = 0,
    constexpr: settings.Constexprs = None,
    numerics: settings.NumericsMode = None,
) -> None:
    """Run a kernel once on random inputs and compare with the reference.

    The kernel runs as the generated module, on the GPU or with --cpu in Triton's interpreter. The exit status is 1 if
    an output differs by more than rounding explains.
    """
    options = settings.make_options(constexpr, None, numerics, "both")
    found = trials.trials(target, options, cpu)
    sizes, scalars = trials.parse_shapes(shape or (), found), trials.parse_scalars(scalar or (), found)
    agrees = [_run(each, sizes, scalars, seed) for each in found]
    if not all(agrees):
        raise typer.Exit(1)


def _run(trial: Trial, given: Mapping[str, int], scalars: Mapping[str, bool | int | float], seed: int) -> bool:
    kernel = trial.kernel
    sizes = trial.sizes(given, scalars, seed)
    print(f"{kernel.name}({', '.join(f'{name}={size}' for name, size in sizes.items())})")
    outcome = trial.compare(make_inputs(kernel, sizes, seed, scalars), sizes)
    if isinstance(outcome, str):
        print(f"  {outcome}")
        return False
    for difference in outcome:
        print(f"  {difference}")
    return all(difference.agrees for difference in outcome)

"""`intentc bench`: what each kernel of a file costs on this machine, part by part, and what bounds it."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Annotated, Any

import typer

from intentc import settings, trials
from intentc.failure import UsageError
from intentc.kernel_inputs import symbols
from intentc.render import concise, say


def bench_command(
    target: trials.Target,
    shape: trials.Shapes = None,
    scalar: trials.Scalars = None,
    constexpr: settings.Constexprs = None,
    numerics: settings.NumericsMode = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure a kernel on the GPU, and what bounds it.

    The whole call with NumPy arrays and each part of it.

    Without --shape, arrays have about 2**24 elements. The floor is what the bytes take at the rate of a copy that is
    measured in the same run. Without a GPU nothing can be measured: the exit status is 2.
    """
    options = settings.make_options(constexpr, None, numerics, "both")
    compilation, chosen = trials.compiled(target, options)
    notes = [each for each in compilation.diagnostics if each.severity == "note"]
    if not _has_device():
        for each in notes:
            say(concise(each))
        raise UsageError(
            "no GPU was found: times of calls, transfers, launch, kernel and compilation cannot be measured here; "
            f"`intentc compile --aot {target.partition(':')[0]}` shows registers and shared memory without one"
        )
    with tempfile.TemporaryDirectory() as folder:  # what is compiled is compiled now
        os.environ["TRITON_CACHE_DIR"] = folder
        from intentc.differential import load_module
        from intentc.judgement import judge, large_sizes

        assert compilation.source is not None
        module = load_module(compilation.source)
        known = [trials.Trial(code, getattr(module, names.public.host_out or "")) for code, names in chosen]
        sizes, scalars = trials.parse_shapes(shape or (), known), trials.parse_scalars(scalar or (), known)
        judged = [
            judge(code, names, module, _sizes(large_sizes(code.kernel.views, symbols(code.kernel)), sizes), scalars)
            for code, names in chosen
        ]
    if as_json:
        data: dict[str, Any] = {"kernels": [each.as_data() for each in judged], "notes": list(map(concise, notes))}
        print(json.dumps(data, indent=2))
        return
    print("\n".join(line for each in judged for line in each.lines()))
    for each in notes:
        print(concise(each))


def _sizes(chosen: dict[str, int], given: dict[str, int]) -> dict[str, int]:
    return {name: given.get(name, size) for name, size in chosen.items()}


def _has_device() -> bool:
    if os.environ.get("TRITON_INTERPRET") == "1":
        return True
    import torch

    return bool(torch.cuda.is_available())

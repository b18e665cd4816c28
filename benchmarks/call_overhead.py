"""What a call costs on the host: generated modules and artifacts against the bare launch of a compiled kernel.

    python -m benchmarks.call_overhead --modules build/bench [--output FILE]     needs a GPU, torch and triton
    python -m benchmarks.call_overhead --artifacts [--output FILE]               and the compiler with what it needs

Kernels so small that the device waits for the host, in batches between two synchronisations; medians of batches. The
bare launch is Triton's compiled kernel with its arguments ready, the least that any caller can do. Modules are those
that `benchmarks.generate` writes. With TRITON_INTERPRET=1 it is a trial without a device; its figures mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "tests"):
    sys.path.insert(0, str(folder))

from benchmarks.measure import load  # noqa: E402

TRIAL = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cpu" if TRIAL else "cuda"
BATCH, BATCHES = (2, 1) if TRIAL else (200, 25)
Calls = Mapping[str, Callable[[], object]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=Path, help="a folder that benchmarks.generate has written")
    parser.add_argument("--artifacts", action="store_true", help="measure what `import intent` offers")
    parser.add_argument("--output", type=Path, help="a file for the figures, as JSON")
    options = parser.parse_args()
    found: dict[str, Any] = {"machine": _machine(), "unit": "microseconds of host time per call"}
    if options.modules:
        found |= {title: figures(title, calls) for title, calls in module_calls(options.modules)}
    if options.artifacts:
        found |= {title: figures(title, calls) for title, calls in artifact_calls()}
    if options.output:
        options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _machine() -> dict[str, str]:
    import triton

    device = "CPU" if TRIAL else torch.cuda.get_device_name()
    return {"device": device, "torch": torch.__version__, "triton": triton.__version__}


# ----------------------------------------------------------------------------------------------------------- measuring
def figures(title: str, calls: Calls) -> dict[str, float]:
    print(title)
    found = {}
    for name, call in calls.items():
        found[name] = round(microseconds(call), 2)
        print(f"    {name:<36}{found[name]:8.2f} us", flush=True)
    return found


def microseconds(call: Callable[[], object]) -> float:
    """The median time of one call, synchronisation of a whole batch left out."""
    for _ in range(BATCH):
        call()
    times = []
    for _ in range(BATCHES):
        synchronize()
        start = time.perf_counter()
        for _ in range(BATCH):
            call()
        times.append((time.perf_counter() - start) / BATCH * 1e6)
    synchronize()
    return statistics.median(times)


def synchronize() -> None:
    if not TRIAL:
        torch.cuda.synchronize()


# ------------------------------------------------------------------------------------------------------------- modules
def module_calls(folder: Path) -> list[tuple[str, Calls]]:
    """Two, three and five arrays; no scalar, two and one."""
    wide, other = (torch.rand(16, 256, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    square, flat = wide.float(), torch.rand(4096, device=DEVICE)
    cumsum, gelu, norm = (load(folder / f"{name}.py") for name in ("cumsum", "pointwise_gelu", "add_rms_norm"))
    summands = (wide, other, wide[0].clone(), 1e-6)
    return [
        ("cumsum: two arrays", _calls(cumsum, "cumsum", (square,), _alike(square))),
        ("pointwise_gelu: three arrays, two scalars",
         _calls(gelu, "pointwise_gelu", (flat, flat.clone(), 1.5, 0.5), _alike(flat))),
        ("add_rms_norm: five arrays, a scalar", _calls(norm, "add_rms_norm", summands, _alike(wide, other))),
    ]  # fmt: skip


def _alike(*arrays: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(map(torch.empty_like, arrays))


def _calls(module: ModuleType, name: str, inputs: tuple[Any, ...], outputs: tuple[torch.Tensor, ...]) -> Calls:
    """The module's device functions beside launches by other ways, and the parts of which a call consists."""
    writing, allocating = getattr(module, f"{name}_device_out"), getattr(module, f"{name}_device")
    kernel, programs, views, others, options = _launched(module, lambda: writing(*inputs, *outputs))
    (form,) = module._REPEATS
    repeat, declared = module._REPEATS[form], getattr(module, f"_{name.upper()}")
    arrays = [each for each in (*inputs, *outputs) if isinstance(each, torch.Tensor)]
    scalars = [each for each in inputs if not isinstance(each, torch.Tensor)]
    addresses = [each.data_ptr() for each in arrays]
    again = (arrays, addresses, scalars) if hasattr(module, "_scalars") else (arrays, addresses)
    calls: dict[str, Callable[[], object]] = {
        "the device function": lambda: writing(*inputs, *outputs),
        "and it allocates the outputs": lambda: allocating(*inputs),
        "Triton's own launch": lambda: kernel[(programs,)](*views, *others, **options),
        "torch.empty alone": lambda: torch.empty(arrays[-1].shape, dtype=arrays[-1].dtype, device=arrays[-1].device),
        "part: the form": lambda: module._form(declared, arrays, {}),
        "part: overlaps": lambda: module._overlap(repeat, addresses),
        "part: the launch": lambda: repeat.launch(*again),
    }
    if scalars:
        calls["part: scalars"] = lambda: module._scalars(declared, scalars)
    return calls if TRIAL else {**_bare(kernel, programs, views, others, options), **calls}


def _launched(module: ModuleType, call: Callable[[], object]) -> tuple[Any, ...]:
    """What such a call launches if none was made before: device function, programs, views, other arguments, options."""
    seen: list[tuple[Any, ...]] = []
    start, module._REPEATS = module._start, {}
    module._start = lambda *launched: (seen.append(launched), start(*launched))[1]
    call()
    module._start = start
    (launched,) = seen
    return launched


def _bare(kernel: Any, programs: int, views: Sequence[Any], others: Sequence[Any], options: dict[str, Any]) -> Calls:  # noqa: ANN401
    compiled = kernel.warmup(*views, *others, grid=(programs,), **options)[(programs, 1, 1)]
    rest = (*others, *(options[name] for name in kernel.arg_names[len(views) + len(others) :]))
    every, addresses = [*views, *rest], [*(each.data_ptr() for each in views), *rest]
    stream = torch.cuda.current_stream().cuda_stream
    return {
        "bare launch": lambda: compiled(*addresses, stream=stream),
        "bare launch, stream looked up": lambda: compiled(*addresses),
        "bare launch of tensors": lambda: compiled(*every),
    }


# ----------------------------------------------------------------------------------------------------------- artifacts
def artifact_calls() -> list[tuple[str, Calls]]:
    """Two, three and five arrays; a scalar, none and one."""
    import host_kernels as kernels

    import intent

    x, out, state, more = (torch.rand(64, 64, device=DEVICE) for _ in range(4))
    flat, result = x.flatten(), torch.empty(4096, device=DEVICE)
    scale, accumulate = intent.compile(kernels.scale), intent.compile(kernels.accumulate)
    normalize = intent.compile(kernels.normalize_sum)
    sides = (x, more, x[0].clone(), 1e-6, state, out)
    prepared = scale.prepare(flat, 2.0, outputs=(result,))
    calls = {
        "artifact(...)": lambda: scale(flat, result, 2.0),
        "prepared.launch()": prepared.launch,
        "artifact.run(...)": lambda: scale.run(flat, 2.0),
        "the module's device function": lambda: scale._execution._device_out(flat, result, 2.0),  # type: ignore[attr-defined]
        "torch.empty alone": lambda: torch.empty(4096, device=DEVICE),
        "torch.mul": lambda: torch.mul(flat, 2.0, out=result),
    }
    return [
        ("artifact of two arrays and a scalar", _with_bare(scale, "scale", calls)),
        ("artifact of two matrices, one in place",
         _with_bare(accumulate, "accumulate", {"artifact(...)": lambda: accumulate(more, state)})),
        ("artifact of five arrays and a scalar",
         _with_bare(normalize, "normalize_sum", {"artifact(...)": lambda: normalize(*sides)})),
    ]  # fmt: skip


def _with_bare(artifact: Any, name: str, calls: Calls) -> Calls:  # noqa: ANN401
    """The launch that the artifact makes, with everything ready, before the others."""
    launched = _launched(artifact._execution._module, calls["artifact(...)"])
    return calls if TRIAL else {**_bare(*launched), **calls}


if __name__ == "__main__":
    main()

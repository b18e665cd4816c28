"""What a call costs on the host: artifacts against the bare launch of the same compiled kernel. Needs a GPU.

    python benchmarks/call_overhead.py

Kernels so small that the device waits for the host, in batches between two synchronisations; medians of batches. The
bare launch is Triton's compiled kernel with its arguments ready, the least that any caller can do.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT, ROOT / "tests"):
    sys.path.insert(0, str(folder))

import host_kernels as kernels  # noqa: E402

import intent  # noqa: E402

BATCH, BATCHES = 200, 25


def microseconds(call: Callable[[], object]) -> float:
    """The median time of one call, synchronisation of a whole batch left out."""
    for _ in range(BATCH):
        call()
    times = []
    for _ in range(BATCHES):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(BATCH):
            call()
        times.append((time.perf_counter() - start) / BATCH * 1e6)
    torch.cuda.synchronize()
    return statistics.median(times)


def bare(artifact: intent.Artifact, arguments: tuple[object, ...]) -> Callable[[], object]:
    """The launch that the artifact makes, with everything ready."""
    artifact(*arguments)
    artifact(*arguments)
    (form,) = artifact._execution._calls._forms.values()  # type: ignore[attr-defined]
    (plan,) = form.plans.values()
    ready = list(plan.arguments)
    for position, place in (*plan.views, *plan.scalars):
        value = arguments[position]
        ready[place] = value.data_ptr() if isinstance(value, torch.Tensor) else value
    stream = torch.cuda.current_stream().cuda_stream
    return lambda: plan.launch.runner(*ready, stream=stream)


def report(title: str, rows: dict[str, Callable[[], object]]) -> None:
    print(title)
    least = None
    for name, call in rows.items():
        taken = microseconds(call)
        least = taken if least is None else least
        print(f"    {name:<32}{taken:8.2f} us{taken - least:+9.2f}")


def main() -> None:
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    x, out, state = (
        torch.rand(4096, device="cuda"),
        torch.empty(4096, device="cuda"),
        torch.zeros(64, 64, device="cuda"),
    )
    scale = intent.compile(kernels.scale)
    prepared = scale.prepare(x, 2.0, outputs=(out,))
    function = scale._execution._module.function("scale_device_out")  # type: ignore[attr-defined]
    report(
        "scale: two arrays and a scalar",
        {
            "bare launch": bare(scale, (x, out, 2.0)),
            "artifact(...)": lambda: scale(x, out, 2.0),
            "prepared.launch()": prepared.launch,
            "artifact.run(...)": lambda: scale.run(x, 2.0),
            "torch.empty alone": lambda: torch.empty(4096, device="cuda"),
            "module's device function": lambda: function(x, out, 2.0),
            "torch.mul": lambda: torch.mul(x, 2.0, out=out),
        },
    )
    accumulate, more = intent.compile(kernels.accumulate), torch.rand(64, 64, device="cuda")
    report(
        "accumulate: two matrices, one in place",
        {"bare launch": bare(accumulate, (more, state)), "artifact(...)": lambda: accumulate(more, state)},
    )


if __name__ == "__main__":
    main()

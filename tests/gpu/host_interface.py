"""The host interface and composed functions on a GPU, against the reference target.

    python tests/gpu/host_interface.py

Repeated calls of one form take another way than the first (no check is repeated that cannot come out differently), so
everything is called several times, with arrays of other addresses, alignments and overlaps in between.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in (ROOT, ROOT / "tests"):
    sys.path.insert(0, str(folder))

import compositions  # noqa: E402
import host_kernels as kernels  # noqa: E402

import intent  # noqa: E402
from intent.targets import ReferenceTarget, TritonTarget  # noqa: E402


def equal(actual: object, wanted: object, what: str) -> None:
    a = actual.float().cpu().numpy() if isinstance(actual, torch.Tensor) else np.asarray(actual, np.float32)
    b = wanted.float().cpu().numpy() if isinstance(wanted, torch.Tensor) else np.asarray(wanted, np.float32)
    assert np.allclose(a, b, rtol=1e-5, atol=1e-5), (what, a, b)
    print("ok", what)


def calls() -> None:
    scale = intent.compile(kernels.scale, TritonTarget())
    memory = torch.rand(5000, device="cuda")
    for size in (1000, 1024, 1000, 1024):
        for start in (0, 1, 16, 0, 1):  # addresses that are multiples of 16 and others
            x = memory[start : start + size]
            for factor in (2.0, 3.0):
                equal(scale.run(x, factor), x * factor, f"scale {size} from {start} by {factor}")
    shared = torch.arange(12, dtype=torch.float32, device="cuda")
    for _ in range(2):
        scale(shared[:4], shared[:4], 2.0)
        scale(shared[:4], shared[8:], 2.0)
    equal(shared[:4], torch.arange(4.0) * 4, "in place")
    equal(scale.run(memory[::3], 0.5), memory[::3] * 0.5, "strided")
    equal(scale.run(memory.cpu().numpy(), 0.5), memory * 0.5, "NumPy")
    groups = intent.compile(kernels.group_sums)
    for count in (3, 7, 3):
        wanted = intent.compile(kernels.group_sums, ReferenceTarget()).run(memory.cpu(), G=count)
        equal(groups.run(memory, G=count), wanted, f"groups {count}")
    low = torch.rand(100, device="cuda").to(torch.bfloat16)
    for _ in range(2):
        equal(intent.compile(kernels.halve).run(low), low * 0.5, "bfloat16")


def streams_and_threads() -> None:
    scale, x = intent.compile(kernels.scale), torch.rand(1 << 20, device="cuda")
    scale.run(x, 1.0)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        filled = torch.full_like(x, 7.0)
        result = scale.run(filled, 2.0)
    stream.synchronize()
    equal(result[:10], torch.full((10,), 14.0), "the current stream")
    outcomes: list[bool] = []

    def work(factor: float) -> None:
        results = [scale.run(x, factor) for _ in range(50)]
        outcomes.append(all(torch.equal(each, x * factor) for each in results))

    threads = [threading.Thread(target=work, args=(float(number),)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 4
    print("ok threads")


def graphs_and_operators() -> None:
    scale, x = intent.compile(kernels.scale), torch.rand(4096, device="cuda")
    out = torch.empty_like(x)
    scale(x, out, 2.0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scale(x, out, 2.0)
    x.fill_(3.0)
    graph.replay()
    equal(out[:3], torch.full((3,), 6.0), "captured in a graph")
    operator = scale.as_torch_op("gpu_tests::scale")
    compiled = torch.compile(lambda x: operator(x, 2.0) + 1, fullgraph=True)
    equal(compiled(x), x * 2 + 1, "under torch.compile")


def composed() -> None:
    x = torch.rand(1000, device="cuda")
    full_sum = intent.build(compositions.build)
    equal(full_sum(x), x.sum(), "build(context)")
    equal(compositions.smoothed(x)[:-4], x[4:], "plain host function")
    module = intent.compile(compositions.total)._execution._module.module  # type: ignore[attr-defined]
    equal(module.full_sum_device(x), x.sum(), "composed, device arm")
    equal(module.full_sum(x.cpu().numpy()), x.sum(), "composed, host arm")
    state = np.zeros(10, np.float32)
    module.raised(state, amount=1.0)
    equal(state, np.full(10, 2.0), "composed, in place")


def main() -> None:
    for check in (calls, streams_and_threads, graphs_and_operators, composed):
        check()
    print("all as expected")


if __name__ == "__main__":
    main()

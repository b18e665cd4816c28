"""How long calls take on the device, and what the device can do at best.

Memory-bound work is timed by replays of a CUDA graph that calls the implementation on one set of buffers after the
other, so that nothing is left in the cache from the time before; no host time is in it. Matrix products are timed so
and by Triton's `do_bench`, which leaves the device pauses to cool: they are limited by power.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from benchmarks import expert_kernels

Call = Callable[[], object]
REPLAYED_MS = 20.0  # of one replay, about
MOST_CALLS = 400  # in one graph


@dataclass(frozen=True, slots=True)
class DeviceClock:
    """Times in milliseconds: medians of `replays` replays, or of `do_bench`."""

    replays: int = 11
    bench_ms: int = 100
    device: str = "cuda"

    def graph(self, calls: Sequence[Call]) -> float:
        """One call's time, if the calls are made in turn; each has been made before."""
        once = self._elapsed(lambda: [call() for call in calls])
        rounds = max(1, min(int(REPLAYED_MS / max(once, 1e-3)), MOST_CALLS // len(calls)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(rounds):
                for call in calls:
                    call()
        graph.replay()
        times = [self._elapsed(graph.replay) for _ in range(self.replays)]
        return statistics.median(times) / (rounds * len(calls))

    def do_bench(self, call: Call) -> float:
        import triton

        return float(triton.testing.do_bench(call, warmup=25, rep=self.bench_ms, return_mode="median"))

    def _elapsed(self, call: Call) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end))

    def cache_bytes(self) -> int:
        return int(torch.cuda.get_device_properties(0).L2_cache_size)


@dataclass(frozen=True, slots=True)
class WallClock:
    """Stands in for the device's clock in a trial on a CPU; its figures mean nothing."""

    device: str = "cpu"

    def graph(self, calls: Sequence[Call]) -> float:
        return self.do_bench(calls[0])

    def do_bench(self, call: Call) -> float:
        start = time.perf_counter()
        call()
        return (time.perf_counter() - start) * 1e3

    def cache_bytes(self) -> int:
        return 0


Clock = DeviceClock | WallClock


def copy_rate(clock: Clock, elements: int) -> float:
    """Bytes read and written in a second by the fastest of three copies: the driver's, torch's and a kernel's."""
    source, target = (torch.zeros(elements, device=clock.device) for _ in range(2))
    copies: tuple[Call, ...] = (
        lambda: target.copy_(source),
        lambda: torch.neg(source, out=target),
        lambda: expert_kernels.copy(source, target),
    )
    for copy in copies:
        copy()
    return 2 * source.nbytes / min(clock.graph([copy]) for copy in copies) * 1e3


def matrix_rate(clock: Clock, size: int) -> float:
    """Operations in a second of the library's product of square f16 or bf16 matrices, the better of the two."""
    rates = []
    for dtype in (torch.float16, torch.bfloat16):
        a, b = (torch.randn(size, size, device=clock.device).to(dtype) for _ in range(2))
        c = torch.empty_like(a)
        rates.append(2 * size**3 / clock.do_bench(lambda a=a, b=b, c=c: torch.matmul(a, b, out=c)) * 1e3)
    return max(rates)

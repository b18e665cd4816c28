"""What a kernel's calls cost on this machine: the parts of a call, the floor, and what else could do the work.

Times are medians in milliseconds. In Triton's interpreter everything is tried and the figures say nothing of a device.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from intent.records import dataclass
from intentc.kernel_inputs import Arguments, make_inputs, shape
from translators.logical.types import View, output_symbols
from translators.triton_source.launch import KernelCode
from translators.triton_source.module_kernels import dtype_name
from translators.triton_source.module_names import KernelNames

if TYPE_CHECKING:
    import torch

LARGEST: Final = 24  # the binary logarithm of the elements of the largest array, where no sizes are given
COPIED: Final = 1 << 28  # bytes of a copy that measures the memory
BUDGET: Final = 0.5  # seconds for one figure


@dataclass(frozen=True, slots=True)
class Judgement:
    """`whole` is the call with NumPy arrays, `up` and `down` its transfers by name of array, `launch` host time."""

    kernel: str
    sizes: Mapping[str, int]
    device: str
    first_call: float
    whole: float
    up: Mapping[str, float]
    launch: float
    device_time: float
    down: Mapping[str, float]
    bytes: int
    copy_rate: float  # bytes a second, read and written
    statement: float | None

    @property
    def floor(self) -> float:
        """What the kernel cannot be faster than: its bytes at the rate of a copy."""
        return self.bytes / self.copy_rate * 1e3

    def as_data(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel, "sizes": dict(self.sizes), "device": self.device, "unit": "milliseconds",
            "whole call": self.whole, "up": dict(self.up), "launch": self.launch, "kernel time": self.device_time,
            "down": dict(self.down), "floor": self.floor, "bytes": self.bytes, "copy rate": self.copy_rate,
            "NumPy statement": self.statement, "first call": self.first_call,
        }  # fmt: skip

    def lines(self) -> list[str]:
        """A table of the parts, each with its share of the whole call."""
        named = ", ".join(f"{name}={size}" for name, size in self.sizes.items())
        rows = [("whole call, NumPy in and out", self.whole)]
        rows += [(f"  {name} to the device", time) for name, time in self.up.items()]
        rows += [("  launch, on the host", self.launch), ("  kernel, on the device", self.device_time)]
        rows += [(f"  {name} from the device", time) for name, time in self.down.items()]
        text = [f"{self.kernel}({named}) on {self.device}"]
        text += [f"  {title:<34}{time:12.4f} ms{time / self.whole:8.0%}" for title, time in rows]
        floor = f"{self.bytes / 1e6:.1f} MB at {self.copy_rate / 1e9:.0f} GB/s"
        text.append(f"  {'floor of the kernel':<34}{self.floor:12.4f} ms ({floor})")
        text.append(f"  {'the kernel, of its floor':<34}{self.floor / self.device_time:12.0%}")
        if self.statement is not None:
            text.append(f"  {'the NumPy statement':<34}{self.statement:12.4f} ms")
        text.append(f"  {'first call, compiling':<34}{self.first_call:12.1f} ms")
        return text


def large_sizes(views: Sequence[View], names: Sequence[str]) -> dict[str, int]:
    """Sizes for which the largest array has 2**24 elements if its extents are all symbols."""
    rank = max((len(view.shape) for view in views), default=1)
    return dict.fromkeys(names, 1 << max(1, LARGEST // max(rank, 1)))


def traffic(code: KernelCode, sizes: Mapping[str, int]) -> int:
    """Bytes, each array that is read taken once and each that is written once."""
    passes = {"In": 1, "Out": 1, "InOut": 2}
    elements = {view.name: math.prod(shape(view, sizes)) for view in code.kernel.views}
    return sum(passes[view.direction] * elements[view.name] * view.dtype.bytes for view in code.kernel.views)


def judge(
    code: KernelCode, names: KernelNames, module: ModuleType, sizes: Mapping[str, int], scalars: Mapping[str, Any]
) -> Judgement:
    """Measure the kernel of a module that was just imported, with random inputs."""
    kernel, arguments = code.kernel, make_inputs(code.kernel, sizes, 0, scalars)
    keywords = {names.launch.sizes[symbol]: sizes[symbol] for symbol in output_symbols(kernel.views)}
    where = module._device()
    tensors = {
        view.name: module._to_device(arguments[view.name], dtype_name(view.dtype), where)
        for view in kernel.views if view.direction != "Out"
    }  # fmt: skip
    given = [tensors.get(name, value) for name, value in arguments.items()]
    start = time.perf_counter()
    results = getattr(module, names.public.device or "")(*given, **keywords)
    _wait()
    first = (time.perf_counter() - start) * 1e3
    outputs = [view.name for view in kernel.views if view.direction == "Out"]
    tensors |= dict(zip(outputs, results if isinstance(results, tuple) else (results,), strict=False))
    writing = getattr(module, names.public.device_out or "")
    every = [tensors.get(parameter.name, arguments.get(parameter.name)) for parameter in kernel.parameters]
    host = getattr(module, names.public.host or "")
    launch = _launch_time(lambda: writing(*every))
    written = [view.name for view in kernel.views if view.direction != "In"]
    return Judgement(
        kernel=kernel.name,
        sizes=sizes,
        device=str(module.torch.cuda.get_device_name()) if where == "cuda" else "the CPU, in Triton's interpreter",
        first_call=first,
        whole=_median(lambda: host(*arguments.values(), **keywords)),
        up={
            view.name: _median(partial(module._to_device, arguments[view.name], dtype_name(view.dtype), where))
            for view in kernel.views if view.direction != "Out"
        },
        launch=launch,
        device_time=_device_time(lambda: writing(*every)),
        down={name: _median(partial(_to_numpy, module, tensors[name])) for name in written},
        bytes=traffic(code, sizes),
        copy_rate=_copy_rate(where),
        statement=_statement_time(module, names, arguments, tensors),
    )  # fmt: skip


def _to_numpy(module: ModuleType, tensor: torch.Tensor) -> object:
    carried: Callable[[torch.Tensor], torch.Tensor] = getattr(module, "_carried", lambda tensor: tensor)
    return module._to_numpy(carried(tensor))


def _wait() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _clocked(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    result = call()
    _wait()
    elapsed = time.perf_counter() - start
    del result  # what a call returns is gone before the next begins
    return elapsed * 1e3


def _median(call: Callable[[], object]) -> float:
    _clocked(call)
    once = _clocked(call)
    count = max(3, min(500, int(BUDGET * 1e3 / max(once, 1e-3)))) if _measures() else 1
    return statistics.median(_clocked(call) for _ in range(count))


def _measures() -> bool:
    return os.environ.get("TRITON_INTERPRET") != "1"


def _launch_time(call: Callable[[], object]) -> float:
    """Host time of a call, in a batch that nothing waits for."""
    batch = 100 if _measures() else 1
    call()
    _wait()
    start = time.perf_counter()
    for _ in range(batch):
        call()
    elapsed = (time.perf_counter() - start) / batch * 1e3
    _wait()
    return elapsed


def _device_time(call: Callable[[], object]) -> float:
    if not _measures():
        return _median(call)
    from triton.testing import do_bench

    median: float = do_bench(call, return_mode="median")
    return median


def _copy_rate(where: str) -> float:
    import torch

    source = torch.zeros(COPIED if _measures() else 1 << 20, dtype=torch.uint8, device=where)
    target = torch.empty_like(source)
    return float(2 * source.numel() / _device_time(lambda: target.copy_(source)) * 1e3)


def _statement_time(
    module: ModuleType, names: KernelNames, arguments: Arguments, tensors: Mapping[str, torch.Tensor]
) -> float | None:
    """Of the NumPy statement that the module has of the kernel; None if it has none."""
    declared = getattr(module, names.declaration)
    for case in module._CASES:
        if case[0] is declared and len(case) == 3 and case[1] is not None:
            given = [module._values(tensors[view.name]) for view in declared.views if view.direction != "Out"]
            scalars = [arguments[name] for name, _ in getattr(declared, "scalars", ())]
            return _median(partial(case[1], *given, *scalars))
    return None

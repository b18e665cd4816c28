"""Whole calls with NumPy arrays in and out: generated modules against other ways to make the same call.

    python -m benchmarks.host_calls --modules build/bench [--output FILE] [--designs]     needs a GPU, torch and triton

Inputs are arrays in ordinary memory that other work has written; results are new arrays, as the caller gets them. Times
are milliseconds of wall time from the call to its return, medians. Every way is checked against float64 first. CuPy is
compared if it is installed. `--designs` also measures choices that the module's transfers make: sizes and numbers of
slots, threads, where results lie, and what a call pipelined along the outermost axis would take. Modules are those that
`benchmarks.generate` writes. With TRITON_INTERPRET=1 it is a trial without a device; its figures mean nothing.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.measure import TOLERANCE, distance, load  # noqa: E402

WORKLOADS = ROOT / "benchmarks" / "workloads"
TRIAL = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cpu" if TRIAL else "cuda"
Array = np.ndarray
Call = Callable[[], object]


@dataclass(slots=True)
class Row:
    """`goal` is in milliseconds, `others` what the table of the goals has for CuPy, pageable, all pinned, the bus."""

    title: str
    workload: str
    kernel: str
    shape: tuple[int, ...]
    small: tuple[int, ...]
    dtype: str
    inputs: int
    goal: float
    others: tuple[float, float, float, float]
    scalars: tuple[float, ...] = ()
    cuttable: bool = False  # every row of the result needs the same row of the inputs only
    arrays: list[Array] = field(default_factory=list)


ROWS = (
    Row("pointwise 2^26 f32", "pointwise_gelu", "pointwise_gelu", (1 << 26,), (5001,), "f4", 2, 30.0,
        (160, 288, 15.0, 14.6), (1.5, 0.5), True),
    Row("softmax [256, 131072] f32", "softmax", "softmax_f32", (256, 131072), (5, 301), "f4", 1, 14.0,
        (63, 117, 5.2, 4.9), (), True),
    Row("Jacobi [8192, 8192] f64", "jacobi2d", "jacobi2d_f64", (8192, 8192), (37, 53), "f8", 1, 45.0,
        (221, 478, 20.2, 19.4)),
    Row("pointwise N = 4096", "pointwise_gelu", "pointwise_gelu", (4096,), (4096,), "f4", 2, 0.050,
        (0.096, 0.102, 0.069, 0.026), (1.5, 0.5)),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=Path, required=True, help="a folder that benchmarks.generate has written")
    parser.add_argument("--designs", action="store_true", help="also measure what the transfers could be")
    parser.add_argument("--only", default="", help="a part of the titles of the rows to measure")
    parser.add_argument("--output", type=Path, help="a file for the figures, as JSON")
    options = parser.parse_args()
    found: dict[str, Any] = {"machine": machine(), "unit": "milliseconds of wall time per call", "rows": []}
    print(json.dumps(found["machine"]))
    for row in ROWS:
        if options.only in row.title:
            module = load(options.modules / f"{row.workload}.py")
            found["slots"] = {"bytes": module._SLOT_BYTES, "in each direction": module._SLOTS}
            found["rows"].append(measured(row, module, options.designs))
            row.arrays.clear()
            _keep(found, options.output)  # a run that is cut off leaves what it had
    if options.designs:
        found["host copies, GB/s"] = host_copies(1 << (16 if TRIAL else 28))
        _keep(found, options.output)


def _keep(found: Mapping[str, Any], path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def machine() -> dict[str, object]:
    import triton

    huge = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return {
        "device": "CPU" if TRIAL else torch.cuda.get_device_name(), "torch": torch.__version__,
        "triton": triton.__version__, "numpy": np.__version__, "cores": len(os.sched_getaffinity(0)),
        "threads": torch.get_num_threads(), "huge pages": huge.read_text().strip() if huge.exists() else "unknown",
    }  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------- rows
def measured(row: Row, module: ModuleType, designs: bool) -> dict[str, Any]:
    generator = np.random.default_rng(0)
    shape = row.small if TRIAL else row.shape
    row.arrays = [generator.standard_normal(shape, dtype="f4").astype(row.dtype) for _ in range(row.inputs)]
    print(f"{row.title}: goal {row.goal} ms; elsewhere CuPy {row.others[0]}, pageable {row.others[1]}, "
          f"all pinned {row.others[2]}, bus {row.others[3]}")  # fmt: skip
    wanted = load(ROOT / "benchmarks" / "workloads" / f"{row.workload}.py").reference(
        *(torch.from_numpy(array).to(DEVICE) for array in row.arrays), *row.scalars
    )
    calls = ways(row, module)
    found: dict[str, Any] = {"row": row.title, "goal": row.goal, "elsewhere": row.others, "ways": {}}
    for name, call in calls.items():
        found["ways"][name] = shown(name, judged(call, wanted, row))
    for name, context, call in designs_of(row, module) if designs else ():
        with context:
            found["ways"][name] = shown(name, judged(call, wanted, row))
    found["parts"] = {name: shown(f"part: {name}", clocked(call)) for name, call in parts(row, module).items()}
    return found


def shown(name: str, times: Mapping[str, Any]) -> Mapping[str, Any]:
    text = f"{times['median']:9.3f}  best {times['best']:9.3f}" if "median" in times else times["status"]
    print(f"    {name:<44}{text}", flush=True)
    return times


def judged(call: Callable[[], Any], wanted: torch.Tensor, row: Row) -> dict[str, Any]:
    """Times, after a first and a repeated result are right."""
    try:
        for _ in range(2):
            result = call()
            error = distance(torch.as_tensor(result).to(wanted.device), wanted)
            if not error <= TOLERANCE[getattr(torch, str(np.dtype(row.dtype)))]:
                return {"status": f"wrong: error {error:.3g}"}
            del result
        return {"error": error, **clocked(call)}
    except Exception as problem:
        return {"status": f"{type(problem).__name__}: {problem}"[:300]}


def clocked(call: Call) -> dict[str, float]:
    """What a call returns is gone before the next begins."""
    call()
    start = time.perf_counter()
    call()
    count = 2 if TRIAL else max(7, min(2000, int(0.4 / (time.perf_counter() - start))))
    times = []
    for _ in range(count):
        start = time.perf_counter()
        result = call()
        times.append((time.perf_counter() - start) * 1e3)
        del result
    return {"median": round(statistics.median(times), 4), "best": round(min(times), 4), "calls": count}


def synchronize() -> None:
    if not TRIAL:
        torch.cuda.synchronize()


def ways(row: Row, module: ModuleType) -> dict[str, Callable[[], Any]]:
    function, writing = getattr(module, row.kernel), getattr(module, f"{row.kernel}_out")
    device, arrays = getattr(module, f"{row.kernel}_device"), row.arrays
    kept = np.zeros_like(arrays[0])
    pinned = [_pinned(array) for array in arrays]
    landed = _pinned(kept)

    def pageable() -> Array:
        tensors = [torch.from_numpy(array).to(DEVICE) for array in arrays]
        return device(*tensors, *row.scalars).cpu().numpy()

    def all_pinned() -> torch.Tensor:
        tensors = [tensor.to(DEVICE, non_blocking=True) for tensor in pinned]
        landed.copy_(device(*tensors, *row.scalars), non_blocking=True)
        synchronize()
        return landed

    calls: dict[str, Callable[[], Any]] = {
        "the module": lambda: function(*arrays, *row.scalars),
        "the module, into an array it is given": lambda: (writing(*arrays, *row.scalars, kept), kept)[1],
        "torch, pageable memory": pageable,
        "torch, all arrays pinned": all_pinned,
    }
    cupy = None if TRIAL else _cupy(row)
    return {**calls, "CuPy": cupy} if cupy else calls


def _pinned(array: Array) -> torch.Tensor:
    tensor = torch.empty(array.shape, dtype=getattr(torch, str(array.dtype)), pin_memory=not TRIAL)
    return tensor.copy_(torch.from_numpy(array))


def _cupy(row: Row) -> Callable[[], Any] | None:
    try:
        import cupy as cp
        from cupyx.scipy.special import erf
    except ImportError:
        print("    CuPy is not installed")
        return None

    def pointwise() -> Array:
        x, residual = (cp.asarray(array) for array in row.arrays)
        t = x * np.float32(row.scalars[0]) + np.float32(row.scalars[1])
        return cp.asnumpy(np.float32(0.5) * t * (1 + erf(t * np.float32(0.5**0.5))) + residual)

    def softmax() -> Array:
        x = cp.asarray(row.arrays[0])
        e = cp.exp(x - x.max(axis=1, keepdims=True))
        return cp.asnumpy(e / e.sum(axis=1, keepdims=True))

    def jacobi() -> Array:
        v = cp.asarray(row.arrays[0])
        out = v.copy()
        out[1:-1, 1:-1] = 0.2 * (v[1:-1, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] + v[2:, 1:-1] + v[:-2, 1:-1])
        return cp.asnumpy(out)

    return {"pointwise_gelu": pointwise, "softmax": softmax, "jacobi2d": jacobi}[row.workload]


# ---------------------------------------------------------------------------------------------------------------- parts
def parts(row: Row, module: ModuleType) -> dict[str, Call]:
    """What a call consists of, each on its own and waited for."""
    array, scalars = row.arrays[0], row.scalars
    tensors = [torch.from_numpy(each).to(DEVICE) for each in row.arrays]
    result, kept = torch.empty_like(tensors[0]), np.zeros_like(array)
    writing = getattr(module, f"{row.kernel}_device_out")

    def send() -> None:
        module._to_device(array, str(array.dtype), DEVICE)
        synchronize()

    def launch() -> None:
        writing(*tensors, *scalars, result)
        synchronize()

    found: dict[str, Call] = {
        "one array up": send,
        "launch": launch,
        "the result down, into new memory": lambda: module._to_numpy(result),
        "the result down, into memory in use": lambda: module._to_numpy(result, kept),
    }
    if any(each[0] == row.kernel and result.shape in each for each in module._PACKED):
        kernel, given = getattr(module, f"_{row.kernel.upper()}"), [*row.arrays, None]
        found["the form"] = lambda: module._form(kernel, given, {})
    return found


# -------------------------------------------------------------------------------------------------------------- designs
def designs_of(row: Row, module: ModuleType) -> Iterator[tuple[str, AbstractContextManager[None], Callable[[], Any]]]:
    """Names, what has to hold while they are measured, and calls."""
    if row.arrays[0].nbytes < 1 << 20 and not TRIAL:
        return
    function = getattr(module, row.kernel)

    def usual() -> Array:
        return function(*row.arrays, *row.scalars)

    for size, count in ((1, 8), (2, 8), (4, 4), (4, 8), (8, 2), (8, 4), (8, 8), (16, 2), (16, 8), (32, 2), (32, 4)):
        yield f"slots of {size} MB, {count} a direction", _slots(module, size << 20, count), usual
    for threads in (1, 2, 4, 8, 12, 16, 24, 32):
        if threads <= 2 * len(os.sched_getaffinity(0)):
            yield f"{threads} threads", _threads(threads), usual
    for name, way in (("result touched by a thread meanwhile", _touched_meanwhile), ("result pinned", _result_pinned)):
        yield name, nullcontext(), partial(way, row, module)
    if not TRIAL:
        yield "arrays registered for the call", nullcontext(), partial(_registered, row, module)
    for size in (1, 2, 4, 8, 16) if row.cuttable else ():
        yield f"pipelined, {size} MB", nullcontext(), partial(_Pipeline(row, module, size << 20), second=False)
        yield f"pipelined, {size} MB, and a thread", nullcontext(), partial(_Pipeline(row, module, size << 20), True)


@contextmanager
def _slots(module: ModuleType, size: int, count: int) -> Iterator[None]:
    usual = module._SLOT_BYTES, module._SLOTS
    try:
        _set_slots(module, size, count)
        yield
    finally:
        _set_slots(module, *usual)


def _set_slots(module: ModuleType, size: int, count: int) -> None:
    synchronize()
    module._SLOT_BYTES, module._SLOTS = size, count


@contextmanager
def _threads(count: int) -> Iterator[None]:
    usual = torch.get_num_threads()
    try:
        torch.set_num_threads(count)
        yield
    finally:
        torch.set_num_threads(usual)


def _launched(row: Row, module: ModuleType) -> torch.Tensor:
    """The result on the device, of arrays that have been sent there as the module does."""
    tensors = [module._to_device(array, str(array.dtype), DEVICE) for array in row.arrays]
    return getattr(module, f"{row.kernel}_device")(*tensors, *row.scalars)


def _touched_meanwhile(row: Row, module: ModuleType) -> Array:
    result = np.empty_like(row.arrays[0])
    thread = threading.Thread(target=lambda: result.reshape(-1).view("u1")[::4096].fill(0))
    thread.start()
    tensor = _launched(row, module)
    thread.join()
    module._to_numpy(tensor, result)
    return result


def _result_pinned(row: Row, module: ModuleType) -> Array:
    tensor = _launched(row, module)
    result = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=not TRIAL)
    result.copy_(tensor, non_blocking=True)
    synchronize()
    return result.numpy()


def _registered(row: Row, module: ModuleType) -> Array:
    result = np.empty_like(row.arrays[0])
    everything = [*row.arrays, result]
    for array in everything:
        torch.cuda.check_error(int(torch.cuda.cudart().cudaHostRegister(array.ctypes.data, array.nbytes, 0)))
    try:
        tensors = [torch.from_numpy(array).to(DEVICE, non_blocking=True) for array in row.arrays]
        out = getattr(module, f"{row.kernel}_device")(*tensors, *row.scalars)
        torch.from_numpy(result).copy_(out, non_blocking=True)
        synchronize()
    finally:
        for array in everything:
            torch.cuda.cudart().cudaHostUnregister(array.ctypes.data)
    return result


class _Pipeline:
    """Parts of all arrays go up, are computed and come down while others do; results by a second thread if asked."""

    def __init__(self, row: Row, module: ModuleType, size: int) -> None:
        array = row.arrays[0]
        self.row, self.module = row, module
        self.rows = max(1, size * len(array) // array.nbytes)
        shape, dtype = (self.rows, *array.shape[1:]), getattr(torch, str(array.dtype))
        self.up = [[torch.empty(shape, dtype=dtype, pin_memory=not TRIAL) for _ in row.arrays] for _ in range(3)]
        self.down = [torch.empty(shape, dtype=dtype, pin_memory=not TRIAL) for _ in range(3)]
        self.launch = getattr(module, f"{row.kernel}_device_out")
        self.stream = None if TRIAL else torch.cuda.Stream()
        self.pool = ThreadPoolExecutor(1)

    def __call__(self, second: bool) -> Array:
        arrays = [torch.from_numpy(array) for array in self.row.arrays]
        result = np.empty_like(self.row.arrays[0])
        landing, length = torch.from_numpy(result), len(result)
        device = [torch.empty(array.shape, dtype=array.dtype, device=DEVICE) for array in (*arrays, landing)]
        sent: list[Callable[[], None]] = [lambda: None] * 3
        begun: collections.deque[Callable[[], object]] = collections.deque()
        for turn, start in enumerate(range(0, length, self.rows)):
            cut = slice(start, min(start + self.rows, length))
            count, place = cut.stop - cut.start, turn % 3
            sent[place]()
            for array, slot, target in zip(arrays, self.up[place], device, strict=False):
                slot[:count].copy_(array[cut])
                target[cut].copy_(slot[:count], non_blocking=True)
            sent[place] = _fence()
            self.launch(*(each[cut] for each in device[:-1]), *self.row.scalars, device[-1][cut])
            if len(begun) == 3:
                begun.popleft()()
            arrived = self._down(self.down[place][:count], device[-1][cut])
            land = partial(_land, arrived, landing[cut], self.down[place][:count])
            begun.append(self.pool.submit(land).result if second else land)
        for finish in begun:
            finish()
        return result

    def _down(self, slot: torch.Tensor, source: torch.Tensor) -> Callable[[], None]:
        """Begin a copy beside those in the other direction, once the launch is done."""
        if self.stream is None:
            slot.copy_(source)
            return _fence()
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            slot.copy_(source, non_blocking=True)
            return _fence()


def _fence() -> Callable[[], None]:
    if TRIAL:
        return lambda: None
    event = torch.cuda.Event()
    event.record()
    return event.synchronize


def _land(arrived: Callable[[], None], target: torch.Tensor, slot: torch.Tensor) -> None:
    arrived()
    target.copy_(slot)


# --------------------------------------------------------------------------------------------------------- host copies
def host_copies(size: int) -> dict[str, float]:
    """Between ordinary and pinned memory, in parts of 8 MB: PyTorch's threads against NumPy in threads of our own."""
    used, slot = np.ones(size, "u1"), torch.empty(min(size, 8 << 20), dtype=torch.uint8, pin_memory=not TRIAL)
    places = range(0, size, len(slot))
    found = {}
    cores = len(os.sched_getaffinity(0))
    for threads in sorted({1, 4, 8, cores}):
        with _threads(threads), ThreadPoolExecutor(threads) as pool:
            copies: dict[str, Callable[[Array], object]] = {
                "torch up": lambda array: [slot.copy_(torch.from_numpy(array[at : at + len(slot)])) for at in places],
                "torch down": lambda array: [torch.from_numpy(array[at : at + len(slot)]).copy_(slot) for at in places],
                "NumPy up": partial(_shared, pool, threads, slot.numpy(), True),
                "NumPy down": partial(_shared, pool, threads, slot.numpy(), False),
            }
            for name, copy in copies.items():
                for kind, memory in (("memory in use", lambda: used), ("new memory", lambda: np.empty(size, "u1"))):
                    if kind == "new memory" and name.endswith("up"):
                        continue
                    title = f"{name}, {threads} threads, {kind}"
                    found[title] = round(size / clocked(lambda: copy(memory()))["median"] / 1e6, 2)  # noqa: B023
                    print(f"    {title:<44}{found[title]:8.2f} GB/s", flush=True)
    return found


def _shared(pool: ThreadPoolExecutor, threads: int, slot: Array, up: bool, array: Array) -> None:
    """Every thread copies its share of each part."""
    share = -(-len(slot) // threads)
    for start in range(0, len(array), len(slot)):
        part = array[start : start + len(slot)]
        pairs = [(part[at : at + share], slot[at : at + share]) for at in range(0, len(slot), share)]
        list(pool.map(lambda pair: np.copyto(*(reversed(pair) if up else pair)), pairs))


if __name__ == "__main__":
    main()

"""Runs in a process of its own, under Triton's interpreter: two kernels on the same memory.

Reads a request as JSON from standard input, writes one result per call to standard output. Nothing else of this
project is imported, but `lift_interpreter`. A side of the request names a directory with a module, and in it either a
Triton kernel, to be launched on a grid with pointers, or a function of a generated module, to be called with arrays.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import resource
import sys
from pathlib import Path
from typing import Any

import torch
import triton.language

MEMORY = 6 * 2**30  # bytes of address space beyond what the libraries have reserved
DTYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i8": torch.int8,
    "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool,
    "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64,
}  # fmt: skip
MARGIN = 1 << 14  # elements around an array, which a kernel may read as well
TOLERANCE = {"f16": 1e-2, "bf16": 4e-2, "f32": 2e-4, "f64": 1e-6}


def main() -> None:
    with contextlib.redirect_stdout(sys.stderr):  # what the kernels print is no answer
        results = results_of(json.load(sys.stdin))
    json.dump(results, sys.stdout)


def results_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    """One result per call. The process is of no use for another request."""
    _install_interpreter()
    bound_memory()
    callables = []
    for side in request["sides"]:
        try:
            callables.append(_load(side))
        except Exception as error:  # whatever the file of a stranger does
            return [_failed(side, error)]
    return [_compare(callables, request, call, seed) for seed, call in enumerate(request["calls"])]


def _install_interpreter() -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    importlib.import_module("lift_interpreter").install()
    sys.path.pop(0)


def bound_memory() -> None:
    """Of this process: what it has, and a few gigabytes; once bounded, it is not bounded again."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    bound = pages * resource.getpagesize() + MEMORY
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


def _failed(side: dict[str, Any], error: Exception) -> dict[str, Any]:
    """What did not run, and the last line of why."""
    return {"failed": side["label"], "why": (str(error).strip().splitlines() or [type(error).__name__])[-1]}


def _load(side: dict[str, Any]) -> Any:  # noqa: ANN401
    """The kernel or function; other modules of its directory do not stay, so that both sides may have one of a name."""
    sys.path.insert(0, side["directory"])
    found = getattr(importlib.import_module(side["module"]), side["name"])
    for name in [name for name, each in sys.modules.items() if _within(side["directory"], each)]:
        del sys.modules[name]
    sys.path.remove(side["directory"])
    return found


def _within(directory: str, module: Any) -> bool:  # noqa: ANN401
    return str(getattr(module, "__file__", None)).startswith(directory)


def _compare(callables: list[Any], request: dict[str, Any], call: dict[str, Any], seed: int) -> dict[str, Any]:
    torch.manual_seed(seed)
    pairs = zip(request["arrays"], call["arrays"], strict=True)
    before = [random_memory(each, array, limit_of(each, call), 2 * MARGIN) for each, array in pairs]
    if call.get("zeros"):
        before = [torch.where(torch.rand(each.shape) < 0.5, each, torch.zeros_like(each)) for each in before]
    fit_lengths(request["arrays"], before, limit_of({"lengths_of": ""}, call))
    first, second = ([memory.clone() for memory in before] for _ in range(2))
    for function, side, given, memory in zip(callables, request["sides"], call["sides"], (first, second), strict=True):
        try:
            _call(function, side, given, [each[MARGIN : len(each) - MARGIN] for each in memory], call["arrays"])
        except Exception as error:  # whatever the kernel of a stranger does
            return _failed(side, error)
    errors = {
        each["name"]: _error(one, other, each["dtype"])
        for each, one, other in zip(request["arrays"], first, second, strict=True)
        if each["written"]
    }
    stored = not all(_error(old, new, "f64") == 0.0 for old, new in zip(before, first, strict=True))
    return {"failed": None, "errors": errors, "equal": all(error <= 1.0 for error in errors.values()), "stored": stored}


def _call(
    function: Any,  # noqa: ANN401
    side: dict[str, Any],
    given: dict[str, Any],
    memory: list[torch.Tensor],
    arrays: list[Any],
) -> None:
    """`names` says what the side calls each array; `order` is that of a function's parameters."""
    numbers = {name: number(value) for name, value in given["numbers"].items()}
    if side["order"] is None:
        unused = {name: torch.zeros(1) for name in side["unused"]}
        pointers = dict(zip(side["names"], memory, strict=True))
        named = {**pointers, **unused, **numbers}
        parameters = inspect.signature(function.fn).parameters.values()  # by place: a parameter may be called `self`
        function[tuple(given["grid"])](*(named.get(each.name, each.default) for each in parameters))
        return
    views = {
        name: torch.as_strided(each, *array) for name, each, array in zip(side["names"], memory, arrays, strict=True)
    }
    function(*[views[name] if name in views else numbers[name] for name in side["order"]])


def number(value: Any) -> Any:  # noqa: ANN401
    """Types are sent by name."""
    return getattr(triton.language, value[3:]) if isinstance(value, str) and value.startswith("tl.") else value


def random_memory(description: dict[str, Any], array: list[list[int]], limit: int, more: int = 3) -> torch.Tensor:
    """All elements from the first to the last that the view reaches, in the middle of some more."""
    made = _random(description["dtype"], array, limit, more)
    if description.get("counted"):
        made = made.abs() + 1
    if description.get("fraction"):
        made = made.float().abs().frac().to(made.dtype)
    if description.get("ascending"):
        inside = slice(more // 2, len(made) - more // 2)
        made[inside] = made[inside].sort().values
    return made


def limit_of(description: dict[str, Any], call: dict[str, Any]) -> int:
    """What integers of an array are below."""
    starts, lengths = call.get("segments", (call["limit"], call["limit"]))
    limit = lengths if description.get("lengths_of") is not None else call["limit"]
    return int(starts if description.get("ascending") else limit)


def fit_lengths(descriptions: list[dict[str, Any]], arrays: list[torch.Tensor], limit: int) -> None:
    """Segments end where the next one begins, or before; what is not counted of them is half of them at most."""
    memory = {each["name"]: array for each, array in zip(descriptions, arrays, strict=True)}
    for description in descriptions:
        if description.get("lengths_of"):
            starts = memory[description["lengths_of"]]
            room = torch.full_like(starts, limit)
            room[:-1] = (starts[1:] - starts[:-1]).abs()
            _keep_below(memory[description["name"]], room)
    for description in descriptions:
        if description.get("part_of"):
            _keep_below(memory[description["name"]], memory[description["part_of"]] // 2)


def _keep_below(numbers: torch.Tensor, most: torch.Tensor) -> None:
    count = min(len(numbers), len(most))
    numbers[:count] = torch.minimum(numbers[:count], most[:count].to(numbers.dtype))


def _random(dtype: str, array: list[list[int]], limit: int, more: int) -> torch.Tensor:
    shape, strides = array
    reach = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)) + 1
    length = more + (reach if all(shape) else 0)
    if dtype.startswith(("f", "bf")):
        return torch.randn(length).to(DTYPES[dtype])
    return torch.randint(0, 2 if dtype == "bool" else max(limit, 1), (length,)).to(DTYPES[dtype])


def _error(first: torch.Tensor, second: torch.Tensor, dtype: str) -> float:
    """The largest difference, in units of what is allowed."""
    if not first.dtype.is_floating_point:
        return 0.0 if torch.equal(first, second) else float("inf")
    wanted, actual = first.double(), second.double()
    same = (wanted == actual) | (wanted.isnan() & actual.isnan())
    if not len(wanted):
        return 0.0
    scale = wanted.abs() + wanted[wanted.isfinite()].square().mean().sqrt().nan_to_num(0.0) + 1e-6
    difference = torch.where(same, torch.zeros_like(wanted), (wanted - actual).abs() / (TOLERANCE[dtype] * scale))
    return float(difference.nan_to_num(float("inf")).max())


if __name__ == "__main__":
    main()

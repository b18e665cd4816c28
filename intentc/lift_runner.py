"""Runs in a process of its own, under Triton's interpreter: an original kernel and its lifted one on the same memory.

Reads a request as JSON from standard input, writes one result per call to standard output. Nothing else of this
project is imported; the request names a directory that holds the kernel with its helpers, and the generated module.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
from typing import Any

import torch
import triton.language

MEMORY = 16 * 2**30  # bytes of address space, most of which PyTorch merely reserves
DTYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i8": torch.int8,
    "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool,
}  # fmt: skip
TOLERANCE = {"f16": 1e-2, "bf16": 4e-2, "f32": 2e-4, "f64": 1e-6}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    request = json.load(sys.stdin)
    sys.path.insert(0, request["directory"])
    try:
        original = getattr(importlib.import_module(request["original"]), request["kernel"])
    except Exception as error:  # whatever the file of a stranger does
        json.dump([_failed("original", error)], sys.stdout)
        return
    module = importlib.import_module("lifted")
    lifted = getattr(module, f"{request['lifted']}_device_out")
    results = [_compare(original, lifted, request, call, seed) for seed, call in enumerate(request["calls"])]
    json.dump(results, sys.stdout)


def _failed(which: str, error: Exception) -> dict[str, Any]:
    """What did not run, and the last line of why."""
    return {"failed": which, "why": (str(error).strip().splitlines() or [type(error).__name__])[-1]}


def _compare(original: Any, lifted: Any, request: dict[str, Any], call: dict[str, Any], seed: int) -> dict[str, Any]:  # noqa: ANN401
    torch.manual_seed(seed)
    first = {
        each["pointer"]: _memory(each["dtype"], array, call["limit"])
        for each, array in zip(request["arrays"], call["arrays"], strict=True)
    }
    second = {name: memory.clone() for name, memory in first.items()}
    unused = {name: torch.zeros(1) for name in request["unused"]}
    numbers = {name: _number(value) for name, value in call["numbers"].items()}
    try:
        original[tuple(call["grid"])](**first, **unused, **numbers)
    except Exception as error:  # whatever the kernel of a stranger does
        return _failed("original", error)
    views = {
        each["name"]: torch.as_strided(second[each["pointer"]], *array)
        for each, array in zip(request["arrays"], call["arrays"], strict=True)
    }
    try:
        lifted(*[views[name] if name in views else call["numbers"][name] for name in request["order"]])
    except Exception as error:
        return _failed("lifted kernel", error)
    errors = {
        each["name"]: _error(first[each["pointer"]], second[each["pointer"]], each["dtype"])
        for each in request["arrays"]
        if each["written"]
    }
    return {"failed": None, "errors": errors, "equal": all(error <= 1.0 for error in errors.values())}


def _number(value: Any) -> Any:  # noqa: ANN401
    """Types are sent by name."""
    return getattr(triton.language, value[3:]) if isinstance(value, str) and value.startswith("tl.") else value


def _memory(dtype: str, array: list[list[int]], limit: int) -> torch.Tensor:
    """All elements from the first to the last that the view reaches, and a few more."""
    shape, strides = array
    length = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)) + 3
    if dtype.startswith(("f", "bf")):
        return torch.randn(length).to(DTYPES[dtype])
    return torch.randint(0, 2 if dtype == "bool" else max(limit, 1), (length,)).to(DTYPES[dtype])


def _error(first: torch.Tensor, second: torch.Tensor, dtype: str) -> float:
    """The largest difference, in units of what is allowed."""
    if not first.dtype.is_floating_point:
        return 0.0 if torch.equal(first, second) else float("inf")
    wanted, actual = first.double(), second.double()
    same = (wanted == actual) | (wanted.isnan() & actual.isnan())
    scale = wanted.abs() + wanted[wanted.isfinite()].square().mean().sqrt().nan_to_num(0.0) + 1e-6
    difference = torch.where(same, torch.zeros_like(wanted), (wanted - actual).abs() / (TOLERANCE[dtype] * scale))
    return float(difference.nan_to_num(float("inf")).max())


if __name__ == "__main__":
    main()

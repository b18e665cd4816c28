"""Runs in a process of its own, under Triton's interpreter: a kernel and its mutants on the same memory.

Reads a request as JSON from standard input and writes, for each mutant, `equal`, `differs` or why it failed. Each
mutant runs in a child of this process, for it may write anywhere; arrays lie in the middle of larger memory.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from intentc import lift_interpreter
from intentc.lift_runner import bound_memory, number, random_memory

MARGIN = 1 << 14  # elements around an array
SECONDS = 60  # of processor time for a kernel; a mutant has five times what its original took, and these few more
MARGIN_OF_TIME = 5


def main() -> None:
    request = json.load(sys.stdin)
    lift_interpreter.install()
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    wanted = _isolated(request["original"], request, request["calls"], SECONDS)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
    if isinstance(wanted, str):
        json.dump({"failed": wanted}, sys.stdout)
        return
    made = {}
    bound = MARGIN_OF_TIME + 5 * int(seconds)
    for name, mutant in request["mutants"].items():
        found = _isolated(mutant["path"], {**request, **mutant}, request["calls"], bound)
        made[name] = found if isinstance(found, str) else _verdict(wanted, found)
    json.dump(made, sys.stdout)


def _verdict(wanted: list[Any], found: list[Any]) -> str:
    pairs = [pair for one, other in zip(wanted, found, strict=True) for pair in zip(one, other, strict=True)]
    if all(np.array_equal(one, other, equal_nan=one.dtype.kind == "f") for one, other in pairs):
        return "equal"
    return "close" if all(_close(one, other) for one, other in pairs) else "differs"


def _close(first: Any, second: Any) -> bool:  # noqa: ANN401
    """Equal but for rounding in another order."""
    if first.dtype.kind != "f":
        return bool(np.array_equal(first, second))
    tolerance = {2: 1e-2, 4: 2e-5, 8: 1e-10}[first.dtype.itemsize]
    with np.errstate(all="ignore"):
        return bool(np.allclose(first, second, rtol=tolerance, atol=tolerance, equal_nan=True))


def _isolated(path: str, request: dict[str, Any], calls: list[Any], seconds: int) -> list[Any] | str:
    """Outputs of all calls, or why there are none; after so many seconds of processor time there are none."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        bound_memory()
        with os.fdopen(writing, "wb") as stream:
            try:
                np.savez(stream, *[each for call in _outputs(path, request, calls) for each in call])
            except BaseException as error:
                stream.write(f"failed: {type(error).__name__}: {str(error)[:200]}".encode())
            stream.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    if not data.startswith(b"PK"):
        return data.decode(errors="replace") or "failed: killed"
    loaded = np.load(io.BytesIO(data))
    flat = [loaded[name] for name in loaded.files]
    width = len(flat) // len(calls)
    return [flat[place : place + width] for place in range(0, len(flat), width)]


def _outputs(path: str, request: dict[str, Any], calls: list[Any]) -> list[list[Any]]:
    sys.path.insert(0, str(Path(path).parent))
    kernel = getattr(importlib.import_module(Path(path).stem), request["kernel"])
    made = []
    for seed, call in enumerate(calls):
        torch.manual_seed(seed)
        memory = [
            random_memory(each, array, call["limit"], 2 * MARGIN)
            for each, array in zip(request["arrays"], call["arrays"], strict=True)
        ]
        arrays = {
            each["pointer"]: whole[MARGIN : whole.numel() - MARGIN]
            for each, whole in zip(request["arrays"], memory, strict=True)
        }
        given = {**arrays, **dict.fromkeys(request["unused"], torch.zeros(1))}
        given |= {name: number(value) for name, value in call["numbers"].items()}
        renamed = {request.get("names", {}).get(name, name): value for name, value in given.items()}
        kernel[tuple(call["grid"])](**renamed)
        made.append([_bits(whole) for whole in memory])
    return made


def _bits(whole: torch.Tensor) -> Any:  # noqa: ANN401
    if whole.dtype == torch.bfloat16:
        whole = whole.view(torch.int16)
    return whole.numpy()


if __name__ == "__main__":
    main()

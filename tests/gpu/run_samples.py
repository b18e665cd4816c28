"""Runs the cases packed by `prepare.py` on this machine's GPU and compares them with what was expected.

    python run_samples.py [--output results.json] [--only TEXT] [--jobs N]

Needs numpy, torch and triton. Every case runs through the host arm and through the device arm, each with poisoned
outputs; the device arm runs twice, and integer outputs of the two runs must be identical. The work is done by a child
process: if a kernel brings it down or hangs, that case is recorded and the next child goes on after it. Compiling takes
most of the time, so several children may run side by side, each with the cases of some modules.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
PATIENCE = 120.0  # seconds for one case, compilation included


# ----------------------------------------------------------------------------------------------------------- the parent
def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=FOLDER / "results.json")
    parser.add_argument("--only", default="", help="run only the cases whose name contains this text")
    parser.add_argument("--jobs", type=int, default=1, help="children that run side by side")
    parser.add_argument("--share", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        return _child(_entries(options.only, options.jobs, options.share)[options.child :])
    with ThreadPoolExecutor(options.jobs) as pool:
        shares = pool.map(partial(_run_share, options.only, options.jobs), range(options.jobs))
        found = {result["name"]: result for share in shares for result in share}
    results = [found[entry["name"]] for entry in _entries(options.only, 1, 0)]
    report = {"machine": _machine(), "results": results}
    options.output.write_text(json.dumps(report, indent=1), encoding="utf-8")
    wrong = [result for result in results if result["status"] != "right"]
    for result in wrong:
        print(f"{result['name']}: {result['status']}")
    print(f"{len(results) - len(wrong)} of {len(results)} cases right on {report['machine']['device']}")
    return 1 if wrong else 0


def _entries(only: str, jobs: int, share: int) -> list[dict]:
    """The cases of one share of the modules."""
    entries = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
    place = {module: number for number, module in enumerate(sorted({entry["module"] for entry in entries}))}
    return [entry for entry in entries if only in entry["name"] and place[entry["module"]] % jobs == share]


def _run_share(only: str, jobs: int, share: int) -> list[dict]:
    entries = _entries(only, jobs, share)
    results: list[dict] = []
    while len(results) < len(entries):
        first = len(results)
        results += _run_child(first, only, jobs, share)
        if len(results) < len(entries):
            name = entries[len(results)]["name"]
            results.append({"name": name, "status": "the process ended or hung", "errors": {}})
    return results


def _run_child(first: int, only: str, jobs: int, share: int) -> list[dict]:
    """The results of one child until it is done, dies, or is silent for too long."""
    command = [sys.executable, str(Path(__file__).resolve()), "--child", str(first), "--only", only]
    command += ["--jobs", str(jobs), "--share", str(share)]
    log = FOLDER / f"child{share}.log"
    with log.open("w") as stream:
        child = subprocess.Popen(command, stdout=stream, stderr=sys.stderr)
        heard, size = time.monotonic(), 0
        while child.poll() is None:
            time.sleep(0.2)
            if log.stat().st_size != size:
                heard, size = time.monotonic(), log.stat().st_size
            if time.monotonic() - heard > PATIENCE:
                child.kill()
    lines = log.read_text().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def _machine() -> dict[str, str]:
    import torch
    import triton

    return {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU",
        "torch": torch.__version__,
        "triton": triton.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "interpreter": os.environ.get("TRITON_INTERPRET", "0"),
    }


# ------------------------------------------------------------------------------------------------------------ the child
def _child(entries: list[dict]) -> int:
    for entry in entries:
        started = time.monotonic()
        try:
            status, errors = _run_case(entry)
        except Exception as problem:
            status, errors = f"{type(problem).__name__}: {problem}"[:2000], {}
        seconds = round(time.monotonic() - started, 3)
        print(json.dumps({"name": entry["name"], "status": status, "errors": errors, "seconds": seconds}), flush=True)
    return 0


def _run_case(entry: dict) -> tuple[str, dict[str, float]]:
    with np.load(FOLDER / "cases" / entry["case"]) as stored:
        arrays = dict(stored)
    module = _module(entry["module"])
    host = _through_host(module, entry, arrays)
    device = _through_device(module, entry, arrays)
    again = _through_device(module, entry, arrays)
    errors, wrong = {}, []
    for view in _outputs(entry):
        name, wanted = view["name"], _values(arrays[f"expected_{view['name']}"], view["dtype"])
        for arm, results in (("host", host), ("device", device)):
            errors[f"{arm} {name}"] = found = _error(_values(results[name], view["dtype"]), wanted)
            if not found <= view["tolerance"]:
                wrong.append(f"{arm} arm, {name}: error {found:.3g}, allowed {view['tolerance']:.3g}")
        if wanted.dtype.kind in "biu" and not np.array_equal(device[name], again[name]):
            wrong.append(f"{name}: two runs differ")
    return "; ".join(wrong) or "right", errors


@cache
def _module(name: str) -> object:
    spec = importlib.util.spec_from_file_location(name, FOLDER / "modules" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _outputs(entry: dict) -> list[dict]:
    return [parameter for parameter in entry["parameters"] if parameter["kind"] in ("Out", "InOut")]


def _arguments(entry: dict, arrays: dict[str, np.ndarray]) -> dict[str, object]:
    """NumPy arguments in declaration order, with outputs full of a pattern."""
    arguments = {}
    for parameter in entry["parameters"]:
        name = parameter["name"]
        if parameter["kind"] == "scalar":
            arguments[name] = arrays[f"in_{name}"].item()
        elif parameter["kind"] == "Out":
            arguments[name] = _poisoned(arrays[f"expected_{name}"])
        else:
            arguments[name] = arrays[f"in_{name}"].copy()
    return arguments


def _poisoned(like: np.ndarray) -> np.ndarray:
    if like.dtype == np.bool_:
        return np.ones(like.shape, np.bool_)
    return np.full(like.nbytes, 0xA5, np.uint8).view(like.dtype).reshape(like.shape)


def _through_host(module: object, entry: dict, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    arguments = _arguments(entry, arrays)
    getattr(module, f"{entry['function']}_out")(*arguments.values())
    return {view["name"]: arguments[view["name"]] for view in _outputs(entry)}


def _through_device(module: object, entry: dict, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    dtypes = {parameter["name"]: parameter.get("dtype") for parameter in entry["parameters"]}
    arguments = {
        name: _tensor(value, dtypes[name]) if isinstance(value, np.ndarray) else value
        for name, value in _arguments(entry, arrays).items()
    }
    getattr(module, f"{entry['function']}_device_out")(*arguments.values())
    return {view["name"]: _array(arguments[view["name"]]) for view in _outputs(entry)}


def _tensor(array: np.ndarray, dtype: str) -> object:
    import torch

    special = {"bf16": torch.bfloat16, "f8e4m3fn": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}
    tensor = torch.from_numpy(array.view(np.int16) if array.dtype == np.uint16 and dtype == "bf16" else array)
    tensor = tensor.view(special[dtype]) if dtype in special else tensor
    return tensor.cuda() if torch.cuda.is_available() else tensor


def _array(tensor: object) -> np.ndarray:
    """On the host, with bf16 and f8 as their bits."""
    import torch

    tensor = tensor.cpu()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(np.uint16)
    if tensor.dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        return tensor.view(torch.uint8).numpy()
    return tensor.numpy()


def _values(array: np.ndarray, dtype: str) -> np.ndarray:
    """Numbers to compare: bf16 and f8 bits decoded."""
    if dtype == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    if dtype in ("f8e4m3fn", "f8e5m2"):
        import torch

        special = torch.float8_e4m3fn if dtype == "f8e4m3fn" else torch.float8_e5m2
        return torch.from_numpy(array).view(special).float().numpy()
    return array


def _error(actual: np.ndarray, wanted: np.ndarray) -> float:
    """The largest error relative to the element plus the root mean square; infinite where NaN or infinity differ."""
    if actual.shape != wanted.shape:
        return float("inf")
    if wanted.dtype.kind in "biu":
        return 0.0 if np.array_equal(actual, wanted) else float("inf")
    a, b = actual.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    scale = np.abs(b[finite]) + np.sqrt(np.mean(b[finite] ** 2))
    difference = np.abs(a[finite] - b[finite])
    return float(np.max(np.where(difference == 0, 0.0, difference / np.where(scale == 0, 1.0, scale))))


if __name__ == "__main__":
    sys.exit(main())

"""Packs every sample and workload for a machine with a GPU: generated modules, inputs and expected outputs.

    python tests/gpu/prepare.py [FOLDER]          default: build/gpu

Makes folders of a size that can be sent, FOLDER/0 and so on. Each then needs only its `run_samples.py` and a Python
with numpy, torch and triton. Small cases are expected to give what the reference evaluator gives, large ones what the
NumPy statement gives.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
for folder in (HERE.parent.parent, HERE.parent):
    sys.path.insert(0, str(folder))

import conftest  # noqa: E402, F401  (the interpreter is chosen before triton is imported)
import generated_modules  # noqa: E402
import sample_files  # noqa: E402
import workload_files  # noqa: E402
from not_lowered_yet import NOT_LOWERED_YET  # noqa: E402
from sample_files import Arrays, Case, Sample, ScalarParameter  # noqa: E402

LARGEST_PACK = 54 * 2**20  # bytes of cases


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=sample_files.ROOT / "build" / "gpu")
    folder: Path = parser.parse_args().folder
    shutil.rmtree(folder, ignore_errors=True)
    cases = list(_every_case())
    number = 0
    while cases:
        cases = _pack(folder / str(number), cases)
        number += 1
    return 0


def _pack(folder: Path, cases: list[tuple[Sample, Case, bool]]) -> list[tuple[Sample, Case, bool]]:
    """Fill one folder; the cases for which there was no room."""
    (folder / "modules").mkdir(parents=True)
    (folder / "cases").mkdir()
    shutil.copy(HERE / "run_samples.py", folder)
    entries: list[dict[str, object]] = []
    size = 0
    while len(entries) < len(cases) and size < LARGEST_PACK:
        entries.append(_packed(folder, len(entries), *cases[len(entries)]))
        size += (folder / "cases" / str(entries[-1]["case"])).stat().st_size
    (folder / "index.json").write_text(json.dumps(entries, indent=1), encoding="utf-8")
    print(f"{len(entries)} cases, {size / 2**20:.1f} MiB in {folder}")
    return cases[len(entries) :]


def _every_case() -> Iterator[tuple[Sample, Case, bool]]:
    for sample in sample_files.samples() + workload_files.workloads():
        if sample.identity not in NOT_LOWERED_YET:
            yield from ((sample, case, False) for case in sample_files.cases(sample))
            yield from ((sample, case, True) for case in sample_files.large_cases(sample))


def _packed(folder: Path, number: int, sample: Sample, case: Case, large: bool) -> dict[str, object]:
    values = sample_files.arguments(sample, case)
    with np.errstate(all="ignore"):
        wanted = (sample_files.expected if large else generated_modules.by_reference)(sample, case, values)
    module = _module(folder, sample, case)
    arrays: dict[str, Any] = _arrays(values, "in_") | _arrays(wanted, "expected_")
    np.savez_compressed(folder / "cases" / f"{number:04}.npz", **arrays)
    return {
        "name": f"{sample.identity}[{sample_files.case_identity(case)}]",
        "module": module,
        "function": sample.kernel,
        "case": f"{number:04}.npz",
        "kind": "large" if large else sample_files.case_kind(sample, case),
        "parameters": [_parameter(sample, each, case) for each in sample.runtime_parameters],
    }


def _module(folder: Path, sample: Sample, case: Case) -> str:
    bound = generated_modules.bindings(sample, case)
    compiled = generated_modules.compilation(sample.path, bound)
    assert compiled.source is not None, (sample.identity, generated_modules.rejections(compiled))
    name = "_".join([sample.collection, sample.stem, *(str(value) for _, value in bound)])
    (folder / "modules" / f"{name}.py").write_text(compiled.source, encoding="utf-8")
    return name


def _parameter(
    sample: Sample, parameter: sample_files.View | sample_files.ScalarParameter, case: Case
) -> dict[str, object]:
    if isinstance(parameter, ScalarParameter):
        return {"name": parameter.name, "kind": "scalar"}
    return {
        "name": parameter.name,
        "kind": parameter.direction,
        "dtype": parameter.dtype.name,
        "shape": parameter.sizes(case),
        "tolerance": sample_files.tolerance(sample, parameter),
    }


def _arrays(values: Arrays | dict[str, object], prefix: str) -> dict[str, np.ndarray]:
    """Arrays as NumPy itself can store them: bf16 and f8 as their bits."""
    return {f"{prefix}{name}": _storable(np.asarray(value)) for name, value in values.items()}


def _storable(array: np.ndarray) -> np.ndarray:
    carriers = {1: np.uint8, 2: np.uint16}
    return array if array.dtype.isbuiltin == 1 else array.view(carriers[array.dtype.itemsize])


if __name__ == "__main__":
    sys.exit(main())

"""Prints a Markdown table of every sample and workload kernel: its size, its errors in the interpreter, its assembly.

    python benchmarks/table.py [--targets cuda:90,cuda:80,hip:gfx942] [--only TEXT] [--no-aot] [--workers N]

Lines are lines of code: of the Intent kernel with its helpers, and of all of its Triton device functions. Errors are
against the reference evaluator, relative to the element plus the root mean square of the array. Assembly is the worst
of the kernel's variants: registers, spilled bytes and KiB of shared memory.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import conftest  # noqa: F401  (the interpreter is chosen before triton is imported)
import generated_modules
import kernel_text
import numpy as np
import sample_files
import workload_files
from ahead_of_time import Child, Measurements
from not_lowered_yet import NOT_LOWERED_YET
from sample_files import Sample

KINDS = ("tail", "zero", "one", "strided")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="cuda:90,cuda:80,hip:gfx942", help="separated by commas")
    parser.add_argument("--only", default="", help="only kernels whose name contains this text")
    parser.add_argument("--no-aot", action="store_true", help="leave the assembly out")
    parser.add_argument("--workers", type=int, default=1, help="files at a time")
    options = parser.parse_args()
    targets = [] if options.no_aot else options.targets.split(",")
    print("# Every sample and workload kernel\n")
    print("Written by `python benchmarks/table.py`, which explains the columns.\n")
    print(_row(["kernel", "Intent", "Triton", *KINDS, *targets]))
    print(_row(["---", *["---:"] * (2 + len(KINDS)), *["---"] * len(targets)]))
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn"), initializer=_prepare) as pool:
        for rows in pool.map(partial(_rows, targets), _files(options.only)):
            for row in rows:
                print(_row(row), flush=True)
    return 0


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _files(only: str) -> list[list[str]]:
    """The identities of the kernels whose names contain the text, those of one file together."""
    files: dict[Path, list[str]] = {}
    for identity, sample in _kernels().items():
        if only in identity:
            files.setdefault(sample.path, []).append(identity)
    return list(files.values())


@cache
def _kernels() -> Mapping[str, Sample]:
    return {each.identity: each for each in sample_files.samples() + workload_files.workloads()}


def _prepare() -> None:
    """One thread for torch in each worker: the workers are as many as there are processors."""
    import torch

    torch.set_num_threads(1)


def _rows(targets: Sequence[str], identities: Sequence[str]) -> list[list[str]]:
    """The rows of one file's kernels."""
    kernels = [_kernels()[identity] for identity in identities]
    child = Child()
    measured = child.measurements(kernels[0].path, targets, everything=True) if targets else []
    child.end()
    return [_kernel_row(sample, targets, measured) for sample in kernels]


def _kernel_row(sample: Sample, targets: Sequence[str], measured: Measurements) -> list[str]:
    if sample.identity in NOT_LOWERED_YET:
        return [sample.identity, str(_intent_lines(sample)), NOT_LOWERED_YET[sample.identity].code]
    errors = _errors(sample)
    assembly = [_assembly(measured, sample.kernel, target) for target in targets]
    lines = [str(_intent_lines(sample)), str(_triton_lines(sample, _functions(sample)))]
    return [sample.identity, *lines, *(errors.get(kind, "-") for kind in KINDS), *assembly]


def _intent_lines(sample: Sample) -> int:
    """The kernel and the helpers of its file."""
    text = sample.path.read_text(encoding="utf-8")
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return kernel_text.code_lines(text, (each for each in functions if each.name == sample.kernel or _is_helper(each)))


def _is_helper(function: ast.FunctionDef) -> bool:
    return "intent.fn" in map(ast.unparse, function.decorator_list)


def _functions(sample: Sample) -> frozenset[str]:
    """The names of the kernel's device functions in the module."""
    compiled = generated_modules.compilation(sample.path, generated_modules.bindings(sample, {}))
    pairs = zip(compiled.codes, compiled.names, strict=True)
    return frozenset(
        names.device_function(variant)
        for code, names in pairs
        for variant in code.variants
        if code.kernel.name == sample.kernel
    )


def _triton_lines(sample: Sample, functions: frozenset[str]) -> int:
    compiled = generated_modules.compilation(sample.path, generated_modules.bindings(sample, {}))
    assert compiled.source is not None
    wanted = [each for each in kernel_text.device_functions(compiled.source) if each.name in functions]
    return kernel_text.code_lines(compiled.source, wanted)


def _errors(sample: Sample) -> Mapping[str, str]:
    """The largest error over the cases of each kind."""
    largest: dict[str, float] = {}
    for case in sample_files.cases(sample):
        values = sample_files.arguments(sample, case)
        kind = sample_files.case_kind(sample, case)
        largest[kind] = max(largest.get(kind, 0.0), _error(sample, case, values))
    first = sample_files.cases(sample)[0]
    values = sample_files.arguments(sample, first)
    views = {view.name for view in sample.views}
    strided = {name: sample_files.strided(np.asarray(v)) if name in views else v for name, v in values.items()}
    largest["strided"] = _error(sample, first, strided)
    return {kind: "0" if error == 0 else f"{error:.0e}" for kind, error in largest.items()}


def _error(sample: Sample, case: sample_files.Case, values: dict[str, object]) -> float:
    with np.errstate(all="ignore"):
        wanted = generated_modules.by_reference(sample, case, values)
        actual = generated_modules.by_module(sample, case, values)
    return max(sample_files.error(actual[view.name], wanted[view.name]) for view in sample.outputs)


def _assembly(measured: Measurements, kernel: str, target: str) -> str:
    if isinstance(measured, str):
        return measured
    own = [each for each in measured if each["kernel"] == kernel and each["target"] == target]
    problems = [str(each["problem"]) for each in own if each["problem"]]
    if problems or not own:
        return "; ".join(problems) or "not compiled"
    keys = ("registers", "spills", "shared")
    registers, spills, shared = (max(int(str(each[key] or 0)) for each in own) for key in keys)
    return f"{registers} reg, {spills} spilled, {shared / 1024:.0f} KiB"


if __name__ == "__main__":
    sys.exit(main())

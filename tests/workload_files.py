"""The benchmark kernels under `benchmarks/workloads/` as samples: small cases, inputs and NumPy statements for them.

Those files are kept as they are; their `reference` takes torch tensors at benchmark size and is wrapped here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
from sample_files import ROOT, Case, Sample, kernels_of
from torch_arrays import to_numpy, to_torch

from intent import records

WORKLOADS = ROOT / "benchmarks" / "workloads"

CASES: Mapping[str, list[Case]] = {
    "attention": [
        {"B": 1, "H": 2, "S": 7, "T": 19, "D": 16},
        {"B": 1, "H": 1, "S": 16, "T": 32, "D": 16},
        {"B": 1, "H": 1, "S": 1, "T": 1, "D": 1},
        {"B": 1, "H": 1, "S": 0, "T": 3, "D": 16},
    ],
    "batched_gemm": [
        {"B": 2, "M": 7, "K": 37, "N": 19},
        {"B": 2, "M": 16, "K": 32, "N": 16},
        {"B": 1, "M": 1, "K": 1, "N": 1},
        {"B": 0, "M": 3, "K": 3, "N": 3},
        {"B": 1, "M": 3, "K": 0, "N": 3},
    ],
    "cross_entropy": [{"M": 5, "V": 37}, {"M": 4, "V": 32}, {"M": 1, "V": 1}, {"M": 0, "V": 3}],
    "argmax": [{"M": 5, "N": 37}, {"M": 4, "N": 32}, {"M": 1, "N": 1}, {"M": 0, "N": 3}],
    "embedding": [
        {"T": 7, "V": 13, "D": 37},
        {"T": 8, "V": 16, "D": 32},
        {"T": 1, "V": 1, "D": 1},
        {"T": 0, "V": 3, "D": 3},
    ],
    "column_sum": [
        {"M": 37, "N": 19, "G": 4},
        {"M": 32, "N": 16, "G": 8},
        {"M": 1, "N": 1, "G": 1},
        {"M": 0, "N": 3, "G": 2},
    ],
    "full_sum": [{"N": 103, "G": 5}, {"N": 64, "G": 8}, {"N": 1, "G": 1}, {"N": 0, "G": 2}, {"G": 0}],
    "histogram": [
        {"N": 103, "G": 5, "B": 16},
        {"N": 64, "G": 4, "B": 32},
        {"N": 1, "G": 1, "B": 1},
        {"N": 0, "G": 2, "B": 8},
        {"G": 0, "B": 8},
    ],
    "dropout": [{"N": 37}, {"N": 64}, {"N": 1}, {"N": 0}],
}


def _attention(causal: bool, q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: np.float32) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(2, 3) * float(scale)
        if causal:
            hidden = np.arange(k.shape[2])[None, :] > np.arange(q.shape[2])[:, None]
            scores = np.where(hidden, -np.inf, scores)
        weights = np.exp(scores - scores.max(axis=3, keepdims=True, initial=-np.inf))
        result = weights / weights.sum(axis=3, keepdims=True) @ v.astype(np.float64)
        return np.asarray(result, dtype=np.float16)


def _group_sums(x: np.ndarray, case: Case) -> np.ndarray:
    groups = int(str(case["G"]))
    size = -(-len(x) // groups)
    parts = [x[g * size : (g + 1) * size].astype(np.float64).sum(axis=0) for g in range(groups)]
    return np.array(parts, dtype=np.float32)


def _total(partial: np.ndarray) -> np.ndarray:
    return np.asarray(partial.astype(np.float64).sum(), dtype=np.float32)


def _group_histograms(values: np.ndarray, case: Case) -> np.ndarray:
    groups, bins = int(str(case["G"])), int(str(case["B"]))
    size = -(-len(values) // groups)
    parts = [np.bincount(values[g * size : (g + 1) * size], minlength=bins) for g in range(groups)]
    return np.array(parts, dtype=np.int32)


def _merged(partial: np.ndarray) -> np.ndarray:
    return np.asarray(partial.sum(axis=0), dtype=np.int32)


def _dropout(
    uniform: Callable[[int, int, int], np.ndarray], x: np.ndarray, p: np.float32, seed: np.uint64
) -> np.ndarray:
    u = uniform(int(seed), 0, (len(x) + 3) // 4 * 4)[: len(x)]
    return np.where(u >= p, x / (np.float32(1) - p), np.float32(0))


STATEMENTS: Mapping[str, Callable[..., np.ndarray]] = {
    "attention_full": partial(_attention, False),
    "attention_causal": partial(_attention, True),
    "column_sum_groups": _group_sums,
    "sum_groups": _group_sums,
    "sum_partials": _total,
    "histogram_groups": _group_histograms,
    "histogram_merge": _merged,
}


@cache
def workloads() -> tuple[Sample, ...]:
    """Every kernel of every workload file, with a statement as samples have it."""
    return tuple(_with_statement(sample) for path in sorted(WORKLOADS.glob("*.py")) for sample in kernels_of(path))


def _with_statement(sample: Sample) -> Sample:
    if sample.kernel == "dropout":
        statement: Callable[..., object] = partial(_dropout, sample.module.uniform)
    else:
        statement = STATEMENTS.get(sample.kernel) or _torch_statement(sample)
    members = {"inputs": _inputs, "CASES": CASES[sample.stem]} if sample.stem in CASES else {"inputs": _inputs}
    extended = SimpleNamespace(**members, **{f"{sample.kernel}_reference": statement})
    return records.replace(sample, module=extended, collection="workload")


def _torch_statement(sample: Sample) -> Callable[..., object]:
    """The file's own reference, which computes with torch in f64, rounded to the declared dtypes."""

    def statement(*values: object) -> tuple[np.ndarray, ...]:
        tensors = [to_torch(value) if isinstance(value, np.ndarray) else float(str(value)) for value in values]
        results = sample.module.reference(*tensors)
        results = results if isinstance(results, tuple) else (results,)
        return tuple(
            to_numpy(result).astype(view.numpy_dtype) for result, view in zip(results, sample.outputs, strict=True)
        )

    return statement


def _inputs(rng: np.random.Generator, case: Case) -> dict[str, np.ndarray]:
    """Indices and bins within range, for whichever kernel has them."""
    found: dict[str, np.ndarray] = {}
    if "V" in case:
        rows = int(str(case.get("T", case.get("M"))))
        found["tokens"] = found["target"] = rng.integers(0, int(str(case["V"])), rows)
    if "B" in case and "N" in case and "G" in case:
        found["values"] = rng.integers(0, int(str(case["B"])), int(str(case["N"]))).astype(np.int32)
    return found
